# SPDX-License-Identifier: BSD-3-Clause
"""Input of simulators: SimGrid's time-independent traces and GOAL."""

import collections
import json
import re

from harness import expect

PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="world" routing="Full">
    <cluster id="cluster" prefix="node-" suffix="" radical="0-63" speed="1Gf"
             bw="1.25GBps" lat="1us"/>
  </zone>
</platform>
"""


def check_goal(job):
    """Every label is defined before it is required; what is sent is received, both ways."""
    lines = job.path("goal").read_text().splitlines()
    expect(lines[0] == f"num_ranks {job.ranks}", f"{job.name}: goal: {lines[0]}")
    rank, known, sends, receives = None, set(), collections.Counter(), collections.Counter()
    for line in lines[1:]:
        if found := re.fullmatch(r"rank (\d+) \{", line):
            rank, known = int(found.group(1)), set()
        elif found := re.fullmatch(r"(l\d+): calc \d+", line):
            known.add(found.group(1))
        elif found := re.fullmatch(r"(l\d+): (send|recv) (\d+)b (?:to|from) (\d+) tag (\d+)", line):
            label, what, size, peer, tag = found.groups()
            known.add(label)
            if what == "send":
                sends[rank, int(peer), tag] += 1
            else:
                receives[int(peer), rank, tag] += 1
            expect(int(size) >= 0 and int(peer) < job.ranks, f"{job.name}: goal: {line}")
        elif found := re.fullmatch(r"(l\d+) requires (l\d+)", line):
            expect(set(found.groups()) <= known, f"{job.name}: goal: {line}")
        else:
            expect(line in ("", "}"), f"{job.name}: goal: {line}")
    expect(sends == receives, f"{job.name}: goal: {sends - receives} {receives - sends}")


def check_simgrid(job):
    platform = job.folder / "platform.xml"
    platform.write_text(PLATFORM)
    outcome = job.tools.chameleon("predict", job.trace, "--platform", platform, "--json")
    expect(outcome.status == 0, f"{job.name}: predict", outcome)
    report = json.loads(outcome.stdout)
    expect(report["simulated_seconds"] > 0 and report["measured_seconds"] > 0,
           f"{job.name}: predict", outcome)
    print(f"{job.name}: simulated {report['simulated_seconds']:.6f} s, "
          f"measured {report['measured_seconds']:.6f} s")
