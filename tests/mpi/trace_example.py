#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""An example program, traced, changes nothing and is recorded and replayed exactly.

    trace_example.py --tools TOOLS.json --program P --ranks 1,2,3 [--counts] -- ARGUMENTS...

At each number of ranks: exit status and stdout are the untraced run's, byte for byte; every
value agrees with the raw records; the trace is consistent; it replays to its end; the trace of
the replay holds the same calls with the same values (but for the substitutions in
docs/reference/replay.md); with --counts, every rank calls every function as often as an
independent counting library says, which the untraced run then has. On UNTRACED_REPLAY ranks it is
also replayed without the tracer."""

import harness
from harness import expect

UNTRACED_REPLAY = (3, 16)


def untraced(tools, options, ranks, program, folder):
    """The program without the tracer; with --counts it writes a file of counts a rank."""
    if not options.counts:
        return tools.job(ranks, program, cwd=folder)
    (folder / "counted").mkdir()
    outcome = tools.job(ranks, program, preload=[tools.count_calls], cwd=folder,
                        COUNT_CALLS_DIR=folder / "counted")
    expect(outcome.status == 0, f"{ranks} ranks: the counting run fails", outcome)
    return outcome


def check_counts(tools, ranks, folder):
    local = tools.local_calls()
    for rank in range(ranks):
        lines = (folder / "counted" / f"rank.{rank}.txt").read_text().splitlines()
        witness = {name: int(count) for name, count in map(str.split, lines) if name not in local}
        witness.pop("MPI_Pcontrol", None)  # markers are no events
        recorded = {name: count for name, count in harness.raw_counts(folder / "raw", rank).items()
                    if name not in local}
        expect(witness == recorded and witness,
               f"{ranks} ranks, rank {rank}: counted {witness}, recorded {recorded}")


def check_ranks(tools, options, ranks):
    where = f"{ranks} ranks"
    program = [options.program, *options.arguments]
    folder = tools.fresh(f"n{ranks}")
    (folder / "raw").mkdir()
    trace, again = folder / "first.cham", folder / "again.cham"

    plain = untraced(tools, options, ranks, program, folder)
    traced = tools.traced(ranks, program, trace, raw=folder / "raw", cwd=folder)
    expect(plain.status == traced.status, f"{where}: exit status changes", plain, traced)
    expect(plain.stdout == traced.stdout, f"{where}: stdout changes", plain, traced)
    expect(traced.stderr.count(b"\n") == 1, f"{where}: more than the summary on stderr", traced)
    expect(trace.exists(), f"{where}: no trace", traced)

    report = tools.verify(trace, folder / "raw")
    expect(report["ranks"] == ranks, f"{where}: verified {report['ranks']} ranks")
    tools.check(trace)
    if ranks in UNTRACED_REPLAY:
        replayed = tools.replay(ranks, trace)
        expect(replayed.status == 0, f"{where}: replay fails", replayed)
    second = tools.traced(ranks, [tools.replayer, "--compute=none", trace], again)
    expect(second.status == 0 and again.exists(), f"{where}: the traced replay fails", second)
    expect(b"left out" not in second.stdout + second.stderr, f"{where}: replay", second)
    tools.check(again)
    same = tools.run([tools.same_events, trace, again])
    expect(same.status == 0, f"{where}: the replay's trace differs", same)
    if options.counts:
        check_counts(tools, ranks, folder)


def main():
    arguments = harness.parser_of_ranks(__doc__)
    arguments.add_argument("--counts", action="store_true", help="compare numbers of calls")
    arguments.add_argument("arguments", nargs="*", help="of the program, after --")
    options = arguments.parse_args()
    harness.main_of_ranks("trace_example", options, check_ranks)


if __name__ == "__main__":
    main()
