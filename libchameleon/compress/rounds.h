// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Rounds of a loop that polls. After a poll a program takes a message that has arrived, or
/// continues without one. The rounds of such a loop therefore begin and end alike and differ in
/// between: `probe test` and `probe receive send test`. They are one loop. Calls that only some
/// rounds make are a loop of their own, with a count of 0 or 1 in each round. The rounds that make
/// them are then values, like counts and partners, and not structure.
///
/// A round begins with a call that may be unsuccessful. Its first and its last call occur only
/// there, and none of its calls is collective: calls between two such loops of a program belong to
/// neither. Rounds are aligned such that they have most calls in common, in order.
///
/// Cost: O(kMostInRound squared) comparisons of nodes for a round that is joined.

#include <span>
#include <vector>

#include "model/node.h"

namespace chameleon::compress {

inline constexpr std::size_t kMostInRound = 48;  ///< symbols of a round, each loop taken once

/// The role of the first call that a node executes.
CallRole first_role(const Node& node);

/// Whether the nodes may be a round.
bool may_be_round(std::span<const Node> run);

/// Whether it is short enough, and its first and its last call occur nowhere else in it.
bool has_ends_of_round(std::span<const Node> run);

/// The structure of nodes that were never executed.
std::vector<Node> hollow(std::span<const Node> nodes);
/// A loop around calls that only some rounds execute, with its count in each.
Node optional_loop(std::vector<Node> body, Param counts);
/// Whether all counts are 0 or 1. O(terms).
bool at_most_once(const Param& counts);

/// Joins a round, which one rank executed next, into the body of the loop of its rounds, or into
/// the round before. False, and nothing has changed, if the two do not begin and end alike.
bool join_round(std::vector<Node>& body, std::span<Node> round);

}  // namespace chameleon::compress
