// SPDX-License-Identifier: BSD-3-Clause
// Run as an MPI job: MpiWorld must give what VirtualWorld gives at the same size, in the same
// order of combination and with the same traffic, and so must clusterings be; and it must give up
// in time when a rank is late.
// Exit status 1 and a line for each failure.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <new>
#include <set>
#include <string>
#include <string_view>

#include "cluster/by_signatures.h"
#include "support/tiny_scheme.h"
#include "world/mpi_world.h"
#include "world/virtual_world.h"
#include "world_checks.h"

using namespace chameleon;
using namespace chameleon::cluster;
using namespace chameleon::signature;
using namespace chameleon::world;
using namespace world_test;

namespace {

int failures = 0;

struct Results {
  std::vector<std::optional<std::string>> at_root;
  std::vector<std::string> everywhere;
  std::vector<std::pair<std::uint32_t, std::string>> gathered;  // of rank `me`
};

auto& mine(VirtualWorld&, std::vector<std::vector<std::pair<std::uint32_t, std::string>>>& all) {
  return all[me];
}
template <class T>
auto& mine(MpiWorld&, MpiWorld::PerRank<T>& value) {
  return value.value;
}

// The same program over either world.
template <class World>
Results run(World& world) {
  Results results;
  const std::uint32_t size = world.size();
  auto names = world.generate(
      [](std::uint32_t rank) { return std::to_string(rank) + std::string(rank * rank * 40, 'x'); });
  results.at_root.push_back(world.reduce(names, join));
  for (std::uint32_t subset = 0; subset < (1U << size); subset += 1 + subset / 2) {
    std::vector<std::uint32_t> members;
    for (std::uint32_t rank = 0; rank < size; ++rank)
      if ((subset >> rank & 1) != 0) members.push_back(rank);
    results.at_root.push_back(world.reduce(members, names, join));
  }
  results.everywhere.push_back(all_reduce(world, names, join));
  results.everywhere.push_back(world.broadcast(std::optional<std::string>()));
  auto lengths = world.map(names, [](std::uint32_t rank, std::string& name) {
    name += "!";
    return name.size() + rank;
  });
  const auto total =
      all_reduce(world, lengths, [](std::size_t& a, std::size_t&& b) { a = 3 * a + b; });
  results.everywhere.push_back(std::to_string(total));
  for (std::uint32_t round = 0; round < 3; ++round) {
    auto values = world.generate([&](std::uint32_t rank) {
      return std::string(1 + 97 * rank, static_cast<char>('a' + rank + round));
    });
    std::vector<Transfer> plan;
    for (std::uint32_t from = 0; from < size; ++from)
      for (std::uint32_t to = 0; to < size; ++to)
        if ((from * to + from + round) % 3 == 0) plan.push_back({from, to});
    auto incoming = world.gather(plan, values);
    auto& here = mine(world, incoming);
    results.gathered.insert(results.gathered.end(), here.begin(), here.end());
  }
  return results;
}

void compare(std::size_t piece_bytes, std::uint32_t size) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MpiWorld world(comm, 60, piece_bytes);
  VirtualWorld reference(size, true);
  const Results results = run(world), expected = run(reference);
  check(!world.failed(), "the world failed");
  if (me == 0) {
    check(results.at_root == expected.at_root, "reductions differ");
  } else {
    for (const auto& value : results.at_root) check(!value, "a reduction gave a value off rank 0");
  }
  check(results.everywhere == expected.everywhere, "all_reduce or broadcast differ");
  check(results.gathered == expected.gathered, "gathered values differ");

  check_traffic(world.traffic(), reference.traffic(), comm);
  check(world.traffic().depth == reference.traffic().depth, "depths differ");
}

