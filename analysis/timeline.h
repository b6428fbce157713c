// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// One time axis for all ranks, reconstructed from a folded trace: each event gets
/// a begin and an end in ns since the first rank continued after MPI_Init, on rank 0's clock
/// where the ranks' clocks were compared with it (else as if all had left it together): at first
/// (compute time before the call, time inside it: means of the histograms,
/// or each instance with full timing), then moved so that nothing precedes its
/// cause: a receive ends after its send began, nobody leaves a collective that
/// waits for all before the last has come, data of a root is not there before the
/// root (the controlled logical clock of Rabenseifner 1997, forward part). What a
/// rank lost that way it makes up in later calls that wait, which then wait less.
/// The whole is run twice. If the first pass ends later than the run did, or earlier, the
/// second stretches all durations evenly, so that the timeline ends when the run did, without
/// the tool's own work; with full timing each rank's to its own run time, where that is near: what
/// durations lack would add up, and ranks would drift apart. What ranks waited at
/// markers is in it where they waited, as the mean of what the rank waited at that place.
///
/// Every rank is run until it must wait, a few thousand events at a time; where
/// nobody can go on (a cut or inexact trace) the earliest rank goes on regardless,
/// and is counted. Where ranks have several threads their streams are run event by event
/// in the order of time, in which messages and collectives of threads that share a
/// channel or communicator are numbered anew, so that they match as they could have.
/// O(events), twice; memory of messages in flight and O(ranks).
///
/// Loops that do not differ from one iteration to the next (steady_loops.h) are not run to their
/// end, where who looks on can do without (RoundWatch). Between two iterations all ranks stop; if
/// nothing is under way, and all stand to each other as they stood some iterations before, those
/// iterations come again and again, each time as much later. One stands for nearly all of the rest.

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "analysis/failed_receives.h"
#include "analysis/operations.h"

namespace chameleon::analysis {

/// Of all that an event waited for, what came last.
struct Cause {
  enum class Kind : std::uint8_t {
    kNone,
    kSender,   ///< of a message
    kMembers,  ///< of a collective in which each waits for all
    kRoot,     ///< of a collective in which each waits for the root
    kForRoot,  ///< the root waits for all
    kLower,    ///< the ranks before this one, in a scan
    kThread,   ///< another thread of the rank
  };
  Kind kind = Kind::kNone;
  std::uint32_t stream = 0;
  std::uint64_t event = 0;      ///< number in its stream, from 1
  std::uint64_t path = 0;       ///< of that event
  std::uint16_t call = 0;       ///< likewise
  std::uint64_t begin_ns = 0;   ///< when it came
  std::uint64_t waited_ns = 0;  ///< before it, at markers
  bool is_later = false;        ///< than the begin of the event, by however little
};

struct TimedEvent {
  /// The rank, with its event and operations. Events that were left out are not counted in its
  /// number, nor their time below: `later_ns` is to be added.
  const RankOperations* at = nullptr;
  std::uint64_t later_ns = 0;
  std::uint64_t begin_ns = 0, end_ns = 0;
  std::uint32_t end_rest = 0;  ///< of the end: parts of a ns, in 1/1024
  /// Before it the stream waited at markers for slower ranks; none: both are equal.
  std::uint64_t wait_begin_ns = 0, wait_end_ns = 0;
  /// Of each operation: when its message was sent (receives), its collective begun by this
  /// rank (ends), else the event's begin.
  std::span<const std::uint64_t> since_ns;
  std::span<const std::uint32_t> since_stream;  ///< and by which stream
  /// Of each receive: bytes of the message that came, or kUnknownSize.
  std::span<const std::int64_t> sent_bytes;
  Cause cause;

