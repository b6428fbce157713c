// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The facts of many ranks, as columns of bytes: the form in which they travel to rank 0 and are
/// written. Equal facts of like ranks take a few bytes for all, facts that are near each other a
/// few bits a rank (column.h). As values they are in memory for one fact at a time.
///
/// Cost: joining is linear in ranks, with 16 bytes a rank for a while.

#include <array>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "format/column.h"
#include "model/carried_facts.h"

namespace chameleon::format {

class PackedFacts {
 public:
  /// In larger jobs facts are rounded (`rounded`), and nothing of each rank is made at a flush.
  static constexpr std::size_t kMostExact = 16'384;

  PackedFacts() = default;
  explicit PackedFacts(const FactsOfRanks& facts);
  /// Those of several parts, which have no rank in common.
  static PackedFacts joined(std::vector<PackedFacts> parts);

  const RankList& ranks() const { return ranks_; }
  /// The sum of a fact over all ranks.
  double sum(std::uint64_t RankFacts::*fact) const;

  /// Calls f(fact, number in the table from 1, column, texts) for each that some rank has, in the
  /// order of the table; `texts` is empty but for columns of places in it.
  template <class F>
  void for_each(F f) const {
    for (std::size_t i = 0; i < columns_.size(); ++i)
      if (!columns_[i].values.bytes.empty())
        f(kRankFacts[i], i + 1, columns_[i].values, columns_[i].texts);
  }

  void encode(ByteWriter& writer) const;
  static bool decode(ByteReader& reader, PackedFacts& value);

 private:
  struct Column {
    column::Encoded values;  ///< no bytes: all are 0
    std::vector<std::string> texts;
  };

  RankList ranks_;
  std::array<Column, std::size(kRankFacts)> columns_;
};

/// As a large job has them: times, bytes and counts of instructions to within 1 part in 128; what
/// numbers few things, clocks and texts as they are.
RankFacts rounded(RankFacts facts);

}  // namespace chameleon::format
