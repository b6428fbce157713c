// SPDX-License-Identifier: BSD-3-Clause
#include "simulate_capek.h"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cluster/capek.h"
#include "common.h"
#include "effort_behaviours.h"
#include "statistics/wavelet.h"
#include "world/virtual_world.h"

namespace chameleon::tools {
namespace simulate_capek_verb {

using Json = nlohmann::ordered_json;

struct Figure {
  std::uint32_t number;
  const char* what;
  const char* published;
  std::uint32_t from, to;
};
constexpr Figure kFigures[] = {
    {4, "points, k 10", "below 0.2 s (SMP mode) and 0.5 s (VN) at 131,072 ranks", 1U << 10,
     1U << 20},
    {5, "traces of 64 values, k 10", "about 0.2 s (SMP) and below 1 s (VN) at 131,072 ranks",
     1U << 10, 1U << 20},
    {6, "points, k chosen by BIC from 1 to 10", "0.4 s (SMP) and about 1 s (VN) at 131,072 ranks",
     1U << 10, 1U << 20},
    {7, "traces of 512 to 8,192 values, k 10", "does not grow with ranks", 1U << 10, 1U << 16},
    {8, "signatures of 16 values of traces of 64, k 10", "half of figure 5 at 131,072 ranks",
     1U << 10, 1U << 20},
};

/// Of items in one row: what the last of figure 7 has.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 32;

struct Step {
  std::string name;
  double seconds = 0;
  Traffic traffic;
};

struct Row {
  std::uint32_t ranks = 0;
  std::size_t length = 0;  ///< of an item
  std::vector<Step> steps;
  std::size_t clusters = 0;
  double seconds = 0;  ///< of this process

