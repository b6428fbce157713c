#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A conformance program, traced, changes nothing and is recorded and replayed exactly.

    conform.py --tools TOOLS.json --program P --ranks 2,3 [--faults truncation,collective]

At each number of ranks: the program's own checks hold; exit status and stdout are the untraced
run's; every value agrees with the raw records; the trace is consistent, or `check` finds faults of
the program, of these kinds only; `check` names what a replay leaves out; the replay leaves out nothing else and runs to its end; its own trace holds the
same calls with the same values (but for the substitutions in docs/reference/replay.md). No call of
the replay goes beyond its buffers. Without a scratch folder, the calls on files are left out with
one line that says so."""

import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "mpi"))
import harness
from harness import expect

FILES = "it is on a file, and needs --scratch"
FAILED = "it failed in the traced run"
OTHERS = "it needs other processes"
MADE = "it is on an object that the replay does not have"


def left_out_by_check(tools, trace, options, where):
    """Calls that `check` says a replay leaves out although it has a scratch folder."""
    faults = set(filter(None, options.faults.split(",")))
    outcome = tools.chameleon("check", trace, "--json")
    expect(outcome.stdout, f"{where}: check", outcome)
    report = json.loads(outcome.stdout)
    expect(outcome.status == (1 if faults else 0), f"{where}: check's status", outcome)
    expect(report["problem_count"] == report["program_count"], f"{where}: the trace is at fault",
           outcome)
    found = {problem["kind"] for problem in report["problems"]}
    expect(found <= faults and bool(found) == bool(faults), f"{where}: check finds {found}", outcome)
    listed = report["replay_leaves_out"]
    reasons = {entry["why"] for entry in listed}
    expect(reasons <= {FILES, FAILED, OTHERS, MADE}, f"{where}: check: left out for {reasons}", outcome)
    text = tools.chameleon("check", trace).stdout.decode()
    expect(("the program is at fault" if faults else "the trace is consistent") in text,
           f"{where}: the last line", outcome)
    not_replayed = report.get("not_replayed", "")
    for why in {not_replayed} if not_replayed else reasons:
        expect(f": {why}\n" in text, f"{where}: check does not say: {why}", outcome)
    return ({e["call"]: e["count"] for e in listed if e["why"] != FILES}, FILES in reasons,
            not_replayed)


def check_strings(raw, ranks):
    """The program to spawn counts at the root, if there is a communicator; elsewhere it may be
    anything and is not read."""
    for rank in range(ranks):
        text = (raw / f"rank.{rank}.raw").read_text()
        no_comm = "comm=" + re.search(r"MPI_COMM_NULL (\S+)", text)[1]
        for line in text.splitlines():
            name, *arguments = line.split()
            read = f"root={rank}" in arguments and no_comm not in arguments
            expect(name != "Comm_spawn" or ("command=[]" in arguments) != read,
                   f"rank {rank}: a string that does not count: {line}")


def check_ranks(tools, options, ranks):
    where = f"{ranks} ranks"
    folder = tools.fresh(f"n{ranks}")
    for name in ("raw", "plain", "traced", "scratch"):
        (folder / name).mkdir()
    trace, again = folder / "first.cham", folder / "again.cham"

    plain = tools.job(ranks, [options.program, folder / "plain"], cwd=folder)
    traced = tools.traced(ranks, [options.program, folder / "traced"], trace, raw=folder / "raw",
                          cwd=folder, preload=options.preload, CHAMELEON_CLUSTERING="off")
    expect(plain.status == 0, f"{where}: untraced", plain)
    expect(traced.status == 0, f"{where}: traced", traced)
    expect(plain.stdout == traced.stdout and plain.stdout, f"{where}: stdout changes", plain,
           traced)
    expect(traced.stderr.count(b"\n") == 1, f"{where}: more than the summary on stderr", traced)
    tools.verify(trace, folder / "raw")
    check_strings(folder / "raw", ranks)
    lost, on_files, not_replayed = left_out_by_check(tools, trace, options, where)
    if options.threads:  # which replay one after the other, if there is an order
        replayed = tools.replay(ranks, trace)
        expect(replayed.status == (4 if not_replayed else 0), f"{where}: replay of threads",
               replayed)
        expect(not not_replayed or b"refused: " in replayed.stderr, f"{where}: it does not say why",
               replayed)
        return

    second = tools.traced(ranks, [tools.replayer, "--compute=none", "--json",
                                  f"--scratch={folder / 'scratch'}", trace], again)
    expect(second.status == 0 and again.exists(), f"{where}: the replay fails", second)
    left_out = json.loads(second.stdout)["left_out"]
    expect(left_out == lost, f"{where}: left out {left_out}, by check {lost}", second)
    expect(not any((folder / "scratch").iterdir()), f"{where}: files are left", second)
    same = tools.run([tools.same_events, trace, again])
    expect(same.status == 0, f"{where}: the replay's trace differs", same)
    guarded = tools.replay(ranks, trace, "--guard", f"--scratch={folder / 'scratch'}")
    expect(guarded.status == 0 and not guarded.stderr, f"{where}: a call goes beyond its buffer",
           guarded)
    if on_files:
        without = tools.replay(ranks, trace)
        expect(without.status == 0, f"{where}: the replay without a folder fails", without)
        expect(b"left out: " in without.stdout and b"--scratch=FOLDER" in without.stdout,
               f"{where}: the replay without a folder does not say what is left out", without)


def main():
    arguments = harness.parser_of_ranks(__doc__)
    arguments.add_argument("--faults", default="", help="kinds of faults in the program")
    arguments.add_argument("--threads", action="store_true", help="ranks have several threads")
    arguments.add_argument("--preload", action="append", default=[], help="after the tracer")
    options = arguments.parse_args()

    def check(tools, given, ranks):
        if not given.threads:
            return check_ranks(tools, given, ranks)
        # Which thread takes a message is a race, of which `check` once in 150 runs sees no order.
        return harness.tried(check_ranks, tools, given, ranks)

    harness.main_of_ranks("conform", options, check)


if __name__ == "__main__":
    main()
