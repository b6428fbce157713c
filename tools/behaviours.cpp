// SPDX-License-Identifier: BSD-3-Clause
#include "behaviours.h"

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <numeric>
#include <vector>

#include "base/hash.h"
#include "random_partners.h"

namespace chameleon::tools {
namespace {

using object::kFirstCreated;
using object::kInt;
using object::kMax;
using object::kMin;
using object::kSum;

constexpr std::int64_t kNone = -1;  // a partner: MPI_PROC_NULL, or no call at all

/// Factors of the number of ranks as equal as can be, largest first, as MPI_Dims_create has them.
template <std::size_t N>
std::array<std::int64_t, N> grid(std::uint32_t ranks) {
  static std::uint32_t known = 0;  // the same for all ranks of a job
  static std::array<std::int64_t, N> sides{};
  if (known == ranks) return sides;
  known = ranks;
  std::int64_t left = ranks;
  for (std::size_t i = 0; i < N; ++i) {
    std::int64_t best = left;
    const auto wanted = static_cast<std::size_t>(N - i);
    for (std::int64_t side = 1; side <= left; ++side) {
      if (left % side != 0) continue;
      std::int64_t power = 1;
      for (std::size_t k = 0; k < wanted; ++k) power *= side;
      if (power >= left) {
        best = side;
        break;
      }
    }
    sides[i] = best;
    left /= best;
  }
  std::sort(sides.begin(), sides.end(), std::greater<>());
  return sides;
}

/// A rank's place in rows and columns, row by row.
struct Cell {
  std::int64_t rows, columns, row, column;
  explicit Cell(Place p) {
    const auto sides = grid<2>(p.ranks);
    rows = sides[0], columns = sides[1];
    row = p.rank / columns, column = p.rank % columns;
  }
  std::int64_t at(std::int64_t r, std::int64_t c) const {
    return r < 0 || c < 0 || r >= rows || c >= columns ? kNone : r * columns + c;
  }
  std::int64_t around(std::int64_t r, std::int64_t c) const {
    return at((r + rows) % rows, (c + columns) % columns);
  }
};

/// How many of n points the part has.
int share(std::int64_t n, std::int64_t parts, std::int64_t part) {
  return static_cast<int>(n * (part + 1) / parts - n * part / parts);
}

void begin(RankCalls calls) {
  calls.init();
  calls.barrier(1);
}

// Sub-grids in a pipeline from one corner and back: borders and interior differ (LU).
void wavefront(RankCalls calls, Step) {
  constexpr int kPlanes = 4, kPoints = 8;
  const Cell c(calls.place());
  const std::int64_t north = c.at(c.row - 1, c.column), south = c.at(c.row + 1, c.column);
  const std::int64_t west = c.at(c.row, c.column - 1), east = c.at(c.row, c.column + 1);
  const auto sweep = [&](RankCalls at, std::int64_t first, std::int64_t second, std::int64_t third,
                         std::int64_t fourth, int tag) {
    for (int plane = 0; plane < kPlanes; ++plane) {
      if (first != kNone) at.receive(1, first, {.count = kPoints, .tag = tag});
      if (second != kNone) at.receive(2, second, {.count = kPoints, .tag = tag + 1});
      if (third != kNone) at.send(3, third, {.count = kPoints, .tag = tag});
      if (fourth != kNone) at.send(4, fourth, {.count = kPoints, .tag = tag + 1});
    }
  };
  sweep(calls.in(0), north, west, south, east, 1);
  sweep(calls.in(1), south, east, north, west, 3);
}

constexpr int kStencilPoints = 64;

void begin_stencil2d(RankCalls calls) {
  const Cell c(calls.place());
  const std::int64_t n = std::max<std::int64_t>({kStencilPoints, c.rows, c.columns});
  calls.init();
  calls.cart_create(2, {c.rows, c.columns}, {0, 0}, kFirstCreated);
  calls.type_vector(3, share(n, c.rows, c.row), share(n, c.columns, c.column) + 2, 0);
  calls.barrier(1);
}

// Four neighbours, MPI_PROC_NULL beyond the border; columns are of a type of their own.
void stencil2d(RankCalls calls, Step) {
  const Cell c(calls.place());
  const std::int64_t n = std::max<std::int64_t>({kStencilPoints, c.rows, c.columns});
  const std::int64_t north = c.at(c.row - 1, c.column), south = c.at(c.row + 1, c.column);
  const std::int64_t west = c.at(c.row, c.column - 1), east = c.at(c.row, c.column + 1);
  const auto row = [&](int tag) {
    return Message{.count = share(n, c.columns, c.column), .tag = tag, .comm = kFirstCreated};
  };
  const auto column = [](int tag) { return Message{.type = 0, .tag = tag, .comm = kFirstCreated}; };
  RankCalls at = calls.in(0);
  at.irecv(1, north, row(1), 0);
  at.irecv(2, south, row(2), 1);
  at.irecv(3, west, column(3), 2);
  at.irecv(4, east, column(4), 3);
  at.isend(5, south, row(1), 4);
  at.isend(6, north, row(2), 5);
  at.isend(7, east, column(3), 6);
  at.isend(8, west, column(4), 7);
  at.waitall(9, 8);
  calls.allreduce(2, {.comm = kFirstCreated}, kSum);
}

void shift(RankCalls calls, std::uint32_t site, int count) {
  const std::int64_t n = calls.place().ranks, rank = calls.place().rank;
  calls.exchange(site, (rank + 1) % n, (rank + n - 1) % n, {.count = count, .tag = 1});
}

void ring(RankCalls calls, Step) {
  shift(calls, 2, 1024);
  calls.allreduce(3, {}, kSum);
}

// Cyclic neighbours in both directions and along the diagonal, slab after slab (BT, SP).
void multipartition(RankCalls calls, Step step) {
  constexpr std::int64_t kValues = 8;
  const Cell c(calls.place());
  const std::int64_t slabs = std::lcm(c.rows, c.columns);
  const auto sweep = [&](RankCalls at, std::int64_t successor, std::int64_t predecessor) {
    const Message slab{.count = static_cast<int>(slabs * slabs / calls.place().ranks * kValues),
                       .tag = 1};
    const std::int64_t rounds = std::min<std::int64_t>(slabs - 1, step.most_rounds);
    for (std::int64_t round = 0; round < rounds; ++round) {
      at.isend(1, successor, slab, 0);
      at.irecv(2, predecessor, slab, 1);
      at.wait(3, 0);
      at.wait(4, 1);
    }
  };
  sweep(calls.in(0), c.around(c.row + 1, c.column), c.around(c.row - 1, c.column));
  sweep(calls.in(1), c.around(c.row, c.column + 1), c.around(c.row, c.column - 1));
  sweep(calls.in(2), c.around(c.row - 1, c.column - 1), c.around(c.row + 1, c.column + 1));
}

/// Sums over a row of ranks, by exchanges over each bit of the column or around the row.
void sum_over_row(RankCalls calls, std::int64_t columns, int count) {
  const std::int64_t rank = calls.place().rank;
  const std::int64_t column = rank % columns, row = rank - column;
  if ((columns & (columns - 1)) == 0) {
    for (std::int64_t bit = 1; bit < columns; bit *= 2)
      calls.exchange(1, row + (column ^ bit), row + (column ^ bit), {.count = count, .tag = 1});
    return;
  }
  for (std::int64_t round = 1; round < columns; ++round)
    calls.exchange(2, row + (column + 1) % columns, row + (column + columns - 1) % columns,
                   {.count = count, .tag = 2});
}

// Conjugate gradients: sums over rows of a grid, and the partner at the transposed place (CG).
void transpose(RankCalls calls, Step step) {
  constexpr int kPiece = 64;
  constexpr std::uint32_t kIterations = 25;
  const std::int64_t ranks = calls.place().ranks, rank = calls.place().rank;
  std::int64_t rows = 1;
  for (std::int64_t side = 1; side * side <= ranks; ++side)
    if (ranks % (side * side) == 0) rows = side;
  const std::int64_t columns = ranks / rows, wide = columns / rows;
  const std::int64_t row = rank / columns, column = rank % columns;
  const std::int64_t partner = column / wide * columns + row * wide + column % wide;
  sum_over_row(calls.in(0), columns, 1);
  for (std::uint32_t round = 0; round < std::min(kIterations, step.most_rounds); ++round) {
    sum_over_row(calls.in(1), columns, static_cast<int>(kPiece * wide));
    calls.exchange(2, partner, partner, {.count = kPiece, .tag = 3});
    sum_over_row(calls.in(2), columns, 1);
    sum_over_row(calls.in(3), columns, 1);
  }
}

// Communicators of rows and of columns.
constexpr std::int64_t kRow = kFirstCreated, kColumn = kFirstCreated + 1;

void begin_spectral(RankCalls calls) {
  const Cell c(calls.place());
  std::vector<std::int64_t> row, column;
  for (std::int64_t i = 0; i < c.columns; ++i) row.push_back(c.at(c.row, i));
  for (std::int64_t i = 0; i < c.rows; ++i) column.push_back(c.at(i, c.column));
  calls.init();
  calls.comm_split(2, c.row, calls.place().rank, kRow, std::move(row));
  calls.comm_split(3, c.column, calls.place().rank, kColumn, std::move(column));
  calls.barrier(1);
}

// A transform in pencils, there and back: all to all in rows and in columns (FT).
void spectral(RankCalls calls, Step) {
  constexpr std::int64_t kPoints = 12;
  const Cell c(calls.place());
  const std::int64_t unit = std::lcm(c.rows, c.columns);
  const std::int64_t n = (kPoints + unit - 1) / unit * unit;
  const std::int64_t pencil = n / c.rows * (n / c.columns);
  const auto swap = [&](std::uint32_t function, std::int64_t comm) {
    const std::int64_t part = n / (comm == kRow ? c.columns : c.rows);
    calls.in(function).alltoall(
        1, {.count = static_cast<int>(pencil * part), .type = object::kComplex, .comm = comm});
  };
  calls.allreduce(2, {}, kSum);
  swap(0, kRow);
  swap(1, kColumn);
  calls.allreduce(3, {}, kSum);
  swap(2, kColumn);
  swap(3, kRow);
}

/// How many of 4,096 keys a rank sends to another: about as many to each, and another number in
/// each step.
std::int64_t keys(std::uint64_t from, std::uint64_t to, std::uint32_t step, std::int64_t ranks) {
  const std::int64_t most = 2 * 4096 / ranks + 1;
  return static_cast<std::int64_t>(mix(from << 42 | to << 21 | step) %
                                   static_cast<std::uint64_t>(most));
}

// Sizes of buckets, and keys to where they belong; then a chain in which the first rank only
// sends and the last only receives (IS).
void bucketsort(RankCalls calls, Step step) {
  const std::int64_t ranks = calls.place().ranks, rank = calls.place().rank;
  calls.allreduce(2, {.count = 1024, .type = kInt}, kSum);
  calls.alltoall(3, {.type = kInt});
  std::vector<std::int64_t> sent, received;
  if (ranks <= kMostWithArrays)
    for (std::int64_t other = 0; other < ranks; ++other) {
      sent.push_back(keys(rank, other, step.number, ranks));
      received.push_back(keys(other, rank, step.number, ranks));
    }
  calls.alltoallv(4, kInt, std::move(sent), std::move(received));
  if (rank > 0) calls.irecv(5, rank - 1, {.type = kInt, .tag = 1}, 0);
  if (rank + 1 < ranks) calls.send(6, rank + 1, {.type = kInt, .tag = 1});
  if (rank > 0) calls.wait(7, 0);
}

/// Four partners by chance, the same in each step.
void irregular(RankCalls calls, Step) {
  for (std::uint32_t round = 0; round < 4; ++round) {
    const RandomPartners partners(calls.place().ranks, round);
    calls.exchange(2, partners.to(calls.place().rank), partners.from(calls.place().rank),
                   {.count = 64, .tag = static_cast<int>(round)});
  }
}

/// Points of a line, every second of which each coarser level keeps where it is.
struct Level {
  std::int64_t begin, end;   // of the rank's points
  std::int64_t left, right;  // ranks with the points beside them
};

/// Down to more than two points, or to where the rank has none.
std::vector<Level> levels_of(Place p) {
  const std::int64_t ranks = p.ranks, rank = p.rank;
  std::int64_t points = 256;
  while (points < 2 * ranks) points *= 2;
  const auto owner = [&](std::int64_t point) {
    std::int64_t found = point * ranks / points;
    while (found + 1 < ranks && points * (found + 1) / ranks <= point) ++found;
    return found;
  };
  std::vector<Level> levels;
  std::int64_t begin = points * rank / ranks, end = points * (rank + 1) / ranks;
  for (std::int64_t stride = 1; points / stride > 2 && begin != end; stride *= 2) {
    levels.push_back({begin, end, begin > 0 ? owner((begin - 1) * stride) : kNone,
                      end < points / stride ? owner(end * stride) : kNone});
    begin = (begin + 1) / 2;
    end = (end + 1) / 2;
  }
  return levels;
}

void update(RankCalls calls, const Level& level) {
  int requests = 0;
  if (level.left != kNone) calls.irecv(1, level.left, {.tag = 1}, requests++);
  if (level.right != kNone) calls.irecv(2, level.right, {.tag = 2}, requests++);
  if (level.left != kNone) calls.isend(3, level.left, {.tag = 2}, requests++);
  if (level.right != kNone) calls.isend(4, level.right, {.tag = 1}, requests++);
  calls.waitall(5, requests);
}

/// A V-cycle: down the levels, each a function that the one before calls, and up again.
void cycle(RankCalls calls, std::span<const Level> levels) {
  if (levels.empty()) return;
  for (std::uint32_t i = 0; i < 4; ++i) update(calls.in(i), levels[0]);
  cycle(calls.in(7), levels.subspan(1));
  for (std::uint32_t i = 4; i < 7; ++i) update(calls.in(i), levels[0]);
}

void multigrid(RankCalls calls, Step) {
  const std::vector<Level> levels = levels_of(calls.place());
  cycle(calls.in(0), levels);
  if (!levels.empty()) update(calls.in(1), levels[0]);
  calls.allreduce(2, {}, kMax);
}

// The grid is closed in the north and south, and cyclic from east to west (POP).
void begin_ocean(RankCalls calls) {
  const Cell c(calls.place());
  const Message pair{.count = 2, .comm = kFirstCreated};
  calls.init();
  calls.cart_create(2, {c.rows, c.columns}, {0, 1}, kFirstCreated);
  calls.in(1).allreduce(1, pair, kSum);
  calls.in(2).allreduce(1, pair, kSum);
  calls.barrier(1);
}

// Updates of ghost points from as many functions, and a solver that iterates more often in some
// steps than in others.
void ocean(RankCalls calls, Step step) {
  constexpr std::uint32_t kUpdates = 8, kIterations[] = {5, 9, 13, 16};
  const Cell c(calls.place());
  const std::int64_t west = c.at(c.row, (c.column + c.columns - 1) % c.columns);
  const std::int64_t east = c.at(c.row, (c.column + 1) % c.columns);
  const std::int64_t north = c.at(c.row - 1, c.column), south = c.at(c.row + 1, c.column);
  const auto side = [](int tag) { return Message{.count = 8, .tag = tag, .comm = kFirstCreated}; };
  const auto update = [&](std::uint32_t function) {
    RankCalls at = calls.in(function);
    at.irecv(1, west, side(1), 0);
    at.irecv(2, east, side(2), 1);
    at.irecv(3, north, side(3), 2);
    at.irecv(4, south, side(4), 3);
    at.isend(5, east, side(1), 4);
    at.isend(6, west, side(2), 5);
    at.isend(7, south, side(3), 6);
    at.isend(8, north, side(4), 7);
    at.waitall(9, 8);
  };
  const auto sum = [&](std::uint32_t function) {
    calls.in(function).allreduce(1, {.count = 2, .comm = kFirstCreated}, kSum);
  };
  for (std::uint32_t function = 10; function < 10 + kUpdates; ++function) update(function);
  update(20);
  const std::uint32_t rounds = std::min(kIterations[step.number % 4], step.most_rounds);
  for (std::uint32_t round = 0; round < rounds; ++round) {
    update(21);
    sum(22);
  }
  update(23);
  sum(24);
  update(25);
}

// Up to 26 neighbours in a cube, each with a call of its own (LULESH).
void hydro(RankCalls calls, Step) {
  constexpr int kDirections = 27, kSelf = 13, kPoints = 6;
  const auto sides = grid<3>(calls.place().ranks);
  const std::int64_t rank = calls.place().rank;
  const std::array<std::int64_t, 3> place = {rank / (sides[1] * sides[2]),
                                             rank / sides[2] % sides[1], rank % sides[2]};
  const auto offset = [](int direction) {
    return std::array{direction / 9 - 1, direction / 3 % 3 - 1, direction % 3 - 1};
  };
  const auto neighbour = [&](int direction) {
    std::int64_t there = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::int64_t at = place[axis] + offset(direction)[axis];
      if (direction == kSelf || at < 0 || at >= sides[axis]) return kNone;
      there = there * sides[axis] + at;
    }
    return there;
  };
  const auto points = [&](int direction) {  // of a side of a block
    int count = 1;
    for (const int axis : offset(direction))
      if (axis == 0) count *= kPoints;
    return count;
  };
  int requests = 0;
  for (int from = 0; from < kDirections; ++from)
    if (neighbour(from) != kNone)
      calls.in(1).irecv(static_cast<std::uint32_t>(from), neighbour(from),
                        {.count = points(from), .tag = kDirections - 1 - from}, requests++);
  for (int to = 0; to < kDirections; ++to)
    if (neighbour(to) != kNone)
      calls.in(2).isend(static_cast<std::uint32_t>(to), neighbour(to),
                        {.count = points(to), .tag = to}, requests++);
  calls.in(3).waitall(1, requests);
  calls.allreduce(2, {}, kMin);
}

struct Task {
  std::int64_t worker;
  int tag;  // 0: that there is no more to do
};

// A master gives every worker a task and, as results come, another. Here they come in the order of
// the tasks, so that worker w has every (P - 1)-th task from the w-th on.
void taskfarm(RankCalls calls, Step) {
  const std::int64_t ranks = calls.place().ranks, rank = calls.place().rank, workers = ranks - 1;
  const int tasks = static_cast<int>(std::max<std::int64_t>(40, workers));
  const Message task{.type = kInt};
  const auto sent = [&](int tag) {
    Message message = task;
    message.tag = tag;
    return message;
  };
  if (rank == 0 && workers > 0) {
    std::deque<Task> busy;
    int next = 0;
    const auto hand_out = [&](RankCalls at, std::int64_t worker) {
      const int tag = next < tasks ? ++next : 0;
      at.send(1, worker, sent(tag));
      if (tag != 0) busy.push_back({worker, tag});
    };
    for (std::int64_t worker = 1; worker < ranks; ++worker) hand_out(calls.in(1), worker);
    while (!busy.empty()) {
      const Task done = busy.front();
      busy.pop_front();
      calls.receive_any(1, PartnerRank::any(), {}, done.worker, done.tag);
      hand_out(calls.in(2), done.worker);
    }
  }
  for (std::int64_t tag = rank; rank > 0; tag += workers) {
    const int given = tag <= tasks ? static_cast<int>(tag) : 0;
    calls.receive_any(2, 0, task, 0, given);
    if (given == 0) break;
    calls.send(3, 0, {.tag = given});
  }
  calls.reduce(4, {.type = kInt}, kSum, 0);
}

// The steady one: only the number of shifts changes from step to step.
void phases(RankCalls calls, Step step) {
  for (std::uint32_t time = 0; time < 1 + step.number % 3; ++time) shift(calls, 2, 256);
}

// A ring of halos, and a chain along the ranks.
void faulty(RankCalls calls, Step) {
  const std::int64_t n = calls.place().ranks, rank = calls.place().rank;
  const std::int64_t left = (rank + n - 1) % n, right = (rank + 1) % n;
  RankCalls halo = calls.in(1), chain = calls.in(2);
  halo.irecv(1, left, {.tag = 1}, 0);
  halo.irecv(2, right, {.tag = 2}, 1);
  halo.isend(3, right, {.tag = 1}, 2);
  halo.isend(4, left, {.tag = 2}, 3);
  halo.waitall(5, 4);
  chain.receive(1, rank - 1, {.tag = 3});
  chain.send(2, rank + 1, {.tag = 3});
  calls.allreduce(3, {}, kSum);
}

constexpr Behaviour kBehaviours[] = {
    {"wavefront", "a pipeline over a 2-D grid", begin, wavefront},
    {"stencil2d", "four neighbours", begin_stencil2d, stencil2d},
    {"ring", "one neighbour, cyclic", begin, ring},
    {"multipartition", "three cyclic neighbours", begin, multipartition},
    {"transpose", "sums over rows, and the transposed place", begin, transpose},
    {"spectral", "all to all in rows and columns", begin_spectral, spectral},
    {"bucketsort", "all to all and a chain", begin, bucketsort, true},
    {"irregular", "four neighbours by chance, in no example", begin, irregular},
    {"multigrid", "two neighbours at each level", begin, multigrid},
    {"ocean", "updates from four neighbours, and a solver", begin_ocean, ocean, true},
    {"hydro", "26 neighbours", begin, hydro},
    {"taskfarm", "a master and workers", begin, taskfarm},
    {"phases", "one neighbour, once to three times", begin, phases, true},
    {"faulty", "two neighbours and a chain", begin, faulty},
};

}  // namespace

std::span<const Behaviour> behaviours() { return kBehaviours; }

const Behaviour* find_behaviour(const std::string& name) {
  for (const Behaviour& one : kBehaviours)
    if (name == one.name) return &one;
  return nullptr;
}

Trace behaviour_trace(std::uint32_t ranks) {
  Trace trace;
  trace.world_size = ranks;
  trace.calls = rank_call_descriptions();
  trace.arrays.emplace(array_id({}), std::vector<std::int64_t>());
  trace.predefined["datatype"] = predefined_types();
  trace.predefined["op"] = predefined_operations();
  return trace;
}

}  // namespace chameleon::tools
