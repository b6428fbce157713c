# SPDX-License-Identifier: BSD-3-Clause
"""The payload of one commit: its sections; docs/reference/format.md, "Payload"."""

import struct
from collections import namedtuple

from . import codec
from .errors import corrupt
from .fact_table import ONLINE_FACTS, RUN_FACTS
from .facts import FactTable, former, read_value
from .nodes import NodeReader
from .rank_list import MOST_RANKS, RankList
from .efforts import read_efforts as decode_efforts
from .outliers import read_outliers as decode_outliers
from .pair_accounts import read_pair_accounts as decode_pair_accounts
from .series import read_series as decode_series
from .totals import read_totals as decode_totals
from .times import TimeTable
from .values import ValueSequence
from .waits import read_waits as decode_waits
from .wire import NUMBER, Reader

Field = namedtuple("Field", "name kind stored")
Call = namedtuple("Call", "id name fields")
Module = namedtuple("Module", "id build_id path")
Frame = namedtuple("Frame", "module offset")
SourceFrame = namedtuple("SourceFrame", "file function begin line column end_line end_column")
SourceFrame.__doc__ = "Where an interpreted function calls; columns from 1, 0 where not known."
Predefined = namedtuple("Predefined", "name size")
Declaration = namedtuple("Declaration", "what ranks")
Cluster = namedtuple("Cluster", "call_path lead ranks")
Phase = namedtuple("Phase", "state first markers changed end_ns")
Online = namedtuple("Online", [*(fact.name for fact in ONLINE_FACTS), "clusters", "phases"])

PLAIN, END_POINT, ARRAY = range(3)
ARRAY_PLACE = 3  # in the file only: an array by its place in section 3
STATES = ("AT", "C", "L", "F")
MOST_PHASES = 4096
FIRST_SOURCE_PLACE = 4  # offsets of module 0 below are frames that are not known
FIRST_SOURCE_ID = 1 << 63
NO_ONLINE = Online(*("" if fact.is_text else 0 for fact in ONLINE_FACTS), (), ())._replace(
    call_frequency=1)


def source_id(source):
    """What frames know a line of the source by: a hash of its content."""
    text = "\0".join(str(part) for part in source).encode("utf-8", "replace")
    return codec.xxh3_64(text) | FIRST_SOURCE_ID


