#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""An MPI with functions that the table of calls lacks: the table goes on without them and says so; a
program that calls them runs as it does untraced; `doctor` and `info` name those that it may call.

    test_newer.py --tools TOOLS.json --program PROGRAM --room FOLDER --include FOLDER"""

import json
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "mpi"))
import harness  # noqa: E402
from harness import expect  # noqa: E402

CALLED = "MPI_Newer_17, MPI_Newer_3"
# Calls of the last two versions of MPI, whose rows are taken away.
REMOVED = re.compile(r"^\d+ (\w+) (?:4\.1|5\.0) .*\n", re.M)


def check_table(tools, options):
    folder = tools.fresh("table")
    for header in options.include.glob("mpi*.h"):
        shutil.copyfile(header, folder / header.name)
    header = folder / "mpi.h"
    header.write_text(header.read_text(errors="replace") + (HERE / "newer.h").read_text())
    text = (options.room / "mpi_calls.txt").read_text()
    removed = REMOVED.findall(text)
    expect(len(removed) >= 20, f"{len(removed)} rows are removed")
    # An MPI of those versions has prototypes for them.
    forms = set(re.findall(r" as=(\w+)", text))
    old = [row for row in re.findall(r"^\d+ (\w+) [123]\.0 local :", text, re.M) if row not in forms][:20]
    for name in old:
        text = re.sub(rf"^\d+ {name} .*\n", "", text, flags=re.M)
    table = folder / "mpi_calls.txt"
    table.write_text(REMOVED.sub("", text))
    done = subprocess.run([sys.executable, options.room / "generate.py", "--table", table, "--header", header,
                           "--output-dir", folder / "generated"], capture_output=True, text=True, check=False)
    expect(done.returncode == 0, f"the table: {done.stderr}")
    for name in [f"MPI_Newer_{i}" for i in range(1, 21)] + [f"MPI_{one}" for one in old]:
        expect(re.search(rf"\b{name}\b", done.stdout), f"{name} is not named: {done.stdout}")
    wrappers = (folder / "generated" / "wrappers.inc").read_text()
    expect("MPI_Newer" not in wrappers and "MPI_Allreduce(" in wrappers, "wrappers")


def check_run(tools, options):
    folder = tools.fresh("run")
    path = folder / "newer.cham"
    untraced = tools.job(3, [options.program])
    traced = tools.chameleon("run", "-n", 3, "--env", f"LD_PRELOAD={tools.test_yield}", "-o", path, "--",
                             options.program)
    expect(traced.status == untraced.status == 0 and traced.stdout == untraced.stdout, "another end", traced)
    info = json.loads(tools.chameleon("info", "--json", path).stdout)
    expect(info["facts"]["run"]["untraced"] == CALLED, f"info: {info['facts']['run']}")
    text = tools.chameleon("info", path).stdout.decode()
    expect(f"not traced   {CALLED}" in text, f"info: {text}")
    doctor = tools.chameleon("doctor", options.program)
    expect(f"not traced {CALLED}" in doctor.stdout.decode(), "doctor", doctor)
    document = json.loads(tools.chameleon("doctor", "--json", options.program).stdout)
    expect(document["untraced"] == CALLED.split(", "), f"doctor: {document}")
    known = tools.chameleon("check", path)
    expect(known.status == 0, "check", known)


def main():
    parser = harness.parser(__doc__)
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--room", type=pathlib.Path, required=True)
    parser.add_argument("--include", type=pathlib.Path, required=True)
    options = parser.parse_args()

    def body(tools):
        check_table(tools, options)
        check_run(tools, options)

    harness.main("newer", options, body)


if __name__ == "__main__":
    main()
