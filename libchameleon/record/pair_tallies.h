// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Sums of what a stream waited for each sender, by size of message. Cost: some 3 ns for each
/// receive from one of the last senders, else a look-up. Memory: 40 bytes for each sender and size,
/// with at most 64 sizes of `kMostSources` senders: receives from further ones are one sum.

#include <array>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "model/pair_accounts.h"

namespace chameleon::record {

class PairTallies {
 public:
  static constexpr std::size_t kMostSources = 1024;
  static constexpr std::uint32_t kOthers = 0;  ///< the tally of senders that are not told apart

  /// The tally of a sender (rank in the world) and a size (see PairAccount).
  std::uint32_t find(std::uint32_t source, std::uint8_t size) {
    const std::uint64_t key = (std::uint64_t{source} << 8 | size) + 1;  // 0 is of nothing
    auto& recent = recent_[(key ^ key >> 8) % kRecent];
    if (recent.first != key) recent = {key, look_up(source, size, key)};
    return recent.second;
  }
  /// A receive that the stream's event of this number completed.
  void add(std::uint32_t place, std::uint64_t ticks, std::uint64_t event) {
    Tally& tally = tallies_[place];
    ++tally.messages;
    tally.ticks += ticks;
    if (tally.event != 0 && ticks <= tally.longest) return;
    tally.longest = ticks;
    tally.event = event;
  }
  void report(std::uint32_t stream, double ns_per_tick, PairAccounts& accounts) const;

 private:
  static constexpr std::size_t kRecent = 64;

  struct Tally {
    std::uint32_t source = 0;
    std::uint8_t size = 0;
    std::uint64_t messages = 0, ticks = 0, longest = 0, event = 0;
  };

  std::uint32_t look_up(std::uint32_t source, std::uint8_t size, std::uint64_t key);

  std::vector<Tally> tallies_ = std::vector<Tally>(kOthers + 1);
  std::unordered_map<std::uint64_t, std::uint32_t> place_of_;  ///< by key
  std::unordered_set<std::uint32_t> sources_;
  std::array<std::pair<std::uint64_t, std::uint32_t>, kRecent> recent_{};
};

}  // namespace chameleon::record
