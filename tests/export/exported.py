# SPDX-License-Identifier: BSD-3-Clause
"""A traced job with all of its exports, and what its raw records say of it."""

import collections
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "mpi"))
from harness import expect  # noqa: E402

FORMATS = {"csv": "csv", "json": "json", "folded": "t.folded", "speedscope": "t.speedscope.json",
           "chrome": "t.json", "perfetto": "t.pftrace", "otf2": "otf2", "simgrid": "ti",
           "paje": "t.paje", "paraver": "t.prv", "goal": "t.goal"}
SYSTEM_PYTHON = "/usr/bin/python3"  # has Debian's modules
SENDS = {"Send", "Isend", "Ssend", "Sendrecv"}


def raw_facts(folder, rank):
    """Calls by name, and bytes in sends: from the plain arguments alone."""
    calls, sent, sizes, kept = collections.Counter(), 0, {}, {}
    for line in (folder / f"rank.{rank}.raw").read_text().splitlines():
        words = line.split()
        if line.startswith("#"):
            if words[1:3] == ["predefined", "datatype"]:
                sizes[words[4]] = int(words[5])
            continue
        values = dict(word.split("=", 1) for word in words[1:])
        calls[words[0]] += 1
        if words[0] == "Type_vector":
            sizes[values["newtype"]] = (int(values["count"]) * int(values["blocklength"]) *
                                        sizes[values["oldtype"]])
        elif words[0] == "Send_init":
            kept[values["request"]] = int(values["count"]) * sizes[values["datatype"]]
        elif words[0] == "Startall":
            sent += sum(kept.get(r, 0) for r in values["array_of_requests"].strip("[]").split(","))
        elif words[0] in SENDS and int(values["dest"]) >= 0:
            prefix = "send" if words[0] == "Sendrecv" else ""
            sent += (int(values[prefix + "count"]) *
                     sizes[values["sendtype" if prefix else "datatype"]])
    return calls, sent


class Job:
    """A program traced at some ranks, exported to everything."""

    def __init__(self, tools, program, ranks, arguments=()):
        self.tools, self.ranks = tools, ranks
        self.name = f"{pathlib.Path(program).name}, {ranks} ranks"
        self.folder = tools.fresh(f"{pathlib.Path(program).name}-{ranks}")
        raw = self.folder / "raw"
        raw.mkdir()
        self.trace = self.folder / "t.cham"
        outcome = tools.traced(ranks, [program, *arguments], self.trace, raw=raw,
                               CHAMELEON_CLUSTERING="off", CHAMELEON_EVENTS="all")
        expect(outcome.status == 0 and self.trace.exists(), f"{self.name}: no trace", outcome)
        self.calls, self.sent = {}, {}
        for rank in range(ranks):
            calls, self.sent[rank] = raw_facts(raw, rank)
            self.calls[rank] = dict(calls)
        words = ["export", self.trace]
        for name, path in FORMATS.items():
            words += [f"--{name}", self.folder / path]
        outcome = tools.chameleon(*words)
        expect(outcome.status == 0, f"{self.name}: export fails", outcome)
        self.told = outcome.stdout.decode()

    def path(self, name):
        return self.folder / FORMATS[name]

    def same_calls(self, counts, what):
        expect(counts == self.calls, f"{self.name}: {what}: calls {counts}, raw {self.calls}")

    def same_bytes(self, counts, what):
        expect({r: counts.get(r, 0) for r in range(self.ranks)} == self.sent,
               f"{self.name}: {what}: bytes {dict(counts)}, raw {self.sent}")


def by_rank(job, pairs):
    counts = {rank: collections.Counter() for rank in range(job.ranks)}
    for rank, name in pairs:
        counts[rank][name] += 1
    return {rank: dict(names) for rank, names in counts.items()}
