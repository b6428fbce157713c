# SPDX-License-Identifier: BSD-3-Clause
"""Effort windows: what ranks computed between markers, over ranks and steps, and from a sample."""

from collections import namedtuple

from .errors import corrupt
from .facts import packed, sequence

GAPS = ("none", "uneven", "left_out", "stopped", "lost")
LEAST_LENGTH, MOST_LENGTH = 16, 1024
MOST_STRATA, MOST_SAMPLED, MOST_STEPS = 64, 256, 1 << 14
MOST_NS, MOST_MARKER, MOST_RANK, MILLION = 1 << 62, 1 << 60, 1 << 24, 1_000_000

EffortStep = namedtuple("EffortStep", "marker sum_ns deviation_ns least_ns most_ns")
EffortStep.__doc__ = "An interval over all ranks, exact; deviations are rounded up."
EffortStratum = namedtuple("EffortStratum", "medoid size deviation_ns sum_ns deviations_ns sampled")
EffortStratum.__doc__ = """Ranks that compute alike: `sum_ns` and `deviations_ns` of each step over
all of them, `deviation_ns` of what a rank computed in all steps; `sampled` has by rank what it
computed in each step."""


class EffortWindow(namedtuple("EffortWindow", "first last gap ranks unstratified strata_pay steps "
                                              "strata length error confidence")):
    """The intervals that the acted-on markers from `first` to `last` end; with a `gap` other than
    "none" there is nothing more of it. `length`, `error` and `confidence` are what was asked for."""

    @property
    def mean_ns(self):
        """Of a rank and step, over all of them."""
        return sum(step.sum_ns for step in self.steps) / len(self.steps) / self.ranks

    @property
    def estimate_ns(self):
        """The same from the sampled ranks."""
        return sum(stratum.size * sum(map(sum, stratum.sampled.values())) / len(stratum.sampled)
                   for stratum in self.strata) / len(self.steps) / self.ranks

    @property
    def claimed_error_ns(self):
        """Most that the estimate is off, at the confidence asked for."""
        from statistics import NormalDist
        variance = sum((one.size / self.ranks * one.deviation_ns) ** 2 / len(one.sampled) *
                       (one.size - len(one.sampled)) / (one.size - 1)
                       for one in self.strata if len(one.sampled) < one.size)
        z = NormalDist().inv_cdf((1 + self.confidence) / 2)
        return z * variance ** 0.5 / len(self.steps)


class _Windows:
    def __init__(self, reader):
        self.reader = reader
        self.numbers = (1 << 20) + 64 * reader.left()

    def number(self, least, most):
        value = self.reader.varint()
        if not least <= value <= most:
            raise corrupt("a number of an effort window is out of range")
        return value

    def byte(self, most):
        value = self.reader.u8()
        if value > most:
            raise corrupt("an effort window is of an unknown kind")
        return value

    def column(self, count, most=MOST_NS):
        if count > self.numbers:
            raise corrupt("effort windows have too many numbers")
        self.numbers -= count
        numbers = list((packed if self.byte(1) else sequence)(self.reader, count))
        if any(not 0 <= number <= most for number in numbers):
            raise corrupt("a number of an effort window is out of range")
        return numbers

    def stratum(self, steps, most):
        medoid, size, deviation = (self.number(0, MOST_RANK - 1), self.number(1, MOST_RANK),
                                   self.number(0, MOST_NS))
        sums, deviations = self.column(steps), self.column(steps)
        sampled, least = {}, 0
        for _ in range(self.number(1, min(most, size))):
            rank = self.number(least, MOST_RANK - 1)
            sampled[rank] = self.column(steps)
            least = rank + 1
        return EffortStratum(medoid, size, deviation, sums, deviations, sampled)

    def window(self, asked):
        first = self.number(1, MOST_MARKER)
        more = self.number(0, MOST_LENGTH - 1)
        gap = GAPS[self.byte(len(GAPS) - 1)]
        if gap != GAPS[0]:
            return EffortWindow(first, first + more, gap, 0, 0, False, (), (), *asked)
        ranks, unstratified = self.number(1, MOST_RANK), self.number(1, MOST_RANK)
        pay = self.reader.u8() != 0
        count = self.number(1, more + 1)
        markers = self.column(count, more)
        if any(a >= b for a, b in zip(markers, markers[1:])):
            raise corrupt("the markers of an effort window do not ascend")
        columns = [self.column(count) for _ in range(4)]
        steps = tuple(EffortStep(first + marker, *row)
                      for marker, *row in zip(markers, *columns))
        strata, most = [], MOST_SAMPLED
        for _ in range(self.number(1, MOST_STRATA)):
            strata.append(self.stratum(count, most))
            most -= len(strata[-1].sampled)
        return EffortWindow(first, first + more, gap, ranks, unstratified, pay, steps,
                            tuple(strata), *asked)


def read_efforts(reader):
    """The windows of a part of a trace."""
    windows = _Windows(reader)
    length = windows.number(LEAST_LENGTH, MOST_LENGTH)
    asked = (length, *(windows.number(1, MILLION - 1) / MILLION for _ in range(2)))
    found, least = [], 1
    for _ in range(reader.count(3)):
        found.append(windows.window(asked))
        if found[-1].first < least:
            raise corrupt("effort windows do not follow each other")
        least = found[-1].last + 1
    return joined([], found)


def joined(windows, later):
    """Windows with those that come next: if there are too many, every second, fourth ... stays."""
    windows = list(windows)
    for window in later:
        if windows and window.first <= windows[-1].last:
            continue
        windows.append(window)
        most = MOST_STEPS // window.length
        stride = 1 << ((window.first - 1) // window.length // most).bit_length()
        if stride > 1:
            windows = [one for one in windows if (one.first - 1) // window.length % stride == 0]
    return windows
