// SPDX-License-Identifier: BSD-3-Clause
#include "model/effort.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace chameleon::inline model {

bool EffortStratum::has_medoid() const {
  return std::any_of(sampled.begin(), sampled.end(),
                     [&](const SampledRank& one) { return one.rank == medoid; });
}

std::uint64_t EffortWindow::numbers() const {
  std::uint64_t columns = 5;
  for (const EffortStratum& stratum : strata) columns += 2 + stratum.sampled.size();
  return columns * steps.size() + 6 * strata.size() + 8;
}

std::uint64_t Efforts::stride(std::uint64_t index, std::uint64_t length) {
  const std::uint64_t most = std::max<std::uint64_t>(1, kMostSteps / length);
  return std::bit_ceil(index / most + 1);
}

void Efforts::add(EffortWindow window) {
  if (window.first == 0 || window.last < window.first) return;
  if (!windows_.empty() && window.first <= windows_.back().last) return;
  const std::uint64_t step = stride(index(window), settings_.length);
  windows_.push_back(std::move(window));
  std::erase_if(windows_, [&](const EffortWindow& one) { return index(one) % step != 0; });
}

void Efforts::append(Efforts&& later) {
  if (later.empty()) return;
  settings_ = later.settings_;
  for (EffortWindow& window : later.windows_) add(std::move(window));
  later.windows_.clear();
}

std::uint64_t Efforts::numbers() const {
  std::uint64_t all = 0;
  for (const EffortWindow& window : windows_) all += window.numbers();
  return all;
}

}  // namespace chameleon::inline model
