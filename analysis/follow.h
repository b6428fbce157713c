// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The one way to follow a trace: one rank's events, expanded one at a time, each with what it
/// refers to resolved: the communicator with its members, partners as ranks of it and of the world,
/// the requests that it makes, starts and completes with the facts of their posting, what a receive
/// got, sizes of datatypes, times, and what of it is declared inexact. What is the same for all
/// ranks stands in a `FollowPlan`; a `Follower` is one rank, or one stream of it.
///
/// Memory of the folded trace and of the objects alive. An event costs O(depth) to expand, O(1) to
/// resolve, and O(requests) if it completes several. Times, matches and what is declared cost only
/// when they are asked for.
///
///     const FollowPlan plan(trace);
///     Result<Follower> follower = Follower::of_rank(plan, 3);
///     if (!follower) return follower.error();
///     FollowedEvent event;
///     while (follower->next(event))
///       if (event.dest.is_member()) use(event.dest.world, event.send_bytes);

#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "analysis/check_plan.h"
#include "analysis/communicators.h"
#include "analysis/datatypes.h"
#include "analysis/declared.h"
#include "analysis/partner.h"
#include "analysis/rank_streams.h"
#include "analysis/requests.h"
#include "base/result.h"

namespace chameleon::analysis {

/// `number` of the collective that comes last on a communicator, window or file, where ranks have
/// several threads: another thread may make it than those that made the others.
inline constexpr std::uint64_t kLastNumber = UINT64_MAX;

/// What is worked out once for all ranks. The trace must outlive it.
struct FollowPlan {
  explicit FollowPlan(const Trace& trace);

  const Trace* trace;
  std::vector<CallPlan> calls;                    ///< by id
  std::vector<const CallDescription*> described;  ///< likewise; null: no such call in the trace
  OutlierSums outliers;
};

/// A request that an event completes.
struct Completion {
  std::int64_t id = -1;        ///< of the request
  Posting* posting = nullptr;  ///< null: no request with this id is open
  int status = -1;             ///< place in the arrays of statuses, or -1: the call has one status
  std::size_t place = 0;       ///< in the event's list of requests
};

/// What a receive got.
struct Match {
  bool told = false;  ///< false: it was a wildcard, and the trace does not say what it matched
  Partner source;
  std::int64_t tag = 0;
  std::int64_t bytes = kNotRecorded;  ///< `kNotRecorded`: as many as there was room for
};

/// An event with what it refers to. Pointers hold until the next event is read.
struct FollowedEvent {
  EventView view;
  const CallDescription* call = nullptr;  ///< null: the trace does not describe these values
  const CallPlan* plan = nullptr;         ///< null with `call`, and then nothing below is resolved
  std::uint32_t stream = 0;
  std::uint64_t number = 0;  ///< in its stream, from 1
  ObjectUse uses;            ///< where its rank has several streams

  /// In which the event's end-points are counted: its own, or that of the message or the one
  /// request that it uses; null: none, or not known.
  const Communicator* comm = nullptr;
  const Communicator* made_comm = nullptr;  ///< that the event makes
  /// Where the call has one; sources as posted, of a matched receive as the probe found it.
  Partner dest, source, root;
  std::int64_t send_bytes = kUnknownSize;  ///< of a message, all its partitions
  std::int64_t recv_bytes = kUnknownSize;  ///< room for one, likewise

  Posting* posted = nullptr;            ///< the request that the event makes
  const Posting* replaced = nullptr;    ///< a request that was open under the id of that one
  std::vector<Completion> completions;  ///< in the order of the event's list
  std::vector<Completion> awaited;      ///< of a pending event: requests that it would complete
  /// Requests that the event starts, in the order of its list; null: no such request is open.
  std::vector<Posting*> started;
  Posting* used = nullptr;  ///< the request that the event frees, cancels or could not start

  /// Of a collective that succeeded: who takes part, and which it is on this communicator, window
  /// or file, from 0.
  const Communicator* group = nullptr;
  std::uint64_t collective = 0;

  std::int64_t value(int field) const { return view.values[static_cast<std::size_t>(field)]; }
  bool failed() const { return value(0) != 0; }
  /// It had not returned when the trace of its rank ended.
  bool is_pending() const { return value(0) == kInProgress && plan->tells_class; }
  /// Whether it did what it is for, whatever it returned.
  bool took_place() const { return analysis::took_place(*plan, value(0)); }
  /// The same, or it may still do it.
  bool takes_part() const { return took_place() || is_pending(); }
  /// Of any field that is an end-point.
  Partner partner(std::size_t field) const { return resolve(view.end_point(field), comm); }
};

class Follower {
 public:
  /// All threads of a rank, in one sequence (rank_streams.h). The plan must outlive it. Error: the
  /// trace is damaged, or has no such rank.
  static Result<Follower> of_rank(const FollowPlan& plan, std::uint32_t rank);
  /// In this order, which must outlive it.
  void follow(const StreamOrder& order) { streams_.follow(order); }
  /// One stream alone: what it uses of other threads' objects is not known.
  static Result<Follower> of_stream(const FollowPlan& plan, std::uint32_t stream);

