// SPDX-License-Identifier: BSD-3-Clause
/// Messages and requests of `RankOperations`.

#include <algorithm>

#include "analysis/operations.h"

namespace chameleon::analysis {

using Step = Operation::Kind;

RankOperations::Open* RankOperations::slot_of(std::int64_t slot) {
  const auto found = slots_.find(slot);
  return found == slots_.end() || found->second.kind == Open::Kind::kNone ? nullptr
                                                                          : &found->second;
}

RankOperations::Open& RankOperations::make_request(std::int64_t slot, Open::Kind kind) {
  Open& request = slots_[slot];
  request = Open{};
  request.kind = kind;
  request.active = true;
  return request;
}

std::int64_t RankOperations::send_capacity() const {
  const CallPlan& plan = *now_.plan;
  if (plan.send_count < 0 || plan.send_type < 0) return kUnknownSize;
  const std::int64_t bytes = exact_amount(value(plan.send_count), value(plan.send_type));
  return plan.partitions < 0 ? bytes : all_partitions(bytes, value(plan.partitions));
}

std::int64_t RankOperations::receive_capacity() const {
  const CallPlan& plan = *now_.plan;
  if (plan.recv_count < 0 || plan.recv_type < 0) return kUnknownSize;
  const std::int64_t bytes = exact_amount(value(plan.recv_count), value(plan.recv_type));
  return plan.partitions < 0 ? bytes : all_partitions(bytes, value(plan.partitions));
}

void RankOperations::send() {
  const CallPlan& plan = *now_.plan;
  const Communicator* comm = plan.comm < 0 ? nullptr : comms_.find(value(plan.comm));
  if (comm == nullptr || plan.dest < 0) return;
  if (failed() && plan.action == Action::kSend) return;
  Operation operation;
  operation.kind = Step::kSend;
  operation.context = comm->context;
  const EndPoint end = now_.event.end_point(static_cast<std::size_t>(plan.dest));
  const std::int32_t to = end.rank(comm->self, comm->peers().count);
  const bool to_somebody = end.special() == 0 && to >= 0 && to < comm->peers().count;
  if (to_somebody) {
    operation.peer = to;
    operation.channel = {channel_context(plan, comm->context), rank(),
                         static_cast<std::uint32_t>(comm->peers()[to]),
                         plan.send_tag < 0 ? 0 : value(plan.send_tag)};
    if (plan.send_count >= 0 && plan.send_type >= 0)
      operation.bytes = amount(value(plan.send_count), value(plan.send_type));
    if (plan.partitions >= 0)
      operation.bytes =
          std::max<std::int64_t>(0, all_partitions(operation.bytes, value(plan.partitions)));
    operation.capacity = send_capacity();
  }
  if (plan.request < 0 || plan.action == Action::kSendrecv) {
    if (!to_somebody) return;
    operation.sequence = sent_[operation.channel]++;
    now_.operations.push_back(operation);
    return;
  }
  if (value(plan.request) < 0) return;
  Open& request =
      make_request(value(plan.request), to_somebody ? Open::Kind::kSend : Open::Kind::kOther);
  request.persistent = plan.persistent;
  request.active = !plan.persistent;
  request.operation = operation;
  if (plan.persistent || !to_somebody) return;
  request.operation.request = ++requests_;
  request.operation.sequence = sent_[operation.channel]++;
  now_.operations.push_back(request.operation);
}

// What is posted; `peer` stays -1 for a wildcard, and for a receive from nobody `bytes` is -1.
Operation RankOperations::receive_from(const Communicator& comm) const {
  const CallPlan& plan = *now_.plan;
  Operation operation;
  operation.kind = Step::kPost;
  operation.context = comm.context;
  operation.channel.context = channel_context(plan, comm.context);
  operation.channel.dest = rank();
  operation.channel.tag = plan.recv_tag < 0 ? 0 : value(plan.recv_tag);
  operation.sequence = kNoSequence;
  operation.any_tag = operation.channel.tag < 0;  // no MPI has valid tags below zero
  const EndPoint end = now_.event.end_point(static_cast<std::size_t>(plan.source));
  operation.any_source = end.special() == static_cast<std::int32_t>(SpecialRank::kAnySource);
  operation.capacity = receive_capacity();
  if (plan.recv_count >= 0 && plan.recv_type >= 0)
    operation.bytes = amount(value(plan.recv_count), value(plan.recv_type));
  if (plan.partitions >= 0)
    operation.bytes =
        std::max<std::int64_t>(0, all_partitions(operation.bytes, value(plan.partitions)));
  if (operation.any_source) return operation;
  const std::int32_t from = end.rank(comm.self, comm.peers().count);
  if (end.special() != 0 || from < 0 || from >= comm.peers().count) {
    operation.bytes = -1;
    return operation;
  }
  operation.peer = from;
  operation.channel.source = static_cast<std::uint32_t>(comm.peers()[from]);
  return operation;
}

void RankOperations::number_receive(Operation& operation) {
  operation.sequence = received_[operation.channel]++;
}

// Fills in what the status of the completion tells: the source and tag of a wildcard, and the
// bytes where they are other than posted. False where a wildcard's match is not told.
bool RankOperations::read_status(const Communicator& comm, int status, Operation& operation) const {
  const CallPlan& plan = *now_.plan;
  const auto element = [&](int field, std::int64_t& result) {
    if (field < 0) return false;
    result = value(field);
    if (status < 0) return true;
    const auto all = array_of(*trace_, result);
    if (static_cast<std::size_t>(status) >= all.size()) return false;
    result = all[static_cast<std::size_t>(status)];
    return true;
  };
  std::int64_t found = 0;
  if (operation.any_source) {
    if (!element(plan.status_source, found)) return false;
    const EndPoint end = status < 0
                             ? now_.event.end_point(static_cast<std::size_t>(plan.status_source))
                             : EndPoint{EndPointForm::kRelative, found};
    if (end.special() != 0) return false;
    operation.peer = end.rank(comm.self, comm.peers().count);
    if (operation.peer < 0 || operation.peer >= comm.peers().count) return false;
    operation.channel.source = static_cast<std::uint32_t>(comm.peers()[operation.peer]);
  }
  if (operation.any_tag) {
    if (!element(plan.status_tag, found) || found < 0) return false;
    operation.channel.tag = found;
  }
  if (element(plan.status_bytes, found) && found >= 0) operation.bytes = found;
  return true;
}

void RankOperations::receive() {
  const CallPlan& plan = *now_.plan;
  const Communicator* comm = plan.comm < 0 ? nullptr : comms_.find(value(plan.comm));
  if (comm == nullptr || plan.source < 0) return;
  Operation operation = receive_from(*comm);
  const bool from_nobody = operation.bytes < 0;
  if (plan.request < 0 || plan.action == Action::kSendrecv) {
    if (from_nobody) return;
    if (!read_status(*comm, -1, operation)) {
      ++unmodelled_[now_.call->name];
      return;
    }
    operation.kind = Step::kReceive;
    number_receive(operation);
    now_.operations.push_back(operation);
    return;
  }
  if (value(plan.request) < 0) return;
  Open& request =
      make_request(value(plan.request), from_nobody ? Open::Kind::kOther : Open::Kind::kReceive);
  request.persistent = plan.persistent;
  request.active = !plan.persistent;
  request.operation = operation;
  request.comm = *comm;
  if (!from_nobody && !plan.persistent) begin_receive(request);
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

void RankOperations::finish(Open& request, int status) {
  Operation operation = request.operation;
  switch (request.kind) {
    case Open::Kind::kNone:
    case Open::Kind::kOther: return;
    case Open::Kind::kSend: operation.kind = Step::kSendDone; break;
    case Open::Kind::kCollective: operation.kind = Step::kEnd; break;
    case Open::Kind::kReceive: {
      const bool wild = operation.any_source || operation.any_tag;
      const bool told = read_status(request.comm, status, operation);
      operation.kind = told && !request.cancelled ? Step::kReceive : Step::kCancelled;
      if (!told && !request.cancelled) ++unmodelled_[now_.call->name];
      if (collecting_ && (wild || request.cancelled)) matches_[request.ordinal] = operation;
      if (operation.sequence == kNoSequence) operation.kind = Step::kCancelled;
      break;
    }
  }
  now_.operations.push_back(operation);
}

void RankOperations::complete(std::int64_t slot, int status) {
  Open* request = slot_of(slot);
  if (request == nullptr || !request->active) return;
  finish(*request, status);
  if (request->persistent)
    request->active = request->cancelled = false;
  else
    *request = Open{};
}

void RankOperations::complete_many() {
  const CallPlan& plan = *now_.plan;
  if (plan.flag >= 0 && value(plan.flag) == 0) return;
  if (plan.action == Action::kComplete) {
    if (plan.request >= 0) complete(value(plan.request), -1);
    return;
  }
  if (plan.requests < 0) return;
  const auto slots = array_of(*trace_, value(plan.requests));
  const auto slot = [&](std::int64_t i) {
    return i >= 0 && static_cast<std::size_t>(i) < slots.size() ? slots[static_cast<std::size_t>(i)]
                                                                : -1;
  };
  if (plan.action == Action::kCompleteAny) {
    if (plan.index >= 0) complete(slot(value(plan.index)), -1);
  } else if (plan.action == Action::kCompleteAll) {
    for (std::size_t i = 0; i < slots.size(); ++i) complete(slots[i], static_cast<int>(i));
  } else if (plan.indices >= 0) {
    int status = 0;
    for (const std::int64_t i : array_of(*trace_, value(plan.indices))) complete(slot(i), status++);
  }
}

void RankOperations::start(std::int64_t slot) {
  Open* request = slot_of(slot);
  if (request == nullptr) return;
  request->active = true;
  request->cancelled = false;
  if (request->kind == Open::Kind::kReceive) return begin_receive(*request);
  if (request->kind == Open::Kind::kSend) {
    request->operation.request = ++requests_;
    request->operation.sequence = sent_[request->operation.channel]++;
    now_.operations.push_back(request->operation);
  } else if (request->kind == Open::Kind::kCollective) {
    // All members start a persistent collective equally often.
    Operation& operation = request->operation;
    operation.number = request->ordinal++;
    operation.request = ++requests_;
    if (trace_plan_->compares && !collecting_) now_.contributions.push_back(request->contribution);
    now_.operations.push_back(operation);
  }
}

void RankOperations::free_request(std::int64_t slot) {
  if (Open* request = slot_of(slot)) *request = Open{};
}

// Whether it was in time is not in the trace: a receive is taken as cancelled.
void RankOperations::cancel(std::int64_t slot) {
  if (Open* request = slot_of(slot); request != nullptr && request->active)
    request->cancelled = true;
}

void RankOperations::matched_probe() {
  const CallPlan& plan = *now_.plan;
  if (plan.flag >= 0 && value(plan.flag) == 0) return;
  const Communicator* comm = plan.comm < 0 ? nullptr : comms_.find(value(plan.comm));
  if (comm == nullptr || plan.source < 0 || plan.message < 0 || value(plan.message) < 0) return;
  Operation operation = receive_from(*comm);
  if (operation.bytes < 0 || !read_status(*comm, -1, operation)) return;
  number_receive(operation);
  operation.message = ++probes_;
  now_.matched = operation;
  now_.has_matched = true;
  messages_[value(plan.message)] = operation;
}

void RankOperations::matched_receive() {
  const CallPlan& plan = *now_.plan;
  const auto found = plan.message < 0 ? messages_.end() : messages_.find(value(plan.message));
  if (found == messages_.end()) return;
  Operation operation = found->second;
  messages_.erase(found);
  operation.kind = Step::kReceive;
  operation.any_source = operation.any_tag = false;  // that was the probe's
  operation.capacity = receive_capacity();
  if (plan.request < 0) {
    now_.operations.push_back(operation);
    return;
  }
  if (value(plan.request) < 0) return;
  Open& request = make_request(value(plan.request), Open::Kind::kReceive);
  operation.kind = Step::kPost;
  operation.request = ++requests_;
  request.operation = operation;
  request.ordinal = receives_++;
  now_.operations.push_back(operation);
}

}  // namespace chameleon::analysis
