// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/operations.h"

#include <algorithm>

namespace chameleon::analysis {
namespace {

/// Pieces of a value sequence looked at before a wildcard is taken for possible.
constexpr std::uint64_t kMostSegments = 1 << 16;

bool is_any(EndPointForm form, std::int64_t value) {
  return resolve(EndPoint{form, value}, nullptr).is(SpecialRank::kAnySource);
}

/// Whether some value of the parameter is one that `test` looks for.
template <class Test>
bool some_value(const Param& param, const RankList& ranks, Test test) {
  bool found = false;
  param.for_each_group(ranks, [&](const RankList&, EndPointForm form, const ValueSequence& values) {
    ValueSequence::Cursor cursor(values);
    std::uint64_t segments = 0;
    while (!found && !cursor.done()) {
      const auto segment = cursor.segment();
      const auto last = static_cast<std::int64_t>(static_cast<std::uint64_t>(segment.start) +
                                                  static_cast<std::uint64_t>(segment.stride) *
                                                      (segment.count - 1));
      found = test(form, segment.start) || test(form, last) || ++segments > kMostSegments;
      cursor.skip(segment.count);
    }
  });
  return found;
}

bool has_wildcards(const Trace& trace, const std::vector<Node>& nodes,
                   const std::vector<CallPlan>& plans) {
  for (const Node& node : nodes) {
    if (node.is_loop()) {
      if (has_wildcards(trace, node.body, plans)) return true;
      continue;
    }
    if (node.call >= plans.size()) continue;
    const CallPlan& plan = plans[node.call];
    if (plan.action == Action::kCancel) return true;
    if (plan.action != Action::kRecv || plan.request < 0) continue;
    const auto param = [&](int field) -> const Param* {
      return field >= 0 && static_cast<std::size_t>(field) < node.params.size()
                 ? &node.params[static_cast<std::size_t>(field)]
                 : nullptr;
    };
    if (const Param* source = param(plan.source))
      if (some_value(*source, trace.ranks, is_any)) return true;
    if (const Param* tag = param(plan.recv_tag))
      if (some_value(*tag, trace.ranks, [](EndPointForm, std::int64_t v) { return v < 0; }))
        return true;
  }
  return false;
}

}  // namespace

TracePlan plan_trace(const Trace& trace, bool compares) {
  TracePlan plan{FollowPlan(trace)};
  plan.compares = compares;
  const std::vector<CallPlan>& calls = plan.follow.calls;
  const bool types = std::any_of(calls.begin(), calls.end(), [](const CallPlan& call) {
    return call.action == Action::kDatatype;
  });
  plan.reads_twice =
      (compares && trace.threads > 1 && types) || has_wildcards(trace, trace.nodes, calls);
  return plan;
}

RankOperations::RankOperations(const Trace& trace, const TracePlan& plan, Follower follower)
    : trace_(&trace), trace_plan_(&plan), follower_(std::move(follower)) {}

Result<RankOperations> RankOperations::make(const Trace& trace, const TracePlan& plan,
                                            std::uint32_t rank) {
  Result<Follower> follower = Follower::of_rank(plan.follow, rank);
  if (!follower) return follower.error();
  RankOperations operations(trace, plan, std::move(*follower));
  if (!plan.reads_twice) return operations;
  Result<Follower> first = Follower::of_rank(plan.follow, rank);
  if (!first) return first.error();
  RankOperations reader(trace, plan, std::move(*first));
  reader.collecting_ = true;
  while (reader.next()) {
  }
  operations.matches_ = std::move(reader.matches_);
  if (plan.compares) operations.follower_.datatypes().doubt(reader.follower_.datatypes().resized());
  return operations;
}

RankOperations::Mark RankOperations::mark() const {
  Mark here;
  here.events = follower_.view().events();
  here.receives = receives_;
  here.unmodelled = unmodelled_;
  follower_.view().values_left(here.values_left);
  return here;
}

std::uint64_t RankOperations::times_alike(const Mark& since) const {
  const std::uint64_t times = follower_.view().times_alike(since.values_left);
  const std::span<const Outlier> outliers = trace_->outliers.of(follower_.rank());
  const auto next = std::partition_point(outliers.begin(), outliers.end(), [&](const Outlier& one) {
    return one.event <= since.events;
  });
  const std::uint64_t now = follower_.view().events(), period = now - since.events;
  if (next == outliers.end() || period == 0) return times;
  return next->event <= now ? 0 : std::min(times, (next->event - 1 - now) / period);
}

void RankOperations::leave_out(std::uint64_t times, std::uint64_t rounds, const Mark& since) {
  follower_.view().leave_out(times, rounds, since.values_left, since.events);
  receives_ += times * (receives_ - since.receives);  // what they match is known by their number
  for (auto& [call, count] : unmodelled_) {
    const auto before = since.unmodelled.find(call);
    count += times * (count - (before == since.unmodelled.end() ? 0 : before->second));
  }
}

bool RankOperations::next() {
  now_.operations.clear();
  now_.contributions.clear();
  now_.has_comm = now_.has_made = now_.has_matched = false;
  for (;;) {
    if (!follower_.next(now_.at)) return false;
    if (now_.at.call == nullptr) {
      ++unmodelled_["call " + std::to_string(now_.at.view.node->call)];
      continue;
    }
    if (!collecting_) now_.times = follower_.times(now_.at);
    act();
    return true;
  }
}

void RankOperations::act() {
  const CallPlan& plan = *now_.at.plan;
  now_.has_made = now_.at.made_comm != nullptr;
  if (now_.has_made) now_.made = *now_.at.made_comm;
  if (now_.at.posted != nullptr) open_of(*now_.at.posted) = Open{};
  switch (plan.action) {
    case Action::kNothing:
    case Action::kProbe:
    case Action::kRequestFree:
    case Action::kDatatype: break;
    case Action::kUnchecked:
    case Action::kOtherRequest: ++unmodelled_[now_.at.call->name]; break;
    case Action::kSend: send(); break;
    case Action::kSendrecv:
      send();
      receive();
      break;
    case Action::kRecv: receive(); break;
    case Action::kMatchedProbe: matched_probe(); break;
    case Action::kMatchedRecv: matched_receive(); break;
    case Action::kComplete:
    case Action::kCompleteAll:
    case Action::kCompleteAny:
    case Action::kCompleteSome: complete(); break;
    case Action::kStart:
      for (const Posting* posting : now_.at.started)
        if (posting != nullptr) start(*posting);
      break;
    case Action::kCancel: cancel(); break;
    case Action::kFinalize:
    case Action::kCollective: collective(); break;
  }
}

void RankOperations::collective() {
  const CallPlan& plan = *now_.at.plan;
  if (now_.at.group == nullptr) return;
  const Communicator& comm = *now_.at.group;
  now_.has_comm = true;
  now_.comm = comm;
  Operation operation;
  operation.kind = Operation::Kind::kBegin;
  operation.context = comm.context;
  operation.number = now_.at.collective;
  operation.waits = plan.waits;
  operation.self = comm.self;
  operation.collective = &plan;
  operation.members =
      static_cast<std::uint32_t>(comm.size() + (comm.is_inter ? comm.remote_size() : 0));
  operation.on_object = plan.comm < 0 && plan.object >= 0;
  amounts_of(operation, comm);
  const bool contributes = trace_plan_->compares && !collecting_;
  if (plan.request < 0) {
    if (contributes) now_.contributions.push_back(contribution(comm));
    now_.operations.push_back(operation);
    operation.kind = Operation::Kind::kEnd;
    now_.operations.push_back(operation);
    return;
  }
  if (now_.at.posted == nullptr) return;
  Open& request = open_of(*now_.at.posted);
  request.kind = Open::Kind::kCollective;
  request.operation = operation;
  if (plan.persistent) {  // each start is a collective, on a context of their own
    request.operation.context = combine(operation.context, operation.number);
    if (contributes) request.contribution = contribution(comm);
    return;
  }
  if (contributes) now_.contributions.push_back(contribution(comm));
  request.operation.request = operation.request = ++requests_;
  now_.operations.push_back(operation);
}

Contribution RankOperations::contribution(const Communicator& comm) const {
  return contribution_of(*trace_, *now_.at.plan, now_.at.view, now_.at.root, comm, type_sizes());
}

void RankOperations::amounts_of(Operation& operation, const Communicator& comm) const {
  const CallPlan& plan = *now_.at.plan;
  const TypeSizes sizes = type_sizes();
  operation.moves_data = plan.movement.moves();
  if (plan.root < 0 && !operation.moves_data) return;
  const Exchange exchange(*trace_, plan, now_.at.view, now_.at.root, comm, sizes);
  operation.root = exchange.role().root;
  operation.root_world = exchange.role().world;
  const Volume volume = exchange.volume();
  operation.sent = volume.sent;
  operation.received = volume.received;
  operation.amounts_known = volume.known;
}

VectorBytes RankOperations::vector_bytes() const {
  if (!now_.has_comm || now_.at.plan == nullptr) return {};
  const TypeSizes sizes = type_sizes();
  return Exchange(*trace_, *now_.at.plan, now_.at.view, now_.at.root, now_.comm, sizes).vectors();
}

}  // namespace chameleon::analysis
