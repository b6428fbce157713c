// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// All ranks of a job in one process: a value for each rank in a vector, and
/// the operations as loops that combine in the order a real job does. O(P)
/// per operation. Counts messages and tree levels; bytes (by encoding every
/// message) and the work on the critical path only when asked. Where both are
/// asked for, what is joined has been encoded and decoded, as in a real job, and
/// that is part of the work. Never fails.

#include <time.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/attempt.h"
#include "world/absent.h"
#include "world/clock_sample.h"
#include "world/small_vote.h"
#include "world/tree.h"
#include "world/world.h"

namespace chameleon::world {

class VirtualSubset;

/// Processor time of this thread: time in which other processes run is no work of ours.
inline double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Bytes that this process has allocated.
class Allocations {
 public:
  Allocations() = default;
  Allocations(const Allocations&) = delete;
  Allocations& operator=(const Allocations&) = delete;
  virtual ~Allocations() = default;

  virtual std::int64_t now() const = 0;
  /// From here on `most` is the most there was.
  virtual void begin() = 0;
  virtual std::int64_t most() const = 0;
};

class VirtualWorld {
 public:
  /// Some of the ranks as a world of their own (virtual_subset.h).
  using Subset = VirtualSubset;

  template <class T>
  using PerRank = std::vector<T>;

  /// Values that ranks make when they are needed, so that few of a million are there at once.
  template <class T>
  class Late {
   public:
    explicit Late(std::function<T(std::uint32_t)> make) : make_(std::move(make)) {}
    /// The rank's value, once.
    T take(std::uint32_t rank) {
      auto held = held_.extract(rank);
      return held ? std::move(held.mapped()) : make_(rank);
    }
    void hold(std::uint32_t rank, T value) { held_.insert_or_assign(rank, std::move(value)); }
    /// f(rank, value) for every rank, when its value is made.
    template <class F>
    void change(F f) {
      for (auto& [rank, value] : held_) f(rank, value);
      make_ = [make = std::move(make_), f](std::uint32_t rank) {
        T value = make(rank);
        f(rank, value);
        return value;
      };
    }

   private:
    std::function<T(std::uint32_t)> make_;
    std::map<std::uint32_t, T> held_;
  };

  explicit VirtualWorld(std::uint32_t size, bool count_bytes = false, bool measure_time = false,
                        Allocations* allocations = nullptr)
      : size_(size == 0 ? 1 : size),
        count_bytes_(count_bytes),
        measure_time_(measure_time),
        allocations_(allocations),
        began_(allocated()) {}

  std::uint32_t size() const { return size_; }
  bool failed() const { return false; }
  Failure failure() const { return Failure::kNone; }
  Traffic traffic() const { return traffic_; }
  /// Work (encoding and decoding included, communication not) on the longest path of every
  /// reduction, of the slowest rank in every `map`, and in every `attempt`, added up, in seconds of
  /// processor time; 0 unless asked to measure.
  double critical_seconds() const { return critical_seconds_; }
  /// The most bytes that rank 0, or the first of some ranks, has had at once since `reset_traffic`,
  /// while it joined a message and in `attempt`: with what it had joined, the message, what that
  /// holds, and what joining takes. 0 unless asked to measure.
  std::uint64_t root_bytes() const { return static_cast<std::uint64_t>(root_bytes_); }
  /// Bytes that rank 0 has beside what it joins.
  void root_holds(std::uint64_t bytes) { root_holds_ = static_cast<std::int64_t>(bytes); }
  void reset_traffic() {
    traffic_ = {};
    critical_seconds_ = 0;
    root_bytes_ = 0;
    began_ = allocated();
  }

  /// f(); what it throws is the caller's. Work of every rank at once.
  template <class F>
  bool attempt(F f) {
    const double begin = measure_time_ ? thread_seconds() : 0;
    if (allocations_ != nullptr) allocations_->begin();
    f();
    if (allocations_ != nullptr) note_root(allocations_->most() - began_);
    if (measure_time_) critical_seconds_ += thread_seconds() - begin;
    return true;
  }

  /// f(rank) for every rank.
  template <class F>
  auto generate(F f) {
    std::vector<decltype(f(std::uint32_t{}))> values;
    values.reserve(size_);
    for (std::uint32_t rank = 0; rank < size_; ++rank) values.push_back(f(rank));
    return values;
  }

  /// The same, later. `map` of these is no work on the critical path.
  template <class F>
  auto late(F f) {
    return Late<decltype(f(std::uint32_t{}))>(f);
  }
  template <class T, class F>
  void map(Late<T>& values, F f) {
    values.change(f);
  }

  /// f(rank, value) for every rank; nothing if f gives nothing.
  template <class T, class F>
  auto map(PerRank<T>& values, F f) {
    using R = decltype(f(std::uint32_t{}, values.front()));
    double slowest = 0;
    const auto measured = [&](auto work) {
      const double begin = measure_time_ ? thread_seconds() : 0;
      work();
      if (measure_time_) slowest = std::max(slowest, thread_seconds() - begin);
    };
    if constexpr (std::is_void_v<R>) {
      for (std::uint32_t rank = 0; rank < size_; ++rank) measured([&] { f(rank, values[rank]); });
      critical_seconds_ += slowest;
    } else {
      std::vector<R> results;
      results.reserve(size_);
      for (std::uint32_t rank = 0; rank < size_; ++rank)
        measured([&] { results.push_back(f(rank, values[rank])); });
      critical_seconds_ += slowest;
      return results;
    }
  }

