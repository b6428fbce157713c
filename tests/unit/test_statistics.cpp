// SPDX-License-Identifier: BSD-3-Clause
/// Methods of the papers against their worked examples.

#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "statistics/affinity.h"
#include "statistics/divergence.h"
#include "statistics/linkage.h"
#include "statistics/outliers.h"
#include "statistics/partition.h"
#include "statistics/sampling.h"
#include "statistics/wavelet.h"
#include "unit/catch.h"

using namespace chameleon;
using namespace chameleon::statistics;
using Json = nlohmann::json;

namespace {

const Json& vectors() {
  static const Json document = Json::parse(std::ifstream(CHAMELEON_STATISTICS_VECTORS));
  return document;
}

/// Half a unit of the last digit that is given.
Approx digits(double expected, int places) {
  return Approx(expected).margin(0.501 * std::pow(10, -places)).epsilon(0);
}

std::vector<double> numbers(const Json& list) { return list.get<std::vector<double>>(); }

void check_numbers(const std::vector<double>& found, const Json& expected, int places) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    CAPTURE(i);
    CHECK(found[i] == digits(expected[i].get<double>(), places));
  }
}

}  // namespace

TEST_CASE("segmentation by divergence: Table 5, by the equations and as published") {
  const Json& table = vectors()["table5"];
  const auto symbols = table["sequence"].get<std::vector<std::uint32_t>>();
  const std::string form = GENERATE("equations", "published");
  const bool published = form == "published";
  const Criterion criterion = GENERATE(Criterion::kAic, Criterion::kBic);
  SegmentationOptions options;
  options.criterion = criterion;
  options.published = published;
  options.depth = 2;
  const Segmentation found = segment(symbols, options);
  const Json& rows = table[form];
  REQUIRE(found.splits.size() == rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CAPTURE(form, i);
    const Split& split = found.splits[i];
    CHECK(split.first + 1 == rows[i]["from"]);
    CHECK(split.last == rows[i]["to"]);
    CHECK(split.depth == rows[i]["depth"]);
    CHECK(split.at == rows[i]["split_after"]);
    CHECK(split.divergence == digits(rows[i]["D"], 6));
    CHECK(split.parameters == rows[i]["K"]);
    CHECK(split.strength == digits(rows[i][criterion == Criterion::kAic ? "s_aic" : "s_bic"], 6));
    CHECK(split.made == rows[i]["split"]);
    CHECK(split.tie_first <= split.at);
    CHECK(split.tie_last >= split.at);
  }
  CHECK(found.boundaries == std::vector<std::size_t>{0, 3});
  check_numbers(divergence_curve(symbols, published), table["curve"][form], 4);
  if (published) {
    const Json& printed = table["printed"];
    CHECK(divergence_curve(symbols, true)[2] == digits(printed["S0"]["D"], 2));
  }
}

TEST_CASE("criteria: what a parameter costs") {
  // Twice the gain over the cost, less one.
  constexpr double kGain = 10, kK = 2;
  constexpr std::size_t kN = 100;
  const double n = kN;
  CHECK(strength(Criterion::kAic, kGain / n, kK, kN) == Approx(kGain / kK - 1));
  CHECK(strength(Criterion::kBic, kGain / n, kK, kN) == Approx(kGain / std::log(n) - 1));
  CHECK(strength(Criterion::kHqc, kGain / n, kK, kN) ==
        Approx(kGain / (2 * std::log(std::log(n))) - 1));
  CHECK(strength(Criterion::kAicc, kGain / n, kK, kN) == Approx(20 / (4 + 12 / 97.0) - 1));
  CHECK(strength(Criterion::kCaic, kGain / n, kK, kN) == Approx(kGain / (std::log(n) + 1) - 1));
  // Where a criterion has no value nothing is split.
  CHECK(strength(Criterion::kAicc, 1, 2, 3) == -1);
  CHECK(strength(Criterion::kHqc, 1, 2, 2) == -1);
  for (const char* name : {"aic", "bic", "hqc", "aicc", "caic"}) {
    Criterion criterion{};
    REQUIRE(criterion_of(name, criterion));
    CHECK(std::string(criterion_name(criterion)) == name);
  }
  Criterion criterion{};
  CHECK_FALSE(criterion_of("none", criterion));
}

