#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The replay of a clustered trace keeps the time of a program in which one rank is slow: each rank
computes as long as ranks of its class of times did, whoever traced for it.

    test_replay_pace.py --tools TOOLS.json --program P

The example `faulty` sleeps for its fault, most of the run: a busy machine hardly changes that."""

import json
import pathlib
import re
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS / "mpi"))
import harness  # noqa: E402
from harness import expect  # noqa: E402

RANKS, STEPS = 4, 20
FAULT = "slow:2:5-14:300000"
LEAST = 0.95  # accuracy
TRIES = 3  # of a machine that is busy with something else


def application_seconds(outcome, where):
    found = re.search(rb"time: ([\d.]+) s", outcome.stdout)
    expect(outcome.status == 0 and found, f"{where} fails", outcome)
    return float(found[1])


def accuracy(tools, program, fidelity):
    """Of the replay, to the time of the run that was traced: what both do is the same work."""
    folder = tools.fresh(fidelity)
    trace = folder / "trace.cham"
    outcome = tools.traced(RANKS, program, trace, cwd=folder, CHAMELEON_FIDELITY=fidelity)
    seconds = application_seconds(outcome, f"{fidelity}: the traced program")
    told = json.loads(tools.chameleon("info", "--json", trace).stdout)
    expect(told["count_l"] > 0 and 2 not in told["leads"],
           f"{fidelity}: rank 2 traces for itself: leads {told['leads']}")
    outcome = tools.replay(RANKS, trace, "--json", "--compute=sleep")
    expect(outcome.status == 0, f"{fidelity}: the replay fails", outcome)
    replayed = json.loads(outcome.stdout)["seconds"]
    found = 1 - abs(seconds - replayed) / seconds
    print(f"{fidelity}: {seconds:.3f} s, replayed {replayed:.3f} s: {found:.3f}", flush=True)
    return found


def check(tools, options):
    program = [options.program, "--time", "--iterations", STEPS, "--fault", FAULT]
    for fidelity in ("exact", "checked", "lead"):
        best = 0
        for _ in range(TRIES):
            best = max(best, accuracy(tools, program, fidelity))
            if best >= LEAST:
                break
        expect(best >= LEAST, f"{fidelity}: accuracy {best:.3f}")


def main():
    arguments = harness.parser(__doc__)
    arguments.add_argument("--program", required=True)
    options = arguments.parse_args()
    harness.main("replay_pace", options, lambda tools: check(tools, options))


main()
