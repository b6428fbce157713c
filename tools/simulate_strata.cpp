// SPDX-License-Identifier: BSD-3-Clause
/// Figure 9 and Table 1 of Gamblin et al. 2010: how good clusters are, and what they save.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cluster/capek.h"
#include "common.h"
#include "effort_behaviours.h"
#include "simulate_capek.h"
#include "statistics/partition.h"
#include "statistics/sampling.h"
#include "statistics/wavelet.h"
#include "world/virtual_world.h"

namespace chameleon::tools {
namespace simulate_strata_verb {

using Json = nlohmann::ordered_json;
using Labels = std::vector<std::uint32_t>;

constexpr std::size_t kLength = 64;
constexpr std::uint32_t kColumns[] = {2, 4, 6, 8, 10};
constexpr std::uint32_t kMostClusters = 10;

/// PAM on the whole traces of all ranks: what CAPEK is held against.
class Reference {
 public:
  Reference(const std::vector<Series>& traces, bool published)
      : traces_(traces),
        published_(published),
        distances_(traces.size(), [&](std::size_t i, std::size_t j) {
          return series_distance(traces[i], traces[j]);
        }) {}

  struct Clusters {
    Labels labels;
    double criterion = 0;
  };
  Clusters pam(std::uint32_t k) const {
    const std::vector<double> weights(traces_.size(), 1.0);
    const auto medoids = k_medoid(distances_, weights, k);
    const auto of = nearest(distances_, medoids);
    Clusters found;
    std::vector<std::uint64_t> sizes(traces_.size());
    double squares = 0;
    for (std::size_t i = 0; i < of.size(); ++i) {
      found.labels.push_back(static_cast<std::uint32_t>(of[i]));
      ++sizes[of[i]];
      squares += distances_(i, of[i]) * distances_(i, of[i]);
    }
    std::erase(sizes, 0);
    found.criterion = bayesian_criterion(sizes, squares, static_cast<double>(kLength), published_);
    return found;
  }

 private:
  const std::vector<Series>& traces_;
  bool published_;
  Dissimilarities distances_;
};

/// Mirkin's distances over seeds, ascending.
struct Column {
  std::vector<double> distances;

