// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/failed_receives.h"

#include <algorithm>

namespace chameleon::analysis {

bool FailedReceives::note(const FollowedEvent& event, std::uint32_t rank) {
  if (event.call == nullptr || event.took_place()) return false;
  const CallPlan& plan = *event.plan;
  FailedReceive one{event.stream, event.number, event.view.node->call, event.value(0), false, 1};
  ChannelKey channel{kAnyContext, kAnySource, rank, kAnyTag};
  const auto from = [&](const Communicator* comm, const Partner& source, std::int64_t tag) {
    if (comm == nullptr) return false;
    channel.context = channel_context(plan, comm->context);
    if (source.is_member())
      channel.source = static_cast<std::uint32_t>(source.world);
    else if (!source.is(SpecialRank::kAnySource))
      return false;
    if (tag >= 0) channel.tag = tag;
    return true;
  };
  if (plan.action == Action::kStart) {
    // A request that is not known may have been a receive.
    const Posting* posting = event.used;
    if (posting != nullptr && (posting->kind != Posting::Kind::kReceive ||
                               !from(posting->comm.get(), posting->partner, posting->tag)))
      return false;
  } else if ((plan.action == Action::kRecv || plan.action == Action::kSendrecv) &&
             !plan.persistent && plan.recv_tag >= 0) {
    if (!from(event.comm, event.source, event.value(plan.recv_tag))) return false;
    one.may_have_taken = plan.request < 0 && plan.tells_class && !names_argument(event.value(0));
  } else {
    return false;
  }
  add(channel, one);
  return one.may_have_taken;
}

void FailedReceives::note_ended(const FollowedEvent& event, const ChannelKey& channel,
                                std::int64_t returned) {
  add(channel, {event.stream, event.number, event.view.node->call, returned, true, 1});
}

void FailedReceives::add(const ChannelKey& channel, const FailedReceive& one) {
  const auto [entry, fresh] = by_channel_[one.may_have_taken ? 0 : 1].try_emplace(channel, one);
  if (!fresh) ++entry->second.count;
}

FailedReceive FailedReceives::take(const ChannelKey& channel, std::uint64_t most) {
  if (most == 0) return {};
  const ChannelKey candidates[] = {
      channel,
      {channel.context, kAnySource, channel.dest, channel.tag},
      {channel.context, channel.source, channel.dest, kAnyTag},
      {channel.context, kAnySource, channel.dest, kAnyTag},
      {kAnyContext, kAnySource, channel.dest, kAnyTag},
  };
  for (ByChannel& failed : by_channel_)
    for (const ChannelKey& candidate : candidates) {
      const auto found = failed.find(candidate);
      if (found == failed.end()) continue;
      FailedReceive taken = found->second;
      taken.count = std::min(taken.count, most);
      found->second.count -= taken.count;
      if (found->second.count == 0) failed.erase(found);
      return taken;
    }
  return {};
}

}  // namespace chameleon::analysis
