// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Intra-node compression (ScalaTrace, dissertation section 2.1): events of one rank become
/// nested loops as they arrive. A repetition at the tail of the list is found through an index
/// from the end of the tail to its earlier positions, compared by prefix hashes in O(1), and
/// checked symbol by symbol once. A tail that repeats the body of the loop before it (or of a
/// loop that ends that loop, at any depth) becomes one more iteration; two equal neighbours
/// become a loop. Iteration counts are not part of the comparison.
///
/// After the first iteration of a loop, the next one is predicted (prediction.h): events that
/// follow its body need no node of their own. Events that deviate are folded as usual. If the
/// caller can look ahead, an iteration of the same events as the one before only adds its
/// times.
///
/// A tail folds when the next event is known. If that event is in the middle of the tail, the
/// iteration is probably still in its last inner loop: the fold waits until that loop has
/// iterated, the next iteration begins, or twice the tail's length has passed. The same holds
/// for iterations that are predicted.
///
/// Cost: amortised O(nesting depth) per event whatever the length of the loop's body; events
/// that arrived while a fold waited in vain are folded once more, without waiting. Memory: the
/// folded trace, and an index (tail_index.h) of at most four entries for each node of the list
/// and each level of loops that it ends with. The latest of equal endings are examined,
/// 16 of a call and, where there are more of it, four of longer ones: a repetition that is not
/// found costs compression, never exactness. The structure does not depend on the values of hashes.

#include <cstdint>
#include <span>
#include <vector>

#include "compress/call_sets.h"
#include "compress/prediction.h"
#include "compress/tail_index.h"
#include "model/event.h"
#include "model/node.h"

namespace chameleon::compress {

class Folder {
 public:
  explicit Folder(bool keep_times = true) : prediction_(keep_times) {}

  /// Whether times are kept of what comes from here on.
  void keep_times(bool keep) { prediction_.keep_times(keep); }

  /// Appends one event.
  void push(const Event& event);

  /// Appends the next events as long as they are, iteration by iteration, those of the whole
  /// iteration that ended last: of `available` ones, which have `identity(i)` and `symbol(i)`,
  /// `time(i)` being a pair {compute, communication}. Gives how many they were; 0: what is next
  /// is something else.
  template <class Identity, class Symbol, class Time>
  std::size_t repeat(std::size_t available, Identity identity, Symbol symbol, Time time) {
    const std::size_t done = prediction_.repeat(available, last_symbol_, identity, symbol, time);
    events_ += done;
    return done;
  }

  /// Appends what the same rank did next, folded by another folder.
  void append(std::vector<Node> nodes, std::uint64_t events);

  /// Ends the fold and gives its nodes; the folder is empty afterwards, but
  /// still knows the last event, so that the next one's predecessor is right.
  std::vector<Node> take();

  /// The nodes so far; the last visits of loops may still be in progress (`Node::current`).
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
    std::uint64_t longest;  ///< symbols of the tail
  };
  void fold_in(Node node);
  void fold_in(std::vector<Node> nodes) {
    for (Node& node : nodes) fold_in(std::move(node));
  }
  void push_node(Node node);
  void fold_tail(std::uint64_t next);
  void fold_ready(std::uint64_t next);
  bool must_wait(std::size_t at);
  void close_wait(std::size_t i);
  void join_set(std::uint64_t after);
  void fold_again();
  std::vector<Node> take_from(std::size_t first);
  bool try_fold();
  bool try_position(std::size_t at);
  bool absorb(Node& before, std::size_t at, const Shape& tail);
  bool fold_square(std::size_t at, const Shape& tail);
  bool fold_round(std::size_t at);
  bool absorb_round(std::size_t at);
  void end_with(std::size_t first, Node loop);

  /// Facts about the list up to a node that a search needs, side by side: nodes are large and far
  /// apart.
  struct Prefix {
    std::uint64_t hash = 0, length = 0;  ///< as in Shape
    std::uint64_t last = 0;              ///< 8 bits of the hash of each of the last eight symbols

    Prefix then(const Node& node) const;
  };
  static std::uint64_t last_with(std::uint64_t last, const Node& node);

  bool ends_alike(std::size_t at) const;
  Shape shape_between(std::size_t first, std::size_t last);
  static std::uint64_t window_key(std::span<const Node> nodes, std::size_t width);
  std::uint64_t top_window_key(std::size_t width);
  void remember_tail();

  std::vector<Node> nodes_;
  std::vector<Prefix> prefix_{Prefix{}};  ///< prefix_[i]: of nodes_[0, i)
  std::vector<std::uint64_t> powers_{1};  ///< Shape::kBase to the i
  TailIndex index_;
  std::uint64_t last_symbol_ = 0;
  std::uint64_t events_ = 0;

  std::vector<Wait> waits_;  ///< each ends before the next
  std::uint64_t next_ = 0;   ///< symbol of what comes after the tail; 0: nothing does
  bool waited_ = false, closing_ = false;
  Node* absorbed_into_ = nullptr;

  Prediction prediction_;
  CallSets sets_;
  bool again_ = false;  ///< folding events once more
};

}  // namespace chameleon::compress