  /// The next event, or false at the end.
  bool next(FollowedEvent& event);
  /// Who takes part in a collective that is pending; null: not known.
  const Communicator* group(const FollowedEvent& event) { return group_of(event).get(); }

  const Trace& trace() const { return *plan_->trace; }
  std::uint32_t rank() const { return streams_.rank(); }
  /// Of a rank of one stream (RankStreams::view).
  RankView& view() { return streams_.view(); }
  const RankView& view() const { return streams_.view(); }
  /// No request is under way, and no matched probe waits for its receive.
  bool is_quiet() const { return requests_.none_active() && messages_.empty(); }

  // Of the event that was read last.
  EventTimes times(const FollowedEvent& event) const;
  /// Kinds that the trace declares inexact here (bits of `Inexactness`).
  std::uint32_t inexact(const FollowedEvent& event) const;
  /// What a blocking receive or a probe got.
  Match match(const FollowedEvent& event) const;
  /// What the receive of a request got that the event completes. Its posting must be known.
  Match match(const FollowedEvent& event, const Completion& completion) const;
  /// The error of the event, or of a request that it completes.
  std::int64_t returned(const FollowedEvent& event, const Completion* completion) const;
  /// The elements of an array field; none if the call has no such field.
  std::span<const std::int64_t> array(const FollowedEvent& event, int field) const;
  /// Bytes of data in a datatype, `kUnknownSize` if that cannot be told.
  std::int64_t type_size(const FollowedEvent& event, std::int64_t type) const;
  /// What all of it is made of (type_elements.h).
  Element element(const FollowedEvent& event, int type) const {
    return type < 0 ? kMixed : types_.element(event.value(type), thread(event));
  }
  /// Bytes of so many of them.
  std::int64_t bytes(const FollowedEvent& event, std::int64_t count, std::int64_t type) const;

  /// The communicators that every rank has.
  const Communicator& world() const { return *comms_.find(0); }
  const Communicator& self() const { return *comms_.find(1); }
  const Datatypes& datatypes() const { return types_; }
  Datatypes& datatypes() { return types_; }

 private:
  using Shared = std::shared_ptr<Communicator>;
  static inline const Shared kNone;

  /// What a matched probe found.
  struct Message {
    Shared comm;
    Partner source;
    std::int64_t tag = 0;
  };

  Follower(const FollowPlan& plan, RankStreams streams);

  void resolve_event(FollowedEvent& event);
  void follow_communicators(FollowedEvent& event);
  const Shared& comm_of(const FollowedEvent& event);
  void follow_requests(FollowedEvent& event, const Shared& comm);
  void follow_collective(FollowedEvent& event);
  void know_object(const FollowedEvent& event);
  const Shared& group_of(const FollowedEvent& event);
  void post(FollowedEvent& event, const Shared& comm);
  void await(FollowedEvent& event);
  void complete(FollowedEvent& event);
  void complete(FollowedEvent& event, std::span<const std::int64_t> ids, std::int64_t place,
                int status);
  void start(FollowedEvent& event);
  Match match(const FollowedEvent& event, const Communicator* comm, const Partner& source,
              std::int64_t tag, int status) const;
  std::int64_t message_bytes(const FollowedEvent& event, int count, int type) const;
  const Message* message_of(const FollowedEvent& event) const;
  std::uint32_t thread(const FollowedEvent& event) const {
    return plan_->trace->thread_of(event.stream);
  }

  const FollowPlan* plan_;
  RankStreams streams_;
  Communicators comms_;
  Datatypes types_;
  Requests requests_;
  std::unordered_map<std::int64_t, Message> messages_;  ///< of matched probes, by id
  std::unordered_map<std::int64_t, Shared> windows_, files_;
  std::int64_t freed_comm_ = -1;  ///< by the event before
  // By stream, once asked.
  mutable std::unordered_map<std::uint32_t, DeclaredKinds> declared_;
  mutable std::unordered_map<std::uint32_t, StreamTimes> times_;
};

}  // namespace chameleon::analysis
