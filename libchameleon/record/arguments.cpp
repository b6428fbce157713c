// SPDX-License-Identifier: BSD-3-Clause
#include "record/arguments.h"

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

}  // namespace

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
