// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/verify_seen.h"

namespace chameleon::analysis {

Result<SeenStream> SeenStream::make(const FollowPlan& plan, std::uint32_t rank,
                                    std::uint32_t thread) {
  const Trace& trace = *plan.trace;
  const std::uint32_t stream = trace.stream_of(rank, thread);
  SeenStream seen{DeclaredKinds(trace, stream)};
  // Threads that an incomplete trace does not know yet have numbers that no stream has.
  if (!trace.ranks.contains(stream) || trace.thread_of(stream) != thread) return seen;
  Result<Follower> follower = Follower::of_stream(plan, stream);
  if (!follower) return follower.error();
  seen.follower_.emplace(std::move(*follower));
  return seen;
}

bool SeenStream::next(SeenEvent& event) {
  if (!follower_) return false;
  if (!follower_->next(at_)) {
    follower_.reset();
    return false;
  }
  event.call = at_.call;
  event.kinds = declared_.of(at_.view.node);
  event.place = place_in(at_.comm);
  event.status_places.clear();
  if (!at_.completions.empty() && at_.plan->status_source >= 0) find_status_places(event);
  std::swap(event.view, at_.view);
  return true;
}

void SeenStream::find_status_places(SeenEvent& event) const {
  const int sources = at_.plan->status_source;
  if (at_.call->fields[static_cast<std::size_t>(sources)].stored != FieldKind::kArray) return;
  event.status_places.resize(follower_->array(at_, sources).size());
  for (const Completion& one : at_.completions)
    if (const auto i = static_cast<std::size_t>(one.status);
        one.posting != nullptr && i < event.status_places.size())
      event.status_places[i] = place_in(one.posting->comm.get());
}

}  // namespace chameleon::analysis
