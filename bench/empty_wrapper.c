/* SPDX-License-Identifier: BSD-3-Clause
   The least that a PMPI tool can be, for the calls of bench/event. */
#include <mpi.h>

int MPI_Sendrecv(const void *out, int sends, MPI_Datatype type, int to, int tag, void *in,
                 int receives, MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm,
                 MPI_Status *status)
{
    return PMPI_Sendrecv(out, sends, type, to, tag, in, receives, in_type, from, in_tag, comm,
                         status);
}

int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    return PMPI_Isend(buffer, count, type, to, tag, comm, request);
}

int MPI_Irecv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    return PMPI_Irecv(buffer, count, type, from, tag, comm, request);
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    return PMPI_Waitall(count, requests, statuses);
}

int MPI_Allreduce(const void *out, void *in, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm)
{
    return PMPI_Allreduce(out, in, count, type, op, comm);
}
