// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Objects of several ranks that the traced run did not see being made: their events say the
/// members, the size of a window, the mode of a file. All of them are made before the first event,
/// because members meet one at different points of their runs. One that not all of its members have
/// is not made.

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "analysis/follow.h"
#include "replay/files.h"
#include "replay/pool.h"
#include "replay/windows.h"

namespace chameleon::replay {

/// A communicator, window or file; null: it cannot be made.
struct KnownObject {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Win win = MPI_WIN_NULL;
  MPI_File file = MPI_FILE_NULL;
  std::int64_t dynamic =
      0;             ///< id of the dynamic window until it has its own, below 0; 0: it is none
  std::string path;  ///< of a file
  int rank = 0;      ///< among those who have it
};

/// Whether several ranks have what an event of this call says.
constexpr bool is_shared(CallId call) {
  return call == CallId::kCommKnown || call == CallId::kWinKnown || call == CallId::kFileKnown;
}

/// The places that they need.
struct KnownPlaces {
  const Files& files;
  Windows& windows;
  Pool& pool;
  std::function<std::uint64_t()> room;  ///< of this rank in dynamic windows
};

/// Those of this rank, which `reader` reads, in the order of their events. Collective over `comm`,
/// whose ranks are the trace's. O(events) if the trace has any.
std::vector<KnownObject> make_known_objects(Follower reader, MPI_Comm comm,
                                            const KnownPlaces& places);

}  // namespace chameleon::replay
