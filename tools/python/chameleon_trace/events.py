# SPDX-License-Identifier: BSD-3-Clause
"""One rank's events, read from the folded trace without expanding it."""

from .communicators import Followed
from .errors import corrupt
from .nodes import Form, Inexact, SpecialRank, end_point
from .payload import ARRAY, END_POINT
from .times import StreamTimes
from .values import MOST, TIMES, time_ns

MASK = (1 << 64) - 1

NOT_RECORDED = -(1 << 31)
# A damaged trace may claim visits without any event in them; no run has as many.
MOST_IDLE_VISITS = 1 << 20


class _CallItem:
    """A call node as one rank executes it."""

    __slots__ = ("node", "shape", "executions", "forms", "inexact", "known_times")

    def __init__(self, node, shape, executions, forms, inexact):
        self.node = node
        self.shape = shape
        self.executions = executions  # iterator over the tuples of values
        self.forms = forms
        self.inexact = inexact
        self.known_times = {}

    def times(self, predecessor, stream, times):
        """(mean compute time, mean time in the call) after a predecessor, in ns."""
        if predecessor not in self.known_times:
            means = times.means(self.node.symbol, predecessor)
            if means is None:
                means = self.node.times_after(predecessor, stream) or (0, 0)
            self.known_times[predecessor] = means
        return self.known_times[predecessor]


def _whole(ns):
    return min(ns if isinstance(ns, int) else int(ns + 0.5), MOST)


class _LoopItem:
    __slots__ = ("counts", "body")

    def __init__(self, counts, body):
        self.counts = counts
        self.body = body


class Event:
    """One MPI call as a rank made it.

    ``event["dest"]`` is a parameter by its name in MPI's C prototype: a number, a partner's rank in
    the call's communicator (or a SpecialRank, below 0; None if the communicator is not known), a
    tuple for an array, a str for an input string. ``params`` is all of them. ``values`` are the
    numbers as stored.
    """

    __slots__ = ("rank", "thread", "stream", "number", "node", "values", "iteration", "predecessor", "communicator",
                 "_item", "_sources", "_arrays", "_times")

    @property
    def call(self):
        return self.node.call

    @property
    def name(self):
        """Of the call, without MPI_."""
        return self.node.call.name

    @property
    def path(self):
        """Signature of the call path: the whole one, where the node has a relaxed one."""
        place = self._item.shape.path
        return self.node.path if place is None else self.values[place] & MASK

    @property
    def inexact(self):
        """Kinds of values that are another rank's, as Inexact; 0: everything is exact."""
        return Inexact(self._item.inexact)

    @property
    def compute_ns(self):
        """Time since the call before: this one's with full timing and of outliers, else the mean of
        the others at this place."""
        return _whole(self._single_ns[0])

    @property
    def call_ns(self):
        """Time in the call, as compute_ns."""
        return _whole(self._single_ns[1])

    @property
    def _single_ns(self):
        own = None
        if not self._item.shape.timed:
            own = self._times.single(self.node.symbol, self.predecessor, self.number)
        return self.mean_ns if own is None else own

    @property
    def mean_ns(self):
        """(compute_ns, call_ns), not rounded, and without regard to outliers: what is to be
        summed."""
        if self._item.shape.timed:
            fields = self.node.call.fields
            return time_ns(fields[-2], self.values[-2]), time_ns(fields[-1], self.values[-1])
        return self._item.times(self.predecessor, self.stream, self._times)

    @property
    def waiting_ns(self):
        """What the rank waited before it at markers for slower ranks: the mean at this place."""
        return _whole(self._times.wait(self.node.symbol, self.predecessor))

    def __getitem__(self, name):
        return self._value(self._item.shape.places[name])

    def __contains__(self, name):
        return name in self._item.shape.places

    def get(self, name, default=None):
        return self[name] if name in self else default

    @property
    def params(self):
        return {field.name: self._value(i) for i, field in enumerate(self.node.call.fields)}

    def form(self, name):
        """How the stored value of an end-point is to be read."""
        return self._item.forms[self._item.shape.places[name]]

    def world(self, name):
        """The world rank of a partner, or None if it is not a rank."""
        partner, comm = self[name], self.communicator
        if partner is None or comm is None or not 0 <= partner < len(comm.peers):
            return None
        return comm.peers[partner]

    def _value(self, i):
        field, value = self.node.call.fields[i], self.values[i]
        if field.stored == END_POINT:
            comm = self.communicator
            return end_point(self._item.forms[i], value, None if comm is None else comm.place)
        if field.stored == ARRAY:
            if i == self._item.shape.sources:
                return self._sources
            elements = self._arrays.get(value)
            if elements is None:
                return None
            if field.kind == "string":
                return "".join(chr(c & 0xFF) for c in elements)
            return elements
        return time_ns(field, value) if field.kind in TIMES else value

    def __repr__(self):
        words = " ".join(f"{name}={value!r}" for name, value in self.params.items())
        return f"<{self.number} {self.name} {words}>"


