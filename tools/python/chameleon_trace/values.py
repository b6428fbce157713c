# SPDX-License-Identifier: BSD-3-Clause
"""Value sequences and histograms, kept as they are stored and expanded lazily."""

import math
from itertools import chain, repeat

from .coded_values import decode_coded
from .errors import corrupt
from .wire import NUMBER, wrap

MOST_VALUES = 1 << 48
MOST_DEPTH = 64
LEAST, MOST = -(1 << 63), (1 << 63) - 1

SINGLES, RUN, STRIDED, LOOP = range(4)
CODED = 1  # in place of a number of values
CALLER = (1 << 32) + 1  # undoes 1 - 2^32, modulo 2^64


def _wrapped(start, stride, count):
    for i in range(count):
        yield wrap(start + i * stride)


def _strided(start, stride, count):
    last = start + (count - 1) * stride
    if LEAST <= last <= MOST:
        return iter(range(start, last + (1 if stride > 0 else -1), stride))
    return _wrapped(start, stride, count)


def _expand(term):
    kind, count, what, _ = term
    if kind == SINGLES:
        return iter(what)
    if kind == RUN:
        return repeat(what, count)
    if kind == STRIDED:
        return _strided(what[0], what[1], count)
    return chain.from_iterable(chain.from_iterable(map(_expand, what)) for _ in repeat(0, count))


class ValueSequence:
    """Values of one parameter in the order of execution. Iterating takes memory of the nesting,
    whatever the length; ``len`` and ``[i]`` do not expand."""

    __slots__ = ("count", "terms")

    def __init__(self, count, terms):
        self.count = count
        self.terms = terms  # (kind, times, what, number of values)

    @classmethod
    def constant(cls, value, count):
        return cls(count, [(RUN, count, value, count)] if count else [])

    @classmethod
    def runs(cls, runs):
        """Values, each as often as it says."""
        return cls(sum(times for _, times in runs),
                   [(RUN, times, value, times) for value, times in runs])

    @classmethod
    def decode(cls, reader, names=None):
        """With `names`, values are places in that list, and in no progression."""
        head = reader.varint()
        if head == CODED:
            values = decode_coded(reader, lambda: _value(reader, names))
            return cls(len(values), [(SINGLES, len(values), values, len(values))])
        count = head >> 1
        if count > MOST_VALUES:
            raise corrupt("a sequence has too many values")
        if not head & 1:
            return cls.constant(_value(reader, names), count) if count else cls(0, [])
        terms, size = _decode_terms(reader, 0, names)
        if size != count:
            raise corrupt("a sequence has another number of values than it says")
        return cls(count, terms)

    def with_caller(self, own):
        """Both readings of end-points that were written without the caller's rank `own`."""
        return type(self)(self.count, _with_caller(self.terms, own))

    def __len__(self):
        return self.count

    def __iter__(self):
        if len(self.terms) == 1:
            return _expand(self.terms[0])
        return chain.from_iterable(map(_expand, self.terms))

    def __getitem__(self, index):
        if not 0 <= index < self.count:
            raise IndexError(index)
        terms = self.terms
        while True:
            for kind, count, what, size in terms:
                if index < size:
                    break
                index -= size
            if kind == SINGLES:
                return what[index]
            if kind == RUN:
                return what
            if kind == STRIDED:
                return wrap(what[0] + index * what[1])
            index %= size // count
            terms = what

    def segments(self):
        """(start, stride, count) of the stored pieces, loops taken once, for a look at them."""
        return _segments(self.terms)

    def total(self):
        """The sum, of values that count something; None if one of them is negative."""
        return _total(self.terms)


def _with_caller(terms, own):
    def value(written):
        return wrap((written + (own << 32)) * CALLER)

    result = []
    for kind, count, what, size in terms:
        if kind == SINGLES:
            what = [value(one) for one in what]
        elif kind == RUN:
            what = value(what)
        elif kind == STRIDED:
            what = value(what[0]), wrap(what[1] * CALLER)
        else:
            what = _with_caller(what, own)
        result.append((kind, count, what, size))
    return result


def _value(reader, names):
    value = reader.svarint()
    if names is None:
        return value
    if not 0 <= value < len(names):
        raise corrupt("a value is no place in its table")
    return names[value]


def _decode_terms(reader, depth, names):
    if depth > MOST_DEPTH:
        raise corrupt("a sequence is nested too deep")
    groups = reader.count(2)
    if groups == 0:
        raise corrupt("a sequence has no terms")
    terms, size = [], 0
    for _ in range(groups):
        head = reader.varint()
        count, kind = head >> 2, head & 3
        if count == 0 or count > MOST_VALUES or (kind and count < 2):
            raise corrupt("a sequence has a term of an impossible length")
        values = count
        if kind == SINGLES:
            if count > reader.left():
                raise corrupt("a sequence is longer than the data")
            reader.take(count, NUMBER)
            what = [_value(reader, names) for _ in range(count)]
        elif kind == RUN:
            what = _value(reader, names)
        elif kind == STRIDED:
            what = (reader.svarint(), reader.svarint())
            if what[1] == 0 or names is not None:
                raise corrupt("a sequence has an impossible stride")
        else:
            what, inner = _decode_terms(reader, depth + 1, names)
            values = count * inner
        size += values
        if size > MOST_VALUES:
            raise corrupt("a sequence has too many values")
        terms.append((kind, count, what, values))
    return terms, size


