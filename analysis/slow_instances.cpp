// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/slow_instances.h"

#include <algorithm>
#include <map>
#include <unordered_set>

#include "analysis/place_waits.h"
#include "analysis/what_if.h"
#include "base/time_between.h"
#include "model/histogram.h"
#include "statistics/affinity.h"
#include "statistics/outliers.h"

namespace chameleon::analysis {
namespace {

constexpr std::size_t kMostOfGroup = 512;
/// Durations that differ by no more may be equal: their ends are rounded to ns.
constexpr double kRoundingNs = 2;
/// A delay is looked for behind waits of at least this share of their instance.
constexpr double kLeastShare = 0.125;
/// A delay of so many ranks at one place, with few instances each, is one that moves.
constexpr std::size_t kFewestMovers = 3, kMostOfOne = 2;

std::uint64_t place_of(std::uint16_t call, std::uint64_t path) {
  return Node::event_symbol(call, path);
}

/// Instances of one pattern and as many bytes.
struct Group {
  std::vector<float> ns;
  std::vector<std::pair<std::size_t, SlowInstance>> longest;  ///< a heap, the shortest first

  void add(SlowInstance instance) {
    const auto longer = [](const auto& a, const auto& b) { return a.second.ns() > b.second.ns(); };
    const std::size_t at = ns.size();
    ns.insert(ns.end(), instance.times, static_cast<float>(instance.ns()));
    if (longest.size() == kMostOfGroup) {
      if (longest.front().second.ns() >= instance.ns()) return;
      std::pop_heap(longest.begin(), longest.end(), longer);
      longest.pop_back();
    }
    longest.emplace_back(at, std::move(instance));
    std::push_heap(longest.begin(), longest.end(), longer);
  }
};

/// Looks on while patterns are found.
class Watcher {
 public:
  explicit Watcher(std::size_t streams) : streams_(streams), delays_(streams) {
    watch.begins = [this] { begin(); };
    watch.event = [this](const TimedEvent& event) { look(event); };
    watch.noted = [this](const TimedEvent&, Segment& segment) {
      for (const WaitState& wait : waits_) add_wait(segment.waits, wait, wait.ns());
    };
    watch.completed = [this](PatternInstance& instance) { explain(instance); };
    watch.placed = [this](const PatternInstance& instance, std::uint32_t pattern,
                          std::uint32_t family) { place(instance, pattern, family); };
    watch.take = [this](std::uint64_t times, double period_ns) { take(times, period_ns); };
  }
  Watcher(const Watcher&) = delete;

  PatternWatch watch;
  std::map<std::pair<std::uint32_t, double>, Group> groups;

  /// Of a place, over all ranks and its instances.
  double usual_ns(const Delay& delay) const {
    const auto& places = delay.kind == Delay::Kind::kCompute ? compute_ : calls_;
    const auto found = places.find(place_of(delay.call, delay.path));
    return found == places.end() ? 0 : found->second.quantile(0.5);
  }

  /// Whether the call there may wait for other ranks.
  bool may_wait(const Delay& delay) const {
    return waiting_.count(place_of(delay.call, delay.path)) > 0;
  }

 private:
  void begin() {
    groups.clear();
    states_ = WaitStates();
    delays_ = Delays(streams_);
    compute_.clear();
    calls_.clear();
    waiting_.clear();
    numbers_.clear();
    taken_.clear();
    times_ = 1;
    later_ns_ = period_ns_ = 0;
  }

  void take(std::uint64_t times, double period_ns) {
    const std::uint64_t left_out = times_ - 1;
    for (auto& [pattern, number] : numbers_) number += left_out * (number - taken_[pattern]);
    later_ns_ += static_cast<double>(left_out) * period_ns_;
    delays_.take(times);
    taken_ = numbers_;
    times_ = times;
    period_ns_ = period_ns;
  }

  void look(const TimedEvent& event) {
    waits_.clear();
    states_.add(event, [&](const WaitState& wait) { waits_.push_back(delays_.kept(wait)); });
    delays_.add(event);
    const std::uint64_t place = event.at->event().node->symbol();
    const std::uint64_t ready = std::max(event.begin_ns, event.cause.begin_ns);
    add(compute_[place], event.at->compute_ns());
    add(calls_[place], event.end_ns - std::min(event.end_ns, ready));
    for (const Operation& operation : event.at->operations())
      if (operation.kind == Operation::Kind::kReceive ||
          (operation.kind == Operation::Kind::kEnd && operation.waits != Waits::kForNobody))
        waiting_.insert(place);
  }

