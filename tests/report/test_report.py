#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The page that `chameleon report` writes says what the other verbs and the raw records say.

    test_report.py --tools TOOLS.json --stencil P --farm P

Two programs are traced with raw records; the data in their pages is compared number by number.
The page must load nothing, must not be ended by names in a trace, and must stay small at 1,024
ranks; what cannot be read or written is refused in one line."""

import base64
import bisect
import collections
import itertools
import json
import pathlib
import re
import shutil
import struct
import sys
import zlib

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path += [str(TESTS / "mpi"), str(TESTS / "export")]
import harness  # noqa: E402
from harness import expect  # noqa: E402
from exported import raw_facts  # noqa: E402

MOST_BYTES = 5_000_000
DATA = re.compile(r'<script type="application/json" id="data">(.*?)</script>', re.S)
# Whatever could make a browser ask for something.
LOADS = re.compile(r"""(?:src|href|action|data|poster)\s*=\s*["']?\s*(?:https?:|//)|url\(\s*["']?(?!data:)|"""
                   r"""@import|\bfetch\(|XMLHttpRequest|WebSocket|EventSource|sendBeacon|"""
                   r"""\bimport\s*\(|\bfrom\s+["']|<(?:img|iframe|link|object|embed|base)\b""")



def ranks_of(text):
    """The ranks of a list such as "0,2-5,8-16:4,1-3+32*30"."""
    ranks = []
    for part in text.split(","):
        head, *further = part.split("+")
        extent, _, stride = head.partition(":")
        first, _, last = extent.partition("-")
        some = range(int(first), int(last or first) + 1, int(stride or 1))
        for step, count in (map(int, one.split("*")) for one in further):
            some = [rank + step * k for k in range(count) for rank in some]
        ranks += some
    return ranks

def report(tools, trace, *words):
    """The page's text and its data."""
    page = trace.with_suffix(".html")
    outcome = tools.chameleon("report", trace, "-o", page, *words)
    expect(outcome.status == 0 and outcome.stderr == b"", f"{trace.name}: report fails", outcome)
    text = page.read_text(encoding="utf-8")
    found = DATA.findall(text)
    expect(len(found) == 1, f"{trace.name}: {len(found)} elements with data")
    data = json.loads(found[0])
    loads = LOADS.search(text.replace(found[0], ""))
    expect(loads is None, f"{trace.name}: the page would load something: {loads}")
    expect("default-src 'none'" in text, f"{trace.name}: no content security policy")
    expect(len(re.findall(r"<script", text)) == 3 == len(re.findall(r"</script", text)),
           f"{trace.name}: elements that are not the page's own")
    expect(page.stat().st_size < MOST_BYTES, f"{trace.name}: {page.stat().st_size} bytes")
    return text, data


def document(tools, trace, *words):
    outcome = tools.chameleon(*words, "--json", trace)
    expect(outcome.status == 0, f"{trace.name}: {words} fails", outcome)
    return json.loads(outcome.stdout)


def near(a, b):
    return abs(a - b) <= 1e-6 * max(abs(a), abs(b)) + 1e-6


def leaves(nodes):
    for node in nodes:
        yield from leaves(node["body"]) if "body" in node else [node]


