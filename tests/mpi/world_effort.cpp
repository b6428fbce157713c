// SPDX-License-Identifier: BSD-3-Clause
// Effort windows over an MpiWorld against a VirtualWorld, bit for bit; also where a rank has
// nothing to say, and where ranks differ in their intervals.
#include <new>

#include "cluster/effort_window.h"
#include "world_checks.h"

using namespace chameleon;
using namespace chameleon::cluster;
using namespace chameleon::world;

namespace world_test {
namespace {

RankEfforts efforts_of(std::uint32_t rank, std::uint64_t round) {
  RankEfforts efforts;
  for (std::uint64_t step = 1; step <= 1 + mix(round) % 70; ++step)
    efforts.push_back({step, 1'000'000 * (1 + rank % (1 + round % 4)) +
                                 mix(combine(round, 100 * rank + step)) % 300'000});
  return efforts;
}

EffortOptions options_of(std::uint64_t round) {
  EffortOptions options;
  options.seed = round;
  if (round % 3 == 1) options.k = {EffortK::By::kSamples, 0};
  if (round % 3 == 2) options.k = {EffortK::By::kFixed, 1 + static_cast<std::uint32_t>(round % 5)};
  options.window.error_ppm = 1000 + 20'000 * static_cast<std::uint32_t>(round % 4);
  return options;
}

/// On rank 0 the window.
template <class World, class Make>
std::optional<EffortWindow> window_in(World& world, std::uint64_t round, Make make) {
  auto efforts = world.generate([&](std::uint32_t rank) { return make(rank, round); });
  return effort_window(world, efforts, options_of(round), 1, 71);
}

void one_without(MPI_Comm comm, std::uint32_t size) {
  for (std::uint32_t absent = 1; absent < size; absent += 2 * std::max(1U, size / 16)) {
    MpiWorld world(comm, 60);
    const auto window = window_in(world, 5, [&](std::uint32_t rank, std::uint64_t round) {
      if (rank == absent) throw std::bad_alloc();
      return efforts_of(rank, round);
    });
    check(!world.failed(), "the world failed where a rank has nothing to say");
    if (me != 0) continue;
    check(window && window->gap == EffortGap::kNone, "a window is lost with one rank");
    check(window && window->ranks == size - 1, "a window has the wrong number of ranks");
  }
}

void one_differs(MPI_Comm comm, std::uint32_t size) {
  MpiWorld world(comm, 60);
  const auto window = window_in(world, 5, [&](std::uint32_t rank, std::uint64_t round) {
    RankEfforts efforts = efforts_of(rank, round);
    if (rank + 1 == size) efforts.pop_back();
    return efforts;
  });
  check(!world.failed(), "the world failed where ranks differ in their intervals");
  if (me == 0 && size > 1)
    check(window && window->gap == EffortGap::kUneven, "ranks differ in their intervals unseen");
}

}  // namespace

void effort_windows(std::uint32_t size) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  // On 64 ranks of two cores a window of this many messages takes ten seconds.
  const std::uint64_t rounds = size > 16 ? 3 : 12;
  for (const std::size_t piece_bytes : {std::size_t{1} << 28, std::size_t{100}}) {
    MpiWorld world(comm, 60, piece_bytes);
    VirtualWorld reference(size, true);
    for (std::uint64_t round = 0; round < rounds; ++round) {
      const auto window = window_in(world, round, efforts_of);
      const auto expected = window_in(reference, round, efforts_of);
      check(window.has_value() == (me == 0), "a window is not at rank 0 alone");
      check(me != 0 || window == expected, "an effort window differs from that of virtual ranks");
      check(expected && expected->gap == EffortGap::kNone, "virtual ranks have no window");
    }
    check(!world.failed(), "the world failed in an effort window");
    check_traffic(world.traffic(), reference.traffic(), comm);
    check(world.traffic().depth == reference.traffic().depth, "depths of effort windows differ");
  }
  one_without(comm, size);
  one_differs(comm, size);
}

}  // namespace world_test
