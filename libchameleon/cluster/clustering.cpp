// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/clustering.h"

#include <algorithm>
#include <bit>

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

// Only the parameters that have values travel: a mask, then those.

namespace {
constexpr std::uint64_t kOtherDistances = std::uint64_t{1} << kParameters;
}

void encode(ByteWriter& writer, const Clustering& clustering) {
  writer.varint(clustering.main.size());
  for (const MainCluster& each : clustering.main) {
    writer.u64(each.call_path);
    writer.varint(each.clusters.size());
    for (const SubCluster& cluster : each.clusters) {
      writer.varint(cluster.lead);
      cluster.ranks.encode(writer);
      writer.u64(cluster.signature.call_path);
      std::uint64_t mask = cluster.same_distances ? 0 : kOtherDistances;
      for (std::size_t i = 0; i < kParameters; ++i)
        if (cluster.signature.parameters[i] != SignatureVector::Summary{})
          mask |= std::uint64_t{1} << i;
      writer.varint(mask);
      for (std::size_t i = 0; i < kParameters; ++i) {
        if ((mask >> i & 1) == 0) continue;
        writer.u64(std::bit_cast<std::uint64_t>(cluster.signature.parameters[i].mean));
        writer.u64(cluster.signature.parameters[i].exact);
      }
    }
  }
}

bool decode(ByteReader& reader, Clustering& clustering) {
  clustering.main.resize(reader.count(9));
  for (MainCluster& each : clustering.main) {
    each.call_path = reader.u64();
    each.clusters.resize(reader.count(10));
    for (SubCluster& cluster : each.clusters) {
      cluster.lead = static_cast<std::uint32_t>(reader.varint());
      if (!RankList::decode(reader, cluster.ranks)) return false;
      cluster.signature.call_path = reader.u64();
      const std::uint64_t mask = reader.varint();
      cluster.same_distances = (mask & kOtherDistances) == 0;
      for (std::size_t i = 0; i < kParameters; ++i) {
        if ((mask >> i & 1) == 0) continue;
        cluster.signature.parameters[i].mean = std::bit_cast<double>(reader.u64());
        cluster.signature.parameters[i].exact = reader.u64();
      }
    }
  }
  return reader.ok();
}

}  // namespace chameleon::cluster