  std::uint32_t rank() const { return at->rank(); }
  std::uint32_t stream() const { return at->stream(); }
  bool waits() const { return wait_end_ns > wait_begin_ns; }
};

struct TimelineFacts {
  std::uint64_t events = 0;
  std::uint64_t at_once = 0;    ///< of those, events of iterations that another stands for
  std::uint64_t end_ns = 0;     ///< of the last event
  double stretch = 1;           ///< what evens the timeline out to the length of the run
  std::uint64_t moved = 0;      ///< events ended later than recorded, to follow their cause
  std::uint64_t unmatched = 0;  ///< receives and collectives whose others did not come
  std::uint64_t unmatched_collectives = 0;  ///< of those; one for each who waited
  std::uint64_t unreceived = 0;  ///< messages between these ranks, where nothing was cancelled
  std::uint64_t unreceived_failed = 0;  ///< of those; because MPI failed their receives
  /// The first of both.
  struct Unmatched {
    const char* kind = "";  ///< deadlock or unreceived
    std::uint32_t stream = 0;
    std::uint64_t event = 0;  ///< number in its stream, from 1
    std::string call, why;
    FailedReceive failed;  ///< why a message is not received; its count is 0: for another reason
  };
  std::vector<Unmatched> first_unmatched;
  std::map<std::string, std::uint64_t> unmodelled;  ///< calls whose effects are not told
  std::vector<std::uint64_t> lane_ends_ns;          ///< of each lane, as `end_ns`
};

/// Who looks on and can take iterations of loops at once. The state of a timeline between two
/// iterations is compared with that of others, and decides over all that comes.
struct RoundWatch {
  /// Adds what of the watcher's own state decides over how it takes events. It must not grow from
  /// one iteration to the next, and hold no times.
  std::function<void(std::vector<std::uint64_t>& state)> state;
  /// The events until the next call come so many times, each time this much later. 1: once.
  std::function<void(std::uint64_t times, double period_ns)> take;
  /// Events from here on are to be taken at once only if they come before; none: all may be.
  std::function<std::uint64_t(std::uint64_t from_ns)> until_ns;
};

/// The same run with something otherwise. Whoever waits goes on when what it waits for has come
/// there; what a call took after that, its transfer, stays as it was unless it is changed. Nobody
/// waits at markers.
struct Lane {
  /// Of the event that is at hand, and begins at `begin_ns` of the timeline: ns on the timeline
  /// instead of these. None: as they are.
  using Changed =
      std::function<double(const RankOperations& at, std::uint64_t begin_ns, double ns)>;
  Changed compute, transfer;
  bool by_time = false;  ///< what changes depends on when, or on which event of a place it is
};
inline constexpr std::size_t kMostLanes = 8;

/// What calls cost. Ideal: nothing but waiting for others, so that a message is there when it is
/// sent, and a collective is over when the last has come for whom it waits.
/// Synchronous: a collective is over for everybody when the last has come, as it may be, and what
/// another thread makes is used after that: each event happens at one time on all who take part.
enum class Network : std::uint8_t { kRecorded, kIdeal, kSynchronous };

/// Calls `sink` for every event of the ranks in `ranks`, in order of each stream.
/// All ranks of the trace are run, whatever `ranks` is. `compares`: see `plan_trace`. Without a
/// watch each iteration of each loop is run for the sink. Error: the trace is damaged.
Result<TimelineFacts> run_timeline(const Trace& trace, const RankList& ranks,
                                   const std::function<void(const TimedEvent&)>& sink,
                                   bool compares = false, Network network = Network::kRecorded,
                                   const RoundWatch* watch = nullptr);

/// How long it takes.
Result<TimelineFacts> run_facts(const Trace& trace, Network network, Loops loops = Loops::kAtOnce);

/// The timeline, with up to kMostLanes lanes beside it.
Result<TimelineFacts> run_lanes(const Trace& trace, std::span<const Lane> lanes,
                                Loops loops = Loops::kAtOnce);

/// "reconstructed from histograms", "as recorded, moved where ...": for the output.
std::string timeline_text(const Trace& trace);

/// The same number at both ends of a message.
std::uint64_t message_id(const Operation& operation);

}  // namespace chameleon::analysis
