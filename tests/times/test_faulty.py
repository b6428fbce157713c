#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A default trace names the rank, the call site and the time steps of every fault that the example
`faulty` was told to have, at every fidelity, as the raw records do within 10 %.

    test_faulty.py --tools TOOLS.json --program P --nodes N --ranks 8,16 [--fidelity F,...]"""

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

STEPS = 60  # the first and the last ten are as they should be
SLOW, LATE, SERIAL, MOVING = range(10, 20), range(20, 30), range(30, 40), range(40, 50)
SERIAL_US = 5000  # of every rank
KINDS = ("compute", "point_to_point", "collective", "waiting", "tool")
COLLECTIVE = ("Barrier", "Allreduce", "Reduce", "Bcast", "Gather", "Allgather")
NEAR = 0.1
BESIDE = 100_000  # ns at a marker between a reading of the clock and the next


def fault_us(ranks):
    """Far above what a rank loses to others on its core, and a fifth of a time step: many ranks on
    a few cores take long for the rest of it."""
    return 20_000 if ranks <= 16 else 120_000


def raw_spent(folder, rank):
    """(call, path, ns computed before it, ns in it) of each call."""
    name = None
    with open(folder / f"rank.{rank}.raw", encoding="utf-8", errors="replace") as lines:
        for line in lines:
            words = line.split()
            if words[:2] == ["#", "spent"]:
                yield name, words[4], int(words[2]), int(words[3])
            elif words[0] != "#":
                name = words[words[0].startswith("@")]


def raw_sites(folder, rank):
    """Compute ns by call and path."""
    sums = collections.Counter()
    for name, path, compute, _ in raw_spent(folder, rank):
        sums[name, path] += compute
    return sums


def raw_steps(folder, rank):
    """(least, most) ns that the rank computed in each time step. A step ends with an MPI_Allreduce,
    and the marker behind it: what the first call of a step has before it may be of either."""
    steps, begins, least, edge = [], True, 0, 0
    for name, _, compute, _ in raw_spent(folder, rank):
        if begins:
            if steps:
                steps[-1][1] += compute
            least, edge = 0, compute
        else:
            least += compute
        begins = name == "Allreduce"
        if begins:
            steps.append([least, least + edge])
    return steps


def traced_sites(folder, rank):
    sums = collections.Counter()
    with open(folder / "calls.csv", encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            if int(row["rank"]) == rank:
                sums[row["call"].removeprefix("MPI_"), row["site"]] += int(
                    float(row["compute_ns"]))
    return sums


def check_series(where, spans, truth):
    """Whom the series blames for a time step computed longest in it, and as long as it says; where
    there are more ranks than cores that may be one that lost its core."""
    for step in range(STEPS):
        compute = spans[step + 1]["compute"]
        for name in ("most", "least"):
            ns = 1e9 * compute[name]
            low, high = truth[compute[f"{name}_rank"]][step]
            expect((1 - NEAR) * low - BESIDE <= ns <= (1 + NEAR) * high + BESIDE,
                   f"{where}: step {step}: {name} of rank {compute[f'{name}_rank']} is {ns:.0f} ns, "
                   f"raw {low} to {high}")
        for rank, of_rank in truth.items():
            low, high = of_rank[step]
            expect(1e9 * compute["most"] >= (1 - NEAR) * low - BESIDE and
                   1e9 * compute["least"] <= (1 + NEAR) * high + BESIDE,
                   f"{where}: step {step}: rank {rank} computed {low} to {high} ns: {compute}")


def check_totals(where, trace, raw, ranks, info, lines):
    """What the trace says of each rank over all phases is what the raw records add up to."""
    said = collections.defaultdict(collections.Counter)
    for total in trace.totals:
        expect(len(total.ranks) == 1, f"{where}: totals of ranks {total.ranks}")
        said[next(iter(total.ranks))].update(total._asdict() | {"ranks": 0, "phase": 0})
    told = [(row["ranks"], row["phase"], *(round(1e9 * row[f"{kind}_seconds"]) for kind in KINDS))
            for row in info["totals"]]
    expect(told == [(str(total.ranks), *total[1:]) for total in trace.totals],
           f"{where}: info says {told}")
    read = [" ".join(map(str, (one, one, -1 if total.phase is None else total.phase, *total[2:])))
            for total in trace.totals for one in total.ranks]
    expect(lines == read, f"{where}: the C++ reader says {lines}, the Python reader {read}")
    expect({total.phase for total in trace.totals} >= {0, 1, None}, f"{where}: phases are missing")
    facts = {fact.rank: fact for fact in trace.facts()}
    for rank in range(ranks):
        true = collections.Counter()
        for name, _, compute, call in raw_spent(raw, rank):
            true["compute"] += compute
            true["collective" if name in COLLECTIVE else "point_to_point"] += call
        true["waiting"], true["tool"] = facts[rank].waiting_ns, facts[rank].tool_ns
        for kind in KINDS:
            beside = 2_000_000 if kind in ("compute", "tool") else 10_000
            expect(abs(said[rank][kind] - true[kind]) <= 0.01 * true[kind] + beside,
                   f"{where}: rank {rank}: {kind} {said[rank][kind]} ns, raw {true[kind]}")


def check_rank(where, spans, truth, steps, rank, raw, tables, us):
    """Over these time steps one rank computes longest, at one site. A step in which the raw records
    have another rank compute about as long, since it lost its core, says nothing of that."""
    alone = [step for step in steps if all(of[step][1] < (1 - NEAR) * truth[rank][step][0]
                                           for other, of in truth.items() if other != rank)]
    expect(len(alone) > len(steps) / 2, f"{where}: the machine has no time for this test: {alone}")
    # The marker at the end of step s, counted from 0, is the (s + 1)-th.
    for step in alone:
        expect(spans[step + 1]["compute"]["most_rank"] == rank,
               f"{where}: step {step} is blamed on {spans[step + 1]['compute']}")
    blamed = [spans[step + 1]["compute"]["most"] for step in alone]
    (call, _), true = max(raw_sites(raw, rank).items(), key=lambda item: item[1])
    (said_call, _), said = max(traced_sites(tables, rank).items(), key=lambda item: item[1])
    expect(call == said_call and abs(said - true) <= NEAR * true,
           f"{where}: rank {rank} computes {said} ns before {said_call}, raw {true} before {call}")
    longest = 1e9 * sum(blamed)
    expect((1 - NEAR) * len(blamed) * us * 1000 <= longest <= (1 + NEAR) * true,
           f"{where}: {longest:.0f} ns in the series, raw {true}")


def check_moving(where, spans, truth, ranks, us):
    """In each time step another rank computes longest: a rank further than in the step before."""
    blamed = 0
    for step in MOVING:
        rank = step % ranks
        if any(of[step][1] >= (1 - NEAR) * truth[rank][step][0]
               for other, of in truth.items() if other != rank):
            continue  # one that lost its core
        compute = spans[step + 1]["compute"]
        expect(compute["most_rank"] == rank, f"{where}: step {step} is blamed on {compute}")
        expect(1e9 * compute["most"] >= (1 - NEAR) * us * 1000, f"{where}: {compute}")
        blamed += 1
    expect(blamed > len(MOVING) / 2, f"{where}: the machine has no time for this test")


def ranks_of(text):
    """Of a list such as 0-3,8."""
    ends = [[int(end) for end in part.split("-")] for part in text.split(",")]
    return {rank for one in ends for rank in range(one[0], one[-1] + 1)}


def check_slow(where, slow, steps, whose, ranks, path_has):
    """The stretch of most of these time steps; it names whose fault they are, and the call site."""
    first, last = steps[0] + 1, steps[-1] + 1  # the marker at the end of step s is the (s + 1)-th
    longest = max((one for one in slow if one["first"] <= last and one["last"] >= first),
                  key=lambda one: min(one["last"], last) - max(one["first"], first), default=None)
    expect(longest is not None, f"{where}: no slow steps among {slow}")
    expect(abs(longest["first"] - first) <= 2 and abs(longest["last"] - last) <= 2,
           f"{where}: markers {first} to {last}, in {longest}")
    expect(longest["whose"] == whose and ranks_of(longest["ranks"]) == ranks,
           f"{where}: {longest}")
    expect("computes" in longest and path_has in site_of(longest["computes"]),
           f"{where}: not in {path_has}: {longest}")
    return longest


def site_of(place):
    """The first frame of the program itself."""
    return next((frame for frame in place["path"] if "faulty" in frame), "")


def check_place(where, place, rank, raw, stats, us):
    """What a rank computed at a place, and `stats` has for it, is what its records say."""
    rows = [row for row in stats["rows"] if row["call"] == place["call"] and
            row["path"] == place["path"]]
    true = max((ns for (call, _), ns in raw_sites(raw, rank).items() if call == place["call"]),
               key=lambda ns: -abs(ns - 1e9 * rows[0]["compute_seconds"]))
    expect(len(rows) == 1 and abs(1e9 * rows[0]["compute_seconds"] - true) <= NEAR * true,
           f"{where}: stats of rank {rank}: {rows}, raw {true} ns")
    expect(true >= (1 - NEAR) * us * 1000, f"{where}: {true} ns at {place}")
    expect(stats["of_ranks"] == str(rank) and
           [one["ranks"] for one in stats["times_of"]] == [str(rank)],
           f"{where}: stats of {stats['of_ranks']}, times of {stats['times_of']}")


def check_blame(tools, where, trace, raw, us, ranks):
    """The slow steps of the series, and the places of `stats --by path --rank`."""
    def document(*words):
        outcome = tools.chameleon(*words, "--json", trace)
        expect(outcome.status == 0, f"{where}: {words}", outcome)
        return json.loads(outcome.stdout)

    slow = document("series")["slow"]
    for name, steps, rank, function in (("slow", SLOW, 3, "pass_on"), ("late", LATE, 1, "exchange")):
        one = check_slow(f"{where}, {name}", slow, steps, "one", {rank}, function)
        planted = len(steps) * us * 1e-6
        expect(0.8 * (1 - NEAR) * planted <= one["compute_seconds"], f"{where}, {name}: {one}")
        expect(one["computes"]["seconds"] >= (1 - NEAR) * planted, f"{where}, {name}: {one}")
        check_place(f"{where}, {name}", one["computes"], rank, raw,
                    document("stats", "--by", "path", "--rank", rank), len(steps) * us)
    check_slow(f"{where}, serial", slow, SERIAL, "all", set(range(ranks)), "pass_on")
    turns = collections.Counter(step % ranks for step in MOVING)
    one = check_slow(f"{where}, moving", slow, MOVING, "moves", set(turns), "pass_on")
    for rank, steps in turns.items():
        check_place(f"{where}, moving", one["computes"], rank, raw,
                    document("stats", "--by", "path", "--rank", rank), steps * us)
    said = document("summary")["findings"]
    for rank, function in ((3, "pass_on"), (1, "exchange")):
        expect(any(f"rank {rank} computed longest" in one and f" {function}()" in one
                   for one in said), f"{where}: the summary does not blame rank {rank}: {said}")
    report = document("report")
    expect([one["ranks"] for one in report["slow"]] == [one["ranks"] for one in slow],
           f"{where}: report: {report['slow']}")
    for one in report["slow"]:
        if one["whose"] != "one" or "computes" not in one:
            continue
        place = next(row for row in report["paths"] if row["call"] == one["computes"]["call"] and
                     row["site"] == one["computes"]["site"])
        expect(place["compute_longest"]["ranks"] == one["ranks"],
               f"{where}: report: longest at {place}, but {one}")


def check_job(tools, options, ranks, fidelity):
    us = fault_us(ranks)
    folder = tools.fresh(f"n{ranks}.{fidelity}")
    raw, tables, trace = folder / "raw", folder / "tables", folder / "trace.cham"
    raw.mkdir()
    program = [options.program, "--iterations", str(STEPS)]
    for fault in (f"slow:3:10-19:{us}", f"late:1:20-29:{us}",
                  f"serial:30-39:{SERIAL_US}", f"moving:40-49:{us}"):
        program += ["--fault", fault]
    outcome = tools.traced(ranks, program, trace, raw=raw, cwd=folder,
                           CHAMELEON_FIDELITY=fidelity)
    expect(outcome.status == 0 and trace.exists(), "the traced run fails", outcome)
    where = f"{ranks} ranks, {fidelity}"
    outcome = tools.chameleon("series", "--json", trace)
    expect(outcome.status == 0, f"{where}: no series", outcome)
    spans = {span["first"]: span for span in json.loads(outcome.stdout)["spans"]}
    expect(sorted(spans) == list(range(1, STEPS + 1)), f"{where}: intervals {list(spans)}")
    outcome = tools.chameleon("export", "--quiet", "--csv", tables, trace)
    expect(outcome.status == 0, f"{where}: no tables", outcome)
    truth = {rank: raw_steps(raw, rank) for rank in range(ranks)}
    check_series(where, spans, truth)
    outcome = tools.chameleon("info", "--json", trace)
    told = tools.run([options.nodes, trace, "totals"])
    check_totals(where, chameleon_trace.read_trace(trace), raw, ranks,
                 json.loads(outcome.stdout), told.stdout.decode().splitlines())
    check_rank(f"{where}, slow", spans, truth, SLOW, 3, raw, tables, us)
    check_rank(f"{where}, late", spans, truth, LATE, 1, raw, tables, us)
    least = [spans[step + 1]["compute"]["least"] for step in SERIAL]
    expect(min(least) >= 0.9e-6 * SERIAL_US, f"{where}, serial: {least}")
    check_moving(f"{where}, moving", spans, truth, ranks, us)
    check_blame(tools, where, trace, raw, us, ranks)
    outcome = tools.chameleon("verify", "--json", "--raw", raw, trace)
    columns = json.loads(outcome.stdout)["columns"]
    for name in ("compute", "communication"):
        expect(columns[name]["total"] > 0 and columns[name]["undeclared"] == 0 and
               columns[name]["sum_error"] < 0.001, f"{where}: {name}", outcome)


def check(tools, options, ranks):
    for fidelity in options.fidelity.split(","):
        harness.tried(check_job, tools, options, ranks, fidelity)


def main():
    arguments = harness.parser_of_ranks(__doc__)
    arguments.add_argument("--nodes", required=True, help="prints what the C++ reader has")
    arguments.add_argument("--fidelity", default="exact,checked,lead")
    options = arguments.parse_args()
    harness.main_of_ranks("faulty", options, check)


if __name__ == "__main__":
    main()
