# SPDX-License-Identifier: BSD-3-Clause
"""MPI jobs as the benchmarks here run them; `options` has mpiexec, ranks, preload, timeout, and
for `watched` also build, tool and chameleon."""

import argparse
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import time


class Failure(Exception):
    """One line that says what did not work."""


def launch(options, command, preload=(), environment=None):
    """Standard output of an MPI job."""
    libraries = [str(path) for path in (options.preload, *preload) if path]
    line = [*options.mpiexec.split(), "-n", str(options.ranks)]
    if libraries:
        line += ["env", "LD_PRELOAD=" + ":".join(libraries)]
    job = subprocess.run(line + [str(word) for word in command], text=True, timeout=options.timeout,
                         capture_output=True, env={**os.environ, **(environment or {})})
    if job.returncode != 0:
        lines = (job.stderr or job.stdout).strip().splitlines() or ["no output"]
        raise Failure(f"{command[0]}: exit status {job.returncode}: {lines[0]}")
    return job.stdout


def launch_simulated(options, name, folder, words, environment):
    """Runs an example, traced, under SimGrid's SMPI: the library of tests/scale with the tool in it."""
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "scale"))
    import simulated_job
    program = options.build / "tests" / "scale" / f"scale_{name}.so"
    if not program.exists() or shutil.which("smpirun") is None:
        raise Failure(f"SMPI has no {program}")
    simulated_job.raise_limits()
    line = simulated_job.command("smpirun", program, options.ranks, pathlib.Path(folder))
    job = subprocess.run([str(word) for word in (*line, *words)], text=True, cwd=folder,
                         timeout=options.timeout, capture_output=True,
                         env={**os.environ, **environment})
    if job.returncode != 0:
        raise Failure(f"{name}: exit status {job.returncode}: {job.stderr.strip()[:200]}")


def watched(options, folder, command, variables=None):
    """Runs a job, traced with these variables or, if there are none, untraced: `output`, `wall`
    seconds from start to end, `peak_kib` and `cpu_seconds` of the rank that needed most, and if
    traced `trace` and `info`."""
    trace, peaks = pathlib.Path(folder) / "t.cham", pathlib.Path(folder) / "peaks"
    for path in (trace, peaks):
        path.unlink(missing_ok=True)
    libraries = [str(options.preload)] if options.preload else []
    environment = {}
    if variables is not None:
        libraries.append(str(options.tool))
        environment = {"CHAMELEON_OUTPUT": str(trace), **variables}
    environment["PEAK_PRELOAD"] = ":".join(libraries)  # into the ranks, not what watches them
    plain = argparse.Namespace(**{**vars(options), "preload": None})
    begin = time.monotonic()
    output = launch(plain, [options.build / "bench" / "peak", peaks, *command],
                    environment=environment)
    rows = [list(map(int, line.split())) for line in peaks.read_text().splitlines()]
    result = {"output": output, "wall": time.monotonic() - begin,
              "peak_kib": max(row[0] for row in rows),
              "cpu_seconds": max(row[1] for row in rows) * 1e-6}
    if variables is not None:
        result["trace"] = str(trace)
        result["info"] = json.loads(subprocess.run(
            [options.chameleon, "info", "--json", trace], text=True, capture_output=True,
            check=True).stdout)
    return result


def add_common(parser):
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--mpiexec", default=shutil.which("mpiexec.mpich") or "mpiexec")
    parser.add_argument("--preload", type=pathlib.Path, help="a library for all runs")
    parser.add_argument("--timeout", type=float, default=600, help="seconds a run may take")


def parse_common(parser):
    """Options with `tool`, `replay` and `chameleon`, the programs of the build."""
    options = parser.parse_args()
    options.build = options.build.resolve()
    options.tool = first_file(options.build, "libchameleon.so*")
    options.replay = first_file(options.build, "chameleon-replay")
    options.chameleon = options.build / "tools" / "chameleon"
    if not options.tool or not options.replay or not options.chameleon.exists():
        parser.error(f"no libchameleon.so, chameleon-replay or chameleon under {options.build}")
    options.preload = options.preload.resolve() if options.preload else None
    return options


def compared(options, measure):
    """`options.pairs` pairs of measure(False), measure(True), in turn: the medians of both, and the
    ratios of the pairs, ascending."""
    pairs = []
    for number in range(options.pairs):
        order = (False, True) if number % 2 == 0 else (True, False)
        took = {with_it: measure(with_it) for with_it in order}
        pairs.append((took[False], took[True]))
    ratios = sorted(on / off for off, on in pairs)
    return (*(statistics.median(one) for one in zip(*pairs)), ratios)


def application_seconds(output):
    match = re.search(r"^time: ([\d.]+) s$", output, re.M)
    if not match:
        raise Failure("the application printed no line 'time: X s'")
    return float(match.group(1))


def first_file(build, pattern):
    return next((path for path in sorted(build.rglob(pattern)) if path.is_file()), None)


def examples_of(build):
    """All examples of the build that time themselves; those in Fortran and readers do not."""
    return sorted(path.name for path in (build / "examples").glob("*")
                  if path.is_file() and os.access(path, os.X_OK) and "." not in path.name
                  and "_" not in path.name and path.name != "imbalance")
