#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The outliers of a default trace are the events that the raw records have by their numbers, with
their times; no event that far exceeds what is usual at its place is missing; and both readers and
`export` say the same of them.

    test_outliers.py --tools TOOLS.json --program FAULTY --events DUMP_EVENTS --ranks N"""

import collections
import csv
import pathlib
import random
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path += [str(TESTS / "mpi"), str(TESTS.parent / "tools" / "python")]
import chameleon_trace  # noqa: E402
import harness  # noqa: E402
from chameleon_trace.nodes import combine  # noqa: E402
from harness import expect  # noqa: E402

STEPS, US = 40, 120_000
NEAR = 0.002
LEAST, SPREADS, FEWEST = 3 / 1024, 8, 4  # well above what makes an outlier
MOST = 1000


def raw_events(folder, rank, numbers):
    """(symbol, symbol before, compute ns, call ns) of each event."""
    events, before, name = [], 0, None
    with open(folder / f"rank.{rank}.raw", encoding="utf-8", errors="replace") as lines:
        for line in lines:
            words = line.split()
            if words[:2] == ["#", "spent"]:
                symbol = combine(int(words[4], 16), numbers[name])
                events.append((symbol, before, int(words[2]), int(words[3])))
                before = symbol
            elif words[0] != "#":
                name = words[0]
    return events


def quartiles(values):
    ordered = sorted(values)
    return [ordered[int(share * (len(ordered) - 1))] for share in (0.25, 0.5, 0.75)]


def far_out(events):
    """(number, in_call) of the events that are surely outliers."""
    run = sum(compute + call for _, _, compute, call in events)
    places = collections.defaultdict(list)
    for symbol, before, *spent in events:
        places[symbol, before].append(spent)
    found = set()
    for number, (symbol, before, *spent) in enumerate(events, 1):
        like = places[symbol, before]
        if len(like) < FEWEST:
            continue
        for kind in range(2):
            low, median, high = quartiles([one[kind] for one in like])
            beyond = spent[kind] - median
            if beyond > LEAST * run and beyond > SPREADS * (high - low) / 2:
                found.add((number, bool(kind)))
    return found


def check_true(trace, folder):
    """Against the raw records."""
    numbers = {call.name: number for number, call in trace.calls.items()}
    missing = 0
    for rank in trace.ranks:
        events = raw_events(folder, rank, numbers)
        said = set()
        for one in trace.outliers:
            if one.stream != rank:
                continue
            symbol, before, *spent = events[one.event - 1]
            expect((symbol, before) == (one.symbol, one.predecessor), f"{one} is elsewhere")
            true = spent[one.in_call]
            expect(abs(one.ns - true) <= NEAR * true, f"{one} took {true} ns")
            began = sum(sum(event[2:]) for event in events[:one.event - 1]) + \
                (spent[0] if one.in_call else 0)
            expect(one.begin_ns >= (1 - NEAR) * began, f"{one} began at {began} ns")
            said.add((one.event, one.in_call))
        missing += len(far_out(events) - said)
    expect(missing == 0 or len(trace.outliers) >= MOST, f"{missing} events are no outliers")


def check_readers(tools, options, trace, path, folder):
    outcome = tools.run([options.events, path])
    expect(outcome.status == 0, "dump_events", outcome)
    lines = [line.split()[:7] for line in outcome.stdout.decode().splitlines()]
    at = 0
    for rank in trace.ranks:
        for event in trace.events(rank):
            said = (event.rank, event.number, event.compute_ns, event.call_ns)
            other = tuple(int(lines[at][i]) for i in (0, 1, 5, 6))
            expect(all(abs(a - b) <= 1 for a, b in zip(said, other)), f"{said}, C++ reader {other}")
            at += 1
    outcome = tools.chameleon("export", path, "--csv", folder / "tables", "--quiet")
    expect(outcome.status == 0, "export", outcome)
    with open(folder / "tables" / "outliers.csv", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    expect(rows[0] == list(chameleon_trace.COLUMNS["outliers"]), f"columns: {rows[0]}")
    mine = [[str(cell) for cell in row] for row in trace.rows("outliers")]
    expect(rows[1:] == mine, "export has other outliers")


def check(tools, options, ranks):
    folder = tools.fresh(f"outliers-{ranks}")
    (folder / "raw").mkdir()
    path = folder / "t.cham"
    seed = harness.seed()
    chance = random.Random(seed)
    print(f"{ranks} ranks, seed {seed}", flush=True)
    words = []
    for step in chance.sample(range(3, STEPS - 2), 3):
        words += ["--fault", f"slow:{chance.randrange(ranks)}:{step}:{US}"]
    outcome = tools.traced(ranks, [options.program, "--iterations", STEPS, *words], path,
                           raw=folder / "raw", cwd=folder)
    expect(outcome.status == 0, "no trace", outcome)
    trace = chameleon_trace.read_trace(path)
    computing = [one for one in trace.outliers if not one.in_call and one.ns >= US * 1000]
    expect(len(computing) >= 3, f"too few outliers: {trace.outliers}")
    check_true(trace, folder / "raw")
    check_readers(tools, options, trace, path, folder)


def main():
    arguments = harness.parser_of_ranks(__doc__)
    arguments.add_argument("--events", required=True)
    options = arguments.parse_args()
    harness.main_of_ranks("outliers", options, lambda *job: harness.tried(check, *job))


if __name__ == "__main__":
    main()
