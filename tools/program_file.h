// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Finds out, before a program runs, whether it can be traced: its kind, its MPI, and how it is
/// linked. ELF files are read, never run or loaded; libraries are found as the dynamic loader
/// does (RPATH, RUNPATH, LD_LIBRARY_PATH, the system's folders), breadth first. A few
/// milliseconds.

#include <string>
#include <vector>

#include "base/result.h"

namespace chameleon::tools {

/// The dynamic section, symbols and header of one ELF file.
struct ElfFile {
  bool is_64 = false;
  bool native = false;  ///< for the machine this runs on
  bool is_program_or_library = false;
  bool dynamic = false;
  std::string interpreter;
  std::string soname;
  std::vector<std::string> needed;
  std::vector<std::string> rpath, runpath;  ///< $ORIGIN resolved
  bool defines_mpi = false;                 ///< MPI_Init is in it
  bool defines_chameleon = false;           ///< so is the tracer
};

/// Error: kSystem if unreadable, kCorrupt if not ELF or damaged.
Result<ElfFile> read_elf(const std::string& path);

/// A library the program is loaded with, in the loader's order.
struct LoadedLibrary {
  std::string name;  ///< as in DT_NEEDED
  std::string path;  ///< empty: not found
};

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
  std::string fortran;      ///< soname of the Fortran binding, or empty
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

/// The file a shell would start for `program`, or an empty string.
std::string find_program(const std::string& program);

/// Looks at `program`; `tracer` is the path of libchameleon.so or empty: other runtimes are beside
/// it. Error: kSystem if it is not there or cannot be read.
Result<Diagnosis> diagnose(const std::string& program, const std::string& tracer);

/// The same by a library that the program will load: `owner` is linked with its MPI. Nothing is
/// changed if it is linked with none.
void diagnose_module(const std::string& module, const std::string& owner, const std::string& tracer,
                     Diagnosis& diagnosis);

}  // namespace chameleon::tools
