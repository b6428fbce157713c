#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Calls that a program makes in any order, as messages come, are one loop of each time step, for
all ranks and whatever the order. A flush may come before the fold knows that the order is chance:
then the steps before it stay apart, and all later ones are one loop.

    test_dispatch.py --tools TOOLS.json --program DISPATCH_PROGRAM --ranks 2,4"""

import re

import harness
from harness import expect

MODES = {"off": (0, {"CHAMELEON_CLUSTERING": "off"}), "online": (1, {}),
         "a flush in ten steps": (1, {"CHAMELEON_FLUSH_EVERY": 10})}
STEPS = 160
MOST_NODES = 23  # those of the text


def check_ranks(tools, options, ranks):
    for mode, (marks, settings) in MODES.items():
        folder = tools.fresh(f"n{ranks}")
        trace, raw = folder / "t.cham", folder / "raw"
        raw.mkdir()
        outcome = tools.traced(ranks, [options.program, STEPS, marks], trace, raw, **settings)
        expect(outcome.status == 0, f"{ranks} ranks, {mode}: the program fails", outcome)
        tools.verify(trace, raw)
        tools.check(trace)
        printed = tools.chameleon("print", trace)
        lines = printed.stdout.decode().splitlines()
        rounds = [int(found[1]) for line in lines if (found := re.match(r"loop (\d+) x   d", line))]
        if mode == "off":
            expect(rounds == [STEPS] and len(lines) <= MOST_NODES,
                   f"{ranks} ranks: {len(lines)} nodes, loops of all ranks {rounds}", printed)
        else:
            expect(max(rounds) > STEPS // 2, f"{ranks} ranks, {mode}: loops {rounds}", printed)
        replayed = tools.replay(ranks, trace)
        expect(replayed.status == 0, f"{ranks} ranks, {mode}: replay fails", replayed)


if __name__ == "__main__":
    harness.main_of_ranks("dispatch", harness.parser_of_ranks(__doc__).parse_args(), check_ranks)
