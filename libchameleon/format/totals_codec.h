// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The times of ranks by phase as bytes, for codec.cpp: columns over ranks, each number within
/// 1/128. docs/reference/format.md, section 17.

#include "base/bytes.h"
#include "model/phase_totals.h"

namespace chameleon::format {

void write_totals(ByteWriter& out, const PhaseTotals& totals);
/// Fails the reader on what `write_totals` did not write.
void read_totals(ByteReader& in, PhaseTotals& totals);

}  // namespace chameleon::format
