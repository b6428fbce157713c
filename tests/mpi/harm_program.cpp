// SPDX-License-Identifier: BSD-3-Clause
// harm_program MODE: a program that behaves badly, or oddly, on purpose.
//   status   exits 3 after MPI_Finalize           abort    rank 1 calls MPI_Abort with 7
//   throw    an exception crosses its own frames  handler  an error handler throws out of MPI_Send
//   crash    rank 1 dies of SIGSEGV               noinit   never calls MPI
//   nofinalize  exits without MPI_Finalize
#include <mpi.h>

#include <csignal>
#include <cstdio>
#include <stdexcept>
#include <string>

namespace {

void throwing_handler(MPI_Comm*, int*, ...) { throw std::runtime_error("from the error handler"); }

void throw_after_barrier() {
  MPI_Barrier(MPI_COMM_WORLD);
  throw std::runtime_error("from a function");
}

void send_to_nobody(int ranks) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(throwing_handler, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  const int value = 0;
  MPI_Send(&value, 1, MPI_INT, ranks + 5, 0, MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "noinit") {
    std::puts("no MPI here");
    return 0;
  }
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Barrier(MPI_COMM_WORLD);
  if (mode == "abort" && rank == 1) MPI_Abort(MPI_COMM_WORLD, 7);
  if (mode == "crash" && rank == 1) std::raise(SIGSEGV);
  if (mode == "abort" || mode == "crash") MPI_Barrier(MPI_COMM_WORLD);
  try {
    if (mode == "throw") throw_after_barrier();
    if (mode == "handler") send_to_nobody(ranks);
  } catch (const std::exception& error) {
    if (rank == 0) std::printf("caught: %s\n", error.what());
  }
  for (int i = 0; i < 10; ++i) MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) std::puts("done");
  std::fflush(stdout);
  if (mode == "nofinalize") return 0;
  MPI_Finalize();
  return mode == "status" ? 3 : 0;
}
