# SPDX-License-Identifier: BSD-3-Clause
"""Every rank writes rows of a data set, all together, and reads those of its neighbour (h5py)."""

import numpy
from h5py import _debian_h5py_mpi as h5py
from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.rank, world.size
with h5py.File("data.h5", "w", driver="mpio", comm=world) as file:
    data = file.create_dataset("x", (size, 1000), dtype="f8")
    for step in range(5):
        with data.collective:
            data[rank] = numpy.arange(1000) + rank + step
        world.Barrier()
with h5py.File("data.h5", "r", driver="mpio", comm=world) as file:
    total = world.allreduce(file["x"][(rank + 1) % size].sum())
if rank == 0:
    print("sum", total)
