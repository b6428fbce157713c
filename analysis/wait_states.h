// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// For whom ranks wait, event by event of a timeline (the wait states of Alawneh & Hamou-Lhadj
/// 2022, section 4.2, from when ranks came instead of the order of their names): a receive for its
/// sender, a send that outlasts the post of its receive for the receiver, a collective for the last
/// rank or for its root. Nothing waits longer than its call took. O(1) an operation; memory of the
/// messages of which one end was seen.

#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "analysis/timeline.h"

namespace chameleon::analysis {

struct WaitState {
  enum class Kind : std::uint8_t {
    kLateSender,
    kLateReceiver,
    kLateMember,  ///< of a collective that waits for all, or for the ranks before
    kLateRoot,
    kEarlyRoot,  ///< the root waits for the others
  };
  static constexpr std::size_t kKinds = 5;
  Kind kind = Kind::kLateSender;
  std::uint32_t waiter = 0;    ///< stream
  std::uint64_t at_path = 0;   ///< of the event that waits
  std::uint64_t at_event = 0;  ///< its number in the stream
  std::uint16_t at_call = 0;
  std::int64_t at_bytes = 0;  ///< that its messages and collectives move
  bool at_barrier = false;    ///< the collective is a barrier
  /// From when the waiter began to wait until who is waited for came, to this event.
  std::uint64_t begin_ns = 0;
  Cause cause;

  std::uint64_t ns() const { return cause.begin_ns - begin_ns; }
};

/// Bytes that the messages which the event sends or completes, and its collectives, move.
std::int64_t moved_bytes(const RankOperations& at);

/// Waits of one kind.
struct WaitSum {
  WaitState longest;
  std::uint64_t sum_ns = 0;
};
/// Adds a wait to those of its kind.
void add_wait(std::vector<WaitSum>& sums, const WaitState& wait, std::uint64_t ns);

const char* wait_name(WaitState::Kind kind);  ///< late sender, ...

class WaitStates {
 public:
  using Sink = std::function<void(const WaitState&)>;

  /// The next event of a stream. A late receiver is reported when both ends were seen, which may be
  /// at the receiver's event.
  void add(const TimedEvent& event, const Sink& sink);
  /// Messages of which one end was seen.
  std::size_t open() const { return ends_.size(); }

 private:
  /// For a message: the call that waits until it is sent, and the post of its receive.
  struct Ends {
    std::optional<WaitState> send;
    std::uint64_t send_end_ns = 0, send_took_ns = 0;
    std::optional<Cause> post;
  };
  void both(std::unordered_map<std::uint64_t, Ends>::iterator ends, const Sink& sink);
  std::unordered_map<std::uint64_t, Ends> ends_;  ///< by message id
};

}  // namespace chameleon::analysis
