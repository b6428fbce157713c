// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Which values an event of each call stores, and in which order: the return
/// code; for each parameter what `stored_values` says; for calls that make a
/// communicator its members; for calls that complete several requests the error of each.
/// docs/reference/format.md describes it for readers.

#include "model/trace.h"
#include "mpi/call_table.h"
#include "mpi/error_class.h"

namespace chameleon::mpi {

/// Whether a call reads or writes data of a file, at once or through a request.
constexpr bool transfers_file_data(const CallInfo& call) {
  if (!has(call, Attribute::kIo)) return false;
  for (const ParamInfo& param : params(call))
    if (param.kind == Kind::kBuffer) return true;
  return false;
}

/// How many values a parameter takes in an event.
constexpr std::size_t stored_values(const ParamInfo& param) {
  switch (param.kind) {
    case Kind::kArgc:
    case Kind::kArgv:
    case Kind::kOther: return 0;
    case Kind::kString: return param.direction == Direction::kIn ? 1 : 0;
    case Kind::kStatus: return param.direction == Direction::kOut ? 3 : 0;
    default: return 1;
  }
}

constexpr bool creates_communicator(const CallInfo& call) {
  if (!has(call, Attribute::kCreates)) return false;
  for (const ParamInfo& param : params(call))
    if (param.kind == Kind::kComm && param.direction == Direction::kOut) return true;
  return false;
}

constexpr std::size_t stored_values(const CallInfo& call) {
  std::size_t count = 1;
  for (const ParamInfo& param : params(call)) count += stored_values(param);
  return count + (creates_communicator(call) || has_errors(call) ? 1 : 0);
}

/// Place of a parameter's first value.
constexpr std::size_t value_offset(const CallInfo& call, std::size_t index) {
  std::size_t offset = 1;
  for (std::size_t i = 0; i < index; ++i) offset += stored_values(params(call)[i]);
  return offset;
}

/// Whether a scalar of this kind is a partner in the call's communicator.
constexpr bool is_end_point(const CallInfo& call, const ParamInfo& param) {
  const bool partner = param.kind == Kind::kDest || param.kind == Kind::kSource ||
                       param.kind == Kind::kRoot || param.kind == Kind::kRank;
  if (!partner || param.length.rule != Length::Rule::kScalar) return false;
  for (const ParamInfo& other : params(call))
    if (other.kind == Kind::kComm && other.direction == Direction::kIn) return true;
  return false;
}

/// The values of an event after those of its call.
struct EventExtras {
  bool path = false;   ///< its call path, where nodes have relaxed ones
  bool times = false;  ///< its times: two values in ns
};

/// The same for readers of a file.
CallDescription describe_call(const CallInfo& call, const EventExtras& extras = {});

}  // namespace chameleon::mpi
