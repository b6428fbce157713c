// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Reads ELF files without running or loading them, and finds programs and libraries as a shell and
/// the dynamic loader would (PATH; RPATH, RUNPATH, LD_LIBRARY_PATH, the system's folders). Where
/// `settings` are taken, these are NAME=VALUE that the program gets besides this command's
/// environment. A few milliseconds for a program with its libraries.

#include <string>
#include <string_view>
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
  std::vector<std::string> mpi_exports;     ///< functions MPI_* that it has for others
  std::vector<std::string> mpi_imports;     ///< and that it calls in others
  bool defines_chameleon = false;           ///< so is the tracer
};

/// Error: kSystem if unreadable, kCorrupt if not ELF or damaged.
Result<ElfFile> read_elf(const std::string& path);

/// A library the program is loaded with, in the loader's order.
struct LoadedLibrary {
  std::string name;  ///< as in DT_NEEDED
  std::string path;  ///< empty: not found
};

/// The libraries of a program in the loader's order, breadth first.
std::vector<LoadedLibrary> loaded_libraries(const ElfFile& program,
                                            const std::vector<std::string>& settings);

/// The last value that `settings` give a variable, or else the environment's, or "".
std::string variable(const std::string& name, const std::vector<std::string>& settings);

/// The parts between separators that are not empty.
std::vector<std::string> split(const std::string& text, std::string_view separators);

/// The file a shell would start for `program`, or an empty string.
std::string find_program(const std::string& program, const std::vector<std::string>& settings = {});

}  // namespace chameleon::tools
