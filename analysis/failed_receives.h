// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Receives that MPI failed, and the messages that are never received for that reason. A receive
/// with a wrong argument, or one that could not be started, has taken no message. One that failed
/// for another reason, except truncation, may have. Neither takes a message in a simulation. At the
/// end, each failed receive accounts for one message that it could have matched. One entry for
/// each distinct receive that failed; a look-up costs O(1).

#include <array>
#include <unordered_map>

#include "analysis/check_state.h"
#include "analysis/follow.h"

namespace chameleon::analysis {

struct FailedReceive {
  std::uint32_t stream = 0;
  std::uint64_t event = 0;  ///< number in its stream, of the first
  std::uint16_t call = 0;
  std::int64_t returned = 0;
  bool may_have_taken = false;  ///< a message
  std::uint64_t count = 0;
};

class FailedReceives {
 public:
  /// Notes an event of `rank` that failed, if it is a receive or the start of one. Returns whether
  /// it may have taken a message.
  bool note(const FollowedEvent& event, std::uint32_t rank);
  /// Notes a request of this channel that ended in `event` without a message, as far as is known.
  void note_ended(const FollowedEvent& event, const ChannelKey& channel, std::int64_t returned);
  /// Takes out at most `most` alike receives that could have matched messages of this channel.
  /// Their count is 0 if there are none.
  FailedReceive take(const ChannelKey& channel, std::uint64_t most);

 private:
  void add(const ChannelKey& channel, const FailedReceive& one);

  /// What is not known, or any, has these values in a channel.
  static constexpr std::uint64_t kAnyContext = UINT64_MAX;
  static constexpr std::uint32_t kAnySource = UINT32_MAX;
  static constexpr std::int64_t kAnyTag = INT64_MIN;
  using ByChannel = std::unordered_map<ChannelKey, FailedReceive, KeyHash>;
  std::array<ByChannel, 2> by_channel_;  ///< those that may have taken a message first
};

/// Whether a request that ended with this error may have no message: the error is its own, and not
/// truncation. False in traces that hold an MPI's codes.
inline bool may_lack_message(const CallPlan& plan, std::int64_t returned) {
  return plan.tells_class && returned != 0 && returned != kErrTruncate &&
         returned != kErrInStatus && returned != kInProgress;
}

}  // namespace chameleon::analysis
