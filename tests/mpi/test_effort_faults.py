#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What fails within an effort window: memory, at allocations spread over the job, a rank that leaves early or
does not go on, inside the tool too, and a job that is killed or told to end. Nothing hangs, the
program's output and exit status are those of an untraced run, the file can be read, and a window
says of how many ranks it is or why it was given up. Windows that are there are those that virtual
ranks make of what the ranks noted.

    test_effort_faults.py --tools TOOLS.json --examples FOLDER --uneven U [--only NAMES] [--all]
        [--seed N]"""

import argparse
import json
import random
import signal
import sys
import time

import harness
import online_jobs
import test_faults
from harness import expect

LENGTH, STEPS = 16, 36
EFFORT = {"CHAMELEON_EFFORT": "compute", "CHAMELEON_EFFORT_STEPS": LENGTH}
CASE = "effort"  # of test_faults.CASES, with STEPS time steps
FEW_RUNS = 4     # without --all
PARTS = 30       # of the job, with --all: in each, allocations fail in eight ways
STALL = 3        # s: longer than a flush is waited for with this time-out of markers
MARKER_TIMEOUT = 0.2
TESTS = []


def test(function):
    TESTS.append(function)
    return function


def windows_of(tools, what, path, outcome):
    """Those of the file, in order and without overlap."""
    said = tools.chameleon("sample", "--json", path)
    expect(said.status == 0, f"{what}: sample", said, outcome)
    windows = json.loads(said.stdout)["windows"]
    at = 0
    for window in windows:
        expect(at < window["first"] <= window["last"], f"{what}: {windows}", outcome)
        at = window["last"]
    text = tools.chameleon("sample", path)
    expect(text.status == 0 and
           text.stdout.count(b"given up: ") == sum(one["gap"] != "none" for one in windows),
           f"{what}: what sample says of {windows}", text)
    return windows


def verified(tools, what, path, outcome):
    said = tools.chameleon("verify", path, "--raw", path.parent / "raw")
    expect(said.status == 0, f"{what}: differs, and is not declared", said, outcome)


def run_without_memory(faults, ranks, **where):
    """Whether a fault was said, and how many windows have fewer ranks or none."""
    what = f"ranks {ranks}, {where}"
    variables = {f"FAIL_{name.upper()}": number for name, number in where.items()}
    if ranks != "all":
        variables["FAIL_RANKS"] = ranks
    folder, outcome, _ = faults.traced(CASE, **variables)
    said = faults.judge(what, CASE, folder, outcome)
    path = folder / "t.cham"
    if not path.exists():
        return said, 0
    windows = windows_of(faults.tools, what, path, outcome)
    less = [one for one in windows if one["gap"] != "none" or one["ranks"] != 4]
    missing = not windows or windows[-1]["last"] != STEPS
    expect(said or not (less or missing), f"{what}: nothing is said, but {windows}", outcome)
    return said, len(less)


@test
def memory(tools, options):
    """Allocations after MPI_Init, one at random in each part of the job: on one rank or on all, once
    or for good."""
    faults = test_faults.Faults(tools, argparse.Namespace(
        examples=options.examples, seed=options.seed, case=CASE))
    begin, most = test_faults.BEGIN, min(faults.count(CASE))
    parts = PARTS if options.all else FEW_RUNS
    part = (most - begin) / parts
    ways = [(ranks, where) for where in ("at", "from") for ranks in ("1", "all", "0", "3")]
    done = []
    for number in range(parts):
        for ranks, where in ways if options.all else [ways[number % len(ways)]]:
            at = begin + int(part * (number + options.chance.random()))
            done.append(run_without_memory(faults, ranks, **{where: at}))
    less = sum(count > 0 for _, count in done)
    print(f"{len(done)} runs, in {parts} parts of {most - begin} allocations: "
          f"{sum(said for said, _ in done)} with a fault, {less} with windows that have less")
    expect(any(said for said, _ in done), "no run had a fault")
    expect(less > 0 or not options.all, "no window had less")


def uneven(tools, options, what, preload=(), **variables):
    """A job of uneven_program; its windows."""
    words = [options.uneven, *map(str, what)]
    plain = tools.job(4, words)
    folder = tools.fresh("job")
    (folder / "raw").mkdir()
    path = folder / "t.cham"
    begin = time.monotonic()
    outcome = tools.job(4, words, preload=[*preload, tools.library], CHAMELEON_OUTPUT=path,
                        CHAMELEON_RAW=folder / "raw", CHAMELEON_MARKER_TIMEOUT=MARKER_TIMEOUT,
                        **EFFORT, **variables)
    expect(time.monotonic() - begin < 40 * tools.slower, f"{what}: takes too long")
    lines = [line for line in outcome.stdout.splitlines() if not preload or b" UCX " not in line]
    expect(outcome.status == 0 and sorted(lines) == sorted(plain.stdout.splitlines()),
           f"{what}: the program's result changes", plain, outcome)
    verified(tools, what, path, outcome)
    return windows_of(tools, what, path, outcome), outcome


@test
def leaves(tools, options):
    """A rank that ends or computes for long within a window: it has no steps that others lack."""
    cases = ("ends", "leaves", "sleeps", "fewer", "absent", "half")
    # In the first of each two a window ends where the odd rank comes to no more markers: the
    # others do not begin it without that rank.
    for case in cases if options.all else ("leaves", "half"):
        for odd, steps in ((1, 2 * LENGTH), (0, STEPS), (1, STEPS), (3, STEPS)) if options.all \
                else ((1, 2 * LENGTH),) if case == "half" else ((1, STEPS),):
            windows, outcome = uneven(tools, options, (case, steps, odd, 2))
            expect(steps == STEPS or b"missing" not in outcome.stderr, f"{case}: events are lost", outcome)
            expect(not windows or windows[-1]["gap"] in ("stopped", "uneven"), f"{case}: {windows}",
                   outcome)
            expect(all(one["gap"] == "none" for one in windows[:-1]), f"{case}: {windows}", outcome)


@test
def stuck(tools, options):
    """A rank that does not go on inside the tool, before one of its messages for a window."""
    words = ("even", LENGTH, 0)  # its one window is made at the last marker, then the job ends
    stall = {"preload": [tools.stall], "STALL_SECONDS": STALL}
    lost = 0
    for number in range(20 if options.all else 1):
        rank = (1, 0, 2)[number % 3]
        _, outcome = uneven(tools, options, words, STALL_RANK=rank, STALL_AT=0, **stall)
        sent = int(outcome.stderr.split(b" messages")[0].split()[-1])
        # Behind the window there are the last flush and facts: the window's are before them.
        at = sent * 2 // 3 + options.chance.randrange(sent // 3) if options.all else sent * 2 // 3
        windows, outcome = uneven(tools, options, words, STALL_RANK=rank, STALL_AT=at, **stall)
        whole = [one for one in windows if one["gap"] == "none" and one["ranks"] == 4]
        said = b"gave up" in outcome.stderr or b"given up" in outcome.stderr
        print(f"rank {rank} before message {at} of {sent}: "
              f"{[(one['gap'], one['ranks']) for one in windows]}, {'said' if said else 'not said'}")
        expect(whole or said, "a window is lost, and nothing is said", outcome)
        lost += not whole
    expect(lost > 0 or not options.all, "no window was lost")


def killed_job(tools, options, number, *victims_of):
    """A job that is at its windows all the time, ended at some moment: its folder."""
    folder = tools.fresh("killed")
    (folder / "raw").mkdir()
    online = argparse.Namespace(tools=tools)
    job = online_jobs.Job(online, 4, [tools.online_program, "loop", "1000000", "1"],
                          folder / "t.cham", CHAMELEON_FLUSH_EVERY=5, CHAMELEON_RAW=folder / "raw",
                          **EFFORT)
    processes = job.processes()
    time.sleep(options.chance.uniform(0.3, 1.2))
    job.send(number, *victims_of[0](job.process.pid, processes))
    job.wait()
    return folder, job.outcome()


def check_left(tools, what, path, outcome):
    said = tools.chameleon("info", "--json", path)
    expect(said.status == 0 and not json.loads(said.stdout)["complete"], f"{what}: info", said)
    verified(tools, what, path, outcome)
    windows = windows_of(tools, what, path, outcome)
    expect(all(one["gap"] == "none" and one["ranks"] == 4 for one in windows), f"{what}: {windows}")
    return len(windows)


@test
def killed(tools, options):
    """What is left after a rank or all were killed has whole windows only."""
    windows = []
    for number in range(50 if options.all else 2):
        what = f"kill {number}"
        whose = ((lambda job, ranks: ranks[number % 4:][:1]) if number % 2 else
                 (lambda job, ranks: [job, *ranks]))
        folder, outcome = killed_job(tools, options, signal.SIGKILL, whose)
        windows.append(check_left(tools, what, folder / "t.cham", outcome))
    print(f"killed jobs left {windows} windows")
    expect(max(windows) > 0, "no killed job left a window")


@test
def ended(tools, options):
    """After SIGTERM what the ranks left is joined, and has the windows of the file."""
    for number in range(20 if options.all else 1):
        folder, outcome = killed_job(tools, options, signal.SIGTERM, lambda job, ranks: [job])
        left = check_left(tools, f"SIGTERM {number}", folder / "t.cham", outcome)
        whole = folder / "whole.cham"
        joined = tools.chameleon("recover", folder / "t.cham", "-o", whole)
        expect(joined.status == 0, "recover", joined, outcome)
        verified(tools, "recovered", whole, outcome)
        windows = windows_of(tools, "recovered", whole, outcome)
        expect(len(windows) >= left > 0, f"recovered: {len(windows)} windows of {left}", outcome)


def main():
    arguments = harness.parser(__doc__)
    arguments.add_argument("--examples", required=True, help="folder of the example programs")
    arguments.add_argument("--uneven", required=True, help="ranks that call markers unevenly")
    arguments.add_argument("--only", help="some tests, by commas")
    arguments.add_argument("--all", action="store_true", help="many more runs")
    arguments.add_argument("--seed", type=int, default=harness.seed())
    options = arguments.parse_args()
    options.chance = random.Random(options.seed)
    # Those that wait for seconds are left out unless they are asked for.
    names = options.only or ("memory,leaves,stuck,killed,ended" if options.all else
                             "memory,killed,ended")
    chosen = [one for one in TESTS if one.__name__ in names.split(",")]
    if not chosen:
        sys.exit(f"no test is called {options.only}")

    def body(tools):
        print(f"seed {options.seed}", flush=True)
        for one in chosen:
            begin = time.monotonic()
            one(tools, options)
            print(f"{one.__name__}: ok, {time.monotonic() - begin:.1f} s", flush=True)

    harness.main("test_effort_faults", options, body)


if __name__ == "__main__":
    main()
