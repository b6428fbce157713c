// SPDX-License-Identifier: BSD-3-Clause
// uneven_program CASE STEPS ODD [SECONDS]: time steps of a shift and a sum, with a marker at their
// end. Rank ODD does not call markers as the others do.
//   even     it does                               fewer    one marker fewer, the last
//   more     one marker more, at the end           absent   none
//   half     none in the second half               ends     MPI_Finalize after half of the steps
//   extra    one marker more, in the middle        changes  as fewer, and other calls in that step
//   sleeps   computes for SECONDS before its marker in the middle
//   tail     computes for SECONDS before MPI_Finalize
//   leaves   as sleeps, and MPI_Finalize instead of what comes then
// uneven_program random STEPS SEED: a program made up from SEED, with phases, parameters that
// differ between ranks, polling, a second thread, calls that fail, and any of the above
// (random_program.h).
#include <chameleon/chameleon.h>
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "random_program.h"

namespace {

struct Program {
  std::string name;
  int steps = 0, odd = 0;
  double seconds = 0;
  int rank = 0, ranks = 1;

  bool is(const char* what) const { return rank == odd && name == what; }
  bool ends_at_half() const { return name == "ends" || name == "leaves"; }
};

/// One place further round the ring, which after half of the steps may be without the odd rank.
void shift(const Program& run, int step) {
  const bool without = run.ends_at_half() && step >= run.steps / 2;
  if (without && run.rank == run.odd) return;
  const auto beside = [&](int by) {
    int rank = run.rank;
    do rank = (rank + by + run.ranks) % run.ranks;
    while (without && rank == run.odd);
    return rank;
  };
  int out = run.rank, in = -1;
  MPI_Sendrecv(&out, 1, MPI_INT, beside(1), 3, &in, 1, MPI_INT, beside(-1), 3, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  if (in != beside(-1)) MPI_Abort(MPI_COMM_WORLD, 99);
}

void call_alone(int rank) {
  int sum = 0;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
}

void compute(double seconds) { ::usleep(static_cast<useconds_t>(seconds * 1e6)); }

int markers(const Program& run, int step) {
  const bool last = step == run.steps - 1, middle = step == run.steps / 2;
  if (run.is("absent") || (run.is("half") && step >= run.steps / 2)) return 0;
  if ((run.is("fewer") || run.is("changes")) && last) return 0;
  return (run.is("more") && last) || (run.is("extra") && middle) ? 2 : 1;
}

void run_steps(const Program& run) {
  for (int step = 0; step < run.steps; ++step) {
    const bool half = step == run.steps / 2;
    if (run.is("ends") && half) return;
    shift(run, step);
    if (run.is("changes") && step == run.steps - 1) call_alone(run.rank);
    // Behind a marker that is given up ranks that were alike no longer are.
    const bool gives_up = run.name == "sleeps" || run.name == "leaves" || run.name == "half";
    if (gives_up && step > run.steps / 2 && run.rank % 2 == 0) call_alone(run.rank);
    if ((run.is("sleeps") || run.is("leaves")) && half) compute(run.seconds);
    if (run.is("leaves") && half) return;
    for (int i = markers(run, step); i > 0; --i) chameleon_marker();
  }
  if (run.is("tail")) compute(run.seconds);
}

}  // namespace

int main(int argc, char** argv) {
  Program run;
  if (argc < 4) return 2;
  run.name = argv[1];
  run.steps = std::atoi(argv[2]);
  run.odd = std::atoi(argv[3]);
  run.seconds = argc > 4 ? std::atof(argv[4]) : 0;
  const bool random = run.name == "random";
  int provided = 0;
  MPI_Init_thread(&argc, &argv, random ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &run.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &run.ranks);
  if (random) {
    RandomProgram program(static_cast<unsigned>(run.odd), run.steps, run.rank, run.ranks);
    if (program.truncates()) std::printf("rank %d receives too little\n", run.rank);
    program.run();
  } else {
    run_steps(run);
  }
  std::printf("rank %d is done\n", run.rank);
  std::fflush(stdout);
  MPI_Finalize();
  return 0;
}
