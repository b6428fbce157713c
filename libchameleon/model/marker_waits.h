// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The waiting of streams at markers for slower ranks, by the place of the next event. A marker is
/// no event, so only this says where between a stream's events it waited. Kept by class of streams,
/// because classes differ in which of them wait. Grows with the distinct places after markers,
/// which are a few in most programs.

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
  /// The waiting of the streams of a class, in ns.
  std::uint64_t of_class(std::uint32_t time_class) const;

  bool operator==(const MarkerWaits&) const = default;

 private:
  Places places_;
};

}  // namespace chameleon::inline model
