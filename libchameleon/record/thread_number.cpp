// SPDX-License-Identifier: BSD-3-Clause
#include "record/thread_number.h"

#include <pthread.h>

#include <mutex>
#include <vector>

#include "mpi/platform.h"

namespace chameleon::record {
namespace {

/// Of the process, and never destroyed: threads may end when the tracer is gone.
struct Numbers {
  std::mutex mutex;
  std::vector<bool> taken;
  pthread_key_t key{};
  bool has_key = false;
  void (*ended)() = nullptr;
};

Numbers& numbers() {
  static auto* const all = new Numbers;
  return *all;
}

/// At the end of a thread; the key's value is its number and one.
void give_back(void* value) {
  Numbers& all = numbers();
  const std::scoped_lock lock(all.mutex);
  all.taken[reinterpret_cast<std::uintptr_t>(value) - 1] = false;
  all.ended();
}

}  // namespace

std::uint32_t take_thread_number(void (*ended)()) {
  if constexpr (kSimulated) return 0;  // a rank is a thread
  Numbers& all = numbers();
  const std::scoped_lock lock(all.mutex);
  all.ended = ended;
  if (!all.has_key) all.has_key = ::pthread_key_create(&all.key, give_back) == 0;
  std::uintptr_t number = 0;
  while (number < all.taken.size() && all.taken[number]) ++number;
  if (number == all.taken.size()) all.taken.push_back(false);
  all.taken[number] = true;
  if (all.has_key) ::pthread_setspecific(all.key, reinterpret_cast<void*>(number + 1));
  return static_cast<std::uint32_t>(number);
}

}  // namespace chameleon::record
