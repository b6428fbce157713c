#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""With CHAMELEON_TIMING=full each event has its own times: those of the raw records, in ns. And
ranks begin together on the timeline, as they did, also where one was late in the tool's start
and the others waited for it.

    test_full_times.py --tools TOOLS.json --program P --stall LIBRARY --ranks N,N"""

import json
import pathlib
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / "mpi"), str(TESTS.parent / "tools" / "python")]
import chameleon_trace  # noqa: E402
import harness  # noqa: E402
from harness import expect  # noqa: E402

NEAR = 1  # ns: a tick is less, and is rounded
SAME = 1e-4  # of a time: how long a tick takes is measured again and again
LATE = 0.5  # s
TOGETHER = LATE / 2


def check_times(tools, options, ranks):
    folder = tools.fresh(f"times-{ranks}")
    (folder / "raw").mkdir()
    trace = folder / "t.cham"
    outcome = tools.traced(ranks, [options.program, "--iterations", "20"], trace,
                           CHAMELEON_TIMING="full", CHAMELEON_RAW=folder / "raw")
    expect(outcome.status == 0, "no trace", outcome)
    read = chameleon_trace.read_trace(trace)
    local = tools.local_calls()
    for rank in range(ranks):
        told = []
        lines = (folder / "raw" / f"rank.{rank}.raw").read_text().splitlines()
        for line, after in zip(lines, lines[1:]):
            if after.startswith("# spent ") and f"MPI_{line.split()[0]}" not in local:
                told.append(tuple(map(int, after.split()[2:4])))
        mine = [(event.compute_ns, event.call_ns) for event in read.events(rank)]
        expect(len(told) == len(mine) > 0, f"rank {rank}: {len(mine)} events, raw {len(told)}")
        for number, (a, b) in enumerate(zip(mine, told), 1):
            expect(all(abs(x - y) <= NEAR + SAME * y for x, y in zip(a, b)),
                   f"rank {rank}, event {number}: {a} ns, raw {b}")


def check_start(tools, options, ranks):
    folder = tools.fresh(f"start-{ranks}")
    trace = folder / "t.cham"
    outcome = tools.job(ranks, [options.program, "--iterations", "5"],
                        preload=[tools.library, options.stall], CHAMELEON_OUTPUT=trace,
                        CHAMELEON_TIMING="full", STALL_RANK=ranks - 1, STALL_START=int(1000 * LATE))
    expect(outcome.status == 0, "no trace", outcome)
    read = chameleon_trace.read_trace(trace)
    waited = [facts.startup_ns * 1e-9 for facts in read.facts()]
    expect(all(LATE / 2 < one < 100 * LATE for one in waited[:-1]) and waited[-1] < LATE / 2,
           f"seconds until the program went on: {waited}")
    outcome = tools.chameleon("export", trace, "--chrome", folder / "t.json")
    expect(outcome.status == 0, "export fails", outcome)
    begins = {}
    for event in json.loads((folder / "t.json").read_text())["traceEvents"]:
        if event["ph"] == "X" and event["name"] == "MPI_Barrier":
            begins.setdefault(event["tid"], event["ts"] * 1e-6)
    expect(len(begins) == ranks and max(begins.values()) - min(begins.values()) < TOGETHER,
           f"first calls at {begins} s")


def check(tools, options, ranks):
    check_times(tools, options, ranks)
    check_start(tools, options, ranks)


def main():
    parser = harness.parser_of_ranks(__doc__)
    parser.add_argument("--stall", required=True)
    harness.main_of_ranks("full_times", parser.parse_args(),
                          lambda *job: harness.tried(check, *job))


if __name__ == "__main__":
    main()
