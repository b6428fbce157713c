// SPDX-License-Identifier: BSD-3-Clause
#include "replay/known.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "base/hash.h"
#include "mpi/call_table.h"

namespace chameleon::replay {
namespace {

struct Known {
  /// Of what it is, the members and how many of the same came before; 0: not to be made.
  std::uint64_t key = 0;
  CallId call = CallId::kCommKnown;
  std::vector<int> members;
  std::int64_t bytes = 0, unit = 1, mode = 0;
  bool dynamic = false;
};

/// Those of a rank, by event.
std::vector<Known> read_known(Follower& reader, int size) {
  std::vector<Known> all;
  std::map<std::pair<CallId, std::vector<int>>, std::uint64_t> before;
  FollowedEvent event;
  while (reader.next(event)) {
    if (event.plan == nullptr || event.plan->info == nullptr) continue;
    const auto call = static_cast<CallId>(event.plan->info->id);
    if (!is_shared(call)) continue;
    const auto number = [&](const char* name, std::int64_t otherwise) {
      const int field = field_index(*event.call, name);
      return field < 0 ? otherwise : event.value(field);
    };
    Known& one = all.emplace_back();
    one.call = call;
    one.bytes = std::max<std::int64_t>(number("size", 0), 0);
    one.unit = std::clamp<std::int64_t>(number("disp_unit", 1), 1, INT32_MAX);
    one.mode = number("amode", 0);
    one.dynamic = number("dynamic", 0) != 0;
    const int ranks =
        call == CallId::kCommKnown ? event.plan->members : field_index(*event.call, "ranks");
    bool inside = true;
    for (const std::int64_t member : reader.array(event, ranks)) {
      inside = inside && member >= 0 && member < size;
      one.members.push_back(static_cast<int>(member));
    }
    const bool has_self = std::find(one.members.begin(), one.members.end(),
                                    static_cast<int>(reader.rank())) != one.members.end();
    if (!inside || !has_self) continue;
    one.key = combine(before[{call, one.members}]++, one.members.size());
    one.key = combine(one.key, static_cast<std::uint64_t>(call));
    for (const int member : one.members)
      one.key = combine(one.key, static_cast<std::uint64_t>(member));
    one.key = std::max<std::uint64_t>(one.key, 1);
  }
  return all;
}

/// The keys of each rank, sorted. Collective.
std::vector<std::vector<std::uint64_t>> share_keys(const std::vector<Known>& mine, MPI_Comm comm) {
  int size = 0;
  PMPI_Comm_size(comm, &size);
  std::vector<std::uint64_t> keys;
  for (const Known& one : mine) keys.push_back(one.key);
  const int count = static_cast<int>(keys.size());
  std::vector<int> counts(static_cast<std::size_t>(size)), places(counts.size());
  PMPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, comm);
  std::exclusive_scan(counts.begin(), counts.end(), places.begin(), 0);
  std::vector<std::uint64_t> all(static_cast<std::size_t>(places.back() + counts.back()));
  PMPI_Allgatherv(keys.data(), count, MPI_UINT64_T, all.data(), counts.data(), places.data(),
                  MPI_UINT64_T, comm);
  std::vector<std::vector<std::uint64_t>> of_ranks;
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    const auto first = all.begin() + places[rank];
    std::vector<std::uint64_t>& theirs = of_ranks.emplace_back(first, first + counts[rank]);
    std::sort(theirs.begin(), theirs.end());
  }
  return of_ranks;
}

void make_window(const Known& one, const KnownPlaces& places, std::int64_t id, KnownObject& made) {
  if (one.dynamic) {
    PMPI_Win_create_dynamic(MPI_INFO_NULL, made.comm, &made.win);
    made.dynamic = id;
    places.windows.made_dynamic(id, made.win, made.comm, places.room(), places.pool);
    return;
  }
  void* memory = nullptr;
  PMPI_Win_allocate(static_cast<MPI_Aint>(one.bytes), static_cast<int>(one.unit), MPI_INFO_NULL,
                    made.comm, static_cast<void*>(&memory), &made.win);
}

/// The trace does not have its name.
void make_file(const Known& one, const KnownPlaces& places, KnownObject& made) {
  if (!places.files.usable()) return;
  const int mode = static_cast<int>(one.mode) & ~MPI_MODE_EXCL;
  made.path = places.files.path_of("unknown." + std::to_string(one.key));
  places.files.prepare_open(made.path, mode, made.rank == 0);
  PMPI_File_open(made.comm, made.path.c_str(), mode, MPI_INFO_NULL, &made.file);
}

bool has_any(const Trace& trace) {
  for (const CallId call : {CallId::kCommKnown, CallId::kWinKnown, CallId::kFileKnown})
    if (trace.calls.contains(static_cast<std::uint16_t>(call))) return true;
  return false;
}

}  // namespace

std::vector<KnownObject> make_known_objects(Follower reader, MPI_Comm comm,
                                            const KnownPlaces& places) {
  if (!has_any(reader.trace())) return {};
  int size = 0;
  PMPI_Comm_size(comm, &size);
  const std::vector<Known> mine = read_known(reader, size);
  const std::vector<std::vector<std::uint64_t>> keys = share_keys(mine, comm);
  std::vector<KnownObject> made(mine.size());
  // In one order on all ranks, so that nobody waits for a member that waits for another.
  std::vector<std::size_t> order(mine.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return mine[a].key < mine[b].key; });
  MPI_Group all = MPI_GROUP_NULL;
  PMPI_Comm_group(comm, &all);
  for (const std::size_t i : order) {
    const Known& one = mine[i];
    const bool everyone =
        one.key != 0 && std::all_of(one.members.begin(), one.members.end(), [&](int member) {
          const auto& theirs = keys[static_cast<std::size_t>(member)];
          return std::binary_search(theirs.begin(), theirs.end(), one.key);
        });
    if (!everyone) continue;
    MPI_Group group = MPI_GROUP_NULL;
    PMPI_Group_incl(all, static_cast<int>(one.members.size()), one.members.data(), &group);
    PMPI_Comm_create_group(comm, group, 0, &made[i].comm);
    PMPI_Group_free(&group);
    PMPI_Comm_rank(made[i].comm, &made[i].rank);
    if (one.call == CallId::kCommKnown) continue;
    if (one.call == CallId::kWinKnown)
      make_window(one, places, -1 - static_cast<std::int64_t>(i), made[i]);
    else
      make_file(one, places, made[i]);
    PMPI_Comm_free(&made[i].comm);
  }
  PMPI_Group_free(&all);
  return made;
}

}  // namespace chameleon::replay
