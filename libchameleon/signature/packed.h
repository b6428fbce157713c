// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The Parameter signature as published (dissertation Table 3.1): averages and sets in one word.
/// It is carried for comparison. Ranks that differ can have equal words.

#include "signature/signature.h"

namespace chameleon::signature {

/// Bits 0 to 15: average COUNT, at most 65,535. Bits 16 to 31: average relative DEST, and 32 to 47:
/// SOURCE, rounded, within -32,768 and 32,767. Bits 48 to 54: datatypes, 55 to 61: operations, a
/// bit each by id modulo 7. Bit 62: only predefined communicators, 63: others. (The table gives
/// bit 55 to MPI_COMM_SELF too, which is one of 62's.)
inline std::uint64_t packed_signature(const SignatureVector& signature) {
  const auto bounded = [&](Parameter parameter, double least, double most) {
    const double mean = std::round(signature[parameter].mean);
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(std::clamp(mean, least, most))) &
           0xffff;
  };
  const auto folded = [&](unsigned first, unsigned end) {
    std::uint64_t bits = 0;
    for (unsigned i = first; i < end; ++i)
      bits |= (signature[Parameter::kDataOperation].exact >> i & 1) << (i - first) % 7;
    return bits;
  };
  const std::uint64_t communicators = signature[Parameter::kDataOperation].exact >> 55;
  std::uint64_t word = bounded(Parameter::kCount, 0, 0xffff);
  word |= bounded(Parameter::kDestination, -0x8000, 0x7fff) << 16;
  word |= bounded(Parameter::kSource, -0x8000, 0x7fff) << 32;
  word |= folded(0, 32) << 48 | folded(32, 55) << 55;
  // Ids 0 and 1 are MPI_COMM_WORLD and MPI_COMM_SELF.
  if ((communicators & 3) != 0) word |= std::uint64_t{1} << 62;
  if ((communicators & ~std::uint64_t{3}) != 0) word |= std::uint64_t{1} << 63;
  return word;
}

}  // namespace chameleon::signature
