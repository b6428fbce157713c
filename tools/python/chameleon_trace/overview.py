# SPDX-License-Identifier: BSD-3-Clause
"""Where the time of ranks went, for one run and for several side by side."""

import html
from collections import namedtuple

from .ensemble import ensemble, node_times
from .visits import allow, too_many

RankTimes = namedtuple("RankTimes", "rank compute_ns call_ns waiting_ns tool_ns")
RankTimes.__doc__ = "What a rank spent outside MPI, in MPI calls, waiting at markers, in the tracer."

PARTS = (("compute_ns", "computing", "#4f9d69"), ("call_ns", "in MPI", "#7a54b3"),
         ("waiting_ns", "waiting at markers", "#b5475e"), ("tool_ns", "tracer", "#6b7785"))
MOST_BARS = 32


def rank_times(trace):
    """RankTimes of each rank: what it measured itself, or else the sum of its events."""
    if trace.totals:
        found = {}
        for total in trace.totals:
            for rank in total.ranks:
                row = found.setdefault(rank, [0, 0, 0, 0])
                for at, part in enumerate((total.compute, total.point_to_point + total.collective,
                                           total.waiting, total.tool)):
                    row[at] += part
        return [RankTimes(rank, *row) for rank, row in sorted(found.items())]
    allow(trace, trace.ranks)
    found = {}
    waited = trace.waited()
    for stream in trace.ranks:
        row = found.setdefault(trace.rank_of(stream), [0, 0, 0, 0])
        for event in trace.events(stream):
            compute, call = event.mean_ns
            row[0] += compute
            row[1] += call
        row[2] += waited.get(stream, 0)
    return [RankTimes(rank, *map(int, row)) for rank, row in sorted(found.items())]


def time_text(ns):
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns:.3g} ns"


class Efficiency:
    """The factors of the POP centres of excellence for one run, from the times of its ranks."""

    def __init__(self, trace):
        times = rank_times(trace)
        self.ranks = len(times)
        self.compute_ns = sum(one.compute_ns for one in times)
        self.run_ns = max((sum(one[1:4]) for one in times), default=0)
        self.most_compute_ns = max((one.compute_ns for one in times), default=0)
        self.slowest = max(times, key=lambda one: (one.compute_ns, -one.rank)).rank if times else None

    @property
    def load_balance(self):
        return self.compute_ns / self.ranks / self.most_compute_ns if self.most_compute_ns else None

    @property
    def communication(self):
        return self.most_compute_ns / self.run_ns if self.run_ns else None

    @property
    def parallel(self):
        return self.compute_ns / self.ranks / self.run_ns if self.run_ns else None


def bars_html(times):
    """A stacked bar a rank, or a group of ranks that follow each other, as SVG."""
    if not times or not any(sum(one[1:]) for one in times):
        return ""
    width = -(-len(times) // MOST_BARS)
    groups = [times[at:at + width] for at in range(0, len(times), width)]
    means = [[sum(getattr(one, part) for one in group) / len(group) for part, _, _ in PARTS]
             for group in groups]
    longest = max(map(sum, means))
    lines = []
    for row, (group, parts) in enumerate(zip(groups, means)):
        name = f"{group[0].rank}" if width == 1 else f"{group[0].rank}-{group[-1].rank}"
        lines.append(f'<text x="66" y="{14 * row + 10}" text-anchor="end">{name}</text>')
        x = 70.0
        for (_, title, colour), ns in zip(PARTS, parts):
            wide = 500 * ns / longest
            if wide > 0:
                lines.append(f'<rect x="{x:.1f}" y="{14 * row + 1}" width="{wide:.1f}" height="11" '
                             f'fill="{colour}"><title>{title}: {time_text(ns)}</title></rect>')
            x += wide
    legend = " ".join(f'<span style="color:{colour}">&#9632;</span> {title}'
                      for _, title, colour in PARTS)
    return (f'<svg width="600" height="{14 * len(groups) + 4}" font-size="11" '
            f'font-family="sans-serif" role="img" aria-label="time of each rank">{"".join(lines)}'
            f"</svg><div>{legend}; by rank</div>")


def table_html(titles, rows):
    head = "".join(f"<th>{html.escape(str(title))}</th>" for title in titles)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in row) + "</tr>"
                   for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def trace_html(trace):
    """What ran, and where its time went."""
    rows = [("program", trace.command_line or trace.program), ("ranks", trace.world_size),
            ("MPI", trace.mpi or "not known"),
            ("complete", "yes" if trace.complete else "no: up to the last flush"),
            ("timing", trace.timing)]
    # A notebook shows this unasked, so it must not take long.
    if not trace.totals and (why := too_many(trace, trace.ranks)):
        return table_html(("", trace.path), [*rows, ("times", f"not summed: {why}")])
    efficiency = Efficiency(trace)
    if efficiency.run_ns:
        rows.append(("run time", time_text(efficiency.run_ns)))
    if efficiency.load_balance is not None:
        rows.append(("load balance", f"{efficiency.load_balance:.1%}; rank {efficiency.slowest} "
                                     f"computes longest, {time_text(efficiency.most_compute_ns)}"))
    return table_html(("", trace.path), rows) + bars_html(rank_times(trace))


