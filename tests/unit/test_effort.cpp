// SPDX-License-Identifier: BSD-3-Clause
// Effort windows: exact moments, strata and samples on virtual ranks, the error that they claim,
// and their way through markers and the file. That a real job gives the same is
// tests/mpi/world_effort.cpp.
#include <cmath>
#include <cstdlib>
#include <random>
#include <set>

#include "analysis/effort_error.h"
#include "cluster/effort_window.h"
#include "format/codec.h"
#include "unit/catch.h"
#include "unit/scripted_job.h"

using namespace chameleon;
using namespace chameleon::analysis;
using namespace chameleon::testing;

namespace {

constexpr std::uint64_t kMs = 1'000'000;

/// What rank computes in the interval that a marker ends.
using Effort = std::uint64_t (*)(std::uint32_t rank, std::uint64_t marker);

/// Two kinds of ranks, and a rank in turn that is slow.
std::uint64_t moving(std::uint32_t rank, std::uint64_t marker) {
  const std::uint64_t base = rank % 4 == 0 ? 20 * kMs : 5 * kMs;
  return base + mix(1000 * rank + marker) % kMs + (marker % 16 == rank ? 10 * kMs : 0);
}

std::vector<RankEfforts> efforts_of(std::uint32_t ranks, std::uint64_t steps, Effort effort) {
  std::vector<RankEfforts> all(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    for (std::uint64_t marker = 1; marker <= steps; ++marker)
      all[rank].push_back({marker, effort(rank, marker)});
  return all;
}

EffortWindow window_of(std::vector<RankEfforts> efforts, const EffortOptions& options,
                       std::uint64_t steps) {
  VirtualWorld world(static_cast<std::uint32_t>(efforts.size()));
  auto window = effort_window(world, efforts, options, 1, steps);
  REQUIRE(window);
  return std::move(*window);
}

Trace with(Efforts efforts) {
  Trace trace;
  trace.world_size = 64;
  trace.efforts = std::move(efforts);
  return trace;
}

}  // namespace

TEST_CASE("exact moments do not depend on the order, and equal numbers do not deviate") {
  ExactMoments one, other;
  const std::vector<std::uint64_t> numbers = {3, 1ULL << 40, 7, 7, (1ULL << 50) + 1};
  for (const std::uint64_t number : numbers) one.add(number);
  for (auto at = numbers.rbegin(); at != numbers.rend(); ++at) {
    ExactMoments single;
    single.add(*at);
    other.add(single);
  }
  CHECK(one == other);
  ExactMoments equal;
  for (int i = 0; i < 1000; ++i) equal.add(1'234'567'890'123);
  CHECK(equal.deviation() == 0);
  ExactMoments two;
  two.add(1);
  two.add(4);
  CHECK(two.deviation() == Approx(1.5));
  CHECK(two.mean() == Approx(2.5));
}

TEST_CASE("a window has the exact moments of every step over all ranks") {
  const auto ranks = static_cast<std::uint32_t>(GENERATE(1, 2, 5, 16, 100));
  const std::uint64_t steps = GENERATE(1, 37, 64);
  EffortOptions options;
  if (ranks == 16) options.k = {EffortK::By::kFixed, 3};
  if (ranks == 100) options.k = {EffortK::By::kSamples, 0};
  const auto efforts = efforts_of(ranks, steps, moving);
  const EffortWindow window = window_of(efforts, options, steps);
  REQUIRE(window.gap == EffortGap::kNone);
  CHECK(window.ranks == ranks);
  REQUIRE(window.steps.size() == steps);
  for (std::size_t i = 0; i < steps; ++i) {
    std::uint64_t sum = 0, least = UINT64_MAX, most = 0, of_strata = 0;
    for (const RankEfforts& rank : efforts) {
      sum += rank[i].ns;
      least = std::min(least, rank[i].ns);
      most = std::max(most, rank[i].ns);
    }
    double squares = 0;
    for (const RankEfforts& rank : efforts)
      squares += std::pow(static_cast<double>(rank[i].ns) - static_cast<double>(sum) / ranks, 2);
    CHECK(window.steps[i].marker == i + 1);
    CHECK(window.steps[i].sum_ns == sum);
    CHECK(window.steps[i].least_ns == least);
    CHECK(window.steps[i].most_ns == most);
    CHECK(std::abs(static_cast<double>(window.steps[i].deviation_ns) - std::sqrt(squares / ranks)) <
          2);
    for (const EffortStratum& stratum : window.strata) of_strata += stratum.steps[i].sum_ns;
    CHECK(of_strata == sum);
  }
  std::uint32_t size = 0;
  std::set<std::uint32_t> sampled;
  for (const EffortStratum& stratum : window.strata) {
    size += stratum.size;
    bool has_medoid = false;
    for (const SampledRank& one : stratum.sampled) {
      has_medoid = has_medoid || one.rank == stratum.medoid;
      CHECK(sampled.insert(one.rank).second);
      for (std::size_t i = 0; i < steps; ++i) CHECK(one.ns[i] == efforts[one.rank][i].ns);
    }
    CHECK(has_medoid);
  }
  CHECK(size == ranks);
  CHECK(sampled.size() == sampled_ranks(window));
}

TEST_CASE("strata are the kinds of ranks that there are, and few of each are sampled") {
  const auto two_kinds = [](std::uint32_t rank, std::uint64_t marker) -> std::uint64_t {
    return (rank % 4 == 0 ? 20 * kMs : 5 * kMs) + mix(1000 * rank + marker) % kMs;
  };
  EffortOptions options;
  options.k =
      GENERATE(EffortK{EffortK::By::kFixed, 2}, EffortK(), EffortK{EffortK::By::kSamples, 0});
  const EffortWindow window = window_of(efforts_of(256, 64, two_kinds), options, 64);
  std::uint32_t slow = 0;
  for (const EffortStratum& stratum : window.strata)
    slow += stratum.medoid % 4 == 0 ? stratum.size : 0;
  CHECK(slow == 64);
  CHECK(window.strata.size() >= 2);
  if (options.k.by == EffortK::By::kFixed) CHECK(window.strata.size() == 2);
  CHECK(window.strata_pay);
  CHECK(sampled_ranks(window) <= 10);
  CHECK(window.unstratified > 100);
  const EffortEstimate all = window_estimate(window, Efforts::Settings());
  CHECK(all.holds());
  CHECK(all.claimed <= 0.05 * all.exact);
}

TEST_CASE("ranks that all compute the same need one sample, which is exact") {
  const auto same = [](std::uint32_t, std::uint64_t marker) { return marker * kMs; };
  const EffortWindow window = window_of(efforts_of(50, 64, same), EffortOptions(), 64);
  CHECK(sampled_ranks(window) == 1);
  const EffortEstimate all = window_estimate(window, Efforts::Settings());
  CHECK(all.claimed == 0);
  CHECK(all.actual() == 0);
}

namespace {

/// What ranks compute in one window, by rank and step, in ns.
using Shape = double (*)(std::mt19937_64& random, std::uint32_t rank, std::uint32_t ranks);

double speed(std::mt19937_64& random, double spread) {
  return std::lognormal_distribution(0.0, spread)(random);
}

struct Planted {
  const char* name;
  Shape rank;    ///< how much longer than 1 ms a step of this rank takes
  double noise;  ///< from step to step
  double moves;  ///< ms; whose turn it is takes so much longer
};

const Planted kPlanted[] = {
    {"an imbalance that moves",
     [](std::mt19937_64& random, std::uint32_t, std::uint32_t) {
       return speed(random, 0.3) * (random() % 3 == 0 ? 2 : 1);
     },
     0.2, 20},
    {"outliers",
     [](std::mt19937_64& random, std::uint32_t, std::uint32_t) {
       return speed(random, 0.05) * (random() % 16 == 0 ? 20 : 1);
     },
     0.05, 0},
    {"heavy tails",
     [](std::mt19937_64& random, std::uint32_t, std::uint32_t) {
       const double uniform = std::uniform_real_distribution(0.0, 1.0)(random);
       return std::pow(1 - uniform, -1 / 1.5);
     },
     0.3, 0},
    {"many small strata",
     [](std::mt19937_64& random, std::uint32_t rank, std::uint32_t) {
       return (1 + rank % 12) * speed(random, 0.1) * (random() % 8 == 0 ? 1.5 : 1);
     },
     0.1, 0},
    {"an outlier that only some steps have",
     [](std::mt19937_64& random, std::uint32_t, std::uint32_t) { return speed(random, 0.02); },
     0.02, 30},
};

std::vector<RankEfforts> efforts_of(const Planted& planted, std::uint32_t ranks,
                                    std::uint64_t first, std::mt19937_64& random) {
  std::vector<RankEfforts> efforts(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const double rate = planted.rank(random, rank, ranks);
    for (std::uint64_t step = 0; step < 16; ++step) {
      const double ms = rate * speed(random, planted.noise) +
                        ((first + step) % ranks == rank ? planted.moves : 0);
      efforts[rank].push_back({first + step, static_cast<std::uint64_t>(1e6 * ms)});
    }
  }
  return efforts;
}

struct Coverage {
  int windows = 0, held = 0, as_wanted = 0;
  double steps = 0, steps_held = 0, ranks = 0, sampled = 0, by_equation_1 = 0;
};

Coverage coverage_of(const Planted& planted, std::uint32_t ranks, int windows,
                     const Efforts::Settings& settings) {
  std::mt19937_64 random(ranks);
  EffortOptions options;
  options.window = settings;
  Coverage all;
  for (; all.windows < windows; ++all.windows) {
    const std::uint64_t first = 16 * static_cast<std::uint64_t>(all.windows) + 1;
    auto efforts = efforts_of(planted, ranks, first, random);
    VirtualWorld world(ranks);
    const auto window = effort_window(world, efforts, options, first, first + 15);
    REQUIRE((window && window->gap == EffortGap::kNone));
    const EffortEstimate mean = window_estimate(*window, settings);
    all.held += mean.holds() ? 1 : 0;
    all.as_wanted += mean.claimed <= 1.0001e-6 * settings.error_ppm * mean.exact ? 1 : 0;
    all.ranks += ranks;
    all.sampled += static_cast<double>(sampled_ranks(*window));
    all.by_equation_1 += static_cast<double>(ranks_by_equation_1(*window, settings));
    for (const EffortEstimate& step : step_estimates(*window, settings)) {
      ++all.steps;
      all.steps_held += step.holds() ? 1 : 0;
    }
  }
  return all;
}

}  // namespace

TEST_CASE("the claimed error holds as often as it says, whatever is planted") {
  const bool all_tests = std::getenv("CHAMELEON_TEST_ALL") != nullptr;
  const int windows = all_tests ? 1000 : 100;
  const Planted& planted = kPlanted[GENERATE(range(0, static_cast<int>(std::size(kPlanted))))];
  const auto ranks = static_cast<std::uint32_t>(GENERATE(16, 64, 500));
  if (ranks == 500 && !all_tests) return;
  const Efforts::Settings settings;
  const Coverage all = coverage_of(planted, ranks, windows, settings);  // `-s` shows it
  INFO(std::string(planted.name) + ", " + std::to_string(ranks) + " ranks: the claim holds in " +
       std::to_string(all.held) + " of " + std::to_string(windows) + " windows and " +
       std::to_string(100 * all.steps_held / all.steps) + " % of steps; " +
       std::to_string(100 * all.sampled / all.ranks) + " % of ranks are sampled, by Eq. 1 " +
       std::to_string(100 * all.by_equation_1 / all.ranks) + " %; as wanted in " +
       std::to_string(all.as_wanted));
  CHECK(all.held >= 0.95 * windows);
  CHECK(all.steps_held >= 0.95 * all.steps);
  if (ranks < 256) CHECK(all.as_wanted == windows);  // more may be wanted than are sampled at most
  CHECK(all.sampled >= all.by_equation_1 * (ranks < 256 ? 1 : 0.5));
}

TEST_CASE("a stratum of which ranks lost their sums, or the first rank its steps, is no window") {
  const RankEfforts one = {{1, 5}, {2, 7}};
  EffortSums both(one, 0, 2), lost(one, 0, 2);
  both.join(EffortSums(one, 1, 2));
  const std::uint32_t medoids[] = {0, 1};
  for (const auto& [sums, gap] :
       {std::pair(&both, EffortGap::kNone), std::pair(&lost, EffortGap::kLost)}) {
    EffortWindow window = exact_window(*sums, medoids, one, Efforts::Settings());
    effort_steps::put_sampled(window, {{0, {0, {5, 7}}}, {1, {1, {5, 7}}}});
    CHECK(effort_steps::gap_of(window, *sums) == gap);
  }
  const EffortWindow none = exact_window(both, medoids, {}, Efforts::Settings());
  CHECK(effort_steps::gap_of(none, both) == EffortGap::kLost);
}

TEST_CASE("where ranks differ in their intervals there is no window but the reason") {
  auto efforts = efforts_of(7, 64, moving);
  efforts[3].pop_back();
  CHECK(window_of(efforts, EffortOptions(), 64).gap == EffortGap::kUneven);
  efforts[3].push_back({63, 5});  // as many, of another marker
  CHECK(window_of(efforts, EffortOptions(), 64).gap == EffortGap::kUneven);
  const EffortWindow none = window_of(std::vector<RankEfforts>(7), EffortOptions(), 64);
  CHECK(none.gap == EffortGap::kLeftOut);
  CHECK(none.strata.empty());
}

TEST_CASE("too many windows become every second one, every fourth, and so on") {
  Efforts efforts, half;
  efforts.set({.length = 1024});
  constexpr std::uint64_t kMost = Efforts::kMostSteps / 1024;
  std::set<std::uint64_t> added;
  for (std::uint64_t index = 0; index < 10 * kMost; ++index) {
    if (!Efforts::measured(index, 1024)) continue;
    added.insert(index);
    EffortWindow window;
    window.first = 1024 * index + 1;
    window.last = 1024 * index + 1024;
    efforts.add(window);
    CHECK(efforts.windows().size() <= kMost);
  }
  CHECK(added.size() < 5 * kMost);
  for (const EffortWindow& window : efforts.windows()) CHECK((window.first - 1) / 1024 % 16 == 0);
  CHECK(efforts.windows().front().first == 1);
  const std::size_t before = efforts.windows().size();
  efforts.add(efforts.windows().front());  // not what comes next
  CHECK(efforts.windows().size() == before);
}

TEST_CASE("effort windows in a file are read back, and what is cut or changed is no crash") {
  Efforts efforts;
  for (std::uint64_t at = 0; at < 3; ++at) {
    auto ranks = efforts_of(40, 64, moving);
    for (RankEfforts& rank : ranks)
      for (StepEffort& step : rank) step.marker += 64 * at;
    VirtualWorld world(40);
    efforts.add(*effort_window(world, ranks, EffortOptions(), 64 * at + 1, 64 * at + 64));
  }
  EffortWindow gap;
  gap.first = 193;
  gap.last = 200;
  gap.gap = EffortGap::kStopped;
  efforts.add(gap);
  const Bytes bytes = format::encode_trace(with(efforts));
  const auto read = format::decode_trace(bytes);
  REQUIRE(read);
  CHECK(read->efforts == efforts);
  std::mt19937 random(11);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    Bytes damaged = bytes;
    damaged[i] = static_cast<std::uint8_t>(random());
    static_cast<void>(format::decode_trace(damaged));
    static_cast<void>(format::decode_trace(std::span(bytes).first(i)));
  }
}

