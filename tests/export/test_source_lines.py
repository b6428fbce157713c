#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Functions that were inlined, and lines of the source, in `print --paths`, folded stacks, speedscope,
OTF2, the tables and the Python reader: all of them name the same functions and lines.

    test_source_lines.py --tools TOOLS.json --program P --source P.c --python FOLDER"""

import csv
import json
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "mpi"))
import harness  # noqa: E402
from harness import expect  # noqa: E402

FUNCTIONS = ["add_up()", "exchange()", "step()", "main()"]


def marks(source):
    """Line by the comment at its end."""
    return {found[1]: number for number, line in enumerate(source.read_text().splitlines(), 1)
            if (found := re.search(r"/\* ([a-z ]+) \*/$", line))}


def exported(tools, trace, name):
    path = trace.parent / name
    outcome = tools.chameleon("export", f"--{name}", path, trace)
    expect(outcome.status == 0, f"export --{name}", outcome)
    return path


def check_print(tools, trace, lines):
    outcome = tools.chameleon("print", "--paths", trace)
    shown = [line.strip() for line in outcome.stdout.decode().splitlines()]
    file = "inlined_program.c"
    chain = [f"{file}:{lines['innermost']} add_up()", f"{file}:{lines['in exchange']} exchange()",
             f"{file}:{lines['in step']} step()"]
    places = [at for at in range(len(shown)) if shown[at:at + 3] == chain]
    expect(places, f"print --paths has no {chain}", outcome)


def check_stacks(tools, trace, source, lines):
    inside = "main();step();exchange();add_up();MPI_Allreduce "
    folded = exported(tools, trace, "folded").read_text()
    expect(inside in folded, f"folded stacks: {folded}")
    scope = json.loads(exported(tools, trace, "speedscope").read_text())
    names = [frame["name"] for frame in scope["shared"]["frames"]]
    stacks = [";".join(names[i] for i in sample) + " " for sample in scope["profiles"][0]["samples"]]
    expect(any(stack.endswith(inside) for stack in stacks), f"speedscope: {stacks}")
    frames = {frame["name"]: frame for frame in scope["shared"]["frames"]}
    for function, mark in (("step()", "begin of step"), ("exchange()", "begin of exchange")):
        frame = frames[function]
        expect(frame.get("file") == str(source) and frame.get("line") == lines[mark],
               f"speedscope: {function} does not begin at line {lines[mark]}: {frame}")
    expect("file" not in frames["MPI_Allreduce"], f"speedscope: {frames['MPI_Allreduce']}")


def check_otf2(tools, trace, source, lines):
    if not shutil.which("otf2-print"):
        return print("OTF2 is not read: no otf2-print")
    outcome = tools.chameleon("export", "--otf2", trace.parent / "otf2", trace)
    if b"without OTF2" in outcome.stderr:
        return print("OTF2 is not written")
    expect(outcome.status == 0, "export --otf2", outcome)
    done = subprocess.run(["otf2-print", "-G", trace.parent / "otf2" / "traces.otf2"],
                          capture_output=True, text=True, check=True)
    regions = {line.split('"')[1]: line for line in done.stdout.splitlines()
               if line.startswith("REGION")}
    for function, mark in (("step()", "begin of step"), ("exchange()", "begin of exchange")):
        found = regions.get(function, "")
        expect(f"{source}" in found and re.search(rf"\b{lines[mark]}\b", found.split(str(source))[1]),
               f"OTF2: {function} does not begin at line {lines[mark]}: {found}")
    return None


def check_tables(tools, trace, source, lines, python):
    with open(exported(tools, trace, "csv") / "sites.csv", newline="", encoding="utf-8") as file:
        rows = {row["path"]: row for row in csv.DictReader(file)}
    inside = [row for row in rows.values() if row["function"] == "add_up()"]
    expect(len(inside) == 1 and inside[0]["line"] == str(lines["innermost"]) and
           inside[0]["file"] == str(source) and
           inside[0]["stack"].endswith("main();step();exchange();add_up()"), f"sites.csv: {inside}")

    sys.path.insert(0, python)
    import chameleon_trace
    read = chameleon_trace.read_trace(trace)
    path = int(inside[0]["path"], 16)
    places = [read.place(path)] + [line.function for line in read.lines(path)][:4]
    expect(places == [f"{source.name}:{lines['innermost']} add_up()", "add_up", "exchange", "step",
                      "main"], f"Python: {places}")
    expect([line.line for line in read.lines(path)][:3] ==
           [lines["innermost"], lines["in exchange"], lines["in step"]], f"{read.lines(path)}")
    expect(read.site(path).startswith("inlined_program+0x"), f"{read.site(path)}")
    titles = chameleon_trace.COLUMNS["sites"]
    of_reader = {row["path"]: row for row in (dict(zip(titles, one)) for one in read.rows("sites"))}
    expect(of_reader.keys() == rows.keys(), "other paths")
    for key, row in rows.items():
        mine = of_reader[key]
        expect(mine["file"] == row["file"] and str(mine["line"] or "") == row["line"] and
               (not row["file"] or mine["function"] == row["function"]), f"{mine}, in CSV {row}")
    # A file that is not the traced one says nothing.
    module = read.modules[read.paths[path][0].module]
    other = trace.parent / "other"
    shutil.copy(sys.executable, other)
    read = chameleon_trace.read_trace(trace)
    read.modules[module.id] = module._replace(path=str(other))
    expect(read.line(path) is None and read.place(path).startswith("other+0x"),
           f"lines of another file: {read.place(path)}")


def main():
    arguments = harness.parser(__doc__)
    arguments.add_argument("--program", required=True)
    arguments.add_argument("--source", required=True, type=pathlib.Path)
    arguments.add_argument("--python", required=True)
    options = arguments.parse_args()

    def body(tools):
        trace = tools.fresh("lines") / "t.cham"
        outcome = tools.traced(2, [options.program], trace)
        expect(outcome.status == 0 and trace.exists(), "no trace", outcome)
        lines = marks(options.source)
        check_print(tools, trace, lines)
        check_stacks(tools, trace, options.source, lines)
        check_otf2(tools, trace, options.source, lines)
        check_tables(tools, trace, options.source, lines, options.python)

    harness.main("source_lines", options, body)


if __name__ == "__main__":
    main()
