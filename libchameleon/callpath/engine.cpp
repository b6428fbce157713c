// SPDX-License-Identifier: BSD-3-Clause
#include "callpath/engine.h"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

#include "base/float_environment.h"
#include "callpath/fold_recursion.h"

namespace chameleon::callpath {
namespace {

using Unwind = int (*)(void** addresses, int most);

std::atomic<Unwind> unwinder{nullptr};

/// `errno` is the program's: libunwind asks the kernel what may be read.
class KeptError {
 public:
  KeptError() : error_(errno) {}
  ~KeptError() { errno = error_; }
  KeptError(const KeptError&) = delete;
  KeptError& operator=(const KeptError&) = delete;

 private:
  int error_;
};

/// The order of two accesses as a handler on the same thread sees them.
void order_for_handlers() { std::atomic_signal_fence(std::memory_order_seq_cst); }

}  // namespace

Status Engine::start(bool python) {
  PythonRuntime::set_wanted(python);
  PythonRuntime::look();
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

[[gnu::always_inline]] inline std::uint64_t Engine::capture_from(void* call_site,
                                                                 const Registers& here) {
  if (is_busy_) [[unlikely]]
    return PathStore::process().unknown_path();
  is_busy_ = true;
  order_for_handlers();
  std::uint64_t result;
  const StackMemo::Slot* const known = memo_ ? memo_->find(call_site, here) : nullptr;
  if (known != nullptr && known->depends == 0) [[likely]]
    result = known->signature;
  else
    result = capture_anew(known, call_site, here);
  order_for_handlers();
  is_busy_ = false;
  return result;
}

// Not inlined: the registers are those of this frame, which lives until the walk is over.
[[gnu::noinline]] std::uint64_t Engine::capture(void* call_site) {
  return capture_from(call_site, present_registers());
}

std::uint64_t Engine::capture(void* call_site, const Registers& here) {
  return capture_from(call_site, here);
}

std::uint64_t Engine::capture_anew(const StackMemo::Slot* known, void* call_site,
                                   const Registers& here) {
  const UsualSse floats;
  const KeptError error;
  if (unwinder.load(std::memory_order_relaxed) == nullptr)
    return PathStore::process().unknown_path();
  try {
    if (known != nullptr && ((known->depends & StackMemo::kOnLoader) == 0 || modules_.current()))
      return (known->depends & StackMemo::kOnPython) == 0 ? known->signature
                                                          : through_python(known->signature);
    if (fastest_ == Unwinder::kLibunwind || here.pc == 0) return capture_by_libunwind(call_site);
    return capture_by_walk(call_site, here);
  } catch (...) {  // out of memory
    forget_all();
    is_busy_ = false;
    throw;
  }
}

std::uint64_t Engine::capture_by_walk(void* call_site, const Registers& here) {
  if (!memo_ && fastest_ == Unwinder::kMemo) memo_ = StackMemo::make();
  if (python_.is_full()) forget();
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
  const bool python = found_.runs_python;
  const std::uint64_t result = python ? number_of(found_.hash, found_.stack, found_.is_truncated)
                                      : look_up(found_.hash, found_.stack, found_.is_truncated);
  if (slot != nullptr && found_.words > 0) {
    slot->start = here;
    slot->signature = result;
    slot->count = static_cast<std::uint32_t>(found_.words);
    slot->uses_bp = found_.uses_bp;
    slot->depends =
        static_cast<std::uint8_t>((found_.needs_loader_check ? StackMemo::kOnLoader : 0) |
                                  (python ? StackMemo::kOnPython : 0));
    memo_->fill(*slot, call_site);
  }
  return python ? through_python(result) : result;
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
  const PythonRuntime* const python = PythonRuntime::present();
  const bool runs_python =
      python != nullptr && std::any_of(stack.begin(), stack.end(), [&](void* address) {
        return python->runs_functions(reinterpret_cast<std::uintptr_t>(address));
      });
  if (!runs_python) return look_up(hash_stack(stack), stack, is_truncated);
  if (python_.is_full()) forget();
  return through_python(number_of(hash_stack(stack), stack, is_truncated));
}

std::uint64_t Engine::look_up(std::uint64_t hash, RawStack stack, bool is_truncated) {
  if (const std::uint64_t* known = seen_.find(hash, stack)) return *known;
  if (!modules_.current()) forget();
  const std::uint64_t result = resolve({stack, is_truncated});
  seen_.insert(hash, stack, result);
  return result;
}

/// The number of a native stack through Python.
std::uint64_t Engine::number_of(std::uint64_t hash, RawStack stack, bool is_truncated) {
  if (const std::uint64_t* known = seen_.find(hash, stack)) return *known;
  const std::uint64_t number = python_.number(*PythonRuntime::present(), stack, is_truncated);
  seen_.insert(hash, stack, number);
  return number;
}

std::uint64_t Engine::through_python(std::uint64_t number) {
  return python_.signature(*PythonRuntime::present(), number,
                           [this](const PythonStack& stack) { return resolve(stack); });
}

/// After the loader changed something: addresses may mean other code now.
void Engine::forget() {
  seen_.clear();
  python_.clear();
  walker_.clear();
  if (memo_) memo_->clear();
  PythonRuntime::look();
  modules_.refresh();
}

/// What was being changed may be half changed.
void Engine::forget_all() noexcept {
  seen_.clear();
  python_.clear();
  walker_.clear();
  if (memo_) memo_->clear();
  modules_.clear();
}

void Engine::add_frame(void* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  ModuleTable::Entry* const entry = modules_.find(at);
  if (entry == nullptr) {
    frames_.push_back(kAnonymousFrame);
    return;
  }
  const std::uint64_t id = ModuleTable::identify(*entry);
  frames_.push_back({id, at - entry->base});
  PathStore::process().add_module(id, entry->module);
}

std::uint64_t Engine::resolve(const PythonStack& whole) {
  RawStack stack = whole.native;
  const auto address_of = [](void* address) { return reinterpret_cast<std::uintptr_t>(address); };
  while (stack.size() > 1 && !whole.is_truncated &&
         (stack.back() == nullptr || modules_.is_outside_main(address_of(stack.back()))))
    stack = stack.first(stack.size() - 1);

  frames_.clear();
  bool is_truncated = whole.is_truncated;
  if (whole.functions == nullptr)
    for (void* address : stack) add_frame(address);
  else if (!weave(stack, *whole.functions))
    is_truncated = true;
  if (is_truncated) frames_.push_back(kTruncatedFrame);
  fold_recursion(frames_);
  return intern();
}

/// Adds the frames of a stack, with the functions that each activation of Python's loop runs in
/// place of all that lie in the interpreter. False where the functions end before the stack.
bool Engine::weave(RawStack stack, const PythonFrames::Found& functions) {
  const PythonRuntime& python = *PythonRuntime::present();
  const std::uint64_t* next = functions.ids.data();
  const std::uint64_t* const end = next + functions.size;
  for (void* address : stack) {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    const ModuleTable::Entry* const entry = modules_.find(at);
    if (entry == nullptr || !entry->is_python) {
      add_frame(address);
      continue;
    }
    if (!python.runs_functions(at)) continue;
    for (; next != end && *next != 0; ++next) frames_.push_back({0, *next});
    if (next == end) return false;
    ++next;
  }
  return true;
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
  if (is_source(frame)) return PathStore::process().function_of_source(frame.offset);
  const ModuleTable::Entry* const entry = modules_.find_by_id(frame.module);
  if (entry == nullptr) return frame;
  const std::uintptr_t begin = function_begin(entry->eh_frame_hdr, entry->base + frame.offset);
  return begin == 0 ? frame : Frame{frame.module, begin - entry->base + 1};
}

}  // namespace chameleon::callpath
