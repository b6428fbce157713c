#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`phases` splits a run that switches from one kind of communication to another at the switch, by
patterns and by markers.

    test_phases.py --tools TOOLS.json --program PHASES --ranks N,N"""

import json
import pathlib
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS / "mpi"))
import harness  # noqa: E402
from harness import expect  # noqa: E402

STEPS = 40  # the first half shifts, the second sums
BEFORE, AFTER = "shift_phase()", "sum_phase()"


def phases(tools, trace, *words):
    outcome = tools.chameleon("phases", trace, "--json", *words)
    expect(outcome.status == 0, "phases", outcome)
    return json.loads(outcome.stdout)["phases"]


def check(tools, options, ranks):
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


def main():
    options = harness.parser_of_ranks(__doc__).parse_args()
    harness.main_of_ranks("phases", options, check)


if __name__ == "__main__":
    main()
