// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/check_threads.h"

#include <unordered_set>

#include "analysis/check_collectives.h"
#include "analysis/declared.h"
#include "analysis/reissue.h"
#include "analysis/thread_sharing.h"
#include "analysis/timeline.h"

namespace chameleon::analysis {
namespace {

/// A collective that some members have called.
struct Called : Agreement {
  std::uint32_t members = 0;
  bool wrong = false;  ///< named already
};

class Check {
 public:
  Check(const Trace& trace, SharedOperations shared)
      : trace_(trace),
        plan_(trace),
        ranks_(trace.whole_ranks()),
        declared_(!declared_ranks(trace).empty()),
        shared_(std::move(shared)) {}

  Result<CheckReport> run() {
    const Result<TimelineFacts> facts = run_timeline(
        trace_, ranks_, [&](const TimedEvent& event) { add(event); }, true);
    if (!facts) return facts.error();
    report_.unchecked = facts->unmodelled;
    const Target open = target(true);
    for (const TimelineFacts::Unmatched& one : facts->first_unmatched) {
      const std::size_t before = report_.problems.size();
      problem(open, one.kind, one.stream, one.event, one.call, one.why + failure(one.failed));
      if (report_.problems.size() > before) report_.problems.back().program = one.failed.count > 0;
    }
    if (&open.list == &report_.problems) report_.program_count += facts->unreceived_failed;
    open.count += facts->unmatched + facts->unreceived - facts->first_unmatched.size();
    if (open.unmatched != nullptr) {
      open.unmatched->receives += facts->unmatched - facts->unmatched_collectives;
      open.unmatched->sends += facts->unreceived;
    }
    for (const auto& [key, called] : open_) {
      if (called.wrong || shared_.has_collectives(key.context) || ranks_.size() < trace_.world_size)
        continue;
      if (open.unmatched != nullptr) ++open.unmatched->collectives;
      // Else those who wait in it have said so.
      if (facts->unmatched == 0)
        problem(open, "collective", called.first.stream, called.first.event,
                trace_.calls.at(called.first.call).name,
                "only " + std::to_string(called.arrived) + " of " + std::to_string(called.members) +
                    " ranks make this collective call");
    }
    report_.ok = report_.problem_count == 0;
    report_.shared = shared_.first;
    report_.shared_count = shared_.count();
    // Threads that share a channel may have come to it otherwise than here, and then go on.
    if (!report_.ok && facts->unmatched > 0) report_.doubt = shared_.first;
    if (!report_.ok && report_.doubt.empty()) {
      Result<std::string> doubted = doubted_between_threads(trace_);
      if (!doubted) return doubted.error();
      report_.doubt = std::move(*doubted);
    }
    return std::move(report_);
  }

 private:
  /// Where a finding goes: what is left over at the end of an incomplete trace was cut off.
  struct Target {
    std::vector<CheckReport::Problem>& list;
    std::uint64_t& count;
    CheckReport::Unmatched* unmatched;
  };
  Target target(bool leftover) {
    if (leftover && !trace_.complete) return {report_.cut, report_.cut_count, &report_.in_flight};
    if (declared_) return {report_.declared, report_.declared_count, &report_.declared_unmatched};
    return {report_.problems, report_.problem_count, nullptr};
  }

  void add(const TimedEvent& event) {
    const RankOperations& at = *event.at;
    ++report_.events;
    note_left_out(report_.left_out, reissue_.try_emplace(at.rank(), plan_).first->second,
                  at.followed());
    if (at.event().values[0] != 0) note_error(report_, at.followed());
    if (leaves_open(at)) loose_.insert(at.rank());
    const auto operations = at.operations();
    std::size_t begun = 0;
    for (std::size_t i = 0; i < operations.size(); ++i) {
      const Operation& operation = operations[i];
      if (operation.kind == Operation::Kind::kSend) {
        ++report_.messages;
        report_.bytes += static_cast<std::uint64_t>(operation.bytes);
      }
      if (operation.kind == Operation::Kind::kReceive)
        judge_size(at, operation, event.sent_bytes[i]);
      if (operation.kind == Operation::Kind::kBegin)
        compare(at, operation, at.contributions()[begun++]);
    }
  }

  // A receive whose message is not told: those after it may have got another than it seems.
  static bool leaves_open(const RankOperations& at) {
    bool received = false;
    for (const Operation& operation : at.operations()) {
      if (operation.kind == Operation::Kind::kPost && operation.sequence == kNoSequence)
        return true;
      received = received || operation.kind == Operation::Kind::kReceive;
    }
    const CallPlan& plan = at.plan();
    const bool blocks = plan.source >= 0 && ((plan.action == Action::kRecv && plan.request < 0) ||
                                             plan.action == Action::kSendrecv);
    if (!blocks || received) return false;
    const Partner& source = at.followed().source;
    return source.special == 0 || source.special == Partner::kUnknown ||
           source.is(SpecialRank::kAnySource);
  }

