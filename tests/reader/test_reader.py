#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The Python reader says, event by event, what `chameleon print`, `chameleon export`, the C++
library and the raw records say: of traces with and without clustering, of all fidelities and timings,
complete and cut.

    test_reader.py --tools TOOLS.json --examples FOLDER --corpus FOLDER... --dump P
        --program P --conformance FOLDER [--all]"""

import csv
import json
import pathlib
import re
import shutil
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = HERE.parent.parent / "tools" / "python"
sys.path.insert(0, str(PACKAGE))
sys.path.insert(0, str(HERE.parent / "mpi"))
import chameleon_trace  # noqa: E402
import harness  # noqa: E402
from chameleon_trace import NOT_RECORDED, Inexact, SpecialRank  # noqa: E402
from harness import expect  # noqa: E402
from print_text import PrintText  # noqa: E402

POLLS = {"Test": "flag", "Testall": "flag", "Testany": "flag", "Testsome": "outcount",
         "Iprobe": "flag", "Improbe": "flag"}
HANDLES = {"comm", "datatype", "op", "group", "win", "file", "info", "errhandler", "request",
           "message", "session", "keyval"}
RAW_SPECIAL = {"MPI_ANY_SOURCE": SpecialRank.ANY_SOURCE, "MPI_PROC_NULL": SpecialRank.PROC_NULL,
               "MPI_ROOT": SpecialRank.ROOT, "MPI_UNDEFINED": SpecialRank.UNDEFINED}
KINDS = {"count": Inexact.COUNT, "source": Inexact.SOURCE, "dest": Inexact.DEST,
         "tag": Inexact.TAG}
totals = {"events": 0, "library": 0, "values": 0, "read": 0, "seconds": 0.0, "loops": 0}


class Raw:
    """Raw records of a rank: the head, and (name, {parameter: text}) of each call."""

    def __init__(self, path, local):
        self.names, self.special, self.calls = {}, {}, []
        for line in path.read_text().splitlines():
            words = line.split(" ")
            if line.startswith("# predefined"):
                self.names[words[2], int(words[4])] = words[3]
            elif line.startswith("# constant") and words[2] in RAW_SPECIAL:
                self.special[int(words[3])] = RAW_SPECIAL[words[2]]
            elif not line.startswith("#") and "MPI_" + words[0] not in local:
                values = dict(w.split("=", 1) for w in words[1:])
                # An unsuccessful poll is no event, nor is a test of nothing.
                told = values.get(POLLS.get(words[0]))
                ended = told != "0" and not self.tests_nothing(words[0], values)
                if values["return"] != "0" or ended:
                    self.calls.append((words[0], values))

    def tests_nothing(self, name, values):
        """Whether a test was of null requests."""
        if name == "Test":
            return self.names.get(("request", int(values["request"]))) == "MPI_REQUEST_NULL"
        if name == "Testall":
            return all(self.names.get(("request", int(one))) == "MPI_REQUEST_NULL"
                       for one in elements(values["array_of_requests"]))
        place = {"Testany": "indx", "Testsome": "outcount"}.get(name)
        return place is not None and values[place].lstrip("-").isdigit() and (
            self.special.get(int(values[place])) == SpecialRank.UNDEFINED)


def elements(text):
    """The elements of a raw array, or of one of statuses."""
    inside = text[1:-1]
    if inside.startswith("("):
        return inside[1:-1].split("),(")
    return inside.split(",") if inside else []


class RawComparison:
    """Compares the events of a rank with its raw records."""

    def __init__(self, trace, raw):
        self.trace, self.raw = trace, raw
        self.known = {}

    def number(self, field, value, text):
        """Whether a plain value is what the raw text says."""
        if text == "?":
            return value == NOT_RECORDED
        if field.name == "array_of_requests" and value >= 0 and (
                self.raw.names.get((field.kind, int(text))) == "MPI_REQUEST_NULL"):
            return True  # a null entry may be the request that it had
        if field.kind in HANDLES:
            if value <= -2 or (field.kind == "comm" and value in (0, 1)):
                return self.raw.names.get((field.kind, int(text)), "?") == (
                    self.trace.object_name(field.kind, value))
            return value == -1 or (field.kind, int(text)) not in self.raw.names
        return value == int(text)

    def partner(self, value, text):
        if text == "?":
            return True
        special = self.raw.special.get(int(text))
        if special is not None or value == SpecialRank.UNDEFINED:
            return value in (special, SpecialRank.UNDEFINED)
        return value == int(text)

    def status(self, part, value, text):
        """A part of a status; what is not recorded, the posted receive tells."""
        if text.strip("()") == "?" or value in (NOT_RECORDED, SpecialRank.NONE):
            return True
        source, tag, size, _ = text.strip("()").split(",")
        if part == "source":
            return self.partner(value, source)
        return value == int(tag if part == "tag" else size)

    def same(self, event, field, args):
        value = event[field.name]
        stem, _, part = field.name.rpartition(".")
        if part in ("source", "tag", "bytes") and stem in args:
            if field.stored != chameleon_trace.payload.ARRAY:
                return self.status(part, value, args[stem])
            raw = elements(args[stem])
            return len(raw) >= len(value) and all(
                self.status(part, v, t) for v, t in zip(value, raw))
        text = args[field.name]
        if field.stored == chameleon_trace.payload.END_POINT:
            return self.partner(value, text)
        if field.stored == chameleon_trace.payload.ARRAY:
            if isinstance(value, str):
                value = [ord(letter) for letter in value]
            raw = [] if text == "?" else elements(text)
            return len(value) == len(raw) and all(
                self.number(field, v, t) for v, t in zip(value, raw))
        return self.number(field, value, text)

    def check(self, events, where):
        expect(len(events) == len(self.raw.calls),
               f"{where}: {len(events)} events, raw {len(self.raw.calls)}")
        for event, (name, args) in zip(events, self.raw.calls):
            expect(event.name == name, f"{where}: event {event.number} is {event.name}, raw {name}")
            for field in event.call.fields:
                if field.kind in ("ns", "time") or event.inexact & KINDS.get(field.kind, Inexact.OTHER):
                    continue
                if "." in field.name and event.inexact & (Inexact.SOURCE | Inexact.TAG):
                    continue
                totals["values"] += 1
                if not self.same(event, field, args):  # the words cost more than the comparison
                    raise harness.Failure(f"{where}: {event}: {field} raw {args}")


def read(path, timed=True):
    begin = time.process_time()
    trace = chameleon_trace.read_trace(path)
    lists = {rank: list(trace.events(rank)) for rank in trace.ranks}
    if timed:
        totals["seconds"] += time.process_time() - begin
        totals["read"] += sum(map(len, lists.values()))
    for rank, events in lists.items():
        expect(trace.event_count(rank) == len(events), f"{path.name}: event_count({rank})")
    return trace, lists


def compare_print(tools, path, trace, lists):
    """Every line of `chameleon print --expand`, of every rank."""
    text = PrintText(trace)
    for rank, events in lists.items():
        outcome = tools.chameleon("print", path, "--rank", rank, "--expand", "--all", "--paths")
        expect(outcome.status == 0, f"{path.name}: print --rank {rank}", outcome)
        # The frames of the call path follow each event, further in.
        lines = [line for line in outcome.stdout.decode().splitlines()
                 if not line.startswith("      ")]
        expect(len(lines) == len(events), f"{path.name}: rank {rank}: {len(events)} events, print "
               f"{len(lines)}")
        for event, line in zip(events, lines):
            mine = f"{event.number - 1}  {text.line(event)}"
            # With full timing the event's own times are behind.
            expect(line == mine or line.startswith(mine + "  compute "),
                   f"{path.name}: rank {rank}:\n  print  {line}\n  reader {mine}")
            totals["events"] += 1


def compare_library(tools, path, trace, lists):
    """The C++ library says the same of every event."""
    outcome = tools.run([tools.dump_events, path])
    expect(outcome.status == 0, f"{path.name}: the library", outcome)
    whole = len(trace.parts) == 1  # else times are merged, and loops go on where it appends
    mine = []

    def numbers(values):
        return "[" + "".join(f"{value}," for value in values) + "]"

    for rank, events in lists.items():
        for event in events:
            words = [rank, event.number, event.name, event.path, int(event.inexact),
                     event.compute_ns if whole else "", event.call_ns if whole else "",
                     event.waiting_ns if whole else "",
                     numbers(event.iteration) if whole else ""]
            for field, value in zip(event.call.fields, event.values):
                if value in trace.arrays:
                    words.append(numbers(trace.arrays[value]))
                elif field.stored == chameleon_trace.payload.END_POINT:
                    words.append(-64 if event[field.name] is None else int(event[field.name]))
                else:
                    words.append(value)
            mine.append([*map(str, words), trace.site(event.path)])
    lines = outcome.stdout.decode().splitlines()
    theirs = [line.split(" ", len(row) - 1) for line, row in zip(lines, mine)]  # a site has spaces
    expect(len(lines) == len(mine), f"{path.name}: the library: {len(lines)} events, {len(mine)}")
    for row in () if whole else theirs:
        row[5:9] = ["", "", "", ""]
    wrong = next(((a, b) for a, b in zip(mine, theirs) if a != b), "")
    expect(mine == theirs, f"{path.name}: the library: {wrong}")
    totals["library"] += len(mine)
    if whole:
        outcome = tools.run([tools.dump_events, path, "loops"])
        mine = [f"{row[2]} {row[4]} {row[8]}" for row in trace.rows("loops", trace.ranks)]
        expect(mine == outcome.stdout.decode().splitlines(), f"{path.name}: loops: {mine}", outcome)
        totals["loops"] += len(mine)


def number(text):
    return int(text) if re.fullmatch(r"-?\d+", text) else text


def has_table(trace, name):
    """`export` leaves out tables of what a trace has nothing of."""
    return bool({"efforts": trace.efforts, "samples": trace.efforts,
                 "outliers": trace.outliers,
                 "pair_accounts": trace.pair_accounts}.get(name, True))


def compare_tables(tools, path, trace, timing=True):
    """The tables, but for times moved by causality and places, which the command names."""
    folder = path.parent / (path.name + ".csv")
    outcome = tools.chameleon("export", path, "--csv", folder)
    expect(outcome.status == 0, f"{path.name}: export", outcome)
    theirs = {}
    for name in chameleon_trace.COLUMNS:
        if not has_table(trace, name):
            expect(not (folder / f"{name}.csv").exists(), f"{path.name}: an empty table {name}")
            continue
        with open(folder / f"{name}.csv", newline="", encoding="utf-8") as file:
            theirs[name] = [{k: number(v) for k, v in row.items()} for row in csv.DictReader(file)]

    def mine(name):
        titles = chameleon_trace.COLUMNS[name]
        return [dict(zip(titles, ("" if v is None else v for v in row)))
                for row in trace.rows(name)]

    def pick(rows, titles):
        return sorted((tuple(row[t] or 0 if t.startswith("collective") else row[t] for t in titles)
                       for row in rows), key=repr)

    times = ("compute_ns", "call_ns") * timing
    same = {"events": ("rank", "event", "call", "peer", "tag", "bytes", "collective_sent",
                       "collective_received", "root", *times),
            "messages": ("source", "dest", "tag", "context", "sequence", "bytes", "receive_event"),
            "matrix": ("source", "dest", "messages", "bytes"),
            "clusters": ("cluster", "call_path", "lead", "rank"),
            "phases": ("state", "first", "markers", "changed", "end_ns"),
            "series": chameleon_trace.COLUMNS["series"],
            "calls": ("rank", "call", "count", "sent_bytes")}
    for name, titles in same.items():
        rows, others = mine(name), theirs[name]
        if name == "events":  # only where the root counts
            for row in rows + others:
                row["root"] = row["root"] if row["root"] != "" else "-"
        left, right = pick(rows, titles), pick(others, titles)
        wrong = [(a, b) for a, b in zip(left, right) if a != b][:2]
        expect(left == right, f"{path.name}: table {name}: {len(left)} and {len(right)} rows, "
               f"{wrong}")
    # The same sums, in another order.
    for row, other in zip(mine("calls"), theirs["calls"]):
        for title in times:
            expect(abs(row[title] - other[title]) <= 1 + 1e-9 * row[title],
                   f"{path.name}: table calls: {row}, export {other}")
    compare_waits(tools, path, trace, folder)
    if len(trace.parts) == 1:
        compare_loops(path, mine("loops"), theirs["loops"], timing)


def compare_waits(tools, path, trace, folder):
    """As the export has them, which reads each event instead of taking loops at once."""
    with open(folder / "waits.csv", newline="", encoding="utf-8") as file:
        theirs = [{k: number(v) for k, v in row.items()} for row in csv.DictReader(file)]
    if trace.timing == "none":
        try:
            wrong = trace.waits(command=tools.command)
        except ValueError as error:
            wrong = [] if "no times" in str(error) else [error]
        expect(not wrong and not theirs, f"{path.name}: waits without times: {wrong} {theirs}")
        return
    rows = [row._asdict() for row in trace.waits(command=tools.command)]
    expect(rows and len(rows) == len(theirs), f"{path.name}: {len(rows)} waits, {len(theirs)}")
    for row, other in zip(rows, theirs):
        for title, value in row.items():
            near = value == other[title] if isinstance(value, str) else \
                abs(value - other[title]) <= 2 + 1e-6 * value
            expect(near and row.keys() == other.keys(), f"{path.name}: {row}, export {other}")
    one = trace.waits(ranks=[1], command=tools.command)
    expect([row._asdict() for row in one] == [row for row in rows if row["rank"] == 1],
           f"{path.name}: waits of rank 1: {one}")


def compare_loops(path, mine, theirs, timing):
    """The same loops; places in the command's table have names. Times are summed in another order."""
    titles = ("loop", "parent", "depth", "ranks", "iterations", "events")
    left, right = ([[str(row[title]) for title in titles] for row in rows]
                   for rows in (mine, theirs))
    expect(left == right, f"{path.name}: loops: {left}, export {right}")
    for row, other in zip(mine, theirs):
        for title in ("compute_ns", "call_ns") * timing:
            expect(abs(row[title] - other[title]) <= 2 + 1e-9 * row[title],
                   f"{path.name}: loop {row['loop']}: {title} {row[title]}, export {other[title]}")
        expect(bool(row["place"]) or not other["place"], f"{path.name}: {row}, export {other}")


