// SPDX-License-Identifier: BSD-3-Clause
#include "compress/loop_partners.h"

#include <algorithm>
#include <cstdint>

namespace chameleon::compress {
namespace {

constexpr std::size_t kNextLoops = 16;  ///< of loops looked at where there are too many pairs

void add_symbols(std::span<const Node> nodes, std::vector<std::uint64_t>& symbols) {
  for (const Node& node : nodes) {
    if (node.is_loop())
      add_symbols(node.body, symbols);
    else
      symbols.push_back(node.symbol());
  }
}

/// How often one of the ranks executed `node`, at most.
std::uint64_t calls_here(const Node& node) {
  std::uint64_t most = 0;
  if (node.params.empty()) return most;
  node.params[0].for_each_group({}, [&](const RankList&, EndPointForm, const ValueSequence& all) {
    most = std::max(most, all.size());
  });
  return most;
}

std::uint64_t calls_of(std::span<const Node> nodes) {
  std::uint64_t calls = 0;
  for (const Node& node : nodes) calls += node.is_loop() ? calls_of(node.body) : calls_here(node);
  return calls;
}

/// A loop of a list, and the calls in its body.
struct GapLoop {
  std::size_t place;
  const Node* loop;
  std::vector<std::uint64_t> symbols;  ///< ascending
};

std::vector<GapLoop> loops_of(std::span<const Node> nodes) {
  std::vector<GapLoop> found;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!nodes[i].is_loop() || nodes[i].iterations.grouped()) continue;
    GapLoop& one = found.emplace_back(GapLoop{i, &nodes[i], {}});
    add_symbols(nodes[i].body, one.symbols);
    std::sort(one.symbols.begin(), one.symbols.end());
    one.symbols.erase(std::unique(one.symbols.begin(), one.symbols.end()), one.symbols.end());
  }
  return found;
}

bool equally_often(const GapLoop& a, const GapLoop& b) {
  return a.loop->iterations.values() == b.loop->iterations.values();
}

std::uint64_t shared(const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b) {
  std::uint64_t count = 0;
  for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end();) {
    if (*i == *j) ++count;
    const bool next = *i <= *j;
    if (*j <= *i) ++j;
    if (next) ++i;
  }
  return count;
}

class Pairing {
 public:
  Pairing(std::span<const Node> a, std::span<const Node> b, bool top)
      : a_(loops_of(a)),
        b_(loops_of(b)),
        calls_a_(top ? calls_of(a) : 0),
        calls_b_(top ? calls_of(b) : 0),
        top_(top) {}

  std::vector<std::pair<std::size_t, std::size_t>> best() {
    return a_.size() * b_.size() > kMostPairs ? next_ones() : in_order();
  }

 private:
  /// How much speaks for these being one loop; 0: nothing does.
  std::uint64_t weight(const GapLoop& a, const GapLoop& b) const {
    if (!equally_often(a, b)) return 0;
    const std::uint64_t common = shared(a.symbols, b.symbols);
    if (common > 0) return 2 * common;
    return top_ && is_time_loop(a, a_, calls_a_) && is_time_loop(b, b_, calls_b_) ? 1 : 0;
  }

  /// Whether ranks spend their calls in `one`, which no other loop of `all` can be taken for. What
  /// ran equally often by chance is not that: which of two such loops meet would depend on the
  /// order in which ranks are joined.
  static bool is_time_loop(const GapLoop& one, const std::vector<GapLoop>& all,
                           std::uint64_t calls) {
    return is_only(one, all) && 4 * calls_of(one.loop->body) > 3 * calls;
  }

  static bool is_only(const GapLoop& one, const std::vector<GapLoop>& all) {
    return std::count_if(all.begin(), all.end(),
                         [&](const GapLoop& other) { return equally_often(one, other); }) == 1;
  }

  /// The heaviest common subsequence.
  std::vector<std::pair<std::size_t, std::size_t>> in_order() const {
    const std::size_t width = b_.size() + 1;
    std::vector<std::uint64_t> most((a_.size() + 1) * width), here(most.size());
    for (std::size_t i = a_.size(); i-- > 0;)
      for (std::size_t j = b_.size(); j-- > 0;) {
        const std::size_t at = i * width + j;
        here[at] = weight(a_[i], b_[j]);
        most[at] = std::max(most[at + width], most[at + 1]);
        if (here[at] > 0) most[at] = std::max(most[at], here[at] + most[at + width + 1]);
      }
    std::vector<std::pair<std::size_t, std::size_t>> pairs;
    for (std::size_t i = 0, j = 0; i < a_.size() && j < b_.size();) {
      const std::size_t at = i * width + j;
      if (here[at] > 0 && most[at] == here[at] + most[at + width + 1])
        pairs.emplace_back(a_[i++].place, b_[j++].place);
      else if (most[at] == most[at + width])
        ++i;
      else
        ++j;
    }
    return pairs;
  }

  std::vector<std::pair<std::size_t, std::size_t>> next_ones() const {
    std::vector<std::pair<std::size_t, std::size_t>> pairs;
    std::size_t next = 0;
    for (const GapLoop& one : a_)
      for (std::size_t j = next; j < std::min(b_.size(), next + kNextLoops); ++j)
        if (weight(one, b_[j]) > 1) {
          pairs.emplace_back(one.place, b_[j].place);
          next = j + 1;
          break;
        }
    return pairs;
  }

  const std::vector<GapLoop> a_, b_;
  const std::uint64_t calls_a_, calls_b_;  ///< of the two lists, at the top only
  const bool top_;
};

}  // namespace

std::vector<std::pair<std::size_t, std::size_t>> loop_partners(std::span<const Node> a,
                                                               std::span<const Node> b, bool top) {
  return Pairing(a, b, top).best();
}

}  // namespace chameleon::compress
