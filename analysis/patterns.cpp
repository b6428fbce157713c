// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/patterns.h"

#include <algorithm>
#include <unordered_map>

#include "base/time_between.h"

namespace chameleon::analysis {
namespace {

/// An instance with more events than this share of the run, and more segments a rank, is a chain of
/// segments that overlap in time.
constexpr std::uint64_t kLargeShare = 10, kLongChain = 16;

Symbol::Kind kind_of(std::uint64_t symbol) { return static_cast<Symbol::Kind>(symbol >> 32); }

void insert(std::vector<std::uint32_t>& numbers, std::uint32_t number) {
  const auto place = std::lower_bound(numbers.begin(), numbers.end(), number);
  if (place == numbers.end() || *place != number) numbers.insert(place, number);
}

class PatternTable {
 public:
  PatternTable(const Trace& trace, const ContextOf& site, Patterns& found)
      : world_(trace.world_size), site_(site), found_(found) {}

  /// Its pattern and its family.
  std::pair<std::uint32_t, std::uint32_t> place(const PatternInstance& instance,
                                                std::uint64_t times) {
    const std::uint64_t name = name_of(instance);
    const std::uint64_t family = family_of(instance);
    const auto [known, first] = variants_.try_emplace(combine(name, family));
    if (first) known->second = {pattern(name, instance), this->family(family, instance)};
    const auto [at, of] = known->second;
    Pattern& pattern = found_.patterns[at];
    PatternFamily& group = found_.families[of];
    if (first) {
      insert(pattern.families, of);
      insert(group.patterns, at);
      const bool alone = group.patterns.size() == 1;
      group.least_processes =
          alone ? pattern.processes : std::min(group.least_processes, pattern.processes);
      group.most_processes = std::max(group.most_processes, pattern.processes);
    }
    pattern.sums.add(instance, times);
    group.sums.add(instance, times);
    found_.instances += times;
    return {at, of};
  }

 private:
  // Of its ranks with what each does, in any order.
  static std::uint64_t name_of(const PatternInstance& instance) {
    std::uint64_t name = instance.segments.size();
    for (const Segment& segment : instance.segments) {
      std::uint64_t role = segment.symbols.size();
      for (const std::uint64_t symbol : segment.symbols) role += mix(symbol);
      name += mix(combine(segment.rank, role));
    }
    return name;
  }

  // Of the set of what its ranks do, with distances for partners, and where.
  std::uint64_t family_of(const PatternInstance& instance) {
    roles_.clear();
    for (const Segment& segment : instance.segments) {
      std::uint64_t role = segment.symbols.size();
      for (const std::uint64_t symbol : segment.symbols)
        role += mix(relative(symbol, segment.rank));
      roles_.push_back(combine(site_ ? site_(segment.path) : segment.path, role));
    }
    std::sort(roles_.begin(), roles_.end());
    roles_.erase(std::unique(roles_.begin(), roles_.end()), roles_.end());
    std::uint64_t family = roles_.size();
    for (const std::uint64_t role : roles_) family = combine(family, role);
    return family;
  }

  std::uint64_t relative(std::uint64_t symbol, std::uint32_t rank) const {
    const auto what = static_cast<std::uint32_t>(symbol);
    if (kind_of(symbol) == Symbol::Kind::kCollective || what == Symbol::kNobody || world_ == 0)
      return symbol;
    return (symbol >> 32 << 32) | (std::uint64_t{what} + world_ - rank) % world_;
  }

  std::uint32_t pattern(std::uint64_t name, const PatternInstance& instance) {
    const auto next = static_cast<std::uint32_t>(found_.patterns.size());
    const auto [known, first] = patterns_.try_emplace(name, next);
    if (!first) return known->second;
    Pattern& made = found_.patterns.emplace_back();
    for (const Segment& segment : instance.segments)
      made.roles.push_back({segment.rank, segment.path, segment.symbols});
    std::stable_sort(made.roles.begin(), made.roles.end(),
                     [](const PatternRole& a, const PatternRole& b) { return a.rank < b.rank; });
    for (std::size_t i = 0; i < made.roles.size(); ++i)
      made.processes += i == 0 || made.roles[i].rank != made.roles[i - 1].rank ? 1 : 0;
    return next;
  }

  std::uint32_t family(std::uint64_t key, const PatternInstance& instance) {
    const auto next = static_cast<std::uint32_t>(found_.families.size());
    const auto [known, first] = families_.try_emplace(key, next);
    if (!first) return known->second;
    PatternFamily& made = found_.families.emplace_back();
    for (const Segment& segment : instance.segments)
      if (std::find(made.paths.begin(), made.paths.end(), segment.path) == made.paths.end())
        made.paths.push_back(segment.path);
    return next;
  }

  std::uint32_t world_;
  const ContextOf& site_;
  Patterns& found_;
  std::unordered_map<std::uint64_t, std::pair<std::uint32_t, std::uint32_t>> variants_;
  std::unordered_map<std::uint64_t, std::uint32_t> patterns_, families_;
  std::vector<std::uint64_t> roles_;
};

/// The instances in order. Those of iterations that stand for others are put in as often as these.
class SequenceWriter {
 public:
  SequenceWriter(PatternSequence& sequence, bool wanted) : sequence_(sequence), wanted_(wanted) {}

