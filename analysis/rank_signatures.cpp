// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/rank_signatures.h"

#include "base/hash.h"
#include "compress/fold.h"
#include "format/codec.h"
#include "signature/call_parameters.h"

namespace chameleon::analysis {
namespace {

/// What of a call enters signatures, as the tracer has it.
struct CallUse {
  std::vector<signature::SignedValue> values;
  int flag = -1;
  CallRole role = CallRole::kOther;
};

std::vector<CallUse> uses_of(const FollowPlan& plan) {
  std::vector<CallUse> uses(plan.described.size());
  for (std::size_t id = 0; id < uses.size(); ++id) {
    const CallInfo* const call = find_call(static_cast<CallId>(id));
    if (call == nullptr || plan.described[id] == nullptr) continue;
    uses[id].flag = signature::success_flag(*call);
    uses[id].role = signature::role_of(*call);
    signature::for_each_signed(
        *call, [&](const signature::SignedValue& value) { uses[id].values.push_back(value); });
  }
  return uses;
}

/// One rank's events, signed as they come.
class Signer {
 public:
  Signer(const std::vector<CallUse>& uses, const signature::CallRules& rules, std::uint32_t rank)
      : uses_(uses), rules_(rules) {
    signature_.read_by_xor(rank);
  }

  void add(const Follower& follower, const FollowedEvent& event);
  RankSignature take();

 private:
  std::uint64_t hash_of(const FollowedEvent& event) const;

  const std::vector<CallUse>& uses_;
  const signature::CallRules& rules_;
  signature::CallSites sites_;
  IntervalSignature signature_;
  Folder folder_;
  RankSignature rank_;
  std::uint64_t compute_ns_ = 0, communication_ns_ = 0, timed_ = 0;
};

/// Of the event with all of its values: roots as ranks, other partners relative.
std::uint64_t Signer::hash_of(const FollowedEvent& event) const {
  std::uint64_t hash = Node::event_symbol(event.view.node->call, event.view.path);
  for (std::size_t i = 0; i < event.view.values.size(); ++i) {
    const Field& field = event.call->fields[i];
    if (is_time(field) || field.kind == "path") continue;  // the path is in the hash already
    std::int64_t value = event.view.values[i];
    if (i < event.call->fields.size() && event.call->fields[i].stored == FieldKind::kEndPoint) {
      const PartnerReadings partner = readings(event.view.end_point(i), event.comm);
      value = event.call->fields[i].kind == "root" ? partner.absolute : partner.relative;
    }
    hash = combine(hash, static_cast<std::uint64_t>(value));
  }
  return hash;
}

void Signer::add(const Follower& follower, const FollowedEvent& event) {
  const Node& node = *event.view.node;
  const std::span<const std::int64_t> values = event.view.values;
  ++rank_.events;
  rank_.parameters += values.size();
  const EventTimes times = follower.times(event);
  const CallRole role = node.call < uses_.size() ? uses_[node.call].role : CallRole::kOther;
  folder_.push({node.call, node.path, 0, 0, values, 0, role});
  compute_ns_ += times.compute;
  communication_ns_ += times.communication;
  if (event.call == nullptr || node.call >= uses_.size()) return;
  const CallUse& use = uses_[node.call];
  if (use.flag >= 0 && values[static_cast<std::size_t>(use.flag)] == 0) return;
  ++timed_;
  signature_.call(Node::event_symbol(node.call, node.path));
  for (const signature::SignedValue& value : use.values) {
    if (value.at >= values.size()) continue;
    if (const std::uint32_t rule = rule_of(rules_, sites_, event, value); rule != 0)
      signature_.add_ruled(value.parameter, rule);
    else if (value.end_point)
      signature_.add_end_point(value.parameter,
                               readings(event.view.end_point(value.at), event.comm).packed);
    else if (value.parameter == Parameter::kDataOperation)
      signature_.add(value.parameter, signature::type_bit(value.range, values[value.at]));
    else
      signature_.add(value.parameter, values[value.at]);
  }
  signature_.add(Parameter::kSequence, static_cast<std::int64_t>(hash_of(event)));
}

RankSignature Signer::take() {
  signature::IntervalTotals totals = signature_.take_totals();
  const auto time = [&](std::uint64_t ns) {
    return signature::ParameterTotal{static_cast<std::int64_t>(ns), timed_, 0};
  };
  if (compute_ns_ + communication_ns_ != 0) {
    totals[Parameter::kCompute] = time(compute_ns_);
    totals[Parameter::kCommunication] = time(communication_ns_);
  }
  Trace alone;
  alone.nodes = folder_.take();
  totals[Parameter::kLoop] = signature::loop_total(alone.nodes);
  rank_.trace_bytes = encode_trace(alone).size();
  signature::IntervalTotals history;  // of one interval
  history.append(totals);
  rank_.signature = history.signature();
  return rank_;
}

}  // namespace

std::uint32_t rule_of(const signature::CallRules& rules, signature::CallSites& sites,
                      const FollowedEvent& event, const signature::SignedValue& value) {
  const std::uint16_t call = event.view.node->call;
  if (rules.of(call).empty()) return 0;
  const std::int64_t site = sites.number(call, event.view.node->path);
  if (event.comm == nullptr || event.comm->is_inter) return 0;
  const auto place = place_in(event.comm);
  auto caller = rules.caller(call, event.view.values, place.self, place.size);
  caller.site = site;
  std::int64_t given = event.view.values[value.at];
  if (value.end_point) given = readings(event.view.end_point(value.at), event.comm).absolute;
  return rules.matching(call, value.at, given, caller);
}

Result<std::vector<RankSignature>> rank_signatures(const FollowPlan& plan,
                                                   const signature::CallRules& rules) {
  const Trace& trace = *plan.trace;
  const std::vector<CallUse> uses = uses_of(plan);
  std::vector<RankSignature> all;
  for (std::uint32_t rank = 0; rank < trace.world_size; ++rank) {
    Result<Follower> follower =
        trace.threads > 1 ? Follower::of_stream(plan, rank) : Follower::of_rank(plan, rank);
    if (!follower) return follower.error();
    Signer signer(uses, rules, rank);
    FollowedEvent event;
    while (follower->next(event)) signer.add(*follower, event);
    all.push_back(signer.take());
  }
  return all;
}

}  // namespace chameleon::analysis
