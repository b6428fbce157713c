// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// What nonblocking wildcard receives will match. A trace tells it only where the request is
/// completed, and the replay must know when it posts: a second view of the same rank runs ahead,
/// on demand, as far as the completion asked for. Costs one more pass over the trace if there are
/// such receives, nothing if not; holds one match for every wildcard receive posted between the
/// two views, usually those of one iteration.

#include <map>
#include <optional>
#include <set>
#include <utility>

#include "replay/plan.h"

namespace chameleon::replay {

struct Match {
  EndPoint source;  ///< special if the receive told its source
  std::int64_t tag = kNotRecorded;
};

class Matches {
 public:
  Matches(const Trace& trace, const CallPlans& plans, RankView view)
      : trace_(trace), plans_(plans), view_(std::move(view)) {}

  /// The match of the receive that event `number` (from 1) posted or started in `slot`; nothing if
  /// it is never completed. Each can be asked for once, in the order of events.
  std::optional<Match> take(std::uint64_t number, std::int64_t slot);

 private:
  bool advance();
  void post(const CallPlan& plan, const EventView& event);
  void complete(std::int64_t slot, const Match& match);

  using Key = std::pair<std::uint64_t, std::int64_t>;  ///< event number and slot
  const Trace& trace_;
  const CallPlans& plans_;
  RankView view_;
  EventView event_;
  std::uint64_t number_ = 0;
  std::map<std::int64_t, std::uint64_t> pending_;  ///< slot to the event that posted it
  std::set<std::int64_t> persistent_;              ///< slots of persistent wildcard receives
  std::map<Key, std::optional<Match>> found_;
};

/// Whether the event posts a receive of any source or any tag.
bool posts_wildcard(const CallPlan& plan, const EventView& event);

}  // namespace chameleon::replay
