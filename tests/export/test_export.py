#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every export is read by its real consumer and says what the raw records say.

    test_export.py --tools TOOLS.json --fast P --slow P --farm P --examples P,P [--ranks N,N]

Programs are traced with raw records and without clustering. Calls a rank and function, and bytes
sent a rank, must be those of the raw records in every format that has them; no message arrives
before it was sent; collectives overlap. Consumers that are not installed are named and passed
over (--need: they must be there): python3-pandas, python3-otf2, python3-protobuf, otf2-print,
pj_dump, vite, smpirun."""

import collections
import csv
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "mpi"))
import harness  # noqa: E402
from harness import expect  # noqa: E402

FORMATS = {"csv": "csv", "json": "json", "folded": "t.folded", "speedscope": "t.speedscope.json",
           "chrome": "t.json", "perfetto": "t.pftrace", "otf2": "otf2", "simgrid": "ti",
           "paje": "t.paje", "paraver": "t.prv", "goal": "t.goal"}
SYSTEM_PYTHON = "/usr/bin/python3"  # has Debian's modules
READ_PERFETTO = pathlib.Path(__file__).resolve().parent / "read_perfetto.py"
SENDS = {"Send", "Isend", "Ssend", "Sendrecv"}

PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="world" routing="Full">
    <cluster id="cluster" prefix="node-" suffix="" radical="0-63" speed="1Gf"
             bw="1.25GBps" lat="1us"/>
  </zone>
</platform>
"""