TEST_CASE("segmentation: depth, length and strength end it; the first of equal places is taken") {
  std::vector<std::uint32_t> symbols;
  for (const std::uint32_t symbol : {0U, 1U, 2U, 3U, 4U, 5U, 6U, 7U})
    symbols.insert(symbols.end(), 1000, symbol);
  SegmentationOptions options;
  CHECK(segment(symbols, options).boundaries ==
        std::vector<std::size_t>{0, 1000, 2000, 3000, 4000, 5000, 6000, 7000});
  options.depth = 1;
  CHECK(segment(symbols, options).boundaries == std::vector<std::size_t>{0, 4000});
  options.depth = 3;
  options.length = 2000;
  CHECK(segment(symbols, options).boundaries == std::vector<std::size_t>{0, 2000, 4000, 6000});
  options.length = 0;
  options.strength = 1e9;
  CHECK(segment(symbols, options).boundaries == std::vector<std::size_t>{0});
  CHECK(segment(std::vector<std::uint32_t>{}, options).boundaries.empty());
  CHECK(segment(std::vector<std::uint32_t>{7}, options).boundaries == std::vector<std::size_t>{0});
  CHECK(segment(std::vector<std::uint32_t>(50, 3), {}).splits.front().at == 1);
}

TEST_CASE("modified z-scores: Table 7, by the equations and as published") {
  for (const auto& [name, table] : vectors()["table7"].items()) {
    const std::vector<double> values = numbers(table["x"]);
    for (const bool published : {false, true}) {
      CAPTURE(name, published);
      const Json& expected = table[published ? "published" : "equations"];
      const ModifiedScores found = modified_scores(values, published);
      CHECK(found.median == expected["median"].get<double>());
      CHECK(found.mad == expected["mad"].get<double>());
      check_numbers(found.scores, expected["M"], 12);
    }
  }
}

TEST_CASE("only what is too large is an outlier, in groups that can be judged") {
  CHECK(high_outliers(std::vector<double>{1, 1, 2, 3, 2, 8}) == std::vector<std::size_t>{5});
  // 3.3725, but 5.396 with the published median.
  CHECK(high_outliers(std::vector<double>{3, 3, 4, 5, 6, 12}).empty());
  CHECK(high_outliers(std::vector<double>{3, 3, 4, 5, 6, 12}, 3.5, true) ==
        std::vector<std::size_t>{5});
  CHECK(high_outliers(std::vector<double>{10, 11, 12, 13, -100}).empty());
  CHECK(high_outliers(std::vector<double>{1, 1, 100}).empty());
  // MAD 0: by the mean deviation.
  const std::vector<double> mostly = {5, 5, 5, 5, 5, 5, 5, 5, 5, 25};
  CHECK(modified_scores(mostly).scores.back() == Approx(20 / (1.253314 * 2)));
  CHECK(high_outliers(mostly) == std::vector<std::size_t>{9});
  CHECK(modified_scores(std::vector<double>{4, 4, 4, 4}).scores == std::vector<double>{0, 0, 0, 0});
  CHECK(high_outliers(std::vector<double>{5, 5, 5, 5.1}, 3.5, true) == std::vector<std::size_t>{3});
}

TEST_CASE("weights of the analytic hierarchy process: Tables 8 and 9, Fig. 8") {
  const std::vector<double> severity = numbers(vectors()["table8"]["severity"]);
  const std::vector<double> complexity = numbers(vectors()["table9"]["complexity"]);
  for (const auto& [name, values] :
       std::map<std::string, std::vector<double>>{{"table8", severity}, {"table9", complexity}}) {
    CAPTURE(name);
    const Json& expected = vectors()[name];
    const RatioMatrix matrix = ratio_matrix(values);
    for (std::size_t i = 0; i < values.size(); ++i)
      check_numbers(matrix.ratios[i], expected["matrix"][i], 12);
    check_numbers(matrix.column_sums, expected["column_sums"], 12);
    check_numbers(matrix.weights, expected["weights"], 12);
    check_numbers(importance_weights(values), expected["weights"], 12);
  }
  const std::vector<double> by_severity = importance_weights(severity);
  const std::vector<double> by_complexity = importance_weights(complexity);
  for (std::size_t i = 0; i < 3; ++i) {
    const Json& expected = vectors()["figure8"][i];
    const double angle = affinity_angle(by_severity[i], by_complexity[i]);
    CHECK(angle == digits(expected["angle"], 2));
    CHECK(affinity_name(affinity_of(angle)) == expected["affinity"].get<std::string>());
  }
  CHECK(importance_weights(std::vector<double>{0, 0}) == std::vector<double>{0, 0});
}