// Random signatures of one to seven Call-Paths, on all ranks by all selections and presets.
void clusterings(std::uint32_t size) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MpiWorld world(comm, 60);
  VirtualWorld reference(size, true);
  std::uint64_t round = 0;
  const auto clusters_agree = [&](const ClusterOptions& options, std::uint64_t round) {
    const auto signature = [&](std::uint32_t rank) {
      SignatureVector result;
      const std::uint64_t random = combine(round, rank);
      result.call_path = mix(random % (1 + round % 7));
      for (std::size_t i = 0; i < kParameters; ++i) {
        const std::uint64_t value = mix(random + i) % 20;
        result.parameters[i] = {static_cast<double>(value) / 3, value};
      }
      for (std::uint64_t& mixed : result.mixed) mixed = mix(random + 77) % 20;
      for (std::uint64_t& xored : result.xored) xored = 1 + mix(random + 78) % 5;
      return result;
    };
    const Clustering mine = cluster::cluster(world, world.generate(signature), options);
    const Clustering expected = cluster::cluster(reference, reference.generate(signature), options);
    check(mine == expected, "clusterings differ");
    check(mine.find(size - 1) != nullptr, "a rank is in no cluster");
  };
  for (const Selection selection :
       {Selection::kFarthest, Selection::kMedoid, Selection::kRandom, Selection::kCapek})
    for (const Distance metric : {Distance::kManhattan, Distance::kEuclidean})
      for (const std::uint32_t k : {1U, 3U, 9U})
        for (int repeat = 0; repeat < 5; ++repeat, ++round)
          clusters_agree(
              {selection, k, 1 + round, metric, round % 2 == 0 ? kDefaultFormat : kAllSignatures},
              round);
  for (const Preset& preset : presets())
    for (const Steps steps : {Steps::kDouble, Steps::kSingle})
      for (const Equality equality : {Equality::kExact, Equality::kXor, Equality::kPacked}) {
        ClusterOptions options = preset.options;
        options.steps = steps;
        options.equality = equality;
        clusters_agree(options, 1000 + size);
      }
  for (const std::uint32_t k : {1U, 4U, 9U, 16U, 64U, kUnbounded}) {
    ClusterOptions options;
    options.k = k;
    options.further = kFurtherSignatures;
    for (std::uint64_t kinds = 0; kinds < 7; ++kinds) clusters_agree(options, 2000 + kinds);
  }
  for (; round < 120; ++round) {
    const std::uint64_t kinds = 1 + round % 6;
    const auto work = [&](std::uint32_t rank) { return example::work_of(rank, round, kinds); };
    const Clustering mine = cluster::cluster(world, world.generate(work), example::MostWork());
    const Clustering expected =
        cluster::cluster(reference, reference.generate(work), example::MostWork());
    check(mine == expected, "clusterings by another scheme differ");
    check(mine.main.size() <= kinds && mine.find(size - 1) != nullptr, "clusters are wrong");
  }
  unsigned long long sent = world.traffic().bytes, sum;
  MPI_Allreduce(&sent, &sum, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, comm);
  check(sum == reference.traffic().bytes, "numbers of bytes for clustering differ");
}

struct Vote {
  std::uint64_t product;
  std::uint32_t sum, most;
};
/// This rank's value.
template <class T>
MpiWorld::PerRank<T> here(T value) {
  return {value};
}
constexpr auto combine_votes = [](Vote& a, Vote&& b) {
  a.product = 31 * a.product + b.product;
  a.sum += b.sum;
  a.most = std::max(a.most, b.most);
};

// A vote that ranks come back to: once all have passed on what came, its result is here.
void deferred_votes(std::uint32_t size) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MpiWorld world(comm, 60);
  VirtualWorld reference(size);
  for (std::uint32_t sequence = 0; sequence < 20; ++sequence) {
    const auto make = [&](std::uint32_t rank) { return Vote{rank + sequence, 1, rank}; };
    if (me == sequence % size) usleep(2000);
    world.cast(world.generate(make), combine_votes, sequence);
    while (sequence % 3 != 0 && world.progress()) sched_yield();
    std::uint32_t missing = 0;
    const auto vote = world.collect<Vote>(60, missing);
    const Vote expected = all_reduce(reference, reference.generate(make), combine_votes);
    check(vote && vote->product == expected.product && vote->sum == size,
          "a deferred vote came out wrong");
    check(!world.progress(), "a vote goes on when its result is here");
  }
}

