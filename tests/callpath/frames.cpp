// SPDX-License-Identifier: BSD-3-Clause
// Compiled with several options. Values that are kept in `sink` keep the compiler from seeing
// through; a call is always followed by something, so that it is a call and not a jump.
#include "callpath/frames.h"

#include <alloca.h>

#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <vector>

#ifdef CHAMELEON_TEST_FORTRAN
extern "C" void chameleon_test_fortran(void (*callback)(void*), void* with, const int* size);
#endif

namespace chameleon::test {
namespace {

volatile std::uint64_t sink;
inline void keep() { asm volatile("" ::: "memory"); }
inline void keep(void* p) { asm volatile("" : : "r"(p) : "memory"); }

void go(Trip& trip, int depth);

#define FRAME [[gnu::noinline, gnu::noclone]] void

FRAME plain(Trip& trip, int depth) {
  go(trip, depth);
  keep();
}

FRAME two_places(Trip& trip, int depth) {
  if (trip.random(2) == 0) {
    go(trip, depth);
    sink = sink + 1;
  } else {
    go(trip, depth);
    sink = sink + 2;
  }
}

FRAME again_and_again(Trip& trip, int depth) {
  for (std::uint32_t i = trip.random(4); i-- > 0;) go(trip, depth);
  keep();
}

FRAME with_alloca(Trip& trip, int depth) {
  void* room = alloca(1 + trip.random(600));
  keep(room);
  go(trip, depth);
  keep(room);
}

/// What lies there stays from earlier calls: old return addresses among others.
FRAME uninitialised(Trip& trip, int depth) {
  char room[1500];
  keep(room);
  go(trip, depth);
  keep(room);
}

FRAME over_aligned(Trip& trip, int depth) {
  alignas(64) double values[24];
  keep(values);
  go(trip, depth);
  keep(values);
}

FRAME over_aligned_alloca(Trip& trip, int depth) {
  alignas(128) char values[128];
  void* room = alloca(1 + trip.random(300));
  keep(values);
  keep(room);
  go(trip, depth);
  keep(values);
  keep(room);
}

/// Vectors on the stack, where the compiler aligns the frame by itself with AVX.
FRAME vectors(Trip& trip, int depth) {
  double a[64];
  for (int i = 0; i < 64; ++i) a[i] = static_cast<double>(sink) * i;
  keep(a);
  go(trip, depth);
  double sum = 0;
  for (int i = 0; i < 64; ++i) sum += a[i] * a[63 - i];
  sink = static_cast<std::uint64_t>(sum);
}

/// Every callee-saved register in use.
FRAME many_values(Trip& trip, int depth) {
  std::uint64_t a = sink, b = a + sink, c = b ^ sink, d = c + sink, e = d ^ sink, f = e + sink;
  go(trip, depth);
  sink = a ^ (b + c) ^ (d + e) ^ f;
  go(trip, depth);
  sink = (a + b) ^ (c + d) ^ (e + f);
}

FRAME many_arguments(Trip& trip, int depth, int a, int b, int c, int d, int e, int f, int g) {
  go(trip, depth);
  sink = static_cast<std::uint64_t>(a + b + c + d + e + f + g);
}
FRAME passes_on_stack(Trip& trip, int depth) {
  const int n = static_cast<int>(trip.random(9));
  many_arguments(trip, depth, n, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6);
  keep();
}

FRAME variadic(Trip* trip, int depth, ...) {
  std::va_list list;
  va_start(list, depth);
  sink = va_arg(list, std::uint64_t);
  go(*trip, depth);
  va_end(list);
}
FRAME calls_variadic(Trip& trip, int depth) {
  variadic(&trip, depth, std::uint64_t{7}, 1.5);
  keep();
}

thread_local Trip* sorting;
thread_local int sorting_depth;

int order(const void* a, const void* b) {
  Trip& trip = *sorting;
  const int depth = sorting_depth;
  if (trip.random(3) == 0) go(trip, depth);
  sorting = &trip;
  sorting_depth = depth;
  return std::memcmp(a, b, sizeof(int));
}
FRAME through_qsort(Trip& trip, int depth) {
  int values[6];
  for (int& value : values) value = static_cast<int>(trip.random(100));
  sorting = &trip;
  sorting_depth = depth;
  std::qsort(values, 3 + trip.random(4), sizeof values[0], order);
  sink = static_cast<std::uint64_t>(values[0]);
}

FRAME thrower(Trip& trip, int depth) {
  go(trip, depth);
  if (trip.random(2) == 0) throw std::runtime_error("thrown on purpose");
  go(trip, depth);
  keep();
}
struct Visitor {  // runs below the unwinder of the exception
  Trip& trip;
  ~Visitor() {
    if (--trip.visits >= 0) trip.visit(trip.with);
    keep();
  }
};
FRAME unwound(Trip& trip, int depth) {
  const Visitor visitor{trip};
  thrower(trip, depth);
  keep();
}
FRAME catches(Trip& trip, int depth) {
  try {
    unwound(trip, depth);
  } catch (const std::runtime_error&) {
    go(trip, depth);
  }
  keep();
}

FRAME through_function(Trip& trip, int depth) {
  std::vector<int> held(trip.random(8));
  const std::function<void()> call = [&] {
    go(trip, depth);
    sink = held.size();
  };
  call();
  keep();
}

FRAME through_fortran(Trip& trip, int depth) {
#ifdef CHAMELEON_TEST_FORTRAN
  struct Call {
    Trip& trip;
    int depth;
  } call{trip, depth};
  const int size = static_cast<int>(1 + trip.random(50));
  chameleon_test_fortran(
      [](void* with) {
        auto& c = *static_cast<Call*>(with);
        go(c.trip, c.depth);
        keep();
      },
      &call, &size);
  keep();
#else
  plain(trip, depth);
  keep();
#endif
}

using Function = void (*)(Trip&, int);
// What libunwind is slow at comes last and is called less often.
constexpr Function kFunctions[] = {
    plain,           two_places,      again_and_again, with_alloca,   uninitialised,
    many_values,     passes_on_stack, calls_variadic,  through_qsort, through_function,
    through_fortran, vectors,         catches,         over_aligned,  over_aligned_alloca};
constexpr std::uint32_t kCheap = 11;

[[gnu::noinline]] void go(Trip& trip, int depth) {
  if (trip.visits <= 0) return;
  if (depth <= 0 || trip.random(8) == 0) {
    for (std::uint32_t i = trip.random(3) + 1; i-- > 0;) {
      --trip.visits;
      trip.visit(trip.with);
    }
    return;
  }
  constexpr auto kAll = static_cast<std::uint32_t>(std::size(kFunctions));
  const std::uint32_t which = trip.random(trip.random(16) == 0 ? kAll : kCheap);
  kFunctions[which](trip, depth - 1);
  keep();
}

}  // namespace

void wander(Trip& trip) {
  while (trip.visits > 0) {
    go(trip, static_cast<int>(1 + trip.random(static_cast<std::uint32_t>(trip.most_depth))));
    keep();
  }
}

}  // namespace chameleon::test