TEST_CASE("affinity: Tables 11, 14, 16, 18 and 21") {
  std::size_t rows = 0;
  for (const auto& [name, table] : vectors()["affinity_tables"].items()) {
    std::vector<double> severity, complexity;
    for (const Json& row : table) {
      severity.push_back(row["duration"].get<double>() / row["bytes"].get<double>());
      complexity.push_back(row["np"].get<double>() * row["ne"].get<double>());
    }
    const std::vector<double> by_severity = importance_weights(severity);
    const std::vector<double> by_complexity = importance_weights(complexity);
    for (std::size_t i = 0; i < table.size(); ++i, ++rows) {
      CAPTURE(name, i);
      const double angle = affinity_angle(by_severity[i], by_complexity[i]);
      CHECK(angle == digits(table[i]["angle"], 2));
      CHECK(affinity_name(affinity_of(angle)) == table[i]["affinity"].get<std::string>());
    }
  }
  CHECK(rows == 39);
}

TEST_CASE("single linkage: the example of three pairs") {
  const Json& example = vectors()["aguilera"];
  std::vector<PairDistance> pairs;
  for (const auto& [name, time] : example["T"].items())
    pairs.push_back({static_cast<std::uint32_t>(name[0] - '0'),
                     static_cast<std::uint32_t>(name[2] - '0'), 1 / time.get<double>()});
  const Linkage linkage = GENERATE(Linkage::kSingle, Linkage::kComplete, Linkage::kAverage);
  const std::vector<Merge> merges = hierarchy(4, pairs, linkage);
  const Json& expected = example["merges"];
  REQUIRE(merges.size() == 3);
  std::vector<std::vector<std::uint32_t>> clusters = {{0}, {1}, {2}, {3}};
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(clusters[merges[i].a] == expected[i][0].get<std::vector<std::uint32_t>>());
    CHECK(clusters[merges[i].b] == expected[i][1].get<std::vector<std::uint32_t>>());
    // Pairs that do not communicate are infinitely far apart for the other linkages.
    if (linkage == Linkage::kSingle || i < 2)
      CHECK(merges[i].height == expected[i][2].get<double>());
    else
      CHECK(std::isinf(merges[i].height));
    clusters.push_back(clusters[merges[i].a]);
    for (const std::uint32_t item : clusters[merges[i].b]) clusters.back().push_back(item);
    CHECK(merges[i].size == clusters.back().size());
  }
  CHECK(leaf_order(4, merges) == std::vector<std::uint32_t>{0, 1, 2, 3});
  CHECK(cut_tree(4, merges, 2) == std::vector<std::uint32_t>{0, 0, 1, 1});
  CHECK(cut_tree(4, merges, 4) == std::vector<std::uint32_t>{0, 1, 2, 3});
  CHECK(cut_tree(4, merges, 1) == std::vector<std::uint32_t>{0, 0, 0, 0});
}

namespace {

/// Joins the two nearest clusters again and again: the definition.
std::vector<double> heights_by_definition(
    std::uint32_t items, const std::map<std::pair<std::uint32_t, std::uint32_t>, double>& distances,
    Linkage linkage) {
  std::vector<std::vector<std::uint32_t>> clusters;
  for (std::uint32_t item = 0; item < items; ++item) clusters.push_back({item});
  const auto between = [&](const auto& a, const auto& b) {
    double least = std::numeric_limits<double>::infinity(), most = 0, sum = 0;
    for (const std::uint32_t i : a)
      for (const std::uint32_t j : b) {
        const double d = distances.at({std::min(i, j), std::max(i, j)});
        least = std::min(least, d);
        most = std::max(most, d);
        sum += d;
      }
    const double mean = sum / static_cast<double>(a.size() * b.size());
    return linkage == Linkage::kSingle ? least : linkage == Linkage::kComplete ? most : mean;
  };
  std::vector<double> heights;
  while (clusters.size() > 1) {
    std::size_t at = 0, to = 1;
    for (std::size_t a = 0; a < clusters.size(); ++a)
      for (std::size_t b = a + 1; b < clusters.size(); ++b)
        if (between(clusters[a], clusters[b]) < between(clusters[at], clusters[to])) at = a, to = b;
    heights.push_back(between(clusters[at], clusters[to]));
    clusters[at].insert(clusters[at].end(), clusters[to].begin(), clusters[to].end());
    clusters.erase(clusters.begin() + static_cast<std::ptrdiff_t>(to));
  }
  return heights;
}

}  // namespace

