# SPDX-License-Identifier: BSD-3-Clause
"""What streams waited at markers, by place; docs/reference/format.md, section 18."""

from collections import namedtuple

from .errors import corrupt
from .values import decode_time

MOST_MARKERS = 1 << 48
MOST_CODE = (1 << 63) - 1

MarkerWaits = namedtuple("MarkerWaits", "markers ahead_ns mean_ns")
MarkerWaits.__doc__ = """At one place: of how many markers, what was computed on average between the
event before and the marker, and what a stream of each class waited in all, in ns."""


def read_waits(reader, table):
    """MarkerWaits by (symbol, predecessor); `table` has the classes."""
    def time():
        return decode_time(reader.varint() & MOST_CODE)

    classes = len(table.classes) if table is not None else 0
    keys = [(reader.u64(), reader.u64()) for _ in range(reader.count(18 + classes))]
    if any(a >= b for a, b in zip(keys, keys[1:])):
        raise corrupt("waiting at markers has a place twice")
    found = {}
    for key in keys:
        found[key] = MarkerWaits(reader.varint(), time(), [])
        if not 0 < found[key].markers <= MOST_MARKERS:
            raise corrupt("waiting at markers has an impossible count")
    for _ in range(classes):
        for key in keys:
            found[key].mean_ns.append(time())
    return found
