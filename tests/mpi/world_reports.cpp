// SPDX-License-Identifier: BSD-3-Clause
// What ranks say of themselves, over an MpiWorld against a VirtualWorld: in one group, and in
// groups as in large jobs.
#include "base/hash.h"
#include "flush/rank_reports.h"
#include "world_checks.h"

using namespace chameleon;
using namespace chameleon::world;

namespace world_test {
namespace {

Trace said_by(std::uint32_t rank, std::uint32_t size) {
  Trace own;
  own.world_size = size;
  own.complete = true;
  own.ranks = RankList::single(rank);
  RankFacts& facts = own.facts[rank];
  facts.events = 100 + rank;
  facts.run_ns = 1'000'000'000 + mix(rank) % 1'000'000;
  facts.tool_bytes = mix(rank + 1000) % (1 << 20);
  facts.host = "node" + std::to_string(rank / 3);
  own.totals.add(own.ranks, {{0, {mix(rank) % 1000, 2, 3, 4, 5}}});
  if (rank % 2 == 1) own.declarations.push_back({"odd", own.ranks});
  return own;
}

template <class World>
Bytes gathered(World& world, std::uint32_t group) {
  const auto all = flush::gather_reports(
      world, [&](std::uint32_t rank) { return said_by(rank, world.size()); },
      [](std::uint32_t rank) { return rank % 2; }, group);
  ByteWriter writer;
  if (all) encode_value(writer, *all);
  return writer.take();
}

}  // namespace

void reports(std::uint32_t size) {
  for (const std::uint32_t group : {1U, 2U, 3U, 1000U}) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MpiWorld world(comm, 60);
    VirtualWorld reference(size, true);
    const Bytes own = gathered(world, group), expected = gathered(reference, group);
    check(!world.failed(), "the world of reports failed");
    check(own == (me == 0 ? expected : Bytes()), "reports of ranks differ");
    check_traffic(world.traffic(), reference.traffic(), comm);
  }
}

}  // namespace world_test
