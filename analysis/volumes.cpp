// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/volumes.h"

#include <algorithm>

#include "base/hash.h"

namespace chameleon::analysis {
namespace {

constexpr std::int64_t kInPlace = 1;  // of a buffer
/// More than any block: a damaged trace may claim it, and sums must not overflow.
constexpr std::int64_t kMostBytes = std::int64_t{1} << 40;

bool is_in_place(const EventView& event, int buffer) {
  return buffer >= 0 && event.values[static_cast<std::size_t>(buffer)] == kInPlace;
}

/// Adds `times` blocks of some bytes.
void add(std::int64_t& sum, bool& known, std::int64_t bytes, std::int64_t times = 1) {
  std::int64_t all = 0;
  if (plausible_bytes(bytes) < 0 || __builtin_mul_overflow(bytes, times, &all) ||
      __builtin_add_overflow(sum, all, &sum))
    known = false;
}

}  // namespace

std::int64_t exact_bytes(std::int64_t count, std::int64_t each) {
  if (count == 0) return 0;
  std::int64_t bytes = 0;
  return count < 0 || each < 0 || __builtin_mul_overflow(count, each, &bytes) ? kUnknownSize
                                                                              : bytes;
}

std::int64_t plausible_bytes(std::int64_t bytes) {
  return bytes < 0 || bytes > kMostBytes ? kUnknownSize : bytes;
}

Blocks::Blocks(const Trace& trace, const EventView& event, int count, int type, bool many,
               bool many_types, const TypeSizes& size)
    : size_(size), valid_(count >= 0 && type >= 0), many_(many), many_types_(many_types) {
  if (!valid_) return;
  count_ = event.values[static_cast<std::size_t>(count)];
  const std::int64_t types = event.values[static_cast<std::size_t>(type)];
  if (many) counts_ = array_of(trace, count_);
  if (many_types)
    types_ = array_of(trace, types);
  else
    type_size_ = size(types);
}

std::int64_t Blocks::bytes(std::int32_t i) const {
  const auto at = static_cast<std::size_t>(i);
  if (!valid_ || (many_ && at >= counts_.size())) return kUnknownSize;
  const std::int64_t count = many_ ? counts_[at] : count_;
  if (count == 0 || !many_types_) return exact_bytes(count, type_size_);
  return at < types_.size() ? exact_bytes(count, size_(types_[at])) : kUnknownSize;
}

std::int64_t Blocks::hash(std::int32_t n) const {
  std::uint64_t hash = 0;
  for (std::int32_t i = 0; i < n; ++i) {
    const std::int64_t part = bytes(i);
    if (part == kUnknownSize) return -1;
    hash = combine(hash, static_cast<std::uint64_t>(part));
  }
  return static_cast<std::int64_t>(hash >> 1);
}

RootRole root_role(const CallPlan& plan, const Partner& root, const Communicator& comm) {
  RootRole role;
  if (plan.root < 0) return role;
  if (root.is(SpecialRank::kRoot)) {
    role.is_root = true;
    role.world = comm.local[comm.self];
  } else if (root.special != 0) {
    role.takes_part = false;
  } else {
    if (root.is_member()) {
      role.root = root.rank;
      role.world = root.world;
    }
    role.is_root = !comm.is_inter && root.rank == comm.self;
  }
  return role;
}

Exchange::Exchange(const Trace& trace, const CallPlan& plan, const EventView& event,
                   const Partner& root, const Communicator& comm, const TypeSizes& size)
    : plan_(plan),
      comm_(comm),
      role_(root_role(plan, root, comm)),
      sends_in_place_(is_in_place(event, plan.send_buffer)),
      receives_in_place_(is_in_place(event, plan.recv_buffer)),
      sent_(trace, event, plan.send_count, plan.send_type, plan.many_sent, plan.many_types, size),
      received_(trace, event, plan.recv_count, plan.recv_type, plan.many_received, plan.many_types,
                size) {}

bool Exchange::sends() const {
  const Movement& movement = plan_.movement;
  if (!movement.moves() || !role_.takes_part) return false;
  if (movement.from_root()) return role_.is_root;
  // The root of an intercommunicator is not one of those who send to it.
  return !(movement.to_root() && comm_.is_inter && role_.is_root);
}

bool Exchange::receives() const {
  const Movement& movement = plan_.movement;
  if (!movement.moves() || !role_.takes_part) return false;
  if (movement.to_root()) return role_.is_root;
  if (!movement.from_root() || !role_.is_root) return true;
  return movement.part == Movement::Part::kBlock && !comm_.is_inter;
}

std::int64_t Exchange::sent_to(std::int32_t i) const {
  if (!sends_in_place_ || plan_.combines) return sent_.bytes(i);
  return received_.bytes(plan_.movement.part == Movement::Part::kWhole ? comm_.self : i);
}

std::int64_t Exchange::received_from(std::int32_t i) const {
  if (receives_in_place_ && plan_.movement.from_root()) return sent_.bytes(comm_.self);
  return received_.bytes(plan_.combines ? comm_.self : i);
}

Volume Exchange::volume() const {
  Volume volume;
  const bool blocks = plan_.movement.part == Movement::Part::kBlock;
  if (sends()) {
    // What is combined is in as many blocks as there are receivers of its parts: the own group.
    const std::int32_t receivers = plan_.combines ? comm_.size() : comm_.peers().count;
    if (!blocks || !plan_.many_sent)
      add(volume.sent, volume.known, sent_to(0), blocks ? receivers : 1);
    else
      for (std::int32_t i = 0; i < receivers; ++i) add(volume.sent, volume.known, sent_to(i));
  }
  if (receives()) {
    const std::int32_t senders =
        plan_.combines || plan_.movement.from_root() ? 1 : comm_.peers().count;
    if (senders == 1 || !plan_.many_received)
      add(volume.received, volume.known, received_from(0), senders);
    else
      for (std::int32_t i = 0; i < senders; ++i)
        add(volume.received, volume.known, received_from(i));
  }
  return volume;
}

VectorBytes Exchange::vectors() const {
  VectorBytes all;
  if (!plan_.movement.moves()) return all;
  const std::int32_t n = comm_.peers().count;
  for (std::int32_t i = 0; plan_.many_received && i < n; ++i)
    all.received.push_back(std::max<std::int64_t>(0, plausible_bytes(received_.bytes(i))));
  for (std::int32_t i = 0; plan_.many_sent && !plan_.combines && i < n; ++i)
    all.sent.push_back(std::max<std::int64_t>(0, plausible_bytes(sent_to(i))));
  return all;
}

}  // namespace chameleon::analysis
