# SPDX-License-Identifier: BSD-3-Clause
"""What the verbs say of a trace whose ranks have several threads, beside its raw records: in every
timeline a lane a thread with the thread's calls; messages, bytes and loads by rank, summed over its
threads."""

import collections
import csv
import json
import pathlib
import re
import shutil
import subprocess

from harness import Outcome, expect

SYSTEM_PYTHON = "/usr/bin/python3"  # has Debian's modules
READ_PERFETTO = pathlib.Path(__file__).resolve().parent.parent / "export" / "read_perfetto.py"
INT_BYTES = 4  # all messages of threads_program are of MPI_INT, between ranks of the world
TRIPLE = re.compile(r" Type_contiguous .*\bnewtype=(\S+)")


def raw_lanes(tools, raw):
    """Calls by (rank, thread) and name, and bytes sent by pair of ranks."""
    local = tools.local_calls()
    calls, sent = collections.Counter(), collections.Counter()
    # By rank: types of three integers, which all threads use.
    triples = {path.name.split(".")[1]: set(TRIPLE.findall(path.read_text()))
               for path in raw.glob("rank.*.raw") if path.name.count(".") == 2}
    for path in raw.iterdir():
        rank, thread = re.fullmatch(r"rank\.(\d+)(?:\.(\d+))?\.raw", path.name).groups()
        for line in path.read_text().splitlines():
            if line.startswith("#"):
                continue
            words = line.split()
            name, values = words[1], dict(word.split("=", 1) for word in words[2:])
            if f"MPI_{name}" in local:
                continue
            calls[int(rank), int(thread or 0), name] += 1
            if "dest" in values:
                count = values.get("sendcount", values.get("count"))
                ints = 3 if values.get("sendtype", values.get("datatype")) in triples[rank] else 1
                sent[int(rank), int(values["dest"])] += INT_BYTES * ints * int(count)
    return calls, sent


def lane_of(name):
    return tuple(map(int, re.fullmatch(r"rank (\d+) thread (\d+)", name).groups()))


class Exported:
    def __init__(self, tools, trace, raw, what, handed):
        self.tools, self.trace, self.what, self.handed = tools, trace, what, handed
        self.calls, self.sent = raw_lanes(tools, raw)
        self.folder = trace.parent
        outcome = tools.chameleon(
            "export", trace, *(word for name, path in (
                ("csv", "csv"), ("json", "json"), ("folded", "t.folded"),
                ("speedscope", "t.speedscope.json"), ("chrome", "t.json"),
                ("perfetto", "t.pftrace"), ("paje", "t.paje"), ("paraver", "t.prv"))
                for word in (f"--{name}", self.folder / path)))
        expect(outcome.status == 0, f"{what}: export", outcome)
        expect(b"are unmatched" not in outcome.stdout, f"{what}: export", outcome)
        with open(self.folder / "csv" / "events.csv", newline="", encoding="utf-8") as file:
            self.events = list(csv.DictReader(file))

    def same(self, pairs, format_name):
        """`pairs`: a lane and the name of a call, for each call."""
        counts = collections.Counter((*lane, name) for lane, name in pairs)
        expect(counts == self.calls,
               f"{self.what}: {format_name}: {counts - self.calls} {self.calls - counts}")


def tables(one):
    one.same((((int(e["rank"]), int(e["thread"])), e["call"]) for e in one.events), "events.csv")
    numbers, ends = collections.Counter(), collections.Counter()
    for event in one.events:
        lane = event["rank"], event["thread"]
        numbers[lane] += 1
        expect(int(event["event"]) == numbers[lane] and int(event["begin_ns"]) >= ends[lane],
               f"{one.what}: events.csv: {event} after {ends[lane]}")
        ends[lane] = int(event["end_ns"])
    with open(one.folder / "csv" / "messages.csv", newline="", encoding="utf-8") as file:
        messages = list(csv.DictReader(file))
    sent = collections.Counter()
    for row in messages:
        sent[int(row["source"]), int(row["dest"])] += int(row["bytes"])
        expect(int(row["send_ns"]) < int(row["receive_ns"]), f"{one.what}: early: {row}")
        # Posted by a worker, completed by the first thread.
        expect((row["receive_thread"] == "0") == (one.handed <= int(row["tag"])) and
               row["send_thread"] != "0", f"{one.what}: wrong thread: {row}")
    expect(sent == one.sent, f"{one.what}: messages.csv: {sent}, raw {one.sent}")
    with open(one.folder / "csv" / "calls.csv", newline="", encoding="utf-8") as file:
        counts = collections.Counter()
        for row in csv.DictReader(file):
            counts[int(row["rank"]), row["call"]] += int(row["count"])
    by_rank = collections.Counter()
    for (rank, _, name), count in one.calls.items():
        by_rank[rank, name] += count
    expect(counts == by_rank, f"{one.what}: calls.csv: {counts}, raw {by_rank}")


