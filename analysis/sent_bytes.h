// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Bytes that calls send: a send's count times the size of its type; of a
/// collective, what the rank sends in it (volumes.h). Receives, one-sided calls, files
/// and persistent requests count nothing. Where count and type alone tell and types are
/// predefined, the folded form is summed; what needs a communicator's size or a derived
/// type walks the ranks' events, O(events), unless there are more than `kMostWalked`.

#include <cstdint>
#include <map>

#include "model/trace.h"

namespace chameleon::analysis {

struct SentBytes {
  std::map<const Node*, std::uint64_t> bytes;
  bool complete = true;  ///< false: a lower bound
};

inline constexpr std::uint64_t kMostWalked = 50'000'000;

/// By the streams in `streams`.
SentBytes sent_bytes(const Trace& trace, const RankList& streams);

}  // namespace chameleon::analysis
