// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Values that change at few places, the same ones for all ranks: a rank's own value in the first
/// step, say, and its lead's in the steps after that. The file writes them part by part, the values
/// of a part in rank order. These compress as a sequence does, where a group of each rank would
/// take some ten bytes.

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "model/param.h"

namespace chameleon::format {

struct ValueParts {
  /// Each rank has its value `count` times over.
  struct Part {
    std::uint64_t count = 1;
    ValueSequence values;  ///< one a rank
  };
  static constexpr std::size_t kMostParts = 16;

  EndPointForm form = EndPointForm::kBoth;
  RankList ranks;
  std::vector<Part> parts;

  /// The parts of these groups, or nothing where groups take fewer bytes or there are too many
  /// parts. The same however the sequences came about. O(terms, and groups x parts).
  static std::optional<ValueParts> of(const ParamGroups& groups);
  /// A group for ranks with equal values. O(ranks x parts).
  ParamGroups groups() const;

  /// All but the form; `write(values)` writes a sequence.
  template <class Write>
  void encode(ByteWriter& writer, Write write) const {
    writer.varint(parts.size());
    ranks.encode(writer);
    for (const Part& part : parts) {
      writer.varint(part.count);
      write(part.values);
    }
  }
  /// `names`: of values that are places in this list, or null. False, and a failed reader, on what
  /// cannot have been written for `most_ranks` or fewer.
  static bool decode(ByteReader& reader, std::uint64_t most_ranks,
                     const std::vector<std::int64_t>* names, ValueParts& result);
};

}  // namespace chameleon::format
