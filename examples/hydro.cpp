// SPDX-License-Identifier: BSD-3-Clause
// The exchange of LULESH: a cube of ranks in which each has up to 26 neighbours, over faces, edges
// and corners, each with a call of its own; then the time step as the smallest any rank allows.
// Where a neighbour does not exist nothing is called: 27 behaviours from 3 x 3 x 3 ranks on.
//
// Every point becomes the mean of the 27 around it, plus dt. A linear function is its own mean, so
// the field stays linear and each rank checks its block; beyond the cube the ghosts are set to it.

#include <array>
#include <utility>
#include <vector>

#include "example.h"

namespace {

using Int3 = std::array<int, 3>;

constexpr int kDirections = 27;  // of which number 13 is the rank itself
constexpr int kSelf = 13;

constexpr Int3 offset(int direction) {
  return {direction / 9 - 1, direction / 3 % 3 - 1, direction % 3 - 1};
}

class Block {
 public:
  Block(int n, int rank, int ranks) : n_(n), field_(volume(n + 2)), next_(field_.size()) {
    MPI_Dims_create(ranks, 3, dims_.data());
    place_ = {rank / (dims_[1] * dims_[2]), rank / dims_[2] % dims_[1], rank % dims_[2]};
    set_exact(0);
  }

  // The neighbour in a direction, or -1.
  int neighbour(int direction) const {
    Int3 at = place_;
    for (int axis = 0; axis < 3; ++axis) {
      at[axis] += offset(direction)[axis];
      if (at[axis] < 0 || at[axis] >= dims_[axis]) return -1;
    }
    return (at[0] * dims_[1] + at[1]) * dims_[2] + at[2];
  }

  void exchange();
  void advance(double dt);
  const std::vector<double>& field() const { return field_; }

  // Sets the points with ghosts, or compares those without, to the solution at `time`.
  void set_exact(double time) {
    for_each(0, n_ + 2, [&](int i, int j, int k) { at(i, j, k) = exact(i, j, k, time); });
  }
  void check(example::Run& run, double time) {
    for_each(1, n_ + 1,
             [&](int i, int j, int k) { run.check_near(at(i, j, k), exact(i, j, k, time)); });
  }

  template <int Direction>
  void receive();
  template <int Direction>
  void send();

 private:
  static std::size_t volume(std::size_t n) { return n * n * n; }

  template <class Visit>
  static void for_each(int begin, int end, Visit&& visit) {
    for (int i = begin; i < end; ++i)
      for (int j = begin; j < end; ++j)
        for (int k = begin; k < end; ++k) visit(i, j, k);
  }

  // The points on the side of a direction: the ghosts, or those a neighbour has as ghosts.
  template <class Visit>
  void for_side(int direction, bool ghosts, Visit&& visit) const {
    Int3 begin;
    Int3 end;
    for (int axis = 0; axis < 3; ++axis) {
      const int to = offset(direction)[axis];
      begin[axis] = to > 0 ? n_ + ghosts : to < 0 ? 1 - ghosts : 1;
      end[axis] = to == 0 ? n_ + 1 : begin[axis] + 1;
    }
    for (int i = begin[0]; i < end[0]; ++i)
      for (int j = begin[1]; j < end[1]; ++j)
        for (int k = begin[2]; k < end[2]; ++k) visit(i, j, k);
  }

  double& at(int i, int j, int k) { return field_[(std::size_t(i) * (n_ + 2) + j) * (n_ + 2) + k]; }
  double exact(int i, int j, int k, double time) const {
    return (place_[0] * n_ + i) + 2.0 * (place_[1] * n_ + j) + 3.0 * (place_[2] * n_ + k) + time;
  }

  int n_;
  Int3 dims_{0, 0, 0};
  Int3 place_{};
  std::vector<double> field_;
  std::vector<double> next_;
  std::array<std::vector<double>, kDirections> out_;
  std::array<std::vector<double>, kDirections> in_;
  std::vector<MPI_Request> requests_;
};

// One instance, so one call site, for each direction.
template <int Direction>
[[gnu::noinline]] void Block::receive() {
  const int rank = neighbour(Direction);
  if (Direction == kSelf || rank < 0) return;
  std::size_t count = 0;
  for_side(Direction, true, [&](int, int, int) { ++count; });
  in_[Direction].resize(count);
  MPI_Irecv(in_[Direction].data(), static_cast<int>(count), MPI_DOUBLE, rank,
            kDirections - 1 - Direction, MPI_COMM_WORLD, &requests_.emplace_back());
}

template <int Direction>
[[gnu::noinline]] void Block::send() {
  const int rank = neighbour(Direction);
  if (Direction == kSelf || rank < 0) return;
  std::vector<double>& out = out_[Direction];
  out.clear();
  for_side(Direction, false, [&](int i, int j, int k) { out.push_back(at(i, j, k)); });
  MPI_Isend(out.data(), static_cast<int>(out.size()), MPI_DOUBLE, rank, Direction, MPI_COMM_WORLD,
            &requests_.emplace_back());
}

void Block::exchange() {
  requests_.clear();
  requests_.reserve(2 * kDirections);
  [this]<int... Direction>(std::integer_sequence<int, Direction...>) {
    (receive<Direction>(), ...);
    (send<Direction>(), ...);
  }
  (std::make_integer_sequence<int, kDirections>());
  MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  for (int direction = 0; direction < kDirections; ++direction) {
    if (direction == kSelf || neighbour(direction) < 0) continue;
    const double* value = in_[direction].data();
    for_side(direction, true, [&](int i, int j, int k) { at(i, j, k) = *value++; });
  }
}

void Block::advance(double dt) {
  next_ = field_;
  for_each(1, n_ + 1, [&](int i, int j, int k) {
    double sum = 0;
    for_each(-1, 2, [&](int a, int b, int c) { sum += at(i + a, j + b, k + c); });
    next_[(std::size_t(i) * (n_ + 2) + j) * (n_ + 2) + k] = sum / 27 + dt;
  });
  field_.swap(next_);
  // Stale ghosts beyond the cube move on with the solution; the others are about to be replaced.
  for_each(0, n_ + 2, [&](int i, int j, int k) {
    const auto ghost = [&](int p) { return p == 0 || p == n_ + 1; };
    if (ghost(i) || ghost(j) || ghost(k)) at(i, j, k) += dt;
  });
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  example::Run run("hydro", argc, argv, {.iterations = 30, .size = 6});
  Block block(run.options.size, run.rank, run.ranks);

  double time = 0;
  run.start();
  for (int step = 0; step < run.options.iterations; ++step) {
    block.exchange();
    run.compute(block.field());
    const double allowed = 0.125 * (1 + (run.rank + step) % run.ranks);
    double dt = 0;
    MPI_Allreduce(&allowed, &dt, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    run.check(dt == 0.125);
    block.advance(dt);
    time += dt;
    example::end_of_timestep();
  }
  run.stop();

  block.check(run, time);
  const int status = run.finish();
  MPI_Finalize();
  return status;
}