void votes(std::uint32_t size) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MpiWorld world(comm, 60);
  VirtualWorld reference(size);
  std::uint32_t missing = UINT32_MAX;
  std::uint32_t sequence = 0;
  for (; sequence < 50; ++sequence) {
    const auto make = [&](std::uint32_t rank) { return Vote{rank + sequence, 1, rank}; };
    const std::optional<Vote> vote = chameleon::world::vote<Vote>(
        world, world.generate(make), combine_votes, sequence, 60, missing);
    check(vote.has_value(), "a vote was lost");
    if (!vote) return;
    const Vote expected = all_reduce(reference, reference.generate(make), combine_votes);
    check(vote->product == expected.product && vote->sum == size && vote->most == size - 1,
          "a vote came out wrong");
  }
  if (size == 1) return;

  // The root, leaves and inner ranks of the tree.
  for (const std::uint32_t late : std::set<std::uint32_t>{0, 1, size / 2, size - 1}) {
    idle_barrier(comm);
    if (me == late) usleep(1600000);
    Vote vote{me, 1, me};
    missing = UINT32_MAX;
    const double begin = MPI_Wtime();
    const bool answered =
        chameleon::world::vote<Vote>(world, here(vote), combine_votes, sequence++, 0.2, missing)
            .has_value();
    const double taken = MPI_Wtime() - begin;
    check(!answered || me == late, "a vote without all ranks was answered");
    // A child of rank 0 is named exactly; of others, by chance of timing, one above it.
    const bool named = missing <= late && late - missing < (missing & (~missing + 1));
    check(me != 0 || late == 0 || named, "rank 0 names the wrong rank as missing");
    check(answered || missing < size, "nobody is named as missing");
    check(taken < 1.4, "a lost vote took too long");
    check(!world.failed(), "a lost vote made the world fail");
    idle_barrier(comm);
  }
  check(all_reduce(world, world.generate([](std::uint32_t) { return 1U; }),
                   [](std::uint32_t& a, std::uint32_t&& b) { a += b; }) == size,
        "the world does not work after lost votes");
  world.drain();
}

// A rank that comes when the others have left finds the vote lost, however long it would wait; so
// it does where it heard the vote before, in the one after that.
void left_votes(std::uint32_t size) {
  if (size == 1) return;
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (const bool ahead : {false, true})
    for (const std::uint32_t late : std::set<std::uint32_t>{0, 1, size / 2, size - 1}) {
      MpiWorld world(comm, 60);
      std::uint32_t missing = 0, sequence = 0;
      Vote vote{me, 1, me};
      if (me != late) {
        if (!ahead)
          check(!chameleon::world::vote<Vote>(world, here(vote), combine_votes, sequence, 0.1,
                                              missing),
                "a vote without all ranks");
        world.leave_votes(sequence + (ahead ? 0 : 1));
      }
      idle_barrier(comm);
      if (me == late) {
        const double begin = MPI_Wtime();
        check(
            !chameleon::world::vote<Vote>(world, here(vote), combine_votes, sequence, 1e6, missing),
            "a vote that the others have left");
        check(MPI_Wtime() - begin < 1, "a vote waits for ranks that have left");
        world.leave_votes(sequence + 1);
      }
      idle_barrier(comm);
      world.drain();
      idle_barrier(comm);
    }
}