TEST_CASE("linkage agrees with its definition on random distances") {
  const Linkage linkage = GENERATE(Linkage::kSingle, Linkage::kComplete, Linkage::kAverage);
  const unsigned seed = GENERATE(range(1U, 21U));
  CAPTURE(linkage_name(linkage), seed);
  std::mt19937 random(seed);
  const std::uint32_t items = 2 + random() % 14;
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> distances;
  std::vector<PairDistance> pairs;
  for (std::uint32_t a = 0; a < items; ++a)
    for (std::uint32_t b = a + 1; b < items; ++b) {
      const double distance = std::uniform_real_distribution<>(1, 2)(random);
      distances[{a, b}] = distance;
      pairs.push_back({b, a, distance});
    }
  std::shuffle(pairs.begin(), pairs.end(), random);
  const std::vector<Merge> merges = hierarchy(items, pairs, linkage);
  const std::vector<double> expected = heights_by_definition(items, distances, linkage);
  REQUIRE(merges.size() == expected.size());
  for (std::size_t i = 0; i < merges.size(); ++i) CHECK(merges[i].height == Approx(expected[i]));
  std::vector<std::uint32_t> order = leaf_order(items, merges);
  std::sort(order.begin(), order.end());
  for (std::uint32_t item = 0; item < items; ++item) CHECK(order[item] == item);
}

TEST_CASE("items without pairs merge last; the natural cut is at the largest step") {
  const std::vector<PairDistance> pairs = {{0, 1, 1}, {2, 3, 1.1}, {1, 2, 10}, {3, 4, 11}};
  const std::vector<Merge> merges = hierarchy(6, pairs, Linkage::kSingle);
  REQUIRE(merges.size() == 5);
  CHECK(merges[3].height == 11);
  CHECK(std::isinf(merges[4].height));
  // Infinitely far apart is the largest step of all.
  CHECK(natural_clusters(6, merges) == 2);
  CHECK(natural_clusters(5, hierarchy(5, pairs, Linkage::kSingle)) == 3);
  CHECK(natural_clusters(1, {}) == 1);
  CHECK(hierarchy(1, {}, Linkage::kSingle).empty());
  CHECK(leaf_order(1, {}) == std::vector<std::uint32_t>{0});
  for (const char* name : {"single", "complete", "average"}) {
    Linkage linkage{};
    REQUIRE(linkage_of(name, linkage));
    CHECK(std::string(linkage_name(linkage)) == name);
  }
}

TEST_CASE("the Bayesian criterion of a clustering") {
  const Json& example = vectors()["capek"]["bic"];
  const bool published = GENERATE(false, true);
  const std::vector<std::uint64_t> two = {2, 2}, one = {4}, four = {1, 1, 1, 1};
  CHECK(bayesian_criterion(two, example["k2"]["sum_d2"], example["M"], published) ==
        digits(example["k2"]["bic"], 6));
  CHECK(bayesian_criterion(one, example["k1"]["sum_d2"], example["M"], published) ==
        digits(example["k1"]["bic"], 6));
  CHECK(std::isinf(bayesian_criterion(four, 0, 1, published)));
  CHECK(std::isinf(bayesian_criterion(two, 0, 1, published)));
  // The printed form: a dimension counts in the logarithm of the variance, here ln 2, and in p = 6.
  if (published)
    CHECK(bayesian_criterion(two, 4, 2, true) ==
          Approx(-2 * std::log(2 * 3.14159265358979) - 1 - 14 * std::log(2.0)));
  // Copies of a dimension weigh as much as the first, but for the parameters.
  if (!published) {
    const double once = bayesian_criterion(two, 2, 1), twice = bayesian_criterion(two, 4, 2);
    const double shares = 4 * std::log(0.5), parameters = std::log(4.0) / 2;
    CHECK(twice - shares + 6 * parameters == Approx(2 * (once - shares + 4 * parameters)));
  }
}

TEST_CASE("Mirkin's distance of two partitions") {
  const Json& example = vectors()["capek"]["mirkin"];
  const auto labels = [](const Json& clusters) {
    std::vector<std::uint32_t> label(8);
    for (std::uint32_t i = 0; i < clusters.size(); ++i)
      for (const std::uint32_t item : clusters[i]) label[item] = i;
    return label;
  };
  const std::vector<std::uint32_t> a = labels(example["C"]), b = labels(example["C'"]);
  CHECK(mirkin_distance(a, b) == example["normalized"].get<double>());
  CHECK(mirkin_distance(b, a) == example["normalized"].get<double>());
  CHECK(mirkin_distance(a, a) == 0);
}

