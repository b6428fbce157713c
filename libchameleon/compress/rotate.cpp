// SPDX-License-Identifier: BSD-3-Clause
#include "compress/rotate.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "compress/join_lists.h"
#include "compress/rounds.h"

namespace chameleon::compress {
namespace {

constexpr std::int64_t kMostCounted = 1LL << 48;  ///< iterations of a visit

/// The sum of the last `count` values, if that is not too many.
std::optional<std::uint64_t> last_sum(ValueSequence values, std::uint64_t count) {
  if (values.size() < count) return std::nullopt;
  std::uint64_t sum = 0;
  for (; count > 0 && sum <= kMostRotated; --count) {
    sum += static_cast<std::uint64_t>(values.back());
    values.drop_back();
  }
  return sum <= kMostRotated ? std::optional(sum) : std::nullopt;
}

/// How often the body was executed in the last visits, of which there are `counts`.
std::optional<RankCounts> last_iterations(const Node& loop, const RankList& ranks,
                                          const RankCounts& counts) {
  RankCounts sums;
  std::size_t groups = 0;
  loop.iterations.for_each_group(ranks, [&](auto&&...) { ++groups; });
  bool good = counts.size() * groups <= kMostRotated;
  const auto add = [&](const RankList& members, EndPointForm, const ValueSequence& values) {
    for (const RankCount& one : counts) {
      RankList common = members.intersection(one.ranks);
      if (!good || common.empty()) continue;
      const std::optional<std::uint64_t> sum = last_sum(values, one.count);
      if (!sum) {
        good = false;
        return;
      }
      const auto same = std::find_if(sums.begin(), sums.end(),
                                     [&](const RankCount& other) { return other.count == *sum; });
      if (same == sums.end())
        sums.push_back({std::move(common), *sum});
      else
        same->ranks.merge(common);
    }
  };
  loop.iterations.for_each_group(ranks, add);
  return good ? std::optional(std::move(sums)) : std::nullopt;
}

bool has_last(const Node& node, const RankList& enclosing, const RankList& ranks,
              const RankCounts& counts) {
  if (!(ranks_of(node, enclosing) == ranks)) return false;
  if (!node.is_loop())
    return std::all_of(node.params.begin(), node.params.end(),
                       [&](const Param& param) { return param.each_has(ranks, counts); });
  const std::optional<RankCounts> inside = last_iterations(node, ranks, counts);
  return inside && std::all_of(node.body.begin(), node.body.end(), [&](const Node& inner) {
           return has_last(inner, ranks, ranks, *inside);
         });
}

void rotate(Param& bare, Param& inner, const RankList& ranks, const RankCounts& counts) {
  bare.append(std::move(inner), ranks, ranks);
  inner = std::move(bare);
  bare = inner.take_last(ranks, counts);
}

void rotate_values(Node& bare, Node& inner, const RankList& ranks, const RankCounts& counts) {
  merge_inexact(inner.inexact, bare.inexact);
  bare.inexact = inner.inexact;
  if (!bare.is_loop()) {
    for (std::size_t k = 0; k < bare.params.size(); ++k)
      rotate(bare.params[k], inner.params[k], ranks, counts);
    return;
  }
  const RankCounts inside = *last_iterations(inner, ranks, counts);
  rotate(bare.iterations, inner.iterations, ranks, counts);
  for (std::size_t i = 0; i < bare.body.size(); ++i)
    rotate_values(bare.body[i], inner.body[i], ranks, inside);
}

}  // namespace

bool has_last(const Node& node, const RankList& enclosing, const RankList& ranks) {
  return has_last(node, enclosing, ranks, {{ranks, 1}});
}

void rotate_values(Node& bare, Node& inner, const RankList& ranks) {
  rotate_values(bare, inner, ranks, {{ranks, 1}});
}

std::vector<Node> written_out(Node loop, const RankList& ranks) {
  std::vector<std::vector<Node>> iterations;
  std::int64_t left = loop.iterations.values().front();
  for (; left > 1 && std::all_of(loop.body.begin(), loop.body.end(),
                                 [&](const Node& node) { return has_last(node, ranks, ranks); });
       --left) {
    std::vector<Node>& last = iterations.emplace_back(hollow(loop.body));
    for (std::size_t i = 0; i < last.size(); ++i) rotate_values(last[i], loop.body[i], ranks);
  }
  const std::vector<Inexact> inexact = loop.inexact;
  std::vector<Node> out;
  if (left == 1) {
    out = std::move(loop.body);
  } else {
    loop.iterations = Param(ValueSequence(left, 1));
    out.push_back(std::move(loop));
  }
  for (auto last = iterations.rbegin(); last != iterations.rend(); ++last)
    std::move(last->begin(), last->end(), std::back_inserter(out));
  for (Node& node : out) merge_inexact(node.inexact, inexact);
  return out;
}

bool has_first(const Node& loop) {
  if (!loop.is_loop() || loop.iterations.grouped()) return false;
  const ValueSequence& counts = loop.iterations.values();
  return !counts.empty() && counts.front() > 0 && counts.front() < kMostCounted;
}

void extend_first(Node& loop, std::int64_t more) {
  ValueSequence::Cursor counts(loop.iterations.values());
  ValueSequence longer(counts.next() + more);
  while (!counts.done()) {
    const ValueSequence::Segment segment = counts.segment();
    longer.append(segment);
    counts.skip(segment.count);
  }
  loop.iterations = Param(std::move(longer));
}

}  // namespace chameleon::compress
