// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// What travels at an acted-on marker: the vote, and beside it who strays, and what the interval
/// took, for the series. The waiting in it is that at the marker before, which was not over when
/// that one's ballots were cast.

#include <type_traits>

#include "model/series.h"
#include "online/stray_ranks.h"
#include "statemachine/vote.h"

namespace chameleon::online {

struct Ballot {
  Vote vote;
  IntervalTally tally;
  StrayRanks strays = {};

  friend void combine(Ballot& mine, const Ballot& theirs) {
    combine(mine.vote, theirs.vote);
    mine.tally.add(theirs.tally);
    combine(mine.strays, theirs.strays);
  }
};

/// Of two intervals, one after the other.
struct TwoBallots {
  Ballot first, second;

  friend void combine(TwoBallots& mine, const TwoBallots& theirs) {
    combine(mine.first, theirs.first);
    combine(mine.second, theirs.second);
  }
};

static_assert(std::is_trivially_copyable_v<Ballot> && sizeof(Ballot) == 152);
static_assert(std::is_trivially_copyable_v<TwoBallots> && sizeof(TwoBallots) == 304);

}  // namespace chameleon::online
