// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// How ranks agree on the loop that their collective operations are in. MPI requires all ranks to
/// call the same blocking collectives on communicators of all ranks in the same order, but ranks
/// may call them from different places. So a rank proposes a period for each *kind* of collective:
/// the number of operations of that kind after which its own places repeat. Proposals are combined:
/// a period that serves all ranks is theirs. Pure.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <type_traits>

#include "base/rooms.h"

namespace chameleon::markers {

/// A blocking collective operation on a communicator of all ranks.
struct Collective {
  std::uint16_t call = 0;     ///< of the MPI table
  std::uint64_t kind = 0;     ///< the same on all ranks
  std::uint64_t path = 0;     ///< where this rank called it
  bool synchronizes = false;  ///< no rank leaves it before all have come
};

/// A repetition at the end of a rank's list of places: the last `length` have this period.
struct Repetition {
  std::uint8_t period = 0;  ///< 0: they do not repeat
  std::uint16_t length = 0;
};

/// The longest repetition with the shortest period, of places from the last one back.
/// O(kMostPeriod n).
template <class T>
constexpr Repetition repetition(std::span<const T> backwards) {
  constexpr std::size_t kMostPeriod = 255;
  Repetition found;
  const std::size_t size = std::min<std::size_t>(backwards.size(), UINT16_MAX);
  for (std::size_t period = 1; period <= kMostPeriod && 2 * period <= size; ++period) {
    std::size_t length = period;
    while (length < size && backwards[length] == backwards[length - period]) ++length;
    if (length >= 2 * period && length > found.length)
      found = {static_cast<std::uint8_t>(period), static_cast<std::uint16_t>(length)};
  }
  return found;
}

/// Where one place of a rank's calls comes among all collectives. If every rank has a place at the
/// same positions, they are in one loop there, however many collectives of the same kind are in
/// between.
struct LoopPlace {
  std::uint64_t positions = 0;  ///< hash of them, and of the kind; 0: there is no such place

  friend bool operator==(const LoopPlace&, const LoopPlace&) = default;
};

/// Proposal of one rank, or of several combined. Kinds are numbered in the order they first occur.
struct LoopProposal {
  static constexpr std::size_t kMostKinds = 16;

  std::uint64_t kinds = 0;       ///< hash of those of all collectives so far
  std::uint64_t elapsed_ns = 0;  ///< since the search began
  bool alike = true;             ///< ranks saw the same collectives
  bool marked = false;           ///< the program sets markers itself
  bool waited = false;           ///< a minute or more passed without a marker
  bool threads = false;          ///< several threads of a rank call MPI
  LoopPlace place;               ///< the same on all ranks, or none
  std::array<std::uint8_t, kMostKinds> periods{};
  std::array<std::uint16_t, kMostKinds> lengths{};

  /// A period serves both if it is a multiple of both.
  friend void combine(LoopProposal& mine, const LoopProposal& theirs) {
    mine.alike = mine.alike && theirs.alike && mine.kinds == theirs.kinds;
    mine.marked = mine.marked || theirs.marked;
    mine.waited = mine.waited || theirs.waited;
    mine.threads = mine.threads || theirs.threads;
    if (mine.place != theirs.place) mine.place = {};
    mine.elapsed_ns = std::max(mine.elapsed_ns, theirs.elapsed_ns);
    for (std::size_t i = 0; i < kMostKinds; ++i) {
      const unsigned both = std::lcm(unsigned{mine.periods[i]}, unsigned{theirs.periods[i]});
      mine.periods[i] = static_cast<std::uint8_t>(both <= UINT8_MAX ? both : 0);
      mine.lengths[i] = std::min(mine.lengths[i], theirs.lengths[i]);
    }
  }
};
static_assert(std::is_trivially_copyable_v<LoopProposal> && sizeof(LoopProposal) <= 144);

}  // namespace chameleon::markers