  void add(Histogram& of, std::uint64_t ns) const {
    if (times_ == 1) return of.add(ns);
    const auto all = static_cast<double>(ns) * static_cast<double>(times_);
    const auto sum = all < 0x1p63 ? static_cast<std::uint64_t>(all) : UINT64_MAX;
    of.add({times_, sum, ns, ns, all * static_cast<double>(ns), {{Histogram::bin_of(ns), times_}}});
  }

  void explain(PatternInstance& instance) const {
    std::vector<WaitSum> sums;
    for (const Segment& segment : instance.segments)
      for (const WaitSum& wait : segment.waits) add_wait(sums, wait.longest, wait.sum_ns);
    for (const WaitSum& sum : sums)
      if (sum.sum_ns > instance.wait.sum_ns) instance.wait = sum;
    const auto lasted = static_cast<double>(time_between(instance.begin_ns, instance.end_ns));
    if (instance.wait.sum_ns > 0 &&
        static_cast<double>(instance.wait.longest.ns()) >= kLeastShare * lasted)
      instance.delay = delays_.behind(instance.wait.longest);
  }

  void place(const PatternInstance& instance, std::uint32_t pattern, std::uint32_t family) {
    SlowInstance made;
    made.pattern = pattern;
    made.family = family;
    made.number = ++numbers_[pattern];
    made.times = times_;
    const auto later = static_cast<std::uint64_t>(later_ns_ + 0.5);
    made.begin_ns = instance.begin_ns + later;
    made.end_ns = instance.end_ns + later;
    made.bytes = instance.bytes;
    made.events = instance.events;
    made.wait = instance.wait;
    made.delay = instance.delay;
    WaitState& longest = made.wait.longest;
    longest.at_event = delays_.told(longest.waiter, longest.at_event);
    longest.cause.event = delays_.told(longest.cause.stream, longest.cause.event);
    made.delay.event = delays_.told(made.delay.stream, made.delay.event);
    for (const Segment& segment : instance.segments)
      made.processes +=
          &segment == &instance.segments.front() || segment.rank != (&segment - 1)->rank ? 1 : 0;
    groups[{pattern, instance.bytes}].add(std::move(made));
  }

