// SPDX-License-Identifier: BSD-3-Clause
// A chain of functions to be on the stack; compiled with and without frame pointers.
#include "unwind_frames.h"

namespace chameleon::bench {
namespace {

constexpr int kFunctions = 40;

/// `ways` has a bit per frame from the innermost on: which of two places calls the next.
template <int I>
[[gnu::noinline, gnu::noclone]] void frame(int depth, unsigned long ways, Leaf leaf, void* with) {
  volatile char room[16 * (I % 5) + 8];
  room[0] = 1;
  constexpr int kNext = (I + 1) % kFunctions;
  if (depth == 0) {
    leaf(with);
  } else if ((ways >> (depth - 1) & 1) != 0) {
    frame<kNext>(depth - 1, ways, leaf, with);
    asm volatile("nop" ::: "memory");  // keeps the two calls apart
  } else {
    frame<kNext>(depth - 1, ways, leaf, with);
    asm volatile("nop\nnop" ::: "memory");
  }
  asm volatile("" : : "r"(&room) : "memory");
}

}  // namespace

void CHAMELEON_BENCH_CALL(int depth, unsigned long ways, Leaf leaf, void* with) {
  frame<0>(depth, ways, leaf, with);
  asm volatile("" ::: "memory");
}

}  // namespace chameleon::bench
