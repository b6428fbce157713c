// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The arguments of one MPI call, read by what the table says of them: numbers
/// through pointers or not, array lengths, and what is significant on this rank.
/// Everything about positions is known at compile time.

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "mpi/call_table.h"
#include "mpi/constants.h"
#include "mpi/handles.h"

namespace chameleon::record {

/// The last parameter of a kind, or -1: where a call has two of a kind, a send
/// part comes before a receive part.
constexpr int last_of(const CallInfo& call, Kind kind) {
  int found = -1;
  for (int i = 0; i < call.param_count; ++i)
    if (params(call)[static_cast<std::size_t>(i)].kind == kind) found = i;
  return found;
}

constexpr int first_of(const CallInfo& call, Kind kind) {
  for (int i = 0; i < call.param_count; ++i)
    if (params(call)[static_cast<std::size_t>(i)].kind == kind) return i;
  return -1;
}

/// The first output of a kind, or -1.
constexpr int output_of(const CallInfo& call, Kind kind) {
  for (int i = 0; i < call.param_count; ++i) {
    const ParamInfo& param = params(call)[static_cast<std::size_t>(i)];
    if (param.kind == kind && param.direction == Direction::kOut) return i;
  }
  return -1;
}

/// What a communicator looks like from this rank.
struct CommShape {
  std::int32_t self = 0;
  std::int32_t size = 1;   ///< of the remote group, if there is one
  std::int32_t local = 1;  ///< of the caller's group
  bool inter = false;
  bool all = false;   ///< has the ranks of MPI_COMM_WORLD, in any order, and no others
  bool valid = true;  ///< else there is no such communicator, and MPI refuses calls on it
};

/// The tool asks MPI about the program's handles on `own`, so that it calls no error handler of the
/// program if a handle is of nothing. The program's call fails for that, and its handlers are
/// neither called again nor asked for, set, or given back.
void ask_on(MPI_Comm own);
/// The program has an error handler of its own. Where that says that all is well, a call that
/// failed looks like one that did not.
void see_error_handler();
/// Whether a handle is of something. A datatype of a call that succeeded does, unless there is
/// such a handler.
bool comm_exists(MPI_Comm comm);
bool type_exists(MPI_Datatype type);

inline bool has_all_ranks(MPI_Comm comm, int size) {
  if (comm == MPI_COMM_WORLD) return true;
  int all = 0, same = MPI_UNEQUAL;
  PMPI_Comm_size(MPI_COMM_WORLD, &all);
  if (all == size) PMPI_Comm_compare(comm, MPI_COMM_WORLD, &same);
  return same != MPI_UNEQUAL;
}

inline CommShape query_comm(MPI_Comm comm) {
  CommShape shape;
  int inter = 0;
  shape.valid = comm_exists(comm) && PMPI_Comm_test_inter(comm, &inter) == MPI_SUCCESS;
  if (!shape.valid) return shape;
  PMPI_Comm_rank(comm, &shape.self);
  PMPI_Comm_size(comm, &shape.local);
  shape.inter = inter != 0;
  shape.size = shape.local;
  if (shape.inter) PMPI_Comm_remote_size(comm, &shape.size);
  shape.all = !shape.inter && has_all_ranks(comm, shape.local);
  return shape;
}

/// Neighbours a topology communicator names: first in, second out; third: dimensions.
inline std::tuple<std::int64_t, std::int64_t, std::int64_t> query_topology(MPI_Comm comm) {
  int kind = MPI_UNDEFINED;
  PMPI_Topo_test(comm, &kind);
  int in = 0, out = 0, dims = 0;
  if (kind == MPI_CART) {
    PMPI_Cartdim_get(comm, &dims);
    in = out = 2 * dims;
  } else if (kind == MPI_GRAPH) {
    int self = 0;
    PMPI_Comm_rank(comm, &self);
    PMPI_Graph_neighbors_count(comm, self, &in);
    out = in;
  } else if (kind == MPI_DIST_GRAPH) {
    int weighted = 0;
    PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
  }
  return {in, out, dims};
}

/// Elements of a graph communicator by what they are (kGraphNodes to kOutWeights); 0 of others.
std::int64_t graph_length(MPI_Comm comm, Length::Rule rule, int rank);

/// What a datatype was made from, by what it is (kTypeIntegers to kTypeDatatypes).
std::int64_t contents_length(MPI_Datatype type, Length::Rule rule, bool large);

/// As a trace has it: a named number by the trace's numbering.
template <CallId C, int I>
constexpr std::int64_t in_trace(std::int64_t number) {
  constexpr NamedNumbers names = named_numbers(params(*find_call(C))[I]);
  if constexpr (names.differ())
    return translated(names, number, true);
  else
    return number;
}

template <class T>
std::int64_t as_number(const T& value) {
  if constexpr (std::is_same_v<T, double>) {
    std::int64_t bits = 0;
    __builtin_memcpy(&bits, &value, sizeof bits);
    return bits;
  } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
    return static_cast<std::int64_t>(value);
  } else if constexpr (std::is_pointer_v<T>) {
    return static_cast<std::int64_t>(handle_bits(value));
  } else {
    return 0;
  }
}

