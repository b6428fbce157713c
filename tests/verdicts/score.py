#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Scores `chameleon check` on a folder of programs with known errors, in the form of the MPI Bugs
Initiative (Laurent, Saillard, Quinson: Correctness 2021): each file says in its head how it is run,
and whether it is correct ("OK") or of which class its error is. Every program is compiled, run under
the tracer, ended after some seconds without progress, and its trace is checked. Found is what
`check` gives the status 1 for. Prints a line for each class, and precision and recall.

    score.py --tools TOOLS.json --codes FOLDER [--most N] [--seed N] [--jobs N] [--rows FILE]"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import re
import subprocess
import tempfile

RUN = re.compile(r"^\s*\$ mpirun -np (\d+) \$\{EXE\}(.*)\n\s*\|\s*(.*)\n", re.M)
SECONDS = 20


def environment():
    return {name: value for name, value in os.environ.items()
            if not name.startswith("CHAMELEON_") and name != "LD_PRELOAD"}


def runs_of(source):
    """(ranks, arguments, class) of each run that a program's head asks for."""
    text = source.read_text(errors="replace")
    return [(ranks, words.split(), wanted.strip().removeprefix("ERROR: "))
            for ranks, words, wanted in RUN.findall(text)]


def judged(tools, compiler, source):
    """A row for each run: name, class, status of `check`, and its first line."""
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "program"
        made = subprocess.run([compiler, "-g", "-w", source, "-o", program, "-lm"],
                              capture_output=True, check=False)
        rows = []
        for number, (ranks, words, wanted) in enumerate(runs_of(source)):
            if made.returncode != 0:
                rows.append((source.stem, wanted, None, "does not compile"))
                continue
            trace = f"{folder}/{number}.cham"
            subprocess.run(["timeout", "-k", "2", str(SECONDS), *tools["mpiexec"], "-n", ranks,
                            "env", f"LD_PRELOAD={tools['library']}", f"CHAMELEON_OUTPUT={trace}",
                            "CHAMELEON_STALL=1.5", "CHAMELEON_STALL_ABORT=1", program, *words],
                           capture_output=True, check=False, env=environment())
            check = subprocess.run([tools["command"], "check", trace], capture_output=True,
                                   text=True, check=False, env=environment())
            lines = (check.stdout or check.stderr).splitlines() or [""]
            rows.append((source.stem, wanted, check.returncode, lines[0]))
        return rows


def print_scores(rows):
    classes = collections.defaultdict(list)
    for row in rows:
        classes[row[1]].append(row)
    found_wrong = found_right = wrong = right = 0
    for name, members in sorted(classes.items()):
        found = sum(row[2] == 1 for row in members)
        others = collections.Counter(row[2] for row in members if row[2] not in (0, 1))
        print(f"{name:24} {found:5} of {len(members):5}"
              + "".join(f"; status {status}: {count}" for status, count in others.items()))
        if name.startswith("OK"):
            found_right, right = found_right + found, right + len(members)
        else:
            found_wrong, wrong = found_wrong + found, wrong + len(members)
    all_found = found_wrong + found_right
    precision = found_wrong / all_found if all_found else 1.0
    recall = found_wrong / wrong if wrong else 1.0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    print(f"{len(rows)} runs, {wrong} with an error: precision {precision:.4f}, recall {recall:.4f}, "
          f"F1 {f1:.4f}; {found_right} of {right} correct ones have a finding")


def main():
    arguments = argparse.ArgumentParser(description=__doc__,
                                        formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--tools", required=True, help="tools.json of the build")
    arguments.add_argument("--codes", required=True, type=pathlib.Path)
    arguments.add_argument("--compiler", default="mpicc.mpich")
    arguments.add_argument("--most", type=int, help="a random choice of so many files")
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--jobs", type=int, default=2)
    arguments.add_argument("--rows", type=pathlib.Path, help="writes what each run gave, as JSON")
    options = arguments.parse_args()
    tools = json.loads(pathlib.Path(options.tools).read_text())
    sources = sorted(options.codes.glob("*.c"))
    if options.most is not None:
        sources = random.Random(options.seed).sample(sources, min(options.most, len(sources)))
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        rows = [row for found in pool.map(
            lambda source: judged(tools, options.compiler, source), sources) for row in found]
    if options.rows:
        options.rows.write_text(json.dumps(rows, indent=0))
    print_scores(rows)


if __name__ == "__main__":
    main()
