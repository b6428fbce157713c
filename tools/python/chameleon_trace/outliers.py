# SPDX-License-Identifier: BSD-3-Clause
"""Single events that took far longer than others; docs/reference/format.md, section 21."""

from bisect import bisect_left
from collections import namedtuple

from .errors import corrupt
from .facts import packed, sequence
from .values import decode_ns

MOST, COLUMNS, MOST_NUMBER = 1000, 6, 1 << 60
MOST_STREAM = (1 << 32) - 1
LOST = 1 / 64  # of a sum, which is known to 1/512 at worst: less than that is rounding

Outlier = namedtuple("Outlier", "stream event in_call ns usual_ns begin_ns symbol predecessor")
Outlier.__doc__ = """An event of a stream, by its number, that computed before the call (or, with
`in_call`, was in it) for `ns`, where `usual_ns` is the median. It began `begin_ns` after the start of
the stream's first event, the tool's work left out. `symbol` and `predecessor` are its place."""


def read_outliers(reader):
    """Outliers by stream and event."""
    places = [(reader.u64(), reader.u64()) for _ in range(reader.count(16))]
    count = reader.varint()
    if count > MOST or (count and not places):
        raise corrupt("there are too many outliers")
    columns = []
    for _ in range(COLUMNS):
        how = reader.u8()
        if how > 1:
            raise corrupt("a column of outliers is of an unknown kind")
        columns.append(list((packed if how else sequence)(reader, count)))
        if any(not 0 <= number <= MOST_NUMBER for number in columns[-1]):
            raise corrupt("a number of an outlier is out of range")
    found, stream, event, in_call = [], 0, 0, False
    for streams, events, place, ns, usual, begin in zip(*columns):
        same = not streams and not events
        if streams:
            event = 0
        stream, event = stream + streams, event + events
        place, call = place // 2, place % 2 == 1
        if stream > MOST_STREAM or not 0 < event <= MOST_NUMBER or place >= len(places) or \
                begin > MOST_NUMBER // 1000 or (same and (in_call or not call)):
            raise corrupt("outliers are out of order")
        in_call = call
        found.append(Outlier(stream, event, call, decode_ns(ns, 10), decode_ns(usual, 10),
                             begin * 1000, *places[place]))
    return found


def joined_outliers(before, others):
    """Of both tables: the worst, up to half of them of computing, by stream and event."""
    if not before or not others:
        return before or others
    found = {(one.stream, one.event, one.in_call): one for one in (*others, *before)}
    calls = sorted((one for one in found.values() if one.in_call), key=_worst)
    computes = sorted((one for one in found.values() if not one.in_call), key=_worst)
    computes = computes[:max(MOST // 2, MOST - len(calls))]
    return sorted((*computes, *calls[:MOST - len(computes)]),
                  key=lambda one: (one.stream, one.event, one.in_call))


def _worst(one):
    return (-max(one.ns - one.usual_ns, 0), one.stream, one.event, one.in_call)


class Apart:
    """What outliers take from the times of a stream's other events. `shares(symbol, predecessor,
    stream)`: whether a stream's times there are in the distribution that this stream's are in."""

    def __init__(self, outliers, stream, shares):
        self._own = [one for one in outliers if one.stream == stream]
        self._numbers = [one.event for one in self._own]
        self._apart = {}  # [events, ns, usual_ns] computing, the same in calls, by place
        for one in outliers:
            place = (one.symbol, one.predecessor)
            if shares(*place, one.stream):
                sums = self._apart.setdefault(place, ([0, 0, 0], [0, 0, 0]))[one.in_call]
                sums[0] += 1
                sums[1] += one.ns
                sums[2] += one.usual_ns

    def times(self, place, number, durations):
        """(compute time, time in the call) of one event; None: no outlier is at its place."""
        apart = self._apart.get(place)
        if apart is None or durations is None:
            return None
        result = []
        for all_of, (events, ns, usual_ns) in zip((durations.compute, durations.call), apart):
            others, left = all_of.count - events, all_of.sum - ns
            if others < 1 or not events:
                result.append(all_of.sum / all_of.count)
            elif left < all_of.sum * LOST:
                result.append(usual_ns / events)
            else:
                result.append(left / others)
        at = bisect_left(self._numbers, number)
        for one in self._own[at:at + 2]:
            if one.event == number and (one.symbol, one.predecessor) == place:
                result[one.in_call] = one.ns
        return tuple(result)
