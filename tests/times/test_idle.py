#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How long ranks are idle in the tracer, by state: as long as a rank is kept in the middle of
clustering and merging, and not while they wait for a rank that computes. And what ranks count with
CHAMELEON_ENERGY.

    test_idle.py --tools TOOLS.json --program waits_program

tests/support/slow_merge.c keeps the last rank, and says for how long."""

import json
import pathlib
import re
import sys
import threading

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path += [str(TESTS / "mpi"), str(TESTS.parent / "tools" / "python")]
import chameleon_trace  # noqa: E402
import harness  # noqa: E402
from harness import expect  # noqa: E402

RANKS, STEPS = 4, 12
LATE, SLOW_STEP = 2000, 150  # ms
SLOW = RANKS - 1
STATES = ("at", "c", "l", "f")


class Times:
    """Of the ranks of a trace in the tracer, in ns by state."""

    def __init__(self, path):
        self.path = path
        facts = {one.rank: one for one in chameleon_trace.read_trace(path).facts()}
        self.tool = {rank: [getattr(one, f"tool_{state}_ns") for state in STATES]
                     for rank, one in facts.items()}
        self.idle = {rank: [getattr(one, f"idle_{state}_ns") for state in STATES]
                     for rank, one in facts.items()}
        self.waiting = {rank: one.waiting_ns for rank, one in facts.items()}
        for rank in facts:
            for state, tool, idle in zip(STATES, self.tool[rank], self.idle[rank]):
                expect(idle <= tool, f"rank {rank} was idle for {idle} ns of {tool} ns in {state}")

    def work(self, rank):
        return sum(self.tool[rank]) - sum(self.idle[rank])


def run(tools, options, name, late=0, slow_step=8, **variables):
    folder = tools.fresh(name)
    file = folder / "trace.cham"
    slows = [tools.slow_merge] if "SLOW_MS" in variables else []
    outcome = tools.traced(RANKS, [options.program, str(STEPS), str(late), str(1000 * slow_step)],
                           file, cwd=folder, preload=slows, **variables)
    expect(outcome.status == 0 and file.exists(), f"{name}: the traced run fails", outcome)
    return Times(file), outcome.stderr.decode()


def said_seconds(said):
    """What the last line says that the tool took."""
    found = re.search(r"; tool (\S+) s of (\S+) s \(\S+ %\), at the end (\S+) s;", said)
    expect(found, f"the last line does not say what the tool took:\n{said}")
    tool, all_of_it, end = map(float, found.groups())
    expect(end <= tool <= all_of_it, f"the last line does not add up:\n{said}")
    return tool


def check_program_waits(tools, options, vote):
    """No rank is kept: what ranks wait for a rank that computes is not the tracer's."""
    times, _ = run(tools, options, f"program-{vote}", LATE, SLOW_STEP, CHAMELEON_VOTE=vote)
    for rank in range(RANKS):
        expect(times.tool[rank][3] < 0.5 * LATE * 1e6,
               f"{vote}: rank {rank} is in F for {times.tool[rank][3]} ns")
    for rank in range(RANKS) if vote == "blocking" else []:
        least = (STEPS - 2) * SLOW_STEP * 1e6
        expect(times.waiting[rank] > least and sum(times.idle[rank]) < 0.5 * least,
               f"rank {rank} waits {times.waiting[rank]} ns for ranks that compute, and is said to "
               f"be idle for {times.idle[rank]} ns")


def check_kept(tools, options, vote):
    """A rank is kept where it works for the tracer: the others are idle as long."""
    usual, usually = run(tools, options, f"usual-{vote}", CHAMELEON_VOTE=vote,
                         CHAMELEON_FLUSH_EVERY=5)
    times, said = run(tools, options, f"kept-{vote}", CHAMELEON_VOTE=vote, CHAMELEON_FLUSH_EVERY=5,
                      SLOW_RANK=SLOW, SLOW_MS=100)
    kept = int(re.search(r"kept (\d+) ns", said)[1])
    expect(kept > 1e9, f"{vote}: rank {SLOW} was kept for {kept} ns only")
    # The job took that much longer, and the last line says so: of the run and of what follows it.
    longer = said_seconds(said) - said_seconds(usually)
    expect(0.7 * kept < 1e9 * longer < 1.3 * kept,
           f"{vote}: rank {SLOW} was kept for {kept} ns, the last lines say {longer} s more")
    # What it sends at the very end is in no fact.
    counted = times.work(SLOW) - usual.work(SLOW)
    expect(0.6 * kept < counted < 1.2 * kept,
           f"{vote}: rank {SLOW} was kept for {kept} ns, its work grew by {counted} ns")
    for rank in range(RANKS):
        grew = sum(times.idle[rank]) - sum(usual.idle[rank])
        if rank == SLOW:
            expect(abs(grew) < 0.3 * kept, f"{vote}: rank {rank}, which others wait for, is idle "
                   f"for {grew} ns more")
        else:  # a rank that sends to rank 0 does not wait for the last message of a flush
            expect((0.7 if rank == 0 else 0.4) * kept < grew < 1.2 * kept,
                   f"{vote}: rank {SLOW} was kept for {kept} ns, rank {rank} is idle for {grew} ns "
                   f"more: {usual.idle[rank]}, {times.idle[rank]}")
    expect(times.idle[0][2] > 100e6 and times.idle[0][3] > 100e6,
           f"{vote}: rank 0 is idle for {times.idle[0]} ns")
    check_info(tools, times)