class Plan:
    """What a rank executes of one part: items with iterators over their values. Refuses a trace
    whose sequences are not as long as the loops around them say."""

    def __init__(self, part, shapes, rank):
        self.rank = rank
        self.shapes = shapes
        self.events = 0
        self.items = []
        if rank in part.ranks:
            self.items = self._list(part.nodes, 1, 0)

    def _refuse(self, what):
        return corrupt(f"corrupt trace: rank {self.rank}: {what}")

    def _list(self, nodes, visits, inexact):
        items = []
        for node in nodes:
            if node.ranks is not None and self.rank not in node.ranks:
                continue
            kinds = inexact
            for kind, ranks in node.inexact:
                if self.rank in ranks:
                    kinds |= kind
            item = self._loop(node, visits, kinds) if node.is_loop else (
                self._call(node, visits, kinds))
            if item is not None:
                items.append(item)
        return items

    def _loop(self, node, visits, inexact):
        found = node.iterations.of(self.rank)
        if found is None or len(found[0]) != visits:
            raise self._refuse("a loop's iteration counts do not cover its visits")
        total = found[0].total()
        if total is None or total > MOST:
            raise self._refuse("a loop's iteration counts are out of range")
        body = self._list(node.body, total, inexact)
        return _LoopItem(iter(found[0]), body) if body and total else None

    def _call(self, node, visits, inexact):
        sequences, forms = [], []
        for param in node.params:
            found = param.of(self.rank)
            if found is None or len(found[0]) != visits:
                raise self._refuse("a parameter's values do not cover its events")
            sequences.append(found[0])
            forms.append(found[1])
        if visits == 0:
            return None
        self.events += visits
        return _CallItem(node, self.shapes[node.call.id], zip(*sequences), forms, inexact)

    def run(self):
        """(item, values, iteration) of each event; the iteration is a list that changes."""
        levels = [(iter(self.items), self.items)]
        left, iteration = [0], []
        idle = 0
        while levels:
            for item in levels[-1][0]:
                if item.__class__ is _CallItem:
                    idle = 0
                    yield item, next(item.executions), iteration
                    continue
                count = next(item.counts)
                idle += 1
                if count:
                    levels.append((iter(item.body), item.body))
                    left.append(count - 1)
                    iteration.append(0)
                    break
            else:
                if left[-1]:
                    idle += 1
                    left[-1] -= 1
                    iteration[-1] += 1
                    levels[-1] = (iter(levels[-1][1]), levels[-1][1])
                else:
                    levels.pop()
                    left.pop()
                    if iteration:
                        iteration.pop()
            if idle > MOST_IDLE_VISITS:
                raise self._refuse("its loops go round without a call")


def _sources(followed, shape, values):
    """The sources in an array of statuses, by what each request was posted on."""
    elements = followed.arrays.get(values[shape.sources])
    if elements is None:
        return None
    if elements and all(e == NOT_RECORDED + 1 for e in elements):
        return (SpecialRank.NONE,) * len(elements)
    slots, result = followed.slots(shape, values), []
    for i, element in enumerate(elements):
        comm = followed.requests.get(slots[i]) if i < len(slots) else None
        result.append(end_point(Form.RELATIVE, element, None if comm is None else comm.place))
    return tuple(result)


def events(trace, stream):
    """The events of a stream in order: memory of the folded trace, O(nesting) an event."""
    rank, thread = trace.rank_of(stream), trace.thread_of(stream)
    followed = Followed(rank, trace.world_size, trace.arrays)
    number, predecessor = 0, 0
    spent = StreamTimes(trace.time_tables, stream, trace.waited().get(stream), trace.outliers)
    for part, times in trace.parts:
        for _ in range(times):
            plan = Plan(part, trace.shapes, stream)
            for item, values, iteration in plan.run():
                number += 1
                event = Event()
                event.rank, event.thread, event.stream = rank, thread, stream
                event.number = number
                event.node = node = item.node
                event._item = item
                event.values = values
                event.iteration = tuple(iteration)
                event.predecessor = predecessor
                event._arrays = trace.arrays
                event._times = spent
                shape = item.shape
                event.communicator = comm = followed.before(shape, values)
                event._sources = (_sources(followed, shape, values) if shape.sources >= 0
                                  else None)
                followed.after(shape, values, comm)
                predecessor = node.symbol
                yield event
