// SPDX-License-Identifier: BSD-3-Clause
// Pipelined sweeps over a grid of ranks, as in LU: for every plane a rank waits for its north and
// west neighbours, computes its block and passes its last row and column on to the south and east;
// then the same in reverse. A neighbour that does not exist is not called, so from 3 x 3 ranks on
// there are nine behaviours: four corners, four edges and the inside.
//
// The recurrences are chosen to reproduce a linear function exactly, so every rank checks its own
// block after each sweep.

#include <vector>

#include "example.h"

namespace {

constexpr int kPlanes = 4;

struct Grid {
  int rows, columns;  // of ranks
  int row, column;    // this rank
  int n;              // points of a block in each direction

  bool has_north() const { return row > 0; }
  bool has_south() const { return row + 1 < rows; }
  bool has_west() const { return column > 0; }
  bool has_east() const { return column + 1 < columns; }
  int north() const { return (row - 1) * columns + column; }
  int south() const { return (row + 1) * columns + column; }
  int west() const { return row * columns + column - 1; }
  int east() const { return row * columns + column + 1; }

  // The function both sweeps compute, at a block's point of a plane; also beyond the block.
  double exact(int plane, int i, int j, int shift) const {
    return (row * n + i) + 2.0 * (column * n + j) + 3.0 * plane + shift;
  }
};

using Values = std::vector<double>;

void sweep_down(const Grid& g, int shift, std::vector<Values>& planes) {
  Values north(g.n);
  Values west(g.n);
  Values east(g.n);
  for (int k = 0; k < kPlanes; ++k) {
    Values& u = planes[k];
    for (int p = 0; p < g.n; ++p) north[p] = g.exact(k, -1, p, shift);
    for (int p = 0; p < g.n; ++p) west[p] = g.exact(k, p, -1, shift);
    if (g.has_north()) {
      MPI_Recv(north.data(), g.n, MPI_DOUBLE, g.north(), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (g.has_west()) {
      MPI_Recv(west.data(), g.n, MPI_DOUBLE, g.west(), 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < g.n; ++i) {
      for (int j = 0; j < g.n; ++j) {
        const double above = i > 0 ? u[(i - 1) * g.n + j] : north[j];
        const double left = j > 0 ? u[i * g.n + j - 1] : west[i];
        const double before = k > 0 ? planes[k - 1][i * g.n + j] : g.exact(-1, i, j, shift);
        u[i * g.n + j] = 0.25 * (above + 1) + 0.25 * (left + 2) + 0.5 * (before + 3);
      }
    }
    for (int i = 0; i < g.n; ++i) east[i] = u[i * g.n + g.n - 1];
    if (g.has_south()) {
      MPI_Send(&u[(g.n - 1) * g.n], g.n, MPI_DOUBLE, g.south(), 1, MPI_COMM_WORLD);
    }
    if (g.has_east()) {
      MPI_Send(east.data(), g.n, MPI_DOUBLE, g.east(), 2, MPI_COMM_WORLD);
    }
  }
}

void sweep_up(const Grid& g, int shift, std::vector<Values>& planes) {
  Values south(g.n);
  Values east(g.n);
  Values west(g.n);
  for (int k = kPlanes - 1; k >= 0; --k) {
    Values& u = planes[k];
    for (int p = 0; p < g.n; ++p) south[p] = g.exact(k, g.n, p, shift);
    for (int p = 0; p < g.n; ++p) east[p] = g.exact(k, p, g.n, shift);
    if (g.has_south()) {
      MPI_Recv(south.data(), g.n, MPI_DOUBLE, g.south(), 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (g.has_east()) {
      MPI_Recv(east.data(), g.n, MPI_DOUBLE, g.east(), 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    for (int i = g.n - 1; i >= 0; --i) {
      for (int j = g.n - 1; j >= 0; --j) {
        const double below = i + 1 < g.n ? u[(i + 1) * g.n + j] : south[j];
        const double right = j + 1 < g.n ? u[i * g.n + j + 1] : east[i];
        const double after =
            k + 1 < kPlanes ? planes[k + 1][i * g.n + j] : g.exact(kPlanes, i, j, shift);
        u[i * g.n + j] = 0.25 * (below - 1) + 0.25 * (right - 2) + 0.5 * (after - 3);
      }
    }
    for (int i = 0; i < g.n; ++i) west[i] = u[i * g.n];
    if (g.has_north()) {
      MPI_Send(u.data(), g.n, MPI_DOUBLE, g.north(), 3, MPI_COMM_WORLD);
    }
    if (g.has_west()) {
      MPI_Send(west.data(), g.n, MPI_DOUBLE, g.west(), 4, MPI_COMM_WORLD);
    }
  }
}

void check(example::Run& run, const Grid& g, int shift, const std::vector<Values>& planes) {
  for (int k = 0; k < kPlanes; ++k)
    for (int i = 0; i < g.n; ++i)
      for (int j = 0; j < g.n; ++j) run.check(planes[k][i * g.n + j] == g.exact(k, i, j, shift));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  example::Run run("wavefront", argc, argv, {.iterations = 50, .size = 8});
  int dims[2] = {0, 0};
  MPI_Dims_create(run.ranks, 2, dims);
  const Grid grid{dims[0], dims[1], run.rank / dims[1], run.rank % dims[1], run.options.size};
  std::vector<Values> planes(kPlanes, Values(std::size_t(grid.n) * grid.n));

  run.start();
  for (int step = 0; step < run.options.iterations; ++step) {
    sweep_down(grid, 2 * step, planes);
    check(run, grid, 2 * step, planes);
    run.compute(planes[0]);
    sweep_up(grid, 2 * step + 1, planes);
    check(run, grid, 2 * step + 1, planes);
    example::end_of_timestep();
  }
  run.stop();

  const int status = run.finish();
  MPI_Finalize();
  return status;
}
