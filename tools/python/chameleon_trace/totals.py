# SPDX-License-Identifier: BSD-3-Clause
"""What every rank spent, by phase; docs/reference/format.md, section 17."""

from collections import namedtuple

from .errors import corrupt
from .facts import packed, sequence
from .rank_list import RankList
from .values import decode_time
from .wire import ITEM, NUMBER

BY_RANK, OF_BYTE, MOST_CLASSES = 16384, 64, 1 << 16
NO_PHASE = 15

Total = namedtuple("Total", "ranks phase compute point_to_point collective waiting tool")
Total.__doc__ = """What each of `ranks` spent in a phase, in ns; `phase` is None after the last marker.
In jobs of more than 16,384 ranks it is the mean of ranks with like times."""


def _ranks(reader, most):
    count = reader.count(2)
    if count > MOST_CLASSES:
        raise corrupt("there are too many classes of totals")
    if count:
        classes = [RankList.decode(reader) for _ in range(count)]
        if not all(map(len, classes)):
            raise corrupt("totals are of no ranks")
        return classes
    ranks = RankList.decode(reader)
    if len(ranks) > most:
        raise corrupt("totals are of too many ranks")
    reader.take(len(ranks), 2 * ITEM)
    return [RankList.of([rank]) for rank in ranks]


def read_totals(reader):
    """Totals by rank, then by phase."""
    most = BY_RANK + OF_BYTE * reader.left()
    phases = [reader.varint() for _ in range(reader.count(1))]
    if any(a >= b for a, b in zip(phases, phases[1:])) or (phases and phases[-1] > NO_PHASE):
        raise corrupt("totals are of impossible phases")
    ranks = _ranks(reader, most)
    columns = []
    reader.take(len(ranks) * len(phases), ITEM + 5 * NUMBER)
    for _ in phases:
        columns.append([])
        for _ in range(5):
            how = reader.u8()
            if how > 1:
                raise corrupt("a column of totals is of an unknown kind")
            codes = list((packed if how else sequence)(reader, len(ranks)))
            if any(code < 0 for code in codes):
                raise corrupt("a total is out of range")
            columns[-1].append([decode_time(code) for code in codes])
    return [Total(of, None if phase == NO_PHASE else phase, *(kind[i] for kind in columns[j]))
            for i, of in enumerate(ranks) for j, phase in enumerate(phases)]
