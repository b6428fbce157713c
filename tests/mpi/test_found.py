#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Markers that the tracer finds (CHAMELEON_MARKERS=auto): in the examples with their own markers
taken out, and in programs in which there are none to be found.

    test_found.py --tools TOOLS.json --examples FOLDER [--only NAME] [--all] [--seed N]"""

import contextlib
import re
import time

from harness import expect
from online_jobs import run_chosen

TESTS = []
# Those with collectives of all ranks in their time step.
STEPS = ("stencil2d", "ring", "hydro", "bucketsort", "multigrid", "ocean", "faulty", "taskfarm",
         "sparse", "spectral", "phases")
FOUND = re.compile(r"found: (?:every|one in \d+) MPI_\w+ of all ranks, after collective (\d+)")


def test(function):
    TESTS.append(function)
    return function


@contextlib.contextmanager
def without_markers(tools, library):
    """Programs that are traced with this library have no markers of their own."""
    usual = tools.library
    tools.paths["library"] = f"{tools.unmarked}:{library}"
    try:
        yield
    finally:
        tools.paths["library"] = usual


def unmarked(online, ranks, program, lines=1, **variables):
    """Runs the program traced, without its own markers. One more line names the preload."""
    with without_markers(online.tools, online.tools.library):
        return online.exact(ranks, program, lines=lines + 1,
                            **{"MARKERS": "auto", "CALL_FREQUENCY": "auto", **variables})


def behaviours(facts):
    return len({cluster["call_path"] for cluster in facts["clusters"]}), len(facts["clusters"])


def source(facts):
    return facts["facts"]["run"].get("marker_source", "")


@test
def examples(online):
    """As many Call-Paths and leads as with the program's own markers."""
    names = STEPS if online.all else ("stencil2d", "taskfarm")
    for name in names:
        for ranks in (2, 4, 7, 16) if online.all else (4,):
            steps = 30
            program = online.example(name, "--iterations", steps)
            _, _, own, _ = online.exact(ranks, program, CALL_FREQUENCY=1)
            expect(source(own) == "program", f"{name}: marked by {source(own)}")
            what, _, facts, _ = unmarked(online, ranks, program, CALL_FREQUENCY=1)
            found = FOUND.fullmatch(source(facts))
            expect(found and int(found[1]) <= 64, f"{what}: {source(facts)}")
            expect(facts["acted"] >= steps // 2, f"{what}: {facts['acted']} markers")
            # How many ranks of a task farm are alike is chance.
            compared = slice(1 if name == "taskfarm" else 2)
            expect(behaviours(facts)[compared] == behaviours(own)[compared],
                   f"{what}: {behaviours(facts)} behaviours, not {behaviours(own)}")
            expect(facts["count_l"] >= facts["acted"] - 6, f"{what}: {facts['count_l']} in L")


@test
def fidelities(online):
    for fidelity in ("checked", "lead") if online.all else ("lead",):
        what, path, facts, _ = online.trace(4, online.example("stencil2d", "--iterations", 40),
                                            FIDELITY=fidelity, MARKERS="auto", CALL_FREQUENCY=1)
        outcome = online.tools.chameleon("verify", path, "--raw", path.parent / "raw")
        expect(outcome.status == 0, f"{what}: something inexact is not declared", outcome)
        expect(facts["count_l"] > 20, f"{what}: {facts['count_l']} in L")


@test
def pace(online):
    """Unless the user says how often, intervals of markers found are long enough."""
    program = online.example("stencil2d", "--iterations", 400)
    what, _, facts, _ = unmarked(online, 3, program)
    expect(facts["call_frequency"] > 1 and facts["acted"] < 100, f"{what}: {facts['acted']} acted on")


@test
def own_markers(online):
    """The program's own markers are preferred; `off` takes no notice of them."""
    program = online.example("stencil2d", "--iterations", 40)
    what, _, facts, _ = online.exact(4, program, MARKERS="auto", CALL_FREQUENCY=1)
    expect(source(facts) == "program", f"{what}: marked by {source(facts)}")
    expect(facts["markers"] == 40, f"{what}: {facts['markers']} markers")
    what, _, facts, _ = online.exact(4, program, MARKERS="off")
    expect(facts["markers"] == 0 and source(facts) == "", f"{what}: {facts['markers']} markers")


@test
def none(online):
    """A program whose ranks never all communicate at once has no markers, and that is said."""
    steps = ("--iterations", 20)
    what, _, facts, outcome = unmarked(online, 4, online.example("wavefront", *steps), lines=2)
    expect(facts["markers"] == 0, f"{what}: {facts['markers']} markers")
    expect(b"no markers: no collective operation of all ranks repeats" in outcome.stderr,
           f"{what}: says nothing", outcome)
    # Which of its threads receives what is chance, so its trace cannot always be checked.
    with without_markers(online.tools, online.tools.library):
        what, _, _, outcome = online.trace(2, [online.tools.threads_program, "2"], lines=3,
                                           MARKERS="auto")
    expect(b"several threads of a rank call MPI" in outcome.stderr, f"{what}: says nothing", outcome)


@test
def solver(online):
    """Time steps with many collectives of one kind, never as many: a step is the outermost loop.
    A program that asks for threads, and has one that calls MPI, is as good as one that does not."""
    steps = 60
    for mode in ("solver", "threads"):
        what, _, facts, _ = online.exact(3, online.program(mode, steps), MARKERS="auto",
                                         CALL_FREQUENCY=1)
        expect("from one place" in source(facts), f"{what}: marked by {source(facts)}")
        # Until it has repeated, what repeats is an inner loop.
        expect(steps // 2 <= facts["markers"] < 3 * steps, f"{what}: {facts['markers']} markers")


@test
def by_time(online):
    """Collectives in disorder: intervals last a tenth of a second, and the trace is exact."""
    what, _, facts, _ = online.exact(3, online.program("disorder", 300), MARKERS="auto",
                                     CALL_FREQUENCY=5)
    expect("as time goes by" in source(facts), f"{what}: marked by {source(facts)}")
    expect(0 < facts["acted"] < 50, f"{what}: {facts['acted']} acted on")


@test
def wrong_calls(online):
    """Collectives that fail for their arguments are no markers: other ranks need not call them."""
    begin = time.monotonic()
    what, _, facts, _ = online.exact(3, online.program("wrong", 90), MARKERS="auto",
                                     CALL_FREQUENCY=1, MARKER_TIMEOUT=20)
    expect(time.monotonic() - begin < 15 * online.tools.slower, f"{what}: somebody waited")
    expect(facts["acted"] > 45, f"{what}: {facts['acted']} acted on")


@test
def without_memory(online):
    """A rank that records no more still takes part, so nobody waits for it."""
    program = online.example("ring", "--iterations", 60)
    with without_markers(online.tools, online.tools.failing_library):
        for fails in range(1700, 4000, 100) if online.all else (2000,):
            folder = online.tools.fresh("failing")
            outcome = online.tools.traced(
                4, program, folder / "t.cham", CHAMELEON_MARKERS="auto", CHAMELEON_CALL_FREQUENCY=1,
                CHAMELEON_MARKER_TIMEOUT=20, FAIL_FROM=fails, FAIL_RANKS=1)
            expect(outcome.status == 0, "fails", outcome)
            expect(b"did not" not in outcome.stderr, "somebody waited", outcome)


@test
def after_a_minute(online):
    """Without being asked: after a minute without markers."""
    if not online.all:
        return
    program = online.example("stencil2d", "--iterations", 1400, "--compute", 100000)
    what, _, facts, _ = online.trace(2, program[:2] + ["1400", "--compute", "100000"], raw=False)
    expect(facts["markers"] == 1400, f"{what}: {facts['markers']} markers")


if __name__ == "__main__":
    run_chosen("test_found", __doc__, TESTS)