TEST_CASE("the low band of the CDF 9/7 transform") {
  const Json& example = vectors()["capek"]["cdf97"];
  std::vector<double> impulse(8);
  impulse[0] = 1;
  transform_level(impulse);
  check_numbers(impulse, example["impulse 8, one level"], 6);
  const std::vector<double> low = low_band(std::vector<double>(64, 8.0), 2);
  REQUIRE(low.size() == 16);
  for (const double value : low) CHECK(value == digits(16, 9));
  std::vector<double> constant(64, 8.0);
  transform_level(constant);
  for (std::size_t i = 32; i < 64; ++i) CHECK(constant[i] == digits(0, 9));
  std::vector<double> ramp;
  for (int i = 0; i < 64; ++i) ramp.push_back(i);
  const std::vector<double> band = low_band(ramp, 2);
  REQUIRE(band.size() == 16);
  check_numbers({band.begin(), band.begin() + 4}, example["ramp 0..63, two levels, first 4 of 16"],
                6);
  check_numbers({band.end() - 4, band.end()}, example["last 4"], 6);
  CHECK(low_band(std::vector<double>(5), 1).empty());
}

TEST_CASE("sample sizes: Eq. 1, and when strata pay") {
  const Json& example = vectors()["capek"]["sample_size"];
  CHECK(normal_deviations(0.95) == digits(example["z"], 6));
  const double relative = example["relative_error"];
  for (const auto& [population, rows] : example.items()) {
    if (population.substr(0, 2) != "P=") continue;
    for (const auto& [name, expected] : rows.items()) {
      const double variation = std::stod(name.substr(3));
      CAPTURE(population, name);
      const double size = std::stod(population.substr(2));
      CHECK(exact_sample_size(size, variation, relative, 0.95) == digits(expected, 2));
    }
  }
  CHECK(sample_size(4096, 0.1, 0.05, 0.95) == 16);
  CHECK(sample_size(4096, 0, 0.05, 0.95) == 1);
  CHECK(sample_size(10, 1e9, 0.05, 0.95) == 10);
  CHECK(sample_size(0, 1, 0.05, 0.95) == 0);
  CHECK(stratifying_pays(std::vector<Stratum>{{500, 1, 0.1}, {500, 5, 0.1}}));
  CHECK_FALSE(stratifying_pays(std::vector<Stratum>{{2, 1, 3}, {2, 1.1, 3}}));
}

TEST_CASE("Neyman's allocation: one bound on the mean of all") {
  // V = (0.5 / z)^2 = 0.065077; n = 2^2 / (V + 0.025) = 44.41, a quarter and three quarters of it.
  CHECK(neyman_samples(std::vector<Stratum>{{100, 10, 1}, {100, 10, 3}}, 0.05, 0.95) ==
        std::vector<std::uint64_t>{12, 34});
  // The second would need more than it has: it is measured whole.
  const std::vector<Stratum> strata = {{1000, 10, 1}, {10, 1000, 500}, {5, 3, 0}};
  const auto samples = neyman_samples(strata, 0.01, 0.95);
  CHECK(samples[1] == 10);
  CHECK(samples[2] == 1);
  double total = 0, population = 0, variance = 0, fewer = 0;
  for (const Stratum& stratum : strata) total += stratum.size * stratum.mean;
  for (const Stratum& stratum : strata) population += stratum.size;
  const auto part = [&](const Stratum& stratum, double n) {
    const double weight = stratum.size / population;
    return weight * weight * stratum.deviation * stratum.deviation * (1 / n - 1 / stratum.size);
  };
  for (std::size_t i = 0; i < strata.size(); ++i) {
    variance += part(strata[i], static_cast<double>(samples[i]));
    fewer += part(strata[i], static_cast<double>(samples[i]) - (i == 0 ? 1 : 0));
  }
  const double allowed = 0.01 * total / population / normal_deviations(0.95);
  CHECK(variance <= allowed * allowed);
  CHECK(fewer > allowed * allowed);
  CHECK(neyman_samples(std::vector<Stratum>{{100, 10, 0}, {0, 0, 0}}, 0.05, 0.95) ==
        std::vector<std::uint64_t>{1, 0});
  CHECK(stratum_sample({4096, 5, 0.5}, 0.05, 0.95) == 16);
}

TEST_CASE("an effort signature has 16 values, or as few as halving gives") {
  CHECK(effort_signature(std::vector<double>(64, 8.0)).size() == 16);
  CHECK(effort_signature(std::vector<double>(64, 8.0), 8).size() == 8);
  CHECK(effort_signature(std::vector<double>(40, 8.0)).size() == 20);
  CHECK(effort_signature(std::vector<double>(5, 8.0)) == std::vector<double>(5, 8.0));
  CHECK(effort_signature(std::vector<double>()).empty());
}