def chrome(one):
    events = json.loads((one.folder / "t.json").read_text())["traceEvents"]
    lanes = {e["tid"]: lane_of(e["args"]["name"]) for e in events if e["name"] == "thread_name"}
    places = {e["tid"]: e["args"]["sort_index"] for e in events if e["name"] == "thread_sort_index"}
    expect(sorted(lanes, key=lanes.get) == sorted(places, key=places.get),
           f"{one.what}: chrome: order {places}")
    one.same(((lanes[e["tid"]], e["name"][4:]) for e in events
              if e["ph"] == "X" and e["name"].startswith("MPI_")), "chrome")
    starts = {e["id"]: e["ts"] for e in events if e["ph"] == "s"}
    ends = {e["id"]: e["ts"] for e in events if e["ph"] == "f"}
    expect(starts.keys() == ends.keys() and all(starts[i] <= ends[i] for i in starts),
           f"{one.what}: chrome: arrows")


def perfetto(one):
    found = subprocess.run([SYSTEM_PYTHON, "-c", "import google.protobuf"], capture_output=True,
                           check=False)
    if found.returncode != 0:
        print("perfetto: not read, python3-protobuf is missing")
        return
    read = subprocess.run([SYSTEM_PYTHON, READ_PERFETTO, one.folder / "t.pftrace"],
                          capture_output=True, check=False)
    expect(read.returncode == 0, f"{one.what}: perfetto",
           Outcome(read.returncode, read.stdout, read.stderr))
    slices = json.loads(read.stdout)["slices"]
    one.same(((lane_of(s["track"]), s["name"][4:]) for s in slices
              if s["name"].startswith("MPI_")), "perfetto")


def paje(one):
    lanes, pushed = {}, []
    for line in (one.folder / "t.paje").read_text().splitlines():
        if found := re.fullmatch(r'3 \S+ (r\d+) R p "(.*)"', line):
            lanes[found.group(1)] = lane_of(found.group(2))
        elif found := re.fullmatch(r"5 \S+ S (r\d+) MPI_(\w+)", line):
            pushed.append((lanes[found.group(1)], found.group(2)))
    one.same(pushed, "paje")


def paraver(one):
    names = dict(re.findall(r"^(\d+) +MPI_(\w+)$", (one.folder / "t.pcf").read_text(), re.M))
    lines = (one.folder / "t.prv").read_text().splitlines()
    threads = collections.Counter(rank for rank, _ in {(r, t) for r, t, _ in one.calls})
    tasks = re.search(r":1:(\d+)\(([\d:,]+)\)$", lines[0])
    expect(tasks and [int(task.split(":")[0]) for task in tasks.group(2).split(",")] ==
           [threads[rank] for rank in range(int(tasks.group(1)))], f"{one.what}: {lines[0]}")
    calls, sent = [], collections.Counter()
    for line in lines[1:]:
        numbers = [int(field) for field in line.split(":")]
        if numbers[0] == 2 and str(numbers[7]) in names:
            calls.append(((numbers[3] - 1, numbers[4] - 1), names[str(numbers[7])]))
        elif numbers[0] == 3:
            sent[numbers[3] - 1, numbers[9] - 1] += numbers[13]
    one.same(calls, "paraver")
    expect(sent == one.sent, f"{one.what}: paraver: bytes {sent}, raw {one.sent}")
    rows = (one.folder / "t.row").read_text().split("LEVEL THREAD SIZE ")[1].splitlines()
    expect(int(rows[0]) == len(rows) - 1 == sum(threads.values()) and
           [lane_of(row) for row in rows[1:]] == sorted({(r, t) for r, t, _ in one.calls}),
           f"{one.what}: paraver: rows {rows}")