  void add(double distance) {
    distances.insert(std::upper_bound(distances.begin(), distances.end(), distance), distance);
  }
  double median() const {
    const std::size_t count = distances.size();
    return (distances[(count - 1) / 2] + distances[count / 2]) / 2;
  }
};

struct Row {
  std::uint32_t ranks = 0;
  unsigned level = 0;
  std::array<Column, std::size(kColumns)> fixed;  ///< one for each k
  Column chosen;                                  ///< where both choose k by BIC
  std::size_t least_k = 0, most_k = 0;            ///< that CAPEK chose
  std::size_t k_of_pam = 0;
};

template <class Criterion>
Capek<VirtualWorld, Series> cluster_signatures(std::vector<Series> signatures,
                                               const TrialOptions& options,
                                               const Criterion& criterion) {
  VirtualWorld world(static_cast<std::uint32_t>(signatures.size()));
  return capek<VirtualWorld, Series>(world, signatures, options, series_distance, criterion);
}

/// One more seed.
void add_seed(Row& row, const std::vector<Series>& signatures,
              const std::vector<Reference::Clusters>& by_k, std::uint64_t seed, bool published) {
  TrialOptions options;
  options.seed = seed;
  for (std::size_t i = 0; i < row.fixed.size(); ++i) {
    options.first_k = options.last_k = kColumns[i];
    const auto found = cluster_signatures(signatures, options, LeastDissimilarity());
    row.fixed[i].add(mirkin_distance(found.clusters, by_k[kColumns[i] - 1].labels));
  }
  options.first_k = 1;
  options.last_k = kMostClusters;
  const Bayesian criterion{static_cast<double>(kLength >> row.level), published};
  const auto found = cluster_signatures(signatures, options, criterion);
  row.chosen.add(mirkin_distance(found.clusters, by_k[row.k_of_pam - 1].labels));
  const std::size_t k = found.all.medoids.size();
  row.least_k = row.most_k == 0 ? k : std::min(row.least_k, k);
  row.most_k = std::max(row.most_k, k);
}

std::vector<Row> compare(std::uint32_t ranks, const CapekSimulation& wanted) {
  std::vector<Series> traces;
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    traces.push_back(synthetic_trace(rank, kLength));
  const Reference reference(traces, wanted.published);
  std::vector<Reference::Clusters> by_k;
  std::size_t best = 0;
  for (std::uint32_t k = 1; k <= kMostClusters; ++k) {
    by_k.push_back(reference.pam(k));
    if (by_k.back().criterion > by_k[best].criterion) best = k - 1;
  }
  std::vector<Row> rows;
  for (unsigned level = 0; level <= 4; ++level) {
    std::vector<Series> signatures;
    for (const Series& trace : traces) signatures.push_back(low_band(trace, level));
    Row& row = rows.emplace_back();
    row.ranks = ranks;
    row.level = level;
    row.k_of_pam = best + 1;
    for (std::uint64_t i = 0; i < wanted.seeds; ++i)
      add_seed(row, signatures, by_k, wanted.seed + i, wanted.published);
  }
  return rows;
}

Json json_row(const Row& row) {
  Json median = Json::object(), least = median, most = median;
  const auto add = [&](const std::string& name, const Column& column) {
    median[name] = column.median();
    least[name] = column.distances.front();
    most[name] = column.distances.back();
  };
  for (std::size_t i = 0; i < row.fixed.size(); ++i)
    add("k" + std::to_string(kColumns[i]), row.fixed[i]);
  add("bic", row.chosen);
  return {{"ranks", row.ranks},    {"level", row.level},      {"mirkin", median},
          {"mirkin_least", least}, {"mirkin_most", most},     {"k_of_capek", row.least_k},
          {"k_most", row.most_k},  {"k_of_pam", row.k_of_pam}};
}

/// What was published of figure 9.
constexpr const char* kPublished9 =
    "level 0: on 64 ranks below .01 for all k; on more, k 2 and 6: 0, 4: at most .03, 8: about "
    ".05 and 10: about .07 from 256 ranks on; BIC: about .10 from 1,024 ranks on. Levels 1 to 4: "
    "k 4: .22, others below .07";

std::string fixed_text(double distance) {
  char text[16];
  std::snprintf(text, sizeof text, "%.4f", distance);
  return text;
}

void print_cell(const Column& column, bool range) {
  std::printf("  %6.4f", column.median());
  if (range)
    std::printf(
        " %-13s",
        (fixed_text(column.distances.front()) + "-" + fixed_text(column.distances.back())).c_str());
}

void print_row(const Row& row, bool range) {
  std::printf("%8u %5u", row.ranks, row.level);
  for (const Column& column : row.fixed) print_cell(column, range);
  print_cell(row.chosen, range);
  std::string k = std::to_string(row.least_k);
  if (row.most_k > row.least_k) k += "-" + std::to_string(row.most_k);
  std::printf("  %10s  %6zu\n", k.c_str(), row.k_of_pam);
  std::fflush(stdout);
}

void print_head(const CapekSimulation& wanted) {
  std::printf(
      "figure 9: Mirkin's distance between CAPEK on signatures (levels of the transform; 0: whole\n"
      "traces) and PAM on whole traces; and where each chooses k by BIC\n"
      "published: %s\n",
      kPublished9);
  if (wanted.seeds > 1)
    std::printf("medians of %u seeds, with the least and the most\n", wanted.seeds);
  std::printf("   ranks level");
  for (const char* column : {"k 2", "k 4", "k 6", "k 8", "k 10", "BIC"})
    std::printf("  %6s%*s", column, wanted.seeds > 1 ? 14 : 0, "");
  std::printf("  k of CAPEK  of PAM\n");
}

// Table 1.

constexpr std::uint32_t kStrata[] = {1, 3, 6, 9};
constexpr const char* kPublished[] = {"P - 1", "5 5 6 6 4", "9 10 10 13 10", "14 14 17 18 13"};
/// In the unit of efforts. A bound that is a share of the mean cannot give the published P - 1: at
/// 5 % it is at most 0.99935 P for any efforts that are not negative.
constexpr double kError = 0.0032, kConfidence = 0.95;

struct Sample {
  std::uint32_t ranks = 0, k = 0;
  std::uint64_t wanted = 0;  ///< Eq. 1, over all strata
  bool pays = false;         ///< Eq. 2
};

std::vector<Stratum> strata_of(const Labels& clusters, std::size_t count,
                               const std::vector<double>& efforts) {
  std::vector<Stratum> strata(count);
  std::vector<double> squares(count);
  for (std::size_t i = 0; i < efforts.size(); ++i) {
    strata[clusters[i]].size += 1;
    strata[clusters[i]].mean += efforts[i];
  }
  for (Stratum& stratum : strata) stratum.mean /= stratum.size;
  for (std::size_t i = 0; i < efforts.size(); ++i)
    squares[clusters[i]] += std::pow(efforts[i] - strata[clusters[i]].mean, 2);
  for (std::size_t i = 0; i < count; ++i)
    strata[i].deviation = std::sqrt(squares[i] / strata[i].size);
  return strata;
}

Sample sample(std::uint32_t ranks, std::uint32_t k, std::uint64_t seed) {
  std::vector<Series> signatures;
  std::vector<double> efforts;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const Series series = stand_in_efforts(rank);
    signatures.push_back(effort_signature(series));
    efforts.push_back(mean_of(series));
  }
  TrialOptions options;
  options.seed = seed;
  options.first_k = options.last_k = k;
  const auto found = cluster_signatures(std::move(signatures), options, LeastDissimilarity());
  const auto strata = strata_of(found.clusters, found.all.medoids.size(), efforts);
  Sample result{ranks, k, 0, stratifying_pays(strata)};
  for (const Stratum& stratum : strata)
    result.wanted += sample_size(static_cast<std::uint64_t>(stratum.size), stratum.deviation,
                                 kError, kConfidence);
  return result;
}

}  // namespace simulate_strata_verb

