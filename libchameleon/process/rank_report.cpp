// SPDX-License-Identifier: BSD-3-Clause
#include "process/rank_report.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/memory.h"
#include "process/fault.h"

namespace chameleon::process {

RankReport::RankReport(Recorder& recorder, const Settings& settings, int rank, int size)
    : recorder_(recorder),
      settings_(settings),
      rank_(static_cast<std::uint32_t>(rank)),
      size_(static_cast<std::uint32_t>(size)) {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  facts_.host = host;
  facts_.processor = static_cast<std::uint32_t>(std::max(0, sched_getcpu()));
}

/// What the rank spent by phase, in ns, of all that it spent and of the run, both in ticks. What is
/// of no phase is the rest, and no more than the rest of the run.
PhaseTotals::ByPhase RankReport::phases(SpentTimes all, std::uint64_t run) const {
  PhaseTotals::ByPhase phases = phases_;
  for (const auto& [phase, spent] : phases_) {
    all = all.without(spent);
    run = time_between(spent.sum(), run);
  }
  for (const SpentTime kind : kSpentTimes) {
    all.*kind = std::min(all.*kind, run);
    run -= all.*kind;
  }
  phases[PhaseTotals::kNoPhase] = all;
  for (auto& [phase, spent] : phases)
    for (const SpentTime kind : kSpentTimes) spent.*kind = recorder_.times().ns(spent.*kind);
  return phases;
}

/// What the rank's first stream spent in a run of so many ticks. What the stamps of calls do not
/// see is estimated: the tool had no more than calls and waiting left of the run.
SpentTimes RankReport::spent(const Stream& stream, std::uint64_t run) const {
  const TimeAccount& times = recorder_.times();
  SpentTimes all;
  all.collective = std::min(stream.collective_ticks, stream.call_ticks);
  all.point_to_point = stream.call_ticks - all.collective;
  all.waiting = times.waited();
  all.tool = std::min(times.spent_at_calls(stream) + times.spent_otherwise().all(),
                      time_between(stream.call_ticks + all.waiting, run));
  all.compute = time_between(stream.call_ticks + all.waiting + all.tool, run);
  return all;
}

Trace RankReport::trace(bool lost_flush, const RankClock& clock) {
  Streams& streams = recorder_.streams();
  TimeAccount& times = recorder_.times();
  const double scale = times.ns_per_tick();  // the same for all of these times
  const std::uint64_t run =
      times.since_start(times.ended() != 0 ? times.ended() : times.clock().now());
  facts_.run_ns = times.ns(run);
  facts_.set_clock(clock);
  facts_.tool_bytes = memory_use().most;
  facts_.paused = recorder_.paused_calls().value_or(0);
  Trace trace;
  trace.world_size = size_;
  trace.threads = static_cast<std::uint32_t>(streams.count());
  trace.complete = true;
  const auto declares = [&](bool holds, const std::string& what) {
    if (holds) trace.declarations.push_back({what, RankList::single(rank_)});
  };
  declares(recorder_.paused_calls().has_value(), kPausedDeclaration);
  declares(!settings_.exclude.empty(), "calls were left out with CHAMELEON_EXCLUDE");
  for (const std::string& what : declared_) declares(true, what);
  const std::string python = callpath::Engine::python_not_shown();
  declares(!python.empty(), python);
  declares(streams.crowded(),
           "more threads call MPI than there are streams: several share the last stream");
  declares(squeezed_ != 0, "calls with less than 16 KiB of stack left were not recorded");
  declares(lost_flush, kLostFlushDeclaration);
  declares(has_fault(), fault_declaration(first_fault()));
  bool all_looked = settings_.timing == Timing::kHistogram;
  streams.for_each([&](Stream& stream) {
    RankFacts facts = facts_;
    facts.tool_ns = times.ns(std::min(times.spent_at_calls(stream), run));
    facts.call_ns = times.ns(std::min(stream.call_ticks, run));
    facts.events = stream.trace.all_events();
    facts.polls = stream.trace.polls();
    facts.rule_values = stream.trace.signer().rule_counts().values;
    facts.rule_matches = stream.trace.signer().rule_counts().matched;
    if (stream.thread == 0) {  // what is the rank's
      const SpentTimes all = spent(stream, run);
      facts.tool_ns = times.ns(all.tool);
      facts.startup_ns = times.ns(times.spent_otherwise().at_start);
      facts.waiting_ns = times.ns(times.waited());
      if (!phases_.empty() && settings_.timing != Timing::kNone)
        trace.totals.add(RankList::single(rank_), phases(all, run));
    } else {
      for (std::size_t state = 0; state < 4; ++state)
        facts.tool_ns_in(state) = facts.idle_ns_in(state) = 0;
      facts.paused = facts.tool_bytes = facts.changed = facts.late_votes = 0;
      RankEnergy().report(facts);
    }
    const std::uint32_t number = trace.stream_of(rank_, stream.thread);
    if (settings_.timing == Timing::kHistogram) {  // those found before a budget stopped it, too
      all_looked = all_looked && stream.trace.book().looks();
      for (const Outlier& one : stream.trace.book().outliers(number, scale))
        trace.outliers.add(one);
      trace.outliers.settle();
    }
    stream.trace.book().pairs().report(number, scale, trace.pair_accounts);
    trace.ranks.insert(number);
    trace.facts.emplace(number, std::move(facts));
    if (stream.raw != nullptr) std::fclose(std::exchange(stream.raw, nullptr));
  });
  if (all_looked) trace.outliers.know();
  return trace;
}

}  // namespace chameleon::process
