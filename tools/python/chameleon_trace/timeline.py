# SPDX-License-Identifier: BSD-3-Clause
"""The calls of ranks over time, as rows and as a picture."""

import html
from collections import namedtuple
from itertools import islice

from .errors import TraceError
from .files import write_new
from .operations import Operations
from .overview import time_text
from .visits import allow

Bar = namedtuple("Bar", "rank begin_ns end_ns call path kind")
Bar.__doc__ = """A call of a rank, in time of rank 0's clock where the clocks were compared. `kind` is
send, receive, wait, collective or other."""

COLOURS = {"send": "#2f6fb5", "receive": "#c2702b", "wait": "#b5475e", "collective": "#7a54b3",
           "other": "#6b7785"}
WIDTH, ROW, LEFT = 1000, 16, 60
MOST_RANKS = 64


def _kind(name, operations):
    if name.startswith(("Wait", "Test")):
        return "wait"
    for operation in operations:
        if operation.kind in ("send", "receive"):
            return operation.kind
        if operation.kind == "begin":
            return "collective"
    return "other"


def _starts(trace):
    """What rank 0's clock showed when a rank continued after MPI_Init and the tool's start."""
    return {facts.rank: facts.clock_begin_ns + min(facts.startup_ns, 1 << 60) if facts.clock_samples else 0
            for facts in trace.facts()}


class Timeline:
    """Calls between two times of some ranks: `bars`, a picture in notebooks, `save` as SVG."""

    def __init__(self, trace, ranks=None, begin_ns=None, end_ns=None, most_events=None):
        if trace.threads > 1:
            raise ValueError("ranks of this trace have several threads, and a timeline follows one")
        wanted = list(islice(trace.ranks, MOST_RANKS)) if ranks is None else sorted(ranks)
        allow(trace, wanted, most_events)
        starts = _starts(trace)
        self.ranks = wanted
        self.bars = []
        for rank in wanted:
            follow = Operations(trace, rank)
            clock = starts.get(rank, 0)
            for event in trace.events(rank):
                try:
                    operations = follow.of(event)
                except TraceError as error:
                    raise error.at(trace.path, None) from None
                begin = clock + event.waiting_ns + event.compute_ns
                clock = begin + event.call_ns
                if (end_ns is None or begin < end_ns) and (begin_ns is None or clock > begin_ns):
                    self.bars.append(Bar(rank, begin, clock, event.name, event.path,
                                         _kind(event.name, operations)))
        self.begin_ns = min((bar.begin_ns for bar in self.bars), default=0) \
            if begin_ns is None else begin_ns
        self.end_ns = max((bar.end_ns for bar in self.bars), default=1) \
            if end_ns is None else end_ns
        self._trace = trace

    def to_pandas(self):
        import pandas  # only here: reading needs nothing but Python

        return pandas.DataFrame(self.bars, columns=Bar._fields)

    def svg(self):
        """The picture. Calls that share a pixel are one bar, of the kind that has most of it."""
        span = max(self.end_ns - self.begin_ns, 1)
        height = ROW * len(self.ranks) + 24
        lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH + LEFT} {height}" '
                 f'width="100%" font-size="11" font-family="sans-serif" role="img" '
                 f'aria-label="calls of ranks over {time_text(span)}">']
        rows = {rank: row for row, rank in enumerate(self.ranks)}
        for rank, row in rows.items():
            lines.append(f'<text x="{LEFT - 6}" y="{row * ROW + 12}" text-anchor="end">{rank}</text>'
                         f'<rect x="{LEFT}" y="{row * ROW + 1}" width="{WIDTH}" height="{ROW - 2}" '
                         f'fill="#e4efe7"/>')
        for rank, x, wide, kind, text in self._runs(span):
            lines.append(f'<rect x="{LEFT + x}" y="{rows[rank] * ROW + 1}" width="{wide}" '
                         f'height="{ROW - 2}" fill="{COLOURS[kind]}"><title>{html.escape(text)}'
                         f'</title></rect>')
        lines.append(f'<text x="{LEFT}" y="{height - 6}">{time_text(self.begin_ns)}</text>'
                     f'<text x="{LEFT + WIDTH}" y="{height - 6}" text-anchor="end">'
                     f"{time_text(self.end_ns)}</text></svg>")
        return "".join(lines)

    def _runs(self, span):
        """(rank, first pixel, pixels, kind, text): neighbours of one kind and call joined."""
        pixels = {}
        for bar in self.bars:
            first = (max(bar.begin_ns, self.begin_ns) - self.begin_ns) * WIDTH // span
            last = (min(bar.end_ns, self.end_ns) - self.begin_ns) * WIDTH // span
            for x in range(first, min(last, WIDTH - 1) + 1):
                of_pixel = pixels.setdefault((bar.rank, x), {})
                key = (bar.kind, bar.call)
                of_pixel[key] = of_pixel.get(key, 0) + bar.end_ns - bar.begin_ns
        runs = []
        for (rank, x), calls in sorted(pixels.items()):
            kind, call = max(calls, key=calls.get)
            text = f"rank {rank}: {call}"
            if runs and runs[-1][0] == rank and runs[-1][1] + runs[-1][2] == x and \
                    runs[-1][3:] == (kind, text):
                runs[-1] = (rank, runs[-1][1], runs[-1][2] + 1, kind, text)
            else:
                runs.append((rank, x, 1, kind, text))
        return runs

    def save(self, path):
        """Writes the picture to a file."""
        write_new(path, self.svg())

    def __repr__(self):
        return f"<Timeline of {len(self.bars)} calls of {len(self.ranks)} ranks>"

    def _repr_html_(self):
        legend = " ".join(f'<span style="color:{colour}">&#9632;</span> {kind}'
                          for kind, colour in COLOURS.items())
        return f'{self.svg()}<div><span style="color:#8fc5a1">&#9632;</span> computing {legend}</div>'
