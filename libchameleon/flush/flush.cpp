// SPDX-License-Identifier: BSD-3-Clause
#include "flush/flush.h"

#include "compress/merge.h"

namespace chameleon::flush {

Trace finish_flush(Trace merged, const std::vector<ShareClass>& classes, const FlushPlan& plan) {
  drop_ranks(merged);
  RankList paused;
  for (const ShareClass& one : classes) {
    if (!merged.ranks.contains(one.ranks.first())) continue;  // lost on the way here
    plan.find_sender(one.ranks.first())->ranks.for_each([&](std::uint32_t rank) {
      merged.facts[rank].events = one.events;
    });
    if (one.paused) paused.merge(one.ranks);
  }
  if (!paused.empty()) merged.declarations.push_back({kPausedDeclaration, paused});
  return merged;
}

}  // namespace chameleon::flush