class Part:
    """What one commit holds."""

    def __init__(self, data, budget=None):
        self.size = len(data)
        self.ranks = RankList()
        self.world_size = 0
        self.threads = 1
        self.complete = False
        self.run = {fact.name: "" if fact.is_text else 0 for fact in RUN_FACTS}
        self.calls, self.modules, self.paths, self.predefined = {}, {}, {}, {}
        self.sources = {}
        self.path_order, self.source_order = [], []
        self.array_sequences = []
        self.by_place = set()  # (call, field)
        self.fact_table = FactTable()
        self.declarations = []
        self.online = NO_ONLINE
        self.series = []
        self.efforts = []
        self.totals = []
        self.outliers = None
        self.pair_accounts = None
        self.nodes = []
        self.times = None
        reader = Reader(data)
        while reader.left():
            tag, size = reader.varint(), reader.varint()
            start = reader.at
            reader.raw(size)
            if tag in self.SECTIONS:
                self.SECTIONS[tag](self, Reader(data, start, start + size, budget))
        later = self.fact_table.run
        self.run.update((name, later[name]) for name in self.run if name in later)
        self.online = self.online._replace(**{name: later[name] for name in Online._fields[:-2]
                                              if name in later})

    @property
    def most_ranks(self):
        return max(len(self.ranks), self.world_size * self.threads)

    def read_run(self, reader):
        self.ranks = RankList.decode(reader)
        self.world_size = reader.varint()
        if self.world_size > MOST_RANKS:
            raise corrupt("the run has too many ranks")
        self.complete = reader.u8() != 0
        for fact in former(RUN_FACTS):
            self.run[fact.name] = read_value(reader, fact)

    def read_threads(self, reader):
        self.threads = reader.varint()
        if self.threads < 2 or not self.world_size or self.threads > MOST_RANKS // self.world_size:
            raise corrupt("the ranks have an impossible number of threads")

    def read_calls(self, reader):
        for _ in range(reader.count(3)):
            number, name, fields = reader.varint(), reader.text(), []
            if number >= 1 << 16:
                raise corrupt("a call has an id beyond 2^16")
            for _ in range(reader.count(3)):
                name_of_field, kind, stored = reader.text(), reader.text(), reader.u8()
                if stored > ARRAY_PLACE:
                    raise corrupt("a field is stored in an unknown way")
                if stored == ARRAY_PLACE:
                    self.by_place.add((number, len(fields)))
                fields.append(Field(name_of_field, kind, min(stored, ARRAY)))
            self.calls[number] = Call(number, name, tuple(fields))

    def read_arrays(self, reader):
        # An array is short in the file and long in memory: all together are bounded.
        left = 64 * self.size + (1 << 20)
        for _ in range(reader.count(1)):
            values = ValueSequence.decode(reader)
            left -= len(values)
            reader.take(len(values), NUMBER)
            if left < 0:
                raise corrupt("the arrays are too long")
            self.array_sequences.append(values)

    def arrays(self):
        """(key, elements) of each array, expanded."""
        for sequence in self.array_sequences:
            elements = tuple(sequence)
            packed = struct.pack(f"<{len(elements)}q", *elements)
            yield int.from_bytes(codec.xxh3_64(packed).to_bytes(8, "little"), "little",
                                 signed=True), elements

    def read_modules(self, reader):
        for _ in range(reader.count(10)):
            module = Module(reader.u64(), reader.text(), reader.text())
            self.modules[module.id] = module

    def read_sources(self, reader):
        for _ in range(reader.count(7)):
            source = SourceFrame(reader.text(), reader.text(),
                                 *(reader.varint() for _ in range(5)))
            if max(source[2:]) >= 1 << 31:
                raise corrupt("a line of the source has an impossible number")
            self.source_order.append(source_id(source))
            self.sources[self.source_order[-1]] = source

    def read_paths(self, reader):
        modules = list(self.modules)
        for _ in range(reader.count(9)):
            signature, frames = reader.u64(), []
            for _ in range(reader.count(2)):
                place = reader.varint()
                if place > len(modules):
                    raise corrupt("a frame is of an unknown module")
                module = modules[place - 1] if place else reader.u64()
                offset = reader.varint()
                if module == 0 and offset >= FIRST_SOURCE_PLACE:
                    if offset - FIRST_SOURCE_PLACE >= len(self.source_order):
                        raise corrupt("a frame is of an unknown line")
                    offset = self.source_order[offset - FIRST_SOURCE_PLACE]
                frames.append(Frame(module, offset))
            self.path_order.append(signature)
            self.paths[signature] = tuple(frames)

    def read_predefined(self, reader):
        for _ in range(reader.count(2)):
            kind = reader.text()
            self.predefined[kind] = [Predefined(reader.text(), reader.varint())
                                     for _ in range(reader.count(2))]

    def read_facts(self, reader):
        self.fact_table.read(reader, self.most_ranks)

    def read_first_facts(self, reader):
        self.fact_table.read_ranks(reader, self.most_ranks)
        self.fact_table.read_former(reader, 0)

    def read_state_times(self, reader):
        self.fact_table.read_former(reader, 1)

    def read_clocks(self, reader):
        self.fact_table.read_former(reader, 2)

    def facts(self):
        """RankFacts in rank order."""
        return self.fact_table.rows()

    def read_declarations(self, reader):
        for _ in range(reader.count(2)):
            self.declarations.append(Declaration(reader.text(), RankList.decode(reader)))

    def read_nodes(self, reader):
        self.nodes = NodeReader(reader, self).nodes()

    def read_times(self, reader):
        self.times = TimeTable(reader, self)

    def read_online(self, reader):
        words = {fact.name: read_value(reader, fact) for fact in former(ONLINE_FACTS)}
        clusters = [Cluster(reader.u64(), reader.varint(), RankList.decode(reader))
                    for _ in range(reader.count(10))]
        phases = reader.count(5)
        if phases > MOST_PHASES:
            raise corrupt("there are too many phases")
        result = []
        for _ in range(phases):
            state = reader.u8()
            if state >= len(STATES):
                raise corrupt("a phase has an unknown state")
            result.append(Phase(STATES[state], *(reader.varint() for _ in range(4))))
        self.online = NO_ONLINE._replace(**words, clusters=tuple(clusters), phases=tuple(result))

    def read_series(self, reader):
        self.series = decode_series(reader)

    def read_efforts(self, reader):
        self.efforts = decode_efforts(reader)

    def read_totals(self, reader):
        self.totals = decode_totals(reader)

    def read_waits(self, reader):
        waits = decode_waits(reader, self.times)
        if self.times is not None:
            self.times.waits = waits

    def read_outliers(self, reader):
        if self.outliers is not None:
            raise corrupt("there are two tables of outliers")
        self.outliers = decode_outliers(reader)

    def read_pair_accounts(self, reader):
        if self.pair_accounts is not None:
            raise corrupt("there are two tables of pair accounts")
        self.pair_accounts = decode_pair_accounts(reader, self.world_size)

    SECTIONS = {1: read_run, 2: read_calls, 3: read_arrays, 4: read_modules, 5: read_paths,
                6: read_predefined, 7: read_first_facts, 8: read_declarations, 9: read_nodes,
                10: read_online, 11: read_state_times, 12: read_clocks, 13: read_threads,
                14: read_facts, 15: read_times, 16: read_series,
                17: read_totals, 18: read_waits, 20: read_sources, 21: read_outliers,
                22: read_efforts, 23: read_pair_accounts}
