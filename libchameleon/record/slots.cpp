// SPDX-License-Identifier: BSD-3-Clause
#include "record/slots.h"

#include <bit>

#include "model/trace.h"

namespace chameleon::record {

// A handle is 32 bits or a pointer, so that `none` has that of no object.
Slots::Slots(Kind kind, std::uint32_t thread)
    : first_id_((kind == Kind::kComm ? 2 : 0) + (std::int64_t{thread} << kObjectThreadShift)),
      oldest_ends_(kind == Kind::kRequest),
      keeps_fresh_(is_asked_for(kind)),
      buckets_(64) {
  std::size_t count = 0;
  for (const PredefinedHandle& object : predefined_handles()) count += object.kind == kind;
  PredefinedHandle none{};
  none.name = nullptr;
  none.handle = UINT64_MAX - 1;
  none.id = kUnknown;
  recent_ = none;
  predefined_.resize(std::bit_ceil(2 * count + 1), none);
  for (const PredefinedHandle& object : predefined_handles()) {
    std::size_t at = mix(object.handle);
    if (object.kind != kind || predefined(object.handle, at) != kUnknown) continue;  // names of one
    while (predefined_[at & (predefined_.size() - 1)].name != nullptr) ++at;
    predefined_[at & (predefined_.size() - 1)] = object;
  }
}

std::int64_t Slots::lookup(std::uint64_t handle) const {
  for (std::int32_t id = buckets_[mix(handle) & (buckets_.size() - 1)].head; id >= 0;
       id = objects_[static_cast<std::size_t>(id)].next)
    if (objects_[static_cast<std::size_t>(id)].handle == handle) return id + first_id_;
  return kUnknown;
}

std::int64_t Slots::lookup_last(std::uint64_t handle) const {
  std::int64_t last = kUnknown;
  for (std::int32_t id = buckets_[mix(handle) & (buckets_.size() - 1)].head; id >= 0;
       id = objects_[static_cast<std::size_t>(id)].next)
    if (objects_[static_cast<std::size_t>(id)].handle == handle) last = id + first_id_;
  return last;
}

/// Claimed objects are in no chain, and not free.
std::int64_t Slots::lookup_claimed(std::uint64_t handle) const {
  for (std::size_t id = 0; id < objects_.size(); ++id)
    if (objects_[id].handle == handle && (free_[id / 64] >> (id % 64) & 1) == 0)
      return static_cast<std::int64_t>(id) + first_id_;
  return kUnknown;
}

std::int32_t Slots::lowest_free() {
  for (; free_from_ < free_.size(); ++free_from_)
    if (free_[free_from_] != 0)
      return static_cast<std::int32_t>(free_from_ * 64) + std::countr_zero(free_[free_from_]);
  objects_.resize((free_.size() + 1) * 64);
  free_.push_back(~0ULL);
  return static_cast<std::int32_t>(free_from_ * 64);
}

std::int64_t Slots::create(std::uint64_t handle) {
  const std::uint64_t hash = mix(handle);
  if (const std::int64_t id = predefined(handle, hash); id != kUnknown) return id;
  if (shared_->has_taken_up) [[unlikely]]
    drop_taken_up(handle);
  const std::int32_t id = lowest_free();
  free_[static_cast<std::size_t>(id) / 64] &= ~(1ULL << (id % 64));
  Object& object = objects_[static_cast<std::size_t>(id)];
  object.handle = handle;
  object.taken_up = false;
  object.born = sibling_ == this ? 0 : ++shared_->born;
  if (++live_ > buckets_.size()) grow();
  link_last(id, bucket_of_hash(hash));
  return id + first_id_;
}

std::int64_t Slots::take_up(std::uint64_t handle) {
  const std::int64_t id = create(handle);
  objects_[static_cast<std::size_t>(place(id))].taken_up = true;
  shared_->has_taken_up = true;
  if (keeps_fresh_) {
    fresh_.push_back({handle, id});
    ++strangers_;
  }
  return id;
}

void Slots::settle(bool ok) {
  for (const TakenUp& one : fresh_) {
    Slots* const slots = owns(one.id) ? this : owner(one.id);
    if (ok || slots == nullptr || slots->is_free(one.id)) continue;
    slots->unlink(slots->place(one.id));
    slots->free_claimed(one.id);
  }
  strangers_ -= fresh_.size();
  fresh_.clear();
}

void Slots::drop_taken_up(std::uint64_t handle) {
  drop_taken_up_here(handle);
  for (Slots* other = sibling_; other != this; other = other->sibling_)
    other->drop_taken_up_here(handle);
}

void Slots::drop_taken_up_here(std::uint64_t handle) {
  const std::int64_t id = lookup(handle);
  if (id == kUnknown || !objects_[static_cast<std::size_t>(place(id))].taken_up) return;
  unlink(place(id));
  free_claimed(id);
}

/// Of an object that is in a chain, here or else the oldest of other threads.
std::int64_t Slots::find_linked(std::uint64_t handle) const {
  if (const std::int64_t id = lookup(handle); id != kUnknown) return id;
  std::int64_t oldest = kUnknown;
  std::uint64_t born = UINT64_MAX;
  for (const Slots* other = sibling_; other != this; other = other->sibling_) {
    const std::int64_t id = other->lookup(handle);
    if (id == kUnknown || other->born(id) >= born) continue;
    oldest = id;
    born = other->born(id);
  }
  return oldest;
}

/// The same, of the newest.
std::int64_t Slots::find_newest(std::uint64_t handle) const {
  if (const std::int64_t id = lookup_last(handle); id != kUnknown) return id;
  std::int64_t newest = kUnknown;
  std::uint64_t born = 0;
  for (const Slots* other = sibling_; other != this; other = other->sibling_) {
    const std::int64_t id = other->lookup_last(handle);
    if (id == kUnknown || (newest != kUnknown && other->born(id) <= born)) continue;
    newest = id;
    born = other->born(id);
  }
  return newest;
}

std::int64_t Slots::find_anew(std::uint64_t handle) {
  if (const std::int64_t id = predefined(handle, mix(handle)); id != kUnknown) {
    recent_.handle = handle;
    recent_.id = id;
    return id;
  }
  if (const std::int64_t id = find_linked(handle); id != kUnknown) return id;
  if (const std::int64_t id = lookup_claimed(handle); id != kUnknown) return id;
  for (const Slots* other = sibling_; other != this; other = other->sibling_)
    if (const std::int64_t id = other->lookup_claimed(handle); id != kUnknown) return id;
  return take_up(handle);
}

std::int64_t Slots::claim_anew(std::uint64_t handle) {
  std::int64_t id = predefined(handle, mix(handle));
  if (id != kUnknown) return id;
  id = oldest_ends_ ? find_linked(handle) : find_newest(handle);
  if (id == kUnknown) id = take_up(handle);
  if (owns(id))
    unlink(place(id));
  else if (Slots* other = owner(id))
    other->unlink(other->place(id));
  return id;
}

Slots* Slots::owner(std::int64_t id) const {
  for (Slots* other = sibling_; other != this; other = other->sibling_)
    if (other->owns(id)) return other;
  return nullptr;
}

void Slots::unclaim(std::int64_t id) {
  Slots* const slots = owns(id) ? this : owner(id);
  if (slots == nullptr) return;
  const std::int32_t at = slots->place(id);
  if (oldest_ends_)
    slots->link_first(at);
  else
    slots->link_last(at, slots->bucket(slots->objects_[static_cast<std::size_t>(at)].handle));
}

void Slots::free_elsewhere(std::int64_t id) {
  if (Slots* other = owner(id)) other->free_claimed(id);
}

void Slots::link_first(std::int32_t id) {
  Object& object = objects_[static_cast<std::size_t>(id)];
  Bucket& chain = bucket(object.handle);
  object.next = chain.head;
  chain.head = id;
  if (chain.tail < 0) chain.tail = id;
}

void Slots::link_last(std::int32_t id, Bucket& chain) {
  Object& object = objects_[static_cast<std::size_t>(id)];
  object.next = -1;
  (chain.tail < 0 ? chain.head : objects_[static_cast<std::size_t>(chain.tail)].next) = id;
  chain.tail = id;
}

void Slots::unlink(std::int32_t id) {
  Bucket& chain = bucket(objects_[static_cast<std::size_t>(id)].handle);
  std::int32_t before = -1;
  for (std::int32_t at = chain.head; at >= 0; at = objects_[static_cast<std::size_t>(at)].next) {
    if (at == id) {
      const std::int32_t next = objects_[static_cast<std::size_t>(at)].next;
      (before < 0 ? chain.head : objects_[static_cast<std::size_t>(before)].next) = next;
      if (chain.tail == id) chain.tail = before;
      return;
    }
    before = at;
  }
}

void Slots::grow() {
  const std::vector<Bucket> old = std::exchange(buckets_, std::vector<Bucket>(buckets_.size() * 4));
  for (const Bucket& chain : old)
    for (std::int32_t id = chain.head; id >= 0;) {
      const std::int32_t next = objects_[static_cast<std::size_t>(id)].next;
      link_last(id, bucket(objects_[static_cast<std::size_t>(id)].handle));
      id = next;
    }
}

}  // namespace chameleon::record
