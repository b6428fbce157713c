// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Room for the clusters of all phases of the dictionary and for those in use, made before the
/// first marker: to keep clusters takes no memory that could be missing. 68 empty clusterings, some
/// 5 KiB.

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <utility>

#include "cluster/clustering.h"
#include "statemachine/phase_dictionary.h"

namespace chameleon::online {

class ClusterRoom {
 public:
  /// Whoever has it may read it, until nobody has.
  using Clusters = std::shared_ptr<const cluster::Clustering>;
  using Phases = statemachine::PhaseDictionary<Clusters>;

  ClusterRoom() {
    for (auto& one : all_) one = std::make_shared<cluster::Clustering>();
  }

  static constexpr std::size_t kRoom = Phases::kMost + 4;

  /// Below `kRoom`.
  std::size_t place(const Clusters& clusters) const {
    return static_cast<std::size_t>(std::find(all_.begin(), all_.end(), clusters) - all_.begin());
  }

  /// There is always a free one: others are in the dictionary, the present ones, or taken out of
  /// the dictionary to become these.
  Clusters hold(cluster::Clustering&& clusters) {
    for (auto& one : all_) {
      if (one.use_count() != 1) continue;
      *one = std::move(clusters);
      return one;
    }
    return nullptr;
  }

 private:
  std::array<std::shared_ptr<cluster::Clustering>, kRoom> all_;
};

}  // namespace chameleon::online
