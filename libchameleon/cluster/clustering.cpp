// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/clustering.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

#include "signature/format.h"

namespace chameleon::cluster {

std::vector<std::uint32_t> Clustering::leads() const {
  std::vector<std::uint32_t> all;
  for (const MainCluster& each : main)
    for (const SubCluster& cluster : each.clusters) all.push_back(cluster.lead);
  std::sort(all.begin(), all.end());
  return all;
}

const SubCluster* Clustering::find(std::uint32_t rank) const {
  for (const MainCluster& each : main)
    for (const SubCluster& cluster : each.clusters)
      if (cluster.ranks.contains(rank)) return &cluster;
  return nullptr;
}

std::size_t Clustering::size() const {
  std::size_t all = 0;
  for (const MainCluster& each : main) all += each.clusters.size();
  return all;
}

SignatureFormat differing(const SignatureVector& a, const SignatureVector& b,
                          SignatureFormat format) {
  SignatureFormat bits = a.call_path != b.call_path ? kCallPathBit : 0;
  for (std::size_t i = 0; i < kParameters; ++i) {
    const bool mixed_agree = i < std::size(a.mixed) && a.mixed[i] == b.mixed[i];
    if (a.parameters[i].exact != b.parameters[i].exact && !mixed_agree)
      bits = static_cast<SignatureFormat>(bits | 1U << i);
  }
  return static_cast<SignatureFormat>(bits & format);
}

std::string split_text(const Clustering& clustering) {
  std::string text;
  bool first = true;
  for (const MainCluster& main : clustering.main)
    for (const SubCluster& one : main.clusters) {
      if (!std::exchange(first, false)) text += ';';
      text += signature::format_text(
          differing(main.clusters.front().signature, one.signature, clustering.format));
    }
  return text;
}

namespace {

/// Beside a format.
constexpr std::uint64_t kSelected = 1U << 13;
static_assert(2 * kCallPathBit <= kSelected);

// Only what is not usual travels: a mask, then that. Above the parameters' bits. `kLikeSource`: the
// ranks sent to are those received from, and have no bit of their own. The last two: the mean rank
// sent to, or the mixed hash of ranks sent to, is that of those received from; nor has that hash.
constexpr unsigned kLikeSource = kParameters, kCount = kParameters + 1, kOwnPath = kParameters + 2,
                   kMixed = kParameters + 3, kReadings = kParameters + 5, kXored = kReadings + 4,
                   kSameMean = kXored + 2, kSameMixed = kXored + 3;

constexpr auto kFrom = static_cast<std::size_t>(Parameter::kSource),
               kTo = static_cast<std::size_t>(Parameter::kDestination);

std::uint64_t mask_of(const SubCluster& cluster, std::uint64_t call_path) {
  std::uint64_t mask = 0;
  const auto set = [&](std::size_t bit, bool on) { mask |= std::uint64_t{on} << bit; };
  const SignatureVector& signature = cluster.signature;
  const SignatureVector::Summary none;
  const auto& to = signature.parameters[kTo];
  const auto& from = signature.parameters[kFrom];
  const bool like = to != none && to == from;
  for (std::size_t i = 0; i < kParameters; ++i)
    set(i, signature.parameters[i] != none && !(like && i == kTo));
  set(kLikeSource, like);
  set(kOwnPath, signature.call_path != call_path);
  const auto has_mixed = [&](std::size_t i) {
    return signature.mixed[i] != signature.parameters[i].exact;
  };
  const bool same_mixed = has_mixed(0) && has_mixed(1) && signature.mixed[0] == signature.mixed[1];
  set(kMixed, has_mixed(0));
  set(kMixed + 1, has_mixed(1) && !same_mixed);
  set(kSameMixed, same_mixed);
  set(kCount, cluster.count != signature[Parameter::kCount].mean);
  set(kReadings, !cluster.relative_holds);
  set(kReadings + 1, !cluster.mixed_holds);
  set(kReadings + 2, !cluster.same_distances);
  set(kReadings + 3, cluster.xor_holds);
  for (std::size_t i = 0; i < 2; ++i) set(kXored + i, signature.xored[i] != 0);
  set(kSameMean, to != none && from != none && !like && to.mean == from.mean);
  return mask;
}

/// Of a main cluster with this Call-Path.
void encode(ByteWriter& writer, const SubCluster& cluster, std::uint64_t call_path) {
  const auto number = [&](double value) { writer.u64(std::bit_cast<std::uint64_t>(value)); };
  const std::uint64_t mask = mask_of(cluster, call_path);
  cluster.ranks.encode(writer);
  writer.svarint(std::int64_t{cluster.lead} - cluster.ranks.first());
  writer.varint(mask);
  if ((mask >> kOwnPath & 1) != 0) writer.u64(cluster.signature.call_path);
  for (std::size_t i = 0; i < kParameters; ++i) {
    if ((mask >> i & 1) == 0) continue;
    if (i != kTo || (mask >> kSameMean & 1) == 0) number(cluster.signature.parameters[i].mean);
    writer.u64(cluster.signature.parameters[i].exact);
  }
  for (std::size_t i = 0; i < 2; ++i)
    if ((mask >> (kMixed + i) & 1) != 0) writer.u64(cluster.signature.mixed[i]);
  for (std::size_t i = 0; i < 2; ++i)
    if ((mask >> (kXored + i) & 1) != 0) writer.u64(cluster.signature.xored[i]);
  if ((mask >> kCount & 1) != 0) number(cluster.count);
}

bool decode(ByteReader& reader, SubCluster& cluster, std::uint64_t call_path) {
  const auto number = [&] { return std::bit_cast<double>(reader.u64()); };
  if (!RankList::decode(reader, cluster.ranks)) return false;
  cluster.lead = cluster.ranks.first() + static_cast<std::uint32_t>(reader.svarint());
  SignatureVector& signature = cluster.signature;
  const std::uint64_t mask = reader.varint();
  signature.call_path = (mask >> kOwnPath & 1) != 0 ? reader.u64() : call_path;
  for (std::size_t i = 0; i < kParameters; ++i) {
    if ((mask >> i & 1) == 0) continue;
    const bool same = i == kTo && (mask >> kSameMean & 1) != 0;
    signature.parameters[i].mean = same ? signature.parameters[kFrom].mean : number();
    signature.parameters[i].exact = reader.u64();
  }
  if ((mask >> kLikeSource & 1) != 0) signature.parameters[kTo] = signature.parameters[kFrom];
  for (std::size_t i = 0; i < 2; ++i)
    signature.mixed[i] =
        (mask >> (kMixed + i) & 1) != 0 ? reader.u64() : signature.parameters[i].exact;
  if ((mask >> kSameMixed & 1) != 0) signature.mixed[1] = signature.mixed[0];
  for (std::size_t i = 0; i < 2; ++i)
    signature.xored[i] = (mask >> (kXored + i) & 1) != 0 ? reader.u64() : 0;
  cluster.count = (mask >> kCount & 1) != 0 ? number() : signature[Parameter::kCount].mean;
  cluster.relative_holds = (mask >> kReadings & 1) == 0;
  cluster.mixed_holds = (mask >> (kReadings + 1) & 1) == 0;
  cluster.same_distances = (mask >> (kReadings + 2) & 1) == 0;
  cluster.xor_holds = (mask >> (kReadings + 3) & 1) != 0;
  return true;
}

}  // namespace

void encode(ByteWriter& writer, const SubCluster& cluster) { encode(writer, cluster, 0); }
bool decode(ByteReader& reader, SubCluster& cluster) { return decode(reader, cluster, 0); }

void encode(ByteWriter& writer, const Clustering& clustering) {
  writer.varint(clustering.format | (clustering.selected ? kSelected : 0));
  writer.varint(clustering.main.size());
  for (const MainCluster& each : clustering.main) {
    writer.u64(each.call_path);
    writer.varint(each.clusters.size());
    for (const SubCluster& cluster : each.clusters) encode(writer, cluster, each.call_path);
  }
}

bool decode(ByteReader& reader, Clustering& clustering) {
  const std::uint64_t format = reader.varint();
  clustering.selected = (format & kSelected) != 0;
  clustering.format = static_cast<SignatureFormat>(format & ~kSelected);
  clustering.main.resize(reader.count(9));
  for (MainCluster& each : clustering.main) {
    each.call_path = reader.u64();
    each.clusters.resize(reader.count(3));
    for (SubCluster& cluster : each.clusters)
      if (!decode(reader, cluster, each.call_path)) return false;
  }
  return reader.ok();
}

}  // namespace chameleon::cluster
