// SPDX-License-Identifier: BSD-3-Clause
#include "process/rank_budget.h"

#include "base/memory.h"
#include "process/say.h"

namespace chameleon::process {

RankBudget::RankBudget(Recorder& recorder, RankReport& report, const Settings& settings, int rank)
    : recorder_(recorder),
      report_(report),
      settings_(settings),
      rank_(rank),
      governor_(settings.budget, settings.timing == Timing::kHistogram) {}

Governor::Spent RankBudget::spent() {
  const TimeSpent now = recorder_.times().spent(recorder_.streams());
  return {now.elapsed, now.events, now.markers};
}

void RankBudget::govern(Governor::Cause cause, const Governor::Spent& now) {
  const std::string changed = governor_.step(cause, now);
  if (changed.empty()) return;
  if (governor_.drops_times()) recorder_.streams().drop_times();
  report_.declare("CHAMELEON_BUDGET, " + place() + ": " + changed);
}

void RankBudget::leave_out(bool interval) { recorder_.pause(Pause::kInterval, interval); }

void RankBudget::spilled() {
  watch_memory();
  // Where there are no markers, nothing can be agreed on: only what concerns this rank alone.
  if (settings_.budget <= 0 || recorder_.times().saw_marker() || governor_.drops_times()) return;
  const Governor::Spent now = spent();
  if (governor_.may_drop_times()) govern(governor_.over(now), now);
}

void RankBudget::watch_memory() {
  const std::uint64_t bytes = memory_use().now;
  if (bytes <= settings_.memory || recorder_.pauses(Pause::kMemory)) return;
  recorder_.pause(Pause::kMemory, true);
  const auto mebibytes = [](std::uint64_t size) { return std::to_string(size >> 20) + " MiB"; };
  report_.declare("CHAMELEON_MEMORY=" + mebibytes(settings_.memory) + " was used up, " + place() +
                  ": later calls are missing");
  say("rank " + std::to_string(rank_) + ": the trace needs " + mebibytes(bytes) +
      " of memory, more than CHAMELEON_MEMORY=" + mebibytes(settings_.memory) +
      ": recording stops here; what was recorded stays");
}

std::string RankBudget::place() const {
  const std::uint64_t marker = marker_.load(std::memory_order_relaxed);
  return marker == 0 ? "before any marker" : "from marker " + std::to_string(marker) + " on";
}

}  // namespace chameleon::process