  void judge_size(const RankOperations& at, const Operation& operation, std::int64_t bytes) {
    if (operation.capacity < 0 || bytes <= operation.capacity || loose_.contains(at.rank())) return;
    if (shared_.has(operation.channel)) return;
    fault(at, "truncation",
          "receives at most " + std::to_string(operation.capacity) + " bytes, but world rank " +
              std::to_string(operation.channel.source) + " sends " + std::to_string(bytes) +
              " with tag " + std::to_string(operation.channel.tag));
  }

  void compare(const RankOperations& at, const Operation& operation, const Contribution& mine) {
    const auto [entry, fresh] =
        open_.try_emplace(CollectiveKey{operation.context, operation.number});
    Called& called = entry->second;
    if (fresh) {
      ++report_.collectives;
      called.members = members(at, operation);
      called.pairs_known = called.members == operation.members;  // else told by one side only
    }
    const auto name_of = [this](const CollectivePlace& place) {
      return event_name(place.stream, place.event, trace_.calls.at(place.call).name);
    };
    std::string differs = called.add({at.stream(), at.number(), at.event().node->call},
                                     operation.collective->name, mine, name_of, trace_);
    const bool all = called.arrived >= called.members;
    if (all && differs.empty() && !called.pairs_agree()) differs = kPairsDisagree;
    if (shared_.has_collectives(operation.context)) differs.clear();
    if (!differs.empty() && !called.wrong) {
      called.wrong = true;
      const Target to = target(false);
      fault(at, "collective", differs);
      if (to.unmatched != nullptr) ++to.unmatched->collectives;
    }
    if (all && !called.wrong) open_.erase(entry);
  }

  // Those who can come: the trace may hold some ranks only.
  std::uint32_t members(const RankOperations& at, const Operation& operation) const {
    const Communicator* const comm = at.communicator();
    if (comm == nullptr || (ranks_.size() >= trace_.world_size && comm->local.listed.empty()))
      return operation.members;
    std::uint32_t here = 0;
    for (const WorldRanks* group : {&comm->local, &comm->remote})
      for (std::int32_t i = 0; i < group->count; ++i)
        here +=
            (*group)[i] >= 0 && ranks_.contains(static_cast<std::uint32_t>((*group)[i])) ? 1 : 0;
    return here;
  }

  std::string event_name(std::uint32_t stream, std::uint64_t event, const std::string& call) const {
    return stream_name(trace_, stream) + " event " + std::to_string(event) +
           (call.empty() ? "" : " (" + call + ")");
  }

  // Why a message is not received, if MPI failed its receive.
  std::string failure(const FailedReceive& failed) const {
    if (failed.count == 0) return "";
    const CallDescription& call = trace_.calls.at(failed.call);
    return ": " + event_name(failed.stream, failed.event, call.name) + " failed" +
           returned_text(plan_call(call), failed.returned);
  }

  // What the program did wrong, and maybe heard of.
  void fault(const RankOperations& at, const char* kind, const std::string& text) {
    const Target to = target(false);
    const std::size_t before = report_.problems.size();
    problem(to, kind, at.stream(), at.number(), at.call().name,
            text + returned_text(at.plan(), at.event().values[0]));
    if (&to.list != &report_.problems) return;
    ++report_.program_count;
    if (report_.problems.size() > before) report_.problems.back().program = true;
  }

  void problem(const Target& target, const char* kind, std::uint32_t stream, std::uint64_t event,
               const std::string& call, const std::string& text) {
    ++target.count;
    if (target.list.size() < kMostProblems)
      target.list.push_back({kind, trace_.rank_of(stream), trace_.thread_of(stream), event, call,
                             event_name(stream, event, call) + ": " + text});
  }

  const Trace& trace_;
  FollowPlan plan_;
  RankList ranks_;
  bool declared_ = false;  ///< some ranks have parts that are not exact
  SharedOperations shared_;
  CheckReport report_;
  std::unordered_map<std::uint32_t, Reissue> reissue_;  ///< by rank
  std::unordered_map<CollectiveKey, Called, KeyHash> open_;
  std::unordered_set<std::uint32_t> loose_;  ///< ranks of which not every match is told
};

}  // namespace

Result<CheckReport> check_threads(const Trace& trace, const SiteOf& site) {
  Result<SharedOperations> shared = shared_by_threads(trace, site);
  if (!shared) return shared.error();
  return Check(trace, std::move(*shared)).run();
}

}  // namespace chameleon::analysis
