# SPDX-License-Identifier: BSD-3-Clause
"""What the time in calls was spent on, as the `chameleon` command works it out."""

import csv
import io
import shutil
import subprocess
from collections import namedtuple

PlaceWaits = namedtuple(
    "PlaceWaits", "rank call site count call_ns late_sender_ns late_receiver_ns late_root_ns "
    "early_root_ns all_to_all_ns barrier_ns marker_ns transfer_ns excess_ns")
PlaceWaits.__doc__ = """Of a rank, a call and a call path, in ns: the time in these calls, what they
waited for by its kind, what they waited before at markers, transfer, and the rest."""
TEXTS = ("call", "site")


def place_waits(path, ranks=None, command="chameleon"):
    """The PlaceWaits of a trace file, in order of ranks. ValueError, with one line, if the trace does
    not have them, or the command is not there."""
    program = shutil.which(command)
    if program is None:
        raise ValueError(f"waits are worked out by the command {command}, which is not in PATH")
    done = subprocess.run([program, "stats", "--waits", "--csv", path], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        raise ValueError(lines[-1] if lines else f"{program} ended with status {done.returncode}")
    rows = csv.DictReader(io.StringIO(done.stdout))
    if tuple(rows.fieldnames or ()) != PlaceWaits._fields:
        raise ValueError(f"{program} is of another version: it has the columns {rows.fieldnames}")
    found = (PlaceWaits(**{title: text if title in TEXTS else int(text)
                           for title, text in row.items()}) for row in rows)
    return [row for row in found if ranks is None or row.rank in ranks]