READ_OTF2 = """
import collections, json, sys, otf2
calls, sends, receives, sent, begins = ({} for _ in range(5))
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
                               CHAMELEON_CLUSTERING="off")
        expect(outcome.status == 0 and self.trace.exists(), f"{self.name}: no trace", outcome)
        local = tools.local_calls()
        self.calls, self.sent = {}, {}
        for rank in range(ranks):
            calls, self.sent[rank] = raw_facts(raw, rank)
            self.calls[rank] = {n: c for n, c in calls.items() if f"MPI_{n}" not in local}
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


def check_tables(job):
    tables = {}
    for name in ("events", "calls", "messages", "matrix", "clusters", "phases"):
        with open(job.path("csv") / f"{name}.csv", newline="", encoding="utf-8") as file:
            tables[name] = list(csv.DictReader(file))
        records = json.loads((job.path("json") / f"{name}.json").read_text())
        as_text = [{k: "" if v is None else str(v) for k, v in r.items()} for r in records]
        expect(as_text == tables[name], f"{job.name}: {name}.json is not {name}.csv")
    job.same_calls(by_rank(job, ((int(e["rank"]), e["call"]) for e in tables["events"])), "events")
    counts = {rank: {} for rank in range(job.ranks)}
    for row in tables["calls"]:
        of_rank = counts[int(row["rank"])]
        of_rank[row["call"]] = of_rank.get(row["call"], 0) + int(row["count"])
    job.same_calls(counts, "calls")
    sent = collections.Counter()
    for row in tables["matrix"]:
        sent[int(row["source"])] += int(row["bytes"])
    job.same_bytes(sent, "matrix")
    sent = collections.Counter()
    for row in tables["messages"]:
        sent[int(row["source"])] += int(row["bytes"])
        expect(int(row["send_ns"]) < int(row["receive_ns"]), f"{job.name}: received early: {row}")
    job.same_bytes(sent, "messages")
    outcome = job.tools.chameleon("stats", job.trace, "--json")
    total = sum(int(row["sent_bytes"]) for row in tables["calls"])
    # Persistent sends are started, which `stats` does not count.
    known = json.loads(outcome.stdout)["sent_bytes"]
    started = any("Startall" in calls for calls in job.calls.values())
    expect(total == known or (started and total > known),
           f"{job.name}: calls.csv sends {total} bytes, stats {known}")
    matrix = job.tools.chameleon("matrix", job.trace, "--csv").stdout.decode().splitlines()
    expect([line.rsplit(",", 1)[0] for line in matrix[1:]] ==
           [",".join(row.values()) for row in tables["matrix"]], f"{job.name}: matrix --csv")


def check_chrome(job):
    document = json.loads(job.path("chrome").read_text())
    events = document["traceEvents"]
    job.same_calls(by_rank(job, ((e["tid"], e["name"][4:]) for e in events if e["ph"] == "X")),
                   "chrome")
    starts = {e["id"]: e["ts"] for e in events if e["ph"] == "s"}
    ends = {e["id"]: e["ts"] for e in events if e["ph"] == "f"}
    expect(starts.keys() == ends.keys() and all(starts[i] <= ends[i] for i in starts),
           f"{job.name}: chrome: arrows")
    last = collections.defaultdict(float)
    for event in events:
        if event["ph"] == "X":
            expect(event["ts"] >= last[event["tid"]] - 1e-6, f"{job.name}: chrome: overlap")
            last[event["tid"]] = event["ts"] + event["dur"]


def check_perfetto(job):
    """What Google's protobuf reads is what is in Chrome's JSON, which has more to compare with."""
    read = subprocess.run([SYSTEM_PYTHON, READ_PERFETTO, job.path("perfetto")],
                          capture_output=True, check=False)
    expect(read.returncode == 0, f"{job.name}: python3-protobuf",
           harness.Outcome(read.returncode, read.stdout, read.stderr))
    trace = json.loads(read.stdout)
    expect(trace["tracks"] == [f"rank {rank}" for rank in range(job.ranks)] and
           trace["order"] == list(range(job.ranks)), f"{job.name}: perfetto: {trace['tracks']}")
    expect(trace["description"].startswith("times "), f"{job.name}: perfetto: says of the times "
           f"{trace['description']!r}")
    slices = trace["slices"]
    job.same_calls(by_rank(job, ((int(s["track"][5:]), s["name"][4:]) for s in slices)),
                   "perfetto")
    sent = collections.Counter()
    for part in slices:
        sent[int(part["track"][5:])] += part["arguments"].get("bytes_sent", 0)
    job.same_bytes(sent, "perfetto")
    begins = {flow: part["begin"] for part in slices for flow in part["flows"]}
    ends = {flow: part["end"] for part in slices for flow in part["ended"]}
    expect(begins.keys() == ends.keys() and all(begins[f] < ends[f] for f in ends),
           f"{job.name}: perfetto: flows")
    expect(sum(len(part["flows"]) for part in slices) == len(begins),
           f"{job.name}: perfetto: two messages are one flow")
    events = json.loads(job.path("chrome").read_text())["traceEvents"]
    expect([[s["track"], s["name"], s["category"], s["begin"], s["end"], s["arguments"]]
            for s in slices] ==
           [[f"rank {e['tid']}", e["name"], e["cat"], round(1000 * e["ts"]),
             round(1000 * (e["ts"] + e["dur"])), e["args"]] for e in events if e["ph"] == "X"],
           f"{job.name}: perfetto: the slices are not those of --chrome")
    places = len({s["arguments"]["at"] for s in slices})
    expect(trace["names"]["debug_annotation_string_values"] == places and
           trace["names"]["event_names"] == len({s["name"] for s in slices}),
           f"{job.name}: perfetto: interned {trace['names']}, {places} places")
    expect(job.path("perfetto").stat().st_size < job.path("chrome").stat().st_size,
           f"{job.name}: perfetto: not smaller than JSON")


def check_stacks(job):
    weights = 0
    for line in job.path("folded").read_text().splitlines():
        found = re.fullmatch(r"[^;]+(;[^;]+)* (\d+)", line)
        expect(found, f"{job.name}: folded: {line}")
        weights += int(found.group(2))
    scope = json.loads(job.path("speedscope").read_text())
    profile = scope["profiles"][0]
    expect(sum(profile["weights"]) == weights == profile["endValue"] and weights > 0,
           f"{job.name}: folded and speedscope disagree")
    expect(len(profile["samples"]) == len(profile["weights"]) and
           max(i for s in profile["samples"] for i in s) < len(scope["shared"]["frames"]),
           f"{job.name}: speedscope")


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


def check_pandas(job):
    script = ("import pandas, sys\n"
              "for t in 'events calls messages matrix clusters phases'.split():\n"
              "    a = pandas.read_csv(f'{sys.argv[1]}/{t}.csv')\n"
              "    b = pandas.read_json(f'{sys.argv[2]}/{t}.json', orient='records')\n"
              "    assert len(a) == len(b), t\n"
              "    if t == 'events': print(len(a))\n")
    read = subprocess.run([SYSTEM_PYTHON, "-c", script, job.path("csv"), job.path("json")],
                          capture_output=True, check=False)
    events = sum(sum(calls.values()) for calls in job.calls.values())
    expect(read.returncode == 0 and int(read.stdout) == events, f"{job.name}: pandas",
           harness.Outcome(read.returncode, read.stdout, read.stderr))


def check_paje(job):
    dumped = subprocess.run(["pj_dump", job.path("paje")], capture_output=True, check=False)
    expect(dumped.returncode == 0, f"{job.name}: pj_dump",
           harness.Outcome(dumped.returncode, dumped.stdout, dumped.stderr))
    lines = [line.split(", ") for line in dumped.stdout.decode().splitlines()]
    job.same_calls(by_rank(job, ((int(w[1].split()[-1]), w[-1][4:]) for w in lines
                                 if w[0] == "State")), "paje")
    links = sum(1 for words in lines if words[0] == "Link")
    messages = len((job.path("csv") / "messages.csv").read_text().splitlines()) - 1
    expect(links == messages, f"{job.name}: paje: {links} links, {messages} messages")


def check_vite(job):
    """Drawn without a complaint: every message is an arrow, every call has a colour."""
    picture = job.folder / "paje.svg"
    drawn = subprocess.run(["vite", "-f", job.path("paje"), "-e", picture], capture_output=True,
                           cwd=job.folder, env=dict(os.environ, QT_QPA_PLATFORM="offscreen"),
                           check=False)
    outcome = harness.Outcome(drawn.returncode, drawn.stdout, drawn.stderr)
    expect(drawn.returncode == 0 and picture.exists() and
           b"0 errors and 0 warnings" in drawn.stdout + drawn.stderr, f"{job.name}: vite", outcome)
    text = picture.read_text()
    arrows = len(re.findall(r"<polygon ", text))
    messages = len((job.path("csv") / "messages.csv").read_text().splitlines()) - 1
    expect(arrows == messages, f"{job.name}: vite: {arrows} arrows, {messages} messages")
    expect(all(f">rank {rank}<" in text for rank in range(job.ranks)), f"{job.name}: vite: ranks")
    # Black is a state that has no colour.
    expect("<rect" in text and 'fill="rgb(0,0,0)"' not in text, f"{job.name}: vite: colours")


def check_paraver(job):
    """The grammar of Paraver's manual, and that every record is where its header says."""
    prv = job.path("paraver").read_text().splitlines()
    head = re.fullmatch(r"#Paraver \(\d\d/\d\d/\d\d at \d\d:\d\d\):(\d+)_ns:(\d+)\(([\d,]+)\):1:"
                        r"(\d+)\(((?:1:\d+,?)+)\)", prv[0])
    expect(head, f"{job.name}: paraver: {prv[0]}")
    end, tasks = int(head.group(1)), int(head.group(4))
    expect(tasks == job.ranks and sum(map(int, head.group(3).split(","))) == tasks,
           f"{job.name}: paraver: tasks")
    pcf = job.path("paraver").with_suffix(".pcf").read_text()
    names = dict(re.findall(r"^(\d+) +MPI_(\w+)$", pcf, re.M))
    row = job.path("paraver").with_suffix(".row").read_text()
    expect(f"LEVEL THREAD SIZE {tasks}\n" in row, f"{job.name}: paraver: .row")
    last, calls, sent = 0, [], collections.Counter()
    for line in prv[1:]:
        fields = line.split(":")
        expect(all(re.fullmatch(r"-?\d+", field) for field in fields), f"{job.name}: {line}")
        numbers = [int(field) for field in fields]
        kind, task = numbers[0], numbers[3]
        expect(1 <= task <= tasks and numbers[2] == numbers[4] == 1, f"{job.name}: {line}")
        time = numbers[5]
        expect(last <= time <= end, f"{job.name}: paraver: not in order: {line}")
        last = time
        if kind == 1:
            expect(len(numbers) == 8 and time < numbers[6] <= end, f"{job.name}: {line}")
        elif kind == 2:
            expect(len(numbers) == 10 and numbers[6] == 91000001, f"{job.name}: {line}")
            if numbers[7] != 0:
                calls.append((task - 1, names[str(numbers[7])]))
        else:
            expect(kind == 3 and len(numbers) == 15, f"{job.name}: {line}")
            expect(time < numbers[12], f"{job.name}: paraver: received early: {line}")
            sent[task - 1] += numbers[13]
    job.same_calls(by_rank(job, calls), "paraver")
    job.same_bytes(sent, "paraver")


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


