// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The critical path of a run: the chain of computing and calls that ends with the last event. Seen
/// from there it goes back on one rank until that waited, then on with the rank that it waited for,
/// from when that one came. Nothing on it can take longer without the run taking longer. What a
/// place takes on the path beyond the mean over ranks is the most that balance there would save.
///
/// Worked out in one run of the timeline: each stream carries the path that ends in it, as a tree
/// with those of the others, in which what all have in common is kept as sums. O(1) an event;
/// memory of places x streams on the path, and of the last 4,096 events of each stream, fewer of
/// many streams: a rank that was waited for longer ago cannot be followed, which is counted.

#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "analysis/kept_numbers.h"
#include "analysis/slack.h"
#include "analysis/stream_place.h"
#include "analysis/timeline.h"

namespace chameleon::analysis {

/// Of a place of a stream, in ns.
struct PathShare {
  std::uint64_t compute_ns = 0, call_ns = 0;
  std::uint64_t marker_ns = 0;  ///< before its calls, at markers
  std::uint64_t visits = 0;

  std::uint64_t ns() const { return compute_ns + call_ns + marker_ns; }
  void add(const PathShare& other);
  PathShare times(std::uint64_t number) const;
};

struct CriticalPlace : StreamPlace {
  PathShare share;
};

struct CriticalPath {
  std::vector<CriticalPlace> places;  ///< by stream, call and path
  std::uint64_t begin_ns = 0;         ///< when its first stream left MPI_Init
  std::uint64_t end_ns = 0;
  std::uint64_t events = 0, at_once = 0;  ///< as TimelineFacts
  std::uint32_t last = 0;                 ///< the stream that ends last
  std::uint64_t jumps = 0;                ///< how often it goes from one stream to another
  std::uint64_t lost_jumps = 0;           ///< that were too long ago, in all streams
  /// It goes into iterations that stand for others on another stream than it comes out of them, so
  /// that it cannot stand for theirs.
  bool goes_astray = false;
  /// Of all streams: computing before calls of a place and time in them, whether on the path or
  /// not.
  std::map<std::pair<std::uint16_t, std::uint64_t>, PathShare> all;
  /// Of calls on the path or not, by stream, call and path; nothing if it was not asked for, or
  /// there are too many events.
  std::optional<std::vector<PlaceSlack>> slack;
};

class CriticalPathBuilder {
 public:
  explicit CriticalPathBuilder(std::size_t streams);
  /// The next event of a stream, in any order that a timeline gives.
  void add(const TimedEvent& event);
  /// The events that follow come so many times.
  void take(std::uint64_t times);
  CriticalPath finish();

 private:
  /// A place, in order of appearance, and a stream.
  using Key = std::uint64_t;
  static Key key_of(std::uint32_t place, std::uint32_t stream) {
    return std::uint64_t{place} << 32 | stream;
  }
  using Shares = std::unordered_map<Key, PathShare>;
  static constexpr std::uint32_t kNone = UINT32_MAX;

  /// A piece of paths: one place, and all that comes before until a piece that others share.
  struct Piece {
    std::uint32_t parent = kNone, references = 0;
    std::uint64_t end_ns = 0, jumps = 0;
    Key key = 0;
    PathShare own;
    std::unique_ptr<Shares> before;
    bool gate = false;  ///< where events begin, or end, to stand for others
  };
  /// The path that ends with an event of a stream.
  struct End {
    std::uint64_t event = 0;
    std::uint32_t piece = kNone;
  };
  struct Stream {
    std::vector<End> ends;  ///< of the last events, in a ring
    std::uint32_t last = kNone;
    std::uint64_t end_ns = 0, event = 0;  ///< of the last event
    std::uint32_t end_rest = 0;
    std::pair<std::uint64_t, std::uint32_t> end() const { return {end_ns, end_rest}; }
  };

  std::uint32_t place_of(std::uint16_t call, std::uint64_t path);
  std::uint32_t fresh(std::uint32_t parent, Key key, const PathShare& own, std::uint64_t end_ns);
  void release(std::uint32_t piece);
  void absorb(std::uint32_t piece);
  void compact();
  const End* end_of(std::uint32_t stream, std::uint64_t event) const;
  std::uint32_t from_cause(const Cause& cause, Key key, const PathShare& own, std::uint64_t end_ns);
  void keep(Stream& stream, std::uint64_t event, std::uint32_t piece);

  std::size_t kept_;
  std::uint64_t times_ = 1;
  KeptNumbers numbers_;
  std::vector<Stream> streams_;
  std::vector<Piece> pieces_;
  std::vector<std::uint32_t> free_;
  std::size_t compact_at_;
  std::uint64_t lost_ = 0;
  std::unordered_map<std::uint64_t, std::uint32_t> place_;  ///< by call and path
  std::vector<CriticalPlace> all_;                          ///< by place: of all streams
};

/// With `slack`, slack.h is asked. Error: the trace is damaged.
Result<CriticalPath> critical_path(const Trace& trace, Loops loops = Loops::kAtOnce,
                                   bool slack = false);

}  // namespace chameleon::analysis
