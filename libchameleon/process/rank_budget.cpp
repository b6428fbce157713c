// SPDX-License-Identifier: BSD-3-Clause
#include "process/rank_budget.h"

#include <algorithm>
#include <utility>

#include "base/memory.h"
#include "process/say.h"

namespace chameleon::process {

namespace {

/// What a rank may hold in any case, in bytes.
constexpr std::uint64_t kLeastValues = std::uint64_t{1} << 20;
/// A rank that takes in others' traces may use so many times what it may record, or this.
constexpr std::uint64_t kMergingShare = 4, kLeastForMerging = std::uint64_t{64} << 20;

std::uint64_t most_for_merging(std::uint64_t memory) {
  return std::max(kLeastForMerging, kMergingShare * std::min(memory, UINT64_MAX / kMergingShare));
}

}  // namespace

RankBudget::RankBudget(Recorder& recorder, RankReport& report, const Settings& settings, int rank,
                       int size)
    : recorder_(recorder),
      report_(report),
      settings_(settings),
      rank_(rank),
      governor_(settings.budget, settings.timing == Timing::kHistogram, settings.leaves_out),
      most_values_(std::max(kLeastValues, settings.trace_limit / static_cast<unsigned>(size))) {
  allow_for_merging(most_for_merging(settings.memory));
}

Governor::Spent RankBudget::spent() {
  const TimeSpent now = recorder_.times().spent(recorder_.streams());
  return {now.elapsed, now.events, now.markers, now.start};
}

void RankBudget::govern(Governor::Cause cause, const Governor::Spent& now) {
  heed(governor_.step(cause, now));
}

void RankBudget::heed(const std::string& changed) {
  if (changed.empty()) return;
  if (governor_.drops_times()) recorder_.streams().drop_times();
  report_.declare("CHAMELEON_BUDGET, " + place() + ": " + changed);
}

void RankBudget::leave_out(bool interval) { recorder_.pause(Pause::kInterval, interval); }

std::size_t RankBudget::spilled(bool limited) {
  watch_memory();
  watch_time();
  return watch_values(limited);
}

void RankBudget::watch_time() {
  // Where there are no markers, nothing can be agreed on: only what concerns this rank alone.
  if (!settings_.leaves_out || settings_.budget <= 0 ||
      recorder_.times().spent_otherwise().at_markers != 0 || governor_.drops_times())
    return;
  const Governor::Spent now = spent();
  if (governor_.may_drop_times()) heed(governor_.step(governor_.over(now), now, false));
}

/// Values are looked at when memory has grown by as much as they may take. What is left when they
/// were bounded is not looked at again.
std::size_t RankBudget::watch_values(bool limited) {
  const std::uint64_t bytes = memory_use().now;
  if (without_values_ == 0) without_values_ = bytes;
  if (std::exchange(bounding_, false) && bytes > most_values_ / 2)
    without_values_ = std::max(without_values_, bytes - most_values_ / 2);
  if (limited) say_values();
  bounding_ = bytes >= without_values_ + most_values_;
  return bounding_ ? most_values_ : 0;
}

void RankBudget::say_values() {
  if (!std::exchange(said_values_, true))
    say("rank " + std::to_string(rank_) +
        ": values differ at each step and take more than its share of CHAMELEON_TRACE_LIMIT: those "
        "that take most become distributions, which the trace declares");
}

void RankBudget::watch_memory() {
  const std::uint64_t bytes = memory_use().now;
  const bool merges = merges_.load(std::memory_order_relaxed);
  const std::uint64_t most = merges ? most_for_merging(settings_.memory) : settings_.memory;
  if (bytes <= most || recorder_.pauses(Pause::kMemory)) return;
  recorder_.pause(Pause::kMemory, true);
  const auto mebibytes = [](std::uint64_t size) { return std::to_string(size >> 20) + " MiB"; };
  report_.declare("CHAMELEON_MEMORY=" + mebibytes(settings_.memory) + " was used up, " + place() +
                  ": later calls are missing" +
                  (unstored_ ? "; no more could be stored (CHAMELEON_SPILL)" : ""));
  say("rank " + std::to_string(rank_) + ": the trace needs " + mebibytes(bytes) +
      " of memory, more than CHAMELEON_MEMORY=" + mebibytes(settings_.memory) +
      ": recording stops here; what was recorded stays" +
      (unstored_.value_or("").empty() ? "" : " (" + *unstored_ + ")"));
}

std::string RankBudget::place() const {
  const std::uint64_t marker = marker_.load(std::memory_order_relaxed);
  return marker == 0 ? "before any marker" : "from marker " + std::to_string(marker) + " on";
}

}  // namespace chameleon::process
