// SPDX-License-Identifier: BSD-3-Clause
#include <optional>
#include <tuple>
#include <unordered_set>

#include "analysis/check_simulation.h"

namespace chameleon::analysis {

// Some member that has not come has ended.
bool Simulation::hopeless(const Instance& instance) const {
  std::unordered_set<std::uint32_t> here;
  for (const auto& [rank, event] : instance.parts) here.insert(rank);
  for (const WorldRanks* group : {&instance.local, &instance.remote})
    for (std::int32_t i = 0; i < group->count; ++i) {
      const std::int64_t rank = (*group)[i];
      if (!present(rank) || here.count(static_cast<std::uint32_t>(rank)) > 0) continue;
      if (is_over(static_cast<std::uint32_t>(rank))) return true;
    }
  return false;
}

Simulation::Stall Simulation::stall_of(const RankState& self, Hopeless& known) const {
  Stall stall;
  const Request* request = self.waiting_request < 0
                               ? nullptr
                               : &self.pool[static_cast<std::size_t>(self.waiting_request)];
  stall.collective =
      !self.waiting_channel && (request == nullptr || request->kind == Request::Kind::kCollective);
  if (stall.collective) {
    const CollectiveKey& key = request == nullptr ? self.collective : request->collective;
    const auto found = instances_.find(key);
    if (found == instances_.end()) return stall;
    stall.declared = found->second.declared;
    const auto [entry, fresh] = known.try_emplace(key, false);
    if (fresh) entry->second = hopeless(found->second);
    stall.hopeless = entry->second;
    return stall;
  }
  const ChannelKey& key = self.waiting_channel ? self.channel : request->channel;
  stall.send = !self.waiting_channel && request->kind == Request::Kind::kSend;
  if (stall.send) {
    stall.hopeless = present(key.dest) && is_over(key.dest);
    return stall;
  }
  stall.declared = declared(self.rank) || declared(key.source);
  stall.hopeless = present(key.source) && is_over(key.source);
  return stall;
}

// Everybody is done or waits. What can never come is left out on every rank at
// once; in a circle one wait is: for a send, else of declared ranks, for a message, early.
bool Simulation::resolve_stall() {
  std::vector<std::pair<std::uint32_t, Stall>> hopeless;
  using Order = std::tuple<bool, bool, bool, std::uint64_t, std::uint32_t>;
  std::optional<Order> best;
  std::uint32_t choice = 0;
  Stall chosen;
  Hopeless known;
  for (const RankState& self : ranks_) {
    if (self.done || is_hanging(self)) continue;
    const std::uint32_t rank = self.rank;
    const Stall stall = stall_of(self, known);
    if (stall.hopeless) hopeless.emplace_back(rank, stall);
    const Order order{!stall.send, !stall.declared, stall.collective, self.at.number, rank};
    if (best && !(order < *best)) continue;
    best = order;
    choice = rank;
    chosen = stall;
  }
  if (!best) return false;
  if (hopeless.empty()) hopeless.emplace_back(choice, chosen);
  for (const auto& [rank, stall] : hopeless)
    if (state(rank).blocked) leave_out(rank, stall);  // an abandoned collective frees others
  return true;
}

void Simulation::leave_out(std::uint32_t rank, const Stall& stall) {
  RankState& self = state(rank);
  if (stall.send) return stop_awaiting(self);
  const Blame by = blame(stall.hopeless, stall.declared);
  problem("deadlock", rank, self.at.number, self.call(), why_stuck(self), by);
  if (stall.collective) {
    const CollectiveKey key =
        self.waiting_request < 0
            ? self.collective
            : self.pool[static_cast<std::size_t>(self.waiting_request)].collective;
    count(by, &CheckReport::Unmatched::collectives, 1);
    if (const auto found = instances_.find(key); found != instances_.end())
      abandon(found->second);
    else
      self.skip = true;
  } else if (self.waiting_request >= 0) {
    const auto place = static_cast<std::uint32_t>(self.waiting_request);
    Request& request = self.pool[place];
    count(by, &CheckReport::Unmatched::receives, 1);
    omit(rank, request.event, request.part);
    request.omitted = true;
    if (const auto channel = channels_.find(request.channel); channel != channels_.end())
      channel->second.posted.remove(place);
  } else {
    // A probe, whose receive will say by itself that there is no message.
    omit(rank, self.at.number, 0);
    self.skip = true;
  }
  wake(rank);
}

// The send may go on when its rank does: if it is never received it is left out at the end.
void Simulation::stop_awaiting(RankState& self) {
  Request& request = self.pool[static_cast<std::size_t>(self.waiting_request)];
  request.awaits = false;
  (*unawaited_)[self.rank].push_back({request.event, request.part});
  wake(self.rank);
}

void Simulation::abandon(Instance& instance) {
  instance.abandoned = true;
  omit_all(instance);
  for (const std::uint32_t waiting : instance.waiting) wake(waiting);
  instance.waiting.clear();
}

void Simulation::omit(std::uint32_t rank, std::uint64_t event, std::uint32_t part) {
  if (omissions_ != nullptr) (*omissions_)[rank].push_back({event, part});
}

void Simulation::omit_all(const Instance& instance) {
  for (const auto& [rank, event] : instance.parts) omit(rank, event, 0);
}

}  // namespace chameleon::analysis
