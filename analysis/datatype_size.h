// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Bytes of data in a derived datatype, from the arguments of its constructor
/// (MPI 4.0, section 5.1): what a message of it carries, gaps not counted. The
/// arguments come through callables, so that it serves traces and raw records
/// alike. O(length of the constructor's arrays).

#include <cstdint>
#include <span>
#include <string_view>

#include "base/rooms.h"

namespace chameleon::analysis {

inline constexpr std::int64_t kUnknownSize = -1;

/// Size of the type that `call` (without MPI_ or _c) constructs. `number(name)`
/// gives a scalar argument, `array(name)` a span of numbers, `size(handle)` the
/// size of a type. `kUnknownSize` when it cannot be told.
template <class Number, class Array, class Size>
std::int64_t constructed_size(std::string_view call, Number number, Array array, Size size) {
  const auto times = [](std::int64_t n, std::int64_t bytes) {
    std::int64_t product = 0;
    if (n < 0 || bytes < 0 || __builtin_mul_overflow(n, bytes, &product)) return kUnknownSize;
    return product;
  };
  const auto is = [&](auto... names) { return ((call == names) || ...); };
  if (is("Type_dup", "Type_create_resized")) return size(number("oldtype"));
  if (is("Type_contiguous")) return times(number("count"), size(number("oldtype")));
  if (is("Type_vector", "Type_create_hvector", "Type_hvector", "Type_create_indexed_block",
         "Type_create_hindexed_block"))
    return times(times(number("count"), number("blocklength")), size(number("oldtype")));
  if (is("Type_indexed", "Type_create_hindexed", "Type_hindexed")) {
    std::int64_t blocks = 0;
    for (const std::int64_t length : array("array_of_blocklengths")) blocks += length;
    return times(blocks, size(number("oldtype")));
  }
  if (is("Type_create_struct", "Type_struct")) {
    const std::span<const std::int64_t> lengths = array("array_of_blocklengths");
    const std::span<const std::int64_t> types = array("array_of_types");
    if (lengths.size() != types.size()) return kUnknownSize;
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < types.size(); ++i) {
      const std::int64_t part = times(lengths[i], size(types[i]));
      if (part == kUnknownSize) return kUnknownSize;
      sum += part;
    }
    return sum;
  }
  if (is("Type_create_subarray")) {
    std::int64_t elements = 1;
    for (const std::int64_t length : array("array_of_subsizes")) elements = times(elements, length);
    return times(elements, size(number("oldtype")));
  }
  // Type_create_darray: the share of one process depends on constants of the
  // implementation (MPI_DISTRIBUTE_BLOCK ...), so it is not told.
  return kUnknownSize;
}

}  // namespace chameleon::analysis
