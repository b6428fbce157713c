// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// A job of two or more ranks for tests of `check`, with the calls that they use.

#include <string>

#include "analysis/check.h"
#include "unit/catch.h"
#include "unit/trace_builder.h"

namespace chameleon::testing {

constexpr std::int64_t kInt = -3, kSum = -2, kMax = -3;
enum : std::uint16_t {
  kSend = 1,
  kRecv,
  kIrecv,
  kIsend,
  kWaitall,
  kBarrier,
  kBcast,
  kAllreduce,
  kFinalize,
  kCommSplit,
  kWait,
  kRecvInit,
  kSendInit,
  kStartall,
  kAlltoallv,
  kCommDup,
  kContiguous,
  kPut,
  kCancel,
  kSendrecv,
  kIbarrier,
  kPsendInit,
  kPrecvInit,
  kFileOpen,
  kSpawn,
  kStart,
};

struct CheckJob : TraceBuilder {
  explicit CheckJob(std::uint32_t ranks) : TraceBuilder(ranks), size(ranks) {
    call(kSend, "Send");
    call(kRecv, "Recv");
    call(kIsend, "Isend");
    call(kIrecv, "Irecv");
    call(kSendInit, "Send_init",
         {"buf:buffer", "count:count", "datatype:datatype", "dest:dest:e", "tag:tag", "comm:comm",
          "request:request"});
    call(kRecvInit, "Recv_init",
         {"buf:buffer", "count:count", "datatype:datatype", "source:source:e", "tag:tag",
          "comm:comm", "request:request"});
    call(kStartall, "Startall", {"count:count", "array_of_requests:request:a"});
    call(kStart, "Start", {"request:request"});
    call(kWaitall, "Waitall");
    call(kWait, "Wait");
    call(kCancel, "Cancel", {"request:request"});
    call(kBarrier, "Barrier");
    call(kIbarrier, "Ibarrier", {"comm:comm", "request:request"});
    call(kBcast, "Bcast");
    call(kAllreduce, "Allreduce");
    call(kAlltoallv, "Alltoallv");
    call(kCommSplit, "Comm_split");
    call(kCommDup, "Comm_dup");
    call(kContiguous, "Type_contiguous");
    call(kPut, "Put", {"origin_addr:buffer", "win:win"});
    call(
        kSendrecv, "Sendrecv",
        {"sendbuf:buffer", "sendcount:count", "sendtype:datatype", "dest:dest:e", "sendtag:tag",
         "recvbuf:buffer", "recvcount:count", "recvtype:datatype", "source:source:e", "recvtag:tag",
         "comm:comm", "status.source:source:e", "status.tag:tag", "status.bytes:bytes"});
    call(kPsendInit, "Psend_init",
         {"buf:buffer", "partitions:int", "count:count", "datatype:datatype", "dest:dest:e",
          "tag:tag", "comm:comm", "info:info", "request:request"});
    call(kPrecvInit, "Precv_init",
         {"buf:buffer", "partitions:int", "count:count", "datatype:datatype", "source:source:e",
          "tag:tag", "comm:comm", "info:info", "request:request"});
    call(kFileOpen, "File_open",
         {"comm:comm", "filename:string:a", "amode:int", "info:info", "fh:file"});
    call(kSpawn, "Comm_join", {"fd:int", "intercomm:comm", "members:members:a"});
    call(kFinalize, "Finalize", {});
  }
  std::int64_t at(int rank, int self) const {
    return pack_rank(rank, self, static_cast<std::int32_t>(size));
  }
  static std::int64_t none() { return pack_special(SpecialRank::kNone); }
  static std::int64_t any() { return pack_special(SpecialRank::kAnySource); }
  void send(int self, int dest, int tag, int count = 1, std::int64_t comm = 0) {
    push(static_cast<std::uint32_t>(self), kSend, {0, count, kInt, at(dest, self), tag, comm});
  }
  void recv(int self, int source, int tag, int count = 1) {
    push(static_cast<std::uint32_t>(self), kRecv,
         {0, count, kInt, at(source, self), tag, 0, none(), kNotRecorded, kNotRecorded});
  }
  void irecv(int self, std::int64_t source, int tag, std::int64_t slot, int count = 1) {
    push(static_cast<std::uint32_t>(self), kIrecv, {0, count, kInt, source, tag, 0, slot});
  }
  void wait(int self, std::int64_t slot, std::int64_t source = none(), std::int64_t error = 0) {
    push_failed(static_cast<std::uint32_t>(self), kWait, error,
                {slot, source, kNotRecorded, kNotRecorded});
  }
  void finalize() {
    for (std::uint32_t rank = 0; rank < size; ++rank) push(rank, kFinalize, {});
  }
  analysis::CheckReport checked() {
    const Trace trace = build();
    Result<analysis::CheckReport> report = analysis::check(trace);
    REQUIRE(report);
    for (const auto& problem : report->problems)
      UNSCOPED_INFO(problem.kind << ": " << problem.text);
    return *report;
  }
  std::uint32_t size;
};

/// Whether the report has a problem of this kind whose text has this part.
inline bool names(const analysis::CheckReport& report, const std::string& kind,
                  const std::string& text) {
  for (const auto& problem : report.problems)
    if (problem.kind == kind && problem.text.find(text) != std::string::npos) return true;
  return false;
}

}  // namespace chameleon::testing
