# SPDX-License-Identifier: BSD-3-Clause
"""A master and workers who share collective calls, each in a function of their own: what C functions
call MPI is the same on all ranks."""

import sys
import time

import ranks


def compute(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def master(step):
    compute(0.0002)
    return ranks.allreduce(step)


def worker(step):
    compute(0.001)
    return ranks.allreduce(ranks.rank * step)


def main(steps):
    total, begin = 0, time.perf_counter()
    for step in range(steps):
        total += master(step) if ranks.rank == 0 else worker(step)
        ranks.marker()
    if ranks.rank == 0:
        print(f"total {total}")
        if "--time" in sys.argv:
            print(f"time: {time.perf_counter() - begin}")
    ranks.finish()


main(int(sys.argv[1]))
