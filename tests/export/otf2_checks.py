# SPDX-License-Identifier: BSD-3-Clause
"""OTF2 archives, by both of its readers."""

import collections
import json
import re
import subprocess

from exported import SYSTEM_PYTHON, by_rank
import harness
from harness import expect

READ_OTF2 = """
import collections, json, sys, otf2
calls, sent = collections.Counter(), collections.Counter()
sends, receives = collections.defaultdict(list), collections.defaultdict(list)
open_calls, collectives = {}, collections.defaultdict(list)
with otf2.reader.open(sys.argv[1]) as trace:
    where = {l: i for i, l in enumerate(trace.definitions.locations)}
    comms = {c: i for i, c in enumerate(trace.definitions.comms)}
    for location, event in trace.events:
        rank, kind = where[location], type(event).__name__
        if kind == "Enter":
            name = event.region.name
            if name.startswith("MPI_"):
                calls[f"{rank} {name[4:]}"] += 1
            open_calls[rank] = event.time
        elif kind in ("MpiSend", "MpiIsend"):
            sends[f"{comms[event.communicator]} {event.msg_tag} {event.msg_length}"].append(
                event.time)
            sent[str(rank)] += event.msg_length
        elif kind in ("MpiRecv", "MpiIrecv"):
            receives[f"{comms[event.communicator]} {event.msg_tag} {event.msg_length}"].append(
                event.time)
        elif kind == "MpiCollectiveEnd":
            collectives[f"{comms[event.communicator]} {event.collective_op}"].append(
                [rank, open_calls[rank], event.time, str(event.root)])
    clock = trace.timer_resolution
print(json.dumps([calls, sends, receives, sent, collectives, clock]))
"""


def check_otf2(job):
    anchor = job.path("otf2") / "traces.otf2"
    printed = subprocess.run(["otf2-print", anchor], capture_output=True, check=False)
    expect(printed.returncode == 0 and not printed.stderr, f"{job.name}: otf2-print",
           harness.Outcome(printed.returncode, printed.stdout, printed.stderr))
    entered = re.findall(r"^ENTER +(\d+) .*\"MPI_(\w+)\"", printed.stdout.decode(), re.M)
    job.same_calls(by_rank(job, ((int(rank), name) for rank, name in entered)), "otf2-print")


def check_python_otf2(job):
    anchor = job.path("otf2") / "traces.otf2"
    read = subprocess.run([SYSTEM_PYTHON, "-c", READ_OTF2, anchor], capture_output=True,
                          check=False)
    expect(read.returncode == 0, f"{job.name}: python3-otf2",
           harness.Outcome(read.returncode, read.stdout, read.stderr))
    calls, sends, receives, sent, collectives, clock = json.loads(read.stdout)
    counts = {rank: {} for rank in range(job.ranks)}
    for key, count in calls.items():
        rank, name = key.split()
        counts[int(rank)][name] = count
    job.same_calls(counts, "python3-otf2")
    job.same_bytes({int(rank): count for rank, count in sent.items()}, "python3-otf2")
    expect(clock == 10**9, f"{job.name}: otf2 clock {clock}")
    expect(sends.keys() == receives.keys(), f"{job.name}: otf2: messages")
    for key, times in sends.items():
        expect(all(s < r for s, r in zip(sorted(times), sorted(receives[key]))) and
               len(times) == len(receives[key]), f"{job.name}: otf2: {key} received early")
    for key, ends in collectives.items():
        name = key.split(".")[-1].lower()
        if name not in ("barrier", "allreduce", "alltoall", "allgather") or key[0] != "0":
            continue
        instances = collections.defaultdict(list)
        seen = collections.Counter()
        for rank, begin, end, _ in ends:
            instances[seen[rank]].append((begin, end))
            seen[rank] += 1
        for members in instances.values():
            expect(max(b for b, _ in members) < min(e for _, e in members),
                   f"{job.name}: otf2: {key} does not overlap: {members}")
