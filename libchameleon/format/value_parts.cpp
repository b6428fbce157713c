// SPDX-License-Identifier: BSD-3-Clause
#include "format/value_parts.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/read_budget.h"

namespace chameleon::format {
namespace {

constexpr std::size_t kFewestGroups = 8;  ///< fewer are no longer than parts
constexpr std::uint64_t kMostInGroup =
    4;  ///< ranks, in the mean: larger groups are short as they are
constexpr std::uint64_t kLook = 1U << 14;  ///< ranks after which parts may be given up
/// Groups that may still make up for what others take; more would take memory in vain.
constexpr std::uint64_t kHoped = 1U << 17;

/// How often the value of a segment comes before another one does.
std::uint64_t run_of(const ValueSequence::Segment& segment) {
  return segment.stride == 0 ? segment.count : 1;
}

/// Where parts end: wherever the values of any group change. More than there may be, if the rest
/// was not looked at.
std::set<std::uint64_t> ends_of(const ParamGroups& groups) {
  std::set<std::uint64_t> ends{groups.begin()->values.size()};
  for (const ParamGroup& group : groups) {
    ValueSequence::Cursor cursor(group.values);
    std::int64_t value = group.values.front();
    while (!cursor.done() && ends.size() <= ValueParts::kMostParts) {
      const ValueSequence::Segment& segment = cursor.segment();
      if (segment.start != value) ends.insert(group.values.size() - cursor.left());
      value = segment.start;
      cursor.skip(run_of(segment));
    }
  }
  return ends;
}

/// Calls `f(rank, values)` for all ranks in their order, until it gives false.
template <class F>
void in_order(const ParamGroups& groups, F f) {
  std::uint64_t end = 0;
  bool intervals = true;  // one after another
  for (const ParamGroup& group : groups) {
    const auto& runs = group.ranks.runs();
    intervals =
        intervals && runs.size() == 1 && runs.front().count == 1 && runs.front().first() >= end;
    if (!intervals) break;
    end = std::uint64_t{runs.front().last()} + 1;
  }
  if (intervals) {
    for (const ParamGroup& group : groups) {
      const RankInterval& interval = group.ranks.runs().front().interval;
      for (std::uint64_t rank = interval.first; rank <= interval.last; ++rank)
        if (!f(static_cast<std::uint32_t>(rank), group.values)) return;
    }
    return;
  }
  const std::vector<ParamGroup> all = ParamGroups(groups).take();
  std::vector<std::pair<std::uint32_t, const ParamGroup*>> ranks;
  for (const ParamGroup& group : all)
    group.ranks.for_each([&](std::uint32_t rank) { ranks.emplace_back(rank, &group); });
  std::sort(ranks.begin(), ranks.end());
  for (const auto& [rank, group] : ranks)
    if (!f(rank, group->values)) return;
}

void add(std::vector<ValueParts::Part>& parts, const ValueSequence& values) {
  ValueSequence::Cursor cursor(values);
  for (ValueParts::Part& part : parts) {
    part.values.append(cursor.segment().start);
    for (std::uint64_t left = part.count; left != 0;) {
      const std::uint64_t step = std::min(left, run_of(cursor.segment()));
      cursor.skip(step);
      left -= step;
    }
  }
}

}  // namespace

std::optional<ValueParts> ValueParts::of(const ParamGroups& groups) {
  if (groups.size() < kFewestGroups) return std::nullopt;
  ValueParts result;
  result.form = groups.begin()->form;
  const std::uint64_t size = groups.begin()->values.size();
  std::uint64_t ranks = 0;
  for (const ParamGroup& group : groups) {
    if (group.form != result.form || group.values.size() != size) return std::nullopt;
    ranks += group.ranks.size();
  }
  if (size == 0 || ranks > kMostInGroup * groups.size()) return std::nullopt;
  const std::set<std::uint64_t> ends = ends_of(groups);
  if (ends.size() > kMostParts) return std::nullopt;
  std::uint64_t begin = 0;
  for (const std::uint64_t end : ends) {
    result.parts.emplace_back().count = end - begin;
    begin = end;
  }
  const auto is_short = [&](std::uint64_t of) {
    std::size_t terms = 0;
    for (const Part& part : result.parts) terms += part.values.term_count();
    return terms <= 2 * of;
  };
  bool promising = true;
  std::uint64_t seen = 0;
  in_order(groups, [&](std::uint32_t rank, const ValueSequence& values) {
    result.ranks.insert(rank);
    add(result.parts, values);
    ++seen;
    if (seen % kLook == 0) promising = is_short(std::min(groups.size(), seen + kHoped));
    return promising;
  });
  if (!promising || !is_short(groups.size())) return std::nullopt;
  return result;
}

ParamGroups ValueParts::groups() const {
  std::vector<ValueSequence::Cursor> cursors;
  for (const Part& part : parts) cursors.emplace_back(part.values);
  std::map<std::vector<std::int64_t>, RankList> by_values;
  ranks.for_each([&](std::uint32_t rank) {
    std::vector<std::int64_t> values;
    for (ValueSequence::Cursor& cursor : cursors) values.push_back(cursor.next());
    const auto [entry, fresh] = by_values.try_emplace(std::move(values));
    constexpr std::uint64_t kTerm = 64;
    if (fresh)
      ReadBudget::take(1,
                       ReadBudget::kMapNode + 3 * sizeof(ParamGroup) + (kTerm + 16) * parts.size());
    entry->second.insert(rank);
  });
  std::vector<ParamGroup> all;
  for (auto& [values, members] : by_values) {
    ValueSequence whole;
    for (std::size_t i = 0; i < parts.size(); ++i) whole.append(values[i], parts[i].count);
    all.push_back({std::move(members), form, std::move(whole)});
  }
  return all;
}

bool ValueParts::decode(ByteReader& reader, std::uint64_t most_ranks,
                        const std::vector<std::int64_t>* names, ValueParts& result) {
  result.parts.resize(std::min<std::uint64_t>(reader.count(3), kMostParts + 1));
  if (result.parts.empty() || result.parts.size() > kMostParts ||
      !RankList::decode(reader, result.ranks) || result.ranks.empty() ||
      result.ranks.size() > most_ranks)
    reader.fail();
  std::uint64_t most = 1ULL << 48;
  for (Part& part : result.parts) {
    if (!reader.ok()) return false;
    part.count = reader.varint();
    if (part.count == 0 || part.count > most ||
        !ValueSequence::decode(reader, part.values, names) ||
        part.values.size() != result.ranks.size())
      reader.fail();
    most -= std::min(most, part.count);
  }
  return reader.ok();
}

}  // namespace chameleon::format
