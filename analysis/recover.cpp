// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/recover.h"

#include <algorithm>

#include "compress/append.h"
#include "compress/merge.h"
#include "flush/time_classes.h"
#include "world/virtual_world.h"

namespace chameleon::analysis {
namespace {

/// Why the partial cannot be joined, or nothing.
std::string misfit(const Trace& trace, const Trace& partial, const RankList& joined) {
  if (partial.world_size != trace.world_size)
    return "is of a job of " + std::to_string(partial.world_size) + " ranks, not " +
           std::to_string(trace.world_size);
  if (const RankList ranks = partial.whole_ranks();
      ranks.size() != 1 || ranks.first() >= trace.world_size)
    return "is not of one rank of the job";
  if (partial.program != trace.program)
    return "is of " + partial.program + ", not " + trace.program;
  // By clocks of several hosts.
  constexpr std::uint64_t kClocksDiffer = 60;
  if (partial.started_unix + kClocksDiffer < trace.started_unix)
    return "was left by an earlier job";
  if (partial.online.flushes != trace.online.flushes)
    return "begins after flush " + std::to_string(partial.online.flushes) +
           ", the trace ends with flush " + std::to_string(trace.online.flushes);
  if (joined.intersects(partial.whole_ranks()))
    return "is a second one of rank " + std::to_string(partial.whole_ranks().first());
  return "";
}

/// Takes out of a partial what its streams spent.
void take_times(Trace& partial, std::vector<StreamAccounts>& accounts) {
  const std::vector<TimeClass>& classes = partial.times.classes();
  for (std::uint32_t i = 0; i < classes.size(); ++i)
    accounts.push_back({classes[i].streams.first(), partial.times.accounts_of(i)});
  partial.times = TimeTable();
}

/// Classes that the partials' times are put into, unless the trace has more.
constexpr std::size_t kLeastTimeClasses = 16;

}  // namespace

Recovery recover(Trace& trace, std::vector<PartialTrace> partials) {
  Recovery recovery;
  Trace next;
  std::vector<std::vector<StreamAccounts>> accounts;  // of each partial, over the whole run
  auto facts = trace.facts;
  auto carried = trace.carried;
  std::sort(partials.begin(), partials.end(), [](const PartialTrace& a, const PartialTrace& b) {
    return a.trace.ranks < b.trace.ranks || (a.trace.ranks == b.trace.ranks && a.name < b.name);
  });
  for (PartialTrace& partial : partials) {
    if (const std::string why = misfit(trace, partial.trace, recovery.joined); !why.empty()) {
      recovery.left_out.push_back(partial.name + " " + why);
      continue;
    }
    const std::uint32_t rank = partial.trace.whole_ranks().first();
    for (auto& [ended, what] : partial.trace.ends) trace.ends.insert_or_assign(ended, what);
    take_times(partial.trace, accounts.emplace_back());
    // What a rank says of itself is of its whole run.
    for (const auto& [of, said] : partial.trace.facts) facts[of] = said;
    supersede(carried, partial.trace.carried);
    if (recovery.joined.empty())
      next = std::move(partial.trace);
    else
      merge(next, std::move(partial.trace));
    recovery.joined.insert(rank);
  }
  if (recovery.joined.empty()) return recovery;
  canonicalize(next);
  OnlineFacts online = std::move(trace.online);
  append(trace, std::move(next));
  trace.online = std::move(online);
  VirtualWorld world(static_cast<std::uint32_t>(accounts.size()));
  const auto most = std::max<std::size_t>(trace.times.classes().size(), kLeastTimeClasses);
  if (auto times = gather_times(world, std::move(accounts), static_cast<std::uint32_t>(most)))
    trace.times.supersede(std::move(*times));
  trace.facts = std::move(facts);
  trace.carried = std::move(carried);
  trace.complete = false;
  if (trace.world_size > 0)
    recovery.missing = RankList::range(0, trace.world_size - 1).minus(recovery.joined);
  if (!recovery.missing.empty())
    trace.declarations.push_back({kNoPartialDeclaration, recovery.missing});
  canonicalize(trace);
  return recovery;
}

}  // namespace chameleon::analysis
