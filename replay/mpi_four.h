// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Functions of MPI 4 that the replay itself calls. An MPI that is older gets functions that do
/// nothing: a trace of calls that it lacks is refused before any of them is reached.

#include <mpi.h>

#include "base/rooms.h"

namespace chameleon::replay {

#if MPI_VERSION >= 4

using Session = MPI_Session;

inline int isend_large(const void* buffer, MPI_Count count, MPI_Datatype type, int dest, int tag,
                       MPI_Comm comm, MPI_Request* request) {
  return MPI_Isend_c(buffer, count, type, dest, tag, comm, request);
}
inline int irecv_large(void* buffer, MPI_Count count, MPI_Datatype type, int source, int tag,
                       MPI_Comm comm, MPI_Request* request) {
  return MPI_Irecv_c(buffer, count, type, source, tag, comm, request);
}
inline int has_arrived(MPI_Request request, int partition, int* flag) {
  return PMPI_Parrived(request, partition, flag);
}
inline void set_session_errhandler(Session session, MPI_Errhandler handler) {
  PMPI_Session_set_errhandler(session, handler);
}

#else

struct OlderSession {};
using Session = OlderSession*;

inline int isend_large(const void*, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request*) {
  return MPI_ERR_OTHER;
}
inline int irecv_large(void*, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request*) {
  return MPI_ERR_OTHER;
}
inline int has_arrived(MPI_Request, int, int* flag) {
  *flag = 1;
  return MPI_ERR_OTHER;
}
inline void set_session_errhandler(Session, MPI_Errhandler) {}

#endif

}  // namespace chameleon::replay
