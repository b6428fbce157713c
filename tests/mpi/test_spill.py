#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A full memory loses nothing: what a rank folds goes to a file when it takes much memory, and
rank 0 lets go of what its own file has. Programs whose calls never repeat, at every fidelity, with
markers and without; what is left when such a job is killed; and places that cannot be written.

    test_spill.py --tools TOOLS.json --examples FOLDER [--only NAME] [--all] [--seed N]"""

import os
import pathlib
import re
import signal
import subprocess
import sys
import time

from harness import expect
from online_jobs import Job, run_chosen

TESTS = []
MEMORY = 8       # MiB, of CHAMELEON_MEMORY
LIMITS = {"MEMORY": f"{MEMORY}M", "BUFFER": "64K"}
FIDELITIES = ("exact", "checked", "lead")
SPILLED = 12000  # steps after which a rank has put some aside
# What `verify` says of a trace in which nothing is missing at its end.
NONE_AFTER = b"the trace is incomplete: 0 recorded events are after the last flush"


def test(function):
    TESTS.append(function)
    return function


def memory_of(facts):
    """MiB of the tool's: of the rank with the least, with the most, and which that is."""
    of = facts["facts"]["ranks"]["tool_bytes"]
    return of["least"] / 2**20, of["most"] / 2**20, of["most_rank"]


def whole(online, ranks, program, lines=1, memory=MEMORY, strict=True, **variables):
    """Everything is there, and each rank took no more memory than it may, rank 0 twice that. To
    align two lists takes some more."""
    what, path, facts, _ = online.trace(ranks, program, lines=lines, **{**LIMITS, **variables})
    expect(not facts["declarations"] and facts["paused_calls"] == 0, f"{what}: {facts}")
    options = ["--strict"] if strict else []
    outcome = online.tools.chameleon("verify", *options, path, "--raw", path.parent / "raw")
    expect(outcome.status == 0, f"{what}: verify", outcome)
    online.tools.check(path)
    least, most, where = memory_of(facts)
    expect(least < memory and most < (2 if where == 0 else 1) * memory + 4,
           f"{what}: {least:.1f} to {most:.1f} MiB, most on rank {where}")
    expect([one.name for one in path.parent.iterdir() if one.name not in ("raw", "t.cham")] == [],
           f"{what}: files are left")
    return what, path, facts


@test
def without_markers(online):
    for ranks in (2, 4, 8) if online.all else (2, 8):
        steps = 200_000 // ranks if online.all else SPILLED
        for fidelity in FIDELITIES if online.all or ranks == 2 else FIDELITIES[:1]:
            what, _, facts = whole(online, ranks, online.program("apart", steps),
                                   FIDELITY=fidelity)
            # Else this test is of nothing.
            expect(facts["commits"] > 3, f"{what}: {facts['commits']} commits")
            expect(facts["events"] == ranks * (steps + 2), f"{what}: {facts['events']} events")


@test
def values_of_a_loop(online):
    """A loop is cut where its values take the memory: one loop again when the parts are joined."""
    what, _, facts = whole(online, 2, online.program("vary", 60_000), memory=3, MEMORY="1M")
    expect(facts["nodes"] < 50, f"{what}: {facts['nodes']} nodes")


@test
def between_markers(online):
    """Intervals that are longer than memory. Leads' stand for others in L, from the third on."""
    for fidelity in FIDELITIES:
        for vote in ("deferred", "blocking") if online.all else ("deferred",):
            what, _, facts = whole(online, 3, online.program("parted", 50_000 if online.all else 30_000),
                                   FIDELITY=fidelity,
                                   VOTE=vote, strict=fidelity != "lead")
            expect(facts["acted"] >= 3, f"{what}: {facts['acted']} markers")


@test
def dropped(online):
    """What is dropped in L is dropped in the file, too: the leads' events are there, and no others."""
    what, path, facts = whole(online, 4, online.program("parted", 50_000), FIDELITY="lead", K=1,
                              FORMAT="callpath", STEPS="single", strict=False)
    declared = {one["kind"]: one["ranks"] for one in facts["inexact"]}
    expect(declared.get("EVENTS", "") != "", f"{what}: {declared}")
    strict = online.tools.chameleon("verify", "--strict", path, "--raw", path.parent / "raw")
    expect(strict.status == 1, f"{what}: nobody was represented", strict)


# Made without a name, or with one that was removed at once.
NAMELESS = re.compile(r"(?:/#\d+|\.spill\.new\d*) \(deleted\)$")


