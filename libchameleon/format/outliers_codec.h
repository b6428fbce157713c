// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The section of outliers (docs/reference/format.md).

#include "base/bytes.h"
#include "model/outliers.h"

namespace chameleon::format {

void write_outliers(ByteWriter& out, const Outliers& outliers);
/// Fails the reader on what `write_outliers` did not write.
void read_outliers(ByteReader& in, Outliers& outliers);

}  // namespace chameleon::format
