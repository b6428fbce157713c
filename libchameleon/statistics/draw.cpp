// SPDX-License-Identifier: BSD-3-Clause
#include "statistics/draw.h"

#include <algorithm>

#include "base/hash.h"

namespace chameleon::statistics {

std::vector<std::uint32_t> draw(std::uint32_t population, std::uint32_t size, std::uint64_t seed) {
  std::vector<std::uint32_t> drawn;
  size = std::min(size, population);
  drawn.reserve(size);
  for (std::uint32_t last = population - size; last < population; ++last) {
    const auto number = static_cast<std::uint32_t>(combine(seed, last) % (std::uint64_t{last} + 1));
    const auto place = std::lower_bound(drawn.begin(), drawn.end(), number);
    if (place == drawn.end() || *place != number)
      drawn.insert(place, number);
    else
      drawn.push_back(last);  // higher than all before
  }
  return drawn;
}

}  // namespace chameleon::statistics
