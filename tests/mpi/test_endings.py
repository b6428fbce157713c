#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A job that one of its ranks ends: by a call that MPI does not forgive, a signal, abort(),
MPI_Abort, exit() or _exit(). It ends as without the tracer, with the same words and status; all
ranks leave their last words; and `check` says who ended it, where, and by what.

    test_endings.py --tools TOOLS.json --program ENDING_PROGRAM --source FILE [--only NAME] [--all]"""

import json
import pathlib
import re

import harness
from harness import expect

# What ends the last rank: its last call, the text of its line, and what is said of it.
WAYS = {
    "send": ("Send", "MPI_INT, 99, 7", "a fatal error of MPI", "MPI_ERR_RANK"),
    "truncate": ("Recv", None, "a fatal error of MPI", "MPI_ERR_TRUNCATE"),
    "start": ("Start", "MPI_Start(", "a fatal error of MPI", "MPI_ERR_REQUEST"),
    "segv": ("Barrier", "MPI_Barrier(MPI_COMM_WORLD);", "SIGSEGV", ""),
    "inside": ("Sendrecv", None, "SIGSEGV", ""),
    "fpe": ("Barrier", "MPI_Barrier(MPI_COMM_WORLD);", "SIGFPE", ""),
    "abort": ("Barrier", "MPI_Barrier(MPI_COMM_WORLD);", "SIGABRT", ""),
    "thread": ("Barrier", "MPI_Barrier(MPI_COMM_WORLD);", "SIGSEGV", ""),
    "mpi_abort": ("Abort", "MPI_Abort(", "MPI_Abort", ""),
    "exit": ("Barrier", "MPI_Barrier(MPI_COMM_WORLD);", "exit() without MPI_Finalize", ""),
    "_exit": ("Barrier", "MPI_Barrier(MPI_COMM_WORLD);", "_exit() without MPI_Finalize", ""),
}
# The rank's own status, or with it those of the ranks that the launcher kills: both come, untraced
# too (8 jobs of abort() in a row: 6 15 6 15 15 6 15 15). Those of errors end in their class.
STATUSES = {"send": (6,), "truncate": (14,), "start": (19,), "segv": (11, 9), "inside": (11, 9),
            "fpe": (8, 9), "abort": (6, 15, 9), "thread": (11, 9), "mpi_abort": (7,),
            "exit": (3, 9, 11, 1), "_exit": (4, 9, 13)}
# From MPICH 4.2 on they come by chance, too (10 jobs untraced: 9 0 19 0 9 9 9 9 9 19).
CHANCE = (0, 9)
# Not a fault of the program that is known: it may have meant to end so.
MEANT = ("mpi_abort", "exit", "_exit")


def newer(tools):
    """Whether the MPI is MPICH 4.2 or newer."""
    found = re.search(rb"MPICH (\d+)\.(\d+)", tools.chameleon("--version").stdout)
    return found is not None and (int(found[1]), int(found[2])) >= (4, 2)


def line_of(source, text):
    lines = pathlib.Path(source).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def words(text):
    """What a job said, without numbers of processes, codes and addresses, and without the tool."""
    lines = [line for line in text.decode(errors="replace").splitlines()
             if not line.startswith("chameleon: ")]
    return sorted(re.sub(r"0x[0-9a-f]+|\b\d{2,}\b", "N", line) for line in lines
                  if not re.match(r" *\d+ +\S*(lib|/|\[)", line))


def own_lines(outcome):
    """Of the program; the launcher adds which process ended first."""
    return sorted(line for line in outcome.stdout.splitlines() if line.startswith(b"rank "))


def ended(tools, program, ranks, way, *options):
    """Traced and untraced outcome, trace, and folder of raw records."""
    folder = tools.fresh(f"{way}-{ranks}")
    (folder / "raw").mkdir()
    plain = tools.job(ranks, [program, way], cwd=folder)
    outcome = tools.traced(ranks, [program, way], folder / "t.cham", raw=folder / "raw", cwd=folder)
    expect(outcome.status in STATUSES[way] + (CHANCE if newer(tools) else ()), f"{way} on {ranks}: exit status",
           plain, outcome)
    expect(plain.status in STATUSES[way], f"{way} on {ranks}: status untraced", plain, outcome)
    expect(own_lines(outcome) in ([], [b"rank %d ends" % (ranks - 1)]),
           f"{way} on {ranks}: output", plain, outcome)  # the launcher may lose it, untraced too
    if way not in ("segv", "inside", "fpe", "thread", "abort"):  # hydra's words and UCX's vary
        said, told = set(words(plain.stderr)), set(words(outcome.stderr))
        expect(said <= told or told <= said, f"{way} on {ranks}: words", plain, outcome)
    left = [rank for rank in range(ranks) if (folder / f"t.cham.rank{rank}").exists()]
    expect(left == list(range(ranks)), f"{way} on {ranks}: last words of {left} only", outcome)
    return folder / "t.cham", folder / "raw"


def judged(tools, source, trace, way, ranks):
    call, text, why, error = WAYS[way]
    outcome = tools.chameleon("check", trace, "--json")
    expect(outcome.status == (0 if way in MEANT else 1), f"{way} on {ranks}: check", outcome)
    hang = json.loads(outcome.stdout)["hang"]
    ends = hang["ends"]
    expect([(one["rank"], one["why"], one["call"], one["error"]) for one in ends] ==
           [(ranks - 1, why, call, error)], f"{way} on {ranks}: {ends}", outcome)
    expect(ends[0]["inside"] == (way == "inside"), f"{way} on {ranks}: {ends}", outcome)
    if text is not None:
        line = line_of(source, text)
        expect(f"ending_program.c:{line} " in ends[0]["site"], f"{way}: line {line}: {ends}")
    first = hang["causes"][0]
    waiting = {1: "", 2: "0"}.get(ranks, f"0-{ranks - 2}")
    expect((first["kind"], first["ranks"], first["waiting"]) == ("ended", str(ranks - 1), waiting),
           f"{way} on {ranks}: who waits: {hang}", outcome)
    said = tools.chameleon("check", trace).stdout.decode()
    expect(f"rank {ranks - 1} " in said.splitlines()[0], f"{way}: what is said first:\n{said}")
    if error:
        expect(error in said.splitlines()[0], f"{way}: what is said first:\n{said}")


def ways(tools, options):
    for way in WAYS:
        for ranks in (1, 2, 3, 4, 7) if options.all else (1, 3):
            if way == "truncate" and ranks == 1:
                continue
            trace, raw = ended(tools, options.program, ranks, way)
            judged(tools, options.source, trace, way, ranks)
            whole = trace.with_name("whole.cham")
            outcome = tools.chameleon("recover", trace, "-o", whole)
            expect(outcome.status == 0, f"{way}: recover", outcome)
            tools.verify(whole, raw)
            judged(tools, options.source, whole, way, ranks)


TESTS = [ways]


def main():
    arguments = harness.parser(__doc__)
    arguments.add_argument("--program", required=True)
    arguments.add_argument("--source", required=True)
    arguments.add_argument("--only")
    arguments.add_argument("--all", action="store_true")
    options = arguments.parse_args()
    harness.main("endings", options, lambda tools: harness.run_each(
        TESTS, options.only, lambda test: test(tools, options)))


if __name__ == "__main__":
    main()
