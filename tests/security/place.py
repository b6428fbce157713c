# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of this folder share: a folder for each case, with crafted traces beside it."""

import argparse
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

SECONDS = 60


class Fault(Exception):
    pass


def expect(condition, what):
    if not condition:
        raise Fault(what)


class Place:
    """A folder for one case, with the crafted traces beside it."""

    def __init__(self, options, folder, traces):
        self.command, self.folder, self.traces = options.chameleon, folder, traces

    def run(self, *words, cwd=None, memory=None, env=None, timeout=SECONDS):
        """A verb, which must end in time; its errors are one line."""
        def limit():
            if memory:
                resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))

        try:
            return subprocess.run([self.command, *map(str, words)], cwd=cwd or self.folder,
                                  capture_output=True, check=False, timeout=timeout,
                                  preexec_fn=limit, stdin=subprocess.DEVNULL,
                                  env={**os.environ, **(env or {})})
        except subprocess.TimeoutExpired:
            raise Fault(f"{words} does not end") from None

    def refused(self, *words, statuses=(2, 3, 4), says="", **how):
        done = self.run(*words, **how)
        lines = done.stderr.decode(errors="replace").splitlines()
        expect(done.returncode in statuses, f"{words}: status {done.returncode}, {lines}")
        expect(len(lines) == 1 and says in lines[0], f"{words}: {lines}, expected {says!r}")
        return lines[0]

    def fine(self, *words, **how):
        done = self.run(*words, **how)
        expect(done.returncode == 0, f"{words}: status {done.returncode}, {done.stderr[-300:]!r}")
        return done.stdout.decode(errors="replace")


def craft(options, folder, source):
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run([options.craft, folder, source], check=True, timeout=SECONDS)
    return folder


def main(cases):
    """Runs the functions check_NAME of a module, or those that the command line names."""
    parser = argparse.ArgumentParser()
    for option in ("--chameleon", "--craft", "--program", "--python", "--corpus", "--golden", "--dump"):
        parser.add_argument(option, required=True, type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("cases", nargs="*")
    options = parser.parse_args()
    options.chameleon = str(options.chameleon)
    faults = 0
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name).resolve()
        traces = craft(options, root / "traces", "/nowhere/app.py")
        for title, check in sorted(cases.items()):
            if not title.startswith("check_") or (options.cases and title[6:] not in options.cases):
                continue
            folder = root / title
            folder.mkdir()
            try:
                check(options, Place(options, folder, traces))
            except Fault as fault:
                faults += 1
                print(f"{title}: {fault}", flush=True)
    sys.exit(faults != 0)
