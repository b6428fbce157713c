// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// A share that is too large for one merge is brought in pieces, the oldest first: those that the
/// rank has in a file, then what it has in memory, cut. Each rank's order is what counts: pieces of
/// different ranks need not be of the same time.

#include <span>

#include "flush/plan.h"

namespace chameleon::flush {

/// Whether something is left of a share.
bool has_more(const Share& share);

/// The next piece, as a share with its own number of events; nothing of it is left in `share`. One
/// without events if nothing is left. Throws where a piece cannot be had: then all that is left is
/// lost, so that this ends.
Share take_piece(Share& share);

/// The shares of one rank, the oldest first, as deltas of a trace file: the pieces of each,
/// one at a time, and behind them the trace of each but the last, which is the caller's to write.
class ShareDeltas {
 public:
  explicit ShareDeltas(std::span<Share* const> shares) : shares_(shares) {}

  /// The next one, or nothing: there is no more, or it cannot be read. Then all that follows is
  /// `lost`, the last share's trace too, for what a file has of a rank ends where something lacks.
  Bytes next();
  bool lost() const { return lost_; }

 private:
  std::span<Share* const> shares_;
  bool lost_ = false;
};

}  // namespace chameleon::flush
