// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// How much memory reading what somebody else made may take, unless the caller says otherwise: a
/// quarter of this machine's, and at most 1 GiB. The Python reader has the same.

#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "base/rooms.h"

namespace chameleon::inline base {

inline constexpr std::uint64_t kMostReadBytes = std::uint64_t{1} << 30;

/// The bytes of this machine, or 4 GiB where it does not say.
inline std::uint64_t physical_memory() {
  const long pages = ::sysconf(_SC_PHYS_PAGES), size = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || size <= 0) return 4 * kMostReadBytes;
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(size);
}

inline std::uint64_t default_read_limit() {
  return std::min(kMostReadBytes, physical_memory() / 4);
}

}  // namespace chameleon::inline base
