# SPDX-License-Identifier: BSD-3-Clause
"""An example program traced under SimGrid's SMPI, all ranks in one process."""

import pathlib
import resource
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "mpi"))
import harness  # noqa: E402
from harness import expect  # noqa: E402

PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="cluster" prefix="node-" suffix="" radical="0-{last}" speed="10Gf" bw="100GBps"
           lat="1us"/>
</platform>
"""
SETTINGS = ["smpi/simulate-computation:no", "smpi/host-speed:10Gf", "smpi/wtime:0",
            "network/model:CM02", "network/crosstraffic:0", "contexts/stack-size:1024",
            "smpi/alltoall:bruck", "smpi/alltoallv:pair"]


def parser(doc):
    arguments = harness.parser(doc)
    arguments.add_argument("--smpirun", required=True)
    arguments.add_argument("--programs", required=True, type=pathlib.Path)
    arguments.add_argument("--timeout", type=float, default=1800, help="seconds a program")
    return arguments


def raise_limits():
    """A file each for the raw records of every rank."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def command(smpirun, program, ranks, folder, *settings):
    """The command line of a job, up to the program's arguments; what it needs is put in the folder."""
    (folder / "platform.xml").write_text(PLATFORM.format(last=ranks - 1))
    (folder / "hosts").write_text("".join(f"node-{i}\n" for i in range(ranks)))
    return [smpirun, "-np", ranks, "-platform", folder / "platform.xml", "-hostfile",
            folder / "hosts", "--log=root.threshold:warning", *[f"--cfg={s}" for s in (*SETTINGS, *settings)],
            program]


def run(tools, options, name, ranks, folder, *arguments, **variables):
    """The outcome of the job; its trace and raw records are in the folder."""
    (folder / "raw").mkdir()
    program = options.programs / f"scale_{name}.so"
    outcome = tools.run(
        [*command(options.smpirun, program, ranks, folder), *arguments], cwd=folder, timeout=options.timeout, CHAMELEON_OUTPUT=folder / "trace.cham",
        CHAMELEON_RAW=folder / "raw", **variables)
    where = f"{name}, {ranks} ranks"
    expect(outcome.status == 0 and f"{name}: verified".encode() in outcome.stdout,
           f"{where}: fails", outcome)
    expect(outcome.stderr.count(b"chameleon: ") == 1, f"{where}: more than the summary", outcome)
    return outcome
