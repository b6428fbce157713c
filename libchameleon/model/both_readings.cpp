// SPDX-License-Identifier: BSD-3-Clause
#include "model/both_readings.h"

#include <bit>
#include <utility>

#include "model/end_point.h"

namespace chameleon::inline model {
namespace {

constexpr int kLook = 16;  ///< segments

struct Without {
  std::uint64_t self;

  static std::uint64_t stride(std::uint64_t value) { return value - (value << 32); }
  std::uint64_t operator()(std::uint64_t value) const { return stride(value) - (self << 32); }
};

struct With {
  std::uint64_t self;

  static std::uint64_t stride(std::uint64_t value) { return value + (value << 32); }
  std::uint64_t operator()(std::uint64_t value) const { return stride(value + (self << 32)); }
};

template <class Map>
ValueSequence mapped(const ValueSequence& values, Map map) {
  return values.map_linear([&](std::int64_t start, std::int64_t stride) {
    return std::pair(static_cast<std::int64_t>(map(static_cast<std::uint64_t>(start))),
                     static_cast<std::int64_t>(Map::stride(static_cast<std::uint64_t>(stride))));
  });
}

/// Of a signed number of variable length.
int bytes_of(std::int64_t value) {
  const auto magnitude = static_cast<std::uint64_t>(value < 0 ? ~value : value);
  return std::bit_width(magnitude) / 7 + 1;
}

/// The rank that most of the partners say, if most say the same (Boyer and Moore 1981): others are
/// around the end of the communicator.
std::optional<std::int64_t> caller(const ValueSequence& values) {
  std::optional<std::int64_t> said;
  int votes = 0;
  ValueSequence::Cursor cursor(values);
  for (int left = kLook; left != 0 && !cursor.done(); --left) {
    const auto [start, stride, count] = cursor.segment();
    cursor.skip(count);
    if (packed_absolute(start) < 0) continue;
    const std::int64_t says = std::int64_t{packed_absolute(start)} - packed_relative(start);
    if (votes == 0) said = says;
    votes += said == says ? 1 : -1;
  }
  return said;
}

}  // namespace

std::optional<BothReadings> BothReadings::of(const ValueSequence& values) {
  const auto self = caller(values);
  if (!self) return std::nullopt;
  const Without map{static_cast<std::uint64_t>(*self)};
  int saved = -bytes_of(*self);
  ValueSequence::Cursor cursor(values);
  for (int left = kLook; left != 0 && !cursor.done(); --left) {
    const auto [start, stride, count] = cursor.segment();
    saved += bytes_of(start) -
             bytes_of(static_cast<std::int64_t>(map(static_cast<std::uint64_t>(start))));
    cursor.skip(count);
  }
  if (saved <= 0) return std::nullopt;
  return BothReadings{*self, mapped(values, map)};
}

ValueSequence BothReadings::undone() const {
  return mapped(values, With{static_cast<std::uint64_t>(self)});
}

}  // namespace chameleon::inline model
