# SPDX-License-Identifier: BSD-3-Clause
"""Calls MPI_Barrier on one rank from functions of Python, one in the other, and prints for each
depth the median nanoseconds of a call over blocks.

    python_loop.py DEPTH... (with minimpi of tests/python)"""

import statistics
import sys
import time

import minimpi

CALLS, BLOCKS = 2000, 40


def block(depth):
    if depth > 3:
        return block(depth - 1) if depth % 2 else block_of_others(depth - 1)
    return calls()


def block_of_others(depth):
    return block(depth)


def calls():
    barrier = minimpi.barrier
    begin = time.perf_counter_ns()
    for _ in range(CALLS):
        barrier()
    return (time.perf_counter_ns() - begin) / CALLS


def main(depths):
    minimpi.init()
    for depth in depths:
        block(depth)
        print(depth, statistics.median(block(depth) for _ in range(BLOCKS)))
    minimpi.finalize()


main([int(word) for word in sys.argv[1:]])