def otf2(one):
    outcome = one.tools.chameleon("export", one.trace, "--otf2", one.folder / "otf2")
    if outcome.status == 4 and b"OTF2" in outcome.stderr:  # built without the library
        print("otf2: not written by this build")
        return
    expect(outcome.status == 0, f"{one.what}: export --otf2", outcome)
    if shutil.which("otf2-print") is None:
        print("otf2: not read, otf2-tools is missing")
        return
    printed = {}
    for option in ("-G", "-A"):
        run = subprocess.run(["otf2-print", *([option] if option == "-G" else []),
                              one.folder / "otf2" / "traces.otf2"], capture_output=True,
                             check=False)
        expect(run.returncode == 0 and not run.stderr, f"{one.what}: otf2-print",
               Outcome(run.returncode, run.stdout, run.stderr))
        printed[option] = run.stdout.decode()
    lanes = {number: lane_of(name) for number, name in
             re.findall(r'^LOCATION +(\d+) +Name: "([^"]*)"', printed["-G"], re.M)}
    one.same(((lanes[number], name) for number, name in
              re.findall(r'^ENTER +(\d+) .*"MPI_(\w+)"', printed["-A"], re.M)), "otf2")


def sums(one, ranks):
    def document(*words):
        outcome = one.tools.chameleon(*words, one.trace, "--json")
        expect(outcome.status == 0, f"{one.what}: {words}", outcome)
        return json.loads(outcome.stdout)
    pairs = {(p["source"], p["dest"]): p["bytes"] for p in document("matrix")["pairs"]}
    expect(pairs == one.sent, f"{one.what}: matrix: {pairs}, raw {one.sent}")
    counts = collections.Counter()
    for (_, _, name), count in one.calls.items():
        counts[name] += count
    stats = document("stats")
    expect({row["call"]: row["count"] for row in stats["rows"]} == counts, f"{one.what}: stats")
    # Sums of all ranks, of MPI_INT and at the end MPI_LONG_LONG.
    expect(stats["sent_bytes_complete"] and stats["sent_bytes"] == sum(one.sent.values()) +
           INT_BYTES * counts["Allreduce"] + (8 - INT_BYTES) * ranks,
           f"{one.what}: stats: {stats['sent_bytes']} bytes")
    report = document("report")
    tracks = {(t["rank"], t["thread"]): len(t["begin"])
              for t in report["timeline"]["detail"]["tracks"]}
    lanes, by_rank = collections.Counter(), collections.Counter()
    for (rank, thread, _), count in one.calls.items():
        lanes[rank, thread] += count
        by_rank[rank] += count
    expect(tracks == lanes, f"{one.what}: report: {tracks}, raw {lanes}")
    expect(report["load"]["events"] == [by_rank[rank] for rank in range(ranks)],
           f"{one.what}: report: load {report['load']['events']}")
    expect(report["timeline"]["unmatched"] == 0 and
           len(report["timeline"]["detail"]["messages"]) == report["matrix"]["messages"],
           f"{one.what}: report: messages")
    outcome = one.tools.chameleon("compare", one.trace, one.trace)
    expect(outcome.status == 0, f"{one.what}: compare with itself", outcome)


def check_tools(tools, ranks, trace, raw, what, handed):
    """`handed`: the least tag of messages that the first thread completes for others."""
    one = Exported(tools, trace, raw, what, handed)
    for check in (tables, chrome, perfetto, paje, paraver, otf2):
        check(one)
    sums(one, ranks)
    for words in (("export", "--simgrid", trace.parent / "ti"),
                  ("export", "--goal", trace.parent / "t.goal"),
                  ("predict", "--platform", trace)):
        refused = tools.chameleon(*words, trace)
        expect(refused.status == 4 and refused.stderr.count(b"\n") == 1 and
               b"threads" in refused.stderr, f"{what}: {words[:2]}: not refused in one line",
               refused)
