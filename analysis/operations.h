// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// What one rank's events do to others, in terms every consumer shares: messages
/// sent, receives posted and completed, collectives begun and ended, all with
/// world ranks, bytes, and a number in their channel by which the two ends of a
/// message find each other without communication (MPI 4.0, section 3.5: messages
/// of a channel match receives in the order these were posted). A wildcard knows
/// its source only when it completes, so a rank whose receives need it is read
/// twice. Memory of the folded trace, of open requests and of distinct channels;
/// O(depth) an event. The threads of a rank are one sequence (rank_streams.h). What has
/// no model here (one-sided data, the partitions of a message) is counted in `unmodelled`.

#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/check_collectives.h"
#include "analysis/check_plan.h"
#include "analysis/check_state.h"
#include "analysis/follow.h"
#include "analysis/volumes.h"
#include "base/result.h"

namespace chameleon::analysis {

/// One effect of an event. `request` numbers a rank's requests from 1 in the order they
/// are made (a persistent one anew each time it is started); 0 is a blocking call.
struct Operation {
  enum class Kind : std::uint8_t {
    kSend,       ///< a message leaves; with a request, begins to
    kPost,       ///< a receive is posted that completes later
    kReceive,    ///< a message has arrived
    kSendDone,   ///< the request of a send completes
    kCancelled,  ///< the request of a receive ends without a message
    kBegin,      ///< a collective is entered
    kEnd,        ///< a collective is over: follows kBegin at once if it blocks
  };
  Kind kind = Kind::kSend;
  std::uint64_t request = 0;
  std::uint64_t context = 0;   ///< of the communicator
  ChannelKey channel;          ///< of messages: world ranks
  std::uint64_t sequence = 0;  ///< of messages: place in the channel, from 0
  std::int32_t peer = -1;      ///< of messages: the partner's rank in the communicator
  std::int64_t bytes = 0;      ///< of messages; at least 0: what is not known counts nothing
  /// Of messages: bytes sent, or the most that may be received; kUnknownSize: not told.
  std::int64_t capacity = kUnknownSize;
  std::uint64_t message = 0;  ///< of a matched receive: which of the rank's matched probes, from 1
  bool any_source = false, any_tag = false;  ///< of receives: as posted

  // Of collectives.
  std::uint64_t number = 0;  ///< the n-th on the communicator, window or file, or kLastNumber
  Waits waits = Waits::kForAll;
  const CallPlan* collective = nullptr;  ///< of its call
  std::int32_t self = -1;                ///< own rank in the communicator
  std::int32_t root = -1;                ///< likewise; -1: none
  std::int64_t root_world = -1;
  std::int64_t sent = 0, received = 0;  ///< bytes, as volumes.h counts them
  bool amounts_known = true;            ///< false: they are lower bounds
  std::uint32_t members = 0;  ///< of the communicator, both groups of an intercommunicator
  bool moves_data = false;    ///< it is one of MPI's data movements
  bool on_object = false;     ///< of a window or file
};

/// What is worked out once for all ranks of a trace.
struct TracePlan {
  FollowPlan follow;
  /// Wildcards or cancellations: their outcome shows later. So does a datatype of which another
  /// thread cannot tell which one with its id is meant.
  bool reads_twice = false;
  bool compares = false;  ///< `contributions` are worked out
};
/// With `compares`, what ranks contribute to collectives is told, and sizes only where certain.
TracePlan plan_trace(const Trace& trace, bool compares = false);

/// Whether iterations of loops may be taken at once.
enum class Loops : std::uint8_t { kAtOnce, kEach };

/// `sequence` of a receive whose channel is not told: never completed, or unknown.
inline constexpr std::uint64_t kNoSequence = UINT64_MAX;

/// Bytes to be summed: 0 for those not known, and beyond any message, as a damaged trace may claim.
inline std::int64_t countable(std::int64_t bytes) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  return bytes > 0 && bytes <= kMost ? bytes : 0;
}

class RankOperations {
 public:
  /// Reads the rank once if there are wildcards. The trace and the plan must outlive this.
  static Result<RankOperations> make(const Trace& trace, const TracePlan& plan, std::uint32_t rank);

  /// The next event, or false at the end.
  bool next();

