// SPDX-License-Identifier: BSD-3-Clause
#include "record/raised_errors.h"

#include <array>
#include <atomic>
#include <mutex>

namespace chameleon::record {

CHAMELEON_PER_THREAD int t_raised = 0;

namespace {

using Handler = void (*)(void*, int*, ...);

std::array<std::atomic<Handler>, kMostHandlers> g_handlers{};
std::mutex g_making;

/// An MPI passes as many arguments as it likes behind the first two. Where arguments are passed in
/// registers, four more can be passed on whether they are there or not.
template <std::size_t I>
void note(void* object, int* code, void* a, void* b, void* c, void* d) {
  const int earlier = t_raised, raised = code != nullptr ? *code : 0;
  g_handlers[I].load(std::memory_order_acquire)(object, code, a, b, c, d);
  t_raised = earlier != 0 ? earlier : raised;  // the handler may have made calls
}

using Noting = void (*)(void*, int*, void*, void*, void*, void*);
constexpr auto kNoting = []<std::size_t... I>(std::index_sequence<I...>) {
  return std::array<Noting, kMostHandlers>{note<I>...};
}
(std::make_index_sequence<kMostHandlers>());

}  // namespace

void* noting_handler(void* handler) {
  if (handler == nullptr) return handler;
  const auto wanted = reinterpret_cast<Handler>(handler);
  const std::lock_guard<std::mutex> held(g_making);
  for (std::size_t i = 0; i < kMostHandlers; ++i) {
    const Handler known = g_handlers[i].load(std::memory_order_relaxed);
    if (reinterpret_cast<void*>(kNoting[i]) == handler) return handler;
    if (known != nullptr && known != wanted) continue;
    g_handlers[i].store(wanted, std::memory_order_release);
    return reinterpret_cast<void*>(kNoting[i]);
  }
  return handler;
}

}  // namespace chameleon::record
