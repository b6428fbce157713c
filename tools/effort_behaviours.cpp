// SPDX-License-Identifier: BSD-3-Clause
#include "effort_behaviours.h"

#include <cmath>
#include <numeric>

#include "base/hash.h"

namespace chameleon::tools {
namespace {

/// In [0, 1).
double uniform(std::uint64_t stream, std::uint64_t number) {
  return static_cast<double>(combine(stream, number) >> 11) * 0x1p-53;
}

/// Twelve uniform numbers: nearly normal, of mean 0 and deviation 1.
double normal(std::uint64_t stream, std::uint64_t number) {
  double sum = -6;
  for (std::uint64_t i = 0; i < 12; ++i) sum += uniform(stream, 12 * number + i);
  return sum;
}

double shape(std::uint32_t type, double c) {
  switch (type) {
    case 0: return 10 * std::sin(c / 5);
    case 1: return std::sin(c / 5);
    case 2: return 10 * std::pow(std::sin(c / 5), 2) * std::cos(c);
    case 3: return 2 * c;
    case 4: return 20 * std::cos(10 * c) * std::sin(c / 2);
    default: return 8;
  }
}

}  // namespace

double point_distance(const Point& a, const Point& b) { return std::hypot(a.x - b.x, a.y - b.y); }

Point uniform_point(std::uint32_t rank) {
  return {5000 * uniform(1, rank) - 2500, 5000 * uniform(2, rank) - 2500};
}

double series_distance(const Series& a, const Series& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

Series synthetic_trace(std::uint32_t rank, std::size_t length) {
  Series series(length);
  const std::uint64_t stream = combine(3, rank);
  for (std::size_t c = 0; c < length; ++c)
    series[c] = shape(rank % 6, static_cast<double>(c)) + uniform(stream, c);
  return series;
}

Series stand_in_efforts(std::uint32_t rank) {
  constexpr std::size_t kSteps = 64;
  constexpr double kBetween = 0.816496580927726;  // deviation of 1, 2 and 3
  const double mean = 1 + rank % 3 + kBetween / 400 * normal(4, rank);
  Series series(kSteps);
  const std::uint64_t stream = combine(5, rank);
  // What varies from step to step is even over steps: it is in the shape, not in the mean.
  for (std::size_t step = 0; step < kSteps; step += 2) {
    const double noise = 1e-3 * (uniform(stream, step) - 0.5);
    series[step] = mean + noise;
    series[step + 1] = mean - noise;
  }
  return series;
}

double mean_of(const Series& series) {
  return std::accumulate(series.begin(), series.end(), 0.0) / static_cast<double>(series.size());
}

}  // namespace chameleon::tools
