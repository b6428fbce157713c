#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Copies of the MPI table and of MPI's headers with calls that no MPI has.

    prepare.py --table mpi_calls.txt --include FOLDER_OF_MPI_H --output FOLDER

Writes FOLDER/mpi_calls.txt, and headers into FOLDER/include. The last lines of the table and the
prototypes are all that a new call needs; tests/invented looks at what the rest makes of them.
"""

import argparse
import pathlib
import shutil

# Ids of their own, far behind those of MPI.
LINES = """
# Calls of a test
900 Xcast 9.0 collective moves=root>all:whole : buffer:inout:buffer count:count datatype:datatype root:root comm:comm
901 Ixcast 9.0 collective,nonblocking as=Xcast : buffer:inout:buffer count:count datatype:datatype root:root comm:comm request:out:request
902 Xcast_init 9.0 collective,persistent as=Xcast : buffer:inout:buffer count:count datatype:datatype root:root comm:comm info:info request:out:request
903 Xcast_c 9.0 collective,largecount as=Xcast : buffer:inout:buffer count:count datatype:datatype root:root comm:comm
904 Xdeal 9.0 collective moves=all>all:block : sendbuf:buffer sendcounts:count[comm.size] sendtype:datatype recvbuf:out:buffer recvcounts:count[comm.size] recvtype:datatype comm:comm
905 Neighbor_xdeal 9.0 collective,neighbor moves=all>all:block : sendbuf:buffer sendcount:count sendtype:datatype recvbuf:out:buffer recvcount:count recvtype:datatype comm:comm
906 Ineighbor_xdeal 9.0 collective,nonblocking,neighbor as=Neighbor_xdeal : sendbuf:buffer sendcount:count sendtype:datatype recvbuf:out:buffer recvcount:count recvtype:datatype comm:comm request:out:request
907 Xmax 9.0 collective,reduction,callback moves=all>root:whole : sendbuf:buffer recvbuf:out:buffer@root count:count datatype:datatype op:op root:root comm:comm
908 Type_xgrid 9.0 creates size=product(edges)*layers*oldtype : ndims:int edges:int[ndims] layers:int oldtype:datatype newtype:out:datatype
909 Xsend 9.0 send : buf:buffer count:count datatype:datatype dest:dest tag:tag comm:comm
"""

PROTOTYPES = """
#ifndef CHAMELEON_INVENTED_CALLS
#define CHAMELEON_INVENTED_CALLS
#if defined(__cplusplus)
extern "C" {
#endif
int MPI_Xcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm);
int MPI_Ixcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm,
               MPI_Request *request);
int MPI_Xcast_init(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm,
                   MPI_Info info, MPI_Request *request);
int MPI_Xcast_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm);
int MPI_Xdeal(const void *sendbuf, const int sendcounts[], MPI_Datatype sendtype, void *recvbuf,
              const int recvcounts[], MPI_Datatype recvtype, MPI_Comm comm);
int MPI_Neighbor_xdeal(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                       int recvcount, MPI_Datatype recvtype, MPI_Comm comm);
int MPI_Ineighbor_xdeal(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                        int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request);
int MPI_Xmax(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
             int root, MPI_Comm comm);
int MPI_Type_xgrid(int ndims, const int edges[], int layers, MPI_Datatype oldtype,
                   MPI_Datatype *newtype);
int MPI_Xsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
#if defined(__cplusplus)
}
#endif
#endif
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--table", type=pathlib.Path, required=True)
    parser.add_argument("--include", type=pathlib.Path, required=True)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    options = parser.parse_args()
    headers = options.output / "include"
    headers.mkdir(parents=True, exist_ok=True)
    for path in options.include.glob("mpi*.h"):
        shutil.copyfile(path, headers / path.name)
    header = headers / "mpi.h"
    header.write_text(header.read_text(errors="replace") + PROTOTYPES)
    (options.output / "mpi_calls.txt").write_text(options.table.read_text() + LINES)


if __name__ == "__main__":
    main()
