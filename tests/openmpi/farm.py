# SPDX-License-Identifier: BSD-3-Clause
"""A ring of messages, and a master that gives tasks to workers, by mpi4py."""

from mpi4py import MPI


def ring(comm, steps):
    rank, size = comm.Get_rank(), comm.Get_size()
    value = rank
    for _ in range(steps):
        value = comm.sendrecv(value, dest=(rank + 1) % size, source=(rank - 1) % size)
    return comm.allreduce(value)


def farm(comm, tasks):
    """The sum of the tasks' results, on rank 0."""
    size = comm.Get_size()
    if comm.Get_rank() == 0:
        for task in range(tasks):
            comm.send(task, dest=1 + task % (size - 1))
        for worker in range(1, size):
            comm.send(None, dest=worker)
        return sum(comm.recv() for _ in range(tasks))
    while (task := comm.recv(source=0)) is not None:
        comm.send(task * task, dest=0)
    return None


world = MPI.COMM_WORLD
total, result = ring(world, 20), farm(world, 12)
if world.Get_rank() == 0:
    print(f"ring {total}, farm {result}")
