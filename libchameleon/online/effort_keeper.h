// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Effort windows on their way into the file: what each rank computed in its intervals, or spent in
/// calls, is noted as they end, kept by the rank or not, and becomes a window every so many
/// acted-on markers (CHAMELEON_EFFORT). A rank holds 16 bytes for each interval of the present
/// window. A window in which ranks differ, or that they cannot make for lack of memory, is given
/// up, and says so.

#include <cstdint>
#include <utility>

#include "cluster/effort_window.h"
#include "online/ranks.h"

namespace chameleon::online {

template <class World>
class EffortKeeper {
 public:
  explicit EffortKeeper(const EffortOptions& options) : options_(options) {
    windows_.set(options.window);
  }

  /// On every rank, as an interval ends; not for one that was left out.
  void note(Member& member, const ClosedInterval& interval, std::uint64_t marker) const {
    if (!options_.on() || !measured(marker)) return;
    if (member.efforts.empty()) member.efforts.reserve(options_.window.length);
    member.efforts.push_back({marker, effort_ns(member.times, interval)});
  }

  /// Whether a window ends at this acted-on marker: `close` is to be called once all are there.
  bool closes(std::uint64_t marker) const {
    return options_.on() && marker == closed_ + options_.window.length;
  }

  /// Collective. Failure: of this rank; the others may still be at it, and give up in time.
  Failure close(World& world, Members<World>& members, std::uint64_t marker) {
    const std::uint64_t first = std::exchange(closed_, marker) + 1;
    if (!measured(marker)) return Failure::kNone;
    cluster::CapekPlan plan;
    const Failure failure = attempt([&] {
      if (ready(world, first, plan)) {
        auto window = measure(world, members, plan, first, marker);
        if (window) windows_.add(std::move(*window));
      } else {
        give_up(first, marker, EffortGap::kLost);
      }
    });
    world.map(members, [](std::uint32_t, Member& member) { member.efforts.clear(); });
    return failure;
  }

  /// In MPI_Finalize: the window that has begun, if all agree on it. Collective where `whole`.
  Failure end(World& world, Members<World>& members, std::uint64_t marker, bool whole) {
    if (!options_.on() || marker <= closed_ || !measured(marker)) return Failure::kNone;
    if (whole) return close(world, members, marker);
    return attempt([&] { give_up(closed_ + 1, marker, EffortGap::kStopped); });
  }

  /// Of rank 0: what the file does not have yet.
  Efforts take() {
    Efforts taken;
    taken.set(options_.window);
    return std::exchange(windows_, std::move(taken));
  }

 private:
  std::uint64_t effort_ns(const IntervalTimes& times, const ClosedInterval& interval) const {
    switch (options_.of) {
      case cluster::EffortOf::kCommunication: return times.communication;
      case cluster::EffortOf::kCalls: return times.effort_calls;
      case cluster::EffortOf::kSites: return interval.site_ns;
      default: return times.compute;
    }
  }

  std::uint64_t index(std::uint64_t marker) const { return (marker - 1) / options_.window.length; }
  bool measured(std::uint64_t marker) const {
    return Efforts::measured(index(marker), options_.window.length);
  }

  /// Whether every rank has its plan, and memory for what follows, on all of them.
  bool ready(World& world, std::uint64_t first, cluster::CapekPlan& plan) const {
    const bool has = world.attempt([&] {
      plan = cluster::effort_window_plan(world.size(), options_, first);
      ::operator delete(::operator new(headroom()));
    });
    return world.absent(has).count == 0;
  }

  auto measure(World& world, Members<World>& members, const cluster::CapekPlan& plan,
               std::uint64_t first, std::uint64_t last) {
    auto efforts = world.map(members, [&](std::uint32_t, Member& member) {
      if (member.rank->failed()) throw std::bad_alloc();  // it does not know what it computed
      member.rank->marker_log().note_efforts(options_, first, member.efforts);
      return std::exchange(member.efforts, {});
    });
    return cluster::effort_window(world, efforts, options_, plan, first, last);
  }

  void give_up(std::uint64_t first, std::uint64_t last, EffortGap gap) {
    EffortWindow window;
    window.first = first;
    window.last = last;
    window.gap = gap;
    windows_.add(std::move(window));
  }

  /// More than a window takes on a rank, bytes: sums of this rank and of another.
  std::size_t headroom() const {
    const std::size_t strata = options_.k.by == cluster::EffortK::By::kFixed ? options_.k.k : 10;
    return (std::size_t{1} << 20) + 80 * strata * options_.window.length;
  }

  const EffortOptions& options_;
  Efforts windows_;
  std::uint64_t closed_ = 0;  ///< marker that ended the last window
};

}  // namespace chameleon::online
