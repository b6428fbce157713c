// SPDX-License-Identifier: BSD-3-Clause
// What a marker costs beside the bare reduction and broadcast it cannot do without: the slowest
// rank's time for a run of each, alternating in blocks so that a busy machine disturbs both alike.
// Run it under the tool (bench/marker does); untraced a marker is one call that does nothing.
#include <chameleon/chameleon.h>
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr int kBlock = 50;

template <class F>
double block_ns(F f) {
  PMPI_Barrier(MPI_COMM_WORLD);
  const double begin = PMPI_Wtime();
  for (int i = 0; i < kBlock; ++i) f();
  double mine = (PMPI_Wtime() - begin) * 1e9 / kBlock;
  double slowest = 0;
  PMPI_Reduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  return slowest;
}

double median(std::vector<double>& values) {
  std::nth_element(values.begin(), values.begin() + static_cast<long>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int blocks = argc > 1 ? std::atoi(argv[1]) : 40;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::vector<double> bare, markers;
  for (int i = 0; i < 10; ++i) chameleon_marker();  // into the steady state
  for (int i = 0; i < blocks; ++i) {
    bare.push_back(block_ns([] {
      std::uint64_t vote[2] = {1, 2}, sum[2] = {0, 0};
      PMPI_Reduce(vote, sum, 2, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
      PMPI_Bcast(sum, 2, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    }));
    markers.push_back(block_ns([] { chameleon_marker(); }));
  }
  if (rank == 0) std::printf("%.0f %.0f\n", median(bare), median(markers));
  MPI_Finalize();
}
