#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Votes at markers that some rank does not come to, or comes to before they are over, or at which
some rank strays from what it was clustered by; and programs in which every vote finds a change.

    test_votes.py --tools TOOLS.json --examples FOLDER [--only NAME] [--all]"""

import itertools
import json
import time

from harness import expect
from online_jobs import run_chosen

TESTS = []


def test(function):
    TESTS.append(function)
    return function


@test
def unanswered(online):
    for mode in ("absent", "late"):
        begin = time.monotonic()
        what, _, _, outcome = online.exact(4, online.program(mode, 12), lines=2, MARKER_TIMEOUT=1,
                                           VOTE="blocking" if mode == "late" else "deferred")
        expect(b"rank 1 did not answer at marker" in outcome.stderr, what, outcome)
        expect(time.monotonic() - begin < 30, f"{what}: takes too long")


@test
def pipeline(online):
    """Where ranks run ahead of each other, votes are about two intervals, and decide the same."""
    program = online.example("wavefront", "--iterations", 400, "--compute", 500)
    doubled = []
    for ranks in (2, 5):
        found = [online.exact(ranks, program, VOTE=vote)[::2] for vote in ("deferred", "blocking")]
        (what, facts), (_, blocking) = found
        expect("doubled" not in blocking, f"{what}: blocking votes are about one interval")
        late = facts["facts"]["ranks"]["late_votes"]["most"]
        doubled.append("doubled" in facts)
        # Late ones at the end may be too few among all.
        expect(doubled[-1] or late < 3 or late <= 0.02 * facts["acted"],
               f"{what}: a rank waits for {late} votes")
        for name in ("acted", "count_at", "count_c", "count_l"):
            expect(facts[name] == blocking[name], f"{what}: {name} {facts[name]}")
    # The other ranks may hold a ballot when one ends, or none.
    for mode, markers in (("fewer", 300), ("fewer", 301), ("more", 300), ("more", 301)):
        what, _, facts, outcome = online.exact(8, online.program(mode, markers), lines=2)
        expect(b"not called equally often" in outcome.stderr, what, outcome)
        doubled.append("doubled" in facts)
    expect(any(doubled), "no rank had to wait for votes")


@test
def astray(online):
    """Each rank does something else in 5 % of its intervals: hardly any marker concerns all ranks."""
    markers = 60
    program = online.program("astray", markers)
    for ranks in (4, 8, 16):
        leads = {}
        votes = ("deferred", "blocking") if ranks == 8 or online.all else ("deferred",)
        for fidelity, vote in itertools.product(("exact", "checked", "lead"), votes):
            variables = {"FIDELITY": fidelity, "VOTE": vote}
            if fidelity == "exact":
                what, path, facts, outcome = online.exact(ranks, program, **variables)
            else:
                what, path, facts, outcome = online.trace(ranks, program, **variables)
                verified = online.tools.chameleon("verify", path, "--raw", path.parent / "raw")
                expect(verified.status == 0, f"{what}: differs undeclared", verified, outcome)
            expect(facts["acted"] == markers, f"{what}: {facts['acted']} markers")
            expect(facts["count_l"] >= 54, f"{what}: #L is {facts['count_l']}", outcome)
            expect(facts["clusterings"] == 1, f"{what}: {facts['clusterings']} clusterings")
            expect(len(facts["changed"]) > 0, f"{what}: nobody changes")
            leads[fidelity, vote] = facts["count_l"], facts["count_c"], facts["count_at"]
        expect(len(set(leads.values())) == 1, f"{ranks} ranks: {leads}")
        published = online.exact(ranks, program, FEW=0)[2]["count_l"]
        expect(published < 54, f"{ranks} ranks: #L is {published} also without few")


@test
def steps(online):
    """Findings name single steps, although ranks vote ten times a second at most."""
    program = online.example("faulty", "--iterations", 60, "--fault", "slow:2:20-29:30000")
    for settings in ({"CALL_FREQUENCY": "auto"}, {"CALL_FREQUENCY": 7},
                     {"CALL_FREQUENCY": "auto", "FIDELITY": "lead", "FLUSH_EVERY": 2}):
        what, path, facts, _ = online.trace(4, program, raw=False, **settings)
        expect(facts["acted"] < 30, f"{what}: {facts['acted']} acted on")
        outcome = online.tools.chameleon("series", "--json", path)
        series = json.loads(outcome.stdout)
        expect([(span["first"], span["intervals"]) for span in series["spans"]] ==
               [(step, 1) for step in range(1, 61)], f"{what}: steps are missing", outcome)
        found = [(one["first"], one["last"]) for one in series["slow"] if one["ranks"] == "2"]
        # Of a busy machine other steps of the rank may be slow, too.
        expect(any(first <= 21 and last >= 30 for first, last in found), f"{what}: {found}")
        longest = [span["compute"]["most_rank"] for span in series["spans"][20:30]]
        expect(longest == 10 * [2], f"{what}: {longest} compute longest")


@test
def series_of_a_long_run(online):
    """The series takes what it may of the file, and keeps the slowest step."""
    program = online.example("faulty", "--iterations", 3500, "--fault", "slow:1:3210:400000")
    sizes = {}
    for limit in ("1K", "8K", "1M"):
        what, path, _, _ = online.trace(2, program, raw=False, CALL_FREQUENCY="auto", SERIES=limit,
                                        FLUSH_SECONDS=0.2)
        series = json.loads(online.tools.chameleon("series", "--json", path).stdout)
        expect(series["intervals"] == 3500, f"{what}: {series['intervals']} steps")
        here = [span for span in series["spans"]
                if span["first"] <= 3211 < span["first"] + span["intervals"]]
        expect(here[0]["slowest"]["marker"] == 3211 and
               here[0]["slowest"]["compute"]["most_rank"] == 1, f"{what}: {here}")
        sizes[limit] = len(series["spans"])
    expect(sizes["1K"] < 80 and 100 < sizes["8K"] < sizes["1M"], f"spans: {sizes}")


@test
def irregular(online):
    """Phases that return cost no flush, whatever the program does: but for flushes that are due there
    are those of phases never seen before, of which each was AT or C at some marker."""
    steps = 240 if online.all else 40
    adaptive = ("adaptive", "--iterations", steps)
    others = [("phases", "--iterations", steps, "--pattern", pattern)
              for pattern in ("AB", "AAB", "roles", "differs", "random")]
    jobs = [(words, fidelity) for words in (adaptive, *others)
            for fidelity in ("exact", "checked", "lead")]
    if not online.all:
        jobs = [(adaptive, "lead"), (adaptive, "checked"), (others[2], "lead"),
                (others[3], "checked"), (others[4], "lead")]
    for ranks in (2, 4, 8) if online.all else (4,):
        for words, fidelity in jobs:
            what, path, facts, _ = online.trace(ranks, online.example(*words), FIDELITY=fidelity)
            due = facts["run_seconds"]  # flushes that are due come at most once a second
            expect(facts["count_flush"] <= facts["count_at"] + facts["count_c"] + due,
                   f"{what}: {facts['count_flush']} flushes, AT {facts['count_at']}")
            strict = ["--strict"] if fidelity == "exact" else []
            outcome = online.tools.chameleon("verify", *strict, path, "--raw", path.parent / "raw")
            expect(outcome.status == 0, f"{what}: verify", outcome)


if __name__ == "__main__":
    run_chosen("test_votes", __doc__, TESTS)
