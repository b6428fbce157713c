// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/slow_steps.h"

#include <algorithm>
#include <map>

namespace chameleon::analysis {
namespace {

constexpr double kStandsOut = 0.2;  ///< of an interval, lost to one rank
constexpr double kSlow = 2;         ///< times the fastest quarter
/// Of the run. Steps vary for many reasons; a rank that stands out has one.
constexpr double kMatters = 0.01, kMattersOfAll = 0.05;
constexpr std::uint64_t kMoving = 2;  ///< most spans in which one rank is the slow one
constexpr std::size_t kFewestMoves = 3;

/// A span, as means of a rank and interval.
struct Step {
  const SeriesSpan* span = nullptr;
  std::uint64_t first = 1, last = 1, begin_ns = 0;
  double intervals = 1;
  double length = 0;   ///< all of the application's time
  double compute = 0;  ///< mean
  double most = 0;     ///< of the rank that computes longest
  double base = 0;     ///< length of the fastest quarter with the same Call-Paths
  std::uint32_t rank = 0;
  enum class Label : std::uint8_t { kNone, kRank, kAll } label = Label::kNone;

  bool same(const Step& other) const {
    return label == other.label && (label != Label::kRank || rank == other.rank);
  }
  double excess() const { return std::max(most - compute, 0.0); }
};

Step step_of(const SeriesSpan& span, std::uint64_t begin_ns, double ranks) {
  Step step;
  step.span = &span;
  step.first = span.first;
  step.last = span.first + span.intervals - 1;
  step.begin_ns = begin_ns;
  step.intervals = static_cast<double>(span.intervals);
  const double instances = ranks * step.intervals;
  step.length =
      (static_cast<double>(span.all.busy.sum_ns) + static_cast<double>(span.all.waiting.sum_ns)) /
      instances;
  step.compute = static_cast<double>(span.all.compute.sum_ns) / instances;
  // The most is of one interval: in all of them no rank can have computed longer than they took.
  step.most = static_cast<double>(span.all.compute.most_ns);
  if (span.intervals > 1) step.most = std::min(step.most, step.length);
  step.rank = span.all.compute.most_rank;
  return step;
}

/// The length that a quarter of the intervals stays below, by phase.
std::map<std::uint32_t, double> fast_lengths(const std::vector<Step>& steps) {
  std::map<std::uint32_t, std::vector<std::pair<double, double>>> lengths;  // with how many
  for (const Step& step : steps)
    lengths[step.span->phase].emplace_back(step.length, step.intervals);
  std::map<std::uint32_t, double> fast;
  for (auto& [phase, of] : lengths) {
    std::sort(of.begin(), of.end());
    double all = 0, seen = 0;
    for (const auto& [length, intervals] : of) all += intervals;
    for (const auto& [length, intervals] : of)
      if ((seen += intervals) >= 0.25 * all) {
        fast[phase] = length;
        break;
      }
  }
  return fast;
}

/// A few steps that are unlike those before and after them do not end a stretch: what the rank
/// computed in them is not known.
void close_gap(std::vector<Step>& steps, std::size_t last) {
  std::size_t next = last + 1, begin = last, end;
  while (next < steps.size() && !steps[next].same(steps[last])) ++next;
  if (next == last + 1 || next == steps.size()) return;
  while (begin > 0 && steps[begin - 1].same(steps[last])) --begin;
  for (end = next; end < steps.size() && steps[end].same(steps[last]);) ++end;
  if (2 * (next - last - 1) > std::min(last + 1 - begin, end - next)) return;
  for (std::size_t i = last + 1; i < next; ++i) {
    steps[i].label = Step::Label::kRank;
    steps[i].rank = steps[last].rank;
    steps[i].most = steps[i].compute;
  }
}

void label(std::vector<Step>& steps) {
  const std::map<std::uint32_t, double> fast = fast_lengths(steps);
  for (Step& step : steps) {
    step.base = fast.at(step.span->phase);
    if (step.excess() > kStandsOut * step.length)
      step.label = Step::Label::kRank;
    else if (step.length > kSlow * step.base)
      step.label = Step::Label::kAll;
  }
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (steps[i].label == Step::Label::kRank &&
        (i + 1 == steps.size() || !steps[i + 1].same(steps[i])))
      close_gap(steps, i);
}

SlowSteps stretch_of(const Step& step) {
  SlowSteps slow;
  slow.first = step.first;
  slow.last = step.last;
  slow.begin_ns = step.begin_ns;
  slow.end_ns = step.span->end_ns;
  const bool one = step.label == Step::Label::kRank;
  slow.whose = one ? SlowSteps::Whose::kOne : SlowSteps::Whose::kAll;
  if (one) slow.ranks = RankList::single(step.rank);
  slow.lost_ns = step.intervals * (one ? step.excess() : std::max(step.length - step.base, 0.0));
  slow.compute_ns = step.intervals * (one ? step.most : step.compute);
  return slow;
}

void extend(SlowSteps& slow, const SlowSteps& next) {
  slow.last = next.last;
  slow.end_ns = next.end_ns;
  slow.lost_ns += next.lost_ns;
  slow.compute_ns += next.compute_ns;
  slow.ranks.merge(next.ranks);
}

/// Short stretches of one rank each that follow each other are one that moves.
std::vector<SlowSteps> join_moving(const std::vector<SlowSteps>& stretches, double width) {
  const auto moves = [&](const SlowSteps& one) {
    return one.whose == SlowSteps::Whose::kOne &&
           static_cast<double>(one.intervals()) <= kMoving * width;
  };
  std::vector<SlowSteps> joined;
  for (std::size_t i = 0; i < stretches.size();) {
    std::size_t end = i + 1;
    while (moves(stretches[i]) && end < stretches.size() && moves(stretches[end]) &&
           stretches[end].first == stretches[end - 1].last + 1)
      ++end;
    if (end - i < kFewestMoves) {
      joined.push_back(stretches[i++]);
      continue;
    }
    SlowSteps all = stretches[i];
    all.whose = SlowSteps::Whose::kMoves;
    for (++i; i < end; ++i) extend(all, stretches[i]);
    joined.push_back(std::move(all));
  }
  return joined;
}

}  // namespace

std::vector<SlowSteps> slow_stretches(const Series& series, std::uint32_t ranks) {
  std::vector<Step> steps;
  double run = 0, width = 1;
  std::uint64_t begin = 0;
  for (const SeriesSpan& span : series.spans()) {
    steps.push_back(step_of(span, begin, std::max<double>(ranks, 1)));
    begin = span.end_ns;
    run += steps.back().intervals * steps.back().length;
    width = std::max(width, steps.back().intervals);
  }
  label(steps);
  std::vector<SlowSteps> stretches;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].label == Step::Label::kNone) continue;
    if (i > 0 && steps[i].same(steps[i - 1]))
      extend(stretches.back(), stretch_of(steps[i]));
    else
      stretches.push_back(stretch_of(steps[i]));
  }
  stretches = join_moving(stretches, width);
  std::erase_if(stretches, [&](const SlowSteps& one) {
    return one.lost_ns < run * (one.whose == SlowSteps::Whose::kAll ? kMattersOfAll : kMatters);
  });
  const auto graver = [](const SlowSteps& a, const SlowSteps& b) { return a.lost_ns > b.lost_ns; };
  std::stable_sort(stretches.begin(), stretches.end(), graver);
  if (stretches.size() > kMostSlowSteps) stretches.resize(kMostSlowSteps);
  std::sort(stretches.begin(), stretches.end(),
            [](const SlowSteps& a, const SlowSteps& b) { return a.first < b.first; });
  return stretches;
}

}  // namespace chameleon::analysis
