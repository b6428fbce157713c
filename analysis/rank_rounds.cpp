// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/rank_rounds.h"

#include <algorithm>

#include "analysis/steady_loops.h"

namespace chameleon::analysis {

std::unordered_set<const Node*> loops_at_once(const TracePlan& plan) {
  if (plan.follow.trace->threads > 1) return {};
  return steady_loops(plan.follow, kFewestRounds);
}

void RankRounds::begin_comparing(const RankView::Round& round) {
  since_ = round;
  compared_ = 0;
  before_ = at_.mark();
}

void RankRounds::look() {
  const RankView::Round round = at_.view().round();
  if (round.loop == nullptr) return;
  if (standing_ > 0) {
    if (--standing_ > 0) return;
    at_.leave_out(times_ - 1, period_, *before_);
    times_ = 1;
    before_.reset();
    return;
  }
  if (!at_.is_quiet()) return before_.reset();
  if (!before_ || since_.loop != round.loop || since_.iteration + compared_ + 1 != round.iteration)
    return begin_comparing(round);
  ++compared_;
  const std::uint64_t fit = std::min(at_.times_alike(*before_), round.left / compared_);
  if (fit > kFewestTimes) {
    period_ = standing_ = compared_;
    times_ = fit - 1;
    begin_comparing(round);
  } else if (compared_ >= kLongestPeriod) {
    begin_comparing(round);
  }
}

}  // namespace chameleon::analysis
