#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What true times take in the trace of a job of many ranks, under SimGrid's SMPI in one process.

    test_sizes.py --tools TOOLS.json --smpirun S --programs DIR --ranks FEW,MANY NAME...

Beside each trace there is one of the same job without times. With them a file is at most twice as
large, and a further rank takes a few bytes: the totals that are its own, and its place in a class of
times. What ranks say of themselves whatever the timing, their facts, is in both."""

import shutil

import simulated_job
from simulated_job import expect, harness

ITERATIONS = 24
LARGER = 2
FURTHER = 12  # bytes of a further rank: five totals in each of two or three phases, and its class


def bytes_of(tools, options, name, ranks, timing):
    folder = tools.fresh(f"{name}.{ranks}.{timing}")
    simulated_job.run(tools, options, name, ranks, folder, "--iterations", ITERATIONS,
                      CHAMELEON_TIMING=timing)
    size = (folder / "trace.cham").stat().st_size
    shutil.rmtree(folder)
    return size


def check(tools, options, name):
    added = {}
    for ranks in options.ranks:
        timed = bytes_of(tools, options, name, ranks, "histogram")
        bare = bytes_of(tools, options, name, ranks, "none")
        added[ranks] = timed - bare
        print(f"{name:<16}{ranks:>6} ranks{timed:>8} bytes, without times{bare:>8}, "
              f"{timed / bare:.2f} times as much", flush=True)
        expect(bare < timed <= LARGER * bare, f"{name}, {ranks} ranks: {timed} of {bare} bytes")
    few, many = options.ranks
    further = (added[many] - added[few]) / (many - few)
    print(f"{name:<16}{further:.2f} bytes for the times of a further rank", flush=True)
    expect(further <= FURTHER, f"{name}: {further:.2f} bytes for the times of a further rank")


def main():
    arguments = simulated_job.parser(__doc__)
    arguments.add_argument("--ranks", required=True,
                           type=lambda text: [int(ranks) for ranks in text.split(",")])
    arguments.add_argument("names", nargs="+")
    options = arguments.parse_args()
    simulated_job.raise_limits()

    def body(tools):
        for name in options.names:
            check(tools, options, name)

    harness.main("test_sizes", options, body)


if __name__ == "__main__":
    main()
