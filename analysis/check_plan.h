// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The plan of `check` for a call, made once per call of a trace: its action and
/// where in its values the arguments are (-1: it has none). The meaning of a call
/// comes from the MPI table by its name, or from its fields if the table does not
/// have it.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "model/trace.h"
#include "mpi/error_class.h"

namespace chameleon::analysis {

enum class Action : std::uint8_t {
  kNothing,    ///< local, or of no effect on others
  kUnchecked,  ///< no model of it
  kSend,       ///< Send, Isend, Send_init: by `request` and `persistent`
  kRecv,
  kSendrecv,
  kProbe,
  kMatchedProbe,
  kMatchedRecv,
  kComplete,  ///< Wait and Test of one request
  kCompleteAll,
  kCompleteAny,
  kCompleteSome,
  kStart,
  kRequestFree,
  kCancel,
  kCollective,
  kOtherRequest,  ///< a request whose completion is not modelled: taken as done
  kDatatype,
  kFinalize,
};

struct CallPlan {
  const CallInfo* info = nullptr;  ///< null: the table does not have it
  Action action = Action::kNothing;
  bool persistent = false;
  bool buffered = false;  ///< sends, and never waits for the receive
  bool changes_communicators = false;
  bool object_is_file = false;                    ///< `object` is a file, not a window
  bool over_result = false;                       ///< members of the communicator made take part
  bool combines = false;                          ///< what it moves goes through an op
  bool many_sent = false, many_received = false;  ///< a count for each partner
  bool many_types = false;                        ///< and a datatype
  std::string name;                               ///< without _c
  Waits waits = Waits::kForAll;
  Movement movement;  ///< none among neighbours, who are not followed
  int comm = -1, object = -1, new_comm = -1, members = -1;
  int partitions = -1;  ///< of a partitioned message: factor of the count
  int dest = -1, source = -1, send_tag = -1, recv_tag = -1, root = -1, op = -1;
  int send_buffer = -1, send_count = -1, send_type = -1;
  int recv_buffer = -1, recv_count = -1, recv_type = -1;
  int new_type = -1;  ///< of what makes a datatype
  int request = -1, requests = -1, flag = -1, index = -1, indices = -1, message = -1;
  int errors = -1;           ///< of each request that the call completes
  bool tells_class = false;  ///< what it returned is an error class, not an MPI's code
  int status_source = -1, status_tag = -1, status_bytes = -1;
};

CallPlan plan_call(const CallDescription& call);

/// Whether a call is the last on its communicator, window or file, whichever thread makes it.
inline bool comes_last(const CallPlan& plan) {
  return plan.action == Action::kFinalize ||
         (plan.action == Action::kCollective && plan.info != nullptr &&
          has(*plan.info, Attribute::kFrees));
}

/// Whether a call that returned this did what it is for all the same (mpi/error_class.h).
bool took_place(const CallPlan& plan, std::int64_t returned);

/// The context of a channel: partitioned messages match only each other.
inline std::uint64_t channel_context(const CallPlan& plan, std::uint64_t communicator) {
  return plan.partitions < 0 ? communicator : combine(communicator, 3);
}

/// Bytes of a message of which one partition has `bytes` (below 0: unknown); -1 of a damaged one.
inline std::int64_t all_partitions(std::int64_t bytes, std::int64_t partitions) {
  std::int64_t all = 0;
  if (bytes < 0) return bytes;
  return __builtin_mul_overflow(bytes, partitions, &all) || all < 0 ? -1 : all;
}

}  // namespace chameleon::analysis
