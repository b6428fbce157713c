// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Clusters of ranks and their leads: what every clustering scheme (scheme.h) gives, on all
/// ranks alike. Main clusters are in order of their lowest rank, sub-clusters of their lead.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "model/rank_list.h"
#include "signature/signature.h"

namespace chameleon::cluster {

struct SubCluster {
  std::uint32_t lead = 0;     ///< traces for `ranks`, to which it belongs
  SignatureVector signature;  ///< the lead's
  RankList ranks;
  /// Mean of the members' average COUNTs if ranks of different COUNT were combined as alike;
  /// otherwise the lead's.
  double count = 0;
  /// Which hashes of partners all members that are alike share: the relative ones, the mixed ones,
  /// those by XOR (`SignatureVector`).
  bool relative_holds = true, mixed_holds = true, xor_holds = false;
  bool same_distances = true;  ///< to partners, from all of the ranks, as far as they are signed
  /// Only by XOR: partners of the members follow from the lead's in that reading alone.
  bool by_xor() const { return xor_holds && !relative_holds && !mixed_holds; }
  bool operator==(const SubCluster&) const = default;
};

struct MainCluster {
  std::uint64_t call_path = 0;  ///< 0 when Call-Path is not in the format
  std::vector<SubCluster> clusters;
  bool operator==(const MainCluster&) const = default;
};

struct Clustering {
  std::vector<MainCluster> main;
  SignatureFormat format = 0;  ///< the signatures that were used
  bool selected = false;       ///< leads were too few for all that differs in these

  /// Ascending.
  std::vector<std::uint32_t> leads() const;
  /// The cluster of a rank; null if it has none. O(clusters).
  const SubCluster* find(std::uint32_t rank) const;
  /// Sub-clusters, hence leads.
  std::size_t size() const;
  bool operator==(const Clustering&) const = default;
};

/// The signatures of `format` in which two ranks differ: partners in both readings.
SignatureFormat differing(const SignatureVector& a, const SignatureVector& b,
                          SignatureFormat format);

/// For each cluster, in order and separated by `;`, the names of the signatures in which its lead
/// differs from the first lead of its main cluster.
std::string split_text(const Clustering& clustering);

void encode(ByteWriter& writer, const SubCluster& cluster);
bool decode(ByteReader& reader, SubCluster& cluster);
void encode(ByteWriter& writer, const Clustering& clustering);
bool decode(ByteReader& reader, Clustering& clustering);

}  // namespace chameleon::cluster
