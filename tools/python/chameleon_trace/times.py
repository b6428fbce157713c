# SPDX-License-Identifier: BSD-3-Clause
"""Times by classes of streams and by place; docs/reference/format.md, section 15."""

from collections import namedtuple

from .errors import corrupt
from .outliers import Apart
from .rank_list import RankList
from .values import BINS, Histogram, bin_low, bin_of, decode_ns, decode_time, encode_time

TimeClass = namedtuple("TimeClass", "ranks spread")
PlaceTimes = namedtuple("PlaceTimes", "compute call")

POOLED, MEANS, COMPLETE = range(3)
MOST_CLASSES = 1 << 16
MOST_COUNT = 1 << 48
MOST_STEP = 1 << 14
MOST_BINS = 16
SHARES = 31
BY_CLASS = 16
POOLED_BITS = 8
MOST_ROUNDED = 1 / 256
SPREAD_UNITS = 1000


class TimeTable:
    """What streams with like times spent. `classes` are TimeClasses: `ranks` (of streams) and
    `spread`, how far a stream may be from the class; `places` has, by (symbol, predecessor), a
    dictionary of PlaceTimes by number of the class; None for all that are not named. `waits` are
    MarkerWaits by (symbol, predecessor)."""

    def __init__(self, reader, part):
        self.classes, self.places, self.waits = [], {}, {}
        self._read_classes(reader)
        _Places(reader, part, self).read()

    def _read_classes(self, reader):
        count = reader.count(2)
        if count > MOST_CLASSES:
            raise corrupt("there are too many classes of times")
        for _ in range(count):
            ranks = RankList.decode(reader)
            if not len(ranks):
                raise corrupt("a class of times has no ranks")
            self.classes.append(TimeClass(ranks, reader.varint() / SPREAD_UNITS))

    def class_of(self, stream):
        """The number of a stream's class, or None."""
        for number, one in enumerate(self.classes):
            if stream in one.ranks:
                return number
        return None

    def find(self, symbol, predecessor, number):
        """The PlaceTimes of a class, or None."""
        there = self.places.get((symbol, predecessor), {})
        return there.get(number, there.get(None))


class StreamTimes:
    """The times of one stream in the newest of the tables that has it. `waited`: what it waited at
    markers, as its facts say; None: not known."""

    def __init__(self, tables, stream, waited=None, outliers=()):
        self._table = self._number = None
        for table in tables:
            number = table.class_of(stream)
            if number is not None:
                self._table, self._number = table, number
        self._waits = {}
        self._apart = None
        if outliers and self._table is not None:
            self._apart = Apart(outliers, stream, self._shares)
        if self._table is not None and self._table.waits:
            self._spread_waits(waited)

    def _shares(self, symbol, predecessor, stream):
        here = self._table.places.get((symbol, predecessor), {})
        number = self._table.class_of(stream)
        return number == self._number if self._number in here else number not in here

    def single(self, symbol, predecessor, number):
        """As `means`, of the stream's event of that number: its own time where it is an outlier, the
        mean of the others where there are some. None: as `means`."""
        if self._apart is None:
            return None
        place = (symbol, predecessor)
        return self._apart.times(place, number, self._table.find(*place, self._number))

    def _spread_waits(self, waited):
        """The class says at which places there was waiting, the stream's own facts say how much."""
        table, number = self._table, self._number
        of_class = sum(at.mean_ns[number] for at in table.waits.values())
        if not of_class:
            return
        share = 1 if waited is None else waited / of_class
        everyone = sum(len(one.ranks) for one in table.classes)
        for key, at in table.waits.items():
            times = table.find(*key, number)
            if times is None or not at.mean_ns[number]:
                continue
            own = number in table.places[key]
            events = times.compute.count / (len(table.classes[number].ranks) if own else everyone)
            self._waits[key] = at.mean_ns[number] * share / max(events, 1)

    def wait(self, symbol, predecessor):
        """What the stream waited at markers before such an event, on average, in ns."""
        return self._waits.get((symbol, predecessor), 0)

    def means(self, symbol, predecessor):
        """(mean compute time, mean time in the call) in ns, after a predecessor or, where no time
        after it is known, after any."""
        if self._table is None:
            return None
        found = self._table.find(symbol, predecessor, self._number)
        all_found = [found] if found else [
            times for times in (self._table.find(*place, self._number)
                                for place in self._table.places if place[0] == symbol) if times]
        count = sum(times.call.count for times in all_found)
        if not count:
            return None
        return (sum(times.compute.sum for times in all_found) / count,
                sum(times.call.sum for times in all_found) / count)


class _Place:
    __slots__ = ("key", "by_class", "detail", "counts", "sums", "parts")


class _Part:
    """One distribution, as it is read column by column."""

    __slots__ = ("count", "sum", "mean", "below", "above", "deviation", "bins")

    def __init__(self, count):
        self.count = count
        self.sum = self.mean = self.below = self.above = self.deviation = 0
        self.bins = ()

    def histogram(self):
        middle = self.sum // self.count
        if self.count == 1 or not self.below + self.above:
            return Histogram.of(self.count, self.sum, middle,
                                middle + (1 if self.sum % self.count else 0), 0, ())
        at = bin_of(self.mean)
        least = min(middle, bin_low(max(at - self.below, 0)))
        most = max(middle + 1, bin_low(min(at + self.above, BINS - 1) + 1) - 1)
        number = min(max(at + self.deviation, 0), BINS - 1)
        deviation = number if number < 4 else (bin_low(number) + bin_low(number + 1)) / 2
        return Histogram.of(self.count, self.sum, least, most, deviation, self.bins)


