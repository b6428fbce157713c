#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A program whose time steps differ only in what came first has a trace that does not grow with
them: at 16 times the steps there are hardly more nodes, and less than twice the bytes.

    test_steps.py --tools TOOLS.json --program P --ranks 8,16

Each trace agrees with the raw records in every value. Bytes are those of values, which do differ
from step to step: which message came first, and how often was polled."""

import harness
from harness import expect

MODES = {"off": {"CHAMELEON_CLUSTERING": "off"}, "online": {}}
STEPS = (1, 16)


def size(tools, program, ranks, steps, mode):
    folder = tools.fresh(f"n{ranks}")
    (folder / "raw").mkdir()
    trace = folder / "t.cham"
    outcome = tools.traced(ranks, [program, "--iterations", steps], trace, raw=folder / "raw",
                           **MODES[mode])
    expect(outcome.status == 0, f"{ranks} ranks, {steps} steps, {mode}: the program fails", outcome)
    tools.verify(trace, folder / "raw")
    printed = tools.chameleon("print", trace)
    return len(printed.stdout.splitlines()), trace.stat().st_size


def check_ranks(tools, options, ranks):
    for mode in MODES:
        few, many = (size(tools, options.program, ranks, steps, mode) for steps in STEPS)
        where = f"{ranks} ranks, {mode}: nodes and bytes {few} at {STEPS[0]} steps, {many} at {STEPS[1]}"
        print(where)
        expect(2 * many[0] <= 3 * few[0], where)
        expect(many[1] <= 2 * few[1], where)


def main():
    harness.main_of_ranks("steps", harness.parser_of_ranks(__doc__).parse_args(), check_ranks)


if __name__ == "__main__":
    main()
