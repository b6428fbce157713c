// SPDX-License-Identifier: BSD-3-Clause
#include "compress/prediction.h"

#include <algorithm>

#include "compress/call_sets.h"

namespace chameleon::compress {
namespace {

/// Events of an iteration that are waited for, unless its loop has more places.
constexpr std::size_t kMostPending = 4096;

bool has_symbol(std::span<const Node> nodes, std::uint64_t symbol) {
  return std::any_of(nodes.begin(), nodes.end(), [&](const Node& node) {
    return node.is_loop() ? has_symbol(node.body, symbol) : node.symbol() == symbol;
  });
}

/// Whether what follows each set of calls in the loop is something else, and in the same body.
bool can_predict(const Node& loop) {
  for (std::size_t i = 0; i < loop.body.size(); ++i) {
    const Node& node = loop.body[i];
    if (is_call_set(node)) {
      if (i + 1 == loop.body.size()) return false;
      const Node* next = &loop.body[i + 1];
      for (; next->is_loop(); next = &next->body.front())
        if (next->optional || is_call_set(*next)) return false;
    } else if (node.is_loop() && !can_predict(node)) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool may_begin_with(const Node& node, std::uint64_t symbol) {
  if (!is_call_set(node))
    return node.is_loop() ? may_begin_with(node.body.front(), symbol) : node.symbol() == symbol;
  return has_symbol(node.body, symbol);
}

Node node_of(const Event& event, std::uint64_t predecessor, bool with_times) {
  Node node;
  node.call = event.call;
  node.path = event.path;
  node.role = event.role;
  node.shape = Shape::of(Node::event_symbol(event.call, event.path));
  node.params.resize(event.values.size());
  for (std::size_t i = 0; i < event.values.size(); ++i)
    node.params[i].values().append(event.values[i]);
  if (with_times) {
    TimeEntry& entry = node.times.emplace_back();
    entry.predecessor = predecessor;
    entry.compute.add(event.compute);
    entry.communication.add(event.communication);
  }
  return node;
}

bool comes_later_in(std::span<const Node> nodes, std::uint64_t symbol) {
  return !may_begin_with(nodes[0], symbol) && has_symbol(nodes, symbol);
}

void Prediction::expect(Node& loop) {
  active_ = false;
  if (loop.shape.hash == too_long_ || !can_predict(loop)) return;
  plan_.places.clear();
  plan_.steps.clear();
  plan_.loops.clear();
  plan_.entered.clear();
  plan_.skipped.clear();
  again_.events.clear();
  whole_.repeats = whole_.has_values = false;
  plan_.add(loop);
  at_ = last_ = static_cast<std::uint32_t>(plan_.places.size() - 1);
  plan_.places.back().end_step = static_cast<std::uint32_t>(plan_.steps.size());
  active_ = true;
}

// Appends the places of a loop. The steps from a place are made before the next place is.
void Prediction::Plan::add(Node& loop) {
  const std::size_t begin = loops.size();
  const std::size_t first = places.size();
  loops.push_back(&loop);
  for (std::size_t i = 0; i < loop.body.size(); ++i) {
    Node& node = loop.body[i];
    if (is_call_set(node)) {
      add_set(node, loop.body[i + 1]);
    } else if (node.is_loop()) {
      if (node.optional && i > 0) skip(std::span(loop.body).subspan(i));
      add(node);
    } else {
      if (!places.empty()) step_to(places.size(), places.back().end_begun, loops.size());
      add_place(node);
    }
  }
  const std::size_t begun = places[first].end_begun;
  if (begun >= begin + 3 && is_call_set(*loops[begun - 2]))
    step_into_set(first, begin + 1, begun - 1, &loop);
  else
    step_to(first, begin + 1, begun, &loop);
}

void Prediction::Plan::add_place(Node& event) {
  Place& place = places.emplace_back();
  place.leaf = &event;
  place.symbol = event.symbol();
  place.first_step = place.end_step = static_cast<std::uint32_t>(steps.size());
  place.end_begun = static_cast<std::uint32_t>(loops.size());
}

/// A step from the last place, on which the loops [first_loop, end_loop) are entered.
void Prediction::Plan::step_to(std::size_t place, std::size_t first_loop, std::size_t end_loop,
                               Node* again) {
  Step& step = begin_step(place, again);
  entered.insert(entered.end(), loops.begin() + static_cast<std::ptrdiff_t>(first_loop),
                 loops.begin() + static_cast<std::ptrdiff_t>(end_loop));
  step.end_entered = static_cast<std::uint32_t>(entered.size());
}

Prediction::Step& Prediction::Plan::begin_step(std::size_t place, Node* again) {
  Step& step = steps.emplace_back();
  step.to = static_cast<std::uint32_t>(place);
  step.again = again;
  step.first_entered = step.end_entered = static_cast<std::uint32_t>(entered.size());
  step.first_skipped = step.end_skipped = static_cast<std::uint32_t>(skipped.size());
  places.back().end_step = static_cast<std::uint32_t>(steps.size());
  return step;
}

void Prediction::Plan::enter(Step& step, Node& loop) {
  entered.push_back(&loop);
  step.end_entered = static_cast<std::uint32_t>(entered.size());
}

void Prediction::Plan::skip_calls(Step& step, Node& set, std::size_t from, std::size_t to) {
  for (; from < to; ++from) skipped.push_back(&set.body[from]);
  step.end_skipped = static_cast<std::uint32_t>(skipped.size());
}

/// Ways from the last place past the optional loops with which `rest` begins.
void Prediction::Plan::skip(std::span<Node> rest) {
  const auto first = static_cast<std::uint32_t>(skipped.size());
  std::size_t place = places.size();
  for (std::size_t i = 0; i + 1 < rest.size() && rest[i].optional; ++i) {
    skipped.push_back(&rest[i]);
    place += rest[i].shape.length;
    Step& step = begin_step(place, nullptr);
    step.first_skipped = first;
    for (Node* next = &rest[i + 1]; next->is_loop(); next = &next->body.front()) enter(step, *next);
  }
}

/// Steps from the last place to each call of the set whose calls have the places from `first` on.
/// The set is the last of the loops [first_loop, end_loop), which are entered.
void Prediction::Plan::step_into_set(std::size_t first, std::size_t first_loop,
                                     std::size_t end_loop, Node* again) {
  Node& set = *loops[end_loop - 1];
  for (std::size_t i = 0; i < set.body.size(); ++i) {
    step_to(first + i, first_loop, end_loop, again);
    enter(steps.back(), set.body[i]);
    skip_calls(steps.back(), set, 0, i);
  }
}

/// Appends the places of a set: after each of its calls comes any, or `next`.
void Prediction::Plan::add_set(Node& set, Node& next) {
  const std::size_t first = places.size();
  const std::size_t count = set.body.size();
  loops.push_back(&set);
  if (!places.empty()) step_into_set(first, places.back().end_begun, loops.size());
  for (std::size_t i = 0; i < count; ++i) {
    Node& call = set.body[i];
    loops.push_back(&call);
    add_place(call.body.front());
    for (std::size_t to = 0; to < count; ++to) {
      if (to == i) {
        begin_step(first + to, &call);
        continue;
      }
      Step& step = begin_step(first + to, to < i ? &set : nullptr);
      skip_calls(step, set, i + 1, to < i ? count : to);
      if (to < i) skip_calls(step, set, 0, to);
      enter(step, set.body[to]);
    }
    if (i + 1 == count) break;
    Step& step = begin_step(first + count, nullptr);
    skip_calls(step, set, i + 1, count);
    for (Node* inner = &next; inner->is_loop(); inner = &inner->body.front()) enter(step, *inner);
  }
}

// Values that are known to be those of the time before are only counted.
bool Prediction::take(const Event& event, std::uint64_t& last) {
  const std::uint64_t symbol = Node::event_symbol(event.call, event.path);
  const Place& here = plan_.places[at_];
  std::uint32_t step = here.first_step;
  bool same = false;
  for (;; ++step) {
    if (step == here.end_step) {
      if (iteration_is_whole() && !comes_later_in(plan_.loop().body, symbol)) commit();
      active_ = false;
      return false;
    }
    const Place& place = plan_.places[plan_.steps[step].to];
    same = event.identity != 0 && event.identity == place.identity;
    if (same || (place.leaf->call == event.call && place.leaf->path == event.path &&
                 place.leaf->params.size() == event.values.size()))
      break;
  }
  if (iteration_is_whole() && (plan_.steps[step].again == &plan_.loop() || is_settled(0) ||
                               pending_.events.size() > kMostPending))
    commit();
  Pending pending{event.compute, event.communication, event.identity, step, kSame};
  at_ = plan_.steps[step].to;
  Place& place = plan_.places[at_];
  if (!same) {
    pending.first = static_cast<std::uint32_t>(pending_.values.size());
    pending_.values.insert(pending_.values.end(), event.values.begin(), event.values.end());
    place.identity = event.identity;
  }
  if (pending_.events.empty()) pending_.before = last;
  pending_.events.push_back(pending);
  last = place.symbol;
  if (at_ != last_ && pending_.events.size() > kMostPending &&
      pending_.events.size() > 2 * plan_.places.size()) {
    too_long_ = plan_.loop().shape.hash;
    active_ = false;
  }
  return true;
}

/// Whether the iteration that is whole ends there if `next` follows: it is expected, or is not in
/// the middle of the body.
bool Prediction::is_over(std::uint64_t next, std::size_t rounds) const {
  const Place& last = plan_.places.back();
  const bool outer = plan_.step(whole_.events.front()).again == &plan_.loop();
  for (std::uint32_t step = last.first_step; step < last.end_step; ++step)
    if (plan_.places[plan_.steps[step].to].symbol == next)
      return plan_.steps[step].again == &plan_.loop() || is_settled(outer ? rounds : 0);
  return !comes_later_in(plan_.loop().body, next);
}

void Prediction::commit() {
  settle_rounds();
  std::uint64_t predecessor = pending_.before;
  whole_.repeats = true;
  whole_.has_values = is_whole_again();
  if (whole_.has_values) whole_.values.assign(plan_.places.size(), {});
  for (std::size_t i = 0; i < pending_.events.size(); ++i) {
    if (i + kAhead < pending_.events.size())
      prefetch(plan_.place(pending_.events[i + kAhead]).time);
    const Pending& pending = pending_.events[i];
    Place& place = enter(plan_.step(pending));
    if (pending.identity == 0 || pending.identity != place.identity) whole_.repeats = false;
    if (pending.first == kSame) {
      ++place.repeats;
    } else {
      settle(place);
      const std::int64_t* values = pending_.values.data() + pending.first;
      for (Param& param : place.leaf->params) param.values().append(*values++);
    }
    if (whole_.has_values) {
      std::vector<ValueSequence>& values = whole_.values[plan_.step(pending).to];
      values.resize(place.leaf->params.size());
      for (std::size_t k = 0; k < values.size(); ++k)
        values[k].append(place.leaf->params[k].values().back());
    }
    if (keep_times_) {
      TimeEntry& entry = time_entry(place, predecessor);
      entry.compute.add(pending.compute);
      entry.communication.add(pending.communication);
    }
    predecessor = place.symbol;
  }
  whole_.events.swap(pending_.events);
  again_.events.clear();
  pending_.events.clear();
  pending_.values.clear();
}

TimeEntry& Prediction::time_entry(Place& place, std::uint64_t predecessor) {
  if (place.time != nullptr && place.time->predecessor == predecessor) return *place.time;
  std::vector<TimeEntry>& times = place.leaf->times;
  const auto found = std::find_if(times.begin(), times.end(), [&](const TimeEntry& entry) {
    return entry.predecessor == predecessor;
  });
  if (found != times.end()) {
    place.time = &*found;
  } else {
    place.time = &times.emplace_back();
    place.time->predecessor = predecessor;
  }
  return *place.time;
}

/// Of the whole iteration, which comes after itself.
void Prediction::find_again() {
  again_.loop_steps.clear();
  for (const bool all_there : {false, true}) {  // entries that are added move others
    std::uint64_t predecessor = plan_.places.back().symbol;
    for (const Pending& event : whole_.events) {
      const Step& step = plan_.step(event);
      Place& place = plan_.places[step.to];
      TimeEntry* const time = keep_times_ ? &time_entry(place, predecessor) : nullptr;
      predecessor = place.symbol;
      if (!all_there) continue;
      again_.events.push_back({event.identity, time});
      if (step.again != nullptr || step.first_entered != step.end_entered ||
          step.first_skipped != step.end_skipped)
        again_.loop_steps.push_back(event.step);
    }
  }
}

/// Of a loop of many places, in the order of these.
void Prediction::gather_times() {
  constexpr std::size_t kFewest = 256, kMost = 1U << 14;
  if (!keep_times_ || plan_.places.size() < kFewest || plan_.places.size() > kMost) return;
  std::vector<std::size_t> first;
  for (const Place& place : plan_.places) {
    first.push_back(again_.times_of.size());
    for (TimeEntry& entry : place.leaf->times) again_.times_of.push_back(&entry);
  }
  again_.times.reserve(again_.times_of.size());
  for (TimeEntry* const entry : again_.times_of) again_.times.push_back(std::move(*entry));
  for (std::size_t i = 0; i < again_.events.size(); ++i) {
    const std::uint32_t at = plan_.step(whole_.events[i]).to;
    const auto* const entry = static_cast<const TimeEntry*>(again_.events[i].time);
    again_.events[i].time =
        &again_.times[first[at] + (entry - plan_.places[at].leaf->times.data())];
  }
}

/// Whether the iteration that waits is the one before once more, and has several events at a place.
bool Prediction::is_whole_again() const {
  if (pending_.events.size() != whole_.events.size()) return false;
  bool several = false;
  for (std::size_t i = 0; i < whole_.events.size(); ++i) {
    const Pending& pending = pending_.events[i];
    if (pending.identity == 0 || pending.identity != whole_.events[i].identity) return false;
    several = several || pending.identity != plan_.place(pending).identity;
  }
  return several;
}

/// Whole iterations that were only counted get their values, and times go back.
void Prediction::settle_rounds() {
  for (std::size_t i = 0; i < again_.times.size(); ++i)
    static_cast<Durations&>(*again_.times_of[i]) = std::move(again_.times[i]);
  std::vector<Durations>().swap(again_.times);
  again_.times_of.clear();
  if (again_.rounds == 0) return;
  if (whole_.has_values) {
    for (std::size_t at = 0; at < plan_.places.size(); ++at) {
      settle(plan_.places[at]);
      for (std::size_t k = 0; k < whole_.values[at].size(); ++k)
        plan_.places[at].leaf->params[k].values().append_times(whole_.values[at][k], again_.rounds);
    }
  } else {
    for (const Pending& event : whole_.events) plan_.place(event).repeats += again_.rounds;
  }
  again_.rounds = 0;
}

/// The values that were only counted join the leaf.
void Prediction::settle(Place& place) {
  if (place.repeats == 0) return;
  for (Param& param : place.leaf->params)
    param.values().append(param.values().back(), place.repeats);
  place.repeats = 0;
}

std::vector<Node> Prediction::withdraw() {
  active_ = false;
  settle_rounds();
  for (Place& place : plan_.places) settle(place);
  std::vector<Node> nodes;
  std::vector<std::uint32_t> last(pending_.events.empty() ? 0 : plan_.places.size(), kSame);
  std::vector<std::int64_t> values;
  std::uint64_t predecessor = pending_.before;
  for (const Pending& pending : pending_.events) {
    const std::uint32_t at = plan_.step(pending).to;
    const Node& leaf = *plan_.places[at].leaf;
    if (pending.first != kSame) last[at] = pending.first;
    values.clear();
    for (std::size_t i = 0; i < leaf.params.size(); ++i)
      values.push_back(last[at] != kSame ? pending_.values[last[at] + i]
                                         : leaf.params[i].values().back());
    nodes.push_back(node_of({leaf.call, leaf.path, pending.compute, pending.communication, values,
                             pending.identity, leaf.role},
                            predecessor, keep_times_));
    predecessor = plan_.places[at].symbol;
  }
  pending_.events.clear();
  pending_.values.clear();
  return nodes;
}

}  // namespace chameleon::compress
