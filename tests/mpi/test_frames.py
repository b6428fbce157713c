#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Relaxed stack matching (CHAMELEON_FRAMES): call sites in the middle of a path no longer keep a
loop from folding, and nothing is lost: the trace has every event's whole call path.

    test_frames.py --tools TOOLS.json --examples FOLDER [--only NAME] [--all]"""

import json
import pathlib
import sys

from harness import expect
from online_jobs import run_chosen

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tools" / "python"))
import chameleon_trace

TESTS = []
RANKS = 4


def test(function):
    TESTS.append(function)
    return function


def verified(online, what, path):
    """The columns of verify; all values and call paths as recorded."""
    outcome = online.tools.chameleon("verify", "--strict", "--json", path, "--raw",
                                     path.parent / "raw")
    expect(outcome.status == 0, f"{what}: verify", outcome)
    columns = json.loads(outcome.stdout)["columns"]
    for column in [name for name in columns if "matched" in columns[name]]:
        one = columns[column]
        expect(one["matched"] == one["total"], f"{what}: {column} {one}")
    expect(columns["path"]["total"] > 0, f"{what}: no call path was compared")


def called(path):
    """By rank: (call, call path as frames) of each event."""
    trace = chameleon_trace.read_trace(path)
    return [[(event.name, tuple(trace.frames(event.path))) for event in trace.events(rank)]
            for rank in range(RANKS)]


def loops_of(trace, call):
    """The bodies of innermost loops that hold a call."""
    found = []

    def walk(nodes):
        for node in nodes:
            if not node.is_loop:
                continue
            walk(node.body)
            if any(not inner.is_loop and inner.call.name == call for inner in node.body):
                found.append(node)

    for part, _ in trace.parts:
        walk(part.nodes)
    return found


@test
def ghosts_are_one_loop(online):
    """The eight ghost updates of a step, from seven functions, at one innermost and one outermost
    frame; the same calls and whole call paths as with all frames."""
    program = online.example("ocean", "--iterations", 6)
    _, path, facts, _ = online.exact(RANKS, program)
    expect(facts["facts"]["run"]["frames_matched"] == "", f"{facts['facts']['run']}")
    whole, nodes = called(path), facts["nodes"]
    for variables in ({}, {"TIMING": "full"}, {"CLUSTERING": "off"}):
        what, path, facts, _ = online.exact(RANKS, program, FRAMES="1+1", **variables)
        expect(facts["facts"]["run"]["frames_matched"] == "1+1", f"{what}: {facts['facts']['run']}")
        expect(called(path) == whole, f"{what}: other events or call paths")
        expect(2 * facts["nodes"] < nodes, f"{what}: {facts['nodes']} nodes, {nodes} of all frames")
        verified(online, what, path)
        counts = set()
        for loop in loops_of(chameleon_trace.read_trace(path), "Waitall"):
            calls = [node.call.name for node in loop.body if not node.is_loop]
            if calls == ["Irecv"] * 4 + ["Isend"] * 4 + ["Waitall"]:
                counts.update(list(loop.iterations.of(0)[0]))
        # The eight, with those that end the step before and begin the solver.
        expect(any(count >= 8 for count in counts), f"{what}: {counts}")


@test
def only_ends_count(online):
    """With three innermost frames nothing of ocean is alike that is not so with all."""
    program = online.example("ocean", "--iterations", 3)
    _, _, all_frames, _ = online.exact(RANKS, program)
    what, path, facts, _ = online.exact(RANKS, program, FRAMES="3+0")
    expect(facts["nodes"] == all_frames["nodes"], f"{what}: {facts['nodes']}")
    verified(online, what, path)


@test
def leads_tell_whose_paths_they_know(online):
    """At every fidelity what the trace does not know of a rank's call paths is declared."""
    for name in ("ocean", "wavefront", "multigrid") if online.all else ("ocean", "multigrid"):
        program = online.example(name, "--iterations", 5)
        for fidelity in ("checked", "lead"):
            what, path, facts, _ = online.trace(RANKS, program, FRAMES="1+1", FIDELITY=fidelity)
            outcome = online.tools.chameleon("verify", "--json", path, "--raw",
                                             path.parent / "raw")
            expect(outcome.status == 0, f"{what}: something inexact is not declared", outcome)
            expect(json.loads(outcome.stdout)["columns"]["path"]["total"] > 0, what)


@test
def clusters_are_found_again(online):
    """`chameleon cluster` signs the relaxed paths too."""
    program = online.example("ocean", "--iterations", 3)
    what, path, facts, _ = online.exact(RANKS, program, FRAMES="1+1", ALGORITHM="reference",
                                        CALL_FREQUENCY=1000)
    outcome = online.tools.chameleon("cluster", "--json", path, "--algorithm", "reference")
    expect(outcome.status == 0, f"{what}: cluster", outcome)
    study = json.loads(outcome.stdout)["algorithms"][0]
    told, found = ([(one["call_path"], one["lead"], one["ranks"]) for one in of["clusters"]]
                   for of in (facts, study))
    expect(told == found, f"{what}: {told}, not {found}")


if __name__ == "__main__":
    run_chosen("test_frames", __doc__, TESTS)