  Step total() const {
    Step all;
    for (const Step& step : steps) {
      all.seconds += step.seconds;
      all.traffic.messages += step.traffic.messages;
      all.traffic.bytes += step.traffic.bytes;
      all.traffic.largest = std::max(all.traffic.largest, step.traffic.largest);
      all.traffic.depth += step.traffic.depth;
    }
    return all;
  }
};

template <class Item, class Make, class Dissimilarity, class Criterion>
Row run(std::uint32_t ranks, std::size_t length, const TrialOptions& options, Make make,
        Dissimilarity dissimilarity, const Criterion& criterion) {
  const double begin = thread_seconds();
  Row row;
  row.ranks = ranks;
  row.length = length;
  VirtualWorld world(ranks, true, true);
  auto items = world.generate(make);
  // Every rank draws all samples.
  const double drawing = thread_seconds();
  const cluster::CapekPlan plan(options, ranks);
  row.steps.push_back({"sample", thread_seconds() - drawing, {}});
  const auto after = [&](const char* step) {
    row.steps.push_back({step, world.critical_seconds(), world.traffic()});
    world.reset_traffic();
  };
  const auto found = capek<VirtualWorld, Item>(world, items, plan, dissimilarity, criterion, after);
  row.clusters = found.all.medoids.size();
  row.seconds = thread_seconds() - begin;
  return row;
}

Row run(const Figure& figure, std::uint32_t ranks, std::size_t length,
        const CapekSimulation& wanted) {
  TrialOptions options;
  options.seed = wanted.seed;
  options.first_k = options.last_k = 10;
  const LeastDissimilarity least;
  switch (figure.number) {
    case 4: return run<Point>(ranks, length, options, uniform_point, point_distance, least);
    case 6:
      options.first_k = 1;
      return run<Point>(ranks, length, options, uniform_point, point_distance,
                        Bayesian{2, wanted.published});
    case 8: {
      const auto signature = [](std::uint32_t rank) {
        return effort_signature(synthetic_trace(rank, 64));
      };
      return run<Series>(ranks, length, options, signature, series_distance, least);
    }
    default: {
      const auto trace = [&](std::uint32_t rank) { return synthetic_trace(rank, length); };
      return run<Series>(ranks, length, options, trace, series_distance, least);
    }
  }
}

std::vector<std::size_t> lengths(std::uint32_t figure) {
  switch (figure) {
    case 5: return {64};
    case 7: return {512, 1024, 2048, 4096, 8192};
    case 8: return {16};
    default: return {2};
  }
}

Json json_step(const Step& step) {
  return {{"critical_seconds", step.seconds},
          {"messages", step.traffic.messages},
          {"bytes", step.traffic.bytes},
          {"largest_message", step.traffic.largest},
          {"depth", step.traffic.depth}};
}

Json json_row(const Row& row) {
  Json steps = Json::object();
  for (const Step& step : row.steps) steps[step.name] = json_step(step);
  return {{"ranks", row.ranks},       {"length", row.length},
          {"steps", steps},           {"total", json_step(row.total())},
          {"clusters", row.clusters}, {"seconds", row.seconds}};
}

void print_row(const Row& row) {
  const auto size = [](std::uint64_t bytes) { return bytes_text(static_cast<double>(bytes)); };
  std::printf("%8u %6zu", row.ranks, row.length);
  for (const Step& step : row.steps) {
    if (step.name == "gather")
      std::printf(" %9s", size(step.traffic.bytes).c_str());
    else if (step.name == "medoids")
      std::printf(" %9s", size(step.traffic.largest).c_str());
    else
      std::printf(" %9s", duration_text(1e9 * step.seconds).c_str());
  }
  const Step all = row.total();
  std::printf("  %9s %9llu %9s %5u %9s %8zu %6.1f s\n", duration_text(1e9 * all.seconds).c_str(),
              static_cast<unsigned long long>(all.traffic.messages),
              size(all.traffic.bytes).c_str(), all.traffic.depth, size(all.traffic.largest).c_str(),
              row.clusters, row.seconds);
  std::fflush(stdout);
}

int run_figure(const Figure& figure, const CapekSimulation& wanted) {
  const std::uint32_t from = wanted.from != 0 ? wanted.from : figure.from;
  const std::uint32_t to = wanted.to != 0 ? wanted.to : figure.to;
  if (to < from)
    return fail("simulate",
                "--from " + std::to_string(from) + " is above --to " + std::to_string(to),
                kExitUsage);
  auto document = json_document("simulate");
  document["behaviour"] = "capek";
  document["figure"] = figure.number;
  document["published"] = figure.published;
  document["rows"] = document["left_out"] = Json::array();
  if (!wanted.json)
    std::printf(
        "figure %u: %s\npublished: %s; here: work on the critical path, without communication\n"
        "                             gather             medoids\n"
        "   ranks length    sample      sent       pam each rank    assign      sums   critical  "
        "messages"
        "     bytes depth   largest clusters     took\n",
        figure.number, figure.what, figure.published);
  for (const std::size_t length : lengths(figure.number))
    for (std::uint64_t ranks = from; ranks <= to; ranks *= 2) {
      if (ranks * length * sizeof(double) > kMostBytes) {
        document["left_out"].push_back({{"ranks", ranks}, {"length", length}});
        if (!wanted.json)
          std::printf("%8llu %6zu  left out: more than 4 GiB of traces\n",
                      static_cast<unsigned long long>(ranks), length);
        continue;
      }
      const Row row = run(figure, static_cast<std::uint32_t>(ranks), length, wanted);
      if (wanted.json)
        document["rows"].push_back(json_row(row));
      else
        print_row(row);
    }
  if (wanted.json) print_json(document);
  return kExitOk;
}

}  // namespace simulate_capek_verb

int simulate_capek_cost(const CapekSimulation& wanted) {
  using namespace simulate_capek_verb;
  for (const Figure& figure : kFigures)
    if (figure.number == wanted.figure) return run_figure(figure, wanted);
  return fail("simulate", "--figure takes 4 to 9", kExitUsage);
}

}  // namespace chameleon::tools
