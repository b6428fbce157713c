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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    options = parser.parse_args()
    done = subprocess.run([options.source / "scripts/demo"], env={**os.environ, "DEMO_BUILD": options.build},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    print(done.stdout)
    if done.returncode != 0:
        sys.exit(f"status {done.returncode}")
    shown = done.stdout.split("==> ")
    traced = next(part for part in shown if part.startswith("chameleon run") and "--fault" in part)
    slow = re.search(r"At markers (\d+) to (\d+) rank 1 computed longest", traced)
    if slow is None or abs(int(slow[1]) - 61) > 1 or abs(int(slow[2]) - 80) > 1:
        sys.exit("run does not name rank 1 and its time steps")
    page = pathlib.Path(re.search(r"open (\S+) in a browser", done.stdout)[1])
    if not page.is_file() or "<html" not in page.read_text()[:1000]:
        sys.exit(f"no page {page}")


if __name__ == "__main__":
    main()
