// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The next iteration of a loop, before it is complete. Events that follow the loop's body, with
/// any number of iterations of inner loops, need no node of their own: they wait here until the
/// iteration is complete, and join the loop at once. An event that deviates ends the prediction,
/// and the events that waited become nodes. An iteration of the same events as the one before is
/// only counted, and its times are added.
///
/// Cost: O(steps from a place) for each event, O(1) if it is that of the iteration before. Memory:
/// the loop's places, and the events of two iterations.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "model/event.h"
#include "model/node.h"

namespace chameleon::compress {

/// A node of one event, with its times or without.
Node node_of(const Event& event, std::uint64_t predecessor, bool with_times);

/// Whether the first event of the node may have the symbol.
bool may_begin_with(const Node& node, std::uint64_t symbol);

/// Whether `symbol` occurs in the text of the nodes, each loop taken once, and not first.
bool comes_later_in(std::span<const Node> nodes, std::uint64_t symbol);

class Prediction {
 public:
  explicit Prediction(bool keep_times) : keep_times_(keep_times) {}

  bool keeps_times() const { return keep_times_; }
  void keep_times(bool keep) {
    settle_rounds();
    again_.events.clear();
    keep_times_ = keep;
  }

  /// Whether a loop is expected to continue.
  bool active() const { return active_; }

  /// `loop` has just gone round: what comes next is likely one of its steps. The loop and what is
  /// in it stay where they are until the prediction is withdrawn.
  void expect(Node& loop);

  /// Whether `event`, which follows `last`, is a step of the loop; `last` is its symbol then.
  /// Afterwards the prediction may be no longer active, and is to be withdrawn.
  bool take(const Event& event, std::uint64_t& last);

  /// Takes the next events as long as they are those of the whole iteration that ended last;
  /// Folder::repeat.
  template <class Identity, class Symbol, class Time>
  std::size_t repeat(std::size_t available, std::uint64_t last, Identity identity, Symbol symbol,
                     Time time);

  /// The loop is left, perhaps within an iteration: gives its events, as nodes.
  std::vector<Node> withdraw();

  /// As `withdraw`; an iteration that is whole has joined the loop.
  std::vector<Node> leave() {
    if (iteration_is_whole()) commit();
    return withdraw();
  }

 private:
  static constexpr std::uint32_t kSame = UINT32_MAX;
  /// Iterations of at least `kLong` events are counted several at once, some `kBatch` events.
  static constexpr std::size_t kLong = 1U << 10, kBatch = 1U << 15, kPart = 64;
  static constexpr std::size_t kAhead = 8;  ///< events whose times are fetched beforehand

  /// An event that went the expected way.
  struct Pending {
    std::uint64_t compute, communication;
    std::uint64_t identity;
    std::uint32_t step;
    std::uint32_t first;  ///< of its values in `Iteration`; kSame: as before at its place
  };
  /// The iteration that is not whole yet.
  struct Iteration {
    std::vector<Pending> events;
    std::vector<std::int64_t> values;
    std::uint64_t before = 0;  ///< symbol before the first event
  };
  /// The iteration before.
  struct Whole {
    std::vector<Pending> events;
    bool repeats = false;  ///< known events, at each place one: their values can be counted
    // Otherwise, if two iterations were the same: by place and parameter, the values of one.
    bool has_values = false;
    std::vector<std::vector<ValueSequence>> values;
  };
  /// An event of the whole iteration, and where its times go.
  struct Repeated {
    std::uint64_t identity;
    Durations* time;  ///< null: times are not kept
  };
  /// The whole iteration once more, and often.
  struct Again {
    std::vector<Repeated> events;           ///< empty: it has not repeated
    std::vector<std::uint32_t> loop_steps;  ///< its steps that begin a loop or iterate one
    std::uint64_t rounds = 0;               ///< whose values are not in the leaves
    // Times of a long iteration, in memory one after the other: apart they take twice as long.
    std::vector<Durations> times;
    std::vector<TimeEntry*> times_of;  ///< where these belong
  };
  /// A way on from a place: to the next, past optional loops, or round a loop that ends there once
  /// more.
  struct Step {
    std::uint32_t to = 0;
    std::uint32_t first_entered = 0, end_entered = 0;  ///< of `Plan::entered`, on the way
    Node* again = nullptr;                             ///< the loop that iterates, or null
    std::uint32_t first_skipped = 0, end_skipped = 0;  ///< of `Plan::skipped`, passed over
  };
  /// An event of the expected loop, however deep.
  struct Place {
    Node* leaf = nullptr;
    std::uint64_t symbol = 0;
    std::uint64_t identity = 0;  ///< of the last event here; 0: none yet, or unknown
    std::uint64_t repeats = 0;   ///< of its values, not in the leaf yet
    TimeEntry* time = nullptr;   ///< the last one used
    std::uint32_t first_step = 0, end_step = 0;
    std::uint32_t end_begun = 0;  ///< of `Plan::loops`: those begun up to here
  };
  /// The ways through the expected loop.
  struct Plan {
    std::vector<Place> places;   ///< in order
    std::vector<Step> steps;     ///< of each place together, innermost loops first
    std::vector<Node*> loops;    ///< by their first place, outermost first
    std::vector<Node*> entered;  ///< loops, outermost first, for each step
    std::vector<Node*> skipped;  ///< optional loops, in order, for each way past them

