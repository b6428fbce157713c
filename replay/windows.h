// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The memory behind a replay's windows. A window is as large as it was on every rank, so
/// displacements of the traced run lie inside it. Only in a dynamic window they are addresses of
/// the traced processes: there every rank attaches one piece of memory of its own, as large as the
/// largest that anyone attached or moved in one call, and displacements are mapped into it. By id
/// of the window; memory of what is attached and of one address a rank; look-ups are O(log n).

#include <mpi.h>

#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "replay/pool.h"
#include "replay/word.h"

namespace chameleon::replay {

class Windows {
 public:
  /// A window was made; `memory` is that of Win_create. Its errors return from now on.
  void made(std::int64_t id, MPI_Win win, std::vector<Pool::Block> memory);
  /// Collective over `comm`: `largest` is what this rank needs at most in one piece.
  void made_dynamic(std::int64_t id, MPI_Win win, MPI_Comm comm, std::uint64_t largest, Pool& pool);
  void freed(std::int64_t id) { windows_.erase(id); }
  void rename(std::int64_t from, std::int64_t to) {
    windows_[to] = std::move(windows_[from]);
    windows_.erase(from);
  }

  void attached(std::int64_t id, std::vector<Pool::Block> memory);
  /// The piece that a Win_detach is for: the trace does not say which of several, so the oldest;
  /// null if there is none.
  void* oldest(std::int64_t id);
  void detached(std::int64_t id);

  /// Buffers of an operation on `target`, which uses them until it is completed.
  void begun(std::int64_t id, int target, std::vector<Pool::Block> buffers);
  /// Operations on `target` are complete; -1: on all.
  void completed(std::int64_t id, int target);

  /// Makes `displacement` one at which `target` has room for bytes `low` to `high` around it;
  /// false if it has not. Windows that are not dynamic are left alone.
  bool place(std::int64_t id, int target, std::int64_t low, std::int64_t high,
             Word& displacement) const;

 private:
  struct Window {
    std::vector<Pool::Block> memory;
    std::deque<std::vector<Pool::Block>> attached;
    std::vector<std::pair<int, std::vector<Pool::Block>>> in_use;  ///< by target
    bool dynamic = false;
    std::uint64_t room = 0;           ///< at every address
    std::vector<MPI_Aint> addresses;  ///< of ranks
  };
  std::map<std::int64_t, Window> windows_;
};

}  // namespace chameleon::replay
