// SPDX-License-Identifier: BSD-3-Clause
// Subsets of an MpiWorld against those of a VirtualWorld: results, order of combination, messages
// and bytes.
#include <unistd.h>

#include <utility>

#include "base/hash.h"
#include "cluster/by_signatures.h"
#include "world/mpi_subset.h"
#include "world/several_roots.h"
#include "world/virtual_subset.h"
#include "world_checks.h"

using namespace chameleon;
using namespace chameleon::cluster;
using namespace chameleon::signature;
using namespace chameleon::world;

namespace world_test {
namespace {

static_assert(TreeWorld<MpiWorld> && TreeWorld<MpiSubset>);

/// What one rank sees of it.
struct Seen {
  std::vector<std::string> texts;
  std::vector<Clustering> clusterings;
  bool operator==(const Seen&) const = default;
};

// Of the virtual world: what rank `me` would see.

bool is_member(const std::vector<std::uint32_t>& ranks) {
  return std::find(ranks.begin(), ranks.end(), me) != ranks.end();
}
bool is_first(const std::vector<std::uint32_t>& ranks) { return ranks.front() == me; }

template <class T>
T at_root(MpiSubset&, std::optional<T> result) {
  return result.value_or(T());
}
template <class T>
T at_root(VirtualSubset& subset, std::optional<T> result) {
  return is_first(subset.ranks()) ? *result : T();
}
template <class T>
T on_members(MpiSubset&, T result) {
  return result;
}
template <class T>
T on_members(VirtualSubset& subset, T result) {
  return is_member(subset.ranks()) ? result : T();
}
template <class T>
T here(const MpiWorld::PerRank<T>& values) {
  return values.value;
}
template <class T>
T here(const std::vector<T>& values) {
  return values[me];
}

SignatureVector signature(std::uint32_t rank) {
  SignatureVector result;
  result.call_path = mix(rank) % 3;
  result.parameters[0] = {static_cast<double>(mix(rank + 7) % 5), mix(rank + 7) % 5};
  return result;
}

/// Some ranks, named in an order of chance, some twice.
std::vector<std::uint32_t> some_ranks(std::uint32_t size, std::uint64_t seed) {
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t i = 0; i < 1 + seed % size; ++i)
    ranks.push_back(static_cast<std::uint32_t>(mix(seed + 31 * i) % size));
  return ranks;
}

template <class World>
void use_subset(World& world, std::vector<std::uint32_t> ranks, std::uint32_t operations,
                Seen& seen) {
  typename World::Subset subset(world, std::move(ranks));
  auto names = subset.of(world.generate(
      [](std::uint32_t rank) { return std::to_string(rank) + std::string(rank * rank * 9, 's'); }));
  // Only the members know how often.
  for (std::uint32_t i = 0; i < operations; ++i) {
    auto reduced = subset.reduce(names, join);
    seen.texts.push_back(at_root(subset, reduced));
    seen.texts.push_back(on_members(subset, subset.broadcast(std::move(reduced))));
    subset.map(names,
               [i](std::uint32_t rank, std::string& name) { name += std::to_string(rank + i); });
  }
  const auto lengths = subset.map(
      names, [](std::uint32_t rank, const std::string& name) { return name.size() + rank; });
  const auto total = all_reduce(
      subset, lengths, [](std::size_t& mine, std::size_t&& theirs) { mine = 3 * mine + theirs; });
  seen.texts.push_back(std::to_string(on_members(subset, total)));
  seen.clusterings.push_back(
      on_members(subset, cluster::cluster(subset, subset.generate(signature), ClusterOptions{})));
  seen.texts.push_back(here(subset.everyone(std::move(names))));
}

template <class World>
Seen run(World& world) {
  Seen seen;
  const std::uint32_t size = world.size();
  // Overlapping ones, without waiting for ranks in between.
  for (std::uint64_t round = 0; round < 40; ++round)
    use_subset(world, some_ranks(size, mix(round)), round % 4, seen);
  // Disjoint ones, side by side.
  for (std::uint32_t part = 0; part < std::min(size, 3U); ++part) {
    std::vector<std::uint32_t> ranks;
    for (std::uint32_t rank = part; rank < size; rank += 3) ranks.push_back(rank);
    use_subset(world, ranks, 30 - 10 * part, seen);
  }
  for (std::uint64_t round = 0; round < 20; ++round) {
    auto texts = world.generate([round](std::uint32_t rank) {
      return std::string(rank * round * 5, static_cast<char>('a' + rank));
    });
    for (std::string& one :
         broadcast_from<std::string>(world, some_ranks(size, mix(round + 99)), texts))
      seen.texts.push_back(std::move(one));
    std::vector<std::vector<std::uint32_t>> groups(1 + round % 3);
    for (std::uint32_t rank = 0; rank < size; ++rank)
      if (mix(rank + round) % 4 < groups.size()) groups[mix(rank + round) % 4].push_back(rank);
    seen.texts.push_back(here(world.broadcast_groups(groups, std::move(texts))));
  }
  seen.texts.push_back(all_reduce(
      world, world.generate([](std::uint32_t rank) { return std::to_string(rank); }), join));
  return seen;
}

}  // namespace

void subsets(std::uint32_t size, std::size_t piece_bytes) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MpiWorld world(comm, 60, piece_bytes);
  VirtualWorld reference(size, true);
  const Seen seen = run(world), expected = run(reference);
  check(!world.failed(), "a subset made the world fail");
  check(seen.texts == expected.texts, "values of subsets or of several roots differ");
  check(seen.clusterings == expected.clusterings, "clusterings of subsets differ");
  check_traffic(world.traffic(), reference.traffic(), comm);

  // Of one operation each, the depth too.
  std::vector<std::uint32_t> odd;
  for (std::uint32_t rank = 1; rank < size; rank += 2) odd.push_back(rank);
  const Traffic before = world.traffic();
  MpiSubset some(world, odd);
  const auto result = all_reduce(some, some.generate([](std::uint32_t) { return 1U; }),
                                 [](std::uint32_t& a, std::uint32_t&& b) { a += b; });
  check(result == (me % 2 == 1 ? odd.size() : 0), "a sum over a subset is wrong");
  check(world.traffic().depth - before.depth == (me % 2 == 1 ? 2 * tree_depth(odd.size()) : 0),
        "the depth of a subset is wrong");
  check(me % 2 == 1 || world.traffic().messages == before.messages,
        "a rank outside a subset sent something");
}

// Rank 1 does not come: the other members give up in time, and who is no member is not kept.
void subset_timeout(std::uint32_t size) {
  if (size < 3) return;
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MpiWorld world(comm, 0.3);
  MpiSubset early(world, {1, 2});
  const auto one = [](std::uint32_t) { return 1U; };
  const auto add = [](std::uint32_t& a, std::uint32_t&& b) { a += b; };
  if (me != 1) {
    const double begin = MPI_Wtime();
    const std::uint32_t sum = all_reduce(early, early.generate(one), add);
    const double taken = MPI_Wtime() - begin;
    check(sum == 0, "a sum without all members");
    check(early.failed() == (me == 2), "the wrong ranks gave up");
    check(taken < (me == 2 ? 0.8 : 0.1), "giving up took too long");
  }
  idle_barrier(MPI_COMM_WORLD);
  world.drain();
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace world_test
