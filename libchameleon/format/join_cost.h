// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The cost of joining the deltas of a file to its whole trace. The writer counts it and begins a
/// new whole trace before it is too high; the reader counts it in the same way and refuses more. A
/// file of few bytes may hold lists of a million intervals and facts of millions of ranks, and
/// repeat them: its size does not bound the time to read it; this cost does.

#include <cstdint>

#include "model/trace.h"

namespace chameleon::format {

class JoinCost {
 public:
  /// Steps of some 5 ns.
  static constexpr std::uint64_t kMost = std::uint64_t{1} << 28;

  JoinCost() = default;
  /// Before anything is joined to this trace.
  explicit JoinCost(const Trace& whole);

  /// Adds up what joining a delta `times` times takes; gives all steps so far. `repeats` of them
  /// are of a delta that the file has once, with what its groups take.
  std::uint64_t add(const Trace& delta, std::uint64_t times = 1, std::uint64_t repeats = 0);
  /// The groups of values that `append` compared to join it.
  std::uint64_t compared(std::uint64_t groups);
  std::uint64_t steps() const { return steps_; }

 private:
  /// Runs of ranks in the trace that deltas are joined to, at most, and its times.
  std::uint64_t lists_ = 0;
  std::uint64_t steps_ = 0;
};

}  // namespace chameleon::format
