// SPDX-License-Identifier: BSD-3-Clause
#include "replay/matches.h"

namespace chameleon::replay {

std::optional<Match> Matches::take(std::uint32_t stream, std::uint64_t number, std::int64_t id) {
  const Key key{number, id};
  for (;;) {
    const auto found = found_.find(key);
    const bool passed = passed_[stream] >= number;
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
  if (!follower_.next(event_)) return false;
  passed_[event_.stream] = event_.number;
  if (event_.call == nullptr) return true;
  for (const Completion& completion : event_.completions) {
    if (completion.posting == nullptr) continue;
    const auto found = found_.find({completion.posting->event, completion.id});
    // The replay may have given up on it already, never before the follower passed it.
    if (found != found_.end()) found->second = follower_.match(event_, completion);
  }
  if (event_.posted != nullptr && event_.posted->active) expect(*event_.posted);
  for (const Posting* posting : event_.started)
    if (posting != nullptr) expect(*posting);
  if (event_.used != nullptr && event_.plan->action == Action::kRequestFree)
    found_.erase({event_.used->event, event_.used->id});
  return true;
}

void Matches::expect(const Posting& posting) {
  if (posting.any_source || posting.any_tag) found_[{posting.event, posting.id}] = std::nullopt;
}

}  // namespace chameleon::replay
