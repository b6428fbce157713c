// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The replay's handles by their symbolic ids, and facts of communicators and datatypes that
/// arguments depend on, asked once each. Predefined datatypes and ops are found by name, so a
/// trace may come from another MPI; a datatype missing here becomes as many bytes. O(1).

#include <mpi.h>

#include <map>
#include <optional>
#include <vector>

#include "analysis/communicators.h"
#include "model/trace.h"
#include "mpi/kinds.h"
#include "replay/word.h"

namespace chameleon::replay {

struct CommFacts {
  MPI_Comm handle = MPI_COMM_NULL;
  int rank = 0;
  int size = 0;   ///< ranks addressed: of the remote group if there is one
  int local = 0;  ///< ranks of the own group
  bool inter = false;
  int in_degree = 0;  ///< neighbours, with a topology
  int out_degree = 0;
};

struct TypeFacts {
  MPI_Datatype handle = MPI_DATATYPE_NULL;
  MPI_Count size = 0;
  MPI_Count extent = 0;
  MPI_Count true_lb = 0;
  MPI_Count true_extent = 0;
};

class Objects {
 public:
  explicit Objects(const Trace& trace);

  /// The handle of an id, or nothing if the replay has no such object.
  std::optional<Word> find(Kind kind, std::int64_t id) const;
  void store(Kind kind, std::int64_t id, Word handle);
  void erase(Kind kind, std::int64_t id);
  /// Kinds whose objects the replay keeps here.
  static bool keeps(Kind kind);
  static Word null(Kind kind);

  /// Null if there is no such object.
  const CommFacts* comm(std::int64_t id);
  const TypeFacts* type(std::int64_t id);

 private:
  struct Table {
    std::vector<std::optional<Word>> predefined;  ///< ids -2, -3, ...
    std::vector<std::optional<Word>> created;     ///< ids 0, 1, ...
  };

  std::int64_t place(std::int64_t id) const { return place_of_object(id, threads_); }

  std::uint32_t threads_;
  std::map<Kind, Table> tables_;
  std::map<std::int64_t, CommFacts> comms_;
  std::map<std::int64_t, TypeFacts> types_;
};

}  // namespace chameleon::replay
