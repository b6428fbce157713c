#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`chameleon simulate`: the clusters and leads of the examples' shapes, messages and depth of the
tree, and that the trace written hangs together and grows with neither ranks nor steps."""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

# Call-Path clusters at 64, 256 and 1024 ranks.
CALL_PATHS = {"wavefront": [9, 9, 9], "stencil2d": [1, 1, 1], "ring": [1, 1, 1],
              "multipartition": [1, 1, 1], "transpose": [1, 1, 1], "spectral": [1, 1, 1],
              "bucketsort": [3, 3, 3], "multigrid": [6, 8, 10], "taskfarm": [2, 2, 2]}


def run(chameleon, *arguments):
    return subprocess.run([chameleon, *map(str, arguments)], text=True, capture_output=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--chameleon", required=True)
    chameleon = parser.parse_args().chameleon
    with tempfile.TemporaryDirectory() as folder:
        for name, expected in CALL_PATHS.items():
            sizes = []
            for index, ranks in enumerate((64, 256, 1024)):
                trace = pathlib.Path(folder) / f"{name}.{ranks}.cham"
                job = run(chameleon, "simulate", name, "--from", ranks, "--to", ranks, "--json",
                          "-o", trace)
                assert job.returncode == 0, job.stderr
                row = json.loads(job.stdout)["rows"][0]
                where = f"{name} at {ranks}: {row}"
                assert row["call_paths"] == expected[index], where
                assert row["call_paths"] <= row["leads"] <= max(9, row["call_paths"]), where
                assert row["clustering"]["messages"] == 2 * (ranks - 1), where
                assert row["clustering"]["depth"] == 2 * (ranks - 1).bit_length(), where
                sizes.append(row["trace_bytes"])
                check = run(chameleon, "check", trace)
                assert check.returncode == 0, f"{where}: {check.stdout}{check.stderr}"
            # The master's partners, and the transposed ones in a non-square grid, are a list.
            if name not in ("taskfarm", "multigrid"):
                assert sizes[2] < 1.5 * sizes[0], f"{name}: {sizes}"
        for arguments in (["nothing"], ["ring", "--from", "0"], ["ring", "--clustering", "off"],
                          ["ring", "--steps", "0"]):
            job = run(chameleon, "simulate", *arguments)
            assert job.returncode == 2 and len(job.stderr.splitlines()) == 1, (arguments, job)
    print("ok")
    return 0


if __name__ == "__main__":
    sys.exit(main())