def check_info(tools, times):
    outcome = tools.chameleon("info", "--json", times.path)
    expect(outcome.status == 0, "info --json fails", outcome)
    document = json.loads(outcome.stdout)
    for at, state in enumerate(STATES):
        whole = sum(idle[at] for idle in times.idle.values()) * 1e-9
        found = document["idle_seconds"][state.upper()]
        expect(abs(found - whole) < 1e-6, f"info has {found} s idle in {state}, facts {whole} s")
    leads = set(document["leads"])
    roles = {role["role"]: role for role in document["roles"]}
    expect(roles["lead"]["ranks"] == len(leads), f"roles {roles}")
    of_lead = sum(times.idle[rank][2] for rank in leads) / len(leads) * 1e-9
    expect(abs(roles["lead"]["idle_seconds"]["L"] - of_lead) < 1e-6, f"roles {roles}")
    text = tools.chameleon("info", times.path).stdout.decode()
    expect("\nidle time    AT " in text, f"info has no line of idle time:\n{text}")
    if len(leads) < RANKS:
        expect("\nidle ranks   a rank that did not lead: idle " in text, f"info:\n{text}")


def counted_run(tools, options, name, **variables):
    """The facts of a run whose ranks count, and all that it says."""
    folder = tools.fresh(name)
    file = folder / "trace.cham"
    outcome = tools.traced(RANKS, [options.program, str(STEPS)], file, cwd=folder,
                           preload=[tools.counters], **variables)
    expect(outcome.status == 0 and file.exists(), f"{name}: the traced run fails", outcome)
    lines = [line for line in outcome.stderr.decode().splitlines() if " in /" not in line]
    expect(not lines, f"{name}: something is said", outcome)
    text = tools.chameleon("info", file).stdout.decode()
    document = json.loads(tools.chameleon("info", "--json", file).stdout)
    return list(chameleon_trace.read_trace(file).facts()), text, document


def check_counters(tools, options):
    """The kernel counts time in place of instructions; the energy of the node is in files."""
    folder = tools.fresh("powercap")
    zone = folder / "intel-rapl:0"
    zone.mkdir()
    for name, text in (("name", "package-0"), ("energy_uj", "5"), ("max_energy_range_uj", 1 << 38)):
        (zone / name).write_text(f"{text}\n")
    over = threading.Event()

    def spend():
        energy = 5
        while not over.wait(0.02):
            energy += 1000
            (zone / "next").write_text(f"{energy}\n")
            (zone / "next").rename(zone / "energy_uj")

    spender = threading.Thread(target=spend)
    spender.start()
    try:
        facts, text, document = counted_run(tools, options, "counted", CHAMELEON_ENERGY="on",
                                            POWERCAP=folder)
    finally:
        over.set()
        spender.join()
    spent = [one.energy_uj for one in facts]
    expect(sum(energy != 0 for energy in spent) == 1 and sum(spent) % 1000 == 0 and
           sum(spent) < int((zone / "energy_uj").read_text()), f"energy {spent}")
    expect(document["energy"][0]["joules"] == sum(spent) * 1e-6 and "\nenergy       " in text,
           f"info:\n{text}")
    if all(one.no_instructions.startswith("not permitted") for one in facts):
        print("instructions: " + facts[0].no_instructions)
        return
    for one in facts:
        expect(one.no_instructions == "" and 0 < one.tool_instructions < one.instructions,
               f"rank {one.rank}: {one.tool_instructions} of {one.instructions} instructions, "
               f"{one.no_instructions}")
        expect(one.instructions < 2 * one.run_ns,
               f"rank {one.rank} ran for {one.instructions} ns of {one.run_ns}")
        expect(one.no_energy == "", f"energy of rank {one.rank}: {one.no_energy}")
    expect("\ninstructions " in text and "not counted" not in text, f"info:\n{text}")
    expect(all("tool_instructions" in role for role in document["roles"]), f"{document['roles']}")


def check_unreadable(tools, options):
    """What cannot be read is said in the trace, and nothing else changes."""
    off, text, document = counted_run(tools, options, "off")
    expect("not_counted" not in document and "not counted" not in text, f"info:\n{text}")
    facts, text, document = counted_run(tools, options, "unreadable", CHAMELEON_ENERGY="on",
                                        COUNTERS="none", POWERCAP="/nowhere")
    expect([one.events for one in facts] == [one.events for one in off], "events differ")
    for one in facts:
        expect(one.no_instructions.startswith("not permitted (perf_event_paranoid "),
               f"rank {one.rank}: {one.no_instructions}")
        expect(one.instructions == one.tool_instructions == one.energy_uj == 0, f"{one}")
    expect(sum(one.no_energy != "" for one in facts) == 1, "one rank reads the node")
    expect("\nnot counted  energy: no counters in /sys/class/powercap: rank 0\n" in text and
           "\nnot counted  instructions: not permitted" in text and text.count("not counted") == 2,
           f"info:\n{text}")
    expect(len(document["not_counted"]) == 2, f"info --json: {document['not_counted']}")


def main():
    options = harness.parser(__doc__)
    options.add_argument("--program", required=True)
    options = options.parse_args()

    def check(tools):
        for vote in ("deferred", "blocking"):
            harness.tried(check_program_waits, tools, options, vote)
            harness.tried(check_kept, tools, options, vote)
        check_counters(tools, options)
        check_unreadable(tools, options)

    harness.main("idle", options, check)


main()
