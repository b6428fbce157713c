// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The file of a thread's raw records (docs/reference/raw.md): its name and its head.

#include <cstdint>
#include <cstdio>
#include <string>

#include "base/rooms.h"

namespace chameleon::record {

/// Creates `folder`/rank.N.raw, or rank.N.T.raw of a further thread, with its head; null, and one
/// line says why, if it cannot.
std::FILE* open_raw_file(const std::string& folder, int rank, int size, std::uint32_t thread);

}  // namespace chameleon::record
