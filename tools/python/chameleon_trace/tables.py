# SPDX-License-Identifier: BSD-3-Clause
"""Tables of a trace: as rows, or as pandas frames.

Times are those each rank's clock shows, from 0 at its first event: what is recorded, summed up.
`chameleon export` moves them so that no effect precedes its cause.
"""

from array import array

from .errors import corrupt
from .operations import Channel, Operations
from .rank_list import RankList
from .sources import short_function
from .values import MOST
from .visits import allow

COLUMNS = {
    "events": ("rank", "event", "call", "begin_ns", "end_ns", "compute_ns", "call_ns", "peer",
               "tag", "bytes", "collective_sent", "collective_received", "root", "site", "path",
               "waiting_ns"),
    "calls": ("rank", "call", "site", "path", "count", "compute_ns", "call_ns", "sent_bytes"),
    "messages": ("source", "dest", "tag", "context", "sequence", "bytes", "send_ns", "receive_ns",
                 "send_event", "receive_event"),
    "matrix": ("source", "dest", "messages", "bytes"),
    "clusters": ("cluster", "call_path", "lead", "rank"),
    "phases": ("state", "first", "markers", "changed", "end_ns"),
    "series": ("first_marker", "intervals", "end_ns", "state", "phase",
               *(f"{part}_{what}" for part in ("compute", "call", "busy", "waiting")
                 for what in ("ns", "least_ns", "least_rank", "most_ns", "most_rank")),
               "slowest_marker", *(f"slowest_{part}_{what}"
                                   for part in ("compute", "call", "busy", "waiting")
                                   for what in ("ns", "rank"))),
    "efforts": ("first_marker", "last_marker", "marker", "stratum", "medoid", "ranks", "sampled",
                "sum_ns", "deviation_ns", "least_ns", "most_ns", "gap"),
    "samples": ("first_marker", "marker", "stratum", "rank", "ns"),
    "outliers": ("rank", "thread", "event", "kind", "begin_ns", "ns", "usual_ns"),
    "pair_accounts": ("source", "rank", "thread", "least_bytes", "messages", "ns", "longest_ns",
                      "longest_event"),
    "loops": ("loop", "parent", "depth", "ranks", "iterations", "events", "compute_ns", "call_ns",
              "place"),
    "sites": ("path", "site", "function", "file", "line", "stack"),
}
TEXT = {"call", "kind", "site", "path", "context", "call_path", "state", "ranks", "place", "function",
        "file", "stack", "gap"}


def _hex(number):
    return f"0x{number:016x}"


class _Names:
    """Sites and paths as text, made once each."""

    def __init__(self, trace):
        self.trace = trace
        self.known = {}

    def of(self, path):
        if path not in self.known:
            self.known[path] = (self.trace.site(path), _hex(path))
        return self.known[path]


def _wanted(trace, ranks):
    if ranks is None:
        return trace.ranks
    if not isinstance(ranks, RankList):
        ranks = RankList.of([ranks] if isinstance(ranks, int) else ranks)
    return ranks & trace.ranks


def _timed(trace, rank):
    """(event, operations, begin, end, compute time, time in the call, Operations) of each event."""
    follow = Operations(trace, rank)
    clock = 0
    for event in trace.events(rank):
        compute, call = event.compute_ns, event.call_ns
        begin = min(clock + event.waiting_ns + compute, MOST)
        clock = min(begin + call, MOST)
        yield event, _operations(follow, event), begin, clock, compute, call, follow


def _operations(follow, event):
    try:
        return follow.of(event)
    except (KeyError, TypeError, ValueError) as error:  # of a damaged description of calls
        raise corrupt(f"corrupt trace: {event.name} has not the parameters of MPI_{event.name}: "
                      f"{error!r}") from None


def _events(trace, ranks):
    names = _Names(trace)
    for rank in ranks:
        for event, operations, begin, end, compute, call, _ in _timed(trace, rank):
            peer = tag = size = sent = received = root = None
            for operation in operations:
                if operation.kind == "begin":  # a Startall begins several
                    sent = (sent or 0) + operation.sent
                    received = (received or 0) + operation.received
                    root = root if operation.root is None else operation.root
                elif operation.kind == "send" or (operation.kind == "receive" and
                                                  len(operations) == 1):
                    peer, tag, size = operation.partner, operation.tag, operation.bytes
            yield (rank, event.number, event.name, begin, end, compute, call, peer, tag, size,
                   sent, received, root, *names.of(event.path), event.waiting_ns)


