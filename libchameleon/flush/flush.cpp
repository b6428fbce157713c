// SPDX-License-Identifier: BSD-3-Clause
#include "flush/flush.h"

#include "compress/merge.h"
#include "format/packed_facts.h"

namespace chameleon::flush {

Trace finish_flush(Trace merged, const std::vector<ShareClass>& classes, const FlushPlan& plan) {
  drop_ranks(merged);
  const bool large = merged.world_size > format::PackedFacts::kMostExact;
  RankList paused;
  const auto count = [&](std::uint32_t rank, std::uint64_t events) {
    const FlushPlan::Entry* entry = plan.find_sender(rank);
    const RankList ranks = entry != nullptr ? entry->ranks : RankList::single(rank);
    ranks.for_each([&](std::uint32_t each) { merged.facts[each].events = events; });
  };
  for (const ShareClass& one : classes) {
    if (one.paused) paused.merge(one.ranks.intersection(merged.ranks));
    if (large) continue;
    const std::uint32_t first = one.ranks.first();
    if (!one.is_crowd() && merged.ranks.contains(first)) count(first, one.events);
    for (const ShareClass::Count& some : one.counts)
      some.ranks.intersection(merged.ranks).for_each([&](std::uint32_t rank) {
        count(rank, some.events);
      });
  }
  if (!paused.empty()) merged.declarations.push_back({kPausedDeclaration, paused});
  return merged;
}

}  // namespace chameleon::flush
