// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// How unlike two ranks' parameters are: Manhattan or Euclidean distance over the
/// parameters in the format, with ACURDION's grouping by importance (dissertation
/// section 4.1.1): {COUNT, LOOP, compute, communication time} below {SRC, DEST,
/// TAG, KEY, COLOR} below {Call-Path, data + operation + communicator type, sequence}, each
/// group shifted so that a difference of 1 in it outweighs any in the groups below. Call-Path and
/// sequence are nominal, 1 where they differ: by how much two hashes differ means nothing.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "signature/signature.h"

namespace chameleon::cluster {

enum class Distance : std::uint8_t { kManhattan, kEuclidean };  ///< CHAMELEON_DISTANCE

inline const char* distance_name(Distance distance) {
  return distance == Distance::kManhattan ? "manhattan" : "euclidean";
}
/// Reads what `distance_name` gives; false on anything else.
inline bool distance_of(std::string_view name, Distance& distance) {
  for (const Distance each : {Distance::kManhattan, Distance::kEuclidean})
    if (name == distance_name(each)) return distance = each, true;
  return false;
}

/// 0 (least important) to 2.
constexpr unsigned importance(Parameter parameter) {
  switch (parameter) {
    case Parameter::kCount:
    case Parameter::kLoop:
    case Parameter::kCompute:
    case Parameter::kCommunication: return 0;
    case Parameter::kDataOperation:
    case Parameter::kSequence: return 2;
    default: return 1;
  }
}

/// One coordinate of the difference, 0 to 2^32 (the papers' bound on values).
inline double difference(const SignatureVector& a, const SignatureVector& b, Parameter parameter) {
  if (parameter == Parameter::kDataOperation)
    return std::popcount(a[parameter].exact ^ b[parameter].exact);
  if (parameter == Parameter::kSequence) return a[parameter].exact == b[parameter].exact ? 0 : 1;
  double value = std::abs(a[parameter].mean - b[parameter].mean);
  // Four packed levels of nesting, scaled so that the outer two are before the point.
  if (parameter == Parameter::kLoop) value = std::ldexp(value, -32);
  return std::min(value, 0x1p32);
}

/// 0 when averages agree. The lower groups keep what precision the higher leave.
inline double distance(const SignatureVector& a, const SignatureVector& b, Distance metric,
                       SignatureFormat format) {
  double groups[3] = {0, 0, 0};
  if ((format & kCallPathBit) != 0 && a.call_path != b.call_path) groups[2] = 1;
  for (std::size_t i = 0; i < kParameters; ++i) {
    const auto parameter = static_cast<Parameter>(i);
    if ((format & format_bit(parameter)) == 0) continue;
    const double value = difference(a, b, parameter);
    groups[importance(parameter)] += metric == Distance::kManhattan ? value : value * value;
  }
  // At most five parameters below 2^32 add up to less than 2^35.
  constexpr double kShift = 0x1p35;
  if (metric == Distance::kManhattan) return groups[0] + kShift * (groups[1] + kShift * groups[2]);
  return std::sqrt(groups[0] + kShift * kShift * (groups[1] + kShift * kShift * groups[2]));
}

}  // namespace chameleon::cluster
