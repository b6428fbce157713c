// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Shared by writing and reading the section of times.

#include <array>
#include <cstdint>

#include "model/time_table.h"

namespace chameleon::format::times {

/// How much is kept of one kind of time at a place.
enum Detail : std::uint8_t {
  kPooled = 0,    ///< the mean of all classes
  kMeans = 1,     ///< means of each class, the shape of all
  kComplete = 2,  ///< of each class
};
/// The share of a class's time that a place with this much detail takes.
inline constexpr double kMeansFrom = 0.001, kCompleteFrom = 0.01;
inline constexpr std::uint64_t kSpreadUnits = 1000;
inline constexpr std::uint64_t kMostSpread = 1000 * kSpreadUnits;
inline constexpr std::uint64_t kMostClasses = 1U << 16;
inline constexpr std::uint64_t kShares = 31;  ///< of bins
inline constexpr std::uint8_t kByClass = 16;  ///< flag of a place
inline constexpr int kPooledBits = 8;
inline constexpr std::size_t kMostBins = 16;

using Kind = Histogram Durations::*;
inline constexpr std::array<Kind, 2> kKinds = {&Durations::compute, &Durations::communication};

/// How a distribution lies around its mean, in bins.
struct Shape {
  unsigned below = 0, above = 0;  ///< to the extremes
  int deviation = 0;              ///< where these differ
};

inline unsigned bin_of_mean(std::uint64_t mean) { return Histogram::bin_of(mean); }

}  // namespace chameleon::format::times
