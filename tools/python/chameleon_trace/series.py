# SPDX-License-Identifier: BSD-3-Clause
"""The series over markers: what the intervals between them took, over ranks."""

from collections import namedtuple

from .errors import corrupt
from .facts import packed, sequence
from .values import decode_time

STATES = ("AT", "C", "L", "F")
MOST_SPANS = 2048
MOST_NUMBER = 1 << 60
MOST_SUM = (1 << 64) - 1

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


def _over_ranks(a, b):
    """Both, as of an interval and another."""
    least, least_rank = min((a.least_ns, a.least_rank), (b.least_ns, b.least_rank))
    most, most_rank = min((-a.most_ns, a.most_rank), (-b.most_ns, b.most_rank))
    return OverRanks(min(a.sum_ns + b.sum_ns, MOST_SUM), least, -most, least_rank, most_rank)


class Series(list):
    """Spans that follow each other, at most MOST_SPANS: neighbours join as they become more."""

    width = 1

    def add(self, span):
        """A span that comes later. What overlaps is left out, and a gap before it is closed."""
        if span.first_marker + span.intervals > MOST_NUMBER:
            return
        if self:
            follows = self[-1].first_marker + self[-1].intervals
            if span.first_marker < follows:
                return
            place = span.slowest_marker - span.first_marker
            span = span._replace(first_marker=follows, slowest_marker=follows + place)
        self.width = max(self.width, span.intervals)
        self._push(self, span)
        while len(self) > MOST_SPANS:
            self.width *= 2
            kept = []
            for one in self:
                self._push(kept, one)
            self[:] = kept

    def _push(self, spans, span):
        if spans and spans[-1].intervals + span.intervals <= self.width:
            spans[-1] = self._joined(spans[-1], span)
        else:
            spans.append(span)

    @staticmethod
    def _joined(span, later):
        slower = later.slowest.busy.most_ns > span.slowest.busy.most_ns
        of = later if slower else span
        return Span(span.first_marker, span.intervals + later.intervals, later.end_ns, later.state,
                    later.phase, Took(*map(_over_ranks, span.took, later.took)), of.slowest_marker,
                    of.slowest)


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
    spans, end = Series(), 0
    for i in range(count):
        end = min(end + ends[i], MOST_NUMBER // 1000)
        place, took = worst.get(i, (0, tallies[i]))
        if not (intervals[i] and first and first <= MOST_NUMBER and states[i] < len(STATES) and
                place < max(intervals[i], 1)):
            raise corrupt("the series has an impossible span")
        spans.add(Span(first, intervals[i], end * 1000, STATES[states[i]], min(phases[i], 255),
                       tallies[i], first + place, took))
        first += intervals[i]
    return spans
