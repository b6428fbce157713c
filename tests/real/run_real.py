#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Programs from Debian packages, traced: ScaLAPACK's, BLACS's and PBLAS's testers
(scalapack-mpi-test) and NetPIPE (netpipe-mpich2).

    run_real.py --tools TOOLS.json [--all] NAME...

Each has the exit status and output of its untraced run (times masked, lines sorted, for their
order varies by itself), verifies, is consistent and replays to its end. xFbtest ends in an
MPI_Abort of its own: its status stays, and a rank's trace is left."""

import pathlib
import re
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "mpi"))
sys.dont_write_bytecode = True
import harness  # noqa: E402  (the path has to be set first)
from harness import expect  # noqa: E402

SCALAPACK = pathlib.Path("/usr/lib/x86_64-linux-gnu/scalapack/mpich-tests")
RANKS = 4
SHORT = 120  # seconds for a program, without --all
NUMBER = re.compile(rb"\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\*+")


def need(path, package):
    path = shutil.which(str(path))
    expect(path, f"not installed: apt-get install {package}")
    return path


def masked(text):
    """Output without numbers that are times, rates or residuals, which vary by themselves:
    any number with a decimal point; lines sorted."""
    def mask(match):
        return b"#" if b"." in match.group() or b"*" in match.group() else match.group()
    return sorted(b" ".join(NUMBER.sub(mask, line).split()) for line in text.splitlines())


def compare(name, plain, traced):
    expect(plain.status == traced.status, f"{name}: exit status changes", plain, traced)
    before, after = masked(plain.stdout), masked(traced.stdout)
    if before == after:
        return
    gone = [line for line in before if line not in set(after)][:3]
    come = [line for line in after if line not in set(before)][:3]
    expect(False, f"{name}: output changes: {gone} became {come}")


def run_tester(tools, name, timeout):
    program = need(SCALAPACK / name, "scalapack-mpi-test")
    folder = tools.fresh(pathlib.Path(name).name)
    (folder / "raw").mkdir()
    for data in pathlib.Path(program).parent.glob("*.dat"):
        shutil.copy(data, folder)
    trace = folder / "real.cham"
    plain = tools.job(RANKS, [program], cwd=folder, timeout=timeout)
    traced = tools.traced(RANKS, [program], trace, raw=folder / "raw", cwd=folder,
                          timeout=timeout)
    compare(name, plain, traced)
    expect(trace.exists(), f"{name}: no trace", traced)
    report = tools.verify(trace, folder / "raw", timeout=timeout)
    tools.check(trace, timeout=timeout)
    replayed = tools.replay(RANKS, trace, timeout=timeout)
    expect(replayed.status == 0, f"{name}: replay fails", replayed)
    return f"{report['trace_events']} events, {trace.stat().st_size} bytes"


def run_abort(tools, name, timeout):
    program = need(SCALAPACK / name, "scalapack-mpi-test")
    folder = tools.fresh("abort")
    for data in pathlib.Path(program).parent.glob("*.dat"):
        shutil.copy(data, folder)
    if timeout <= SHORT:  # the combining tests are nearly all of its time
        settings = folder / "bt.dat"
        text, changed = re.subn(r"'T'(\s+Run COMB)", r"'F'\1", settings.read_text())
        expect(changed == 1, f"{settings} is not as expected")
        settings.write_text(text)
    plain = tools.job(RANKS, [program], cwd=folder, timeout=timeout)
    traced = tools.traced(RANKS, [program], folder / "abort.cham", cwd=folder, timeout=timeout)
    expect(plain.status == traced.status != 0, f"{name}: exit status changes", plain, traced)
    left = list(folder.glob("abort.cham.rank*"))
    expect(left, f"{name}: no trace of the rank that aborts", traced)
    for trace in left:
        outcome = tools.chameleon("info", trace)
        expect(outcome.status == 0 and b"MPI_Abort" in outcome.stdout, f"{name}: info", outcome)
    return f"status {traced.status}, {left[0].name}"


def run_netpipe(tools, most, timeout, raw):
    program = need("NPmpich2", "netpipe-mpich2")
    folder = tools.fresh(f"netpipe{most}")
    (folder / "raw").mkdir()
    trace = folder / "np.cham"
    command = [program, "-l", "1", "-u", str(most), "-o", "np.out"]
    traced = tools.traced(2, command, trace, raw=folder / "raw" if raw else None, cwd=folder,
                          timeout=timeout)
    expect(traced.status == 0 and trace.exists(), "NPmpich2 fails", traced)
    size = trace.stat().st_size
    expect(size < 200_000, f"NPmpich2: the trace takes {size} bytes")
    if raw:
        tools.verify(trace, folder / "raw", timeout=timeout)
    tools.check(trace, timeout=timeout)
    if raw:
        replayed = tools.replay(2, trace, timeout=timeout)
        expect(replayed.status == 0, "NPmpich2: replay fails", replayed)
    return f"{size} bytes"


def main():
    arguments = harness.parser(__doc__)
    arguments.add_argument("--all", action="store_true", help="also what takes long")
    arguments.add_argument("names", nargs="+")
    options = arguments.parse_args()
    timeout = 600 if options.all else SHORT

    def body(tools):
        for name in options.names:
            if name == "NPmpich2":
                # Its repeats are chosen for a time: even a few sizes are many calls.
                result = run_netpipe(tools, 1024 if options.all else 2, timeout,
                                     raw=not options.all)
            elif name.endswith("btest"):
                result = run_abort(tools, name, timeout)
            else:
                result = run_tester(tools, name, timeout)
            print(f"{name}: {result}")
            sys.stdout.flush()

    harness.main("run_real", options, body)


if __name__ == "__main__":
    main()
