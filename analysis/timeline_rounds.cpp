// SPDX-License-Identifier: BSD-3-Clause
/// Iterations that others stand for. Between iterations of a steady loop all streams stop. How they
/// stand to each other there is compared with how they stood some iterations before (Brent 1980: of
/// the iterations 1, 2, 4, 8, ... each until the next), which finds any period soon after it has
/// begun, with O(streams) an iteration.

#include "analysis/timeline_pass.h"

namespace chameleon::analysis {
namespace timeline {

void Pass::watch_rounds() {
  const bool by_time =
      std::any_of(lanes_.begin(), lanes_.end(), [](const Lane& lane) { return lane.by_time; });
  if (trace_.threads > 1 || by_time) return;
  const std::unordered_set<const Node*> loops = steady_loops(plan_.follow, kFewestRounds);
  if (loops.empty()) return;
  stops_ = true;
  for (Rank& rank : ranks_) rank.operations.view().watch(loops);
}

bool Pass::stops_at_round(Row& row) {
  if (std::exchange(row.goes_on, false)) return false;
  row.round = row.rank->operations.view().round();
  if (row.round.loop == nullptr) return false;
  row.stops = true;
  ++stopped_;
  return true;
}

/// Who stopped goes on: all are there, or others wait for what comes after.
bool Pass::leave_round() {
  if (stopped_ == 0) return false;
  if (all_at_one_round())
    end_round();
  else if (++missed_ > kMostMissed)
    stops_ = false;
  stopped_ = 0;
  for (Row& row : rows_) {
    if (!std::exchange(row.stops, false)) continue;
    row.goes_on = true;
    make_ready(row);
  }
  return true;
}

bool Pass::all_at_one_round() const {
  if (stopped_ < rows_.size()) return false;
  return std::all_of(rows_.begin(), rows_.end(),
                     [&](const Row& row) { return row.round == rows_.front().round; });
}

void Pass::end_round() {
  if (standing_left_ > 0) {
    if (--standing_left_ == 0) leave_out();
    return;
  }
  if (rows_.front().round.left < kFewestRounds / 2 || !is_quiet())
    before_.reset();
  else
    compare_with(standing());
}

/// Nothing has begun that ends later.
bool Pass::is_quiet() const {
  if (!meetings_.empty()) return false;
  for (const auto& [channel, sent] : sent_)
    if (!sent.begins.empty()) return false;
  return std::all_of(ranks_.begin(), ranks_.end(), [](const Rank& rank) {
    return rank.begun.empty() && rank.probed.empty() && rank.operations.is_quiet();
  });
}

Pass::Standing Pass::standing() const {
  Standing now;
  const Row& first = rows_.front();
  now.round = first.round;
  now.base = first.clock;
  now.lane_base = first.lane_clock;
  now.events = facts_.events;
  now.moved = facts_.moved;
  now.unmatched = facts_.unmatched;
  for (const Row& row : rows_) {
    now.state.push_back(row.clock - now.base);
    for (std::size_t i = 0; i < lanes_.size(); ++i)
      now.state.push_back(row.lane_clock[i] - now.lane_base[i]);
    now.nominal.push_back(row.nominal);
    now.behind.push_back(
        static_cast<std::int64_t>(row.clock - static_cast<std::uint64_t>(row.nominal)));
  }
  if (watch_->state) watch_->state(now.state);
  return now;
}

/// Streams that are behind their times, where that decides nothing, may fall back further.
bool Pass::comes_again(const Standing& now) const {
  if (now.state != before_->state || now.unmatched != before_->unmatched) return false;
  if (network_ == Network::kIdeal) return true;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const std::int64_t was = before_->behind[i], is = now.behind[i];
    if (rows_[i].bound ? is != was : is < was) return false;
  }
  return true;
}

/// Where two stand alike, those between them must come again with the values that they have; the
/// next ones are the first of which that is known.
void Pass::compare_with(Standing now) {
  const bool follows = before_ && before_->round.loop == now.round.loop &&
                       before_->round.iteration + compared_ + 1 == now.round.iteration;
  if (!follows) return begin_comparing(std::move(now), 1);
  ++compared_;
  if (comes_again(now)) {
    if (compared_ == expected_) return stand_for_rest(std::move(now));
    if (const std::uint64_t alike = times_alike(); alike >= kFewestRounds / 4) {
      const std::uint64_t period = compared_;
      begin_comparing(std::move(now), period);
      alike_ = alike;
      expected_ = period;
      return;
    }
  }
  if (compared_ >= compare_until_) begin_comparing(std::move(now), 2 * compare_until_);
}

void Pass::begin_comparing(Standing now, std::uint64_t until) {
  compared_ = expected_ = 0;
  compare_until_ = until;
  before_ = std::move(now);
  for (Row& row : rows_) {
    row.bound = false;
    before_->marks.push_back(row.rank->operations.mark());
  }
}

std::uint64_t Pass::times_alike() const {
  std::uint64_t times = UINT64_MAX;
  for (std::size_t i = 0; i < rows_.size(); ++i)
    times = std::min(times, rows_[i].rank->operations.times_alike(before_->marks[i]));
  return times;
}

/// How often an iteration may be taken: one more is left as it is.
std::uint64_t Pass::most_times(const Standing& now, std::uint64_t period,
                               std::uint64_t ticks) const {
  // Of those alike, one has passed; another is left, as is the last of all.
  const std::uint64_t fit = std::min(now.round.left / period, alike_ - 1);
  const std::uint64_t times = fit > 0 ? fit - 1 : 0;
  if (!watch_->until_ns) return times;
  std::uint64_t earliest = UINT64_MAX, latest = 0;
  for (const Row& row : rows_) {
    earliest = std::min(earliest, row.clock - std::min(row.clock, ticks));
    latest = std::max(latest, row.clock);
  }
  const std::uint64_t from = (latest + later_) / kNs;
  const std::uint64_t until = watch_->until_ns((earliest + later_) / kNs);
  if (until == UINT64_MAX) return times;
  const std::uint64_t each = ticks / kNs + 1;
  return std::min(times, until > from ? (until - from) / each : 0);
}

void Pass::stand_for_rest(Standing now) {
  const std::uint64_t period = compared_, ticks = now.base - before_->base;
  const std::uint64_t times = most_times(now, period, ticks);
  if (times < kFewestRounds / 4) {
    before_.reset();
    return;
  }
  begin_comparing(std::move(now), 1);
  period_ = standing_left_ = period;
  standing_times_ = times;
  if (watch_->take) watch_->take(times, static_cast<double>(ticks) / kNs);
}

/// After the iterations that stand for others.
void Pass::leave_out() {
  const Standing now = standing();
  const std::uint64_t left_out = standing_times_ - 1;
  const std::uint64_t ticks = left_out * (now.base - before_->base);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    Row& row = rows_[i];
    row.rank->operations.leave_out(left_out, period_, before_->marks[i]);
    const auto passed = static_cast<std::uint64_t>(row.nominal - before_->nominal[i]);
    row.nominal = static_cast<std::int64_t>(static_cast<std::uint64_t>(row.nominal) +
                                            left_out * passed - ticks);
    row.later += ticks;
  }
  const std::uint64_t events = left_out * (facts_.events - before_->events);
  facts_.events += events;
  facts_.at_once += events;
  facts_.moved += left_out * (facts_.moved - before_->moved);
  later_ += ticks;
  for (std::size_t i = 0; i < lanes_.size(); ++i)
    lane_later_[i] += left_out * (now.lane_base[i] - before_->lane_base[i]);
  before_.reset();
  if (watch_->take) watch_->take(1, 0);
}

}  // namespace timeline
}  // namespace chameleon::analysis
