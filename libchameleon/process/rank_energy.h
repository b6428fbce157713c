// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The cost of a rank's run in instructions and, on one rank of each node, in energy. Instructions
/// at markers and in MPI_Finalize are the tool's. Unless it is started it does nothing.

#include <cstdint>
#include <optional>
#include <string>

#include "model/facts.h"
#include "process/energy_meter.h"
#include "process/instruction_counter.h"

namespace chameleon::process {

class RankEnergy {
 public:
  /// The run begins. `reads_node`: the rank reads the energy of its node.
  void start(bool reads_node);
  /// The tool begins to work, and ends. Energy is read once a second.
  void enter();
  void leave();
  /// Nothing is counted any more.
  void end();

  void report(RankFacts& facts) const;

 private:
  void read_node(double least_seconds);

  InstructionCounter counter_;
  EnergyMeter meter_;
  std::string no_counter_, no_meter_;  ///< why
  std::optional<std::uint64_t> entered_;
  std::uint64_t all_ = 0, tool_ = 0;  ///< instructions, until the tool last ended its work
  double read_at_ = 0;                ///< s
};

}  // namespace chameleon::process
