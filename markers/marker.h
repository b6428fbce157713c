// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Determines what counts as a marker, and how often one is acted on. The runtime shows
/// every call that could be one to a source, `source(call) -> optional<Marker>`. There are
/// two: `MarkerSource` finds the markers that the program sets, and `FoundMarkers`
/// (process/found_markers.h) those of programs that set none. `MarkerSource` knows the two
/// forms in which a program sets them: MPI_Pcontrol with the level of chameleon_marker(),
/// and MPI_Barrier on a communicator of a reserved name (the dissertation's form, section
/// 5.1: a barrier with "a unique value" for communicator). `MarkerFrequency` is
/// Call_Frequency of Algorithm 8, lines 1 to 4. Every rank must see the same markers in the
/// same order. Cost: O(1), no allocation; nothing here calls MPI.

#include <chameleon/chameleon.h>

#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>

#include "markers/loop_proposal.h"

namespace chameleon::markers {

/// The name, by MPI_Comm_set_name, of a communicator whose barriers are markers. It should have
/// all ranks of MPI_COMM_WORLD.
inline constexpr std::string_view kMarkerCommName = "chameleon.marker";

/// Tells whether a communicator of this name is one: exactly this name, all of it.
constexpr bool names_marker_comm(std::string_view name) { return name == kMarkerCommName; }

/// A call as the runtime sees it, as far as it matters here.
struct MarkerCall {
  enum class Kind : std::uint8_t { kPcontrol, kBarrier, kCollective };
  Kind kind = Kind::kPcontrol;
  int level = 0;                ///< of MPI_Pcontrol
  bool on_marker_comm = false;  ///< of MPI_Barrier: its communicator has the reserved name
  Collective collective = {};   ///< of all ranks; a barrier is shown as such too

  static constexpr MarkerCall pcontrol(int level) { return {Kind::kPcontrol, level, false, {}}; }
  static constexpr MarkerCall barrier(bool on_marker_comm) {
    return {Kind::kBarrier, 0, on_marker_comm, {}};
  }
  static constexpr MarkerCall of_all(const Collective& collective) {
    return {Kind::kCollective, 0, false, collective};
  }
};

struct Marker {
  /// The call is the application's own: an event, recorded in the interval that it ends and
  /// replayed. Otherwise it is only a boundary.
  bool is_event = false;

  friend constexpr bool operator==(const Marker&, const Marker&) = default;
};

/// Whatever can say where markers are.
template <class Source>
concept FindsMarkers = requires(Source& source, const MarkerCall& call) {
  { source.source(call) } -> std::same_as<std::optional<Marker>>;
};

/// The markers that the program itself sets.
class MarkerSource {
 public:
  /// The marker that this call is, if it is one.
  constexpr std::optional<Marker> source(const MarkerCall& call) const {
    switch (call.kind) {
      case MarkerCall::Kind::kPcontrol:
        if (call.level == CHAMELEON_MARKER) return Marker{.is_event = false};
        break;
      case MarkerCall::Kind::kBarrier:
        if (call.on_marker_comm) return Marker{.is_event = true};
        break;
      case MarkerCall::Kind::kCollective: break;
    }
    return std::nullopt;
  }
};
static_assert(FindsMarkers<MarkerSource>);

/// Acts on the n-th, 2n-th, 3n-th … marker; 0 means every one.
class MarkerFrequency {
 public:
  constexpr explicit MarkerFrequency(std::uint64_t every) : every_(every > 0 ? every : 1) {}

  /// Counts one more marker. Returns whether it is acted on.
  constexpr bool act() {
    ++seen_;
    if (++since_ < every_) return false;
    since_ = 0;
    ++acted_;
    return true;
  }

  /// From the next marker on.
  constexpr void act_on_every(std::uint64_t every) { every_ = every > 0 ? every : 1; }

  /// The number of the next marker that is acted on.
  constexpr std::uint64_t next() const { return seen_ - since_ + every_; }
  constexpr std::uint64_t seen() const { return seen_; }
  constexpr std::uint64_t acted() const { return acted_; }

 private:
  std::uint64_t every_;
  std::uint64_t since_ = 0;
  std::uint64_t seen_ = 0;
  std::uint64_t acted_ = 0;
};

}  // namespace chameleon::markers