def check_some_ranks(job):
    folder = job.folder / "some"
    outcome = job.tools.chameleon("export", job.trace, "--csv", folder, "--ranks", "1")
    expect(outcome.status == 0, f"{job.name}: --ranks", outcome)
    with open(folder / "events.csv", newline="", encoding="utf-8") as file:
        some = list(csv.DictReader(file))
    with open(job.path("csv") / "events.csv", newline="", encoding="utf-8") as file:
        every = [row for row in csv.DictReader(file) if row["rank"] == "1"]
    expect(some == every and some, f"{job.name}: --ranks 1 differs from rank 1 of all")
    outcome = job.tools.chameleon("export", job.trace, "--csv", folder, "--ranks", "999")
    expect(outcome.status == 2, f"{job.name}: ranks that are not there", outcome)


def check_compare(tools, fast, slow):
    """The slowed function is named first, with its ranks."""
    traces = []
    for place, program in enumerate((fast, slow)):
        folder = tools.fresh(f"compare-{place}")
        outcome = tools.traced(4, [program], folder / "t.cham")
        expect(outcome.status == 0, "compare: no trace", outcome)
        traces.append(folder / "t.cham")
    outcome = tools.chameleon("compare", traces[0], traces[0])
    expect(outcome.status == 0, "compare: a trace differs from itself", outcome)
    outcome = tools.chameleon("compare", *traces, "--json")
    expect(outcome.status == 1, "compare: no difference", outcome)
    first = json.loads(outcome.stdout)["changes"][0]
    expect(first["kind"] == "compute" and first["call"] == "Sendrecv" and
           "relax" in first["path"].split(";")[-1] and first["ranks"] == "1-2" and
           first["most_seconds"] > 0, f"compare: first is {first}", outcome)


