// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// What streams waited at markers for slower ranks, by place: that of the event that came next. A
/// marker is no event, so this alone says where between a stream's events the waiting was. Kept
/// per class of streams, since which of them wait is what classes differ in. Grows with distinct
/// places after markers only, which are a few in most programs.

#include <cstdint>
#include <map>
#include <vector>

#include "model/account_book.h"

namespace chameleon::inline model {

class MarkerWaits {
 public:
  struct At {
    MarkerWait all;                             ///< of all classes
    std::map<std::uint32_t, std::uint64_t> ns;  ///< by class, over its streams

    bool operator==(const At&) const = default;
  };
  using Places = std::map<Place, At>;

  bool empty() const { return places_.empty(); }
  const Places& places() const { return places_; }
  void add(const Place& place, std::uint32_t time_class, const MarkerWait& wait);
  void merge(const MarkerWaits& other);
  /// Class i becomes `numbers[i]`, with `left[i]` of its waiting; without any left it is gone.
  void renumber(const std::vector<std::uint32_t>& numbers, const std::vector<double>& left);
  /// What the streams of a class waited, in ns.
  std::uint64_t of_class(std::uint32_t time_class) const;

  bool operator==(const MarkerWaits&) const = default;

 private:
  Places places_;
};

}  // namespace chameleon::inline model
