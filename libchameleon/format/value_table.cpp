// SPDX-License-Identifier: BSD-3-Clause
#include "format/value_table.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace chameleon::format {
namespace {

/// Whether a formula gives the first values; else none gives all of them.
bool may_follow_formula(const ParamSpread& spread, std::uint32_t size) {
  std::vector<ValueOfStreams> first;
  for (const RankInterval& streams : spread.ranks.intervals())
    for (std::uint64_t at = streams.first; at <= streams.last; ++at) {
      const auto stream = static_cast<std::uint32_t>(at);
      first.push_back({{stream, stream}, spread.at(first.size())});
      if (first.size() == ParamSpread::kFewest)
        return find_formula(first, spread.form, size).has_value();
    }
  return true;
}

}  // namespace

std::optional<ValueTable> ValueTable::of(const Param& param, std::uint32_t size, bool by_formula) {
  ValueTable table;
  if (const ParamSpread* spread = param.spread())
    if (!by_formula || !may_follow_formula(*spread, size)) {
      table.ranks = spread->ranks;
      table.form = spread->form;
      table.times = spread->times;
      table.values = spread->values();
      return table;
    }
  bool alike = true;
  std::vector<ValueOfStreams> in_order;
  param.for_each_group({}, [&](const RankList& of, EndPointForm form, const auto& values) {
    if (in_order.empty()) {
      table.form = form;
      table.times = values.size();
    }
    alike = alike && values.is_constant() && form == table.form && values.size() == table.times;
    if (!alike) return;
    for (const RankInterval& streams : of.intervals())
      in_order.push_back({streams, values.front()});
  });
  if (!alike) return std::nullopt;
  std::sort(in_order.begin(), in_order.end(),
            [](const auto& a, const auto& b) { return a.streams < b.streams; });
  for (const auto& [streams, constant] : in_order) {
    table.ranks.merge(RankList::range(streams.first, streams.last));
    table.values.append(constant, streams.size());
  }
  if (by_formula) table.formula = find_formula(in_order, table.form, size);
  return table;
}

}  // namespace chameleon::format