def check_inexact(tools, program):
    """Of a trace by leads alone, what has no counterpart is left out: the rest still fits."""
    folder = tools.fresh("inexact")
    trace = folder / "t.cham"
    outcome = tools.traced(4, [program, "--iterations", "6"], trace, CHAMELEON_FIDELITY="lead",
                           CHAMELEON_K="1")
    expect(outcome.status == 0, "inexact: no trace", outcome)
    words = [word for name, path in FORMATS.items() for word in (f"--{name}", folder / path)]
    outcome = tools.chameleon("export", trace, *words)
    expect(outcome.status == 0, "inexact: export fails", outcome)
    job = Job.__new__(Job)
    job.tools, job.name, job.ranks, job.folder, job.trace = tools, "inexact", 4, folder, trace
    check_goal(job)
    if shutil.which("smpirun"):
        check_simgrid(job)
    if shutil.which("otf2-print"):
        printed = subprocess.run(["otf2-print", folder / "otf2" / "traces.otf2"],
                                 capture_output=True, check=False)
        expect(printed.returncode == 0 and not printed.stderr, "inexact: otf2-print",
               harness.Outcome(printed.returncode, printed.stdout, printed.stderr))


CONSUMERS = [
    ("pandas", check_pandas, lambda: subprocess.run(
        [SYSTEM_PYTHON, "-c", "import pandas"], capture_output=True, check=False).returncode == 0),
    ("python3-otf2", check_python_otf2, lambda: subprocess.run(
        [SYSTEM_PYTHON, "-c", "import otf2"], capture_output=True, check=False).returncode == 0),
    ("otf2-print", check_otf2, lambda: shutil.which("otf2-print")),
    ("python3-protobuf", check_perfetto, lambda: subprocess.run(
        [SYSTEM_PYTHON, "-c", "import google.protobuf"], capture_output=True,
        check=False).returncode == 0),
    ("pj_dump", check_paje, lambda: shutil.which("pj_dump")),
    ("vite", check_vite, lambda: shutil.which("vite")),
    ("smpirun", check_simgrid, lambda: shutil.which("smpirun")),
]


def main():
    arguments = harness.parser(__doc__)
    arguments.add_argument("--fast", required=True)
    arguments.add_argument("--slow", required=True)
    arguments.add_argument("--examples", required=True, help="by commas, with --iterations 3")
    arguments.add_argument("--farm", required=True, help="whose ranks differ in every iteration")
    arguments.add_argument("--ranks", default="4", help="numbers of ranks, by commas")
    arguments.add_argument("--need", action="store_true", help="all consumers must be installed")
    options = arguments.parse_args()

    def body(tools):
        checks = [check_tables, check_chrome, check_stacks, check_paraver, check_goal]
        for name, check, installed in CONSUMERS:
            if installed():
                checks.append(check)
            else:
                expect(not options.need, f"{name} is not installed")
                print(f"not checked by {name}: not installed")
        programs = [(options.fast, ())]
        programs += [(p, ("--iterations", "3")) for p in options.examples.split(",")]
        for ranks in map(int, options.ranks.split(",")):
            for program, words in programs:
                job = Job(tools, program, ranks, words)
                for check in checks:
                    check(job)
                if ranks > 1:
                    check_some_ranks(job)
        check_inexact(tools, options.farm)
        check_compare(tools, options.fast, options.slow)

    harness.main("export", options, body)


if __name__ == "__main__":
    main()
