// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The messages of some pairs of ranks one by one, with their times and places, as the plots of
/// Aguilera et al. 2006 (figures 6 to 11) need them, and their sums by size. One run of the
/// timeline; memory of the messages kept and of the different sizes.

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time_between.h"
#include "model/trace.h"

namespace chameleon::analysis {

struct PairMessage {
  std::uint32_t source = 0, dest = 0;  ///< world ranks
  std::uint64_t bytes = 0;
  /// Begin of the send, and end of the call that completes the receive, on the timeline.
  std::uint64_t sent_ns = 0, received_ns = 0;
  std::uint64_t send_path = 0, receive_path = 0;  ///< call paths; 0: not known

  std::uint64_t transfer_ns() const { return time_between(sent_ns, received_ns); }
};

/// All messages of one size in one direction.
struct SizeMessages {
  std::uint32_t source = 0, dest = 0;
  std::uint64_t bytes = 0, messages = 0;
  double transfer_ns = 0;  ///< sum
  PairMessage longest;     ///< by transfer
  // Of those that are kept; 0 if none is.
  double median_ns = 0;
  std::uint64_t send_path = 0, receive_path = 0;  ///< the most frequent
};

struct PairMessages {
  std::uint32_t a = 0, b = 0;  ///< the lower first
  std::uint64_t messages = 0;  ///< both directions
  /// Of those, messages that end as they are sent, because a receive ends no earlier: clocks and
  /// the timeline do not tell how long they took.
  std::uint64_t too_short = 0;
  std::uint64_t every = 1;          ///< one of so many is kept, evenly
  std::vector<PairMessage> kept;    ///< by `sent_ns`
  std::vector<SizeMessages> sizes;  ///< the longest sum first
};

/// One for each of the pairs, in their order, with at most `most` messages kept. Needs the times of
/// single messages (`unsupported` of pairs.h). Error: the trace is damaged.
Result<std::vector<PairMessages>> pair_messages(
    const Trace& trace, std::span<const std::pair<std::uint32_t, std::uint32_t>> pairs,
    std::size_t most);

}  // namespace chameleon::analysis
