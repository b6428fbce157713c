// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// A walk over the present stack by unwind rules, one per return address, kept from their first
/// use on. Each rule remembers the rule that came next the last time, so that a frame costs one
/// comparison in the common case: 2 to 4 ns. Exact: it answers only what every table on the way
/// proves, and otherwise `kUnproven` (signal frames, code without tables, other processors).
///
/// Rules hold while their module stays loaded. Modules that cannot be unloaded need no care; before
/// a rule of another one is used, the loader is asked once a walk whether it changed (20 ns), and
/// if so the walk ends with `kStale`: `clear` and start again. `walk` may allocate for a return
/// address never seen before. At most `kMostRules` rules (3 MiB), then all are learnt anew.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "callpath/module_table.h"
#include "callpath/raw_table.h"
#include "callpath/stack_bounds.h"
#include "callpath/stack_memo.h"
#include "callpath/unwind_rule.h"

namespace chameleon::callpath {

/// Registers of the calling frame, to walk from while it exists (so not for a call in its tail).
/// All zero where this processor's stacks are not walked here.
[[gnu::always_inline]] inline Registers present_registers() {
  Registers here{};
#if defined(__x86_64__) && defined(__LP64__)
  asm volatile(
      "lea 1f(%%rip), %0\n"
      "1: mov %%rsp, %1\n"
      "mov %%rbp, %2"
      : "=&r"(here.pc), "=&r"(here.sp), "=&r"(here.bp)
      :
      : "memory");
#endif
  return here;
}

class StackWalker {
 public:
  /// Most frames kept, innermost first.
  static constexpr std::size_t kMostFrames = 128;
  /// Room for our own frames between the engine and the call site.
  static constexpr std::size_t kOwnFrames = 32;
  static constexpr std::size_t kMostRules = std::size_t{1} << 16;

  enum class Outcome : std::uint8_t { kComplete, kUnproven, kStale };

  /// What a walk found: frames from the call site on, and what proves it again.
  struct Found {
    RawStack stack;          ///< from the call site on, at most kMostFrames; part of `all`
    std::uint64_t hash = 0;  ///< of the stack and how it was come by
    std::size_t words = 0;   ///< read; 0: not recorded, or more than StackMemo::kMostWords
    bool is_truncated = false;
    bool uses_bp = false;
    bool needs_loader_check = false;
    bool runs_python = false;  ///< the interpreter's loop is on the stack
    void* all[kMostFrames + kOwnFrames];
  };

  explicit StackWalker(ModuleTable& modules) : modules_(modules) { first_.next = &stale_; }
  StackWalker(const StackWalker&) = delete;
  StackWalker& operator=(const StackWalker&) = delete;

  /// Walks from `here` and keeps the frames from the one that returns to `call_site` on. `words`
  /// (StackMemo::kMostWords of them, or null) gets what was read, in that order.
  Outcome walk(const Registers& here, void* call_site, Found& found, StackWord* words) noexcept;

  /// Forgets all rules.
  void clear();

 private:
  /// What is common enough for a step of a few instructions: the caller's frame begins a fixed
  /// distance above rsp, rbp is kept or saved a fixed distance from there, and for good.
  enum class Step : std::uint8_t { kPlain, kPlainSavesRbp, kOther };

  struct Rule {
    std::uintptr_t pc = 1;  ///< of no code
    Rule* next = nullptr;   ///< of the caller, last time
    UnwindRule unwind;
    Step step = Step::kOther;
    bool is_permanent = true;  ///< its module cannot be unloaded
    bool runs_python = false;
  };
  template <bool kRecords>
  class Walk;

  template <bool kRecords>
  Outcome walk_to_end(const Registers& here, void* call_site, Found& found,
                      StackWord* words) noexcept;
  Rule* follow(Rule& from, std::uintptr_t pc) noexcept;
  Rule* find(std::uintptr_t pc) noexcept;
  Rule* learn(std::uintptr_t pc);
  void place(Rule* rule);
  static std::size_t hash(std::uintptr_t pc) { return pc * 0x9e3779b97f4a7c15ULL >> 32; }

  ModuleTable& modules_;
  StackBounds bounds_;
  std::deque<Rule> rules_;    ///< they stay where they are
  std::vector<Rule*> table_;  ///< open addressing by pc, at most half full
  Rule stale_;                ///< of no address; what a rule is followed by at first
  Rule first_;                ///< before the first frame
};

}  // namespace chameleon::callpath
