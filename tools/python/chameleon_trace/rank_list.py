# SPDX-License-Identifier: BSD-3-Clause
"""Sets of ranks as multi-dimensional strided ranges, never expanded unless asked for."""

from bisect import bisect_right

from .errors import corrupt

MOST_RANKS = 1 << 24
MOST_INTERVALS = 1 << 20
MOST_DIMENSIONS = 24


class RankList:
    """An ordered set of ranks. Supports ``in`` (O(log ranges)), ``len``, iteration in ascending
    order, ``==``, ``&``, ``|`` and ``str``. Memory is that of the ranges, not of the ranks."""

    __slots__ = ("_ranges", "_firsts", "_before", "_length")

    def __init__(self, ranges=()):
        """ranges: (first, ((count, stride), ...)), innermost dimension first, ascending."""
        self._ranges = tuple(ranges)
        self._firsts = [first for first, _ in self._ranges]
        self._before, length = [], 0
        for _, dims in self._ranges:
            self._before.append(length)
            size = 1
            for count, _ in dims:
                size *= count
            length += size
        self._length = length

    @classmethod
    def of(cls, ranks):
        """The set of some ranks."""
        return cls.of_intervals((rank, rank) for rank in sorted(set(ranks)))

    @classmethod
    def of_intervals(cls, intervals):
        """The union of intervals (first, last) in ascending order of their firsts."""
        joined = []
        for first, last in intervals:
            if joined and first <= joined[-1][1] + 1:
                joined[-1][1] = max(joined[-1][1], last)
            else:
                joined.append([first, last])
        return cls((first, ((last - first + 1, 1),) if last > first else ())
                   for first, last in joined)

    @classmethod
    def decode(cls, reader):
        ranges, end, intervals = [], 0, 0
        for number in range(reader.count(2)):
            first = end + reader.varint()
            if number and first <= end + 1:
                raise corrupt("a rank list does not ascend")
            dims, span, pieces = [], 0, 1
            most = reader.count(2)
            if most > MOST_DIMENSIONS:
                raise corrupt("a rank list has too many dimensions")
            for i in range(most):
                count, stride = reader.varint(), reader.varint()
                # Inside a range, intervals ascend and do not touch.
                if count < 2 or stride < 1 or (i and stride < span + 2):
                    raise corrupt("a rank list does not ascend")
                if i or stride > 1:
                    pieces *= count
                span += (count - 1) * stride
                if span >= MOST_RANKS:
                    raise corrupt("a rank list has ranks beyond 2^24")
                dims.append((count, stride))
            end = first + span
            intervals += pieces
            if end >= MOST_RANKS or intervals > MOST_INTERVALS:
                raise corrupt("a rank list is too large")
            ranges.append((first, tuple(dims)))
        return cls(ranges)

    def __contains__(self, rank):
        return self.index(rank) >= 0

    def index(self, rank):
        """Place of a rank in ascending order, or -1."""
        at = bisect_right(self._firsts, rank) - 1
        if at < 0:
            return -1
        first, dims = self._ranges[at]
        rest, place, size = rank - first, 0, 1
        for count, _ in dims:
            size *= count
        for count, stride in reversed(dims):
            size //= count
            steps = min(rest // stride, count - 1)
            rest -= steps * stride
            place += steps * size
        return self._before[at] + place if rest == 0 else -1

    @property
    def last(self):
        """The highest rank; -1 of an empty set."""
        if not self._ranges:
            return -1
        first, dims = self._ranges[-1]
        return first + sum((count - 1) * stride for count, stride in dims)

    def __len__(self):
        return self._length

    def intervals(self):
        """The intervals (first, last) of consecutive ranks, ascending."""
        for first, dims in self._ranges:
            inner = 0
            if dims and dims[0][1] == 1:
                inner, dims = dims[0][0] - 1, dims[1:]
            places = [0] * len(dims)
            start, going = first, True
            while going:
                yield start, start + inner
                going = False
                for i, (count, stride) in enumerate(dims):
                    if places[i] + 1 < count:
                        places[i] += 1
                        start += stride
                        going = True
                        break
                    start -= places[i] * stride
                    places[i] = 0

    def __iter__(self):
        for first, last in self.intervals():
            yield from range(first, last + 1)

    def __eq__(self, other):
        if not isinstance(other, RankList):
            return NotImplemented
        return len(self) == len(other) and (
            self._ranges == other._ranges or list(self.intervals()) == list(other.intervals()))

    def __hash__(self):
        return hash(tuple(self.intervals()))

    def __or__(self, other):
        return RankList.of_intervals(sorted([*self.intervals(), *other.intervals()]))

    @property
    def pieces(self):
        """Number of intervals, without listing them."""
        total = 0
        for _, dims in self._ranges:
            size = 1
            for i, (count, stride) in enumerate(dims):
                size *= count if i or stride > 1 else 1
            total += size
        return total

    def same_ranges(self, other):
        """Whether the two are written alike: O(ranges), and false of some that are equal."""
        return self._ranges == other._ranges

    def __and__(self, other):
        common, theirs = [], list(other.intervals())
        at = 0
        for first, last in self.intervals():
            while at < len(theirs) and theirs[at][1] < first:
                at += 1
            place = at
            while place < len(theirs) and theirs[place][0] <= last:
                common.append((max(first, theirs[place][0]), min(last, theirs[place][1])))
                place += 1
        return RankList.of_intervals(common)

    def __str__(self):
        return ",".join(str(first) if first == last else f"{first}-{last}"
                        for first, last in self.intervals())

    def __repr__(self):
        return f"RankList({self})"
