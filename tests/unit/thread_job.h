// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Hand-written traces of ranks with several threads: the calls that tests of them use, and who
/// makes them. Datatypes are MPI_INT unless a number says otherwise; times are in ns, all calls
/// take 1 and compute nothing before, unless `after` is set.

#include "unit/trace_builder.h"

namespace chameleon::testing {
using namespace compress;

inline constexpr std::int64_t kInt = -3, kSum = -2, kMax = -3, kNull = -1;
inline constexpr std::int64_t kWorld = 0, kSelf = 1;

enum ThreadCall : std::uint16_t {
  kSend = 1,
  kRecv,
  kIrecv,
  kIsend,
  kIssend,
  kWait,
  kTest,
  kWaitall,
  kWaitany,
  kWaitsome,
  kCancel,
  kRequestFree,
  kSendInit,
  kRecvInit,
  kStart,
  kIprobe,
  kMprobe,
  kMrecv,
  kImrecv,
  kBarrier,
  kBcast,
  kAllreduce,
  kIallreduce,
  kAllreduceInit,
  kAlltoallv,
  kCommDup,
  kCommCreateGroup,
  kCommFree,
  kContiguous,
  kTypeFree,
  kWinCreate,
  kWinFence,
  kFileOpen,
  kFileClose,
  kFinalize,
};

/// A thread of a rank.
struct Who {
  int rank = 0, thread = 0;
};

/// The n-th object of a thread.
constexpr std::int64_t id(int thread, std::int64_t n) {
  return (std::int64_t{thread} << kObjectThreadShift) + n;
}

struct ThreadJob : TraceBuilder {
  ThreadJob(int ranks_, int threads)
      : TraceBuilder(static_cast<std::uint32_t>(ranks_), static_cast<std::uint32_t>(threads)),
        ranks(ranks_) {
    const std::vector<std::string> send = {"buf:buffer",  "count:count", "datatype:datatype",
                                           "dest:dest:e", "tag:tag",     "comm:comm"};
    const std::vector<std::string> recv = {"buf:buffer",      "count:count", "datatype:datatype",
                                           "source:source:e", "tag:tag",     "comm:comm"};
    const std::vector<std::string> status = {"status.source:source:e", "status.tag:tag",
                                             "status.bytes:bytes"};
    const std::vector<std::string> statuses = {"array_of_statuses.source:source:a",
                                               "array_of_statuses.tag:tag:a",
                                               "array_of_statuses.bytes:bytes:a"};
    const std::vector<std::string> request = {"request:request"};
    const std::vector<std::string> reduce = {"sendbuf:buffer",    "recvbuf:buffer", "count:count",
                                             "datatype:datatype", "op:op",          "comm:comm"};
    const auto both = [](std::vector<std::string> a, const std::vector<std::string>& b) {
      a.insert(a.end(), b.begin(), b.end());
      return a;
    };
    call(kSend, "Send", send);
    call(kRecv, "Recv", both(recv, status));
    call(kIsend, "Isend", both(send, request));
    call(kIssend, "Issend", both(send, request));
    call(kIrecv, "Irecv", both(recv, request));
    call(kSendInit, "Send_init", both(send, request));
    call(kRecvInit, "Recv_init", both(recv, request));
    call(kStart, "Start", request);
    call(kWait, "Wait", both(request, status));
    call(kTest, "Test", both({"request:request", "flag:flag"}, status));
    call(kWaitall, "Waitall", both({"count:count", "array_of_requests:request:a"}, statuses));
    call(kWaitany, "Waitany",
         both({"count:count", "array_of_requests:request:a", "index:index"}, status));
    call(kWaitsome, "Waitsome",
         both({"incount:count", "array_of_requests:request:a", "outcount:count",
               "array_of_indices:index:a"},
              statuses));
    call(kCancel, "Cancel", request);
    call(kRequestFree, "Request_free", request);
    call(kIprobe, "Iprobe", both({"source:source:e", "tag:tag", "comm:comm", "flag:flag"}, status));
    call(kMprobe, "Mprobe",
         both({"source:source:e", "tag:tag", "comm:comm", "message:message"}, status));
    call(kMrecv, "Mrecv",
         both({"buf:buffer", "count:count", "datatype:datatype", "message:message"}, status));
    call(kImrecv, "Imrecv",
         {"buf:buffer", "count:count", "datatype:datatype", "message:message", "request:request"});
    call(kBarrier, "Barrier");
    call(kBcast, "Bcast");
    call(kAllreduce, "Allreduce", reduce);
    call(kIallreduce, "Iallreduce", both(reduce, request));
    call(kAllreduceInit, "Allreduce_init", both(reduce, {"info:info", "request:request"}));
    call(kAlltoallv, "Alltoallv");
    call(kCommDup, "Comm_dup");
    call(kCommCreateGroup, "Comm_create_group");
    call(kCommFree, "Comm_free");
    call(kContiguous, "Type_contiguous");
    call(kTypeFree, "Type_free", {"datatype:datatype"});
    call(kWinCreate, "Win_create", {"size:int", "comm:comm", "win:win"});
    call(kWinFence, "Win_fence", {"assert:int", "win:win"});
    call(kFileOpen, "File_open", {"comm:comm", "amode:int", "fh:file"});
    call(kFileClose, "File_close", {"fh:file"});
    call(kFinalize, "Finalize", {});
  }

