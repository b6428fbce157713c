// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The causes of a late rank: while another waited for it, the rank computed, or was in a call, or
/// waited itself for a third, which is followed (delay costs of Böhme et al. 2016, for one wait at
/// a time). Keeps the last events of each stream, 2,048 of up to 64 streams and fewer of more, but
/// at least 64. O(events in the wait).

#include <algorithm>
#include <cstdint>
#include <vector>

#include "analysis/kept_numbers.h"
#include "analysis/wait_states.h"

namespace chameleon::analysis {

struct Delay {
  enum class Kind : std::uint8_t {
    kUnknown,  ///< too long ago
    kCompute,  ///< before the event
    kCall,     ///< in it, without a late rank
    kMarker,   ///< at a marker, before the event
  };
  Kind kind = Kind::kUnknown;
  std::uint32_t stream = 0;
  std::uint64_t event = 0;  ///< number in its stream: the longest of those
  std::uint64_t path = 0;
  std::uint16_t call = 0;
  std::uint64_t ns = 0;  ///< of the wait, spent there
};

class Delays {
 public:
  explicit Delays(std::size_t streams = 1)
      : kept_(std::clamp<std::size_t>(kKeptOfAll / std::max<std::size_t>(streams, 1), 64, 2048)) {}

  void add(const TimedEvent& event);
  /// As KeptNumbers.
  void take(std::uint64_t times) { numbers_.take(times); }
  /// A wait with numbers of events as they are kept here: others may be left out before the delay
  /// behind it is looked for.
  WaitState kept(WaitState wait) const {
    wait.at_event = numbers_.kept(wait.waiter, wait.at_event);
    wait.cause.event = numbers_.kept(wait.cause.stream, wait.cause.event);
    return wait;
  }
  std::uint64_t told(std::uint32_t stream, std::uint64_t number) const {
    return numbers_.told(stream, number);
  }
  /// The delay of a wait whose waiter's event was just added; both with numbers as `kept`.
  Delay behind(const WaitState& wait) const;

 private:
  static constexpr std::size_t kKeptOfAll = std::size_t{1} << 17;

  /// Numbers are as `kept`.
  struct Past {
    std::uint64_t number = 0, begin_ns = 0, end_ns = 0;
    std::uint64_t computed_ns = 0, waited_ns = 0;  ///< before it; the latter at markers
    std::uint64_t path = 0;
    std::uint16_t call = 0;
    Cause cause;  ///< none: it waited for no other
  };
  /// The activity of a stream in a stretch of time.
  struct Search;

  const Past* past(std::uint32_t stream, std::uint64_t number) const;
  Delay behind(const Cause& late, std::uint64_t begin_ns, int depth) const;

  std::size_t kept_;  ///< of each stream
  KeptNumbers numbers_;
  std::vector<std::vector<Past>> streams_;
};

}  // namespace chameleon::analysis
