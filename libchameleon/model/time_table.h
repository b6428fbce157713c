// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The times of a trace: what streams of like times (classes) spent, by place. A class holds what
/// was added up over all its streams, so that sums over the streams are exact whatever the classes,
/// and says how far a stream may be from it. Places that take hardly any time have one entry for
/// all classes. A stream's time at a place is its own number of events there times the mean.
///
/// Memory: some 200 bytes a place and class. Look-ups are O(1), to find a class O(classes).

#include <array>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/account_book.h"
#include "model/marker_waits.h"
#include "model/rank_list.h"

namespace chameleon::inline model {

struct TimeClass {
  RankList streams;
  /// Largest deviation of a stream's mean from the class's, relative to the stream's, at places
  /// that take at least a hundredth of the stream's time.
  double spread = 0;
};

struct ClassTimes {
  static constexpr std::uint32_t kAll = UINT32_MAX;
  using ByKind = std::array<bool, 2>;  ///< of compute times, of times in calls

  std::uint32_t of = kAll;  ///< a class, or all that have no entry of their own
  Durations times;
  ByKind matters = {};  ///< of some stream of some class: written for each class
};

class TimeTable {
 public:
  using Places = std::unordered_map<Place, std::vector<ClassTimes>, Place::Hash>;

  /// A class for each stream, which has all its accounts.
  static TimeTable of(const std::vector<StreamAccounts>& streams);

  bool empty() const { return places_.empty(); }
  const std::vector<TimeClass>& classes() const { return classes_; }
  const Places& places() const { return places_; }
  /// Places in ascending order.
  std::vector<Place> sorted() const;
  /// The class of a stream; `kAll`: it has none.
  std::uint32_t class_of(std::uint32_t stream) const;
  /// Null: no stream of the class has been there.
  const Durations* find(const Place& place, std::uint32_t time_class) const;
  /// Whether the class has an entry of its own at a place.
  bool apart(const Place& place, std::uint32_t time_class) const;
  RankList streams() const;
  /// Events and ns that all accounts come to.
  Durations total() const;

  /// The waiting at markers, by these classes.
  const MarkerWaits& waits() const { return waits_; }
  void set_waits(MarkerWaits waits) { waits_ = std::move(waits); }

  std::uint32_t add_class(TimeClass time_class);
  void add(const Place& place, std::uint32_t time_class, Durations times,
           const ClassTimes::ByKind& matters = {});
  /// All that a new place has; false if the place is known.
  bool set(const Place& place, std::vector<ClassTimes> times) {
    return places_.try_emplace(place, std::move(times)).second;
  }
  /// For streams in both, the times of `other` replace those of this, which are scaled to the
  /// streams that remain.
  void supersede(TimeTable other);
  /// The times of a class, as accounts of a stream; places of all classes in proportion.
  Accounts accounts_of(std::uint32_t time_class) const;

 private:
  void leave_out(const RankList& streams);

  std::vector<TimeClass> classes_;
  Places places_;
  MarkerWaits waits_;
};

}  // namespace chameleon::inline model
