// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/follow.h"

#include <algorithm>

namespace chameleon::analysis {

FollowPlan::FollowPlan(const Trace& trace_)
    : trace(&trace_), calls(plan_calls(trace_)), outliers(trace_) {
  described.resize(calls.size());
  for (const auto& [id, call] : trace_.calls) described[id] = &call;
}

Follower::Follower(const FollowPlan& plan, RankStreams streams)
    : plan_(&plan),
      streams_(std::move(streams)),
      comms_(streams_.rank(), std::max(plan.trace->world_size, streams_.rank() + 1),
             plan.trace->threads),
      types_(*plan.trace) {}

Result<Follower> Follower::of_rank(const FollowPlan& plan, std::uint32_t rank) {
  Result<RankStreams> streams = RankStreams::make(*plan.trace, plan.calls, rank, &plan.outliers);
  if (!streams) return streams.error();
  return Follower(plan, std::move(*streams));
}

Result<Follower> Follower::of_stream(const FollowPlan& plan, std::uint32_t stream) {
  Result<RankStreams> streams = RankStreams::make_one(*plan.trace, stream, &plan.outliers);
  if (!streams) return streams.error();
  return Follower(plan, std::move(*streams));
}

bool Follower::next(FollowedEvent& event) {
  requests_.forget_ended();
  if (freed_comm_ >= 0) {
    comms_.release(freed_comm_);
    freed_comm_ = -1;
  }
  if (!streams_.next(event.view)) return false;
  event.stream = streams_.stream();
  event.number = streams_.number();
  if (streams_.several()) event.uses = streams_.use();
  const std::uint16_t id = event.view.node->call;
  event.call = id < plan_->described.size() ? plan_->described[id] : nullptr;
  if (event.call != nullptr &&
      (event.view.values.empty() || event.call->fields.size() != event.view.values.size()))
    event.call = nullptr;
  event.plan = event.call == nullptr ? nullptr : &plan_->calls[id];
  event.comm = event.made_comm = event.group = nullptr;
  event.posted = event.used = nullptr;
  event.replaced = nullptr;
  event.completions.clear();
  event.awaited.clear();
  event.started.clear();
  if (event.plan != nullptr) resolve_event(event);
  return true;
}

void Follower::resolve_event(FollowedEvent& event) {
  const CallPlan& plan = *event.plan;
  if (plan.changes_communicators) follow_communicators(event);
  const Shared& comm = comm_of(event);
  event.comm = comm.get();
  if (plan.dest >= 0) event.dest = event.partner(static_cast<std::size_t>(plan.dest));
  if (plan.source >= 0) event.source = event.partner(static_cast<std::size_t>(plan.source));
  if (plan.root >= 0) event.root = event.partner(static_cast<std::size_t>(plan.root));
  switch (plan.action) {
    case Action::kNothing:
      if (plan.object >= 0 && plan.info != nullptr && is_discovery(*plan.info)) know_object(event);
      break;
    case Action::kDatatype: types_.apply(*event.call, plan, event.view, thread(event)); break;
    case Action::kSend:
    case Action::kSendrecv:
      event.send_bytes = message_bytes(event, plan.send_count, plan.send_type);
      if (plan.action == Action::kSend) break;
      [[fallthrough]];
    case Action::kRecv:
    case Action::kMatchedRecv:
      if (plan.action == Action::kMatchedRecv) event.source = Partner{};
      if (const Message* message = message_of(event)) event.source = message->source;
      event.recv_bytes = message_bytes(event, plan.recv_count, plan.recv_type);
      break;
    case Action::kMatchedProbe:
      if (event.comm != nullptr && plan.message >= 0 && event.value(plan.message) >= 0) {
        const Match found = match(event);
        messages_[event.value(plan.message)] = {comm, found.source, found.tag};
      }
      break;
    case Action::kFinalize:
    case Action::kCollective: follow_collective(event); break;
    default: break;
  }
  follow_requests(event, comm);
}

void Follower::follow_communicators(FollowedEvent& event) {
  const CallPlan& plan = *event.plan;
  if (plan.members < 0) {
    if (plan.comm >= 0 && !event.failed()) freed_comm_ = event.value(plan.comm);
    return;
  }
  comms_.apply(*plan_->trace, *event.call, event.view);
  if (plan.new_comm >= 0) event.made_comm = comms_.find(event.value(plan.new_comm)).get();
}

const Follower::Shared& Follower::comm_of(const FollowedEvent& event) {
  const CallPlan& plan = *event.plan;
  if (plan.comm >= 0) return comms_.find(event.value(plan.comm));
  if (const Message* message = message_of(event)) return message->comm;
  const Posting* posting = nullptr;
  if (plan.request >= 0) {
    posting = requests_.find(event.value(plan.request));
  } else if (plan.requests >= 0 && plan.index >= 0) {
    const auto ids = array(event, plan.requests);
    const std::int64_t index = event.value(plan.index);
    if (index >= 0 && static_cast<std::uint64_t>(index) < ids.size())
      posting = requests_.find(ids[static_cast<std::size_t>(index)]);
  }
  return posting == nullptr ? kNone : posting->comm;
}

const Follower::Message* Follower::message_of(const FollowedEvent& event) const {
  if (event.plan->message < 0) return nullptr;
  const auto found = messages_.find(event.value(event.plan->message));
  return found == messages_.end() ? nullptr : &found->second;
}

const Follower::Shared& Follower::group_of(const FollowedEvent& event) {
  const CallPlan& plan = *event.plan;
  if (plan.action == Action::kFinalize) return comms_.find(0);
  if (plan.comm >= 0) {
    // Those to be in the new communicator call it, and no others of the parent.
    const bool by_members = plan.new_comm == plan.comm || plan.over_result;
    return comms_.find(event.value(by_members ? plan.new_comm : plan.comm));
  }
  if (plan.object < 0) return kNone;
  const auto& objects = plan.object_is_file ? files_ : windows_;
  const auto found = objects.find(event.value(plan.object));
  return found == objects.end() ? kNone : found->second;
}

/// A window or file that nobody saw being made: the event says who has it.
void Follower::know_object(const FollowedEvent& event) {
  const CallPlan& plan = *event.plan;
  const int ranks = field_index(*event.call, "ranks");
  if (ranks < 0 || event.value(plan.object) < 0) return;
  const std::uint64_t kind = plan.object_is_file ? 2 : 1;
  Shared group = comms_.known(*plan_->trace, event.value(ranks), kind);
  if (group != nullptr)
    (plan.object_is_file ? files_ : windows_)[event.value(plan.object)] = std::move(group);
}

void Follower::follow_collective(FollowedEvent& event) {
  const CallPlan& plan = *event.plan;
  if (!event.took_place()) return;
  Communicator* group = group_of(event).get();
  if (group == nullptr) return;
  event.group = group;
  event.collective =
      plan_->trace->threads > 1 && comes_last(plan) ? kLastNumber : group->collectives++;
  if (plan.comm < 0 || plan.object < 0 || event.value(plan.object) < 0) return;
  const auto made = std::make_shared<Communicator>(*group);
  made->context = combine(combine(group->context, event.collective), plan.object_is_file ? 2 : 1);
  made->collectives = 0;
  (plan.object_is_file ? files_ : windows_)[event.value(plan.object)] = made;
}

std::int64_t Follower::message_bytes(const FollowedEvent& event, int count, int type) const {
  if (count < 0 || type < 0) return kUnknownSize;
  const std::int64_t one = bytes(event, event.value(count), event.value(type));
  const int partitions = event.plan->partitions;
  return partitions < 0 ? one : all_partitions(one, event.value(partitions));
}

std::int64_t Follower::returned(const FollowedEvent& event, const Completion* completion) const {
  if (completion == nullptr || completion->status < 0) return event.value(0);
  const auto errors = array(event, event.plan->errors);
  const auto at = static_cast<std::size_t>(completion->status);
  return at < errors.size() ? errors[at] : event.value(0);
}

std::span<const std::int64_t> Follower::array(const FollowedEvent& event, int field) const {
  if (field < 0) return {};
  return array_of(*plan_->trace, event.value(field));
}

std::int64_t Follower::type_size(const FollowedEvent& event, std::int64_t type) const {
  return types_.size(type, thread(event));
}

std::int64_t Follower::bytes(const FollowedEvent& event, std::int64_t count,
                             std::int64_t type) const {
  return types_.bytes(count, type, thread(event));
}

EventTimes Follower::times(const FollowedEvent& event) const {
  if (event.call == nullptr) return {};
  const auto known =
      times_.try_emplace(event.stream, *plan_->trace, event.stream, &plan_->outliers).first;
  return times_of(*event.call, event.view, known->second);
}

std::uint32_t Follower::inexact(const FollowedEvent& event) const {
  const auto found = declared_.find(event.stream);
  const DeclaredKinds& kinds =
      found != declared_.end()
          ? found->second
          : declared_.emplace(event.stream, DeclaredKinds(*plan_->trace, event.stream))
                .first->second;
  return kinds.said_at(event.view.node);
}

}  // namespace chameleon::analysis
