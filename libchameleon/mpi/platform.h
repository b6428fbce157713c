// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The implementation of MPI that this is compiled for. Each has a folder here, whose platform.h
/// says what differs from the others: kSimulated, kRootOfIntercommunicator, simulated_ns(),
/// status_bytes(), and how a variable of a thread is declared. Nothing of it costs anything at run
/// time. Which objects exist from the start follows from mpi.h alone (handles.cpp).

#include <mpi.h>

#if defined(CHAMELEON_SMPI)
#include "mpi/smpi/platform.h"
#elif defined(CHAMELEON_STANDARD_ABI)
#include "mpi/abi/platform.h"
#elif defined(OPEN_MPI)
#include "mpi/openmpi/platform.h"
#else
#include "mpi/mpich/platform.h"
#endif
