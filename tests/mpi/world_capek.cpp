// SPDX-License-Identifier: BSD-3-Clause
// CAPEK over an MpiWorld against a VirtualWorld: messages by a plan, clusters bit for bit, and
// members of strata.
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/hash.h"
#include "cluster/capek.h"
#include "cluster/stratum_members.h"
#include "world_checks.h"

using namespace chameleon;
using namespace chameleon::cluster;
using namespace chameleon::world;

namespace world_test {
namespace {

static_assert(GatherWorld<MpiWorld> && GatherWorld<VirtualWorld>);

template <class T>
T here(const MpiWorld::PerRank<T>& values) {
  return values.value;
}
template <class T>
T here(const std::vector<T>& values) {
  return values[me];
}

using Series = std::vector<double>;

double euclidean(const Series& a, const Series& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

// Of values whose sums depend on their order.
Series series(std::uint32_t rank, std::uint64_t round) {
  Series values;
  for (std::uint64_t i = 0; i < 1 + round % 20; ++i)
    values.push_back(static_cast<double>(combine(round, rank + 1000 * i) % 100000) / 3 +
                     static_cast<double>(rank % (1 + round % 4)) * 1e5);
  return values;
}

/// What one rank sees of it.
struct Seen {
  std::vector<std::vector<std::pair<std::uint32_t, std::string>>> gathered;
  std::vector<Medoids<Series>> medoids;
  std::vector<std::vector<std::uint32_t>> sizes;
  std::vector<double> scores;
  std::vector<std::uint32_t> clusters;
  std::vector<std::uint8_t> chosen;
  bool operator==(const Seen&) const = default;
};

template <class World, class Criterion>
void cluster_once(World& world, std::uint64_t round, const Criterion& criterion, bool fixed,
                  Seen& seen) {
  TrialOptions options;
  options.sample_size = static_cast<std::uint32_t>(round % 5);  // fewer than there are ranks, too
  options.seed = round;
  options.last_k = 4;
  if (fixed) options.first_k = options.last_k = 1 + static_cast<std::uint32_t>(round % 6);
  auto items = world.generate([&](std::uint32_t rank) { return series(rank, round); });
  auto found = capek<World, Series>(world, items, options, euclidean, criterion);
  seen.medoids.push_back(found.all.medoids);
  seen.sizes.push_back(found.all.sizes);
  seen.scores.push_back(found.all.score);
  seen.clusters.push_back(here(found.clusters));
  std::vector<std::uint32_t> ranks;
  std::vector<std::uint64_t> wanted;
  for (const auto& [rank, item] : found.all.medoids) {
    ranks.push_back(rank);
    wanted.push_back(1 + rank % 3);
  }
  seen.chosen.push_back(here(stratum_members(world, found.clusters, ranks, wanted, round).chosen));
}

template <class World>
Seen run(World& world) {
  Seen seen;
  const std::uint32_t size = world.size();
  for (std::uint32_t round = 0; round < 6; ++round) {
    std::vector<Transfer> plan;
    for (std::uint32_t from = 0; from < size; ++from)
      for (std::uint32_t to = 0; to < size; ++to)
        if (combine(round, from * size + to) % 6 < round) plan.push_back({from, to});
    // Up to 9 kB, in pieces of 64 bytes too.
    auto names = world.generate([](std::uint32_t rank) {
      const std::uint32_t side = std::min(rank, 15U);
      return std::to_string(rank) + std::string(side * side * 40, 'x');
    });
    seen.gathered.push_back(here(world.gather(plan, names)));
  }
  for (std::uint64_t round = 0; round < (size > 16 ? 4 : 10); ++round) {
    cluster_once(world, round, LeastDissimilarity(), true, seen);
    cluster_once(world, round, Bayesian{static_cast<double>(1 + round % 20)}, false, seen);
    const auto value = [](const Series& item) { return item.front(); };
    cluster_once(world, round, FewestSamples<decltype(value)>{value}, false, seen);
  }
  return seen;
}

void sampling(std::uint32_t size, std::size_t piece_bytes) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MpiWorld world(comm, 60, piece_bytes);
  VirtualWorld reference(size, true);
  const Seen mine = run(world), expected = run(reference);
  check(!world.failed(), "the world failed in CAPEK");
  check(mine.gathered == expected.gathered, "values gathered by a plan differ");
  check(mine == expected, "CAPEK differs");
  check_traffic(world.traffic(), reference.traffic(), comm);
  check(world.traffic().depth == reference.traffic().depth, "depths of CAPEK differ");
}

}  // namespace

void sampling(std::uint32_t size) {
  sampling(size, std::size_t{1} << 28);
  sampling(size, 64);
}

}  // namespace world_test
