// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/check_simulation.h"
#include "analysis/datatype_size.h"

namespace chameleon::analysis {

std::uint32_t Simulation::new_request(std::uint32_t rank, Value slot, Request::Kind kind) {
  RankState& self = state(rank);
  const auto at = static_cast<std::size_t>(slot);
  if (self.slots.size() <= at) self.slots.resize(at + 1, -1);
  if (self.slots[at] >= 0) self.release(static_cast<std::uint32_t>(self.slots[at]));
  const std::uint32_t place = self.allocate();
  self.slots[at] = place;
  Request& request = self.pool[place];
  request = Request{};
  request.kind = kind;
  request.active = true;
  request.event = self.number;
  request.call = self.event.node->call;
  return place;
}

// Sends a message, or, if `request` is persistent, only notes where it will go.
bool Simulation::send_part(std::uint32_t rank, const CallPlan& plan, Request* request) {
  RankState& self = state(rank);
  const Communicator* comm = plan.comm < 0 ? nullptr : self.comms.find(value(self, plan.comm));
  if (comm == nullptr) {
    problem("unknown_object", rank, self.number, self.event.node->call,
            "the communicator is not alive", blame(false, declared(rank)));
    return false;
  }
  const EndPoint end = self.event.end_point(static_cast<std::size_t>(plan.dest));
  if (end.special() != 0) return false;
  const std::int32_t to = end.rank(comm->self, comm->peers().count);
  if (to < 0 || to >= comm->peers().count) {
    problem("unknown_object", rank, self.number, self.event.node->call,
            "destination " + std::to_string(to) + " is not in the communicator",
            blame(false, declared(rank)));
    return false;
  }
  const ChannelKey key{channel_context(plan, comm->context), rank,
                       static_cast<std::uint32_t>(comm->peers()[to]), value(self, plan.send_tag)};
  Value bytes = amount(self, value(self, plan.send_count), value(self, plan.send_type));
  if (plan.partitions >= 0) bytes = all_partitions(bytes, value(self, plan.partitions));
  if (request != nullptr) {
    request->channel = key;
    request->capacity = bytes;
    if (request->persistent) return true;
  }
  deliver(rank, key, bytes, 0);
  return true;
}

bool Simulation::send_event(std::uint32_t rank, const CallPlan& plan) {
  RankState& self = state(rank);
  if (value(self, 0) != 0 && plan.action == Action::kSend) return true;
  if (plan.action == Action::kSendrecv) {
    if (self.phase == 0) send_part(rank, plan, nullptr);
    self.phase = 1;
    return receive_event(rank, plan);
  }
  if (plan.request < 0) {
    send_part(rank, plan, nullptr);
    return true;
  }
  Request* request = nullptr;
  if (value(self, plan.request) >= 0) {
    const std::uint32_t place = new_request(rank, value(self, plan.request), Request::Kind::kSend);
    request = &self.pool[place];
    request->persistent = plan.persistent;
    request->active = !plan.persistent;
  }
  if (!send_part(rank, plan, request) && request != nullptr) request->kind = Request::Kind::kDone;
  return true;
}

void Simulation::deliver(std::uint32_t from, const ChannelKey& key, Value bytes,
                         std::uint32_t part) {
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
    if (request.released) {
      judge_size(key.dest, request, bytes);
      to.release(place);
    } else if (to.blocked && to.waiting_request == static_cast<Value>(place)) {
      wake(key.dest);
    }
    return;
  }
  const RankState& sender = state(from);
  // Each of them by itself if it may have to be left out.
  if (omissions_ == nullptr && !channel.messages.empty() && channel.messages.back().bytes == bytes)
    ++channel.messages.back().count;
  else
    channel.messages.push({bytes, 1, sender.number, part, sender.event.node->call});
  if (awaited) wake(key.dest);
}

Simulation::Value Simulation::take(Channel& channel) {
  MessageRun& run = channel.messages.front();
  const Value bytes = run.bytes;
  if (--run.count == 0) channel.messages.pop();
  return bytes;
}

void Simulation::judge_size(std::uint32_t rank, const Request& request, Value bytes) {
  if (request.loose || request.capacity < 0 || bytes <= request.capacity) return;
  problem("truncation", rank, request.event, request.call,
          "receives at most " + std::to_string(request.capacity) + " bytes, but world rank " +
              std::to_string(request.channel.source) + " sends " + std::to_string(bytes) +
              " with tag " + std::to_string(request.channel.tag),
          blame(false, declared(rank) || declared(request.channel.source)));
}

