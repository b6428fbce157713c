// SPDX-License-Identifier: BSD-3-Clause
#include "callpath/stack_walk.h"

#include <algorithm>

#include "callpath/python_runtime.h"

namespace chameleon::callpath {

namespace {

std::uintptr_t plus(std::uintptr_t address, std::int32_t offset) {
  return address + static_cast<std::uintptr_t>(std::intptr_t{offset});
}

}  // namespace

/// The registers of one frame after the other and, where wanted, the record of what was read.
template <bool kRecords>
class StackWalker::Walk {
 public:
  Walk(const Registers& here, const StackBounds::Range& range, StackWord* words)
      : start_(here.sp),
        end_(range.high),
        sp_(here.sp),
        bp_(here.bp),
        word_(words),
        words_end_(words + StackMemo::kMostWords) {}

  /// Moves to the caller; its program counter in `pc`. False if that cannot be proven.
  [[gnu::always_inline]] bool step(const Rule& rule, std::uintptr_t& pc) {
    if (rule.step == Step::kOther) [[unlikely]]
      return step_by_any(rule.unwind, pc);
    sp_ = plus(sp_, rule.unwind.cfa_offset);
    if (sp_ > end_) [[unlikely]]
      return false;
    pc = read(sp_ - 8);
    if (rule.step == Step::kPlainSavesRbp) bp_at_ = plus(sp_, rule.unwind.rbp_offset);
    return true;
  }

  const StackWord* words_read() const { return word_; }
  bool read_too_many() const { return word_ == words_end_; }
  bool uses_bp() const { return uses_bp_; }

 private:
  [[gnu::always_inline]] bool step_by_any(const UnwindRule& rule, std::uintptr_t& pc) {
    std::uintptr_t cfa = plus(sp_, rule.cfa_offset);
    if (rule.cfa != UnwindRule::Cfa::kRsp) {
      if (rule.cfa != UnwindRule::Cfa::kRbp && rule.cfa != UnwindRule::Cfa::kAtRbp) return false;
      if (!need_bp()) return false;
      cfa = plus(bp_, rule.cfa_offset);
      if (rule.cfa == UnwindRule::Cfa::kAtRbp) [[unlikely]] {
        if (!is_readable(cfa)) return false;
        cfa = read(cfa);
      }
    }
    // A caller's frame is outside its callee's; this also bounds the number of steps.
    if (cfa < sp_ + 8 || cfa > end_) [[unlikely]]
      return false;
    pc = read(cfa - 8);
    sp_ = cfa;
    if (rule.rbp == UnwindRule::Rbp::kAtCfa) [[likely]] {
      bp_at_ = plus(cfa, rule.rbp_offset);
    } else if (rule.rbp == UnwindRule::Rbp::kAtRbp) {
      if (!need_bp()) return false;
      bp_at_ = plus(bp_, rule.rbp_offset);
    } else if (rule.rbp == UnwindRule::Rbp::kLost) {
      bp_at_ = kNowhere;
    }
    return true;
  }

  bool is_readable(std::uintptr_t address) const {
    return address >= start_ && address < end_ && end_ - address >= 8;
  }

  [[gnu::always_inline]] std::uint64_t read(std::uintptr_t address) {
    const std::uint64_t value = read_word(address);
    if (kRecords && word_ != words_end_) {
      word_->address = address;
      word_->value = value;
      ++word_;
    }
    return value;
  }

  /// rbp is read from where it was saved only when a frame needs it: most never do.
  [[gnu::always_inline]] bool need_bp() {
    if (bp_at_ > kNowhere) [[likely]] {
      if (!is_readable(bp_at_)) return false;
      bp_ = read(bp_at_);
      bp_at_ = kRead;
    } else if (bp_at_ == kUnsaved) {
      uses_bp_ = true;
    }
    return bp_at_ != kNowhere;
  }

  // Where the present frame's rbp is; no place on a stack is one of these.
  static constexpr std::uintptr_t kUnsaved = 0;  ///< `bp_`, and that is where the walk began
  static constexpr std::uintptr_t kRead = 1;     ///< `bp_`
  static constexpr std::uintptr_t kNowhere = 2;

