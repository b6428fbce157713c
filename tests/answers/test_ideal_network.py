#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What `whatif` says of an ideal network, and what `efficiency` takes for its factors, is within
5 % of what SimGrid says of the same trace on a platform whose network takes no time.

    test_ideal_network.py --tools TOOLS.json --program FAULTY"""

import json
import pathlib
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS / "mpi"))
import harness  # noqa: E402
from harness import expect  # noqa: E402

PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="world" routing="Full">
    <cluster id="cluster" prefix="node-" suffix="" radical="0-7" speed="1Gf" bw="1e9GBps"
             lat="0s"/>
  </zone>
</platform>
"""
NEAR = 0.05
RANKS = 8
# One rank is slow in some steps, then all are in a part that each does after the one before.
FAULTS = [["--fault", "slow:3:2-11:100000"],
          ["--fault", "slow:5:2-5:100000", "--fault", "serial:8-13:20000"]]


def seconds(tools, *words):
    outcome = tools.chameleon(*words, "--json")
    expect(outcome.status == 0, words[0], outcome)
    return json.loads(outcome.stdout)


def check(tools, program, number, faults):
    folder = tools.fresh(f"ideal-{number}")
    trace = folder / "t.cham"
    outcome = tools.traced(RANKS, [program, "--iterations", "16", *faults], trace,
                           CHAMELEON_TIMING="full", CHAMELEON_CLUSTERING="off")
    expect(outcome.status == 0, "no trace", outcome)
    platform = folder / "ideal.xml"
    platform.write_text(PLATFORM)
    simulated = seconds(tools, "predict", trace, "--platform", platform)["simulated_seconds"]
    whatif = seconds(tools, "whatif", trace, "--network", "ideal")
    ideal = whatif["changes"][0]["seconds"]
    factors = seconds(tools, "efficiency", trace)["runs"][0]
    print(f"simulated {simulated:.4f} s, whatif {ideal:.4f} s, efficiency "
          f"{factors['ideal_seconds']:.4f} s of {whatif['run_seconds']:.4f} s", flush=True)
    expect(whatif["model_seconds"] == whatif["run_seconds"], f"the model: {whatif}")
    for predicted in (ideal, factors["ideal_seconds"]):
        expect(abs(predicted - simulated) <= NEAR * simulated,
               f"{predicted} s on an ideal network, {simulated} s by SimGrid")


def main():
    arguments = harness.parser(__doc__)
    arguments.add_argument("--program", required=True)
    options = arguments.parse_args()

    def body(tools):
        for number, faults in enumerate(FAULTS):
            harness.tried(check, tools, options.program, number, faults)
    harness.main("ideal_network", options, body)


if __name__ == "__main__":
    main()
