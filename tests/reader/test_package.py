#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the Python package makes of a trace, beside its events: times of ranks, a comparison, a
timeline and a tree of functions. All of them add up to what the events and the command say.

    test_package.py --chameleon COMMAND --python FOLDER TRACE..."""

import argparse
import json
import subprocess
import sys
import xml.etree.ElementTree as xml


def near(a, b, share=1e-6):
    return abs(a - b) <= share * max(abs(a), abs(b)) + 1e-9


def check_tree(trace):
    import chameleon_trace  # noqa: F401
    whole = sum(sum(event.mean_ns) for stream in trace.ranks for event in trace.events(stream))
    calls = sum(trace.event_count(stream) for stream in trace.ranks)
    tree = trace.call_tree()
    counted = 0

    def walk(nodes):
        nonlocal counted
        own = 0.0
        for node in nodes:
            metrics = node["metrics"]
            # What hatchet.GraphFrame.from_literal reads.
            assert set(node) == {"frame", "metrics", "children"} and \
                set(node["frame"]) == {"name", "type"}, node
            inside = walk(node["children"])
            assert near(metrics["time (inc)"], metrics["time"] + inside), node["frame"]
            counted += metrics["calls"]
            own += metrics["time (inc)"]
        return own
    assert near(walk(tree), whole * 1e-9), f"{trace.path}: the tree has {walk(tree)} s, not {whole} ns"
    assert counted == calls, f"{trace.path}: {counted} calls of {calls}"
    try:
        import hatchet
    except ImportError:
        return "Hatchet is not installed"
    assert isinstance(trace.to_hatchet(), hatchet.GraphFrame)
    return "with Hatchet"


def check_timeline(trace):
    timeline = trace.timeline()
    assert len(timeline.bars) == sum(trace.event_count(rank) for rank in timeline.ranks)
    for before, bar in zip(timeline.bars, timeline.bars[1:]):
        assert bar.begin_ns <= bar.end_ns
        assert before.rank != bar.rank or before.end_ns <= bar.begin_ns, f"{before}, {bar}"
    picture = xml.fromstring(timeline.svg())
    assert len(picture) > len(timeline.ranks) * 2, "an empty picture"
    middle = (timeline.begin_ns + timeline.end_ns) // 2
    part = trace.timeline(ranks=timeline.ranks[:1], end_ns=middle)
    assert {bar.rank for bar in part.bars} == {timeline.ranks[0]} and \
        all(bar.begin_ns < middle for bar in part.bars) and \
        len(part.bars) < len(timeline.bars)


ENSEMBLE = """
import math, sys
sys.path.insert(0, sys.argv[1])
import chameleon_trace
comparison = chameleon_trace.compare(sys.argv[2:])
rows = comparison.node_times()
performance, metadata, statistics = comparison.ensemble()
assert list(performance.index.names) == ["node", "profile"] and performance.index.is_unique
assert len(performance) == len(rows) and len(metadata) == len(sys.argv) - 2
for row in rows:
    cells = performance.loc[(row.node, row.profile)]
    assert (cells["name"], cells["calls"], cells["time"], cells["time (inc)"]) == \\
        (row.name, row.calls, row.time, row.time_inc), row
for profile, trace in enumerate(comparison.traces):
    mine = [row for row in rows if row.profile == profile]
    assert sum(row.calls for row in mine) == sum(map(trace.event_count, trace.ranks))
    assert metadata.loc[profile, "trace"] == trace.path
    assert metadata.loc[profile, "command_line"] == trace.command_line
    whole = sum(sum(event.mean_ns) for rank in trace.ranks for event in trace.events(rank)) * 1e-9
    outermost = [row.time_inc for row in mine if ";" not in row.node]
    assert math.isclose(sum(outermost), whole, rel_tol=1e-6), (sum(outermost), whole)
assert set(statistics.index) == {row.node for row in rows}
shared = 0
for node, found in statistics.iterrows():
    times = [row.time_inc for row in rows if row.node == node]
    mean = sum(times) / len(times)
    deviation = math.sqrt(sum((one - mean) ** 2 for one in times) / len(times))
    assert found["profiles"] == len(times) and found["time (inc)_min"] == min(times) and \\
        found["time (inc)_max"] == max(times), node
    assert math.isclose(found["time (inc)_mean"], mean, rel_tol=1e-9, abs_tol=1e-15), node
    assert math.isclose(found["time (inc)_std"], deviation, rel_tol=1e-6, abs_tol=1e-12), node
    shared += len(times) > 1
assert shared, "no function is in two runs"
"""


def check_ensemble(package, paths):
    """The tables for Thicket add up to the traces; with the Python that has pandas."""
    for python in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([python, "-c", "import pandas"], capture_output=True).returncode == 0:
            subprocess.run([python, "-c", ENSEMBLE, package, *paths], check=True)
            return
    print("python3-pandas is not there: the tables of an ensemble are not looked at")


def check_times(command, trace):
    times = trace.rank_times()
    assert [one.rank for one in times] == list(trace.ranks)
    document = json.loads(subprocess.run([command, "info", "--json", trace.path], check=True,
                                         capture_output=True).stdout)
    comparison = trace.compare([trace.path])
    first, second = comparison.rows
    assert first == {**second, "trace": first["trace"]} and first["speedup"] == 1.0
    assert first["ranks"] == trace.world_size
    if "load" in document and trace.totals:
        # The totals are within 1/128 of what each rank measured.
        assert near(first["load_balance"], document["load"]["balance"], 0.02), \
            (first, document["load"])
    places = comparison.places()
    assert places and all(one == two for _, _, (one, two) in places)
    whole = sum(sum(event.mean_ns) for rank in trace.ranks for event in trace.events(rank)) * 1e-9
    assert near(sum(sum(one) for _, _, (one, _) in places), whole)
    xml.fromstring("<div>" + trace._repr_html_().replace("&#9632;", "") + "</div>")
    xml.fromstring(comparison._repr_html_())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--chameleon", required=True)
    parser.add_argument("--python", required=True)
    parser.add_argument("traces", nargs="+")
    options = parser.parse_args()
    sys.path.insert(0, options.python)
    import chameleon_trace
    for path in options.traces:
        trace = chameleon_trace.read_trace(path)
        check_times(options.chameleon, trace)
        check_timeline(trace)
        print(f"{path}: {trace!r}, {check_tree(trace)}")
    check_ensemble(options.python, [options.traces[0], *options.traces])


if __name__ == "__main__":
    main()
