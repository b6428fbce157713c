// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The payload of a commit (docs/reference/format.md), and what travels between ranks.

#include <span>

#include "base/bytes.h"
#include "base/result.h"
#include "format/packed_facts.h"
#include "model/trace.h"

namespace chameleon::format {

/// A trace as bytes between ranks: one commit's payload, uncompressed.
Bytes encode_trace(const Trace& trace);
/// The same with these facts of ranks in place of those in the trace.
Bytes encode_trace(const Trace& trace, const PackedFacts& of_ranks);
/// Whether a section of the payload is read here; others are of newer versions.
bool is_known_section(std::uint64_t tag);
Result<Trace> decode_trace(std::span<const std::uint8_t> bytes);

}  // namespace chameleon::format