  /// combine(T& mine, T&& theirs) up the tree. size - 1 messages.
  template <class T, class C>
  std::optional<T> reduce(PerRank<T> values, C combine) {
    return reduce_positions(size_, combine,
                            [&](std::uint32_t at) { return std::move(values[at]); });
  }

  /// The same of make(rank), which is made when it is joined: of as many ranks as the tree has
  /// levels are there values at once.
  template <class Make, class C>
  auto reduce_made(Make make, C combine) {
    return reduce_positions(size_, combine, make);
  }
  template <class T, class C>
  std::optional<T> reduce(Late<T> values, C combine) {
    return reduce_made([&](std::uint32_t rank) { return values.take(rank); }, combine);
  }

  /// The same over `members` only, ascending, in the tree over their positions;
  /// one more message when rank 0 is none of them. Nothing if there are none.
  template <class Ranks, class Values, class C>
  auto reduce(const Ranks& members, Values values, C combine) {
    const auto value_at = [&](std::uint32_t at) { return take(values, members[at]); };
    std::optional<decltype(value_at(0))> result;
    if (members.empty()) return result;
    result = reduce_positions(static_cast<std::uint32_t>(members.size()), combine, value_at);
    if (members.front() != 0) {
      count(*result);
      ++traffic_.depth;
    }
    return result;
  }

  /// Several such reductions at once, over disjoint groups: the result stays at
  /// the first of each; elsewhere what is given is used up.
  template <class Groups, class Values, class C>
  Values reduce_groups(const Groups& groups, Values values, C combine) {
    const std::uint32_t depth = traffic_.depth;
    std::uint32_t deepest = 0;
    for (const auto& group : groups) {
      if (group.empty()) continue;
      auto result = reduce_positions(static_cast<std::uint32_t>(group.size()), combine,
                                     [&](std::uint32_t at) { return take(values, group[at]); });
      hold(values, group.front(), std::move(*result));
      deepest = std::max(deepest, traffic_.depth - depth);
      traffic_.depth = depth;
    }
    traffic_.depth = depth + deepest;
    return values;
  }

  /// Rank 0's value, down the tree; a default one when there is none. size - 1 messages.
  template <class T>
  T broadcast(std::optional<T> at_root) {
    T value = at_root ? std::move(*at_root) : T{};
    count_broadcast(value, size_);
    return value;
  }

  /// Several broadcasts at once, over disjoint groups: the value of the first of each on all
  /// of the group. Ranks in no group keep theirs. A message less than a group has ranks.
  template <class T>
  PerRank<T> broadcast_groups(const std::vector<std::vector<std::uint32_t>>& groups,
                              PerRank<T> values) {
    const std::uint32_t depth = traffic_.depth;
    std::uint32_t deepest = 0;
    for (const auto& group : groups) {
      if (group.empty()) continue;
      count_broadcast(values[group.front()], static_cast<std::uint32_t>(group.size()));
      for (std::size_t at = 1; at < group.size(); ++at) values[group[at]] = values[group.front()];
      deepest = std::max(deepest, traffic_.depth - depth);
      traffic_.depth = depth;
    }
    traffic_.depth = depth + deepest;
    return values;
  }

  /// No rank is absent; `rounds`: what all know. As many messages as in a real job.
  Absent absent(bool, Rounds rounds = {}) {
    for (std::uint32_t i = 0; i < 2 * (size_ - 1); ++i) traffic_.count(sizeof(Absent));
    traffic_.depth += 2 * tree_depth(size_);
    Absent none;
    none.rounds = rounds;
    return none;
  }

  /// Values to ranks by a plan that all ranks know: ascending, each pair once, all within the
  /// world. Returns the received values with their senders, in order of `from`; the rank's own
  /// value if the plan has it. One message for each pair of different ranks; depth one.
  template <class T>
  PerRank<std::vector<std::pair<std::uint32_t, T>>> gather(std::span<const Transfer> plan,
                                                           const PerRank<T>& values) {
    PerRank<std::vector<std::pair<std::uint32_t, T>>> incoming(size_);
    for (const Transfer& each : plan) {
      incoming[each.to].emplace_back(each.from, values[each.from]);
      if (each.from != each.to) count(values[each.from]);
    }
    traffic_.depth += plan.empty() ? 0 : 1;
    return incoming;
  }

  /// The vote of all ranks, on all of them. Every rank answers, and the result is available at
  /// once.
  template <class T, class C>
  void cast(const PerRank<T>& values, C combine, std::uint32_t) {
    cast_.set(all_reduce(*this, PerRank<T>(values), combine));
  }
  bool progress() { return false; }
  template <class T>
  std::optional<T> collect(double, std::uint32_t&) {
    T value;
    cast_.get(value);
    return value;
  }

