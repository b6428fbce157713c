# SPDX-License-Identifier: BSD-3-Clause
"""An allreduce in a loop, in a function."""

from mpi4py import MPI

COMM = MPI.COMM_WORLD


def step(number):
    return COMM.allreduce(number + COMM.rank)


total = 0
for i in range(50):
    total += step(i)
if COMM.rank == 0:
    print("total", total)
