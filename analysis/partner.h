// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The rank that an end-point refers to: the only place where an end-point's reading (absolute,
/// relative or both) becomes a rank. All code gets partners here, or resolved from a `Follower`.
/// O(1).

#include <cstdint>

#include "analysis/communicators.h"
#include "model/end_point.h"

namespace chameleon::analysis {

/// Where end-points are counted: the caller's rank in a communicator and the number of ranks that
/// it can name there (of an intercommunicator: the remote ones). Size 0: not known.
struct CommPlace {
  std::int32_t self = 0, size = 0;

  CommPlace or_else(CommPlace other) const { return size > 0 ? *this : other; }
};

inline CommPlace place_in(const Communicator* comm) {
  return comm == nullptr ? CommPlace{} : CommPlace{comm->self, comm->peers().count};
}

/// Small enough for two registers: there are three in an event.
struct Partner {
  /// Instead of a special rank: only the distance to it is recorded, from an unknown place.
  static constexpr std::int32_t kUnknown = 64;

  std::int32_t special = 0;  ///< code of a `SpecialRank`, or `kUnknown`; 0: this is a rank
  std::int32_t rank = -1;    ///< in the communicator
  std::int32_t world = -1;   ///< world rank; -1: none, or not a member of the communicator

  bool is(SpecialRank code) const { return special == static_cast<std::int32_t>(code); }
  /// A rank of the communicator, and of the trace's world.
  bool is_member() const { return world >= 0; }
  /// A rank of the communicator that another program is, or one that this one spawned.
  bool is_outside() const { return world == kOutside; }
};

/// `world` stays unknown: for users who know the place from elsewhere than the trace.
inline Partner resolve(const EndPoint& end, CommPlace place) {
  if (const std::int32_t special = end.special(); special != 0) return {special, -1, -1};
  if (end.form == EndPointForm::kRelative && place.size <= 0) return {Partner::kUnknown, -1, -1};
  return {0, end.rank(place.self, place.size), -1};
}

/// `comm`: null if it is not known.
inline Partner resolve(const EndPoint& end, const Communicator* comm) {
  Partner partner = resolve(end, place_in(comm));
  if (comm != nullptr && partner.rank >= 0 && partner.rank < comm->peers().count)
    partner.world = static_cast<std::int32_t>(comm->peers()[partner.rank]);
  return partner;
}

/// An end-point in the readings in which ranks are compared.
struct PartnerReadings {
  std::int64_t packed = 0;    ///< both at once, as the tracer recorded it (end_point.h)
  std::int64_t relative = 0;  ///< the distance
  std::int64_t absolute = 0;  ///< the rank
  std::int64_t mixed = 0;     ///< that, but rank 0 goes by its name: beyond all distances
};

inline PartnerReadings readings(const EndPoint& end, const Communicator* comm) {
  constexpr std::int64_t kRankZero = std::int64_t{1} << 40;
  const Partner partner = resolve(end, comm);
  const CommPlace place = place_in(comm);
  std::int64_t packed = end.value;
  if (const std::int32_t special = end.special(); special != 0)
    packed = pack_special(static_cast<SpecialRank>(special));
  else if (partner.special == 0 && place.size > 0)
    packed = pack_rank(partner.rank, place.self, place.size);
  const std::int64_t absolute = packed_absolute(packed), relative = packed_relative(packed);
  return {packed, relative, absolute, absolute == 0 ? kRankZero : relative};
}

}  // namespace chameleon::analysis
