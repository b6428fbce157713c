// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The simulation behind `check`: all ranks of a trace, each run until it must
/// wait. Split over six files: scheduling and the end (check.cpp), messages
/// (check_messages.cpp), requests (check_requests.cpp), collectives
/// (check_barriers.cpp), calls in progress (check_pending.cpp), and what is left out to go on
/// (check_omissions.cpp).

#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/check.h"
#include "analysis/check_collectives.h"
#include "analysis/check_state.h"
#include "analysis/failed_receives.h"

namespace chameleon::analysis {

class Simulation {
 public:
  Simulation(const Trace& trace, Omissions* omissions, Omissions* unawaited, Rooms* rooms)
      : trace_(trace), plan_(trace), omissions_(omissions), unawaited_(unawaited), rooms_(rooms) {}
  Status prepare();
  CheckReport run();

 private:
  using Value = std::int64_t;

  // Scheduling.
  void run_rank(std::uint32_t rank);
  bool step(std::uint32_t rank);
  void wake(std::uint32_t rank);
  void report_stuck();
  void report_leftovers();
  void report_unreceived(const ChannelKey& key, const Channel& channel);
  std::string why_stuck(const RankState& self) const;

  // Going on without what has no counterpart.
  enum class Blame : std::uint8_t { kFault, kCut, kDeclared };
  struct Stall {
    bool hopeless = false;  ///< who could end it has ended
    bool declared = false;  ///< declared parts are involved
    bool collective = false;
    bool send = false;  ///< nothing needs to be left out
  };
  using Hopeless = std::unordered_map<CollectiveKey, bool, KeyHash>;
  Stall stall_of(const RankState& self, Hopeless& known) const;
  bool hopeless(const Instance& instance) const;
  bool resolve_stall();
  void leave_out(std::uint32_t rank, const Stall& stall);
  void stop_awaiting(RankState& self);
  void abandon(Instance& instance);
  void omit(std::uint32_t rank, std::uint64_t event, std::uint32_t part);
  void omit_all(const Instance& instance);
  bool declared(std::uint32_t rank) const { return declared_.contains(rank); }
  Blame blame(bool leftover, bool declared) const {
    if (leftover && !trace_.complete) return Blame::kCut;
    return declared ? Blame::kDeclared : Blame::kFault;
  }
  void count(Blame blame, std::uint64_t CheckReport::Unmatched::*what, std::uint64_t times);

  // Messages: true when the event is over, false when it has to wait.
  bool send_event(std::uint32_t rank, const CallPlan& plan);
  bool receive_event(std::uint32_t rank, const CallPlan& plan);
  bool probe(std::uint32_t rank, const CallPlan& plan);
  bool matched_receive(std::uint32_t rank, const CallPlan& plan);
  bool complete_requests(std::uint32_t rank);
  bool complete_request(std::uint32_t rank, const Completion& completion);
  bool complete(std::uint32_t rank, std::uint32_t place, const Completion* completion);
  bool complete_wildcard(std::uint32_t rank, std::uint32_t place, const Completion& completion);
  void start(std::uint32_t rank);
  void start_request(std::uint32_t rank, std::uint32_t place, std::uint32_t part);
  void start_send(std::uint32_t rank, std::uint32_t place);
  void free_request(std::uint32_t rank);
  void cancel(std::uint32_t rank);
  void deliver(const ChannelKey& key, const MessageRun& message);
  void post(std::uint32_t rank, std::uint32_t place);
  Value take(const ChannelKey& key, Channel& channel, Request& to);
  bool sent(std::uint32_t rank);
  void received(const ChannelKey& key, const MessageRun& message);
  bool steal(RankState& state, const ChannelKey& key, Value& bytes);
  void judge_size(std::uint32_t rank, const Request& request, Value bytes, std::int64_t returned);
  std::uint32_t new_request(std::uint32_t rank, Request::Kind kind);
  bool send_part(std::uint32_t rank, const CallPlan& plan, Request* persistent);
  void receive_part(std::uint32_t rank, const CallPlan& plan, Request& request);
  void sweep_channels();

  // Calls in progress (check_pending.cpp).
  bool pending(std::uint32_t rank, const CallPlan& plan);
  bool pending_completion(std::uint32_t rank, const CallPlan& plan);
  bool await_any(RankState& self, const Request& wanted);
  bool is_hanging(const RankState& self) const {
    return !self.done && self.has_event && self.at.plan != nullptr && self.at.is_pending();
  }
  /// It does nothing more.
  bool is_over(std::uint32_t rank) const {
    const RankState& self = ranks_[static_cast<std::size_t>(index_[rank])];
    return self.done || is_hanging(self);
  }
  void report_hanging();
  void report_ends();
  void report_leaks();
  CheckReport::Hanging hanging(const RankState& self) const;
  void describe_channel(const RankState& self, const ChannelKey& key, const Communicator* comm,
                        bool any_source, bool any_tag, CheckReport::Hanging& one) const;
  void describe_collective(const CollectiveKey& key, const RankState& self,
                           CheckReport::Hanging& one) const;
  void find_near_miss(const ChannelKey& key, bool any_source, CheckReport::Hanging& one) const;
  bool has_message(const Request& wanted) const;

  // Collectives.
  bool collective(std::uint32_t rank, const CallPlan& plan);
  void arrive(std::uint32_t rank, const CallPlan& plan, const CollectiveKey& key,
              const Communicator& on);
  void compare(std::uint32_t rank, const CallPlan& plan, Instance& instance,
               const Contribution& mine);
  bool satisfied(std::uint32_t rank, const CollectiveKey& key, const CallPlan& plan);
  std::uint32_t present_members(const Communicator& comm) const;

  std::string place_name(std::uint32_t rank, std::uint64_t event, std::uint16_t call) const;
  void problem(const char* kind, std::uint32_t rank, std::uint64_t event, std::uint16_t call,
               std::string text, Blame blame, std::uint64_t path = 0);
  /// The program's, which MPI may have told it: `returned` of the call.
  void fault(const char* kind, std::uint32_t rank, std::uint64_t event, std::uint16_t call,
             std::string text, std::int64_t returned, bool declared, std::uint64_t path = 0);
  bool present(std::int64_t rank) const {
    return rank >= 0 && static_cast<std::size_t>(rank) < index_.size() &&
           index_[static_cast<std::size_t>(rank)] >= 0;
  }
  RankState& state(std::uint32_t rank) { return ranks_[static_cast<std::size_t>(index_[rank])]; }

  const Trace& trace_;
  FollowPlan plan_;
  Omissions* omissions_;
  Omissions* unawaited_;  ///< or null: sends are buffered
  Rooms* rooms_;
  RankList declared_;
  bool goes_on_ = false;                   ///< past what holds everyone up
  bool tracks_sends_ = false;              ///< somebody may be waiting for a send
  std::vector<std::uint64_t> unmodelled_;  ///< by call id: how often
  std::deque<RankState> ranks_;            ///< those in the trace
  std::vector<std::int64_t> index_;        ///< world rank -> place in ranks_, or -1
  std::deque<std::uint32_t> ready_;
  std::unordered_map<ChannelKey, Channel, KeyHash> channels_;
  std::size_t sweep_at_ = 1 << 16;
  FailedReceives failed_;
  std::unordered_map<CollectiveKey, Instance, KeyHash> instances_;
  std::uint32_t present_count_ = 0;
  CheckReport report_;
};

}  // namespace chameleon::analysis