def same_as_verbs(tools, trace, data):
    name = trace.name
    expect(data["schema"] == "chameleon.report/1", f"{name}: schema {data['schema']}")
    expect(data["info"] == document(tools, trace, "info"), f"{name}: info differs")
    stats = document(tools, trace, "stats")
    expect(data["stats"] == stats, f"{name}: stats differ")
    by_path = document(tools, trace, "stats", "--by", "path")["rows"]
    expect(len(by_path) == len(data["paths"]), f"{name}: rows by path")
    for row, shown in zip(by_path, data["paths"]):
        site = data["sites"][shown["site"]]
        expect([data["frames"][i] for i in site["frames"]] == row.pop("path") and
               all(shown[key] == value for key, value in row.items()),
               f"{name}: by path: {row}, in the page {shown}")
    # Parts add up to the whole.
    calls = list(leaves(data["tree"]["nodes"]))
    expect(sum(node["count"] for node in calls) == stats["events"], f"{name}: calls of the tree")
    expect(sum(node["sent"] for node in calls) == stats["sent_bytes"], f"{name}: bytes of the tree")
    for key, of_tree in (("compute", "compute_seconds"), ("in_call", "call_seconds")):
        expect(near(sum(node[key] for node in calls) * 1e-9, stats[of_tree]),
               f"{name}: {key} of the tree is not {of_tree}")
        if not data["load"]["measured"]:
            expect(near(sum(data["load"][key]) * 1e-9, stats[of_tree]),
                   f"{name}: {key} of the ranks is not {of_tree}")
    if data["load"]["measured"]:  # whole times of each rank, from the clock and not the events
        # On a busy machine a short run may be all communication: then there is nothing to balance.
        of_ranks = data["info"].get("load", {"longest_compute_seconds": 0})
        expect(near(data["load"]["most_compute"] * 1e-9, of_ranks["longest_compute_seconds"]),
               f"{name}: longest computing is not that of info")
        if data["info"]["timing"] == "full":
            in_call = sum(data["load"]["in_call"]) * 1e-9
            expect(0.9 * in_call < stats["call_seconds"] < 1.1 * in_call,
                   f"{name}: {in_call} s in MPI by the ranks, {stats['call_seconds']} by the events")
    series = document(tools, trace, "series")
    expect(data["series"] == series["spans"] and len(data["slow"]) == len(series["slow"]),
           f"{name}: series differs")
    for row in data["paths"]:  # ranks at a place add up to its sums
        for part, seconds in (("compute", "compute_seconds"), ("in_call", "call_seconds")):
            longest = row[f"{part}_longest"]
            expect(longest["most"] >= longest["mean"] - 1 and
                   longest["mean"] * 1e-9 <= row[seconds] + 1e-9, f"{name}: longest: {row}")
    matrix = document(tools, trace, "matrix")
    pairs = {(p["source"], p["dest"]): (p["messages"], p["bytes"]) for p in matrix["pairs"]}
    cells = data["matrix"]["cells"]
    expect(data["matrix"]["ranks_per_cell"] == 1 and
           dict(zip(zip(cells["source"], cells["dest"]), zip(cells["messages"], cells["bytes"])))
           == pairs, f"{name}: the matrix differs")
    same_tree(tools, data["pairs"], trace, name)
    same_messages(tools, data["pairs"], trace, name)
    same_waits(data, name)
    sizes = data["sizes"]["sizes"]
    expect(sum(count for _, count in sizes) == data["matrix"]["messages"] and
           sum(size * count for size, count in sizes) == data["matrix"]["bytes"],
           f"{name}: sizes do not add up")


def same_waits(data, name):
    """Waits in the timeline are within calls, or at markers, and add up to those of `waits`."""
    timeline = data["timeline"]
    if not timeline["detail"]["whole"] or not data.get("waits"):
        return
    marker = timeline["wait_keys"].index("marker")
    sums = collections.Counter()
    for track in timeline["detail"]["tracks"]:
        begins = list(itertools.accumulate(track["begin"]))
        for begin, length, kind in track["waits"]:
            sums[timeline["wait_keys"][kind]] += length
            at = bisect.bisect_right(begins, begin) - 1
            expect(kind == marker or (at >= 0 and begin + length <= begins[at] + track["length"][at]),
                   f"{name}: rank {track['rank']} waits at {begin} for {length} outside of calls")
    # The timeline is stretched to the length of the run, more so on a busy machine.
    told = data["waits"]["all"]
    most = 0.1 * (told["waiting_seconds"] + told["marker_seconds"]) + 1e-6
    for key in timeline["wait_keys"]:
        expect(abs(sums[key] * 1e-9 - told[f"{key}_seconds"]) <= most,
               f"{name}: {sums[key]} ns of {key}, not {told[f'{key}_seconds']} s")


def same_tree(tools, pairs, trace, name):
    """The dendrogram and the matrix beside it are those of `pairs`."""
    told = json.loads(tools.chameleon("pairs", "--json", "--by", pairs["by"], trace).stdout)
    expect(("tree" in pairs) == (len(told["order"]) <= 256), f"{name}: no dendrogram, or a large one")
    if "tree" not in pairs:
        return
    tree = pairs["tree"]
    expect(tree["order"] == told["order"], f"{name}: another order of ranks")
    below = [{rank} for rank in tree["order"]]
    for a, b, _ in tree["merges"]:
        below.append(below[a] | below[b])
    ranks = [{rank} for rank in sorted(tree["order"])]
    for merge in told["merges"]:
        ranks.append(ranks[merge["a"]] | ranks[merge["b"]])
    count = len(tree["order"])
    expect(below[count:] == ranks[count:] and
           [merge[2] for merge in tree["merges"]] == [merge["height"] for merge in told["merges"]],
           f"{name}: another dendrogram")
    amount = "transfer_seconds" if pairs["by"] == "transfer" else "bytes"
    cells = {(tree["order"][a], tree["order"][b]): value for a, b, value in tree["cells"]}
    two = [pair for pair in told["pairs"] if pair["a"] != pair["b"]]
    expect(len(cells) == sum(pair[amount] > 0 for pair in two) and
           all(near(cells[pair["a"], pair["b"]], pair[amount])
               for pair in two if pair[amount] > 0), f"{name}: other amounts of pairs")


