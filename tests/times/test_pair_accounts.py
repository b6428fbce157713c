#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What each rank waited for each other, by size of message, is what the raw records say: also of
ranks that share distributions of times, and of those that did not lead. `pairs` and `matrix` say
the same.

    test_pair_accounts.py --tools TOOLS.json --program P --faulty FAULTY --ranks N"""

import collections
import csv
import json
import pathlib
import re
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path += [str(TESTS / "mpi"), str(TESTS.parent / "tools" / "python")]
import chameleon_trace  # noqa: E402
import harness  # noqa: E402
from harness import expect  # noqa: E402

STEPS, LATE_NS = 30, 4_000_000
# The file has times within 1/2048, and the clock's tick is measured over the run so far: in runs of
# milliseconds all times of a rank were up to 0.16 % beside those of its raw records.
NEAR = 1 / 500
PROC_NULL, ANY_SOURCE = "MPI_PROC_NULL", "MPI_ANY_SOURCE"
STATUS = re.compile(r"\((-?\d+),(-?\d+),(-?\d+),(-?\d+)\)")


class Raw:
    """The receives of a rank, followed through its raw records by handles as MPI gave them:
    `waits[source, size]` is a list of (ns, number of the event)."""

    def __init__(self, path):
        self.waits = collections.defaultdict(list)
        self.constants, self.sizes = {}, {}
        self.comms, self.null = {}, set()
        self.requests = collections.defaultdict(collections.deque)  # [kind, comm, active, void]
        self.made_types = {}
        self.messages = {}
        self.number, self.polled = 0, 0
        self.call = None
        with open(path, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                self.line(line.split())

    def line(self, words):
        if words[:2] == ["#", "rank"]:
            self.rank, self.ranks = int(words[2]), int(words[4])
        elif words[:2] == ["#", "predefined"]:
            if words[3] == "MPI_COMM_WORLD":
                self.comms[words[4]] = range(self.ranks)
            if words[3] in ("MPI_REQUEST_NULL", "MPI_COMM_NULL"):
                self.null.add(words[4])
        elif words[:2] == ["#", "constant"]:
            self.constants[words[2]] = words[3]
        elif words[:2] == ["#", "spent"]:
            self.spent(int(words[3]))
        elif words[0] != "#":
            self.call = words[0], dict(word.split("=", 1) for word in words[1:])

    def spent(self, ns):
        """Times of unsuccessful polls are those of the next event."""
        name, values = self.call
        if values.get("flag") == "0":
            self.polled += ns
            return
        self.number += 1
        ns, self.polled = ns + self.polled, 0
        received = list(self.received(name, values))
        for source, size in received:
            self.waits[source, size].append((ns / len(received), self.number))

    def receive(self, comm, status):
        source, _, size, cancelled = status
        if cancelled != "0" or source == self.constants[PROC_NULL]:
            return []
        return [(self.comms[comm][int(source)], int(size).bit_length())]

    def received(self, name, values):
        """(source in the world, bits of bytes) of what the call receives."""
        statuses = STATUS.findall(values.get("status", values.get("array_of_statuses", "")))
        if "members" in values:
            self.comms[values["newcomm"]] = [int(one) for one in items(values["members"])]
        if name in ("Recv", "Sendrecv"):
            yield from self.receive(values["comm"], statuses[0])
        elif name == "Mprobe":
            self.messages[values["message"]] = values["comm"]
        elif name == "Mrecv":
            yield from self.receive(self.messages[values["message"]], statuses[0])
        elif name in ("Irecv", "Recv_init", "Isend", "Send_init"):
            nobody = values.get("source") == self.constants[PROC_NULL]
            self.requests[values["request"]].append(
                [name, values["comm"], name[0] == "I", nobody])
        elif name in ("Start", "Startall"):
            for handle in items(values.get("array_of_requests", values.get("request"))):
                self.requests[handle][0][2:] = [True, False]
        elif name == "Cancel":
            self.requests[values["request"]][0][3] = True
        elif name in ("Wait", "Test"):
            yield from self.complete(values["request"], statuses[0])
        elif name == "Waitany":
            yield from self.complete(items(values["array_of_requests"])[int(values["indx"])],
                                     statuses[0])
        elif name == "Waitsome":
            handles = items(values["array_of_requests"])
            for index, status in zip(items(values["array_of_indices"]), statuses):
                yield from self.complete(handles[int(index)], status)
        elif name == "Waitall":
            for handle, status in zip(items(values["array_of_requests"]), statuses):
                yield from self.complete(handle, status)

    def complete(self, handle, status):
        if handle in self.null:
            return []
        kind, comm, active, cancelled = self.requests[handle][0]
        if kind[0] == "I":
            self.requests[handle].popleft()
        else:
            self.requests[handle][0][2] = False
        if not active or cancelled or "ecv" not in kind:
            return []
        return self.receive(comm, status)


def items(text):
    return [one for one in text.strip("[]").split(",") if one]


def near(said, true, receives=1):
    """Durations are whole ns and ticks, for each receive."""
    return abs(said - true) <= NEAR * true + 3 * receives


def check_true(trace, folder):
    """Waits of all pairs, by source and receiver, as the raw records have them."""
    raw = {}
    for rank in trace.ranks:
        waits = Raw(folder / f"rank.{rank}.raw").waits
        said = {(one.source, one.size): one for one in trace.pair_accounts if one.stream == rank}
        expect(said.keys() == waits.keys(), f"rank {rank} receives {sorted(said)}, raw records "
               f"have {sorted(waits)}")
        for key, one in said.items():
            times = waits[key]
            expect(one.messages == len(times), f"{one}: {len(times)} in the raw records")
            total = sum(ns for ns, _ in times)
            expect(near(one.ns, total, len(times)), f"{one}: {total} ns in the raw records")
            longest = max(ns for ns, _ in times)
            expect(near(one.longest_ns, longest), f"{one}: {longest} ns in the raw records")
            expect(any(number == one.longest_event and near(ns, longest) for ns, number in times),
                   f"{one}: another event")
            source = raw.setdefault((key[0], rank), [0, 0])
            source[0] += total
            source[1] += len(times)
    expect(trace.other_receives == (0, 0), f"{trace.other_receives}")
    return raw


def check_verbs(tools, trace, path, raw, folder):
    outcome = tools.chameleon("matrix", path, "--json")
    expect(outcome.status == 0, "matrix", outcome)
    cells = {(one["source"], one["dest"]): one for one in json.loads(outcome.stdout)["pairs"]}
    expect(cells.keys() == raw.keys(), f"matrix has {sorted(cells)}", outcome)
    for pair, (ns, messages) in raw.items():
        said = cells[pair]
        expect(said["own_wait"] and near(said["wait_seconds"] * 1e9, ns, messages),
               f"{said}, raw records {ns} ns")
    outcome = tools.chameleon("pairs", path, "--by", "wait", "--json")
    expect(outcome.status == 0, "pairs", outcome)
    for one in json.loads(outcome.stdout)["pairs"]:
        both = {(one["a"], one["b"]), (one["b"], one["a"])}
        ns = sum(raw[pair][0] for pair in both if pair in raw)
        expect(one["own_wait"] and near(one["wait_seconds"] * 1e9, ns, one["messages"]),
               f"{one}, raw records {ns} ns")
    outcome = tools.chameleon("pairs", path, "--by", "wait")
    expect(outcome.status == 0 and b"waits are each receiver's own" in outcome.stdout, "pairs",
           outcome)
    outcome = tools.chameleon("export", path, "--csv", folder / "tables", "--quiet")
    expect(outcome.status == 0, "export", outcome)
    with open(folder / "tables" / "pair_accounts.csv", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    expect(rows[0] == list(chameleon_trace.COLUMNS["pair_accounts"]), f"columns: {rows[0]}")
    mine = [[str(cell) for cell in row] for row in trace.rows("pair_accounts")]
    expect(rows[1:] == mine, "export has other accounts")


def traced(tools, ranks, name, words, **variables):
    folder = tools.fresh(f"pair-accounts-{ranks}-{name}")
    (folder / "raw").mkdir()
    path = folder / "t.cham"
    outcome = tools.traced(ranks, words, path, raw=folder / "raw", cwd=folder,
                           **{"CHAMELEON_PAIRS": "on", **variables})
    expect(outcome.status == 0, "no trace", outcome)
    trace = chameleon_trace.read_trace(path)
    raw = check_true(trace, folder / "raw")
    check_verbs(tools, trace, path, raw, folder)
    print(f"{ranks} ranks, {name}: {len(trace.pair_accounts)} accounts", flush=True)
    return trace, raw, path


def check(tools, options, ranks):
    slow = ranks // 2
    program = [options.program, STEPS, slow]
    for name, variables in (("default", {}), ("one-class", {"CHAMELEON_TIME_CLASSES": 1}),
                            ("lead", {"CHAMELEON_FIDELITY": "lead", "CHAMELEON_TIME_CLASSES": 1}),
                            ("full", {"CHAMELEON_TIMING": "full"})):
        trace, raw, path = traced(tools, ranks, name, program, **variables)
        # The slow pair is known, though all ranks share one distribution at each place.
        waited = {pair: ns for pair, (ns, _) in raw.items()}
        pair = (slow, (slow + 1) % ranks)
        expect(waited[pair] >= STEPS * LATE_NS / 2, f"{pair} is not late: {waited}")
        if name == "one-class":
            expect(len(trace.time_tables[-1].classes) == 1, "ranks do not share times")
    # A rank whose halo is late in one step: both neighbours have that as their longest wait for it,
    # half of the call, which completes a receive from either side.
    late_ns = 20 * LATE_NS
    late = ["--iterations", STEPS, "--fault", f"late:{slow}:{STEPS - 5}:{late_ns // 1000}"]
    trace, _, path = traced(tools, ranks, "faulty", [options.faulty, *late],
                            CHAMELEON_TIME_CLASSES=1)
    for neighbour in ((slow + 1) % ranks, (slow - 1) % ranks):
        longest = max(one.longest_ns for one in trace.pair_accounts
                      if (one.stream, one.source) == (neighbour, slow))
        expect(longest > 0.4 * late_ns, f"{neighbour} waited {longest} ns for {slow}")
    longest = max(trace.pair_accounts, key=lambda one: one.longest_ns)
    outcome = tools.chameleon("pairs", path, "--by", "wait")
    expect(f"on rank {longest.stream} in event".encode() in outcome.stdout, "pairs", outcome)


def main():
    arguments = harness.parser_of_ranks(__doc__)
    arguments.add_argument("--faulty", required=True)
    options = arguments.parse_args()
    harness.main_of_ranks("pair_accounts", options,
                          lambda *job: harness.tried(check, *job))


if __name__ == "__main__":
    main()