// Rank 1 does not take part: everyone else gives up, then at once.
void timeout(std::uint32_t size) {
  if (size == 1) return;
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MpiWorld world(comm, 0.3);
  const auto one = [](std::uint32_t) { return 1U; };
  const auto add = [](std::uint32_t& a, std::uint32_t&& b) { a += b; };
  if (me != 1) {
    double begin = MPI_Wtime();
    check(all_reduce(world, world.generate(one), add) == 0, "a sum without all ranks");
    check(world.failed(), "the world did not fail");
    check(MPI_Wtime() - begin < 0.8, "giving up took too long");
    begin = MPI_Wtime();
    check(!world.reduce(world.generate(one), add), "a value after failure");
    check(MPI_Wtime() - begin < 0.1, "a failed world still waits");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  // Who has not failed learns of it in the next vote, however patient.
  const double begin = MPI_Wtime();
  std::uint32_t missing = 0;
  check(!chameleon::world::vote<std::uint32_t>(world, here(1U), add, 0, 1e6, missing),
        "a vote of a failed world");
  check(MPI_Wtime() - begin < 5, "a vote waits for a failed world");
  check(missing != 1 || me == 1, "the wrong rank was named");
  MPI_Barrier(MPI_COMM_WORLD);
  world.drain();
}

/// Ranks, as a value that this rank may fail to make, to join, to encode or to decode.
struct Fragile {
  enum class Step { kNone, kMake, kJoin, kEncode, kDecode };
  static inline Step fails = Step::kNone;
  static void go(Step step) {
    if (step == fails) throw std::bad_alloc();
  }

  std::vector<std::uint32_t> ranks;

  void encode(ByteWriter& writer) const {
    go(Step::kEncode);
    encode_value(writer, ranks);
  }
  static bool decode(ByteReader& reader, Fragile& value) {
    go(Step::kDecode);
    return decode_value(reader, value.ranks);
  }
};

/// The ranks below one in the tree, itself included.
std::uint32_t subtree(std::uint32_t rank, std::uint32_t size) {
  return rank == 0 ? size : std::min(size - rank, rank & (~rank + 1));
}

// One rank fails in the middle of an operation: all others get what does not depend on it, at once.
void failures_of_one(std::uint32_t size) {
  using Step = Fragile::Step;
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  const double begin = MPI_Wtime();
  const auto join = [](Fragile& mine, Fragile&& theirs) {
    Fragile::go(Step::kJoin);
    mine.ranks.insert(mine.ranks.end(), theirs.ranks.begin(), theirs.ranks.end());
  };
  for (std::uint32_t failing = 0; failing < size; ++failing)
    for (const Step step : {Step::kMake, Step::kJoin, Step::kEncode, Step::kDecode}) {
      MpiWorld world(comm, 60, 16);
      Fragile::fails = me == failing ? step : Step::kNone;
      const auto make = [](std::uint32_t rank) {
        Fragile::go(Step::kMake);
        return Fragile{{rank}};
      };
      const auto arrived = world.reduce(world.generate(make), join);
      const std::uint32_t below = subtree(failing, size);
      const auto has = [&](std::uint32_t rank) {
        return arrived && std::count(arrived->ranks.begin(), arrived->ranks.end(), rank) == 1;
      };
      for (std::uint32_t rank = 0; me == 0 && rank < size; ++rank)
        if (rank < failing || rank >= failing + below) check(has(rank), "a sound rank is lost");
      if (me == 0 && step == Step::kMake && size > 1)
        for (std::uint32_t rank = 0; rank < size; ++rank)
          check(has(rank) == (rank != failing), "more is lost than a rank's own value");
      if (me == 0 && step == Step::kEncode && failing != 0)
        check(!has(failing), "what could not be encoded arrived");

      Fragile::fails = me == failing && step != Step::kEncode ? step : Step::kNone;
      std::optional<Fragile> told;
      if (me == 0) told = Fragile{std::vector<std::uint32_t>(100, 7)};
      const Fragile heard = world.broadcast(std::move(told));
      const bool deaf = me == failing && me != 0 && step == Step::kDecode;
      check(heard.ranks.size() == (deaf ? 0 : 100), "a broadcast depends on another rank");
      const Absent absent = world.absent(!deaf);
      check(absent.count == (failing != 0 && step == Step::kDecode ? 1U : 0U), "who is absent?");
      check(absent.count == 0 || absent.names(failing), "another rank is called absent");
      check(!world.failed(), "a failure on one rank made its world fail");
      check(world.failure() == Failure::kNone || me == failing, "a failure on another rank");
      Fragile::fails = Step::kNone;
    }
  check(MPI_Wtime() - begin < 20, "ranks waited for one that failed");
}

}  // namespace

namespace world_test {

std::uint32_t me = 0;

void check(bool condition, const char* what) {
  if (condition) return;
  ++failures;
  std::fprintf(stderr, "rank %u: %s\n", me, what);
}

void idle_barrier(MPI_Comm comm) {
  MPI_Request request;
  MPI_Ibarrier(comm, &request);
  for (int done = 0; !done;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (!done) usleep(1000);
  }
}

void check_traffic(const Traffic& own, const Traffic& expected, MPI_Comm comm) {
  unsigned long long sent[2] = {own.messages, own.bytes}, sum[2];
  unsigned long long largest = own.largest, most;
  MPI_Allreduce(sent, sum, 2, MPI_UNSIGNED_LONG_LONG, MPI_SUM, comm);
  MPI_Allreduce(&largest, &most, 1, MPI_UNSIGNED_LONG_LONG, MPI_MAX, comm);
  check(sum[0] == expected.messages, "numbers of messages differ");
  check(sum[1] == expected.bytes, "numbers of bytes differ");
  check(most == expected.largest, "sizes of the largest message differ");
}

}  // namespace world_test

namespace {

void check_sampling(std::uint32_t size) {
  sampling(size);
  effort_windows(size);
}

void check_all(std::uint32_t size) {
  compare(std::size_t{1} << 28, size);
  compare(256, size);
  subsets(size, std::size_t{1} << 28);
  subsets(size, 64);
  check_sampling(size);
  reports(size);
  subset_timeout(size);
  clusterings(size);
  failures_of_one(size);
  votes(size);
  deferred_votes(size);
  left_votes(size);
  timeout(size);
}

}  // namespace

/// With `sampling` CAPEK, the members of strata and effort windows only.
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  me = static_cast<std::uint32_t>(rank);
  const bool some = argc > 1 && std::string_view(argv[1]) == "sampling";
  (some ? check_sampling : check_all)(static_cast<std::uint32_t>(size));
  int all = 0;
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return all == 0 ? 0 : 1;
}
