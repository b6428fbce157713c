// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The common part of a round and the body of the loop of the rounds before: an alignment of their
/// nodes with most calls in common, in order. The nodes of optional loops of the body are taken one
/// by one, so that a round may execute a part of such a loop.
///
/// Cost: O(nodes of the body * nodes of the round) comparisons of nodes.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/node.h"

namespace chameleon::compress {

class RoundAlignment {
 public:
  static constexpr std::size_t kBare = SIZE_MAX;  ///< in no optional loop

  /// Elements [a, a + a_count) of the body and nodes [b, b + b_count) of the round: one in both, or
  /// one of them is empty.
  struct Part {
    std::size_t a, a_count, b, b_count;
  };

  RoundAlignment(std::span<const Node> body, std::span<const Node> round);

  /// In order; none if the ends do not agree.
  std::vector<Part> parts() const;

  /// The optional loop of the body that holds an element, or kBare.
  std::size_t group(std::size_t element) const { return elements_[element].group; }

 private:
  struct Element {
    const Node* node;
    std::size_t group;
  };
  struct Cell {
    std::uint64_t common = 0;  ///< symbols
    Part part{};
  };

  void choose(std::size_t i, std::size_t j);
  std::size_t run_of_elements(std::size_t i, std::uint64_t length) const;

  std::span<const Node> round_;
  std::vector<Element> elements_;
  std::size_t width_;
  std::vector<Cell> best_;  ///< of what begins at an element and a node
};

}  // namespace chameleon::compress
