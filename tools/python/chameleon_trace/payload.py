# SPDX-License-Identifier: BSD-3-Clause
"""The payload of one commit: its sections; docs/reference/format.md, "Payload"."""

import struct
from collections import namedtuple

from . import codec
from .errors import corrupt
from .nodes import NodeReader
from .rank_list import MOST_RANKS, RankList
from .values import ValueSequence
from .wire import Reader

Field = namedtuple("Field", "name kind stored")
Call = namedtuple("Call", "id name fields")
Module = namedtuple("Module", "id build_id path")
Frame = namedtuple("Frame", "module offset")
Predefined = namedtuple("Predefined", "name size")
Declaration = namedtuple("Declaration", "what ranks")
RankFacts = namedtuple("RankFacts", "rank events run_ns tool_ns paused processor host tool_at_ns "
                       "tool_c_ns tool_l_ns tool_f_ns clock_samples clock_begin_ns "
                       "clock_drift_ppb clock_error_ns tool_bytes call_ns")
Cluster = namedtuple("Cluster", "call_path lead ranks")
Phase = namedtuple("Phase", "state first markers changed end_ns")
Online = namedtuple("Online", "clustering fidelity call_frequency k markers acted count_at count_c "
                    "count_l count_f flushes clusterings merge_bytes clusters phases")

PLAIN, END_POINT, ARRAY = range(3)
STATES = ("AT", "C", "L", "F")
MOST_PHASES = 4096
NO_ONLINE = Online("", "", 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, (), ())


class Part:
    """What one commit holds."""

    def __init__(self, data):
        self.size = len(data)
        self.ranks = RankList()
        self.world_size = 0
        self.threads = 1
        self.complete = False
        self.program = self.tool_version = self.mpi = self.timing = ""
        self.started = 0
        self.calls, self.modules, self.paths, self.predefined = {}, {}, {}, {}
        self.path_order = []
        self.array_sequences = []
        self.fact_ranks, self.fact_columns, self.hosts = RankList(), None, []
        self.state_columns = self.clock_columns = None
        self.declarations = []
        self.online = NO_ONLINE
        self.nodes = []
        reader = Reader(data)
        while reader.left():
            tag, size = reader.varint(), reader.varint()
            start = reader.at
            reader.raw(size)
            if tag in self.SECTIONS:
                self.SECTIONS[tag](self, Reader(data, start, start + size))

    @property
    def most_ranks(self):
        return max(len(self.ranks), self.world_size * self.threads)

    def read_run(self, reader):
        self.ranks = RankList.decode(reader)
        self.world_size = reader.varint()
        if self.world_size > MOST_RANKS:
            raise corrupt("the run has too many ranks")
        self.complete = reader.u8() != 0
        self.program, self.tool_version, self.mpi, self.timing = (
            reader.text(), reader.text(), reader.text(), reader.text())
        self.started = reader.varint()

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
                field = Field(reader.text(), reader.text(), reader.u8())
                if field.stored > ARRAY:
                    raise corrupt("a field is stored in an unknown way")
                fields.append(field)
            self.calls[number] = Call(number, name, tuple(fields))

    def read_arrays(self, reader):
        # An array is short in the file and long in memory: all together are bounded.
        left = 64 * self.size + (1 << 20)
        for _ in range(reader.count(1)):
            values = ValueSequence.decode(reader)
            left -= len(values)
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

    def read_paths(self, reader):
        modules = list(self.modules)
        for _ in range(reader.count(9)):
            signature, frames = reader.u64(), []
            for _ in range(reader.count(2)):
                place = reader.varint()
                if place > len(modules):
                    raise corrupt("a frame is of an unknown module")
                module = modules[place - 1] if place else reader.u64()
                frames.append(Frame(module, reader.varint()))
            self.path_order.append(signature)
            self.paths[signature] = tuple(frames)

    def read_predefined(self, reader):
        for _ in range(reader.count(2)):
            kind = reader.text()
            self.predefined[kind] = [Predefined(reader.text(), reader.varint())
                                     for _ in range(reader.count(2))]

    def columns(self, reader, count):
        result = []
        for _ in range(count):
            column = ValueSequence.decode(reader)
            if len(column) != len(self.fact_ranks):
                raise corrupt("the facts of ranks have another number of values than ranks")
            result.append(column)
        return result

    def read_facts(self, reader):
        self.fact_ranks = RankList.decode(reader)
        if len(self.fact_ranks) > self.most_ranks:
            raise corrupt("there are facts of ranks that are not in the run")
        self.fact_columns = self.columns(reader, 6)
        self.hosts = [reader.text() for _ in range(reader.count(1))]
        for start, stride, count in self.fact_columns[5].segments():
            last = start + stride * (count - 1)
            if min(start, last) < 0 or max(start, last) >= len(self.hosts):
                raise corrupt("the facts of ranks name an unknown host")

    def read_state_times(self, reader):
        self.state_columns = self.columns(reader, 4)

    def read_clocks(self, reader):
        self.clock_columns = self.columns(reader, 6)
        for column, most in zip(self.clock_columns[1:3], (1 << 60, 500_000_000)):
            for start, stride, count in column.segments():
                if max(abs(start), abs(start + stride * (count - 1))) > most:
                    raise corrupt("a rank's clock is out of range")

    def facts(self):
        """RankFacts in rank order."""
        columns = list(self.fact_columns or ())
        none = ValueSequence.constant(0, len(self.fact_ranks))
        columns += self.state_columns or [none] * 4
        columns += self.clock_columns or [none] * 6
        if self.fact_columns is None:
            return
        for rank, (events, run, tool, paused, processor, host, *rest) in zip(
                self.fact_ranks, zip(*columns)):
            yield RankFacts(rank, events, run, tool, paused, processor, self.hosts[host], *rest)

    def read_declarations(self, reader):
        for _ in range(reader.count(2)):
            self.declarations.append(Declaration(reader.text(), RankList.decode(reader)))

    def read_nodes(self, reader):
        self.nodes = NodeReader(reader, self).nodes()

    def read_online(self, reader):
        words = [reader.text(), reader.text(), *(reader.varint() for _ in range(11))]
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
        self.online = Online(*words, tuple(clusters), tuple(result))

    SECTIONS = {1: read_run, 2: read_calls, 3: read_arrays, 4: read_modules, 5: read_paths,
                6: read_predefined, 7: read_facts, 8: read_declarations, 9: read_nodes,
                10: read_online, 11: read_state_times, 12: read_clocks, 13: read_threads}
