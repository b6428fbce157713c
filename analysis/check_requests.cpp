// SPDX-License-Identifier: BSD-3-Clause
#include <memory>

#include "analysis/check_simulation.h"

namespace chameleon::analysis {

std::uint32_t Simulation::new_request(std::uint32_t rank, Request::Kind kind) {
  RankState& self = state(rank);
  if (const std::int64_t old = self.place_of(self.at.replaced); old >= 0) {
    self.release(static_cast<std::uint32_t>(old));
    self.places[self.at.replaced->index] = -1;
  }
  const std::size_t index = self.at.posted->index;
  if (self.places.size() <= index) self.places.resize(index + 1, -1);
  const std::uint32_t place = self.allocate();
  self.places[index] = place;
  Request& request = self.pool[place];
  std::destroy_at(&request);
  std::construct_at(&request);
  request.kind = kind;
  request.active = true;
  request.event = self.at.number;
  request.call = self.call();
  request.path = self.at.view.path;
  return place;
}

bool Simulation::complete(std::uint32_t rank, std::uint32_t place, const Completion* completion) {
  RankState& self = state(rank);
  Request& request = self.pool[place];
  if (request.omitted) return true;
  if (request.kind == Request::Kind::kCollective) {
    if (satisfied(rank, request.collective, plan_.calls[request.call])) return true;
    self.waiting_request = place;
    return false;
  }
  const bool awaits = request.awaits || (request.tracked && self.at.is_pending());
  if (request.kind == Request::Kind::kSend && awaits && !request.matched) {
    self.waiting_request = place;
    return false;
  }
  if (request.kind != Request::Kind::kRecv) return true;
  if (request.wildcard && completion != nullptr) return complete_wildcard(rank, place, *completion);
  if (request.cancelled) return true;
  const Value returned = self.follower.returned(self.at, completion);
  if (!request.matched) {
    if (!may_lack_message(*self.at.plan, returned)) {
      self.waiting_request = place;
      return false;
    }
    channels_[request.channel].posted.remove(place);
    failed_.note_ended(self.at, request.channel, returned);
    self.unsure = true;
    return true;
  }
  judge_size(rank, request, request.received, returned);
  return true;
}

bool Simulation::complete_request(std::uint32_t rank, const Completion& completion) {
  RankState& self = state(rank);
  const std::int64_t at = self.place_of(completion.posting);
  if (at < 0) {
    problem("unknown_object", rank, self.at.number, self.call(),
            "request " + std::to_string(completion.id) + " is not alive",
            blame(false, declared(rank)));
    return true;
  }
  const auto place = static_cast<std::uint32_t>(at);
  if (!self.pool[place].active) return true;
  if (!complete(rank, place, &completion)) return false;
  Request& request = self.pool[place];
  if (request.persistent) {
    if (request.wildcard && self.wildcards > 0) --self.wildcards;
    request.active = false;
    return true;
  }
  if (request.kind == Request::Kind::kSend && request.tracked && !request.matched)
    request.released = true;
  else
    self.release(place);
  self.places[completion.posting->index] = -1;
  return true;
}

bool Simulation::complete_requests(std::uint32_t rank) {
  RankState& self = state(rank);
  for (; self.phase < self.at.completions.size(); ++self.phase)
    if (!complete_request(rank, self.at.completions[self.phase])) return false;
  return true;
}

void Simulation::start(std::uint32_t rank) {
  const RankState& self = state(rank);
  std::uint32_t part = 0;
  for (const Posting* posting : self.at.started) {
    const std::int64_t at = self.place_of(posting);
    if (at >= 0) start_request(rank, static_cast<std::uint32_t>(at), part);
    ++part;
  }
}

void Simulation::start_request(std::uint32_t rank, std::uint32_t place, std::uint32_t part) {
  RankState& self = state(rank);
  Request& request = self.pool[place];
  request.active = true;
  request.cancelled = false;
  request.omitted = false;
  request.event = self.at.number;
  request.path = self.at.view.path;
  request.part = part;
  if (request.kind == Request::Kind::kSend)
    start_send(rank, place);
  else
    post(rank, place);
}

void Simulation::start_send(std::uint32_t rank, std::uint32_t place) {
  Request& request = state(rank).pool[place];
  const CallPlan& plan = plan_.calls[request.call];
  request.matched = false;
  request.tracked =
      (unawaited_ != nullptr || tracks_sends_) && !plan.buffered && present(request.channel.dest);
  request.awaits = request.tracked && unawaited_ != nullptr;
  deliver(request.channel,
          {request.capacity, request.element, 1, request.event, request.part, state(rank).call(),
           request.path, request.tracked ? static_cast<Value>(place) : -1});
}

void Simulation::free_request(std::uint32_t rank) {
  RankState& self = state(rank);
  const std::int64_t at = self.place_of(self.at.used);
  if (at < 0) return;
  const auto place = static_cast<std::uint32_t>(at);
  self.places[self.at.used->index] = -1;
  Request& request = self.pool[place];
  const bool open = request.kind == Request::Kind::kRecv && request.active && !request.matched &&
                    !request.cancelled;
  if (request.kind == Request::Kind::kSend && request.active && request.tracked &&
      !request.matched) {
    request.released = true;
    return;
  }
  if (open && !request.wildcard) {
    request.released = true;
    return;
  }
  self.excused = self.excused || open;
  self.release(place);
}

// Whether it was in time is not in the trace: a receive is taken as cancelled,
// and what is then left over on its channel is not held against anyone.
void Simulation::cancel(std::uint32_t rank) {
  RankState& self = state(rank);
  const std::int64_t at = self.place_of(self.at.used);
  if (at < 0) return;
  const auto place = static_cast<std::uint32_t>(at);
  Request& request = self.pool[place];
  if (!request.active) return;
  if (request.kind == Request::Kind::kSend) {
    request.awaits = false;
    channels_[request.channel].excused = true;
  } else if (request.kind == Request::Kind::kRecv) {
    request.cancelled = true;
    if (request.wildcard) return;
    Channel& channel = channels_[request.channel];
    channel.excused = true;
    if (request.matched)
      channel.messages.push_front(
          {request.received, request.received_element, 1, self.at.number, 0, self.call()});
    else
      channel.posted.remove(place);
  }
}

}  // namespace chameleon::analysis
