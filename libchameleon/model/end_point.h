// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// A partner in a call, known two ways at once: its rank in the event's
/// communicator (absolute) and its distance from the caller (relative, wrapped
/// into -size/2 < d <= size/2). Both live in one 64-bit value, absolute * 2^32 +
/// relative, so arithmetic progressions of either stay progressions. When ranks
/// are merged only what they have in common is kept: the relative form for a
/// halo exchange, the absolute form for a root (ScalaTrace's end-point encoding).

#include <cstdint>
#include <utility>

#include "base/rooms.h"

namespace chameleon::inline model {

/// Which reading of an end-point's stored values holds.
enum class EndPointForm : std::uint8_t { kBoth = 0, kAbsolute = 1, kRelative = 2 };

/// Partners that are no rank; the same in either reading.
enum class SpecialRank : std::int32_t {
  kNone = 1,       ///< nothing to record (a status of a receive without wildcard)
  kProcNull = 2,   ///< MPI_PROC_NULL
  kAnySource = 3,  ///< MPI_ANY_SOURCE
  kRoot = 4,       ///< MPI_ROOT
  kUndefined = 5,  ///< MPI_UNDEFINED and anything outside the communicator
};

constexpr std::int32_t kFirstSpecialRelative = INT32_MIN;

constexpr std::int64_t pack_end_point(std::int32_t absolute, std::int32_t relative) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(static_cast<std::int64_t>(absolute))
                                   << 32) +
         relative;
}

constexpr std::int64_t pack_special(SpecialRank special) {
  const auto code = static_cast<std::int32_t>(special);
  return pack_end_point(-code, kFirstSpecialRelative + code);
}

/// Distance from `self` to `rank` in a communicator of `size` ranks.
constexpr std::int32_t relative_rank(std::int32_t rank, std::int32_t self, std::int32_t size) {
  std::int32_t distance = rank - self;
  if (distance > size / 2) distance -= size;
  if (distance <= -(size - size / 2)) distance += size;
  return distance;
}

constexpr std::int64_t pack_rank(std::int32_t rank, std::int32_t self, std::int32_t size) {
  return pack_end_point(rank, relative_rank(rank, self, size));
}

constexpr std::int32_t packed_relative(std::int64_t packed) {
  return static_cast<std::int32_t>(static_cast<std::uint64_t>(packed) & 0xffffffffU);
}

constexpr std::int32_t packed_absolute(std::int64_t packed) {
  const auto low = static_cast<std::uint64_t>(static_cast<std::int64_t>(packed_relative(packed)));
  return static_cast<std::int32_t>(
      static_cast<std::int64_t>(static_cast<std::uint64_t>(packed) - low) >> 32);
}

/// One end-point as stored in a trace, with the form that says how to read it.
struct EndPoint {
  EndPointForm form = EndPointForm::kAbsolute;
  std::int64_t value = 0;

  /// The code of a `SpecialRank`, or 0 when this is a rank.
  constexpr std::int32_t special() const {
    if (form == EndPointForm::kRelative) {
      const std::int64_t code = value - kFirstSpecialRelative;
      return code > 0 && code < 16 ? static_cast<std::int32_t>(code) : 0;
    }
    const std::int64_t rank = form == EndPointForm::kBoth ? packed_absolute(value) : value;
    return rank < 0 ? static_cast<std::int32_t>(-rank) : 0;
  }

  /// The rank in the event's communicator, given the caller's place in it
  /// (on an intercommunicator: its local rank and the remote size).
  constexpr std::int32_t rank(std::int32_t self, std::int32_t size) const {
    if (form == EndPointForm::kBoth) return packed_absolute(value);
    if (form == EndPointForm::kAbsolute || size <= 0) return static_cast<std::int32_t>(value);
    const std::int64_t sum = self + value;
    if (sum >= 0 && sum < size) return static_cast<std::int32_t>(sum);  // a division costs more
    const std::int64_t rank = sum % size;
    return static_cast<std::int32_t>(rank < 0 ? rank + size : rank);
  }
};

/// Projects a packed progression to one reading: how `ValueSequence::map_linear` is called.
struct ProjectEndPoint {
  EndPointForm form;
  std::pair<std::int64_t, std::int64_t> operator()(std::int64_t start, std::int64_t stride) const {
    if (form == EndPointForm::kRelative) return {packed_relative(start), packed_relative(stride)};
    return {packed_absolute(start), packed_absolute(stride)};
  }
};

}  // namespace chameleon::inline model
