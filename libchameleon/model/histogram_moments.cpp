// SPDX-License-Identifier: BSD-3-Clause
// Histograms made from what is known of a distribution.
#include <algorithm>
#include <cmath>

#include "model/histogram.h"

namespace chameleon::inline model {
namespace {

/// Shares of the log-normal distribution of that mean and deviation, by bin.
std::vector<std::pair<std::uint8_t, double>> one_mode(const Histogram::Moments& moments) {
  const double mean =
      std::max(static_cast<double>(moments.sum) / static_cast<double>(moments.count), 1.0);
  const double ratio = moments.deviation / mean;
  const double variance = std::log1p(ratio * ratio);
  const double middle = std::log(mean) - variance / 2;
  const auto below = [&](unsigned bin) {
    const double low = static_cast<double>(std::max<std::uint64_t>(Histogram::bin_low(bin), 1));
    return std::erfc((middle - std::log(low)) / std::sqrt(2 * variance)) / 2;
  };
  std::vector<std::pair<std::uint8_t, double>> shares;
  const unsigned first = Histogram::bin_of(moments.min), last = Histogram::bin_of(moments.max);
  for (unsigned bin = first; bin <= last; ++bin) {
    const double low = bin == first ? 0 : below(bin), high = bin == last ? 1 : below(bin + 1);
    shares.emplace_back(static_cast<std::uint8_t>(bin), high - low);
  }
  return shares;
}

/// Counts in these shares that add up to `count`; none is 0.
Histogram::Bins counts_of(const std::vector<std::pair<std::uint8_t, double>>& shares,
                          std::uint64_t count) {
  double all = 0, before = 0;
  for (const auto& [bin, share] : shares) all += share;
  Histogram::Bins bins;
  std::uint64_t given = 0;
  for (const auto& [bin, share] : shares) {
    before += share;
    const bool last = &bin == &shares.back().first;
    const auto until = last ? count
                            : std::min(count, static_cast<std::uint64_t>(
                                                  before / all * static_cast<double>(count) + 0.5));
    if (until > given) bins.emplace_back(bin, until - given);
    given = std::max(given, until);
  }
  return bins;
}

/// Takes one out of the fullest bin for `bin`, which has none.
void put_one(Histogram::Bins& bins, std::uint8_t bin, bool front) {
  const auto fullest = std::max_element(
      bins.begin(), bins.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (fullest->second < 2) return;
  --fullest->second;
  bins.insert(front ? bins.begin() : bins.end(), {bin, 1});
}

}  // namespace

Histogram Histogram::of(const Moments& moments, Bins bins) {
  Histogram result;
  if (moments.count == 0) return result;
  result.count_ = moments.count;
  result.sum_ = moments.sum;
  result.min_ = moments.min;
  result.max_ = moments.max;
  const double mean = result.mean();
  result.squares_ =
      (moments.deviation * moments.deviation + mean * mean) * static_cast<double>(moments.count);
  const std::uint8_t first = bin_of(moments.min), last = bin_of(moments.max);
  std::vector<std::pair<std::uint8_t, double>> shares;
  for (const auto& [bin, share] : bins) shares.emplace_back(bin, static_cast<double>(share));
  if (shares.empty() && (first == last || !(moments.deviation > 0)))
    shares.emplace_back(bin_of(static_cast<std::uint64_t>(mean)), 1);
  if (shares.empty()) shares = one_mode(moments);
  bins = counts_of(shares, moments.count);
  if (bins.front().first > first) put_one(bins, first, true);
  if (bins.back().first < last) put_one(bins, last, false);
  result.look_around(std::max_element(bins.begin(), bins.end(), [](const auto& a, const auto& b) {
                       return a.second < b.second;
                     })->first);
  for (const auto& [bin, count] : bins) result.add_bin(bin, count);
  return result;
}

void Histogram::scale(double share) {
  if (empty()) return;
  Moments moments{0, 0, min_, max_, deviation()};
  moments.count = std::max<std::uint64_t>(
      static_cast<std::uint64_t>(static_cast<double>(count_) * share + 0.5), 1);
  // At least one duration stays, which is within the extremes.
  const double sum = std::clamp(mean(), static_cast<double>(min_), static_cast<double>(max_)) *
                     static_cast<double>(moments.count);
  moments.sum = sum < 0x1p64 ? static_cast<std::uint64_t>(sum) : UINT64_MAX;
  *this = of(moments, bins());
}

}  // namespace chameleon::inline model