Request Simulation::receive_part(std::uint32_t rank, const CallPlan& plan,
                                 const Communicator& comm) {
  RankState& self = state(rank);
  Request request;
  request.kind = Request::Kind::kRecv;
  request.active = true;
  request.event = self.number;
  request.part = plan.action == Action::kSendrecv ? 1 : 0;
  request.call = self.event.node->call;
  request.comm = comm;
  request.channel.context = channel_context(plan, comm.context);
  request.channel.dest = rank;
  if (plan.recv_count >= 0 && plan.recv_type >= 0)
    request.capacity = amount(self, value(self, plan.recv_count), value(self, plan.recv_type));
  if (plan.partitions >= 0)
    request.capacity = all_partitions(request.capacity, value(self, plan.partitions));
  request.channel.tag = value(self, plan.recv_tag);
  // No MPI has valid tags below zero: this is MPI_ANY_TAG.
  request.any_tag = request.channel.tag < 0;
  const EndPoint end = self.event.end_point(static_cast<std::size_t>(plan.source));
  if (end.special() == static_cast<std::int32_t>(SpecialRank::kAnySource)) {
    request.any_source = true;
  } else if (end.special() != 0) {
    request.kind = Request::Kind::kDone;
  } else {
    const std::int32_t from = end.rank(comm.self, comm.peers().count);
    if (from < 0 || from >= comm.peers().count) {
      problem("unknown_object", rank, self.number, self.event.node->call,
              "source " + std::to_string(from) + " is not in the communicator",
              blame(false, declared(rank)));
      request.kind = Request::Kind::kDone;
    } else {
      request.channel.source = static_cast<std::uint32_t>(comm.peers()[from]);
    }
  }
  request.wildcard =
      request.kind == Request::Kind::kRecv && (request.any_source || request.any_tag);
  return request;
}

// Fills in what a wildcard matched, from the status in this event.
bool Simulation::resolve(std::uint32_t rank, const CallPlan& plan, const Communicator& comm,
                         int status, ChannelKey& key, bool any_source, bool any_tag) {
  RankState& self = state(rank);
  if (any_source) {
    if (plan.status_source < 0) return false;
    std::int32_t from = -1;
    if (status < 0) {
      const EndPoint end = self.event.end_point(static_cast<std::size_t>(plan.status_source));
      if (end.special() != 0) return false;
      from = end.rank(comm.self, comm.peers().count);
    } else {
      const std::span<const Value> sources = array_of(trace_, value(self, plan.status_source));
      if (static_cast<std::size_t>(status) >= sources.size()) return false;
      const EndPoint end{EndPointForm::kRelative, sources[static_cast<std::size_t>(status)]};
      if (end.special() != 0) return false;
      from = end.rank(comm.self, comm.peers().count);
    }
    if (from < 0 || from >= comm.peers().count) return false;
    key.source = static_cast<std::uint32_t>(comm.peers()[from]);
  }
  if (any_tag) {
    if (plan.status_tag < 0) return false;
    key.tag = value(self, plan.status_tag);
    if (status >= 0) {
      const std::span<const Value> tags = array_of(trace_, key.tag);
      if (static_cast<std::size_t>(status) >= tags.size()) return false;
      key.tag = tags[static_cast<std::size_t>(status)];
    }
    if (key.tag < 0) return false;
  }
  return true;
}

