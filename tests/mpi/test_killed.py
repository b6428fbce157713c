#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a job leaves that does not end well: a rank or all of it is killed, told to end, or aborts.

    test_killed.py --tools TOOLS.json --examples FOLDER [--only NAME] [--all] [--seed N]"""

import signal
import time

from harness import expect
from online_jobs import Job, run_chosen

TESTS = []


def test(function):
    TESTS.append(function)
    return function


def killed(online, number):
    """A job of which a rank, or everything, is killed at some moment; and what is left."""
    program = online.random.choice([online.example("stencil2d", "--iterations", 1000000),
                                    online.example("multigrid", "--iterations", 1000000),
                                    online.example("adaptive", "--iterations", 1000000),
                                    online.example("phases", "--iterations", 1000000, "--pattern",
                                                   online.random.choice(("AAAABBBA", "roles",
                                                                         "differs", "random")))])
    ranks = online.random.choice((2, 3, 4))
    whole = online.random.random() < 0.3
    moment = online.random.uniform(0, 0.7)
    folder = online.tools.fresh("killed")
    (folder / "raw").mkdir()
    # By itself votes are a tenth of a second apart: a third of them has some.
    every = online.random.choice((1, 1, "auto"))
    fidelity = online.random.choice(("exact", "exact", "checked", "lead"))
    job = Job(online, ranks, program, folder / "t.cham",
              CHAMELEON_FLUSH_EVERY=3 if every == 1 else 1, CHAMELEON_CALL_FREQUENCY=every,
              CHAMELEON_FIDELITY=fidelity, CHAMELEON_RAW=folder / "raw")
    processes = job.processes()
    time.sleep(moment)
    victims = [job.process.pid, *processes] if whole else [online.random.choice(processes)]
    job.send(signal.SIGKILL, *victims)
    job.wait()
    what = (f"kill {number}: {' '.join(map(str, program[0:]))} on {ranks}, every {every}, {fidelity}, "
            f"{'all' if whole else 'rank %d' % processes.index(victims[0])} after {moment:.3f} s")
    facts = online.info(folder / "t.cham")
    expect(not facts["complete"], f"{what}: the trace claims to be complete")
    outcome = online.tools.chameleon("check", folder / "t.cham")
    # Where leads stand for others, what is declared may leave messages without a receiver.
    expect(outcome.status in ((0,) if fidelity == "exact" else (0, 1)), f"{what}: check", outcome)
    outcome = online.tools.chameleon("verify", folder / "t.cham", "--raw", folder / "raw")
    expect(outcome.status == 0, f"{what}: verify", outcome)
    if facts["events"] > 0 and (online.all or number % 3 == 0):
        options = [] if fidelity == "exact" else ["--best-effort"]
        outcome = online.tools.replay(ranks, folder / "t.cham", *options)
        expect(outcome.status == 0, f"{what}: replay to the last flush", outcome)
    return facts["markers"]


@test
def sigkill(online):
    markers = [killed(online, number) for number in range(1000 if online.all else 10)]
    expect(max(markers) > 3, f"no job came to its first flush: markers {markers}")


@test
def known(online):
    """A killed job's trace says up to when it knows, which flushes by time keep near the end."""
    for step_ms, seconds, said in ((300, 5, b"as far as the trace reaches"),
                                   (100000, 1, b"no rank has reported yet")):
        path = online.tools.fresh("known") / "t.cham"
        job = Job(online, 2, online.program("loop", 1000, step_ms), path,
                  CHAMELEON_FLUSH_SECONDS=1)
        processes = job.processes()
        time.sleep(seconds)
        job.send(signal.SIGKILL, job.process.pid, *processes)
        job.wait()
        facts = online.info(path)
        text = online.tools.chameleon("info", path)
        expect(said in text.stdout, f"killed in steps of {step_ms} ms: info", text)
        if step_ms < 1000:
            expect(facts["acted"] > 4 and 1.5 < facts["known_seconds"], f"known: {facts}")
            expect(b"s after the start" in text.stdout, "known: info", text)
        else:
            expect(facts["known_seconds"] == facts["events"] == 0, f"not known: {facts}")


