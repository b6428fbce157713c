// SPDX-License-Identifier: BSD-3-Clause
#include "record/aside.h"

#include <pthread.h>
#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cstddef>

extern "C" {
// Of AddressSanitizer, where the program or the tool is built with it: it keeps the bounds of the
// present stack.
[[gnu::weak]] void __sanitizer_start_switch_fiber(void** kept, const void* low, std::size_t size);
[[gnu::weak]] void __sanitizer_finish_switch_fiber(void* kept, const void** low, std::size_t* size);
}

namespace chameleon::record {
namespace {

constexpr std::size_t kGuard = 64U << 10;
constexpr std::size_t kSizes[] = {4U << 20, 1U << 20, 256U << 10};

struct OwnStack {
  std::atomic<bool> taken{false};
  std::uintptr_t low = 0;
  std::size_t size = 0;

  bool holds(std::uintptr_t address) const { return address - low < size; }
};

constinit std::array<OwnStack, 16> g_stacks;
/// The one that this thread used last.
CHAMELEON_PER_THREAD OwnStack* t_own_stack CHAMELEON_FAST_TLS = nullptr;

bool make(OwnStack& stack) {
  for (const std::size_t size : kSizes) {
    void* const space = ::mmap(nullptr, kGuard + size, PROT_NONE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (space == MAP_FAILED) continue;
    char* const low = static_cast<char*>(space) + kGuard;
    if (::mprotect(low, size, PROT_READ | PROT_WRITE) == 0) {
      stack.low = reinterpret_cast<std::uintptr_t>(low);
      stack.size = size;
      return true;
    }
    ::munmap(space, kGuard + size);
  }
  return false;
}

/// Acquired: what the thread that had it before left in its memory is behind.
bool take(OwnStack& stack) {
  if (stack.taken.exchange(true, std::memory_order_acquire)) return false;
  if (stack.size != 0 || make(stack)) return true;
  stack.taken.store(false, std::memory_order_release);
  return false;
}

OwnStack* take_any() {
  if (t_own_stack != nullptr && take(*t_own_stack)) return t_own_stack;
  for (OwnStack& stack : g_stacks)
    if (take(stack)) return t_own_stack = &stack;
  return nullptr;
}

struct Call {
  void (*function)(void*);
  void* argument;
  void* fiber = nullptr;  ///< AddressSanitizer's, of the program's stack
  const void* low = nullptr;
  std::size_t size = 0;
};

/// On the stack of the tool's own.
extern "C" [[gnu::used, gnu::visibility("hidden")]] void chameleon_run_call(void* given) {
  Call& call = *static_cast<Call*>(given);
  if (__sanitizer_finish_switch_fiber != nullptr)
    __sanitizer_finish_switch_fiber(nullptr, &call.low, &call.size);
  call.function(call.argument);
  if (__sanitizer_start_switch_fiber != nullptr)
    __sanitizer_start_switch_fiber(nullptr, call.low, call.size);
}

}  // namespace

#if defined(__x86_64__)
// chameleon_call_on(argument, top): chameleon_run_call(argument) with `top` as the stack pointer.
// The frame is found by rbp, so that the stack can be unwound through it.
asm(R"(
  .pushsection .text
  .p2align 4
  .globl chameleon_call_on
  .hidden chameleon_call_on
  .type chameleon_call_on, @function
chameleon_call_on:
  .cfi_startproc
  pushq %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  movq %rsi, %rsp
  call chameleon_run_call
  movq %rbp, %rsp
  popq %rbp
  .cfi_def_cfa %rsp, 8
  ret
  .cfi_endproc
  .size chameleon_call_on, .-chameleon_call_on
  .popsection
)");
#define CHAMELEON_HAS_OWN_STACKS true
#elif defined(__aarch64__)
asm(R"(
  .pushsection .text
  .p2align 4
  .globl chameleon_call_on
  .hidden chameleon_call_on
  .type chameleon_call_on, %function
chameleon_call_on:
  .cfi_startproc
  stp x29, x30, [sp, #-16]!
  .cfi_def_cfa_offset 16
  .cfi_offset x29, -16
  .cfi_offset x30, -8
  mov x29, sp
  .cfi_def_cfa_register x29
  mov sp, x1
  bl chameleon_run_call
  mov sp, x29
  .cfi_def_cfa_register sp
  ldp x29, x30, [sp], #16
  .cfi_def_cfa_offset 0
  .cfi_restore x29
  .cfi_restore x30
  ret
  .cfi_endproc
  .size chameleon_call_on, .-chameleon_call_on
  .popsection
)");
#define CHAMELEON_HAS_OWN_STACKS true
#else
#define CHAMELEON_HAS_OWN_STACKS false
#endif

#if CHAMELEON_HAS_OWN_STACKS
extern "C" void chameleon_call_on(void* argument, void* top);
#endif

namespace {

bool is_on_own_stack() {
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  return t_own_stack != nullptr && t_own_stack->holds(here);
}

}  // namespace

bool has_own_stack() {
  if (!CHAMELEON_HAS_OWN_STACKS || kSimulated) return false;
  if (is_on_own_stack()) return true;
  OwnStack* const stack = take_any();
  if (stack != nullptr) stack->taken.store(false, std::memory_order_release);
  return stack != nullptr;
}

void call_on_own_stack(void (*function)(void*), void* argument) {
#if CHAMELEON_HAS_OWN_STACKS
  OwnStack* const stack = is_on_own_stack() || kSimulated ? nullptr : take_any();
  if (stack != nullptr) {
    int cancels = 0, ignored = 0;
    ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancels);
    Call call{function, argument};
    auto* const low = reinterpret_cast<char*>(stack->low);
    if (__sanitizer_start_switch_fiber != nullptr)
      __sanitizer_start_switch_fiber(&call.fiber, low, stack->size);
    chameleon_call_on(&call, low + stack->size);
    if (__sanitizer_finish_switch_fiber != nullptr)
      __sanitizer_finish_switch_fiber(call.fiber, nullptr, nullptr);
    stack->taken.store(false, std::memory_order_release);
    ::pthread_setcancelstate(cancels, &ignored);
    return;
  }
#endif
  function(argument);
}

}  // namespace chameleon::record
