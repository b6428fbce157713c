// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Where in the program a call path was: `stencil.cpp:88 exchange()`. Always
/// gives something, if only `module+0xoffset`. Debug information is read once
/// a module, when its first path is asked for.

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/symbolizer.h"
#include "trace/trace.h"

namespace chameleon {

class CallSites {
 public:
  /// The trace must outlive this.
  explicit CallSites(const Trace& trace) : trace_(trace) {}

  /// The innermost frame of the application: language bindings are stepped over.
  std::string site(std::uint64_t path);
  /// All frames, innermost first.
  std::vector<std::string> frames(std::uint64_t path);

 private:
  std::string frame(const Frame& frame);
  bool is_binding(const Frame& frame) const;

  const Trace& trace_;
  Symbolizer symbolizer_;
};

}  // namespace chameleon
