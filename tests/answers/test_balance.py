#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What `whatif --balance all` predicts for a run in which one rank is slow in some steps is within
5 % of the run in which it is not, and `slow` says within 5 % what the run would gain: by default and
with full timing. The example `faulty` runs under SimGrid's SMPI, on its clock.

    test_balance.py --tools TOOLS.json --smpirun S --programs DIR [--ranks N,N]"""

import json
import pathlib
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS / "scale"))
import simulated_job  # noqa: E402
from simulated_job import expect, harness  # noqa: E402

STEPS, STEP_US = 30, 30_000
FAULTS = ["--fault", "slow:3:5:100000", "--fault", "slow:6:17:80000"]
NEAR = 0.05


def traced(tools, options, ranks, folder, words, timing):
    folder.mkdir()
    usual = [word for rank in range(ranks) for step in range(STEPS)
             for word in ("--delay", f"{rank}:{step}:{STEP_US}:compute")]
    program = options.programs / "scale_named_faulty.so"
    outcome = tools.run([*simulated_job.command(options.smpirun, program, ranks, folder),
                         "--iterations", STEPS, *usual, *words], cwd=folder,
                        timeout=options.timeout, CHAMELEON_OUTPUT=folder / "t.cham",
                        CHAMELEON_TIMING=timing)
    expect(outcome.status == 0 and b"eadlock" not in outcome.stderr, f"{ranks} ranks, {timing}",
           outcome)
    return folder / "t.cham"


def document(tools, *words):
    outcome = tools.chameleon(*words, "--json")
    expect(outcome.status in (0, 1), words[0], outcome)
    return json.loads(outcome.stdout)


def check(tools, options, ranks):
    folder = tools.fresh(f"balance-{ranks}")
    for timing in ("histogram", "full"):
        without = document(tools, "whatif", traced(tools, options, ranks, folder / f"{timing}-0", [],
                                                   timing))["run_seconds"]
        trace = traced(tools, options, ranks, folder / f"{timing}-1", FAULTS, timing)
        found = document(tools, "whatif", "--balance", "all", trace)
        predicted, run = found["changes"][0]["seconds"], found["run_seconds"]
        print(f"{ranks} ranks, {timing}: {run:.4f} s, predicted {predicted:.4f} s, without the fault "
              f"{without:.4f} s", flush=True)
        expect(run > 1.15 * without, "the fault costs nothing")
        expect(abs(predicted - without) <= NEAR * without, f"predicted {predicted} s")
        slow = document(tools, "slow", trace)["findings"]
        saved = sum(finding["saving_seconds"] for finding in slow if finding["matters"])
        expect(abs(run - saved - without) <= NEAR * without, f"`slow` would save {saved} s: {slow}")


def main():
    arguments = simulated_job.parser(__doc__)
    arguments.add_argument("--ranks", default="8,16")
    options = arguments.parse_args()

    def body(tools):
        for ranks in map(int, options.ranks.split(",")):
            check(tools, options, ranks)
    harness.main("balance", options, body)


if __name__ == "__main__":
    main()
