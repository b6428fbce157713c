// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Where in the program a call path was: `stencil.cpp:88 exchange()`, without
/// debug information `stencil+0x2f1 exchange()`. Always gives something. Debug
/// information is read once a module, when its first path is asked for.

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/symbolizer.h"
#include "model/trace.h"

namespace chameleon::tools {

class CallSites {
 public:
  /// The trace must outlive this. `full`: function names with their namespaces'
  /// anonymous parts, template arguments and parameters.
  explicit CallSites(const Trace& trace, bool full = false) : trace_(trace), full_(full) {}

  /// The innermost frame of the application: language bindings are stepped over.
  std::string site(std::uint64_t path);
  /// The same, with the whole name of the file; null if the path is not known.
  const SourceLocation* location(std::uint64_t path);
  /// The function of that frame; as `site` if it has no name.
  std::string function(std::uint64_t path);
  /// A number for the call of a function that the path's call is part of: the same for those of its
  /// calls that are in it. Without names of functions all calls of a module under one caller are.
  std::uint64_t context(std::uint64_t path);
  /// A number for that frame, whoever called its function.
  std::uint64_t site_key(std::uint64_t path) const;
  /// All frames, innermost first.
  std::vector<std::string> frames(std::uint64_t path);

 private:
  std::string describe(const Frame& frame);
  const SourceLocation& resolve(const Frame& frame);
  bool is_binding(const Frame& frame) const;
  const Frame* application_frame(std::uint64_t path) const;
  bool is_named(const Frame& frame);

  const Trace& trace_;
  const bool full_;
  Symbolizer symbolizer_;
};

/// `std::vector<int> (anonymous namespace)::f<int>(int, int)` as `f()`.
std::string short_function(const std::string& function);

}  // namespace chameleon::tools
