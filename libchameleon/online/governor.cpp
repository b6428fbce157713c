// SPDX-License-Identifier: BSD-3-Clause
#include "online/governor.h"

#include "base/time_between.h"

namespace chameleon::online {

Governor::Cause Governor::over(const Spent& now) const {
  if (budget_ <= 0 || now.elapsed < before_.elapsed + kLeastElapsed) return Cause::kNone;
  const auto exceeds = [&](std::uint64_t elapsed, std::uint64_t tool) {
    return static_cast<double>(tool) > budget_ * static_cast<double>(elapsed);
  };
  const std::uint64_t events = time_between(before_.events, now.events);
  const std::uint64_t markers = time_between(before_.markers, now.markers);
  if (!exceeds(now.elapsed, now.events + now.markers + now.start) ||
      !exceeds(time_between(before_.elapsed, now.elapsed), events + markers))
    return Cause::kNone;
  if (markers > events) return Cause::kMarkers;
  if (leaves_out_) return Cause::kEvents;
  // Events stay: fewer markers help where these are a good part of it.
  return 4 * markers > events ? Cause::kMarkers : Cause::kNone;
}

std::string Governor::step(Cause cause, const Spent& now, bool marks) {
  if (cause == Cause::kNone) return {};
  before_ = now;
  if (marks && every_ < (cause == Cause::kMarkers ? kMost : kFirst)) {
    every_ *= 2;
    if (!leaves_out_) return {};
    return "one of " + std::to_string(every_) +
           " markers is acted on that was acted on at the start";
  }
  if (!leaves_out_) return {};
  if (times_ && !drops_times_) {
    drops_times_ = true;
    return "times of events are no longer kept";
  }
  if (one_of_ < kMost) {
    one_of_ *= 2;
    return "one of " + std::to_string(one_of_) + " intervals is recorded: calls are missing";
  }
  return {};
}

}  // namespace chameleon::online
