#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Programs in Python: traced exactly, and shown by file, line and function everywhere.

    test_programs.py --tools TOOLS.json --program PYTHON --reader FOLDER --ranks 2,4
                     (--module FOLDER | --mpi4py MPIEXEC)

PYTHON runs a farm, a halo exchange and, with mpi4py, a pool of mpi4py.futures: with the module
minimpi of FOLDER under MPICH, or with mpi4py, by `chameleon run`, which finds out for itself which
MPI that is of. Outputs are the untraced runs', every value agrees with the raw records, traces are
consistent and replay. A master and workers who call MPI from the same C functions are of two
Call-Paths, and of one without the functions of Python. `print`, `stats`, the report, folded stacks,
speedscope, OTF2, the tables and the Python reader name functions and lines."""

import csv
import json
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "mpi"))
sys.dont_write_bytecode = True
import harness  # noqa: E402
from harness import expect  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
OPENMPI = ["--oversubscribe", "--allow-run-as-root", "--mca", "mpi_yield_when_idle", "1"]


def line_of(file, text):
    """The one line of a program that contains a text."""
    found = [number for number, line in enumerate((HERE / file).read_text().splitlines(), 1)
             if text in line]
    expect(len(found) == 1, f"{file} has {len(found)} lines with {text!r}")
    return found[0]


class Programs:
    """How the programs are run and traced."""

    def __init__(self, tools, options):
        self.tools, self.options = tools, options
        path = ":".join([options.module or "", options.reader, str(HERE)])
        self.variables = {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": 1,
                          "TEST_MODULE": "minimpi" if options.module else "mpi4py"}

    def words(self, file, *arguments):
        return [self.options.program, HERE / file, *arguments]

    def untraced(self, ranks, words, folder):
        if self.options.module:
            return self.tools.job(ranks, words, cwd=folder, **self.variables)
        return self.tools.run([self.options.mpi4py, *OPENMPI, "-n", ranks, *words], cwd=folder,
                              **self.variables)

    def traced(self, ranks, words, folder, **variables):
        variables = {**self.variables, **variables}
        if self.options.module:
            return self.tools.traced(ranks, words, folder / "t.cham", raw=folder / "raw",
                                     cwd=folder, **variables)
        launcher = " ".join([self.options.mpi4py, *OPENMPI])
        settings = [word for name, value in {**variables, "CHAMELEON_RAW": folder / "raw"}.items()
                    for word in ("--env", f"{name}={value}")]
        return self.tools.chameleon("run", "-n", ranks, "--launcher", launcher, "-o",
                                    folder / "t.cham", *settings, "--", *words,
                                    CHAMELEON_LIBRARY=self.tools.library)

    def trace(self, name, ranks, *arguments, **variables):
        """A traced run that has passed what every trace must, and its folder."""
        where = f"{name}, {ranks} ranks"
        folder = self.tools.fresh(f"{name}-{ranks}-{len(variables)}")
        (folder / "raw").mkdir()
        words = self.words(*arguments)
        plain = self.untraced(ranks, words, folder)
        expect(plain.status == 0 and plain.stdout, f"{where}: untraced", plain)
        traced = self.traced(ranks, words, folder, **variables)
        expect(traced.status == 0, f"{where}: traced", traced)
        expect(plain.stdout == traced.stdout, f"{where}: stdout changes", plain, traced)
        self.tools.verify(folder / "t.cham", folder / "raw")
        self.tools.check(folder / "t.cham")
        return folder


def call_paths(tools, folder):
    outcome = tools.chameleon("info", "--json", folder / "t.cham")
    expect(outcome.status == 0, "info", outcome)
    return {cluster["call_path"] for cluster in json.loads(outcome.stdout)["clusters"]}


def said(tools, *words):
    outcome = tools.chameleon(*words)
    expect(outcome.status == 0, f"{words[0]} fails", outcome)
    return outcome.stdout.decode()


def replay(tools, ranks, trace):
    done = tools.replay(ranks, trace, "--json")
    expect(done.status == 0 and not json.loads(done.stdout)["left_out"], "replay", done)


def check_farm(programs, ranks):
    """The master's and the workers' functions are two Call-Paths."""
    tools = programs.tools
    folder = programs.trace("farm", ranks, "farm.py", 40)
    expect(len(call_paths(tools, folder)) == 2, f"Call-Paths: {call_paths(tools, folder)}")
    text = said(tools, "print", "--all", "--paths", folder / "t.cham")
    for call, where in (("master(step)", "total += master"), ("worker(step)", "else worker(step)")):
        function = call.split("(", maxsplit=1)[0]
        inside = line_of("farm.py", "allreduce(step)" if function == "master" else "rank * step")
        main = line_of("farm.py", where)
        chain = [f"farm.py:{inside} {function}()", f"farm.py:{main} main()"]
        lines = [line.strip() for line in text.splitlines()]
        expect(any(lines[at:at + 2] == chain for at in range(len(lines))),
               f"print --paths has no {chain}:\n{text[:3000]}")
    replay(tools, ranks, folder / "t.cham")

    folder = programs.trace("farm", ranks, "farm.py", 40, CHAMELEON_PYTHON=0)
    expect(len(call_paths(tools, folder)) == 1, "without the functions of Python ranks differ")
    text = said(tools, "print", "--all", "--paths", folder / "t.cham")
    expect(".py:" not in text, f"CHAMELEON_PYTHON=0 shows Python:\n{text[:2000]}")


def check_lines(tools, options, folder):
    """Each view of the halo exchange names Domain.exchange() and its two lines."""
    trace, file = folder / "t.cham", HERE / "halo.py"
    first, last = line_of("halo.py", "first ="), line_of("halo.py", "last = ranks")
    place = f"halo.py:{first} Domain.exchange()"
    text = said(tools, "print", "--all", trace)
    expect(f"loop 10 x   halo.py:" in text and "solve()" in text, f"print: {text[:2000]}")
    for words in (["stats", "--by", "path"], ["print", "--rank", "0", "--expand", "--paths"]):
        text = said(tools, *words, trace)
        expect(place in text, f"{words} has no {place}:\n{text[:2000]}")

    text = said(tools, "critical", trace)
    expect("Domain.exchange()" in text, f"critical: {text[:2000]}")

    report = folder / "t.html"
    said(tools, "report", trace, "-o", report, "--source", HERE)
    html = report.read_text()
    expect(place in html and "sendrecv(self.cells[-1], right, left)" in html,
           "the report shows no line of the source")

    outputs = {name: folder / name for name in ("folded", "speedscope", "csv")}
    said(tools, "export", trace, *(word for name, path in outputs.items()
                                   for word in (f"--{name}", path)))
    stack = "<module>;solve();Domain.step();Domain.exchange();"
    expect(stack in outputs["folded"].read_text(), "folded stacks")
    frames = json.loads(outputs["speedscope"].read_text())["shared"]["frames"]
    names = {frame["name"] for frame in frames}
    expect({"<module>", "solve()", "Domain.exchange()"} <= names, f"speedscope: {names}")
    with open(outputs["csv"] / "sites.csv", newline="", encoding="utf-8") as table:
        rows = [row for row in csv.DictReader(table) if row["line"] in (str(first), str(last))]
    expect({(row["file"], row["function"]) for row in rows} == {(str(file), "Domain.exchange()")}
           and {row["line"] for row in rows} == {str(first), str(last)}
           and all(stack[:-1] in row["stack"] for row in rows), f"sites.csv: {rows}")
    check_otf2(tools, trace, file)
    check_reader(options.reader, trace, file, rows)


def check_otf2(tools, trace, file):
    outcome = tools.chameleon("export", "--otf2", trace.parent / "otf2", trace)
    if b"without OTF2" in outcome.stderr or not shutil.which("otf2-print"):
        return
    expect(outcome.status == 0, "export --otf2", outcome)
    done = subprocess.run(["otf2-print", "-G", trace.parent / "otf2" / "traces.otf2"],
                          capture_output=True, text=True, check=True)
    regions = {line.split('"')[1]: line for line in done.stdout.splitlines()
               if line.startswith("REGION")}
    begin = line_of("halo.py", "def exchange")
    found = regions.get("Domain.exchange()", "")
    expect(str(file) in found and re.search(rf"\b{begin}\b", found.split(str(file))[1]),
           f"OTF2: Domain.exchange() does not begin at line {begin}: {found}")


def check_reader(folder, trace, file, rows):
    """The Python reader has the same functions and lines as the table."""
    if folder not in sys.path:
        sys.path.insert(0, folder)
    import chameleon_trace
    read = chameleon_trace.read_trace(trace)
    functions = ["Domain.exchange", "Domain.step", "solve", "<module>"]
    for row in rows:
        path, line = int(row["path"], 16), int(row["line"])
        own = [at for at in read.lines(path) if at.file == str(file)]
        expect([at.function for at in own] == functions and own[0].line == line, f"reader: {own}")
        at = read.line(path)
        expect(read.place(path) == f"{pathlib.Path(at.file).name}:{at.line} {at.function}()",
               f"reader: {read.place(path)}")


def check_halo(programs, ranks):
    tools = programs.tools
    folder = programs.trace("halo", ranks, "halo.py", 50)
    check_lines(tools, programs.options, folder)
    replay(tools, ranks, folder / "t.cham")
    with_ends = programs.trace("halo", ranks, "halo.py", 50, CHAMELEON_FRAMES="1+1")
    text = said(tools, "print", "--all", "--paths", with_ends / "t.cham")
    expect("[any frames]" in text and "<module>" in text, f"relaxed call paths:\n{text[:2000]}")


def check_pool(programs, ranks):
    folder = programs.trace("pool", ranks, "pool.py")
    text = said(programs.tools, "print", "--all", "--paths", folder / "t.cham")
    expect(re.search(r"_lib\.py:\d+ ", text), f"no functions of the pool:\n{text[:2000]}")


def check_ranks(tools, options, ranks):
    programs = Programs(tools, options)
    check_farm(programs, ranks)
    check_halo(programs, ranks)
    if options.mpi4py:
        check_pool(programs, ranks)
        doctor = json.loads(said_anyway(tools, "doctor", "--json", options.program))
        expect(doctor["traceable"] and doctor["mpi"] == "Open MPI", f"doctor: {doctor}")


def said_anyway(tools, *words):
    return tools.chameleon(*words, CHAMELEON_LIBRARY=tools.library).stdout.decode()


def main():
    arguments = harness.parser_of_ranks(__doc__)
    arguments.add_argument("--reader", required=True, help="folder of chameleon_trace")
    way = arguments.add_mutually_exclusive_group(required=True)
    way.add_argument("--module", help="folder of minimpi")
    way.add_argument("--mpi4py", help="mpiexec of the MPI that mpi4py is of")
    harness.main_of_ranks("test_programs", arguments.parse_args(), check_ranks)


if __name__ == "__main__":
    main()
