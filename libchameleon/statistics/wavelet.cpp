// SPDX-License-Identifier: BSD-3-Clause
#include "statistics/wavelet.h"

#include <algorithm>

namespace chameleon::statistics {
namespace {

// Factors of the lifting steps, in turn for odd and even places, and of the scaling.
constexpr double kSteps[] = {-1.5861343420693648, -0.0529801185718856, 0.8829110755411875,
                             0.4435068520511142};
constexpr double kScale = 1.1496043988602418;

// Adds `factor` times both neighbours to every second value; at the ends the only neighbour twice.
void lift(std::span<double> values, std::size_t first, double factor) {
  const std::size_t n = values.size();
  for (std::size_t i = first; i < n; i += 2) {
    const double left = values[i == 0 ? 1 : i - 1];
    const double right = values[i + 1 == n ? n - 2 : i + 1];
    values[i] += factor * (left + right);
  }
}

}  // namespace

void transform_level(std::span<double> values) {
  const std::size_t n = values.size();
  if (n < 2 || n % 2 != 0) return;
  std::size_t first = 1;
  for (const double factor : kSteps) {
    lift(values, first, factor);
    first = 1 - first;
  }
  std::vector<double> bands(n);
  for (std::size_t i = 0; i < n / 2; ++i) {
    bands[i] = values[2 * i] * kScale;
    bands[n / 2 + i] = values[2 * i + 1] / kScale;
  }
  std::copy(bands.begin(), bands.end(), values.begin());
}

std::vector<double> low_band(std::span<const double> values, unsigned levels) {
  if (levels >= 64 || values.size() % (std::size_t{1} << levels) != 0) return {};
  std::vector<double> band(values.begin(), values.end());
  for (unsigned level = 0; level < levels; ++level) {
    transform_level(band);
    band.resize(band.size() / 2);
  }
  return band;
}

std::vector<double> effort_signature(std::span<const double> efforts, std::size_t length) {
  unsigned levels = 0;
  for (std::size_t left = efforts.size();
       left % 2 == 0 && left / 2 >= std::max(length, std::size_t{1}); left /= 2)
    ++levels;
  return low_band(efforts, levels);
}

}  // namespace chameleon::statistics
