// SPDX-License-Identifier: BSD-3-Clause
#include "process/found_markers.h"

#include <utility>

#include "mpi/call_table.h"
#include "process/say.h"

namespace chameleon::process {

bool FoundMarkers::is_of_thread() {
  static CHAMELEON_PER_THREAD char own = 0;
  const void* first = nullptr;
  return thread_.compare_exchange_strong(first, &own) || first == &own;
}

std::optional<Marker> FoundMarkers::source(const MarkerCall& call, bool threads) {
  compared_ = false;
  threads_ = threads_ || threads;
  if (call.kind != MarkerCall::Kind::kCollective || search_.is_over()) return std::nullopt;
  const bool is_marker = search_.see(call.collective);
  if (search_.may_compare()) {
    if (open_)
      changed_ = hear(patience_) || changed_;
    else if (search_.due())
      compare();
  }
  if (search_.began() != began_) {
    began_ = search_.began();
    began_ns_ = times_.elapsed_ns();
  }
  if (!is_marker) return std::nullopt;
  return Marker{.is_event = true};
}

void FoundMarkers::compare() {
  const std::uint64_t now = times_.elapsed_ns();
  const MpiWorld::PerRank<LoopProposal> mine{
      search_.propose(time_between(began_ns_, now), program_marks_, now >= kMinuteNs, threads_),
      false};
  const auto add = [](LoopProposal& all, LoopProposal&& theirs) { combine(all, theirs); };
  world_.cast(mine, add, votes_++);
  open_ = compared_ = true;
}

bool FoundMarkers::hear(double patience) {
  std::uint32_t missing = 0;
  open_ = false;
  compared_ = true;
  const auto all = world_.collect<LoopProposal>(patience, missing);
  if (!all) world_.leave_votes(votes_);
  return search_.hear(all);
}

void FoundMarkers::end() {
  if (open_) hear(kLastPatience);
  if (search_.state() == MarkerSearch::State::kUnanswered) world_.drain();
}

std::string FoundMarkers::what() const {
  const std::string from = " of all ranks, after collective " + std::to_string(search_.found_at());
  if (search_.state() == MarkerSearch::State::kByTime)
    return "found: every collective" + from + ", as time goes by";
  if (search_.state() != MarkerSearch::State::kFound) return "program";
  const CallInfo* const call = find_call(static_cast<CallId>(search_.call()));
  std::string which = "found: every ";
  if (search_.period() > 1) which = "found: one in " + std::to_string(search_.period()) + " ";
  which += call != nullptr ? call->name : "collective";
  return which + (search_.by_place() ? " from one place" : "") + from;
}

const char* FoundMarkers::why_none() const {
  switch (search_.state()) {
    case MarkerSearch::State::kUnlike:
      return "ranks do not call collective operations of all ranks in the same order";
    case MarkerSearch::State::kUnanswered:
      return "ranks did not come to the same collective operation in time";
    case MarkerSearch::State::kThreads: return "several threads of a rank call MPI";
    case MarkerSearch::State::kFound:
    case MarkerSearch::State::kByTime: return "what repeats was found at the end of the run only";
    default: return "no collective operation of all ranks repeats";
  }
}

}  // namespace chameleon::process
