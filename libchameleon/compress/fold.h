// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Intra-node compression (ScalaTrace, dissertation section 2.1): events of one
/// rank become nested loops as they arrive. A repetition at the tail of the list
/// is found through an index from what the tail ends with to where that stood
/// before, compared by prefix hashes in O(1), and checked symbol by symbol once.
/// A tail that repeats the body of the loop before it (or of a loop that ends
/// that loop, at any depth) becomes one more iteration; two equal neighbours
/// become a loop. Iteration counts are not part of the comparison.
///
/// Once a loop has gone round, its next iteration is *predicted*: events that follow its body
/// (inner loops as often as they go round) need no node of their own; they wait until the
/// iteration is whole and join it at once. What deviates takes the ordinary way. Where the caller
/// can look ahead, an iteration of the same events as the one before only adds its times.
///
/// A tail folds when the next event is known. If that stands in the middle of the tail, the
/// iteration is likely in the middle of its last inner loop yet: the fold waits until that loop
/// has gone round, the next iteration begins, or twice the tail's length has passed. The same
/// holds for iterations that are predicted.
///
/// Cost: amortised O(nesting depth) per event whatever the length of the loop's body; what came
/// while a fold waited in vain is folded once more, without waiting. Memory: the folded trace,
/// and an index (tail_index.h) of at most four entries for each node of the list and each level
/// of loops that it ends with. Of equal endings the latest four are looked at: a repetition
/// that is not found costs compression, never exactness. The structure does not depend on the
/// values of hashes.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "compress/tail_index.h"
#include "model/event.h"
#include "model/node.h"

namespace chameleon::compress {

class Folder {
 public:
  explicit Folder(bool keep_times = true) : keep_times_(keep_times) {}

  /// Whether times are kept of what comes from here on.
  void keep_times(bool keep) {
    settle_rounds();
    beats_.clear();
    keep_times_ = keep;
  }

  /// Appends one event.
  void push(const Event& event);

  /// Appends the next events as long as they are, iteration by iteration, those of the whole
  /// iteration that ended last: of `available` ones, which have `identity(i)` and `symbol(i)`,
  /// `time(i)` being a pair {compute, communication}. Gives how many they were; 0: what is next
  /// is something else.
  template <class Identity, class Symbol, class Time>
  std::size_t repeat(std::size_t available, Identity identity, Symbol symbol, Time time) {
    if (!predicts_ || at_ != last_ || available == 0 || last_symbol_ != places_.back().symbol)
      return 0;
    if (!pending_.empty()) {
      if (pending_.front().identity != identity(0) || !may_repeat(pending_)) return 0;
      commit_prediction();
    }
    if ((!whole_repeats_ && !has_patterns_) || available < whole_.size() || !may_repeat(whole_))
      return 0;
    const std::size_t count = whole_.size();
    std::size_t done = 0;
    const auto same = [&](const auto* iteration) {
      if (available - done < count) return false;
      std::size_t i = 0;
      while (i < count && iteration[i].identity == identity(done + i)) ++i;
      return i == count;
    };
    // The last one is taken back where it may go on within.
    const auto over = [&] {
      return done == available || beats_.front().identity == identity(done) ||
             is_over(symbol(done), done / count - 1);
    };
    if (beats_.empty()) {
      if (!same(whole_.data())) return 0;
      find_beats();
    }
    if (gathered_.empty() && (available > 4 * count || rounds_ > 2)) gather_times();
    const Beat* const beats = beats_.data();
    if (count < kLong) {
      for (bool next = same(beats); next;) {
        done += count;
        next = same(beats);
        if (!next && !over()) {
          done -= count;
          break;
        }
        count_part(beats, 0, count, [&](std::size_t i) { return time(done - count + i); });
      }
    } else {
      for (bool more = true; more && same(beats);) {
        const std::size_t from = done;
        do done += count;
        while (done - from < kBatch && same(beats));
        more = over();
        if (!more) done -= count;
        // Part by part, whose times stay in the processor's nearest memory.
        for (std::size_t first = 0; first < count; first += kPart)
          for (std::size_t at = from; at < done; at += count)
            count_part(beats, first, std::min(count, first + kPart),
                       [&](std::size_t i) { return time(at + i); });
      }
    }
    for (std::size_t at = 0; at < done; at += count)
      for (const std::uint32_t step : turns_) enter(steps_[step]);
    rounds_ += done / count;
    events_ += done;
    return done;
  }

