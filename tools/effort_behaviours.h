// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Synthetic performance data, a rank at a time: what Gamblin et al. 2010 (section 7) cluster, for
/// `chameleon simulate capek` and `effort`. The same for the same arguments, everywhere.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/rooms.h"

namespace chameleon::tools {

struct Point {
  double x = 0, y = 0;
};
double point_distance(const Point& a, const Point& b);

/// Uniform in a square of 5,000 (figures 4 and 6).
Point uniform_point(std::uint32_t rank);

using Series = std::vector<double>;
/// Euclidean; of equally long ones.
double series_distance(const Series& a, const Series& b);

/// One of six shapes over time, by rank mod 6, with noise (figures 5 and 7 to 9).
Series synthetic_trace(std::uint32_t rank, std::size_t length);

/// Stands in for the efforts of S3D, which are not published (Table 1): 64 steps of a rank of one
/// of three kinds. Its mean varies by 1/400 of how much those of kinds do.
Series stand_in_efforts(std::uint32_t rank);

double mean_of(const Series& series);

}  // namespace chameleon::tools
