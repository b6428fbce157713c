// SPDX-License-Identifier: BSD-3-Clause
// The call in which a rank was when its trace ended: whether it could have returned, and if not,
// for whom it waits.
#include <algorithm>
#include <unordered_set>

#include "analysis/check_simulation.h"

namespace chameleon::analysis {
namespace {

std::string from_text(const ChannelKey& key, bool any_source, bool any_tag) {
  return (any_source ? "from any rank" : "from rank " + std::to_string(key.source)) +
         (any_tag ? " with any tag" : " with tag " + std::to_string(key.tag));
}

}  // namespace

/// True if it could have returned. A send waits for its receive, and a collective for all.
bool Simulation::pending(std::uint32_t rank, const CallPlan& plan) {
  RankState& self = state(rank);
  bool over = true;
  switch (plan.action) {
    case Action::kSend:
    case Action::kSendrecv:
      if (plan.request < 0) over = send_event(rank, plan);
      break;
    case Action::kRecv:
      if (plan.request < 0) over = receive_event(rank, plan);
      break;
    case Action::kProbe:
    case Action::kMatchedProbe:
      if (plan.flag < 0) over = probe(rank, plan);
      break;
    case Action::kComplete:
    case Action::kCompleteAll:
    case Action::kCompleteAny:
    case Action::kCompleteSome:
      if (plan.flag < 0) over = pending_completion(rank, plan);
      break;
    case Action::kFinalize:
    case Action::kCollective:
      if (plan.request < 0) over = collective(rank, plan);
      break;
    default: break;
  }
  if (over) self.passed = true;
  return over;
}

bool Simulation::pending_completion(std::uint32_t rank, const CallPlan& plan) {
  RankState& self = state(rank);
  const bool all = plan.action == Action::kComplete || plan.action == Action::kCompleteAll;
  for (const Completion& completion : self.at.awaited) {
    const std::int64_t at = self.place_of(completion.posting);
    if (at < 0) return true;
    const auto place = static_cast<std::uint32_t>(at);
    const Request& request = self.pool[place];
    const bool over = request.wildcard ? await_any(self, request) : complete(rank, place, nullptr);
    if (over && request.wildcard) self.waiting_channel = false;
    if (request.wildcard && !over) self.waiting_request = at;
    if (over != all) return over;
  }
  return all || self.at.awaited.empty();
}

bool Simulation::has_message(const Request& wanted) const {
  for (const auto& [key, channel] : channels_)
    if (!channel.messages.empty() && key.context == wanted.channel.context &&
        key.dest == wanted.channel.dest &&
        (wanted.any_source || key.source == wanted.channel.source) &&
        (wanted.any_tag || key.tag == wanted.channel.tag))
      return true;
  return false;
}

/// A receive or probe with wildcards: any message that fits would do.
bool Simulation::await_any(RankState& self, const Request& wanted) {
  if (has_message(wanted)) return true;
  self.waiting_channel = true;
  self.waiting_wildcard = true;
  self.channel = wanted.channel;
  return false;
}

void Simulation::find_near_miss(const ChannelKey& key, bool any_source,
                                CheckReport::Hanging& one) const {
  for (const auto& [other, channel] : channels_) {
    if (channel.messages.empty() || channel.excused) continue;
    const bool to_it = other.dest == key.dest && (any_source || other.source == key.source);
    const bool elsewhere = !any_source && other.source == key.source && other.tag == key.tag &&
                           other.context == key.context;
    if (!to_it && !elsewhere) continue;
    const MessageRun& message = *channel.messages.begin();
    const auto call = trace_.calls.find(message.call);
    one.near_miss = "rank " + std::to_string(other.source) + " has sent " +
                    (to_it ? "it" : "rank " + std::to_string(other.dest)) + " a message with tag " +
                    std::to_string(other.tag) +
                    (other.context == key.context ? "" : " on another communicator") +
                    " that no rank receives" +
                    (call == trace_.calls.end() ? "" : ", in " + call->second.name);
    one.near_path = message.path;
    return;
  }
}

void Simulation::describe_channel(const RankState& self, const ChannelKey& key,
                                  const Communicator* comm, bool any_source, bool any_tag,
                                  CheckReport::Hanging& one) const {
  one.what = from_text(key, any_source, any_tag);
  if (!any_source) {
    one.for_ranks = RankList::single(key.source);
  } else if (comm != nullptr) {
    const WorldRanks& peers = comm->peers();
    for (std::int32_t i = 0; i < peers.count; ++i)
      if (peers[i] >= 0 && peers[i] != static_cast<std::int64_t>(self.rank))
        one.for_ranks.insert(static_cast<std::uint32_t>(peers[i]));
  }
  find_near_miss(key, any_source, one);
}

void Simulation::describe_collective(const CollectiveKey& key, const RankState& self,
                                     CheckReport::Hanging& one) const {
  const auto found = instances_.find(key);
  if (found == instances_.end()) return;
  const Instance& instance = found->second;
  std::unordered_set<std::uint32_t> here{self.rank};
  for (const auto& [rank, event] : instance.parts) here.insert(rank);
  for (const WorldRanks* group : {&instance.local, &instance.remote})
    for (std::int32_t i = 0; i < group->count; ++i)
      if (const std::int64_t rank = (*group)[i];
          rank >= 0 && here.count(static_cast<std::uint32_t>(rank)) == 0)
        one.for_ranks.insert(static_cast<std::uint32_t>(rank));
  one.what = "of " + std::to_string(instance.local.count + instance.remote.count) + " ranks";
}

CheckReport::Hanging Simulation::hanging(const RankState& self) const {
  CheckReport::Hanging one;
  one.rank = self.rank;
  one.event = self.at.number;
  one.call = self.at.call->name;
  one.path = self.at.view.path;
  one.ns = self.follower.times(self.at).communication;
  const Request* const request = self.waiting_request < 0
                                     ? nullptr
                                     : &self.pool[static_cast<std::size_t>(self.waiting_request)];
  if (request != nullptr && request->kind == Request::Kind::kCollective) {
    describe_collective(request->collective, self, one);
  } else if (request != nullptr && request->kind == Request::Kind::kSend) {
    one.for_ranks = RankList::single(request->channel.dest);
    one.what = "to rank " + std::to_string(request->channel.dest) + " with tag " +
               std::to_string(request->channel.tag);
  } else if (request != nullptr) {
    const Communicator* comm = self.at.comm;
    for (const Completion& completion : self.at.awaited)
      if (self.place_of(completion.posting) == self.waiting_request)
        comm = completion.posting->comm.get();
    describe_channel(self, request->channel, comm, request->any_source, request->any_tag, one);
  } else if (self.waiting_channel) {
    describe_channel(self, self.channel, self.at.comm, self.at.source.is(SpecialRank::kAnySource),
                     self.channel.tag < 0, one);
  } else {
    describe_collective(self.collective, self, one);
  }
  return one;
}

/// Who ended by itself: what it was in does not wait for anybody.
void Simulation::report_ends() {
  for (const auto& [rank, why] : trace_.ends) {
    if (why == kOtherEnded || why == kNoProgress || why == "SIGTERM" || why == "SIGINT") continue;
    if (rank >= index_.size() || index_[rank] < 0) continue;
    const RankState& self = state(rank);
    CheckReport::End& end = report_.ends.emplace_back();
    end.rank = rank;
    end.why = why;
    if (const auto call = trace_.calls.find(self.last_call); call != trace_.calls.end())
      end.last = {call->second.name, self.last_path};
    end.inside = self.last_pending;
    if (self.last_error != 0 && !self.last_pending) end.error = error_name(self.last_error);
  }
}

bool CheckReport::End::is_fault() const { return why.starts_with("SIG") || why == kFatalError; }

/// Nothing moves any more: who is in a call that could not return, and whom it waits for.
void Simulation::report_hanging() {
  // Looked through for each rank; what has no message matters no longer.
  std::erase_if(channels_, [](const auto& entry) {
    return entry.second.messages.empty() && entry.second.posted.empty();
  });
  report_ends();
  const auto has_ended = [&](std::uint32_t rank) {
    return std::any_of(report_.ends.begin(), report_.ends.end(),
                       [&](const auto& end) { return end.rank == rank; });
  };
  for (RankState& self : ranks_) {
    if (is_hanging(self) && self.blocked && step(self.rank)) self.has_event = false;
    if (self.passed) report_.passed.insert(self.rank);
    if (self.finalized) report_.finalized.insert(self.rank);
  }
  for (const RankState& self : ranks_)
    if (is_hanging(self) && !has_ended(self.rank)) report_.hanging.push_back(hanging(self));
  if (report_.hanging.empty()) return;
  for (const RankState& self : ranks_)
    if (const auto call = trace_.calls.find(self.last_call);
        !is_hanging(self) && call != trace_.calls.end())
      report_.last[self.rank] = {call->second.name, self.last_path};
}

}  // namespace chameleon::analysis
