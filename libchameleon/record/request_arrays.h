// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Arrays of requests that are completed one by one, by Waitany and its like. The order of messages
/// decides which entries are null already, so an array of three requests could be recorded in seven
/// ways. A null entry is therefore recorded as the request that it was in the array before, unless
/// another request has that id by now: a request that is not open reads as null. All calls on a
/// batch thus have one array.
///
/// The address of an entry cannot identify it, since Fortran and Python wrappers pass copies.
///
/// Cost: a copy of an array without null entries; for others a comparison with at most kKept
/// arrays. Memory: these arrays.

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "record/slots.h"

namespace chameleon::record {

class RequestArrays {
 public:
  /// The array to record for these ids, of which null ones are -1. Holds until the next call.
  std::span<const std::int64_t> named(std::span<const std::int64_t> ids, const Slots& requests) {
    const bool whole = std::find(ids.begin(), ids.end(), -1) == ids.end();
    std::size_t at = 0;
    while (at < kKept &&
           !(whole ? std::ranges::equal(kept_[at], ids) : stands_for(kept_[at], ids, requests)))
      ++at;
    if (at == kKept) kept_[--at].assign(ids.begin(), ids.end());
    std::rotate(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(at),
                kept_.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    return kept_.front();
  }

 private:
  static constexpr std::size_t kKept = 8;

  /// Whether they differ only in entries that are null now and were requests that have ended.
  static bool stands_for(std::span<const std::int64_t> before, std::span<const std::int64_t> ids,
                         const Slots& requests) {
    return std::ranges::equal(before, ids, [&](std::int64_t old, std::int64_t id) {
      return old == id || (id == -1 && old >= 0 && requests.is_free(old));
    });
  }

  std::array<std::vector<std::int64_t>, kKept> kept_;  ///< the latest first
};

}  // namespace chameleon::record