/// Reads argument `I` as one number, through the pointer where the table says
/// that a pointer to a scalar is passed.
template <CallId C, int I, class Args>
std::int64_t scalar(const Args& args) {
  constexpr const ParamInfo& param = params(*find_call(C))[I];
  const auto& arg = std::get<I>(args);
  using T = std::remove_cvref_t<decltype(arg)>;
  if constexpr (param.direction != Direction::kIn && std::is_pointer_v<T>) {
    if constexpr (std::is_void_v<std::remove_pointer_t<T>>)
      return as_number(arg);
    else
      return arg == nullptr ? 0 : as_number(*arg);
  } else {
    return in_trace<C, I>(as_number(arg));
  }
}

/// Number of elements that a rule says, whatever there is room for.
template <CallId C, int I, class Args>
std::int64_t whole_length(const Args& args, const CommShape& comm);

/// Number of elements of array argument `I`; of an output after the call.
template <CallId C, int I, class Args>
std::int64_t array_length(const Args& args, const CommShape& comm) {
  constexpr Length length = params(*find_call(C))[I].length;
  const std::int64_t whole = whole_length<C, I>(args, comm);
  if constexpr (length.room != Length::kNoRoom)
    return std::min(whole, scalar<C, length.room>(args));
  else
    return whole;
}

template <CallId C, int I, class Args>
std::int64_t whole_length(const Args& args, const CommShape& comm) {
  constexpr const CallInfo& call = *find_call(C);
  constexpr Length length = params(call)[I].length;
  constexpr int comm_at = first_of(call, Kind::kComm);
  constexpr int rank_at = first_of(call, Kind::kRank), type_at = first_of(call, Kind::kDatatype);
  using Rule = Length::Rule;
  constexpr bool of_graph = length.rule >= Rule::kGraphNodes && length.rule <= Rule::kOutWeights;
  constexpr bool of_comm = length.rule == Rule::kCommSize || length.rule == Rule::kCommLocal ||
                           length.rule == Rule::kInDegree || length.rule == Rule::kOutDegree ||
                           length.rule == Rule::kCommDimensions || of_graph;
  if (of_comm && !comm.valid) return 0;
  if constexpr (length.rule == Rule::kConstant) {
    return length.constant;
  } else if constexpr (length.rule == Rule::kCommSize) {
    return comm.size;
  } else if constexpr (length.rule == Rule::kCommLocal) {
    return comm.local;
  } else if constexpr (length.rule == Rule::kParam) {
    return scalar<C, length.param>(args);
  } else if constexpr (length.rule == Rule::kThreeTimesParam) {
    return 3 * scalar<C, length.param>(args);
  } else if constexpr (length.rule == Rule::kInDegree) {
    return std::get<0>(query_topology(std::get<comm_at>(args)));
  } else if constexpr (length.rule == Rule::kOutDegree) {
    return std::get<1>(query_topology(std::get<comm_at>(args)));
  } else if constexpr (length.rule == Rule::kCommDimensions) {
    return std::get<2>(query_topology(std::get<comm_at>(args)));
  } else if constexpr (length.rule == Rule::kNeighbors) {
    return graph_length(std::get<comm_at>(args), length.rule, std::get<rank_at>(args));
  } else if constexpr (of_graph) {
    return graph_length(std::get<comm_at>(args), length.rule, 0);
  } else if constexpr (length.rule >= Rule::kTypeIntegers) {
    return contents_length(std::get<type_at>(args), length.rule, has(call, Attribute::kLargecount));
  } else if constexpr (length.rule == Rule::kSumOfParam || length.rule == Rule::kLastOfParam) {
    const auto* values = std::get<length.param>(args);
    const std::int64_t count = values == nullptr ? 0 : array_length<C, length.param>(args, comm);
    std::int64_t total = 0;
    for (std::int64_t i = 0; i < count; ++i)
      total = static_cast<std::int64_t>(values[i]) + (length.rule == Rule::kSumOfParam ? total : 0);
    return total;
  } else {
    return 1;
  }
}

/// Whether parameters that only the root gives are significant here. Without a communicator nobody
/// is the root.
template <CallId C, class Args>
bool at_root(const Args& args, const CommShape& comm) {
  constexpr int root_at = first_of(*find_call(C), Kind::kRoot);
  if constexpr (root_at < 0) {
    return true;
  } else {
    if (!comm.valid) return false;
    const std::int64_t root = scalar<C, root_at>(args);
    return comm.inter ? root == kRootOfIntercommunicator : root == comm.self;
  }
}

/// World ranks of a group; -2: of a process outside.
std::vector<std::int64_t> group_members(MPI_Group group);

/// World ranks of a communicator; of an intercommunicator the local group, -1,
/// and the remote one. O(size), local.
std::vector<std::int64_t> communicator_members(MPI_Comm comm);

}  // namespace chameleon::record
