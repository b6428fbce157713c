// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Names of functions for frames, in the traced process: from the symbol tables of the files that
/// are mapped, without debug information. A stripped file has only the names that it exports. An
/// inlined function has none. analysis/symbolizer.h finds names when a trace is read; this is for
/// names that are needed while the program runs.
///
/// Cost: a file's symbols are read once, when its first frame is looked up, about 16 bytes for each
/// function; then a search and a read for each frame. The file does not stay open or mapped, since
/// it may be truncated meanwhile. A file that is unreadable or damaged has no names.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/call_path.h"

namespace chameleon::callpath {

class FunctionNames {
 public:
  /// The symbol of the function that holds the call of `frame`, as the linker knows it; empty if
  /// there is none. The file is that of the frame's module.
  std::string of(const Frame& frame, const std::string& file);

 private:
  struct Function {
    std::uint64_t begin = 0;
    std::uint32_t size = 0, name = 0;  ///< name: its place among the names
  };
  struct Symbols {
    std::uint64_t names = 0, names_size = 0;  ///< where in the file
    std::vector<Function> functions;          ///< ascending
  };

  static Symbols read(const std::string& file);

  std::map<std::uint64_t, Symbols> modules_;  ///< by id
};

}  // namespace chameleon::callpath
