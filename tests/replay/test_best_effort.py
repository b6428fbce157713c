#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A best-effort replay of what is not exact ends, whether MPI buffers messages or not.

    test_best_effort.py --tools TOOLS.json --examples FOLDER [--ranks 4,9] [--only NAME,...]

Each example is traced with `checked` and with `lead`. A trace that replay would refuse has status 1
from `check`, others 0. The best-effort replay ends with status 0, also where every message waits
for its receive (UCX_RNDV_THRESH=0), and leaves out hardly more than has no counterpart."""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "mpi"))
import harness
from harness import expect

EXAMPLES = ("bucketsort", "hydro", "multigrid", "multipartition", "ocean", "phases", "ring",
            "sparse", "spectral", "stencil2d", "taskfarm", "transpose", "wavefront")


def check_one(tools, program, ranks, fidelity):
    what = f"{program.name} on {ranks}, {fidelity}"
    path = tools.fresh("job") / "t.cham"
    traced = tools.traced(ranks, [program], path, CHAMELEON_FIDELITY=fidelity,
                          CHAMELEON_K=1)
    expect(traced.status == 0, f"{what}: fails", traced)
    checked = tools.chameleon("check", "--json", path)
    report = json.loads(checked.stdout)
    refused = tools.job(ranks, [tools.replayer, "--compute=none", path])
    expect(refused.status in (0, 4), f"{what}: replay", refused)
    expect((checked.status == 0) == (refused.status == 0) and report["ok"] == (checked.status == 0),
           f"{what}: check and replay disagree", checked, refused)
    unmatched = report["declared_unmatched"]
    most = unmatched["sends"] + unmatched["receives"] + ranks * unmatched["collectives"]
    for variables in ({}, {"UCX_RNDV_THRESH": "0"}):
        outcome = tools.job(ranks, [tools.replayer, "--compute=none", "--best-effort", "--json",
                                    path], **variables)
        expect(outcome.status == 0, f"{what} {variables}: best effort fails", outcome)
        left_out = sum(json.loads(outcome.stdout)["left_out"].values())
        # An event for each of them, and the few that fail because of them.
        expect(4 * left_out <= 5 * most,
               f"{what} {variables}: leaves out {left_out} for {most} without counterpart", outcome)
    print(f"{what}: ok, {unmatched}, left out {left_out}")
    sys.stdout.flush()


def main():
    parser = harness.parser(__doc__)
    parser.add_argument("--examples", required=True)
    parser.add_argument("--ranks", default="4,9,16")
    parser.add_argument("--only", default=",".join(EXAMPLES))
    options = parser.parse_args()

    def body(tools):
        for ranks in map(int, options.ranks.split(",")):
            for name in options.only.split(","):
                for fidelity in ("checked", "lead"):
                    check_one(tools, pathlib.Path(options.examples).resolve() / name, ranks, fidelity)

    harness.main("best_effort", options, body)


if __name__ == "__main__":
    main()
