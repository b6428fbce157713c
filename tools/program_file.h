// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Finds out, before a program runs, whether it can be traced: its kind, its MPI, and how it is
/// linked. A command that is not a program of MPI itself is looked through (started_program.h).

#include <string>
#include <vector>

#include "base/result.h"
#include "elf_file.h"

namespace chameleon::tools {

enum class Linking { kUnknown, kDynamic, kStatic, kNone };

/// The properties of a program, and the conclusion.
struct Diagnosis {
  std::string program;  ///< as found
  std::string kind;     ///< "elf", "script", or "other"
  std::string interpreter;
  std::string mpi;          ///< "MPICH", "Open MPI", "an MPI of the MPICH ABI", or empty
  std::string mpi_library;  ///< soname
  std::string mpi_path;
  std::string tracer;       ///< the runtime for that MPI: what to preload
  std::string mpi_preload;  ///< what to preload after it, or empty
  std::string starts;       ///< the program of MPI that a wrapper or script starts, or empty
  /// Libraries to preload before the tracer: runtimes of sanitizers.
  std::vector<std::string> first;
  std::string fortran;  ///< soname of the Fortran binding, or empty
  Linking linking = Linking::kUnknown;
  bool chameleon_linked = false;
  bool chameleon_first = false;  ///< before the MPI library
  bool executable = true;
  bool traceable = false;
  /// Whether starting it with the tracer preloaded can do harm or is pointless.
  bool preload = false;
  std::string reason;  ///< one line: why (not)
  std::string advice;  ///< one line: what to do
  std::vector<LoadedLibrary> missing;
};

/// Looks at `command`, a program with arguments; `tracer` is the path of libchameleon.so or empty:
/// other runtimes are beside it. `settings` are NAME=VALUE that it gets besides this command's
/// environment. Error: kSystem if it is not there or cannot be read.
Result<Diagnosis> diagnose(const std::vector<std::string>& command, const std::string& tracer,
                           const std::vector<std::string>& settings);

/// The command in words that a shell takes: with quotes where it needs them.
std::string command_line(const std::vector<std::string>& command);

/// Whether a file is one for `python3 FILE`, by its name.
bool is_python_file(const std::string& path);

/// LD_PRELOAD for the program: the tracer, after what has to be first, and before `others`, which
/// the user preloads. Those keep their order, but sanitizers among them come first as well.
std::string preload_list(const Diagnosis& diagnosis, const std::string& others);

}  // namespace chameleon::tools
