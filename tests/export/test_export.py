#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every export is read by its real consumer and says what the raw records say.

    test_export.py --tools TOOLS.json --fast P --slow P --farm P --examples P,P [--ranks N,N]

Programs are traced with raw records and without clustering. Calls a rank and function, and bytes
sent a rank, must be those of the raw records in every format that has them; no message arrives
before it was sent; collectives overlap. Consumers that are not installed are named and passed
over (--need: they must be there): python3-pandas, python3-otf2, python3-protobuf, otf2-print,
pj_dump, vite, smpirun."""

import json
import shutil
import subprocess

from exported import FORMATS, SYSTEM_PYTHON, Job
import harness
from harness import expect
from otf2_checks import check_otf2, check_python_otf2
from simulator_checks import check_goal, check_simgrid
from table_checks import check_pandas, check_some_ranks, check_tables
from timeline_checks import check_paje, check_paraver, check_vite
from viewer_checks import check_chrome, check_perfetto, check_stacks


def check_compare(tools, fast, slow):
    """The slowed function is named first, with its ranks."""
    traces = []
    for place, program in enumerate((fast, slow)):
        folder = tools.fresh(f"compare-{place}")
        outcome = tools.traced(4, [program], folder / "t.cham")
        expect(outcome.status == 0, "compare: no trace", outcome)
        traces.append(folder / "t.cham")
    outcome = tools.chameleon("compare", traces[0], traces[0])
    expect(outcome.status == 0, "compare: a trace differs from itself", outcome)
    outcome = tools.chameleon("compare", *traces, "--json")
    expect(outcome.status == 1, "compare: no difference", outcome)
    first = json.loads(outcome.stdout)["changes"][0]
    expect(first["kind"] == "compute" and first["call"] == "Sendrecv" and
           "relax" in first["path"].split(";")[-1] and first["ranks"] == "1-2" and
           first["most_seconds"] > 0, f"compare: first is {first}", outcome)
    for by in ("families", "phases"):
        outcome = tools.chameleon("compare", "--by", by, traces[0], traces[0])
        expect(outcome.status == 0, f"compare by {by}: a trace differs from itself", outcome)
        outcome = tools.chameleon("compare", "--by", by, *traces, "--json")
        expect(outcome.status == 1, f"compare by {by}: no difference", outcome)
        first = json.loads(outcome.stdout)["changes"][0]
        expect(first["kind"] == "changed" and first["after_seconds"] > first["before_seconds"],
               f"compare by {by}: first is {first}", outcome)


def check_inexact(tools, program):
    """Of a trace by leads alone, what has no counterpart is left out: the rest still fits."""
    folder = tools.fresh("inexact")
    trace = folder / "t.cham"
    outcome = tools.traced(4, [program, "--iterations", "6"], trace, CHAMELEON_FIDELITY="lead",
                           CHAMELEON_K="1")
    expect(outcome.status == 0, "inexact: no trace", outcome)
    words = [word for name, path in FORMATS.items() for word in (f"--{name}", folder / path)]
    outcome = tools.chameleon("export", trace, *words)
    expect(outcome.status == 0, "inexact: export fails", outcome)
    job = Job.__new__(Job)
    job.tools, job.name, job.ranks, job.folder, job.trace = tools, "inexact", 4, folder, trace
    check_goal(job)
    if shutil.which("smpirun"):
        check_simgrid(job)
    if shutil.which("otf2-print"):
        printed = subprocess.run(["otf2-print", folder / "otf2" / "traces.otf2"],
                                 capture_output=True, check=False)
        expect(printed.returncode == 0 and not printed.stderr, "inexact: otf2-print",
               harness.Outcome(printed.returncode, printed.stdout, printed.stderr))


CONSUMERS = [
    ("pandas", check_pandas, lambda: subprocess.run(
        [SYSTEM_PYTHON, "-c", "import pandas"], capture_output=True, check=False).returncode == 0),
    ("python3-otf2", check_python_otf2, lambda: subprocess.run(
        [SYSTEM_PYTHON, "-c", "import otf2"], capture_output=True, check=False).returncode == 0),
    ("otf2-print", check_otf2, lambda: shutil.which("otf2-print")),
    ("python3-protobuf", check_perfetto, lambda: subprocess.run(
        [SYSTEM_PYTHON, "-c", "import google.protobuf"], capture_output=True,
        check=False).returncode == 0),
    ("pj_dump", check_paje, lambda: shutil.which("pj_dump")),
    ("vite", check_vite, lambda: shutil.which("vite")),
    ("smpirun", check_simgrid, lambda: shutil.which("smpirun")),
]


def main():
    arguments = harness.parser(__doc__)
    arguments.add_argument("--fast", required=True)
    arguments.add_argument("--slow", required=True)
    arguments.add_argument("--examples", required=True, help="by commas, with --iterations 3")
    arguments.add_argument("--farm", required=True, help="whose ranks differ in every iteration")
    arguments.add_argument("--ranks", default="4", help="numbers of ranks, by commas")
    arguments.add_argument("--need", action="store_true", help="all consumers must be installed")
    options = arguments.parse_args()

    def body(tools):
        checks = [check_tables, check_chrome, check_stacks, check_paraver, check_goal]
        for name, check, installed in CONSUMERS:
            if installed():
                checks.append(check)
            else:
                expect(not options.need, f"{name} is not installed")
                print(f"not checked by {name}: not installed")
        programs = [(options.fast, ())]
        programs += [(p, ("--iterations", "3")) for p in options.examples.split(",")]
        for ranks in map(int, options.ranks.split(",")):
            for program, words in programs:
                job = Job(tools, program, ranks, words)
                for check in checks:
                    check(job)
                if ranks > 1:
                    check_some_ranks(job)
        check_inexact(tools, options.farm)
        check_compare(tools, options.fast, options.slow)

    harness.main("export", options, body)


if __name__ == "__main__":
    main()
