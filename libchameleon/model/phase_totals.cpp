// SPDX-License-Identifier: BSD-3-Clause
#include "model/phase_totals.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <limits>
#include <utility>

#include "base/time_between.h"

namespace chameleon::inline model {

void SpentTimes::add(const SpentTimes& more) {
  for (const SpentTime kind : kSpentTimes)
    if (__builtin_add_overflow(this->*kind, more.*kind, &(this->*kind))) this->*kind = UINT64_MAX;
}

std::uint64_t SpentTimes::sum() const {
  std::uint64_t all = 0;
  for (const SpentTime kind : kSpentTimes)
    if (__builtin_add_overflow(all, this->*kind, &all)) return UINT64_MAX;
  return all;
}

SpentTimes SpentTimes::without(const SpentTimes& part) const {
  SpentTimes left;
  for (const SpentTime kind : kSpentTimes) left.*kind = time_between(part.*kind, this->*kind);
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
  TotalsByClass classes;
  for (const Entry& entry : entries_) classes.add(times.class_of(entry.ranks.first()), entry);
  *this = classes.means();
}

void TotalsByClass::add(std::uint32_t time_class, const PhaseTotals::Entry& entry) {
  OfClass& sum = sums_[time_class];
  const auto ranks = static_cast<double>(entry.ranks.size());
  for (const auto& [phase, spent] : entry.phases) {
    Sums& all = sum.phases[phase];
    for (std::size_t i = 0; i < all.size(); ++i)
      all[i] += static_cast<double>(spent.*kSpentTimes[i]) * ranks;
  }
  sum.ranks.merge(entry.ranks);
}

void TotalsByClass::join(const TotalsByClass& other) {
  for (const auto& [time_class, theirs] : other.sums_) {
    OfClass& sum = sums_[time_class];
    for (const auto& [phase, spent] : theirs.phases) {
      Sums& all = sum.phases[phase];
      for (std::size_t i = 0; i < all.size(); ++i) all[i] += spent[i];
    }
    sum.ranks.merge(theirs.ranks);
  }
}

PhaseTotals TotalsByClass::means() const {
  constexpr double kMost = 9e18;  // fits
  PhaseTotals totals;
  for (const auto& [time_class, sum] : sums_) {
    PhaseTotals::ByPhase means;
    const double ranks = std::max(static_cast<double>(sum.ranks.size()), 1.0);
    for (const auto& [phase, spent] : sum.phases)
      for (std::size_t i = 0; i < spent.size(); ++i)
        means[phase].*kSpentTimes[i] =
            static_cast<std::uint64_t>(std::min(spent[i] / ranks + 0.5, kMost));
    totals.add(sum.ranks, std::move(means));
  }
  return totals;
}

void TotalsByClass::encode(ByteWriter& writer) const {
  writer.varint(sums_.size());
  for (const auto& [time_class, sum] : sums_) {
    writer.varint(time_class);
    sum.ranks.encode(writer);
    writer.varint(sum.phases.size());
    for (const auto& [phase, spent] : sum.phases) {
      writer.varint(phase);
      for (const double ns : spent) writer.u64(std::bit_cast<std::uint64_t>(ns));
    }
  }
}

bool TotalsByClass::decode(ByteReader& reader, TotalsByClass& value) {
  constexpr std::size_t kLeastBytes = 1 + sizeof(Sums);
  for (std::uint64_t classes = reader.count(3); classes != 0 && reader.ok(); --classes) {
    OfClass& sum = value.sums_[static_cast<std::uint32_t>(reader.varint())];
    if (!RankList::decode(reader, sum.ranks)) return false;
    for (std::uint64_t phases = reader.count(kLeastBytes); phases != 0 && reader.ok(); --phases)
      for (double& ns : sum.phases[static_cast<std::uint32_t>(reader.varint())]) {
        ns = std::bit_cast<double>(reader.u64());
        if (!(ns >= 0 && ns <= std::numeric_limits<double>::max())) return false;
      }
  }
  return reader.ok();
}

}  // namespace chameleon::inline model
