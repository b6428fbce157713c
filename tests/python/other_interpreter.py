# SPDX-License-Identifier: BSD-3-Clause
"""Calls MPI from a second interpreter of the process, in the same thread, and from the first."""

import minimpi

try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters

INSIDE = """
import minimpi

def inside():
    minimpi.barrier()

inside()
"""


def outside():
    minimpi.barrier()


minimpi.init()
try:
    other = interpreters.create("legacy")
except TypeError:
    other = interpreters.create(isolated=False)
for _ in range(3):
    outside()
    failed = interpreters.run_string(other, INSIDE)
    assert not failed, failed
interpreters.destroy(other)
outside()
minimpi.finalize()
