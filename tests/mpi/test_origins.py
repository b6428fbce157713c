#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a tracer sees only half of is recorded as it is, or not at all: objects that were made while
recording was off, by functions that are not wrapped, or before MPI_Init; outputs of calls that
failed although they returned MPI_SUCCESS, and outputs with more room than the call writes; one
handle that stands for several objects; a program that ends without MPI_Finalize; statuses beside
values that are declared.

    test_origins.py --tools TOOLS.json --program ORIGINS_PROGRAM [--only NAME]"""

import json
import re

import harness
from harness import expect


def never_read(raw, ranks, garbage):
    """Memory with these numbers was not set by MPI."""
    words = {str(value) for value in garbage}
    for rank in range(ranks):
        for line in (raw / f"rank.{rank}.raw").read_text().splitlines():
            found = words & set(re.split(r"[^0-9]+", line))
            expect(line[:1] == "#" or not found, f"memory that was not set: {line}")


def traced(tools, program, ranks, *words, status=0, **settings):
    """Trace, folder of raw records and outcome of a run that ends as it does untraced."""
    folder = tools.fresh("-".join(map(str, words)))
    trace, raw = folder / "t.cham", folder / "raw"
    raw.mkdir()
    plain = tools.job(ranks, [program, *words])
    expect(plain.status == status, f"{words}: untraced", plain)
    outcome = tools.traced(ranks, [program, *words], trace, raw, **settings)
    expect(outcome.status == status, f"{words}: traced", outcome)
    expect(sorted(outcome.stdout.splitlines()) == sorted(plain.stdout.splitlines()),
           f"{words}: stdout changes", plain, outcome)
    return trace, raw, outcome


def replays(tools, trace, ranks, but=(), scratch=False):
    """The replay leaves out nothing but calls of these names."""
    files = [f"--scratch={trace.parent}"] if scratch else []
    outcome = tools.replay(ranks, trace, "--json", *files)
    expect(outcome.status == 0, f"{trace.parent.name}: replay fails", outcome)
    left = json.loads(outcome.stdout)["left_out"]
    expect(set(left) <= set(but), f"{trace.parent.name}: left out {left}", outcome)


def calls(tools, trace):
    outcome = tools.chameleon("stats", trace, "--json")
    expect(outcome.status == 0, f"{trace.parent.name}: stats", outcome)
    return {row["call"]: row["count"] for row in json.loads(outcome.stdout)["rows"]}


def made_while_off(tools, program):
    """All ranks alike or not: what objects are is recorded all the same."""
    for ranks in (2, 3):
        trace, raw, _ = traced(tools, program, ranks, "off")
        tools.verify(trace, raw)
        tools.check(trace)
        replays(tools, trace, ranks)
        found = calls(tools, trace)
        expect(found.get("Comm_dup") == ranks and found.get("Type_commit") == ranks,
               f"what was made while recording was off is not there: {found}")
        expect("Comm_known" not in found, "objects are asked for although their making was seen")


def made_unseen(tools, program):
    """By functions that are not wrapped: an event says what the object is before its first use."""
    for ranks in (2, 3, 4):
        for settings in ({}, {"CHAMELEON_CLUSTERING": "off"}):
            trace, raw, _ = traced(tools, program, ranks, "unseen", **settings)
            tools.verify(trace, raw)
            tools.check(trace)
            replays(tools, trace, ranks)
            printed = tools.chameleon("print", trace).stdout
            expect(b"Comm_known" in printed and b"Type_known" in printed,
                   "objects of unknown origin are not defined")


KINDS = ("Comm", "Group", "Op", "Info", "Errhandler", "Type", "Win", "File")
MAKERS = ("Comm_dup,Comm_group,Group_incl,Op_create,Info_create,Comm_create_errhandler,"
          "Type_contiguous,Type_commit,Win_allocate,Win_create_dynamic,File_open")


def each_kind(tools, program):
    """Objects of every kind, made unseen or by calls that are left out, are asked for."""
    for ranks in (2, 3):
        for words, settings in ((("pmpi",), {}), ((), {"CHAMELEON_EXCLUDE": MAKERS}),
                                ((), {"CHAMELEON_EXCLUDE": MAKERS, "CHAMELEON_CLUSTERING": "off"})):
            trace, raw, _ = traced(tools, program, ranks, "kinds", *words, **settings)
            tools.verify(trace, raw)
            tools.check(trace)
            # Of a group that is only freed nothing is said.
            replays(tools, trace, ranks, but={"Group_free"}, scratch=True)
            found = calls(tools, trace)
            missing = [kind for kind in KINDS if found.get(f"{kind}_known", 0) < ranks]
            # rank 2 uses no group of ranks 0 and 1
            expect(set(missing) <= ({"Group"} if ranks > 2 else set()),
                   f"objects of unknown origin are not defined: {missing}")
            left = set(MAKERS.split(",")) & set(found)
            expect(words or not left, f"calls that are to be left out are there: {left}")


def null_requests(tools, program):
    """How many tests of nothing there are is chance, and they are no events; waits are."""
    first = None
    for seed in (1, 2):
        trace, raw, _ = traced(tools, program, 2, "null", seed)
        tools.verify(trace, raw)
        tools.check(trace)
        replays(tools, trace, 2)
        found = calls(tools, trace)
        for call in ("Test", "Testany", "Testsome"):
            expect(call not in found, f"tests of null requests are events: {found}")
        expect(found["Testall"] == 16, f"Testall of null requests is an event: {found}")
        expect(found["Wait"] == found["Waitany"] == found["Waitsome"] == 16 and
               found["Waitall"] == 32, f"waits of nothing are no events: {found}")
        first = first or found
        expect(found == first, f"what depends on chance is an event: {first} {found}")


def hidden_errors(tools, program):
    """The error counts, not what the handler made of it; nothing that was not set is recorded."""
    for settings in ({}, {"CHAMELEON_EVENTS": "all"}):
        trace, raw, _ = traced(tools, program, 2, "hidden", **settings)
        tools.verify(trace, raw)
        tools.check(trace)
        replays(tools, trace, 2, but={"Iprobe", "Improbe", "Probe", "Recv", "Send", "Isend",
                                      "Irecv", "Comm_split", "Comm_group", "Type_contiguous",
                                      "Allreduce", "Testall", "Waitsome"})
        never_read(raw, 2, {0x4c000005 + 16 * step + rank for step in range(4) for rank in range(2)})
        expect(failed_calls(raw) >= 12 * 4, "errors that the handler hid are not recorded")


def failed_calls(raw):
    return sum(" return=" in line and " return=0 " not in line + " "
               for line in (raw / "rank.0.raw").read_text().splitlines() if line[:1] != "#")


def more_room(tools, program):
    """Only what calls write is recorded."""
    for settings in ({}, {"CHAMELEON_EVENTS": "all"}):
        trace, raw, _ = traced(tools, program, 3, "room", **settings)
        tools.verify(trace, raw)
        tools.check(trace)
        replays(tools, trace, 3)
        garbage = [0x01010101 * (0x51 + more) for more in range(8)]
        garbage += [value << 32 | value for value in garbage]
        never_read(raw, 3, set(garbage))


def shared_handles(tools, program):
    """A thread that made none of a handle's objects means the oldest, and releases the newest."""
    trace, raw, _ = traced(tools, program, 1, "groups")
    tools.verify(trace, raw)
    printed = tools.chameleon("print", trace).stdout.decode()
    named = set(re.findall(r"Comm_create_group.* group=(\S+)", printed))
    expect(len(named) == 1, f"the groups of one handle are confused: {named}\n{printed}")


