#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Effort windows of the example `faulty`: sums over all ranks are those of the series, a slow rank
is a stratum, an imbalance that moves is seen in the steps where it was, and a claim at 95 % holds in at
least 95 of 100 windows, and steps. Time in all calls is that of the series, in some, and at some
call sites, that of raw records. Windows are, bit for bit, those that virtual ranks make of what the
ranks noted. The command, its tables and both readers say the same. Where ranks call markers
unevenly the window is given up.

    test_effort.py --tools TOOLS.json --program FAULTY --nodes N --uneven U --ranks 4,8 [--all]

Without --all 20 windows and one fidelity each."""

import csv
import fnmatch
import json
import pathlib
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path += [str(TESTS / "mpi"), str(TESTS.parent / "tools" / "python")]
import chameleon_trace  # noqa: E402
import harness  # noqa: E402
from harness import expect  # noqa: E402

LENGTH, STEPS = 16, 40
SLOW, MOVING = range(16, 32), range(32, 40)
SLOW_US, MOVING_US = 60_000, 60_000
MANY, FEW = 100, 20   # windows
ERRORS = ("5%", "20%")  # with the greater few ranks are sampled


def run(tools, what, ranks, program, **variables):
    folder = tools.fresh(what)
    trace = folder / "trace.cham"
    (folder / "raw").mkdir()
    outcome = tools.traced(ranks, program, trace, folder / "raw", cwd=folder, timeout=300,
                           CHAMELEON_EFFORT_STEPS=LENGTH,
                           **{"CHAMELEON_EFFORT": "compute", **variables})
    expect(outcome.status == 0 and trace.exists(), f"{what}: the traced run fails", outcome)
    return trace


def document(tools, verb, trace):
    outcome = tools.chameleon(verb, "--json", trace)
    expect(outcome.status == 0, f"{verb} fails", outcome)
    return json.loads(outcome.stdout)


def faulty(options, steps, *faults):
    program = [options.program, "--iterations", str(steps)]
    for fault in faults:
        program += ["--fault", fault]
    return program


def check_sums(where, tools, trace, windows, ranks):
    """Sums over ranks are those of the series, which every vote carries, within its 1/128."""
    spans = {span["first"]: span["compute"] for span in document(tools, "series", trace)["spans"]}
    seen = []
    for window in windows:
        expect(window["gap"] == "none" and window["ranks"] == ranks, f"{where}: {window}")
        for step in window["steps"]:
            span = spans[step["marker"]]
            seen.append(step["marker"])
            for mine, theirs in (("sum_seconds", "sum"), ("least_seconds", "least"),
                                 ("most_seconds", "most")):
                expect(abs(step[mine] - span[theirs]) <= span[theirs] / 64 + 2e-9,
                       f"{where}: marker {step['marker']}: {mine} {step[mine]}, series {span}")
        for at, step in enumerate(window["steps"]):
            of_strata = sum(one["mean_seconds"][at] * one["ranks"] for one in window["strata"])
            expect(abs(of_strata - step["sum_seconds"]) < 1e-8, f"{where}: strata: {of_strata}")
        expect(sum(one["ranks"] for one in window["strata"]) == ranks, f"{where}: strata")
    expect(seen == list(range(1, STEPS + 1)), f"{where}: steps {seen}")


def check_blame(where, windows, ranks):
    """The slow rank is alone in its stratum; each step in which the imbalance moves has its rank."""
    alone = [one for one in windows[1]["strata"] if one["ranks"] == 1]
    expect(any(one["medoid"] == 1 for one in alone), f"{where}: {windows[1]['strata']}")
    longest = max(windows[1]["strata"], key=lambda one: sum(one["mean_seconds"]))
    expect(longest["medoid"] == 1, f"{where}: {longest['medoid']} computes longest")
    for step in windows[2]["steps"]:
        expect(step["most_seconds"] >= 0.9e-6 * MOVING_US, f"{where}: {step}")


def check_readers(where, tools, options, trace, windows):
    """Python, C++ and the tables agree with the command."""
    read = chameleon_trace.read_trace(trace).efforts
    lines = []
    for window in read:
        gap = window.gap != "none"
        means = [0, 0, 0] if gap else [window.mean_ns, window.estimate_ns, window.claimed_error_ns]
        lines.append(["window", window.first, window.last, window.gap, window.ranks,
                      *(f"{mean:.0f}" for mean in means)])
        lines.append(["asked", window.unstratified, int(window.strata_pay), window.length,
                      f"{window.error:g}", f"{window.confidence:g}"])
        lines += [["step", *step] for step in window.steps]
        for one in window.strata:
            lines.append(["stratum", *one[:5]])
            lines += [["cell", *cell] for cell in zip(one.sum_ns, one.deviations_ns)]
            lines += [["sampled", rank, *ns] for rank, ns in one.sampled.items()]
    mine = [" ".join(map(str, line)) for line in lines]
    told = tools.run([options.nodes, trace, "efforts"]).stdout.decode().splitlines()
    wrong = [(a, b) for a, b in zip(mine, told) if a != b and not a.startswith("window")]
    expect(len(mine) == len(told) and not wrong, f"{where}: readers differ: {wrong[:3]}")
    for a, b in zip(mine, told):
        if a.startswith("window"):  # means are rounded to whole ns
            expect(a.split()[:5] == b.split()[:5] and
                   all(abs(int(x) - int(y)) <= 1 for x, y in zip(a.split()[5:], b.split()[5:])),
                   f"{where}: readers differ: {a}, {b}")
    expect([(one["first"], one["last"]) for one in windows] == [one[:2] for one in read], where)
    for one, other in zip(read, windows):
        if other["gap"] == "none":
            for name in ("mean", "estimate", "claimed_error"):
                expect(abs(getattr(one, f"{name}_ns") - 1e9 * other[f"{name}_seconds"]) < 1,
                       f"{where}: {name} of {other['first']}")


def check_tables(where, tools, trace, least=STEPS):
    folder = tools.fresh("tables")
    outcome = tools.chameleon("export", "--quiet", "--csv", folder, trace)
    expect(outcome.status == 0, f"{where}: export", outcome)
    read = chameleon_trace.read_trace(trace)
    for name in ("efforts", "samples"):
        with open(folder / f"{name}.csv", encoding="utf-8", newline="") as file:
            theirs = list(csv.reader(file))
        mine = [["" if value is None else str(value) for value in row] for row in read.rows(name)]
        expect(theirs[0] == list(chameleon_trace.COLUMNS[name]), f"{where}: {theirs[0]}")
        expect(theirs[1:] == mine and len(mine) >= least, f"{where}: table {name} differs")


def said_of(tools, trace):
    """The status of `verify`, and how many windows of how many it made again."""
    outcome = tools.chameleon("verify", "--json", trace, "--raw", trace.parent / "raw")
    said = json.loads(outcome.stdout or "{}").get("efforts", {"equal": 0, "windows": 0})
    return outcome.status, said["equal"], said["windows"]


def check_made_again(where, tools, trace, windows, ranks):
    """Virtual ranks make the same windows; and would not of anything else."""
    expect(said_of(tools, trace) == (0, windows, windows), f"{where}: {said_of(tools, trace)}")
    text = tools.chameleon("verify", trace, "--raw", trace.parent / "raw")
    expect(f"effort windows: {windows} of {windows} as ".encode() in text.stdout, where, text)
    path = trace.parent / "raw" / f"rank.{ranks - 1}.raw"
    records = path.read_text(encoding="utf-8")
    line = next(one for one in records.splitlines() if one.startswith("# efforts "))
    words = line.split()
    for words[-1], expected in ((str(int(words[-1]) + 1), (1, windows - 1, windows)),
                                ("x", (3, 0, 0)), ("", (3, 0, 0))):
        path.write_text(records.replace(line, " ".join(words)), encoding="utf-8")
        expect(said_of(tools, trace) == expected, f"{where}: {words[-1]}: {said_of(tools, trace)}")
    path.write_text(records.replace(line + "\n", ""), encoding="utf-8")
    expect(said_of(tools, trace) == (0, windows - 1, windows - 1), f"{where}: a line is missing")


def check_faults(tools, options, ranks, fidelity):
    where = f"{ranks} ranks, {fidelity}"
    faults = [f"slow:1:{SLOW[0]}-{SLOW[-1]}:{SLOW_US}"] if ranks > 1 else []
    faults.append(f"moving:{MOVING[0]}-{MOVING[-1]}:{MOVING_US}")
    trace = run(tools, f"faults.n{ranks}.{fidelity}", ranks, faulty(options, STEPS, *faults),
                CHAMELEON_FIDELITY=fidelity)
    windows = document(tools, "sample", trace)["windows"]
    expect([(one["first"], one["last"]) for one in windows] == [(1, 16), (17, 32), (33, 40)],
           f"{where}: {windows}")
    check_sums(where, tools, trace, windows, ranks)
    if ranks > 2:
        check_blame(where, windows, ranks)
    check_readers(where, tools, options, trace, windows)
    check_tables(where, tools, trace)
    check_made_again(where, tools, trace, len(windows), ranks)
    report = document(tools, "report", trace)
    expect(report["efforts"] == windows, f"{where}: the report has other windows")
    text = tools.chameleon("sample", trace)
    expect(text.status == 0 and text.stdout.count(b"\n") == 10, f"{where}: text", text)
    text = tools.chameleon("sample", "--marker", 20, trace)
    expect(text.status == 0 and text.stdout.count(b"\n") == 17 + len(windows[1]["strata"]),
           f"{where}: text", text)
    expect(tools.chameleon("sample", "--marker", 41, trace).status == 2, f"{where}: marker 41")


def check_claims(tools, options, ranks, error):
    """Claims hold as often as they say. They are bounds, so nearly always: 95 of 100 leaves room."""
    many = MANY if options.all else FEW
    steps = LENGTH * many
    trace = run(tools, "claims", ranks, faulty(options, steps, f"moving:0-{steps}:300"),
                CHAMELEON_EFFORT_ERROR=error)
    said = document(tools, "sample", trace)
    windows = said["windows"]
    expect(len(windows) == many, f"{len(windows)} windows")
    held = sum(one["holds"] for one in windows)
    sampled, fewer = (sum(one[name] for one in windows) for name in ("sampled", "by_equation_1"))
    within = sum(one["claimed_error_seconds"] <= 1.002 * said["error"] * one["mean_seconds"]
                 for one in windows)
    print(f"{ranks} ranks, {error}: the claimed error holds in {held} of {many} windows and in "
          f"{said['steps_held']} of {said['steps']} steps, {within} claims are within {error}, "
          f"{100 * sampled / many / ranks:.0f} % of ranks sampled, by Eq. 1 "
          f"{100 * fewer / many / ranks:.0f} %", flush=True)
    expect(held >= 0.95 * many and held == said["windows_held"], f"the claim holds in {held} windows")
    expect(said["steps_held"] >= 0.95 * said["steps"], f"in {said['steps_held']} steps")
    expect(within == many, f"{within} claims are what was asked for")
    expect(fewer <= sampled, f"{sampled} ranks were sampled, by Eq. 1 {fewer}")
    expect(sampled < many * ranks or error == ERRORS[0], "every rank was sampled in every window")
    text = tools.chameleon("sample", trace).stdout
    expect(b"sampled: " in text and b"(Eq. 1)" in text, f"text: {text[-300:]}")
    expect(said_of(tools, trace) == (0, many, many), f"virtual ranks: {said_of(tools, trace)}")


def seconds_in(folder, wanted, columns=(1,)):
    """Seconds of calls, over all ranks, by the marker that ends the interval: time in them, or with
    columns 0 or 0 and 1 computation before them, or both. `wanted(call, path)` says of which."""
    sums, calls = {}, set()
    for path in folder.glob("rank.*.raw"):
        marker, call = 1, None
        for line in path.read_text(encoding="utf-8").splitlines():
            words = line.split(maxsplit=4)
            if line.startswith("# marker "):
                marker = int(words[2]) + 1
            elif line.startswith("# spent "):
                if wanted(call, int(words[4], 16)):
                    calls.add(call)
                    for column in columns:
                        sums[marker] = sums.get(marker, 0) + 1e-9 * int(words[2 + column])
            elif not line.startswith("#"):
                call = words[0]
    return sums, calls


def check_against_raw(where, tools, trace, wanted, columns=(1,)):
    """The windows have what raw records say of these calls; gives the calls."""
    sums, calls = seconds_in(trace.parent / "raw", wanted, columns)
    said = document(tools, "sample", trace)
    steps = [step for window in said["windows"] for step in window["steps"]]
    expect(len(steps) == 40, f"{where}: {len(steps)} steps")
    for step in steps:
        raw = sums.get(step["marker"], 0)
        expect(abs(step["sum_seconds"] - raw) <= 0.01 * raw + 2e-6, f"{where}: {step}, raw {raw}")
    expect(said_of(tools, trace)[0] == 0, f"{where}: windows made again")
    return calls


def check_sites(tools, program, ranks):
    """Efforts of calls that certain functions make."""
    cases = (("compute@exchange", {"exchange"}, None, (0,)),
             ("@*Solver::pass_on,add_up", {"pass_on", "add_up"}, None, (0, 1)),
             ("Irecv,MPI_Wait*@main", {"main"}, {"Irecv", "Waitall"}, (1,)))
    for number, (effort, functions, calls, columns) in enumerate(cases):
        trace = run(tools, f"sites{number}.n{ranks}", ranks, program, CHAMELEON_EFFORT=effort)
        read = chameleon_trace.read_trace(trace)

        def made_in(path):
            names = {name.rsplit("::", 1)[-1].split("(")[0] for name, *_ in read.lines(path)}
            return bool(names & functions)

        found = check_against_raw(effort, tools, trace, lambda call, path: made_in(path) and
                                  (calls is None or call in calls), columns)
        expect(found == (calls or found) and found, f"{effort}: calls {found}")
        expect(document(tools, "sample", trace)["effort"] == effort, effort)
    trace = run(tools, f"none.n{ranks}", ranks, program, CHAMELEON_EFFORT="@no_such_function")
    text = tools.chameleon("sample", trace)
    expect(b"nothing was measured: no call path has such a function" in text.stdout, "none", text)


def check_quantities(tools, options, ranks):
    """Efforts that are time in calls: in all of them, and in some."""
    program = faulty(options, 40, "slow:1:16-31:3000") if ranks > 1 else faulty(options, 40)
    trace = run(tools, f"communication.n{ranks}", ranks, program, CHAMELEON_EFFORT="communication")
    spans = {span["first"]: span["in_calls"] for span in document(tools, "series", trace)["spans"]}
    said = document(tools, "sample", trace)
    expect(said["effort"] == "communication", said["effort"])
    for step in [step for window in said["windows"] for step in window["steps"]]:
        span = spans[step["marker"]]
        expect(abs(step["sum_seconds"] - span["sum"]) <= span["sum"] / 64 + 2e-9, f"{step}, {span}")
    text = tools.chameleon("sample", trace)
    expect(text.stdout.startswith(b"measured: time in MPI calls\n"), "communication", text)
    names = "All*,MPI_Wait*"
    trace = run(tools, f"calls.n{ranks}", ranks, program, CHAMELEON_EFFORT=names)
    said = document(tools, "sample", trace)
    expect(said["effort"] == names, said["effort"])
    calls = check_against_raw(names, tools, trace, lambda call, _: any(
        fnmatch.fnmatchcase(call, pattern) for pattern in ("All*", "Wait*")))
    expect(len(calls) > 1, f"calls of {names}: {calls}")
    check_sites(tools, program, ranks)


def check_uneven(tools, options):
    """Ranks that call markers unevenly, and one that goes early: nothing is said of what differs."""
    cases = (("fewer", 20), ("ends", 11), ("extra", 10))
    for case, last in cases if options.all else cases[1:2]:
        trace = run(tools, f"uneven.{case}", 4, [options.uneven, case, 20, 1, 0],
                    CHAMELEON_MARKER_TIMEOUT=1)
        windows = document(tools, "sample", trace)["windows"]
        expect(windows and windows[-1]["gap"] in ("stopped", "uneven"), f"{case}: {windows}")
        expect(all(one["gap"] == "none" for one in windows[:-1]), f"{case}: {windows}")
        expect(windows[-1]["last"] >= last, f"{case}: {windows}")
        text = tools.chameleon("sample", trace)
        expect(text.status == 0 and b"given up: " in text.stdout, f"{case}: text", text)
        check_tables(f"uneven {case}", tools, trace, least=0)
        gaps = [row for row in chameleon_trace.read_trace(trace).rows("efforts") if row[-1] != "none"]
        expect(len(gaps) == 1 and gaps[0][:3] == (windows[-1]["first"], windows[-1]["last"], None),
               f"{case}: {gaps}")
        check_readers(case, tools, options, trace, windows)
        expect(tools.chameleon("report", trace, "-o", trace.parent / "page.html").status == 0, case)


def check_settings(tools, options):
    """Off there is nothing; a malformed value is said before the job starts."""
    trace = run(tools, "off", 2, faulty(options, 20), CHAMELEON_EFFORT="off")
    expect(document(tools, "sample", trace)["windows"] == [], "windows without CHAMELEON_EFFORT")
    expect(b"no effort windows" in tools.chameleon("sample", trace).stdout, "off: text")
    expect("efforts" not in document(tools, "report", trace), "off: the report has windows")
    for option, value in (("effort", "maybe"), ("effort-steps", "40"), ("effort-steps", "8"),
                          ("effort-k", "65"), ("effort-error", "0"), ("effort-confidence", "1")):
        outcome = tools.chameleon("run", f"--{option}", value, "--", options.program)
        name = "CHAMELEON_" + option.upper().replace("-", "_")
        expect(outcome.status == 2 and outcome.stderr.count(b"\n") == 1 and
               f"{name}='{value}' is malformed".encode() in outcome.stderr, option, outcome)


def check(tools, options, ranks):
    largest = ranks == max(map(int, options.ranks.split(",")))
    for fidelity in ("exact", "lead") if options.all else ("lead" if largest else "exact",):
        harness.tried(check_faults, tools, options, ranks, fidelity)
    if largest:
        for error in ERRORS if options.all else ERRORS[1:]:
            check_claims(tools, options, ranks, error)
        check_quantities(tools, options, ranks)
        check_uneven(tools, options)
        check_settings(tools, options)


def main():
    arguments = harness.parser_of_ranks(__doc__)
    arguments.add_argument("--nodes", required=True, help="prints what the C++ reader has")
    arguments.add_argument("--uneven", required=True, help="ranks that call markers unevenly")
    arguments.add_argument("--all", action="store_true", help="100 windows, and all else")
    options = arguments.parse_args()
    harness.main_of_ranks("effort", options, check)


if __name__ == "__main__":
    main()
