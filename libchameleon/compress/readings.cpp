// SPDX-License-Identifier: BSD-3-Clause
#include "compress/readings.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace chameleon::compress {
namespace {

bool on_world(const Trace& trace, const CallDescription& call, const Node& node) {
  const auto comm = std::find_if(call.fields.begin(), call.fields.end(), [](const Field& field) {
    return field.kind == "comm" && field.stored == FieldKind::kPlain;
  });
  const auto at = static_cast<std::size_t>(comm - call.fields.begin());
  if (trace.world_size == 0 || at >= node.params.size()) return false;
  bool all = true;
  node.params[at].for_each_group({}, [&](const RankList&, EndPointForm, const auto& values) {
    all = all && values.is_constant() && values.front() == 0;
  });
  return all;
}

/// Values to be read anew: those that have the absolute reading only.
std::int64_t count_absolute(const Param& param, const RankList& ranks) {
  constexpr std::uint64_t kMost = 1U << 30;
  std::uint64_t count = 0;
  param.for_each_group(
      ranks, [&](const RankList& members, EndPointForm form, const ValueSequence& values) {
        if (form != EndPointForm::kAbsolute) return;
        const std::uint64_t each = values.is_constant() ? 1 : std::min(values.size(), kMost);
        count = std::min(kMost, count + each * members.size());
      });
  return static_cast<std::int64_t>(count);
}

ValueSequence relative_values(const ValueSequence& absolute, std::int32_t self, std::int32_t size) {
  return absolute.map_each([&](std::int64_t rank) -> std::int64_t {
    if (rank < 0) return kFirstSpecialRelative - rank;
    return relative_rank(static_cast<std::int32_t>(rank), self, size);
  });
}

void make_relative(const Trace& trace, Param& param, const RankList& ranks) {
  std::vector<ParamGroup> groups;
  const auto add = [&](const RankList& members, EndPointForm form, ValueSequence values) {
    for (ParamGroup& group : groups)
      if (group.form == form && group.values == values) return group.ranks.merge(members);
    groups.push_back({members, form, std::move(values)});
  };
  const auto size = static_cast<std::int32_t>(trace.world_size);
  param.for_each_group(ranks, [&](const RankList& members, EndPointForm form, const auto& values) {
    if (form != EndPointForm::kAbsolute) return add(members, form, values);
    members.for_each([&](std::uint32_t stream) {
      const auto self = static_cast<std::int32_t>(trace.rank_of(stream));
      add(RankList::single(stream), EndPointForm::kRelative, relative_values(values, self, size));
    });
  });
  param.set_groups(std::move(groups));
}

}  // namespace

bool share_readings(const Trace& trace, std::size_t field, Node& a, const RankList& ranks_a,
                    Node& b, const RankList& ranks_b, std::int64_t& budget) {
  const auto call = trace.calls.find(a.call);
  if (call == trace.calls.end() || field >= call->second.fields.size() ||
      call->second.fields[field].stored != FieldKind::kEndPoint ||
      !on_world(trace, call->second, a) || !on_world(trace, call->second, b))
    return false;
  const std::int64_t cost =
      count_absolute(a.params[field], ranks_a) + count_absolute(b.params[field], ranks_b);
  if (cost == 0 || cost > budget) return false;
  budget -= cost;
  make_relative(trace, a.params[field], ranks_a);
  make_relative(trace, b.params[field], ranks_b);
  return true;
}

}  // namespace chameleon::compress
