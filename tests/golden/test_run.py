#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`chameleon run` refuses what the tracer could not do before anything is started: status 2, one
line that names what is wrong, and no program.

    test_run.py --chameleon COMMAND
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

# (arguments before the program, variables, words of the line)
WRONG = [
    (["--fidelity", "foo"], {}, ["CHAMELEON_FIDELITY", "foo", "lead"]),
    (["-k", "0"], {}, ["CHAMELEON_K", "0"]),
    (["--every", "x"], {}, ["CHAMELEON_CALL_FREQUENCY", "x"]),
    (["--every", "0"], {}, ["CHAMELEON_CALL_FREQUENCY", "0"]),
    (["--vote", "never"], {}, ["CHAMELEON_VOTE", "never"]),
    (["--timing", "exact"], {}, ["CHAMELEON_TIMING", "exact"]),
    (["--flush-seconds", "-1"], {}, ["CHAMELEON_FLUSH_SECONDS", "-1"]),
    (["-o", "nosuch/x.cham"], {}, ["nosuch"]),
    (["-n", "0"], {}, ["--ranks", "'0'", "whole number from 1"]),
    (["-n", "x"], {}, ["--ranks", "'x'", "whole number from 1"]),
    (["--fidelty", "lead"], {}, ["--fidelty is no option: --fidelity is"]),
    (["--nothing-like-it=3"], {}, ["--nothing-like-it is no option"]),
    (["stray"], {}, ["stray: the program comes after --"]),
    (["--env", "CHAMELEON_FIDELTY=lead"], {}, ["CHAMELEON_FIDELTY", "CHAMELEON_FIDELITY is"]),
    (["--env", "CHAMELEON_MEMORY=much"], {}, ["CHAMELEON_MEMORY", "much"]),
    (["--env", "CHAMELEON_RAW=nosuch"], {}, ["CHAMELEON_RAW", "nosuch"]),
    ([], {"CHAMELEON_BUDGET": "200%"}, ["CHAMELEON_BUDGET", "200%"]),
]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--chameleon", required=True)
    command = pathlib.Path(parser.parse_args().chameleon).resolve()
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        started = pathlib.Path(folder, "started")
        program = ["/bin/sh", "-c", f"touch {started}"]
        launcher = ["--launcher", "/usr/bin/env"]  # starts the program, as a launcher does

        def run(arguments, variables):
            return subprocess.run([command, "run", *launcher, *arguments, "--", *program],
                                  cwd=folder, env={**os.environ, **variables}, text=True,
                                  capture_output=True, timeout=60)

        run([], {})
        if not started.exists():
            sys.exit("the program is not started at all: this test tests nothing")
        started.unlink()
        for arguments, variables, words in WRONG:
            outcome = run(arguments, variables)
            what = " ".join([*(f"{k}={v}" for k, v in variables.items()), *arguments])
            lines = outcome.stderr.strip().splitlines()
            if outcome.returncode != 2:
                failed.append(f"{what}: status {outcome.returncode}")
            if not lines or not all(word in lines[0] for word in words):
                failed.append(f"{what}: says {lines}")
            if started.exists():
                failed.append(f"{what}: started the program")
                started.unlink()
    for line in failed:
        print(line)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
