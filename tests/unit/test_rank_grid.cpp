// SPDX-License-Identifier: BSD-3-Clause

#include "analysis/rank_grid.h"
#include "unit/catch.h"
#include "unit/trace_builder.h"

using namespace chameleon;
using namespace chameleon::analysis;
using namespace chameleon::compress;
using chameleon::testing::TraceBuilder;

namespace {

using Dims = std::vector<std::uint32_t>;
using Source = RankGrid::Source;

enum : std::uint16_t { kCart = 1, kBarrier };

/// A job whose ranks make Cartesian communicators, in this order.
Trace cartesian_job(std::uint32_t ranks, const std::vector<std::vector<std::int64_t>>& dims) {
  TraceBuilder job(ranks);
  job.call(kCart, "Cart_create", {"ndims:count", "dims:count:a"});
  job.call(kBarrier, "Barrier", {"comm:comm"});
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    for (const auto& one : dims)
      job.push(rank, kCart, {static_cast<std::int64_t>(one.size()), job.array(one)});
    job.push(rank, kBarrier, {0});
  }
  return job.build();
}

Trace plain_job(std::uint32_t ranks) {
  Trace trace;
  trace.world_size = ranks;
  trace.ranks = RankList::range(0, ranks - 1);
  return trace;
}

/// Every rank sends to the ranks so far away in each dimension (grid with borders: torus false).
CommunicationMatrix neighbours(const Dims& dims, bool torus) {
  CommunicationMatrix matrix;
  std::uint32_t ranks = 1;
  for (const std::uint32_t one : dims) ranks *= one;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    std::uint32_t stride = 1;
    for (std::size_t d = dims.size(); d-- > 0; stride *= dims[d]) {
      const std::uint32_t at = rank / stride % dims[d];
      if (at + 1 == dims[d] && !torus) continue;
      const std::uint32_t to = rank - at * stride + (at + 1) % dims[d] * stride;
      matrix.cells[{rank, to}].messages = matrix.cells[{to, rank}].messages = 10;
    }
  }
  return matrix;
}

}  // namespace

TEST_CASE("a Cartesian communicator of all ranks says the dimensions") {
  const auto [ranks, made, expected] =
      GENERATE(table<std::uint32_t, std::vector<std::vector<std::int64_t>>, Dims>({
          {12, {{3, 4}}, {3, 4}},
          {12, {{2, 2, 3}}, {2, 2, 3}},
          {12, {{1, 12, 1}}, {12}},         // a dimension of one is none
          {12, {{2, 2}, {6, 2}}, {6, 2}},   // the first has four ranks only
          {12, {{4, 3}, {2, 6}}, {4, 3}},   // the first of all ranks counts
          {12, {{0, 12}, {2, 6}}, {2, 6}},  // an erroneous call says nothing of the next
      }));
  const RankGrid grid = rank_grid(cartesian_job(ranks, made), nullptr);
  CHECK(grid.source == Source::kCartesian);
  CHECK(grid.dims == expected);
}

TEST_CASE("more than three dimensions are not drawn") {
  const RankGrid grid = rank_grid(cartesian_job(16, {{2, 2, 2, 2}}), nullptr);
  CHECK(grid.source == Source::kNone);
  CHECK(grid.dims == Dims{16});
}

TEST_CASE("distances between partners suggest the dimensions") {
  const bool torus = GENERATE(false, true);
  const auto dims = GENERATE(Dims{4, 4}, Dims{3, 8}, Dims{4, 4, 4}, Dims{3, 4, 5});
  CAPTURE(torus, dims);
  CommunicationMatrix matrix = neighbours(dims, torus);
  // A few more pairs, such as those of gathering at a root, do not hide them.
  matrix.cells[{7, 0}].messages = 1;
  matrix.cells[{9, 0}].messages = 1;
  std::uint32_t ranks = 1;
  for (const std::uint32_t one : dims) ranks *= one;
  const RankGrid grid = rank_grid(plain_job(ranks), &matrix);
  CHECK(grid.source == Source::kDistances);
  CHECK(grid.dims == dims);
}

TEST_CASE("what is no grid stays a row") {
  SECTION("no messages") {
    const CommunicationMatrix none;
    const RankGrid grid = rank_grid(plain_job(8), &none);
    CHECK(grid.dims == Dims{8});
    CHECK(grid.source == Source::kNone);
  }
  SECTION("a ring") {
    const CommunicationMatrix ring = neighbours({8}, true);
    CHECK(rank_grid(plain_job(8), &ring).dims == Dims{8});
  }
  SECTION("a butterfly") {
    CommunicationMatrix butterfly;
    for (std::uint32_t rank = 0; rank < 16; ++rank)
      for (std::uint32_t bit = 1; bit < 16; bit *= 2)
        butterfly.cells[{rank, rank ^ bit}].messages = 1;
    CHECK(rank_grid(plain_job(16), &butterfly).source == Source::kNone);
  }
  SECTION("pairs that no message went between") {
    CommunicationMatrix empty = neighbours({4, 4}, false);
    for (auto& [pair, cell] : empty.cells) cell.messages = 0;
    CHECK(rank_grid(plain_job(16), &empty).source == Source::kNone);
  }
  SECTION("no matrix, and no rank") {
    CHECK(rank_grid(plain_job(6), nullptr).dims == Dims{6});
    CHECK(rank_grid(Trace(), nullptr).dims == Dims{1});
  }
}
