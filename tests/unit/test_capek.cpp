// SPDX-License-Identifier: BSD-3-Clause
// Samples, CLARA, CAPEK on virtual ranks, and the members of strata. That a real job gives the same
// is tests/mpi/world_capek.cpp.
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "cluster/capek.h"
#include "cluster/stratum_members.h"
#include "statistics/draw.h"
#include "unit/catch.h"
#include "world/virtual_world.h"

using namespace chameleon;
using namespace chameleon::cluster;
using namespace chameleon::statistics;
using namespace chameleon::world;

namespace {

// Whole numbers, whose sums do not depend on their order.
struct Point {
  std::int64_t x = 0, y = 0;
  bool operator==(const Point&) const = default;
};
double manhattan(const Point& a, const Point& b) {
  return static_cast<double>(std::abs(a.x - b.x) + std::abs(a.y - b.y));
}
Point anywhere(std::uint32_t rank) {
  return {static_cast<std::int64_t>(mix(rank) % 5000),
          static_cast<std::int64_t>(mix(~rank) % 5000)};
}
// Near one of five places far from each other.
Point near_five(std::uint32_t rank) {
  const std::int64_t place = static_cast<std::int64_t>(mix(rank) % 5);
  return {place * 100000 + rank % 7, place * place * 50000 + rank % 5};
}

double on_line(const double& a, const double& b) { return std::abs(a - b); }

TrialOptions only(std::uint32_t k) {
  TrialOptions options;
  options.first_k = options.last_k = k;
  return options;
}

std::vector<Point> points(std::uint32_t size, Point (*make)(std::uint32_t)) {
  std::vector<Point> all;
  for (std::uint32_t rank = 0; rank < size; ++rank) all.push_back(make(rank));
  return all;
}

template <class Criterion>
void check_as_clara(const std::vector<Point>& items, const TrialOptions& options,
                    const Criterion& criterion) {
  VirtualWorld world(static_cast<std::uint32_t>(items.size()), true);
  auto values = items;
  const auto found = capek<VirtualWorld, Point>(world, values, options, manhattan, criterion);
  const auto expected = clara(std::span<const Point>(items), options, manhattan, criterion);
  REQUIRE(found.all.medoids == expected.medoids);
  REQUIRE(found.clusters == expected.clusters);
  REQUIRE(found.all.score == expected.score);
  std::vector<std::uint32_t> sizes(found.all.medoids.size());
  for (const std::uint32_t cluster : found.clusters) ++sizes[cluster];
  REQUIRE(found.all.sizes == sizes);
  for (std::uint32_t i = 0; i < found.all.medoids.size(); ++i)
    REQUIRE(found.clusters[found.all.medoids[i].first] == i);
}

}  // namespace

TEST_CASE("a sample has different ranks, and every set is as likely") {
  for (const std::uint32_t population : {0U, 1U, 2U, 5U, 100U, 1U << 20})
    for (const std::uint32_t size : {0U, 1U, 2U, 60U, 200U}) {
      const auto drawn = draw(population, size, population + size);
      CHECK(drawn.size() == std::min(population, size));
      CHECK(std::set<std::uint32_t>(drawn.begin(), drawn.end()).size() == drawn.size());
      CHECK(std::is_sorted(drawn.begin(), drawn.end()));
      CHECK((drawn.empty() || drawn.back() < population));
    }
  std::map<std::vector<std::uint32_t>, int> seen;
  for (std::uint64_t seed = 0; seed < 20000; ++seed) ++seen[draw(5, 2, seed)];
  REQUIRE(seen.size() == 10);
  for (const auto& [set, times] : seen) CHECK(std::abs(times - 2000) < 5 * std::sqrt(1800.0));
}

