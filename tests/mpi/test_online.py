#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The trace that is made while the program runs: which states markers lead to, that nothing is
lost at any setting, and uneven markers.

    test_online.py --tools TOOLS.json --examples FOLDER [--only NAME] [--all] [--seed N]"""

import json
import re
import resource
import statistics
import time

from harness import expect
from online_jobs import Job, run_chosen

TESTS = []
FLUSH_BYTES = 4096       # more than a flush of online_program takes
SERIES_BYTES = 24 << 10  # what the series takes at most, beyond that of 2,000 markers
WRITER_SLACK = 64 << 10  # what a trace file may grow to beyond twice its compact size


def test(function):
    TESTS.append(function)
    return function


EXAMPLES = ("stencil2d", "wavefront", "ring", "multipartition", "transpose", "spectral",
            "multigrid", "bucketsort", "hydro", "ocean", "taskfarm", "phases", "faulty",
            "sparse", "adaptive")


# -- the shape of Table 5.2

@test
def shape(online):
    iterative = {"stencil2d": 1, "wavefront": 9, "ocean": 1, "transpose": 1}
    if online.all:
        iterative.update({"ring": 1, "multipartition": 1, "spectral": 1, "multigrid": 7,
                          "bucketsort": 3, "hydro": 12})
    for name, clusters in iterative.items():
        for ranks in (4, 16) if online.all or name in ("stencil2d", "wavefront") else (4,):
            what, _, facts, _ = online.trace(ranks, online.example(name, "--iterations", 20),
                                             raw=False)
            expect(facts["markers"] == facts["acted"] == 20, f"{what}: {facts['markers']} markers")
            online.states(what, facts, 1, 17, 2)  # 85 % of the markers in L
            found = len({cluster["call_path"] for cluster in facts["clusters"]})
            expect(ranks != 16 or found == clusters, f"{what}: {found} Call-Path clusters")
            expect(found <= len(facts["leads"]) <= max(facts["k"], found),
                   f"{what}: {len(facts['leads'])} leads of {found} Call-Path clusters")


@test
def bytes_sent(online):
    # What ranks send each other beside votes is no more than what one merge at the end takes.
    for name in EXAMPLES if online.all else ("stencil2d", "hydro"):
        ratios = []  # where it is nearly as much, chance decides a single run
        for _ in range(3 if name in ("hydro", "wavefront") else 1):
            runs = [online.trace(16, online.example(name, "--iterations", 10), raw=False,
                                 CLUSTERING=how)[2] for how in ("k-farthest", "off")]
            sent, merge = (facts["merge_bytes"] + facts["clustering_bytes"] for facts in runs)
            ratios.append(sent / merge)
        expect(0 < statistics.median(ratios) <= 1, f"{name}: {ratios} of the bytes of one merge")


@test
def frequency(online):
    what, _, facts, _ = online.exact(4, online.example("stencil2d", "--iterations", 40),
                                     CALL_FREQUENCY=2)
    expect((facts["markers"], facts["acted"]) == (40, 20), f"{what}: {facts['acted']} acted on")
    online.states(what, facts, 1, 17, 2)


@test
def frequency_by_itself(online):
    """All ranks change how often they vote at the same marker, whoever is slow when: a vote that not
    all come to would be said. Votes are a tenth of a second apart."""
    steps = 120
    for ranks in (1, 2, 3, 4, 7, 8) if online.all else (1, 3, 8):
        program = online.example("faulty", "--iterations", steps,
                                 "--fault", f"moving:0-{steps // 2}:2000",
                                 "--fault", f"slow:{ranks - 1}:{steps // 2}-{steps - 1}:4000")
        for fidelity in ("exact", "checked") if online.all else ("exact",):
            begin = time.monotonic()
            what, path, facts, _ = online.trace(ranks, program, CALL_FREQUENCY="auto",
                                                FIDELITY=fidelity)
            seconds = time.monotonic() - begin
            expect(facts["markers"] == steps, f"{what}: {facts['markers']} markers")
            # The first two markers are voted on; then the next eight are one interval.
            expect(2 <= facts["acted"] <= 10 + 10 * seconds, f"{what}: {facts['acted']} in {seconds}")
            expect(facts["acted"] < steps and facts["call_frequency"] > 1,
                   f"{what}: every {facts['call_frequency']}, {facts['acted']} acted on")
            outcome = online.tools.chameleon("verify", "--strict", path, "--raw", path.parent / "raw")
            expect(outcome.status == 0, f"{what}: something is lost", outcome)
    # Steps that are long enough are each voted on.
    what, _, facts, _ = online.exact(3, online.program("loop", 6, 150), CALL_FREQUENCY="auto")
    expect(facts["acted"] == facts["markers"] and facts["call_frequency"] == 1, f"{what}: {facts}")


@test
def phases(online):
    # The first interval has the start-up in it. One AT and one C more for a switch, one AT for an
    # excursion; A B A B: AT and C once each.
    for pattern, states in (("steady", (1, 27, 2)), ("switch", (2, 25, 3)),
                            ("excursion", (1, 26, 3)), ("alternate", (2, 25, 3))):
        program = online.example("phases", "--iterations", 30, "--pattern", pattern)
        what, _, facts, _ = online.exact(4, program)
        online.states(what, facts, *states)
        if pattern == "alternate":
            expect(facts["changed"] == [{"markers": 29, "ranks": "0-3"}],
                   f"{what}: {facts['changed']}")


@test
def phases_return(online):
    """A phase that returns has its leads without a clustering, however phases follow each other."""
    markers = 300 if online.all else 60
    disorder = "".join(online.random.choice("ABC") for _ in range(markers))
    for pattern in ("AAB", "AB", disorder) if online.all else ("AB", disorder):
        distinct = len(set(pattern))
        for fidelity in ("exact", "checked", "lead"):
            program = online.example("phases", "--iterations", markers, "--pattern", pattern)
            what, path, facts, _ = online.trace(4, program, FIDELITY=fidelity)
            expect(facts["count_c"] == distinct, f"{what}: {facts['count_c']} clusterings")
            # AT and C once a phase, and AT for the start-up: of 300 markers 97 % are in L.
            expect(facts["count_l"] >= markers - 2 * distinct - 1, f"{what}: {facts['count_l']} in L")
            strict = ["--strict"] if fidelity == "exact" else []
            outcome = online.tools.chameleon("verify", *strict, path, "--raw", path.parent / "raw")
            expect(outcome.status == 0, f"{what}: verify", outcome)


@test
def flush_by_time(online):
    # 1.5 s in L: without a flush by time there are those of C and of the end.
    what, _, facts, _ = online.exact(2, online.program("loop", 30, 50), FLUSH_SECONDS=0.4,
                                     FIDELITY="exact")
    expect(facts["count_flush"] >= 4, f"{what}: {facts['count_flush']} flushes")


@test
def values_beyond_the_limit(online):
    """Values that never repeat: memory stays bounded, what becomes a distribution is declared, all
    else is exact."""
    ranks, steps, most = (8, 3200, 64 << 20) if online.all else (3, 60, 16 << 20)
    limit = most >> 2 if online.all else 256 << 10
    what, path, facts, outcome = online.trace(ranks, online.program("noise", steps), lines=2,
                                              TRACE_LIMIT=limit)
    expect(b"CHAMELEON_TRACE_LIMIT" in outcome.stderr, f"{what}: says nothing", outcome)
    expect(facts["tool_bytes"] < most, f"{what}: {facts['tool_bytes']} bytes of memory")
    online.limited(what, path, facts)


@test
def values_without_markers(online):
    # No flush takes what a rank holds: it keeps its share of the limit. 100 calls a step.
    ranks, steps, most = (8, 3200, 64 << 20) if online.all else (3, 250, 24 << 20)
    what, path, facts, outcome = online.trace(ranks, online.program("noise", steps),
                                              lines=ranks + 1, TRACE_LIMIT="1M", BUFFER="256K",
                                              CLUSTERING="off")
    expect(outcome.stderr.count(b"CHAMELEON_TRACE_LIMIT") == ranks, f"{what}: says nothing", outcome)
    expect(facts["tool_bytes"] < most, f"{what}: {facts['tool_bytes']} bytes of memory")
    online.limited(what, path, facts)


@test
def alternation_is_durable(online):
    program = online.example("phases", "--iterations", 30, "--pattern", "alternate")
    what, _, facts, _ = online.exact(2, program, FLUSH_EVERY=5)
    online.states(what, facts, 2, 25, 3)
    expect(facts["count_flush"] >= 6, f"{what}: {facts['count_flush']} flushes of 6")


@test
def clusters_again(online):
    """The clusters that the ranks found over MPI are those of one process over virtual ranks."""
    pairs = [(16, "wavefront"), (7, "bucketsort"), (5, "hydro")]
    if online.all:
        pairs = [(ranks, name) for ranks in range(1, 17) for name in EXAMPLES]
    for ranks, name in pairs:
        what, path, facts, _ = online.trace(ranks, online.example(name, "--iterations", 5))
        outcome = online.tools.chameleon("verify", "--json", path, "--raw", path.parent / "raw")
        clusters = json.loads(outcome.stdout).get("clusters")
        expect((clusters is not None) == (facts["count_c"] > 0), f"{what}: not compared", outcome)
        expect(clusters is None or clusters["equal"], f"{what}: other clusters", outcome)
        expect(outcome.status == 0, f"{what}: verify", outcome)


# -- nothing is lost, or it is declared

@test
def fidelities(online):
    pairs = [(4, "multigrid"), (7, "bucketsort"), (16, "taskfarm")]
    if online.all:
        pairs = [(ranks, name) for ranks in (4, 7, 16) for name in EXAMPLES]
    for ranks, name in pairs:
        program = online.example(name, "--iterations", 6)
        for fidelity in ("exact", "checked", "lead"):
            what, path, facts, _ = online.trace(ranks, program, FIDELITY=fidelity)
            expect(facts["fidelity"] == fidelity, f"{what}: fidelity {facts['fidelity']}")
            if fidelity == "exact":
                online.tools.verify(path, path.parent / "raw")
                expect(not facts["inexact"], f"{what}: declares {facts['inexact']}")
                continue
            outcome = online.tools.chameleon("verify", path, "--raw", path.parent / "raw")
            expect(outcome.status == 0, f"{what}: something inexact is not declared", outcome)
            if online.all or (ranks, fidelity) == (7, "lead"):
                outcome = online.tools.replay(ranks, path, "--best-effort")
                expect(outcome.status == 0, f"{what}: best-effort replay", outcome)


@test
def polls(online):
    """How often a rank polled without success is its own, and counted. Where such polls are events,
    that is all that is inexact."""
    what, path, facts, _ = online.trace(4, online.program("poll", 12), FIDELITY="checked", K=1)
    expect(facts["inexact"] == [], f"{what}: declares {facts['inexact']}")
    outcome = online.tools.chameleon("verify", "--strict", path, "--raw", path.parent / "raw", "--json")
    expect(outcome.status == 0, f"{what}: verify", outcome)
    expect(json.loads(outcome.stdout)["polls"] > 0, f"{what}: no poll was unsuccessful", outcome)
    what, path, facts, _ = online.trace(4, online.program("poll", 12), FIDELITY="checked", K=1,
                                        EVENTS="all")
    expect({one["kind"] for one in facts["inexact"]} == {"EVENTS"},
           f"{what}: declares {facts['inexact']}")
    outcome = online.tools.chameleon("verify", path, "--raw", path.parent / "raw", "--json")
    expect(outcome.status == 0, f"{what}: something inexact is not declared", outcome)
    columns = json.loads(outcome.stdout)["columns"]
    expect(all(columns[name]["matched"] == columns[name]["total"] for name in ("dest", "op")),
           f"{what}: more than polls differs", outcome)


@test
def roots(online):
    """Ranks that all talk to rank 0 and are represented by one of them: it is rank 0 for each."""
    for fidelity in ("checked", "lead"):
        what, path, _, _ = online.trace(8, online.program("root", 12), FIDELITY=fidelity, K=3)
        outcome = online.tools.chameleon("verify", path, "--raw", path.parent / "raw")
        expect(outcome.status == 0, f"{what}: something inexact is not declared", outcome)
        outcome = online.tools.replay(8, path)
        expect(outcome.status == 0, f"{what}: replay", outcome)


@test
def settings(online):
    program = online.example("wavefront", "--iterations", 6)
    for variables in ({"CLUSTERING": "k-farthest", "K": 1}, {"CLUSTERING": "k-medoid", "K": 2},
                      {"CLUSTERING": "k-random", "K": 2, "SEED": 7}, {"CLUSTERING": "off"},
                      {"CLUSTERING": "capek", "K": 1},
                      {"DISTANCE": "euclidean"}, {"SIGNATURE": "xor"}, {"TIMING": "none"},
                      {"TIMING": "full", "FLUSH_EVERY": 2}, {"FLUSH_EVERY": 1}):
        what, _, facts, _ = online.exact(4, program, **variables)
        expect(facts["clustering"] == variables.get("CLUSTERING", "k-farthest"),
               f"{what}: clustering {facts['clustering']}")
        if variables.get("CLUSTERING") == "off":
            expect(facts["count_c"] == 0 and facts["markers"] == 6, f"{what}: {facts}")
        else:
            online.states(what, facts, 1, 3, 2)


@test
def algorithms(online):
    """Every paper's clustering, and every axis: nothing is lost, and the clusters are those that
    virtual ranks make of the same signatures (`verify` compares them)."""
    for name in ("taskfarm", "wavefront", "bucketsort") if online.all else ("wavefront",):
        program = online.example(name, "--iterations", 6)
        for algorithm in ("chameleon", "callpath+parameter", "reference", "acurdion", "dynamic"):
            what, _, facts, _ = online.exact(4, program, ALGORITHM=algorithm)
            expect(facts["algorithm"] == algorithm, f"{what}: algorithm {facts['algorithm']}")
    # Of four ranks in a row the two in the middle are alike.
    program = online.example("wavefront", "--iterations", 6)
    leads = {}
    for key, variables in {"all": {"K": "all"}, "single": {"STEPS": "single", "K": 2},
                           "packed": {"EQUALITY": "packed"}, "xor": {"EQUALITY": "xor"}, "near": {"COUNT_TOLERANCE": "5%"},
                           "fixed": {"FORMAT": "callpath,count"},
                           "adaptive": {"FORMAT": "adaptive:-comp,-comm"}}.items():
        what, _, facts, _ = online.exact(8, program, **variables)
        leads[key] = len(facts["clusters"])
        expect(key == "near" or facts["algorithm"] == ("dynamic" if key == "all" else "custom"),
               f"{what}: algorithm {facts['algorithm']}")
        if key == "adaptive":
            expect("comp" not in facts["signature_format"], f"{what}: {facts['signature_format']}")
        expect(facts["steps"] == variables.get("STEPS", "double"), f"{what}: {facts['steps']}")
    expect(leads["single"] == 2, f"leads {leads}")
    expect(leads["all"] >= leads["fixed"], f"leads {leads}")


@test
def workers(online):
    """Workers who all talk to rank 0, and do one task each, are one cluster."""
    for ranks in (4, 7):
        program = online.example("taskfarm", "--iterations", 6, "--size", ranks - 1)
        what, _, facts, _ = online.exact(ranks, program)
        found = [one["ranks"] for one in facts["clusters"]]
        expect(found == ["0", f"1-{ranks - 1}"], f"{what}: {found}")


@test
def full_log(online):
    # Intervals of 12 time steps, of which the smallest buffer does not hold the events, which
    # take at least 32 bytes.
    program = online.example("ocean", "--iterations", 60)
    for variables in ({}, {"SIGNATURE": "xor"}):
        what, _, facts, _ = online.exact(2, program, BUFFER="64K", CALL_FREQUENCY=12, **variables)
        events = facts["events"] / 2 / 5
        expect(events * 32 > 65536, f"{what}: {events} events an interval: nothing overflows")
        online.states(what, facts, 1, 2, 2)


@test
def fortran(online):
    for name in ("ring_mpif", "ring_use_mpi"):
        if (online.examples / name).exists():
            what, _, facts, _ = online.exact(3, online.example(name))
            expect(facts["markers"] > 3 and facts["count_c"] == 1, f"{what}: {facts['markers']}")


# -- markers that are not called as they should

@test
def uneven(online):
    for mode in ("fewer", "more"):
        what, _, _, outcome = online.exact(4, online.program(mode, 12), lines=2)
        expect(b"not called equally often" in outcome.stderr, what, outcome)


@test
def second_thread(online):
    what, _, facts, outcome = online.exact(3, online.program("thread", 12), lines=2)
    expect(b"markers from a second thread (3 ranks)" in outcome.stderr, what, outcome)
    online.states(what, facts, 1, 9, 2)


@test
def barriers(online):
    what, path, facts, _ = online.exact(3, online.program("barrier", 12))
    expect(facts["markers"] == 12, f"{what}: {facts['markers']} markers")
    online.states(what, facts, 1, 9, 2)
    again = path.with_name("again.cham")
    outcome = online.tools.traced(3, [online.tools.replayer, "--compute=none", path], again)
    expect(outcome.status == 0, f"{what}: replay", outcome)
    for trace in (path, again):
        expect(online.calls(trace, "Barrier") == 3 * 12, f"{what}: barriers in {trace.name}")


@test
def switched_off(online):
    what, path, facts, _ = online.trace(3, online.program("pause", 12))
    online.tools.verify(path, path.parent / "raw")
    check = online.tools.chameleon("check", path)
    expect(check.status == 1 and b"replay needs --best-effort" in check.stdout,
           f"{what}: the others' messages to rank 1 are there", check)
    declared = [one for one in facts["declarations"] if "MPI_Pcontrol" in one["what"]]
    expect([one["ranks"] for one in declared] == ["1"], f"{what}: {facts['declarations']}")
    expect(facts["acted"] == 12, f"{what}: {facts['acted']} markers")


@test
def budget(online):
    # Nothing is as cheap as that: step by step all that can be given up is, the same on all ranks.
    program = online.example("stencil2d", "--iterations", 5000, "--compute", 400)
    what, path, facts, _ = online.exact(2, program, BUDGET="0.0001%")
    declared = {one["what"]: one["ranks"] for one in facts["declarations"]}
    for step in ("markers is acted on", "times of events are no longer kept",
                 "intervals is recorded", "calls are missing"):
        expect(any(step in one for one in declared), f"{what}: no '{step}' in {declared}")
    expect(set(declared.values()) == {"0-1"}, f"{what}: {declared}")
    expect(facts["markers"] == 5000 and facts["acted"] < 2500, f"{what}: {facts['acted']} acted on")
    outcome = online.tools.chameleon("stats", path)
    expect(b"CHAMELEON_BUDGET" in outcome.stdout, f"{what}: stats", outcome)


@test
def memory(online):
    # What never repeats needs memory without end: without files recording stops at the limit, the
    # program goes on, and what was recorded is exact.
    what, path, facts, outcome = online.trace(2, online.program("vary", 60000), lines=3,
                                              BUFFER="64K", MEMORY="1M", SPILL="off")
    expect(outcome.stderr.count(b"CHAMELEON_MEMORY=1 MiB: recording stops") == 2, what, outcome)
    declared = {one["what"]: one["ranks"] for one in facts["declarations"]}
    expect(any("CHAMELEON_MEMORY=1 MiB was used up" in one for one in declared), f"{what}: {declared}")
    expect(facts["paused_calls"] > 1000, f"{what}: {facts['paused_calls']} calls not recorded")
    expect(1 << 20 < facts["tool_bytes"], f"{what}: {facts['tool_bytes']} bytes")
    online.tools.verify(path, path.parent / "raw")
    what, _, facts, _ = online.trace(2, online.program("vary", 60000), BUFFER="64K")
    expect(facts["paused_calls"] == 0 and not facts["declarations"], f"{what}: {facts}")


@test
def merging_memory(online):
    # What has nothing in common is merged as far as there is memory; without files (test_spill.py).
    program, limits = online.program("apart", 60000), {"BUFFER": "64K", "MEMORY": "16M", "SPILL": "off"}
    what, path, facts, _ = online.trace(8, program, lines=10, **limits)
    expect(any("flush failed" in one["what"] for one in facts["declarations"]), f"{what}: {facts}")
    expect(facts["tool_bytes"] < 6 * 16 << 20, f"{what}: {facts['tool_bytes']} bytes")
    verified = online.tools.chameleon("verify", path, "--raw", path.parent / "raw")
    expect(verified.status == 0, what, verified)

# -- time on several machines

@test
def own_times(online):
    # Ranks that do the same share one distribution of times; how long each computed is its own.
    what, _, facts, _ = online.trace(3, online.program("slow", 40), raw=False)
    load = facts["load"]
    expect(load["slowest_rank"] == 1, f"{what}: {load}")
    expect(0.4 < load["balance"] < 0.65, f"{what}: {load}")  # (1 + 5 + 1) / 3 / 5
    expect(0.8 <= load["longest_compute_seconds"] < 1.6, f"{what}: {load}")


@test
def clocks(online):
    # 2 s on clocks that are apart and run apart: each is found to within what is claimed.
    offset_ns, drift_ppm, ranks = 30_000_000, 2000, 5
    folder = online.tools.fresh("clocks")
    path = folder / "t.cham"
    program = online.program("loop", 40, 50)
    outcome = online.tools.job(ranks, program,
                               preload=[online.tools.skewed_clock, online.tools.library],
                               CHAMELEON_OUTPUT=path, CHAMELEON_CLOCK="monotonic",
                               CHAMELEON_TIMING="full", CHAMELEON_FLUSH_EVERY=10,
                               SKEW_OFFSET_NS=offset_ns, SKEW_DRIFT_PPM=drift_ppm)
    expect(outcome.status == 0, "clocks: the job fails", outcome)
    found = {one["rank"]: one for one in online.info(path)["clocks"]["ranks"]}
    expect(sorted(found) == list(range(ranks)), f"clocks: {found}")
    for rank, clock in found.items():
        # One's own t is (1 + d) true ns, so rank 0's is t / (1 + d).
        gains = rank * drift_ppm * 1e-6
        drift = -gains / (1 + gains) * 1e9
        slack = 1e9 * 2 * clock["error_ns"] / 1.5e9 + 20_000
        expect(abs(clock["drift_ppb"] - drift) <= slack,
               f"clocks: rank {rank} drifts by {clock['drift_ppb']} ppb, not {drift:.0f}: {clock}")
        expect(clock["samples"] >= 4, f"clocks: rank {rank}: {clock}")
        expect(clock["error_ns"] < 20_000_000, f"clocks: rank {rank}: {clock}")
    # A rank leaves a shift when its neighbours do, unless it has to wait for a processor: at the
    # best of the shifts it shows that the ranks' times are one time.
    apart = min(max(ends) - min(ends) for ends in zip(*online.shift_ends(path, ranks)))
    error = 2 * max(clock["error_ns"] for clock in found.values())
    expect(apart < max(error, 5_000_000),
           f"clocks: ranks leave no shift within less than {apart} ns, error {error}")


# -- jobs that run, and go on running

@test
def running(online):
    path = online.tools.fresh("running") / "t.cham"
    job = Job(online, 2, online.program("loop", 1000000, 1), path, CHAMELEON_FLUSH_EVERY=1)
    job.processes()
    markers, until = [], time.monotonic() + 30 * online.tools.slower
    while len(markers) < 8 or (markers[0] == markers[-1] and time.monotonic() < until):
        time.sleep(0.1)
        facts = online.info(path)
        expect(not facts["complete"], "a running job's trace claims to be complete")
        markers.append(facts["markers"])
    running_still = job.process.poll() is None
    job.end()
    expect(running_still, "the job ended early", job.outcome())
    expect(markers == sorted(markers) and markers[0] < markers[-1],
           f"markers in the file while the job runs: {markers}")


@test
def waits_asleep(online):
    """A rank that waits 16 ms at each of 200 markers takes little processor time for it."""
    def spent(how, steps):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        outcome = online.tools.job(2, online.program("slow", steps), preload=[online.tools.library],
                                   CHAMELEON_WAIT=how, CHAMELEON_VOTE="blocking",
                                   CHAMELEON_OUTPUT=online.tools.fresh("wait") / "t.cham")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        expect(outcome.status == 0, f"CHAMELEON_WAIT={how}", outcome)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    # Start-up takes as much either way. Beside other work `yield` takes little as well.
    taken = {how: spent(how, 200) - spent(how, 2) for how in ("yield", "sleep")}
    print(f"processor time: {taken['yield']:.2f} s with yield, {taken['sleep']:.2f} s with sleep")
    expect(taken["sleep"] < 1.6, f"a rank that waits asleep computes half of the time: {taken}")


@test
def many_markers(online):
    sizes = {}
    few, many = (10**4, 10**6) if online.all else (2 * 10**3, 2 * 10**4)
    for steps in (few, many):
        what, _, facts, outcome = online.trace(2, online.program("report", steps), lines=2,
                                                  raw=False, same=False, FLUSH_EVERY=100,
                                                  TIMING="none")
        online.states(what, facts, 1, steps - 3, 2)
        expect(facts["count_flush"] >= steps // 100, f"{what}: {facts['count_flush']} flushes")
        report = re.search(rb"step ([\d.]+) us, trace (\d+) bytes", outcome.stderr)
        print(f"{what}: {report[1].decode()} us a step with its marker, {report[2].decode()} bytes "
              f"before MPI_Finalize, {facts['bytes']} after")
        sizes[steps] = int(report[2]), facts["bytes"]
        expect(sizes[steps][0] <= 2 * facts["bytes"] + WRITER_SLACK + FLUSH_BYTES,
               f"{what}: {sizes[steps][0]} bytes while running")
    expect(sizes[many][1] <= sizes[few][1] + 2 * FLUSH_BYTES + SERIES_BYTES,
           f"{sizes[few]} bytes of {few} markers, {sizes[many]} of {many}")


if __name__ == "__main__":
    run_chosen("test_online", __doc__, TESTS)
