// SPDX-License-Identifier: BSD-3-Clause
#include "replay/objects.h"

#include "mpi/handles.h"

namespace chameleon::replay {
namespace {

/// More objects of a kind at once than any program has: a damaged trace.
constexpr std::int64_t kMostObjects = 1 << 24;

Word substitute(Kind kind, const Predefined& wanted) {
  if (kind != Kind::kDatatype) return to_word(MPI_SUM);
  MPI_Datatype type = MPI_BYTE;
  if (wanted.size <= 1) return to_word(type);
  PMPI_Type_contiguous(static_cast<int>(wanted.size), MPI_BYTE, &type);
  PMPI_Type_commit(&type);
  return to_word(type);
}

void read_topology(CommFacts& facts) {
  int kind = MPI_UNDEFINED;
  PMPI_Topo_test(facts.handle, &kind);
  int neighbours = 0;
  if (kind == MPI_CART) {
    PMPI_Cartdim_get(facts.handle, &neighbours);
    facts.in_degree = facts.out_degree = 2 * neighbours;
  } else if (kind == MPI_GRAPH) {
    PMPI_Graph_neighbors_count(facts.handle, facts.rank, &neighbours);
    facts.in_degree = facts.out_degree = neighbours;
  } else if (kind == MPI_DIST_GRAPH) {
    int weighted = 0;
    PMPI_Dist_graph_neighbors_count(facts.handle, &facts.in_degree, &facts.out_degree, &weighted);
  }
}

}  // namespace

Objects::Objects(const Trace& trace) : threads_(trace.threads) {
  for (const PredefinedHandle& known : predefined_handles()) {
    Table& table = tables_[known.kind];
    if (known.id >= 0) store(known.kind, known.id, static_cast<Word>(known.handle));
    if (known.id > -2) continue;
    const auto place = static_cast<std::size_t>(-2 - known.id);
    if (table.predefined.size() <= place) table.predefined.resize(place + 1);
    table.predefined[place] = static_cast<Word>(known.handle);
  }
  for (const Kind kind : {Kind::kDatatype, Kind::kOp}) {
    const auto listed = trace.predefined.find(kind_name(kind));
    if (listed == trace.predefined.end()) continue;
    std::vector<std::optional<Word>> handles;
    for (const Predefined& wanted : listed->second) {
      std::optional<Word> found;
      for (const PredefinedHandle& known : predefined_handles())
        if (known.kind == kind && wanted.name == known.name)
          found = static_cast<Word>(known.handle);
      handles.push_back(found ? *found : substitute(kind, wanted));
    }
    tables_[kind].predefined = std::move(handles);
  }
}

bool Objects::keeps(Kind kind) { return is_object(kind) && kind != Kind::kRequest; }

Word Objects::null(Kind kind) {
  switch (kind) {
    case Kind::kComm: return to_word(MPI_COMM_NULL);
    case Kind::kGroup: return to_word(MPI_GROUP_NULL);
    case Kind::kDatatype: return to_word(MPI_DATATYPE_NULL);
    case Kind::kOp: return to_word(MPI_OP_NULL);
    case Kind::kInfo: return to_word(MPI_INFO_NULL);
    case Kind::kMessage: return to_word(MPI_MESSAGE_NULL);
    case Kind::kWin: return to_word(MPI_WIN_NULL);
    case Kind::kFile: return to_word(MPI_FILE_NULL);
    case Kind::kErrhandler: return to_word(MPI_ERRHANDLER_NULL);
    case Kind::kKeyval: return to_word(MPI_KEYVAL_INVALID);
#if MPI_VERSION >= 4
    case Kind::kSession: return to_word(MPI_SESSION_NULL);
#endif
    default: return to_word(MPI_REQUEST_NULL);
  }
}

std::optional<Word> Objects::find(Kind kind, std::int64_t id) const {
  if (id == -1) return null(kind);
  const auto table = tables_.find(kind);
  if (table == tables_.end()) return std::nullopt;
  const auto& handles = id < 0 ? table->second.predefined : table->second.created;
  const auto place = static_cast<std::uint64_t>(id < 0 ? -2 - id : this->place(id));
  return place < handles.size() ? handles[place] : std::nullopt;
}

void Objects::store(Kind kind, std::int64_t id, Word handle) {
  const std::int64_t at = place(id);
  if (at < 0 || at >= kMostObjects || handle == null(kind)) return;
  auto& handles = tables_[kind].created;
  if (handles.size() <= static_cast<std::size_t>(at)) {
    handles.resize(static_cast<std::size_t>(at) + 1);
  }
  handles[static_cast<std::size_t>(at)] = handle;
  if (kind == Kind::kComm) comms_.erase(id);
  if (kind == Kind::kDatatype) types_.erase(id);
}

void Objects::erase(Kind kind, std::int64_t id) {
  auto& handles = tables_[kind].created;
  const std::int64_t at = place(id);
  if (at < 0 || static_cast<std::size_t>(at) >= handles.size()) return;
  handles[static_cast<std::size_t>(at)].reset();
  if (kind == Kind::kComm) comms_.erase(id);
  if (kind == Kind::kDatatype) types_.erase(id);
}

const CommFacts* Objects::comm(std::int64_t id) {
  if (const auto known = comms_.find(id); known != comms_.end()) return &known->second;
  const std::optional<Word> handle = find(Kind::kComm, id);
  if (!handle || *handle == null(Kind::kComm)) return nullptr;
  CommFacts facts;
  facts.handle = from_word<MPI_Comm>(*handle);
  int inter = 0;
  PMPI_Comm_test_inter(facts.handle, &inter);
  facts.inter = inter != 0;
  PMPI_Comm_rank(facts.handle, &facts.rank);
  PMPI_Comm_size(facts.handle, &facts.local);
  facts.size = facts.local;
  if (facts.inter) {
    PMPI_Comm_remote_size(facts.handle, &facts.size);
  } else {
    read_topology(facts);
  }
  return &comms_.emplace(id, facts).first->second;
}

const TypeFacts* Objects::type(std::int64_t id) {
  if (const auto known = types_.find(id); known != types_.end()) return &known->second;
  const std::optional<Word> handle = find(Kind::kDatatype, id);
  if (!handle || *handle == null(Kind::kDatatype)) return nullptr;
  TypeFacts facts;
  facts.handle = from_word<MPI_Datatype>(*handle);
  MPI_Count lb = 0;
  if (PMPI_Type_size_x(facts.handle, &facts.size) != MPI_SUCCESS) return nullptr;
  PMPI_Type_get_extent_x(facts.handle, &lb, &facts.extent);
  PMPI_Type_get_true_extent_x(facts.handle, &facts.true_lb, &facts.true_extent);
  return &types_.emplace(id, facts).first->second;
}

}  // namespace chameleon::replay
