// SPDX-License-Identifier: BSD-3-Clause
#include "flush/senders.h"

#include <algorithm>
#include <utility>

namespace chameleon::flush {

SenderGroup::SenderGroup(RankList ranks) : ranks_(std::move(ranks)) {
  starts_.reserve(ranks_.runs().size() + 1);
  starts_.push_back(0);
  for (const RankRun& each : ranks_.runs())
    starts_.push_back(starts_.back() + each.interval.size() * each.count);
}

std::uint32_t SenderGroup::among_all(std::size_t place) const {
  const auto after = std::upper_bound(starts_.begin(), starts_.end(), place);
  const auto index = static_cast<std::size_t>(after - starts_.begin()) - 1;
  const RankRun& run = ranks_.runs()[index];
  const auto in_run = static_cast<std::uint32_t>(place - starts_[index]);
  const auto width = static_cast<std::uint32_t>(run.interval.size());
  return run.at(in_run / width).first + in_run % width;
}

std::uint32_t SenderGroup::operator[](std::size_t place) const {
  std::uint32_t rank = among_all(place);
  for (std::size_t i = 0; i < absent_ && left_out_[i] <= rank; ++i) rank = among_all(++place);
  return rank;
}

bool SenderGroup::contains(std::uint32_t rank) const {
  const auto end = left_out_.begin() + static_cast<std::ptrdiff_t>(absent_);
  return ranks_.contains(rank) && !std::binary_search(left_out_.begin(), end, rank);
}

void SenderGroup::leave_out(const Absent& absent) {
  absent_ = 0;
  for (std::uint32_t i = 0; i < std::min(absent.count, Absent::kMostNamed); ++i)
    if (ranks_.contains(absent.ranks[i])) left_out_[absent_++] = absent.ranks[i];
  std::sort(left_out_.begin(), left_out_.begin() + static_cast<std::ptrdiff_t>(absent_));
}

void DirectSenders::take(SenderGroup& group) { group_ = std::exchange(group, SenderGroup()); }

Senders senders_of(const FlushPlan& plan) {
  std::vector<RankList> lists(plan.groups);
  for (const FlushPlan::Entry& entry : plan.entries)  // by sender
    lists[entry.group].merge(RankList::single(entry.sender));
  for (const FlushPlan::Crowd& crowd : plan.crowds) lists[crowd.group].merge(crowd.ranks);
  Senders result;
  result.groups.reserve(plan.groups);
  for (RankList& list : lists) result.groups.emplace_back(std::move(list));
  result.firsts.reserve(plan.groups);
  return result;
}

void Senders::leave_out(const Absent& absent) {
  firsts.clear();
  for (SenderGroup& group : groups) {
    group.leave_out(absent);
    if (!group.empty()) firsts.push_back(group.front());
  }
  std::sort(firsts.begin(), firsts.end());
  choose_direct();
}

/// From the groups, and their firsts.
void Senders::choose_direct() {
  if (firsts.empty() || firsts.front() != 0) return;
  SenderGroup* largest = nullptr;
  for (SenderGroup& group : groups)
    if (!group.empty() && group.front() != 0 &&
        (largest == nullptr || group.size() > largest->size()))
      largest = &group;
  if (largest == nullptr || largest->size() < 2) return;
  std::erase(firsts, largest->front());
  direct.take(*largest);
}

}  // namespace chameleon::flush