  /// Appends what the same rank did next, folded by another folder.
  void append(std::vector<Node> nodes, std::uint64_t events);

  /// Ends the fold and gives its nodes; the folder is empty afterwards, but
  /// still knows the last event, so that the next one's predecessor is right.
  std::vector<Node> take();

  /// The nodes so far; the last visits of loops may still go on (`Node::current`).
  std::span<const Node> nodes();

  /// The last event's symbol, also of events dropped elsewhere; 0: none yet.
  std::uint64_t last_symbol() const { return last_symbol_; }
  void set_last_symbol(std::uint64_t symbol) { last_symbol_ = symbol; }

  std::size_t node_count() const { return nodes_.size(); }
  std::uint64_t event_count() const { return events_; }

 private:
  /// A tail that repeats what is before it, and may be in the middle of its last iteration yet.
  struct Wait {
    std::size_t at, end;    ///< nodes
    std::uint64_t first;    ///< symbol with which the next iteration would begin
    std::uint64_t longest;  ///< symbols of the tail
  };
  /// An event that went the expected way, in an iteration that is not whole yet.
  struct Pending {
    std::uint64_t compute, communication;
    std::uint64_t identity;
    std::uint32_t step;
    std::uint32_t first;  ///< of its values in `pending_values_`; kSame: as before at its place
  };
  static constexpr std::uint32_t kSame = UINT32_MAX;
  /// Iterations of at least `kLong` events are counted several at once, some `kBatch` events.
  static constexpr std::size_t kLong = 1U << 10, kBatch = 1U << 15, kPart = 64;
  static constexpr std::size_t kAhead = 8;  ///< events whose times are fetched beforehand
  /// An event of the whole iteration, and where its times go.
  struct Beat {
    std::uint64_t identity;
    Durations* time;  ///< null: times are not kept
  };
  /// A way on from a place: to the next, or round a loop that ends there once more.
  struct Step {
    std::uint32_t to = 0;
    std::uint32_t first_entered = 0, end_entered = 0;  ///< loops of `begins_` entered on the way
    Node* again = nullptr;                             ///< the loop that goes round, or null
  };
  /// An event of the expected loop, however deep.
  struct Place {
    Node* leaf = nullptr;
    std::uint64_t symbol = 0;
    std::uint64_t identity = 0;  ///< of the last event here; 0: none yet, or unknown
    std::uint64_t repeats = 0;   ///< of its values, not in the leaf yet
    TimeEntry* time = nullptr;   ///< the last one used
    std::uint32_t first_step = 0, end_step = 0;
    std::uint32_t end_begun = 0;  ///< of `begins_`: the loops begun up to here
  };

