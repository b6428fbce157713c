# SPDX-License-Identifier: BSD-3-Clause
"""Facts of ranks and of the run; docs/reference/facts.md, and "facts" in docs/reference/format.md."""

from collections import namedtuple
from itertools import repeat

from .errors import corrupt
from .fact_table import ONLINE_FACTS, RANK_FACTS, RUN_FACTS, Fact
from .rank_list import RankList
from .values import ValueSequence
from .wire import NUMBER, wrap

RankFacts = namedtuple("RankFacts", ["rank", *(fact.name for fact in RANK_FACTS), "others"])

JOINS = ("sum", "most", "first", "last", "host", "clock")
SELF_DESCRIBING = 4
MOST_CARRIED = 256
BLOCK = 32
SHIFTED = 128  # added to a width: a power of two follows
PACKED, TEXT = 1, 2
BY_NAME = {fact.name: fact for fact in RANK_FACTS}
RUN_BY_NAME = {fact.name: fact for fact in RUN_FACTS + ONLINE_FACTS}


def minor(fact):
    """N of the version 1.N that a fact came with."""
    return int(fact.since.partition(".")[2])


def former(facts):
    """Those that stand in sections by their order: they came before 1.4."""
    return [fact for fact in facts if minor(fact) < SELF_DESCRIBING]


def read_value(reader, fact):
    return reader.text() if fact.is_text else reader.varint()


