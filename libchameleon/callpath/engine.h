// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Stack to signature, in the traced process. `capture` unwinds the stack,
/// and answers from a table of the raw stacks this thread has seen; only a
/// stack never seen before is resolved to frames, folded (recursion) and
/// remembered. Frames outside `main` (C library, loader, `_start`) are dropped.
///
/// Invariants: the same path gives the same signature on all ranks, whatever
/// the load addresses; a hit compares the whole stack and allocates nothing;
/// loading or unloading a library empties the table. Cost of a hit: the unwind
/// (about 10 ns a frame), and 20-60 ns to ask the loader whether it changed.
///
/// One `Engine` per thread; paths and modules are those of the whole process.
/// Limit: the unwinder keeps frame layouts by address and cannot be told to
/// forget them, so while a library that replaced another at the very same
/// addresses is on the stack, the path may miss or mistake outer frames.

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "callpath/module_table.h"
#include "callpath/path_store.h"
#include "callpath/raw_table.h"
#include "trace/call_path.h"

namespace chameleon::callpath {

class Engine {
 public:
  /// Most frames kept, innermost first; a deeper path ends in `kTruncatedFrame`.
  static constexpr std::size_t kMostFrames = 128;

  /// Loads the unwinder, once per process and before the first `capture`.
  /// On an error every stack has the one path {`kUnknownFrame`}.
  static Status start();

  /// Signature of the present stack from the frame that returns to `call_site`
  /// (the wrapper's `__builtin_return_address(0)`). Never fails: see the
  /// special frames of call_path.h.
  std::uint64_t capture(void* call_site) noexcept;

  /// Calls `visit(signature, std::span<const Frame>)` for each path captured
  /// so far by any thread, in no stated order.
  template <class Visit>
  static void for_each_path(Visit&& visit) {
    PathStore::process().for_each_path(std::forward<Visit>(visit));
  }

  /// The modules of all paths, by the id that frames carry.
  static std::map<std::uint64_t, Module> modules() { return PathStore::process().modules(); }

 private:
  std::uint64_t resolve(RawStack stack, bool is_truncated);

  ModuleTable modules_;
  RawTable seen_;
  std::vector<Frame> frames_;
  bool told_unknown_ = false;
};

}  // namespace chameleon::callpath
