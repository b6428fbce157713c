#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A program with planted faults, with the commands of the README and nothing else: the last lines of
`chameleon run` and `chameleon summary` name the rank, the time steps and the function of each fault,
and the report has the same. Without faults no rank is blamed for much.

    test_first_contact.py --tools TOOLS.json --program HEAT --source heat.c"""

import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "mpi"))
import harness  # noqa: E402
from harness import expect  # noqa: E402

STEPS = 80
# fault: rank, first and last time step (from 0), the function in which the next call is made
FAULTS = {"slow": (2, 30, 49, "exchange"), "output": (0, 9, 79, "write_output"),
          "late": (1, 0, STEPS - 1, "exchange")}
SLOW = re.compile(r"At markers? (\d+)(?: to (\d+))? (?:in turn )?ranks? ([\d, -]+) computed longest,"
                  r" [\d.]+ m?s before (\w+) at heat\.c:(\d+) (\w+)\(\)")


def stretches(text):
    """(first, last, ranks, function) of each slow stretch that a text names."""
    return [(int(first), int(last or first), ranks, function)
            for first, last, ranks, _, _, function in SLOW.findall(text)]


def names(found, fault, where, outcome):
    rank, first, last, function = FAULTS[fault]
    # Marker n ends time step n - 1. Steps beside the slow ones may be slow by themselves.
    mine = [(a, b) for a, b, ranks, called in found if ranks == str(rank) and called == function]
    steps = {step for a, b in mine for step in range(a - 1, b)}
    wanted = set(range(first, last + 1)) if fault != "output" else set(range(9, STEPS, 10))
    expect(len(steps & wanted) >= 0.5 * len(wanted) if fault == "output" else
           len(steps & wanted) >= 0.75 * len(wanted),
           f"{where}: {fault}: of the steps {sorted(wanted)} rank {rank} is named for "
           f"{sorted(steps & wanted)}", outcome)
    expect(len(steps - wanted) <= 0.25 * len(wanted) + 1,
           f"{where}: {fault}: rank {rank} is named for {sorted(steps - wanted)}", outcome)


def trace(tools, options, fault):
    path = tools.fresh(fault) / "heat.cham"
    outcome = tools.chameleon("run", "-n", 4, "--env", f"LD_PRELOAD={tools.test_yield}",
                              "-o", path, "--", options.program, fault,
                              CHAMELEON_CALL_FREQUENCY="auto")  # as for a new user
    expect(outcome.status == 0 and path.exists(), f"{fault}: no trace", outcome)
    expect(b"sum 10.000000" in outcome.stdout, f"{fault}: another result", outcome)
    return path, outcome


def check_fault(tools, options, fault):
    path, outcome = trace(tools, options, fault)
    said = outcome.stderr.decode()
    names(stretches(said), fault, "run", outcome)
    summary = tools.chameleon("summary", path)
    names(stretches(summary.stdout.decode()), fault, "summary", summary)
    # The line is that of the call after the fault.
    call = next(int(line) for _, _, _, _, line, function in SLOW.findall(said)
                if function == FAULTS[fault][3])
    source = pathlib.Path(options.source).read_text().splitlines()
    expect("MPI_" in source[call - 1], f"{fault}: line {call} is {source[call - 1]!r}", outcome)
    report = tools.chameleon("report", "--json", path)
    data = json.loads(report.stdout)
    rank, _, _, function = FAULTS[fault]
    sites = [data["frames"][data["sites"][one["computes"]["site"]]["site"]]
             for one in data["slow"] if one["ranks"] == str(rank) and "computes" in one]
    expect(any(f" {function}()" in site for site in sites), f"{fault}: the report names {sites}")


def check_all(tools, options):
    """All three at once: each is named, as a slow stretch or as a place with a large difference."""
    path, _ = trace(tools, options, "all")
    outcome = tools.chameleon("summary", path)
    text = outcome.stdout.decode()
    for fault, (rank, _, _, function) in FAULTS.items():
        expect(any(ranks == str(rank) and called == function
                   for _, _, ranks, called in stretches(text)) or
               re.search(rf" before \w+ at heat\.c:\d+ {function}\(\): rank {rank} computed", text),
               f"all: {fault} is not named", outcome)


def check_none(tools, options):
    path, outcome = trace(tools, options, "none")
    found = json.loads(tools.chameleon("series", "--json", path).stdout)
    blamed = sum(one["lost_seconds"] for one in found["slow"] if one["whose"] == "one")
    run = json.loads(tools.chameleon("info", "--json", path).stdout)["run_seconds"]
    expect(blamed < 0.25 * run, f"none: one rank is blamed for {blamed:.3f} of {run:.3f} s", outcome)


def main():
    arguments = harness.parser(__doc__)
    arguments.add_argument("--program", required=True)
    arguments.add_argument("--source", required=True)
    options = arguments.parse_args()

    def body(tools):
        # Other work on the machine delays ranks as well: what is measured gets a second chance.
        for fault in FAULTS:
            harness.tried(lambda fault=fault: check_fault(tools, options, fault))
        harness.tried(lambda: check_all(tools, options))
        harness.tried(lambda: check_none(tools, options))

    harness.main("first_contact", options, body)


if __name__ == "__main__":
    main()
