#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What `chameleon simulate` does for an example is what the example does: of each rank, every call
from MPI_Init to the end of the last time step, and all that is recorded of it but the call path.
Of call paths: those of two calls are the same in the simulation where they are in the program.

What data decide is compared in kind: how many keys of `bucketsort` go where, which worker of
`taskfarm` is first, and how often the solver of `ocean` iterates.

    test_behaviours.py --tools TOOLS.json --examples FOLDER --ranks 1,4,6"""

import pathlib
import sys

from harness import expect, main_of_ranks, parser_of_ranks

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tools" / "python"))
import chameleon_trace

STEPS = 4
EXACT = ["wavefront", "stencil2d", "ring", "multipartition", "transpose", "spectral", "multigrid",
         "hydro", "phases", "faulty"]
IN_KIND = ["bucketsort", "taskfarm", "ocean"]
OF_DATA = {"bucketsort": {"sendcounts", "sdispls", "recvcounts", "rdispls"},
           "taskfarm": {"tag", "status.tag", "status.source"}}


def plain(trace, event):
    """A call and its values, without the numbers that this trace gave to predefined objects."""
    values = []
    for field in event.call.fields:
        value = event[field.name]
        if field.kind in ("datatype", "op") and value < -1:
            value = trace.object_name(field.kind, value)
        values.append((field.name, value))
    return event.name, tuple(values)


def calls(path, rank):
    """The calls of a rank, and where each stands among the call paths by first use."""
    trace = chameleon_trace.read_trace(path)
    numbers = {}
    events = list(trace.events(rank))
    paths = [numbers.setdefault((event.name, event.path), len(numbers)) for event in events]
    return [plain(trace, event) for event in events], paths


def in_kind(name, events):
    """The different calls without what data decide; of a master also without whom it sends to."""
    left_out = OF_DATA.get(name, set())
    if name == "taskfarm" and any(dict(values).get("source") == chameleon_trace.SpecialRank.ANY_SOURCE
                                  for _, values in events):
        left_out = left_out | {"dest"}
    return {(call, tuple(one for one in values if one[0] not in left_out))
            for call, values in events}


def compare(what, name, example, model):
    (theirs, their_paths), (ours, our_paths) = example, model
    if name in EXACT:
        # Then come the end of the timed region and checks.
        for number, (there, here) in enumerate(zip(theirs, ours), 1):
            expect(there == here, f"{what}: event {number} is\n  {there} in the program,\n  {here} "
                                  "in the simulation")
        # Of a program that has no neighbours alone, a single rank may do nothing in its steps.
        least = 2 if what.endswith(" of 1") else STEPS + 2
        expect(least <= len(ours) <= len(theirs), f"{what}: {len(ours)} of {len(theirs)} events")
        expect(theirs[len(ours)][0] == "Barrier", f"{what}: {theirs[len(ours)]} follows")
        expect(our_paths == their_paths[:len(ours)], f"{what}: call paths differ in kind")
        return
    end = max(at for at, (call, _) in enumerate(theirs) if call == "Barrier")
    there, here = in_kind(name, theirs[:end]), in_kind(name, ours)
    expect(there == here, f"{what}: in one of them only {sorted(map(repr, there ^ here))[:4]}")


def check(tools, options, ranks):
    folder = tools.fresh(f"{ranks}")
    for name in EXACT + IN_KIND:
        program, simulated = folder / f"{name}.cham", folder / f"{name}.simulated.cham"
        outcome = tools.traced(ranks, [pathlib.Path(options.program) / name, "--iterations", STEPS],
                               program, CHAMELEON_TIMING="none", CHAMELEON_CALL_FREQUENCY=1000)
        expect(outcome.status == 0, f"{name}: traced", outcome)
        # All ranks keep a first step, and --iterations follow.
        outcome = tools.chameleon("simulate", name, "--from", ranks, "--to", ranks,
                                  "--iterations", STEPS - 1, "-o", simulated)
        expect(outcome.status == 0, f"{name}: simulate", outcome)
        tools.check(simulated)
        for rank in range(ranks):
            compare(f"{name}, rank {rank} of {ranks}", name, calls(program, rank),
                    calls(simulated, rank))


if __name__ == "__main__":
    chosen = parser_of_ranks(__doc__).parse_args()
    main_of_ranks("test_behaviours", chosen, check)
