#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What fails in the tracer stays there. The tool's N-th allocation fails, on one rank or on all,
once or for good; and a job has hardly more address space than the program itself needs. Each time
the program's output and exit status are those of an untraced run, it ends in time, one line says
that the tracer failed, the file can be read, and what is missing in it is declared. So it is
where several threads call MPI, and where the job ends by MPI_Abort or SIGTERM.

    test_faults.py --tools TOOLS.json --examples FOLDER [--seconds S | --all] [--seed N]
                   [--case NAME [--ranks LIST --at N | --ranks LIST --from N]]"""

import json
import pathlib
import random
import re
import time
import typing

import harness
from harness import expect

EACH = 2000      # with --all: allocations that all fail in turn; of those beyond, some
BEYOND = 400
FEW = 11         # faults that a sample has at least
BEGIN = 1600    # allocations up to the end of MPI_Init, about
MOST_FAILURES = 10
PATIENCE = 30    # s, for a job of less than one: far below any time-out of markers
SUMMARY = re.compile(rb"^chameleon: \d+ calls of \d+ ranks?; .*$")
FAULT = re.compile(rb"^chameleon: (the tracer failed on \d+ of \d+ ranks|what \d+ of \d+ ranks did|"
                   rb"no memory for the tracer on rank \d+).*$")

# Of a job that is ended: where its ranks left what the file does not have yet.
LEFT = re.compile(rb"^chameleon: (MPI_Abort on rank \d+|SIGTERM): "
                  rb"what each rank did since the last flush is in .*$")
PHASES = ["--iterations", 9, "--pattern", "AAABBBAAA"]


class Case(typing.NamedTuple):
    ranks: int
    program: str  # an example, or one of the tests' own
    arguments: list
    settings: dict
    statuses: tuple = (0,)  # of more than one the launcher chooses, without tracer too

    @property
    def ends(self):
        """Whether every rank comes to its end."""
        return self.statuses == (0,)


CASES = {
    "online": Case(4, "phases", PHASES, {}),
    "checked": Case(4, "stencil2d", ["--iterations", 6],
                    {"FIDELITY": "checked", "FLUSH_EVERY": 2}),
    "capek": Case(4, "stencil2d", ["--iterations", 5],
                  {"FIDELITY": "checked", "CLUSTERING": "capek", "K": 1}),
    "further": Case(4, "stencil2d", ["--iterations", 5], {"FIDELITY": "checked", "K": 1}),
    # test_effort_faults.py knows its number of steps.
    "effort": Case(4, "faulty", ["--iterations", 36],
                   {"EFFORT": "compute", "EFFORT_STEPS": 16, "FLUSH_EVERY": 10}),
    "lead": Case(4, "phases", PHASES, {"FIDELITY": "lead", "FLUSH_EVERY": 2}),
    "two": Case(2, "stencil2d", ["--iterations", 5], {"FLUSH_EVERY": 1}),
    "plain": Case(4, "multigrid", ["--iterations", 2], {"CLUSTERING": "off"}),
    "plain two": Case(2, "bucketsort", ["--iterations", 2], {"CLUSTERING": "off"}),
    "spills": Case(2, "wavefront", ["--iterations", 9], {"BUFFER": "64K", "FLUSH_EVERY": 3}),
    "stored": Case(2, "online_program", ["apart", 4000], {"BUFFER": "64K", "MEMORY": "4M"}),
    "stored, marked": Case(3, "online_program", ["parted", 12000],
                           {"BUFFER": "64K", "MEMORY": "4M", "FIDELITY": "checked"}),
    "threads": Case(2, "threads_program", [4, 3], {"FLUSH_EVERY": 2}),
    "threads spill": Case(2, "threads_program", [4, 3], {"BUFFER": "64K", "FIDELITY": "checked"}),
    "aborted": Case(3, "online_program", ["abort", 40], {"FLUSH_EVERY": 4}, (7,)),
    "terminated": Case(4, "online_program", ["terminate", 40], {"FLUSH_EVERY": 4}, (15, 143, 0)),
}


class Faults:
    def __init__(self, tools, options):
        self.tools = tools
        self.examples = pathlib.Path(options.examples)
        self.random = random.Random(options.seed)
        self.cases = [options.case] if options.case else list(CASES)
        self.runs = 0
        self.faults = 0
        self.plain = {}
        self.counts = {}
        self.failures = []

    def program(self, case):
        _, name, arguments, _, _ = CASES[case]
        own = self.tools.paths.get(name)
        return [own or self.examples / name, *map(str, arguments)]

    def untraced(self, case):
        if case not in self.plain:
            self.plain[case] = self.tools.job(CASES[case].ranks, self.program(case))
        return self.plain[case]

    def traced(self, case, program=None, **variables):
        """A run with the library whose memory may fail; the folder with its file and records."""
        ranks, _, _, settings, _ = CASES[case]
        folder = self.tools.fresh("job")
        (folder / "raw").mkdir()
        settings = {f"CHAMELEON_{name}": value for name, value in settings.items()}
        begin = time.monotonic()
        outcome = self.tools.job(
            ranks, program or self.program(case), preload=[self.tools.failing_library],
            timeout=PATIENCE,
            CHAMELEON_OUTPUT=folder / "t.cham", CHAMELEON_RAW=folder / "raw",
            **settings, **variables)
        self.runs += 1
        return folder, outcome, time.monotonic() - begin

    def count(self, case):
        """How many allocations each rank makes."""
        if case not in self.counts:
            prefix = self.tools.folder / "count"
            program = self.program(case)
            if not CASES[case].ends:  # only who comes to its end says how many
                program[1:] = ["loop", str(int(program[2]) // 2)]
            _, outcome, _ = self.traced(case, program, FAIL_COUNT=prefix)
            expect(outcome.status == 0, f"{case}: without faults", outcome)
            self.counts[case] = [int(prefix.with_name(f"count.{rank}").read_text())
                                 for rank in range(CASES[case].ranks)]
            expect(min(self.counts[case]) > BEGIN, f"{case}: {self.counts[case]} allocations")
        return self.counts[case]

    def info(self, what, path, outcome):
        told = self.tools.chameleon("info", "--json", path)
        expect(told.status == 0, f"{what}: the file cannot be read", told, outcome)
        return json.loads(told.stdout)

    def judge(self, what, case, folder, outcome):
        """All that is asked of a run; whether a fault was said."""
        if not CASES[case].ends:
            return self.judge_ended(what, case, folder, outcome)
        plain = self.untraced(case)
        expect((outcome.status, outcome.stdout) == (plain.status, plain.stdout),
               f"{what}: the program's result changes", plain, outcome)
        lines = outcome.stderr.splitlines()
        said = [line for line in lines if FAULT.match(line)]
        rest = [line for line in lines if not FAULT.match(line) and not SUMMARY.match(line)]
        expect(len(said) <= 1 and not rest and len(lines) - len(said) <= 1,
               f"{what}: other lines than one about the fault and the summary", outcome)
        path = folder / "t.cham"
        if not path.exists():  # rank 0 had not come so far
            expect(said and b"untraced" in said[0], f"{what}: no file", outcome)
            return True
        facts = self.info(what, path, outcome)
        declared = facts["declarations"] or not facts["complete"]
        expect(bool(said) == bool(declared), f"{what}: said and declared do not agree: {declared}",
               outcome)
        if said and b"untraced" in said[0]:
            expect(facts["events"] == 0, f"{what}: {facts['events']} events, untraced", outcome)
            return True
        verified = self.tools.chameleon("verify", path, "--raw", folder / "raw")
        expect(verified.status == 0, f"{what}: something is missing and not declared", verified,
               outcome)
        return bool(said)

    def judge_ended(self, what, case, folder, outcome):
        """The same of a job that MPI_Abort or SIGTERM ends: what is left can be joined."""
        plain = self.untraced(case)
        expect({outcome.status, plain.status} <= set(CASES[case].statuses),
               f"{what}: the exit status changes", plain, outcome)
        lines = [line for line in outcome.stderr.splitlines() if line.startswith(b"chameleon:")]
        said = [line for line in lines if FAULT.match(line)]
        rest = [line for line in lines if not FAULT.match(line) and not LEFT.match(line)]
        expect(len(said) <= 1 and not rest, f"{what}: other lines than one about the fault and "
               "those about what is left", outcome)
        path, whole = folder / "t.cham", folder / "whole.cham"
        parts = sorted(folder.glob("t.cham.rank?"))
        for part in [*parts, *[path] * path.exists()]:
            expect(not self.info(what, part, outcome)["complete"],
                   f"{what}: {part.name} claims to be complete", outcome)
        if not parts or not path.exists():
            return bool(said)
        joined = self.tools.chameleon("recover", path, "-o", whole)
        # Rank 0 lost a flush: what ranks left begins after it, and the file before it.
        if said and joined.status == 4 and b"begins after flush" in joined.stderr:
            return True
        expect(joined.status == 0, f"{what}: what is left cannot be joined", joined, outcome)
        verified = self.tools.chameleon("verify", whole, "--raw", folder / "raw")
        expect(verified.status == 0, f"{what}: something is missing and not declared", verified,
               outcome)
        return bool(said)

    def run(self, case, ranks, **where):
        name, number = next(iter(where.items()))
        what = f"--case '{case}' --ranks {ranks} --{name} {number}"
        variables = {f"FAIL_{name.upper()}": number}
        if ranks != "all":
            variables["FAIL_RANKS"] = ranks
        try:
            folder, outcome, _ = self.traced(case, **variables)
        except harness.Failure as failure:
            raise harness.Failure(f"{what}: {failure}") from None
        self.faults += self.judge(what, case, folder, outcome)

    def attempt(self, case, ranks, **where):
        """The same; failures are gathered."""
        try:
            self.run(case, ranks, **where)
        except harness.Failure as failure:
            self.failures.append(str(failure))
            expect(len(self.failures) < MOST_FAILURES, "\n".join(self.failures))

    def chosen(self, case):
        """One rank, rank 0, or all of them."""
        one = self.random.randrange(1, CASES[case].ranks)
        return self.random.choice(["0", str(one), "all"])

    def sample(self, seconds):
        """Until the time is over: random cases, ranks and numbers, most of them after MPI_Init.
        Longer on a busy machine, until there were a few faults."""
        begin = time.monotonic()
        while time.monotonic() < begin + seconds * (1 if self.faults >= FEW else 5):
            case = self.random.choice(self.cases)
            ranks = self.chosen(case)
            counts = self.count(case)
            most = max(counts) if ranks == "all" else counts[int(ranks)]
            least = self.random.choice([1, BEGIN, BEGIN])
            where = self.random.choice(["at", "from"])
            self.attempt(case, ranks, **{where: self.random.randint(least, most)})

    def everywhere(self):
        for case in self.cases:
            counts = self.count(case)
            for where in ("at", "from"):
                for ranks in ("0", "1", str(CASES[case].ranks - 1), "all"):
                    most = max(counts) if ranks == "all" else counts[int(ranks)]
                    numbers = list(range(1, min(most, EACH) + 1))
                    numbers += sorted(self.random.randint(EACH, most)
                                      for _ in range(BEYOND if most > EACH else 0))
                    for number in numbers:
                        self.attempt(case, ranks, **{where: number})

    def address_space(self):
        """From 1 MiB to 32 MiB more than the process had when it began to iterate."""
        faults = 0
        jobs = [(mebibytes, ranks) for mebibytes in (1, 2, 4, 8, 12, 32) for ranks in (2, 4)]
        for mebibytes, ranks in jobs:
            program = [self.tools.online_program, "limit", "10000", str(mebibytes)]
            what = f"{mebibytes} MiB of address space more, {ranks} ranks"
            path = self.tools.fresh("limited") / "t.cham"
            outcome = self.tools.job(ranks, program, preload=[self.tools.library],
                                     timeout=PATIENCE, CHAMELEON_OUTPUT=path)
            expect((outcome.status, outcome.stdout) == (0, b"done, 0 signals\n"),
                   f"{what}: the program's result changes", outcome)
            facts = self.info(what, path, outcome)
            said = any(FAULT.match(line) for line in outcome.stderr.splitlines())
            expect(said == bool(facts["declarations"]), f"{what}: said, not declared", outcome)
            faults += said
        expect(faults > 2, f"only {faults} of {len(jobs)} jobs with little address space had a fault")
        print(f"address space: {faults} of {len(jobs)} jobs had a fault")


def main():
    arguments = harness.parser(__doc__)
    arguments.add_argument("--examples", required=True, help="folder of the example programs")
    arguments.add_argument("--seconds", type=float, default=60)
    arguments.add_argument("--all", action="store_true")
    arguments.add_argument("--seed", type=int, default=harness.seed())
    arguments.add_argument("--space", action="store_true", help="only with little address space")
    arguments.add_argument("--case", choices=list(CASES))
    arguments.add_argument("--ranks", default="all")
    arguments.add_argument("--at", type=int)
    arguments.add_argument("--from", type=int, dest="since")
    options = arguments.parse_args()

    def body(tools):
        faults = Faults(tools, options)
        print(f"seed {options.seed}", flush=True)
        if options.space:
            faults.address_space()
            return
        if options.at or options.since:
            where = {"at": options.at} if options.at else {"from": options.since}
            faults.run(options.case, options.ranks, **where)
            return
        if options.all:
            faults.everywhere()
        else:
            faults.sample(options.seconds)
        print(f"{faults.runs} runs, {faults.faults} faults", flush=True)
        expect(not faults.failures, "\n".join(faults.failures))
        expect(faults.faults >= FEW, f"only {faults.faults} of {faults.runs} runs had a fault")
        if not options.case and not tools.sanitizer:  # which takes terabytes of address space
            faults.address_space()

    harness.main("test_faults", options, body)


if __name__ == "__main__":
    main()
