#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Programs whose ranks call MPI from several threads at once: the same result as untraced, a
stream of events a thread, and every value the one in the raw records.

    test_threads.py --tools TOOLS.json --program PROGRAM --ranks 1,2,4 [--unlocked LIBRARY]

With LIBRARY, the tracer without locks: ThreadSanitizer finds that, so that it would find others."""

import json
import re

import harness
from harness import expect

ROUNDS, THREADS = 6, 3
SETTINGS = {
    "off": {"CHAMELEON_CLUSTERING": "off"},
    "exact": {},
    "lead": {"CHAMELEON_FIDELITY": "lead", "CHAMELEON_K": "1"},
    "small": {"CHAMELEON_BUFFER": "64K", "CHAMELEON_FLUSH_EVERY": "2", "CHAMELEON_TIMING": "full"},
}


def events_of(rounds, threads):
    """How many calls a rank makes, from the program's text."""
    workers = 0
    for round_ in range(rounds):
        coming = threads - 1 if round_ >= 4 and threads > 1 else threads
        workers += sum(5 * (5 + t) + 8 + 2 for t in range(coming))
    return workers + 2 * threads + 3  # dup and free, MPI_Init_thread, MPI_Allreduce, MPI_Finalize


def threads(tools, options, ranks):
    program = [options.program, ROUNDS, THREADS]
    plain = tools.job(ranks, program)
    expect(plain.status == 0 and plain.stdout, f"{ranks} ranks, untraced", plain)
    for name, settings in SETTINGS.items():
        folder = tools.fresh(f"threads.{ranks}.{name}")
        raw = folder / "raw"
        raw.mkdir()
        trace = folder / "t.cham"
        outcome = tools.traced(ranks, program, trace, raw=raw, **settings)
        expect((outcome.status, outcome.stdout) == (0, plain.stdout),
               f"{ranks} ranks, {name}: the result changes", plain, outcome)
        one_trace(tools, ranks, name, trace, raw)


def one_trace(tools, ranks, name, trace, raw):
    what = f"{ranks} ranks, {name}"
    report = tools.verify(trace, raw)
    wanted = ranks * events_of(ROUNDS, THREADS)
    expect(report["raw_events"] == wanted, f"{what}: {report['raw_events']} calls, not {wanted}")
    info = json.loads(tools.chameleon("info", trace, "--json").stdout)
    # The first thread, and the workers, which take the numbers of those that ended.
    expect(info["threads"] == THREADS + 1 and info["streams"] == ranks * (THREADS + 1),
           f"{what}: {info['threads']} threads, {info['streams']} streams")
    expect(info["events"] == wanted and not info["declarations"] and not info["inexact"],
           f"{what}: info: {info}")
    files = sorted(path.name for path in raw.iterdir())
    expect(len(files) == ranks * (THREADS + 1), f"{what}: raw records {files}")

    shown = tools.chameleon("print", trace, "--rank", 0, "--expand")
    text = shown.stdout.decode()
    expect(shown.status == 0 and re.findall(r"^thread (\d)$", text, re.M) == ["0", "1", "2", "3"],
           f"{what}: print --expand", shown)
    expect(len(re.findall(r"^\d+  ", text, re.M)) == events_of(ROUNDS, THREADS),
           f"{what}: print --expand has other events")
    shown = tools.chameleon("print", trace)
    expect(shown.status == 0 and b"thread" in shown.stdout, f"{what}: print", shown)
    stats = json.loads(tools.chameleon("stats", trace, "--json").stdout)
    expect(stats["events"] == wanted, f"{what}: stats: {stats['events']}")
    expect(all(int(rank) < ranks for row in stats["rows"]
               for rank in re.findall(r"\d+", row["ranks"])), f"{what}: stats: {stats['rows']}")
    for verb, *more in (["check"], ["matrix"], ["report"], ["predict", "--platform", "any.xml"]):
        refused = tools.chameleon(verb, trace, *more)
        expect(refused.status == 4 and refused.stderr.count(b"\n") == 1 and
               b"threads" in refused.stderr, f"{what}: {verb} is not refused in one line", refused)


def unlocked(tools, options, ranks):
    try:
        outcome = tools.job(ranks, [options.program, ROUNDS, THREADS], preload=[options.unlocked],
                            CHAMELEON_OUTPUT=tools.fresh("unlocked") / "t.cham")
    except harness.Failure as failure:
        if "ThreadSanitizer: data race" in str(failure):
            return
        raise
    expect(False, f"{ranks} ranks: ThreadSanitizer does not miss the locks", outcome)


def main():
    arguments = harness.parser_of_ranks(__doc__)
    arguments.add_argument("--unlocked", help="the library without locks")
    options = arguments.parse_args()
    harness.main_of_ranks("test_threads", options, unlocked if options.unlocked else threads)


if __name__ == "__main__":
    main()
