// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/alike.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/hash.h"
#include "signature/packed.h"

namespace chameleon::cluster {
namespace {

bool is_partner(std::size_t parameter) {
  return parameter == static_cast<std::size_t>(Parameter::kSource) ||
         parameter == static_cast<std::size_t>(Parameter::kDestination);
}

/// Equal for signatures that are alike in a reading of partners, COUNTs within a tolerance aside.
std::uint64_t key_of(const SignatureVector& signature, Reading reading,
                     const ClusterOptions& options) {
  const bool call_path = options.steps == Steps::kSingle && (options.format & kCallPathBit) != 0;
  std::uint64_t key = call_path ? signature.call_path : 0;
  if (options.equality == Equality::kPacked) return combine(key, packed_signature(signature));
  SignatureFormat format = options.format;
  if (options.count_tolerance > 0)
    format = static_cast<SignatureFormat>(format & ~format_bit(Parameter::kCount));
  for (std::size_t i = 0; i < kParameters; ++i) {
    if ((format >> i & 1) == 0) continue;
    const Reading read = is_partner(i) ? reading : Reading::kRelative;
    key = combine(key, read == Reading::kMixed ? signature.mixed[i]
                       : read == Reading::kXor ? signature.xored[i]
                                               : signature.parameters[i].exact);
  }
  return key;
}

constexpr Reading kAllReadings[kAlikeReadings] = {Reading::kRelative, Reading::kMixed,
                                                  Reading::kXor};

/// Whether all members that are alike share this reading.
bool holds(const SubCluster& cluster, Reading reading) {
  return reading == Reading::kRelative ? cluster.relative_holds
         : reading == Reading::kMixed  ? cluster.mixed_holds
                                       : cluster.xor_holds;
}

bool counts_agree(const SignatureVector& a, const SignatureVector& b,
                  const ClusterOptions& options) {
  if (options.count_tolerance == 0 || (options.format & format_bit(Parameter::kCount)) == 0)
    return true;
  const double mine = a[Parameter::kCount].mean, other = b[Parameter::kCount].mean;
  return std::abs(mine - other) <= options.count_tolerance * std::max(mine, other);
}

}  // namespace

AlikeReadings alike_readings(const SignatureVector& a, const SignatureVector& b,
                             const ClusterOptions& options) {
  if (!counts_agree(a, b, options)) return {};
  const auto equal = [&](Reading reading) {
    return key_of(a, reading, options) == key_of(b, reading, options);
  };
  return {equal(Reading::kRelative), equal(Reading::kMixed),
          options.equality == Equality::kXor && equal(Reading::kXor)};
}

void KeyIndex::add(std::uint64_t key) {
  keys_.push_back(key);
  if (keys_.size() < kFew) return;
  if (keys_.size() > kFew) return enter(keys_.size() - 1);
  for (std::size_t i = 0; i < kFew; ++i) enter(i);
}

void KeyIndex::enter(std::size_t place) {
  next_.push_back(kNone);
  const auto [chain, fresh] = chains_.try_emplace(keys_[place], Chain{place, place});
  if (!fresh) next_[std::exchange(chain->second.last, place)] = place;
}

std::size_t KeyIndex::scan(std::uint64_t key, std::size_t from) const {
  for (std::size_t place = from; place < keys_.size(); ++place)
    if (keys_[place] == key) return place;
  return kNone;
}

std::size_t KeyIndex::first(std::uint64_t key) const {
  if (next_.empty()) return scan(key, 0);
  const auto found = chains_.find(key);
  return found == chains_.end() ? kNone : found->second.first;
}

std::size_t KeyIndex::next(std::size_t place) const {
  return next_.empty() ? scan(keys_[place], place + 1) : next_[place];
}

AlikeIndex::AlikeIndex(std::vector<SubCluster>& clusters, const ClusterOptions& options)
    : clusters_(clusters), options_(options) {
  for (const Reading reading : kAllReadings)
    if (reading != Reading::kXor || options.equality == Equality::kXor)
      places_[static_cast<std::size_t>(reading)] = KeyIndex(
          clusters, [&](const SubCluster& one) { return key_of(one.signature, reading, options); });
}

SubCluster* AlikeIndex::find(const SubCluster& other, Reading reading) const {
  if (!holds(other, reading)) return nullptr;
  const std::size_t place = places_[static_cast<std::size_t>(reading)].find(
      key_of(other.signature, reading, options_), [&](std::size_t at) {
        return holds(clusters_[at], reading) &&
               counts_agree(clusters_[at].signature, other.signature, options_);
      });
  return place == KeyIndex::kNone ? nullptr : &clusters_[place];
}

SubCluster* AlikeIndex::find(const SubCluster& other) const {
  for (const Reading reading : kAllReadings)
    if (SubCluster* const match = find(other, reading); match != nullptr) return match;
  return nullptr;
}

SubCluster own_cluster(std::uint32_t rank, const SignatureVector& signature,
                       const ClusterOptions& options) {
  SubCluster own{rank, signature, RankList::single(rank), signature[Parameter::kCount].mean};
  own.xor_holds = options.equality == Equality::kXor;
  if (!own.xor_holds) own.signature.xored[0] = own.signature.xored[1] = 0;
  return own;
}

bool same_distances(const SignatureVector& a, const SignatureVector& b) {
  const auto same = [&](Parameter partner) { return a[partner].exact == b[partner].exact; };
  return same(Parameter::kSource) && same(Parameter::kDestination);
}

void take_in(SubCluster& cluster, const SubCluster& other, const ClusterOptions& options) {
  const auto shared = [&](Reading reading) {
    return holds(cluster, reading) && holds(other, reading) &&
           key_of(cluster.signature, reading, options) == key_of(other.signature, reading, options);
  };
  cluster.relative_holds = shared(Reading::kRelative);
  cluster.mixed_holds = shared(Reading::kMixed);
  cluster.xor_holds = shared(Reading::kXor);
  const auto mine = static_cast<double>(cluster.ranks.size());
  const auto theirs = static_cast<double>(other.ranks.size());
  // Of equal averages the mean is exactly theirs.
  if (cluster.count != other.count)
    cluster.count = (mine * cluster.count + theirs * other.count) / (mine + theirs);
  take_in_unlike(cluster, other);
}

void take_in_unlike(SubCluster& cluster, const SubCluster& other) {
  cluster.same_distances = cluster.same_distances && other.same_distances &&
                           same_distances(cluster.signature, other.signature);
  cluster.ranks.merge(other.ranks);
}

}  // namespace chameleon::cluster