PANDAS = """
import sys
sys.path.insert(0, sys.argv[1])
import chameleon_trace, pandas
trace = chameleon_trace.read_trace(sys.argv[2])
for name, titles in chameleon_trace.COLUMNS.items():
    frame, rows = trace.to_pandas(name), list(trace.rows(name))
    assert tuple(frame.columns) == titles and len(frame) == len(rows), name
    for title, column in zip(titles, zip(*rows)):
        assert [None if v is pandas.NA else v for v in frame[title]] == list(column), (name, title)
    optional = {"efforts": trace.efforts, "samples": trace.efforts, "outliers": trace.outliers,
                "pair_accounts": trace.pair_accounts}
    if name != "clusters" and optional.get(name, True):
        assert len(pandas.read_csv(f"{sys.argv[3]}/{name}.csv")) == len(frame), name
pairs = ["source", "dest"]
mine = trace.to_pandas("messages").groupby(pairs).bytes.sum()
other = pandas.read_csv(f"{sys.argv[3]}/messages.csv").groupby(pairs).bytes.sum()
assert (mine == other).all() and mine.sum() == trace.to_pandas("matrix").bytes.sum() > 0
events, other = trace.to_pandas("events", ranks=0), pandas.read_csv(f"{sys.argv[3]}/events.csv")
assert list(events.call) == list(other[other["rank"] == 0].call) and set(events["rank"]) == {0}
assert str(events.tag.dtype) == "Int64" and str(events.call_ns.dtype) == "int64"
"""


