// SPDX-License-Identifier: BSD-3-Clause
/// Requests of a `Follower`, and what receives got.

#include "analysis/follow.h"

namespace chameleon::analysis {

void Follower::follow_requests(FollowedEvent& event, const Shared& comm) {
  const CallPlan& plan = *event.plan;
  switch (plan.action) {
    case Action::kComplete:
    case Action::kCompleteAll:
    case Action::kCompleteAny:
    case Action::kCompleteSome: complete(event); break;
    case Action::kStart: start(event); break;
    case Action::kRequestFree:
    case Action::kCancel:
      if (plan.request < 0) break;
      event.used = requests_.find(event.value(plan.request));
      if (event.failed()) break;
      if (plan.action == Action::kRequestFree && event.used != nullptr)
        requests_.end(event.value(plan.request), *event.used);
      break;
    case Action::kUnchecked:
      // A call that this version does not know; what uses a request has no communicator.
      if (plan.comm >= 0) post(event, comm);
      break;
    case Action::kSend:
    case Action::kSendrecv:
    case Action::kRecv:
    case Action::kMatchedRecv:
    case Action::kCollective:
    case Action::kOtherRequest: post(event, comm); break;
    default: break;
  }
}

void Follower::post(FollowedEvent& event, const Shared& comm) {
  const CallPlan& plan = *event.plan;
  if (plan.request < 0 || event.value(plan.request) < 0) return;
  const std::int64_t id = event.value(plan.request);
  if (const Posting* old = requests_.find(id)) {
    event.replaced = old;
    requests_.end(id, *old);
  }
  Posting& posting = requests_.make(id);
  event.posted = &posting;
  posting.persistent = plan.persistent;
  posting.active = !plan.persistent;
  posting.call = event.view.node->call;
  posting.stream = event.stream;
  posting.event = event.number;
  if (plan.action == Action::kCollective) {
    posting.kind = Posting::Kind::kCollective;
  } else if (plan.action == Action::kSend) {
    posting.kind = Posting::Kind::kSend;
    posting.partner = event.dest;
    if (plan.send_tag >= 0) posting.tag = event.value(plan.send_tag);
    posting.bytes = event.send_bytes;
  } else if (plan.action == Action::kRecv || plan.action == Action::kSendrecv) {
    // The status of an Isendrecv is that of its receive.
    if (plan.action == Action::kRecv) posting.kind = Posting::Kind::kReceive;
    posting.partner = event.source;
    if (plan.recv_tag >= 0) posting.tag = event.value(plan.recv_tag);
    posting.any_source = event.source.is(SpecialRank::kAnySource);
    posting.any_tag = posting.tag < 0;  // no MPI has valid tags below zero
    posting.bytes = event.recv_bytes;
  } else if (plan.action == Action::kMatchedRecv) {
    posting.kind = Posting::Kind::kReceive;
    posting.bytes = event.recv_bytes;
    if (const Message* message = message_of(event)) {
      posting.partner = message->source;
      posting.tag = message->tag;
    }
  }
  const Shared& on = plan.action == Action::kCollective ? group_of(event) : comm;
  if (posting.comm != on) posting.comm = on;  // mostly they are the same, which costs no counting
}

void Follower::complete(FollowedEvent& event) {
  const CallPlan& plan = *event.plan;
  if (event.is_pending()) return await(event);
  if (!event.took_place() || (plan.flag >= 0 && event.value(plan.flag) == 0)) return;
  if (plan.action == Action::kComplete) {
    if (plan.request < 0) return;
    const std::int64_t id = event.value(plan.request);
    return complete(event, {&id, 1}, 0, -1);
  }
  const auto ids = array(event, plan.requests);
  if (plan.action == Action::kCompleteAny) {
    if (plan.index >= 0) complete(event, ids, event.value(plan.index), -1);
    return;
  }
  // Of several requests some may have been passed over for the error of another.
  const auto errors = array(event, plan.errors);
  std::size_t k = 0;
  const auto next = [&](std::int64_t place) {
    const std::size_t at = k++;
    if (at >= errors.size() || errors[at] != kErrPending)
      complete(event, ids, place, static_cast<int>(at));
  };
  if (plan.action == Action::kCompleteAll)
    for (std::size_t i = 0; i < ids.size(); ++i) next(static_cast<std::int64_t>(i));
  else
    for (const std::int64_t i : array(event, plan.indices)) next(i);
}

void Follower::await(FollowedEvent& event) {
  const CallPlan& plan = *event.plan;
  const auto one = [&](std::int64_t id, std::size_t place) {
    Posting* const posting = requests_.find(id);
    if (posting != nullptr && posting->active) event.awaited.push_back({id, posting, -1, place});
  };
  if (plan.request >= 0) return one(event.value(plan.request), 0);
  const auto ids = array(event, plan.requests);
  for (std::size_t i = 0; i < ids.size(); ++i) one(ids[i], i);
}

/// The request at a place of the list; a place outside is of a null request, or of none.
void Follower::complete(FollowedEvent& event, std::span<const std::int64_t> ids, std::int64_t place,
                        int status) {
  if (place < 0 || static_cast<std::uint64_t>(place) >= ids.size()) return;
  const auto at = static_cast<std::size_t>(place);
  const std::int64_t id = ids[at];
  if (id < 0) return;
  Posting* posting = requests_.find(id);
  if (posting != nullptr && !posting->active) return;  // persistent, and not started
  event.completions.push_back({id, posting, status, at});
  if (posting == nullptr) return;
  if (posting->persistent)
    posting->active = false;
  else
    requests_.end(id, *posting);
}

void Follower::start(FollowedEvent& event) {
  const CallPlan& plan = *event.plan;
  if (event.failed()) {
    if (plan.request >= 0) event.used = requests_.find(event.value(plan.request));
    return;
  }
  const auto one = [&](std::int64_t id) {
    Posting* posting = requests_.find(id);
    event.started.push_back(posting);
    if (posting == nullptr) return;
    posting->active = true;
    posting->stream = event.stream;
    posting->event = event.number;
  };
  if (plan.request >= 0) return one(event.value(plan.request));
  for (const std::int64_t id : array(event, plan.requests)) one(id);
}

Match Follower::match(const FollowedEvent& event) const {
  const CallPlan& plan = *event.plan;
  std::int64_t tag = plan.recv_tag < 0 ? 0 : event.value(plan.recv_tag);
  if (plan.action == Action::kMatchedRecv)
    if (const Message* message = message_of(event)) tag = message->tag;
  return match(event, event.comm, event.source, tag, -1);
}

Match Follower::match(const FollowedEvent& event, const Completion& completion) const {
  const Posting& posting = *completion.posting;
  return match(event, posting.comm.get(), posting.partner, posting.tag, completion.status);
}

// A status tells the source and the tag of a wildcard, and the bytes where they are other than
// posted.
Match Follower::match(const FollowedEvent& event, const Communicator* comm, const Partner& source,
                      std::int64_t tag, int status) const {
  const CallPlan& plan = *event.plan;
  const auto element = [&](int field, std::int64_t& found) {
    if (field < 0) return false;
    found = event.value(field);
    if (status < 0) return true;
    const auto all = array_of(*plan_->trace, found);
    if (static_cast<std::size_t>(status) >= all.size()) return false;
    found = all[static_cast<std::size_t>(status)];
    return true;
  };
  Match match{true, source, tag, kNotRecorded};
  std::int64_t found = 0;
  if (source.is(SpecialRank::kAnySource)) {
    const bool recorded = element(plan.status_source, found);
    if (recorded) {
      const EndPoint end = status < 0
                               ? event.view.end_point(static_cast<std::size_t>(plan.status_source))
                               : EndPoint{EndPointForm::kRelative, found};
      match.source = resolve(end, comm);
    }
    match.told = recorded && match.source.is_member();
  }
  if (tag < 0) {
    const bool recorded = element(plan.status_tag, found) && found >= 0;
    if (recorded) match.tag = found;
    match.told = match.told && recorded;
  }
  if (element(plan.status_bytes, found) && found >= 0) match.bytes = found;
  return match;
}

}  // namespace chameleon::analysis