def same_messages(tools, pairs, trace, name):
    """The plots show the messages of `pairs --pair`."""
    for plot in pairs.get("plots", []):
        told = tools.folder / f"{name}.messages.csv"
        outcome = tools.chameleon("pairs", "--pair", f"{plot['a']},{plot['b']}", "--csv", told, trace)
        expect(outcome.status == 0, f"{name}: pairs --pair fails", outcome)
        rows = [line.split(",")[:5] for line in told.read_text().splitlines()[1:]]
        expect(plot["every"] == 1 and plot["messages"] == len(rows) and
               [[plot["a"], plot["b"]] if forth else [plot["b"], plot["a"]]
                for forth in plot["forth"]] == [[int(row[0]), int(row[1])] for row in rows] and
               plot["bytes"] == [int(row[2]) for row in rows] and
               [f"{ns * 1e-3:.3f}" for ns in plot["sent"]] == [row[3] for row in rows] and
               [f"{ns * 1e-3:.3f}" for ns in plot["transfer"]] == [row[4] for row in rows],
               f"{name}: other messages of ranks {plot['a']} and {plot['b']}")
    expect(("plots" in pairs) == (pairs["by"] == "transfer") and
           ("plots" not in pairs or bool(pairs["plots"]) == bool(pairs["nearest"])),
           f"{name}: no plots")


def same_as_raw(tools, data, raw, ranks, name):
    local = tools.local_calls()
    calls, sent = collections.Counter(), collections.Counter()
    for rank in range(ranks):
        of_rank, sent[rank] = raw_facts(raw, rank)
        calls.update({call: n for call, n in of_rank.items() if f"MPI_{call}" not in local})
        expect(data["load"]["events"][rank] ==
               sum(n for call, n in of_rank.items() if f"MPI_{call}" not in local),
               f"{name}: rank {rank}: events")
    calls.pop("Pcontrol", None)
    expect({row["call"]: row["count"] for row in data["stats"]["rows"]} == calls,
           f"{name}: calls are not those of the raw records")
    of_page = collections.Counter()
    cells = data["matrix"]["cells"]
    for source, size in zip(cells["source"], cells["bytes"]):
        of_page[source] += size
    expect(of_page == +sent, f"{name}: bytes {of_page}, raw {sent}")


def check_cells(timeline, parts, name):
    """A row of the overview adds up to the calls and waits of its rank, and begins and ends with
    them; a row of ranks that are alike is their mean."""
    overview, classes = timeline["overview"], timeline["classes"]
    marker = timeline["wait_keys"].index("marker")
    columns, width = overview["columns"], overview["column_ns"]
    known = {"share": {}, "wait": {}}
    for row, track in enumerate(timeline["detail"]["tracks"]):
        rank = str(track["rank"])
        expect(overview["ranks"][row] == rank, f"{name}: row {row} is of {overview['ranks'][row]}")
        begin = track["begin"][0]
        end = sum(track["begin"]) + track["length"][-1]
        waits = track["waits"]
        expect(overview["begin"][row] <= begin == track["first"] and
               end <= overview["end"][row] <= timeline["end"], f"{name}: ends of rank {rank}")
        spent = {"share": sum(track["length"]) + sum(w[1] for w in waits if w[2] == marker),
                 "wait": sum(w[1] for w in waits)}
        for part, ns in spent.items():
            known[part][rank] = parts[part][row * columns:(row + 1) * columns]
            off = abs(sum(known[part][rank]) * width / 255 - ns)
            expect(off <= columns * width / 255, f"{name}: {part} of rank {rank} is off by {off} ns")
    for row, ranks in enumerate(classes["ranks"]):
        members = [str(rank) for rank in ranks_of(ranks)]
        for part in ("share", "wait"):
            mine = base64.b64decode(classes[part])[row * columns:(row + 1) * columns]
            mean = sum(sum(known[part][rank]) for rank in members) / len(members)
            expect(abs(sum(mine) - mean) <= columns, f"{name}: {part} of ranks {ranks}")


