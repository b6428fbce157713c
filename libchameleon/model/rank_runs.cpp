// SPDX-License-Identifier: BSD-3-Clause
#include "model/rank_runs.h"

#include <algorithm>
#include <memory>

namespace chameleon::inline model {

std::uint32_t RankRun::below(std::uint32_t rank) const {
  if (count == 0 || interval.last >= rank) return 0;
  if (count == 1) return 1;
  return std::min(count, (rank - interval.last - 1) / stride + 1);
}

void RankRuns::release() noexcept {
  if (more_->users.fetch_sub(1, std::memory_order_acq_rel) == 1) delete more_;
  more_ = nullptr;
}

std::vector<RankRun>& RankRuns::several() {
  if (more_->users.load(std::memory_order_acquire) != 1) {
    auto own = std::make_unique<Several>();
    own->runs = more_->runs;
    release();
    more_ = own.release();
  }
  return more_->runs;
}

RankRun* RankRuns::before_end() {
  if (more_ == nullptr) return nullptr;
  std::vector<RankRun>& runs = several();
  return runs.size() < 2 ? nullptr : &*(runs.end() - 2);
}

void RankRuns::add(RankRun run) {
  if (more_ != nullptr) return several().push_back(run);
  if (one_.count == 0) {
    one_ = run;
    return;
  }
  auto both = std::make_unique<Several>();
  both->runs = {one_, run};
  more_ = both.release();
  one_ = {};
}

void RankRuns::append(RankInterval interval) {
  if (empty() || end().interval.size() != interval.size()) return add(RankRun::of(interval));
  RankRun& last = end();
  const std::uint32_t distance = interval.first - last.back().first;
  if (last.count > 1) {
    if (distance != last.stride) return add(RankRun::of(interval));
    ++last.count;
    return;
  }
  last.stride = distance;
  last.count = 2;
  RankRun* pair = before_end();
  if (pair == nullptr || pair->count != 2 || pair->interval.size() != interval.size() ||
      last.first() - pair->back().first != distance)
    return;
  last = {pair->back(), distance, 3};
  *pair = pair->head(1);
}

/// As it was before the last interval came.
RankInterval RankRuns::pop() {
  RankRun& last = end();
  const RankInterval gone = last.back();
  last = last.head(last.count - 1);
  if (last.count == 2) {
    RankRun* single = before_end();
    if (single == nullptr || single->count != 1 || single->interval.size() != last.interval.size())
      return gone;
    *single = {single->interval, last.first() - single->first(), 2};
    last = RankRun::of(last.back());
  } else if (last.count == 0 && more_ != nullptr) {
    more_->runs.pop_back();
    if (more_->runs.size() == 1) {
      one_ = more_->runs.front();
      release();
    }
  }
  return gone;
}

void RankRuns::append(RankRun run) {
  for (std::uint32_t i = 0; i < run.count; ++i) {
    append(run.at(i));
    RankRun& last = end();
    if (last.count < 3 || last.stride != run.stride) continue;
    last.count += run.count - i - 1;
    return;
  }
}

void RankRuns::push(RankInterval interval) {
  if (empty() || std::uint64_t{back().last()} + 1 < interval.first) return append(interval);
  if (interval.last <= back().last()) return;
  RankInterval joined = pop();
  joined.last = interval.last;
  append(joined);
}

void RankRuns::push(RankRun run) {
  while (run.count != 0) {
    if (empty() || std::uint64_t{back().last()} + 1 < run.first()) return append(run);
    push(run.interval);
    run = run.tail(1);
  }
}

std::size_t RankIntervals::size() const {
  std::size_t total = 0;
  for (const RankRun& run : runs_) total += run.count;
  return total;
}

}  // namespace chameleon::inline model
