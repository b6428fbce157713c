// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The series over markers in a file: a column for each number of its spans, times as codes
/// (time_code.h), within 1/128.

#include "base/bytes.h"
#include "model/series.h"

namespace chameleon::format {

void write_series(ByteWriter& out, const Series& series);
/// Fails the reader on what cannot be one.
void read_series(ByteReader& in, Series& series);

}  // namespace chameleon::format
