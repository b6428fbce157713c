# SPDX-License-Identifier: BSD-3-Clause
"""Markers, set by a program in Python while it runs."""

import ctypes

LEVEL = 0x43484D  # CHAMELEON_MARKER of chameleon/chameleon.h

_pcontrol = None


def _find():
    """MPI_Pcontrol as the program's C functions see it, once MPI is initialized. The tracer's is
    always found. Another one does nothing, and may be hidden in a module that was loaded."""
    everything = ctypes.CDLL(None)
    found, initialized = getattr(everything, "MPI_Pcontrol", None), ctypes.c_int(0)
    if found is not None:
        everything.MPI_Initialized(ctypes.byref(initialized))
    return found if initialized.value else None


def marker():
    """Marks the end of a time step: all ranks of the job call it equally often. It is MPI_Pcontrol
    with a level of its own (mpi4py's Pcontrol takes 0 to 2 only), and does nothing in a program that
    is not traced."""
    global _pcontrol  # looked for once
    _pcontrol = _pcontrol or _find()
    if _pcontrol is not None:
        _pcontrol(LEVEL)