def compare_pandas(tools, path):
    """Frames hold the rows, and are what pandas reads from the exported files."""
    for python in (sys.executable, "/usr/bin/python3"):  # Debian's has Debian's modules
        if tools.run([python, "-c", "import pandas"]).status == 0:
            outcome = tools.run([python, "-c", PANDAS, PACKAGE, path,
                                 path.parent / (path.name + ".csv")])
            expect(outcome.status == 0, f"{path.name}: pandas", outcome)
            return
    print("python3-pandas is not there: frames are not compared")


def compare_facts(tools, path, trace):
    """Facts, clusters and the loop tree against `chameleon info`."""
    outcome = tools.chameleon("info", "--json", path)
    expect(outcome.status == 0, f"{path.name}: info", outcome)
    info = json.loads(outcome.stdout)
    online = trace.online
    for mine, name in ((trace.world_size, "ranks"), (trace.complete, "complete"),
                       (online.count_at, "count_at"), (online.count_c, "count_c"),
                       (online.count_l, "count_l"), (online.flushes, "count_flush"),
                       (online.markers, "markers"), (online.k, "k"),
                       (sum(f.events for f in trace.facts()), "events"),
                       (len(trace.paths), "call_paths"), (len(trace.phases), "phases"),
                       (len(trace.clusters), "clusters"), (trace.file.deltas, "deltas")):
        theirs = info.get(name, mine)
        theirs = len(theirs) if isinstance(theirs, list) else theirs
        expect(mine == theirs, f"{path.name}: {name}: {mine}, info {theirs}")


