#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`chameleon simulate`: the clusters and leads of the examples' shapes, messages and depth of the
tree, and that the trace written is consistent, and grows with neither ranks nor steps unless ranks
come to do more kinds of things."""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

# Call-Path clusters at 64, 256 and 1024 ranks.
CALL_PATHS = {"wavefront": [9, 9, 9], "stencil2d": [1, 1, 1], "ring": [1, 1, 1],
              "multipartition": [1, 1, 1], "transpose": [1, 1, 1], "spectral": [1, 1, 1],
              "bucketsort": [3, 3, 3], "multigrid": [11, 15, 19], "taskfarm": [2, 2, 2],
              "ocean": [1, 1, 1], "hydro": [27, 27, 27],
              "phases": [1, 1, 1], "faulty": [1, 1, 1]}
# A row of counts a rank and step, all different: the trace grows as P², as that of the program.
FEW_STEPS = {"bucketsort": 2}
MOST_RANKS = {"bucketsort": 256}


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
                if ranks > MOST_RANKS.get(name, ranks):
                    continue
                trace = pathlib.Path(folder) / f"{name}.{ranks}.cham"
                job = run(chameleon, "simulate", name, "--from", ranks, "--to", ranks, "--json",
                          "--iterations", FEW_STEPS.get(name, 6), "-o", trace)
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
            # Each level of multigrid has partners of its own, and the master's are a list.
            if name in ("taskfarm", "multigrid", "bucketsort"):
                continue
            # A rank of transpose swaps with those of its row that differ in a bit, so it adds and
            # subtracts as its column says: as many patterns as columns, and twice as many
            # distances to the transposed place. Both grow as the root of the number of ranks.
            growth = (1024 / 64) ** 0.5 if name == "transpose" else 1.5
            assert sizes[2] < growth * sizes[0], f"{name}: {sizes}"
        # A vote and a clustering, without the merge that takes a trace of each of 65,536 ranks.
        for name, algorithm, most in (("transpose", "chameleon", 1 << 16),
                                      ("wavefront", "acurdion", 1 << 16),
                                      ("wavefront", "dynamic", 1 << 12)):
            job = run(chameleon, "simulate", name, "--algorithm", algorithm, "--no-merge", "--inner", 2,
                      "--from", 65536, "--to", 65536, "--json")
            row = json.loads(job.stdout)["rows"][0]
            where = f"{name}, {algorithm}: {row}"
            assert "merging" not in row and "trace_bytes" not in row, where
            assert row["vote"]["largest_message"] == 152, where
            assert row["vote"]["messages"] == 2 * 65535, where
            # A node takes in at most as many messages as the tree has levels.
            assert 16 * row["clustering"]["largest_message"] < 1 << 20, where
            assert row["clustering"]["largest_message"] <= most, where
        for arguments in (["nothing"], ["ring", "--from", "0"], ["ring", "--clustering", "off"],
                          ["ring", "--iterations", "0"], ["ring", "--steps", "three"],
                          ["ring", "-k", "0"], ["ring", "--inner", "0"], ["ring", "--no-merge", "-o", "x.cham"],
                          ["ring", "--algorithm", "best"]):
            job = run(chameleon, "simulate", *arguments)
            assert job.returncode == 2 and len(job.stderr.splitlines()) == 1, (arguments, job)
    print("ok")
    return 0


if __name__ == "__main__":
    sys.exit(main())
