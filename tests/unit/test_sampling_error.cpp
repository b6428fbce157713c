// SPDX-License-Identifier: BSD-3-Clause
// Bounds on the error of a stratified mean, against all samples that there can be, and the sizes of
// samples that they ask for.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "statistics/sampling.h"
#include "statistics/sampling_error.h"
#include "unit/catch.h"

using namespace chameleon::statistics;

namespace {

/// Two strata; the first member of each is the chosen one.
using Strata = std::array<std::vector<double>, 2>;

SampledStratum exact(const std::vector<double>& values, std::uint64_t sampled) {
  SampledStratum stratum{static_cast<double>(values.size())};
  for (const double value : values) stratum.mean += value / stratum.size;
  for (const double value : values)
    stratum.deviation += std::pow(value - stratum.mean, 2) / stratum.size;
  stratum.deviation = std::sqrt(stratum.deviation);
  stratum.least = *std::min_element(values.begin(), values.end());
  stratum.most = *std::max_element(values.begin(), values.end());
  stratum.chosen = values.front();
  stratum.sampled = static_cast<double>(sampled);
  return stratum;
}

/// The estimate of a stratum's mean from each sample that there can be.
std::vector<double> estimates(const std::vector<double>& values, const SampledStratum& stratum) {
  std::vector<double> all;
  for (unsigned set = 0; set < 1U << (values.size() - 1); ++set) {
    if (std::popcount(set) + 1 != static_cast<int>(stratum.sampled)) continue;
    double sum = 0;
    for (std::size_t i = 1; i < values.size(); ++i)
      if ((set >> (i - 1) & 1) != 0) sum += values[i];
    all.push_back(stratum_estimate(stratum, sum));
  }
  return all;
}

/// The share of all pairs of samples whose estimate of the mean of all is farther off than that.
double share_beyond(const Strata& strata, const std::array<SampledStratum, 2>& of, double bound) {
  const double population = of[0].size + of[1].size;
  const std::vector<double> others = estimates(strata[1], of[1]);
  double beyond = 0, count = 0, sum = 0;
  for (const double one : estimates(strata[0], of[0]))
    for (const double other : others) {
      const double error =
          (of[0].size * (one - of[0].mean) + of[1].size * (other - of[1].mean)) / population;
      beyond += std::abs(error) > bound * (1 + 1e-9) + 1e-9 ? 1 : 0;
      sum += error;
      ++count;
    }
  // On average the error is what is known of strata of which only the chosen one is measured.
  double known = 0;
  for (const SampledStratum& one : of)
    if (one.sampled == 1) known += one.size * (one.chosen - one.mean) / population;
  CHECK(sum / count == Approx(known).margin(1e-9 * (1 + std::abs(known)) * population));
  return beyond / count;
}

}  // namespace

TEST_CASE("the error of a stratified mean is within its bound as often as said, for all samples") {
  std::mt19937_64 random(5);
  double tightest = 1, most_beyond = 0;
  for (int round = 0; round < 400; ++round) {
    Strata strata;
    for (auto& values : strata) {
      values.resize(2 + random() % 8);
      for (double& value : values)
        value = static_cast<double>(random() % 100) + (random() % 5 == 0 ? 2000 : 0);
      if (round % 3 == 0) std::fill(values.begin() + 1, values.end(), 7.0);  // but one
    }
    const std::array<SampledStratum, 2> of = {exact(strata[0], 1 + random() % strata[0].size()),
                                              exact(strata[1], 1 + random() % strata[1].size())};
    for (const double confidence : {0.5, 0.8, 0.95}) {
      const double bound = error_bound(of, confidence);
      const double beyond = share_beyond(strata, of, bound);
      CHECK(beyond <= 1 - confidence + 1e-12);
      most_beyond = std::max(most_beyond, beyond);
      if (bound > 0 && beyond == 0)
        tightest = std::min(tightest, share_beyond(strata, of, 0.8 * bound) > 0 ? 0.8 : 1);
    }
  }
  CHECK(most_beyond > 0);  // it is no bound of the worst case
  CHECK(tightest < 1);
}

TEST_CASE("samples are as large as the bound on the error wants, and no smaller than by Eq. 1") {
  const auto stratum = [](double size, double mean, double deviation, double range) {
    return SampledStratum{size, mean, deviation, mean - range, mean + range, mean + deviation / 4};
  };
  const std::vector<std::vector<SampledStratum>> cases = {
      {stratum(4096, 10, 1, 4)},
      {stratum(1e6, 10, 1, 5)},
      {stratum(1000, 10, 1, 3), stratum(10, 1000, 500, 900), stratum(5, 3, 0, 0)},
      {stratum(20, 10, 5, 12), stratum(1, 50, 0, 0), stratum(2, 10, 1, 1)}};
  for (std::vector<SampledStratum> strata : cases) {
    std::vector<Stratum> spread;
    double total = 0, population = 0;
    for (const SampledStratum& one : strata) {
      spread.push_back(sample_stratum({one.size, one.mean, one.deviation}));
      total += one.size * one.mean;
      population += one.size;
    }
    const auto sizes = bounded_samples(strata, 0.05, 0.95);
    const auto least = neyman_samples(spread, 0.05, 0.95);
    const double wanted = 0.05 * total / population;
    const auto bound = [&](std::size_t fewer) {
      for (std::size_t i = 0; i < strata.size(); ++i)
        strata[i].sampled = static_cast<double>(sizes[i]) - (i == fewer ? 1 : 0);
      return error_bound(strata, 0.95);
    };
    CHECK(bound(strata.size()) <= wanted);
    for (std::size_t i = 0; i < strata.size(); ++i) {
      CAPTURE(i, sizes[i], least[i]);
      CHECK(sizes[i] >= least[i]);
      CHECK(static_cast<double>(sizes[i]) <= strata[i].size);
      if (sizes[i] > least[i]) CHECK(bound(i) > wanted);
    }
  }
  // What it costs where Eq. 1 wants 16 of many, with a coefficient of variation of 0.1.
  CHECK(bounded_samples(cases[0], 0.05, 0.95).front() == 49);
  CHECK(bounded_samples(cases[1], 0.05, 0.95).front() == 53);
}