def _segments(terms):
    for kind, count, what, _ in terms:
        if kind == SINGLES:
            for value in what:
                yield value, 0, 1
        elif kind == RUN:
            yield what, 0, count
        elif kind == STRIDED:
            yield what[0], what[1], count
        else:
            yield from _segments(what)


def _total(terms):
    total = 0
    for kind, count, what, _ in terms:
        if kind == SINGLES:
            if min(what) < 0:
                return None
            total += sum(what)
        elif kind == RUN:
            if what < 0:
                return None
            total += what * count
        elif kind == STRIDED:
            last = what[0] + (count - 1) * what[1]
            if what[0] < 0 or not 0 <= last <= MOST:
                return None
            total += (what[0] + last) * count // 2
        else:
            inner = _total(what)
            if inner is None:
                return None
            total += inner * count
    return total


BINS = 252
STORED_BINS = 16
SHARES = 127
MOST_SHARED = 254


def bin_of(ns):
    """The number of the bin a duration is in."""
    if ns < 4:
        return ns
    exponent = ns.bit_length() - 1
    return 4 * (exponent - 1) + (ns >> (exponent - 2) & 3)


def bin_low(number):
    """The smallest duration of a bin."""
    return number if number < 4 else (4 + number % 4) << (number // 4 - 1)


def _one_mode(histogram):
    """Shares of the log-normal distribution of that mean and deviation, by bin."""
    first, last = bin_of(histogram.min), bin_of(histogram.max)
    if first == last or not histogram.deviation:
        return ()
    mean = max(histogram.mean, 1.0)
    variance = math.log1p((histogram.deviation / mean) ** 2)
    middle = math.log(mean) - variance / 2

    def below(number):
        distance = middle - math.log(max(bin_low(number), 1))
        return math.erfc(distance / math.sqrt(2 * variance)) / 2

    edges = [0.0, *(below(number) for number in range(first + 1, last + 1)), 1.0]
    shares = [(first + i, max(round(SHARES * (edges[i + 1] - edges[i])), 0))
              for i in range(last + 1 - first)]
    return [(number, share or 1) for number, share in shares
            if share or number in (first, last)]


class Histogram:
    """A distribution of durations in ns: count, sum, min, max, deviation, mean, and bins, a list of
    (bin, count). The counts may be shares (see `exact_bins`)."""

    __slots__ = ("count", "sum", "min", "max", "deviation", "_bins", "_rough")

    def __init__(self):
        self.count = self.sum = self.min = self.max = self.deviation = 0
        self._bins = ()  # numbers and counts in turn; none if one bin has all
        self._rough = False

    @property
    def bins(self):
        if self._bins or not self.count:
            return list(zip(self._bins[::2], self._bins[1::2]))
        return [(bin_of(self.min), self.count)]

    @property
    def exact_bins(self):
        """Whether the counts of the bins are those of events."""
        return not self._bins or (self.count <= MOST_SHARED and not self._rough)

    @property
    def mean(self):
        return self.sum / self.count if self.count else 0.0

    @classmethod
    def of(cls, count, total, least, most, deviation, bins):
        """One that is known by its moments; `bins` are shares, none if it has one mode."""
        self = cls()
        self.count, self.sum, self.min, self.max = count, total, least, most
        self.deviation = deviation
        self._rough = True
        for number, share in bins or _one_mode(self):
            self._bins += (number, share)
        return self

    @classmethod
    def decode(cls, reader):
        self = cls()
        self.count = reader.varint()
        if self.count == 0:
            return self
        self.min = self.max = reader.varint()
        if self.count > 1:
            self.max += reader.varint()
        if self.max >= 1 << 64:
            raise corrupt("a histogram's maximum is too large")
        self.sum = self.count * self.min
        if self.min != self.max:
            self.sum += reader.varint()
            self.deviation = reader.varint()
            if self.sum > self.max * self.count:
                raise corrupt("a histogram's sum is too large")
            self._decode_bins(reader)
        self.sum = min(self.sum, (1 << 64) - 1)
        return self

    def _decode_bins(self, reader):
        bins = reader.count()
        if not 1 <= bins <= STORED_BINS:
            raise corrupt("a histogram has an impossible number of bins")
        left, number = self.count if self.count <= MOST_SHARED else SHARES, 0
        numbers = []
        for i in range(bins):
            step = reader.varint()
            here = reader.varint() if i + 1 < bins else left
            if step >= BINS or (i and step == 0) or not 1 <= here <= left:
                raise corrupt("a histogram has an impossible bin")
            number += step
            left -= here
            numbers += (number, here)
        if left or numbers[0] != bin_of(self.min) or numbers[-2] != bin_of(self.max):
            raise corrupt("a histogram's bins are not those of its extremes")
        self._bins = tuple(numbers)


TIMES = ("ns", "time")  # kinds of fields that are durations; the second before 1.9


def time_ns(field, value):
    """ns of a duration of an event."""
    return decode_time(value) if field.kind == "time" else max(value, 0)


def encode_time(ns):
    """A duration as a code of 6 bits."""
    if ns < 64:
        return ns
    shift = ns.bit_length() - 7
    return 64 + 64 * shift + (ns >> shift & 63)


def decode_time(code):
    """ns of a duration stored as a code of 6 bits."""
    return decode_ns(code, 6)


def decode_ns(code, bits):
    """ns of a duration stored with so many significant bits after the first."""
    steps = 1 << bits
    if code < steps:
        return max(code, 0)
    shift, low = divmod(code - steps, steps)
    if shift > 63 - bits:
        return (1 << 64) - 1
    return ((steps + low) << shift) + (1 << (shift - 1) if shift else 0)
