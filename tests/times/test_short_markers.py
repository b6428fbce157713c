#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Time steps so short that a reading of the clock is a part of them: whatever a trace says of times
lies within the run, and no share is above 100 %.

    test_short_markers.py --tools TOOLS.json --program P --steps N,... --runs N"""

import json
import pathlib
import re
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path += [str(TESTS / "mpi"), str(TESTS.parent / "tools" / "python")]
import chameleon_trace  # noqa: E402
import harness  # noqa: E402
from harness import expect  # noqa: E402

RANKS = 2
CODED = 1 / 128  # how far a time may be off in a trace
KINDS = ("compute", "point_to_point", "collective", "waiting", "tool")


def numbers(document, where=()):
    """All numbers of a JSON document, with their places."""
    if isinstance(document, dict):
        for key, value in document.items():
            yield from numbers(value, (*where, key))
    elif isinstance(document, list):
        for i, value in enumerate(document):
            yield from numbers(value, (*where, i))
    elif isinstance(document, (int, float)) and not isinstance(document, bool):
        yield where, document


def check_text(what, text):
    for share in re.findall(r"([\d.]+(?:e\+?\d+)?) %", text):
        expect("e" not in share and 0 <= float(share) <= 100, f"{what}: {share} %:\n{text}")


def check_trace(where, file):
    trace = chameleon_trace.read_trace(file)
    facts = {fact.rank: fact for fact in trace.facts()}
    spent = {rank: 0 for rank in facts}
    for total in trace.totals:
        for rank in total.ranks:
            for kind in KINDS:
                spent[rank] += getattr(total, kind)
    for rank, fact in facts.items():
        expect(0 < spent[rank] <= fact.run_ns * (1 + CODED),
               f"{where}: rank {rank} spent {spent[rank]} ns of a run of {fact.run_ns}")
        parts = fact.tool_ns + fact.call_ns + fact.waiting_ns
        expect(parts <= fact.run_ns * (1 + CODED), f"{where}: rank {rank}: parts {parts} of {fact}")
    ends = [span.end_ns for span in trace.series]
    expect(ends == sorted(ends), f"{where}: the series goes back in time")
    run = max(fact.run_ns for fact in facts.values())
    return run


def check_job(tools, program, steps, run_number):
    where = f"{steps} steps, run {run_number}"
    folder = tools.fresh("short")
    file = folder / "trace.cham"
    outcome = tools.traced(RANKS, [program, steps], file, cwd=folder)
    expect(outcome.status == 0 and file.exists(), f"{where}: the traced run fails", outcome)
    check_text(f"{where}: run", outcome.stderr.decode())
    run = check_trace(where, file) * 1e-9
    for verb in ("summary", "info"):
        text = tools.chameleon(verb, file)
        expect(text.status == 0, f"{where}: {verb} fails", text)
        check_text(f"{where}: {verb}", text.stdout.decode())
    for words in (("info",), ("summary",), ("report",), ("series",)):
        outcome = tools.chameleon(*words, file, "--json")
        expect(outcome.status == 0, f"{where}: {words} fails", outcome)
        for place, number in numbers(json.loads(outcome.stdout)):
            name = next(str(one) for one in reversed(place) if not isinstance(one, int))
            if "share" in name:
                expect(0 <= number <= 1, f"{where}: {words}: {place}: {number}")
            elif "seconds" in name:
                expect(number <= 2 * RANKS * run + 60, f"{where}: {words}: {place}: {number} s")
    print(f"{where}: {run:.3f} s", flush=True)


def check(tools, options):
    for steps in options.steps.split(","):
        for run_number in range(options.runs):
            harness.tried(check_job, tools, options.program, int(steps), run_number)


def main():
    arguments = harness.parser(__doc__)
    arguments.add_argument("--program", required=True)
    arguments.add_argument("--steps", required=True)
    arguments.add_argument("--runs", type=int, required=True)
    options = arguments.parse_args()
    harness.main("short_markers", options, lambda tools: check(tools, options))


main()
