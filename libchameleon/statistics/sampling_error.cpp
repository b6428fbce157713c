// SPDX-License-Identifier: BSD-3-Clause
#include "statistics/sampling_error.h"

#include <algorithm>
#include <cmath>

#include "statistics/sampling.h"

namespace chameleon::statistics {
namespace {

/// What chance may add to the error, over strata.
struct Chance {
  double variance = 0;  ///< of the estimate
  double terms = 0;     ///< sum of the variances of what is added up, each drawn from all others
  double largest = 0;   ///< no term is farther from its mean
  double range = 0;     ///< the error is never greater

  double bound(double confidence) const {
    const double chebyshev = std::sqrt(variance / (1 - confidence));
    const double log = std::log(2 / (1 - confidence));
    const double bernstein = std::sqrt(2 * terms * log) + largest * log / 3;
    return std::min({range, chebyshev, bernstein});
  }
};

/// Of the members that were not chosen beforehand.
void add_chance(Chance& chance, const SampledStratum& stratum, double population) {
  const double others = stratum.size - 1, drawn = stratum.sampled - 1, left = others - drawn;
  const double off = stratum.chosen - stratum.mean;
  const double mean = stratum.mean - off / others;
  const double squares =
      stratum.size * (stratum.deviation * stratum.deviation - off * off / others);
  const double variance = std::max(0.0, squares) / others;
  const double farthest = std::max({0.0, stratum.most - mean, mean - stratum.least});
  // The mean of all is a sum of terms: those drawn, or those left with the other sign.
  const double factor = others / (population * drawn);
  chance.variance += factor * factor * drawn * variance * left / (others - 1);
  chance.terms += factor * factor * std::min(drawn, left) * variance;
  chance.largest = std::max(chance.largest, factor * farthest);
  const double range = std::min(farthest, left / others * (stratum.most - stratum.least));
  chance.range += others / population * range;
}

using Sizes = std::vector<std::uint64_t>;

/// Whether samples of these sizes are enough.
class Enough {
 public:
  Enough(std::span<const SampledStratum> strata, double relative_error, double confidence)
      : strata_(strata.begin(), strata.end()), confidence_(confidence) {
    double population = 0, total = 0;
    for (const SampledStratum& stratum : strata) {
      population += stratum.size;
      total += stratum.size * stratum.mean;
    }
    if (population > 0) error_ = relative_error * std::abs(total / population);
  }

  bool operator()(const Sizes& sizes) {
    for (std::size_t i = 0; i < sizes.size(); ++i)
      strata_[i].sampled = static_cast<double>(sizes[i]);
    return error_bound(strata_, confidence_) <= error_;
  }

 private:
  std::vector<SampledStratum> strata_;
  double confidence_, error_ = 0;
};

/// The least of the sizes from `least` to `sizes[i]` that is enough, the others as they are.
void shrink(Sizes& sizes, std::size_t i, std::uint64_t least, Enough& enough) {
  std::uint64_t most = sizes[i];
  while (least < most) {
    sizes[i] = least + (most - least) / 2;
    if (enough(sizes))
      most = sizes[i];
    else
      least = sizes[i] + 1;
  }
  sizes[i] = most;
}

}  // namespace

double stratum_estimate(const SampledStratum& stratum, double sum_of_others) {
  if (stratum.sampled < 2) return stratum.chosen;
  const double others = (stratum.size - 1) * sum_of_others / (stratum.sampled - 1);
  return (stratum.chosen + others) / stratum.size;
}

double error_bound(std::span<const SampledStratum> strata, double confidence) {
  double population = 0, known = 0;
  for (const SampledStratum& stratum : strata) population += stratum.size;
  Chance chance;
  for (const SampledStratum& stratum : strata) {
    if (stratum.sampled >= stratum.size) continue;
    if (stratum.sampled < 2)
      known += stratum.size / population * (stratum.chosen - stratum.mean);
    else
      add_chance(chance, stratum, population);
  }
  return std::abs(known) + chance.bound(confidence);
}

std::vector<std::uint64_t> bounded_samples(std::span<const SampledStratum> strata,
                                           double relative_error, double confidence) {
  std::vector<Stratum> spread;
  for (const SampledStratum& one : strata)
    spread.push_back(sample_stratum({one.size, one.mean, one.deviation}));
  Enough enough(strata, relative_error, confidence);
  const Sizes least = neyman_samples(spread, relative_error, confidence);
  if (enough(least)) return least;
  // Where the error goes to 0 all are measured.
  double fails = 1, holds = 0;
  Sizes sizes;
  for (const SampledStratum& stratum : strata)
    sizes.push_back(static_cast<std::uint64_t>(stratum.size));
  for (int i = 0; i < 12; ++i) {
    const double part = (fails + holds) / 2;
    Sizes tried = neyman_samples(spread, part * relative_error, confidence);
    if (enough(tried)) {
      holds = part;
      sizes = std::move(tried);
    } else {
      fails = part;
    }
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) shrink(sizes, i, least[i], enough);
  return sizes;
}

}  // namespace chameleon::statistics
