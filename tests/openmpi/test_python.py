#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""mpi4py of Open MPI, which the interpreter loads after it has started, is traced exactly.

    test_python.py --tools TOOLS.json --program PYTHON --ranks 2,4

PYTHON is an interpreter that finds mpi4py. `run --mpi openmpi` starts it; its output is the untraced
run's, and every value agrees with the raw records. An MPI that is not there, or is not the
program's, is refused."""

import pathlib

from under_openmpi import expect, harness

SCRIPT = pathlib.Path(__file__).resolve().parent / "farm.py"


def run(tools, ranks, folder, mpi, *program):
    return tools.chameleon("run", "-n", ranks, "--mpi", mpi, "--launcher", tools.launcher(), "-o",
                           folder / "farm.cham", "--env", f"CHAMELEON_RAW={folder / 'raw'}", "--",
                           *program, CHAMELEON_LIBRARY=tools.first_library)


def check_ranks(tools, options, ranks):
    folder = tools.fresh(f"n{ranks}")
    (folder / "raw").mkdir()
    program = [options.program, SCRIPT]
    plain = tools.job(ranks, program, cwd=folder)
    expect(plain.status == 0 and b"farm 506" in plain.stdout, f"{ranks} ranks: untraced", plain)
    traced = run(tools, ranks, folder, "openmpi", *program)
    expect(traced.status == 0, f"{ranks} ranks: traced", traced)
    expect(plain.stdout == traced.stdout, f"{ranks} ranks: stdout changes", plain, traced)
    report = tools.verify(folder / "farm.cham", folder / "raw")
    expect(report["ranks"] == ranks and report["trace_events"] > 20 * 4 * ranks,
           f"{ranks} ranks: {report['trace_events']} events")
    tools.check(folder / "farm.cham")

    for mpi, wrong in (("openmpi", [options.of_mpich]), ("nowhere", program)):
        refused = run(tools, ranks, folder, mpi, *wrong)
        expect(refused.status == 2 and b"--mpi " + mpi.encode() in refused.stderr,
               f"--mpi {mpi} for {wrong[0]} is not refused", refused)


def main():
    arguments = harness.parser_of_ranks(__doc__)
    arguments.add_argument("--of-mpich", required=True, help="a program linked with MPICH")
    harness.main_of_ranks("test_python", arguments.parse_args(), check_ranks)


if __name__ == "__main__":
    main()
