// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The times of a trace as bytes, for codec.cpp: columns over places, the more exact the more of
/// the time a place takes. Sums over the classes are within 1/2048, means of a class within 2 %,
/// extremes and deviations within a bin of a histogram; bins are kept only of places that take a
/// hundredth of the time, where they have more than one mode. docs/reference/format.md, section 15.

#include "base/bytes.h"
#include "model/trace.h"

namespace chameleon::format {

/// Requires that the nodes stay as they are: places are named by their symbols.
void write_times(ByteWriter& out, const Trace& trace);
/// Reads what `write_times` wrote into `trace.times`; `trace.nodes` are there already. Fails the
/// reader on anything else.
void read_times(ByteReader& in, Trace& trace);

}  // namespace chameleon::format
