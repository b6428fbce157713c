// SPDX-License-Identifier: BSD-3-Clause
#include "replay/matches.h"

#include <mpi.h>

namespace chameleon::replay {

bool posts_wildcard(const CallPlan& plan, const EventView& event) {
  for (std::size_t i = 0; i < plan.params.size(); ++i) {
    const ParamPlan& param = plan.params[i];
    if (param.info.kind != Kind::kSource || param.field < 0) continue;
    const auto field = static_cast<std::size_t>(param.field);
    if (event.end_point(field).special() == static_cast<int>(SpecialRank::kAnySource)) return true;
    for (std::size_t j = i + 1; j < plan.params.size(); ++j) {
      if (plan.params[j].info.kind != Kind::kTag || plan.params[j].field < 0) continue;
      return event.values[static_cast<std::size_t>(plan.params[j].field)] == MPI_ANY_TAG;
    }
  }
  return false;
}

std::optional<Match> Matches::take(std::uint64_t number, std::int64_t slot) {
  const Key key{number, slot};
  for (;;) {
    const auto found = found_.find(key);
    const bool passed = number_ >= number;
    if (found != found_.end() && found->second) {
      const Match match = *found->second;
      found_.erase(found);
      return match;
    }
    // Passed without being pending: freed, cancelled, or not a wildcard at all.
    if (passed && found == found_.end()) return std::nullopt;
    if (!advance()) {
      found_.erase(key);
      return std::nullopt;
    }
  }
}

bool Matches::advance() {
  if (!view_.next(event_)) return false;
  ++number_;
  const auto known = plans_.find(event_.node->call);
  if (known == plans_.end() || known->second.entry == nullptr) return true;
  const CallPlan& plan = known->second;
  if (event_.values.size() < plan.fields || plan.fields == 0 || event_.values[0] != MPI_SUCCESS) {
    return true;
  }
  if (has(*plan.info, Attribute::kCompletes)) {
    for (const Completed& one : completed_by(plan, trace_, event_))
      complete(one.slot, {one.source, one.tag});
  } else {
    post(plan, event_);
  }
  return true;
}

void Matches::post(const CallPlan& plan, const EventView& event) {
  if (plan.request < 0) return;
  if (has(*plan.info, Attribute::kStarts)) {
    for (const std::int64_t slot : request_slots(plan, trace_, event)) {
      if (!persistent_.contains(slot)) continue;
      pending_[slot] = number_;
      found_[{number_, slot}] = std::nullopt;
    }
    return;
  }
  const bool frees =
      has(*plan.info, Attribute::kFrees) &&
      plan.params[static_cast<std::size_t>(plan.request)].info.direction == Direction::kInOut;
  for (const std::int64_t slot : request_slots(plan, trace_, event)) {
    if (frees) {
      persistent_.erase(slot);
      if (const auto posted = pending_.find(slot); posted != pending_.end()) {
        found_.erase({posted->second, slot});
        pending_.erase(posted);
      }
    }
    if (slot < 0 || frees || !posts_wildcard(plan, event)) continue;
    if (has(*plan.info, Attribute::kPersistent)) {
      persistent_.insert(slot);
    } else if (has(*plan.info, Attribute::kNonblocking)) {
      pending_[slot] = number_;
      found_[{number_, slot}] = std::nullopt;
    }
  }
}

void Matches::complete(std::int64_t slot, const Match& match) {
  const auto posted = pending_.find(slot);
  if (posted == pending_.end()) return;
  const auto found = found_.find({posted->second, slot});
  // The replay may have given up on it already, never before the view passed it.
  if (found != found_.end()) found->second = match;
  pending_.erase(posted);
}

}  // namespace chameleon::replay
