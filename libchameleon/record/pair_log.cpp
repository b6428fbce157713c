// SPDX-License-Identifier: BSD-3-Clause
#include "record/pair_log.h"

#include <utility>

#include "model/end_point.h"

namespace chameleon::record {

using Step = ReceiveUse::Step;

void PairLog::start(std::uint32_t rank, std::uint32_t size, std::uint32_t thread) {
  counts_ = true;
  rank_ = rank;
  world_size_ = size;
  thread_ = thread;
}

void PairLog::learn(std::uint32_t generation, std::uint32_t number, std::uint16_t call,
                    std::span<const std::int64_t> values, const ReceiveRoom& room,
                    const ReceiveEffects::Arrays& arrays) {
  effects_.begin(generation);
  effects_.learn(number, call, values, room, rank_, arrays);
  ReceiveEffect* const effect = effects_.find(number);
  if (effect == nullptr || (effect->step != Step::kReceive && effect->step != Step::kPost)) return;
  const bool fixed = !effect->matched && effect->source >= 0 && !own(effect->type) &&
                     effect->comm >= 0 && effect->comm <= 1;
  if (fixed) effect->tally = tally(posted(*effect), size(*effect));
}

void PairLog::act(const ReceiveEffect& effect, std::uint64_t ticks) {
  received_.clear();
  switch (effect.step) {
    case Step::kNothing: break;
    case Step::kReceive: receive(effect); break;
    case Step::kPost:
    case Step::kPostOther: post(effect); break;
    case Step::kMatchedProbe: probe(effect); break;
    case Step::kMakeComm: make_comm(effect); break;
    case Step::kMakeType: make_type(effect); break;
    case Step::kComplete:
    case Step::kCompleteAll:
    case Step::kCompleteAny:
    case Step::kCompleteSome:
      for (const EffectRequest& one : effects_.requests(effect)) complete(one);
      break;
    case Step::kStart:
    case Step::kEnd:
    case Step::kCancel:
      for (const EffectRequest& one : effects_.requests(effect)) {
        Request* const used = request(one.id);
        if (used == nullptr) continue;
        if (effect.step == Step::kEnd) *used = Request();
        used->active = used->active || effect.step == Step::kStart;
        used->cancelled = effect.step == Step::kCancel;
      }
      break;
  }
  if (!received_.empty()) share(ticks);
}

/// Evenly among what the event receives; the first has the rest of the division.
void PairLog::share(std::uint64_t ticks) {
  if (received_.size() == 1) return tallies_.add(received_.front(), ticks, events_);
  const std::uint64_t each = ticks / received_.size();
  std::uint64_t rest = ticks - each * received_.size();
  for (const std::uint32_t place : received_)
    tallies_.add(place, each + std::exchange(rest, 0), events_);
}

void PairLog::receive(const ReceiveEffect& effect) {
  if (effect.matched && !own(effect.id)) return;  // of no message
  const Partner source =
      effect.matched ? message(effect.id) : told(posted(effect), effect.distance);
  if (source.rank != kFromNobody) received_.push_back(tally(source, size(effect)));
}

std::uint32_t PairLog::tally(Partner source, std::uint8_t size) {
  const std::uint32_t rank = world_rank(source);
  return rank == UINT32_MAX ? PairTallies::kOthers : tallies_.find(rank, size);
}

void PairLog::post(const ReceiveEffect& effect) {
  for (const EffectRequest& one : effects_.requests(effect)) {
    Request* const made = request(one.id);
    if (made == nullptr) continue;
    *made = Request();
    if (effect.step == Step::kPostOther) continue;
    made->receives = true;
    made->persistent = effect.persistent;
    made->active = !effect.persistent;
    made->tally = effect.tally;
    made->size = posted_size(effect);
    made->source = effect.matched ? message(effect.id) : posted(effect);
  }
}

void PairLog::complete(const EffectRequest& completed) {
  Request* const ended = request(completed.id);
  if (ended == nullptr || !ended->active) return;
  ended->active = false;
  const Partner source = told(ended->source, completed.distance);
  if (ended->receives && !ended->cancelled && source.rank != kFromNobody) {
    const bool fixed = ended->tally != kNoTally && completed.size < 0;
    const auto size = completed.size < 0 ? ended->size : static_cast<std::uint8_t>(completed.size);
    received_.push_back(fixed ? ended->tally : tally(source, size));
  }
  if (!ended->persistent) *ended = Request();
}

void PairLog::probe(const ReceiveEffect& effect) {
  if (!own(effect.id)) return;
  if (place(effect.id) >= messages_.size()) messages_.resize(place(effect.id) + 1);
  messages_[place(effect.id)] = told(posted(effect), effect.distance);
}

void PairLog::make_comm(const ReceiveEffect& effect) {
  if (!own(effect.id)) return;
  if (place(effect.id) >= comms_.size()) comms_.resize(place(effect.id) + 1, kUnknownComm);
  comms_[place(effect.id)] = effect.source;
}

void PairLog::make_type(const ReceiveEffect& effect) {
  if (!own(effect.id)) return;
  if (place(effect.id) >= types_.size()) types_.resize(place(effect.id) + 1, -1);
  types_[place(effect.id)] = effect.room.element_bytes;
}

PairLog::Request* PairLog::request(std::int64_t id) {
  if (!own(id)) return nullptr;
  if (place(id) >= requests_.size()) requests_.resize(place(id) + 1);
  return &requests_[place(id)];
}

PairLog::Partner PairLog::message(std::int64_t id) const {
  return own(id) && place(id) < messages_.size() ? messages_[place(id)] : Partner();
}

PairLog::Partner PairLog::posted(const ReceiveEffect& effect) const {
  if (effect.comm == 0) return {kWorld, effect.source};
  if (effect.comm == 1) return {kSelf, effect.source};
  const bool known = own(effect.comm) && place(effect.comm) < comms_.size();
  return {known ? comms_[place(effect.comm)] : kUnknownComm, effect.source};
}

std::uint8_t PairLog::size(const ReceiveEffect& effect) const {
  return effect.size < 0 ? posted_size(effect) : static_cast<std::uint8_t>(effect.size);
}

/// Types of equal ids may differ in size.
std::uint8_t PairLog::posted_size(const ReceiveEffect& effect) const {
  const bool made = own(effect.type) && place(effect.type) < types_.size();
  const std::int64_t now = made ? types_[place(effect.type)] : -1;
  return size_of(effect.room.elements * (now < 0 ? effect.room.element_bytes : now));
}

/// The sender that a status names by its distance, of a receive from anybody.
PairLog::Partner PairLog::told(Partner source, std::int32_t distance) const {
  if (source.rank != kFromAny) return source;
  auto self = static_cast<std::int32_t>(rank_), size = static_cast<std::int32_t>(world_size_);
  if (source.comm != kWorld) {
    const CommMembers* const members = effects_.members(source.comm);
    self = members == nullptr ? 0 : members->self;
    size = source.comm == kSelf ? 1
           : members == nullptr ? 0
                                : static_cast<std::int32_t>(members->peers.size());
  }
  if (distance == kNoDistance || size == 0) return {source.comm, kFromUnknown};
  return {source.comm, EndPoint{EndPointForm::kRelative, distance}.rank(self, size)};
}

/// UINT32_MAX: not known.
std::uint32_t PairLog::world_rank(Partner partner) const {
  const auto rank = static_cast<std::uint32_t>(partner.rank);
  if (partner.rank < 0) return UINT32_MAX;
  if (partner.comm == kWorld) return rank < world_size_ ? rank : UINT32_MAX;
  if (partner.comm == kSelf) return rank_;
  const CommMembers* const members = effects_.members(partner.comm);
  return members != nullptr && rank < members->peers.size() ? members->peers[rank] : UINT32_MAX;
}

}  // namespace chameleon::record
