// SPDX-License-Identifier: BSD-3-Clause
#include "process/fault.h"

#include <sys/mman.h>

#include "process/tracer.h"

namespace chameleon::process {

std::atomic<Tracer*> g_stopped{nullptr};

namespace {

constexpr std::size_t kReserve = 4U << 20;

std::atomic<Failure> g_fault{Failure::kNone};
std::atomic<void*> g_reserve{nullptr};

}  // namespace

Tracer* present_tracer() {
  Tracer* const tracer = g_tracer.load(std::memory_order_acquire);
  return tracer != nullptr ? tracer : g_stopped.load(std::memory_order_acquire);
}

Failure first_fault() { return g_fault.load(std::memory_order_relaxed); }

void reserve_for_faults() {
  void* const space = ::mmap(nullptr, kReserve, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (space != MAP_FAILED) g_reserve.store(space);
}

void note_fault(Failure failure) {
  if (failure == Failure::kNone) return;
  Failure none = Failure::kNone;
  g_fault.compare_exchange_strong(none, failure);
  if (void* const space = g_reserve.exchange(nullptr)) ::munmap(space, kReserve);
  Tracer* tracer = g_tracer.load();
  if (tracer == nullptr) return;
  tracer->stop_for_good();
  g_stopped.store(tracer);
  g_tracer.compare_exchange_strong(tracer, nullptr);
}

void fault_caught() { note_fault(failure_caught()); }

const char* fault_declaration(Failure failure) {
  return failure == Failure::kMemory
             ? "the tracer ran out of memory: calls from then on are missing"
             : "the tracer failed: calls from then on are missing";
}

}  // namespace chameleon::process
