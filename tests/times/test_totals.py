#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a trace says that each rank spent in each phase is what its raw records add up to between the
markers of that phase, however often the trace was flushed, and with several threads.

    test_totals.py --tools TOOLS.json --phases P --threads P"""

import collections
import pathlib
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path += [str(TESTS / "mpi"), str(TESTS.parent / "tools" / "python")]
import chameleon_trace  # noqa: E402
import harness  # noqa: E402
from harness import expect  # noqa: E402

COLLECTIVE = ("Barrier", "Allreduce", "Reduce", "Bcast", "Comm_dup", "Comm_free")
NEAR = 0.01
OF_THREADS = 0.25  # of computing: threads on few cores lose them in the tracer too, for a while
BESIDE = 300_000  # ns at a marker between a reading of the clock and the next, preempted at times


def raw_intervals(folder, rank):
    """Of each interval of the rank's first thread, the last without a marker at its end: ns in
    calls by kind, and the least and most that it computed. What the first call of an interval has
    before it may be of the interval before."""
    intervals, begins, name = [collections.Counter()], True, None
    with open(folder / f"rank.{rank}.raw", encoding="utf-8", errors="replace") as lines:
        for line in lines:
            words = line.split()
            if words[:2] == ["#", "marker"]:
                intervals.append(collections.Counter())
                begins = True
            elif words[:2] == ["#", "spent"]:
                here = intervals[-1]
                here["collective" if name in COLLECTIVE else "point_to_point"] += int(words[3])
                here["most"] += int(words[2])
                if not begins:
                    here["least"] += int(words[2])
                elif len(intervals) > 1:
                    intervals[-2]["most"] += int(words[2])
                begins = False
            elif words[0] != "#":
                name = words[words[0].startswith("@")]
    return intervals


def by_phase(intervals, phases):
    sums = collections.defaultdict(collections.Counter)
    for interval, phase in zip(intervals, [*phases, None]):
        sums[phase].update(interval)
        sums[phase]["intervals"] += 1
    return sums


def check_phase(where, said, true, near):
    for kind in ("point_to_point", "collective"):
        expect(abs(said[kind] - true[kind]) <= NEAR * true[kind] + 10_000,
               f"{where}: {kind} {said[kind]} ns, raw {true[kind]}")
    beside = BESIDE * true["intervals"]
    expect((1 - near) * true["least"] - beside <= said["compute"] <=
           (1 + near) * true["most"] + beside,
           f"{where}: compute {said['compute']} ns, raw {true['least']} to {true['most']}")


def check_totals(where, trace, raw, ranks):
    """Gives how many phases there are."""
    phases = [span.phase for span in trace.series]
    expect(all(span.intervals == 1 for span in trace.series), f"{where}: intervals are joined")
    said = collections.defaultdict(dict)
    for total in trace.totals:
        for rank in total.ranks:
            said[rank][total.phase] = total._asdict()
    expect(sorted(said) == list(range(ranks)), f"{where}: totals of ranks {sorted(said)}")
    facts = {fact.rank: fact for fact in trace.facts()}  # of first threads, and others
    for rank in range(ranks):
        intervals = raw_intervals(raw, rank)
        expect(len(intervals) == len(phases) + 1,
               f"{where}: rank {rank} has {len(intervals)} intervals, the series {len(phases)}")
        true = by_phase(intervals, phases)
        expect(said[rank].keys() == true.keys(), f"{where}: rank {rank}: {said[rank]}")
        for phase, sums in true.items():
            check_phase(f"{where}, rank {rank}, phase {phase}", said[rank][phase], sums,
                        NEAR if trace.threads == 1 else OF_THREADS)
        fact = facts[rank]
        for kind, whole in (("waiting", fact.waiting_ns), ("tool", fact.tool_ns)):
            summed = sum(one[kind] for one in said[rank].values())
            expect(abs(summed - whole) <= NEAR * whole + 100_000,
                   f"{where}: rank {rank}: {kind} {summed} ns, its facts {whole}")
        everything = sum(one[kind] for one in said[rank].values() for kind in
                         ("compute", "point_to_point", "collective", "waiting", "tool"))
        expect(abs(everything - fact.run_ns) <= NEAR * fact.run_ns,
               f"{where}: rank {rank}: {everything} ns in all, its run {fact.run_ns}")
    return len(set(phases))


def check_job(tools, name, ranks, program, phases, fidelity):
    where = f"{' '.join(map(str, program[1:]))}, {fidelity}"
    folder = tools.fresh(name)
    raw, file = folder / "raw", folder / "trace.cham"
    raw.mkdir()
    outcome = tools.traced(ranks, program, file, raw=raw, cwd=folder,
                           CHAMELEON_FIDELITY=fidelity, CHAMELEON_FLUSH_EVERY=5)
    expect(outcome.status == 0 and file.exists(), f"{where}: the traced run fails", outcome)
    trace = chameleon_trace.read_trace(file)
    expect(trace.online.flushes >= 3, f"{where}: {trace.online.flushes} flushes")
    expect((trace.threads > 1) == (name == "threads"), f"{where}: {trace.threads} threads")
    found = check_totals(where, trace, raw, ranks)
    expect(found >= phases, f"{where}: {found} phases in the series")
    print(f"{where}: {found} phases, {trace.online.flushes} flushes", flush=True)


def check(tools, options):
    # Phases that take turns and return, each long enough for leads; and a change at every marker.
    jobs = [("phases", 4, [options.phases, "--iterations", 48, "--compute", 2000, "--pattern",
                           pattern], 2, fidelity)
            for pattern in ("AAAAAABBBBBB", "AB") for fidelity in ("exact", "checked", "lead")]
    jobs.append(("threads", 3, [options.threads, 12, 3], 1, "exact"))
    for job in jobs:
        harness.tried(check_job, tools, *job)


def main():
    arguments = harness.parser(__doc__)
    for program in ("phases", "threads"):
        arguments.add_argument(f"--{program}", required=True)
    options = arguments.parse_args()
    harness.main("totals", options, lambda tools: check(tools, options))


main()