bool Simulation::receive_event(std::uint32_t rank, const CallPlan& plan) {
  RankState& self = state(rank);
  if (self.pending < 0) {
    const Communicator* comm = plan.comm < 0 ? nullptr : self.comms.find(value(self, plan.comm));
    if (comm == nullptr) {
      problem("unknown_object", rank, self.number, self.event.node->call,
              "the communicator is not alive", blame(false, declared(rank)));
      return true;
    }
    Request request = receive_part(rank, plan, *comm);
    if (plan.request >= 0) {
      if (value(self, plan.request) < 0) return true;
      const std::uint32_t place = new_request(rank, value(self, plan.request), request.kind);
      request.persistent = plan.persistent;
      request.active = !plan.persistent;
      self.pool[place] = request;
      if (request.active) post(rank, place);
      return true;
    }
    if (request.kind == Request::Kind::kDone) return true;
    if (request.wildcard &&
        !resolve(rank, plan, *comm, -1, request.channel, request.any_source, request.any_tag)) {
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
  if (!complete(rank, place, plan, -1)) return false;
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
  request.loose = self.wildcards > 0;
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
    request.received = take(channel);
  }
}

bool Simulation::complete(std::uint32_t rank, std::uint32_t place, const CallPlan& plan,
                          int status) {
  RankState& self = state(rank);
  Request& request = self.pool[place];
  if (request.omitted) return true;
  if (request.kind == Request::Kind::kCollective) {
    if (satisfied(rank, request.collective, plans_[request.call])) return true;
    self.waiting_request = place;
    return false;
  }
  if (request.kind != Request::Kind::kRecv) return true;
  if (request.wildcard) return complete_wildcard(rank, place, plan, status);
  if (request.cancelled) return true;
  if (!request.matched) {
    self.waiting_request = place;
    return false;
  }
  // A completion that failed has said so itself.
  if (value(self, 0) == 0) judge_size(rank, request, request.received);
  return true;
}

// Which channel a wildcard takes from shows only when it completes. By then a
// receive posted later on that channel may hold its message: that one gives way.
bool Simulation::complete_wildcard(std::uint32_t rank, std::uint32_t place, const CallPlan& plan,
                                   int status) {
  RankState& self = state(rank);
  Request& request = self.pool[place];
  ChannelKey key = request.channel;
  if (!resolve(rank, plan, request.comm, status, key, request.any_source, request.any_tag)) {
    if (!request.cancelled) {
      self.excused = true;
      ++unmodelled_[request.call];
    }
    return true;
  }
  if (!present(key.source)) return true;
  Value bytes = kUnknownSize;
  Channel& channel = channels_[key];
  if (!channel.messages.empty()) {
    bytes = take(channel);
  } else if (!steal(self, key, bytes)) {
    self.waiting_channel = true;
    self.waiting_wildcard = true;
    self.waiting_request = place;
    self.channel = key;
    return false;
  }
  Request seen = request;
  seen.channel = key;
  seen.loose = self.wildcards > 1;
  judge_size(rank, seen, bytes);
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

bool Simulation::complete_slot(std::uint32_t rank, Value slot, const CallPlan& plan, int status) {
  if (slot < 0) return true;
  RankState& self = state(rank);
  const auto at = static_cast<std::size_t>(slot);
  if (at >= self.slots.size() || self.slots[at] < 0) {
    problem("unknown_object", rank, self.number, self.event.node->call,
            "request " + std::to_string(slot) + " is not alive", blame(false, declared(rank)));
    return true;
  }
  const auto place = static_cast<std::uint32_t>(self.slots[at]);
  if (!self.pool[place].active) return true;
  if (!complete(rank, place, plan, status)) return false;
  Request& request = self.pool[place];
  if (request.persistent) {
    if (request.wildcard && self.wildcards > 0) --self.wildcards;
    request.active = false;
    return true;
  }
  self.release(place);
  self.slots[at] = -1;
  return true;
}

bool Simulation::complete_all(std::uint32_t rank, const CallPlan& plan) {
  RankState& self = state(rank);
  if (plan.flag >= 0 && value(self, plan.flag) == 0) return true;
  if (plan.action == Action::kComplete)
    return complete_slot(rank, value(self, plan.request), plan, -1);
  const std::span<const Value> slots = array_of(trace_, value(self, plan.requests));
  for (; self.phase < slots.size(); ++self.phase)
    if (!complete_slot(rank, slots[self.phase], plan, static_cast<int>(self.phase))) return false;
  return true;
}

bool Simulation::complete_some(std::uint32_t rank, const CallPlan& plan) {
  RankState& self = state(rank);
  const std::span<const Value> slots = array_of(trace_, value(self, plan.requests));
  const auto slot = [&](Value i) {
    return i >= 0 && static_cast<std::size_t>(i) < slots.size() ? slots[static_cast<std::size_t>(i)]
                                                                : -1;
  };
  if (plan.action == Action::kCompleteAny) {
    if (plan.flag >= 0 && value(self, plan.flag) == 0) return true;
    return plan.index < 0 || complete_slot(rank, slot(value(self, plan.index)), plan, -1);
  }
  if (plan.indices < 0) return true;
  const std::span<const Value> indices = array_of(trace_, value(self, plan.indices));
  for (; self.phase < indices.size(); ++self.phase)
    if (!complete_slot(rank, slot(indices[self.phase]), plan, static_cast<int>(self.phase)))
      return false;
  return true;
}

bool Simulation::probe(std::uint32_t rank, const CallPlan& plan) {
  RankState& self = state(rank);
  if (plan.flag >= 0 && value(self, plan.flag) == 0) return true;
  const Communicator* comm = plan.comm < 0 ? nullptr : self.comms.find(value(self, plan.comm));
  if (comm == nullptr) return true;
  Request request = receive_part(rank, plan, *comm);
  if (request.kind == Request::Kind::kDone) return true;
  if (request.wildcard &&
      !resolve(rank, plan, *comm, -1, request.channel, request.any_source, request.any_tag)) {
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
  if (plan.action == Action::kMatchedProbe && value(self, plan.message) >= 0)
    self.messages[value(self, plan.message)] = take(channel);
  return true;
}

bool Simulation::matched_receive(std::uint32_t rank, const CallPlan& plan) {
  RankState& self = state(rank);
  const auto found = self.messages.find(value(self, plan.message));
  if (found != self.messages.end()) {
    const Value capacity = amount(self, value(self, plan.recv_count), value(self, plan.recv_type));
    if (capacity >= 0 && found->second > capacity)
      problem("truncation", rank, self.number, self.event.node->call,
              "receives at most " + std::to_string(capacity) + " bytes of a message of " +
                  std::to_string(found->second),
              blame(false, declared(rank)));
    self.messages.erase(found);
  }
  if (plan.request >= 0 && value(self, plan.request) >= 0)
    new_request(rank, value(self, plan.request), Request::Kind::kDone);
  return true;
}

void Simulation::start(std::uint32_t rank, const CallPlan& plan) {
  RankState& self = state(rank);
  std::uint32_t part = 0;
  const auto start_one = [&](Value slot) {
    if (slot < 0 || static_cast<std::size_t>(slot) >= self.slots.size()) return;
    const Value at = self.slots[static_cast<std::size_t>(slot)];
    if (at < 0) return;
    const auto place = static_cast<std::uint32_t>(at);
    Request& request = self.pool[place];
    request.active = true;
    request.cancelled = false;
    request.omitted = false;
    request.event = self.number;
    request.part = part;
    if (request.kind == Request::Kind::kSend)
      deliver(rank, request.channel, request.capacity, part);
    else
      post(rank, place);
  };
  if (plan.request >= 0) return start_one(value(self, plan.request));
  if (plan.requests < 0) return;
  for (const Value slot : array_of(trace_, value(self, plan.requests))) {
    start_one(slot);
    ++part;
  }
}

void Simulation::free_request(std::uint32_t rank, const CallPlan& plan) {
  RankState& self = state(rank);
  const Value slot = value(self, plan.request);
  if (slot < 0 || static_cast<std::size_t>(slot) >= self.slots.size()) return;
  Value& at = self.slots[static_cast<std::size_t>(slot)];
  if (at < 0) return;
  const auto place = static_cast<std::uint32_t>(at);
  at = -1;
  Request& request = self.pool[place];
  const bool open = request.kind == Request::Kind::kRecv && request.active && !request.matched &&
                    !request.cancelled;
  if (open && !request.wildcard) {
    request.released = true;
    return;
  }
  self.excused = self.excused || open;
  self.release(place);
}

// Whether it was in time is not in the trace: a receive is taken as cancelled,
// and what is then left over on its channel is not held against anyone.
void Simulation::cancel(std::uint32_t rank, const CallPlan& plan) {
  RankState& self = state(rank);
  const Value slot = value(self, plan.request);
  if (slot < 0 || static_cast<std::size_t>(slot) >= self.slots.size()) return;
  const Value at = self.slots[static_cast<std::size_t>(slot)];
  if (at < 0) return;
  const auto place = static_cast<std::uint32_t>(at);
  Request& request = self.pool[place];
  if (!request.active) return;
  if (request.kind == Request::Kind::kSend) {
    channels_[request.channel].excused = true;
  } else if (request.kind == Request::Kind::kRecv) {
    request.cancelled = true;
    if (request.wildcard) return;
    Channel& channel = channels_[request.channel];
    channel.excused = true;
    if (request.matched)
      channel.messages.push_front({request.received, 1, self.number, 0, self.event.node->call});
    else
      channel.posted.remove(place);
  }
}

void Simulation::sweep_channels() {
  if (channels_.size() < sweep_at_) return;
  std::erase_if(channels_, [](const auto& entry) { return entry.second.idle(); });
  sweep_at_ = std::max<std::size_t>(1 << 16, channels_.size() * 2);
}

}  // namespace chameleon::analysis