def check_job(tools, name, ranks, program, raw=True, **variables):
    folder = tools.fresh(name)
    (folder / "raw").mkdir()
    path = folder / f"{name}.cham"
    settings = {f"CHAMELEON_{key}": value for key, value in variables.items()}
    outcome = tools.traced(ranks, program, path, raw=folder / "raw", cwd=folder, **settings)
    expect(path.exists(), f"{name}: no trace", outcome)
    for part in folder.glob(f"{path.name}.rank*"):
        part.unlink()  # verbs would join it, and this reader is about the file
    trace, lists = read(path)
    expect(len(trace.ranks) == ranks, f"{name}: ranks {trace.ranks}")
    if raw:
        local = tools.local_calls()
        for rank, events in lists.items():
            if any(event.inexact & Inexact.EVENTS for event in events):
                continue  # the calls themselves are the lead's
            RawComparison(trace, Raw(folder / "raw" / f"rank.{rank}.raw", local)).check(
                events, f"{name}: rank {rank}")
    compare_print(tools, path, trace, lists)
    compare_library(tools, path, trace, lists)
    compare_facts(tools, path, trace)
    whole = all(times == 1 for _, times in trace.parts) and len(trace.parts) == 1
    compare_tables(tools, path, trace, timing=whole)
    return path, trace


