// SPDX-License-Identifier: BSD-3-Clause
#include "model/outliers.h"

#include <algorithm>
#include <tuple>

namespace chameleon::inline model {
namespace {

auto order_of(const Outlier& one) { return std::tuple(one.stream, one.event, one.in_call); }

bool comes_before(const Outlier& a, const Outlier& b) { return order_of(a) < order_of(b); }

bool is_worse(const Outlier& a, const Outlier& b) {
  if (a.excess_ns() != b.excess_ns()) return a.excess_ns() > b.excess_ns();
  return comes_before(a, b);
}

}  // namespace

std::span<const Outlier> Outliers::of(std::uint32_t stream) const {
  const auto begin = std::partition_point(all_.begin(), all_.end(),
                                          [&](const Outlier& one) { return one.stream < stream; });
  const auto end = std::partition_point(begin, all_.end(),
                                        [&](const Outlier& one) { return one.stream == stream; });
  return {begin, end};
}

void Outliers::settle() {
  if (all_.size() > kMost) {
    const auto calls = std::stable_partition(all_.begin(), all_.end(),
                                             [](const Outlier& one) { return !one.in_call; });
    std::sort(all_.begin(), calls, is_worse);
    std::sort(calls, all_.end(), is_worse);
    const auto computes = static_cast<std::size_t>(calls - all_.begin());
    const std::size_t kept =
        std::min(computes, std::max(kMost / 2, kMost - std::min(kMost, all_.size() - computes)));
    all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(kept), calls);
    all_.resize(std::min(kMost, all_.size()));
  }
  std::sort(all_.begin(), all_.end(), comes_before);
  all_.erase(
      std::unique(all_.begin(), all_.end(),
                  [](const Outlier& a, const Outlier& b) { return order_of(a) == order_of(b); }),
      all_.end());
}

void Outliers::merge(const Outliers& other) {
  known_ = known_ || other.known_;
  if (other.all_.empty()) return;
  all_.insert(all_.end(), other.all_.begin(), other.all_.end());
  settle();
}

}  // namespace chameleon::inline model
