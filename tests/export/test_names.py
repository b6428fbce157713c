#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Exports of a trace whose names hold quotes, separators, control characters and bytes that are no
UTF-8: each output is still well-formed, and the names are in it.

    test_names.py --chameleon COMMAND --trace FILE

Perfetto's and OTF2's outputs are read where Debian's python3-protobuf and otf2-print are there."""

import argparse
import csv
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SYSTEM_PYTHON = "/usr/bin/python3"  # has Debian's modules
READ_PERFETTO = pathlib.Path(__file__).resolve().parent / "read_perfetto.py"
NAME = b"a\"b\\c;d,e'f #g%h\ti\nj\rk\x01l\x1bm\x7fn\xffo\xc3(p".decode(errors="replace")
IN_LINE = re.sub(r"[\x00-\x1f\x7f]", " ", NAME)
CALLS = ["MPI_Init", f"MPI_{NAME}", "MPI_Sendrecv", "MPI_Finalize"]
IN_LINES = [re.sub(r"[\x00-\x1f\x7f]", " ", call) for call in CALLS]


def expect(condition, what):
    if not condition:
        sys.exit(f"names: {what}")


def same(found, expected, what):
    expect(sorted(found) == sorted(expected), f"{what}: {found!r}, expected {expected!r}")


def lines(path):
    """Of a text in which only line breaks are control characters."""
    text = path.read_bytes().decode()  # raises on what is not UTF-8
    expect(not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", text), f"{path.name}: control characters")
    return text.splitlines()


def check_chrome(folder):
    events = json.loads((folder / "chrome").read_bytes())["traceEvents"]
    same([e["name"] for e in events if e["ph"] == "X"], 2 * CALLS, "chrome")
    places = [e["args"]["at"] for e in events if e["ph"] == "X"]
    expect(all(place.startswith(NAME) for place in places), f"chrome: {places}")


def check_speedscope(folder):
    document = json.loads((folder / "speedscope").read_bytes())
    names = {frame["name"] for frame in document["shared"]["frames"]}
    expect(set(CALLS) <= names, f"speedscope: {names}")


def check_tables(folder):
    rows = json.loads((folder / "json" / "events.json").read_bytes())
    same(["MPI_" + row["call"] for row in rows], 2 * CALLS, "json")
    for path in (folder / "csv").iterdir():
        table = list(csv.reader(lines(path)))
        expect(all(len(row) == len(table[0]) for row in table), f"csv: {path.name}: {table}")
    head, *rows = csv.reader(lines(folder / "csv" / "events.csv"))
    same(["MPI_" + row[head.index("call")] for row in rows], 2 * IN_LINES, "csv")


def check_folded(folder):
    stacks = [re.fullmatch(r"(.*) (\d+)", line) for line in lines(folder / "folded")]
    expect(all(stacks), "folded: a line without a weight")
    # A call stands below main and its caller; computing, below main.
    same([len(stack[1].split(";")) for stack in stacks], [1, 3, 3, 3, 3], "folded: frames")
    found = [stack[1].split(";")[-1] for stack in stacks if stack[1].count(";") == 2]
    same(found, [call.replace(";", " ") for call in IN_LINES], "folded")


def check_paje(folder):
    fields, kind, calls = {}, None, []
    for line in lines(folder / "paje"):
        words = re.findall(r'"[^"]*"|[^\s"]+', line)
        expect(line.count('"') % 2 == 0, f"paje: quotes of {line}")
        if words[0] == "%EventDef":
            kind = words[2]
            fields[kind] = []
        elif words[0] == "%" and len(words) == 3:
            fields[kind].append(words[1])
        elif not words[0].startswith("%"):
            expect(len(words) == 1 + len(fields[words[0]]), f"paje: fields of {line}")
            if words[0] == "5":
                calls.append(words[-1].strip('"'))
    same(calls, 2 * [call.replace('"', "'") for call in IN_LINES], "paje")


def check_paraver(folder):
    pcf = lines(folder / "paraver.pcf")
    values = pcf[pcf.index("VALUES") + 2:pcf.index("EVENT_TYPE", pcf.index("VALUES")) - 1]
    same([value.split(maxsplit=1)[1] for value in values], IN_LINES, "paraver: calls")
    row = lines(folder / "paraver.row")
    level, levels = None, {}
    for line in row:
        if line.startswith("LEVEL"):
            level = line.split()[1]
            levels[level] = [int(line.split()[3])]
        elif line:
            levels[level].append(line)
    expect(all(len(names) == 1 + names[0] for names in levels.values()), f"paraver: {levels}")
    same(levels["NODE"][1:], [IN_LINE], "paraver: hosts")


def check_perfetto(folder):
    found = subprocess.run([SYSTEM_PYTHON, "-c", "import google.protobuf"], capture_output=True)
    if found.returncode != 0:
        print("names: without python3-protobuf, Perfetto's output is not read")
        return
    read = subprocess.run([SYSTEM_PYTHON, READ_PERFETTO, folder / "perfetto"], capture_output=True)
    expect(read.returncode == 0, f"perfetto: {read.stderr.decode()}")
    expect(all(json.dumps(call)[1:-1] in read.stdout.decode() for call in IN_LINES), "perfetto")


def check_otf2(folder):
    if not shutil.which("otf2-print") or not (folder / "otf2").exists():
        print("names: without otf2-print, OTF2's output is not read")
        return
    read = subprocess.run(["otf2-print", "-G", folder / "otf2" / "traces.otf2"],
                          capture_output=True)
    expect(read.returncode == 0 and not read.stderr, f"otf2: {read.stderr.decode()}")
    expect(all(call.encode() in read.stdout for call in IN_LINES), "otf2")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--chameleon", required=True)
    parser.add_argument("--trace", required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="chameleon-names-") as name:
        folder = pathlib.Path(name)
        for kind in ("chrome", "speedscope", "csv", "json", "folded", "paje", "paraver", "perfetto",
                     "otf2"):
            job = subprocess.run([options.chameleon, "export", options.trace, f"--{kind}",
                                  folder / kind], capture_output=True)
            expect(job.returncode == 0 or (kind == "otf2" and job.returncode == 4),
                   f"{kind}: {job.stderr.decode(errors='replace')}")
        for check in (check_chrome, check_speedscope, check_tables, check_folded, check_paje,
                      check_paraver, check_perfetto, check_otf2):
            check(folder)
    print("names: passed")


if __name__ == "__main__":
    main()
