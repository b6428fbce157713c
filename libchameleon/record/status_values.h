// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// What is stored of end-points and statuses: a rank absolute and relative at once, and of a status
/// only what the posted receive does not tell.

#include <mpi.h>

#include <cstdint>

#include "model/end_point.h"
#include "mpi/handles.h"
#include "record/streams.h"

namespace chameleon::record {

/// `partner` in a communicator of this shape, as stored.
inline std::int64_t encode_end_point(std::int64_t partner, const CommShape& comm) {
  if (partner == MPI_PROC_NULL) return pack_special(SpecialRank::kProcNull);
  if (partner == MPI_ANY_SOURCE) return pack_special(SpecialRank::kAnySource);
  if (partner == kRootOfIntercommunicator) return pack_special(SpecialRank::kRoot);
  if (partner < 0 || partner >= comm.size) return pack_special(SpecialRank::kUndefined);
  return pack_rank(static_cast<std::int32_t>(partner), comm.self, comm.size);
}

/// A status before a call: some that succeed leave it as it was, or set the bytes only.
inline constexpr int kUntouchedSource = INT32_MIN + 1;
inline MPI_Status untouched_status() {
  MPI_Status status{};
  status.MPI_SOURCE = kUntouchedSource;
  return status;
}

/// The parts of a status that the posted receive does not tell.
struct StatusValues {
  std::int64_t source = pack_special(SpecialRank::kNone);
  std::int64_t tag = kNotRecorded;
  std::int64_t bytes = kNotRecorded;
  bool empty() const {
    return source == pack_special(SpecialRank::kNone) && tag == kNotRecorded &&
           bytes == kNotRecorded;
  }
};

inline StatusValues encode_status(const MPI_Status& status, const RequestFacts& posted) {
  StatusValues values;
  if (!posted.receives) return values;
  if (posted.cancelled) {
    int cancelled = 0;
    PMPI_Test_cancelled(&status, &cancelled);
    if (cancelled != 0) return values;
  }
  const bool names_sender = status.MPI_SOURCE != kUntouchedSource;
  if (posted.any_source && names_sender)
    values.source = encode_end_point(status.MPI_SOURCE, posted.comm);
  if (posted.any_tag && names_sender) values.tag = status.MPI_TAG;
  const std::int64_t bytes = status_bytes(status);
  if (bytes != posted.bytes) values.bytes = bytes;
  return values;
}

}  // namespace chameleon::record
