#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`phases` splits a run that switches from one kind of communication to another at the switch, by
patterns and by markers; and a solver's run into setup, solving and check.

    test_phases.py --tools TOOLS.json --program PHASES --solvers PROGRAM... --ranks N,N"""

import collections
import json
import pathlib
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS / "mpi"))
import harness  # noqa: E402
from harness import expect  # noqa: E402

SOLVING = 16  # steps of a solver
STEPS = 40  # the first half shifts, the second sums
BEFORE, AFTER = "shift_phase()", "sum_phase()"


def phases(tools, trace, *words):
    outcome = tools.chameleon("phases", trace, "--json", *words)
    expect(outcome.status == 0, "phases", outcome)
    return json.loads(outcome.stdout)["phases"]


def check_switch(tools, options, ranks):
    folder = tools.fresh(f"switch-{ranks}")
    trace = folder / "t.cham"
    outcome = tools.traced(ranks, [options.program, "--iterations", str(STEPS), "--pattern",
                                   "switch"], trace)
    expect(outcome.status == 0, "no trace", outcome)
    found = phases(tools, trace, "--by", "markers")
    begins = [phase["first_marker"] for phase in found]
    expect(STEPS // 2 + 1 in begins, f"phases by markers begin at {begins}")
    expect(sum(phase["markers"] for phase in found) == STEPS, f"not all markers: {found}")
    found = phases(tools, trace)
    functions = [{family["function"] for family in phase["families"]} for phase in found]
    expect(any(BEFORE in names for names in functions) and
           any(AFTER in names for names in functions), f"by patterns: {functions}")
    expect(not any({BEFORE, AFTER} <= names for names in functions),
           f"a phase by patterns has both: {functions}")


# With three levels, the default, setup is not always cut off: patterns of the first step that run at
# the same time come in the order in which they began. By chance that order looks like two kinds of
# communication, and then it takes the third level.
LEVELS = "4"
SETUP, CHECK = "example::Run::set_up()", {"example::Run::stop()", "example::Run::finish()"}


def check_solvers(tools, options, ranks):
    """Setup is a phase of its own, but for a norm that is computed before the first step; and so is
    the check at the end, but for calls of the last step: the boundary is within a step."""
    for program in options.solvers:
        name = pathlib.Path(program).name
        trace = tools.fresh(f"{name}-{ranks}") / "t.cham"
        outcome = tools.traced(ranks, [program, "--setup", "--iterations", str(SOLVING)], trace)
        expect(outcome.status == 0, f"{name}: no trace", outcome)
        counts = [collections.Counter({family["function"]: family["instances"]
                                       for family in phase["families"]})
                  for phase in phases(tools, trace, "--depth", LEVELS)]
        expect(len(counts) >= 3 and counts[0] in ({SETUP: 1}, {SETUP: 1, "main()": 1}),
               f"{name}: setup is {counts[0]}")
        first = next(i for i, names in enumerate(counts) if CHECK & names.keys())
        nothing = collections.Counter()
        solving, end = sum(counts[1:first], nothing), sum(counts[first:], nothing)
        early = sum(n for function, n in end.items() if function not in CHECK)
        expect(CHECK <= end.keys() and early <= sum(solving.values()) / SOLVING,
               f"{name}: the check is {end}")
        expect(solving and SETUP not in solving, f"{name}: solving is {solving}")
        print(f"{name}, {ranks} ranks: {len(counts)} phases")


def check(tools, options, ranks):
    check_switch(tools, options, ranks)
    check_solvers(tools, options, ranks)


def main():
    parser = harness.parser_of_ranks(__doc__)
    parser.add_argument("--solvers", nargs="+", required=True)
    harness.main_of_ranks("phases", parser.parse_args(), check)


if __name__ == "__main__":
    main()
