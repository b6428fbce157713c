// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The filtering function (dissertation section 3.3): ranks of one structure send only those kinds
/// of values in which some of them differ. Kinds are found on the way of the classes up the tree: a
/// list of classes has, for each structure, the hashes by kind of its first class, and the kinds in
/// which another differed. Partners always travel, since they differ in one reading or the other.
///
/// Published, filtering sets in where there are more sub-clusters than half the job's ranks; here
/// they are counted where a structure has several.
///
/// Cost: 33 bytes a structure and tree edge, unless it is off.

#include <array>
#include <cstdint>
#include <string_view>

#include "base/bytes.h"
#include "model/trace.h"

namespace chameleon::flush {

enum class Filter : std::uint8_t { kAuto, kOn, kOff };
const char* filter_name(Filter filter);
bool filter_of(std::string_view text, Filter& filter);

/// Kinds of values that need not travel, and a set of them as bits.
enum class ValueKind : std::uint8_t { kIterations, kCount, kTag, kOther };
inline constexpr std::size_t kValueKinds = 4;
using ValueKinds = std::uint8_t;
inline constexpr ValueKinds kAllValueKinds = (1U << kValueKinds) - 1;
constexpr bool has(ValueKinds kinds, ValueKind kind) {
  return (kinds >> static_cast<unsigned>(kind) & 1) != 0;
}

/// The kind of a field that is no partner.
ValueKind kind_of(const Field& field);
/// Whether the parameter of a node is sent; of a loop, its iterations.
bool travels(const Trace& trace, const Node& node, std::size_t param, ValueKinds kinds);

/// The kinds in which classes of one structure differ, determined by the first of them.
struct KindsSeen {
  std::array<std::uint64_t, kValueKinds> hashes{};
  ValueKinds differ = 0;

  void add(ValueKind kind, std::uint64_t hash);
  void join(const KindsSeen& other);
  void encode(ByteWriter& writer) const;
  static KindsSeen decode(ByteReader& reader);
};

}  // namespace chameleon::flush
