// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Error classes as a trace has them: 0 success, then places in error_classes.inc, the same for
/// every MPI; classes of the application from `kOwnErrors` on; `kInProgress` of a call that had not
/// returned when the trace of its rank ended. The effects of a call that failed
/// follow from them. Constants without mpi.h; a look-up costs a few comparisons.

#include <cstdint>
#include <string>
#include <string_view>

#include "mpi/call_meaning.h"

namespace chameleon::mpi {

/// This and more: that much above what MPI_Error_class gave, which is no class of the standard.
inline constexpr std::int64_t kOwnErrors = 1000;

namespace detail {

struct ErrorName {
  std::string_view name;
  bool argument;
};

inline constexpr ErrorName kErrorNames[] = {
    {"MPI_SUCCESS", false},
#define CHAMELEON_ERROR(name, argument) {#name, argument},
#include "mpi/error_classes.inc"
#undef CHAMELEON_ERROR
};

}  // namespace detail

inline constexpr std::int64_t kErrorEnd = std::size(detail::kErrorNames);

/// The number of a class of the standard, or -1.
constexpr std::int64_t error_of_name(std::string_view name) {
  for (std::int64_t error = 0; error < kErrorEnd; ++error)
    if (detail::kErrorNames[error].name == name) return error;
  return -1;
}

/// In place of what a pending call returned: nothing yet.
inline constexpr std::int64_t kInProgress = -1;

inline constexpr std::int64_t kErrTruncate = error_of_name("MPI_ERR_TRUNCATE");
inline constexpr std::int64_t kErrPending = error_of_name("MPI_ERR_PENDING");
inline constexpr std::int64_t kErrInStatus = error_of_name("MPI_ERR_IN_STATUS");

/// "MPI_ERR_TRUNCATE"; of the application's own the number; "pending" of a call in progress.
inline std::string error_name(std::int64_t error) {
  if (error == kInProgress) return "pending";
  if (error >= 0 && error < kErrorEnd) return std::string(detail::kErrorNames[error].name);
  return "error " + std::to_string(error);
}

/// Whether the error says that an argument was wrong.
constexpr bool names_argument(std::int64_t error) {
  return error > 0 && error < kErrorEnd && detail::kErrorNames[error].argument;
}

/// Whether a call completes several requests at once, each with an error of its own.
constexpr bool has_errors(const CallInfo& call) {
  if (!has(call, Attribute::kCompletes)) return false;
  for (const ParamInfo& param : params(call))
    if (param.kind == Kind::kStatus && param.length.rule != Length::Rule::kScalar) return true;
  return false;
}

/// Whether a call that returned this did what it is for: its request has ended, its message is
/// gone, its collective took place on this rank.
constexpr bool took_place(const CallInfo& call, std::int64_t error) {
  if (error == 0) return true;
  if (error == kInProgress) return false;
  if (has_errors(call)) return error == kErrInStatus;
  if (has(call, Attribute::kCompletes)) return !names_argument(error);
  if (has(call, Attribute::kNonblocking | Attribute::kPersistent | Attribute::kIo)) return false;
  if (has(call, Attribute::kRecv)) return error == kErrTruncate;
  if (!has(call, Attribute::kCollective) || has(call, Attribute::kCreates | Attribute::kFrees))
    return false;
  return !names_argument(error) &&
         (meaning_of(call).movement.moves() || static_cast<CallId>(call.id) == CallId::kBarrier);
}

}  // namespace chameleon::mpi
