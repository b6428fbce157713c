// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Does a trace hang together? All ranks are simulated at once, each until it
/// must wait: every receive must find its message (in the order of its channel:
/// communicator, source, destination, tag; wildcards take what the run matched),
/// every collective must be called by all of its communicator in the same order
/// with the same call, root, op and amounts. Unless asked otherwise sends are taken
/// as buffered, and rooted collectives wait only for the data they need. What is found is named:
/// rank, event number (from 1) and call. O(events), in memory of the messages and requests in
/// flight; a rank in turn runs at most a few thousand events ahead.
///
/// Of an incomplete trace what its end cut off is no fault, nor is what the
/// ranks leave open that the trace declares not to know exactly: both are named
/// and counted apart. There, and when `Omissions` are asked for, the simulation
/// leaves out what holds everyone up (a receive whose sender has ended before
/// one in a circle, a receive before a collective) and goes on to the end.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/leaks.h"
#include "base/result.h"
#include "model/trace.h"

namespace chameleon::analysis {

struct CallPlan;
struct FollowedEvent;

/// Problems described; further ones are counted.
inline constexpr std::size_t kMostProblems = 10;

/// The calls that a replay of a trace leaves out: reason, and how often each.
using LeftOut = std::map<std::string, std::map<std::string, std::uint64_t>>;

struct CheckReport {
  struct Problem {
    /// deadlock, collective, truncation, unreceived, incomplete_request, unknown_object
    std::string kind;
    std::uint32_t rank = 0, thread = 0;
    std::uint64_t event = 0;  ///< number in its thread, from 1
    std::string call;
    std::string text;        ///< a sentence with all of this
    bool program = false;    ///< the program did it; the trace is right
    std::uint64_t path = 0;  ///< call path of the event; 0: not known
  };
  /// A rank in an MPI call that had not returned when its trace ended, and could not return.
  struct Hanging {
    std::uint32_t rank = 0;
    std::uint64_t event = 0;  ///< number in its rank, from 1
    std::string call;
    std::uint64_t path = 0;
    std::uint64_t ns = 0;   ///< in the call
    RankList for_ranks;     ///< who did not come, did not send, or does not receive
    std::string what;       ///< "from rank 1 with tag 7", "of 16 ranks"
    std::string near_miss;  ///< what comes close to it, in a sentence; or empty
    std::uint64_t near_path = 0;
  };
  std::vector<Hanging> hanging;  ///< by rank
  RankList passed;               ///< in a call that had what it waits for: it could return
  RankList finalized;            ///< have called MPI_Finalize
  /// Of a trace in which ranks hang: the last call of those that do not.
  struct Last {
    std::string call;
    std::uint64_t path = 0;
  };
  std::map<std::uint32_t, Last> last;
  /// A rank that ended before MPI_Finalize, and not because another one did or the job was told to.
  struct End {
    std::uint32_t rank = 0;
    std::string why;        ///< Trace::ends
    Last last;              ///< its last call; no name: none
    bool inside = false;    ///< had not returned
    std::string error;      ///< MPI_ERR_RANK, if that is how the last call failed
    bool is_fault() const;  ///< of the program, whatever it was about to do
  };
  std::vector<End> ends;  ///< by rank
  /// What ranks that called MPI_Finalize have not freed; not looked for in a trace that is
  /// incomplete, declares something inexact, or has several threads a rank.
  std::vector<Leak> leaks;
  bool ok = true;                 ///< nothing wrong (what was cut does not count)
  std::vector<Problem> problems;  ///< the first `kMostProblems`
  std::uint64_t problem_count = 0;
  std::uint64_t program_count = 0;  ///< of those, what the program did wrong
  std::vector<Problem> cut;         ///< of an incomplete trace: what its end left open, first ones
  std::uint64_t cut_count = 0;
  std::vector<Problem> declared;  ///< where ranks with declared parts take part, first ones
  std::uint64_t declared_count = 0;
  /// What had no counterpart.
  struct Unmatched {
    std::uint64_t sends = 0, receives = 0, collectives = 0;
  };
  Unmatched in_flight;  ///< across the cut of an incomplete trace
  /// Not completed: at the cut (unmatched receives apart), and of calls that concern no other rank.
  std::uint64_t open_requests = 0;
  Unmatched declared_unmatched;                    ///< left by declared parts
  std::map<std::string, std::uint64_t> unchecked;  ///< calls without a model, and how often
  LeftOut left_out;                                ///< by a replay (reissue.h)
  /// What calls returned, by call and class of error; nothing of traces that hold an MPI's codes.
  std::map<std::string, std::map<std::string, std::uint64_t>> errors;
  std::uint64_t events = 0;
  std::uint64_t messages = 0;     ///< point to point, sent
  std::uint64_t bytes = 0;        ///< in those whose datatype is known
  std::uint64_t collectives = 0;  ///< each counted once for all its ranks
  /// With several threads a rank: why the problems may be none, in one line; or empty.
  std::string doubt;
  /// Likewise: the first of the operations that several threads share, in one line, and how many
  /// channels and communicators those are, which are left out.
  std::string shared;
  std::uint64_t shared_count = 0;
};

/// An operation without counterpart: the event's number in its rank, from 1, and
/// its part: of a Sendrecv 0 the send and 1 the receive, of a Startall the place.
struct Omission {
  std::uint64_t event = 0;
  std::uint32_t part = 0;
  auto operator<=>(const Omission&) const = default;
};

/// By world rank, ascending. Without these the rest of the trace runs to its end.
using Omissions = std::vector<std::vector<Omission>>;

/// Receives that declared parts gave less room than the message that they get takes: by world rank,
/// the event that makes the receive, and the bytes.
using Rooms = std::vector<std::map<std::uint64_t, std::int64_t>>;

/// Simulates the whole trace. Error: the trace is damaged (see `RankView`).
///
/// With `unawaited`, sends are synchronous and collectives synchronize, which any MPI may do: a
/// send ends when its receive is posted. In a circle a send is then not waited for, and listed
/// there; nothing is left out for it. The rest of the trace runs to its end on any MPI if those
/// sends that are listed are nonblocking and completed at the end; and if receives have the room
/// that `rooms` tells.
Result<CheckReport> check(const Trace& trace, Omissions* omissions = nullptr,
                          Omissions* unawaited = nullptr, Rooms* rooms = nullptr);

/// Why a replay would not run to its end unless operations are left out, in one
/// line; empty if it would (what an incomplete trace cuts off is left out anyway).
std::string replay_refusal(const Trace& trace, const CheckReport& report);

/// "; MPI returned MPI_ERR_TRUNCATE", or nothing after success.
std::string returned_text(const CallPlan& plan, std::int64_t returned);
/// Counts the error of an event that failed.
void note_error(CheckReport& report, const FollowedEvent& event);

/// What a stream is called: "rank 3", "rank 3 thread 1" where ranks have several threads.
std::string stream_name(const Trace& trace, std::uint32_t stream);

/// "2 sends, 1 receive, 0 collectives".
std::string unmatched_text(const CheckReport::Unmatched& counts);

}  // namespace chameleon::analysis
