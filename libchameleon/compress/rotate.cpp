// SPDX-License-Identifier: BSD-3-Clause
#include "compress/rotate.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "compress/join_lists.h"

namespace chameleon::compress {
namespace {

constexpr std::int64_t kMostCounted = 1LL << 48;  ///< iterations of a visit

/// The sum of the last `count` iteration counts, if that is not too many.
std::optional<std::uint64_t> last_iterations(const Node& loop, std::uint64_t count) {
  if (loop.iterations.grouped() || loop.iterations.values().size() < count) return std::nullopt;
  ValueSequence values = loop.iterations.values();
  std::uint64_t sum = 0;
  for (; count > 0 && sum <= kMostRotated; --count) {
    sum += static_cast<std::uint64_t>(values.back());
    values.drop_back();
  }
  return sum <= kMostRotated ? std::optional(sum) : std::nullopt;
}

void rotate(Param& bare, Param& inner, const RankList& ranks, std::uint64_t count) {
  bare.append(std::move(inner), ranks, ranks);
  inner = std::move(bare);
  bare = inner.take_last(count);
}

}  // namespace

bool has_last(const Node& node, const RankList& enclosing, const RankList& ranks,
              std::uint64_t count) {
  if (count > kMostRotated || !(ranks_of(node, enclosing) == ranks)) return false;
  if (!node.is_loop())
    return std::all_of(node.params.begin(), node.params.end(),
                       [&](const Param& param) { return param.each_has(count); });
  const std::optional<std::uint64_t> inside = last_iterations(node, count);
  return inside && std::all_of(node.body.begin(), node.body.end(), [&](const Node& inner) {
           return has_last(inner, ranks, ranks, *inside);
         });
}

void rotate_values(Node& bare, Node& inner, const RankList& ranks, std::uint64_t count) {
  merge_inexact(inner.inexact, bare.inexact);
  bare.inexact = inner.inexact;
  if (!bare.is_loop()) {
    for (std::size_t k = 0; k < bare.params.size(); ++k)
      rotate(bare.params[k], inner.params[k], ranks, count);
    return;
  }
  const std::uint64_t inside = *last_iterations(inner, count);
  rotate(bare.iterations, inner.iterations, ranks, count);
  for (std::size_t i = 0; i < bare.body.size(); ++i)
    rotate_values(bare.body[i], inner.body[i], ranks, inside);
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