  std::size_t streams_;
  WaitStates states_;
  Delays delays_;
  std::vector<WaitState> waits_;  ///< told by the present event
  std::unordered_map<std::uint64_t, Histogram> compute_, calls_;
  std::unordered_set<std::uint64_t> waiting_;                         ///< places
  std::unordered_map<std::uint32_t, std::uint64_t> numbers_, taken_;  ///< now and at `take`
  std::uint64_t times_ = 1;              ///< that the present iteration stands for
  double later_ns_ = 0, period_ns_ = 0;  ///< of what was left out so far; of the iterations
};

void judge(const Watcher& watcher, const SlowOptions& options, SlowReport& report) {
  for (const auto& [key, group] : watcher.groups) {
    if (group.ns.size() < statistics::kLeastJudged) {
      report.unjudged += group.ns.size();
      continue;
    }
    const std::vector<double> ns(group.ns.begin(), group.ns.end());
    const statistics::ModifiedScores scores =
        statistics::modified_scores(ns, options.published, options.published ? 0 : kRoundingNs);
    for (const auto& [at, instance] : group.longest) {
      if (!(scores.scores[at] > options.threshold)) continue;
      if (options.within_ns && (instance.begin_ns < options.within_ns->first ||
                                instance.begin_ns >= options.within_ns->second))
        continue;
      report.slow.push_back(instance);
      report.slow.back().score = scores.scores[at];
      report.slow.back().usual_ns = scores.median;
    }
  }
  std::sort(report.slow.begin(), report.slow.end(),
            [](const SlowInstance& a, const SlowInstance& b) {
              return std::tuple(a.begin_ns, a.pattern, a.number) <
                     std::tuple(b.begin_ns, b.pattern, b.number);
            });
}

/// Severity is time a byte, complexity ranks times events; without bytes it is time alone, among
/// themselves.
void rank_by_affinity(std::vector<SlowInstance>& slow) {
  for (const bool moves : {true, false}) {
    std::vector<double> severity, complexity;
    std::vector<SlowInstance*> those;
    for (SlowInstance& one : slow) {
      if ((one.bytes > 0) != moves) continue;
      those.push_back(&one);
      severity.push_back(moves ? one.ns() / one.bytes : one.ns());
      complexity.push_back(static_cast<double>(one.processes) * static_cast<double>(one.events));
    }
    severity = statistics::importance_weights(severity);
    complexity = statistics::importance_weights(complexity);
    for (std::size_t i = 0; i < those.size(); ++i)
      those[i]->angle = statistics::affinity_angle(severity[i], complexity[i]);
  }
}

/// By whose delay, and where.
using Whose = std::tuple<Delay::Kind, std::uint64_t, std::uint32_t>;

/// Where times are distributions, only some of what made a call wait is known.
std::map<Whose, std::vector<std::size_t>> by_delay(const Watcher& watcher, bool all_times,
                                                   SlowReport& report) {
  std::map<Whose, std::vector<std::size_t>> found;
  for (std::size_t i = 0; i < report.slow.size(); ++i) {
    const SlowInstance& one = report.slow[i];
    const auto longest = static_cast<double>(one.wait.longest.ns());
    if (one.wait.sum_ns == 0 || longest < 0.5 * (one.ns() - one.usual_ns))
      ++report.unexplained;
    else if (longest < static_cast<double>(report.clock_error_ns))
      ++report.within_error;
    else if (one.delay.kind == Delay::Kind::kMarker)
      ++report.at_markers;
    else if (one.delay.kind == Delay::Kind::kUnknown)
      ++report.unknown;
    else if (!all_times && one.delay.kind == Delay::Kind::kCall && watcher.may_wait(one.delay))
      ++report.in_waiting_calls;
    else
      found[{one.delay.kind, place_of(one.delay.call, one.delay.path), one.delay.stream}].push_back(
          i);
  }
  return found;
}

/// Those of several ranks at one place, where each has a few instances only, as one.
std::vector<std::vector<std::size_t>> joined(
    const std::map<Whose, std::vector<std::size_t>>& by_rank) {
  std::map<std::pair<Delay::Kind, std::uint64_t>, std::vector<Whose>> moves;
  for (const auto& [whose, instances] : by_rank)
    if (instances.size() <= kMostOfOne)
      moves[{std::get<0>(whose), std::get<1>(whose)}].push_back(whose);
  std::vector<std::vector<std::size_t>> all;
  for (const auto& [whose, instances] : by_rank) {
    const auto with = moves.find({std::get<0>(whose), std::get<1>(whose)});
    const bool moving = instances.size() <= kMostOfOne && with->second.size() >= kFewestMovers;
    if (moving && with->second.front() != whose) continue;
    std::vector<std::size_t> one = instances;
    if (moving)
      for (std::size_t i = 1; i < with->second.size(); ++i) {
        const std::vector<std::size_t>& more = by_rank.at(with->second[i]);
        one.insert(one.end(), more.begin(), more.end());
      }
    std::sort(one.begin(), one.end());
    all.push_back(std::move(one));
  }
  return all;
}

SlowFinding finding_of(const Trace& trace, const Watcher& watcher, const SlowReport& report,
                       std::vector<std::size_t> instances) {
  SlowFinding made;
  const SlowInstance* worst = &report.slow[instances.front()];
  for (const std::size_t i : instances) {
    const SlowInstance& one = report.slow[i];
    made.ranks.insert(trace.rank_of(one.delay.stream));
    made.delay_ns += static_cast<double>(one.delay.ns) / static_cast<double>(instances.size());
    made.waited_ns += static_cast<double>(one.wait.sum_ns);
    made.angle = std::max(made.angle, one.angle);
    if (one.wait.longest.ns() > worst->wait.longest.ns()) worst = &one;
  }
  made.delay = worst->delay;
  made.wait = worst->wait.longest.kind;
  made.wait_path = worst->wait.longest.at_path;
  made.usual_ns = watcher.usual_ns(made.delay);
  made.instances = std::move(instances);
  return made;
}

/// The delays of a finding take what they usually do.
Lane without(const SlowReport& report, const SlowFinding& finding) {
  std::unordered_set<std::uint64_t> events;
  for (const std::size_t i : finding.instances)
    events.insert(combine(report.slow[i].delay.stream, report.slow[i].delay.event));
  const auto changed = [events = std::move(events), usual = finding.usual_ns](
                           const RankOperations& at, std::uint64_t, double ns) {
    return events.count(combine(at.stream(), at.number())) > 0 ? std::min(ns, usual) : ns;
  };
  Lane lane;
  (finding.delay.kind == Delay::Kind::kCompute ? lane.compute : lane.transfer) = changed;
  // To the model a send that waits for its receiver is a long send.
  std::unordered_map<std::uint64_t, double> waits;
  for (const std::size_t i : finding.instances) {
    const WaitState& wait = report.slow[i].wait.longest;
    if (wait.kind == WaitState::Kind::kLateReceiver)
      waits[combine(wait.waiter, wait.at_event)] = static_cast<double>(wait.ns());
  }
  if (waits.empty()) return lane;
  lane.transfer = [waits = std::move(waits), before = std::move(lane.transfer)](
                      const RankOperations& at, std::uint64_t begin, double ns) {
    if (before) ns = before(at, begin, ns);
    const auto wait = waits.find(combine(at.stream(), at.number()));
    return wait == waits.end() ? ns : std::max(ns - wait->second, 0.0);
  };
  return lane;
}

Status work_out_savings(const Trace& trace, const SlowOptions& options, SlowReport& report) {
  std::stable_sort(
      report.findings.begin(), report.findings.end(),
      [](const SlowFinding& a, const SlowFinding& b) { return a.waited_ns > b.waited_ns; });
  const std::size_t most = std::min(options.most, report.findings.size());
  for (std::size_t next = 0; next < most;) {
    const std::size_t first = next;
    std::vector<Lane> lanes(1);
    for (; next < most && lanes.size() < kMostLanes; ++next)
      lanes.push_back(without(report, report.findings[next]));
    const Result<TimelineFacts> run = run_lanes(trace, lanes, options.patterns.loops);
    if (!run) return run.error();
    const auto model = static_cast<double>(run->lane_ends_ns.front());
    for (std::size_t i = 1; i < lanes.size(); ++i)
      report.findings[first + i - 1].saving_ns =
          model > 0 ? report.run_ns * (1 - static_cast<double>(run->lane_ends_ns[i]) / model) : 0;
  }
  std::stable_sort(report.findings.begin(), report.findings.end(),
                   [](const SlowFinding& a, const SlowFinding& b) {
                     return a.saving_ns.value_or(-1) > b.saving_ns.value_or(-1);
                   });
  return Unit{};
}

}  // namespace

std::optional<std::string> lacks_own_times(const Trace& trace) {
  if (trace.timing != "full" && !(trace.timing == "histogram" && trace.outliers.known()))
    return "times of single instances are not in it: run again with CHAMELEON_TIMING=full";
  const std::string& fidelity = trace.online.fidelity;
  if (!fidelity.empty() && fidelity != "exact")
    return "times of ranks that did not lead are not in it: run again with "
           "CHAMELEON_FIDELITY=exact";
  return std::nullopt;
}

Result<SlowReport> find_slow(const Trace& trace, const SlowOptions& options) {
  Watcher watcher(trace.ranks.size());
  PatternOptions wanted = options.patterns;
  wanted.watch = &watcher.watch;
  Result<Patterns> patterns = find_patterns(trace, wanted);
  if (!patterns) return patterns.error();
  SlowReport report;
  report.patterns = std::move(*patterns);
  report.run_ns = static_cast<double>(report.patterns.timeline.end_ns);
  report.clock_error_ns = clock_error(trace);
  judge(watcher, options, report);
  const auto stands_for_others = [](const SlowInstance& one) { return one.times > 1; };
  if (std::any_of(report.slow.begin(), report.slow.end(), stands_for_others)) {
    SlowOptions each = options;
    each.patterns.loops = Loops::kEach;
    return find_slow(trace, each);
  }
  rank_by_affinity(report.slow);
  for (std::vector<std::size_t>& instances :
       joined(by_delay(watcher, trace.timing == "full", report)))
    report.findings.push_back(finding_of(trace, watcher, report, std::move(instances)));
  if (const Status worked = work_out_savings(trace, options, report); !worked)
    return worked.error();
  return report;
}

}  // namespace chameleon::analysis
