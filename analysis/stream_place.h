// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// A stream's calls of one kind from one call path: what analyses of a timeline add up for.

#include <compare>
#include <cstdint>

namespace chameleon::analysis {

struct StreamPlace {
  std::uint32_t stream = 0;
  std::uint16_t call = 0;
  std::uint64_t path = 0;
  auto operator<=>(const StreamPlace&) const = default;
};

}  // namespace chameleon::analysis
