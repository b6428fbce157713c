// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Stack to signature, in the traced process. `capture` asks, in this order:
///   1. the memo (stack_memo.h): an earlier walk that would be the same again;
///   2. a walk by unwind rules (stack_walk.h), and the table of the raw stacks seen (raw_table.h);
///   3. where the walk cannot prove a frame, libunwind, and the same table.
/// Only a stack never seen before is resolved to frames, folded (recursion) and remembered. Frames
/// outside `main` (C library, loader, `_start`) are dropped. Where the stack passes through
/// Python's interpreter, the functions that it runs take the place of its own frames
/// (python_paths.h). See docs/design/callpath.md.
///
/// Invariants: the same path gives the same signature on all ranks, whatever the load addresses and
/// whichever of the three answers; a hit compares everything it depends on and allocates nothing;
/// loading or unloading a library empties the tables before a path through a library that can be
/// unloaded is next answered. Cost at 20 frames: some 20 ns by the memo, 50 ns by the walk, 250 ns
/// by libunwind; 20 ns more on a path through a library that was opened at run time.
///
/// An engine serves one thread at a time, whichever: threads have one each or take turns. It is
/// large (1 MiB, of which only what is used becomes resident). A capture in a signal handler that
/// interrupts a capture of the same engine answers {`kUnknownFrame`}.
/// Limit: libunwind keeps frame layouts by address and cannot be told to forget them, so while a
/// library that replaced another at the very same addresses is on a stack that needs libunwind, the
/// path may miss or mistake outer frames.

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/result.h"
#include "callpath/module_table.h"
#include "callpath/path_store.h"
#include "callpath/python_paths.h"
#include "callpath/raw_table.h"
#include "callpath/relaxed.h"
#include "callpath/stack_memo.h"
#include "callpath/stack_walk.h"
#include "model/call_path.h"

namespace chameleon::callpath {

class Engine {
 public:
  /// Most frames kept, innermost first; a deeper path ends in `kTruncatedFrame`.
  static constexpr std::size_t kMostFrames = StackWalker::kMostFrames;

  /// What unwinds a stack, fastest first: an engine uses the one that it is given, and those after
  /// it. Tests and benchmarks compare them.
  enum class Unwinder : std::uint8_t { kMemo, kWalk, kLibunwind };

  Engine() = default;
  explicit Engine(Unwinder fastest) : fastest_(fastest) {}
  /// Paths are also kept in their relaxed form, see `relaxed`.
  explicit Engine(const FramesMatched& matched) : matched_(matched) {}

  /// Loads the unwinder, once per process and before the first `capture`. `python`: whether the
  /// frames of Python's functions are wanted, or its interpreter's own.
  /// On an error every stack has the one path {`kUnknownFrame`}.
  static Status start(bool python = true);

  /// Signature of the present stack from the frame that returns to `call_site`
  /// (the wrapper's `__builtin_return_address(0)`). What cannot be known has the special frames of
  /// call_path.h. A stack never seen before needs memory: std::bad_alloc, after which the next
  /// capture is as good as before.
  std::uint64_t capture(void* call_site);
  /// The same from a frame on that called `present_registers` and still exists: for a caller that
  /// has gone to another stack since.
  std::uint64_t capture(void* call_site, const Registers& here);

  /// How many captures each unwinder made, but for the memo.
  struct Counts {
    std::uint64_t walks = 0;
    std::uint64_t libunwind = 0;
  };
  const Counts& counts() const { return counts_; }

  /// Calls `visit(signature, relaxed signature, std::span<const Frame>)` for each path captured
  /// so far by any thread, and for relaxed ones, in no stated order.
  template <class Visit>
  static void for_each_path(Visit&& visit) {
    PathStore::process().for_each_path(std::forward<Visit>(visit));
  }

  /// The signature of the relaxed form of a path that was captured; that of the path itself where
  /// all frames are matched. A look-up under a mutex.
  static std::uint64_t relaxed(std::uint64_t signature) {
    return PathStore::process().relaxed(signature);
  }

  /// The frames of a path that was captured, innermost first. A look-up under a mutex.
  static std::vector<Frame> frames(std::uint64_t signature) {
    return PathStore::process().frames(signature);
  }
  /// The file of the module that frames carry the id of. The same.
  static std::string module_file(std::uint64_t id) { return PathStore::process().module_file(id); }

  /// The modules of all paths, by the id that frames carry.
  static std::map<std::uint64_t, Module> modules() { return PathStore::process().modules(); }

  /// The lines of interpreted programs on all paths, by the ids that frames carry.
  static std::map<std::uint64_t, SourceFrame> sources() { return PathStore::process().sources(); }

  /// A sentence about what call paths do not show of Python, so far; empty if nothing.
  static std::string python_not_shown() { return PythonRuntime::not_shown(); }

 private:
  std::uint64_t capture_from(void* call_site, const Registers& here);
  std::uint64_t capture_anew(const StackMemo::Slot* known, void* call_site, const Registers& here);
  std::uint64_t capture_by_walk(void* call_site, const Registers& here);
  std::uint64_t capture_by_libunwind(void* call_site);
  std::uint64_t look_up(std::uint64_t hash, RawStack stack, bool is_truncated);
  std::uint64_t number_of(std::uint64_t hash, RawStack stack, bool is_truncated);
  std::uint64_t through_python(std::uint64_t number);
  std::uint64_t resolve(const PythonStack& stack);
  void add_frame(void* address);
  bool weave(RawStack stack, const PythonFrames::Found& functions);
  std::uint64_t intern();
  Frame function_of(const Frame& frame);
  void forget();
  void forget_all() noexcept;

  bool is_busy_ = false;
  Unwinder fastest_ = Unwinder::kMemo;
  FramesMatched matched_;
  StackMemo::Pointer memo_;  ///< from the first walk on
  ModuleTable modules_;
  RawTable seen_;  ///< of stacks through Python the number, not the signature
  PythonPaths python_;
  StackWalker walker_{modules_};
  StackWalker::Found found_;
  std::vector<Frame> frames_;
  Counts counts_;
};

}  // namespace chameleon::callpath