def file_of(process):
    """The file of a rank's pieces, which has no name; or None."""
    for one in pathlib.Path(f"/proc/{process}/fd").iterdir():
        try:
            if NAMELESS.search(os.readlink(one)):
                return one
        except FileNotFoundError:  # closed meanwhile
            pass
    return None


def disk_of(process):
    file = file_of(process)
    return 0 if file is None else 512 * file.stat().st_blocks


@test
def given_back(online):
    """The room of intervals that are dropped is given back, though pieces of the next one always
    come before that: files grow no more after some intervals."""
    folder = online.tools.fresh("given_back")
    job = Job(online, 3, online.program("parted", 1_000_000_000), folder / "t.cham",
              **{f"CHAMELEON_{name}": value for name, value in LIMITS.items()},
              CHAMELEON_FIDELITY="lead", CHAMELEON_K=1, CHAMELEON_FORMAT="callpath",
              CHAMELEON_STEPS="single")
    processes = job.processes()

    def most(seconds):
        until, found = time.monotonic() + seconds * online.tools.slower, [0] * len(processes)
        while time.monotonic() < until:
            found = list(map(max, found, map(disk_of, processes)))
            time.sleep(0.02)
        return found

    first, _, last = most(3), most(3), most(3)
    job.send(signal.SIGKILL, *processes)
    job.wait()
    expect(min(first) > 0, "given_back: nothing was stored")
    expect(all(map(lambda one, other: one < 2 * other, last, first)),
           f"given_back: files take {first}, and then {last} bytes")


@test
def arrays(online):
    whole(online, 3, online.program("lists", 20_000 if online.all else 4000),
          MARKERS="off")
    # Those of intervals that were joined go with what refers to them.
    whole(online, 3, online.program("listed", 40_000 if online.all else 12_000),
          TRACE_LIMIT="4G", FLUSH_EVERY=1000, FLUSH_SECONDS=1000)


@test
def array_of_an_open_call(online):
    """What a call refers to stays while a callback inside it fills the buffer over and over."""
    what, path, _, _ = online.trace(2, online.program("handled", 4000), **LIMITS)
    outcome = online.tools.chameleon("verify", "--strict", path, "--raw", path.parent / "raw")
    expect(outcome.status == 0, f"{what}: verify", outcome)


@test
def threads(online):
    whole(online, 2, online.program("beside", SPILLED), memory=MEMORY + 2)


@test
def threads_between_markers(online):
    """A piece of another thread stays that thread's, also where it comes alone."""
    # How much memory it takes to join the threads' traces, beside recording, is chance.
    what, path, facts, _ = online.trace(
        2, online.program("among", 40_000 if online.all else SPILLED), **LIMITS)
    expect(not facts["declarations"] and facts["paused_calls"] == 0, f"{what}: {facts}")
    expect(facts["acted"] >= 3, f"{what}: {facts['acted']} markers")
    outcome = online.tools.chameleon("verify", "--strict", path, "--raw", path.parent / "raw")
    expect(outcome.status == 0, f"{what}: verify", outcome)
    online.tools.check(path)


@test
def values(online):
    """Values take no more than CHAMELEON_TRACE_LIMIT in files either: beyond it they are declared."""
    ranks, steps = (8, 3200) if online.all else (3, 300)
    what, path, facts, outcome = online.trace(
        ranks, online.program("noise", steps), lines=(ranks + 1, ranks + 2), TRACE_LIMIT="1M", BUFFER="64K",
        MEMORY="6M", CLUSTERING="off")
    expect(outcome.stderr.count(b"CHAMELEON_TRACE_LIMIT") >= ranks, f"{what}: says nothing", outcome)
    online.limited(what, path, facts)
    least, most, where = memory_of(facts)
    expect(least < 6 and most < 12, f"{what}: {least:.1f} to {most:.1f} MiB, most on rank {where}")


@test
def dropped_values(online):
    """Those of intervals that are dropped do not count: a rank of which none is kept may store
    more than its share of CHAMELEON_TRACE_LIMIT in the course of a run."""
    online.trace(3, online.program("alone", 50 * (200 if online.all else 60)), raw=False,
                 FIDELITY="lead", K=1, FORMAT="callpath", STEPS="single", FLUSH_EVERY=1000,
                 FLUSH_SECONDS=1000, MEMORY="6M", BUFFER="64K", TRACE_LIMIT="48M")


