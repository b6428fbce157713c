// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// In how many dimensions a program thinks of its ranks: those of a Cartesian
/// communicator of all ranks if it made one, else what the distances between partners
/// suggest (most messages go 1, W and W x H ranks away). A suggestion for pictures:
/// nothing depends on it. The last dimension varies fastest, as in MPI.

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/matrix.h"

namespace chameleon::analysis {

struct RankGrid {
  std::vector<std::uint32_t> dims;  ///< one, two or three; their product is the world's size
  enum class Source : std::uint8_t { kNone, kCartesian, kDistances } source = Source::kNone;
};

/// `matrix` may be null.
RankGrid rank_grid(const Trace& trace, const CommunicationMatrix* matrix);

}  // namespace chameleon::analysis
