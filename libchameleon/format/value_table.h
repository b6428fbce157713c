// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// How a file writes a parameter of which every stream has one value: the streams, and the values
/// in their order, or a formula that gives them.

#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "format/rank_formula.h"
#include "model/param.h"

namespace chameleon::format {

struct ValueTable {
  RankList ranks;
  EndPointForm form = EndPointForm::kBoth;
  std::uint64_t times = 0;  ///< that each stream has its value
  ValueSequence values;     ///< unless there is a formula
  std::optional<RankFormula> formula;

  /// For a parameter with groups, in a job of `size` ranks; nothing if a stream has several values.
  /// O(intervals log intervals), and `find_formula`; a spread mostly in O(runs).
  static std::optional<ValueTable> of(const Param& param, std::uint32_t size, bool by_formula);

  /// All but the values: the layout with the form, `times`, and the streams.
  void encode_head(ByteWriter& writer) const {
    writer.u8(static_cast<std::uint8_t>((formula ? 3 : 2) | (static_cast<int>(form) << 2)));
    writer.varint(times);
    ranks.encode(writer);
  }
};

}  // namespace chameleon::format
