#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Programs whose ranks call MPI from several threads at once: the same result as untraced, a
stream of events a thread, every value the one in the raw records, and what the verbs say of them.

    test_threads.py --tools TOOLS.json --program PROGRAM --steady PROGRAM --ranks 1,2,4
                    [--unlocked LIBRARY]

With LIBRARY, the tracer without locks: ThreadSanitizer finds that, so that it would find others."""

import json
import re

import harness
import thread_tools
from harness import expect

ROUNDS, THREADS = 6, 3
SETTINGS = {
    "off": {"CHAMELEON_CLUSTERING": "off"},
    "exact": {},
    "lead": {"CHAMELEON_FIDELITY": "lead", "CHAMELEON_K": "1"},
    "small": {"CHAMELEON_BUFFER": "64K", "CHAMELEON_FLUSH_EVERY": "2", "CHAMELEON_TIMING": "full"},
}


def events_of(rounds, threads):
    """How many calls a rank makes, from the program's text."""
    workers = 0
    for round_ in range(rounds):
        coming = threads - 1 if round_ >= 4 and threads > 1 else threads
        workers += sum(5 * (5 + t) + 8 + 2 for t in range(coming))
    return workers + 2 * threads + 3  # dup and free, MPI_Init_thread, MPI_Allreduce, MPI_Finalize


def threads(tools, options, ranks):
    program = [options.program, ROUNDS, THREADS]
    plain = tools.job(ranks, program)
    expect(plain.status == 0 and plain.stdout, f"{ranks} ranks, untraced", plain)
    for name, settings in SETTINGS.items():
        folder = tools.fresh(f"threads.{ranks}.{name}")
        raw = folder / "raw"
        raw.mkdir()
        trace = folder / "t.cham"
        outcome = tools.traced(ranks, program, trace, raw=raw, **settings)
        expect((outcome.status, outcome.stdout) == (0, plain.stdout),
               f"{ranks} ranks, {name}: the result changes", plain, outcome)
        one_trace(tools, ranks, name, trace, raw)


def one_trace(tools, ranks, name, trace, raw):
    what = f"{ranks} ranks, {name}"
    report = tools.verify(trace, raw)
    wanted = ranks * events_of(ROUNDS, THREADS)
    expect(report["raw_events"] == wanted, f"{what}: {report['raw_events']} calls, not {wanted}")
    info = json.loads(tools.chameleon("info", trace, "--json").stdout)
    # The first thread, and the workers, which take the numbers of those that ended.
    expect(info["threads"] == THREADS + 1 and info["streams"] == ranks * (THREADS + 1),
           f"{what}: {info['threads']} threads, {info['streams']} streams")
    expect(info["events"] == wanted and not info["declarations"] and not info["inexact"],
           f"{what}: info: {info}")
    files = sorted(path.name for path in raw.iterdir())
    expect(len(files) == ranks * (THREADS + 1), f"{what}: raw records {files}")

    shown = tools.chameleon("print", trace, "--rank", 0, "--expand")
    text = shown.stdout.decode()
    expect(shown.status == 0 and re.findall(r"^thread (\d)$", text, re.M) == ["0", "1", "2", "3"],
           f"{what}: print --expand", shown)
    expect(len(re.findall(r"^\d+  ", text, re.M)) == events_of(ROUNDS, THREADS),
           f"{what}: print --expand has other events")
    shown = tools.chameleon("print", trace)
    expect(shown.status == 0 and b"thread" in shown.stdout, f"{what}: print", shown)
    stats = json.loads(tools.chameleon("stats", trace, "--json").stdout)
    expect(stats["events"] == wanted, f"{what}: stats: {stats['events']}")
    expect(all(int(rank) < ranks for row in stats["rows"]
               for rank in re.findall(r"\d+", row["ranks"])), f"{what}: stats: {stats['rows']}")
    # Threads come with other numbers in other rounds: then they share tags and communicators.
    # That part is left out and said, and all else is consistent. Where it decides whether the rest
    # goes on, one line says that nobody knows.
    checked = tools.chameleon("check", trace)
    shared = shares_tags(raw)
    if checked.status == 4:
        expect(b"cannot determine whether" in checked.stderr
               and checked.stderr.count(b"\n") == 1, f"{what}: check", checked)
    else:
        expect(checked.status == 0 and not checked.stderr
               and b"the trace is consistent: " in checked.stdout, f"{what}: check", checked)
        expect(not shared or b"that threads of a rank share" in checked.stdout,
               f"{what}: check, shared tags: {shared}", checked)
    replayed = tools.replay(ranks, trace)
    expect(replayed.status == 0 or replayed.status == 4 and replayed.stderr.count(b"\n") == 1 and
           b"thread" in replayed.stderr, f"{what}: replay is not refused in one line", replayed)
    expect(not shared or replayed.status == 4, f"{what}: the order of what is shared is unknown",
           replayed)
    # Which message is which, and the order of collectives, is not told where threads share.
    if ranks == 2 and name in ("exact", "small") and not shared and checked.status == 0:
        thread_tools.check_tools(tools, ranks, trace, raw, what, 200)


