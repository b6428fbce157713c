#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Programs whose ranks do not call markers alike, at every fidelity: no job hangs, its output is
that without the tracer, and every difference between trace and raw records is declared.

    test_uneven.py --tools TOOLS.json --program PROGRAM --ranks 2,4 [--cases NAMES] [--paced NAMES]
        [--random N] [--programs SEEDS] [--fidelities NAMES] [--stalls N] [--all] [--seed N]"""

import itertools
import json
import pathlib
import random
import re
import time

import harness
from harness import expect

FIDELITIES = ("exact", "checked", "lead")
STEPS = 12
# Seconds that a rank computes: longer than a marker, and longer than a flush, is waited for.
LONG = 4
STALL = 8  # and longer than what all ranks do together is waited for
TIMEOUT = {"sleeps": 1, "leaves": 1, "tail": 0.2}
# What is said on stderr beside the summary.
UNEVEN, UNANSWERED = b"not called equally often", b"did not answer at marker"
APART, LOST = b"some ranks heard a vote", "a flush failed: the events of its intervals are missing"
CASES = {"even": None, "fewer": UNEVEN, "more": UNEVEN, "changes": UNEVEN, "ends": UNEVEN,
         "absent": UNANSWERED, "half": UNANSWERED, "extra": UNANSWERED, "sleeps": UNANSWERED,
         "leaves": UNANSWERED, "tail": None}


class Uneven:
    def __init__(self, tools, options):
        self.tools = tools
        self.program = options.program
        self.outputs = {}

    def untraced(self, ranks, words):
        key = (ranks, *map(str, words))
        if key not in self.outputs:
            outcome = self.tools.job(ranks, [self.program, *words])
            expect(outcome.status == 0, f"{key}: fails untraced", outcome)
            self.outputs[key] = sorted(outcome.stdout.splitlines())
        return self.outputs[key]

    def trace(self, ranks, fidelity, words, preload=(), **variables):
        """One job, and what is asked of any trace."""
        what = (f"{' '.join(map(str, words))} on {ranks}, {fidelity}, every "
                f"{variables.get('CHAMELEON_CALL_FREQUENCY', 1)}")
        folder = self.tools.fresh("job")
        (folder / "raw").mkdir()
        path = folder / "t.cham"
        outcome = self.tools.job(ranks, [self.program, *words],
                                 preload=[*preload, self.tools.library], CHAMELEON_OUTPUT=path,
                                 CHAMELEON_RAW=folder / "raw", CHAMELEON_FIDELITY=fidelity,
                                 **variables)
        expect(outcome.status == 0, f"{what}: fails", outcome)
        # UCX names what a rank sent that the others no longer waited for.
        lines = [line for line in outcome.stdout.splitlines() if not preload or b" UCX " not in line]
        expect(sorted(lines) == self.untraced(ranks, words),
               f"{what}: output changes", outcome)
        verified = self.tools.chameleon("verify", path, "--raw", folder / "raw")
        expect(verified.status == 0, f"{what}: differs undeclared", verified, outcome)
        info = self.tools.chameleon("info", "--json", path)
        expect(info.status == 0, f"{what}: info", info)
        facts = json.loads(info.stdout)
        expect(facts["complete"], f"{what}: the trace is not complete", outcome)
        return what, path, facts, outcome

    def exact(self, what, path, facts, outcome):
        self.tools.verify(path, path.parent / "raw")
        if b"receives too little" in outcome.stdout:
            self.only_truncates(what, path)
        else:
            self.tools.check(path)
        expect(not facts["inexact"], f"{what}: declares {facts['inexact']}", outcome)

    def only_truncates(self, what, path):
        checked = self.tools.chameleon("check", path, "--json")
        report = json.loads(checked.stdout)
        expect(checked.status == 1 and report["problem_count"] == report["program_count"] and
               {problem["kind"] for problem in report["problems"]} == {"truncation"},
               f"{what}: check", checked)


def cases(uneven, ranks, names, odd_ranks):
    for name, odd, fidelity in itertools.product(names, odd_ranks, FIDELITIES):
        words = [name, STEPS, odd, LONG if name in TIMEOUT else 0]
        effort = {"CHAMELEON_EFFORT": "compute"} if fidelity == "lead" else {}
        begin = time.monotonic()
        what, path, facts, outcome = uneven.trace(
            ranks, fidelity, words, CHAMELEON_MARKER_TIMEOUT=TIMEOUT.get(name, 1), **effort)
        expect(time.monotonic() - begin < 45 * uneven.tools.slower, f"{what}: takes too long")
        # What was waited for in vain is missing nowhere.
        expect(not facts["declarations"], f"{what}: {facts['declarations']}", outcome)
        said = CASES[name]
        expect(outcome.stderr.count(b"\n") == (1 if said is None else 2) and
               (said is None or said in outcome.stderr), f"{what}: what is said", outcome)
        if fidelity == "exact":
            uneven.exact(what, path, facts, outcome)


def paced(uneven, ranks, name):
    """The same where ranks choose by themselves how often they vote: nothing hangs, and all is there."""
    words = [name, 3 * STEPS, 1, LONG if name in TIMEOUT else 0]
    begin = time.monotonic()
    what, path, facts, outcome = uneven.trace(
        ranks, "exact", words, CHAMELEON_CALL_FREQUENCY="auto",
        CHAMELEON_MARKER_TIMEOUT=TIMEOUT.get(name, 1))
    expect(time.monotonic() - begin < 45 * uneven.tools.slower, f"{what}: takes too long")
    expect(not facts["declarations"], f"{what}: {facts['declarations']}", outcome)
    uneven.exact(what, path, facts, outcome)


def random_program(uneven, ranks, seed, every, fidelities):
    for fidelity in fidelities:
        words = ["random", 24, seed]
        what, path, facts, outcome = uneven.trace(ranks, fidelity, words, CHAMELEON_MARKER_TIMEOUT=1,
                                                  CHAMELEON_CALL_FREQUENCY=every)
        # Ranks that heard a vote which others gave up no longer have what their leads held for them.
        lost = fidelity != "exact" and UNANSWERED in outcome.stderr and APART in outcome.stderr
        declared = {one["what"] for one in facts["declarations"]}
        expect(declared == ({LOST} if lost else set()), f"{what}: {declared}", outcome)
        if fidelity == "exact":
            uneven.exact(what, path, facts, outcome)


def stall(uneven, ranks, chance):
    """A rank that does not go on inside the tool keeps nobody longer than a flush is waited for."""
    fidelity = chance.choice(FIDELITIES)
    words = ["even", STEPS, 0]
    settings = {"preload": [uneven.tools.stall], "STALL_RANK": chance.choice((0, 1)),
                "STALL_SECONDS": STALL, "CHAMELEON_MARKER_TIMEOUT": STALL / 20}
    _, _, _, outcome = uneven.trace(ranks, fidelity, words, **settings, STALL_AT=0)
    sent = int(re.search(rb"(\d+) messages", outcome.stderr)[1])
    at = sent - chance.randrange(min(sent, 3 * STEPS))
    begin = time.monotonic()
    what, _, facts, outcome = uneven.trace(ranks, fidelity, words, **settings, STALL_AT=at)
    what += f", rank {settings['STALL_RANK']} before message {at} of {sent}"
    print(f"{what}: {time.monotonic() - begin:.1f} s, {facts['declarations']}", flush=True)
    expect(time.monotonic() - begin < 4 * STALL * uneven.tools.slower, f"{what}: takes too long")
    expect(not facts["declarations"] or b"given up" in outcome.stderr or
           b"gave up" in outcome.stderr, f"{what}: nothing is said", outcome)


def main():
    arguments = harness.parser_of_ranks(__doc__)
    arguments.add_argument("--cases", default=",".join(CASES), help="some of them, by commas")
    arguments.add_argument("--paced", default=",".join(CASES),
                           help="some of them, with CHAMELEON_CALL_FREQUENCY=auto")
    arguments.add_argument("--random", type=int, default=0, help="random programs a number of ranks")
    arguments.add_argument("--programs", default="", help="random programs by their seeds; SEED:auto: ranks choose how often "
                                "they vote")
    arguments.add_argument("--fidelities", default=",".join(FIDELITIES),
                           help="of random programs, by commas")
    arguments.add_argument("--stalls", type=int, default=0, help="jobs with a rank that stalls")
    arguments.add_argument("--all", action="store_true", help="every odd rank that matters")
    arguments.add_argument("--seed", type=int, default=harness.seed())
    options = arguments.parse_args()
    options.program = pathlib.Path(options.program).resolve()
    print(f"seed {options.seed}")
    chance = random.Random(options.seed)

    def body(tools):
        uneven = Uneven(tools, options)
        failed = []
        for ranks in map(int, options.ranks.split(",")):
            begin = time.monotonic()
            odd_ranks = sorted({0, 1, ranks // 2, ranks - 1}) if options.all else [1]
            for check, chosen in ((lambda name: cases(uneven, ranks, [name], odd_ranks),
                                   [name for name in options.cases.split(",") if name]),
                                  (lambda name: paced(uneven, ranks, name),
                                   [name for name in options.paced.split(",") if name]),
                                  (lambda one: random_program(uneven, ranks, *one,
                                                              options.fidelities.split(",")),
                                   [*((seed.removesuffix(":auto"),
                                       "auto" if seed.endswith(":auto") else 1)
                                      for seed in options.programs.split(",") if seed),
                                    *((chance.randrange(1 << 30), ("auto", 1)[at % 2])
                                      for at in range(options.random))]),
                                  (lambda _: stall(uneven, ranks, chance),
                                   range(options.stalls))):
                for one in chosen:
                    try:
                        check(one)
                    except harness.Failure as failure:
                        failed.append(str(failure))
                        print(failed[-1], flush=True)
            print(f"{ranks} ranks: {time.monotonic() - begin:.1f} s", flush=True)
        expect(not failed, f"{len(failed)} failures, the first: {failed[0] if failed else ''}")

    harness.main("test_uneven", options, body)


if __name__ == "__main__":
    main()