  /// Every rank's clock beside rank 0's: they are what `now(rank, value)` says, compared at once.
  template <class T, class Now>
  PerRank<ClockSample> sample_clocks(PerRank<T>& values, Now now, unsigned) {
    const std::int64_t root = now(0, values.front());
    return map(values, [&](std::uint32_t rank, T& value) {
      const std::int64_t local = now(rank, value);
      return ClockSample{local, root - local, 0};
    });
  }
  /// Nothing is late here.
  void drain() {}
  void leave_votes(std::uint32_t) {}

 private:
  friend class VirtualSubset;

  template <class T>
  static T take(PerRank<T>& values, std::uint32_t rank) {
    return std::move(values[rank]);
  }
  template <class T>
  static T take(Late<T>& values, std::uint32_t rank) {
    return values.take(rank);
  }
  template <class T>
  static void hold(PerRank<T>& values, std::uint32_t rank, T value) {
    values[rank] = std::move(value);
  }
  template <class T>
  static void hold(Late<T>& values, std::uint32_t rank, T value) {
    values.hold(rank, std::move(value));
  }

  /// The cost of a broadcast of `value` to `size` ranks: it is passed on as it came.
  template <class T>
  void count_broadcast(const T& value, std::uint32_t size) {
    if (size > 1) {
      const double begin = measure_time_ ? thread_seconds() : 0;
      const Bytes sent = count(value, size - 1);
      if (measure_time_) {
        arrived(sent, value);
        critical_seconds_ += thread_seconds() - begin;
      }
    }
    traffic_.depth += tree_depth(size);
  }
  /// Messages of `value`; its bytes, if they are counted.
  template <class T>
  Bytes count(const T& value, std::uint64_t times = 1) {
    ByteWriter writer;
    if (count_bytes_) encode_value(writer, value);
    for (std::uint64_t i = 0; i < times; ++i) traffic_.count(writer.bytes().size());
    return writer.take();
  }
  /// The value that the bytes hold; `sent` where bytes are not counted.
  template <class T>
  T arrived(const Bytes& bytes, T sent) const {
    if (!count_bytes_) return sent;
    T value{};
    ByteReader reader(bytes);
    decode_value(reader, value);
    return value;
  }

  /// A value, and the work on the longest path to it.
  template <class T>
  struct Joined {
    T value;
    double seconds = 0;
  };

  /// The result for the `span` positions from `at` on.
  template <class T, class C, class At>
  Joined<T> join_positions(std::uint32_t at, std::uint32_t span, std::uint32_t size, C& combine,
                           At& value_at) {
    Joined<T> mine{value_at(at)};
    const bool measured = at == 0 && count_bytes_ && allocations_ != nullptr;
    std::int64_t held = measured ? bytes_of(mine.value) : 0;
    for (std::uint32_t step = 1; step < span && step < size - at; step *= 2) {
      Joined<T> theirs = join_positions<T>(at + step, step, size, combine, value_at);
      if (!measure_time_) {
        count(theirs.value);
        combine(mine.value, std::move(theirs.value));
        continue;
      }
      double begin = thread_seconds();
      const Bytes sent = count(theirs.value);
      const double encoding = thread_seconds() - begin;
      if (measured) theirs.value = T{};  // the sender's
      const std::int64_t before = allocated();
      if (measured) allocations_->begin();
      begin = thread_seconds();
      combine(mine.value, arrived(sent, std::move(theirs.value)));
      mine.seconds = std::max(mine.seconds, theirs.seconds + encoding) + (thread_seconds() - begin);
      if (!measured) continue;
      const auto message = static_cast<std::int64_t>(sent.size());
      note_root(root_holds_ + held + message + allocations_->most() - before);
      held += allocated() - before;
    }
    return mine;
  }

  std::int64_t allocated() const { return allocations_ != nullptr ? allocations_->now() : 0; }
  /// Bytes of a value, as it is read.
  template <class T>
  std::int64_t bytes_of(const T& value) const {
    ByteWriter writer;
    encode_value(writer, value);
    const std::int64_t before = allocated();
    T copy{};
    ByteReader reader(writer.bytes());
    decode_value(reader, copy);
    return allocated() - before;
  }
  void note_root(std::int64_t bytes) { root_bytes_ = std::max(root_bytes_, bytes); }

  template <class C, class At>
  auto reduce_positions(std::uint32_t size, C& combine, At value_at) {
    using T = std::decay_t<decltype(value_at(0))>;
    auto all = join_positions<T>(0, std::uint32_t{1} << tree_depth(size), size, combine, value_at);
    if (measure_time_) critical_seconds_ += all.seconds;
    traffic_.depth += tree_depth(size);
    return std::optional(std::move(all.value));
  }

  std::uint32_t size_;
  bool count_bytes_;
  bool measure_time_;
  Allocations* allocations_;
  std::int64_t began_ = 0, root_bytes_ = 0, root_holds_ = 0;  ///< see `root_bytes`
  Traffic traffic_;
  double critical_seconds_ = 0;
  SmallVote cast_;
};

}  // namespace chameleon::world