def check_timeline(data, name):
    """Calls of a rank follow each other, within the run; the overview has all its cells."""
    timeline = data["timeline"]
    overview, detail = timeline["overview"], timeline["detail"]
    cells = overview["rows"] * overview["columns"]
    parts = {part: base64.b64decode(overview[part], validate=True)
             for part in ("share", "wait", "kind")}
    for part, bytes_of in parts.items():
        expect(len(bytes_of) == cells and any(bytes_of), f"{name}: cells of the overview: {part}")
    check_cells(timeline, parts, name)
    expect(detail["whole"] and [t["rank"] for t in detail["tracks"]] == data["load"]["rank"],
           f"{name}: ranks of the timeline")
    for track, events in zip(detail["tracks"], data["load"]["events"]):
        expect(len(track["begin"]) == events, f"{name}: calls of rank {track['rank']}")
        end = begin = 0
        for step, length in zip(track["begin"], track["length"]):
            begin += step
            expect(begin >= end, f"{name}: rank {track['rank']}: calls overlap")
            end = begin + length
        expect(end <= timeline["end"], f"{name}: a call after the end")
    for sender, sent, receiver, received, _ in detail["messages"]:
        expect(sent < received and sender != receiver, f"{name}: a message goes back in time")
    expect(len(detail["messages"]) == data["matrix"]["messages"], f"{name}: messages drawn")


def check_program(tools, program, ranks, *arguments):
    folder = tools.fresh(pathlib.Path(program).name)
    raw = folder / "raw"
    raw.mkdir()
    trace = folder / "t.cham"
    outcome = tools.traced(ranks, [program, *arguments], trace, raw=raw)
    expect(outcome.status == 0 and trace.exists(), f"{program}: no trace", outcome)
    _, data = report(tools, trace)
    name = pathlib.Path(program).name
    same_as_verbs(tools, trace, data)
    same_as_raw(tools, data, raw, ranks, name)
    check_timeline(data, name)
    return trace, data


