// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Sets of calls that a program makes in any order. Which message arrives first may decide what it
/// does next: `wait a wait b` in one step, `wait b wait a` in another. If calls before a blocking
/// collective come in changing orders, they are one loop around optional loops (rounds.h), one for
/// each call: `((a)* (b)* (wait)*)^n`. An iteration takes calls as long as they come in the order
/// of this loop. So the order is values, and not structure. The loop's own order is that of the
/// calls' symbols: all ranks and intervals have the same.
///
/// A set is known when the same calls, each as often, came for the second time in another order
/// than both times before: orders that alternate are a loop of two steps. From then on its calls
/// become such a loop when the collective follows, also where some of them are missing. Calls that
/// are before all these, or after them, in each order are not of the set. Further calls that come
/// among them later are added.
///
/// Cost: O(calls) for calls that no loop predicts. Memory: kMostSeen pairs of orders of up to
/// kMostInRun symbols, and kMostSets sets of kMostCalls.

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/node.h"

namespace chameleon::compress {

/// Whether the node is the loop of such a set. Folding only: a file does not tell.
bool is_call_set(const Node& node);

/// The events of nodes of one rank in the order of execution, with their values.
class Replay {
 public:
  explicit Replay(std::span<const Node> nodes) { add(nodes); }

  /// Calls f(node, cursors of its values) for each event of the next execution of the nodes, as
  /// long as it is true.
  template <class F>
  bool once(F f) {
    return run(0, entries_.size(), f);
  }

 private:
  struct Entry {
    const Node* node;
    std::vector<ValueSequence::Cursor> values;  ///< of a loop: its iterations
    std::size_t end = 0;                        ///< of the body in `entries_`
  };

  void add(std::span<const Node> nodes);

  template <class F>
  bool run(std::size_t from, std::size_t to, F& f) {
    for (std::size_t i = from; i < to; i = entries_[i].end) {
      Entry& entry = entries_[i];
      if (!entry.node->is_loop()) {
        if (!f(*entry.node, entry.values)) return false;
        continue;
      }
      ValueSequence::Cursor& counts = entry.values.front();
      std::uint64_t left =
          counts.done() ? entry.node->current : static_cast<std::uint64_t>(counts.next());
      for (; left > 0; --left)
        if (!run(i + 1, entry.end, f)) return false;
    }
    return true;
  }

  std::vector<Entry> entries_;
};

/// How many events the nodes of one rank executed.
std::uint64_t executions(std::span<const Node> nodes);

/// Whether values of the nodes, or of nodes in them, are not exact.
bool has_inexact(std::span<const Node> nodes);

/// A call of a run.
struct CallInRun {
  std::uint64_t symbol;
  CallRole role;
  bool operator==(const CallInRun&) const = default;
};

/// The shape of calls folded alone (fold.cpp).
Shape folded_alone(std::span<const CallInRun> calls);

class CallSets {
 public:
  static constexpr std::size_t kMostCalls = 24;   ///< different ones in a set
  static constexpr std::size_t kMostInRun = 128;  ///< calls between two collectives

  struct Set {
    std::uint64_t after;      ///< the collective that follows
    std::vector<Node> calls;  ///< without values; ascending by symbol

    const Node* find(const Node& call) const;  ///< null: it is not of the set
  };
  /// Nodes [first, end) of a run, which are of a known set; null: none are, or they are its loop.
  struct Part {
    std::size_t first = 0, end = 0;
    const Set* set = nullptr;
  };

  /// How many nodes at the end of `nodes` have no collective among them: a run.
  static std::size_t run_at_end(std::span<const Node> nodes);

  /// Looks at a run that came before the collective `after`. Whether there is a set now that was
  /// not known, or has more calls.
  bool learn(std::span<const Node> run, std::uint64_t after);

  /// The part of a run, which `after` follows (0: nothing does yet), that is of a known set.
  Part find(std::span<const Node> run, std::uint64_t after) const;

  /// The loop of the set, for nodes that were executed once.
  static Node join(std::span<const Node> part, const Set& set);

 private:
  static constexpr std::size_t kMostSets = 16;
  static constexpr std::size_t kMostSeen = 64;

  using Run = std::vector<CallInRun>;

  static std::pair<std::size_t, std::size_t> part_of(std::span<const Node> run, const Set& set);
  static void add(const Node& call, Set& set);

  std::vector<Set> sets_;
  std::unordered_map<std::uint64_t, std::array<Run, 2>> seen_;  ///< the latest, by their calls
  std::unordered_map<std::uint64_t, int> changes_;              ///< of an order, by what came after
};

}  // namespace chameleon::compress
