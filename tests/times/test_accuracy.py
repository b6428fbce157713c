#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a default trace says of the times of every rank at every place is what the rank spent there.

    test_accuracy.py --tools TOOLS.json --program P --ranks 4,9,16 [--fidelity F,...] -- ARGUMENTS...

The raw records have the times of each call. For places, a call after another at their call paths,
that take at least a hundredth of a rank's run, compute time and time in the call are added up: half
of the sums must be within 2 %, 95 of 100 within 10 %, and the sums over all ranks within 0.1 %."""

import collections
import pathlib
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path += [str(TESTS / "mpi"), str(TESTS.parent / "tools" / "python")]
import chameleon_trace  # noqa: E402
import harness  # noqa: E402
from chameleon_trace.nodes import combine  # noqa: E402
from harness import expect  # noqa: E402

MATTERS = 0.01
MEDIAN, MOST, TOTAL = 0.02, 0.10, 0.001


def raw_sums(folder, rank, numbers):
    """[compute, call] ns by (symbol, predecessor). Unsuccessful polls are no events: their times are
    those of the call that follows."""
    sums, before, name = collections.defaultdict(lambda: [0, 0]), 0, None
    poll, polled = False, [0, 0]
    with open(folder / f"rank.{rank}.raw", encoding="utf-8", errors="replace") as lines:
        for line in lines:
            words = line.split()
            if words[:2] == ["#", "spent"]:
                polled = [sum(pair) for pair in zip(polled, map(int, words[2:4]))]
                if poll:
                    continue
                symbol = combine(int(words[4], 16), numbers[name])
                place = sums[symbol, before]
                place[0] += polled[0]
                place[1] += polled[1]
                polled = [0, 0]
                before = symbol
            elif words[0] != "#":
                name = words[words[0].startswith("@")]
                poll = "return=0" in words and ("flag=0" in words or
                                                name == "Testsome" and "outcount=0" in words)
    return sums


def traced_sums(trace, rank):
    sums = collections.defaultdict(lambda: [0, 0])
    for event in trace.events(rank):
        place = sums[event.node.symbol, event.predecessor]
        for kind in range(2):
            place[kind] += event.mean_ns[kind]
    return sums


def quantile(errors, share):
    return sorted(errors)[min(int(len(errors) * share), len(errors) - 1)]


def compare(trace, folder, where):
    numbers = {call.name: number for number, call in trace.calls.items()}
    errors, said, true = [], [0, 0], [0, 0]
    for rank in trace.ranks:
        raw, traced = raw_sums(folder, rank, numbers), traced_sums(trace, rank)
        run = sum(map(sum, raw.values()))
        for kind in range(2):
            true[kind] += sum(place[kind] for place in raw.values())
            said[kind] += sum(place[kind] for place in traced.values())
            errors += [abs(traced[key][kind] - place[kind]) / place[kind]
                       for key, place in raw.items() if place[kind] >= MATTERS * run]
    median, most = quantile(errors, 0.5), quantile(errors, 0.95)
    total = max(abs(said[kind] - true[kind]) / true[kind] for kind in range(2))
    print(f"{where}: {len(errors)} sums of {len(trace.time_classes)} classes: median {median:.2%}, "
          f"95 of 100 within {most:.2%}, largest {max(errors):.2%}; over all ranks {total:.3%}")
    expect(median <= MEDIAN and most <= MOST and total <= TOTAL, f"{where}: times are wrong")


def main():
    arguments = harness.parser_of_ranks(__doc__)
    arguments.add_argument("--fidelity", default="exact,checked,lead")
    arguments.add_argument("arguments", nargs="*", help="of the program, after --")
    options = arguments.parse_args()

    def check_job(tools, options, ranks, fidelity):
        folder = tools.fresh(f"n{ranks}.{fidelity}")
        (folder / "raw").mkdir()
        trace = folder / "trace.cham"
        outcome = tools.traced(ranks, [options.program, *options.arguments], trace,
                               raw=folder / "raw", cwd=folder, CHAMELEON_FIDELITY=fidelity)
        expect(outcome.status == 0 and trace.exists(), "the traced run fails", outcome)
        compare(chameleon_trace.read_trace(trace), folder / "raw", f"{ranks} ranks, {fidelity}")

    def check(tools, options, ranks):
        for fidelity in options.fidelity.split(","):
            harness.tried(check_job, tools, options, ranks, fidelity)

    harness.main_of_ranks("accuracy", options, check)


if __name__ == "__main__":
    main()
