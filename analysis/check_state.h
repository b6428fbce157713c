// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// What the simulation of `check` keeps: of each rank its place in the trace and
/// its open requests, of each channel the messages sent and not received and the
/// receives posted and not matched (never both at once, save for wildcards), of
/// each collective begun who has come. Equal messages in a row cost nothing.

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/check_collectives.h"
#include "analysis/check_plan.h"
#include "analysis/follow.h"
#include "analysis/leaks.h"
#include "analysis/lower_ranks.h"
#include "analysis/reissue.h"
#include "base/hash.h"

namespace chameleon::analysis {

/// First in, first out, without the chunks of a deque: most hold 0 or 1.
template <class T>
class Fifo {
 public:
  bool empty() const { return head_ == items_.size(); }
  std::size_t size() const { return items_.size() - head_; }
  T& front() { return items_[head_]; }
  T& back() { return items_.back(); }
  void push(T item) { items_.push_back(item); }
  void push_front(T item) {
    if (head_ > 0)
      items_[--head_] = item;
    else
      items_.insert(items_.begin(), item);
  }
  void pop() {
    if (++head_ == items_.size()) {
      items_.clear();
      head_ = 0;
    } else if (head_ > 64 && head_ * 2 > items_.size()) {
      items_.erase(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(head_));
      head_ = 0;
    }
  }
  void remove(const T& item) {
    for (std::size_t i = head_; i < items_.size(); ++i)
      if (items_[i] == item) {
        items_.erase(items_.begin() + static_cast<std::ptrdiff_t>(i));
        return;
      }
  }
  auto begin() const { return items_.begin() + static_cast<std::ptrdiff_t>(head_); }
  auto end() const { return items_.end(); }

 private:
  std::vector<T> items_;
  std::size_t head_ = 0;
};

struct ChannelKey {
  std::uint64_t context = 0;
  std::uint32_t source = 0, dest = 0;  ///< world ranks
  std::int64_t tag = 0;
  bool operator==(const ChannelKey&) const = default;
};

/// (context, n): the n-th collective on a communicator.
struct CollectiveKey {
  std::uint64_t context = 0, number = 0;
  bool operator==(const CollectiveKey&) const = default;
};

struct KeyHash {
  std::size_t operator()(const ChannelKey& key) const {
    return mix(key.context ^ mix((std::uint64_t{key.source} << 32 | key.dest) +
                                 static_cast<std::uint64_t>(key.tag) * 0x9e3779b97f4a7c15ULL));
  }
  std::size_t operator()(const CollectiveKey& key) const {
    return mix(key.context ^ mix(key.number));
  }
};

/// Messages of equal size in a row, and where the first of them was sent.
struct MessageRun {
  std::int64_t bytes = 0;  ///< or kUnknownSize
  Element element = kMixed;
  std::uint64_t count = 0;
  std::uint64_t event = 0;
  std::uint32_t part = 0;  ///< see `Omission`
  std::uint16_t call = 0;
  std::uint64_t path = 0;
  std::int64_t request = -1;  ///< of the source, which waits for the receive; -1: none does
};

struct Channel {
  Fifo<MessageRun> messages;
  Fifo<std::uint32_t> posted;  ///< requests of the destination
  bool excused = false;        ///< a cancellation leaves open what was received

  bool idle() const { return messages.empty() && posted.empty() && !excused; }
};

struct Request {
  enum class Kind : std::uint8_t { kFree, kDone, kSend, kRecv, kCollective };
  Kind kind = Kind::kFree;
  bool persistent = false;
  bool active = false;
  bool released = false;  ///< by Request_free, while active
  bool matched = false;
  bool wildcard = false;  ///< source or tag: known on completion
  bool loose = false;     ///< posted beside a wildcard: which message it gets is not told
  bool cancelled = false;
  bool omitted = false;  ///< without a counterpart: completes at once
  bool awaits = false;   ///< a send that ends when its receive is posted
  bool tracked = false;  ///< a send whose message names it: it is known when that is received
  ChannelKey channel;    ///< of a wildcard: without source and, if it is any, tag
  bool any_source = false, any_tag = false;
  std::int64_t capacity = -1;
  std::int64_t received = -1;
  Element element = kMixed, received_element = kMixed;
  std::uint64_t event = 0;  ///< that made or started it
  std::uint64_t made = 0;   ///< event that made it, of receives
  std::uint32_t part = 0;   ///< see `Omission`
  std::uint16_t call = 0;
  std::uint64_t path = 0;  ///< of `event`
  CollectiveKey collective;
};

struct RankState {
  RankState(std::uint32_t rank_, Follower follower_, Reissue reissue_)
      : rank(rank_), follower(std::move(follower_)), reissue(std::move(reissue_)) {}

  std::uint32_t rank;
  Follower follower;
  Reissue reissue;
  FollowedEvent at;  ///< the event at hand
  bool has_event = false, done = false, blocked = false, finalized = false;

  /// Within an event that had to wait: what of it is done.
  bool skip = false;  ///< left out: it is over
  std::uint32_t phase = 0;
  std::int64_t pending = -1;  ///< its own receive, a place in `pool`
  std::int64_t sending = -1;  ///< its own send, if it waits for the receive
  CollectiveKey collective;

  /// What it waits for, if blocked.
  std::int64_t waiting_request = -1;  ///< with waiting_channel: the wildcard it is for
  bool waiting_channel = false;
  bool waiting_wildcard = false;
  ChannelKey channel;

  std::vector<Request> pool;
  std::vector<std::uint32_t> free;
  std::vector<std::int64_t> places;      ///< index of a posting -> place in pool, or -1
  std::uint64_t wildcards = 0;           ///< posted and not completed
  bool excused = false;                  ///< a receive whose match is not known
  bool unsure = false;                   ///< a receive failed, and may have taken a message
  std::uint64_t last_path = 0;           ///< of the last event
  std::uint16_t last_call = UINT16_MAX;  ///< none
  bool last_pending = false;
  ObjectLedger objects;
  std::int64_t last_error = 0;
  bool passed = false;  ///< the call in progress has what it waits for
  std::unordered_map<std::int64_t, std::int64_t> messages;  ///< of matched probes: bytes

  std::uint16_t call() const { return at.view.node->call; }
  /// Where in `pool` a request is, or -1.
  std::int64_t place_of(const Posting* posting) const {
    return posting == nullptr || posting->index >= places.size() ? -1 : places[posting->index];
  }

  std::uint32_t allocate() {
    if (free.empty()) {
      pool.emplace_back();
      return static_cast<std::uint32_t>(pool.size() - 1);
    }
    const std::uint32_t place = free.back();
    free.pop_back();
    return place;
  }
  void release(std::uint32_t place) {
    if (pool[place].wildcard && pool[place].active && wildcards > 0) --wildcards;
    pool[place].kind = Request::Kind::kFree;
    pool[place].active = false;
    free.push_back(place);
  }
};

/// A collective some ranks have called.
struct Instance : Agreement {
  bool wrong = false;  ///< named already
  bool root_came = false;
  std::uint32_t expected = 0;
  std::vector<std::uint32_t> waiting;
  LowerRanks<> lower;        ///< if ranks wait for those before them
  bool declared = false;     ///< a member has declared parts
  bool abandoned = false;    ///< left out: nobody waits for it
  WorldRanks local, remote;  ///< members
  /// Who has come, and where; only if something may be left out.
  std::vector<std::pair<std::uint32_t, std::uint64_t>> parts;
};

}  // namespace chameleon::analysis