  std::uint32_t rank() const { return follower_.rank(); }
  /// Of a rank of one stream (RankStreams::view).
  RankView& view() { return follower_.view(); }
  /// A place between two iterations of a loop that the view watches.
  struct Mark {
    std::vector<std::uint64_t> values_left;
    std::uint64_t events = 0, receives = 0;
    std::map<std::string, std::uint64_t> unmodelled;
  };
  Mark mark() const;
  /// How often what came since comes again, value for value and without outliers.
  std::uint64_t times_alike(const Mark& since) const;
  /// Leaves out so many `times`, of so many iterations each, of what came since; fewer than are
  /// left and alike.
  void leave_out(std::uint64_t times, std::uint64_t rounds, const Mark& since);
  /// Nothing is under way of which the end is still to come.
  bool is_quiet() const { return follower_.is_quiet() && messages_.empty(); }
  std::uint32_t stream() const { return now_.at.stream; }  ///< of the event
  std::uint64_t number() const { return now_.at.number; }  ///< of the event in its stream, from 1
  const EventView& event() const { return now_.at.view; }
  const CallDescription& call() const { return *now_.at.call; }
  const CallPlan& plan() const { return *now_.at.plan; }
  /// The event with what it refers to; its pointers hold only while it is the one read last.
  const FollowedEvent& followed() const { return now_.at; }
  std::span<const Operation> operations() const { return now_.operations; }
  /// What this rank gives to each collective that the event begins, in their order; only where the
  /// plan compares.
  std::span<const Contribution> contributions() const { return now_.contributions; }
  /// The message that this event's matched probe took, or null.
  const Operation* matched() const { return now_.has_matched ? &now_.matched : nullptr; }
  /// The communicator of a collective of this event.
  const Communicator* communicator() const { return now_.has_comm ? &now_.comm : nullptr; }
  /// The communicator that this event made.
  const Communicator* made() const { return now_.has_made ? &now_.made : nullptr; }
  /// The communicators that every rank has.
  const Communicator& world() const { return follower_.world(); }
  const Communicator& self() const { return follower_.self(); }
  /// Bytes to and from each member; empty vectors unless the call is a v- or w-form.
  VectorBytes vector_bytes() const;
  /// Recorded time of the event in ns.
  std::uint64_t compute_ns() const { return now_.times.compute; }
  std::uint64_t communication_ns() const { return now_.times.communication; }
  /// What the rank waited before the event at markers, on average, and what it had computed by
  /// then.
  std::uint64_t waiting_ns() const { return now_.times.waiting; }
  std::uint64_t ahead_ns() const { return now_.times.ahead; }
  /// The shortest communication time of this event at this place, or 1.
  std::uint64_t shortest_ns() const { return now_.times.shortest; }
  /// Calls whose effects are not told, and how often.
  const std::map<std::string, std::uint64_t>& unmodelled() const { return unmodelled_; }

  /// An event with all that is told of it: who takes those of a rank's threads in another order
  /// keeps some for later, and puts them back to look at them.
  struct Present {
    FollowedEvent at;
    std::vector<Operation> operations;
    std::vector<Contribution> contributions;
    EventTimes times;
    bool has_comm = false, has_made = false, has_matched = false;
    Communicator comm, made;
    Operation matched;
  };
  void swap(Present& present) { std::swap(now_, present); }

 private:
  /// What an open request will do when it is started or completed.
  struct Open {
    enum class Kind : std::uint8_t { kOther, kSend, kReceive, kCollective };
    Kind kind = Kind::kOther;
    bool cancelled = false;
    std::uint64_t ordinal = 0;  ///< of receives: the n-th started
    Operation operation;
    Contribution contribution;  ///< of a persistent collective
  };

  RankOperations(const Trace& trace, const TracePlan& plan, Follower follower);

  std::int64_t value(int field) const { return now_.at.value(field); }
  bool failed() const { return now_.at.failed(); }
  void act();

  // Messages (operations_messages.cpp).
  void send();
  Operation receive_from(const Communicator& comm) const;
  void receive();
  void matched_probe();
  void matched_receive();
  void complete();
  void finish(Open& request, const Completion& completion);
  void start(const Posting& posting);
  void cancel();
  void begin_receive(Open& request);
  static bool fill(const Match& match, Operation& operation);
  void number_receive(Operation& operation);
  Open& open_of(const Posting& posting);

  // Collectives.
  void collective();
  void amounts_of(Operation& operation, const Communicator& comm) const;
  Contribution contribution(const Communicator& comm) const;
  TypeSizes type_sizes() const {
    return [this](std::int64_t type) { return follower_.type_size(now_.at, type); };
  }

  const Trace* trace_;
  const TracePlan* trace_plan_;
  Follower follower_;
  Present now_;

  std::vector<Open> open_;  ///< by index of the posting
  std::uint64_t requests_ = 0;
  std::uint64_t receives_ = 0, probes_ = 0;
  std::unordered_map<std::int64_t, Operation> messages_;  ///< of matched probes
  std::unordered_map<ChannelKey, std::uint64_t, KeyHash> sent_, received_;
  std::map<std::string, std::uint64_t> unmodelled_;

  /// First reading: collects; second: looks up. Matches by ordinal of the receive.
  bool collecting_ = false;
  std::unordered_map<std::uint64_t, Operation> matches_;
};

}  // namespace chameleon::analysis
