// SPDX-License-Identifier: BSD-3-Clause
// A 3-D Fourier transform in pencils, as in FT: ranks stand in rows and columns, each a
// communicator of its own, and an Alltoall in one of them swaps the axis that is whole on every
// rank. Each time step goes forward, takes a checksum (Parseval's sum), and comes back to compare
// with the start. All ranks behave alike.

#include <algorithm>
#include <array>
#include <complex>
#include <numbers>
#include <numeric>
#include <vector>

#include "example.h"

namespace {

using Complex = std::complex<double>;
using Values = std::vector<Complex>;

// A block of n0 x n1 x n2 values of which the last axis is whole.
struct Pencil {
  std::array<int, 3> n;
  Values values;
};

// Makes `axis` (0 or 1) whole in place of the last axis, and the last axis shared in its place.
// Twice the same gives the start. One Alltoall; every value but 1/size of them moves.
void swap_axes(Pencil& pencil, int axis, MPI_Comm comm) {
  int size;
  MPI_Comm_size(comm, &size);
  const auto [n0, n1, n2] = pencil.n;
  const int part = n2 / size;
  const int block = n0 * n1 * part;
  Values out(pencil.values.size());
  Values in(pencil.values.size());
  std::size_t place = 0;
  for (int to = 0; to < size; ++to)
    for (int i = 0; i < n0; ++i)
      for (int j = 0; j < n1; ++j)
        for (int k = 0; k < part; ++k)
          out[place++] = pencil.values[(std::size_t(i) * n1 + j) * n2 + to * part + k];

  MPI_Alltoall(out.data(), block, MPI_C_DOUBLE_COMPLEX, in.data(), block, MPI_C_DOUBLE_COMPLEX,
               comm);

  pencil.n = axis == 0 ? std::array{part, n1, n0 * size} : std::array{n0, part, n1 * size};
  place = 0;
  for (int from = 0; from < size; ++from)
    for (int i = 0; i < n0; ++i)
      for (int j = 0; j < n1; ++j)
        for (int k = 0; k < part; ++k) {
          const std::size_t row = axis == 0 ? k * n1 + j : i * part + k;
          const int column = axis == 0 ? from * n0 + i : from * n1 + j;
          pencil.values[row * pencil.n[2] + column] = in[place++];
        }
}

// A plain, unitary Fourier transform of every line of the whole axis.
void transform_lines(Pencil& pencil, int sign) {
  const int n = pencil.n[2];
  Values root(n);
  for (int i = 0; i < n; ++i)
    root[i] = std::polar(1 / std::sqrt(n), sign * 2 * std::numbers::pi * i / n);
  Values line(n);
  for (std::size_t begin = 0; begin < pencil.values.size(); begin += n) {
    for (int k = 0; k < n; ++k) {
      Complex sum = 0;
      for (int i = 0, turn = 0; i < n; ++i, turn = (turn + k) % n)
        sum += pencil.values[begin + i] * root[turn];
      line[k] = sum;
    }
    std::copy(line.begin(), line.end(), pencil.values.begin() + begin);
  }
}

double energy(const Pencil& pencil) {
  double sum = 0;
  for (const Complex& value : pencil.values) sum += std::norm(value);
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  example::Run run("spectral", argc, argv, {.iterations = 5, .size = 12});
  int dims[2] = {0, 0};
  MPI_Dims_create(run.ranks, 2, dims);
  MPI_Comm row;
  MPI_Comm column;
  MPI_Comm_split(MPI_COMM_WORLD, run.rank / dims[1], run.rank, &row);
  MPI_Comm_split(MPI_COMM_WORLD, run.rank % dims[1], run.rank, &column);

  const int unit = std::lcm(dims[0], dims[1]);
  const int n = (run.options.size + unit - 1) / unit * unit;
  Pencil pencil{{n / dims[0], n / dims[1], n}, {}};
  pencil.values.resize(std::size_t(pencil.n[0]) * pencil.n[1] * n);

  run.start();
  for (int step = 0; step < run.options.iterations; ++step) {
    for (std::size_t i = 0; i < pencil.values.size(); ++i)
      pencil.values[i] = {std::sin(0.1 * i + run.rank + step), std::cos(0.3 * i - run.rank)};
    const Values start = pencil.values;
    double mine = energy(pencil);
    double before = 0;
    MPI_Allreduce(&mine, &before, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);

    transform_lines(pencil, -1);
    swap_axes(pencil, 1, row);
    transform_lines(pencil, -1);
    swap_axes(pencil, 0, column);
    transform_lines(pencil, -1);

    mine = energy(pencil);
    double checksum = 0;
    MPI_Allreduce(&mine, &checksum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    run.check_near(checksum, before);
    run.compute({reinterpret_cast<const double*>(start.data()), 2 * start.size()});

    transform_lines(pencil, 1);
    swap_axes(pencil, 0, column);
    transform_lines(pencil, 1);
    swap_axes(pencil, 1, row);
    transform_lines(pencil, 1);
    for (std::size_t i = 0; i < start.size(); ++i)
      run.check(std::abs(pencil.values[i] - start[i]) < 1e-9);
    example::end_of_timestep();
  }
  run.stop();

  MPI_Comm_free(&row);
  MPI_Comm_free(&column);
  const int status = run.finish();
  MPI_Finalize();
  return status;
}
