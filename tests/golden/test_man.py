#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Manual pages: one a verb, with all of its options; groff, if it is there, finds no fault.

    test_man.py --pages FOLDER --command PATH"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys


def help_of(command, *verb):
    return subprocess.run([command, *verb, "--help"], capture_output=True, text=True,
                          check=True).stdout


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pages", type=pathlib.Path, required=True)
    parser.add_argument("--command", required=True)
    options = parser.parse_args()
    verbs = re.findall(r"^  ([a-z]+) ", help_of(options.command).split("Subcommands:")[1], re.M)
    if len(verbs) < 10:
        sys.exit(f"the help names {verbs} only")
    pages = {"chameleon": []} | {f"chameleon-{verb}": [verb] for verb in verbs}
    for name, verb in pages.items():
        text = (options.pages / f"{name}.1").read_text().replace("\\-", "-")
        for option in re.findall(r"(?<=[ ,])--[a-z][a-z-]*", help_of(options.command, *verb)):
            if option not in text:
                sys.exit(f"{name}.1 does not have {option}")
        if verb and f".SH EXAMPLES\n.nf\n" not in text:
            sys.exit(f"{name}.1 has no example")
        if shutil.which("groff"):
            done = subprocess.run(["groff", "-man", "-ww", "-z", options.pages / f"{name}.1"],
                                  capture_output=True, text=True, check=False)
            if done.returncode != 0 or done.stderr:
                sys.exit(f"{name}.1: {done.stderr}")
    environment = (options.pages / "chameleon-environment.7").read_text().replace("\\-", "-")
    for variable in ("CHAMELEON_OUTPUT", "CHAMELEON_FLUSH_SECONDS", "CHAMELEON_VERBOSE"):
        if f".B {variable}" not in environment:
            sys.exit(f"chameleon-environment.7 does not have {variable}")
    if shutil.which("groff"):
        done = subprocess.run(["groff", "-man", "-ww", "-z",
                               options.pages / "chameleon-environment.7"],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0 or done.stderr:
            sys.exit(f"chameleon-environment.7: {done.stderr}")
    print(f"{len(pages)} pages")


if __name__ == "__main__":
    main()
