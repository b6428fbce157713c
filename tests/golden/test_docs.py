#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the commands of the documentation: every ```sh block of the files given.

    test_docs.py --build BUILD [--preload LIBRARY] [--prepare SCRIPT] [--stand-ins FOLDER] FILE...

The blocks of a file run in their order as one script, in an empty folder, with the built commands
and examples in PATH; a command that fails fails the test. A script that prepares the folder is
sourced before them (with BUILD, and its own folder as HERE), and programs that stand in for those
that are not there (a batch system, a container engine) come first in PATH. A block is left out when
the line before it is a comment of this form, and the reason is printed:

    <!-- not run: it runs this test -->
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SKIP = re.compile(r"<!-- not run: (.+?) -->")


def blocks(path):
    """(line number, text, reason not to run or None) of each sh block."""
    found, reason, text, start = [], None, None, 0
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if text is not None:
            if line.strip() == "```":
                found.append((start, "\n".join(text), reason))
                text, reason = None, None
            else:
                text.append(line)
        elif line.strip() == "```sh":
            text, start = [], number
        elif line.strip():
            skip = SKIP.fullmatch(line.strip())
            reason = skip.group(1) if skip else None
    if text is not None:
        sys.exit(f"{path}:{start}: the block has no end")
    return found


def run(path, options):
    script = ["set -euo pipefail"]
    if options.prepare:
        script.append(f". '{options.prepare}'")
    if options.stand_ins:
        script.append(f"PATH='{options.stand_ins}':$PATH")
    without = len(script)
    for number, text, reason in blocks(path):
        if reason:
            print(f"{path.name}:{number}: not run: {reason}")
        else:
            script += [f"echo '== {path.name}:{number}'", text]
    if len(script) == without:
        sys.exit(f"{path}: no command to run")
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("CHAMELEON_")}
    if "CHAMELEON_LIBRARY" in os.environ:
        environment["CHAMELEON_LIBRARY"] = os.environ["CHAMELEON_LIBRARY"]
    folders = [str(options.build / folder) for folder in ("tools", "replay", "examples")]
    environment["PATH"] = os.pathsep.join(folders + [environment["PATH"]])
    environment["BUILD"] = str(options.build)
    if options.prepare:
        environment["HERE"] = str(options.prepare.parent)
    if options.preload:
        environment["LD_PRELOAD"] = str(options.preload)
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(["bash", "-c", "\n".join(script)], cwd=folder, env=environment,
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    print(done.stdout)
    if done.returncode != 0:
        sys.exit(f"{path}: a command failed: exit status {done.returncode}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=lambda name: pathlib.Path(name).resolve(), required=True)
    parser.add_argument("--preload", help="a library for every command")
    parser.add_argument("--prepare", type=lambda name: pathlib.Path(name).resolve(),
                        help="a script sourced before the commands of each file")
    parser.add_argument("--stand-ins", type=lambda name: pathlib.Path(name).resolve(),
                        help="a folder of programs, first in PATH")
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    for path in options.files:
        run(path, options)


if __name__ == "__main__":
    main()
