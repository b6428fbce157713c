// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Names for call paths: from a frame of a trace to function, file and line,
/// when the trace is shown, by elfutils. A file counts only if it still is the
/// traced one (build-id, or content where there is none); else its separate
/// debug file is looked for under /usr/lib/debug/.build-id. Every step that
/// fails falls back to the next: DWARF, symbol table, `module+0xoffset`. Never
/// fails. A module is opened once and a frame looked up once. Not thread-safe.

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/call_path.h"

namespace chameleon::analysis {

/// A function that another one was inlined in, and where it calls that one.
struct InlinedCaller {
  std::string function, file;  ///< file: empty if not known
  int line = 0;
  int begin = 0;  ///< the line on which the function is declared; 0 if not known
};

/// The place of a frame's call in the source.
struct SourceLocation {
  std::string function;    ///< demangled; `module+0xoffset` if it has no name
  std::string file;        ///< empty if not known
  int line = 0;            ///< 0 if not known
  int begin = 0;           ///< the line on which the function is declared; 0 if not known
  std::string module;      ///< base name of the executable or library
  std::string inlined_in;  ///< the function of the frame if `function` was inlined, or empty
  std::string outer_file;  ///< where that one calls what was inlined; empty if not known
  int outer_line = 0;
  std::vector<InlinedCaller> callers;  ///< from `function` out to `inlined_in`
};

class Symbolizer {
 public:
  Symbolizer();
  ~Symbolizer();
  Symbolizer(const Symbolizer&) = delete;
  Symbolizer& operator=(const Symbolizer&) = delete;

  /// The location of `frame`, which is in `module` (an empty `Module` will do for the special
  /// frames). Valid as long as the symbolizer.
  const SourceLocation& resolve(const Module& module, const Frame& frame);

 private:
  class DebugInfo;

  std::map<std::uint64_t, std::unique_ptr<DebugInfo>> modules_;  ///< by module id
  std::map<std::pair<std::uint64_t, std::uint64_t>, SourceLocation> known_;
};

/// One line for people: `function (file:line)`, or `function (module)`.
std::string to_string(const SourceLocation& location);

}  // namespace chameleon::analysis
