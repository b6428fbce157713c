// SPDX-License-Identifier: BSD-3-Clause
#include "statistics/outliers.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace chameleon::statistics {
namespace {

constexpr double kNormalQuartile = 0.6745;         // of the deviations of a normal distribution
constexpr double kNormalMeanDeviation = 1.253314;  // its standard over its mean deviation

std::vector<double> scores_without_mad(std::span<const double> values, double middle,
                                       bool published) {
  double mean_deviation = 0;
  for (const double x : values) mean_deviation += std::abs(x - middle);
  mean_deviation /= static_cast<double>(std::max<std::size_t>(values.size(), 1));
  std::vector<double> scores;
  for (const double x : values) {
    if (published)
      scores.push_back(x > middle ? std::numeric_limits<double>::infinity() : 0);
    else
      scores.push_back(mean_deviation > 0 ? (x - middle) / (kNormalMeanDeviation * mean_deviation)
                                          : 0);
  }
  return scores;
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

ModifiedScores modified_scores(std::span<const double> values, bool published, double rounding) {
  ModifiedScores found;
  found.median = median({values.begin(), values.end()});
  if (published) found.median = std::floor(found.median);
  std::vector<double> deviations;
  for (const double x : values) deviations.push_back(std::abs(x - found.median));
  found.mad = median(deviations);
  if (found.mad <= rounding) {
    found.scores = scores_without_mad(values, found.median, published);
    return found;
  }
  for (const double x : values)
    found.scores.push_back(kNormalQuartile * (x - found.median) / found.mad);
  return found;
}

std::vector<std::size_t> high_outliers(std::span<const double> values, double threshold,
                                       bool published) {
  std::vector<std::size_t> places;
  if (values.size() < kLeastJudged) return places;
  const ModifiedScores found = modified_scores(values, published);
  for (std::size_t i = 0; i < values.size(); ++i)
    if (found.scores[i] > threshold) places.push_back(i);
  return places;
}

}  // namespace chameleon::statistics