    Node& loop() const { return *loops.front(); }
    const Step& step(const Pending& event) const { return steps[event.step]; }
    const Place& place(const Pending& event) const { return places[step(event).to]; }
    Place& place(const Pending& event) { return places[step(event).to]; }
    void add(Node& loop);
    void skip(std::span<Node> rest);
    void add_set(Node& set, Node& next);
    void add_place(Node& event);
    Step& begin_step(std::size_t place, Node* again);
    void step_to(std::size_t place, std::size_t first_loop, std::size_t end_loop,
                 Node* again = nullptr);
    void step_into_set(std::size_t first, std::size_t first_loop, std::size_t end_loop,
                       Node* again = nullptr);
    void enter(Step& step, Node& loop);
    void skip_calls(Step& step, Node& set, std::size_t from, std::size_t to);
  };

  void commit();
  TimeEntry& time_entry(Place& place, std::uint64_t predecessor);
  void find_again();
  void gather_times();
  /// Part of the whole iteration once more, with other times.
  template <class Time>
  void count_part(const Repeated* events, std::size_t first, std::size_t end, Time time) {
    if (!keep_times_) return;
    for (std::size_t i = first; i < end; ++i) {
      if (i + kAhead < end) prefetch(events[i + kAhead].time);
      const auto [compute, communication] = time(i);
      events[i].time->compute.add(compute);
      events[i].time->communication.add(communication);
    }
  }
  static void prefetch(const Durations* durations) {
    const char* const bytes = reinterpret_cast<const char*>(durations);
    for (const std::size_t at : {0, 64, 128, 191}) __builtin_prefetch(bytes + at);
  }
  /// Takes a step of an iteration that is whole.
  Place& enter(const Step& step) {
    if (step.again != nullptr) ++step.again->current;
    for (std::uint32_t i = step.first_skipped; i < step.end_skipped; ++i)
      skip_visit(*plan_.skipped[i]);
    for (std::uint32_t loop = step.first_entered; loop < step.end_entered; ++loop)
      begin_visit(*plan_.entered[loop]);
    return plan_.places[step.to];
  }
  static void settle(Place& place);
  void settle_rounds();
  bool is_whole_again() const;
  bool is_over(std::uint64_t next, std::size_t rounds) const;
  /// Whether the expected loop, with `rounds` more, has iterated so often that an iteration whose
  /// last loop continues is one of it: its events need not wait.
  bool is_settled(std::size_t rounds) const { return plan_.loop().current + rounds >= 16; }
  /// Whether what begins as `events` do ends the iteration before.
  bool may_repeat(const std::vector<Pending>& events) const {
    return plan_.step(events.front()).again == &plan_.loop() || is_settled(0);
  }
  bool iteration_is_whole() const { return at_ == last_ && !pending_.events.empty(); }

  bool keep_times_;
  bool active_ = false;
  Plan plan_;
  std::uint32_t at_ = 0;        ///< the place of the event before
  std::uint32_t last_ = 0;      ///< the place that ends an iteration
  std::uint64_t too_long_ = 0;  ///< shape of a loop whose iterations are not waited for
  Iteration pending_;
  Whole whole_;
  Again again_;
};

template <class Identity, class Symbol, class Time>
std::size_t Prediction::repeat(std::size_t available, std::uint64_t last, Identity identity,
                               Symbol symbol, Time time) {
  if (!active_ || at_ != last_ || available == 0 || last != plan_.places.back().symbol) return 0;
  if (!pending_.events.empty()) {
    if (pending_.events.front().identity != identity(0) || !may_repeat(pending_.events)) return 0;
    commit();
  }
  if ((!whole_.repeats && !whole_.has_values) || available < whole_.events.size() ||
      !may_repeat(whole_.events))
    return 0;
  const std::size_t count = whole_.events.size();
  std::size_t done = 0;
  const auto same = [&](const auto* iteration) {
    if (available - done < count) return false;
    std::size_t i = 0;
    while (i < count && iteration[i].identity == identity(done + i)) ++i;
    return i == count;
  };
  // The last one is undone if it may continue within.
  const auto over = [&] {
    return done == available || again_.events.front().identity == identity(done) ||
           is_over(symbol(done), done / count - 1);
  };
  if (again_.events.empty()) {
    if (!same(whole_.events.data())) return 0;
    find_again();
  }
  if (again_.times.empty() && (available > 4 * count || again_.rounds > 2)) gather_times();
  const Repeated* const events = again_.events.data();
  if (count < kLong) {
    for (bool next = same(events); next;) {
      done += count;
      next = same(events);
      if (!next && !over()) {
        done -= count;
        break;
      }
      count_part(events, 0, count, [&](std::size_t i) { return time(done - count + i); });
    }
  } else {
    for (bool more = true; more && same(events);) {
      const std::size_t from = done;
      do done += count;
      while (done - from < kBatch && same(events));
      more = over();
      if (!more) done -= count;
      // Part by part, whose times stay in the processor's nearest memory.
      for (std::size_t first = 0; first < count; first += kPart)
        for (std::size_t at = from; at < done; at += count)
          count_part(events, first, std::min(count, first + kPart),
                     [&](std::size_t i) { return time(at + i); });
    }
  }
  for (std::size_t at = 0; at < done; at += count)
    for (const std::uint32_t step : again_.loop_steps) enter(plan_.steps[step]);
  again_.rounds += done / count;
  return done;
}

}  // namespace chameleon::compress