class Comparison:
    """Runs of one program side by side: of other numbers of ranks, or before and after a change.
    `rows` has a dict for each run, in the order that was given."""

    COLUMNS = ("trace", "ranks", "run_seconds", "compute_seconds", "speedup", "parallel_efficiency",
               "load_balance", "communication_efficiency", "computation_scalability",
               "slowest_rank")

    def __init__(self, traces):
        if not traces:
            raise ValueError("there is no trace to compare")
        self.traces = list(traces)
        of = [Efficiency(trace) for trace in self.traces]
        first = of[0]
        self.rows = [dict(zip(self.COLUMNS, (
            trace.path, one.ranks, one.run_ns * 1e-9, one.compute_ns * 1e-9,
            first.run_ns / one.run_ns if one.run_ns else None, one.parallel, one.load_balance,
            one.communication, first.compute_ns / one.compute_ns if one.compute_ns else None,
            one.slowest))) for trace, one in zip(self.traces, of)]

    def places(self):
        """What all ranks together spent at each call of each function: rows of call, place, and a
        tuple of (seconds computing before it, seconds in it) for each run; None where a run does not
        have it. The costliest come first."""
        found = {}
        for number, trace in enumerate(self.traces):
            allow(trace, trace.ranks)
            for stream in trace.ranks:
                for event in trace.events(stream):
                    key = (event.name, function_of(trace, event.path))
                    sums = found.setdefault(key, [None] * len(self.traces))
                    compute, call = event.mean_ns
                    before = sums[number] or (0.0, 0.0)
                    sums[number] = (before[0] + compute * 1e-9, before[1] + call * 1e-9)
        order = sorted(found.items(), key=lambda row: -sum(map(sum, filter(None, row[1]))))
        return [(call, place, tuple(sums)) for (call, place), sums in order]

    def to_pandas(self):
        import pandas  # only here: reading needs nothing but Python

        return pandas.DataFrame(self.rows, columns=self.COLUMNS)

    def node_times(self):
        """NodeTimes of each run: what all its ranks spent in each function and MPI call."""
        return node_times(self.traces)

    def ensemble(self):
        """The runs as an Ensemble, three tables of pandas as Thicket has them."""
        return ensemble(self)

    def __repr__(self):
        return f"<Comparison of {len(self.rows)} runs on {[row['ranks'] for row in self.rows]} ranks>"

    def _repr_html_(self):
        def text(value):
            if value is None:
                return ""
            return f"{value:.3g}" if isinstance(value, float) else value
        return table_html([title.replace("_", " ") for title in self.COLUMNS],
                          [[text(row[title]) for title in self.COLUMNS] for row in self.rows])


def function_of(trace, path):
    """The function of a place, which is the same in each build; an address without names."""
    place = trace.place(path)
    return place.partition(" ")[2] or place.partition("+")[0]