def packed(reader, count):
    """Numbers in blocks, each as wide as its largest distance from the least, in units of a power
    of two."""
    numbers, base = [], 0
    reader.take(min(count, BLOCK * reader.left()), NUMBER)
    while len(numbers) < count:
        base += reader.svarint()
        head, here = reader.u8(), min(BLOCK, count - len(numbers))
        width, shift = head % SHIFTED, reader.u8() if head >= SHIFTED else 0
        if width + shift > 64 or head == SHIFTED:
            raise corrupt("a packed column is too wide")
        bits = int.from_bytes(reader.raw((here * width + 7) // 8), "little")
        mask = (1 << width) - 1
        numbers.extend(wrap(base + ((bits >> i * width & mask) << shift)) for i in range(here))
    return numbers


class Column:
    """The values of a fact, one for each rank: numbers, or places in a list of texts."""

    def __init__(self, numbers, texts=None):
        self.numbers, self.texts = numbers, texts
        if texts is not None and any(not 0 <= n < len(texts) for n in extremes(numbers)):
            raise corrupt("the facts of ranks name an unknown text")

    def __iter__(self):
        if self.texts is None:
            return iter(self.numbers)
        return map(self.texts.__getitem__, self.numbers)


def read_texts(reader):
    return [reader.text() for _ in range(reader.count(1))]


def sequence(reader, count):
    numbers = ValueSequence.decode(reader)
    if len(numbers) != count:
        raise corrupt("the facts of ranks have another number of values than ranks")
    return numbers


def extremes(numbers):
    """Numbers among which are the least and the largest."""
    if isinstance(numbers, ValueSequence):
        for start, stride, count in numbers.segments():
            yield from (start, start + stride * (count - 1))
    else:
        yield from numbers


def described(reader, is_text):
    """A fact that the file describes."""
    name, unit, join = reader.text(), reader.text(), reader.u8()
    return Fact(name, unit, JOINS[join] if join < len(JOINS) else "first", "", is_text, "")


class FactTable:
    """The facts in one commit: columns of ranks, and values of the run."""

    def __init__(self):
        self.ranks = RankList()
        self.columns = {}  # by name
        self.others = {}   # those that this version does not know: name -> Fact
        self.run = {}      # values of the run in section 14, by name
        self.run_others = {}

    def read_ranks(self, reader, most):
        if len(self.ranks):
            raise corrupt("there are two sections of facts")
        self.ranks = RankList.decode(reader)
        if len(self.ranks) > most:
            raise corrupt("there are facts of ranks that are not in the run")

    def read(self, reader, most):
        """Section 14."""
        self.read_ranks(reader, most)
        for _ in range(reader.count(2)):
            self._read_column(reader)
        for _ in range(reader.count(5)):
            self._read_run_fact(reader)
        self._check()

    def _read_column(self, reader):
        number, how = divmod(reader.varint(), 4)
        if number:
            if number > len(RANK_FACTS) or minor(RANK_FACTS[number - 1]) >= SELF_DESCRIBING:
                raise corrupt("a fact has an unknown number")
            fact = RANK_FACTS[number - 1]
        else:
            fact = self._known(described(reader, bool(how & TEXT)), BY_NAME, self.others)
        if fact.name in self.columns or fact.is_text != bool(how & TEXT):
            raise corrupt("a fact is there twice, or of another kind")
        texts, count = read_texts(reader) if how & TEXT else None, len(self.ranks)
        numbers = packed(reader, count) if how & PACKED else sequence(reader, count)
        self.columns[fact.name] = Column(numbers, texts)

    def _read_run_fact(self, reader):
        fact = described(reader, None)
        is_text = reader.u8()
        if is_text > 1:
            raise corrupt("a fact is of an unknown kind")
        fact = self._known(fact._replace(is_text=bool(is_text)), RUN_BY_NAME, self.run_others)
        if fact.name in self.run or fact.is_text != bool(is_text):
            raise corrupt("a fact is there twice, or of another kind")
        self.run[fact.name] = reader.text() if is_text else reader.svarint()

    def _known(self, fact, known, others):
        """The row of the table; a fact that has none is among the others."""
        if fact.name in known:
            return known[fact.name]
        if len(self.others) + len(self.run_others) == MOST_CARRIED:
            raise corrupt("there are too many facts")
        return others.setdefault(fact.name, fact)

    def read_former(self, reader, version):
        """Sections 7, 11 and 12 of files before 1.4: the facts that came with version 1.N."""
        count, hosts = len(self.ranks), None
        for fact in RANK_FACTS:
            if minor(fact) != version:
                continue
            if fact.is_text:
                hosts = fact.name, sequence(reader, count)  # their names come last
            else:
                self.columns[fact.name] = Column(sequence(reader, count))
        if hosts is not None:
            self.columns[hosts[0]] = Column(hosts[1], read_texts(reader))
        self._check()

    def _check(self):
        for name, most in (("clock_begin_ns", 1 << 60), ("clock_drift_ppb", 500_000_000)):
            column = self.columns.get(name)
            if column is not None and any(abs(v) > most for v in extremes(column.numbers)):
                raise corrupt("a rank's clock is out of range")

    def rows(self):
        """RankFacts in rank order."""
        known = [self.columns.get(fact.name) or repeat("" if fact.is_text else 0)
                 for fact in RANK_FACTS]
        others = [self.columns[name] for name in self.others]
        for rank, known, more in zip(self.ranks, zip(*known),
                                     zip(*others) if others else repeat(())):
            yield RankFacts(rank, *known, dict(zip(self.others, more)))


def add_others(known, more):
    """Facts that are in the table of no version here, of another part of a trace."""
    for name, fact in more.items():
        if known.setdefault(name, fact).is_text != fact.is_text:
            raise corrupt("a fact is of two kinds")


def joined_value(fact, first, second, times=1):
    """One value of those of two parts, of which the second counts so many times; None: it has
    none. Those that go with the host or the clock are none of this."""
    if fact.join == "sum" and not fact.is_text:
        return (first or 0) + (second or 0) * times
    if first is None or second is None:
        return first if second is None else second
    if fact.join == "most":
        return max(first, second)
    return second or first if fact.join == "last" else first or second


def joined(same, others):
    """The facts of a rank in several parts: (RankFacts, how often the part counts) of each."""
    host = next((row for row, _ in same if row.host), same[0][0])
    clock = max((row for row, _ in same), key=lambda row: row.clock_samples)

    def value(fact, get):
        if fact.join in ("host", "clock"):
            held = get(host if fact.join == "host" else clock)
            if held is not None:
                return held
        result = None
        for row, times in same:
            result = joined_value(fact, result, get(row), times)
        return result

    known = [value(fact, lambda row, name=fact.name: getattr(row, name)) for fact in RANK_FACTS]
    more = {name: value(fact, lambda row, name=name: row.others.get(name))
            for name, fact in others.items()
            if any(name in row.others for row, _ in same)}
    return RankFacts(same[0][0].rank, *known, more)
