// SPDX-License-Identifier: BSD-3-Clause
// Jacobi iteration for Laplace's equation on a square, in blocks on a Cartesian grid of ranks:
// ghost rows and columns by Irecv, Isend and Waitall, and the residual by Allreduce.
//
// The start is an eigenvector of the iteration, sin(pi x) sin(2 pi y), so every step multiplies the
// field by a known factor, and each rank can check its own block exactly. Ranks at the edge
// exchange with MPI_PROC_NULL, so all ranks make the same calls.

#include <algorithm>
#include <numbers>
#include <vector>

#include "example.h"

namespace {

struct Range {
  int begin;
  int end;
  int size() const { return end - begin; }
};

Range share(int n, int parts, int part) {
  const auto cut = [&](long long p) { return static_cast<int>(n * p / parts); };
  return {cut(part), cut(part + 1)};
}

struct Neighbours {
  int north, south, west, east;
};

// Fills the ghost points around the `rows` x `columns` block kept in `u`.
void exchange(std::vector<double>& u, int rows, int columns, MPI_Datatype column,
              const Neighbours& to, MPI_Comm grid) {
  const int width = columns + 2;
  const auto at = [&](int i, int j) { return &u[std::size_t(i) * width + j]; };
  MPI_Request requests[8];
  MPI_Irecv(at(0, 1), columns, MPI_DOUBLE, to.north, 1, grid, &requests[0]);
  MPI_Irecv(at(rows + 1, 1), columns, MPI_DOUBLE, to.south, 2, grid, &requests[1]);
  MPI_Irecv(at(1, 0), 1, column, to.west, 3, grid, &requests[2]);
  MPI_Irecv(at(1, columns + 1), 1, column, to.east, 4, grid, &requests[3]);
  MPI_Isend(at(rows, 1), columns, MPI_DOUBLE, to.south, 1, grid, &requests[4]);
  MPI_Isend(at(1, 1), columns, MPI_DOUBLE, to.north, 2, grid, &requests[5]);
  MPI_Isend(at(1, columns), 1, column, to.east, 3, grid, &requests[6]);
  MPI_Isend(at(1, 1), 1, column, to.west, 4, grid, &requests[7]);
  MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  example::Run run("stencil2d", argc, argv, {.iterations = 100, .size = 64});
  const double pi = std::numbers::pi;

  int dims[2] = {0, 0};
  int periods[2] = {0, 0};
  int coords[2];
  MPI_Comm grid;
  MPI_Dims_create(run.ranks, 2, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
  MPI_Cart_coords(grid, run.rank, 2, coords);
  Neighbours to;
  MPI_Cart_shift(grid, 0, 1, &to.north, &to.south);
  MPI_Cart_shift(grid, 1, 1, &to.west, &to.east);

  // At least one inner point in each direction for every rank.
  const int n = std::max({run.options.size, dims[0], dims[1]});
  const Range rows = share(n, dims[0], coords[0]);
  const Range columns = share(n, dims[1], coords[1]);
  const int width = columns.size() + 2;
  MPI_Datatype column;
  MPI_Type_vector(rows.size(), 1, width, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);

  const double h = 1.0 / (n + 1);
  const auto start = [&](int i, int j) {
    return std::sin(pi * h * (columns.begin + j)) * std::sin(2 * pi * h * (rows.begin + i));
  };
  const double factor = 0.5 * (std::cos(pi * h) + std::cos(2 * pi * h));

  std::vector<double> u(std::size_t(rows.size() + 2) * width);
  for (int i = 1; i <= rows.size(); ++i)
    for (int j = 1; j <= columns.size(); ++j) u[std::size_t(i) * width + j] = start(i, j);
  std::vector<double> next = u;

  double expected = 0;  // the first residual, from then on scaled by the factor
  run.start();
  for (int step = 0; step < run.options.iterations; ++step) {
    exchange(u, rows.size(), columns.size(), column, to, grid);
    double mine = 0;
    for (int i = 1; i <= rows.size(); ++i) {
      for (int j = 1; j <= columns.size(); ++j) {
        const std::size_t k = std::size_t(i) * width + j;
        next[k] = 0.25 * (u[k - width] + u[k + width] + u[k - 1] + u[k + 1]);
        mine += (next[k] - u[k]) * (next[k] - u[k]);
      }
    }
    u.swap(next);
    run.compute(u);

    double residual = 0;
    MPI_Allreduce(&mine, &residual, 1, MPI_DOUBLE, MPI_SUM, grid);
    if (step == 0) expected = residual;
    run.check_near(residual, expected);
    expected *= factor * factor;
    example::end_of_timestep();
  }
  run.stop();

  const double scale = std::pow(factor, run.options.iterations);
  for (int i = 1; i <= rows.size(); ++i)
    for (int j = 1; j <= columns.size(); ++j)
      run.check_near(u[std::size_t(i) * width + j], scale * start(i, j));

  MPI_Type_free(&column);
  MPI_Comm_free(&grid);
  const int status = run.finish();
  MPI_Finalize();
  return status;
}
