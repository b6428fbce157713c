// SPDX-License-Identifier: BSD-3-Clause
// A master hands out tasks and takes results in whatever order they come, from any source with any
// tag; a worker works until told to stop. Which worker does which task differs from run to run, the
// result does not. There are at least as many tasks as workers and each worker is first handed one,
// so that every worker works in every time step. Two behaviours; alone, the master does the tasks
// itself.
//
// Task i of n integrates 4 / (1 + x^2) over its part of [0, 1], so that all of them make pi.

#include <algorithm>
#include <numbers>
#include <vector>

#include "example.h"

namespace {

constexpr int kStop = 0;  // the tag; task i has tag i + 1
constexpr int kMaster = 0;

double integrate(int task, int tasks) {
  constexpr int kSteps = 200;
  const double h = 1.0 / (double(tasks) * kSteps);
  double sum = 0;
  for (int i = 0; i < kSteps; ++i) {
    const double x = (double(task) * kSteps + i + 0.5) * h;
    sum += 4 * h / (1 + x * x);
  }
  return sum;
}

// Sends the next task, or the stop; tells whether a task was sent.
bool hand_out(int worker, int& next, int tasks) {
  const bool more = next < tasks;
  MPI_Send(&tasks, 1, MPI_INT, worker, more ? next + 1 : kStop, MPI_COMM_WORLD);
  next += more;
  return more;
}

std::vector<double> master(int ranks, int tasks) {
  std::vector<double> results(tasks);
  int next = 0;
  int busy = 0;
  for (int worker = 1; worker < ranks; ++worker) busy += hand_out(worker, next, tasks);
  while (busy > 0) {
    double result = 0;
    MPI_Status status;
    MPI_Recv(&result, 1, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    results[status.MPI_TAG - 1] = result;
    busy -= !hand_out(status.MPI_SOURCE, next, tasks);
  }
  return results;
}

// Gives the number of tasks done.
int worker() {
  for (int done = 0;; ++done) {
    int tasks = 0;
    MPI_Status status;
    MPI_Recv(&tasks, 1, MPI_INT, kMaster, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    if (status.MPI_TAG == kStop) return done;
    const double result = integrate(status.MPI_TAG - 1, tasks);
    MPI_Send(&result, 1, MPI_DOUBLE, kMaster, status.MPI_TAG, MPI_COMM_WORLD);
  }
}

std::vector<double> alone(int tasks) {
  std::vector<double> results(tasks);
  for (int task = 0; task < tasks; ++task) results[task] = integrate(task, tasks);
  return results;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  example::Run run("taskfarm", argc, argv, {.iterations = 10, .size = 40});
  const int tasks = std::max(run.options.size, run.ranks - 1);
  const std::vector<double> numbers(64, 0.5);

  run.start();
  for (int step = 0; step < run.options.iterations; ++step) {
    int done = 0;
    if (run.rank == kMaster) {
      const std::vector<double> results = run.ranks > 1 ? master(run.ranks, tasks) : alone(tasks);
      double pi = 0;
      for (double result : results) pi += result;  // in the order of the tasks
      run.check_near(pi, std::numbers::pi, 1e-5);
      done = run.ranks > 1 ? 0 : tasks;
    } else {
      done = worker();
      run.compute(numbers);
    }
    int all_done = 0;
    MPI_Reduce(&done, &all_done, 1, MPI_INT, MPI_SUM, kMaster, MPI_COMM_WORLD);
    run.check(run.rank != kMaster || all_done == tasks);
    example::end_of_timestep();
  }
  run.stop();

  const int status = run.finish();
  MPI_Finalize();
  return status;
}
