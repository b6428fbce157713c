# SPDX-License-Identifier: BSD-3-Clause
"""A trace file as a whole."""

import heapq
from itertools import groupby, repeat

from . import journal, tables
from .call_tree import call_tree, to_hatchet
from .communicators import CallShape
from .efforts import joined as joined_efforts
from .errors import TraceError, corrupt
from .events import Plan, events
from .fact_table import RUN_FACTS
from .facts import MOST_CARRIED, add_others, joined, joined_value
from .files import default_limit
from .loop_places import INTERPRETERS_END, innermost, is_interpreters_end, loop_place
from .outliers import joined_outliers
from .pair_accounts import NO_OTHERS, joined_pair_accounts
from .overview import Comparison, rank_times, trace_html
from .payload import NO_ONLINE, Declaration
from .place_waits import place_waits
from .rank_list import RankList
from .series import Series
from .sources import Line, Sources, short_function, source_text
from .timeline import Timeline
from .visits import MOST_EVENTS

MOST_WORK = 1 << 22
# Frames of module 0 say why there is no code in a file.
NO_FILE = {0: "generated code", 1: "outer frames not kept", 2: "no unwinder", 3: "any frames"}
SMALL_COMMUNICATORS = {0: "MPI_COMM_WORLD", 1: "MPI_COMM_SELF"}


