// SPDX-License-Identifier: BSD-3-Clause
#include <pthread.h>

#include <atomic>

#include "base/memory.h"

namespace chameleon::inline base {
namespace {

std::atomic<std::uint64_t> g_now{0}, g_most{0}, g_for_merging{UINT64_MAX};

/// The thread that is bound, if any is.
std::atomic<bool> g_bound{false};
std::atomic<pthread_t> g_bound_thread{};

bool is_bound() {
  return g_bound.load(std::memory_order_relaxed) &&
         pthread_equal(g_bound_thread.load(std::memory_order_relaxed), pthread_self()) != 0;
}

}  // namespace

MemoryUse memory_use() {
  return {g_now.load(std::memory_order_relaxed), g_most.load(std::memory_order_relaxed)};
}

void allow_for_merging(std::uint64_t bytes) { g_for_merging = bytes; }

MergeBound::MergeBound() {
  g_bound_thread = pthread_self();
  g_bound = true;
}

MergeBound::~MergeBound() { g_bound = false; }

bool count_allocated(std::uint64_t size) {
  const std::uint64_t now = g_now.fetch_add(size, std::memory_order_relaxed) + size;
  if (is_bound() && now > g_for_merging.load(std::memory_order_relaxed)) {
    count_released(size);
    return false;
  }
  // Of two threads at once the smaller may stay: a figure for people and a limit, no more.
  if (now > g_most.load(std::memory_order_relaxed)) g_most.store(now, std::memory_order_relaxed);
  return true;
}

void count_released(std::uint64_t size) { g_now.fetch_sub(size, std::memory_order_relaxed); }

}  // namespace chameleon::inline base