@test
def python(online):
    """The other reader joins the parts, too."""
    what, path, facts = whole(online, 2, online.program("parted", 40_000), FIDELITY="lead",
                              strict=False)
    folder = pathlib.Path(__file__).resolve().parents[2] / "tools/python"
    code = ("import sys, chameleon_trace; trace = chameleon_trace.read_trace(sys.argv[1]); "
            "print(trace.complete, [sum(1 for _ in trace.events(rank)) for rank in range(2)], "
            "[facts.events for facts in trace.facts()])")
    said = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True,
                          check=False, env={**online.tools.environment(), "PYTHONPATH": folder})
    each = facts["events"] // 2
    expect(said.stdout.split() == f"True {[each] * 2} {[each] * 2}".split(),
           f"{what}: Python reads {said.stdout} {said.stderr}")


@test
def unwritable(online):
    """What a place that cannot be written leaves is what there was without it."""
    program, ranks = online.program("apart", SPILLED), 2
    folder = online.tools.fresh("unwritable")
    (folder / "file").write_bytes(b"")
    what, path, facts, outcome = online.trace(ranks, program, lines=ranks + 2,
                                              SPILL=folder / "file", **LIMITS)
    # One rank says it, and others where they need the file.
    reason = b"spill: cannot create the file: Not a directory"
    expect(outcome.stderr.count(b"rank 0: %s/t.cham.rank0.%s: what takes much memory stays there"
                                % (bytes(folder / "file"), reason)) == 1, what, outcome)
    expect(outcome.stderr.count(b"stays there") == 1, what, outcome)
    stops = [line for line in outcome.stderr.split(b"\n") if b"recording stops here" in line]
    expect([reason in line for line in sorted(stops)] == [False, True], what, outcome)
    expect(any("no more could be stored" in one["what"] for one in facts["declarations"]),
           f"{what}: {facts['declarations']}")
    expect(any("CHAMELEON_MEMORY=8 MiB was used up" in one["what"]
               for one in facts["declarations"]), f"{what}: {facts['declarations']}")
    online.tools.verify(path, path.parent / "raw")
    # Elsewhere than beside the trace.
    whole(online, ranks, program, SPILL=folder)
    expect(sorted(one.name for one in folder.iterdir()) == ["file"], "a file is left")


@test
def full(online):
    """The files may not grow: what each rank has stored until then is there, and it goes on."""
    program = online.program("filled", 60_000, 60)
    folder = online.tools.fresh("full")
    path = folder / "t.cham"
    outcome = online.tools.traced(2, program, path, CHAMELEON_MEMORY="8M", CHAMELEON_BUFFER="64K")
    plain = online.untraced(2, program)
    expect((outcome.status, outcome.stdout) == (0, plain.stdout), "full: the program", outcome)
    expect(outcome.stderr.count(b".spill: cannot write: File too large") == 2, "full", outcome)
    expect(outcome.stderr.count(b"recording stops here") == 2, "full", outcome)
    expect(not online.info(path)["complete"], "full: the trace claims to be complete")


def job_of(online, mode, fidelity="exact", **variables):
    """One of which each rank has stored something."""
    folder = online.tools.fresh("killed")
    (folder / "raw").mkdir()
    job = Job(online, 3, online.program(mode, 1_000_000_000), folder / "t.cham",
              CHAMELEON_RAW=folder / "raw", CHAMELEON_FIDELITY=fidelity,
              **{f"CHAMELEON_{name}": value for name, value in {**LIMITS, **variables}.items()})
    processes = job.processes()
    until = time.monotonic() + 60 * online.tools.slower
    while not all(map(disk_of, processes)):
        if time.monotonic() > until:
            job.end()
            expect(False, f"{mode}: nothing is stored", job.outcome())
        time.sleep(0.05)
    time.sleep(online.random.uniform(0, 0.4))
    return job, processes, folder


@test
def terminated(online):
    """What each rank has stored is in what it leaves, and joined."""
    for mode in ("apart", "parted", "beside") if online.all else ("apart", "parted"):
        for fidelity in FIDELITIES if online.all else FIDELITIES[:1]:
            job, _, folder = job_of(online, mode, fidelity)
            job.send(signal.SIGTERM, job.process.pid)
            job.wait()
            what = f"SIGTERM to {mode}, {fidelity}"
            outcome = online.tools.chameleon("recover", folder / "t.cham", "-o",
                                             folder / "whole.cham")
            expect(b"joined ranks 0-2 of 3" in outcome.stdout, what, outcome, job.outcome())
            verified = online.tools.chameleon("verify", folder / "whole.cham", "--raw",
                                              folder / "raw")
            expect(verified.status == 0 and NONE_AFTER in verified.stdout, f"{what}: verify",
                   verified)
            left = [one.name for one in folder.iterdir() if one.name.endswith(".spill")]
            expect(left == [], f"{what}: {left}")


