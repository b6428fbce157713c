#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Of many runs in which one rank is late somewhere, `slow` names rank, time step and call site of at
least 95 %, and of as many in which nobody is, it accuses somebody in at most 2 %: with full timing
and by default. The example `faulty` runs under SimGrid's SMPI, on its clock, so that nobody is late
but who was told to be. All ranks take 20 ms a step, give or take a tenth at random.

    test_plants.py --tools TOOLS.json --smpirun S --programs DIR [--ranks N:PLANTS:CLEAN,...]
                   [--seed N]"""

import json
import pathlib
import random
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS / "scale"))
import simulated_job  # noqa: E402
from simulated_job import expect, harness  # noqa: E402

STEPS = 30
STEP_US, JITTER = 20_000, 0.1
# Of the run: from a few times what `slow` leaves out to what nobody would overlook.
LEAST_US, MOST_US = 20_000, 300_000
FOUND, FALSE = 0.95, 0.02
TIMINGS = ("full", "histogram")

# What is late, and before which calls of which function the rank then computes for long.
FAULTS = [("slow:{}:{}:{}", {"Recv", "Send"}, "pass_on"),
          ("slow:{}:{}:{}:exchange", {"Irecv"}, "exchange"),
          ("late:{}:{}:{}", {"Isend"}, "exchange"),
          ("slow:{}:{}:{}:pass_on", {"Recv"}, "pass_on"),
          ("slow:{}:{}:{}:add_up", {"Allreduce"}, "add_up")]


def run(tools, options, ranks, folder, words, timing):
    """The findings of `slow` that matter, or None where the simulator fails."""
    folder.mkdir()
    trace = folder / "trace.cham"
    program = options.programs / "scale_named_faulty.so"
    # Each rank has a copy of the program, in which its functions are found by name.
    job = simulated_job.command(options.smpirun, program, ranks, folder, "smpi/keep-temps:yes")
    outcome = tools.run([*job, "--iterations", STEPS, *words], cwd=folder, timeout=options.timeout,
                        CHAMELEON_OUTPUT=trace, CHAMELEON_TIMING=timing, TMPDIR=folder)
    if b"deadlock" in outcome.stderr.lower():  # its exit status may be 0
        return None
    expect(outcome.status == 0, f"{ranks} ranks, {timing}", outcome)
    outcome = tools.chameleon("slow", trace, "--json", "--limit", "14")
    for copy in folder.glob("*.so"):
        copy.unlink()
    expect(outcome.status in (0, 1), f"slow, {timing}", outcome)
    return [finding for finding in json.loads(outcome.stdout)["findings"] if finding["matters"]]


def usual(chance, ranks):
    """All ranks compute in all steps, give or take."""
    words = []
    for rank in range(ranks):
        for step in range(STEPS):
            us = STEP_US * (1 + chance.uniform(-JITTER, JITTER))
            words += ["--delay", f"{rank}:{step}:{us:.0f}:compute"]
    return words


def names(finding, plant):
    calls, function, rank, steps = plant
    if finding["delay"] != "compute" or finding["ranks"] != str(rank):
        return False
    if finding["call"].removeprefix("MPI_") not in calls or function not in finding["site"]:
        return False
    numbers = {instance["number"] for instance in finding["instances"]}
    # Setting up may have had an instance like those of the steps, which count from 0.
    return bool(numbers & {step + more for step in steps for more in (1, 2)})


def planted(chance, ranks):
    text, calls, function = chance.choice(FAULTS)
    rank, first = chance.randrange(ranks), chance.randrange(2, STEPS - 3)
    last = first + chance.randrange(3)
    us = int(LEAST_US * (MOST_US / LEAST_US) ** chance.random())
    steps = f"{first}-{last}" if last > first else str(first)
    return text.format(rank, steps, us), (calls, function, rank, range(first, last + 1))


def check(tools, options, ranks, plants, clean):
    folder = tools.fresh(f"plants-{ranks}")
    found, others, accused, failed = ({timing: 0 for timing in TIMINGS} for _ in range(4))
    missed = []
    for number in range(plants + clean):
        chance = random.Random(options.seed + number)
        words, plant, fault = usual(chance, ranks), None, None
        if number < plants:
            fault, plant = planted(chance, ranks)
            words += ["--fault", fault]
        for timing in TIMINGS:
            findings = run(tools, options, ranks, folder / f"{number}-{timing}", words, timing)
            if findings is None:
                failed[timing] += 1
            elif plant is None:
                accused[timing] += bool(findings)
            elif any(names(finding, plant) for finding in findings):
                found[timing] += 1
                others[timing] += len(findings) > 1
            else:
                missed.append(f"{fault} ({timing}): {findings}")
    for timing in TIMINGS:
        print(f"{ranks} ranks, {timing}: found {found[timing]} of {plants}, {others[timing]} of them "
              f"with other findings beside it; accused somebody in {accused[timing]} of {clean} "
              f"clean runs; {failed[timing]} runs failed in the simulator", flush=True)
    return found, accused, failed, missed


def main():
    arguments = simulated_job.parser(__doc__)
    arguments.add_argument("--ranks", default="8:4:4")
    arguments.add_argument("--seed", type=int, default=harness.seed())
    options = arguments.parse_args()

    def body(tools):
        print(f"seed {options.seed}", flush=True)
        jobs = [tuple(map(int, one.split(":"))) for one in options.ranks.split(",")]
        all_missed = []
        sums = {timing: [0, 0, 0, 0] for timing in TIMINGS}
        for ranks, plants, clean in jobs:
            found, accused, failed, missed = check(tools, options, ranks, plants, clean)
            all_missed += missed
            for timing in TIMINGS:
                for i, number in enumerate((plants, found[timing], clean, accused[timing])):
                    sums[timing][i] += number
                expect(failed[timing] <= 0.05 * (plants + clean), f"{failed} runs failed")
        for timing, (plants, found, clean, accused) in sums.items():
            expect(found >= FOUND * plants - 0.5,
                   f"{timing}: found {found} of {plants}\n" + "\n".join(all_missed))
            expect(accused <= FALSE * clean + 0.5, f"{timing}: {accused} of {clean} accused")
    harness.main("plants", options, body)


if __name__ == "__main__":
    main()
