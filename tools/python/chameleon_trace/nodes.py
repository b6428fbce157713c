# SPDX-License-Identifier: BSD-3-Clause
"""The loop tree: nodes and parameters; docs/reference/format.md, "Node list" and "Parameter"."""

import enum

from .errors import corrupt
from .rank_list import RankList
from .values import MOST_VALUES, Histogram, ValueSequence

DEEPEST = 200
MOST_PARTS = 16  # of a parameter
MASK = (1 << 64) - 1


class Form(enum.IntEnum):
    """How the value of an end-point is to be read."""

    BOTH = 0
    ABSOLUTE = 1
    RELATIVE = 2


FORMS = tuple(Form)
BOTH_READINGS = 3  # in place of a form


class Inexact(enum.IntFlag):
    """Kinds of values that are another rank's."""

    EVENTS = 1
    COUNT = 2
    SOURCE = 4
    DEST = 8
    TAG = 16
    OTHER = 32


def mix(value):
    """The finalizer of MurmurHash3, by which symbols and contexts are made."""
    value ^= value >> 33
    value = value * 0xFF51AFD7ED558CCD & MASK
    value ^= value >> 33
    value = value * 0xC4CEB9FE1A85EC53 & MASK
    return value ^ value >> 33


def combine(seed, value):
    """A running hash with one more number."""
    return mix(seed * 0x9E3779B97F4A7C15 + mix(value & MASK) + 0x2545F4914F6CDD1D & MASK)


class Loop:
    """A loop: `iterations` (a Parameter, a value for each visit) times the nodes of `body`."""

    __slots__ = ("ranks", "inexact", "iterations", "body")

    is_loop = True

    def __init__(self, ranks, inexact, iterations, body):
        self.ranks = ranks  # None: those of the enclosing node
        self.inexact = inexact  # [(Inexact, RankList)]
        self.iterations = iterations
        self.body = body


class CallNode:
    """A call at a place: a Parameter for each field of `call`, and times."""

    __slots__ = ("ranks", "inexact", "call", "path", "symbol", "params", "times")

    is_loop = False

    def __init__(self, ranks, inexact, symbol, params, times):
        self.ranks = ranks
        self.inexact = inexact
        self.symbol, self.call, self.path = symbol
        self.params = params
        self.times = times

    def times_after(self, predecessor, rank):
        """The mean (compute time, time in the call) of this call on a rank after the call with that
        symbol, in ns; after all others if no time after that is known; None: no times were kept."""
        known = [entry for entry in self.times
                 if entry.call.count and (entry.ranks is None or rank in entry.ranks)]
        for entry in known:
            if entry.predecessor == predecessor:
                return entry.compute.mean, entry.call.mean
        count = sum(entry.call.count for entry in known)
        return (sum(entry.compute.sum for entry in known) / count,
                sum(entry.call.sum for entry in known) / count) if known else None


class TimeEntry:
    """Times of a call after a predecessor: `compute` before it and `call` inside, histograms."""

    __slots__ = ("predecessor", "ranks", "compute", "call")

    def __init__(self, predecessor, ranks, compute, call):
        self.predecessor = predecessor
        self.ranks = ranks
        self.compute = compute
        self.call = call


class Parameter:
    """Values of one parameter over ranks and time."""

    def of(self, rank):
        """(ValueSequence, Form) of a rank, or None."""
        raise NotImplementedError

    def groups(self):
        """(RankList, Form, ValueSequence) of each group; the ranks are None for all."""
        raise NotImplementedError


class Shared(Parameter):
    """The same for all ranks."""

    __slots__ = ("form", "values")

    def __init__(self, form, values):
        self.form = form
        self.values = values

    def of(self, rank):
        return self.values, self.form

    def groups(self):
        yield None, self.form, self.values


class Grouped(Parameter):
    """A sequence for each group of ranks."""

    __slots__ = ("_groups",)

    def __init__(self, groups):
        self._groups = groups

    def of(self, rank):
        for ranks, form, values in self._groups:
            if rank in ranks:
                return values, form
        return None

    def groups(self):
        return iter(self._groups)


