// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// What each stream's time in calls was spent on, by call and call path: waiting for others, by the
/// kind of wait; transfer, which is what the call takes at its best for its number of bytes; and
/// the rest, excess, for which no late rank is known. The best is that of the instances of the call
/// on all ranks whose bytes are of the same power of two, and that waited for less than a quarter
/// of their time if there are such: no more than a tenth took less. Waits for several partners at
/// once count once. O(1) an operation on top of the timeline; memory of the messages of which one
/// end was seen, and of places x streams.

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/stream_place.h"
#include "analysis/wait_states.h"
#include "model/histogram.h"

namespace chameleon::analysis {

enum class WaitClass : std::uint8_t {
  kLateSender,
  kLateReceiver,
  kLateRoot,   ///< a rank waits for the root
  kEarlyRoot,  ///< the root waits for the others
  kAllToAll,   ///< a collective for the last rank, a scan for the ranks before
  kBarrier,
  kMarker,  ///< before the call, not in it
};
inline constexpr std::size_t kWaitClasses = 7;
/// late_sender, ...; in words: late sender, ...
extern const std::array<const char*, kWaitClasses> kWaitKeys, kWaitWords;

/// Times in ns.
struct WaitTimes {
  double events = 0, call_ns = 0, transfer_ns = 0;
  std::array<double, kWaitClasses> waited_ns{};

  double at(WaitClass kind) const { return waited_ns[static_cast<std::size_t>(kind)]; }
  double in_calls_ns() const;  ///< waits of all kinds but at markers
  double excess_ns() const;
  void add(const WaitTimes& other);
};

struct PlaceWait : StreamPlace {
  WaitTimes times;
};

struct WaitReport {
  std::vector<PlaceWait> places;  ///< by stream, call and path
  WaitTimes all;
  double run_ns = 0;
  std::uint64_t unmatched = 0;  ///< receives and collectives whose others did not come
  std::uint64_t clock_error_ns = 0;
  double undecided_ns = 0;  ///< of waits in calls that are shorter than the error of the clocks
  std::uint64_t events = 0, at_once = 0;  ///< as TimelineFacts

  /// Call and path with the sums over streams, most waiting first.
  std::vector<PlaceWait> by_place() const;
};

/// A stream waits.
struct WaitSpan {
  std::uint32_t stream = 0;
  WaitClass kind = WaitClass::kLateSender;
  std::uint64_t begin_ns = 0, end_ns = 0;
};

/// Fed with the events of a timeline of all streams, in any order that it gives.
class PlaceWaits {
 public:
  /// `watch` is told each wait, some after later events of their streams.
  explicit PlaceWaits(const Trace& trace, std::function<void(const WaitSpan&)> watch = {});
  void add(const TimedEvent& event);
  /// The events that follow come so many times.
  void take(std::uint64_t times) { times_ = times; }
  /// Messages of which one end was seen.
  std::size_t open() const { return states_.open(); }
  WaitReport finish(const TimelineFacts& facts);

 private:
  struct Cell {
    std::uint64_t events = 0, call_ns = 0;
    std::array<std::uint64_t, kWaitClasses> waited_ns{};
  };
  /// Instances of one number of bytes, as its power of two.
  struct Key {
    std::uint32_t stream = 0;
    std::uint16_t call = 0;
    std::uint8_t size = 0;
    std::uint64_t path = 0;
    auto operator<=>(const Key&) const = default;
  };
  struct Covered {
    std::uint64_t event = 0, until_ns = 0;
  };
  struct Stream {
    std::unordered_map<std::uint64_t, Cell*> cells;  ///< by place and size
    std::vector<Covered> covered;                    ///< of the events before, in a ring
  };

  Cell& cell(const Key& key);
  void told(const WaitState& wait);
  WaitSpan uncovered(const WaitState& wait);

  const Trace& trace_;
  std::function<void(const WaitSpan&)> watch_;
  std::uint64_t times_ = 1;
  WaitStates states_;
  std::vector<Stream> streams_;
  std::map<Key, Cell> cells_;
  /// Times without waits, of calls that waited little, and of those that waited longer.
  struct Own {
    Histogram unhindered, hindered;
  };
  std::map<std::pair<std::uint16_t, std::uint8_t>, Own> own_;
  std::uint64_t clock_error_ns_ = 0, undecided_ns_ = 0;
};

/// The largest error of the clocks of the ranks; 0: they were not compared.
std::uint64_t clock_error(const Trace& trace);

/// A setting without which the trace does not have these times.
std::optional<std::string> lacks_times(const Trace& trace);

/// Error: the trace is damaged.
Result<WaitReport> waits_of(const Trace& trace, Loops loops = Loops::kAtOnce);

}  // namespace chameleon::analysis
