// SPDX-License-Identifier: BSD-3-Clause
// make_traces FOLDER: writes traces of four ranks that do not hang together by themselves:
// cut.cham (incomplete, with everything in flight that can be), declared.cham (what rank 3 is
// said to have done was another's), wrong.cham (the same, but nothing is declared), circle.cham
// (what check does not see, which takes sends as buffered: all send first, and much), lost.cham
// (requests that are never completed, some of which cannot be), joined.cham (communicators with
// processes of another job), much.cham (a broadcast of more than any host has).

#include <cstdio>
#include <string>

#include "format/file.h"
#include "unit/trace_builder.h"

namespace chameleon {
namespace {

constexpr std::uint32_t kRanks = 4;
constexpr std::int64_t kInt = -3, kSum = -2;
constexpr std::int64_t kLarge = 1 << 20;  // beyond what any MPI sends ahead
enum Call : std::uint16_t {
  kInit = 1,
  kSend,
  kRecv,
  kIsend,
  kIrecv,
  kWait,
  kSendrecv,
  kBarrier,
  kIbarrier,
  kAllreduce,
  kBcast,
  kSendInit,
  kRecvInit,
  kStartall,
  kCommDup,
  kProbe,
  kJoin,
  kMerge,
  kCommFree,
  kContiguous,
  kFinalize
};

struct Job : testing::TraceBuilder {
  Job() : TraceBuilder(kRanks) {
    const std::vector<std::string> send = {"buf:buffer",  "count:count", "datatype:datatype",
                                           "dest:dest:e", "tag:tag",     "comm:comm"};
    const std::vector<std::string> receive = {"buf:buffer",      "count:count", "datatype:datatype",
                                              "source:source:e", "tag:tag",     "comm:comm"};
    const std::vector<std::string> status = {"status.source:source:e", "status.tag:tag",
                                             "status.bytes:count"};
    const auto with = [](std::vector<std::string> fields, const std::vector<std::string>& more) {
      fields.insert(fields.end(), more.begin(), more.end());
      return fields;
    };
    call(kInit, "Init", {});
    call(kSend, "Send", send);
    call(kRecv, "Recv", with(receive, status));
    call(kIsend, "Isend", with(send, {"request:request"}));
    call(kIrecv, "Irecv", with(receive, {"request:request"}));
    call(kSendInit, "Send_init", with(send, {"request:request"}));
    call(kRecvInit, "Recv_init", with(receive, {"request:request"}));
    call(kStartall, "Startall", {"count:count", "array_of_requests:request:a"});
    call(kWait, "Wait", with({"request:request"}, status));
    call(kProbe, "Probe", with({"source:source:e", "tag:tag", "comm:comm"}, status));
    call(kSendrecv, "Sendrecv",
         with({"sendbuf:buffer", "sendcount:count", "sendtype:datatype", "dest:dest:e",
               "sendtag:tag", "recvbuf:buffer", "recvcount:count", "recvtype:datatype",
               "source:source:e", "recvtag:tag", "comm:comm"},
              status));
    call(kBarrier, "Barrier", {"comm:comm"});
    call(kIbarrier, "Ibarrier", {"comm:comm", "request:request"});
    call(kAllreduce, "Allreduce",
         {"sendbuf:buffer", "recvbuf:buffer", "count:count", "datatype:datatype", "op:op",
          "comm:comm"});
    call(kBcast, "Bcast",
         {"buffer:buffer", "count:count", "datatype:datatype", "root:root:e", "comm:comm"});
    call(kCommDup, "Comm_dup", {"comm:comm", "newcomm:comm", "members:members:a"});
    call(kJoin, "Comm_join", {"fd:int", "intercomm:comm", "members:members:a"});
    call(kMerge, "Intercomm_merge",
         {"intercomm:comm", "high:flag", "newintracomm:comm", "members:members:a"});
    call(kCommFree, "Comm_free", {"comm:comm"});
    call(kContiguous, "Type_contiguous", {"count:count", "oldtype:datatype", "newtype:datatype"});
    call(kFinalize, "Finalize", {});
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) push(rank, kInit, {});
    for (std::uint32_t rank = 0; rank < kRanks; ++rank)
      for (int i = 0; i < 50; ++i) {
        const auto self = static_cast<int>(rank);
        exchange(rank, at((self + 1) % 4, self), at((self + 3) % 4, self), 10);
        push(rank, kAllreduce, {0, 0, 1, kInt, kSum, 0});
      }
  }

