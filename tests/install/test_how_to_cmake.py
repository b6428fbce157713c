#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The CMake lines of docs/how-to/cmake.md as projects of a user, built and run with Chameleon
installed into a folder of its own.

    test_how_to_cmake.py --build BUILD --source SOURCE --mpicc MPICC [--mpifort MPIFORT]

A block is put, as it stands, behind a project and its programs: `app`, and `fapp` in Fortran. The
project for tests must pass with the program as it was, twice, and fail with one that communicates
otherwise. With CHAMELEON_TEST_ALL the project that takes Chameleon from source is configured."""

import argparse
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile

from test_install import Installed

HERE = pathlib.Path(__file__).resolve().parent
RANKS = 4


def blocks(page):
    """The ```cmake blocks by the title or the last words before them."""
    found, title = {}, ""
    for part in re.split(r"^```(?:cmake)?\n", page.read_text(), flags=re.M):
        if part.lstrip().startswith(("find_", "add_", "target_")):
            found[title] = part
        else:
            words = [line for line in part.splitlines() if line.strip()]
            title = next((w[3:] for w in reversed(words) if w.startswith("## ")),
                         words[-1] if words else "")
    return found


class Projects(Installed):
    def project(self, name, text, languages="C", programs="add_executable(app app.c)", *settings):
        """Configures and builds; gives the build folder."""
        folder = self.folder / name
        folder.mkdir()
        shutil.copy(HERE / "how_to" / "app.c", folder)
        shutil.copy(HERE / "consumer" / "main.f90", folder)
        (folder / "CMakeLists.txt").write_text(
            f"cmake_minimum_required(VERSION 3.22)\nproject(app LANGUAGES {languages})\n"
            f"enable_testing()\n{programs}\n{text}")
        tree = folder / "build"
        self.run([self.options.cmake, "-G", "Ninja", "-S", folder, "-B", tree,
                  "-DCMAKE_BUILD_TYPE=RelWithDebInfo", f"-DCMAKE_PREFIX_PATH={self.prefix}",
                  f"-DMPI_C_COMPILER={self.options.mpicc}",
                  f"-DMPI_Fortran_COMPILER={self.options.mpifort}", *settings])
        return tree

    def make(self, tree):
        self.run([self.options.cmake, "--build", tree])

    def ctest(self, tree, passes):
        output = self.run(["sh", "-c", f"ctest --test-dir '{tree}' && echo all-pass || true"])
        if ("all-pass" in output) != passes:
            sys.exit(f"{tree}: the tests should {'pass' if passes else 'fail'}:\n{output}")
        return output


def markers_and_tests(here, found):
    tree = here.project("markers", found["Markers only"] + found["Traces in tests"])
    here.make(tree)
    here.run([here.command, "run", "-n", RANKS, "-o", here.folder / "markers" / "good.cham", "--",
              tree / "app"])
    info = json.loads(here.run([here.command, "info", "--json",
                                here.folder / "markers" / "good.cham"]))
    if info["markers"] != 10:
        sys.exit(f"{info['markers']} markers, not 10")
    here.ctest(tree, True)
    here.ctest(tree, True)
    here.run([here.options.cmake, "-DCMAKE_C_FLAGS=-DEXTRA_CALL", tree])
    here.make(tree)
    output = here.ctest(tree, False)
    if not re.search(r"same.*Failed", output) or re.search(r"traced.*Failed", output):
        sys.exit(f"not the comparison fails:\n{output}")


def linked(here, found):
    text = found["Linked in"]
    languages, programs = "C", "add_executable(app app.c)"
    if here.options.mpifort:
        languages, programs = "C Fortran", programs + "\nadd_executable(fapp main.f90)"
    else:
        text = "".join(line.replace(" Fortran)", ")") for line in text.splitlines(True)
                       if "fapp" not in line)
    tree = here.project("linked", text, languages, programs)
    here.make(tree)
    for program in ["app"] + ["fapp"] * bool(here.options.mpifort):
        for enabled, there in (("0", False), ("1", True)):
            trace = here.folder / f"{program}.cham"
            here.run([here.options.mpiexec, "-n", RANKS, tree / program],
                     CHAMELEON_OUTPUT=str(trace), CHAMELEON_ENABLE=enabled)
            if trace.exists() != there:
                sys.exit(f"{program}: CHAMELEON_ENABLE={enabled}, trace: {trace.exists()}")
        # Init, ten steps, Finalize.
        info = json.loads(here.run([here.command, "info", "--json", trace]))
        if info["events"] != RANKS * 12 or info["markers"] != 10:
            sys.exit(f"{program}: {info['events']} events, {info['markers']} markers")


def from_source(here, found):
    text = "".join(part for title, part in found.items() if "add_subdirectory" in part)
    tree = here.project("from_source", text.replace(
        "add_subdirectory(chameleon ",
        f"add_subdirectory({here.options.source} chameleon "))
    commands = (tree / "build.ninja").read_text()
    if not re.search(r"build app: .*libchameleon", commands):
        sys.exit(f"{tree}: app does not link libchameleon")


def main():
    parser = argparse.ArgumentParser()
    for option in ["--build", "--source", "--mpicc"]:
        parser.add_argument(option, required=True)
    parser.add_argument("--cmake", default="cmake")
    parser.add_argument("--mpiexec", default="mpiexec.mpich")
    parser.add_argument("--mpifort", default="", help="also the Fortran program")
    parser.add_argument("--preload", default="", help="a library for the programs run")
    options = parser.parse_args()
    found = blocks(pathlib.Path(options.source) / "docs/how-to/cmake.md")
    if len(found) != 4:
        sys.exit(f"cmake.md: {len(found)} blocks of CMake, not 4: {list(found)}")
    with tempfile.TemporaryDirectory() as folder:
        here = Projects(options, pathlib.Path(folder))
        here.environment["PATH"] = f"{here.prefix / 'bin'}:{os.environ['PATH']}"
        if options.preload:
            here.environment["LD_PRELOAD"] = options.preload
        markers_and_tests(here, found)
        linked(here, found)
        if os.environ.get("CHAMELEON_TEST_ALL"):
            from_source(here, found)


if __name__ == "__main__":
    main()
