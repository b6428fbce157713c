// SPDX-License-Identifier: BSD-3-Clause
/// Messages and requests of `RankOperations`.

#include <algorithm>

#include "analysis/operations.h"

namespace chameleon::analysis {

using Step = Operation::Kind;

RankOperations::Open& RankOperations::open_of(const Posting& posting) {
  if (open_.size() <= posting.index) open_.resize(posting.index + std::size_t{1});
  return open_[posting.index];
}

void RankOperations::send() {
  const FollowedEvent& at = now_.at;
  const CallPlan& plan = *at.plan;
  if (at.comm == nullptr || plan.dest < 0) return;
  if (!at.took_place()) return;
  Operation operation;
  operation.kind = Step::kSend;
  operation.context = at.comm->context;
  const bool to_somebody = at.dest.is_member();
  if (to_somebody) {
    operation.peer = at.dest.rank;
    operation.channel = {channel_context(plan, at.comm->context), rank(),
                         static_cast<std::uint32_t>(at.dest.world),
                         plan.send_tag < 0 ? 0 : value(plan.send_tag)};
    operation.bytes = countable(at.send_bytes);
    operation.capacity = at.send_bytes;
  }
  if (plan.request < 0 || plan.action == Action::kSendrecv) {
    if (!to_somebody) return;
    operation.sequence = sent_[operation.channel]++;
    now_.operations.push_back(operation);
    return;
  }
  if (at.posted == nullptr || !to_somebody) return;
  Open& request = open_of(*at.posted);
  request.kind = Open::Kind::kSend;
  request.operation = operation;
  if (plan.persistent) return;
  request.operation.request = ++requests_;
  request.operation.sequence = sent_[operation.channel]++;
  now_.operations.push_back(request.operation);
}

// What is posted; `peer` stays -1 for a wildcard, and for a receive from nobody `bytes` is -1.
Operation RankOperations::receive_from(const Communicator& comm) const {
  const FollowedEvent& at = now_.at;
  const CallPlan& plan = *at.plan;
  Operation operation;
  operation.kind = Step::kPost;
  operation.context = comm.context;
  operation.channel.context = channel_context(plan, comm.context);
  operation.channel.dest = rank();
  operation.channel.tag = plan.recv_tag < 0 ? 0 : value(plan.recv_tag);
  operation.sequence = kNoSequence;
  operation.any_tag = operation.channel.tag < 0;  // no MPI has valid tags below zero
  operation.any_source = at.source.is(SpecialRank::kAnySource);
  operation.capacity = at.recv_bytes;
  operation.bytes = countable(at.recv_bytes);
  if (operation.any_source) return operation;
  if (!at.source.is_member()) {
    operation.bytes = -1;
    return operation;
  }
  operation.peer = at.source.rank;
  operation.channel.source = static_cast<std::uint32_t>(at.source.world);
  return operation;
}

void RankOperations::number_receive(Operation& operation) {
  operation.sequence = received_[operation.channel]++;
}

// The source and tag of a wildcard, and the bytes where they are other than posted. False where a
// wildcard's match is not told.
bool RankOperations::fill(const Match& match, Operation& operation) {
  if (operation.any_source) {
    if (!match.source.is_member()) return false;
    operation.peer = match.source.rank;
    operation.channel.source = static_cast<std::uint32_t>(match.source.world);
  }
  if (operation.any_tag) {
    if (match.tag < 0) return false;
    operation.channel.tag = match.tag;
  }
  if (match.bytes != kNotRecorded) operation.bytes = match.bytes;
  return true;
}

void RankOperations::receive() {
  const FollowedEvent& at = now_.at;
  const CallPlan& plan = *at.plan;
  if (at.comm == nullptr || plan.source < 0 || !at.took_place()) return;
  Operation operation = receive_from(*at.comm);
  const bool from_nobody = operation.bytes < 0;
  if (plan.request < 0 || plan.action == Action::kSendrecv) {
    if (from_nobody) return;
    if (!fill(follower_.match(at), operation)) {
      ++unmodelled_[at.call->name];
      return;
    }
    operation.kind = Step::kReceive;
    number_receive(operation);
    now_.operations.push_back(operation);
    return;
  }
  if (at.posted == nullptr || from_nobody) return;
  Open& request = open_of(*at.posted);
  request.kind = Open::Kind::kReceive;
  request.operation = operation;
  if (!plan.persistent) begin_receive(request);
}

// A receive with a request goes into force. In the second reading its match is known.
void RankOperations::begin_receive(Open& request) {
  request.ordinal = receives_++;
  request.operation.kind = Step::kPost;
  request.operation.request = ++requests_;
  const bool wild = request.operation.any_source || request.operation.any_tag;
  const auto match = matches_.find(request.ordinal);
  if (collecting_) return;
  if (match != matches_.end() && match->second.kind == Step::kReceive) {
    const Operation& known = match->second;
    request.operation.peer = known.peer;
    request.operation.channel = known.channel;
    request.operation.bytes = known.bytes;
    number_receive(request.operation);
  } else if (match == matches_.end() && !wild) {
    number_receive(request.operation);
  } else {
    request.operation.sequence = kNoSequence;
  }
  now_.operations.push_back(request.operation);
}

void RankOperations::finish(Open& request, const Completion& completion) {
  Operation operation = request.operation;
  switch (request.kind) {
    case Open::Kind::kOther: return;
    case Open::Kind::kSend: operation.kind = Step::kSendDone; break;
    case Open::Kind::kCollective: operation.kind = Step::kEnd; break;
    case Open::Kind::kReceive: {
      const bool wild = operation.any_source || operation.any_tag;
      const bool told = fill(follower_.match(now_.at, completion), operation);
      operation.kind = told && !request.cancelled ? Step::kReceive : Step::kCancelled;
      if (!told && !request.cancelled) ++unmodelled_[now_.at.call->name];
      if (collecting_ && (wild || request.cancelled)) matches_[request.ordinal] = operation;
      if (operation.sequence == kNoSequence) operation.kind = Step::kCancelled;
      break;
    }
  }
  now_.operations.push_back(operation);
}

void RankOperations::complete() {
  for (const Completion& completion : now_.at.completions) {
    if (completion.posting == nullptr) continue;
    Open& request = open_of(*completion.posting);
    finish(request, completion);
    request.cancelled = false;
  }
}

void RankOperations::start(const Posting& posting) {
  Open& request = open_of(posting);
  request.cancelled = false;
  if (request.kind == Open::Kind::kReceive) return begin_receive(request);
  if (request.kind == Open::Kind::kSend) {
    request.operation.request = ++requests_;
    request.operation.sequence = sent_[request.operation.channel]++;
    now_.operations.push_back(request.operation);
  } else if (request.kind == Open::Kind::kCollective) {
    // All members start a persistent collective equally often.
    Operation& operation = request.operation;
    operation.number = request.ordinal++;
    operation.request = ++requests_;
    if (trace_plan_->compares && !collecting_) now_.contributions.push_back(request.contribution);
    now_.operations.push_back(operation);
  }
}

// Whether it was in time is not in the trace: a receive is taken as cancelled.
void RankOperations::cancel() {
  const Posting* posting = now_.at.used;
  if (posting != nullptr && posting->active) open_of(*posting).cancelled = true;
}

void RankOperations::matched_probe() {
  const FollowedEvent& at = now_.at;
  const CallPlan& plan = *at.plan;
  if (at.failed() || (plan.flag >= 0 && value(plan.flag) == 0)) return;
  if (at.comm == nullptr || plan.source < 0 || plan.message < 0 || value(plan.message) < 0) return;
  Operation operation = receive_from(*at.comm);
  if (operation.bytes < 0 || !fill(follower_.match(at), operation)) return;
  number_receive(operation);
  operation.message = ++probes_;
  now_.matched = operation;
  now_.has_matched = true;
  messages_[value(plan.message)] = operation;
}

void RankOperations::matched_receive() {
  const FollowedEvent& at = now_.at;
  const CallPlan& plan = *at.plan;
  if (!at.took_place()) return;
  const auto found = plan.message < 0 ? messages_.end() : messages_.find(value(plan.message));
  if (found == messages_.end()) return;
  Operation operation = found->second;
  messages_.erase(found);
  operation.kind = Step::kReceive;
  operation.any_source = operation.any_tag = false;  // that was the probe's
  operation.capacity = at.recv_bytes;
  if (plan.request < 0) {
    now_.operations.push_back(operation);
    return;
  }
  if (at.posted == nullptr) return;
  Open& request = open_of(*at.posted);
  request.kind = Open::Kind::kReceive;
  operation.kind = Step::kPost;
  operation.request = ++requests_;
  request.operation = operation;
  request.ordinal = receives_++;
  now_.operations.push_back(operation);
}

}  // namespace chameleon::analysis
