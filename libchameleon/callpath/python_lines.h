// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// From an instruction of Python's byte code to its place in the source: the location table of a
/// code object (`co_linetable`), as CPython 3.11 and later write it (Objects/locations.md). A pure
/// function of bytes, which it does not trust. Cost: the entries up to the instruction.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/rooms.h"

namespace chameleon::callpath {

struct PythonLocation {
  std::uint32_t line = 0;
  std::uint32_t column = 0, end_line = 0, end_column = 0;  ///< columns from 1; 0: not known
  std::size_t table_bytes = 0;  ///< bytes of the table, from its first, that this depends on
  bool operator==(const PythonLocation&) const = default;
};

/// Of the instruction that is `unit` code units (of two bytes) behind the first; of a function that
/// has not begun (a negative unit) the line on which it begins, `first_line`. Nothing if the table
/// is damaged or ends before.
std::optional<PythonLocation> python_location(std::span<const std::uint8_t> table,
                                              std::uint32_t first_line, std::int64_t unit);

}  // namespace chameleon::callpath