def check_picture(tools, trace):
    """The PNG of the matrix: a pixel is white exactly where nothing was sent."""
    path = trace.with_suffix(".png")
    outcome = tools.chameleon("matrix", trace, "--png", path)
    expect(outcome.status == 0 and outcome.stdout == b"", "matrix --png", outcome)
    file, chunks = path.read_bytes(), collections.defaultdict(bytes)
    at = 8
    while at < len(file):
        size, kind = struct.unpack(">I4s", file[at:at + 8])
        body = file[at + 8:at + 8 + size]
        expect(struct.unpack(">I", file[at + 8 + size:at + 12 + size])[0] ==
               zlib.crc32(kind + body), f"{kind}: checksum")
        chunks[kind] += body  # the pixels may be in several
        at += size + 12
    side, high = struct.unpack(">II", chunks[b"IHDR"][:8])
    rows = zlib.decompress(chunks[b"IDAT"])
    matrix = document(tools, trace, "matrix")
    ranks = matrix["ranks"]
    sent = {(p["source"], p["dest"]) for p in matrix["pairs"] if p["bytes"] > 0}
    expect(side == high >= 600 and side % ranks == 0 and len(rows) == side * (side + 1),
           f"{side} x {high} pixels")
    expect(not any(rows[::side + 1]), "rows are filtered")  # as libpng leaves them with a palette
    cell = side // ranks
    for source in range(ranks):
        for dest in range(ranks):
            pixel = rows[(source * cell + cell // 2) * (side + 1) + 1 + dest * cell + cell // 2]
            expect((pixel > 0) == ((source, dest) in sent), f"pixel of {source} -> {dest}")
    outcome = tools.chameleon("matrix", trace, "--png", trace.parent / "no" / "x.png")
    expect(outcome.status == 3 and outcome.stderr.count(b"\n") == 1, "--png", outcome)


def check_stencil(tools, program):
    trace, data = check_program(tools, program, 4, "--iterations", "12")
    expect(data["grid"] == {"dims": [2, 2], "source": "MPI_Cart_create"}, f"grid {data['grid']}")
    expect(len(data["differences"]) == len(data["info"]["clusters"]) == 4 and
           all(one["partners"] for one in data["differences"]), "what distinguishes the clusters")
    # A place names its file and line, and shows them where the user named the folder.
    sites = [s for s in data["sites"] if s.get("file", "").endswith("stencil2d.cpp")]
    expect(sites and all("source" not in s for s in sites), "lines from elsewhere are shown")
    _, data = report(tools, trace, "--source", pathlib.Path(__file__).resolve().parents[2])
    sites = [s for s in data["sites"] if s.get("file", "").endswith("stencil2d.cpp")]
    expect(sites and all("MPI_" in s["source"][s["line"] - s["first"]] for s in sites),
           "the lines shown are not those of the calls")
    text, data = report(tools, trace, "--no-source", "--events", "10")
    expect("source" not in json.dumps(data["sites"]), "--no-source shows lines")
    expect("left_out" in data and "matrix" not in data and "timeline" not in data,
           "--events is not heeded")
    check_picture(tools, trace)
    # The same data on standard output.
    outcome = tools.chameleon("report", trace, "--json")
    expect(outcome.status == 0 and json.loads(outcome.stdout)["stats"] == data["stats"],
           "report --json", outcome)


def check_names(tools, program):
    """A program's name cannot break the page; other timings work."""
    folder = tools.fresh("names")
    evil = folder / "<!--<script>alert(1)"
    shutil.copy(program, evil)
    for timing in ("full", "none"):
        trace = folder / f"{timing}.cham"
        outcome = tools.traced(2, [evil, "--iterations", "2"], trace, CHAMELEON_TIMING=timing)
        expect(outcome.status == 0 and trace.exists(), f"{timing}: no trace", outcome)
        text, data = report(tools, trace)
        same_as_verbs(tools, trace, data)
        expect("<script>alert" in data["info"]["program"], f"program {data['info']['program']}")
        expect("<!--<" not in text, "the name stands in the page as it is")
        expect((data["stats"]["call_seconds"] > 0) == (timing == "full"), f"{timing}: times")


def check_large(tools):
    trace = tools.fresh("large") / "large.cham"
    outcome = tools.chameleon("simulate", "wavefront", "--from", "1024", "--to", "1024", "-o", trace)
    expect(outcome.status == 0, "simulate fails", outcome)
    _, data = report(tools, trace)
    same_as_verbs(tools, trace, data)
    # Each rank's, although one rank's distribution stands for many.
    receive = next(row for row in data["stats"]["rows"] if row["call"] == "Recv")
    expect(near(receive["call_seconds"], receive["count"] * 20e-6) and
           near(receive["compute_seconds"], receive["count"] * 1e-6), f"times: {receive}")
    expect(data["grid"] == {"dims": [32, 32], "source": "distances"}, f"grid {data['grid']}")
    expect(len(data["timeline"]["detail"]["tracks"]) == 64, "ranks of the timeline")
    overview, classes = data["timeline"]["overview"], data["timeline"]["classes"]
    expect(overview["rows"] == 256 and overview["ranks"][1] == "4-7", "rows of the overview")
    expect(1 < classes["rows"] < 256 and
           sorted(rank for ranks in classes["ranks"] for rank in ranks_of(ranks)) ==
           list(range(1024)), f"ranks that are alike: {classes['ranks']}")
    _, data = report(tools, trace, "--ranks", "5,1000-1003")
    expect([track["rank"] for track in data["timeline"]["detail"]["tracks"]] ==
           [5, 1000, 1001, 1002, 1003], "the ranks that --ranks names")
    outcome = tools.chameleon("report", trace, "--ranks", "4096", "-o", trace.parent / "no.html")
    expect(outcome.status == 2 and not (trace.parent / "no.html").exists(), "no such rank", outcome)


def check_refusals(tools, trace):
    folder = tools.fresh("refusals")
    (folder / "garbage.cham").write_bytes(bytes(range(256)) * 8)
    (folder / "cut.cham").write_bytes(trace.read_bytes()[:60])
    (folder / "again.cham").write_bytes(trace.read_bytes())
    for words, status in (
            (["no-such-file.cham"], 3), ([folder / "garbage.cham"], 3), ([folder / "cut.cham"], 3),
            ([trace, "-o", folder / "no" / "such" / "folder.html"], 3),
            ([folder / "again.cham", "-o", folder / "again.cham"], 2), ([], 2)):
        outcome = tools.chameleon("report", *words)
        expect(outcome.status == status and outcome.stdout == b"" and
               outcome.stderr.count(b"\n") == 1 and
               outcome.stderr.startswith(b"chameleon report: "), f"report {words}", outcome)
    expect((folder / "again.cham").read_bytes() == trace.read_bytes(), "the trace was written over")


def main():
    arguments = harness.parser(__doc__)
    arguments.add_argument("--stencil", required=True)
    arguments.add_argument("--farm", required=True)
    options = arguments.parse_args()

    def body(tools):
        check_stencil(tools, options.stencil)
        trace, _ = check_program(tools, options.farm, 4)
        check_names(tools, options.stencil)
        check_large(tools)
        check_refusals(tools, trace)

    harness.main("report", options, body)


if __name__ == "__main__":
    main()