  void add(std::uint64_t begin_ns, std::uint32_t pattern, std::uint32_t family) {
    if (!wanted_) return;
    sequence_.patterns.push_back(pattern);
    sequence_.families.push_back(family);
    sequence_.begins_ns.push_back(begin_ns + later_);
  }

  void take(std::uint64_t times, double period_ns) {
    const std::size_t end = sequence_.patterns.size();
    for (std::uint64_t i = 1; wanted_ && i < times_; ++i) repeat(end, i);
    later_ += rounded(static_cast<double>(times_ - 1) * period_ns_);
    first_ = sequence_.patterns.size();
    times_ = times;
    period_ns_ = period_ns;
  }

  /// Memory is bounded, as far as the instances so far tell how many come.
  std::uint64_t until_ns(std::uint64_t now_ns) const {
    const auto have = static_cast<double>(sequence_.patterns.size());
    if (!wanted_ || have == 0) return UINT64_MAX;
    return rounded(static_cast<double>(now_ns) * std::min(kMost / have, 1e6));
  }

 private:
  static constexpr double kMost = 1 << 25;
  static std::uint64_t rounded(double ns) { return static_cast<std::uint64_t>(ns + 0.5); }

  void repeat(std::size_t end, std::uint64_t time) {
    const std::uint64_t later = rounded(static_cast<double>(time) * period_ns_);
    for (std::size_t i = first_; i < end; ++i) {
      sequence_.patterns.push_back(sequence_.patterns[i]);
      sequence_.families.push_back(sequence_.families[i]);
      sequence_.begins_ns.push_back(sequence_.begins_ns[i] + later);
    }
  }

  PatternSequence& sequence_;
  bool wanted_;
  std::size_t first_ = 0;
  std::uint64_t times_ = 1, later_ = 0;
  double period_ns_ = 0;
};

Result<Patterns> find_once(const Trace& trace, const PatternOptions& options, bool cut) {
  Patterns found;
  found.cut_at_collectives = cut;
  PatternTable table(trace, options.site, found);
  SequenceWriter sequence(found.sequence, options.sequence);
  const PatternWatch* const watch = options.watch;
  std::uint64_t times = 1, cycles_before = 0;
  if (watch != nullptr) watch->begins();
  InstanceOrder order(trace.ranks, [&](const PatternInstance& instance) {
    const auto [pattern, family] = table.place(instance, times);
    if (watch != nullptr) watch->placed(instance, pattern, family);
    sequence.add(instance.begin_ns, pattern, family);
  });
  InstanceBuilder builder(
      trace, options.split, options.context, cut,
      [&](std::uint32_t stream) { order.opened(stream); },
      [&](PatternInstance&& instance) {
        if (watch != nullptr) watch->completed(instance);
        order.completed(std::move(instance));
      });
  if (watch != nullptr) builder.note(watch->noted);
  RoundWatch rounds;
  rounds.state = [&](std::vector<std::uint64_t>& state) {
    builder.state(state);
    order.state(state);
  };
  rounds.take = [&](std::uint64_t now, double period_ns) {
    found.cycles += (times - 1) * (order.cycles() - cycles_before);
    cycles_before = order.cycles();
    sequence.take(now, period_ns);
    builder.take(now);
    if (watch != nullptr) watch->take(now, period_ns);
    times = now;
  };
  rounds.until_ns = [&](std::uint64_t now) { return sequence.until_ns(now); };
  const bool takes = watch == nullptr || watch->take;
  const bool at_once = takes && options.loops == Loops::kAtOnce;
  const RankList ranks = trace.whole_ranks();
  Result<TimelineFacts> timeline = run_timeline(
      trace, ranks,
      [&](const TimedEvent& event) {
        if (watch != nullptr) watch->event(event);
        builder.add(event);
        if (event.at->plan().action == Action::kFinalize) order.ended(event.stream());
      },
      false, Network::kRecorded, at_once ? &rounds : nullptr);
  if (!timeline) return timeline.error();
  builder.finish();
  order.finish();
  found.facts = builder.facts();
  found.cycles += order.cycles();
  found.timeline = std::move(*timeline);
  return found;
}

bool has_long_chain(const Patterns& found) {
  const InstanceFacts& facts = found.facts;
  return facts.largest * kLargeShare > facts.events &&
         facts.largest_segments > kLongChain * facts.largest_ranks;
}

}  // namespace

void InstanceSums::add(const PatternInstance& instance, std::uint64_t times) {
  const auto lasted = static_cast<double>(time_between(instance.begin_ns, instance.end_ns));
  const bool first = instances == 0;
  least_events = first ? instance.events : std::min(least_events, instance.events);
  most_events = std::max(most_events, instance.events);
  least_bytes = first ? instance.bytes : std::min(least_bytes, instance.bytes);
  most_bytes = std::max(most_bytes, instance.bytes);
  least_ns = first ? lasted : std::min(least_ns, lasted);
  most_ns = std::max(most_ns, lasted);
  instances += times;
  events += instance.events * times;
  bytes += instance.bytes * static_cast<double>(times);
  ns += lasted * static_cast<double>(times);
}

Result<Patterns> find_patterns(const Trace& trace, const PatternOptions& options) {
  Result<Patterns> found = find_once(trace, options, false);
  if (!found || !has_long_chain(*found)) return found;
  return find_once(trace, options, true);
}

}  // namespace chameleon::analysis
