// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// What the parts of world_program share.

#include <cstdint>
#include <string>

#include "world/mpi_world.h"
#include "world/virtual_world.h"

namespace world_test {

/// This rank.
extern std::uint32_t me;

/// A line and exit status 1 if `condition` does not hold.
void check(bool condition, const char* what);

/// Shows the order of combination.
inline void join(std::string& mine, std::string&& theirs) { mine = "(" + mine + theirs + ")"; }

/// A barrier in which waiting leaves the processor to others: ranks wait here for seconds.
void idle_barrier(MPI_Comm comm);

/// Whether all ranks together sent what the virtual world counted. Collective.
void check_traffic(const chameleon::world::Traffic& own, const chameleon::world::Traffic& expected,
                   MPI_Comm comm);

/// Subsets and broadcasts from several roots, with messages of at most `piece_bytes`.
void subsets(std::uint32_t size, std::size_t piece_bytes);
/// Messages by a plan, CAPEK and the choice of strata's members.
void sampling(std::uint32_t size);
/// What ranks say of themselves.
void reports(std::uint32_t size);
/// What ranks compute, clustered and sampled.
void effort_windows(std::uint32_t size);
/// A rank of a subset comes too late.
void subset_timeout(std::uint32_t size);

}  // namespace world_test
