// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// What the distinct events of a stream do to its receives: made out when an event is first met,
/// while its arrays and datatypes are at hand. Memory: 4 bytes for each distinct event, 72 more for
/// those that deal with receives, 16 for each request that one of them completes; 4 bytes for each
/// rank of at most `kMostMembers` in communicators.

#include <bit>
#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "record/receive_use.h"

namespace chameleon::record {

/// Instead of a rank of a communicator.
inline constexpr std::int32_t kFromAny = -1, kFromNobody = -2, kFromUnknown = -3;
inline constexpr std::int32_t kNoDistance = INT32_MIN;

/// For messages of a call: so many elements of a datatype. Of a call that makes one, its bytes.
struct ReceiveRoom {
  std::int64_t elements = 0, element_bytes = 0;
};

/// The size of a message as a PairAccount has it.
inline std::uint8_t size_of(std::int64_t bytes) {
  return bytes <= 0 ? std::uint8_t{0}
                    : static_cast<std::uint8_t>(std::bit_width(static_cast<std::uint64_t>(bytes)));
}

/// What an event does. `id` is of the message, communicator or datatype.
struct ReceiveEffect {
  ReceiveUse::Step step = ReceiveUse::Step::kNothing;
  bool persistent = false;
  bool matched = false;                 ///< of a message: `id`
  std::int16_t size = -1;               ///< if the status says it, see `size_of`
  std::int32_t source = kFromNobody;    ///< as posted; of a new communicator its `members`
  std::int32_t distance = kNoDistance;  ///< to the sender, if the status says it
  std::uint32_t first = 0, count = 0;   ///< of its requests
  std::uint32_t tally = UINT32_MAX;     ///< of its message, if that is always the same
  std::int64_t comm = 0, id = -1;
  std::int64_t type = -1;
  ReceiveRoom room;
};

/// A request that an event makes, completes or starts, and what its status says.
struct EffectRequest {
  std::int64_t id = -1;
  std::int32_t distance = kNoDistance;
  std::int16_t size = -1;
};

/// The ranks that a communicator names.
struct CommMembers {
  std::int32_t self = -1;
  std::vector<std::uint32_t> peers;  ///< in the world; UINT32_MAX: not there
};

class ReceiveEffects {
 public:
  /// The elements of an array by its id.
  using Arrays = std::function<std::span<const std::int64_t>(std::int64_t)>;

  /// Events are numbered anew in each generation of their table.
  void begin(std::uint32_t generation);
  bool knows(std::uint32_t generation, std::uint32_t number) const {
    return number < effect_of_.size() && generation == generation_;
  }
  /// `rank`: the own one.
  void learn(std::uint32_t number, std::uint16_t call, std::span<const std::int64_t> values,
             const ReceiveRoom& room, std::uint32_t rank, const Arrays& arrays);
  /// What was learned takes much memory: the table of events should be cleared.
  bool crowded() const { return requests_.size() > kMostRequests; }

  /// Null: nothing.
  ReceiveEffect* find(std::uint32_t number) {
    if (number >= effect_of_.size() || effect_of_[number] == 0) return nullptr;
    return &effects_[effect_of_[number] - 1];
  }
  std::span<const EffectRequest> requests(const ReceiveEffect& effect) const {
    return {requests_.data() + effect.first, effect.count};
  }
  /// By `source` of an event that makes a communicator; null: not known.
  const CommMembers* members(std::int32_t place) const {
    return place < 0 ? nullptr : &members_[static_cast<std::size_t>(place)];
  }

 private:
  static constexpr std::size_t kMostRequests = std::size_t{1} << 17;
  static constexpr std::size_t kMostMembers = std::size_t{1} << 20;

  void learn_requests(const ReceiveUse& use, std::span<const std::int64_t> values,
                      const Arrays& arrays);
  std::int32_t learn_members(std::int64_t array, std::span<const std::int64_t> members,
                             std::uint32_t rank);

  std::uint32_t generation_ = 0;
  std::vector<std::uint32_t> effect_of_;  ///< by event: 0 none, else 1 + place
  std::vector<ReceiveEffect> effects_;
  std::vector<EffectRequest> requests_;
  std::vector<CommMembers> members_;
  std::unordered_map<std::int64_t, std::int32_t> members_by_array_;
  std::size_t all_members_ = 0;
};

}  // namespace chameleon::record
