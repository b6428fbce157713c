// SPDX-License-Identifier: BSD-3-Clause
// A program with three phases, each with call paths of its own: A shifts vectors around a ring, B
// broadcasts from rank 0 and sums over all ranks, C gathers on the last rank. --pattern says which
// time step does what:
//
//     steady      A throughout (the default)
//     switch      A in the first half, B in the second: a lasting switch
//     excursion   A, with one time step of B in the middle
//     alternate   A and B in turns
//     AABBC       any word of A, B and C: the time steps go through it again and again
//     random      A, B or C, in no order
//     roles       A, in which ranks have four roles, which they take in turn: each has functions of
//                 its own
//     differs     A, in which the last rank takes a role of its own at every second time step
//
// Within a time step a phase is repeated one to three times; that number is no change of phase. But
// for `roles` and `differs` all ranks behave alike. A shift only moves values, so each rank knows
// what it has at any time.

#include <cstdint>
#include <string_view>
#include <vector>

#include "example.h"

namespace {

using Values = std::vector<double>;

bool valid(std::string_view pattern) {
  return pattern == "steady" || pattern == "switch" || pattern == "excursion" ||
         pattern == "alternate" || pattern == "random" || pattern == "roles" ||
         pattern == "differs" || pattern.find_first_not_of("ABC") == std::string_view::npos;
}

char phase_of(std::string_view pattern, int step, int steps) {
  if (pattern == "steady" || pattern == "roles" || pattern == "differs") return 'A';
  if (pattern == "switch") return step < steps / 2 ? 'A' : 'B';
  if (pattern == "excursion") return step == steps / 2 ? 'B' : 'A';
  if (pattern == "alternate") return step % 2 == 0 ? 'A' : 'B';
  if (pattern == "random") {
    std::uint64_t chance = 0x9e3779b97f4a7c15 * static_cast<std::uint64_t>(step + 1);
    chance = (chance ^ chance >> 29) * 0xbf58476d1ce4e5b9;
    return "ABC"[(chance >> 40) % 3];
  }
  return pattern[step % pattern.size()];
}

int role_of(const example::Run& run, int step) {
  if (run.options.pattern == "roles") return (run.rank + step) % 4;
  return run.options.pattern == "differs" && run.rank == run.ranks - 1 ? step % 2 : 0;
}

// The value that the rank has at place `i` after so many shifts.
double expected(const example::Run& run, int rank, long long shifts, int i) {
  const int origin = static_cast<int>((rank + run.ranks - shifts % run.ranks) % run.ranks);
  return origin + 0.5 * i;
}

// Which role a rank has changes only where it calls MPI from.
template <int Role>
[[gnu::noinline]] void shift_phase(const example::Run& run, Values& mine, int times) {
  volatile int role = Role;  // or the compiler may make one function of them
  const int n = static_cast<int>(mine.size());
  const int next = (run.rank + 1) % run.ranks;
  const int previous = (run.rank + run.ranks - 1) % run.ranks;
  Values taken(n);
  for (int time = 0; time < times; ++time) {
    MPI_Sendrecv(mine.data(), n, MPI_DOUBLE, next, 1, taken.data(), n, MPI_DOUBLE, previous, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    mine.swap(taken);
  }
  static_cast<void>(role);
}

[[gnu::noinline]] void sum_phase(example::Run& run, const Values& mine, long long shifts,
                                 int times) {
  const int n = static_cast<int>(mine.size());
  Values first(n);
  for (int time = 0; time < times; ++time) {
    if (run.rank == 0) first = mine;
    MPI_Bcast(first.data(), n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < n; ++i) run.check(first[i] == expected(run, 0, shifts, i));

    double sum = 0;
    MPI_Allreduce(mine.data(), &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    run.check_near(sum, 0.5 * run.ranks * (run.ranks - 1));
  }
}

[[gnu::noinline]] void gather_phase(example::Run& run, const Values& mine, long long shifts,
                                    int times) {
  Values firsts(run.ranks);
  for (int time = 0; time < times; ++time) {
    MPI_Gather(mine.data(), 1, MPI_DOUBLE, firsts.data(), 1, MPI_DOUBLE, run.ranks - 1,
               MPI_COMM_WORLD);
    if (run.rank != run.ranks - 1) continue;
    for (int rank = 0; rank < run.ranks; ++rank)
      run.check(firsts[rank] == expected(run, rank, shifts, 0));
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  example::Run run("phases", argc, argv, {.iterations = 40, .size = 256, .pattern = "steady"});
  if (!valid(run.options.pattern)) {
    if (run.rank == 0) {
      std::fprintf(stderr,
                   "phases: --pattern takes steady, switch, excursion, alternate, random, roles, "
                   "differs, or a word of A, B and C\n");
    }
    MPI_Finalize();
    return 2;
  }
  Values mine(run.options.size);
  for (int i = 0; i < run.options.size; ++i) mine[i] = run.rank + 0.5 * i;

  long long shifts = 0;
  run.start();
  for (int step = 0; step < run.options.iterations; ++step) {
    run.compute(mine);
    const int times = 1 + step % 3;
    switch (phase_of(run.options.pattern, step, run.options.iterations)) {
      case 'A':
        switch (role_of(run, step)) {
          case 0: shift_phase<0>(run, mine, times); break;
          case 1: shift_phase<1>(run, mine, times); break;
          case 2: shift_phase<2>(run, mine, times); break;
          default: shift_phase<3>(run, mine, times);
        }
        shifts += times;
        break;
      case 'B': sum_phase(run, mine, shifts, times); break;
      default: gather_phase(run, mine, shifts, times);
    }
    example::end_of_timestep();
  }
  run.stop();

  for (int i = 0; i < run.options.size; ++i)
    run.check(mine[i] == expected(run, run.rank, shifts, i));

  const int status = run.finish();
  MPI_Finalize();
  return status;
}
