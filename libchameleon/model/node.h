// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// `Node = Event | Loop{iterations, body}`: the compressed form of what ranks
/// did (ScalaTrace's RSDs and PRSDs). A node's *shape* is the sequence of
/// (call, call path) it executes when every loop is taken once; it does not
/// depend on iteration counts, so a loop taken once and its bare body have one
/// shape. Iteration counts and parameters are value sequences in execution order.

#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "base/hash.h"
#include "model/event.h"
#include "model/exactness.h"
#include "model/histogram.h"
#include "model/param.h"

namespace chameleon::inline model {

/// Length and polynomial hash of a string of (call, call path) symbols;
/// concatenation is a monoid, so the shape of a list follows from its parts.
struct Shape {
  std::uint64_t hash = 0;
  std::uint64_t length = 0;
  std::uint64_t power = 1;  ///< kBase to the length

  static constexpr std::uint64_t kBase = 0x9ddfea08eb382d69ULL;
  static constexpr Shape of(std::uint64_t symbol) { return {mix(symbol), 1, kBase}; }
  constexpr Shape then(const Shape& next) const {
    return {hash * next.power + next.hash, length + next.length, power * next.power};
  }
  friend constexpr bool operator==(const Shape& a, const Shape& b) {
    return a.hash == b.hash && a.length == b.length;
  }
};

struct Durations {
  Histogram compute;        ///< from the end of the event before to this call
  Histogram communication;  ///< inside this call
};

/// Times of an event after a given predecessor, in nanoseconds.
struct TimeEntry : Durations {
  std::uint64_t predecessor = 0;  ///< symbol of the event before; 0: none
  RankList ranks;                 ///< empty: all ranks of the node
};

struct Node {
  RankList ranks;  ///< empty: all ranks of the enclosing node, or of the trace
  Shape shape;

  // An event (body empty).
  std::uint16_t call = 0;
  CallRole role = CallRole::kOther;  ///< folding only
  bool optional = false;   ///< a loop around a part of a round, see rounds.h; folding only
  std::uint64_t path = 0;  ///< stack signature
  std::vector<Param> params;
  std::vector<TimeEntry> times;

  // A loop (body not empty).
  Param iterations;           ///< one value a visit
  std::uint64_t current = 0;  ///< of the visit in progress; 0: none (folding only)
  std::vector<Node> body;

  std::vector<Inexact> inexact;  ///< of this node and its body; mostly empty

  bool is_loop() const { return !body.empty(); }
  std::uint64_t symbol() const { return event_symbol(call, path); }
  static std::uint64_t event_symbol(std::uint16_t call, std::uint64_t path) {
    return combine(path, call);
  }
};

// Otherwise a vector that grows copies its elements.
static_assert(std::is_nothrow_move_constructible_v<Node> &&
              std::is_nothrow_move_assignable_v<Node>);
static_assert(std::is_nothrow_move_constructible_v<TimeEntry> &&
              std::is_nothrow_move_assignable_v<TimeEntry>);
static_assert(std::is_nothrow_move_constructible_v<ParamGroup> &&
              std::is_nothrow_move_assignable_v<ParamGroup>);
static_assert(std::is_nothrow_move_constructible_v<Inexact> &&
              std::is_nothrow_move_assignable_v<Inexact>);

inline Shape shape_of(std::span<const Node> nodes) {
  Shape shape;
  for (const Node& node : nodes) shape = shape.then(node.shape);
  return shape;
}

/// The symbol of the last event that a node executes.
inline std::uint64_t end_symbol(const Node& node) {
  const Node* last = &node;
  while (last->is_loop()) last = &last->body.back();
  return last->symbol();
}

/// The symbol of the first.
inline std::uint64_t first_symbol(const Node& node) {
  const Node* first = &node;
  while (first->is_loop()) first = &first->body.front();
  return first->symbol();
}

/// Whether `a` is a loop around `b` and more: the next nodes of two lists to be aligned.
inline bool encloses(const Node& a, const Node& b) {
  return a.is_loop() && (!b.is_loop() || a.shape.length > b.shape.length);
}

/// How many nodes of `list` from `at` on have `length` symbols in all; 0: none do.
template <class List>
std::size_t run_of_length(const List& list, std::size_t at, std::uint64_t length) {
  std::uint64_t have = 0;
  for (std::size_t i = at; i < list.size(); ++i) {
    have += list[i].shape.length;
    if (have == length) return i - at + 1;
    if (have > length) return 0;
  }
  return 0;
}

/// The fields of a call, as the trace model must know them.
using FieldKinds = std::vector<FieldKind>;

/// Tells the kinds of the values of a call; must outlive its users.
class CallSchema {
 public:
  virtual ~CallSchema() = default;
  virtual FieldKind field_kind(std::uint16_t call, std::size_t field) const = 0;
};

/// Whether the two lists execute the same symbols in nestings that can be made
/// one: loops of equal body, or a loop and one execution of its body. O(length).
bool alignable(std::span<const Node> a, std::span<const Node> b);

/// Joins `later`, which the same ranks executed after `nodes`, into `nodes` as
/// one more execution. Requires `alignable`.
void append_execution(std::vector<Node>& nodes, std::span<Node> later, const RankList& ranks);

/// Nodes that the same ranks execute, as a loop that was taken once at every visit.
Node wrapped_once(std::span<Node> run);

/// Joins `other`, executed by other ranks, into `nodes`. Requires `alignable`.
void merge_ranks(std::vector<Node>& nodes, std::span<Node> other, const RankList& mine,
                 const RankList& theirs, const CallSchema& schema);

/// Begins a visit of a loop while folding: the one before, if still open, is over.
void begin_visit(Node& loop);
/// The same for a visit without iterations, which is over at once.
void skip_visit(Node& loop);
/// Ends visits still open: `current` becomes the last iteration count.
void close_loops(std::span<Node> nodes);
/// Undoes that: the last visit of every loop is in progress again. For nodes of one rank.
void reopen_loops(std::span<Node> nodes);

/// Joins `b` of other ranks into `a`: both events, or both loops. Requires `alignable`.
void merge_node(Node& a, Node& b, const RankList& mine, const RankList& theirs,
                const CallSchema& schema);

/// Merges histograms of like means; beyond `kMostTimeGroups` a predecessor the nearest.
void merge_times(std::vector<TimeEntry>& times, std::vector<TimeEntry>&& other,
                 const RankList& mine, const RankList& theirs);
constexpr std::size_t kMostTimeGroups = 8;

}  // namespace chameleon::inline model
