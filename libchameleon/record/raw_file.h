// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The file of a thread's raw records (docs/reference/raw.md): its name, its head, and the lines
/// of times.

#include <cstdint>
#include <cstdio>
#include <string>

#include "record/time_account.h"

namespace chameleon::record {

/// Creates `folder`/rank.N.raw, or rank.N.T.raw of a further thread, with its head; null, and one
/// line says why, if it cannot.
std::FILE* open_raw_file(const std::string& folder, int rank, int size, std::uint32_t thread);

/// Behind a call's line: its call path, and the time before it and in it, in ticks.
void write_raw_times(TimeAccount& times, const Stream& stream, std::uint64_t path,
                     std::uint64_t compute, std::uint64_t communication);

}  // namespace chameleon::record
