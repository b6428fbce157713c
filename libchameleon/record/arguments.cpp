// SPDX-License-Identifier: BSD-3-Clause
#include "record/arguments.h"

#include <array>
#include <mutex>
#include <vector>

namespace chameleon::record {
namespace {

void append_world_ranks(MPI_Group group, MPI_Group world, std::vector<std::int64_t>& members) {
  int size = 0;
  PMPI_Group_size(group, &size);
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::vector<int> translated(static_cast<std::size_t>(size));
  for (int i = 0; i < size; ++i) ranks[static_cast<std::size_t>(i)] = i;
  PMPI_Group_translate_ranks(group, size, ranks.data(), world, translated.data());
  for (const int rank : translated) members.push_back(rank == MPI_UNDEFINED ? -2 : rank);
}

/// Errors that belong to no communicator return as long as this lives. One at a time.
class QuietErrors {
 public:
  QuietErrors() {
    for (std::size_t i = 0; i < kComms.size(); ++i)
      if (PMPI_Comm_get_errhandler(kComms[i], &usual_[i]) == MPI_SUCCESS)
        PMPI_Comm_set_errhandler(kComms[i], MPI_ERRORS_RETURN);
  }
  ~QuietErrors() {
    for (std::size_t i = 0; i < kComms.size(); ++i) {
      if (usual_[i] == MPI_ERRHANDLER_NULL) continue;
      // Another thread's, by now, is the program's wish.
      MPI_Errhandler now = MPI_ERRHANDLER_NULL;
      const bool known = PMPI_Comm_get_errhandler(kComms[i], &now) == MPI_SUCCESS;
      if (!known || now == MPI_ERRORS_RETURN) PMPI_Comm_set_errhandler(kComms[i], usual_[i]);
      if (known) PMPI_Errhandler_free(&now);
      PMPI_Errhandler_free(&usual_[i]);
    }
  }
  QuietErrors(const QuietErrors&) = delete;
  QuietErrors& operator=(const QuietErrors&) = delete;

 private:
  const std::array<MPI_Comm, 2> kComms{MPI_COMM_WORLD, MPI_COMM_SELF};
  std::array<MPI_Errhandler, 2> usual_{MPI_ERRHANDLER_NULL, MPI_ERRHANDLER_NULL};
};

}  // namespace

CommShape query_unknown_comm(MPI_Comm comm) {
  if (comm == MPI_COMM_WORLD || comm == MPI_COMM_SELF || comm == MPI_COMM_NULL)
    return query_comm(comm);
  static std::mutex one_at_a_time;
  const std::lock_guard<std::mutex> held(one_at_a_time);
  const QuietErrors quiet;
  return query_comm(comm);
}

std::vector<std::int64_t> communicator_members(MPI_Comm comm) {
  std::vector<std::int64_t> members;
  if (comm == MPI_COMM_NULL) return members;
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Group group = MPI_GROUP_NULL;
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  PMPI_Comm_group(comm, &group);
  append_world_ranks(group, world, members);
  PMPI_Group_free(&group);
  int inter = 0;
  PMPI_Comm_test_inter(comm, &inter);
  if (inter != 0) {
    members.push_back(-1);
    PMPI_Comm_remote_group(comm, &group);
    append_world_ranks(group, world, members);
    PMPI_Group_free(&group);
  }
  PMPI_Group_free(&world);
  return members;
}

}  // namespace chameleon::record
