// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Facts as bytes, for codec.cpp, as chameleon/facts.inc lists them. Section 14 holds those of
/// ranks as columns, and those of the run that came with 1.4 or later; facts that are not in the
/// list are carried along. Older facts of the run are in sections 1 and 10, by their order. Files
/// before 1.4 have the facts of ranks in sections 7, 11 and 12, one for each version that they came
/// with.

#include "base/bytes.h"
#include "format/packed_facts.h"
#include "model/trace.h"

namespace chameleon::format {

/// Those of ranks as they are packed, whatever the trace has.
void write_facts(ByteWriter& out, const Trace& trace, const PackedFacts& of_ranks);
void read_facts(ByteReader& in, Trace& trace);

/// The columns of a section before 1.4: the facts that came with version 1.`minor`.
void read_former_facts(ByteReader& in, Trace& trace, unsigned minor);

void write_run_facts(ByteWriter& out, const RunFacts& facts);
void read_run_facts(ByteReader& in, RunFacts& facts);
void write_online_facts(ByteWriter& out, const MarkerFacts& facts);
void read_online_facts(ByteReader& in, MarkerFacts& facts);

}  // namespace chameleon::format
