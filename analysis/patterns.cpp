// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/patterns.h"

#include <algorithm>
#include <unordered_map>

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
  std::pair<std::uint32_t, std::uint32_t> place(const PatternInstance& instance) {
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
    pattern.sums.add(instance);
    group.sums.add(instance);
    ++found_.instances;
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

Result<Patterns> find_once(const Trace& trace, const PatternOptions& options, bool cut) {
  Patterns found;
  found.cut_at_collectives = cut;
  PatternTable table(trace, options.site, found);
  PatternSequence& sequence = found.sequence;
  const PatternWatch* const watch = options.watch;
  if (watch != nullptr) watch->begins();
  InstanceOrder order(trace.ranks, [&](const PatternInstance& instance) {
    const auto [pattern, family] = table.place(instance);
    if (watch != nullptr) watch->placed(instance, pattern, family);
    if (!options.sequence) return;
    sequence.patterns.push_back(pattern);
    sequence.families.push_back(family);
    sequence.begins_ns.push_back(instance.begin_ns);
  });
  InstanceBuilder builder(
      trace, options.split, options.context, cut,
      [&](std::uint32_t stream) { order.opened(stream); },
      [&](PatternInstance&& instance) {
        if (watch != nullptr) watch->completed(instance);
        order.completed(std::move(instance));
      });
  if (watch != nullptr) builder.note(watch->noted);
  const RankList ranks = trace.whole_ranks();
  Result<TimelineFacts> timeline = run_timeline(trace, ranks, [&](const TimedEvent& event) {
    if (watch != nullptr) watch->event(event);
    builder.add(event);
    if (event.at->plan().action == Action::kFinalize) order.ended(event.stream());
  });
  if (!timeline) return timeline.error();
  builder.finish();
  order.finish();
  found.facts = builder.facts();
  found.cycles = order.cycles();
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
  const auto lasted = static_cast<double>(instance.end_ns - instance.begin_ns);
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