def made_before(tools, program):
    trace, raw, _ = traced(tools, program, 2, "before")
    tools.verify(trace, raw)
    tools.check(trace)


def partners(tools, program):
    """What differs from the lead is declared, of each kind, whatever completes the receives."""
    seed = harness.seed()
    print(f"seed {seed}")
    for i in range(3):
        ranks = 3 + (seed + i) % 6
        for fidelity in ("checked", "lead"):
            trace, raw, _ = traced(tools, program, ranks, "partners", seed + i,
                                   CHAMELEON_FIDELITY=fidelity)
            outcome = tools.chameleon("verify", trace, "--raw", raw)
            expect(outcome.status == 0, f"{ranks} ranks, {fidelity}, seed {seed + i}: verify",
                   outcome)


def ends_by_exit(tools, program):
    """Events up to exit() are kept, and the trace says how the run ended. The launcher would kill
    the ranks that have not come so far; and at times it says 1 for 3, without the tracer too."""
    tools.mpiexec = [*tools.mpiexec, "-disable-auto-cleanup"]

    def ended(mode, ranks):
        return traced(tools, program, ranks, mode, status=3)

    for ranks in (1, 3):
        trace, raw, outcome = harness.tried(ended, "exit", ranks)
        info = tools.chameleon("info", trace)
        expect(b"exit() without MPI_Finalize" in info.stdout, "info does not say exit()", info,
               outcome)
        recovered = trace.with_name("t.recovered.cham")
        joined = tools.chameleon("recover", trace, "--json", "-o", recovered)
        expect(joined.status == 0, "recover fails", joined, outcome)
        report = json.loads(joined.stdout)
        expect(report["missing"] == "" or not report["missing"], "ranks are missing", joined)
        expect(all("exit() without MPI_Finalize" in said for said in report["ended"]),
               "recover does not say exit()", joined)
        tools.verify(recovered, raw)
        kept = calls(tools, recovered)
        expect(kept["Sendrecv"] == 20 * ranks, f"calls are lost: {kept}")
    trace, raw, _ = harness.tried(ended, "atexit", 2)
    tools.verify(trace, raw)
    info = json.loads(tools.chameleon("info", trace, "--json").stdout)
    expect(info["complete"], "MPI_Finalize in a function of atexit() is not seen")


# The last one changes how jobs are launched.
TESTS = [made_while_off, made_unseen, each_kind, null_requests, hidden_errors, more_room,
         shared_handles,
         made_before, partners, ends_by_exit]


def main():
    arguments = harness.parser(__doc__)
    arguments.add_argument("--program", required=True)
    arguments.add_argument("--only")
    options = arguments.parse_args()
    harness.main("origins", options, lambda tools: harness.run_each(
        TESTS, options.only, lambda test: test(tools, options.program)))


if __name__ == "__main__":
    main()
