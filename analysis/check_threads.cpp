// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/check_threads.h"

#include "analysis/declared.h"
#include "analysis/timeline.h"

namespace chameleon {
namespace {

/// A collective that some members have called.
struct Called {
  std::uint32_t stream = 0, arrived = 0, members = 0;
  std::uint64_t event = 0;
  std::string call;
  const std::string* name = nullptr;
  std::int64_t root = -1;
  bool wrong = false;  ///< named already
};

class Check {
 public:
  explicit Check(const Trace& trace)
      : trace_(trace),
        list_(!trace.complete                  ? report_.cut
              : !declared_ranks(trace).empty() ? report_.declared
                                               : report_.problems),
        count_(!trace.complete                  ? report_.cut_count
               : !declared_ranks(trace).empty() ? report_.declared_count
                                                : report_.problem_count),
        unmatched_(!trace.complete ? report_.in_flight : report_.declared_unmatched) {}

  Result<CheckReport> run() {
    const RankList ranks = trace_.whole_ranks();
    const Result<TimelineFacts> facts =
        run_timeline(trace_, ranks, [&](const TimedEvent& event) { add(event); });
    if (!facts) return facts.error();
    report_.unchecked = facts->unmodelled;
    for (const TimelineFacts::Unmatched& one : facts->first_unmatched)
      problem(one.kind, one.stream, one.event, one.call, one.why);
    count_ += facts->unmatched + facts->unreceived - facts->first_unmatched.size();
    unmatched_.receives += facts->unmatched;
    unmatched_.sends += facts->unreceived;
    if (facts->unmatched == 0 && ranks.size() >= trace_.world_size)
      for (const auto& [key, called] : open_)
        if (!called.wrong)
          problem("collective", called.stream, called.event, called.call,
                  "only " + std::to_string(called.arrived) + " of " +
                      std::to_string(called.members) + " ranks make this collective call");
    report_.ok = report_.problem_count == 0;
    return std::move(report_);
  }

 private:
  void add(const TimedEvent& event) {
    const RankOperations& at = *event.at;
    ++report_.events;
    ++report_.calls[at.call().name];
    if (at.event().values[0] != 0) ++report_.failed[at.call().name];
    for (const Operation& operation : at.operations()) {
      if (operation.kind == Operation::Kind::kSend) {
        ++report_.messages;
        report_.bytes += static_cast<std::uint64_t>(operation.bytes);
      }
      if (operation.kind == Operation::Kind::kBegin) compare(at, operation);
    }
  }

  void compare(const RankOperations& at, const Operation& operation) {
    const auto [entry, fresh] =
        open_.try_emplace(CollectiveKey{operation.context, operation.number});
    Called& called = entry->second;
    if (fresh) {
      ++report_.collectives;
      called = {at.stream(), 0,    operation.members,    at.number(),
                at.call().name, operation.collective, operation.root_world, false};
    } else if (!called.wrong) {
      const std::string first = stream_name(trace_, called.stream) + " event " +
                                std::to_string(called.event) + " (" + called.call + ")";
      std::string differs;
      if (*called.name != *operation.collective)
        differs = "the same collective is " + first + ", another call";
      else if (called.root >= 0 && operation.root_world >= 0 &&
               called.root != operation.root_world)
        differs = "the root is world rank " + std::to_string(operation.root_world) +
                  ", but world rank " + std::to_string(called.root) + " in " + first;
      called.wrong = !differs.empty();
      if (called.wrong) {
        problem("collective", at.stream(), at.number(), at.call().name, differs);
        ++unmatched_.collectives;
      }
    }
    if (++called.arrived >= called.members && !called.wrong) open_.erase(entry);
  }

  void problem(const char* kind, std::uint32_t stream, std::uint64_t event,
               const std::string& call, const std::string& text) {
    ++count_;
    if (list_.size() < kMostProblems)
      list_.push_back({kind, trace_.rank_of(stream), trace_.thread_of(stream), event, call,
                       stream_name(trace_, stream) + " event " + std::to_string(event) +
                           (call.empty() ? "" : " (" + call + ")") + ": " + text});
  }

  const Trace& trace_;
  CheckReport report_;
  std::vector<CheckReport::Problem>& list_;
  std::uint64_t& count_;
  CheckReport::Unmatched& unmatched_;
  std::unordered_map<CollectiveKey, Called, KeyHash> open_;
};

}  // namespace

Result<CheckReport> check_threads(const Trace& trace) { return Check(trace).run(); }

}  // namespace chameleon
