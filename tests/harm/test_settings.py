#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the tracer does to the process that it is in: nothing that the process could see.

    test_settings.py --tools TOOLS.json --program ODDITIES --sources FOLDER [--ranks N] [--only NAME]

The modes of oddities.c run in the settings of settings.h, untraced and traced: exit status, standard
output, standard error, and what state.h notes before, during and after must agree. The few
differences that are the tracer's are named here, and in docs/design/faults.md."""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "mpi"))
sys.dont_write_bytecode = True
import harness  # noqa: E402  (the path has to be set first)
from harness import expect  # noqa: E402

MODES = ("longjmp", "callbacks", "fork", "atexit", "finalize", "signals", "few", "markers", "steps",
         "inherit", "ends", "aborts")
SETTINGS = ("usual", "traps", "fiber", "thread", "descriptors", "locale", "handler", "library",
            "sanitizer")
# What ends otherwise without the tracer, too: MPI keeps its lock when it is jumped out of; another
# handler stands where `inherit` wants none, and the run is aborted.
LEFT_OUT = {("longjmp", "thread"), ("inherit", "handler")}
# Votes and flushes at every other marker, and logs that are soon full.
BUSY = {"CHAMELEON_FLUSH_EVERY": 2, "CHAMELEON_BUFFER": "64K", "CHAMELEON_MARKERS": "auto"}
# Of these the launcher or the test gives other values to every run.
OTHER_EACH_TIME = re.compile(r"variable (LD_PRELOAD|CHAMELEON_|HARM_|PMI|HYD|MPI|OMPI|PMIX|_=)")


def settled(line):
    """Without what is another one in each run: numbers of files without names, of processes."""
    line = re.sub(r"(socket|pipe):\[\d+\]", r"\1", line)
    return re.sub(r"[0-9a-f]*\d[0-9a-f]{3,}", "N", line) if line.startswith("descriptor") else line


def states(path):
    """The points that a process noted: name, lines."""
    points = []
    for line in path.read_text().splitlines():
        if line.startswith("point "):
            points.append((line, []))
        elif not OTHER_EACH_TIME.match(line):
            points[-1][1].append(line)
    return points


# SIGTERM, SIGINT, and what a crash ends by.
WATCHED = (2, 4, 6, 7, 8, 11, 15)


def is_out_of_the_way(line):
    words = line.split()
    return words[0] == "descriptor" and int(words[1]) > 100


def take_out_own(lines, untraced):
    """The lines of a traced process without the tracer's own: descriptors of its files, which are
    out of the way (and may be the program's by now), handlers in place of none, and the thread that
    waits for signals."""
    kept = []
    for line in lines:
        handled = re.match(r"signal (\d+) handled", line)
        if is_out_of_the_way(line):
            expect(line.endswith(" cloexec") or "/own." in line, f"left to children: {line}")
        elif handled and f"signal {handled[1]} default 0" in untraced:
            expect(int(handled[1]) in WATCHED, f"a signal of the program: {line}")
            kept.append(f"signal {handled[1]} default 0")
        elif line.startswith("threads") and line not in untraced:
            kept.append(f"threads {int(line.split()[1]) - 1}")
        else:
            kept.append(line)
    return kept


def own_lines(outcome):
    return [line for line in outcome.stderr.decode(errors="replace").splitlines()
            if not line.startswith("chameleon: ")]