@test
def sigterm(online):
    folder = online.tools.fresh("sigterm")
    program = online.program("loop", 1000000, 1)
    job = Job(online, 4, program, folder / "t.cham", CHAMELEON_FLUSH_EVERY=20)
    job.processes()
    time.sleep(1)
    job.send(signal.SIGTERM, job.process.pid)
    job.wait()
    facts = online.info(folder / "t.cham")
    expect(not facts["complete"], "SIGTERM: the job's trace claims to be complete")
    found = 0  # by all ranks: at times the last flush has them all
    for rank in range(4):
        left = folder / f"t.cham.rank{rank}"
        expect(left.exists(), f"SIGTERM: rank {rank} left no trace", job.outcome())
        part = online.info(left)
        expect(part["traced_ranks"] == str(rank) and not part["complete"], f"{left.name}: {part}")
        found += part["events"]
    outcome = online.tools.chameleon("recover", folder / "t.cham", "-o", folder / "whole.cham")
    expect(outcome.status == 0, "recover", outcome)
    whole = online.info(folder / "whole.cham")
    expect(whole["events"] == found >= facts["events"],
           f"recover: {whole['events']} events of {found}, {facts['events']} flushed", outcome)
    online.tools.check(folder / "whole.cham")


@test
def sigterm_status(online):
    """No rank is killed before it has ended by itself. Which of its ranks' statuses MPICH's launcher
    gives back varies, without tracer too: 15, or at times 0. Open MPI's gives 128 and the signal, or
    1 if it has something to add."""
    statuses = (0, 15) if online.tools.mpi == "mpich" else (1, 143)
    program = online.program("loop", 1000000, 1)
    for traced in [False] + [True] * (20 if online.all else 3):
        job = Job(online, 4, program, online.tools.fresh("status") / "t.cham", traced=traced)
        time.sleep(online.random.uniform(1.0, 1.5))
        job.send(signal.SIGTERM, job.process.pid)
        expect(job.wait() in statuses, f"SIGTERM, traced {traced}: exit status", job.outcome())


@test
def sigterm_in_flush(online):
    """What the ranks leave begins after the same flush, and the file has reached it."""
    program = online.program("loop", 1000000, 1)
    for _ in range(20 if online.all else 4):
        folder = online.tools.fresh("flush")
        job = Job(online, 4, program, folder / "t.cham", CHAMELEON_FLUSH_EVERY=1)
        job.processes()
        time.sleep(online.random.uniform(0.3, 0.8))
        job.send(signal.SIGTERM, job.process.pid)
        job.wait()
        outcome = online.tools.chameleon("recover", folder / "t.cham", "-o", folder / "whole.cham")
        expect(b"joined ranks 0-3 of 4" in outcome.stdout, "SIGTERM in a flush", outcome,
               job.outcome())


@test
def sigterm_at_end(online):
    """Ranks that wait in MPI_Finalize for one that is not there have not merged anything yet."""
    folder = online.tools.fresh("end")
    job = Job(online, 4, online.program("last", 40), folder / "t.cham")
    job.processes()
    time.sleep(1)
    job.send(signal.SIGTERM, job.process.pid)
    job.wait()
    events = [online.info(folder / f"t.cham.rank{rank}")["events"] for rank in range(4)]
    expect(events == [42, 41, 42, 42], f"SIGTERM at the end: {events}", job.outcome())
    outcome = online.tools.chameleon("recover", folder / "t.cham", "-o", folder / "whole.cham")
    whole = online.info(folder / "whole.cham")
    expect(whole["events"] == sum(events), f"recover: {whole['events']} of {events}", outcome)


@test
def sigterm_any_time(online):
    """Also while a rank is in MPI_Init, a flush or MPI_Finalize: the job ends, a file is whole."""
    for _ in range(20 if online.all else 4):
        folder = online.tools.fresh("sigterm")
        job = Job(online, 4, online.program("loop", 300, 1), folder / "t.cham",
                  CHAMELEON_FLUSH_EVERY=2)
        time.sleep(online.random.uniform(0.1, 1.0))
        if job.process.poll() is None:
            job.send(signal.SIGTERM, job.process.pid)
        job.wait()
        if (folder / "t.cham").exists():
            online.info(folder / "t.cham")


@test
def own_handlers(online):
    for mode in ("early", "handler"):
        what, path, _, outcome = online.exact(3, online.program(mode, 12))
        expect(b"done, 1 signals" in outcome.stdout, f"{what}: the handler", outcome)
        left = [one.name for one in path.parent.iterdir() if ".rank" in one.name]
        expect(not left, f"{what}: leaves {left}")


@test
def aborts(online):
    path = online.tools.fresh("abort") / "t.cham"
    outcome = online.tools.traced(3, online.program("abort", 40), path, CHAMELEON_FLUSH_EVERY=4)
    expect(outcome.status == 7, "MPI_Abort: exit status", outcome)
    facts, left = online.info(path), online.info(path.with_name("t.cham.rank1"))
    expect(not facts["complete"] and facts["markers"] >= 12, f"MPI_Abort: {facts}", outcome)
    expect(left["traced_ranks"] == "1" and left["events"] > 0, f"MPI_Abort: {left}", outcome)
    online.tools.check(path)


if __name__ == "__main__":
    run_chosen("test_killed", __doc__, TESTS)
