// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Where a rank's time goes: to the program, to MPI, to the tool. In ticks of the clock; what was
/// spent in the tool belongs to neither computation nor communication.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

#include "base/time_between.h"
#include "record/clock.h"
#include "record/streams.h"

namespace chameleon::record {

/// Nanoseconds since the start, the tool's by what it did.
struct TimeSpent {
  std::uint64_t elapsed = 0;
  std::uint64_t events = 0;
  std::uint64_t markers = 0;  ///< waiting for other ranks in the last vote included
  std::uint64_t start = 0;    ///< before the first call
};

class TimeAccount {
 public:
  /// Calls of a batch that measures what stamps do not see.
  static constexpr std::int64_t kRehearsed = 64;

  /// Masks of ticks by call: all bits where the time in a call is effort (CHAMELEON_EFFORT).
  using EffortMasks = std::array<std::uint64_t, kCallIdEnd>;

  TimeAccount(bool counter, const EffortMasks& effort) : clock_(counter), effort_(effort) {}

  const Clock& clock() const { return clock_; }
  /// The run begins; gives its first tick.
  std::uint64_t start() { return start_ = clock_.now(); }
  /// MPI_Finalize begins, and the run is over.
  void end() { end_ = clock_.now(); }
  std::uint64_t ended() const { return end_; }
  /// Until now, since `begin`, the tool made ready.
  void spent_before(std::uint64_t begin) { other_ticks_ += time_between(begin, clock_.now()); }

  /// A call is over and recorded. What recording took after the call is measured at the first ones
  /// of its kind and every 16th, and after anything unusual; else it is taken to be as then. Where
  /// the next call shows that it took less, the rest is not the tool's.
  [[gnu::always_inline]] void leave(Stream& stream, CallId call, std::uint64_t entry,
                                    std::uint64_t before, std::uint64_t after) {
    Epilogue& epilogue = stream.epilogues[static_cast<std::size_t>(call)];
    const std::uint64_t too_much =
        std::min<std::uint64_t>(time_between(entry, stream.last_exit), stream.assumed_ticks);
    std::uint64_t spent = stream.assumed_ticks = epilogue.ticks;
    if (stream.unusual || epilogue.due()) {
      const bool more = stream.unusual && stream.beside != nullptr && stream.beside();
      spent = time_between(after, clock_.now());
      stream.assumed_ticks = 0;
      if (!stream.unusual) epilogue.learn(spent);
      stream.unusual = more;
    }
    stream.last_exit = after + spent;
    const std::uint64_t called = time_between(before, after);
    stream.tool_ticks += time_between(entry, before) + spent - too_much;
    stream.call_ticks += called;
    stream.effort_ticks += called & effort_[static_cast<std::size_t>(call)];
  }
  /// What recording `kRehearsed` calls takes beside what their stamps see.
  void set_unseen(std::int64_t ticks) { unseen_ticks_ = ticks; }
  /// The time since `begin` was the tool's, at a marker; gives its ticks.
  std::uint64_t spent_at_marker(std::uint64_t begin);
  /// Of the time at markers, so much was not the tool's: slower ranks had not come.
  void waited(std::uint64_t ticks) {
    ticks = std::min(ticks, marker_ticks_);
    marker_ticks_ -= ticks;
    waiting_ticks_ += ticks;
  }
  std::uint64_t waited() const { return waiting_ticks_; }
  /// What a stream computed so far, in ticks: what is left of the run up to `now`. As in the times
  /// of events, what the stamps of calls do not see is in it.
  std::uint64_t computed(const Stream& stream, std::uint64_t now) const;

  /// Measured over the run so far; `ns` uses the last measurement.
  double ns_per_tick();
  std::uint64_t ns(std::uint64_t ticks) const {
    return static_cast<std::uint64_t>(static_cast<double>(ticks) *
                                      ns_per_tick_.load(std::memory_order_relaxed));
  }
  /// Since the start; never less than it was before, though the factor is.
  std::uint64_t elapsed_ns();
  /// The same up to the end, once that is there.
  std::uint64_t run_ns();
  /// Ticks from the start to one.
  std::uint64_t since_start(std::uint64_t tick) const { return time_between(start_, tick); }
  /// What this rank's clock shows, with a scale that `ns_per_tick` gave.
  std::int64_t local_ns(double scale) const {
    return static_cast<std::int64_t>(static_cast<double>(since_start(clock_.now())) * scale);
  }

  std::uint64_t spent_at_calls(const Stream& stream) const;
  /// Ticks beside calls.
  struct Otherwise {
    std::uint64_t at_start;  ///< before the first call
    std::uint64_t at_markers;
    std::uint64_t all() const { return at_start + at_markers; }
  };
  Otherwise spent_otherwise() const { return {other_ticks_, marker_ticks_}; }
  TimeSpent spent(Streams& streams);

 private:
  Clock clock_;
  const EffortMasks effort_;
  std::uint64_t start_ = 0;
  std::uint64_t end_ = 0;            ///< 0: the run goes on
  std::uint64_t marker_ticks_ = 0;   ///< of the tool, at markers
  std::uint64_t waiting_ticks_ = 0;  ///< at markers, for other ranks
  std::uint64_t other_ticks_ = 0;    ///< of the tool, before the first call
  std::int64_t unseen_ticks_ = 0;    ///< of `kRehearsed` calls
  std::atomic<double> ns_per_tick_{1};
  std::atomic<std::uint64_t> most_elapsed_ns_{0};
};

}  // namespace chameleon::record
