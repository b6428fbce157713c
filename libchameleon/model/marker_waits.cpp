// SPDX-License-Identifier: BSD-3-Clause
#include "model/marker_waits.h"

#include <utility>

namespace chameleon::inline model {

void MarkerWaits::add(const Place& place, std::uint32_t time_class, const MarkerWait& wait) {
  At& at = places_[place];
  at.all.add(wait);
  at.ns[time_class] += wait.ns;
}

void MarkerWaits::merge(const MarkerWaits& other) {
  for (const auto& [place, theirs] : other.places_) {
    At& mine = places_[place];
    mine.all.add(theirs.all);
    for (const auto& [time_class, ns] : theirs.ns) mine.ns[time_class] += ns;
  }
}

void MarkerWaits::renumber(const std::vector<std::uint32_t>& numbers,
                           const std::vector<double>& left) {
  for (auto& [place, at] : places_) {
    std::uint64_t all = 0;
    for (const auto& [time_class, ns] : std::exchange(at.ns, {})) {
      if (time_class >= left.size() || left[time_class] <= 0) continue;
      const double rest = static_cast<double>(ns) * left[time_class];
      all += at.ns[numbers[time_class]] += static_cast<std::uint64_t>(rest + 0.5);
    }
    at.all.ns = all;
  }
  std::erase_if(places_, [](const auto& place) { return place.second.ns.empty(); });
}

std::uint64_t MarkerWaits::of_class(std::uint32_t time_class) const {
  std::uint64_t sum = 0;
  for (const auto& [place, at] : places_)
    if (const auto found = at.ns.find(time_class); found != at.ns.end()) sum += found->second;
  return sum;
}

}  // namespace chameleon::inline model
