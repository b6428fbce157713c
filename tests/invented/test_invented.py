#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Calls that no MPI has, in a copy of the MPI table: what is generated and compiled from it knows
what they mean, with no other source touched; and what was built without them passes them over.

    test_invented.py --program invented_calls --generated FOLDER --chameleon chameleon"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PACKAGE = pathlib.Path(__file__).resolve().parents[2] / "tools" / "python" / "chameleon_trace"
CALLS = ["Xcast", "Ixcast", "Xcast_init", "Xcast_c", "Xdeal", "Neighbor_xdeal", "Ineighbor_xdeal",
         "Xmax", "Type_xgrid", "Xsend"]
READ = """
import chameleon_trace, sys
trace = chameleon_trace.read_trace(sys.argv[1])
for row in trace.rows("events", 0):
    row = dict(zip(chameleon_trace.COLUMNS["events"], row))
    print(row["call"], row["bytes"], row["collective_sent"], row["collective_received"],
          row["root"])
"""
KNOWN = """Xcast None 0 40 1
Ixcast None 80 0 0
Wait None None None None
Xcast_init None None None None
Start None 120 0 0
Type_xgrid None None None None
Xmax None 120 120 0
Xdeal None 24 60 None
Xsend 28 None None None
"""


def run(command, **variables):
    return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, universal_newlines=True,
                          env={**os.environ, **variables})


def check(holds, what):
    if not holds:
        sys.exit(f"FAILED {what}")


def read(folder, trace):
    result = run([sys.executable, "-B", "-c", READ, trace], PYTHONPATH=str(folder))
    check(result.returncode == 0, f"reading {trace}: {result.stderr}")
    return result.stdout


def check_generated(generated):
    wrappers = (generated / "generated" / "wrappers.inc").read_text()
    for name in CALLS:
        check(f" MPI_{name}(" in wrappers, f"{name}: no wrapper")


def check_without(chameleon, trace):
    """What does not know the calls says so of those it would have to follow."""
    names = [re.sub("None.*", "", line).split()[0] for line in KNOWN.splitlines()]
    printed = run([chameleon, "print", trace, "--rank", "0", "--expand"])
    check(printed.returncode == 0 and all(name in printed.stdout for name in names),
          f"print: {printed.stdout}{printed.stderr}")
    result = run([chameleon, "check", trace, "--json"])
    report = json.loads(result.stdout)
    left = {name for name in names if name[0] in "XI"}
    check(left == set(report["unchecked"]), f"check: {result.stdout}")
    stats = run([chameleon, "stats", trace, "--json"])
    # A call with a partner, a count and a datatype is taken for a send.
    check(stats.returncode == 0 and json.loads(stats.stdout)["sent_bytes"] == 3 * 28,
          f"stats: {stats.stdout}{stats.stderr}")


def main():
    parser = argparse.ArgumentParser()
    for name in ("program", "generated", "chameleon"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    options = parser.parse_args()
    check_generated(options.generated)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        trace = folder / "invented.cham"
        result = run([options.program, trace])
        check(result.returncode == 0, f"{options.program.name}: {result.stderr}")
        shutil.copytree(PACKAGE, folder / "package" / PACKAGE.name,
                        ignore=shutil.ignore_patterns("__pycache__"))
        unknown = "".join(f"{line.split()[0]} None None None None\n" for line in KNOWN.splitlines())
        check(read(folder / "package", trace) == unknown, "the package without the calls")
        shutil.copyfile(options.generated / "mpi_calls.py",
                        folder / "package" / PACKAGE.name / "mpi_calls.py")
        known = read(folder / "package", trace)
        check(known == KNOWN, f"the package with the calls says\n{known}")
        check_without(options.chameleon, trace)


if __name__ == "__main__":
    main()
