// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Values far from the others of their group: modified z-scores by median and median absolute
/// deviation (Iglewicz & Hoaglin 1993; Alawneh & Hamou-Lhadj 2022, Eqs. 19-21). O(n log n).

#include <cstddef>
#include <span>
#include <vector>

#include "base/rooms.h"

namespace chameleon::statistics {

/// Beyond this score a value is an outlier.
inline constexpr double kOutlierScore = 3.5;
/// Smaller groups are not judged: of two values, both scores are always 0.6745.
inline constexpr std::size_t kLeastJudged = 4;

/// The middle value, or the mean of both; 0 for none.
double median(std::vector<double> values);

struct ModifiedScores {
  double median = 0, mad = 0;
  /// 0.6745 (x - median) / MAD. Where MAD is 0: by the mean absolute deviation, or 0.
  std::vector<double> scores;
};

/// `published`: the paper's program, which takes whole medians, rounded down (Table 7), and for
/// which everything above the median is an outlier where MAD is 0. A MAD up to `rounding`, of the
/// values, counts as 0.
ModifiedScores modified_scores(std::span<const double> values, bool published = false,
                               double rounding = 0);

/// Places of the values that are too large, ascending; none in a group of fewer than four.
std::vector<std::size_t> high_outliers(std::span<const double> values,
                                       double threshold = kOutlierScore, bool published = false);

}  // namespace chameleon::statistics
