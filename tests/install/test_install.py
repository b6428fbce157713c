#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Installs Chameleon into a folder of its own and builds and runs a user's program with it.

    test_install.py --build BUILD --source SOURCE WAY

WAY is installed_command (an unlinked program under the installed `chameleon run`), find_package,
pkg_config, add_subdirectory (configured only) or add_subdirectory_build. A way passes when the
program ran and its trace has the events it made.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

CONSUMER = pathlib.Path(__file__).resolve().parent / "consumer"
RANKS = 3


class Installed:
    def __init__(self, options, folder):
        self.options = options
        self.folder = folder
        self.prefix = folder / "prefix"
        self.run([options.cmake, "--install", options.build, "--prefix", self.prefix])
        # What the command and the programs find must be what is installed.
        self.environment = {name: value for name, value in os.environ.items()
                            if not name.startswith("CHAMELEON_")}
        self.command = self.prefix / "bin" / "chameleon"

    def run(self, words, **settings):
        words = [str(word) for word in words]
        environment = {**getattr(self, "environment", os.environ), **settings}
        done = subprocess.run(words, cwd=self.folder, env=environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            sys.exit(f"{' '.join(words)}: exit status {done.returncode}\n{done.stdout}")
        return done.stdout

    def expect(self, path):
        found = list(self.prefix.glob(path))
        if not found:
            sys.exit(f"not installed: {path}")
        return found[0]

    def check_trace(self, trace, events):
        info = json.loads(self.run([self.command, "info", "--json", trace]))
        if info["ranks"] != RANKS or info["events"] != events or not info["complete"]:
            sys.exit(f"{trace}: ranks {info['ranks']}, events {info['events']} (expected {events}),"
                     f" complete {info['complete']}")

    def check_program(self, program, events):
        """Runs a program that links the library."""
        trace = self.folder / f"{program.name}.cham"
        output = self.run([self.options.mpiexec, "-n", RANKS, program],
                          CHAMELEON_OUTPUT=str(trace), LD_PRELOAD=self.options.preload)
        if "consumer: done" not in output:
            sys.exit(f"{program} did not run to its end:\n{output}")
        self.check_trace(trace, events)


# Each rank: Init, ten times Sendrecv or Barrier, Finalize; a marker is no event.
EVENTS = RANKS * 12


def cmake_project(here, *settings):
    options = here.options
    tree = here.folder / "consumer"
    here.run([options.cmake, "-G", "Ninja", "-S", CONSUMER, "-B", tree,
              f"-DCMAKE_C_COMPILER={options.mpicc}", *settings])
    return tree


def find_package(here):
    settings = [f"-DCMAKE_PREFIX_PATH={here.prefix}"]
    if here.options.mpifort:
        settings += ["-DWITH_FORTRAN=ON", f"-DCMAKE_Fortran_COMPILER={here.options.mpifort}"]
    tree = cmake_project(here, *settings)
    here.run([here.options.cmake, "--build", tree])
    for program in ["consumer"] + ["consumer_fortran"] * bool(here.options.mpifort):
        here.check_program(tree / program, EVENTS)


def pkg_config(here):
    folder = here.expect("lib*/**/pkgconfig/chameleon.pc").parent
    flags = here.run(["pkg-config", "--cflags", "--libs", "chameleon"],
                     PKG_CONFIG_PATH=str(folder)).split()
    program = here.folder / "consumer"
    library = here.expect("lib*/**/libchameleon.so").parent
    here.run([here.options.mpicc, CONSUMER / "main.c", "-o", program, *flags,
              f"-Wl,-rpath,{library}"])
    here.check_program(program, EVENTS)


def installed_command(here):
    for path in ["bin/chameleon-replay", "include/chameleon/chameleon.h",
                 "include/chameleon/chameleon.f90", "lib*/**/libchameleon.so"]:
        here.expect(path)
    program = here.folder / "unlinked"
    here.run([here.options.mpicc, CONSUMER / "main.c", "-o", program,
              f"-I{here.prefix / 'include'}"])
    trace = here.folder / "unlinked.cham"
    here.run([here.command, "run", "-n", RANKS, "--launcher", here.options.mpiexec,
              "--env", f"LD_PRELOAD={here.options.preload}", "-o", trace, "--", program])
    here.check_trace(trace, EVENTS)
    output = here.run([here.command, "replay", "--launcher", here.options.mpiexec,
                       "--env", f"LD_PRELOAD={here.options.preload}", trace])
    if "replay:" not in output:
        sys.exit(f"the installed replay said:\n{output}")


def add_subdirectory(here):
    return cmake_project(here, f"-DCHAMELEON_SOURCE={here.options.source}")


def add_subdirectory_build(here):
    tree = add_subdirectory(here)
    here.run([here.options.cmake, "--build", tree, "-j", "2", "--target", "consumer"])
    here.check_program(tree / "consumer", EVENTS)


WAYS = {way.__name__: way for way in [installed_command, find_package, pkg_config,
                                      add_subdirectory, add_subdirectory_build]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("way", choices=WAYS)
    for option in ["--build", "--source", "--mpicc"]:
        parser.add_argument(option, required=True)
    parser.add_argument("--cmake", default="cmake")
    parser.add_argument("--mpiexec", default="mpiexec")
    parser.add_argument("--mpifort", help="also build the Fortran program")
    parser.add_argument("--preload", default="", help="a library for the programs run")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        WAYS[options.way](Installed(options, pathlib.Path(folder)))


if __name__ == "__main__":
    main()