class Settings:
    def __init__(self, tools, program, sources, ranks):
        self.tools = tools
        self.program = pathlib.Path(program).resolve()
        self.sources = pathlib.Path(sources).resolve()
        self.ranks = ranks
        self.folder = tools.fresh("built")
        self.locales = self.make_locale()

    def make_locale(self):
        """A locale with a decimal comma; none where the system cannot make one."""
        made = self.tools.run(["sh", "-c", "localedef -i de_DE -f UTF-8 ./harm || true"],
                              cwd=self.folder)
        if (self.folder / "harm").is_dir():
            return self.folder
        print("locale: left out: localedef makes none", made.stderr.decode()[:200])
        return None

    def build(self, name, *options):
        output = self.folder / name
        if not output.exists():
            outcome = self.tools.run([self.tools.mpicc, "-O1", "-g", *options, "-o", output,
                                      "-lpthread", "-lm"])
            expect(outcome.status == 0, f"building {name}", outcome)
        return output

    def program_for(self, setting):
        source = self.sources / "oddities.c"
        if setting == "library":
            library = self.build("liboddities.so", "-DHARM_LIBRARY", "-shared", "-fPIC", source)
            (self.folder / "main.c").write_text(
                "int oddities(void); int main(void) { return oddities(); }\n")
            return self.build("main", self.folder / "main.c", library,
                              f"-Wl,-rpath,{self.folder}")
        if setting == "sanitizer":
            return self.build("sanitized", "-fsanitize=address", source)
        return self.program

    def first_library(self, setting):
        """What must be loaded before the tracer is."""
        if setting != "sanitizer":
            return []
        found = self.tools.run(["cc", "-print-file-name=libasan.so"]).stdout.decode().strip()
        return [found]

    def run(self, mode, setting, folder, preload, **variables):
        (folder / "trace").mkdir(parents=True)
        if setting == "locale":
            variables["LOCPATH"] = self.locales
        if setting == "sanitizer":
            variables["ASAN_OPTIONS"] = "detect_leaks=0:detect_stack_use_after_return=0"
        outcome = self.tools.job(self.ranks, [self.program_for(setting), mode],
                                 preload=[*self.first_library(setting), *preload], cwd=folder,
                                 HARM_SETTING=setting, HARM_STATE=folder / "state", **variables)
        return outcome, [states(folder / f"state.{rank}") if (folder / f"state.{rank}").exists()
                         else [] for rank in range(self.ranks)]

    def fails_anyway(self, mode, setting):
        """What is left out has a reason that holds on this machine."""
        top = self.tools.fresh(f"{mode}_{setting}")
        plain, _ = self.run(mode, setting, top / "plain", [])
        expect(plain.status != 0, f"{mode}, {setting}: need not be left out", plain)

    def compare(self, mode, setting, **more):
        name = f"{mode}, {setting}"
        top = self.tools.fresh(f"{mode}_{setting}")
        plain, untraced = self.run(mode, setting, top / "plain", [])
        own = top / "traced" / "trace"
        traced, noted = self.run(mode, setting, top / "traced", [self.tools.library],
                                 **{**BUSY, "CHAMELEON_OUTPUT": own / "x.cham", **more})
        expect(plain.status == (5 if mode == "aborts" else 0) and all(untraced),
               f"{name}: fails without the tracer", plain)
        expect(plain.status == traced.status, f"{name}: exit status changes", plain, traced)
        expect(sorted(plain.stdout.splitlines()) == sorted(traced.stdout.splitlines()),
               f"{name}: output changes", plain, traced)
        if setting == "descriptors":
            expect(not traced.stderr.strip() or plain.stderr, f"{name}: says something", traced)
        if plain.status == 0:
            expect(own_lines(plain) == own_lines(traced), f"{name}: says something", plain, traced)
        for rank, (before, after) in enumerate(zip(untraced, noted)):
            expect([point for point, _ in before] == [point for point, _ in after],
                   f"{name}: rank {rank} does not come as far", plain, traced)
            for (point, was), (_, now) in zip(before, after):
                expect(not any(map(is_out_of_the_way, was)), f"{name}: many descriptors")
                now = take_out_own(now, was)
                was = sorted(settled(line.replace(str(top / "plain"), "HERE")) for line in was)
                now = sorted(settled(line.replace(str(top / "traced"), "HERE")) for line in now)
                expect(was == now, f"{name}: rank {rank}, {point}: without the tracer "
                       f"{sorted(set(was) - set(now))}, with it {sorted(set(now) - set(was))}")
        if mode != "aborts" and "CHAMELEON_ENABLE" not in more:
            outcome = self.tools.chameleon("info", own / "x.cham")
            expect(outcome.status == 0 and b"partial" not in outcome.stdout,
                   f"{name}: no complete trace", traced, outcome)


def main():
    arguments = harness.parser(__doc__)
    arguments.add_argument("--program", required=True, help="oddities")
    arguments.add_argument("--sources", required=True, help="folder of the sources")
    arguments.add_argument("--ranks", type=int, default=1)
    arguments.add_argument("--only", help="one setting")
    options = arguments.parse_args()

    def body(tools):
        settings = Settings(tools, options.program, options.sources, options.ranks)

        def check(setting):
            failed = []
            for mode in MODES:
                if setting == "locale" and not settings.locales:
                    continue
                if (mode, setting) in LEFT_OUT:
                    settings.fails_anyway(mode, setting)
                    continue
                try:  # what MPI leaves in flags and errno may depend on the time it takes
                    harness.tried(settings.compare, mode, setting)
                except harness.Failure as failure:
                    failed.append(str(failure))
            expect(not failed, "\n".join(failed))

        def named(setting):
            def test(_=None):
                check(setting)
            test.__name__ = setting
            return test

        def disabled(_=None):
            settings.compare("inherit", "usual", CHAMELEON_ENABLE=0)

        harness.run_each([*map(named, SETTINGS), disabled], options.only, lambda test: test())

    harness.main("test_settings", options, body)


if __name__ == "__main__":
    main()
