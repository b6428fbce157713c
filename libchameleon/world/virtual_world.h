// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// All ranks of a job in one process: a value for each rank in a vector, and
/// the operations as loops that combine in the order a real job does. O(P)
/// per operation. Counts messages and tree levels; bytes (by encoding every
/// message) and the work on the critical path only when asked. Never fails.

#include <time.h>

#include <algorithm>
#include <cstdint>
#include <optional>
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

class VirtualWorld {
 public:
  /// Some of the ranks as a world of their own (virtual_subset.h).
  using Subset = VirtualSubset;

  template <class T>
  using PerRank = std::vector<T>;

  explicit VirtualWorld(std::uint32_t size, bool count_bytes = false, bool measure_time = false)
      : size_(size == 0 ? 1 : size), count_bytes_(count_bytes), measure_time_(measure_time) {}

  std::uint32_t size() const { return size_; }
  bool failed() const { return false; }
  Failure failure() const { return Failure::kNone; }
  Traffic traffic() const { return traffic_; }
  /// Work (not communication) on the longest path of every reduction, of the slowest rank in every
  /// `map`, and in every `attempt`, added up, in seconds of processor time; 0 unless asked to
  /// measure.
  double critical_seconds() const { return critical_seconds_; }
  void reset_traffic() {
    traffic_ = {};
    critical_seconds_ = 0;
  }

  /// f(); what it throws is the caller's. Work of every rank at once.
  template <class F>
  bool attempt(F f) {
    const double begin = measure_time_ ? thread_seconds() : 0;
    f();
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
    return reduce_positions(size_, combine, [&](std::uint32_t at) -> T& { return values[at]; });
  }

  /// The same over `members` only, ascending, in the tree over their positions;
  /// one more message when rank 0 is none of them. Nothing if there are none.
  template <class T, class C>
  std::optional<T> reduce(const std::vector<std::uint32_t>& members, PerRank<T> values, C combine) {
    if (members.empty()) return std::nullopt;
    auto value_at = [&](std::uint32_t at) -> T& { return values[members[at]]; };
    std::optional<T> result =
        reduce_positions(static_cast<std::uint32_t>(members.size()), combine, value_at);
    if (members.front() != 0) {
      count(*result);
      ++traffic_.depth;
    }
    return result;
  }

  /// Several such reductions at once, over disjoint groups: the result stays at
  /// the first of each; elsewhere what is given is used up.
  template <class T, class C>
  PerRank<T> reduce_groups(const std::vector<std::vector<std::uint32_t>>& groups, PerRank<T> values,
                           C combine) {
    const std::uint32_t depth = traffic_.depth;
    std::uint32_t deepest = 0;
    for (const auto& group : groups) {
      if (group.empty()) continue;
      auto result = reduce_positions(static_cast<std::uint32_t>(group.size()), combine,
                                     [&](std::uint32_t at) -> T& { return values[group[at]]; });
      values[group.front()] = std::move(*result);
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

  /// No rank is absent. As many messages as in a real job.
  Absent absent(bool) {
    for (std::uint32_t i = 0; i < 2 * (size_ - 1); ++i) traffic_.count(sizeof(Absent));
    traffic_.depth += 2 * tree_depth(size_);
    return {};
  }

  /// Values to ranks by a plan that all ranks know: ascending, each pair once, all within the
  /// world. Returns the received values with their senders, in order of `from`; the rank's own
  /// value if the plan has it. One message for each pair of different ranks; depth one.
  template <class T>
  PerRank<std::vector<std::pair<std::uint32_t, T>>> gather(const std::vector<Transfer>& plan,
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

  /// The cost of a broadcast of `value` to `size` ranks.
  template <class T>
  void count_broadcast(const T& value, std::uint32_t size) {
    if (size > 1) count(value, size - 1);
    traffic_.depth += tree_depth(size);
  }
  template <class T>
  void count(const T& value, std::uint64_t times = 1) {
    std::uint64_t size = 0;
    if (count_bytes_) {
      ByteWriter writer;
      encode_value(writer, value);
      size = writer.bytes().size();
    }
    for (std::uint64_t i = 0; i < times; ++i) traffic_.count(size);
  }

  template <class C, class At>
  auto reduce_positions(std::uint32_t size, C& combine, At value_at) {
    using T = std::remove_reference_t<decltype(value_at(0))>;
    std::vector<double> seconds(measure_time_ ? size : 0);
    for (std::uint32_t step = 1; step < size; step *= 2) {
      for (std::uint32_t at = 0; at + step < size; at += 2 * step) {
        T& theirs = value_at(at + step);
        count(theirs);
        if (!measure_time_) {
          combine(value_at(at), std::move(theirs));
          continue;
        }
        const double begin = thread_seconds();
        combine(value_at(at), std::move(theirs));
        const double taken = thread_seconds() - begin;
        seconds[at] = std::max(seconds[at], seconds[at + step]) + taken;
      }
    }
    if (measure_time_) critical_seconds_ += seconds.front();
    traffic_.depth += tree_depth(size);
    return std::optional<T>(std::move(value_at(0)));
  }

  std::uint32_t size_;
  bool count_bytes_;
  bool measure_time_;
  Traffic traffic_;
  double critical_seconds_ = 0;
  SmallVote cast_;
};

}  // namespace chameleon::world
