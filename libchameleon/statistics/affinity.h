// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Ranking of slow instances by severity and complexity (Alawneh & Hamou-Lhadj 2022, section 4.3,
/// Tables 8 and 9, Fig. 8): weights of the analytic hierarchy process, and the angle between both.
/// The process' matrix of ratios is consistent, so its weights are the shares of the sum; the
/// matrix is there to prove that. O(n).

#include <span>
#include <vector>

#include "base/rooms.h"

namespace chameleon::statistics {

/// Each value over the sum; all 0 if the sum is 0.
std::vector<double> importance_weights(std::span<const double> values);

/// The same the long way: a_ij = v_i / v_j, columns normalised, means of rows. No value may be 0.
struct RatioMatrix {
  std::vector<std::vector<double>> ratios;
  std::vector<double> column_sums, weights;
};
RatioMatrix ratio_matrix(std::span<const double> values);

enum class Affinity { kLow, kMedium, kHigh };
const char* affinity_name(Affinity affinity);  ///< Low, Medium, High

/// Degrees: 90 where only severity weighs, 0 where only complexity does.
double affinity_angle(double severity_weight, double complexity_weight);
/// From 60 degrees on high, from 30 on medium.
Affinity affinity_of(double angle);

}  // namespace chameleon::statistics
