// SPDX-License-Identifier: BSD-3-Clause
#include "tools/live/live_view.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "tools/common.h"

namespace chameleon::tools {
namespace {

constexpr std::size_t kPhases = 5, kBars = 8, kFindings = 4;

std::vector<LivePhase> phases_of(const Series& series) {
  std::vector<LivePhase> phases;
  for (const SeriesSpan& span : series.spans()) {
    auto phase = std::find_if(phases.begin(), phases.end(),
                              [&](const LivePhase& one) { return one.phase == span.phase; });
    if (phase == phases.end()) phase = phases.insert(phases.end(), LivePhase());
    phase->phase = span.phase;
    phase->markers += span.intervals;
    phase->last = span.first + span.intervals - 1;
    phase->state = span.state;
    phase->spent.add(span.all);
  }
  std::stable_sort(phases.begin(), phases.end(),
                   [](const LivePhase& a, const LivePhase& b) { return a.last < b.last; });
  return phases;
}

/// Mean times of at most `kBars` groups of ranks.
std::vector<LiveRanks> bars_of(const Trace& trace) {
  const std::uint32_t size = std::max<std::uint32_t>(trace.world_size, 1);
  const std::uint32_t width = (size + kBars - 1) / kBars;
  std::vector<LiveRanks> bars((size + width - 1) / width);
  std::vector<double> counts(bars.size());
  for (const PhaseTotals::Entry& entry : trace.totals.entries()) {
    SpentTimes spent;
    for (const auto& [phase, times] : entry.phases) spent.add(times);
    entry.ranks.for_each([&](std::uint32_t rank) {
      if (rank >= size) return;
      LiveRanks& bar = bars[rank / width];
      ++counts[rank / width];
      bar.compute_ns += static_cast<double>(spent.compute);
      bar.calls_ns += static_cast<double>(spent.point_to_point + spent.collective);
      bar.waiting_ns += static_cast<double>(spent.waiting);
      bar.tool_ns += static_cast<double>(spent.tool);
    });
  }
  for (std::uint32_t at = 0; at < bars.size(); ++at) {
    bars[at].first = at * width;
    bars[at].last = std::min(size, (at + 1) * width) - 1;
    for (double LiveRanks::*part : {&LiveRanks::compute_ns, &LiveRanks::calls_ns,
                                    &LiveRanks::waiting_ns, &LiveRanks::tool_ns})
      if (counts[at] > 0) bars[at].*part /= counts[at];
  }
  return trace.totals.empty() ? std::vector<LiveRanks>() : bars;
}

/// Of the time of all ranks. Until the ranks report theirs at the end, it is what no interval of
/// the series accounts for.
double tool_share_of(const Trace& trace) {
  double run = 0, tool = 0;
  for (const auto& [stream, facts] : trace.facts) {
    run += static_cast<double>(facts.run_ns);
    tool += static_cast<double>(facts.tool_ns);
  }
  if (run > 0) return tool / run;
  double spent = 0;
  for (const SeriesSpan& span : trace.series.spans())
    spent += static_cast<double>(span.all.busy.sum_ns + span.all.waiting.sum_ns);
  if (trace.series.empty()) return 0;
  run = static_cast<double>(trace.series.spans().back().end_ns) * trace.world_size;
  return run > spent ? (run - spent) / run : 0;
}

std::string formatted(const char* format, auto... values) {
  char text[512];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

std::string age_text(std::chrono::seconds age) {
  const auto seconds = static_cast<long long>(age.count());
  if (seconds < 120) return std::to_string(seconds) + " s";
  return std::to_string(seconds / 60) + " min";
}

std::string state_text(const LiveTrace& live, const Style& style) {
  switch (live.job()) {
    case JobState::kComplete: return style.loop("complete");
    case JobState::kEnded: return style.hot("ended without MPI_Finalize");
    case JobState::kRunning: return style.loop("running");
    case JobState::kUnknown: break;
  }
  return "not complete; rank 0 is not on this host";
}

std::string head_text(const LiveTrace& live, const LiveView& view, const Style& style) {
  const Trace& trace = live.trace();
  const auto& online = trace.online;
  const std::string command = trace.command_line.empty() ? trace.program : trace.command_line;
  std::string text = style.strong(printable(command)) + "\n" + state_text(live, style) + ", " +
                     count_text(trace.world_size) + " ranks";
  if (view.summary.run_ns > 0) text += ", " + duration_text(view.summary.run_ns) + " of run time";
  text += "; last flush " + age_text(live.age()) + " ago\n" + printable(live.path()) + ": " +
          bytes_text(static_cast<double>(live.file().bytes)) + ", " +
          count_text(trace.event_count()) + " calls, " + count_text(online.flushes) + " flushes\n";
  if (online.acted == 0) return text + "no markers yet: the trace grows at markers\n";
  return text + "markers acted on: " + count_text(online.acted) + " (AT " +
         count_text(online.count_at) + ", C " + count_text(online.count_c) + ", L " +
         count_text(online.count_l) + ")\n";
}

std::string phases_text(const Trace& trace, const LiveView& view, const Style& style) {
  if (view.phases.empty()) return "";
  std::string text =
      "\n" +
      style.strong("phase  state     markers   computing      in MPI     waiting   longest step") +
      style.faint("   (of a rank and marker)") + "\n";
  const std::size_t begin = view.phases.size() > kPhases ? view.phases.size() - kPhases : 0;
  if (begin > 0) text += style.faint("(" + count_text(begin) + " earlier phases)") + "\n";
  for (std::size_t at = begin; at < view.phases.size(); ++at) {
    const LivePhase& phase = view.phases[at];
    const double steps = static_cast<double>(phase.markers) * trace.world_size;
    const auto mean = [&](const RankExtent& part) {
      return duration_text(steps > 0 ? static_cast<double>(part.sum_ns) / steps : 0);
    };
    const RankExtent& busy = phase.spent.busy;
    text += formatted("%5u  %-5s %11s %11s %11s %11s   %s on rank %u\n", phase.phase + 1,
                      kStates[phase.state & 3U], count_text(phase.markers).c_str(),
                      mean(phase.spent.compute).c_str(), mean(phase.spent.communication).c_str(),
                      mean(phase.spent.waiting).c_str(),
                      duration_text(static_cast<double>(busy.most_ns)).c_str(), busy.most_rank);
  }
  return text;
}

/// `######====..`: parts of the longest bar's time.
std::string bar_text(const LiveRanks& ranks, double longest_ns) {
  constexpr double kWidth = 60;
  std::string bar;
  double before = 0;
  const auto add = [&](double ns, char letter) {
    before += ns;
    const auto end = static_cast<std::size_t>(kWidth * before / longest_ns + 0.5);
    bar += std::string(end > bar.size() ? end - bar.size() : 0, letter);
  };
  add(ranks.compute_ns, '#');
  add(ranks.calls_ns, '=');
  add(ranks.waiting_ns, '.');
  add(ranks.tool_ns, 't');
  return bar;
}

std::string ranks_bars(const LiveView& view, const Style& style) {
  double longest = 0;
  for (const LiveRanks& one : view.ranks)
    longest = std::max(longest, one.compute_ns + one.calls_ns + one.waiting_ns + one.tool_ns);
  if (longest <= 0) return "";
  std::string text = "\n" + style.strong("ranks") +
                     style.faint("        # computing  = in MPI  . waiting at markers  t tool") +
                     "\n";
  for (const LiveRanks& one : view.ranks) {
    const std::string name = one.first == one.last
                                 ? std::to_string(one.first)
                                 : std::to_string(one.first) + "-" + std::to_string(one.last);
    text += formatted("%-12s ", name.c_str()) + bar_text(one, longest) + "\n";
  }
  return text;
}

std::string foot_text(const LiveTrace& live, const LiveView& view, const Style& style) {
  const Trace& trace = live.trace();
  std::string text = "\n";
  if (view.summary.balance > 0)
    text += "load balance  " + share_text(view.summary.balance) + ": rank " +
            std::to_string(view.summary.slowest) + " computes longest, " +
            duration_text(view.summary.most_compute_ns) + "\n";
  if (view.slowest > 0) {
    const RankExtent& busy = view.slowest_busy;
    text +=
        "slowest step  marker " + count_text(view.slowest) + ": rank " +
        std::to_string(busy.most_rank) + " took " +
        duration_text(static_cast<double>(busy.most_ns)) + "; the mean of the ranks is " +
        duration_text(static_cast<double>(busy.sum_ns) / std::max<double>(1, trace.world_size)) +
        "\n";
  }
  text += "tool          " + share_text(view.tool_share) + " of the run\n\n" +
          style.strong("what stands out") + "\n";
  std::size_t shown = 0;
  for (const std::string& finding : view.summary.findings)
    if (shown++ < kFindings) text += "- " + printable(finding) + "\n";
  if (view.summary.findings.empty()) text += "- Nothing yet.\n";
  return text;
}

}  // namespace

Result<LiveView> LiveView::make(const Trace& trace) {
  LiveView view;
  Result<TraceSummary> summary = TraceSummary::make(trace);
  if (!summary) return summary.error();
  view.summary = std::move(*summary);
  // That the run is not complete is said by its state.
  if (!trace.complete && !view.summary.findings.empty())
    view.summary.findings.erase(view.summary.findings.begin());
  view.phases = phases_of(trace.series);
  view.ranks = bars_of(trace);
  for (const SeriesSpan& span : trace.series.spans())
    if (span.worst.busy.most_ns > view.slowest_busy.most_ns) {
      view.slowest = span.slowest;
      view.slowest_busy = span.worst.busy;
    }
  view.tool_share = tool_share_of(trace);
  return view;
}

std::string live_text(const LiveTrace& live, const LiveView& view) {
  const Style style;
  return head_text(live, view, style) + phases_text(live.trace(), view, style) +
         ranks_bars(view, style) + foot_text(live, view, style);
}

nlohmann::ordered_json live_document(const LiveTrace& live, const LiveView& view) {
  using Json = nlohmann::ordered_json;
  const Trace& trace = live.trace();
  Json document = json_document("watch");
  document["state"] = job_state_name(live.job());
  document["version"] = live.version();
  document["program"] = trace.program;
  document["ranks"] = trace.world_size;
  document["run_seconds"] = view.summary.run_ns * 1e-9;
  document["flush_age_seconds"] = live.age().count();
  document["bytes"] = live.file().bytes;
  document["events"] = trace.event_count();
  document["acted"] = trace.online.acted;
  document["count_flush"] = trace.online.flushes;
  document["tool_share"] = view.tool_share;
  document["phases"] = Json::array();
  for (const LivePhase& phase : view.phases)
    document["phases"].push_back(
        {{"phase", phase.phase},
         {"state", kStates[phase.state & 3U]},
         {"markers", phase.markers},
         {"last", phase.last},
         {"compute_seconds", static_cast<double>(phase.spent.compute.sum_ns) * 1e-9},
         {"in_calls_seconds", static_cast<double>(phase.spent.communication.sum_ns) * 1e-9},
         {"waiting_seconds", static_cast<double>(phase.spent.waiting.sum_ns) * 1e-9}});
  if (view.slowest > 0)
    document["slowest"] = {{"marker", view.slowest},
                           {"rank", view.slowest_busy.most_rank},
                           {"seconds", static_cast<double>(view.slowest_busy.most_ns) * 1e-9}};
  if (view.summary.balance > 0)
    document["load"] = {{"balance", view.summary.balance},
                        {"slowest_rank", view.summary.slowest},
                        {"longest_compute_seconds", view.summary.most_compute_ns * 1e-9}};
  document["findings"] = view.summary.findings;
  return document;
}

}  // namespace chameleon::tools
