// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Bytes of data in a derived datatype, from the arguments of its constructor (MPI 4.0, section
/// 5.1) and the MPI table: the bytes that a message of it carries, without gaps. The arguments come
/// through callables, so that it serves traces and raw records alike. O(length of the constructor's
/// arrays).

#include <cstdint>
#include <span>

#include "model/trace.h"
#include "mpi/call_meaning.h"

namespace chameleon::analysis {

inline constexpr std::int64_t kUnknownSize = -1;

/// Size of the predefined type with this id, all of which are below -1.
inline std::int64_t predefined_size(const Trace& trace, std::int64_t type) {
  const auto list = trace.predefined.find("datatype");
  const auto place = static_cast<std::size_t>(-2 - type);
  return type <= -2 && list != trace.predefined.end() && place < list->second.size()
             ? static_cast<std::int64_t>(list->second[place].size)
             : kUnknownSize;
}

/// Size of the type that `call` constructs; null: a call that the table does not have.
/// `number(name)` gives a scalar argument, `array(name)` a span of numbers, `size(handle)` the size
/// of a type. `kUnknownSize` if it cannot be known.
template <class Number, class Array, class Size>
std::int64_t constructed_size(const CallInfo* call, Number number, Array array, Size size) {
  const auto times = [](std::int64_t n, std::int64_t bytes) {
    std::int64_t product = 0;
    if (n < 0 || bytes < 0 || __builtin_mul_overflow(n, bytes, &product)) return kUnknownSize;
    return product;
  };
  if (call == nullptr || meaning_of(*call).size.type < 0) return kUnknownSize;
  const TypeSize& rule = meaning_of(*call).size;
  const std::span<const ParamInfo> all = params(*call);
  const char* type = all[static_cast<std::size_t>(rule.type)].name;
  if (rule.pairwise) {
    const std::span<const std::int64_t> counts = array(all[rule.factors[0].param].name);
    const std::span<const std::int64_t> types = array(type);
    if (counts.size() != types.size()) return kUnknownSize;
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < types.size(); ++i) {
      const std::int64_t part = times(counts[i], size(types[i]));
      if (part == kUnknownSize || __builtin_add_overflow(sum, part, &sum)) return kUnknownSize;
    }
    return sum;
  }
  std::int64_t elements = 1;
  for (std::uint8_t i = 0; i < rule.factor_count; ++i) {
    const char* name = all[rule.factors[i].param].name;
    if (rule.factors[i].rule == TypeSize::Factor::Rule::kValue) {
      elements = times(elements, number(name));
      continue;
    }
    const bool sums = rule.factors[i].rule == TypeSize::Factor::Rule::kSum;
    std::int64_t all_of = sums ? 0 : 1;
    for (const std::int64_t one : array(name)) {
      if (!sums)
        all_of = times(all_of, one);
      else if (__builtin_add_overflow(all_of, one, &all_of))
        return kUnknownSize;
    }
    elements = times(elements, all_of);
  }
  return times(elements, size(number(type)));
}

}  // namespace chameleon::analysis
