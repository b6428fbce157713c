// SPDX-License-Identifier: BSD-3-Clause
#include "record/receive_effects.h"

#include <algorithm>
#include <utility>

#include "model/end_point.h"
#include "model/trace.h"
#include "mpi/error_class.h"

namespace chameleon::record {
namespace {

using Step = ReceiveUse::Step;

std::int32_t source_of(std::int64_t packed) {
  const EndPoint source{EndPointForm::kBoth, packed};
  if (source.special() == 0) return source.rank(0, 0);
  const bool any = source.special() == static_cast<std::int32_t>(SpecialRank::kAnySource);
  return any ? kFromAny : kFromNobody;
}

std::int32_t distance_of(std::int64_t relative) {
  const EndPoint source{EndPointForm::kRelative, relative};
  return source.special() == 0 ? static_cast<std::int32_t>(relative) : kNoDistance;
}

}  // namespace

void ReceiveEffects::begin(std::uint32_t generation) {
  if (generation == generation_) return;
  generation_ = generation;
  effect_of_.clear();
  effects_.clear();
  requests_.clear();
}

void ReceiveEffects::learn(std::uint32_t number, std::uint16_t call,
                           std::span<const std::int64_t> values, const ReceiveRoom& room,
                           std::uint32_t rank, const Arrays& arrays) {
  if (number >= effect_of_.size()) effect_of_.resize(number + std::size_t{1});
  const ReceiveUse& use = receive_use(call);
  const auto value = [&](int at) { return values[static_cast<std::size_t>(at)]; };
  if (use.step == Step::kNothing || !took_place(*find_call(static_cast<CallId>(call)), values[0]) ||
      (use.flag >= 0 && value(use.flag) == 0))
    return;
  ReceiveEffect effect;
  effect.step = use.step;
  effect.persistent = use.persistent;
  effect.matched = use.message >= 0;
  effect.room = room;
  if (use.type >= 0) effect.type = value(use.type);
  if (use.comm >= 0) effect.comm = value(use.comm);
  if (use.source >= 0) effect.source = source_of(value(use.source));
  if (use.status >= 0 && !use.completes()) {
    effect.distance = distance_of(packed_relative(value(use.status)));
    if (value(use.status + 2) >= 0) effect.size = size_of(value(use.status + 2));
  }
  // From MPI_PROC_NULL nothing comes.
  const bool nobody = use.source >= 0 && effect.source == kFromNobody;
  if (nobody && use.step == Step::kReceive) return;
  if (nobody && use.step == Step::kPost) effect.step = Step::kPostOther;
  effect.first = static_cast<std::uint32_t>(requests_.size());
  if (use.step == Step::kMakeComm) {
    effect.id = effect.comm;
    effect.source = learn_members(value(use.members), arrays(value(use.members)), rank);
  } else if (use.step == Step::kMakeType) {
    effect.id = effect.type;
  } else {
    if (effect.matched) effect.id = value(use.message);
    if (use.request >= 0) learn_requests(use, values, arrays);
  }
  effect.count = static_cast<std::uint32_t>(requests_.size()) - effect.first;
  effects_.push_back(effect);
  effect_of_[number] = static_cast<std::uint32_t>(effects_.size());
}

void ReceiveEffects::learn_requests(const ReceiveUse& use, std::span<const std::int64_t> values,
                                    const Arrays& arrays) {
  const auto value = [&](int at) { return values[static_cast<std::size_t>(at)]; };
  const auto elements = [&](int at) {
    return at < 0 ? std::span<const std::int64_t>() : arrays(value(at));
  };
  const std::int64_t alone = value(use.request);
  const std::span<const std::int64_t> ids =
      use.many ? arrays(alone) : std::span<const std::int64_t>(&alone, 1);
  const bool several = use.step == Step::kCompleteAll || use.step == Step::kCompleteSome;
  const bool one_status = use.completes() && !several && use.status >= 0;
  std::span<const std::int64_t> sources, sizes;
  if (several) sources = elements(use.status);
  if (several) sizes = elements(use.status + 2);
  const std::span<const std::int64_t> errors = elements(use.errors);
  // The request at a place of the list, and the place of its status.
  const auto put = [&](std::int64_t place, std::size_t status) {
    if (place < 0 || static_cast<std::size_t>(place) >= ids.size()) return;
    if (status < errors.size() && errors[status] == kErrPending) return;
    EffectRequest one;
    one.id = ids[static_cast<std::size_t>(place)];
    std::int64_t bytes = kNotRecorded;
    if (one_status) {
      one.distance = distance_of(packed_relative(value(use.status)));
      bytes = value(use.status + 2);
    } else if (status < sources.size() && status < sizes.size()) {
      one.distance = distance_of(sources[status]);
      bytes = sizes[status];
    }
    if (bytes >= 0) one.size = size_of(bytes);
    requests_.push_back(one);
  };
  if (use.step == Step::kCompleteAny) return put(value(use.index), 0);
  if (use.step == Step::kCompleteSome) {
    std::size_t status = 0;
    for (const std::int64_t place : elements(use.index)) put(place, status++);
    return;
  }
  for (std::size_t i = 0; i < ids.size(); ++i) put(static_cast<std::int64_t>(i), i);
}

/// As the table of events has them: of an intercommunicator the own group, -1, and the other one.
std::int32_t ReceiveEffects::learn_members(std::int64_t array,
                                           std::span<const std::int64_t> members,
                                           std::uint32_t rank) {
  const auto known = members_by_array_.find(array);
  if (known != members_by_array_.end()) return known->second;
  if (members.empty() || all_members_ + members.size() > kMostMembers) return kFromUnknown;
  CommMembers made;
  const auto between = std::find(members.begin(), members.end(), -1);
  const auto self = std::find(members.begin(), between, static_cast<std::int64_t>(rank));
  if (self != between) made.self = static_cast<std::int32_t>(self - members.begin());
  const auto first = between == members.end() ? members.begin() : between + 1;
  for (auto member = first; member != members.end(); ++member)
    made.peers.push_back(*member < 0 ? UINT32_MAX : static_cast<std::uint32_t>(*member));
  members_.push_back(std::move(made));
  all_members_ += members.size();
  const auto place = static_cast<std::int32_t>(members_.size()) - 1;
  members_by_array_.emplace(array, place);
  return place;
}

}  // namespace chameleon::record
