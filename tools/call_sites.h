// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Where in the program a call path was: `stencil.cpp:88 exchange()`, without
/// debug information `stencil+0x2f1 exchange()`, in Python `solver.py:42 step()`. Always gives
/// something. Debug information is read once a module, when its first path is asked for.
///
/// A place is the innermost frame that says something. Where a program wraps MPI, all paths of the
/// wrapper have the same innermost frame: the place is then the first frame in which they differ,
/// and the wrapper is named after it: `matvec.c:120 matvec() through wait_all()`.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/symbolizer.h"
#include "model/trace.h"

namespace chameleon::tools {

/// A function on a call path: a frame, or one that was inlined in a frame.
struct NamedFrame {
  std::string text;  ///< as CallSites::describe
  std::string file;  ///< with its folder; empty if not known
  int begin = 0;     ///< the line on which the function is declared; 0 if not known
};

class CallSites {
 public:
  /// The trace must outlive this. `full`: function names with their namespaces'
  /// anonymous parts, template arguments and parameters.
  explicit CallSites(const Trace& trace, bool full = false) : trace_(trace), full_(full) {}

  /// The place: language bindings are stepped over, and wrappers of the program.
  std::string site(std::uint64_t path);
  /// The same, without the wrapper, and with the whole name of the file; null if the path is not
  /// known.
  const SourceLocation* location(std::uint64_t path);
  /// The function of that frame; as `site` if it has no name.
  std::string function(std::uint64_t path);
  /// A number for the call of a function that the path's call is part of: the same for those of its
  /// calls that are in it. Without names of functions all calls of a module under one caller are.
  std::uint64_t context(std::uint64_t path);
  /// A number for that frame, whoever called its function.
  std::uint64_t site_key(std::uint64_t path);
  /// All frames, innermost first. Functions that were inlined have lines of their own, as if they
  /// had been called.
  std::vector<std::string> frames(std::uint64_t path);
  std::vector<NamedFrame> named_frames(std::uint64_t path);

  /// From the place outward, innermost first; empty if the path is not known.
  std::span<const Frame> place_frames(std::uint64_t path);
  std::string describe(const Frame& frame);
  /// `stencil+0x2f1`.
  std::string address_text(const Frame& frame);
  const SourceLocation& resolve(const Frame& frame);
  bool is_named(const Frame& frame);
  /// The module, or the file of an interpreted program, of a frame's function; 0: neither.
  std::uint64_t unit_of(const Frame& frame);
  /// The name of a function, shortened unless asked otherwise.
  std::string function_text(const std::string& function) const;

 private:
  const Frame* place_frame(std::uint64_t path);
  void find_places();
  std::string named_text(const std::string& file, int line, const std::string& function) const;

  const Trace& trace_;
  const bool full_;
  Symbolizer symbolizer_;
  std::unordered_map<std::uint64_t, SourceLocation> sources_;  ///< by id
  bool has_places_ = false;
  std::unordered_map<std::uint64_t, std::size_t> places_;  ///< by path, if it is in a wrapper
};

/// `std::vector<int> (anonymous namespace)::f<int>(int, int)` as `f()`; `outer.<locals>.inner` of
/// Python as `outer.<locals>.inner()`, and `<module>` as it is.
std::string short_function(const std::string& function);

/// `src/sweep.cpp` as `sweep.cpp`.
std::string_view base_name(std::string_view path);

}  // namespace chameleon::tools