class _Places:
    def __init__(self, reader, part, table):
        self.reader = reader
        self.table = table
        self.sizes = [len(one.ranks) for one in table.classes]
        self.symbols = sorted(_symbols(part.nodes, set()))
        self.places = []

    def read(self):
        self._keys()
        self._counts()
        self._sums()
        self._means()
        self._shapes()
        self._bins()
        self._whole()
        for place in self.places:
            if place.key in self.table.places:
                raise corrupt("times have a place twice")
            self.table.places[place.key] = {
                number if place.by_class else None:
                    PlaceTimes(compute.histogram(), call.histogram())
                for number, (compute, call) in enumerate(zip(*place.parts)) if compute.count}

    def _keys(self):
        reader = self.reader
        self.symbols += [reader.u64() for _ in range(reader.count(8))]
        number, numbers = 0, []
        for _ in range(reader.count(6)):
            number += reader.varint()
            numbers.append(number)
        for number in numbers:
            place = _Place()
            place.key = self._symbol(number), self._symbol(reader.varint())
            self.places.append(place)
        for place in self.places:
            head = reader.u8()
            place.by_class = bool(head & BY_CLASS)
            place.detail = head & 3, head >> 2 & 3
            if head > (BY_CLASS | 15) or max(place.detail) > COMPLETE or (
                    not self.sizes if place.by_class else head):
                raise corrupt("times have an unknown detail")

    def _symbol(self, number):
        if number > len(self.symbols):
            raise corrupt("times are of an unknown event")
        return self.symbols[number - 1] if number else 0

    def _counts(self):
        reader = self.reader
        for place in self.places:
            if not place.by_class:
                counts = [reader.varint()]
            else:
                each, counts = 0, []
                for size in self.sizes:
                    each += reader.svarint()
                    rest = reader.varint()
                    if not 0 <= each <= MOST_COUNT // size or rest >= size:
                        raise corrupt("times have an impossible count")
                    counts.append(each * size + rest)
            if not 0 < sum(counts) <= MOST_COUNT:
                raise corrupt("times have an impossible count")
            place.counts = counts
            place.parts = [_Part(count) for count in counts], [_Part(count) for count in counts]
            place.sums = [0, 0]

    def _sums(self):
        for kind in range(2):
            for place in self.places:
                code = self.reader.varint() & (1 << 63) - 1
                place.sums[kind] = decode_ns(
                    code, POOLED_BITS if place.detail[kind] == POOLED else 10)

    def _means(self):
        for kind in range(2):
            for place in self.places:
                total, parts = 0, place.parts[kind]
                pooled = place.detail[kind] == POOLED
                for part in parts:
                    if pooled:
                        part.mean = place.sums[kind]
                    elif part.count:
                        step = self.reader.svarint()
                        if abs(step) > MOST_STEP:
                            raise corrupt("times have an impossible mean")
                        mean = place.sums[kind] // sum(place.counts)
                        part.mean = decode_time(encode_time(mean) + step)
                        total += part.mean * part.count
                # Rounded means add up to what was summed exactly.
                right = 1 if pooled else place.sums[kind] / total if total else 0
                for part in parts:
                    part.sum = int(min(part.mean * part.count * right + 0.5, 1 << 63))

    def _whole(self):
        """Since 1.5: what all places add up to. Each takes its share of what rounding left."""
        for kind in range(2):
            if not self.reader.left():
                return
            exact = self.reader.varint()
            parts = [part for place in self.places for part in place.parts[kind]]
            total = sum(part.sum for part in parts)
            if total > 0:
                right = min(max(exact / total, 1 - MOST_ROUNDED), 1 + MOST_ROUNDED)
                for part in parts:
                    part.sum = int(min(part.sum * right + 0.5, 1 << 63))

    def _each_shape(self):
        for kind in range(2):
            for place in self.places:
                if place.detail[kind] == MEANS:
                    yield MEANS, place.parts[kind]
                elif place.detail[kind] == COMPLETE:
                    for part in place.parts[kind]:
                        if part.count:
                            yield COMPLETE, [part]

    def _shapes(self):
        reader = self.reader
        for _, parts in self._each_shape():
            if sum(part.count for part in parts) == 1:
                continue
            below, above = reader.varint(), reader.varint()
            deviation = reader.svarint() if below + above else 0
            if max(below, above, abs(deviation)) >= BINS:
                raise corrupt("times have an impossible shape")
            for part in parts:
                part.below, part.above, part.deviation = below, above, deviation

    def _bins(self):
        reader = self.reader
        for detail, parts in self._each_shape():
            if detail != COMPLETE or parts[0].count == 1:
                continue
            bins, number = [], 0
            count = reader.varint()
            if count > MOST_BINS:
                raise corrupt("times have too many bins")
            for i in range(count):
                step, share = reader.varint(), reader.varint()
                number += step
                if (i and not step) or not 1 <= share <= SHARES or number >= BINS:
                    raise corrupt("times have an impossible bin")
                bins.append((number, share))
            parts[0].bins = bins


def _symbols(nodes, found):
    for node in nodes:
        if node.is_loop:
            _symbols(node.body, found)
        else:
            found.add(node.symbol)
    return found
