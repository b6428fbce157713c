// SPDX-License-Identifier: BSD-3-Clause
#include "statistics/partition.h"

#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <numeric>
#include <utility>

namespace chameleon::statistics {

double bayesian_criterion(std::span<const std::uint64_t> sizes, double squares, double dimensions,
                          bool published) {
  const auto items =
      static_cast<double>(std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0}));
  const auto clusters = static_cast<double>(sizes.size());
  if (items <= clusters || squares <= 0) return std::numeric_limits<double>::infinity();
  // Published, a dimension counts in the logarithm of the variance only.
  const double each = published ? 1 : dimensions;
  const double variance = squares / (each * (items - clusters));
  double likelihood = 0;
  for (const std::uint64_t count : sizes) {
    const auto size = static_cast<double>(count);
    likelihood += -size * each / 2 * std::log(2 * std::numbers::pi) -
                  size * dimensions / 2 * std::log(variance) - (size - 1) * each / 2 +
                  size * std::log(size / items);
  }
  const double parameters = clusters - 1 + dimensions * clusters + 1;
  return likelihood - parameters / 2 * std::log(items);
}

double mirkin_distance(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b) {
  std::map<std::uint32_t, double> of_a, of_b;
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> of_both;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ++of_a[a[i]];
    ++of_b[b[i]];
    ++of_both[{a[i], b[i]}];
  }
  double pairs = 0;
  for (const auto& [label, count] : of_a) pairs += count * count;
  for (const auto& [label, count] : of_b) pairs += count * count;
  for (const auto& [labels, count] : of_both) pairs -= 2 * count * count;
  const auto items = static_cast<double>(a.size());
  return items > 0 ? pairs / (items * items) : 0;
}

}  // namespace chameleon::statistics