def _calls(trace, ranks):
    names = _Names(trace)
    for rank in ranks:
        sums = {}
        for event, operations, *_ in _timed(trace, rank):
            compute, call = event.mean_ns
            row = sums.setdefault((event.name, event.path), [0, 0, 0, 0])
            row[0] += 1
            row[1] += compute
            row[2] += call
            for operation in operations:
                if operation.kind == "send":
                    row[3] += operation.bytes
                elif operation.kind == "begin":
                    row[3] += operation.sent
        for (name, path), row in sorted(sums.items()):
            count, compute, call, sent = row
            # Halves go down, in whichever order they were summed, as in the command's tables.
            yield (rank, name, *names.of(path), count, int(compute + 0.4999), int(call + 0.4999),
                   sent)


def _matrix(trace, ranks):
    for rank in ranks:
        sums = {}
        for _, operations, *_ in _timed(trace, rank):
            for operation in operations:
                if operation.kind == "send":
                    row = sums.setdefault(operation.partner, [0, 0])
                    row[0] += 1
                    row[1] += operation.bytes
        for partner, row in sorted(sums.items()):
            yield (rank, partner, *row)


def _sends(trace, ranks):
    """Channel -> (event numbers, begins) of the messages sent, in order."""
    sends = {}
    for rank in ranks:
        for event, operations, begin, *_ in _timed(trace, rank):
            for operation in operations:
                if operation.kind == "send":
                    key = Channel(operation.context, rank, operation.partner, operation.tag,
                                  operation.partitioned)
                    numbers, begins = sends.setdefault(key, (array("q"), array("q")))
                    numbers.append(event.number)
                    begins.append(begin)
    return sends


def _messages(trace, ranks):
    sends = _sends(trace, ranks)
    for rank in ranks:
        follow = None
        for _, operations, _, end, _, _, follow in _timed(trace, rank):
            for operation in operations:
                if operation.kind == "receive":
                    operation.record.end_ns = end
        counts = {}
        for record in follow.receives if follow is not None else ():
            channel = record.channel
            if channel is None or record.wild:
                continue
            sequence = counts.get(channel, 0)
            counts[channel] = sequence + 1
            if record.event is None or channel.source not in ranks:
                continue
            numbers, begins = sends.get(channel, ((), ()))
            known = sequence < len(numbers)
            yield (channel.source, rank, channel.tag, f"0x{channel.context:x}", sequence,
                   record.bytes, begins[sequence] if known else None, record.end_ns,
                   numbers[sequence] if known else None, record.event)


def _clusters(trace, ranks):
    for number, cluster in enumerate(trace.clusters):
        for rank in cluster.ranks:
            if rank in ranks:
                yield number, _hex(cluster.call_path), cluster.lead, rank


def _phases(trace, _):
    yield from trace.phases


def _series(trace, _):
    for span in trace.series:
        took = (number for part in span.took
                for number in (part.sum_ns, part.least_ns, part.least_rank, part.most_ns,
                               part.most_rank))
        slowest = (number for part in span.slowest for number in (part.most_ns, part.most_rank))
        yield (*span[:5], *took, span.slowest_marker, *slowest)


def _efforts(trace, _):
    """Of each step a row for all ranks, and one for each stratum; of a window that was given up,
    one row."""
    for window in trace.efforts:
        if window.gap != "none":
            yield (window.first, window.last, *9 * [None], window.gap)
        sampled = sum(len(stratum.sampled) for stratum in window.strata)
        for i, step in enumerate(window.steps):
            yield (window.first, window.last, step.marker, None, None, window.ranks, sampled,
                   *step[1:], window.gap)
            for number, stratum in enumerate(window.strata):
                yield (window.first, window.last, step.marker, number, stratum.medoid, stratum.size,
                       len(stratum.sampled), stratum.sum_ns[i], stratum.deviations_ns[i], None,
                       None, window.gap)


def _samples(trace, ranks):
    for window in trace.efforts:
        for number, stratum in enumerate(window.strata):
            for rank, efforts in stratum.sampled.items():
                if rank in ranks:
                    for step, ns in zip(window.steps, efforts):
                        yield window.first, step.marker, number, rank, ns


