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

/// Room for our own frames between the unwinder and the call site.
constexpr std::size_t kOwnFrames = 32;

/// Signature of the path of which nothing is known; listed among the paths.
std::uint64_t unknown_path(bool& is_told) noexcept {
  static constexpr Frame kUnknown[] = {kUnknownFrame};
  if (!is_told) {
    try {
      PathStore::process().intern(kUnknown);
      is_told = true;
    } catch (...) {  // out of memory: told another time
    }
  }
  return signature(kUnknown);
}

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

std::uint64_t Engine::capture(void* call_site) noexcept {
  const Unwind unwind = unwinder.load(std::memory_order_relaxed);
  if (unwind == nullptr) return unknown_path(told_unknown_);

  void* addresses[kMostFrames + kOwnFrames];
  const int found = unwind(addresses, static_cast<int>(std::size(addresses)));
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

  if (!modules_.current()) seen_.clear();
  const std::uint64_t hash = hash_stack(stack);
  if (const std::uint64_t* known = seen_.find(hash, stack)) return *known;
  try {
    const std::uint64_t result = resolve(stack, is_truncated);
    seen_.insert(hash, stack, result);
    return result;
  } catch (...) {  // out of memory: the application must not notice
    return unknown_path(told_unknown_);
  }
}

std::uint64_t Engine::resolve(RawStack stack, bool is_truncated) {
  if (!modules_.current()) modules_.refresh();
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
  return PathStore::process().intern(frames_);
}

}  // namespace chameleon::callpath
