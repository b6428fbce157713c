# SPDX-License-Identifier: BSD-3-Clause
"""The series over markers: what the intervals between them took, over ranks."""

from collections import namedtuple

from .errors import corrupt
from .facts import packed, sequence
from .values import decode_time

STATES = ("AT", "C", "L", "F")
MOST_SPANS = 2048
MOST_NUMBER = 1 << 60

OverRanks = namedtuple("OverRanks", "sum_ns least_ns most_ns least_rank most_rank")
OverRanks.__doc__ = "A duration of each rank: the sum, and the extremes with their ranks."
Took = namedtuple("Took", "compute call busy waiting")
Took.__doc__ = "What intervals took: OverRanks outside MPI, in it, both, and waiting at the marker."
Span = namedtuple("Span", "first_marker intervals end_ns state phase took slowest_marker slowest")
Span.__doc__ = """One interval, or several in a row: `took` has sums over them and extremes of single
ones, `slowest` is the one in which some rank was busy longest."""


class _Columns:
    def __init__(self, reader):
        self.reader = reader

    def column(self, count):
        how = self.reader.u8()
        if how > 1:
            raise corrupt("a column of the series is of an unknown kind")
        numbers = (packed if how else sequence)(self.reader, count)
        numbers = list(numbers)
        if any(not 0 <= number <= MOST_NUMBER for number in numbers):
            raise corrupt("a number of the series is out of range")
        return numbers

    def tallies(self, count):
        parts = []
        for _ in range(4):
            times = [map(decode_time, self.column(count)) for _ in range(3)]
            ranks = [self.column(count) for _ in range(2)]
            if any(number >= 1 << 32 for numbers in ranks for number in numbers):
                raise corrupt("the series names an impossible rank")
            parts.append([OverRanks(*row) for row in zip(*times, *ranks)])
        return [Took(*row) for row in zip(*parts)]


def read_series(reader):
    """The spans of a part of a trace."""
    count = reader.varint()
    if count > MOST_SPANS:
        raise corrupt("the series has too many spans")
    if not count:
        return []
    first = reader.varint()
    columns = _Columns(reader)
    intervals = columns.column(count)
    ends = columns.column(count)
    states = columns.column(count)
    phases = columns.column(count)
    tallies = columns.tallies(count)
    joined = [i for i in range(count) if intervals[i] > 1]
    slowest = columns.column(len(joined))
    worst = dict(zip(joined, zip(slowest, columns.tallies(len(joined)))))
    spans, end = [], 0
    for i in range(count):
        end = min(end + ends[i], MOST_NUMBER // 1000)
        place, took = worst.get(i, (0, tallies[i]))
        if not (intervals[i] and first and first <= MOST_NUMBER and states[i] < len(STATES) and
                place < max(intervals[i], 1)):
            raise corrupt("the series has an impossible span")
        spans.append(Span(first, intervals[i], end * 1000, STATES[states[i]], min(phases[i], 255),
                          tallies[i], first + place, took))
        first += intervals[i]
    return spans
