// SPDX-License-Identifier: BSD-3-Clause
#include "process/fault.h"

#include <sys/mman.h>

#include "process/tracer.h"

namespace chameleon::process {

std::atomic<Tracer*> g_stopped{nullptr};

namespace {

constexpr std::size_t kReserve = 16U << 20, kLeastReserve = 1U << 20;  // UCX takes 4 MiB at a time

std::atomic<Failure> g_fault{Failure::kNone};
std::atomic<void*> g_reserve{nullptr};
std::size_t g_reserved = 0;  // its bytes

}  // namespace

Tracer* present_tracer() {
  Tracer* const tracer = g_tracer.load(std::memory_order_acquire);
  return tracer != nullptr ? tracer : g_stopped.load(std::memory_order_acquire);
}

Failure first_fault() { return g_fault.load(std::memory_order_relaxed); }

void reserve_space() {
  if (has_fault() || g_reserve.load() != nullptr) return;
  void* space = MAP_FAILED;
  for (std::size_t size = kReserve; size >= kLeastReserve && space == MAP_FAILED; size /= 2) {
    g_reserved = size;
    space = ::mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
  if (space != MAP_FAILED) g_reserve.store(space);
}

void give_back_space() {
  if (void* const space = g_reserve.exchange(nullptr)) ::munmap(space, g_reserved);
}

void note_fault(Failure failure) {
  if (failure == Failure::kNone) return;
  Failure none = Failure::kNone;
  g_fault.compare_exchange_strong(none, failure);
  give_back_space();
  Tracer* tracer = g_tracer.load();
  if (tracer == nullptr) return;
  tracer->stop_for_good();
  g_stopped.store(tracer);
  g_tracer.compare_exchange_strong(tracer, nullptr);
}

void fault_caught() { note_fault(failure_caught()); }

const char* fault_declaration(Failure failure) {
  return failure == Failure::kMemory ? kNoMemoryDeclaration : kFailedDeclaration;
}

}  // namespace chameleon::process
