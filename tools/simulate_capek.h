// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// `chameleon simulate capek --figure 4..9` and `simulate effort --table 1`: figures and table of
/// Gamblin et al. 2010 on virtual ranks in this process.

#include <cstdint>

#include "base/rooms.h"

namespace chameleon::tools {

struct CapekSimulation {
  std::uint32_t from = 0, to = 0;  ///< ranks; 0: as the figure has them
  std::uint32_t figure = 4, table = 1;
  std::uint64_t seed = 1;
  std::uint32_t seeds = 1;  ///< of figure 9, from `seed` on
  bool published = false;   ///< the criterion BIC as it was printed, in figures 6 and 9
  bool json = false;
};

/// Figures 4 to 8: what CAPEK costs, step by step. The exit status.
int simulate_capek_cost(const CapekSimulation& wanted);
/// Figure 9: how unlike CAPEK's clusters and PAM's are.
int simulate_capek_quality(const CapekSimulation& wanted);
/// Table 1: how many ranks must be measured.
int simulate_effort(const CapekSimulation& wanted);

}  // namespace chameleon::tools