class Table(Parameter):
    """A value for each rank, as often as the node is executed."""

    __slots__ = ("form", "times", "ranks", "value_at")

    def __init__(self, form, times, ranks, value_at):
        self.form = form
        self.times = times
        self.ranks = ranks
        self.value_at = value_at  # (place in ranks, rank) -> value

    def of(self, rank):
        place = self.ranks.index(rank)
        if place < 0:
            return None
        return ValueSequence.constant(self.value_at(place, rank), self.times), self.form

    def groups(self):
        for place, rank in enumerate(self.ranks):
            yield (RankList.of([rank]), self.form,
                   ValueSequence.constant(self.value_at(place, rank), self.times))


class Parts(Parameter):
    """A value for each rank, as often as a part has it, and then that of the next part."""

    __slots__ = ("form", "ranks", "parts")

    def __init__(self, form, ranks, parts):
        self.form = form
        self.ranks = ranks
        self.parts = parts  # (how often, the value of each rank)

    def _at(self, place):
        return ValueSequence.runs([(values[place], times) for times, values in self.parts])

    def of(self, rank):
        place = self.ranks.index(rank)
        return None if place < 0 else (self._at(place), self.form)

    def groups(self):
        for place, rank in enumerate(self.ranks):
            yield RankList.of([rank]), self.form, self._at(place)


