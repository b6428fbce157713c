// SPDX-License-Identifier: BSD-3-Clause
/// Figure 9 and Table 1 of Gamblin et al. 2010: how good clusters are, and what they save.

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
  explicit Reference(const std::vector<Series>& traces)
      : traces_(traces), distances_(traces.size(), [&](std::size_t i, std::size_t j) {
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
    found.criterion = bayesian_criterion(sizes, squares, static_cast<double>(kLength));
    return found;
  }

 private:
  const std::vector<Series>& traces_;
  Dissimilarities distances_;
};

struct Row {
  std::uint32_t ranks = 0;
  unsigned level = 0;
  std::vector<double> distances;  ///< Mirkin's, by column
  double chosen = 0;              ///< where both choose k by BIC
  std::size_t k_of_capek = 0, k_of_pam = 0;
};

template <class Criterion>
Capek<VirtualWorld, Series> cluster_signatures(std::vector<Series> signatures,
                                               const TrialOptions& options,
                                               const Criterion& criterion) {
  VirtualWorld world(static_cast<std::uint32_t>(signatures.size()));
  return capek<VirtualWorld, Series>(world, signatures, options, series_distance, criterion);
}

std::vector<Row> compare(std::uint32_t ranks, std::uint64_t seed) {
  std::vector<Series> traces;
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    traces.push_back(synthetic_trace(rank, kLength));
  const Reference reference(traces);
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
    TrialOptions options;
    options.seed = seed;
    for (const std::uint32_t k : kColumns) {
      options.first_k = options.last_k = k;
      const auto found = cluster_signatures(signatures, options, LeastDissimilarity());
      row.distances.push_back(mirkin_distance(found.clusters, by_k[k - 1].labels));
    }
    options.first_k = 1;
    options.last_k = kMostClusters;
    const Bayesian criterion{static_cast<double>(kLength >> level)};
    const auto found = cluster_signatures(signatures, options, criterion);
    row.chosen = mirkin_distance(found.clusters, by_k[best].labels);
    row.k_of_capek = found.all.medoids.size();
    row.k_of_pam = best + 1;
  }
  return rows;
}

Json json_row(const Row& row) {
  Json distances = Json::object();
  for (std::size_t i = 0; i < row.distances.size(); ++i)
    distances["k" + std::to_string(kColumns[i])] = row.distances[i];
  distances["bic"] = row.chosen;
  return {{"ranks", row.ranks},
          {"level", row.level},
          {"mirkin", distances},
          {"k_of_capek", row.k_of_capek},
          {"k_of_pam", row.k_of_pam}};
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
  if (to < from) return fail("simulate", "--to is below --from", kExitUsage);
  if (to > 8192) return fail("simulate", "figure 9 takes up to 8192 ranks", kExitUsage);
  auto document = json_document("simulate");
  document["behaviour"] = "capek";
  document["figure"] = 9;
  document["rows"] = Json::array();
  if (!wanted.json)
    std::printf(
        "figure 9: Mirkin's distance between CAPEK on signatures (levels of the transform; 0: "
        "whole\n"
        "traces) and PAM on whole traces; and where each chooses k by BIC\n"
        "published, level 0: k 2 and 6: 0, 4: at most .03, 8: about .05, 10: about .07, BIC: "
        "about\n"
        ".10 from 1,024 ranks on; levels 1 to 4: k 4: .22, others below .07\n"
        "   ranks level     k 2     k 4     k 6     k 8    k 10     BIC  k of CAPEK  of PAM\n");
  for (std::uint64_t ranks = from; ranks <= to; ranks *= 2)
    for (const Row& row : compare(static_cast<std::uint32_t>(ranks), wanted.seed)) {
      if (wanted.json) {
        document["rows"].push_back(json_row(row));
        continue;
      }
      std::printf("%8u %5u", row.ranks, row.level);
      for (const double distance : row.distances) std::printf("  %6.4f", distance);
      std::printf("  %6.4f  %10zu  %6zu\n", row.chosen, row.k_of_capek, row.k_of_pam);
      std::fflush(stdout);
    }
  if (wanted.json) print_json(document);
  return kExitOk;
}

int simulate_effort(const CapekSimulation& wanted) {
  using namespace simulate_strata_verb;
  const std::uint32_t from = wanted.from != 0 ? wanted.from : 256;
  const std::uint32_t to = wanted.to != 0 ? wanted.to : 4096;
  if (to < from) return fail("simulate", "--to is below --from", kExitUsage);
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
