// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The waiting at markers by place as bytes, for codec.cpp: the mean of a class's streams within
/// 1/128. docs/reference/format.md, section 18.

#include "base/bytes.h"
#include "model/time_table.h"

namespace chameleon::format {

void write_waits(ByteWriter& out, const TimeTable& times);
/// Reads what `write_waits` wrote into `times`, which has its classes already. Fails the reader on
/// anything else.
void read_waits(ByteReader& in, TimeTable& times);

}  // namespace chameleon::format
