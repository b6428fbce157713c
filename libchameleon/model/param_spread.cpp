// SPDX-License-Identifier: BSD-3-Clause
#include "model/param_spread.h"

#include <algorithm>
#include <utility>

namespace chameleon::inline model {
namespace {

bool can_be_stride(std::int64_t stride) {
  return stride != 0 && stride >= INT32_MIN && stride <= INT32_MAX;
}

std::int64_t difference(std::int64_t later, std::int64_t before) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(later) -
                                   static_cast<std::uint64_t>(before));
}

}  // namespace

std::optional<std::int64_t> ParamSpread::value_of(std::uint32_t rank) const {
  std::uint64_t before = 0;
  for (const RankRun& run : ranks.runs()) {
    if (rank < run.first()) return std::nullopt;
    if (rank > run.last()) {
      before += run.count * run.interval.size();
      continue;
    }
    const std::uint32_t below = run.below(rank);
    if (below == run.count || rank < run.at(below).first) return std::nullopt;
    return at(before + below * run.interval.size() + (rank - run.at(below).first));
  }
  return std::nullopt;
}

ValueSequence ParamSpread::values() const {
  ValueSequence all;
  all.append(ValueSequence::Segment{first, stride, ranks.size()});
  return all;
}

ParamGroups ParamSpread::groups() const {
  ParamGroups all;
  for_each([&](std::uint32_t rank, std::int64_t value) {
    all.push({RankList::single(rank), form, ValueSequence(value, times)});
  });
  return all;
}

bool ParamSpread::extend(const ParamSpread& next) {
  if (next.form != form || next.stride != stride || next.times != times ||
      next.first != at(ranks.size()) || next.ranks.first() <= ranks.runs().back().last())
    return false;
  ranks.merge(next.ranks);
  return true;
}

bool ParamSpread::extend(const RankList& of, EndPointForm of_form, const ValueSequence& of_values) {
  return is_single(of) && of_values.is_constant() &&
         extend(ParamSpread{of, of_form, of_values.front(), stride, of_values.size()});
}

std::optional<ParamSpread> ParamSpread::of(const ParamGroups& groups) {
  if (groups.size() < kFewest) return std::nullopt;
  ParamSpread spread;
  std::uint64_t place = 0;
  std::uint32_t before = 0;
  for (const auto& [ranks, of_form, values] : groups) {
    if (!is_single(ranks) || !values.is_constant()) return std::nullopt;
    if (place == 0) spread = {{}, of_form, values.front(), 0, values.size()};
    if (place == 1) spread.stride = difference(values.front(), spread.first);
    if (of_form != spread.form || values.size() != spread.times ||
        values.front() != spread.at(place) || (place > 0 && ranks.first() <= before) ||
        (place == 1 && !can_be_stride(spread.stride)))
      return std::nullopt;
    before = ranks.first();
    spread.ranks.insert(before);
    ++place;
  }
  return spread;
}

std::optional<ParamSpread> ParamSpread::of(const RankList& ranks, EndPointForm form,
                                           const ValueSequence& values, std::uint64_t times) {
  if (values.size() < kFewest) return std::nullopt;
  const ValueSequence::Segment segment = ValueSequence::Cursor(values).segment();
  if (segment.count != values.size() || !can_be_stride(segment.stride)) return std::nullopt;
  return ParamSpread{ranks, form, segment.start, segment.stride, times};
}

}  // namespace chameleon::inline model
