#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The replay of a clustered trace keeps the time of a program in which one rank is slow: each rank
computes as long as ranks of its class of times did, whoever traced for it.

    test_replay_pace.py --tools TOOLS.json --program P

The example `faulty` sleeps for its fault, most of the run. A replay that keeps this sleeps as long
however busy the machine is, and one that does not takes a fraction of it. How close the two times
are is printed; bench/replay_accuracy measures it for the other examples."""

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
ASLEEP = 3.0  # seconds that the fault takes
MOST = 1.25  # of the replay, to the time of the run: both do the same work
TRIES = 3  # of a machine that is busy with something else


def application_seconds(outcome, where):
    found = re.search(rb"time: ([\d.]+) s", outcome.stdout)
    expect(outcome.status == 0 and found, f"{where} fails", outcome)
    return float(found[1])


def paces(tools, program, fidelity):
    """The seconds of a run that was traced, and of its replay."""
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
    print(f"{fidelity}: {seconds:.3f} s, replayed {replayed:.3f} s", flush=True)
    return seconds, replayed


def check(tools, options):
    program = [options.program, "--time", "--iterations", STEPS, "--fault", FAULT]
    for fidelity in ("exact", "checked", "lead"):
        for _ in range(TRIES):
            seconds, replayed = paces(tools, program, fidelity)
            expect(replayed >= 0.99 * ASLEEP, f"{fidelity}: the replay sleeps too little")
            if replayed <= MOST * seconds:
                break
        else:
            raise harness.Failure(f"{fidelity}: the replay takes {replayed / seconds:.2f} times as long")


def main():
    arguments = harness.parser(__doc__)
    arguments.add_argument("--program", required=True)
    options = arguments.parse_args()
    harness.main("replay_pace", options, lambda tools: harness.tried(check, tools, options))


main()
