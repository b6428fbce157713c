// SPDX-License-Identifier: BSD-3-Clause
#include "compress/distribution.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

namespace chameleon::compress {
namespace {

/// Terms that a distribution has at most, whose sequence does not become shorter by another.
constexpr std::size_t kMostTerms = 4 * kMostRanges;

/// Values between two, both of which there are.
struct Range {
  std::int64_t least = 0, greatest = 0;
  std::uint64_t count = 0;
};

/// How far two ranges are from being one; names are far from everything.
std::uint64_t width(const Range& low, const Range& high) {
  if (low.least < 0) return std::numeric_limits<std::uint64_t>::max();
  return static_cast<std::uint64_t>(high.greatest) - static_cast<std::uint64_t>(low.least);
}

/// Ranges in ascending order that do not overlap. After Ben-Haim and Tom-Tov (2010), with ranges in
/// place of centroids.
class Ranges {
 public:
  void add(std::int64_t value, std::uint64_t count) {
    auto at =
        std::lower_bound(ranges_.begin(), ranges_.end(), value,
                         [](const Range& range, std::int64_t one) { return range.greatest < one; });
    if (at != ranges_.end() && at->least <= value) {
      at->count += count;
      return;
    }
    ranges_.insert(at, {value, value, count});
    if (ranges_.size() > kMostRanges) join_two();
  }

  ValueSequence values() const {
    ValueSequence values;
    for (const Range& range : ranges_) {
      const std::uint64_t wide =
          static_cast<std::uint64_t>(range.greatest) - static_cast<std::uint64_t>(range.least);
      const std::uint64_t before = range.count - 1;  // those but the greatest
      if (before == 0 || wide == 0) {
        values.append(range.least, range.count);
        continue;
      }
      const auto stride = static_cast<std::int64_t>(wide / before);
      values.append(ValueSequence::Segment{range.least, stride, before});
      values.append(range.greatest);
    }
    return values;
  }

 private:
  void join_two() {
    std::size_t best = 0;
    std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
    for (std::size_t i = 0; i + 1 < ranges_.size(); ++i)
      if (const std::uint64_t wide = width(ranges_[i], ranges_[i + 1]); wide <= least) {
        least = wide;
        best = i;
      }
    ranges_[best].greatest = ranges_[best + 1].greatest;
    ranges_[best].count += ranges_[best + 1].count;
    ranges_.erase(ranges_.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }

  std::vector<Range> ranges_;
};

/// Values of which a distribution says something, and which name no object.
bool is_amount(const Field& field) {
  static constexpr std::array<std::string_view, 8> kAmounts = {
      "count", "tag", "int", "aint", "displacement", "offset", "bytes", "key"};
  return field.stored == FieldKind::kPlain &&
         std::find(kAmounts.begin(), kAmounts.end(), field.kind) != kAmounts.end();
}

/// A parameter with sequences that may become distributions.
struct Candidate {
  Node* node = nullptr;
  Param* param = nullptr;
  const RankList* ranks = nullptr;  ///< of the node
  Inexactness kind = kInexactOther;
  std::size_t bytes = 0;
};

std::size_t bytes_of(const Param& param, const RankList& ranks) {
  std::size_t bytes = 0;
  param.for_each_group(ranks, [&](const RankList&, EndPointForm, const ValueSequence& values) {
    if (!values.is_constant()) bytes += values.memory_bytes();
  });
  return bytes;
}

bool is_long(const ValueSequence& values) { return values.term_count() > kMostTerms; }

/// Makes distributions of the long sequences; gives whose they are.
RankList shorten(Param& param, const RankList& ranks) {
  if (!param.grouped()) {
    param.values() = distribution(param.values());
    return ranks;
  }
  if (param.spread() != nullptr) return {};  // constants
  RankList changed;
  ParamGroups groups = param.groups();
  groups.change_each([&](ParamGroup& group) {
    if (!is_long(group.values)) return;
    changed.merge(group.ranks);
    group.values = distribution(group.values);
  });
  param.set_groups(std::move(groups));
  return changed;
}

class Limiter {
 public:
  explicit Limiter(Trace& trace) : trace_(trace) { collect(trace.nodes, trace.ranks); }

  std::size_t bytes() const { return bytes_; }

  std::size_t limit(std::size_t most_bytes) {
    if (bytes_ <= most_bytes) return 0;
    std::stable_sort(candidates_.begin(), candidates_.end(),
                     [](const Candidate& a, const Candidate& b) { return a.bytes > b.bytes; });
    std::size_t changed = 0;
    for (const Candidate& one : candidates_) {
      if (bytes_ <= most_bytes / 2) break;
      RankList ranks = shorten(*one.param, *one.ranks);
      merge_inexact(one.node->inexact, {{std::move(ranks), one.kind}});
      bytes_ -= one.bytes - std::min(one.bytes, bytes_of(*one.param, *one.ranks));
      ++changed;
    }
    return changed;
  }

 private:
  void collect(std::vector<Node>& nodes, const RankList& all) {
    for (Node& node : nodes) {
      const RankList& ranks = node.ranks.empty() ? all : node.ranks;
      if (node.is_loop())
        collect(node.body, ranks);
      else if (const auto call = trace_.calls.find(node.call); call != trace_.calls.end())
        collect(node, call->second, ranks);
    }
  }

  void collect(Node& node, const CallDescription& call, const RankList& ranks) {
    for (std::size_t i = 0; i < node.params.size() && i < call.fields.size(); ++i) {
      if (!is_amount(call.fields[i])) continue;
      Param& param = node.params[i];
      const std::size_t bytes = bytes_of(param, ranks);
      bytes_ += bytes;
      bool has_long = false;
      param.for_each_group(ranks, [&](const RankList&, EndPointForm, const ValueSequence& values) {
        has_long = has_long || is_long(values);
      });
      if (has_long)
        candidates_.push_back({&node, &param, &ranks, inexactness_of(call.fields[i]), bytes});
    }
  }

  Trace& trace_;
  std::vector<Candidate> candidates_;
  std::size_t bytes_ = 0;
};

}  // namespace

ValueSequence distribution(const ValueSequence& values) {
  Ranges ranges;
  ValueSequence::Cursor cursor(values);
  while (!cursor.done()) {
    const ValueSequence::Segment segment = cursor.segment();
    if (segment.stride == 0) {
      ranges.add(segment.start, segment.count);
      cursor.skip(segment.count);
    } else {
      ranges.add(cursor.next(), 1);
    }
  }
  return ranges.values();
}

std::size_t limit_values(Trace& trace, std::size_t most_bytes) {
  return Limiter(trace).limit(most_bytes);
}

std::size_t value_bytes(Trace& trace) { return Limiter(trace).bytes(); }

}  // namespace chameleon::compress
