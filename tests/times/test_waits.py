#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Waiting at markers is given back where it was: in both readers, in exported timelines, in replay.

    test_waits.py --tools TOOLS.json --program P --events P

In the first phase of waits_program.c ranks wait for rank 1, in the second for the last rank: after
they computed, before the first exchange of the next step."""

import collections
import csv
import json
import pathlib
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path += [str(TESTS / "mpi"), str(TESTS.parent / "tools" / "python")]
import chameleon_trace  # noqa: E402
import harness  # noqa: E402
from harness import expect  # noqa: E402

RANKS, STEPS, COMPUTE, SLOW = 5, 40, 3e6, 8e6  # ns
NAME = "(waiting at markers)"


def near(a, b, part, least=1000):
    return abs(a - b) <= part * abs(b) + least


def totals_of(trace):
    """What each rank waited, by the totals of phases."""
    waited = collections.Counter()
    for total in trace.totals:
        for rank in total.ranks:
            waited[rank] += total.waiting
    return waited


def check_sums(waited, found, where, part=0.01):
    for rank in range(RANKS):
        expect(near(found[rank], waited[rank], part),
               f"{where}: rank {rank} waited {found[rank]} ns, by its totals {waited[rank]} ns")


def check_places(trace):
    """By phase: its exchanges are two places."""
    sites = []
    for rank in range(RANKS):
        by_path = collections.defaultdict(list)
        for event in trace.events(rank):
            if event.name == "Sendrecv":
                by_path[event.path].append(event.waiting_ns)
            else:  # a marker before the barrier and before MPI_Finalize
                expect(event.waiting_ns <= 20 * SLOW, f"rank {rank}: {event.name} has "
                       f"{event.waiting_ns} ns of waiting")
        sites.append([sum(one) for one in by_path.values()])
    for phase, slow in enumerate((1, RANKS - 1)):
        fast = [waits[phase] for rank, waits in enumerate(sites) if rank != slow]
        expect(sites[slow][phase] < 0.5 * min(fast),
               f"phase {phase}: rank {slow} makes others wait, and ranks waited {sites}")
        expect(min(fast) > 0.5 * STEPS * (SLOW - COMPUTE), f"phase {phase}: waited {sites}")


def check_tables(tools, file, waited, folder):
    outcome = tools.chameleon("export", file, "--csv", folder / "csv")
    expect(outcome.status == 0, "export --csv fails", outcome)
    found, last = collections.Counter(), {}
    with open(folder / "csv" / "events.csv", encoding="utf-8") as rows:
        for row in csv.DictReader(rows):
            rank, wait = int(row["rank"]), int(row["waiting_ns"])
            found[rank] += wait
            gap = int(row["begin_ns"]) - last.get(rank, 0)
            expect(gap >= 0.9 * wait, f"CSV: {wait} ns of waiting in a gap of {gap}: {row}")
            last[rank] = int(row["end_ns"])
    check_sums(waited, found, "CSV")


def check_chrome(tools, file, waited, folder):
    """Slices of waiting lie between calls, after the computing of the step that ends."""
    outcome = tools.chameleon("export", file, "--chrome", folder / "chrome.json")
    expect(outcome.status == 0, "export --chrome fails", outcome)
    tracks = collections.defaultdict(list)
    for event in json.loads((folder / "chrome.json").read_text())["traceEvents"]:
        if event["ph"] == "X":
            tracks[event["tid"]].append((event["ts"] * 1e3, event["dur"] * 1e3, event["name"]))
    found, ahead = collections.Counter(), []
    for rank, slices in tracks.items():
        slices.sort()
        for (begin, length, name), (after, _, _) in zip(slices, slices[1:]):
            expect(begin + length <= after + 2, f"chrome: rank {rank}: {name} at {begin} overlaps")
        for (begin, length, name), (at, wait, waiting) in zip(slices, slices[1:]):
            if waiting == NAME:
                found[rank] += wait
                if name == "MPI_Sendrecv" and rank not in (1, RANKS - 1):
                    ahead.append(at - begin - length)
    # The whole is stretched to the length of the run.
    check_sums(waited, found, "chrome", 0.03)
    expect(0.9 * COMPUTE <= sorted(ahead)[len(ahead) // 2] <= SLOW,
           f"chrome: waiting begins {sorted(ahead)[::20]} ns after a call")


def check_states(tools, file, waited, folder):
    """The same in formats with states: as often as in Chrome's, as long."""
    outcome = tools.chameleon("export", file, "--paje", folder / "w.paje")
    expect(outcome.status == 0, "export --paje fails", outcome)
    begun, found = {}, collections.Counter()
    for line in (folder / "w.paje").read_text().splitlines():
        words = line.split(" ", 4)
        if words[0] == "5" and words[4] == f'"{NAME}"':
            begun[words[3]] = float(words[1])
        elif words[0] == "6" and words[3] in begun:
            found[int(words[3][1:])] += (float(words[1]) - begun.pop(words[3])) * 1e9
    check_sums(waited, found, "paje", 0.03)
    outcome = tools.chameleon("export", file, "--paraver", folder / "w.prv")
    expect(outcome.status == 0, "export --paraver fails", outcome)
    calls, states = collections.defaultdict(set), []
    for line in (folder / "w.prv").read_text().splitlines()[1:]:
        words = line.split(":")
        if words[0] == "2":
            calls[int(words[3]) - 1].add(int(words[5]))
        elif words[0] == "1" and words[7] == "5":
            states.append((int(words[3]) - 1, int(words[5]), int(words[6])))
    found = collections.Counter()
    for rank, begin, end in states:
        if begin not in calls[rank]:
            found[rank] += end - begin
    check_sums(waited, found, "paraver", 0.03)


