// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/check_simulation.h"

namespace chameleon::analysis {

namespace {

/// Fills in what a wildcard matched; false where that is not told.
bool fill(const Match& match, const Request& request, ChannelKey& key) {
  if (request.any_source) {
    if (!match.source.is_member()) return false;
    key.source = static_cast<std::uint32_t>(match.source.world);
  }
  if (request.any_tag) {
    if (match.tag < 0) return false;
    key.tag = match.tag;
  }
  return true;
}

}  // namespace

// Sends a message, or, if `request` is persistent, only notes where it will go.
bool Simulation::send_part(std::uint32_t rank, const CallPlan& plan, Request* request) {
  const RankState& self = state(rank);
  const FollowedEvent& at = self.at;
  if (at.comm == nullptr) {
    problem("unknown_object", rank, at.number, self.call(), "the communicator is not alive",
            blame(false, declared(rank)));
    return false;
  }
  if (at.dest.special != 0 || at.dest.is_outside()) return false;
  if (!at.dest.is_member()) {
    problem("unknown_object", rank, at.number, self.call(),
            "destination " + std::to_string(at.dest.rank) + " is not in the communicator",
            blame(false, declared(rank)));
    return false;
  }
  const ChannelKey key{channel_context(plan, at.comm->context), rank,
                       static_cast<std::uint32_t>(at.dest.world), at.value(plan.send_tag)};
  if (request != nullptr) {
    request->channel = key;
    request->capacity = at.send_bytes;
    request->element = self.follower.element(at, plan.send_type);
    if (request->persistent) return true;
  }
  MessageRun message{
      at.send_bytes, self.follower.element(at, plan.send_type), 1, at.number, 0, self.call(),
      at.view.path};
  const bool awaits = unawaited_ != nullptr || (at.is_pending() && request == nullptr);
  if (!plan.buffered && present(key.dest) && (awaits || (tracks_sends_ && request != nullptr))) {
    RankState& sender = state(rank);
    if (request == nullptr) {
      sender.sending = sender.allocate();
      request = &sender.pool[static_cast<std::size_t>(sender.sending)];
      *request = {};
      request->kind = Request::Kind::kSend;
      request->active = true;
      request->event = at.number;
      request->call = self.call();
      request->channel = key;
    }
    request->awaits = awaits;
    request->tracked = true;
    message.request = request - sender.pool.data();
  }
  deliver(key, message);
  return true;
}

/// Whether the receive of this event's own send is posted, or need not be.
bool Simulation::sent(std::uint32_t rank) {
  RankState& self = state(rank);
  if (self.sending < 0) return true;
  const auto place = static_cast<std::uint32_t>(self.sending);
  Request& request = self.pool[place];
  if (request.awaits && !request.matched) {
    self.waiting_request = self.sending;
    return false;
  }
  if (request.matched)
    self.release(place);
  else
    request.released = true;
  return true;
}

/// The receive of a message is posted: who sent it need not wait longer.
void Simulation::received(const ChannelKey& key, const MessageRun& message) {
  if (message.request < 0) return;
  RankState& sender = state(key.source);
  const auto place = static_cast<std::uint32_t>(message.request);
  Request& request = sender.pool[place];
  if (request.kind != Request::Kind::kSend || request.event != message.event) return;
  request.matched = true;
  if (request.released)
    sender.release(place);
  else if (sender.blocked && sender.waiting_request == message.request)
    wake(key.source);
}

bool Simulation::send_event(std::uint32_t rank, const CallPlan& plan) {
  RankState& self = state(rank);
  if (!self.at.takes_part()) return true;
  if (plan.action == Action::kSendrecv) {
    if (self.phase == 0) send_part(rank, plan, nullptr);
    if (self.phase < 2 && !receive_event(rank, plan)) {
      self.phase = 1;
      return false;
    }
    self.phase = 2;
    return sent(rank);
  }
  if (plan.request < 0) {
    if (self.phase == 0) send_part(rank, plan, nullptr);
    self.phase = 1;
    return sent(rank);
  }
  Request* request = nullptr;
  if (self.at.posted != nullptr) {
    request = &self.pool[new_request(rank, Request::Kind::kSend)];
    request->persistent = plan.persistent;
    request->active = !plan.persistent;
  }
  if (!send_part(rank, plan, request) && request != nullptr) request->kind = Request::Kind::kDone;
  return true;
}

void Simulation::deliver(const ChannelKey& key, const MessageRun& message) {
  const Value bytes = message.bytes;
  ++report_.messages;
  if (bytes != kUnknownSize) report_.bytes += static_cast<std::uint64_t>(bytes);
  if (!present(key.dest)) return;
  RankState& to = state(key.dest);
  Channel& channel = channels_[key];
  const bool awaited = to.blocked && to.waiting_channel && to.channel == key;
  if (!channel.posted.empty() && !(awaited && to.waiting_wildcard)) {
    const std::uint32_t place = channel.posted.front();
    channel.posted.pop();
    Request& request = to.pool[place];
    request.matched = true;
    request.received = bytes;
    request.received_element = message.element;
    received(key, message);
    if (request.released) {
      judge_size(key.dest, request, bytes, 0);
      to.release(place);
    } else if (to.blocked && to.waiting_request == static_cast<Value>(place)) {
      wake(key.dest);
    }
    return;
  }
  // Each of them by itself if it may have to be left out.
  if (omissions_ == nullptr && message.request < 0 && !channel.messages.empty() &&
      channel.messages.back().bytes == bytes &&
      channel.messages.back().element == message.element && channel.messages.back().request < 0)
    ++channel.messages.back().count;
  else
    channel.messages.push(message);
  if (awaited) wake(key.dest);
}

Simulation::Value Simulation::take(const ChannelKey& key, Channel& channel, Request& to) {
  MessageRun& run = channel.messages.front();
  to.received_element = run.element;
  received(key, run);
  const Value bytes = run.bytes;
  if (--run.count == 0) channel.messages.pop();
  return bytes;
}

void Simulation::judge_size(std::uint32_t rank, const Request& request, Value bytes,
                            std::int64_t returned) {
  if (request.loose) return;
  if (bytes != 0 && !elements_agree(trace_, request.received_element, request.element))
    fault("type", rank, request.event, request.call,
          "receives " + element_name(trace_, request.element) + ", but world rank " +
              std::to_string(request.channel.source) + " sends " +
              element_name(trace_, request.received_element) + " with tag " +
              std::to_string(request.channel.tag),
          returned, declared(rank) || declared(request.channel.source));
  if (request.capacity < 0 || bytes <= request.capacity) return;
  const bool by_declared = declared(rank) || declared(request.channel.source);
  if (rooms_ != nullptr && by_declared && returned == 0) {
    std::int64_t& room = (*rooms_)[rank][request.made];
    room = std::max(room, bytes);
  }
  fault("truncation", rank, request.event, request.call,
        "receives at most " + std::to_string(request.capacity) + " bytes, but world rank " +
            std::to_string(request.channel.source) + " sends " + std::to_string(bytes) +
            " with tag " + std::to_string(request.channel.tag),
        returned, by_declared);
}

void Simulation::receive_part(std::uint32_t rank, const CallPlan& plan, Request& request) {
  const RankState& self = state(rank);
  const FollowedEvent& at = self.at;
  request.kind = Request::Kind::kRecv;
  request.active = true;
  request.event = request.made = at.number;
  request.part = plan.action == Action::kSendrecv ? 1 : 0;
  request.call = self.call();
  request.channel.context = channel_context(plan, at.comm->context);
  request.channel.dest = rank;
  request.channel.tag = at.value(plan.recv_tag);
  request.capacity = at.recv_bytes;
  request.element = self.follower.element(at, plan.recv_type);
  // No MPI has valid tags below zero: this is MPI_ANY_TAG.
  request.any_tag = request.channel.tag < 0;
  request.any_source = at.source.is(SpecialRank::kAnySource);
  if (at.source.is_member()) {
    request.channel.source = static_cast<std::uint32_t>(at.source.world);
  } else if (!request.any_source) {
    request.kind = Request::Kind::kDone;
    if (at.source.special == 0 && !at.source.is_outside())
      problem("unknown_object", rank, at.number, self.call(),
              "source " + std::to_string(at.source.rank) + " is not in the communicator",
              blame(false, declared(rank)));
  }
  request.wildcard =
      request.kind == Request::Kind::kRecv && (request.any_source || request.any_tag);
}

bool Simulation::receive_event(std::uint32_t rank, const CallPlan& plan) {
  RankState& self = state(rank);
  if (self.pending < 0) {
    if (!self.at.takes_part()) return true;
    if (self.at.comm == nullptr) {
      problem("unknown_object", rank, self.at.number, self.call(), "the communicator is not alive",
              blame(false, declared(rank)));
      return true;
    }
    if (self.at.posted != nullptr) {
      const std::uint32_t place = new_request(rank, Request::Kind::kRecv);
      Request& request = self.pool[place];
      receive_part(rank, plan, request);
      request.persistent = plan.persistent;
      request.active = !plan.persistent;
      if (request.active) post(rank, place);
      return true;
    }
    Request request;
    receive_part(rank, plan, request);
    if (plan.request >= 0) return true;
    if (request.kind == Request::Kind::kDone) return true;
    if (request.wildcard && self.at.is_pending()) return await_any(self, request);
    if (request.wildcard && !fill(self.follower.match(self.at), request, request.channel)) {
      self.excused = true;
      ++unmodelled_[request.call];
      return true;
    }
    request.wildcard = false;
    const std::uint32_t place = self.allocate();
    self.pool[place] = request;
    self.pending = place;
    post(rank, place);
  }
  const auto place = static_cast<std::uint32_t>(self.pending);
  if (!complete(rank, place, nullptr)) return false;
  self.release(place);
  return true;
}

void Simulation::post(std::uint32_t rank, std::uint32_t place) {
  RankState& self = state(rank);
  Request& request = self.pool[place];
  request.matched = false;
  if (request.kind != Request::Kind::kRecv) return;
  if (request.wildcard) {
    ++self.wildcards;
    return;
  }
  request.loose = self.wildcards > 0 || self.unsure;
  if (!present(request.channel.source)) {
    request.matched = true;
    request.received = kUnknownSize;
    return;
  }
  Channel& channel = channels_[request.channel];
  if (channel.messages.empty()) {
    channel.posted.push(place);
  } else {
    request.matched = true;
    request.received = take(request.channel, channel, request);
  }
}

// Which channel a wildcard takes from shows only when it completes. By then a
// receive posted later on that channel may hold its message: that one gives way.
bool Simulation::complete_wildcard(std::uint32_t rank, std::uint32_t place,
                                   const Completion& completion) {
  RankState& self = state(rank);
  Request& request = self.pool[place];
  ChannelKey key = request.channel;
  if (!fill(self.follower.match(self.at, completion), request, key)) {
    if (!request.cancelled) {
      self.excused = true;
      ++unmodelled_[request.call];
    }
    return true;
  }
  if (!present(key.source)) return true;
  Value bytes = kUnknownSize;
  request.received_element = kMixed;
  Channel& channel = channels_[key];
  if (!channel.messages.empty()) {
    bytes = take(key, channel, request);
  } else if (!steal(self, key, bytes)) {
    self.waiting_channel = true;
    self.waiting_wildcard = true;
    self.waiting_request = place;
    self.channel = key;
    return false;
  }
  Request seen = request;
  seen.channel = key;
  seen.loose = self.wildcards > 1 || self.unsure;
  judge_size(rank, seen, bytes, self.follower.returned(self.at, &completion));
  return true;
}

bool Simulation::steal(RankState& self, const ChannelKey& key, Value& bytes) {
  for (std::size_t place = 0; place < self.pool.size(); ++place) {
    Request& other = self.pool[place];
    if (other.kind != Request::Kind::kRecv || !other.active || other.wildcard || !other.matched ||
        other.cancelled || !(other.channel == key))
      continue;
    bytes = other.received;
    other.matched = false;
    channels_[key].posted.push_front(static_cast<std::uint32_t>(place));
    return true;
  }
  return false;
}

bool Simulation::probe(std::uint32_t rank, const CallPlan& plan) {
  RankState& self = state(rank);
  const bool pending = self.at.is_pending();
  if (!pending && (self.at.failed() || (plan.flag >= 0 && self.at.value(plan.flag) == 0)))
    return true;
  if (self.at.comm == nullptr) return true;
  Request request;
  receive_part(rank, plan, request);
  if (request.kind == Request::Kind::kDone) return true;
  if (request.wildcard && pending) return await_any(self, request);
  if (request.wildcard && !fill(self.follower.match(self.at), request, request.channel)) {
    self.excused = true;
    ++unmodelled_[request.call];
    return true;
  }
  if (!present(request.channel.source)) return true;
  Channel& channel = channels_[request.channel];
  if (channel.messages.empty()) {
    self.waiting_channel = true;
    self.waiting_wildcard = false;
    self.channel = request.channel;
    return false;
  }
  if (pending) return true;
  if (plan.action == Action::kMatchedProbe && self.at.value(plan.message) >= 0)
    self.messages[self.at.value(plan.message)] = take(request.channel, channel, request);
  return true;
}

bool Simulation::matched_receive(std::uint32_t rank, const CallPlan& plan) {
  RankState& self = state(rank);
  if (!self.at.took_place()) return true;
  const auto found = self.messages.find(self.at.value(plan.message));
  if (found != self.messages.end()) {
    const Value capacity = self.at.recv_bytes;
    if (capacity >= 0 && found->second > capacity)
      fault("truncation", rank, self.at.number, self.call(),
            "receives at most " + std::to_string(capacity) + " bytes of a message of " +
                std::to_string(found->second),
            self.at.value(0), declared(rank));
    self.messages.erase(found);
  }
  if (self.at.posted != nullptr) new_request(rank, Request::Kind::kDone);
  return true;
}

void Simulation::sweep_channels() {
  if (channels_.size() < sweep_at_) return;
  std::erase_if(channels_, [](const auto& entry) { return entry.second.idle(); });
  sweep_at_ = std::max<std::size_t>(1 << 16, channels_.size() * 2);
}

}  // namespace chameleon::analysis
