# SPDX-License-Identifier: BSD-3-Clause
"""MPI jobs as the benchmarks here run them; `options` has mpiexec, ranks, preload, timeout."""

import os
import re
import subprocess


class Failure(Exception):
    """One line that says what did not work."""


def launch(options, command, preload=(), environment=None):
    """Standard output of an MPI job."""
    libraries = [str(path) for path in (options.preload, *preload) if path]
    line = [options.mpiexec, "-n", str(options.ranks)]
    if libraries:
        line += ["-env", "LD_PRELOAD", ":".join(libraries)]
    job = subprocess.run(line + [str(word) for word in command], text=True, timeout=options.timeout,
                         capture_output=True, env={**os.environ, **(environment or {})})
    if job.returncode != 0:
        lines = (job.stderr or job.stdout).strip().splitlines() or ["no output"]
        raise Failure(f"{command[0]}: exit status {job.returncode}: {lines[0]}")
    return job.stdout


def application_seconds(output):
    match = re.search(r"^time: ([\d.]+) s$", output, re.M)
    if not match:
        raise Failure("the application printed no line 'time: X s'")
    return float(match.group(1))


def first_file(build, pattern):
    return next((path for path in sorted(build.rglob(pattern)) if path.is_file()), None)


def examples_of(build):
    """All examples of the build that time themselves; those in Fortran and the reader do not."""
    return sorted(path.name for path in (build / "examples").glob("*")
                  if path.is_file() and os.access(path, os.X_OK) and "." not in path.name
                  and "_" not in path.name)
