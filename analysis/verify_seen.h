// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The trace's side of `verify`: one stream's events, read by a `Follower`. An event keeps what its
/// end-points need, so that it can be compared after events behind it were read. Cost: that of the
/// follower; O(statuses) more where receives from any source complete together.

#include <optional>
#include <vector>

#include "analysis/follow.h"

namespace chameleon::analysis {

struct SeenEvent {
  EventView view;
  const CallDescription* call = nullptr;  ///< null: the trace does not describe these values
  std::uint32_t kinds = 0;                ///< declared inexact here (bits of `Inexactness`)
  /// The communicator of the event's end-points; size 0: the trace has no communicator for them,
  /// because it was made by another thread, or while nothing was recorded.
  CommPlace place;
  std::vector<CommPlace> status_places;  ///< of the sources of several statuses, likewise

  CommPlace status_place(std::size_t i) const {
    return i < status_places.size() ? status_places[i] : CommPlace{};
  }
};

class SeenStream {
 public:
  /// Without events if an incomplete trace does not know the thread yet. The plan must outlive it.
  /// Error: the trace is damaged.
  static Result<SeenStream> make(const FollowPlan& plan, std::uint32_t rank, std::uint32_t thread);

  /// The next event, or false at the end.
  bool next(SeenEvent& event);
  const DeclaredKinds& declared() const { return declared_; }

 private:
  explicit SeenStream(DeclaredKinds declared) : declared_(std::move(declared)) {}
  void find_status_places(SeenEvent& event) const;

  DeclaredKinds declared_;
  std::optional<Follower> follower_;  ///< none: at the end
  FollowedEvent at_;
};

}  // namespace chameleon::analysis
