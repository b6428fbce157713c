// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The cost of a simulated job, for each number of ranks.

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "signature/signature.h"
#include "simulated_end.h"
#include "world/world.h"

namespace chameleon::tools::simulate_verb {

struct Row {
  std::uint32_t ranks = 0;
  world::Traffic vote, clustering, merging;
  SimulatedEnd end;
  double vote_seconds = 0;  ///< of work on the critical path
  double clustering_seconds = 0;
  double merging_seconds = 0;
  std::size_t call_paths = 0, leads = 0;
  std::size_t largest = 0;  ///< most leads of a main cluster
  signature::SignatureFormat format = 0;
  std::uint64_t trace_bytes = 0;
  bool filtered = false;  ///< kinds of values stayed at home
  double seconds = 0;     ///< of this process
};

void print_heads();
void print_row(const Row& row, bool merged);
nlohmann::ordered_json json_row(const Row& row, bool merged);

}  // namespace chameleon::tools::simulate_verb
