// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// What the table of MPI calls says of one call, as constants: where its arguments of each kind
/// are, what it does, and whether its event can be told by a key.

#include "mpi/event_layout.h"
#include "record/arguments.h"

namespace chameleon::record {

template <CallId C>
struct CallTraits {
  static constexpr const CallInfo& kCall = *find_call(C);
  static constexpr std::size_t kValues = stored_values(kCall);
  static constexpr bool kReceives = has(kCall, Attribute::kRecv);
  static constexpr bool kProbes = has(kCall, Attribute::kProbe);
  static constexpr bool kCompletes = has(kCall, Attribute::kCompletes);
  static constexpr bool kPosts = has(kCall, Attribute::kNonblocking | Attribute::kPersistent);
  static constexpr bool kFrees = has(kCall, Attribute::kFrees);
  /// Calls an error handler because the program asks for it: that is no error of the call.
  static constexpr bool kCallsHandler =
      C == CallId::kCommCallErrhandler || C == CallId::kWinCallErrhandler ||
      C == CallId::kFileCallErrhandler || C == CallId::kSessionCallErrhandler;
  /// Moves data of a file: its status tells the bytes.
  static constexpr bool kTransfers = transfers_file_data(kCall);
  /// Positions of arguments; -1: none.
  static constexpr int kComm = first_of(kCall, Kind::kComm);
  static constexpr int kRequest = first_of(kCall, Kind::kRequest);
  static constexpr int kStatus = output_of(kCall, Kind::kStatus);
  static constexpr int kFlag = output_of(kCall, Kind::kFlag);
  static constexpr int kIndex = output_of(kCall, Kind::kIndex);

  static constexpr bool kManyStatuses = [] {
    if constexpr (kStatus >= 0)
      return is_array(params(kCall)[kStatus]);
    else
      return false;
  }();

  /// Whether it reads a request and leaves it as it is. Another thread may wait for that, and MPI
  /// may have given its handle to a new request by the time the call is over.
  static constexpr bool kReadsRequest = [] {
    for (const ParamInfo& param : params(kCall))
      if (param.direction == Direction::kIn && param.kind == Kind::kRequest) return true;
    return false;
  }();

  /// Gives MPI an error handler of the program, in place of which the tool passes one of its own.
  static constexpr bool kMakesHandler = output_of(kCall, Kind::kErrhandler) >= 0 && [] {
    for (const ParamInfo& param : params(kCall))
      if (param.kind == Kind::kFunction) return true;
    return false;
  }();

  /// Whether something is to be done before the call: it changes a handle that is recorded, so that
  /// its arguments must be read, or others are passed on. Elsewhere it is as good afterwards, in
  /// the same breath as the results.
  static constexpr bool kEarly = kMakesHandler || [] {
    if (has(kCall, Attribute::kCompletes | Attribute::kFrees | Attribute::kCancels |
                       Attribute::kFinalize | Attribute::kAbort) ||
        kReadsRequest)
      return true;
    for (const ParamInfo& param : params(kCall))
      if (param.direction == Direction::kInOut && param.kind != Kind::kBuffer &&
          stored_values(param) != 0)
        return true;
    return false;
  }();

  /// Whether it has a key.
  static constexpr bool kKeyed = [] {
    if (kEarly || kProbes || kTransfers || creates_communicator(kCall) ||
        has(kCall, Attribute::kPersistent | Attribute::kStarts | Attribute::kInit))
      return false;
    for (const ParamInfo& param : params(kCall)) {
      if (stored_values(param) == 0 || param.kind == Kind::kBuffer) continue;
      const bool made = kPosts && param.kind == Kind::kRequest;
      if (is_array(param) || param.kind == Kind::kString || param.kind == Kind::kPointer ||
          param.kind == Kind::kFunction || (param.kind == Kind::kRequest && !made) ||
          (param.direction != Direction::kIn && param.kind != Kind::kStatus && !made))
        return false;
    }
    return true;
  }();
};

}  // namespace chameleon::record
