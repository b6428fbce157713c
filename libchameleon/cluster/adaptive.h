// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// ACURDION's adaptive signature format (dissertation section 4.1, Algorithm 4): the signatures in
/// which ranks differ at all. Published, a node compares its own averages with those of its
/// children; then ranks that differ can have equal averages, and ranks with other calls differ in
/// everything. Here ranks of one Call-Path differ in what their exact hashes differ in, and ranks
/// of unlike Call-Paths in Call-Path and in what their averages differ in.
///
/// Cost: P - 1 messages of some 170 bytes a Call-Path, and a broadcast of two bytes.

#include <optional>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "signature/signature.h"
#include "world/world.h"

namespace chameleon::cluster {

/// The signatures in which ranks differ, and the first rank's of each Call-Path.
struct SeenSignatures {
  SignatureFormat differ = 0;
  std::vector<SignatureVector> first;  ///< in order of the lowest rank

  void encode(ByteWriter& writer) const;
  static bool decode(ByteReader& reader, SeenSignatures& value);
};

void join_seen(SeenSignatures& mine, SeenSignatures&& theirs);

/// Collective: those signatures of `format` in which ranks differ; on all ranks.
template <TreeWorld World, class Signatures>
SignatureFormat adapt(World& world, Signatures& signatures, SignatureFormat format) {
  auto own = world.map(signatures, [](std::uint32_t, const SignatureVector& signature) {
    return SeenSignatures{0, {signature}};
  });
  const std::optional<SeenSignatures> seen = world.reduce(std::move(own), join_seen);
  std::optional<SignatureFormat> differ;
  if (seen) differ = static_cast<SignatureFormat>(seen->differ & format);
  return world.broadcast(std::move(differ));
}

}  // namespace chameleon::cluster
