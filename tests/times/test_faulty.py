#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A default trace names the rank, the call site and the time steps of every fault that the example
`faulty` was told to have, at every fidelity, as the raw records do within 10 %.

    test_faulty.py --tools TOOLS.json --program P --ranks 8,16 [--fidelity F,...]"""

import collections
import csv
import json
import pathlib
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.append(str(TESTS / "mpi"))
import harness  # noqa: E402
from harness import expect  # noqa: E402

STEPS = 40
SLOW, LATE, SERIAL = range(10, 20), range(20, 30), range(30, 40)
NEAR = 0.1
US = 20000  # of each fault, far above what a rank loses to others on its core


def raw_sites(folder, rank):
    """Compute ns by call and path."""
    sums, name = collections.Counter(), None
    with open(folder / f"rank.{rank}.raw", encoding="utf-8", errors="replace") as lines:
        for line in lines:
            words = line.split()
            if words[:2] == ["#", "spent"]:
                sums[name, words[4]] += int(words[2])
            elif words[0] != "#":
                name = words[words[0].startswith("@")]
    return sums


def traced_sites(folder, rank):
    sums = collections.Counter()
    with open(folder / "calls.csv", encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            if int(row["rank"]) == rank:
                sums[row["call"].removeprefix("MPI_"), row["site"]] += int(
                    float(row["compute_ns"]))
    return sums


def check_rank(where, spans, steps, rank, us, raw, tables):
    """Over these time steps one rank computes longest, at one site. Where there are more ranks than
    cores another rank may lose its core for as long: that is as true, and rare."""
    # The marker at the end of step s, counted from 0, is the (s + 1)-th.
    blamed = [span["compute"]["most"] for span in (spans[step + 1] for step in steps)
              if span["compute"]["most_rank"] == rank]
    expect(len(blamed) >= 0.8 * len(steps), f"{where}: rank {rank} is blamed for {len(blamed)} steps")
    others = [span for marker, span in spans.items() if marker - 1 not in steps]
    expect(sum(span["compute"]["most_rank"] == rank and
               span["compute"]["most"] > 0.8e-6 * us for span in others) <= len(others) // 6,
           f"{where}: the series blames rank {rank} for other time steps too")
    (call, _), true = max(raw_sites(raw, rank).items(), key=lambda item: item[1])
    (said_call, _), said = max(traced_sites(tables, rank).items(), key=lambda item: item[1])
    expect(call == said_call and abs(said - true) <= NEAR * true,
           f"{where}: rank {rank} computes {said} ns before {said_call}, raw {true} before {call}")
    longest = 1e9 * sum(blamed)
    expect((1 - NEAR) * len(blamed) * us * 1000 <= longest <= (1 + NEAR) * true,
           f"{where}: {longest:.0f} ns in the series, raw {true}")


def check_slow(where, slow, steps, whose, ranks, path_has):
    """The stretch of most of these time steps; it names whose fault they are, and the call site."""
    first, last = steps[0] + 1, steps[-1] + 1  # the marker at the end of step s is the (s + 1)-th
    longest = max((one for one in slow if one["first"] <= last and one["last"] >= first),
                  key=lambda one: min(one["last"], last) - max(one["first"], first), default=None)
    expect(longest is not None, f"{where}: no slow steps among {slow}")
    expect(abs(longest["first"] - first) <= 2 and abs(longest["last"] - last) <= 2,
           f"{where}: markers {first} to {last}, in {longest}")
    expect(longest["whose"] == whose and longest["ranks"] == ranks, f"{where}: {longest}")
    expect("computes" in longest and path_has in site_of(longest["computes"]),
           f"{where}: not in {path_has}: {longest}")
    return longest


def site_of(place):
    """The first frame of the program itself."""
    return next((frame for frame in place["path"] if "faulty" in frame), "")


def check_place(where, place, rank, raw, stats, us):
    """What a rank computed at a place, and `stats` has for it, is what its records say."""
    rows = [row for row in stats["rows"] if row["call"] == place["call"] and
            row["path"] == place["path"]]
    true = max((ns for (call, _), ns in raw_sites(raw, rank).items() if call == place["call"]),
               key=lambda ns: -abs(ns - 1e9 * rows[0]["compute_seconds"]))
    expect(len(rows) == 1 and abs(1e9 * rows[0]["compute_seconds"] - true) <= NEAR * true,
           f"{where}: stats of rank {rank}: {rows}, raw {true} ns")
    expect(true >= (1 - NEAR) * us * 1000, f"{where}: {true} ns at {place}")
    expect(stats["of_ranks"] == str(rank) and
           [one["ranks"] for one in stats["times_of"]] == [str(rank)],
           f"{where}: stats of {stats['of_ranks']}, times of {stats['times_of']}")


def check_blame(tools, where, trace, raw, us, ranks):
    """The slow steps of the series, and the places of `stats --by path --rank`."""
    def document(*words):
        outcome = tools.chameleon(*words, "--json", trace)
        expect(outcome.status == 0, f"{where}: {words}", outcome)
        return json.loads(outcome.stdout)

    slow = document("series")["slow"]
    for name, steps, rank, function in (("slow", SLOW, 3, "pass_on"), ("late", LATE, 1, "exchange")):
        one = check_slow(f"{where}, {name}", slow, steps, "one", str(rank), function)
        planted = len(steps) * us * 1e-6
        expect(0.8 * (1 - NEAR) * planted <= one["compute_seconds"], f"{where}, {name}: {one}")
        expect(one["computes"]["seconds"] >= (1 - NEAR) * planted, f"{where}, {name}: {one}")
        check_place(f"{where}, {name}", one["computes"], rank, raw,
                    document("stats", "--by", "path", "--rank", rank), len(steps) * us)
    check_slow(f"{where}, serial", slow, SERIAL, "all", f"0-{ranks - 1}", "pass_on")
    report = document("report")
    expect([one["ranks"] for one in report["slow"]] == [one["ranks"] for one in slow],
           f"{where}: report: {report['slow']}")


def main():
    arguments = harness.parser_of_ranks(__doc__)
    arguments.add_argument("--fidelity", default="exact,checked,lead")
    options = arguments.parse_args()

    def check(tools, options, ranks):
        us = US
        for fidelity in options.fidelity.split(","):
            folder = tools.fresh(f"n{ranks}.{fidelity}")
            raw, tables, trace = folder / "raw", folder / "tables", folder / "trace.cham"
            raw.mkdir()
            program = [options.program, "--iterations", str(STEPS)]
            for fault in (f"slow:3:10-19:{us}", f"late:1:20-29:{us}", f"serial:30-39:{us // 4}"):
                program += ["--fault", fault]
            outcome = tools.traced(ranks, program, trace, raw=raw, cwd=folder,
                                   CHAMELEON_FIDELITY=fidelity)
            expect(outcome.status == 0 and trace.exists(), "the traced run fails", outcome)
            where = f"{ranks} ranks, {fidelity}"
            outcome = tools.chameleon("series", "--json", trace)
            expect(outcome.status == 0, f"{where}: no series", outcome)
            spans = {span["first"]: span for span in json.loads(outcome.stdout)["spans"]}
            expect(sorted(spans) == list(range(1, STEPS + 1)), f"{where}: intervals {list(spans)}")
            outcome = tools.chameleon("export", "--quiet", "--csv", tables, trace)
            expect(outcome.status == 0, f"{where}: no tables", outcome)
            check_rank(f"{where}, slow", spans, SLOW, 3, us, raw, tables)
            check_rank(f"{where}, late", spans, LATE, 1, us, raw, tables)
            least = [spans[step + 1]["compute"]["least"] for step in SERIAL]
            expect(sum(seconds < 0.9e-6 * us / 4 for seconds in least) <= 2,
                   f"{where}, serial: {least}")
            check_blame(tools, where, trace, raw, us, ranks)
            outcome = tools.chameleon("verify", "--json", "--raw", raw, trace)
            columns = json.loads(outcome.stdout)["columns"]
            for name in ("compute", "communication"):
                expect(columns[name]["total"] > 0 and columns[name]["undeclared"] == 0 and
                       columns[name]["sum_error"] < 0.001, f"{where}: {name}", outcome)

    harness.main_of_ranks("faulty", options, check)


if __name__ == "__main__":
    main()
