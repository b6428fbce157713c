// SPDX-License-Identifier: BSD-3-Clause
#include "compress/once_taken.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace chameleon::compress {
namespace {

constexpr std::size_t kLoopsTried = 4;  ///< loops with which the same call begins

/// How many nodes of `list` from `at` on are an iteration of `loop`; 0: none.
std::size_t iteration_at(std::span<const Node> list, std::size_t at, const Node& loop) {
  const std::size_t count = run_of_length(list, at, loop.shape.length);
  if (count == 0) return 0;
  const std::span<const Node> run = list.subspan(at, count);
  const bool one_set = std::all_of(
      run.begin(), run.end(), [&](const Node& node) { return node.ranks == run.front().ranks; });
  return one_set && shape_of(run) == loop.shape && alignable(loop.body, run) ? count : 0;
}

/// Loops, each body once, by the call with which they begin.
class Loops {
 public:
  /// Of `others` those whose body is a loop there alone, and in `list` if anywhere bare.
  Loops(std::span<const Node> others, std::span<const Node> list) {
    std::unordered_set<std::uint64_t> seen;
    for (const Node& node : list)
      if (node.is_loop()) seen.insert(node.shape.hash);
    for (const Node& node : others) {
      if (!node.is_loop() || !seen.insert(node.shape.hash).second) continue;
      std::vector<const Node*>& same = loops_[first_symbol(node)];
      if (same.size() < kLoopsTried) same.push_back(&node);
    }
    for (std::size_t at = 0; at < others.size() && !loops_.empty(); ++at)
      if (const Node* loop = iterated_at(others, at)) std::erase(loops_[first_symbol(*loop)], loop);
  }

  bool empty() const { return loops_.empty(); }

  /// The loop that bare nodes of `list` from `at` on are an iteration of, or null.
  const Node* iterated_at(std::span<const Node> list, std::size_t at) const {
    const auto found = loops_.find(first_symbol(list[at]));
    if (found == loops_.end()) return nullptr;
    for (const Node* loop : found->second)
      if (loop != &list[at] && iteration_at(list, at, *loop) != 0) return loop;
    return nullptr;
  }

 private:
  std::unordered_map<std::uint64_t, std::vector<const Node*>> loops_;
};

}  // namespace

void wrap_once_taken(std::vector<Node>& list, std::span<const Node> others) {
  const Loops loops(others, list);
  if (loops.empty()) return;
  std::vector<Node> wrapped;
  for (std::size_t at = 0, count = 1; at < list.size(); at += count) {
    const Node* const loop = loops.iterated_at(list, at);
    count = loop == nullptr ? 1 : run_of_length(list, at, loop->shape.length);
    wrapped.push_back(loop == nullptr ? std::move(list[at])
                                      : wrapped_once(std::span(list).subspan(at, count)));
  }
  list = std::move(wrapped);
}

}  // namespace chameleon::compress
