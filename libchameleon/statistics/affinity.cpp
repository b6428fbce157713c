// SPDX-License-Identifier: BSD-3-Clause
#include "statistics/affinity.h"

#include <cmath>
#include <numbers>
#include <numeric>

namespace chameleon::statistics {

std::vector<double> importance_weights(std::span<const double> values) {
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  std::vector<double> weights;
  for (const double value : values) weights.push_back(sum > 0 ? value / sum : 0);
  return weights;
}

RatioMatrix ratio_matrix(std::span<const double> values) {
  RatioMatrix matrix;
  matrix.column_sums.assign(values.size(), 0);
  for (const double row : values) {
    std::vector<double>& ratios = matrix.ratios.emplace_back();
    for (std::size_t column = 0; column < values.size(); ++column) {
      ratios.push_back(row / values[column]);
      matrix.column_sums[column] += ratios.back();
    }
  }
  for (const std::vector<double>& ratios : matrix.ratios) {
    double sum = 0;
    for (std::size_t column = 0; column < ratios.size(); ++column)
      sum += ratios[column] / matrix.column_sums[column];
    matrix.weights.push_back(sum / static_cast<double>(values.size()));
  }
  return matrix;
}

const char* affinity_name(Affinity affinity) {
  constexpr const char* kNames[] = {"Low", "Medium", "High"};
  return kNames[static_cast<int>(affinity)];
}

double affinity_angle(double severity_weight, double complexity_weight) {
  return std::atan2(severity_weight, complexity_weight) * 180 / std::numbers::pi;
}

Affinity affinity_of(double angle) {
  constexpr double kMedium = 30, kHigh = 60;
  return angle >= kHigh ? Affinity::kHigh : angle >= kMedium ? Affinity::kMedium : Affinity::kLow;
}

}  // namespace chameleon::statistics
