#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What scripts/demo shows: the faults that it plants are named, by rank and by time steps, the run
without them is told apart, and the report is where it says.

    test_demo.py --source SOURCE --build BUILD"""

import argparse
import os
import pathlib
import re
import subprocess
import sys


def fault_of(options):
    """What is wrong with what it shows; None: nothing."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CHAMELEON_")}
    done = subprocess.run([options.source / "scripts/demo"], env={**kept, "DEMO_BUILD": options.build},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    print(done.stdout)
    if done.returncode != 0:
        return f"status {done.returncode}"
    shown = done.stdout.split("==> ")
    traced = next(part for part in shown if part.startswith("chameleon run") and "--fault" in part)
    slow = {marker for first, last in
            re.findall(r"At markers (\d+) to (\d+) rank 1 computed longest", traced)
            for marker in range(int(first), int(last) + 1)}
    wanted = set(range(61, 81))
    if len(slow & wanted) < 12 or len(slow - wanted) > 2:
        return "run does not name rank 1 and its time steps"
    page = pathlib.Path(re.search(r"open (\S+) in a browser", done.stdout)[1])
    if not page.is_file() or "<html" not in page.read_text()[:1000]:
        return f"no page {page}"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    options = parser.parse_args()
    # Other work on the machine delays ranks as well: what is measured gets a second and a third chance.
    for left in (2, 1, 0):
        wrong = fault_of(options)
        if wrong is None:
            return
        print(f"{wrong}; {left} tries are left")
    sys.exit(wrong)


if __name__ == "__main__":
    main()