  static std::int64_t at(int rank, int self) { return pack_rank(rank, self, kRanks); }
  static std::int64_t nobody() { return pack_special(SpecialRank::kProcNull); }
  void exchange(std::uint32_t self, std::int64_t dest, std::int64_t source, int tag) {
    push(self, kSendrecv,
         {0, 8, kInt, dest, tag, 0, 8, kInt, source, tag, 0, pack_special(SpecialRank::kNone),
          kNotRecorded, kNotRecorded});
  }
  void send(int self, int dest, int tag, std::int64_t count = 4, std::int64_t comm = 0) {
    push(static_cast<std::uint32_t>(self), kSend, {0, count, kInt, at(dest, self), tag, comm});
  }
  void recv(int self, int source, int tag, std::int64_t count = 4, std::int64_t comm = 0) {
    push(static_cast<std::uint32_t>(self), kRecv,
         {0, count, kInt, at(source, self), tag, comm, pack_special(SpecialRank::kNone),
          kNotRecorded, kNotRecorded});
  }
  void post(Call call, int self, int partner, int tag, std::int64_t slot, std::int64_t count = 4) {
    push(static_cast<std::uint32_t>(self), call, {0, count, kInt, at(partner, self), tag, 0, slot});
  }
  void wait(int self, std::int64_t slot) {
    push(static_cast<std::uint32_t>(self), kWait,
         {slot, pack_special(SpecialRank::kNone), kNotRecorded, kNotRecorded});
  }
  void all(Call call, const std::vector<std::int64_t>& values) {
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) push(rank, call, values);
  }
  Trace named(const char* name) {
    Trace trace = build();
    trace.program = name;
    trace.timing = "none";
    return trace;
  }
};

Trace cut() {
  Job job;
  job.complete = false;
  job.all(kBarrier, {0});
  job.post(kIrecv, 2, 3, 4, 0, kLarge);  // matched and not completed
  job.post(kIsend, 3, 2, 4, 0, kLarge);
  job.post(kIrecv, 0, 1, 5, 0);    // sent after the cut
  job.push(0, kIbarrier, {0, 1});  // begun by one
  job.push(1, kSendInit, {0, 4, kInt, Job::at(0, 1), 8, 0, 1});
  job.push(1, kSendInit, {0, kLarge, kInt, Job::at(0, 1), 6, 0, 2});
  job.push(1, kStartall, {2, job.array({1, 2})});  // the second is received
  job.recv(0, 1, 6, kLarge);
  job.send(3, 1, 3, kLarge);  // received after the cut
  return job.named("cut");
}

