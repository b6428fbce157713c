// SPDX-License-Identifier: BSD-3-Clause
#include "model/time_table.h"

#include <algorithm>

namespace chameleon::inline model {
namespace {

void merge(Durations& mine, const Durations& theirs) {
  mine.compute.merge(theirs.compute);
  mine.communication.merge(theirs.communication);
}

void scale(Durations& times, double share) {
  times.compute.scale(share);
  times.communication.scale(share);
}

double share_of(const RankList& part, const RankList& whole) {
  return static_cast<double>(part.size()) /
         static_cast<double>(std::max<std::uint64_t>(whole.size(), 1));
}

}  // namespace

TimeTable TimeTable::of(const std::vector<StreamAccounts>& streams) {
  TimeTable table;
  for (const StreamAccounts& one : streams) {
    const std::uint32_t mine = table.add_class({RankList::single(one.stream), 0});
    for (const Account& account : one.accounts) table.add(account.place, mine, account.times);
    for (const auto& [place, wait] : one.waits) table.waits_.add(place, mine, wait);
  }
  return table;
}

std::vector<Place> TimeTable::sorted() const {
  std::vector<Place> sorted;
  sorted.reserve(places_.size());
  for (const auto& [place, times] : places_) sorted.push_back(place);
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

std::uint32_t TimeTable::class_of(std::uint32_t stream) const {
  for (std::uint32_t i = 0; i < classes_.size(); ++i)
    if (classes_[i].streams.contains(stream)) return i;
  return ClassTimes::kAll;
}

const Durations* TimeTable::find(const Place& place, std::uint32_t time_class) const {
  const auto found = places_.find(place);
  if (found == places_.end()) return nullptr;
  const Durations* of_all = nullptr;
  for (const ClassTimes& one : found->second) {
    if (one.of == time_class) return &one.times;
    if (one.of == ClassTimes::kAll) of_all = &one.times;
  }
  return of_all;
}

bool TimeTable::apart(const Place& place, std::uint32_t time_class) const {
  const auto found = places_.find(place);
  return found != places_.end() &&
         std::any_of(found->second.begin(), found->second.end(),
                     [&](const ClassTimes& one) { return one.of == time_class; });
}

RankList TimeTable::streams() const {
  RankList all;
  for (const TimeClass& one : classes_) all.merge(one.streams);
  return all;
}

Durations TimeTable::total() const {
  Durations total;
  for (const auto& [place, times] : places_)
    for (const ClassTimes& one : times) merge(total, one.times);
  return total;
}

std::uint32_t TimeTable::add_class(TimeClass time_class) {
  classes_.push_back(std::move(time_class));
  return static_cast<std::uint32_t>(classes_.size() - 1);
}

void TimeTable::add(const Place& place, std::uint32_t time_class, Durations times,
                    const ClassTimes::ByKind& matters) {
  std::vector<ClassTimes>& there = places_[place];
  for (ClassTimes& one : there)
    if (one.of == time_class) return merge(one.times, times);
  there.push_back({time_class, std::move(times), matters});
}

void TimeTable::leave_out(const RankList& gone) {
  const RankList all = streams();
  const double left_of_all = share_of(all.minus(gone), all);
  std::vector<double> left;
  std::vector<std::uint32_t> numbers;
  std::vector<TimeClass> kept;
  for (TimeClass& one : classes_) {
    RankList rest = one.streams.minus(gone);
    left.push_back(share_of(rest, one.streams));
    numbers.push_back(static_cast<std::uint32_t>(kept.size()));
    if (!rest.empty()) kept.push_back({std::move(rest), one.spread});
  }
  for (auto& [place, times] : places_) {
    std::erase_if(times, [&](const ClassTimes& one) {
      return (one.of == ClassTimes::kAll ? left_of_all : left[one.of]) == 0;
    });
    for (ClassTimes& one : times) {
      const double share = one.of == ClassTimes::kAll ? left_of_all : left[one.of];
      if (share < 1) scale(one.times, share);
      if (one.of != ClassTimes::kAll) one.of = numbers[one.of];
    }
  }
  std::erase_if(places_, [](const auto& place) { return place.second.empty(); });
  waits_.renumber(numbers, left);
  classes_ = std::move(kept);
}

void TimeTable::supersede(TimeTable other) {
  if (other.empty()) return;
  const RankList theirs = other.streams();
  if (streams().intersects(theirs)) leave_out(theirs);
  const auto first = static_cast<std::uint32_t>(classes_.size());
  for (TimeClass& one : other.classes_) classes_.push_back(std::move(one));
  std::vector<std::uint32_t> numbers;
  for (std::size_t i = 0; i < other.classes_.size(); ++i)
    numbers.push_back(first + static_cast<std::uint32_t>(i));
  other.waits_.renumber(numbers, std::vector<double>(numbers.size(), 1));
  waits_.merge(other.waits_);
  for (auto& [place, times] : other.places_)
    for (ClassTimes& one : times)
      add(place, one.of == ClassTimes::kAll ? ClassTimes::kAll : one.of + first,
          std::move(one.times), one.matters);
}

Accounts TimeTable::accounts_of(std::uint32_t time_class) const {
  Accounts accounts;
  const double share = share_of(classes_[time_class].streams, streams());
  for (const Place& place : sorted()) {
    const Durations* const times = find(place, time_class);
    if (times == nullptr) continue;
    Account& account = accounts.emplace_back(Account{place, *times});
    if (!apart(place, time_class)) scale(account.times, share);
  }
  return accounts;
}

}  // namespace chameleon::inline model
