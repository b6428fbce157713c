// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Effort windows in a file: columns of whole nanoseconds, exact, so that whoever reads them can
/// check the error that they claim.

#include "base/bytes.h"
#include "model/effort.h"

namespace chameleon::format {

void write_efforts(ByteWriter& out, const Efforts& efforts);
/// Fails the reader on what cannot be one. Memory: 8 MiB, and 512 bytes for each byte read.
void read_efforts(ByteReader& in, Efforts& efforts);

}  // namespace chameleon::format
