// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/error_number.h"

#include <algorithm>

#include "mpi/error_class.h"
#include "mpi/platform.h"

// Classes that this mpi.h does not have: no call gives them.
#ifdef CHAMELEON_SMPI
#define MPI_ERR_SESSION -1
#define MPI_ERR_PROC_ABORTED -1
#else
#ifndef MPI_ERR_SESSION
#define MPI_ERR_SESSION -1
#endif
#ifndef MPI_ERR_PROC_ABORTED
#define MPI_ERR_PROC_ABORTED -1
#endif
#endif
#ifndef MPI_ERR_VALUE_TOO_LARGE
#define MPI_ERR_VALUE_TOO_LARGE -1
#endif
#ifndef MPI_ERR_ERRHANDLER
#define MPI_ERR_ERRHANDLER -1
#endif

namespace chameleon::mpi {

std::int64_t error_number_of_failure(int code) {
  static constexpr int kClasses[] = {
      MPI_SUCCESS,
#define CHAMELEON_ERROR(name, argument) name,
#include "mpi/error_classes.inc"
#undef CHAMELEON_ERROR
  };
  if (code == kNoCodeYet) return kInProgress;
  int error_class = code;
  if constexpr (!kSimulated) PMPI_Error_class(code, &error_class);  // SMPI's codes are classes
  const auto found = std::find(std::begin(kClasses) + 1, std::end(kClasses), error_class);
  if (found != std::end(kClasses)) return found - std::begin(kClasses);
  return kOwnErrors + std::max(error_class, 0);
}

}  // namespace chameleon::mpi
