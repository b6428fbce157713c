// SPDX-License-Identifier: BSD-3-Clause
#include "replay/known.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>

#include "base/hash.h"
#include "mpi/call_table.h"

namespace chameleon::replay {
namespace {

struct Known {
  std::uint64_t key =
      0;  ///< of the members and how many of the same came before; 0: not to be made
  std::vector<int> members;
};

/// Those of a rank, by event.
std::vector<Known> read_known(Follower& reader, int size) {
  std::vector<Known> all;
  std::map<std::vector<int>, std::uint64_t> before;
  FollowedEvent event;
  while (reader.next(event)) {
    if (event.plan == nullptr || event.plan->info == nullptr ||
        static_cast<CallId>(event.plan->info->id) != CallId::kCommKnown)
      continue;
    Known& one = all.emplace_back();
    bool inside = true;
    for (const std::int64_t member : reader.array(event, event.plan->members)) {
      inside = inside && member >= 0 && member < size;
      one.members.push_back(static_cast<int>(member));
    }
    const bool has_self = std::find(one.members.begin(), one.members.end(),
                                    static_cast<int>(reader.rank())) != one.members.end();
    if (!inside || !has_self) continue;
    one.key = combine(before[one.members]++, one.members.size());
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

}  // namespace

std::vector<MPI_Comm> make_known_communicators(Follower reader, MPI_Comm comm) {
  const auto& calls = reader.trace().calls;
  if (!calls.contains(static_cast<std::uint16_t>(CallId::kCommKnown))) return {};
  int size = 0;
  PMPI_Comm_size(comm, &size);
  const std::vector<Known> mine = read_known(reader, size);
  const std::vector<std::vector<std::uint64_t>> keys = share_keys(mine, comm);
  std::vector<MPI_Comm> made(mine.size(), MPI_COMM_NULL);
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
    PMPI_Comm_create_group(comm, group, 0, &made[i]);
    PMPI_Group_free(&group);
  }
  PMPI_Group_free(&all);
  return made;
}

}  // namespace chameleon::replay
