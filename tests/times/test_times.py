#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every tool says of a rank's times what the rank spent.

    test_times.py --tools TOOLS.json --maker P --nodes P --events P

make_traces.cpp writes two runs of one program and what each rank spent at each call. `print`,
`stats`, `report`, `export`, `compare` and both readers are held to that, whether a rank has a
distribution of its own or shares one with ranks that come to the same place otherwise, and whether
distributions are at nodes or in a table by classes of ranks."""

import collections
import csv
import json
import pathlib
import re
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path += [str(TESTS / "mpi"), str(TESTS.parent / "tools" / "python")]
import chameleon_trace  # noqa: E402
import harness  # noqa: E402
from harness import expect  # noqa: E402

UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
Sums = collections.namedtuple("Sums", "count compute call")


# Of a mean in a table of times, by its code; of those at nodes nothing is lost.
CODED = 0.02
coded = 0.0  # of the trace at hand


def near(a, b, part=1e-6, least=1):
    return abs(a - b) <= (part + coded) * abs(b) + least


def same(found, wanted, where, part=1e-6, rounding=0.0):
    """`rounding`: ns that each instance may be off."""
    expect(found.keys() == wanted.keys(), f"{where}: {sorted(found)}, not {sorted(wanted)}")
    for at, sums in wanted.items():
        expect(found[at][0] == sums.count and all(
            near(found[at][i], sums[i], part, 1 + rounding * sums.count) for i in (1, 2)),
               f"{where}: {at}: {tuple(found[at])}, in truth {tuple(sums)}")


def truth_of(path):
    """By rank and call."""
    with open(path, encoding="utf-8") as rows:
        return {(int(rank), call): Sums(*map(int, sums))
                for rank, call, *sums in csv.reader(rows)}


def over_ranks(truth):
    calls = {}
    for (_, call), sums in truth.items():
        calls[call] = Sums(*map(sum, zip(calls.get(call, (0, 0, 0)), sums)))
    return calls


def document(tools, *words):
    outcome = tools.chameleon(*words, "--json")
    expect(outcome.status == 0, f"{words} fails", outcome)
    return json.loads(outcome.stdout)


def check_print(tools, trace, truth):
    """Means of a call, to three digits: of one rank, and of all."""
    line = re.compile(r"(\w+)\b.*compute ([\d.]+) (\w+)  in call ([\d.]+) (\w+)")
    for rank in {rank for rank, _ in truth} | {None}:
        words = [] if rank is None else ["--rank", rank]
        outcome = tools.chameleon("print", trace, *words)
        expect(outcome.status == 0, "print fails", outcome)
        wanted = over_ranks(truth) if rank is None else {
            call: sums for (of, call), sums in truth.items() if of == rank}
        found = {}
        for text in outcome.stdout.decode().splitlines():
            if (read := line.match(text.strip())) and read[1] != "loop":
                count = wanted[read[1]].count
                found[read[1]] = (count, float(read[2]) * UNITS[read[3]] * count,
                                  float(read[4]) * UNITS[read[5]] * count)
        same(found, wanted, f"print --rank {rank}", part=0.006)


def check_stats(tools, trace, truth):
    for by in ("call", "path"):
        rows = document(tools, "stats", "--by", by, trace)["rows"]
        same({row["call"]: (row["count"], row["compute_seconds"] * 1e9, row["call_seconds"] * 1e9)
              for row in rows}, over_ranks(truth), f"stats --by {by}")
        for ranks in ("0", "3", "1,3", "0-2"):
            data = document(tools, "stats", "--by", by, "--rank", ranks, trace)
            of = {rank for one in ranks.split(",")
                  for rank in range(int(one[0]), int(one[-1]) + 1)}
            expect(data["of_ranks"] == ranks, f"stats --rank {ranks}: of {data['of_ranks']}")
            same({row["call"]: (row["count"], row["compute_seconds"] * 1e9,
                                row["call_seconds"] * 1e9) for row in data["rows"]},
                 over_ranks({at: sums for at, sums in truth.items() if at[0] in of}),
                 f"stats --by {by} --rank {ranks}")
    outcome = tools.chameleon("stats", "--rank", "9", trace)
    expect(outcome.status == 2, "stats of a rank that is not there", outcome)


def check_report(tools, trace, truth):
    data = document(tools, "report", trace)
    calls = over_ranks(truth)
    same({one["call"]: (one["compute"]["count"], one["compute"]["mean"] * one["compute"]["count"],
                        one["in_call"]["mean"] * one["in_call"]["count"])
          for one in data["times"]}, calls, "report: times")
    found = collections.defaultdict(lambda: [0, 0, 0])
    nodes = list(data["tree"]["nodes"])
    while nodes:
        node = nodes.pop()
        nodes += node.get("body", [])
        if "call" in node:
            for i, part in enumerate(("count", "compute", "in_call")):
                found[node["call"]][i] += node[part]
    same(found, calls, "report: tree")
    expect(data["load"]["waiting"] == [(rank + 1) * 1_000_000 * bool(coded) for rank in range(4)],
           f"report: waiting {data['load']['waiting']}")
    for i, part in ((1, "compute"), (2, "in_call")):
        for rank, ns in enumerate(data["load"][part]):
            spent = sum(sums[i] for (of, _), sums in truth.items() if of == rank)
            expect(near(ns, spent), f"report: rank {rank}: {part} {ns}, in truth {spent}")


def check_export(tools, trace, truth, folder):
    outcome = tools.chameleon("export", trace, "--csv", folder)
    expect(outcome.status == 0, "export fails", outcome)
    with open(folder / "calls.csv", encoding="utf-8") as rows:
        same({(int(row["rank"]), row["call"]): tuple(
            int(row[column]) for column in ("count", "compute_ns", "call_ns"))
              for row in csv.DictReader(rows)}, truth, "export: calls.csv")
    found = collections.defaultdict(lambda: [0, 0, 0])
    with open(folder / "events.csv", encoding="utf-8") as rows:
        for row in csv.DictReader(rows):
            sums = found[int(row["rank"]), row["call"]]
            sums[0] += 1
            sums[1] += int(row["compute_ns"])
            sums[2] += int(row["call_ns"])
    same(found, truth, "export: events.csv", rounding=0.5)
    outcome = tools.chameleon("export", trace, "--chrome", folder / "chrome.json")
    expect(outcome.status == 0, "export --chrome fails", outcome)
    steps = [(event["ts"], event["args"]) for event in json.loads(
        (folder / "chrome.json").read_text())["traceEvents"] if event["ph"] == "C"]
    # In us, of a rank on average; codes of the file are within 1/128.
    wanted = [(0, 2500, 2000, 1250), (5750, 2500, 2000, 1250), (11500, 0, 0, 0)] if coded else []
    expect(len(steps) == len(wanted), f"chrome: time steps {steps}")
    for (at, args), numbers in zip(steps, wanted):
        found = (at, args["computing"], args["in MPI"], args["waiting at the marker"])
        expect(all(abs(a - b) <= b / 100 for a, b in zip(found, numbers)),
               f"chrome: a time step {found}, in truth {numbers}")
    stacks = folder / "folded.txt"
    outcome = tools.chameleon("export", trace, "--folded", stacks)
    expect(outcome.status == 0, "export --folded fails", outcome)
    calls = over_ranks(truth)
    spent = collections.Counter()
    for text in stacks.read_text(encoding="utf-8").splitlines():
        stack, ns = text.rsplit(" ", 1)
        if stack == "(waiting at markers)":
            spent["waiting"] += int(ns)
            continue
        spent[stack.rsplit("MPI_", 1)[1] if "MPI_" in stack else "compute"] += int(ns)
    for call, sums in calls.items():
        expect(near(spent[call], sums.call), f"folded: {call}: {spent[call]}, in truth {sums}")
    computed = sum(sums.compute for sums in calls.values())
    expect(near(spent["compute"], computed, least=10), f"folded: {spent}, computed {computed}")
    waited = 10_000_000 if coded else 0
    expect(spent["waiting"] == waited, f"folded: {spent}, waited at markers {waited}")


def check_cpp_reader(tools, options, trace, truth):
    outcome = tools.run([options.nodes, trace])
    expect(outcome.status == 0, "node_times fails", outcome)
    found = collections.defaultdict(lambda: [0, 0, 0])
    for line in outcome.stdout.decode().splitlines():
        name, *numbers = line.split()
        count, compute, least, most, in_calls, call, _, _ = map(int, numbers)
        expect(count == in_calls and least * count <= compute <= most * count,
               f"C++ reader: {line}")
        for i, number in enumerate((count, compute, call)):
            found[name][i] += number
    same(found, over_ranks(truth), "C++ reader: nodes")
    outcome = tools.run([options.events, trace])
    expect(outcome.status == 0, "dump_events fails", outcome)
    found = collections.defaultdict(lambda: [0, 0, 0])
    for line in outcome.stdout.decode().splitlines():
        rank, _, name, _, _, compute, call, *_ = line.split()
        for i, number in enumerate((1, int(compute), int(call))):
            found[int(rank), name][i] += number
    same(found, truth, "C++ reader: events", rounding=0.5)


def check_python_reader(trace, truth):
    read = chameleon_trace.read_trace(trace)
    columns = chameleon_trace.COLUMNS["calls"]
    rows = [dict(zip(columns, row)) for row in read.rows("calls")]
    same({(row["rank"], row["call"]): (row["count"], row["compute_ns"], row["call_ns"])
          for row in rows}, truth, "Python reader: calls")


def check(tools, options):
    folder = tools.fresh("times")
    outcome = tools.run([options.maker, folder])
    expect(outcome.status == 0, "make_traces fails", outcome)
    global coded
    for name in ("once", "again", "classes", "apart"):
        coded = CODED if name in ("classes", "apart") else 0.0
        trace, truth = folder / f"{name}.cham", truth_of(folder / f"{name}.csv")
        check_print(tools, trace, truth)
        check_stats(tools, trace, truth)
        check_report(tools, trace, truth)
        check_export(tools, trace, truth, folder / name)
        check_cpp_reader(tools, options, trace, truth)
        check_python_reader(trace, truth)
    for one, other in (("once", "again"), ("classes", "apart"), ("once", "classes")):
        changes = document(tools, "compare", folder / f"{one}.cham",
                           folder / f"{other}.cham")["changes"]
        expect(not changes, f"compare of {one} and {other} accuses: {changes}")
    of = document(tools, "stats", "--rank", "1,3", folder / "apart.cham")["times_of"]
    expect([(one["ranks"], one["of"]) for one in of] == [("1", "0-2"), ("3", "3")],
           f"classes of ranks 1 and 3: {of}")
    outcome = tools.chameleon("info", folder / "apart.cham")
    told = re.findall(r"^time class +(.*)$", outcome.stdout.decode(), re.M)
    expect(len(told) == 2 and told[0].startswith("ranks 0-2, within ") and
           told[1] == "rank 3, its own", f"info of apart: {told}", outcome)
    print(f"{len(truth)} places of ranks, in four traces")


def main():
    arguments = harness.parser(__doc__)
    for program in ("maker", "nodes", "events"):
        arguments.add_argument(f"--{program}", required=True)
    options = arguments.parse_args()
    harness.main("times", options, lambda tools: check(tools, options))


main()