def main():
    parser = harness.parser(__doc__)
    parser.add_argument("--examples", required=True)
    parser.add_argument("--corpus", required=True, nargs="+", type=pathlib.Path)
    parser.add_argument("--dump", required=True, help="dump_events")
    parser.add_argument("--program", required=True, help="export_program: every kind of call")
    parser.add_argument("--conformance", required=True, help="folder of these programs")
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()

    def body(tools):
        examples = pathlib.Path(options.examples)
        tools.paths["dump_events"] = options.dump

        def example(name, *arguments):
            return [examples / name, *arguments]

        path, _ = check_job(tools, "wavefront-4", 4,
                                        example("wavefront", "--iterations", "3"), CLUSTERING="off")
        compare_pandas(tools, path)
        for fidelity in ("exact", "checked", "lead"):
            check_job(tools, f"stencil2d-{fidelity}", 6,
                      example("stencil2d", "--iterations", "6"), FIDELITY=fidelity, K=1,
                      FLUSH_EVERY=2)
        check_job(tools, "taskfarm-full", 4, example("taskfarm", "--iterations", "3"),
                  TIMING="full")
        # Wildcards, persistent and cancelled requests, matched probes, collectives on a split.
        check_job(tools, "every-kind-3", 3, [options.program], CLUSTERING="off")
        # Every collective in every shape; partitioned and persistent ones, several started at once.
        for name in ("collectives", "requests"):
            check_job(tools, f"{name}-3", 3, [pathlib.Path(options.conformance) / name],
                      CLUSTERING="off")
        check_job(tools, "transpose-7", 7, example("transpose", "--iterations", "2"),
                  CLUSTERING="off", EVENTS="communication")
        # A job that is cut leaves a journal with deltas. What its last interval held is lost.
        path, trace = check_job(tools, "cut-3", 3, [tools.online_program, "abort", "40"],
                                   raw=False, FLUSH_EVERY=4)
        expect(not trace.complete and trace.file.deltas > 0, f"{path.name}: {trace.file}")
        for path in sorted(path for folder in options.corpus
                           for path in folder.resolve().glob("*.cham*")):
            # Alone, as in check_job.
            path = pathlib.Path(shutil.copy(path, tools.fresh("alone")))
            trace, lists = read(path, timed=False)
            if trace.threads == 1:  # else print has all threads of a rank one after another
                compare_print(tools, path, trace, lists)
            compare_library(tools, path, trace, lists)
        if options.all:
            for name in ("ring", "stencil2d", "wavefront", "multipartition", "transpose",
                         "spectral", "multigrid", "bucketsort", "hydro", "ocean", "taskfarm", "faulty",
                         "sparse"):
                for ranks in (1, 2, 3, 8, 16):
                    for key, value in (("CLUSTERING", "off"), ("FIDELITY", "exact"),
                                       ("FIDELITY", "checked"), ("FIDELITY", "lead"),
                                       ("TIMING", "full"), ("TIMING", "none")):
                        check_job(tools, f"{name}-{ranks}-{value}", ranks,
                                  example(name, "--iterations", "3"), **{key: value, "K": 2})
        rate = totals["read"] / max(totals["seconds"], 1e-9)
        print(f"{totals['events']} events as print has them, {totals['library']} as the "
              f"C++ library has them, {totals['values']} values as the raw "
              f"records have them; {totals['read']} events read, {rate:.0f} a second of CPU")

    harness.main("reader", options, body)


if __name__ == "__main__":
    main()
