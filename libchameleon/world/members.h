// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The members of a subset in canonical order: ascending, each once, so that all ranks that
/// name the same set agree on positions, and the lowest rank is the root of the tree.

#include <algorithm>
#include <cstdint>
#include <vector>

namespace chameleon::world {

class Members {
 public:
  /// The members in a world of `world_size` ranks; ranks beyond it are left out.
  Members(std::vector<std::uint32_t> ranks, std::uint32_t world_size) : ranks_(std::move(ranks)) {
    std::sort(ranks_.begin(), ranks_.end());
    ranks_.erase(std::unique(ranks_.begin(), ranks_.end()), ranks_.end());
    ranks_.erase(std::lower_bound(ranks_.begin(), ranks_.end(), world_size), ranks_.end());
  }

  std::uint32_t size() const { return static_cast<std::uint32_t>(ranks_.size()); }
  const std::vector<std::uint32_t>& ranks() const { return ranks_; }
  std::uint32_t operator[](std::uint32_t position) const { return ranks_[position]; }
  /// `size()` when `rank` is no member.
  std::uint32_t position(std::uint32_t rank) const {
    const auto found = std::lower_bound(ranks_.begin(), ranks_.end(), rank);
    if (found == ranks_.end() || *found != rank) return size();
    return static_cast<std::uint32_t>(found - ranks_.begin());
  }

 private:
  std::vector<std::uint32_t> ranks_;
};

}  // namespace chameleon::world
