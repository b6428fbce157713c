// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/check_simulation.h"

namespace chameleon::analysis {

Communicator* Simulation::comm_of(std::uint32_t rank, const CallPlan& plan) {
  RankState& self = state(rank);
  if (plan.action == Action::kFinalize) return self.comms.find(0);
  if (plan.comm >= 0) {
    const bool by_members = plan.new_comm == plan.comm || plan.over_result;
    return self.comms.find(value(self, by_members ? plan.new_comm : plan.comm));
  }
  if (plan.object < 0) return nullptr;
  auto& objects = plan.object_is_file ? self.files : self.windows;
  const auto found = objects.find(value(self, plan.object));
  return found == objects.end() ? nullptr : &found->second;
}

std::uint32_t Simulation::present_members(const Communicator& comm) const {
  const auto count = [this](const WorldRanks& ranks) {
    if (present_count_ == index_.size()) return static_cast<std::uint32_t>(ranks.count);
    std::uint32_t here = 0;
    for (std::int32_t i = 0; i < ranks.count; ++i) here += present(ranks[i]) ? 1 : 0;
    return here;
  };
  return count(comm.local) + (comm.is_inter ? count(comm.remote) : 0);
}

// The first time round the rank arrives; when it had to wait, it comes again.
bool Simulation::collective(std::uint32_t rank, const CallPlan& plan) {
  RankState& self = state(rank);
  if (self.phase > 0) return satisfied(rank, self.collective, plan);
  Communicator* comm = comm_of(rank, plan);
  if (value(self, 0) != 0) return true;
  if (comm == nullptr) {
    const int asked = plan.comm >= 0 ? plan.comm : plan.object;
    // Not a member of what Comm_create_group and the like made.
    if (plan.members < 0 && asked >= 0 && value(self, asked) >= 0)
      problem("unknown_object", rank, self.number, self.event.node->call,
              "the communicator, window or file is not alive", blame(false, declared(rank)));
    return true;
  }
  CollectiveKey key;
  const std::uint64_t number = comm->collectives++;
  arrive(rank, plan, *comm, comm->context, number, key);
  if (plan.comm >= 0 && plan.object >= 0 && value(self, plan.object) >= 0) {
    Communicator made = *comm;
    made.context = combine(combine(comm->context, number), plan.object_is_file ? 2 : 1);
    made.collectives = 0;
    (plan.object_is_file ? self.files : self.windows)[value(self, plan.object)] = made;
  }
  if (plan.request >= 0) {
    if (value(self, plan.request) < 0) return true;
    const bool initial = plan.persistent || plan.waits == Waits::kForNobody;
    const std::uint32_t place =
        new_request(rank, value(self, plan.request),
                    initial ? Request::Kind::kDone : Request::Kind::kCollective);
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
  if (plan.waits == Waits::kForRoot && (instance.root_came || instance.root < 0)) return true;
  if (plan.waits == Waits::kRootForAll && instance.root != static_cast<std::int64_t>(rank))
    return true;
  instance.waiting.push_back(rank);
  return false;
}

bool Simulation::arrive(std::uint32_t rank, const CallPlan& plan, Communicator& on,
                        std::uint64_t context, std::uint64_t number, CollectiveKey& key) {
  RankState& self = state(rank);
  key = {context, number};
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
  if (goes_on_) instance.parts.emplace_back(rank, self.number);
  if (instance.abandoned) omit(rank, self.number, 0);
  const auto size = [&](Value type) { return type_size(self, type); };
  const Contribution mine = contribution_of(trace_, plan, self.event, on, size);
  compare(rank, plan, instance, mine);
  if (mine.is_root && plan.waits == Waits::kForRoot) {
    instance.root_came = true;
    for (const std::uint32_t waiting : instance.waiting) wake(waiting);
    instance.waiting.clear();
  }
  if (instance.arrived < instance.expected) return false;
  const bool pairs = instance.pairs_agree();
  if (!instance.wrong && !pairs) {
    const Blame by = blame(false, instance.declared);
    count(by, &CheckReport::Unmatched::collectives, 1);
    problem("collective", rank, self.number, self.event.node->call, kPairsDisagree, by);
  }
  if (instance.wrong || instance.abandoned || !pairs) omit_all(instance);
  for (const std::uint32_t waiting : instance.waiting) wake(waiting);
  instances_.erase(entry);
  return true;
}

void Simulation::compare(std::uint32_t rank, const CallPlan& plan, Instance& instance,
                         const Contribution& mine) {
  const RankState& self = state(rank);
  const std::uint16_t call = self.event.node->call;
  const auto name_of = [this](const CollectivePlace& place) {
    return place_name(place.stream, place.event, place.call);
  };
  const std::string differs = instance.add({rank, self.number, call}, plan.name, mine, name_of);
  if (differs.empty()) return;
  if (!instance.wrong && !instance.abandoned) {
    const Blame by = blame(false, instance.declared);
    problem("collective", rank, self.number, call, differs, by);
    count(by, &CheckReport::Unmatched::collectives, 1);
  }
  instance.wrong = true;
}

}  // namespace chameleon::analysis
