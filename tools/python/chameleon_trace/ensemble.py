# SPDX-License-Identifier: BSD-3-Clause
"""The functions of several runs in the three tables of an ensemble, as Thicket has them."""

from collections import namedtuple

from .call_tree import call_tree

NodeTimes = namedtuple("NodeTimes", "node profile name calls time time_inc")
NodeTimes.__doc__ = """What all ranks of a run spent in a function or MPI call, in seconds. `node` has
the functions from the outermost on, with semicolons; `profile` is the run's number from 0."""

Ensemble = namedtuple("Ensemble", "performance metadata statistics")
Ensemble.__doc__ = "Performance by node and profile, metadata by profile, statistics by node."

MEASURED = ("calls", "time", "time (inc)")


def node_times(traces):
    """NodeTimes of each run, callers before what they call."""
    def walk(profile, literals, above):
        for one in literals:
            name, metrics = one["frame"]["name"], one["metrics"]
            node = f"{above};{name}" if above else name
            yield NodeTimes(node, profile, name, metrics["calls"], metrics["time"],
                            metrics["time (inc)"])
            yield from walk(profile, one["children"], node)
    return [row for profile, trace in enumerate(traces)
            for row in walk(profile, call_tree(trace), "")]


def ensemble(comparison):
    """The Ensemble of a Comparison's runs. A node that a run does not have is no row of it, and
    does not count in the statistics: mean, deviation (of all runs), least and most."""
    import pandas  # only here: reading needs nothing but Python

    performance = pandas.DataFrame(node_times(comparison.traces), columns=NodeTimes._fields)
    performance = performance.rename(columns={"time_inc": "time (inc)"})
    performance = performance.set_index(["node", "profile"]).sort_index()
    metadata = comparison.to_pandas().rename_axis("profile")
    for title in ("program", "command_line", "mpi", "timing", "complete"):
        metadata[title] = [getattr(trace, title) for trace in comparison.traces]
    grouped = performance.groupby(level="node")
    statistics = grouped.name.first().to_frame()
    statistics["profiles"] = grouped.size()
    for title in MEASURED:
        statistics[f"{title}_mean"] = grouped[title].mean()
        statistics[f"{title}_std"] = grouped[title].std(ddof=0)
        statistics[f"{title}_min"] = grouped[title].min()
        statistics[f"{title}_max"] = grouped[title].max()
    return Ensemble(performance, metadata, statistics)