  static std::int64_t none() { return pack_special(SpecialRank::kNone); }
  static std::int64_t any() { return pack_special(SpecialRank::kAnySource); }
  std::int64_t at(int rank, Who who) const { return pack_rank(rank, who.rank, ranks); }

  void event(Who who, ThreadCall call, const std::vector<std::int64_t>& values) {
    push(static_cast<std::uint32_t>(who.rank + ranks * who.thread), call, values, after, 1);
    after = 0;
  }
  /// The next event comes after so much computing.
  ThreadJob& compute(std::uint64_t ns) {
    after = ns;
    return *this;
  }

  void send(Who who, int dest, int tag, int count = 1, std::int64_t comm = kWorld,
            std::int64_t type = kInt) {
    event(who, kSend, {0, count, type, at(dest, who), tag, comm});
  }
  void recv(Who who, int source, int tag, int count = 1, std::int64_t comm = kWorld,
            std::int64_t type = kInt) {
    event(who, kRecv,
          {0, count, type, at(source, who), tag, comm, none(), kNotRecorded, kNotRecorded});
  }
  /// From any source, as it was matched; `tag` below 0: any tag, which was `matched_tag`.
  void recv_any(Who who, int source, int tag, int matched_tag = kNotRecorded) {
    event(who, kRecv, {0, 1, kInt, any(), tag, kWorld, at(source, who), matched_tag, kNotRecorded});
  }
  void isend(Who who, int dest, int tag, std::int64_t request, int count = 1,
             std::int64_t comm = kWorld) {
    event(who, kIsend, {0, count, kInt, at(dest, who), tag, comm, request});
  }
  void irecv(Who who, int source, int tag, std::int64_t request, int count = 1,
             std::int64_t comm = kWorld) {
    event(who, kIrecv, {0, count, kInt, at(source, who), tag, comm, request});
  }
  void wait(Who who, std::int64_t request) {
    event(who, kWait, {request, none(), kNotRecorded, kNotRecorded});
  }
  void mprobe(Who who, int source, int tag, std::int64_t message) {
    event(who, kMprobe,
          {at(source, who), tag, kWorld, message, none(), kNotRecorded, kNotRecorded});
  }
  void mrecv(Who who, std::int64_t message, int count) {
    event(who, kMrecv, {0, count, kInt, message, none(), kNotRecorded, kNotRecorded});
  }
  void barrier(Who who, std::int64_t comm = kWorld) { event(who, kBarrier, {comm}); }
  void allreduce(Who who, int count, std::int64_t comm = kWorld, std::int64_t op = kSum,
                 std::int64_t type = kInt) {
    event(who, kAllreduce, {0, 0, count, type, op, comm});
  }
  std::int64_t everyone() {
    std::vector<std::int64_t> members;
    for (int rank = 0; rank < ranks; ++rank) members.push_back(rank);
    return array(members);
  }
  void dup(Who who, std::int64_t made, std::int64_t comm = kWorld) {
    event(who, kCommDup, {comm, made, everyone()});
  }
  void finalize() {
    for (int rank = 0; rank < ranks; ++rank) event({rank, 0}, kFinalize, {});
  }

  int ranks;
  std::uint64_t after = 0;
};

}  // namespace chameleon::testing
