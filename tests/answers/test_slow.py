#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`slow` names rank, call site and time step of each fault that the example `faulty` was told to
have, in steps and on ranks that a seed picks, and what the run would gain without it: with full
timing and by default.

    test_slow.py --tools TOOLS.json --program FAULTY [--ranks N,N] [--runs N] [--seed N]"""

import json
import pathlib
import random
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS / "mpi"))
import harness  # noqa: E402
from harness import expect  # noqa: E402

STEPS = 30
US = 250_000  # far above what a rank loses to others on its core

# What is slow, and before which calls of which function the rank then computes for long.
FAULTS = [("slow:{}:{}:{}", {"Recv", "Send"}, "pass_on"),
          ("late:{}:{}:{}", {"Isend"}, "exchange"),
          ("slow:{}:{}:{}:add_up", {"Allreduce"}, "add_up")]


def check(tools, program, ranks, seed, timing):
    chance = random.Random(seed)
    print(f"{ranks} ranks, seed {seed}, {timing}", flush=True)
    steps = chance.sample(range(4, STEPS - 2, 3), len(FAULTS))
    planted = [(fault, chance.randrange(ranks), step) for fault, step in zip(FAULTS, steps)]
    words = []
    for (text, _, _), rank, step in planted:
        words += ["--fault", text.format(rank, step, US)]
    folder = tools.fresh(f"slow-{ranks}-{timing}")
    outcome = tools.traced(ranks, [program, "--iterations", str(STEPS), *words], folder / "t.cham",
                           CHAMELEON_TIMING=timing)
    expect(outcome.status == 0, "no trace", outcome)
    outcome = tools.chameleon("slow", folder / "t.cham", "--json", "--limit", "14")
    expect(outcome.status == 1, "nothing is slow", outcome)
    report = json.loads(outcome.stdout)
    for (text, calls, function), rank, step in planted:
        found = [finding for finding in report["findings"]
                 if finding["matters"] and finding["delay"] == "compute" and
                 finding["ranks"] == str(rank) and finding["call"].removeprefix("MPI_") in calls
                 and function in finding["site"]]
        expect(len(found) == 1, f"{text} of rank {rank} in step {step}: {report['findings']}")
        numbers = {instance["number"] for instance in found[0]["instances"]}
        # Setting up may have had one like those of the steps, which count from 0.
        expect(numbers & {step + 1, step + 2}, f"{text} in step {step}: instances {numbers}")
        # Of the delay itself; what others lost to it besides is not in it.
        expect(0.3e-6 * US <= found[0]["saving_seconds"] <= 1.3e-6 * US,
               f"{text}: the run would gain {found[0]['saving_seconds']} s")
        expect(0.9e-6 * US <= found[0]["delay_seconds"] <= 2e-6 * US,
               f"{text}: {found[0]['delay_seconds']} s")


def main():
    arguments = harness.parser(__doc__)
    arguments.add_argument("--program", required=True)
    arguments.add_argument("--ranks", default="8")
    arguments.add_argument("--runs", type=int, default=1)
    arguments.add_argument("--seed", type=int, default=harness.seed())
    options = arguments.parse_args()

    def body(tools):
        for ranks in map(int, options.ranks.split(",")):
            for run in range(options.runs):
                for timing in ("full", "histogram"):
                    harness.tried(check, tools, options.program, ranks, options.seed + run, timing)

    harness.main("slow", options, body)


if __name__ == "__main__":
    main()
