// SPDX-License-Identifier: BSD-3-Clause
// Conjugate gradients with the matrix in blocks over rows x columns of ranks, as in CG: a product
// is summed over a row of ranks by pairwise exchanges, then each rank swaps with its transpose
// partner to have the piece that its column needs.
//
// `rows` is the largest r with r * r dividing the number of ranks, so that `columns` is a multiple
// k of it: k = 1 for squares, 2 for twice a square (the two shapes of CG), P for a prime P. Rank
// (i, j) then pairs with (j / k, i k + j mod k), which is its own inverse. All ranks behave alike.

#include <vector>

#include "example.h"

namespace {

using Vector = std::vector<double>;

constexpr int kSteps = 25;  // of conjugate gradients in a time step

struct Grid {
  int rows, columns;
  int row, column;

  int row_mate(int c) const { return row * columns + (c + columns) % columns; }
  int partner() const {
    const int k = columns / rows;
    return column / k * columns + row * k + column % k;
  }
};

Grid make_grid(int ranks, int rank) {
  int rows = 1;
  for (int r = 1; r * r <= ranks; ++r)
    if (ranks % (r * r) == 0) rows = r;
  const int columns = ranks / rows;
  return {rows, columns, rank / columns, rank % columns};
}

// Sums `values` over the ranks of a row: log2 exchanges for powers of two, else a ring.
void sum_over_row(const Grid& g, Vector& values) {
  const int n = static_cast<int>(values.size());
  Vector taken(n);
  if ((g.columns & (g.columns - 1)) == 0) {
    for (int bit = 1; bit < g.columns; bit *= 2) {
      const int mate = g.row_mate(g.column ^ bit);
      MPI_Sendrecv(values.data(), n, MPI_DOUBLE, mate, 1, taken.data(), n, MPI_DOUBLE, mate, 1,
                   MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      for (int i = 0; i < n; ++i) values[i] += taken[i];
    }
    return;
  }
  // By origin, and added in the same order everywhere, so that all ranks get the same bits.
  std::vector<Vector> parts(g.columns, Vector(n));
  parts[g.column] = values;
  for (int step = 0; step + 1 < g.columns; ++step) {
    const int out = (g.column - step + g.columns) % g.columns;
    const int in = (g.column - step - 1 + g.columns) % g.columns;
    MPI_Sendrecv(parts[out].data(), n, MPI_DOUBLE, g.row_mate(g.column + 1), 2, parts[in].data(), n,
                 MPI_DOUBLE, g.row_mate(g.column - 1), 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  values.assign(n, 0.0);
  for (const Vector& part : parts)
    for (int i = 0; i < n; ++i) values[i] += part[i];
}

// A circulant matrix: 8 on the diagonal, -1 at distances 1 and `far` on both sides.
class Matrix {
 public:
  Matrix(const Grid& grid, int piece)
      : grid_(grid), piece_(piece), n_(piece * grid.columns), far_(n_ / 3 + 1) {}

  int n() const { return n_; }
  int first() const { return grid_.column * piece_; }

  template <class Entry>
  double row_times(int row, Entry&& entry) const {
    return 8 * entry(row) - entry((row + 1) % n_) - entry((row + n_ - 1) % n_) -
           entry((row + far_) % n_) - entry((row + n_ - far_) % n_);
  }

  // From this column's piece of x, this column's piece of the product.
  void multiply(const Vector& x, Vector& product) const {
    const int height = n_ / grid_.rows;
    Vector sums(height);
    const auto own = [&](int i) {
      return i >= first() && i < first() + piece_ ? x[i - first()] : 0.0;
    };
    for (int i = 0; i < height; ++i) sums[i] = row_times(grid_.row * height + i, own);
    sum_over_row(grid_, sums);

    const int partner_column = grid_.partner() % grid_.columns;
    const int offset = partner_column * piece_ - grid_.row * height;
    MPI_Sendrecv(&sums[offset], piece_, MPI_DOUBLE, grid_.partner(), 3, product.data(), piece_,
                 MPI_DOUBLE, grid_.partner(), 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }

  double dot(const Vector& a, const Vector& b) const {
    Vector sum(1);
    for (int i = 0; i < piece_; ++i) sum[0] += a[i] * b[i];
    sum_over_row(grid_, sum);
    return sum[0];
  }

 private:
  Grid grid_;
  int piece_;
  int n_;
  int far_;
};

void solve(const Matrix& matrix, const Vector& b, Vector& x) {
  Vector r = b;
  Vector p = b;
  Vector q(b.size());
  x.assign(b.size(), 0.0);
  double rho = matrix.dot(r, r);
  for (int step = 0; step < kSteps; ++step) {
    matrix.multiply(p, q);
    const double curvature = matrix.dot(p, q);
    const double alpha = curvature > 0 ? rho / curvature : 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] += alpha * p[i];
      r[i] -= alpha * q[i];
    }
    const double next = matrix.dot(r, r);
    const double beta = rho > 0 ? next / rho : 0;
    rho = next;
    for (std::size_t i = 0; i < x.size(); ++i) p[i] = r[i] + beta * p[i];
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  example::Run run("transpose", argc, argv, {.iterations = 4, .size = 64});
  const Matrix matrix(make_grid(run.ranks, run.rank), run.options.size);
  const int piece = run.options.size;
  Vector b(piece);
  Vector x(piece);

  run.start();
  for (int step = 0; step < run.options.iterations; ++step) {
    const auto solution = [&](int i) { return std::sin(0.7 * i + step) + 0.01 * i; };
    for (int i = 0; i < piece; ++i) b[i] = matrix.row_times(matrix.first() + i, solution);
    solve(matrix, b, x);
    run.compute(x);
    for (int i = 0; i < piece; ++i)
      run.check_near(x[i], solution(matrix.first() + i), 1e-8 * (1 + 0.01 * matrix.n()));
    example::end_of_timestep();
  }
  run.stop();

  const int status = run.finish();
  MPI_Finalize();
  return status;
}