TEST_CASE("PAM of items, and the nearest medoid") {
  const std::vector<double> items = {0, 1, 2, 10, 11, 12, 100};
  CHECK(pam(std::span<const double>(items), 3, on_line) == std::vector<std::size_t>{1, 4, 6});
  CHECK(pam(std::span<const double>(items), 9, on_line).size() == items.size());
  const Medoids<double> medoids = {{3, 10}, {5, 20}, {8, 20}};
  CHECK(nearest_medoid(0, 15.0, medoids, on_line).cluster == 0);  // as near to both
  CHECK(nearest_medoid(0, 16.0, medoids, on_line).cluster == 1);
  CHECK(nearest_medoid(8, 20.0, medoids, on_line).cluster == 2);  // its own, not an equal one
  CHECK(nearest_medoid(0, 16.0, medoids, on_line).dissimilarity == 4);
}

TEST_CASE("trials: samples, workers spread over all ranks, and no k that leaves nothing to judge") {
  TrialOptions options;
  const auto trials = plan_trials(1000, options);
  REQUIRE(trials.size() == 50);
  std::set<std::uint32_t> workers;
  std::set<std::vector<std::uint32_t>> samples;
  for (std::size_t t = 0; t < trials.size(); ++t) {
    CHECK(trials[t].k == 1 + t / 5);
    CHECK(trials[t].worker == 20 * t);
    CHECK(trials[t].sample.size() == 40 + 2 * trials[t].k);
    samples.insert(trials[t].sample);
  }
  CHECK(samples.size() == 50);
  options.seed = 2;
  CHECK(plan_trials(1000, options).front().sample != trials.front().sample);
  // s of everyone: one trial for each k, and k below the number of ranks.
  CHECK(plan_trials(30, options).size() == 10);
  CHECK(plan_trials(4, options).size() == 3);
  CHECK(plan_trials(1, options).size() == 1);
  CHECK(plan_trials(3, only(8)).front().k == 3);
  const auto plan = transfers(plan_trials(4, options));
  CHECK(plan.size() == 12);  // every rank to each worker, once
  CHECK(std::is_sorted(plan.begin(), plan.end()));
}

TEST_CASE("CAPEK gives what CLARA gives") {
  const std::uint32_t size = GENERATE(1U, 2U, 3U, 7U, 45U, 64U, 300U, 1000U);
  for (const auto make : {anywhere, near_five}) {
    const auto items = points(size, make);
    for (const std::uint32_t k : {1U, 2U, 5U, 10U})
      check_as_clara(items, only(k), LeastDissimilarity());
    check_as_clara(items, TrialOptions(), Bayesian{2});
    check_as_clara(items, TrialOptions(), Bayesian{2, true});
    const auto sum = [](const Point& point) { return static_cast<double>(point.x); };
    check_as_clara(items, TrialOptions(), FewestSamples<decltype(sum)>{sum});
  }
}

TEST_CASE("CAPEK with a criterion finds how many clusters there are") {
  VirtualWorld world(2000);
  // Five places, and about each nearly a normal distribution.
  auto items = world.generate([](std::uint32_t rank) {
    double sum = static_cast<double>(mix(rank) % 5) * 1e5;
    for (std::uint64_t i = 1; i <= 12; ++i) sum += static_cast<double>(combine(i, rank) % 100);
    return sum;
  });
  const auto found =
      capek<VirtualWorld, double>(world, items, TrialOptions(), on_line, Bayesian{1});
  REQUIRE(found.all.medoids.size() == 5);
  for (std::uint32_t rank = 0; rank < 2000; ++rank)
    CHECK(on_line(items[rank], found.all.medoids[found.clusters[rank]].second) < 1200);
}

