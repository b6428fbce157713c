// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The return value of a call, as a trace has it (error_class.h). Codes of an MPI are useless:
/// MPICH returns a new one each time. Success costs one comparison.

#include <mpi.h>

#include <climits>
#include <cstdint>

namespace chameleon::mpi {

/// Stands for the code of a call that has not returned.
inline constexpr int kNoCodeYet = INT_MIN;

/// The number of a code that is not MPI_SUCCESS.
std::int64_t error_number_of_failure(int code);

inline std::int64_t error_number(int code) {
  return code == MPI_SUCCESS ? 0 : error_number_of_failure(code);
}

}  // namespace chameleon::mpi
