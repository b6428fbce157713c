// SPDX-License-Identifier: BSD-3-Clause
#include "record/arguments.h"

#include <vector>

namespace chameleon::record {
namespace {

MPI_Comm g_own_comm = MPI_COMM_NULL;
bool g_handles_errors = false;

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

void ask_on(MPI_Comm own) { g_own_comm = own; }

void see_error_handler() { g_handles_errors = true; }

bool comm_exists(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) return false;
  if (comm == MPI_COMM_WORLD || comm == MPI_COMM_SELF || g_own_comm == MPI_COMM_NULL) return true;
  return is_communicator(comm, g_own_comm);
}

bool type_exists(MPI_Datatype type) {
  if (type == MPI_DATATYPE_NULL) return false;
  return !g_handles_errors || g_own_comm == MPI_COMM_NULL || is_datatype(type, g_own_comm);
}

std::vector<std::int64_t> communicator_members(MPI_Comm comm) {
  std::vector<std::int64_t> members;
  if (!comm_exists(comm)) return members;
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
