// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// One rank's events, read from a folded and merged trace without expanding
/// it: memory of the folded size, O(depth) per event. `RankView::make` checks
/// that every value sequence is as long as the loops around it say, so a view
/// of a damaged trace is refused rather than read past an end.

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "model/trace.h"

namespace chameleon::inline model {

/// An event as one rank executed it. Pointers hold until the next `next`.
struct EventView {
  const Node* node = nullptr;  ///< call and times
  /// Stack signature of its whole call path, where the node has a relaxed one too.
  std::uint64_t path = 0;
  std::uint64_t predecessor = 0;
  std::uint64_t number = 0;  ///< in its stream, from 1; those left out count
  std::vector<std::int64_t> values;
  std::vector<EndPointForm> forms;       ///< how to read values[i] if it is an end-point
  std::vector<std::uint64_t> iteration;  ///< of the loops around, outermost first

  EndPoint end_point(std::size_t field) const { return {forms[field], values[field]}; }
};

/// Iterations of a loop over all its visits.
struct Iterations {
  bool in_range = false;  ///< false: a count is negative, or the sum too large
  std::uint64_t total = 0;
  bool idle_visit = false;  ///< some visit has none
};
Iterations sum_iterations(const ValueSequence& counts);

class RankView {
 public:
  /// Between two iterations of a loop: which one comes next, from 0, and how many are left with it.
  struct Round {
    const Node* loop = nullptr;  ///< null: there is no such place
    std::uint64_t iteration = 0, left = 0;
    bool operator==(const Round&) const = default;
  };

  static Result<RankView> make(const Trace& trace, std::uint32_t rank);

  /// The next event, or false at the end.
  bool next(EventView& event);

  std::uint32_t rank() const { return rank_; }

  /// Before anything is read: `round` is to tell of these loops.
  void watch(const std::unordered_set<const Node*>& loops) { watch(items_, loops); }
  /// Whether the next event begins an iteration, but for the first, of a loop that is watched.
  Round round() const;
  // Call it where `round` reports a loop. Adds how many values of each parameter in the loop are
  // left.
  void values_left(std::vector<std::uint64_t>& left) const;
  /// How often what came since `left` was so comes again, value for value.
  std::uint64_t times_alike(std::span<const std::uint64_t> left) const;
  /// Leaves out `times` repetitions, of the given number of iterations each, of the part since
  /// then, when there had been `events`; fewer than are left and alike.
  void leave_out(std::uint64_t times, std::uint64_t rounds, std::span<const std::uint64_t> left,
                 std::uint64_t events);
  /// How many events there have been, those left out included.
  std::uint64_t events() const { return events_; }

 private:
  struct Item {
    const Node* node;
    bool watched;
    int path;                                   ///< the value that is its call path; -1: the node's
    std::vector<ValueSequence::Cursor> values;  ///< of a loop: its iteration counts
    std::vector<EndPointForm> forms;
    std::vector<Item> body;
  };
  struct Level {
    std::vector<Item>* items;
    std::size_t at;
    std::uint64_t left;  ///< iterations after this one
    std::uint64_t iteration;
  };

  static void watch(std::vector<Item>& items, const std::unordered_set<const Node*>& loops);
  /// The place in the stack of the loop in progress; 0: none, or not between iterations.
  std::size_t loop_between() const;
  const Item& loop_at(std::size_t level) const {
    return (*stack_[level - 1].items)[stack_[level - 1].at - 1];
  }
  template <class Items, class F>
  static void each_cursor(Items& items, F f);

  const ValueSequence& kept(const ValueSequence& values, ValueSequence& own);
  Status plan(std::vector<Item>& items, const std::vector<Node>& nodes, std::uint64_t visits,
              const Trace& trace);

  std::uint32_t rank_ = 0;
  std::uint64_t last_symbol_ = 0, events_ = 0;
  std::vector<Item> items_;
  std::vector<Level> stack_;
  std::vector<std::shared_ptr<const ValueSequence>> owned_;  ///< which the trace has packed
};

}  // namespace chameleon::inline model
