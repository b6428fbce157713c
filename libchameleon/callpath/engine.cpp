// SPDX-License-Identifier: BSD-3-Clause
#include "callpath/engine.h"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>

#include "callpath/fold_recursion.h"

namespace chameleon::callpath {
namespace {

using Unwind = int (*)(void** addresses, int most);

std::atomic<Unwind> unwinder{nullptr};

/// The order of two accesses as a handler on the same thread sees them.
void order_for_handlers() { std::atomic_signal_fence(std::memory_order_seq_cst); }

}  // namespace

Status Engine::start() {
  if (unwinder.load() != nullptr) return Unit{};
  // Loaded privately: the library exports `_Unwind_*` and `backtrace`, which
  // must not come before those that the application's exceptions use.
  void* library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = dlerror();
    return Error{ErrorKind::kSystem, std::string("no call paths: ") +
                                         (reason != nullptr ? reason : "no libunwind.so.8")};
  }
  const auto unwind = reinterpret_cast<Unwind>(dlsym(library, "unw_backtrace"));
  if (unwind == nullptr)
    return Error{ErrorKind::kSystem, "no call paths: libunwind.so.8 has no unw_backtrace"};
  void* addresses[4];
  unwind(addresses, 4);  // sets itself up now rather than inside a timed call
  unwinder.store(unwind);
  return Unit{};
}

// Not inlined: the registers are those of this frame, which lives until the walk is over.
[[gnu::noinline]] std::uint64_t Engine::capture(void* call_site) {
  if (is_busy_) [[unlikely]]
    return PathStore::process().unknown_path();
  is_busy_ = true;
  order_for_handlers();
  const Registers here = present_registers();
  std::uint64_t result;
  const StackMemo::Slot* const known = memo_ ? memo_->find(call_site, here) : nullptr;
  if (known != nullptr && (!known->needs_loader_check || modules_.current()))
    result = known->signature;
  else
    result = capture_anew(call_site, here);
  order_for_handlers();
  is_busy_ = false;
  return result;
}

std::uint64_t Engine::capture_anew(void* call_site, const Registers& here) {
  if (unwinder.load(std::memory_order_relaxed) == nullptr)
    return PathStore::process().unknown_path();
  try {
    if (fastest_ == Way::kLibunwind || here.pc == 0) return capture_by_libunwind(call_site);
    return capture_by_walk(call_site, here);
  } catch (...) {  // out of memory
    forget_all();
    is_busy_ = false;
    throw;
  }
}

std::uint64_t Engine::capture_by_walk(void* call_site, const Registers& here) {
  if (!memo_ && fastest_ == Way::kMemo) memo_ = StackMemo::make();
  StackMemo::Slot* const slot = memo_ ? memo_->replace(call_site, here) : nullptr;
  StackWord* const words = slot != nullptr ? slot->words : nullptr;
  auto outcome = walker_.walk(here, call_site, found_, words);
  // Twice, should another thread load or unload something just now.
  for (int again = 0; again < 2 && outcome == StackWalker::Outcome::kStale; ++again) {
    forget();
    outcome = walker_.walk(here, call_site, found_, words);
  }
  if (outcome != StackWalker::Outcome::kComplete) return capture_by_libunwind(call_site);

  ++counts_.walks;
  const std::uint64_t result = look_up(found_.hash, found_.stack, found_.is_truncated);
  if (slot != nullptr && found_.words > 0) {
    slot->start = here;
    slot->signature = result;
    slot->count = static_cast<std::uint32_t>(found_.words);
    slot->uses_bp = found_.uses_bp;
    slot->needs_loader_check = found_.needs_loader_check;
    memo_->fill(*slot, call_site);
  }
  return result;
}

std::uint64_t Engine::capture_by_libunwind(void* call_site) {
  ++counts_.libunwind;
  void* addresses[kMostFrames + StackWalker::kOwnFrames];
  const int found =
      unwinder.load(std::memory_order_relaxed)(addresses, static_cast<int>(std::size(addresses)));
  const RawStack all(addresses, static_cast<std::size_t>(std::max(found, 0)));
  const auto first = std::find(all.begin(), all.end(), call_site);

  // A stack that cannot be followed to the call site is the call site alone.
  RawStack stack(&call_site, 1);
  bool is_truncated = true;
  if (first != all.end()) {
    stack = RawStack(first, all.end());
    is_truncated = all.size() == std::size(addresses) || stack.size() > kMostFrames;
    stack = stack.first(std::min(stack.size(), kMostFrames));
  }
  if (!modules_.current()) forget();
  return look_up(hash_stack(stack), stack, is_truncated);
}

std::uint64_t Engine::look_up(std::uint64_t hash, RawStack stack, bool is_truncated) {
  if (const std::uint64_t* known = seen_.find(hash, stack)) return *known;
  const std::uint64_t result = resolve(stack, is_truncated);
  seen_.insert(hash, stack, result);
  return result;
}

/// After the loader changed something: addresses may mean other code now.
void Engine::forget() {
  seen_.clear();
  walker_.clear();
  if (memo_) memo_->clear();
  modules_.refresh();
}

/// What was being changed may be half changed.
void Engine::forget_all() noexcept {
  seen_.clear();
  walker_.clear();
  if (memo_) memo_->clear();
  modules_.clear();
}

std::uint64_t Engine::resolve(RawStack stack, bool is_truncated) {
  if (!modules_.current()) forget();
  const auto address_of = [](void* address) { return reinterpret_cast<std::uintptr_t>(address); };
  while (stack.size() > 1 && !is_truncated &&
         (stack.back() == nullptr || modules_.is_outside_main(address_of(stack.back()))))
    stack = stack.first(stack.size() - 1);

  frames_.clear();
  for (void* address : stack) {
    ModuleTable::Entry* entry = modules_.find(address_of(address));
    if (entry == nullptr) {
      frames_.push_back(kAnonymousFrame);
      continue;
    }
    const std::uint64_t id = ModuleTable::identify(*entry);
    frames_.push_back({id, address_of(address) - entry->base});
    PathStore::process().add_module(id, entry->module);
  }
  if (is_truncated) frames_.push_back(kTruncatedFrame);
  fold_recursion(frames_);
  return intern();
}

/// The path in `frames_`, and with relaxed matching the path that stands for it.
std::uint64_t Engine::intern() {
  PathStore& paths = PathStore::process();
  if (matched_.all()) return paths.intern(frames_);
  return paths.intern(
      frames_, relax(frames_, matched_, [&](std::size_t i) { return function_of(frames_[i]); }));
}

/// The function that a frame is in: a return address at its begin, as that of a call before its
/// first instruction would be. The frame itself where no table tells.
Frame Engine::function_of(const Frame& frame) {
  const ModuleTable::Entry* const entry = modules_.find_by_id(frame.module);
  if (entry == nullptr) return frame;
  const std::uintptr_t begin = function_begin(entry->eh_frame_hdr, entry->base + frame.offset);
  return begin == 0 ? frame : Frame{frame.module, begin - entry->base + 1};
}

}  // namespace chameleon::callpath
