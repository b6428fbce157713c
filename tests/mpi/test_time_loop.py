#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The time loop of an example is one loop of all ranks in `print`, with its place, whether markers
are acted on or not and however often is flushed; and the trace has as many nodes in each case.

    test_time_loop.py --tools TOOLS.json --program P --ranks 4,9 [--rounds N] -- ARGUMENTS...

`--rounds`: the program goes round that loop so often a time step."""

import pathlib
import re

import harness
from harness import expect

STEPS = 12
MODES = {"off": {"CHAMELEON_CLUSTERING": "off"}, "online": {},
         "a flush a step": {"CHAMELEON_FLUSH_EVERY": 1},
         "a flush in five steps": {"CHAMELEON_FLUSH_EVERY": 5}}


def check_ranks(tools, options, ranks):
    source = pathlib.Path(options.program).name + ".cpp"
    nodes = {}
    for mode, settings in MODES.items():
        trace = tools.fresh(f"n{ranks}") / "t.cham"
        outcome = tools.traced(ranks, [options.program, "--iterations", STEPS, *options.arguments],
                               trace, **settings)
        expect(outcome.status == 0, f"{ranks} ranks, {mode}: the program fails", outcome)
        printed = tools.chameleon("print", trace)
        lines = printed.stdout.decode().splitlines()
        loops = [line for line in lines if line.startswith("loop")]
        place = rf"loop {STEPS * options.rounds} x   {source}:\d+(-\d+)? \w+\(\)  compute "
        expect(len(loops) == 1 and re.match(place, loops[0]), f"{ranks} ranks, {mode}: {loops}",
               printed)
        nodes[mode] = len(lines)
    expect(max(nodes.values()) - min(nodes.values()) <= options.chance,
           f"{ranks} ranks: nodes {nodes}")


def main():
    arguments = harness.parser_of_ranks(__doc__)
    arguments.add_argument("--rounds", type=int, default=1)
    arguments.add_argument("--chance", type=int, default=0, help="nodes by which modes may differ")
    arguments.add_argument("arguments", nargs="*", help="of the program, after --")
    harness.main_of_ranks("time_loop", arguments.parse_args(), check_ranks)


if __name__ == "__main__":
    main()
