// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/check.h"

#include <algorithm>

#include "analysis/check_simulation.h"
#include "analysis/declared.h"

namespace chameleon::analysis {
namespace {

/// Events a rank runs before the next one has its turn: bounds what is in flight.
constexpr int kTurn = 2048;

}  // namespace

Result<CheckReport> check(const Trace& trace, Omissions* omissions, Omissions* unawaited,
                          Rooms* rooms) {
  Simulation simulation(trace, omissions, unawaited, rooms);
  if (const Status ready = simulation.prepare(); !ready) return ready.error();
  return simulation.run();
}

std::string stream_name(const Trace& trace, std::uint32_t stream) {
  std::string name = "rank " + std::to_string(trace.rank_of(stream));
  if (trace.threads > 1) name += " thread " + std::to_string(trace.thread_of(stream));
  return name;
}

std::string unmatched_text(const CheckReport::Unmatched& counts) {
  const auto some = [](std::uint64_t count, const char* what) {
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
  };
  return some(counts.sends, "send") + ", " + some(counts.receives, "receive") + ", " +
         some(counts.collectives, "collective");
}

std::string returned_text(const CallPlan& plan, std::int64_t returned) {
  if (returned == 0 || returned == kInProgress || !plan.tells_class) return "";
  return "; MPI returned " + error_name(returned);
}

void note_error(CheckReport& report, const FollowedEvent& event) {
  if (event.plan->tells_class) ++report.errors[event.call->name][error_name(event.value(0))];
}

std::string replay_refusal(const Trace& trace, const CheckReport& report) {
  const auto more = [](std::uint64_t count) {
    return count > 1 ? " (and " + std::to_string(count - 1) + " more: chameleon check)" : "";
  };
  // What the program did wrong it does again.
  if (const std::uint64_t count = report.problem_count - report.program_count; count > 0) {
    const auto first = std::find_if(report.problems.begin(), report.problems.end(),
                                    [](const auto& problem) { return !problem.program; });
    return (first == report.problems.end() ? "it would not run to its end" : first->text) +
           more(count);
  }
  if (report.declared_count == 0) return "";
  std::uint32_t kinds = 0;
  const DeclaredRanks at_nodes = declared_at_nodes(trace);
  for (std::size_t i = 0; i < at_nodes.size(); ++i)
    if (!at_nodes[i].empty()) kinds |= kInexactKinds[i].first;
  if (!trace.declarations.empty()) kinds = kInexactAll;
  const RankList ranks = declared_ranks(trace);
  return "what it declares inexact (" + kinds_text(kinds) +
         (ranks.size() == 1 ? " of rank " : " of ranks ") + ranks.to_string() +
         ") leaves unmatched " + unmatched_text(report.declared_unmatched) + ": " +
         report.declared.front().text + more(report.declared_count) +
         "; --best-effort leaves them out";
}

Status Simulation::prepare() {
  unmodelled_.resize(plan_.calls.size());
  std::uint32_t world = trace_.world_size;
  for (const RankList::Interval& interval : trace_.ranks.intervals())
    world = std::max(world, interval.last + 1);
  index_.assign(world, -1);
  for (const std::uint32_t rank : trace_.ranks.ranks()) {
    Result<Follower> follower = Follower::of_stream(plan_, rank);
    if (!follower) return follower.error();
    index_[rank] = static_cast<std::int64_t>(ranks_.size());
    ranks_.emplace_back(rank, std::move(*follower), Reissue(plan_));
    ready_.push_back(rank);
  }
  present_count_ = static_cast<std::uint32_t>(ranks_.size());
  declared_ = declared_ranks(trace_);
  tracks_sends_ = !trace_.complete;
  goes_on_ =
      omissions_ != nullptr || unawaited_ != nullptr || !trace_.complete || !declared_.empty();
  for (Omissions* lists : {omissions_, unawaited_})
    if (lists != nullptr) lists->assign(world, {});
  if (rooms_ != nullptr) rooms_->assign(world, {});
  return Unit{};
}

CheckReport Simulation::run() {
  do {
    while (!ready_.empty()) {
      const std::uint32_t rank = ready_.front();
      ready_.pop_front();
      run_rank(rank);
      sweep_channels();
    }
  } while (goes_on_ && resolve_stall());
  const auto name_all = [this](const std::vector<std::uint64_t>& counts,
                               std::map<std::string, std::uint64_t>& named) {
    for (std::size_t call = 0; call < counts.size(); ++call)
      if (counts[call] > 0)
        named[trace_.calls.at(static_cast<std::uint16_t>(call)).name] += counts[call];
  };
  name_all(unmodelled_, report_.unchecked);
  report_hanging();
  report_leaks();
  report_stuck();
  report_leftovers();
  report_.ok = report_.problem_count == 0;
  for (Omissions* lists : {omissions_, unawaited_}) {
    if (lists == nullptr) continue;
    for (std::vector<Omission>& list : *lists) {
      std::sort(list.begin(), list.end());
      list.erase(std::unique(list.begin(), list.end()), list.end());
    }
  }
  return std::move(report_);
}

void Simulation::report_leaks() {
  if (!trace_.complete || !declared_.empty() || trace_.threads > 1) return;
  for (const RankState& self : ranks_)
    if (self.finalized) self.objects.add_to(report_.leaks, self.rank, trace_);
}

void Simulation::run_rank(std::uint32_t rank) {
  RankState& self = state(rank);
  for (int turn = 0; turn < kTurn; ++turn) {
    if (!self.has_event) {
      if (!self.follower.next(self.at)) {
        self.done = true;
        return;
      }
      ++report_.events;
      self.last_path = self.at.view.path;
      self.last_call = self.call();
      self.last_pending = self.at.is_pending();
      self.last_error = self.at.failed() && self.at.plan != nullptr && self.at.plan->tells_class
                            ? self.at.value(0)
                            : 0;
      note_left_out(report_.left_out, self.reissue, self.at);
      if (self.at.call != nullptr && self.at.failed() && !self.at.is_pending()) {
        note_error(report_, self.at);
        self.unsure = failed_.note(self.at, rank) || self.unsure;
      }
      if (self.at.call != nullptr && self.at.took_place()) self.objects.note(self.at);
      self.has_event = true;
      self.phase = 0;
      self.pending = -1;
      self.sending = -1;
    }
    if (!step(rank)) {
      self.blocked = true;
      return;
    }
    self.has_event = false;
  }
  ready_.push_back(rank);
}

void Simulation::wake(std::uint32_t rank) {
  RankState& self = state(rank);
  if (!self.blocked) return;
  self.blocked = false;
  self.waiting_request = -1;
  self.waiting_channel = false;
  self.waiting_wildcard = false;
  ready_.push_back(rank);
}

bool Simulation::step(std::uint32_t rank) {
  RankState& self = state(rank);
  if (self.skip) {
    self.skip = false;
    return true;
  }
  if (self.at.call == nullptr) {
    problem("unknown_object", rank, self.at.number, self.call(),
            "its values are not those of its call", blame(false, declared(rank)));
    return true;
  }
  const CallPlan& plan = *self.at.plan;
  // A replay leaves it out.
  if (self.at.is_pending()) return omissions_ != nullptr || pending(rank, plan);
  switch (plan.action) {
    case Action::kNothing:
    case Action::kDatatype: return true;
    case Action::kUnchecked: ++unmodelled_[self.call()]; return true;
    case Action::kSend:
    case Action::kSendrecv: return send_event(rank, plan);
    case Action::kRecv: return receive_event(rank, plan);
    case Action::kProbe:
    case Action::kMatchedProbe: return probe(rank, plan);
    case Action::kMatchedRecv: return matched_receive(rank, plan);
    case Action::kComplete:
    case Action::kCompleteAll:
    case Action::kCompleteAny:
    case Action::kCompleteSome: return complete_requests(rank);
    case Action::kStart: start(rank); return true;
    case Action::kRequestFree: free_request(rank); return true;
    case Action::kCancel: cancel(rank); return true;
    case Action::kFinalize: self.finalized = true; [[fallthrough]];
    case Action::kCollective: return collective(rank, plan);
    case Action::kOtherRequest: break;
  }
  ++unmodelled_[self.call()];
  if (self.at.posted == nullptr) return true;
  Request& made = self.pool[new_request(rank, Request::Kind::kDone)];
  made.persistent = plan.persistent;
  made.active = !plan.persistent;
  return true;
}

std::string Simulation::place_name(std::uint32_t rank, std::uint64_t event,
                                   std::uint16_t call) const {
  const auto found = trace_.calls.find(call);
  return "rank " + std::to_string(rank) + " event " + std::to_string(event) + " (" +
         (found == trace_.calls.end() ? "call " + std::to_string(call) : found->second.name) + ")";
}

void Simulation::problem(const char* kind, std::uint32_t rank, std::uint64_t event,
                         std::uint16_t call, std::string text, Blame blame, std::uint64_t path) {
  std::uint64_t& count = blame == Blame::kCut        ? report_.cut_count
                         : blame == Blame::kDeclared ? report_.declared_count
                                                     : report_.problem_count;
  std::vector<CheckReport::Problem>& list = blame == Blame::kCut        ? report_.cut
                                            : blame == Blame::kDeclared ? report_.declared
                                                                        : report_.problems;
  ++count;
  if (list.size() >= kMostProblems) return;
  const auto found = trace_.calls.find(call);
  const FollowedEvent& at = state(rank).at;
  if (path == 0 && state(rank).has_event && at.number == event) path = at.view.path;
  list.push_back({kind, rank, 0, event, found == trace_.calls.end() ? "" : found->second.name,
                  place_name(rank, event, call) + ": " + std::move(text), false, path});
}

void Simulation::fault(const char* kind, std::uint32_t rank, std::uint64_t event,
                       std::uint16_t call, std::string text, std::int64_t returned, bool declared,
                       std::uint64_t path) {
  const Blame by = blame(false, declared);
  if (by == Blame::kFault) ++report_.program_count;
  const std::uint64_t before = report_.problems.size();
  problem(kind, rank, event, call, std::move(text) + returned_text(plan_.calls[call], returned), by,
          path);
  if (report_.problems.size() > before) report_.problems.back().program = true;
}

void Simulation::count(Blame blame, std::uint64_t CheckReport::Unmatched::*what,
                       std::uint64_t times) {
  if (blame == Blame::kCut) report_.in_flight.*what += times;
  if (blame == Blame::kDeclared) report_.declared_unmatched.*what += times;
}

std::string Simulation::why_stuck(const RankState& self) const {
  std::string why = "never ends: ";
  if (self.waiting_channel)
    return why + "no message from world rank " + std::to_string(self.channel.source) +
           " with tag " + std::to_string(self.channel.tag) + " is left for it";
  if (self.waiting_request >= 0) {
    const Request& request = self.pool[static_cast<std::size_t>(self.waiting_request)];
    if (request.kind == Request::Kind::kSend)
      return why + "no receive on world rank " + std::to_string(request.channel.dest) +
             " with tag " + std::to_string(request.channel.tag) + " for the send of event " +
             std::to_string(request.event);
    if (request.kind != Request::Kind::kCollective)
      return why + "no message from world rank " + std::to_string(request.channel.source) +
             " with tag " + std::to_string(request.channel.tag) + " for the receive of event " +
             std::to_string(request.event);
    why += "the collective begun in event " + std::to_string(request.event);
    const auto found = instances_.find(request.collective);
    if (found != instances_.end())
      why += " is called by " + std::to_string(found->second.arrived) + " of " +
             std::to_string(found->second.expected) + " ranks";
    return why;
  }
  const auto found = instances_.find(self.collective);
  if (found != instances_.end())
    why += "only " + std::to_string(found->second.arrived) + " of " +
           std::to_string(found->second.expected) + " ranks make this collective call";
  return why;
}

void Simulation::report_stuck() {
  for (RankState& self : ranks_)
    if (!self.done && !is_hanging(self))
      problem("deadlock", self.rank, self.at.number, self.call(), why_stuck(self), Blame::kFault);
  for (const auto& [key, instance] : instances_) {
    if (instance.arrived == 0 || instance.abandoned) continue;
    // Who waits for it is stuck and says so; a call nobody waits in must be told here.
    if (!instance.waiting.empty()) continue;
    const Blame by = blame(true, instance.declared);
    problem("collective", instance.first.stream, instance.first.event, instance.first.call,
            "only " + std::to_string(instance.arrived) + " of " +
                std::to_string(instance.expected) + " ranks make this collective call",
            by);
    count(by, &CheckReport::Unmatched::collectives, 1);
    omit_all(instance);
  }
}

namespace {

std::string unreceived_text(const ChannelKey& key, std::uint64_t messages) {
  return std::to_string(messages) + (messages == 1 ? " message" : " messages") + " to world rank " +
         std::to_string(key.dest) + " with tag " + std::to_string(key.tag) +
         (messages == 1 ? " is" : " are") + " never received (the first named)";
}

}  // namespace

// Some of them because MPI failed their receives, which is no fault of the trace.
void Simulation::report_unreceived(const ChannelKey& key, const Channel& channel) {
  std::uint64_t messages = 0;
  for (const MessageRun& run : channel.messages) {
    messages += run.count;
    omit(key.source, run.event, run.part);
  }
  const MessageRun& first = *channel.messages.begin();
  const bool by_declared = declared(key.source) || declared(key.dest);
  const Blame by = blame(true, by_declared);
  while (messages > 0 && by != Blame::kCut) {
    const FailedReceive failed = failed_.take(key, messages);
    if (failed.count == 0) break;
    messages -= failed.count;
    if (failed.may_have_taken) continue;
    count(by, &CheckReport::Unmatched::sends, failed.count);
    fault("unreceived", key.source, first.event, first.call,
          unreceived_text(key, failed.count) + ": " +
              place_name(failed.stream, failed.event, failed.call) + " failed",
          failed.returned, by_declared);
  }
  if (messages == 0) return;
  count(by, &CheckReport::Unmatched::sends, messages);
  problem("unreceived", key.source, first.event, first.call, unreceived_text(key, messages), by);
}

void Simulation::report_leftovers() {
  for (auto& [key, channel] : channels_) {
    if (channel.messages.empty() || channel.excused) continue;
    if (!present(key.source) || state(key.dest).excused) continue;
    report_unreceived(key, channel);
  }
  for (RankState& self : ranks_) {
    if (!self.done) continue;
    const std::uint32_t rank = self.rank;
    for (const Request& request : self.pool) {
      if (request.kind == Request::Kind::kFree || !request.active || request.cancelled) continue;
      if (request.omitted || (request.released && request.matched)) continue;
      if (request.kind == Request::Kind::kSend && request.released) continue;
      if (request.kind == Request::Kind::kDone) {  // nobody waits for it: one-sided, of a file
        ++report_.open_requests;
        continue;
      }
      const bool receives = request.kind == Request::Kind::kRecv;
      const bool others = receives && !request.any_source && present(request.channel.source) &&
                          declared(request.channel.source);
      const bool by_declared = declared(rank) || others;
      const Blame by = blame(true, by_declared);
      const char* const text = "its request is never completed or freed";
      if (by == Blame::kFault)
        fault("incomplete_request", rank, request.event, request.call, text, 0, by_declared,
              request.path);
      else
        problem("incomplete_request", rank, request.event, request.call, text, by, request.path);
      if (receives && !request.matched) {
        count(by, &CheckReport::Unmatched::receives, 1);
        omit(rank, request.event, request.part);
      } else if (by == Blame::kCut) {
        ++report_.open_requests;
      }
    }
  }
}

}  // namespace chameleon::analysis