int simulate_capek_quality(const CapekSimulation& wanted) {
  using namespace simulate_strata_verb;
  const std::uint32_t from = wanted.from != 0 ? wanted.from : 64;
  const std::uint32_t to = wanted.to != 0 ? wanted.to : 1024;
  if (to < from)
    return fail("simulate",
                "--from " + std::to_string(from) + " is above --to " + std::to_string(to),
                kExitUsage);
  if (to > 8192) return fail("simulate", "figure 9 takes up to 8192 ranks", kExitUsage);
  auto document = json_document("simulate");
  document["behaviour"] = "capek";
  document["figure"] = 9;
  document["published"] = kPublished9;
  document["seeds"] = wanted.seeds;
  document["rows"] = Json::array();
  if (!wanted.json) print_head(wanted);
  for (std::uint64_t ranks = from; ranks <= to; ranks *= 2)
    for (const Row& row : compare(static_cast<std::uint32_t>(ranks), wanted))
      if (wanted.json)
        document["rows"].push_back(json_row(row));
      else
        print_row(row, wanted.seeds > 1);
  if (wanted.json) print_json(document);
  return kExitOk;
}

int simulate_effort(const CapekSimulation& wanted) {
  using namespace simulate_strata_verb;
  const std::uint32_t from = wanted.from != 0 ? wanted.from : 256;
  const std::uint32_t to = wanted.to != 0 ? wanted.to : 4096;
  if (to < from)
    return fail("simulate",
                "--from " + std::to_string(from) + " is above --to " + std::to_string(to),
                kExitUsage);
  auto document = json_document("simulate");
  document["behaviour"] = "effort";
  document["table"] = 1;
  document["rows"] = Json::array();
  if (!wanted.json)
    std::printf(
        "table 1: ranks to be measured, on efforts like those of S3D\n"
        "strata   ranks  measured      share  strata pay  published\n");
  for (std::size_t i = 0; i < std::size(kStrata); ++i)
    for (std::uint64_t ranks = from; ranks <= to; ranks *= 2) {
      const Sample row = sample(static_cast<std::uint32_t>(ranks), kStrata[i], wanted.seed);
      const double share = static_cast<double>(row.wanted) / static_cast<double>(row.ranks);
      if (wanted.json)
        document["rows"].push_back({{"strata", row.k},
                                    {"ranks", row.ranks},
                                    {"measured", row.wanted},
                                    {"strata_pay", row.pays},
                                    {"published", kPublished[i]}});
      else
        std::printf("%6u %7u %9llu %10s  %10s  %s\n", row.k, row.ranks,
                    static_cast<unsigned long long>(row.wanted), share_text(share).c_str(),
                    row.pays ? "yes" : "no", ranks == from ? kPublished[i] : "");
    }
  if (wanted.json) print_json(document);
  return kExitOk;
}

}  // namespace chameleon::tools
