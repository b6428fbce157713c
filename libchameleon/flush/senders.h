// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The senders of a flush by place, as they follow from its plan: the same on all ranks.

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "flush/plan.h"
#include "world/absent.h"

namespace chameleon::flush {

/// Ranks by place, ascending, without those that are absent. A place costs O(log runs).
class SenderGroup {
 public:
  SenderGroup() = default;
  explicit SenderGroup(RankList ranks);

  std::size_t size() const { return starts_.empty() ? 0 : starts_.back() - absent_; }
  bool empty() const { return size() == 0; }
  std::uint32_t front() const { return (*this)[0]; }
  std::uint32_t operator[](std::size_t place) const;
  bool contains(std::uint32_t rank) const;
  void leave_out(const Absent& absent);

 private:
  std::uint32_t among_all(std::size_t place) const;

  RankList ranks_;
  std::vector<std::size_t> starts_;  ///< the place of each run's first rank, and the end
  std::array<std::uint32_t, Absent::kMostNamed> left_out_{};  ///< ascending
  std::size_t absent_ = 0;
};

/// Rank 0 before the ranks of a group without it; no rank where there is no such group.
class DirectSenders {
 public:
  std::size_t size() const { return group_.empty() ? 0 : group_.size() + 1; }
  bool empty() const { return group_.empty(); }
  std::uint32_t front() const { return 0; }
  std::uint32_t operator[](std::size_t place) const { return place == 0 ? 0 : group_[place - 1]; }
  const SenderGroup& group() const { return group_; }
  void take(SenderGroup& group);

 private:
  SenderGroup group_;
};

/// A rank's part in a plan, made before anyone counts on it; complete after `leave_out`.
struct Senders {
  std::vector<SenderGroup> groups;
  std::vector<std::uint32_t> firsts;  ///< of the groups, ascending
  /// The largest of the groups without rank 0, where it has more than one rank.
  DirectSenders direct;

  bool sends_directly(std::uint32_t rank) const { return direct.group().contains(rank); }
  /// Without the ranks that are absent. No allocation.
  void leave_out(const Absent& absent);

 private:
  void choose_direct();
};
Senders senders_of(const FlushPlan& plan);

}  // namespace chameleon::flush
