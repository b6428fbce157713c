// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/thread_order.h"

#include <algorithm>
#include <compare>

#include "analysis/check.h"
#include "analysis/declared.h"
#include "analysis/object_keys.h"
#include "analysis/timeline.h"
#include "base/hash.h"

namespace chameleon::analysis {
namespace {

/// Why it cannot be told, before the timeline is; empty: it can.
Result<std::string> why_unknown(const Trace& trace, const SiteOf& site) {
  if (!trace.complete)
    return std::string(
        "the run was cut off, and its ranks have several threads: what each thread "
        "did after that is not known");
  if (!declared_ranks(trace).empty())
    return std::string("the trace is not exact for all ranks, and these have several threads");
  // Of which a timeline does not have what ends them.
  for (const auto& [id, call] : trace.calls) {
    const CallInfo* const info = find_call(call.name);
    if (info == nullptr || has(*info, Attribute::kPartitioned | Attribute::kRma) ||
        call.name.starts_with("Grequest_"))
      return "ranks have several threads, and it is not known which of them " + call.name +
             " waits for";
  }
  const Result<SharedOperations> shared = shared_by_threads(trace, site);
  if (!shared) return shared.error();
  if (shared->first.empty()) {
    Result<std::string> doubted = doubted_between_threads(trace, false);
    if (!doubted || doubted->empty()) return doubted;
    return *doubted + ", and the trace does not tell which of them";
  }
  return shared->first + ", and the trace does not have their order";
}

/// When an event can go on, and, of a collective, which it is.
struct Moment {
  std::uint64_t ns = 0, collective = 0;
  friend auto operator<=>(const Moment&, const Moment&) = default;
};

/// The events of a stream, in their order.
class Moments {
 public:
  void add(const TimedEvent& event) {
    Moment moment{event.begin_ns, 0};
    if (event.cause.is_later) moment.ns = std::max(moment.ns, event.cause.begin_ns);
    bool receives = false;
    for (const Operation& operation : event.at->operations()) {
      receives = receives || operation.kind == Operation::Kind::kReceive;
      if (operation.kind == Operation::Kind::kEnd)
        moment.collective = combine(operation.context, operation.number) | 1;
    }
    if (!events_.empty()) moment.ns = std::max(moment.ns, events_.back().ns);
    events_.push_back(moment);
    const CallPlan& plan = event.at->plan();
    // A probe that found a message has waited for it, as the receive does that takes it.
    if ((plan.action == Action::kProbe || plan.action == Action::kMatchedProbe) && !receives)
      probe_ = std::min(probe_, events_.size() - 1);
    if (!receives) return;
    for (; probe_ < events_.size(); ++probe_)
      events_[probe_].ns = std::max(events_[probe_].ns, moment.ns);
    probe_ = SIZE_MAX;
  }
  const std::vector<Moment>& events() const { return events_; }

 private:
  std::vector<Moment> events_;
  std::size_t probe_ = SIZE_MAX;  ///< the first of which the receive is to come
};

/// Calls of a rank, and when they were made.
struct Made {
  std::uint64_t begin_ns = 0, end_ns = 0, number = 0;
  std::uint32_t stream = 0;
  std::string call;
};

/// Of two threads that are in MPI at once, since then either may wait for the other.
std::string overlap(const Trace& trace, std::vector<Made>& calls) {
  std::sort(calls.begin(), calls.end(),
            [](const Made& a, const Made& b) { return a.begin_ns < b.begin_ns; });
  const Made* last = nullptr;  // to end
  for (const Made& one : calls) {
    if (last != nullptr && last->stream != one.stream && one.begin_ns < last->end_ns)
      return stream_name(trace, one.stream) + " event " + std::to_string(one.number) + " (" +
             one.call + ") begins while " + stream_name(trace, last->stream) + " is in " +
             last->call + ", and a replay makes the calls of one thread after those of another" +
             (trace.timing == "full" ? "" : "; CHAMELEON_TIMING=full tells the times of each");
    if (last == nullptr || one.end_ns > last->end_ns) last = &one;
  }
  return "";
}

StreamOrder merged(const std::map<std::uint32_t, Moments>& streams) {
  StreamOrder order;
  std::map<std::uint32_t, std::size_t> next;
  for (;;) {
    const Moment* first = nullptr;
    std::uint32_t whose = 0;
    for (const auto& [stream, moments] : streams) {
      const std::size_t at = next[stream];
      if (at == moments.events().size()) continue;
      const Moment& moment = moments.events()[at];
      if (first != nullptr && !(moment < *first)) continue;
      first = &moment;
      whose = stream;
    }
    if (first == nullptr) return order;
    ++next[whose];
    if (order.empty() || order.back().stream != whose) order.push_back({whose, 0});
    ++order.back().events;
  }
}

}  // namespace

Result<ThreadOrders> order_threads(const Trace& trace, const SiteOf& site) {
  ThreadOrders orders;
  Result<std::string> unknown = why_unknown(trace, site);
  if (!unknown) return unknown.error();
  orders.why_none = std::move(*unknown);
  if (!orders.why_none.empty()) return orders;
  std::map<std::uint32_t, std::map<std::uint32_t, Moments>> ranks;
  std::map<std::uint32_t, std::vector<Made>> calls;
  std::string handed;
  const Result<TimelineFacts> facts = run_timeline(
      trace, trace.whole_ranks(),
      [&](const TimedEvent& event) {
        ranks[event.rank()][event.stream()].add(event);
        calls[event.rank()].push_back({event.begin_ns, event.end_ns, event.at->number(),
                                       event.stream(), event.at->call().name});
        const ObjectUse& uses = event.at->followed().uses;
        if (handed.empty() && (std::ranges::any_of(uses.needs, is_request) ||
                               std::ranges::any_of(uses.sees, is_request)))
          handed = stream_name(trace, event.stream()) + " completes in event " +
                   std::to_string(event.at->number()) + " (" + event.at->call().name +
                   ") a request of another thread, and a replay makes the calls of one thread "
                   "after those of another";
      },
      true, Network::kSynchronous);
  if (!facts) return facts.error();
  orders.why_none = std::move(handed);
  if (!orders.why_none.empty()) return orders;
  if (facts->unmatched == 0) {
    for (auto& [rank, made] : calls)
      if (orders.why_none.empty()) orders.why_none = overlap(trace, made);
    if (orders.why_none.empty())
      for (const auto& [rank, streams] : ranks) orders.ranks[rank] = merged(streams);
    return orders;
  }
  orders.why_none = "no order of the threads' calls is found in which all of them end";
  if (!facts->first_unmatched.empty()) {
    const TimelineFacts::Unmatched& one = facts->first_unmatched.front();
    orders.why_none += ": " + stream_name(trace, one.stream) + " event " +
                       std::to_string(one.event) + " (" + one.call + ") " + one.why;
  }
  return orders;
}

}  // namespace chameleon::analysis
