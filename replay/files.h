// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The files a replay reads and writes: each name of the traced run is a scratch file in a folder
/// of the replay's own, which goes when the replay ends. A file that existed before the traced run
/// is made when it is opened and grows (with holes) to what each read wants from it, so reads
/// return as many bytes as they did. By id of the open file; a read costs a size query.

#include <mpi.h>

#include <map>
#include <string>
#include <vector>

#include "replay/pool.h"
#include "replay/word.h"

namespace chameleon::replay {

class Files {
 public:
  /// `folder` exists and is seen by all ranks; empty: calls on files are left out.
  explicit Files(std::string folder = "") : folder_(std::move(folder)) {}
  bool usable() const { return !folder_.empty(); }

  /// Where the file of this name is; the same for the same name.
  std::string path_of(const std::string& name) const;
  /// Before a successful open: what must be there is, and what must not (MPI_MODE_EXCL) is not.
  /// `first`: the rank that makes the file.
  void prepare_open(const std::string& path, int mode, bool first) const;
  /// Before a successful delete.
  void prepare_delete(const std::string& path) const;

  void opened(std::int64_t id, MPI_File file, std::string path, int rank);
  void closed(std::int64_t id) { files_.erase(id); }
  void viewed(std::int64_t id, std::int64_t etype_bytes);

  /// Whose pointer says where an access begins.
  enum class From { kExplicit, kIndividual, kShared, kOrdered, kEnd };
  /// Before a read of this many bytes (a seek back from the end: of this many etypes).
  void prepare_read(std::int64_t id, MPI_File file, From from, MPI_Offset offset,
                    std::int64_t bytes) const;

  /// Buffers of a split collective, from its beginning to its end.
  void begun(std::int64_t id, std::vector<Pool::Block> buffers);
  void* split_buffer(std::int64_t id);

 private:
  struct Open {
    std::string path;
    int rank = 0;  ///< in the file's communicator
    std::int64_t etype_bytes = 1;
    std::vector<Pool::Block> split;
  };
  std::string folder_;
  std::map<std::int64_t, Open> files_;
};

}  // namespace chameleon::replay
