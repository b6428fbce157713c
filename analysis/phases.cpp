// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/phases.h"

#include <algorithm>
#include <map>

#include "base/time_between.h"

namespace chameleon::analysis {
namespace {

// A phase begins when all instances before it have begun, and so at most where its first does.
void place_in_time(ExecutionPhases& found) {
  const std::vector<std::uint64_t>& begins = found.patterns.sequence.begins_ns;
  std::uint64_t latest = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < found.phases.size(); ++i) {
    ExecutionPhase& phase = found.phases[i];
    for (; at < phase.first; ++at) latest = std::max(latest, begins[at]);
    if (i == 0) continue;
    phase.begin_ns = std::max(latest, begins[phase.first]);
    found.phases[i - 1].end_ns = phase.begin_ns;
  }
  found.phases.back().end_ns =
      std::max(found.patterns.timeline.end_ns, found.phases.back().begin_ns);
}

void count_families(ExecutionPhase& phase, const PatternSequence& sequence) {
  std::map<std::uint32_t, std::uint64_t> counts;
  for (std::size_t i = phase.first; i < phase.last; ++i) ++counts[sequence.families[i]];
  phase.families.assign(counts.begin(), counts.end());
  std::stable_sort(phase.families.begin(), phase.families.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
}

void take_boundary(ExecutionPhase& phase, const statistics::Segmentation& segmentation) {
  for (const statistics::Split& split : segmentation.splits) {
    if (!split.made || split.at != phase.first) continue;
    phase.strength = split.strength;
    phase.tie_first = split.tie_first;
    phase.tie_last = split.tie_last;
  }
}

/// Computing of each rank in each phase: what lies in its time.
Status add_up_computing(const Trace& trace, ExecutionPhases& found, Loops loops) {
  const RankList ranks = trace.whole_ranks();
  found.ranks = static_cast<std::uint32_t>(ranks.size());
  const std::size_t width = ranks.empty() ? 0 : ranks.runs().back().last() + std::size_t{1};
  const std::size_t count = found.phases.size();
  std::vector<double> compute(width * count);
  std::vector<std::size_t> at(
      trace.ranks.empty() ? 0 : trace.ranks.runs().back().last() + std::size_t{1});
  double times = 1;
  RoundWatch watch;
  watch.state = [&](std::vector<std::uint64_t>& state) {
    state.insert(state.end(), at.begin(), at.end());
  };
  watch.take = [&](std::uint64_t rounds, double) { times = static_cast<double>(rounds); };
  watch.until_ns = [&](std::uint64_t now) {
    for (const ExecutionPhase& phase : found.phases)
      if (phase.end_ns > now && &phase != &found.phases.back()) return phase.end_ns;
    return UINT64_MAX;
  };
  const auto add_event = [&](const TimedEvent& event) {
    std::size_t& phase = at[event.stream()];
    const std::uint64_t gap =
        event.at->compute_ns() + time_between(event.wait_begin_ns, event.wait_end_ns);
    const std::uint64_t begins = event.begin_ns + event.later_ns;
    const std::uint64_t begin = begins - std::min(begins, gap);
    while (phase + 1 < count && found.phases[phase].end_ns <= begin) ++phase;
    const auto add = [&](std::uint64_t first, std::uint64_t last) {
      for (std::size_t i = phase; i < count && found.phases[i].begin_ns < last; ++i) {
        const std::uint64_t from = std::max(first, found.phases[i].begin_ns);
        const std::uint64_t to = std::min(last, found.phases[i].end_ns);
        if (to > from) compute[event.rank() * count + i] += times * static_cast<double>(to - from);
      }
    };
    // Waiting parts it in two.
    add(begin, event.wait_begin_ns + event.later_ns);
    add(std::max(begin, event.wait_end_ns + event.later_ns), begins);
  };
  const Result<TimelineFacts> run = run_timeline(trace, ranks, add_event, false, Network::kRecorded,
                                                 loops == Loops::kAtOnce ? &watch : nullptr);
  if (!run) return run.error();
  for (std::size_t rank = 0; rank < width; ++rank)
    for (std::size_t i = 0; i < count; ++i) {
      ExecutionPhase& phase = found.phases[i];
      phase.compute_ns += compute[rank * count + i];
      phase.most_compute_ns = std::max(phase.most_compute_ns, compute[rank * count + i]);
    }
  return Unit{};
}

/// A symbol of the sequence for each span, or for as many as its intervals ask for: the narrowest
/// span has one.
std::vector<std::uint32_t> symbols_of(const std::vector<SeriesSpan>& spans,
                                      std::vector<std::size_t>& span_of) {
  constexpr std::uint64_t kMostOfSpan = 1024;
  std::uint64_t narrowest = UINT64_MAX;
  for (const SeriesSpan& span : spans)
    narrowest = std::min(narrowest, std::max<std::uint64_t>(span.intervals, 1));
  std::vector<std::uint32_t> symbols;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const std::uint64_t wide = (spans[i].intervals + narrowest / 2) / narrowest;
    const std::uint64_t count = std::clamp<std::uint64_t>(wide, 1, kMostOfSpan);
    symbols.insert(symbols.end(), count, spans[i].phase);
    span_of.insert(span_of.end(), count, i);
  }
  return symbols;
}

MarkerPhase marker_phase(const std::vector<SeriesSpan>& spans, std::size_t first, std::size_t end) {
  MarkerPhase phase;
  phase.first = spans[first].first;
  phase.last = spans[end - 1].first + spans[end - 1].intervals - 1;
  phase.begin_ns = first == 0 ? 0 : spans[first - 1].end_ns;
  phase.end_ns = spans[end - 1].end_ns;
  std::map<std::uint32_t, std::uint64_t> counts;
  for (std::size_t i = first; i < end; ++i) {
    phase.compute_ns += static_cast<double>(spans[i].all.compute.sum_ns);
    phase.calls_ns += static_cast<double>(spans[i].all.communication.sum_ns);
    phase.waiting_ns += static_cast<double>(spans[i].all.waiting.sum_ns);
    counts[spans[i].phase] += spans[i].intervals;
  }
  phase.call_paths.assign(counts.begin(), counts.end());
  std::stable_sort(phase.call_paths.begin(), phase.call_paths.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return phase;
}

}  // namespace

std::vector<MarkerPhase> find_marker_phases(const Series& series,
                                            const statistics::SegmentationOptions& options) {
  const std::vector<SeriesSpan>& spans = series.spans();
  std::vector<MarkerPhase> phases;
  if (spans.empty()) return phases;
  std::vector<std::size_t> span_of;
  const std::vector<std::uint32_t> symbols = symbols_of(spans, span_of);
  const statistics::Segmentation found = statistics::segment(symbols, options);
  std::size_t first = 0;
  for (std::size_t i = 0; i < found.boundaries.size(); ++i) {
    const bool is_last = i + 1 == found.boundaries.size();
    const std::size_t end = is_last ? spans.size() : span_of[found.boundaries[i + 1]];
    if (end <= first) continue;  // within a span
    MarkerPhase phase = marker_phase(spans, first, end);
    for (const statistics::Split& split : found.splits) {
      if (!split.made || split.at != found.boundaries[i]) continue;
      phase.strength = split.strength;
      phase.tie_first = spans[span_of[split.tie_first]].first;
      phase.tie_last = spans[span_of[split.tie_last]].first;
    }
    phases.push_back(std::move(phase));
    first = end;
  }
  return phases;
}

Result<ExecutionPhases> find_phases(const Trace& trace, PatternOptions options,
                                    const statistics::SegmentationOptions& segmentation) {
  options.sequence = true;
  Result<Patterns> patterns = find_patterns(trace, options);
  if (!patterns) return patterns.error();
  ExecutionPhases found;
  found.patterns = std::move(*patterns);
  const PatternSequence& sequence = found.patterns.sequence;
  found.segmentation = statistics::segment(sequence.patterns, segmentation);
  const std::vector<std::size_t>& boundaries = found.segmentation.boundaries;
  for (std::size_t i = 0; i < boundaries.size(); ++i) {
    ExecutionPhase& phase = found.phases.emplace_back();
    phase.first = boundaries[i];
    phase.last = i + 1 < boundaries.size() ? boundaries[i + 1] : sequence.patterns.size();
    count_families(phase, sequence);
    take_boundary(phase, found.segmentation);
  }
  if (found.phases.empty()) return found;
  place_in_time(found);
  if (const Status added = add_up_computing(trace, found, options.loops); !added)
    return added.error();
  return found;
}

Result<std::pair<std::uint64_t, std::uint64_t>> phase_window(const Trace& trace,
                                                             PatternOptions options,
                                                             std::uint64_t number) {
  const Result<ExecutionPhases> found = find_phases(trace, std::move(options), {});
  if (!found) return found.error();
  if (number == 0 || number > found->phases.size())
    return Error{ErrorKind::kUsage,
                 "no phase " + std::to_string(number) + ": chameleon phases lists " +
                     std::to_string(found->phases.size()),
                 0};
  const ExecutionPhase& phase = found->phases[number - 1];
  return std::pair(phase.begin_ns, phase.end_ns);
}

}  // namespace chameleon::analysis