  std::uintptr_t start_;
  std::uintptr_t end_;  ///< of what may be read
  std::uintptr_t sp_;
  std::uintptr_t bp_;
  std::uintptr_t bp_at_ = kUnsaved;
  bool uses_bp_ = false;
  StackWord* word_;
  StackWord* words_end_;
};

/// The rule for the return address that came after `from`.
inline StackWalker::Rule* StackWalker::follow(Rule& from, std::uintptr_t pc) noexcept {
  return from.next->pc == pc ? from.next : from.next = find(pc);
}

StackWalker::Outcome StackWalker::walk(const Registers& here, void* call_site, Found& found,
                                       StackWord* words) noexcept {
  return words != nullptr ? walk_to_end<true>(here, call_site, found, words)
                          : walk_to_end<false>(here, call_site, found, words);
}

template <bool kRecords>
StackWalker::Outcome StackWalker::walk_to_end(const Registers& here, void* call_site, Found& found,
                                              StackWord* words) noexcept {
  Walk<kRecords> walk(here, bounds_.of(here.sp), words);
  bool asked_loader = false;
  bool runs_python = false;
  bool has_more = true;
  std::uintptr_t pc = here.pc;
  Rule* rule = follow(first_, pc);
  void** frame = found.all;
  void** const last = found.all + std::size(found.all);
  std::uint64_t hash = kHashOfNoStack;
  do {
    if (rule->step == Step::kOther) [[unlikely]] {
      runs_python |= rule->runs_python;
      if (!rule->is_permanent && !asked_loader) {
        if (!modules_.current()) return Outcome::kStale;
        asked_loader = true;
      }
    }
    if (!walk.step(*rule, pc)) [[unlikely]] {
      if (rule == &stale_) return Outcome::kStale;
      if (rule->unwind.cfa != UnwindRule::Cfa::kOutermost) return Outcome::kUnproven;
      has_more = false;
      break;
    }
    *frame++ = reinterpret_cast<void*>(pc);
    hash = hash_address(hash, pc);
    rule = follow(*rule, pc);
  } while (frame != last);
  if (frame != found.all && frame[-1] == nullptr) --frame;  // see `learn`

  const auto first = std::find(found.all, frame, call_site);
  if (first == frame) return Outcome::kUnproven;
  const auto depth = static_cast<std::size_t>(frame - first);
  found.is_truncated = has_more || depth > kMostFrames;
  found.stack = RawStack(first, std::min(depth, kMostFrames));
  found.hash = mix(hash);
  const bool is_recorded = kRecords && !walk.read_too_many();
  found.words = is_recorded ? static_cast<std::size_t>(walk.words_read() - words) : 0;
  found.uses_bp = walk.uses_bp();
  found.needs_loader_check = asked_loader;
  found.runs_python = runs_python;
  return Outcome::kComplete;
}

void StackWalker::clear() {
  table_.clear();
  rules_.clear();
  first_.next = &stale_;
}

/// The rule for a return address; `stale_` when the loader has changed something since the modules
/// were listed, or memory is short.
[[gnu::noinline]] StackWalker::Rule* StackWalker::find(std::uintptr_t pc) noexcept {
  if (!table_.empty()) {
    for (std::size_t i = hash(pc);; ++i) {
      Rule* const rule = table_[i & (table_.size() - 1)];
      if (rule == nullptr) break;
      if (rule->pc == pc) return rule;
    }
  }
  try {
    return learn(pc);
  } catch (...) {
    return &stale_;
  }
}

StackWalker::Rule* StackWalker::learn(std::uintptr_t pc) {
  if (rules_.size() == kMostRules || !modules_.current()) return &stale_;
  if ((rules_.size() + 1) * 2 > table_.size()) {
    table_.assign(std::max<std::size_t>(256, table_.size() * 2), nullptr);
    for (Rule& rule : rules_) place(&rule);
  }
  const ModuleTable::Entry* module = pc != 0 ? modules_.find(pc) : nullptr;
  Rule& rule = rules_.emplace_back();
  rule.pc = pc;
  rule.next = &stale_;
  rule.is_permanent = module != nullptr && module->is_permanent;
  if (module != nullptr && !module->eh_frame_hdr.empty())
    rule.unwind = read_rule(module->eh_frame_hdr, pc);
  // How stacks that were made by hand begin.
  if (pc == 0) rule.unwind.cfa = UnwindRule::Cfa::kOutermost, rule.is_permanent = true;
  const PythonRuntime* const python = PythonRuntime::present();
  rule.runs_python = python != nullptr && python->runs_functions(pc);
  // What the modules are is asked on each way through Python.
  if (rule.runs_python) rule.is_permanent = false;
  const bool saves_rbp = rule.unwind.rbp == UnwindRule::Rbp::kAtCfa;
  if (rule.is_permanent && rule.unwind.cfa == UnwindRule::Cfa::kRsp &&
      rule.unwind.cfa_offset >= 8 && (saves_rbp || rule.unwind.rbp == UnwindRule::Rbp::kKept))
    rule.step = saves_rbp ? Step::kPlainSavesRbp : Step::kPlain;
  place(&rule);
  return &rule;
}

void StackWalker::place(Rule* rule) {
  std::size_t i = hash(rule->pc);
  while (table_[i & (table_.size() - 1)] != nullptr) ++i;
  table_[i & (table_.size() - 1)] = rule;
}

}  // namespace chameleon::callpath