  Node node_of(const Event& event, std::uint64_t predecessor) const;
  void fold_in(Node node);
  void push_node(Node node);
  void fold_tail(std::uint64_t next);
  void fold_ready(std::uint64_t next);
  bool must_wait(std::size_t at);
  void close_wait(std::size_t i);
  void predict(Node* loop);
  void plan(Node& loop);
  bool predicted(const Event& event);
  void commit_prediction();
  TimeEntry& time_entry(Place& place, std::uint64_t predecessor);
  void find_beats();
  /// Part of the whole iteration once more, with other times.
  template <class Time>
  void count_part(const Beat* beats, std::size_t first, std::size_t end, Time time) {
    if (!keep_times_) return;
    for (std::size_t i = first; i < end; ++i) {
      if (i + kAhead < end) prefetch(beats[i + kAhead].time);
      const auto [compute, communication] = time(i);
      beats[i].time->compute.add(compute);
      beats[i].time->communication.add(communication);
    }
  }
  static void prefetch(const Durations* durations) {
    const char* const bytes = reinterpret_cast<const char*>(durations);
    for (const std::size_t at : {0, 64, 128, 191}) __builtin_prefetch(bytes + at);
  }
  void gather_times();
  /// Takes a step of an iteration that is whole.
  Place& enter(const Step& step) {
    if (step.again != nullptr) ++step.again->current;
    for (std::uint32_t loop = step.first_entered; loop < step.end_entered; ++loop)
      begin_visit(*begins_[loop]);
    return places_[step.to];
  }
  void settle(Place& place);
  bool has_pattern() const;
  bool is_over(std::uint64_t next, std::size_t rounds) const;
  /// Whether the expected loop, with `rounds` more, has gone round so often that an iteration
  /// whose last loop goes on is one of it: its events need not wait.
  bool is_settled(std::size_t rounds) const { return begins_.front()->current + rounds >= 16; }
  /// Whether what begins as `events` do ends the iteration before.
  bool may_repeat(const std::vector<Pending>& events) const {
    return steps_[events.front().step].again == begins_.front() || is_settled(0);
  }
  bool iteration_is_whole() const { return at_ == last_ && !pending_.empty(); }
  void settle_rounds();
  void withdraw_prediction();
  void leave_prediction() {
    if (iteration_is_whole()) commit_prediction();
    withdraw_prediction();
  }
  /// Whether `symbol` stands in the text of the nodes, each loop taken once, and not first.
  static bool comes_later_in(std::span<const Node> nodes, std::uint64_t symbol);

  bool try_fold();
  bool try_position(std::size_t at);
  bool absorb(Node& before, std::size_t at, const Shape& tail);
  bool fold_square(std::size_t at, const Shape& tail);

  Shape shape_between(std::size_t first, std::size_t last);
  static std::uint64_t window_key(std::span<const Node> nodes, std::size_t width);
  std::uint64_t top_window_key(std::size_t width);
  void remember_tail();

  bool keep_times_;
  std::vector<Node> nodes_;
  std::vector<Shape> prefix_{Shape{}};    ///< prefix_[i]: shape of nodes_[0, i)
  std::vector<std::uint64_t> powers_{1};  ///< Shape::kBase to the i
  TailIndex index_;
  std::uint64_t last_symbol_ = 0;
  std::uint64_t events_ = 0;

  std::vector<Wait> waits_;  ///< each ends before the next
  std::uint64_t next_ = 0;   ///< symbol of what comes after the tail; 0: nothing does
  bool waited_ = false, closing_ = false;
  Node* absorbed_into_ = nullptr;

  bool predicts_ = false;
  std::vector<Place> places_;   ///< of a loop that has just gone round, in order
  std::vector<Step> steps_;     ///< innermost loops first
  std::vector<Node*> begins_;   ///< loops by their first place, outermost first
  std::uint32_t at_ = 0;        ///< the place of the event before
  std::uint32_t last_ = 0;      ///< the place that ends an iteration
  std::uint64_t before_ = 0;    ///< symbol before the first pending event
  std::uint64_t too_long_ = 0;  ///< shape of a loop whose iterations are not waited for
  std::vector<Pending> pending_;
  std::vector<Pending> whole_;  ///< the iteration before, of the loop that is predicted
  bool whole_repeats_ = false;  ///< known events, at each place one: their values can be counted
  // Else, where two iterations were the same: by place and parameter, the values of one.
  bool has_patterns_ = false;
  std::vector<std::vector<ValueSequence>> patterns_;
  std::uint64_t rounds_ = 0;  ///< of the whole iteration, whose values are not in the leaves
  std::vector<Beat> beats_;   ///< of the whole iteration, once it has repeated
  std::vector<std::uint32_t> turns_;  ///< its steps that begin a loop or go round one
  // Times of a long iteration, in memory one after the other: apart they take twice as long.
  std::vector<Durations> gathered_;
  std::vector<TimeEntry*> homes_;  ///< where these belong
  std::vector<std::int64_t> pending_values_;
};

}  // namespace chameleon::compress
