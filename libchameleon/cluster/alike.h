// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// When two clusters of one Call-Path are alike: the exact hashes of all parameters in the format
/// are equal, those of SRC and DEST in the relative or in the mixed reading of partners, in the
/// same one for all members. `Equality::kXor` adds a third reading. `Equality::kPacked` compares
/// the published words instead. With a tolerance, average COUNTs need only be near: a cluster joins
/// the first whose lead's average is near its own lead's. (Averages that move with every member
/// could drift without limit.)

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "cluster/clustering.h"
#include "cluster/options.h"

namespace chameleon::cluster {

/// The places of items by key; a hash table once there are many.
class KeyIndex {
 public:
  static constexpr std::size_t kNone = SIZE_MAX;

  KeyIndex() = default;
  template <class Items, class Key>
  KeyIndex(const Items& items, Key key) {
    keys_.reserve(items.size());
    for (const auto& item : items) add(key(item));
  }
  /// The next place has this key.
  void add(std::uint64_t key);
  /// The first place of the key for which `accept(place)`; `kNone` if there is none.
  template <class Accept>
  std::size_t find(std::uint64_t key, Accept accept) const {
    std::size_t place = first(key);
    while (place != kNone && !accept(place)) place = next(place);
    return place;
  }
  std::size_t find(std::uint64_t key) const { return first(key); }

 private:
  struct Chain {
    std::size_t first, last;
  };
  static constexpr std::size_t kFew = 32;

  void enter(std::size_t place);
  std::size_t first(std::uint64_t key) const;
  std::size_t next(std::size_t place) const;
  std::size_t scan(std::uint64_t key, std::size_t from) const;

  std::vector<std::uint64_t> keys_;
  std::unordered_map<std::uint64_t, Chain> chains_;  ///< of many
  std::vector<std::size_t> next_;                    ///< of many: the next place of the same key
};

/// How partners are read where ranks are compared (`SignatureVector`).
enum class Reading : std::uint8_t { kRelative, kMixed, kXor };
inline constexpr std::size_t kAlikeReadings = 3;

/// In which of them two ranks are alike.
struct AlikeReadings {
  bool relative = false, mixed = false, xored = false;
  bool any() const { return relative || mixed || xored; }
};
AlikeReadings alike_readings(const SignatureVector& a, const SignatureVector& b,
                             const ClusterOptions& options);

/// The clusters of one main cluster, in the order of their leads, and those that join them.
class AlikeIndex {
 public:
  AlikeIndex(std::vector<SubCluster>& clusters, const ClusterOptions& options);

  /// The first cluster that `other` is like; null if it is like none.
  SubCluster* find(const SubCluster& other) const;

 private:
  SubCluster* find(const SubCluster& other, Reading reading) const;

  std::vector<SubCluster>& clusters_;
  const ClusterOptions& options_;
  KeyIndex places_[kAlikeReadings];  ///< by key in each reading
};

/// A rank as a cluster of its own.
SubCluster own_cluster(std::uint32_t rank, const SignatureVector& signature,
                       const ClusterOptions& options);
/// Whether two ranks are as far from their partners.
bool same_distances(const SignatureVector& a, const SignatureVector& b);

/// The members of `other` become members of `cluster`, which they are like.
void take_in(SubCluster& cluster, const SubCluster& other, const ClusterOptions& options);
/// The same for members that equal no other, because leads are few.
void take_in_unlike(SubCluster& cluster, const SubCluster& other);

}  // namespace chameleon::cluster