def ended_in_rounds(online, program, fidelity, after, **variables):
    """A job that is told to end after so many rounds of a flush. The file has what rounds have taken,
    and what ranks leave has the rest; whether there is any."""
    folder = online.tools.fresh("rounds")
    (folder / "raw").mkdir()
    path = folder / "t.cham"
    job = Job(online, 3, program, path, CHAMELEON_RAW=folder / "raw", CHAMELEON_FIDELITY=fidelity,
              **{f"CHAMELEON_{name}": value for name, value in {**LIMITS, **variables}.items()})
    seen = []
    while job.process.poll() is None and len(seen) <= after:
        size = path.stat().st_size if path.exists() else 0
        if size > 0 and size not in seen:
            seen.append(size)
        time.sleep(0.005)
    job.send(signal.SIGTERM, job.process.pid)
    job.wait()
    what = f"SIGTERM after {after} rounds of {' '.join(map(str, program[1:]))}, {fidelity}"
    if online.info(path)["complete"]:
        return False
    outcome = online.tools.chameleon("recover", path, "-o", folder / "whole.cham")
    expect(b"joined ranks 0-2 of 3" in outcome.stdout, what, outcome, job.outcome())
    facts = online.info(folder / "whole.cham")
    expect(not facts["declarations"], f"{what}: {facts['declarations']}", job.outcome())
    strict = ["--strict"] if fidelity == "exact" else []
    verified = online.tools.chameleon("verify", *strict, folder / "whole.cham", "--raw",
                                      folder / "raw")
    expect(verified.status == 0 and NONE_AFTER in verified.stdout, f"{what}: verify", verified,
           job.outcome())
    flushed = online.info(path)
    expect(flushed["commits"] > after, f"{what}: the file has {flushed['commits']} parts")
    return flushed["events"] < facts["events"]


@test
def terminated_in_rounds(online):
    """The last merge and a flush, of several rounds each: ranks stop after the same one."""
    for number in range(20 if online.all else 1):
        after = 1 + (number + 1) % 3
        fidelity = FIDELITIES[number % 3] if online.all else "exact"
        steps = 2 * SPILLED
        while not ended_in_rounds(online, online.program("apart", steps), fidelity, after):
            steps *= 2  # it was over before
            expect(steps < 100 * SPILLED, "no job ends in rounds of its last merge")
        expect(ended_in_rounds(online, online.program("parted", 1_000_000_000), fidelity, after),
               "a job ends that has no end")


@test
def unreadable(online):
    """A piece that cannot be read ends what a rank leaves, which declares that."""
    job, processes, folder = job_of(online, "apart")
    job.send(signal.SIGSTOP, *processes)
    time.sleep(0.1)
    file = file_of(processes[1])
    expect(file is not None and file.stat().st_size > 0, "unreadable: nothing was stored")
    os.truncate(file, file.stat().st_size // 2)
    job.send(signal.SIGTERM, *processes)
    job.send(signal.SIGCONT, *processes)
    job.wait()
    outcome = online.tools.chameleon("recover", folder / "t.cham", "-o", folder / "whole.cham")
    expect(b"joined ranks 0-2 of 3" in outcome.stdout, "unreadable", outcome, job.outcome())
    facts = online.info(folder / "whole.cham")
    expect([(one["what"].split(":")[0], one["ranks"]) for one in facts["declarations"]]
           == [("a flush failed", "1")], f"unreadable: {facts['declarations']}")
    verified = online.tools.chameleon("verify", folder / "whole.cham", "--raw", folder / "raw")
    expect(verified.status == 0, "unreadable: verify", verified)


@test
def killed(online):
    for number in range(20 if online.all else 2):
        job, processes, folder = job_of(online, ("apart", "parted")[number % 2],
                                        FLUSH_EVERY=1)
        victims = processes if number % 3 == 0 else [online.random.choice(processes)]
        job.send(signal.SIGKILL, *victims)
        job.wait()
        facts = online.info(folder / "t.cham")
        expect(not facts["complete"], "killed: the trace claims to be complete")
        verified = online.tools.chameleon("verify", folder / "t.cham", "--raw", folder / "raw")
        expect(verified.status == 0, "killed: verify", verified)
        left = sorted(one.name for one in folder.iterdir() if one.name not in ("raw", "said"))
        expect(left == ["t.cham"], f"killed: {left}")


if __name__ == "__main__":
    run_chosen("test_spill", __doc__, TESTS)
