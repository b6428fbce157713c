# SPDX-License-Identifier: BSD-3-Clause
"""What the programs of these tests need of MPI, by minimpi or mpi4py, as TEST_MODULE says."""

import os
from array import array

from chameleon_trace import marker  # noqa: F401  (the programs use it)

if os.environ["TEST_MODULE"] == "mpi4py":
    from mpi4py import MPI

    world = MPI.COMM_WORLD
    rank, size = world.Get_rank(), world.Get_size()
    barrier = world.barrier
    send = world.send

    def allreduce(value):
        total = array("q", [0])
        world.Allreduce(array("q", [value]), total)  # that of objects differs by rank
        return total[0]

    def recv(source):
        return world.recv(source=source)

    def sendrecv(value, dest, source):
        return world.sendrecv(value, dest=dest, source=source)

    def finish():
        pass
else:
    import minimpi

    minimpi.init()
    rank, size = minimpi.rank(), minimpi.size()
    barrier, allreduce, send = minimpi.barrier, minimpi.allreduce, minimpi.send
    recv, sendrecv, finish = minimpi.recv, minimpi.sendrecv, minimpi.finalize