TEST_CASE("markers make a window of so many intervals, and MPI_Finalize one of the rest") {
  EffortOptions options;
  options.of = cluster::EffortOf::kCompute;
  options.window.length = 16;
  JobIn<VirtualWorld> job(VirtualWorld(6), Fidelity::kLead, 100, {}, options);
  for (std::uint64_t marker = 1; marker <= 40; ++marker) {
    for (std::uint32_t rank = 0; rank < 6; ++rank)
      job.ranks[rank]->marker_log().computed = moving(rank, marker);
    job.step({1, 2});
  }
  job.end();
  const Efforts& efforts = job.output.trace.efforts;
  CHECK(efforts.settings().length == 16);
  REQUIRE(efforts.windows().size() == 3);
  std::uint64_t next = 1;
  for (const EffortWindow& window : efforts.windows()) {
    CHECK(window.gap == EffortGap::kNone);
    CHECK(window.first == next);
    next = window.last + 1;
    REQUIRE(window.steps.size() == window.last - window.first + 1);
    for (const EffortStep& step : window.steps) {
      std::uint64_t sum = 0;
      for (std::uint32_t rank = 0; rank < 6; ++rank) sum += moving(rank, step.marker);
      CHECK(step.sum_ns == sum);
    }
  }
  CHECK(next == 41);
}

TEST_CASE("without CHAMELEON_EFFORT a trace has no windows") {
  Job job(4);
  for (int i = 0; i < 80; ++i) job.step({1});
  job.end();
  CHECK(job.output.trace.efforts.empty());
}
