// SPDX-License-Identifier: BSD-3-Clause
#include "flush/ruled.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace chameleon::flush {
namespace {

using signature::RuleCaller;
using signature::Rules;

constexpr std::int64_t kWorld = 0;  ///< id of MPI_COMM_WORLD

/// The value of the first field of a kind, if it is the same in all events of the node.
std::optional<std::int64_t> only_value(const Node& node, const CallDescription& call,
                                       std::string_view kind) {
  for (std::size_t i = 0; i < call.fields.size() && i < node.params.size(); ++i) {
    if (call.fields[i].kind != kind) continue;
    const Param& param = node.params[i];
    if (param.grouped() || !param.values().is_constant()) return std::nullopt;
    return param.values().front();
  }
  return std::nullopt;
}

class Ruler {
 public:
  Ruler(const Trace& trace, const FlushPlan::Entry& entry, const Rules& rules,
        const signature::CallSites& sites)
      : trace_(trace), entry_(entry), rules_(rules), sites_(sites) {}

  void apply(std::vector<Node>& nodes) {
    for (Node& node : nodes) {
      apply(node.body);
      const auto call = trace_.calls.find(node.call);
      if (node.is_loop() || call == trace_.calls.end()) continue;
      if (only_value(node, call->second, "comm") == kWorld) apply(node, call->second);
    }
  }

 private:
  void apply(Node& node, const CallDescription& call) {
    caller_.np = trace_.world_size;
    caller_.tag = only_value(node, call, "tag");
    caller_.count = only_value(node, call, "count");
    caller_.site = sites_.find(node.call, node.path);
    for (std::size_t i = 0; i < call.fields.size() && i < node.params.size(); ++i) {
      Param& param = node.params[i];
      if (param.grouped() || call.fields[i].stored == FieldKind::kArray) continue;
      own_.clear();
      for (std::size_t rule = 0; rule < rules_.list().size(); ++rule)
        if (rules_.list()[rule].call == call.name &&
            rules_.list()[rule].field == call.fields[i].name)
          own_.push_back(rule);
      if (!own_.empty()) apply(param, call.fields[i].stored == FieldKind::kEndPoint);
    }
  }

  void apply(Param& param, bool end_point) {
    std::vector<ParamGroup> groups;
    for (const std::uint32_t rank : entry_.ranks.ranks()) {
      auto values = values_of(param.values(), rank, end_point);
      if (!values) return;
      groups.push_back({RankList::single(rank),
                        end_point ? EndPointForm::kAbsolute : EndPointForm::kBoth,
                        std::move(*values)});
    }
    param.set_groups(std::move(groups));
  }

  std::optional<ValueSequence> values_of(const ValueSequence& sender, std::uint32_t rank,
                                         bool end_point) {
    bool ruled = true;
    ValueSequence values = sender.map_each([&](std::int64_t value) {
      const std::int64_t given = end_point ? packed_absolute(value) : value;
      const auto moved = ruled ? moved_to(rank, given) : std::nullopt;
      ruled = moved && !(end_point && (*moved < 0 || *moved >= caller_.np));
      return moved.value_or(given);
    });
    if (!ruled) return std::nullopt;
    return values;
  }

  /// What the first rule that gives the sender this value gives another rank.
  std::optional<std::int64_t> moved_to(std::uint32_t rank, std::int64_t value) {
    for (const std::size_t rule : own_) {
      caller_.me = entry_.sender;
      if (rules_.value(rule, caller_) != value) continue;
      caller_.me = rank;
      return rules_.value(rule, caller_);
    }
    return std::nullopt;
  }

  const Trace& trace_;
  const FlushPlan::Entry& entry_;
  const Rules& rules_;
  const signature::CallSites& sites_;
  RuleCaller caller_;
  std::vector<std::size_t> own_;  ///< rules of the present field
};

}  // namespace

void apply_rules(Trace& trace, const FlushPlan::Entry& entry, const signature::Rules& rules,
                 const signature::CallSites& sites) {
  Ruler(trace, entry, rules, sites).apply(trace.nodes);
}

}  // namespace chameleon::flush
