// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The phases that all ranks know: a bounded dictionary from the votes' sum of phase hashes to the
/// clusters that leads were elected into. Every rank keeps one and gives it the same votes, so all
/// have the same phases in it without a message. Beyond `kMost` phases the one that was not seen
/// for longest goes. Cost: O(kMost) comparisons a marker, no allocation.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/rooms.h"

namespace chameleon::statemachine {

/// The entry of a phase.
enum class Recall : std::uint8_t {
  kNew,       ///< nothing: it was not seen, or not for long
  kSeen,      ///< it was seen, but has no clusters
  kClustered  ///< it has clusters
};

/// `Clusters` is a pointer that owns, and null where a phase has none.
template <class Clusters>
class PhaseDictionary {
 public:
  static constexpr std::size_t kMost = 64;
  static constexpr std::uint64_t kNone = 0;  ///< the hash of what is no phase

  /// The previous entry of the phase; it is the one seen last now.
  Recall recall(std::uint64_t hash) {
    if (hash == kNone) return Recall::kNew;
    const auto end = entries_.begin() + static_cast<std::ptrdiff_t>(size_);
    auto found = find(hash);
    const Recall recall = found == end      ? Recall::kNew
                          : found->clusters ? Recall::kClustered
                                            : Recall::kSeen;
    if (found == end) {
      if (size_ < kMost)
        ++size_;
      else
        --found;
      *found = {hash, nullptr};
    }
    std::rotate(entries_.begin(), found, found + 1);
    return recall;
  }

  /// Null where the phase has none.
  Clusters clusters(std::uint64_t hash) {
    const auto found = find(hash);
    return found == entries_.begin() + static_cast<std::ptrdiff_t>(size_) ? nullptr
                                                                          : found->clusters;
  }

  /// Leads were elected by an interval of this phase, which was recalled before.
  void keep(std::uint64_t hash, Clusters clusters) {
    const auto found = find(hash);
    if (found != entries_.begin() + static_cast<std::ptrdiff_t>(size_))
      found->clusters = std::move(clusters);
  }

  /// Phases that have these clusters have others from here on. With null they have none any more:
  /// leads are elected when they return.
  void replace(const Clusters& clusters, const Clusters& by) {
    for (Entry& entry : entries_)
      if (entry.clusters == clusters) entry.clusters = by;
  }
  /// Whether some phase has these clusters.
  bool has(const Clusters& clusters) const {
    return std::any_of(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(size_),
                       [&](const Entry& entry) { return entry.clusters == clusters; });
  }

  std::size_t size() const { return size_; }
  /// Some phase has no clusters: leads will be elected when it returns.
  bool awaits() const {
    return std::any_of(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(size_),
                       [](const Entry& entry) { return entry.clusters == nullptr; });
  }

 private:
  struct Entry {
    std::uint64_t hash = kNone;
    Clusters clusters = nullptr;
  };

  auto find(std::uint64_t hash) {
    return std::find_if(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(size_),
                        [hash](const Entry& entry) { return entry.hash == hash; });
  }

  std::array<Entry, kMost> entries_{};  ///< the first `size_`, in order of when they were seen last
  std::size_t size_ = 0;
};

}  // namespace chameleon::statemachine