TEST_CASE("criteria: the worked example, and how many must be measured") {
  // 0, 1, 10, 11 in one dimension: two clusters, in both forms.
  const bool published = GENERATE(false, true);
  VirtualWorld world(4);
  std::vector<double> items = {0, 1, 10, 11};
  const Bayesian criterion{1, published};
  const auto found = capek<VirtualWorld, double>(world, items, TrialOptions(), on_line, criterion);
  CHECK(found.clusters == std::vector<std::uint32_t>{0, 0, 1, 1});
  CHECK(found.all.score == Approx(10.220932).margin(5e-7).epsilon(0));
  const auto one = capek<VirtualWorld, double>(world, items, only(1), on_line, criterion);
  CHECK(one.all.score == Approx(14.772837).margin(5e-7).epsilon(0));
  CHECK(one.all.medoids.front().first == 1);

  const auto value = [](const double& item) { return item; };
  const FewestSamples<decltype(value)> fewest{value, 0.05, 0.95};
  std::vector<double> efforts;
  for (int i = 0; i < 600; ++i) efforts.push_back((i % 2 == 0 ? 10 : 100) + (i % 10) * 0.01);
  VirtualWorld many(600);
  const auto strata = capek<VirtualWorld, double>(many, efforts, only(2), on_line, fewest);
  CHECK(strata.all.score == 2);
  const auto all = capek<VirtualWorld, double>(many, efforts, only(1), on_line, fewest);
  double sum = 0, squares = 0;
  for (const double effort : efforts) sum += effort, squares += effort * effort;
  const double mean = sum / 600, deviation = std::sqrt(squares / 600 - mean * mean);
  CHECK(all.all.score == static_cast<double>(sample_size(600, deviation, 0.05 * mean, 0.95)));
}

TEST_CASE("CAPEK's messages: few, small, and no larger on more ranks") {
  std::uint64_t largest[2] = {};
  int at = 0;
  for (const std::uint32_t size : {1U << 10, 1U << 14}) {
    VirtualWorld world(size, true);
    auto items = points(size, anywhere);
    const auto plan = plan_trials(size, TrialOptions());
    std::uint64_t sent = 0;
    for (const Transfer& each : transfers(plan)) sent += each.from != each.to ? 1 : 0;
    capek<VirtualWorld, Point>(world, items, TrialOptions(), manhattan, Bayesian{2});
    // Items; medoids to rank 0 and to all; sums up; the choice down.
    CHECK(world.traffic().messages == sent + (plan.size() - 1) + 3 * (size - 1));
    CHECK(world.traffic().depth == 1 + tree_depth(plan.size()) + 3 * tree_depth(size));
    largest[at++] = world.traffic().largest;
  }
  CHECK(largest[1] < largest[0] * 11 / 10);
}

TEST_CASE("members of strata: the medoid and the least hashes, exactly as many as wanted") {
  const std::uint32_t size = GENERATE(1U, 2U, 7U, 100U, 1000U);
  VirtualWorld world(size, true);
  auto strata = world.generate([](std::uint32_t rank) { return rank % 3; });
  const std::vector<std::uint32_t> medoids = {size > 96 ? 96U : 0U, 1, 2};
  const std::vector<std::uint64_t> wanted = {1, 5, 1000};
  const auto found = stratum_members(world, strata, medoids, wanted, 7);
  REQUIRE(found.members);
  for (std::uint32_t i = 0; i < 3; ++i) {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> order;
    for (std::uint32_t rank = i; rank < size; rank += 3)
      order.emplace_back(rank == medoids[i] ? 0 : combine(7, rank), rank);
    std::sort(order.begin(), order.end());
    order.resize(std::min<std::size_t>(order.size(), wanted[i]));
    std::set<std::uint32_t> expected;
    for (const auto& [hash, rank] : order) expected.insert(rank);
    const auto& members = (*found.members)[i];
    CHECK(std::set<std::uint32_t>(members.begin(), members.end()) == expected);
    CHECK(std::is_sorted(members.begin(), members.end()));
    for (std::uint32_t rank = i; rank < size; rank += 3)
      CHECK(found.chosen[rank] == expected.count(rank));
  }
  CHECK(world.traffic().messages == 2 * (size - 1));
}
