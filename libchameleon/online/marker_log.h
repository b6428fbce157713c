// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// What a rank notes of its markers: when it voted, what its time between them was, and what was
/// decided about it. The traced process gives it (process/rank_markers.h).

#include <cstddef>
#include <cstdint>

#include "cluster/effort_options.h"
#include "cluster/effort_sums.h"
#include "cluster/options.h"
#include "signature/signature.h"
#include "statemachine/state_machine.h"

namespace chameleon::online {

/// What a rank took from one acted-on marker to the next, in ns; of several threads, the one that
/// comes to markers.
struct IntervalTimes {
  std::uint64_t compute = 0;        ///< outside MPI and the tool
  std::uint64_t communication = 0;  ///< in MPI calls
  std::uint64_t voting = 0;         ///< in the vote that began the interval
  std::uint64_t effort_calls = 0;   ///< in the calls that effort windows are of
};

/// The same from one marker to the next, acted on or not.
struct StepTimes {
  std::uint64_t compute = 0, communication = 0;
};

/// Intervals of a rank about which nothing is decided yet, at most: two that a vote under way is
/// about, one that has been closed since, and the one that is being closed.
inline constexpr std::size_t kMostUndecided = 4;

/// How far a rank is in what all ranks do together.
enum class Stage : std::uint8_t {
  kMarker,  ///< the interval ends
  kVote,    ///< the rank waits for others
  kDecided,
  kDone,  ///< with what was decided; a vote that nobody waits for is next
};

class MarkerLog {
 public:
  MarkerLog() = default;
  MarkerLog(const MarkerLog&) = delete;
  MarkerLog& operator=(const MarkerLog&) = delete;
  virtual ~MarkerLog() = default;

  /// Where the rank is, for a signal that comes now, and for people.
  virtual void reached(Stage stage, std::uint64_t marker) = 0;
  /// A round of a flush begins. Whether it should be the last: the process is about to end.
  virtual bool begin_round() = 0;
  /// Its last round is over.
  virtual void end_rounds() = 0;
  /// Of the interval that a marker ends; called once for each.
  virtual IntervalTimes interval_times() = 0;
  /// At a marker, since the one before.
  virtual StepTimes step_times() = 0;
  /// Of the first interval that it has not been called for: in the vote that began it, `least` ns
  /// were those that voting takes by itself. What the rank spent there beyond that it waited for
  /// slower ranks.
  virtual void waited_beyond(std::uint64_t least) = 0;
  /// What the marker has taken so far led to `state`; what follows leads to another decision.
  virtual void led_to(State state) = 0;
  /// The same interval is of this phase, by its number in the series.
  virtual void belongs_to(std::uint32_t phase) = 0;
  /// Whether the rank has waited for more than 1 % of the votes.
  virtual bool waits_often() const = 0;
  /// The rank's vote says that its Call-Path changed.
  virtual void note_change() = 0;
  /// The rank's signature decides about leads.
  virtual void note_election(const ClusterOptions& how, const SignatureVector& signature) = 0;
  /// The rank's efforts in the window that begins after marker `first` - 1.
  virtual void note_efforts(const cluster::EffortOptions& how, std::uint64_t first,
                            const cluster::RankEfforts& efforts) = 0;
  /// Markers came from a thread other than the first that had one.
  virtual bool marks_from_second_thread() const = 0;
};

}  // namespace chameleon::online