/// Rank 3 does as rank 2 did, which at the borders of what they do is wrong.
Job borrowed() {
  Job job;
  for (int i = 0; i < 20; ++i) {
    for (int rank = 0; rank < 3; ++rank) job.send(rank, (rank + 1) % 3, 20);
    for (int rank = 0; rank < 3; ++rank) job.recv(rank, (rank + 2) % 3, 20);
    job.send(3, 0, 20, i % 2 == 0 ? 4 : kLarge);
    job.recv(3, 2, 20, i % 2 == 0 ? 4 : kLarge);
    job.all(kAllreduce, {0, 0, 1, kInt, kSum, 0});
  }
  // One more collective of the others, of another kind, then all in a circle.
  for (std::uint32_t rank = 0; rank < 3; ++rank) job.push(rank, kBarrier, {0});
  job.push(3, kAllreduce, {0, 0, 1, kInt, kSum, 0});
  for (std::uint32_t rank = 0; rank < kRanks; ++rank)
    job.push(rank, kBcast, {0, 4, kInt, Job::at(rank == 3 ? 1 : 0, static_cast<int>(rank)), 0});
  job.post(kIrecv, 3, 1, 30, 0, kLarge);
  job.wait(3, 0);
  job.post(kIsend, 3, 1, 31, 0, kLarge);
  job.wait(3, 0);
  job.exchange(3, Job::at(0, 3), Job::nobody(), 32);
  job.exchange(0, Job::nobody(), Job::at(1, 0), 32);
  job.push(3, kProbe, {Job::at(0, 3), 33, 0, pack_special(SpecialRank::kNone), kNotRecorded, 4});
  job.recv(3, 0, 34);
  job.send(3, 0, 35);
  job.recv(0, 3, 35);
  job.send(0, 3, 34);
  job.exchange(1, Job::at(0, 1), Job::nobody(), 32);
  // A communicator that is never made, and what is done on it.
  for (std::uint32_t rank = 0; rank < 3; ++rank)
    job.push(rank, kCommDup, {0, 2, job.array({0, 1, 2, 3})});
  job.send(0, 1, 40, 4, 2);
  job.recv(1, 0, 40, 4, 2);
  job.all(kFinalize, {});
  return job;
}

Trace declared() {
  Trace trace = borrowed().named("declared");
  for (Node& node : trace.nodes) node.inexact.push_back({RankList::single(3), kInexactAll});
  return trace;
}

Trace circle() {
  Job job;
  for (int rank = 0; rank < 4; ++rank) {
    job.send(rank, (rank + 1) % 4, 20, kLarge);
    job.recv(rank, (rank + 3) % 4, 20, kLarge);
  }
  job.all(kFinalize, {});
  return job.named("circle");
}

Trace lost() {
  Job job;
  for (int i = 0; i < 100; ++i) {
    job.post(kIsend, 0, 1, 50, i, kLarge);
    job.recv(1, 0, 50, kLarge);
  }
  job.post(kIrecv, 2, 3, 51, 0);  // of a message that comes
  job.send(3, 2, 51);
  job.post(kIrecv, 2, 3, 52, 1);  // of one that does not
  job.all(kFinalize, {});
  return job.named("lost");
}

Trace joined() {
  constexpr std::int64_t kOther = -2;  // instead of a world rank
  Job job;
  job.all(kJoin, {3, 2, job.array({0, 1, 2, 3, -1, kOther, kOther})});
  job.all(kMerge, {2, 0, 3, job.array({0, 1, 2, 3, kOther, kOther})});
  job.all(kAllreduce, {0, 0, 1, kInt, kSum, 3});
  job.push(0, kIsend, {0, 4, kInt, pack_rank(5, 0, 6), 60, 3, 0});
  job.wait(0, 0);
  job.all(kCommFree, {3});
  job.all(kCommDup, {0, 3, job.array({0, 1, 2, 3})});
  job.all(kAllreduce, {0, 0, 1, kInt, kSum, 3});
  job.all(kFinalize, {});
  return job.named("joined");
}

Trace much() {
  Job job;
  job.all(kContiguous, {1 << 24, kInt, 0});
  for (std::uint32_t rank = 0; rank < kRanks; ++rank)
    job.push(rank, kBcast, {0, 1 << 20, 0, Job::at(0, static_cast<int>(rank)), 0});
  job.all(kFinalize, {});
  return job.named("much");
}

}  // namespace
}  // namespace chameleon

int main(int argc, char** argv) {
  using namespace chameleon;
  using namespace chameleon::compress;
  using namespace chameleon::format;
  if (argc != 2) return 2;
  const std::string folder = std::string(argv[1]) + "/";
  for (const Trace& trace :
       {cut(), declared(), borrowed().named("wrong"), circle(), lost(), joined(), much()})
    if (const Status written = replace_trace_file(folder + trace.program + ".cham", trace);
        !written) {
      std::fprintf(stderr, "%s\n", written.error().message.c_str());
      return 1;
    }
  return 0;
}
