# SPDX-License-Identifier: BSD-3-Clause
"""A pool of workers by mpi4py.futures."""

from mpi4py import MPI
from mpi4py.futures import MPICommExecutor


def square(number):
    return number * number


with MPICommExecutor(MPI.COMM_WORLD, root=0) as executor:
    if executor is not None:
        print("sum", sum(executor.map(square, range(40))))
