// SPDX-License-Identifier: BSD-3-Clause
#include "model/phase_totals.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace chameleon::inline model {

void SpentTimes::add(const SpentTimes& more) {
  for (const SpentTime kind : kSpentTimes)
    if (__builtin_add_overflow(this->*kind, more.*kind, &(this->*kind))) this->*kind = UINT64_MAX;
}

SpentTimes SpentTimes::without(const SpentTimes& part) const {
  SpentTimes left;
  for (const SpentTime kind : kSpentTimes)
    left.*kind = this->*kind - std::min(this->*kind, part.*kind);
  return left;
}

RankList PhaseTotals::ranks() const {
  RankList all;
  for (const Entry& entry : entries_) all.merge(entry.ranks);
  return all;
}

void PhaseTotals::add(RankList ranks, ByPhase phases) {
  if (ranks.empty()) return;
  const auto after = std::upper_bound(
      entries_.begin(), entries_.end(), ranks.first(),
      [](std::uint32_t first, const Entry& entry) { return first < entry.ranks.first(); });
  entries_.insert(after, {std::move(ranks), std::move(phases)});
}

void PhaseTotals::supersede(PhaseTotals other) {
  if (other.empty()) return;
  if (!entries_.empty()) {
    const RankList theirs = other.ranks();
    for (Entry& entry : entries_)
      if (entry.ranks.intersects(theirs)) entry.ranks = entry.ranks.minus(theirs);
    std::erase_if(entries_, [](const Entry& entry) { return entry.ranks.empty(); });
  }
  entries_.insert(entries_.end(), std::make_move_iterator(other.entries_.begin()),
                  std::make_move_iterator(other.entries_.end()));
  std::sort(entries_.begin(), entries_.end(),
            [](const Entry& a, const Entry& b) { return a.ranks.first() < b.ranks.first(); });
}

void PhaseTotals::limit(const TimeTable& times) {
  if (entries_.size() <= kMostByRank) return;
  std::map<std::uint32_t, std::vector<const Entry*>> classes;
  for (const Entry& entry : entries_)
    classes[times.class_of(entry.ranks.first())].push_back(&entry);
  PhaseTotals joined;
  for (const auto& [of, members] : classes) {
    RankList ranks;
    std::map<std::uint32_t, std::array<double, kSpentTimes.size()>> sums;
    for (const Entry* member : members) {
      ranks.merge(member->ranks);
      for (const auto& [phase, spent] : member->phases)
        for (std::size_t i = 0; i < kSpentTimes.size(); ++i)
          sums[phase][i] += static_cast<double>(member->ranks.size()) *
                            static_cast<double>(spent.*kSpentTimes[i]);
    }
    ByPhase means;
    for (const auto& [phase, sum] : sums)
      for (std::size_t i = 0; i < kSpentTimes.size(); ++i)
        means[phase].*kSpentTimes[i] =
            static_cast<std::uint64_t>(sum[i] / static_cast<double>(ranks.size()) + 0.5);
    joined.add(std::move(ranks), std::move(means));
  }
  *this = std::move(joined);
}

}  // namespace chameleon::inline model