def shares_tags(raw):
    """Whether different threads of a rank exchanged messages with the same tag."""
    users = {}
    for path in raw.iterdir():
        rank, thread = re.fullmatch(r"rank\.(\d+)(?:\.(\d+))?\.raw", path.name).groups()
        for tag in set(re.findall(r" (?:send)?tag=(\d+)", path.read_text())):
            users.setdefault((rank, tag), set()).add(thread)
    return any(len(of) > 1 for of in users.values())


def steady(tools, options, ranks):
    """Threads that share no channel are checked; what they share, or leave, is named."""
    for mode in (("apart", "plain", "eager", "share", "leave", "turns") if ranks == 2 else
                 ("plain", "eager", "turns")):
        program = [options.steady, ROUNDS, THREADS, mode]
        plain = tools.job(ranks, program)
        folder = tools.fresh(f"steady.{ranks}.{mode}")
        raw = folder / "raw"
        raw.mkdir()
        trace = folder / "t.cham"
        # Whose turn it was is not in means.
        settings = {"CHAMELEON_TIMING": "full"} if mode == "turns" else {}
        outcome = tools.traced(ranks, program, trace, raw=raw, **settings)
        # The MPI may warn of what was not received.
        result = [re.findall(rb"^sum .*$", of.stdout, re.M) for of in (plain, outcome)]
        expect((outcome.status, plain.status) == (0, 0) and result[0] == result[1] and result[0],
               f"{ranks} ranks, {mode}: the result changes", plain, outcome)
        what = f"{ranks} ranks, steady threads, {mode}"
        tools.verify(trace, raw)
        checked = tools.chameleon("check", trace, "--json")
        if mode == "turns":
            replayed = tools.replay(ranks, trace, "--json")
            expect(replayed.status == 0 and not json.loads(replayed.stdout)["left_out"],
                   f"{what}: replay", replayed)
        elif mode != "leave":  # only of threads that take turns
            replayed = tools.replay(ranks, trace)
            why = {"share": rb"threads \d and \d both ", "apart": rb" begins while "}.get(
                mode, rb"completes in event \d+ \(Waitall\) a request of another thread")
            expect(replayed.status == 4 and re.search(why, replayed.stderr),
                   f"{what}: replay does not say why", replayed)
        if mode == "eager":
            expect(checked.status == 0, what, checked)
            continue
        if ranks == 2 and mode == "plain":
            thread_tools.check_tools(tools, ranks, trace, raw, what, 100)
        if mode == "share":
            report = json.loads(checked.stdout)
            expect(checked.status == 0 and report["shared_by_threads"]["count"] > 0, what, checked)
            continue
        report = json.loads(checked.stdout)
        expect(checked.status == (1 if mode == "leave" else 0) and not checked.stderr, what,
               checked)
        kinds = [(p["kind"], p["rank"], p["thread"] > 0) for p in report["problems"]]
        expect(kinds == ([("unreceived", 0, True)] if mode == "leave" else []), what, checked)
        calls, sent = thread_tools.raw_lanes(tools, raw)
        expect(report["events"] == sum(calls.values()) and
               report["messages"] == sum(count for (_, _, name), count in calls.items()
                                         if name in ("Isend", "Issend", "Send")),
               f"{what}: counts", checked)
        collectives = sum(count for (rank, _, name), count in calls.items() if rank == 0 and
                          name in ("Allreduce", "Comm_dup", "Comm_free", "Finalize"))
        expect(report["collectives"] == collectives, f"{what}: {collectives} collectives", checked)


def both(tools, options, ranks):
    threads(tools, options, ranks)
    steady(tools, options, ranks)


def unlocked(tools, options, ranks):
    try:
        outcome = tools.job(ranks, [options.program, ROUNDS, THREADS], preload=[options.unlocked],
                            CHAMELEON_OUTPUT=tools.fresh("unlocked") / "t.cham")
    except harness.Failure as failure:
        if "ThreadSanitizer: data race" in str(failure):
            return
        raise
    expect(False, f"{ranks} ranks: ThreadSanitizer does not miss the locks", outcome)


def main():
    parser = harness.parser_of_ranks(__doc__)
    parser.add_argument("--steady")
    parser.add_argument("--unlocked", help="the library without locks")
    options = parser.parse_args()
    harness.main_of_ranks("test_threads", options, unlocked if options.unlocked else both)


if __name__ == "__main__":
    main()