class Trace:
    """What some ranks did. Made by ``read_trace``; see docs/reference/python-api.md."""

    def __init__(self, parts, file, path):
        self.path = path
        self.file = file
        self.parts = parts
        first, last = parts[0][0], parts[-1][0]
        self.complete = last.complete
        self.ranks = first.ranks
        self.calls, self.modules, self.paths, self.predefined = {}, {}, {}, {}
        self.sources = {}
        self.online, self.world_size = NO_ONLINE, 0
        self.threads = 1
        self.time_tables = [part.times for part, _ in parts if part.times is not None]
        self.other_facts, run_others, run = {}, {}, {}
        self.series = Series()  # of Span, over markers
        self.efforts = []  # of EffortWindow
        self.totals = []  # of Total, by rank and phase
        self.outliers = []  # of Outlier, by stream and event
        accounts = None
        declared = {}
        # Uniting what a damaged file claims must not take long.
        self._work = MOST_WORK
        for part, times in parts:
            self.ranks = self._united(self.ranks, part.ranks)
            for name in ("calls", "modules", "sources", "paths", "predefined"):
                for key, value in getattr(part, name).items():
                    getattr(self, name).setdefault(key, value)
            table = part.fact_table
            self._add_others(table, run_others)
            for fact in (*RUN_FACTS, *run_others.values()):
                value = part.run.get(fact.name, table.run.get(fact.name))
                run[fact.name] = joined_value(fact, run.get(fact.name), value, times)
            self.world_size = max(self.world_size, part.world_size)
            self.threads = max(self.threads, part.threads)
            if part.online.acted or part.online.clustering:
                self.online = part.online
            for span in part.series:
                self.series.add(span)
            self.efforts = joined_efforts(self.efforts, part.efforts)
            self.totals = self._later(self.totals, part.totals)
            self.outliers = joined_outliers(self.outliers, part.outliers or [])
            accounts = joined_pair_accounts(accounts, part.pair_accounts)
            for what, ranks in part.declarations:
                declared[what] = self._united(declared.get(what, ranks), ranks)
        # Of PairAccount, by stream, source and size, and what has no account.
        self.pair_accounts, self.other_receives = accounts or ([], NO_OTHERS)
        for fact in RUN_FACTS:
            setattr(self, fact.name, run[fact.name])
        self.run_facts = {**run, **{name: value for name, value in self.online._asdict().items()
                                    if name not in ("clusters", "phases")}}
        self.declarations = [Declaration(*entry) for entry in declared.items()]
        self.shapes = {number: CallShape(call) for number, call in self.calls.items()}
        self._arrays = None
        self._waited = None
        self.most_events = MOST_EVENTS  # calls that are visited one by one without asking
        self._sources = None

    def _add_others(self, table, run_others):
        try:
            add_others(self.other_facts, table.others)
            add_others(run_others, table.run_others)
            if len(self.other_facts) + len(run_others) > MOST_CARRIED:
                raise corrupt("there are too many facts")
        except TraceError as error:
            raise error.at(self.path, None) from None

    def _later(self, totals, more):
        """Of ranks in both, the later totals hold."""
        if not totals or not more:
            return more or totals
        self._work -= len(totals) + len(more)
        if self._work < 0:
            raise TraceError("corrupt", "corrupt trace: its totals are too many", self.path)
        ranks = RankList.of(rank for total in more for rank in total.ranks)
        kept = (total._replace(ranks=RankList.of(rank for rank in total.ranks if rank not in ranks))
                for total in totals)
        return sorted([total for total in kept if len(total.ranks)] + more,
                      key=lambda total: next(iter(total.ranks)))

    def _united(self, ranks, more):
        if ranks.same_ranges(more):
            return ranks
        self._work -= ranks.pieces + more.pieces
        if self._work < 0:
            raise TraceError("corrupt", "corrupt trace: its rank lists are too long", self.path)
        return ranks | more

    @property
    def started(self):
        """Seconds since 1970."""
        return self.started_unix

    @property
    def version(self):
        """(major, minor) of the format."""
        return self.file.major, self.file.minor

    @property
    def arrays(self):
        """Elements of each array by the value that events store for it."""
        if self._arrays is None:
            self._arrays = {}
            for part, _ in self.parts:
                self._arrays.update(part.arrays())
        return self._arrays

    @property
    def clusters(self):
        """The clusters of the last election: call_path, lead, ranks."""
        return self.online.clusters

    @property
    def time_classes(self):
        """Groups of streams with like times: ranks, spread. Empty: the nodes have the times."""
        return tuple(self.time_tables[-1].classes) if self.time_tables else ()

    @property
    def phases(self):
        """Runs of markers that led to one state: state, first, markers, changed, end_ns."""
        return self.online.phases

    def rank_of(self, stream):
        """The rank that a stream is of: the stream itself with one thread a rank."""
        return stream % self.world_size if self.threads > 1 else stream

    def thread_of(self, stream):
        """The thread of its rank that a stream is of."""
        return stream // self.world_size if self.threads > 1 else 0

    def streams_of(self, rank):
        """The streams of a rank, one for each thread."""
        streams = (rank + self.world_size * thread for thread in range(self.threads))
        return [stream for stream in streams if stream in self.ranks]

    def _checked(self, rank):
        if rank not in self.ranks:
            raise ValueError(f"rank {rank} is not in this trace, which holds ranks {self.ranks}")

    def events(self, rank):
        """Iterates over the Events of a rank (where ranks have several threads: of a stream, which
        `streams_of` names), in memory of the folded trace."""
        self._checked(rank)
        return self._told(events(self, rank))

    def _told(self, iterator):
        try:
            yield from iterator
        except TraceError as error:
            if error.path:
                raise
            raise error.at(self.path, None) from None

    def event_count(self, rank):
        """Number of events of a rank, without reading them."""
        self._checked(rank)
        try:
            return sum(Plan(part, self.shapes, rank).events * times for part, times in self.parts)
        except TraceError as error:
            raise error.at(self.path, None) from None

    def facts(self):
        """Iterates over RankFacts in rank order."""
        rows = heapq.merge(*(zip(part.facts(), repeat(times)) for part, times in self.parts),
                           key=lambda row: row[0].rank)
        for _, same in groupby(rows, key=lambda row: row[0].rank):
            same = list(same)
            if len(same) == 1 and same[0][1] == 1:
                yield same[0][0]
            else:
                yield joined(same, self.other_facts)

    def waited(self):
        """What each stream waited at markers, in ns, by stream."""
        if self._waited is None:
            self._waited = {facts.rank: facts.waiting_ns for facts in self.facts()}
        return self._waited

    def frame_text(self, frame):
        """A frame as text: module+offset, or of an interpreted program `solver.py:42 step()`."""
        module = self.modules.get(frame.module)
        if module is not None:
            return f"{module.path.rpartition('/')[2]}+{frame.offset:#x}"
        if frame.module == 0:
            source = self.sources.get(frame.offset)
            return source_text(source) if source else NO_FILE.get(frame.offset, "?")
        return f"module {frame.module:#x}+{frame.offset:#x}"

    def frames(self, path):
        """Frames of a call path, innermost first, as text."""
        return [self.frame_text(frame) for frame in self.paths.get(path, ())]

    def site(self, path):
        """The innermost frame outside MPI's libraries, as text."""
        frames = self.paths.get(path, ())
        if is_interpreters_end(self, frames):
            return INTERPRETERS_END
        return self.frame_text(frames[innermost(self, frames)]) if frames else f"path {path:#x}"

    def lines(self, path):
        """Line tuples (function, file, line) of a call path, innermost first, functions that were
        inlined included. A frame of which nothing is known has its text as function. The program's
        files must still be the traced ones, and addr2line be installed."""
        if self._sources is None:
            self._sources = Sources(self)
        found = []
        for frame in self.paths.get(path, ()):
            found += self._sources.of(frame) or (Line(self.frame_text(frame), "", 0),)
        return found

    def line(self, path):
        """The Line of the innermost frame outside MPI's libraries, or None if nothing is known."""
        if self._sources is None:
            self._sources = Sources(self)
        frames = self.paths.get(path, ())
        lines = self._sources.of(frames[innermost(self, frames)]) if frames else ()
        return lines[0] if lines else None

    def place(self, path):
        """`heat.cpp:88 exchange()`; as `site` if nothing is known of the source."""
        line = self.line(path)
        if line is None or not line.file:
            return self.site(path)
        return f"{line.file.rpartition('/')[2]}:{line.line} {short_function(line.function)}"

    def loop_place(self, loop):
        """Where a Loop is: program+0x1234-0x1290, the first and the last return address of its body
        under the frames that all of it has in common; in an interpreted program
        solver.py:42-58 step(). Empty if there are none."""
        return loop_place(self, loop)

    def object_name(self, kind, value):
        """MPI's name of a predefined object, or a made one: "MPI_INT", "comm 2"."""
        if kind == "comm" and value in SMALL_COMMUNICATORS:
            return SMALL_COMMUNICATORS[value]
        if value == -1:
            return "null"
        names = self.predefined.get(kind, ())
        return names[-2 - value].name if 0 <= -2 - value < len(names) else f"{kind} {value}"

    def rows(self, name, ranks=None):
        """Iterates over the rows, tuples of tables.COLUMNS[name], of a table: events, calls,
        messages, matrix, clusters, phases, series, loops or sites; of some ranks."""
        return self._told(tables.rows(self, name, ranks))

    def to_pandas(self, name, ranks=None):
        """A table as a pandas.DataFrame."""
        return tables.to_pandas(self, name, ranks)

    def rank_times(self):
        """RankTimes of each rank: computing, in MPI calls, waiting at markers, in the tracer."""
        return rank_times(self)

    def waits(self, ranks=None, command="chameleon"):
        """PlaceWaits of each rank, call and call path: what the time in calls was spent on. The
        file must still be there, and the command installed, which works them out."""
        return place_waits(self.path, ranks, command)

    def timeline(self, ranks=None, begin_ns=None, end_ns=None, most_events=None):
        """A Timeline of some ranks, by default of the first 64, between two times. Notebooks show
        it as a picture. ValueError if these ranks have more than `most_events` calls."""
        return Timeline(self, ranks, begin_ns, end_ns, most_events)

    def compare(self, others):
        """A Comparison of this run with others, which are Traces or names of files."""
        return compare([self, *others])

    def call_tree(self, ranks=None):
        """The functions as nested dicts, with what was spent in each."""
        return call_tree(self, ranks)

    def to_hatchet(self, ranks=None):
        """The same as a hatchet.GraphFrame, where Hatchet is installed."""
        return to_hatchet(self, ranks)

    def __repr__(self):
        end = "" if self.complete else ", not complete"
        return f"<Trace {self.path}: {self.program}, ranks {self.ranks} of {self.world_size}{end}>"

    def _repr_html_(self):
        return trace_html(self)


def read_trace(path, most_bytes=None):
    """Reads a trace file. Raises TraceError, in one line, for what is not a readable trace, or is
    larger than `most_bytes`, as it is and decompressed: by default a quarter of this machine's
    memory, and at most 1 GiB."""
    parts, file = journal.read(path, default_limit() if most_bytes is None else most_bytes)
    return Trace(parts, file, str(path))


def compare(traces):
    """A Comparison of runs, which are Traces or names of files: of one program on 4, 8 and 16 ranks,
    or before and after a change. Speedup and scalability are those over the first."""
    return Comparison([one if isinstance(one, Trace) else read_trace(one) for one in traces])


def parse_trace(data, name="trace", most_bytes=None):
    """The same of the bytes of a file."""
    most = default_limit() if most_bytes is None else most_bytes
    parts, file = journal.parse(bytes(data), name, most)
    return Trace(parts, file, name)

