// SPDX-License-Identifier: BSD-3-Clause
#include "record/pair_tallies.h"

namespace chameleon::record {

std::uint32_t PairTallies::look_up(std::uint32_t source, std::uint8_t size, std::uint64_t key) {
  const auto known = place_of_.find(key);
  if (known != place_of_.end()) return known->second;
  if (sources_.size() == kMostSources && !sources_.contains(source)) return kOthers;
  Tally tally;
  tally.source = source;
  tally.size = size;
  sources_.insert(source);
  tallies_.push_back(tally);
  const auto place = static_cast<std::uint32_t>(tallies_.size() - 1);
  place_of_.emplace(key, place);
  return place;
}

void PairTallies::report(std::uint32_t stream, double ns_per_tick, PairAccounts& accounts) const {
  const auto ns = [&](std::uint64_t ticks) {
    return static_cast<std::uint64_t>(static_cast<double>(ticks) * ns_per_tick);
  };
  accounts.add(PairAccounts::Others{tallies_[kOthers].messages, ns(tallies_[kOthers].ticks)});
  for (std::size_t i = kOthers + 1; i < tallies_.size(); ++i) {
    const Tally& tally = tallies_[i];
    if (tally.messages == 0) continue;
    accounts.add({stream, tally.source, tally.size, tally.messages, ns(tally.ticks),
                  ns(tally.longest), tally.event});
  }
  accounts.settle();
}

}  // namespace chameleon::record
