// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The payload of a commit as it comes out of the file: one zstd frame, or as it is. It is
/// decompressed a piece at a time, and of that only the sections that this version knows are kept:
/// other sections take no memory. For file.cpp only.

#include <cstdint>
#include <span>
#include <string>

#include "base/bytes.h"
#include "base/result.h"

namespace chameleon::format::commit {

/// The sections known here, of what `stored` holds. `plain_size` is what the commit claims to be.
/// Error: kCorrupt, `message` is what the commit does ("does not decompress").
Result<Bytes> known_sections(std::span<const std::uint8_t> stored, bool packed,
                             std::uint64_t plain_size);

}  // namespace chameleon::format::commit
