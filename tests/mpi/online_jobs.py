# SPDX-License-Identifier: BSD-3-Clause
"""Jobs of test_online.py and test_killed.py: traced ones that are still running, what is asked of
any, and the way these tests are run."""

import json
import os
import pathlib
import random
import re
import signal
import subprocess
import time

import harness
from harness import expect


class Job:
    """A traced job that is still running; knows its ranks' process ids once they started."""

    def __init__(self, online, ranks, program, output, traced=True, **variables):
        self.folder = output.parent
        self.output = output
        self.ranks = ranks
        self.slower = online.tools.slower
        libraries = [online.tools.library] if traced else []
        libraries = online.tools.preload(*libraries, online.tools.test_yield)
        # Relative to the working folder, which online_program leaves.
        variables = {"CHAMELEON_OUTPUT": output.name, "CHAMELEON_VERBOSE": 2, **variables}
        words = [*online.tools.mpiexec, "-n", ranks, "env", f"LD_PRELOAD={libraries}",
                 *[f"{name}={value}" for name, value in variables.items()], *program]
        self.said = self.folder / "said"
        with open(self.said, "wb") as said:
            self.process = subprocess.Popen([str(word) for word in words], cwd=self.folder,
                                            env=online.tools.environment(),
                                            stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                                            start_new_session=True)

    def outcome(self):
        return harness.Outcome(self.process.returncode, b"", self.said.read_bytes())

    def processes(self):
        """Process ids by rank, when all ranks have said them."""
        until = time.monotonic() + 60 * self.slower
        while time.monotonic() < until and self.process.poll() is None:
            found = dict(re.findall(rb"rank (\d+) is process (\d+) on", self.said.read_bytes()))
            if len(found) == self.ranks:
                return [int(found[b"%d" % rank]) for rank in range(self.ranks)]
            time.sleep(0.02)
        self.end()
        expect(False, "the job did not start", self.outcome())

    def send(self, number, *processes):
        for process in processes:
            try:
                os.kill(process, number)
            except ProcessLookupError:
                pass

    def wait(self, seconds=30):
        """The launcher's exit status; ends what is left after some time."""
        seconds *= self.slower
        try:
            self.process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.end()
            expect(False, f"the job did not end in {seconds} s", self.outcome())
        expect(not harness.FINDING.search(self.said.read_bytes()), "a sanitizer found a fault",
               self.outcome())
        return self.process.returncode

    def end(self):
        for number, patience in ((signal.SIGTERM, 5), (signal.SIGKILL, 5)):
            if self.process.poll() is None:
                os.killpg(self.process.pid, number)
                try:
                    self.process.wait(timeout=patience)
                except subprocess.TimeoutExpired:
                    pass


class Online:
    def __init__(self, tools, options):
        self.tools = tools
        self.examples = pathlib.Path(options.examples)
        self.all = options.all
        self.random = random.Random(options.seed)
        self.results = {}

    def example(self, name, *arguments):
        return [self.examples / name, *map(str, arguments)]

    def program(self, mode, steps, *arguments):
        return [self.tools.online_program, mode, str(steps), *map(str, arguments)]

    def info(self, path):
        outcome = self.tools.chameleon("info", "--json", path)
        expect(outcome.status == 0, f"{path.name}: info", outcome)
        return json.loads(outcome.stdout)

    def calls(self, path, call):
        """How often all ranks together made a call."""
        outcome = self.tools.chameleon("stats", "--json", path)
        expect(outcome.status == 0, f"{path.name}: stats", outcome)
        return sum(row["count"] for row in json.loads(outcome.stdout)["rows"]
                   if row["call"] == call)

    def untraced(self, ranks, program):
        key = (ranks, *map(str, program))
        if key not in self.results:
            self.results[key] = self.tools.job(ranks, program)
        return self.results[key]

    def trace(self, ranks, program, lines=1, same=True, raw=True, **variables):
        """Runs the program traced: exit status 0, `lines` on stderr (or one of several numbers),
        output as untraced."""
        what = " ".join([pathlib.Path(program[0]).name, *program[1:], f"on {ranks}",
                         *[f"{name}={value}" for name, value in variables.items()]])
        folder = self.tools.fresh("job")
        (folder / "raw").mkdir()
        path = folder / "t.cham"
        variables = {f"CHAMELEON_{name}": value for name, value in variables.items()}
        outcome = self.tools.traced(ranks, program, path, raw=folder / "raw" if raw else None,
                                    timeout=2000 if self.all else harness.TIMEOUT, **variables)
        expect(outcome.status == 0, f"{what}: fails", outcome)
        found = outcome.stderr.count(b"\n")
        expect(found == lines or (isinstance(lines, tuple) and found in lines),
               f"{what}: {found} lines on stderr, not {lines}", outcome)
        if same:  # not where the program prints times
            plain = self.untraced(ranks, program)
            expect(plain.stdout == outcome.stdout, f"{what}: output changes", plain, outcome)
        facts = self.info(path)
        expect(facts["complete"], f"{what}: the trace is not complete", outcome)
        return what, path, facts, outcome

    def exact(self, ranks, program, **variables):
        """The same, and everything in the trace is what the raw records hold."""
        what, path, facts, outcome = self.trace(ranks, program, **variables)
        self.tools.verify(path, path.parent / "raw")
        self.tools.check(path)
        return what, path, facts, outcome

    def states(self, what, facts, count_c, count_l, count_at):
        found = facts["count_c"], facts["count_l"], facts["count_at"]
        expect(found == (count_c, count_l, count_at),
               f"{what}: #C #L #AT are {found}, not {(count_c, count_l, count_at)}")
        expect(sum(found) == facts["acted"], f"{what}: {facts['acted']} markers acted on: {found}")

    def limited(self, what, path, facts):
        """Values became distributions, which is declared; all else is exact."""
        kinds = {one["kind"] for one in facts["inexact"]}
        expect({"COUNT", "TAG"} >= kinds > set(), f"{what}: not exact are {facts['inexact']}")
        expect(not facts["declarations"], f"{what}: {facts['declarations']}")
        for strict, status in ((), 0), (("--strict",), 1):
            outcome = self.tools.chameleon("verify", *strict, path, "--raw", path.parent / "raw")
            expect(outcome.status == status, f"{what}: verify", outcome)

    def shift_ends(self, path, ranks):
        """When each rank leaves each of its shifts, from the exported table."""
        table = path.parent / "tables"
        outcome = self.tools.chameleon("export", path, "--csv", table)
        expect(outcome.status == 0, "clocks: export", outcome)
        ends = [[] for _ in range(ranks)]
        with open(table / "events.csv", encoding="utf-8") as lines:
            columns = next(lines).rstrip("\n").split(",")
            rank, call, end = (columns.index(name) for name in ("rank", "call", "end_ns"))
            for line in lines:
                values = line.split(",")
                if values[call] == "Sendrecv":
                    ends[int(values[rank])].append(int(values[end]))
        expect(len(set(map(len, ends))) == 1 and ends[0], f"clocks: {ends}")
        return ends


def run_chosen(name, usage, tests):
    """The main of a script of such tests: runs those asked for, and says how long each took."""
    arguments = harness.parser(usage)
    arguments.add_argument("--examples", required=True, help="folder of the example programs")
    arguments.add_argument("--only", help="one test, by name")
    arguments.add_argument("--all", action="store_true", help="many more runs")
    arguments.add_argument("--seed", type=int, default=harness.seed())
    options = arguments.parse_args()
    print(f"seed {options.seed}")

    def body(tools):
        online = Online(tools, options)
        harness.run_each(tests, options.only, lambda test: test(online))

    harness.main(name, options, body)
