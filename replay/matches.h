// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The messages that nonblocking wildcard receives will match. A trace has them only where the
/// request is completed, but the replay needs them when it posts: a follower of the same rank runs
/// ahead, on demand, as far as the completion asked for. Costs one more pass over the trace if
/// there are such receives, nothing if not; holds one match for every wildcard receive posted
/// between the two views, usually those of one iteration.

#include <map>
#include <optional>
#include <utility>

#include "analysis/follow.h"

namespace chameleon::replay {

class Matches {
 public:
  explicit Matches(Follower ahead) : follower_(std::move(ahead)) {}

  /// The match of the receive that event `number` (from 1) of a stream posted or started under the
  /// request's id; nothing if it is never completed. Each can be asked for once, in the order of
  /// events.
  std::optional<Match> take(std::uint32_t stream, std::uint64_t number, std::int64_t id);

 private:
  bool advance();
  void expect(const Posting& posting);

  /// Event number and request, whose id has the thread that posted it.
  using Key = std::pair<std::uint64_t, std::int64_t>;
  Follower follower_;
  FollowedEvent event_;
  std::map<Key, std::optional<Match>> found_;
  std::map<std::uint32_t, std::uint64_t> passed_;  ///< last event of each stream
};

}  // namespace chameleon::replay
