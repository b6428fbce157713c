// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include "analysis/check_simulation.h"

namespace chameleon::analysis {

std::uint32_t Simulation::present_members(const Communicator& comm) const {
  const auto count = [this](const WorldRanks& ranks) {
    if (present_count_ == index_.size() && ranks.listed.empty())
      return static_cast<std::uint32_t>(ranks.count);
    std::uint32_t here = 0;
    for (std::int32_t i = 0; i < ranks.count; ++i) here += present(ranks[i]) ? 1 : 0;
    return here;
  };
  return count(comm.local) + (comm.is_inter ? count(comm.remote) : 0);
}

// The first time round the rank arrives; when it had to wait, it comes again.
bool Simulation::collective(std::uint32_t rank, const CallPlan& plan) {
  RankState& self = state(rank);
  const FollowedEvent& at = self.at;
  if (self.phase > 0) return satisfied(rank, self.collective, plan);
  if (!at.takes_part()) return true;
  const Communicator* const group = at.is_pending() ? self.follower.group(at) : at.group;
  if (group == nullptr) {
    if (at.is_pending()) return true;
    const int asked = plan.comm >= 0 ? plan.comm : plan.object;
    // Not a member of what Comm_create_group and the like made.
    if (plan.members < 0 && asked >= 0 && at.value(asked) >= 0)
      problem("unknown_object", rank, at.number, self.call(),
              "the communicator, window or file is not alive", blame(false, declared(rank)));
    return true;
  }
  const CollectiveKey key{group->context, at.is_pending() ? group->collectives : at.collective};
  arrive(rank, plan, key, *group);
  if (plan.request >= 0) {
    if (at.posted == nullptr) return true;
    const bool initial = plan.persistent || plan.waits == Waits::kForNobody;
    const std::uint32_t place =
        new_request(rank, initial ? Request::Kind::kDone : Request::Kind::kCollective);
    self.pool[place].persistent = plan.persistent;
    self.pool[place].active = !plan.persistent;
    self.pool[place].collective = key;
    return true;
  }
  self.collective = key;
  self.phase = 1;
  return satisfied(rank, key, plan);
}

bool Simulation::satisfied(std::uint32_t rank, const CollectiveKey& key, const CallPlan& plan) {
  const auto found = instances_.find(key);
  if (found == instances_.end() || plan.waits == Waits::kForNobody) return true;
  Instance& instance = found->second;
  if (instance.abandoned) return true;
  const bool early = unawaited_ == nullptr && !state(rank).at.is_pending();
  if (early && plan.waits == Waits::kForRoot && (instance.root_came || instance.root < 0))
    return true;
  if (early && plan.waits == Waits::kRootForAll && instance.root != static_cast<std::int64_t>(rank))
    return true;
  if (plan.waits == Waits::kForLower &&
      instance.lower.all_before(instance.local.find(static_cast<std::int64_t>(rank))))
    return true;
  instance.waiting.push_back(rank);
  return false;
}

void Simulation::arrive(std::uint32_t rank, const CallPlan& plan, const CollectiveKey& key,
                        const Communicator& on) {
  RankState& self = state(rank);
  const FollowedEvent& at = self.at;
  const auto [entry, fresh] = instances_.try_emplace(key);
  Instance& instance = entry->second;
  if (fresh) {
    instance.expected = present_members(on);
    // What is exchanged with ranks that the trace does not have is told by one side only.
    instance.pairs_known =
        instance.expected == static_cast<std::uint32_t>(on.size()) +
                                 static_cast<std::uint32_t>(on.is_inter ? on.remote_size() : 0);
    instance.local = on.local;
    if (on.is_inter) instance.remote = on.remote;
    for (const WorldRanks* group : {&instance.local, &instance.remote})
      for (std::int32_t i = 0; !declared_.empty() && !instance.declared && i < group->count; ++i)
        instance.declared = declared(static_cast<std::uint32_t>((*group)[i]));
    ++report_.collectives;
  }
  if (goes_on_) instance.parts.emplace_back(rank, at.number);
  if (instance.abandoned) omit(rank, at.number, 0);
  const Contribution mine = contribution_of(
      trace_, plan, at.view, at.root, on,
      [&](Value type) { return self.follower.type_size(at, type); },
      [&](Value type) { return self.follower.datatypes().element(type, 0); });
  compare(rank, plan, instance, mine);
  if (mine.is_root && plan.waits == Waits::kForRoot) {
    instance.root_came = true;
    for (const std::uint32_t waiting : instance.waiting) wake(waiting);
    instance.waiting.clear();
  }
  if (plan.waits == Waits::kForLower) {
    instance.lower.come(on.self, 0, [&](std::int32_t lower) {
      return lower < on.size() && !present(on.local[lower]);
    });
    for (const std::uint32_t waiting : std::exchange(instance.waiting, {})) wake(waiting);
  }
  if (instance.arrived < instance.expected) return;
  const bool pairs = instance.pairs_agree();
  if (!instance.wrong && !pairs) {
    count(blame(false, instance.declared), &CheckReport::Unmatched::collectives, 1);
    fault("collective", rank, at.number, self.call(), kPairsDisagree, at.value(0),
          instance.declared);
  }
  if (instance.wrong || instance.abandoned || !pairs) omit_all(instance);
  for (const std::uint32_t waiting : instance.waiting) wake(waiting);
  instances_.erase(entry);
}

void Simulation::compare(std::uint32_t rank, const CallPlan& plan, Instance& instance,
                         const Contribution& mine) {
  const RankState& self = state(rank);
  const std::uint64_t number = self.at.number;
  const auto name_of = [this](const CollectivePlace& place) {
    return place_name(place.stream, place.event, place.call);
  };
  const std::string differs =
      instance.add({rank, number, self.call()}, plan.name, mine, name_of, trace_);
  if (differs.empty()) return;
  if (!instance.wrong && !instance.abandoned) {
    fault("collective", rank, number, self.call(), differs, self.at.value(0), instance.declared);
    count(blame(false, instance.declared), &CheckReport::Unmatched::collectives, 1);
  }
  instance.wrong = true;
}

}  // namespace chameleon::analysis
