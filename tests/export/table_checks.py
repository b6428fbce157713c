# SPDX-License-Identifier: BSD-3-Clause
"""Tables, as CSV and JSON."""

import collections
import csv
import json
import subprocess

from exported import SYSTEM_PYTHON, by_rank
import harness
from harness import expect


def check_tables(job):
    tables = {}
    for name in ("events", "calls", "messages", "matrix", "clusters", "phases", "loops", "sites"):
        with open(job.path("csv") / f"{name}.csv", newline="", encoding="utf-8") as file:
            tables[name] = list(csv.DictReader(file))
        records = json.loads((job.path("json") / f"{name}.json").read_text())
        as_text = [{k: "" if v is None else str(v) for k, v in r.items()} for r in records]
        expect(as_text == tables[name], f"{job.name}: {name}.json is not {name}.csv")
    job.same_calls(by_rank(job, ((int(e["rank"]), e["call"]) for e in tables["events"])), "events")
    counts = {rank: {} for rank in range(job.ranks)}
    for row in tables["calls"]:
        of_rank = counts[int(row["rank"])]
        of_rank[row["call"]] = of_rank.get(row["call"], 0) + int(row["count"])
    job.same_calls(counts, "calls")
    sent = collections.Counter()
    for row in tables["matrix"]:
        sent[int(row["source"])] += int(row["bytes"])
    job.same_bytes(sent, "matrix")
    sent = collections.Counter()
    for row in tables["messages"]:
        sent[int(row["source"])] += int(row["bytes"])
        expect(int(row["send_ns"]) < int(row["receive_ns"]), f"{job.name}: received early: {row}")
    job.same_bytes(sent, "messages")
    outcome = job.tools.chameleon("stats", job.trace, "--json")
    total = sum(int(row["sent_bytes"]) for row in tables["calls"])
    # Persistent sends are started, which `stats` does not count.
    known = json.loads(outcome.stdout)["sent_bytes"]
    started = any("Startall" in calls for calls in job.calls.values())
    expect(total == known or (started and total > known),
           f"{job.name}: calls.csv sends {total} bytes, stats {known}")
    check_loops(job, tables)
    matrix = job.tools.chameleon("matrix", job.trace, "--csv").stdout.decode().splitlines()
    expect([line.rsplit(",", 1)[0] for line in matrix[1:]] ==
           [",".join(row.values()) for row in tables["matrix"]], f"{job.name}: matrix --csv")


def check_loops(job, tables):
    """No loop has more than the loop around it, nor all of them more than all ranks did."""
    loops = {row["loop"]: row for row in tables["loops"]}
    every = {"events": len(tables["events"])}
    for title in ("compute_ns", "call_ns"):
        every[title] = sum(int(row[title]) for row in tables["calls"])
    for title, most in every.items():
        within = collections.Counter()
        for row in loops.values():
            within[row["parent"]] += int(row[title])
        for parent, inside in within.items():
            around = most if parent == "" else int(loops[parent][title])
            # Each row is rounded.
            expect(inside <= around + len(tables["calls"]),
                   f"{job.name}: loops in {parent or 'all'} have {inside} {title}, it has {around}")
    for row in loops.values():
        depth = int(loops[row["parent"]]["depth"]) + 1 if row["parent"] else 0
        expect(int(row["depth"]) == depth and int(row["events"]) > 0 and
               int(row["iterations"]) > 0, f"{job.name}: {row}")


def check_pandas(job):
    script = ("import pandas, sys\n"
              "for t in 'events calls messages matrix clusters phases loops sites'.split():\n"
              "    a = pandas.read_csv(f'{sys.argv[1]}/{t}.csv')\n"
              "    b = pandas.read_json(f'{sys.argv[2]}/{t}.json', orient='records')\n"
              "    assert len(a) == len(b), t\n"
              "    whole = a.convert_dtypes()  # as the how-to says: columns with gaps stay whole\n"
              "    for name in 'peer tag bytes root'.split():\n"
              "        assert a.empty or name not in a or str(whole[name].dtype) == 'Int64', (t, name)\n"
              "    if t == 'events': print(len(a))\n")
    read = subprocess.run([SYSTEM_PYTHON, "-c", script, job.path("csv"), job.path("json")],
                          capture_output=True, check=False)
    events = sum(sum(calls.values()) for calls in job.calls.values())
    expect(read.returncode == 0 and int(read.stdout) == events, f"{job.name}: pandas",
           harness.Outcome(read.returncode, read.stdout, read.stderr))


def check_some_ranks(job):
    folder = job.folder / "some"
    outcome = job.tools.chameleon("export", job.trace, "--csv", folder, "--ranks", "1")
    expect(outcome.status == 0, f"{job.name}: --ranks", outcome)
    with open(folder / "events.csv", newline="", encoding="utf-8") as file:
        some = list(csv.DictReader(file))
    with open(job.path("csv") / "events.csv", newline="", encoding="utf-8") as file:
        every = [row for row in csv.DictReader(file) if row["rank"] == "1"]
    expect(some == every and some, f"{job.name}: --ranks 1 differs from rank 1 of all")
    outcome = job.tools.chameleon("export", job.trace, "--csv", folder, "--ranks", "999")
    expect(outcome.status == 2, f"{job.name}: ranks that are not there", outcome)
