// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Values that follow from the rank, as the file writes a table of them in a few
/// bytes whatever the number of ranks: a partner that is the rank with some bits
/// flipped (hypercubes, butterflies), or the transposed place in a grid, in groups
/// (CG's transpose). Strides and constants need none: sequences have them.

#include <cstdint>
#include <optional>
#include <span>

#include "base/bytes.h"
#include "model/end_point.h"
#include "model/rank_runs.h"

namespace chameleon::format {

struct RankFormula {
  enum class Kind : std::uint8_t {
    kXor = 1,        ///< rank ^ a
    kTranspose = 2,  ///< with h = rank / b: b (h mod a * (size / b / a) + h / a) + rank mod b
  };
  Kind kind = Kind::kXor;
  std::uint32_t a = 0, b = 1;

  /// The value that rank `rank` of `size` computes.
  std::int64_t absolute(std::uint32_t rank, std::uint32_t size) const {
    if (kind == Kind::kXor) return rank ^ a;
    const std::uint64_t h = rank / b;
    const std::uint64_t rows = size / b / a;
    return static_cast<std::int64_t>(b * (h % a * rows + h / a) + rank % b);
  }
  /// That value as an end-point of this form is stored (plain values: unchanged). For a stream, the
  /// value of its rank.
  std::int64_t stored(std::uint32_t stream, EndPointForm form, std::uint32_t size) const {
    const std::uint32_t rank = size == 0 ? stream : stream % size;
    const std::int64_t value = absolute(rank, size);
    if (form != EndPointForm::kRelative) return value;
    return relative_rank(static_cast<std::int32_t>(value), static_cast<std::int32_t>(rank),
                         static_cast<std::int32_t>(size));
  }

  void encode(ByteWriter& writer) const {
    writer.u8(static_cast<std::uint8_t>(kind));
    writer.varint(a);
    writer.varint(b);
  }
  static bool decode(ByteReader& reader, RankFormula& formula) {
    const std::uint8_t kind = reader.u8();
    const std::uint64_t a = reader.varint();
    const std::uint64_t b = reader.varint();
    if (kind < 1 || kind > 2 || a >= (1U << 31) || b == 0 || b >= (1U << 31) ||
        (kind == 2 && a == 0)) {
      reader.fail();
      return false;
    }
    formula = {static_cast<Kind>(kind), static_cast<std::uint32_t>(a),
               static_cast<std::uint32_t>(b)};
    return reader.ok();
  }
};

/// A value that streams in a row have in common.
struct ValueOfStreams {
  RankInterval streams;
  std::int64_t value = 0;
};

/// The formula that gives exactly these values, of ascending streams, in a job of `size` ranks, if
/// there is one and at least four values. O(square root of size), and O(values) for those that fit.
inline std::optional<RankFormula> find_formula(std::span<const ValueOfStreams> values,
                                               EndPointForm form, std::uint32_t size) {
  if (values.empty() || size == 0) return std::nullopt;
  if (values.size() < 4) {
    std::uint64_t streams = 0;
    for (const ValueOfStreams& one : values) streams += one.streams.size();
    if (streams < 4) return std::nullopt;
  }
  const auto fits = [&](const RankFormula& formula) {
    for (const auto& [streams, value] : values)
      for (std::uint64_t stream = streams.first; stream <= streams.last; ++stream)
        if (formula.stored(static_cast<std::uint32_t>(stream), form, size) != value) return false;
    return true;
  };
  const std::uint32_t rank = values.front().streams.first % size;
  const std::int64_t value = values.front().value;
  const std::int64_t first = form == EndPointForm::kRelative ? (rank + value + size) % size : value;
  if (first >= 0 && first < (std::int64_t{1} << 31)) {
    const RankFormula formula{RankFormula::Kind::kXor, rank ^ static_cast<std::uint32_t>(first), 1};
    if (formula.a != 0 && fits(formula)) return formula;
  }
  for (std::uint32_t group = 1; group <= 2; ++group) {
    if (size % group != 0) continue;
    const std::uint32_t ranks = size / group;
    const auto fits_with = [&](std::uint32_t a) {
      return fits({RankFormula::Kind::kTranspose, a, group});
    };
    std::uint32_t a = 2;  // divisors up to the square root, then the others, ascending
    for (; a <= ranks / a; ++a)
      if (ranks % a == 0 && fits_with(a))
        return RankFormula{RankFormula::Kind::kTranspose, a, group};
    for (--a; a >= 2; --a)
      if (ranks % a == 0 && ranks / a != a && fits_with(ranks / a))
        return RankFormula{RankFormula::Kind::kTranspose, ranks / a, group};
  }
  return std::nullopt;
}

}  // namespace chameleon::format
