// SPDX-License-Identifier: BSD-3-Clause
#include "record/arguments.h"

#include <vector>

#if MPI_VERSION >= 4  // a library of the same ABI may lack it
#pragma weak PMPI_Type_get_envelope_c
#endif

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

std::int64_t graph_length(MPI_Comm comm, Length::Rule rule, int rank) {
  using Rule = Length::Rule;
  int kind = MPI_UNDEFINED;
  PMPI_Topo_test(comm, &kind);
  int first = 0, second = 0, weighted = 0;
  if (rule == Rule::kInWeights || rule == Rule::kOutWeights) {
    if (kind != MPI_DIST_GRAPH) return 0;
    PMPI_Dist_graph_neighbors_count(comm, &first, &second, &weighted);
    return weighted == 0 ? 0 : rule == Rule::kInWeights ? first : second;
  }
  if (kind != MPI_GRAPH) return 0;
  if (rule == Rule::kNeighbors) {
    PMPI_Graph_neighbors_count(comm, rank, &first);
    return first;
  }
  PMPI_Graphdims_get(comm, &first, &second);
  return rule == Rule::kGraphNodes ? first : second;
}

std::int64_t contents_length(MPI_Datatype type, Length::Rule rule, bool large) {
  using Rule = Length::Rule;
  std::int64_t integers = 0, addresses = 0, counts = 0, types = 0;
  int combiner = 0;
#if MPI_VERSION >= 4
  if (large) {
    MPI_Count n[4] = {};
    PMPI_Type_get_envelope_c(type, &n[0], &n[1], &n[2], &n[3], &combiner);
    integers = n[0], addresses = n[1], counts = n[2], types = n[3];
  }
#endif
  if (!large) {
    int n[3] = {};
    PMPI_Type_get_envelope(type, &n[0], &n[1], &n[2], &combiner);
    integers = n[0], addresses = n[1], types = n[2];
  }
  switch (rule) {
    case Rule::kTypeIntegers: return integers;
    case Rule::kTypeAddresses: return addresses;
    case Rule::kTypeCounts: return counts;
    default: return types;
  }
}

std::vector<std::int64_t> group_members(MPI_Group group) {
  std::vector<std::int64_t> members;
  MPI_Group world = MPI_GROUP_NULL;
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  append_world_ranks(group, world, members);
  PMPI_Group_free(&world);
  return members;
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
