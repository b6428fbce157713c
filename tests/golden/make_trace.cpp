// SPDX-License-Identifier: BSD-3-Clause
/// Writes the hand-built traces that the goldens describe: four ranks, one of
/// each thing that `chameleon print`, `stats` and `info` show in a way of its own;
/// and, under names of their own, ranks with two threads for `chameleon check`, and
/// a trace in which the names are hostile to formats.

#include <cstdio>

#include "format/file.h"
#include "unit/thread_job.h"
#include "unit/trace_builder.h"

namespace chameleon {
namespace {

enum Call : std::uint16_t {
  kInit = 1,
  kBcast,
  kTypeContiguous,
  kIsend,
  kIrecv,
  kWaitall,
  kSendrecv,
  kRecv,
  kAllreduce,
  kCommDup,
  kFinalize
};

constexpr std::int64_t kWorld = 0;
constexpr std::int64_t kInt = -3, kDouble = -4;  // places 1 and 2 of TraceBuilder's datatypes
constexpr std::int64_t kSum = -2;
constexpr std::int64_t kAnyTag = -1;
constexpr std::uint32_t kRanks = 4;
constexpr int kIterations = 100;
constexpr int kThreadRanks = 2;

void describe(testing::TraceBuilder& builder) {
  builder.call(kInit, "Init", {});
  builder.call(kBcast, "Bcast",
               {"buffer:buffer", "count:count", "datatype:datatype", "root:root:e", "comm:comm"});
  builder.call(kTypeContiguous, "Type_contiguous",
               {"count:count", "oldtype:datatype", "newtype:datatype"});
  builder.call(kIsend, "Isend",
               {"buf:buffer", "count:count", "datatype:datatype", "dest:dest:e", "tag:tag",
                "comm:comm", "request:request"});
  builder.call(kIrecv, "Irecv",
               {"buf:buffer", "count:count", "datatype:datatype", "source:source:e", "tag:tag",
                "comm:comm", "request:request"});
  builder.call(kWaitall, "Waitall",
               {"count:count", "array_of_requests:request:a", "array_of_statuses.source:source:a",
                "array_of_statuses.tag:tag:a", "array_of_statuses.bytes:count:a"});
  builder.call(
      kSendrecv, "Sendrecv",
      {"sendbuf:buffer", "sendcount:count", "sendtype:datatype", "dest:dest:e", "sendtag:tag",
       "recvbuf:buffer", "recvcount:count", "recvtype:datatype", "source:source:e", "recvtag:tag",
       "comm:comm", "status.source:source:e", "status.tag:tag", "status.bytes:count"});
  builder.call(kRecv, "Recv",
               {"buf:buffer", "count:count", "datatype:datatype", "source:source:e", "tag:tag",
                "comm:comm", "status.source:source:e", "status.tag:tag", "status.bytes:count"});
  builder.call(kAllreduce, "Allreduce",
               {"sendbuf:buffer", "recvbuf:buffer", "count:count", "datatype:datatype", "op:op",
                "comm:comm"});
  builder.call(kCommDup, "Comm_dup", {"comm:comm", "newcomm:comm", "members:members:a"});
  builder.call(kFinalize, "Finalize", {});
}

std::int64_t neighbour(std::uint32_t rank, int distance) {
  const auto peer = static_cast<std::int32_t>(rank) + distance;
  if (peer < 0 || peer >= static_cast<std::int32_t>(kRanks))
    return pack_special(SpecialRank::kProcNull);
  return pack_rank(peer, static_cast<std::int32_t>(rank), kRanks);
}

void run(testing::TraceBuilder& builder, std::uint32_t rank) {
  const auto self = static_cast<std::int32_t>(rank);
  const std::int64_t none = pack_special(SpecialRank::kNone);
  const std::int64_t unsaid = builder.array({kNotRecorded, kNotRecorded});
  const std::int64_t no_rank =
      builder.array({kFirstSpecialRelative + 1, kFirstSpecialRelative + 1});
  builder.push(rank, kInit, {});
  builder.push(rank, kBcast, {0, 16, kInt, pack_rank(0, self, kRanks), kWorld});
  builder.push(rank, kCommDup, {kWorld, 2, builder.array({0, 1, 2, 3})});
  builder.push(rank, kTypeContiguous, {3, kDouble, 0});
  for (int i = 0; i < kIterations; ++i) {
    builder.push(rank, kIrecv,
                 {0, 1000, kDouble, pack_rank((self + 3) % 4, self, kRanks), 5, kWorld, 0});
    builder.push(rank, kIsend,
                 {0, 1000, kDouble, pack_rank((self + 1) % 4, self, kRanks), 5, kWorld, 1});
    builder.push(rank, kWaitall, {2, builder.array({0, 1}), no_rank, unsaid, unsaid});
    for (int inner = 0; inner < 2; ++inner)
      builder.push(rank, kSendrecv,
                   {0, 8 * i, kInt, neighbour(rank, inner == 0 ? 1 : -1), 7, 0, 8 * i, kInt,
                    neighbour(rank, inner == 0 ? -1 : 1), 7, 2, none, kNotRecorded, kNotRecorded});
    builder.push(rank, kAllreduce, {1, 0, 1, kDouble, kSum, kWorld});
  }
  // Everyone tells rank 0, which takes what comes, in the order of ranks.
  if (rank != 0)
    builder.push(rank, kIsend, {0, 10 * self, 0, pack_rank(0, self, kRanks), self, kWorld, 0});
  else
    for (std::int32_t from = 1; from < 4; ++from)
      builder.push(rank, kRecv,
                   {0, 30, 0, pack_special(SpecialRank::kAnySource), kAnyTag, kWorld,
                    pack_rank(from, self, kRanks), from, 240 * from});
  builder.push(rank, kFinalize, {});
}

/// As if rank 2 had traced the exchanges for rank 3, and counts had differed.
void declare(std::vector<Node>& nodes) {
  for (Node& node : nodes) {
    if (node.call == kSendrecv && !node.is_loop())
      node.inexact.push_back({RankList::single(3), kInexactCount});
    declare(node.body);
  }
}

OnlineFacts online_facts() {
  OnlineFacts online;
  online.clustering = "k-farthest";
  online.fidelity = "checked";
  online.k = 9;
  online.markers = 100;
  online.acted = 100;
  online.count_at = online.count_c = online.count_f = 1;
  online.count_l = 98;
  online.flushes = 2;
  online.clusterings = 1;
  online.merge_bytes = 3000;
  online.clusters = {{0x1234abcd, 0, RankList::range(0, 1)},
                     {0x1234abcd, 2, RankList::range(2, 3)}};
  online.phases = {{0, 1, 1, 4, 20'000'000},
                   {1, 2, 1, 0, 40'000'000},
                   {2, 3, 98, 0, 1'990'000'000},
                   {3, 101, 1, 0, 2'000'000'000}};
  return online;
}

void add_facts(Trace& trace) {
  trace.online = online_facts();
  declare(trace.nodes);
  trace.program = "hand-made";
  trace.tool_version = "1.2.3";
  trace.mpi = "MPICH 4.0.2";
  trace.command_line = "./hand-made --title 'two words'";
  trace.directory = "/home/user/run";
  trace.timing = "histogram";
  trace.started_unix = 1700000000;
  trace.modules[77] = {"", "/nowhere/hand-made"};
  for (std::uint16_t call = kInit; call <= kFinalize; ++call)
    trace.paths[100U + call] = {{{77, 0x1000U + call}, {77, 0x2000}}};
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    RankFacts& facts = trace.facts[rank];
    facts.events = 5 + 6 * kIterations + (rank == 0 ? 3 : 1);
    facts.run_ns = 2'000'000'000;
    facts.tool_ns = 10'000'000;
    facts.call_ns = 300'000'000 + 10'000'000 * rank;
    facts.set_clock({12, rank < 2 ? 0 : -1'500'000, rank < 2 ? 0 : 2400, 100 + 700 * (rank / 2)});
    facts.tool_bytes = 5'000'000;
    facts.tool_at_ns = 100'000;
    facts.tool_c_ns = 2'000'000;
    facts.tool_l_ns = 300'000;
    facts.tool_f_ns = 4'000'000;
    facts.idle_c_ns = 500'000;
    facts.idle_l_ns = rank % 2 == 0 ? 20'000 : 180'000;
    facts.idle_f_ns = 2'500'000;
    facts.instructions = 5'000'000'000;
    facts.tool_instructions = rank % 2 == 0 ? 8'000'000 : 7'000'000;
    if (rank == 0) facts.energy_uj = 123'456'789;
    if (rank == 2) facts.no_energy = "no counters in /sys/class/powercap";
    facts.host = rank < 2 ? "node1" : "node2";
  }
  trace.declarations.push_back({"values left out beyond the limit", RankList::single(3)});
}

/// Two threads of two ranks, the second on a communicator that the first makes and frees. `what`:
/// "fits"; "amounts", which differ; "shared", a channel; "reused", an id that hides what was meant.
Trace of_threads(const std::string& what) {
  testing::ThreadJob job(kThreadRanks, 2);
  for (int rank = 0; rank < kThreadRanks; ++rank) {
    const testing::Who main{rank, 0}, worker{rank, 1};
    for (int round = 0; round < (what == "reused" ? 2 : 1); ++round) {
      job.compute(100).dup(main, 2);
      // The worker of the second rank seems to come after both communicators were made.
      if (what == "reused" && rank == 1 && round == 0)
        job.compute(1000).event(worker, testing::kTypeFree, {kInt});
      job.compute(100).allreduce(worker, what == "amounts" ? 1 + rank : 1 + round, 2);
      job.event(main, testing::kCommFree, {2});
    }
    job.send(main, 1 - rank, 7, 3);
    job.recv(main, 1 - rank, 7, what == "amounts" ? 2 : 3);
    if (what == "shared") job.send(worker, 1 - rank, 7, 3);
  }
  job.finalize();
  return job.build();
}

Frame add_source(Trace& trace, SourceFrame source) {
  const std::uint64_t id = source_id(source);
  trace.sources.emplace(id, std::move(source));
  return {0, id};
}

/// The program of `whole` in Python, with a method for each call, called by a lambda in a function
/// of the same name as one in another file.
Trace of_python(Trace whole) {
  const std::string solver = "/nowhere/solver.py", library = "/nowhere/library/solver.py";
  whole.modules = {{77, {"", "/nowhere/mpi4py/MPI.cpython-311-x86_64-linux-gnu.so"}}};
  for (std::uint16_t call = kInit; call <= kFinalize; ++call)
    whole.paths[100U + call] = {
        {{77, 0x1000U + call},
         add_source(whole, {solver, "Solver.step", 40, 40U + call, 5, 40U + call, 30}),
         add_source(whole, {solver, "run.<locals>.<lambda>", 20, 20, 9, 20, 30}),
         add_source(whole, {library, "run", 7, 9, 3, 9, 12}),
         add_source(whole, {solver, "<module>", 1, 99, 1, 99, 10})}};
  return whole;
}

/// Two ranks that exchange a message and make a call, all names of which hold what some format
/// gives a meaning: quotes, separators, comments, control characters, and bytes that are no UTF-8.
Trace of_names() {
  const std::string hostile = "a\"b\\c;d,e'f #g%h\ti\nj\rk\x01l\x1bm\x7fn\xffo\xc3(p";
  testing::TraceBuilder builder(2);
  describe(builder);
  builder.call(kBcast, hostile, {"buffer:buffer"});
  builder.call(kFinalize, "Finalize", {});
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    const std::int64_t other =
        pack_rank(1 - static_cast<std::int32_t>(rank), static_cast<std::int32_t>(rank), 2);
    builder.push(rank, kInit, {});
    builder.push(rank, kBcast, {0});
    builder.push(rank, kSendrecv,
                 {0, 8, kInt, other, 7, 0, 8, kInt, other, 7, kWorld,
                  pack_special(SpecialRank::kNone), kNotRecorded, kNotRecorded});
    builder.push(rank, kFinalize, {});
  }
  Trace trace = builder.build();
  trace.program = hostile;
  trace.command_line = trace.directory = hostile;
  trace.tool_version = trace.mpi = hostile;
  trace.timing = "histogram";
  trace.modules[77] = {"", "/nowhere/" + hostile};
  for (std::uint16_t call = kInit; call <= kFinalize; ++call)
    trace.paths[100U + call] = {{{77, 0x1000U + call}, {77, 0x2000}}};
  trace.paths[100U + kSendrecv].frames[0] = add_source(trace, {hostile, hostile, 1, 2});
  for (std::uint32_t rank = 0; rank < 2; ++rank) trace.facts[rank].host = hostile;
  return trace;
}

bool write(const std::string& file, const Trace& trace) {
  std::remove(file.c_str());
  return static_cast<bool>(format::create_trace_file(file, trace));
}

}  // namespace
}  // namespace chameleon

int main(int argc, char** argv) {
  using namespace chameleon;
  using namespace chameleon::compress;
  using namespace chameleon::format;
  if (argc != 2) return 2;
  testing::TraceBuilder builder(kRanks);
  describe(builder);
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) run(builder, rank);
  Trace trace = builder.build();
  add_facts(trace);
  bool written = write(argv[1], trace) && write("names.cham", of_names()) &&
                 write("python.cham", of_python(trace));
  for (const char* what : {"fits", "amounts", "shared", "reused"})
    written = write(std::string("threads-") + what + ".cham", of_threads(what)) && written;
  return written ? 0 : 1;
}
