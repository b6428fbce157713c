#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A default trace names the rank, the call site and the time steps of every fault that the example
`faulty` was told to have, at every fidelity, as the raw records do within 10 %.

    test_faulty.py --tools TOOLS.json --program P --ranks 8,16,64 [--fidelity F,...]"""

import collections
import csv
import json
import pathlib
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.append(str(TESTS / "mpi"))
import harness  # noqa: E402
from harness import expect  # noqa: E402

US = 4000  # of each fault, far above what other processes take from a rank at a time
STEPS = 40
SLOW, LATE, SERIAL = range(10, 20), range(20, 30), range(30, 40)
FAULTS = [f"slow:3:10-19:{US}", f"late:1:20-29:{US}", f"serial:30-39:{US // 4}"]
NEAR = 0.1


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
                sums[row["call"].removeprefix("MPI_"), row["site"], row["path"]] += int(
                    float(row["compute_ns"]))
    return sums


def near(said, true):
    return abs(said - true) <= NEAR * true


def check_rank(where, spans, steps, rank, raw, tables):
    """Over these time steps one rank computes longest, at one site."""
    # The marker at the end of step s, counted from 0, is the (s + 1)-th.
    of_steps = [spans[step + 1] for step in steps]
    blamed = collections.Counter(span["compute"]["most_rank"] for span in of_steps)
    expect(blamed[rank] >= len(of_steps) - 1, f"{where}: the series blames {dict(blamed)}")
    others = [span for marker, span in spans.items() if marker - 1 not in steps]
    expect(sum(span["compute"]["most_rank"] == rank and
               span["compute"]["most"] > 0.8e-6 * US for span in others) <= 1,
           f"{where}: the series blames rank {rank} for other time steps too")
    (call, _), true = max(raw_sites(raw, rank).items(), key=lambda item: item[1])
    (said_call, _, _), said = max(traced_sites(tables, rank).items(), key=lambda item: item[1])
    expect(call == said_call and near(said, true),
           f"{where}: rank {rank} computes {said} ns before {said_call}, raw {true} before {call}")
    longest = 1e9 * sum(span["compute"]["most"] for span in of_steps)
    expect(near(longest, true), f"{where}: {longest:.0f} ns in the series, raw {true}")


def main():
    arguments = harness.parser_of_ranks(__doc__)
    arguments.add_argument("--fidelity", default="exact,checked,lead")
    options = arguments.parse_args()

    def check(tools, options, ranks):
        for fidelity in options.fidelity.split(","):
            folder = tools.fresh(f"n{ranks}.{fidelity}")
            raw, tables, trace = folder / "raw", folder / "tables", folder / "trace.cham"
            raw.mkdir()
            program = [options.program, "--iterations", str(STEPS)]
            for fault in FAULTS:
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
            check_rank(f"{where}, slow", spans, SLOW, 3, raw, tables)
            check_rank(f"{where}, late", spans, LATE, 1, raw, tables)
            least = [spans[step + 1]["compute"]["least"] for step in SERIAL]
            expect(sum(seconds < 0.9e-6 * US / 4 for seconds in least) <= 1,
                   f"{where}, serial: {least}")
            outcome = tools.chameleon("verify", "--json", "--raw", raw, trace)
            columns = json.loads(outcome.stdout)["columns"]
            for name in ("compute", "communication"):
                expect(columns[name]["total"] > 0 and columns[name]["undeclared"] == 0 and
                       columns[name]["sum_error"] < 0.001, f"{where}: {name}", outcome)

    harness.main_of_ranks("faulty", options, check)


if __name__ == "__main__":
    main()
