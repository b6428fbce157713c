// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The common part of a round and the body of the loop of the rounds before, or of two such
/// bodies: an alignment of their nodes with most calls in common, in order. The nodes of
/// optional loops are taken one by one, so that a round may execute a part of such a loop.
///
/// Cost: O(nodes of the body * nodes of the round) comparisons of nodes.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/node.h"

namespace chameleon::compress {

/// The nodes of a list, those of its optional loops one by one.
class RoundElements {
 public:
  static constexpr std::size_t kBare = SIZE_MAX;  ///< in no optional loop

  explicit RoundElements(std::span<const Node> list);

  std::size_t size() const { return elements_.size(); }
  const Node& operator[](std::size_t i) const { return *elements_[i].node; }
  /// The place in the list of the optional loop that holds an element, or kBare.
  std::size_t group(std::size_t i) const { return elements_[i].group; }
  /// How many adjacent elements from `i` on have `length` symbols; 0: none.
  std::size_t run_of(std::size_t i, std::uint64_t length) const;

 private:
  struct Element {
    const Node* node;
    std::size_t group;
  };
  std::vector<Element> elements_;
};

class RoundAlignment {
 public:
  /// Elements [a, a + a_count) of one and [b, b + b_count) of the other: one in both, or one of
  /// them is empty.
  struct Part {
    std::size_t a, a_count, b, b_count;
  };

  RoundAlignment(std::span<const Node> body, std::span<const Node> round);

  const RoundElements& body() const { return body_; }
  const RoundElements& round() const { return round_; }

  /// In order; none if the ends do not agree.
  std::vector<Part> parts() const;

 private:
  struct Cell {
    std::uint64_t common = 0;  ///< symbols
    Part part{};
  };

  void choose(std::size_t i, std::size_t j);

  RoundElements body_, round_;
  std::size_t width_;
  std::vector<Cell> best_;  ///< of what begins at two elements
};

}  // namespace chameleon::compress
