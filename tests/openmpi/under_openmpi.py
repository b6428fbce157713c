#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A program of Open MPI, or of the standard ABI, traced, changes nothing and is recorded exactly.

    under_openmpi.py --tools TOOLS.json --program P --ranks 2,4
                     [--twin Q --twin-tools TOOLS.json] [-- ARGUMENTS...]

At each number of ranks: exit status and stdout are the untraced run's; every value agrees with the
raw records; the trace is consistent; a replay under Open MPI runs to its end. With a twin, the same
program built with MPICH: its trace holds the same calls with the same values, and each trace
replays under the other MPI, leaving nothing out. `doctor` and `run` find the library for the
program."""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "mpi"))
sys.dont_write_bytecode = True
import harness  # noqa: E402  (the path has to be set first)
from harness import expect  # noqa: E402

KNOWN = {"openmpi": ("Open MPI", "libmpi.so.40"),
         "abi": ("an MPI of the standard ABI", "libmpi_abi.so.1")}


def check_verbs(tools, options, folder):
    """`doctor` names the library, and `run` preloads it."""
    environment = {"CHAMELEON_LIBRARY": tools.first_library}
    outcome = tools.chameleon("doctor", "--json", options.program, **environment)
    expect(outcome.status == 0, "doctor", outcome)
    found = json.loads(outcome.stdout)
    expect((found["mpi"], found["mpi_library"]) == KNOWN[tools.mpi]
           and pathlib.Path(found["chameleon_library"]).resolve()
           == pathlib.Path(tools.library).resolve(), f"doctor says {found}")
    outcome = tools.chameleon("run", "-n", 2, "-o", folder / "run.cham", "--launcher",
                              tools.launcher(), "--", options.program, *options.arguments,
                              **environment)
    expect(outcome.status == 0 and (folder / "run.cham").exists(), "run", outcome)


def replays(tools, ranks, trace, where):
    replayed = tools.replay(ranks, trace, "--json")
    expect(replayed.status == 0, f"{where}: the replay under {tools.mpi} fails", replayed)
    left_out = json.loads(replayed.stdout)["left_out"]
    expect(not left_out, f"{where}: the replay under {tools.mpi} leaves out {left_out}")


def check_twin(tools, options, ranks, trace, folder):
    where = f"{ranks} ranks"
    mpich = harness.Tools(options.twin_tools, tools.folder)
    twin = folder / "twin.cham"
    outcome = mpich.traced(ranks, [options.twin, *options.arguments], twin)
    expect(outcome.status == 0, f"{where}: under MPICH", outcome)
    for pair in ((trace, twin), (twin, trace)):
        same = tools.run([tools.same_events, *pair])
        expect(same.status == 0, f"{where}: the traces of the two MPIs differ", same)
    replays(mpich, ranks, trace, where)
    replays(tools, ranks, twin, f"{where}, the trace of MPICH")


def check_ranks(tools, options, ranks):
    where = f"{ranks} ranks"
    folder = tools.fresh(f"n{ranks}")
    (folder / "raw").mkdir()
    trace = folder / "first.cham"
    program = [options.program, *options.arguments]
    plain = tools.job(ranks, program, cwd=folder)
    traced = tools.traced(ranks, program, trace, raw=folder / "raw", cwd=folder)
    expect(plain.status == 0 and plain.stdout, f"{where}: untraced", plain)
    expect(traced.status == 0, f"{where}: traced", traced)
    expect(plain.stdout == traced.stdout, f"{where}: stdout changes", plain, traced)
    expect(traced.stderr.count(b"\n") == 1, f"{where}: more than the summary on stderr", traced)
    report = tools.verify(trace, folder / "raw")
    expect(report["ranks"] == ranks, f"{where}: verified {report['ranks']} ranks")
    tools.check(trace)
    info = tools.chameleon("info", trace)
    expect((b"Open MPI" if tools.mpi == "openmpi" else b"MPI") in info.stdout.split(b"written by")[-1], f"{where}: the trace does not name its MPI", info)
    replays(tools, ranks, trace, where)
    if options.twin:
        check_twin(tools, options, ranks, trace, folder)
        if ranks == 2:
            check_verbs(tools, options, folder)


def main():
    arguments = harness.parser_of_ranks(__doc__)
    arguments.add_argument("--twin", help="the program built with MPICH")
    arguments.add_argument("--twin-tools", help="tools.json for MPICH")
    arguments.add_argument("arguments", nargs="*", help="of the program")
    harness.main_of_ranks("under_openmpi", arguments.parse_args(), check_ranks)


if __name__ == "__main__":
    main()
