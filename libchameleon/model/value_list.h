// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Lists of numbers, such as the blocks of a datatype, as a `ValueSequence` is stored. A sequence
/// looks for what repeats, which takes some 0.2 us for a value that does not: a list of thousands
/// that turns out to be irregular is written as runs and progressions of neighbours instead, and is
/// read without a sequence. Cost then: a few ns for a value, nothing but the list itself in memory.

#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.h"

namespace chameleon::inline model {

/// Values that a reader takes for each byte of what it reads, and beside those: a few bytes may say
/// that there are any number.
inline constexpr std::uint64_t kListValuesPerByte = 64;
inline constexpr std::uint64_t kListValuesBeside = std::uint64_t{1} << 20;

/// `ValueSequence::decode` reads such a list, too. `left`: of the values beside, for all lists that
/// are read together; a list for which they do not suffice takes more bytes instead.
void encode_list(ByteWriter& writer, std::span<const std::int64_t> values, std::uint64_t& left);

/// Reads what `ValueSequence::encode` or `encode_list` wrote, at most `most` values. False, and a
/// failed reader, if it is something else, or more.
bool decode_list(ByteReader& reader, std::uint64_t most, std::vector<std::int64_t>& values);

}  // namespace chameleon::inline model
