// SPDX-License-Identifier: BSD-3-Clause
// Line sweeps along x, y and z under multipartitioning, as in BT and SP. Cell (x, y, z) of a cube
// belongs to rank (x - z mod rows, y - z mod columns): each rank has as many cells in every slab of
// every direction, so all ranks work at every stage of every sweep. The successor of a rank is the
// next row for x, the next column for y, and the previous row and column for z.
//
// Each sweep is a running sum along its direction. From ones, the three give
// (x + 1)(y + 1)(z + 1) in cell (x, y, z). All ranks behave alike.

#include <array>
#include <numeric>
#include <vector>

#include "example.h"

namespace {

using Cell = std::array<int, 3>;

struct Layout {
  int rows, columns;  // of ranks
  int row, column;    // this rank
  int slabs;          // cells of the cube in each direction
  int n;              // values of a cell

  int rank_of(int r, int c) const { return (r + rows) % rows * columns + (c + columns) % columns; }
  bool owns(int x, int y, int z) const {
    const int q = slabs;  // a multiple of rows and of columns
    return (x - z + q) % rows == row && (y - z + q) % columns == column;
  }
};

// The cells of this rank, slab by slab of `direction`, in the same order on all ranks.
std::vector<std::vector<Cell>> cells_by_slab(const Layout& layout, int direction) {
  std::vector<std::vector<Cell>> slabs(layout.slabs);
  for (int x = 0; x < layout.slabs; ++x)
    for (int y = 0; y < layout.slabs; ++y)
      for (int z = 0; z < layout.slabs; ++z)
        if (layout.owns(x, y, z)) {
          const Cell cell{x, y, z};
          slabs[cell[direction]].push_back(cell);
        }
  return slabs;
}

class Field {
 public:
  explicit Field(const Layout& layout) : layout_(layout) {
    const std::size_t q = layout.slabs;
    place_.assign(q * q * q, -1);
    int count = 0;
    for (const auto& slab : cells_by_slab(layout, 0))
      for (const Cell& cell : slab) place_[index(cell)] = count++;
    values.resize(std::size_t(count) * layout.n);
  }

  double* at(const Cell& cell) { return &values[std::size_t(place_[index(cell)]) * layout_.n]; }

  std::vector<double> values;

 private:
  std::size_t index(const Cell& c) const {
    return (std::size_t(c[0]) * layout_.slabs + c[1]) * layout_.slabs + c[2];
  }

  Layout layout_;
  std::vector<int> place_;
};

void sweep(const std::vector<std::vector<Cell>>& slabs, int n, int successor, int predecessor,
           Field& field) {
  const int count = static_cast<int>(slabs[0].size()) * n;
  std::vector<double> sums(count, 0.0);
  std::vector<double> sent(count);
  for (std::size_t s = 0; s < slabs.size(); ++s) {
    double* sum = sums.data();
    for (const Cell& cell : slabs[s]) {
      double* value = field.at(cell);
      for (int i = 0; i < n; ++i, ++sum) *sum = value[i] += *sum;
    }
    if (s + 1 == slabs.size()) break;
    MPI_Request send;
    MPI_Request receive;
    sent = sums;
    MPI_Isend(sent.data(), count, MPI_DOUBLE, successor, 1, MPI_COMM_WORLD, &send);
    MPI_Irecv(sums.data(), count, MPI_DOUBLE, predecessor, 1, MPI_COMM_WORLD, &receive);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  example::Run run("multipartition", argc, argv, {.iterations = 20, .size = 8});
  int dims[2] = {0, 0};
  MPI_Dims_create(run.ranks, 2, dims);
  const int row = run.rank / dims[1];
  const int column = run.rank % dims[1];
  const Layout layout{dims[0], dims[1], row, column, std::lcm(dims[0], dims[1]), run.options.size};
  Field field(layout);
  const auto x_slabs = cells_by_slab(layout, 0);
  const auto y_slabs = cells_by_slab(layout, 1);
  const auto z_slabs = cells_by_slab(layout, 2);

  run.start();
  for (int step = 0; step < run.options.iterations; ++step) {
    for (std::size_t i = 0; i < field.values.size(); ++i)
      field.values[i] = 1 + step + static_cast<int>(i % layout.n);
    run.compute(field.values);
    sweep(x_slabs, layout.n, layout.rank_of(row + 1, column), layout.rank_of(row - 1, column),
          field);
    sweep(y_slabs, layout.n, layout.rank_of(row, column + 1), layout.rank_of(row, column - 1),
          field);
    sweep(z_slabs, layout.n, layout.rank_of(row - 1, column - 1),
          layout.rank_of(row + 1, column + 1), field);
    for (const auto& slab : x_slabs)
      for (const Cell& c : slab)
        for (int i = 0; i < layout.n; ++i)
          run.check(field.at(c)[i] == (1.0 + step + i) * (c[0] + 1) * (c[1] + 1) * (c[2] + 1));
    example::end_of_timestep();
  }
  run.stop();

  const int status = run.finish();
  MPI_Finalize();
  return status;
}