def _outliers(trace, ranks):
    for one in trace.outliers:
        rank = trace.rank_of(one.stream)
        if rank in ranks:
            yield (rank, trace.thread_of(one.stream), one.event, "call" if one.in_call else "compute",
                   one.begin_ns, one.ns, one.usual_ns)


def _pair_accounts(trace, ranks):
    for one in trace.pair_accounts:
        rank = trace.rank_of(one.stream)
        if rank in ranks:
            yield (one.source, rank, trace.thread_of(one.stream), 1 << one.size >> 1, one.messages,
                   one.ns, one.longest_ns, one.longest_event)


def _loops(trace, ranks):
    rows, around = [], {}  # [loop, parent, depth, ranks, sums]; enclosing row of each call node

    def add(nodes, ranks_around, parent, depth):
        for node in nodes:
            ranks_here = ranks_around if node.ranks is None else node.ranks & ranks_around
            if not len(ranks_here):
                continue
            if not node.is_loop:
                around[node] = parent
                continue
            rows.append([node, parent, depth, ranks_here, [0, 0, 0]])
            add(node.body, ranks_here, len(rows), depth + 1)

    for part, _ in trace.parts:
        add(part.nodes, ranks, None, 0)
    for rank in ranks:
        for event in trace.events(rank):
            row = around[event.node]
            if row is not None:
                sums = rows[row - 1][4]
                for i, number in enumerate((1, *event.mean_ns)):
                    sums[i] += number
    for _, parent, _, _, sums in reversed(rows):
        if parent is not None:
            for i, number in enumerate(sums):
                rows[parent - 1][4][i] += number
    for number, (node, parent, depth, ranks_here, sums) in enumerate(rows, 1):
        counts = node.iterations.of(next(iter(ranks_here)))
        yield (number, parent, depth, str(ranks_here), (counts and counts[0].total()) or 0,
               *(int(total + 0.4999) for total in sums), trace.loop_place(node))


def _sites(trace, ranks):
    del ranks  # of all
    for path in sorted(trace.paths):
        line = trace.line(path)
        stack = ";".join(short_function(one.function) for one in reversed(trace.lines(path)))
        known = line is not None
        yield (_hex(path), trace.site(path), short_function(line.function) if known else "",
               line.file if known else "", line.line if known and line.file else None, stack)


SUMMED = ("calls", "messages", "matrix", "loops")  # of all calls of ranks before the first row
ROWS = {"events": _events, "calls": _calls, "messages": _messages, "matrix": _matrix,
        "clusters": _clusters, "phases": _phases, "series": _series, "efforts": _efforts,
        "samples": _samples, "outliers": _outliers, "pair_accounts": _pair_accounts,
        "loops": _loops, "sites": _sites}


def rows(trace, name, ranks):
    """The rows of a table, in order of ranks. All but `messages` take memory of the trace and of
    sums; `messages` remembers what is sent and received."""
    if name not in ROWS:
        raise ValueError(f"no table {name!r}: there are {', '.join(ROWS)}")
    if trace.threads > 1 and name not in ("clusters", "phases", "series", "efforts", "samples",
                                          "outliers", "pair_accounts", "loops", "sites"):
        raise ValueError(f"ranks of this trace have up to {trace.threads} threads, and tables follow "
                         "one thread a rank: use Trace.events(stream)")
    wanted = _wanted(trace, ranks)
    if name in SUMMED:
        allow(trace, wanted)
    return ROWS[name](trace, wanted)


def to_pandas(trace, name, ranks):
    """A table as a DataFrame; columns of numbers with gaps are of pandas' type Int64."""
    import pandas  # only here: reading needs nothing but Python

    if name == "events":
        allow(trace, _wanted(trace, ranks))
    columns = list(zip(*trace.rows(name, ranks))) or [()] * len(COLUMNS[name])
    frame = {}
    for title, values in zip(COLUMNS[name], columns):
        if title in TEXT:
            frame[title] = pandas.Series(values, dtype="object")
        else:
            gaps = any(value is None for value in values)
            frame[title] = pandas.array(values, dtype="Int64" if gaps else "int64")
    return pandas.DataFrame(frame)
