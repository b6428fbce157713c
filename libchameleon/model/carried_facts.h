// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Facts that this version does not know: a newer one wrote them, with their names, units and how
/// they are joined, so that they can be joined, written again and shown all the same. Memory is
/// that of their values as a sequence; joining is linear in ranks.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/facts.h"
#include "model/rank_list.h"
#include "model/value_sequence.h"

namespace chameleon::inline model {

struct CarriedFact {
  std::string name;
  std::string unit;
  std::uint8_t join = 0;  ///< a Join, or a number that is not known either: the first part's holds
  bool is_text = false;
  bool of_run = false;  ///< one value, and no ranks; else one for each rank
  RankList ranks;
  ValueSequence values;            ///< of texts: places in `texts`
  std::vector<std::string> texts;  ///< each once

  Join how() const { return join <= static_cast<int>(Join::kClock) ? Join{join} : Join::kFirst; }
};

using CarriedFacts = std::vector<CarriedFact>;
inline constexpr std::size_t kMostCarriedFacts = 256;
using FactsOfRanks = std::map<std::uint32_t, RankFacts>;

/// Whether another part of the same trace may carry these: facts of one name are numbers in both
/// or texts, and there are not too many.
bool fits(const CarriedFacts& first, const CarriedFacts& second);

/// Joins what another part of a trace carries; what does not fit is left out. The facts of the
/// ranks in both parts, before these are joined, decide whose node and clock hold.
void join(CarriedFacts& first, const CarriedFacts& second, const FactsOfRanks& first_facts,
          const FactsOfRanks& second_facts);

/// For ranks that `said` has, its values replace the others.
void supersede(CarriedFacts& carried, const CarriedFacts& said);

}  // namespace chameleon::inline model