def check_cpp_reader(tools, options, file, waited):
    outcome = tools.run([options.events, file])
    expect(outcome.status == 0, "dump_events fails", outcome)
    found = collections.Counter()
    for line in outcome.stdout.decode().splitlines():
        words = line.split()
        found[int(words[0])] += int(words[7])
    check_sums(waited, found, "C++ reader")


def check_replay(tools, file, facts):
    """It takes as long as the original without the tool's work; ranks that spin need a core each."""
    original = max(one.run_ns - one.tool_ns for one in facts) / 1e9
    for how, most in (("sleep", 1.25), ("spin", 10)):
        outcome = tools.replay(RANKS, file, "--json", f"--compute={how}")
        expect(outcome.status == 0, "the replay fails", outcome)
        seconds = json.loads(outcome.stdout)["seconds"]
        expect(0.9 * original <= seconds <= most * original,
               f"{how}: a run of {original} s is replayed in {seconds} s")


def check(tools, options):
    for fidelity in ("exact", "lead"):
        harness.tried(check_job, tools, options, fidelity)


def check_job(tools, options, fidelity):
    folder = tools.fresh(fidelity)
    file = folder / "trace.cham"
    outcome = tools.traced(RANKS, [options.program, str(STEPS)], file, cwd=folder,
                           CHAMELEON_FIDELITY=fidelity, CHAMELEON_VOTE="blocking")
    expect(outcome.status == 0 and file.exists(), "the traced run fails", outcome)
    trace = chameleon_trace.read_trace(file)
    facts = list(trace.facts())
    waited = totals_of(trace)
    for one in facts:
        expect(near(waited[one.rank], one.waiting_ns, 0.01),
               f"rank {one.rank}: totals say {waited[one.rank]} ns, facts {one.waiting_ns}")
    check_sums(waited, {rank: sum(event.waiting_ns for event in trace.events(rank))
                        for rank in trace.ranks}, "Python reader")
    check_places(trace)
    check_cpp_reader(tools, options, file, waited)
    check_tables(tools, file, waited, folder)
    check_chrome(tools, file, waited, folder)
    check_states(tools, file, waited, folder)
    check_replay(tools, file, facts)


def main():
    arguments = harness.parser(__doc__)
    for program in ("program", "events"):
        arguments.add_argument(f"--{program}", required=True)
    options = arguments.parse_args()
    harness.main("waits", options, lambda tools: check(tools, options))


main()