def relative_rank(rank, own, size):
    """The distance as it is stored: wrapped into -size/2 < d <= size/2."""
    distance = rank - own
    if distance > size // 2:
        distance -= size
    if distance <= -(size - size // 2):
        distance += size
    return distance


def _formula(reader, form, size):
    kind, a, b = reader.u8(), reader.varint(), reader.varint()
    if kind not in (1, 2) or a >= 1 << 31 or not 1 <= b < 1 << 31 or (kind == 2 and a == 0):
        raise corrupt("a parameter has an unknown formula")

    def value_at(_, stream):
        rank = stream % size if size else stream
        if kind == 1:
            value = rank ^ a
        else:
            h = rank // b
            value = b * (h % a * (size // b // a) + h // a) + rank % b
        return relative_rank(value, rank, size) if form == Form.RELATIVE else value

    return value_at


class NodeReader:
    """Reads section 9 of a payload."""

    def __init__(self, reader, part):
        self.reader = reader
        self.part = part
        self.by_place = part.by_place
        self.arrays = [key for key, _ in part.arrays()] if part.by_place else []
        # Most parameters and rank lists are equal to others: these are kept once.
        self.shared, self.rank_lists = {}, {}
        self.symbols = []
        for _ in range(reader.count(2)):
            call, place = reader.varint(), reader.varint()
            if call not in part.calls or place > len(part.path_order):
                raise corrupt("a symbol is of an unknown call or place")
            path = part.path_order[place - 1] if place else reader.u64()
            self.symbols.append((combine(path, call), part.calls[call], path))

    def nodes(self, depth=0):
        if depth > DEEPEST:
            raise corrupt("loops are nested too deep")
        return [self.node(depth) for _ in range(self.reader.count(3))]

    def node(self, depth):
        reader = self.reader
        flags = reader.u8()
        if flags > 7:
            raise corrupt("a node has unknown flags")
        ranks = self.ranks() if flags & 2 else None
        inexact = ()
        if flags & 4:
            inexact = []
            for _ in range(reader.count(2)):
                kinds = reader.varint()
                if not 1 <= kinds <= 63:
                    raise corrupt("a node has unknown kinds of inexactness")
                inexact.append((Inexact(kinds), self.ranks()))
        if flags & 1:
            iterations = self.parameter()
            body = self.nodes(depth + 1)
            if not body:
                raise corrupt("a loop has no body")
            return Loop(ranks, inexact, iterations, body)
        place = reader.varint()
        if place >= len(self.symbols):
            raise corrupt("an event has an unknown symbol")
        symbol = self.symbols[place]
        if reader.varint() != len(symbol[1].fields) or not symbol[1].fields:
            raise corrupt("an event has other fields than its call")
        number = symbol[1].id
        params = [self.parameter(self.arrays if (number, i) in self.by_place else None)
                  for i in range(len(symbol[1].fields))]
        count = reader.count(4)
        times = [self.time_entry() for _ in range(count)] if count else ()
        return CallNode(ranks, inexact, symbol, params, times)

    def time_entry(self):
        reader = self.reader
        before = reader.varint()
        if before > len(self.symbols) + 1:
            raise corrupt("a time has an unknown predecessor")
        if before > len(self.symbols):
            predecessor = reader.u64()
        else:
            predecessor = self.symbols[before - 1][0] if before else 0
        ranks = self.ranks() if reader.u8() else None
        return TimeEntry(predecessor, ranks, Histogram.decode(reader), Histogram.decode(reader))

    def ranks(self):
        start = self.reader.at
        ranks = RankList.decode(self.reader)
        if not len(ranks):
            raise corrupt("a rank list is empty")
        return self.rank_lists.setdefault(self.reader.data[start:self.reader.at], ranks)

    def form(self, code):
        if code > 2:
            raise corrupt("an end-point has an unknown form")
        return FORMS[code]

    def in_form(self, code, names):
        """The form, and values in it."""
        if code == BOTH_READINGS and names is None:
            own = self.reader.svarint()
            return Form.BOTH, ValueSequence.decode(self.reader).with_caller(own)
        return self.form(code), ValueSequence.decode(self.reader, names)

    def parameter(self, names=None):
        """With `names` values are places in that list."""
        reader = self.reader
        head = reader.u8()
        layout = head & 3
        if layout == 0:
            start = reader.at - 1
            form, values = self.in_form(head >> 2, names)
            key = reader.data[start:reader.at], names is None
            if key not in self.shared:
                self.shared[key] = Shared(form, values)
            return self.shared[key]
        if layout == 1 and head != 1:
            return self.parts(self.form((head >> 2) - 1), names)
        if layout == 1:
            groups = [(self.ranks(), *self.in_form(reader.u8(), names))
                      for _ in range(reader.count(3))]
            if not groups:
                raise corrupt("a parameter has no groups")
            return Grouped(groups)
        form = self.form(head >> 2)
        times, ranks = reader.varint(), self.ranks()
        if not 1 <= times <= 1 << 48 or len(ranks) > self.part.most_ranks:
            raise corrupt("a parameter's table has impossible sizes")
        if layout == 3:
            if names is not None:
                raise corrupt("a parameter of arrays has a formula")
            return Table(form, times, ranks, _formula(reader, form, self.part.world_size))
        values = ValueSequence.decode(reader, names)
        if len(values) != len(ranks):
            raise corrupt("a parameter's table has another number of values than ranks")
        return Table(form, times, ranks, lambda place, _: values[place])

    def parts(self, form, names):
        reader = self.reader
        number, ranks = reader.count(3), self.ranks()
        if not 1 <= number <= MOST_PARTS or len(ranks) > self.part.most_ranks:
            raise corrupt("a parameter's parts have impossible sizes")
        parts, left = [], MOST_VALUES
        for _ in range(number):
            times = reader.varint()
            values = ValueSequence.decode(reader, names)
            if not 1 <= times <= left:
                raise corrupt("a parameter's part has an impossible size")
            if len(values) != len(ranks):
                raise corrupt("a parameter's part has another number of values than ranks")
            left -= times
            parts.append((times, values))
        return Parts(form, ranks, parts)


class SpecialRank(enum.IntEnum):
    """Partners that are no rank; below zero, so that a partner is a rank if it is at least 0."""

    NONE = -1
    PROC_NULL = -2
    ANY_SOURCE = -3
    ROOT = -4
    UNDEFINED = -5


def end_point(form, value, place):
    """The partner an end-point names: a rank of the communicator, a SpecialRank, or None where the
    communicator, (own rank, number of those named), is not known."""
    if form == Form.BOTH:
        value = (value - wrap32(value)) >> 32
        value = wrap32(value)
    elif form == Form.RELATIVE:
        code = value + (1 << 31)
        if 0 < code < 16:
            return SpecialRank(-code) if code <= 5 else None
        if place is None or place[1] <= 0:
            return None
        return (place[0] + value) % place[1]
    if value >= 0:
        return wrap32(value)
    return SpecialRank(value) if value >= -5 else None


def wrap32(value):
    """The signed 32-bit number that is congruent."""
    return (value + (1 << 31) & (1 << 32) - 1) - (1 << 31)
