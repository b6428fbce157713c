# SPDX-License-Identifier: BSD-3-Clause
"""Formats of viewers in a browser: Chrome, Perfetto, Speedscope and flame graphs."""

import collections
import json
import pathlib
import re
import subprocess

from exported import SYSTEM_PYTHON, by_rank
import harness
from harness import expect

READ_PERFETTO = pathlib.Path(__file__).resolve().parent / "read_perfetto.py"


def check_chrome(job):
    document = json.loads(job.path("chrome").read_text())
    events = document["traceEvents"]
    job.same_calls(by_rank(job, ((e["tid"], e["name"][4:]) for e in events if e["ph"] == "X")),
                   "chrome")
    starts = {e["id"]: e["ts"] for e in events if e["ph"] == "s"}
    ends = {e["id"]: e["ts"] for e in events if e["ph"] == "f"}
    expect(starts.keys() == ends.keys() and all(starts[i] <= ends[i] for i in starts),
           f"{job.name}: chrome: arrows")
    last = collections.defaultdict(float)
    for event in events:
        if event["ph"] == "X":
            expect(event["ts"] >= last[event["tid"]] - 1e-6, f"{job.name}: chrome: overlap")
            last[event["tid"]] = event["ts"] + event["dur"]


def check_perfetto(job):
    """What Google's protobuf reads is what is in Chrome's JSON, which has more to compare with."""
    read = subprocess.run([SYSTEM_PYTHON, READ_PERFETTO, job.path("perfetto")],
                          capture_output=True, check=False)
    expect(read.returncode == 0, f"{job.name}: python3-protobuf",
           harness.Outcome(read.returncode, read.stdout, read.stderr))
    trace = json.loads(read.stdout)
    expect(trace["tracks"] == [f"rank {rank}" for rank in range(job.ranks)] and
           trace["order"] == list(range(job.ranks)), f"{job.name}: perfetto: {trace['tracks']}")
    expect(trace["description"].startswith("times "), f"{job.name}: perfetto: says of the times "
           f"{trace['description']!r}")
    slices = trace["slices"]
    job.same_calls(by_rank(job, ((int(s["track"][5:]), s["name"][4:]) for s in slices)),
                   "perfetto")
    sent = collections.Counter()
    for part in slices:
        sent[int(part["track"][5:])] += part["arguments"].get("bytes_sent", 0)
    job.same_bytes(sent, "perfetto")
    begins = {flow: part["begin"] for part in slices for flow in part["flows"]}
    ends = {flow: part["end"] for part in slices for flow in part["ended"]}
    expect(begins.keys() == ends.keys() and all(begins[f] < ends[f] for f in ends),
           f"{job.name}: perfetto: flows")
    expect(sum(len(part["flows"]) for part in slices) == len(begins),
           f"{job.name}: perfetto: two messages are one flow")
    events = json.loads(job.path("chrome").read_text())["traceEvents"]
    expect([[s["track"], s["name"], s["category"], s["begin"], s["end"], s["arguments"]]
            for s in slices] ==
           [[f"rank {e['tid']}", e["name"], e["cat"], round(1000 * e["ts"]),
             round(1000 * (e["ts"] + e["dur"])), e["args"]] for e in events if e["ph"] == "X"],
           f"{job.name}: perfetto: the slices are not those of --chrome")
    places = len({s["arguments"]["at"] for s in slices})
    expect(trace["names"]["debug_annotation_string_values"] == places and
           trace["names"]["event_names"] == len({s["name"] for s in slices}),
           f"{job.name}: perfetto: interned {trace['names']}, {places} places")
    expect(job.path("perfetto").stat().st_size < job.path("chrome").stat().st_size,
           f"{job.name}: perfetto: not smaller than JSON")


def check_stacks(job):
    weights = 0
    for line in job.path("folded").read_text().splitlines():
        found = re.fullmatch(r"[^;]+(;[^;]+)* (\d+)", line)
        expect(found, f"{job.name}: folded: {line}")
        weights += int(found.group(2))
    scope = json.loads(job.path("speedscope").read_text())
    profile = scope["profiles"][0]
    expect(sum(profile["weights"]) == weights == profile["endValue"] and weights > 0,
           f"{job.name}: folded and speedscope disagree")
    expect(len(profile["samples"]) == len(profile["weights"]) and
           max(i for s in profile["samples"] for i in s) < len(scope["shared"]["frames"]),
           f"{job.name}: speedscope")
