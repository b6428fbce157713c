// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// One rank's events, read from a folded and merged trace without expanding
/// it: memory of the folded size, O(depth) per event. `RankView::make` checks
/// that every value sequence is as long as the loops around it say, so a view
/// of a damaged trace is refused rather than read past an end.

#include <cstdint>
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
  static Result<RankView> make(const Trace& trace, std::uint32_t rank);

  /// The next event, or false at the end.
  bool next(EventView& event);

  std::uint32_t rank() const { return rank_; }

 private:
  struct Item {
    const Node* node;
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

  Status plan(std::vector<Item>& items, const std::vector<Node>& nodes, std::uint64_t visits,
              const Trace& trace);

  std::uint32_t rank_ = 0;
  std::uint64_t last_symbol_ = 0;
  std::vector<Item> items_;
  std::vector<Level> stack_;
};

}  // namespace chameleon::inline model
