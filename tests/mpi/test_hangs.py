#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A job that hangs and is ended by SIGTERM: its trace has the calls in which its ranks were, with
the time in them, and `check` names those who hold everyone up, their calls, lines and partners.

    test_hangs.py --tools TOOLS.json --program HANGING_PROGRAM [--only NAME]"""

import json
import pathlib
import re
import signal
import time

import harness
from harness import expect
from online_jobs import Job

SECONDS = 1.0


class Online:
    """What a `Job` needs to know."""

    def __init__(self, tools):
        self.tools = tools


def hung(tools, program, ranks, kind, **variables):
    """Trace and folder of raw records of a job that is told to end after a second."""
    folder = tools.fresh(f"{kind}-{ranks}")
    (folder / "raw").mkdir()
    job = Job(Online(tools), ranks, [program, kind], folder / "t.cham",
              CHAMELEON_RAW=folder / "raw", **variables)
    job.processes()
    time.sleep(SECONDS)
    job.send(signal.SIGTERM, job.process.pid)
    job.wait()
    missing = [rank for rank in range(ranks) if not (folder / f"t.cham.rank{rank}").exists()]
    expect(not missing, f"{kind}: no last words of ranks {missing}", job.outcome())
    return folder / "t.cham", folder / "raw"


def judged(tools, trace, status):
    outcome = tools.chameleon("check", trace, "--json")
    expect(outcome.status == status, f"{trace.parent.name}: check", outcome)
    return json.loads(outcome.stdout)["hang"]


def line_of(source, text):
    lines = pathlib.Path(source).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def verified(tools, trace, raw):
    """The pending calls too are those of the raw records."""
    whole = trace.with_name("whole.cham")
    outcome = tools.chameleon("recover", trace, "-o", whole)
    expect(outcome.status == 0, f"{trace.parent.name}: recover", outcome)
    tools.verify(whole, raw)
    text = tools.chameleon("print", whole).stdout.decode()
    expect("pending" in text, f"{trace.parent.name}: no call is pending\n{text}")


CIRCLES = {"receives": ("Recv", "MPI_Recv(&got", "from rank {} with tag 7"),
           "synchronous": ("Ssend", "MPI_Ssend(", "to rank {} with tag 7"),
           "tag": ("Recv", "peer, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);", "from rank {} with tag 7"),
           "wildcard": ("Wait", "MPI_Wait(", None)}


def circles(tools, program, source):
    """Two ranks hold up all others; each with its call, line, partner, and what comes close."""
    for kind, (call, text, what) in CIRCLES.items():
        for ranks in (2, 4):
            trace, raw = hung(tools, program, ranks, kind)
            hang = judged(tools, trace, 1)
            found = {one["rank"]: one for one in hang["ranks"]}
            expect(sorted(found) == list(range(ranks)), f"{kind}: who hangs: {hang}")
            # Any rank might send what a wildcard takes, those in the barrier too.
            circle = f"0-{ranks - 1}" if kind == "wildcard" else "0-1"
            expect(hang["deadlock"] and [(one["kind"], one["ranks"]) for one in hang["causes"]] ==
                   [("circle", circle)], f"{kind} on {ranks}: {hang}")
            for rank in (0, 1):
                one = found[rank]
                expect(one["call"] == call, f"{kind}: {one}")
                expect(what is None or one["what"] == what.format(1 - rank), f"{kind}: {one}")
                expect(0.5 * SECONDS < one["seconds"] < 20, f"{kind}: time in the call: {one}")
                place = re.search(r"hanging_program\.c:(\d+)", one["site"])
                expect(place, f"{kind}: no line: {one}")
                if kind != "tag" and kind != "receives":
                    expect(int(place.group(1)) == line_of(source, text), f"{kind}: line: {one}")
                expect(("with tag 8" in one["near_miss"]) == (kind == "tag"), f"{kind}: {one}")
            verified(tools, trace, raw)
            said = tools.chameleon("check", trace)
            if kind == "receives":
                expect(b"ranks 0-1 wait for each other" in said.stdout, "the verdict", said)


def outside(tools, program, source):
    """A rank that is outside of MPI may come back: that is said, and is no fault."""
    del source
    trace, raw = hung(tools, program, 3, "outside")
    hang = judged(tools, trace, 0)
    expect([(one["kind"], one["ranks"], one["waiting"]) for one in hang["causes"]] ==
           [("outside", "1", "0,2")], f"outside: {hang}")
    verified(tools, trace, raw)


def finalized(tools, program, source):
    """A rank that has called MPI_Finalize sends nothing more."""
    del source
    trace, raw = hung(tools, program, 3, "finalized")
    hang = judged(tools, trace, 1)
    expect(hang["deadlock"] and [(one["kind"], one["ranks"], one["waiting"])
                                 for one in hang["causes"]] == [("finalized", "1", "0,2")],
           f"finalized: {hang}")
    verified(tools, trace, raw)


def runs(tools, program, source):
    """Of a job that was well when it was ended nothing is said, and its time in MPI is small."""
    del source
    for ranks in (2, 3, 4):
        trace, _ = hung(tools, program, ranks, "runs")
        hang = judged(tools, trace, 0)
        expect(hang is None or not hang["deadlock"], f"runs on {ranks}: {hang}")


def stalls(tools, program, source):
    """While the job still hangs it is known who waits for whom; one line says so, and a job that is
    to end then ends."""
    del source
    for ranks in (2, 4):
        trace, said, job = begun(tools, program, ranks, "receives", CHAMELEON_STALL=1)
        until = time.monotonic() + 30
        words = [trace.with_name(f"t.cham.rank{rank}") for rank in range(ranks)]
        while not (b"no progress for" in said.read_bytes() and all(one.exists() for one in words)):
            expect(time.monotonic() < until, f"no stall on {ranks}", job.outcome())
            time.sleep(0.1)
        expect(job.process.poll() is None, "the job does not end by itself", job.outcome())
        hang = judged(tools, trace, 1)
        expect([(one["kind"], one["ranks"]) for one in hang["causes"]] == [("circle", "0-1")],
               f"stalls on {ranks}: {hang}", job.outcome())
        job.send(signal.SIGTERM, job.process.pid)
        job.wait()
        hang = judged(tools, trace, 1)
        expect(len(hang["ranks"]) == ranks, f"stalls on {ranks}, ended: {hang}", job.outcome())
    trace, said, job = begun(tools, program, 3, "receives", CHAMELEON_STALL=1,
                             CHAMELEON_STALL_ABORT=1)
    job.wait()
    expect(b"the job ends" in said.read_bytes(), "CHAMELEON_STALL_ABORT", job.outcome())
    judged(tools, trace, 1)


def begun(tools, program, ranks, kind, **variables):
    folder = tools.fresh(f"{kind}-{ranks}")
    job = Job(Online(tools), ranks, [program, kind], folder / "t.cham", **variables)
    job.processes()
    return folder / "t.cham", job.said, job


def progresses(tools, program, source):
    """A job that computes, or whose ranks wait for each other only shortly, has no stall."""
    del source
    trace, said, job = begun(tools, program, 3, "runs", CHAMELEON_STALL=1)
    time.sleep(3)
    left = [one.name for one in trace.parent.iterdir() if ".rank" in one.name]
    expect(not left and b"no progress" not in said.read_bytes(), f"no stall: {left}",
           job.outcome())
    job.send(signal.SIGTERM, job.process.pid)
    job.wait()


def goes_on(tools, program, source):
    """After the words of a stall the job goes on, and nothing of them is left at its end."""
    del source
    folder = tools.fresh("pause")
    (folder / "raw").mkdir()
    outcome = tools.traced(3, [program, "pause"], folder / "t.cham", raw=folder / "raw",
                           CHAMELEON_STALL=1)
    expect(outcome.status == 0 and b"no progress for" in outcome.stderr, "pause", outcome)
    left = [one.name for one in folder.iterdir() if ".rank" in one.name]
    expect(not left, f"pause: leaves {left}", outcome)
    tools.verify(folder / "t.cham", folder / "raw")
    tools.check(folder / "t.cham")


TESTS = [circles, outside, finalized, runs, stalls, goes_on, progresses]


def main():
    arguments = harness.parser(__doc__)
    arguments.add_argument("--program", required=True)
    arguments.add_argument("--source", required=True)
    arguments.add_argument("--only")
    options = arguments.parse_args()
    harness.main("hangs", options, lambda tools: harness.run_each(
        TESTS, options.only, lambda test: test(tools, options.program, options.source)))


if __name__ == "__main__":
    main()
