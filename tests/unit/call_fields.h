// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// What traces say of calls that many tests use: the fields behind "return", as TraceBuilder::call
/// takes them.

#include <map>
#include <string>
#include <vector>

namespace chameleon::testing {

inline const std::vector<std::string>& fields_of_call(const std::string& name) {
  static const std::map<std::string, std::vector<std::string>> kFields = {
      {"Allreduce",
       {"sendbuf:buffer", "recvbuf:buffer", "count:count", "datatype:datatype", "op:op",
        "comm:comm"}},
      {"Alltoallv",
       {"sendbuf:buffer", "sendcounts:count:a", "sdispls:displacement:a", "sendtype:datatype",
        "recvbuf:buffer", "recvcounts:count:a", "rdispls:displacement:a", "recvtype:datatype",
        "comm:comm"}},
      {"Barrier", {"comm:comm"}},
      {"Bcast", {"buffer:buffer", "count:count", "datatype:datatype", "root:root:e", "comm:comm"}},
      {"Comm_create_group",
       {"comm:comm", "group:group", "tag:tag", "newcomm:comm", "members:members:a"}},
      {"Comm_dup", {"comm:comm", "newcomm:comm", "members:members:a"}},
      {"Comm_free", {"comm:comm"}},
      {"Comm_split", {"comm:comm", "color:color", "key:key", "newcomm:comm", "members:members:a"}},
      {"Irecv",
       {"buf:buffer", "count:count", "datatype:datatype", "source:source:e", "tag:tag", "comm:comm",
        "request:request"}},
      {"Isend",
       {"buf:buffer", "count:count", "datatype:datatype", "dest:dest:e", "tag:tag", "comm:comm",
        "request:request"}},
      {"Recv",
       {"buf:buffer", "count:count", "datatype:datatype", "source:source:e", "tag:tag", "comm:comm",
        "status.source:source:e", "status.tag:tag", "status.bytes:bytes"}},
      {"Reduce",
       {"sendbuf:buffer", "recvbuf:buffer", "count:count", "datatype:datatype", "op:op",
        "root:root:e", "comm:comm"}},
      {"Scan",
       {"sendbuf:buffer", "recvbuf:buffer", "count:count", "datatype:datatype", "op:op",
        "comm:comm"}},
      {"Send",
       {"buf:buffer", "count:count", "datatype:datatype", "dest:dest:e", "tag:tag", "comm:comm"}},
      {"Type_contiguous", {"count:count", "oldtype:datatype", "newtype:datatype"}},
      {"Wait",
       {"request:request", "status.source:source:e", "status.tag:tag", "status.bytes:bytes"}},
      {"Waitall",
       {"count:count", "array_of_requests:request:a", "array_of_statuses.source:source:a",
        "array_of_statuses.tag:tag:a", "array_of_statuses.bytes:bytes:a"}},
  };
  return kFields.at(name);
}

}  // namespace chameleon::testing
