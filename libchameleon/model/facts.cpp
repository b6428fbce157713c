// SPDX-License-Identifier: BSD-3-Clause
#include "model/facts.h"

#include <iterator>

namespace chameleon::inline model {
namespace {

/// Sections of the file that are older than 1.4 hold facts in the order of the table.
template <std::size_t n>
constexpr bool in_order_of_versions(const Fact (&rows)[n]) {
  for (std::size_t i = 1; i < n; ++i)
    if (rows[i].since_minor() < rows[i - 1].since_minor()) return false;
  return true;
}
static_assert(in_order_of_versions(kRankFacts) && in_order_of_versions(kRunFacts) &&
              in_order_of_versions(kOnlineFacts));

}  // namespace

void join(RankFacts& first, const RankFacts& second) {
  const Precedence second_holds = precedence(first, second);
  for_each_rank_fact([&](const Fact& fact, auto member) {
    first.*member = joined(first.*member, second.*member, fact.join, second_holds);
  });
}

void join(RunFacts& first, const RunFacts& second) {
  for_each_run_fact([&](const Fact& fact, auto member) {
    first.*member = joined(first.*member, second.*member, fact.join, {});
  });
}

}  // namespace chameleon::inline model
