#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Bytes that `export --dry-run` announces are at least those that an export writes, and less than
twice as many: of every format and each trace. A dry run writes nothing.

    test_announced.py CHAMELEON TRACE..."""

import pathlib
import re
import subprocess
import sys
import tempfile

FORMATS = ("csv", "json", "folded", "speedscope", "chrome", "perfetto", "otf2", "simgrid", "paje",
           "paraver", "goal")
# Of what is written beside calls a bound may be further off.
BESIDE = 64 << 10
LEAST = 60  # exports


def size_of(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def export(command, trace, form, folder, *words):
    return subprocess.run([command, "export", trace, f"--{form}", f"out.{form}", *words], cwd=folder,
                          capture_output=True, text=True, check=False, timeout=300)


def main():
    command, *traces = sys.argv[1:]
    faults, exports = [], 0
    for trace in traces:
        name = pathlib.Path(trace).name
        for form in FORMATS:
            with tempfile.TemporaryDirectory() as place:
                folder = pathlib.Path(place)
                dry = export(command, trace, form, folder, "--dry-run")
                if list(folder.iterdir()):
                    faults.append(f"{name} --{form}: a dry run writes {list(folder.iterdir())}")
                real = export(command, trace, form, folder)
                if real.returncode == 4:  # threads, or a format that is not built
                    continue
                said = re.search(r": at most ([0-9,]+) bytes for ([0-9,]+) calls", dry.stdout)
                if dry.returncode != 0 or real.returncode != 0 or not said:
                    faults.append(f"{name} --{form}: {dry.stdout!r} {dry.stderr!r} {real.stderr!r}")
                    continue
                announced, written = int(said[1].replace(",", "")), size_of(folder)
                exports += 1
                print(f"{name:20} {form:10} {announced:10} {written:10} {announced / written:6.2f}")
                if not written <= announced <= 2 * written + BESIDE:
                    faults.append(f"{name} --{form}: {announced} bytes are announced, and {written} "
                                  "are written")
                calls = re.search(r": ([0-9,]+) calls of", real.stdout)
                if calls and calls[1] != said[2]:
                    faults.append(f"{name} --{form}: {said[2]} calls are announced, and {calls[1]} "
                                  "are written")
    if exports < LEAST:
        faults.append(f"only {exports} exports were compared")
    if faults:
        sys.exit("\n".join(faults))


if __name__ == "__main__":
    main()
