# SPDX-License-Identifier: BSD-3-Clause
"""Effort windows: what ranks computed between markers, over ranks and steps, and from a sample."""

from collections import namedtuple
from math import log

from .errors import corrupt
from .facts import packed, sequence

GAPS = ("none", "uneven", "left_out", "stopped", "lost")
LEAST_LENGTH, MOST_LENGTH = 16, 1024
MOST_STRATA, MOST_SAMPLED, MOST_STEPS = 64, 256, 1 << 14
MOST_NS, MOST_MARKER, MOST_RANK, MILLION = 1 << 62, 1 << 60, 1 << 24, 1_000_000

EffortStep = namedtuple("EffortStep", "marker sum_ns deviation_ns least_ns most_ns")
EffortStep.__doc__ = "An interval over all ranks, exact; deviations are rounded up."


class EffortStratum(namedtuple("EffortStratum", "medoid size deviation_ns least_ns most_ns sum_ns "
                                                "deviations_ns sampled")):
    """Ranks that compute alike: `sum_ns` and `deviations_ns` of each step over all of them;
    `deviation_ns`, `least_ns` and `most_ns` of what a rank computed in all steps; `sampled` has by
    rank what it computed in each step."""

    @property
    def estimate_ns(self):
        """What a rank computed in all steps, from those sampled: the medoid stands for itself, the
        others stand for all others."""
        medoid = sum(self.sampled[self.medoid])
        if len(self.sampled) == 1:
            return medoid
        others = sum(map(sum, self.sampled.values())) - medoid
        return (medoid + (self.size - 1) * others / (len(self.sampled) - 1)) / self.size


class _Chance:
    """What chance adds to the error of the sum over all ranks: the least of three bounds."""

    def __init__(self):
        self.variance = self.terms = self.largest = self.range = 0

    def add(self, one):
        """A stratum of which some but not all were drawn, beside its medoid."""
        others, drawn = one.size - 1, len(one.sampled) - 1
        left = others - drawn
        mean = sum(one.sum_ns) / one.size
        off = sum(one.sampled[one.medoid]) - mean
        variance = max(0, one.size * (one.deviation_ns ** 2 - off ** 2 / others)) / others
        mean -= off / others
        farthest = max(0, one.most_ns - mean, mean - one.least_ns)
        factor = others / drawn
        self.variance += factor ** 2 * drawn * variance * left / (others - 1)
        self.terms += factor ** 2 * min(drawn, left) * variance
        self.largest = max(self.largest, factor * farthest)
        self.range += others * min(farthest, left / others * (one.most_ns - one.least_ns))

    def bound(self, confidence):
        """The ranges, Chebyshev's inequality, and Bernstein's."""
        chance = log(2 / (1 - confidence))
        return min(self.range, (self.variance / (1 - confidence)) ** .5,
                   (2 * self.terms * chance) ** .5 + self.largest * chance / 3)


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
        return sum(stratum.size * stratum.estimate_ns
                   for stratum in self.strata) / len(self.steps) / self.ranks

    @property
    def claimed_error_ns(self):
        """Most that the estimate is off, with at least the confidence asked for."""
        known, chance = 0, _Chance()
        for one in self.strata:
            if len(one.sampled) == one.size:
                continue
            if len(one.sampled) == 1:
                known += one.size * one.estimate_ns - sum(one.sum_ns)
            else:
                chance.add(one)
        return (abs(known) + chance.bound(self.confidence)) / len(self.steps) / self.ranks


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
        medoid, size = self.number(0, MOST_RANK - 1), self.number(1, MOST_RANK)
        deviation, shortest = self.number(0, MOST_NS), self.number(0, MOST_NS)
        longest = self.number(shortest, MOST_NS)
        sums, deviations = self.column(steps), self.column(steps)
        sampled, least = {}, 0
        for _ in range(self.number(1, min(most, size))):
            rank = self.number(least, MOST_RANK - 1)
            sampled[rank] = self.column(steps)
            least = rank + 1
        if medoid not in sampled:
            raise corrupt("the medoid of a stratum is not sampled")
        return EffortStratum(medoid, size, deviation, shortest, longest, sums, deviations, sampled)

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
        sampled = [rank for one in strata for rank in one.sampled]
        if ranks != sum(one.size for one in strata) or len(sampled) != len(set(sampled)):
            raise corrupt("the strata of an effort window do not add up to its ranks")
        if any(step.least_ns > step.most_ns for step in steps):
            raise corrupt("a step of an effort window has a least beyond its most")
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
