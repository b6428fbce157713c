// SPDX-License-Identifier: BSD-3-Clause
// A ring: every rank passes a vector to the next rank and takes one from the rank before; the sum
// over all ranks stays the same. All ranks behave alike.

#include <vector>

#include "example.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  example::Run run("ring", argc, argv, {.iterations = 100, .size = 1024});
  const int n = run.options.size;
  const int next = (run.rank + 1) % run.ranks;
  const int previous = (run.rank + run.ranks - 1) % run.ranks;

  std::vector<double> mine(n);
  std::vector<double> taken(n);
  for (int i = 0; i < n; ++i) mine[i] = run.rank + 0.5 * i;

  run.start();
  for (int step = 0; step < run.options.iterations; ++step) {
    run.compute(mine);
    MPI_Sendrecv(mine.data(), n, MPI_DOUBLE, next, 1, taken.data(), n, MPI_DOUBLE, previous, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    mine.swap(taken);

    double sum = 0;
    MPI_Allreduce(mine.data(), &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    run.check_near(sum, 0.5 * run.ranks * (run.ranks - 1));
    example::end_of_timestep();
  }
  run.stop();

  const int travelled = run.options.iterations % run.ranks;
  const int origin = (run.rank + run.ranks - travelled) % run.ranks;
  for (int i = 0; i < n; ++i) run.check(mine[i] == origin + 0.5 * i);

  const int status = run.finish();
  MPI_Finalize();
  return status;
}
