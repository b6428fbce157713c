#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A matrix of real programs from Debian packages: each runs without the tracer, and with it.

    matrix.py --tools TOOLS.json [--modes MODE...] [--only NAME...] [--table FILE]
              [--summary FILE] FAMILY...

Modes, all of them by default:
    off      CHAMELEON_CLUSTERING=off
    on       the default settings: no program here has a marker
    auto     markers are found (CHAMELEON_MARKERS=auto), each of which is acted on
    marked   the same, and markers after every few of the program's collectives (support/marks.c)

Families are functions in programs.py and mpich_programs.py for the tools of MPICH, and in
programs.py and openmpi_programs.py for those of Open MPI. Exit status and output must agree
(numbers with a decimal point masked, lines sorted, for some vary by themselves; for some programs
the lines that matter, and files that they write, exactly; a program whose untraced result varies
too is run until both have shown the same result; of one that varies each time only the trace is
judged). A program that ends well untraced must leave a trace of which every value verifies against
raw records, none of its events missing, and in which `check` finds nothing, or what is known of the
program, in every mode; in `marked` with as many states of the graph as markers were acted on; in
`on` a replay without computing runs to its end, with a scratch folder for files, and a report can
be made. A family whose package is not installed is skipped with a line that names it. A table of
what was run comes last."""

import hashlib
import json
import pathlib
import re
import shutil
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "mpi"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import harness  # noqa: E402  (the path has to be set first)
import mpich_programs  # noqa: E402
import openmpi_programs  # noqa: E402
import programs as shared  # noqa: E402
import run_real  # noqa: E402
from harness import expect  # noqa: E402

HANGS = "hangs"
TRIES = 10     # runs of a program that varies by itself, until traced and untraced agree
MODES = {"off": {"CHAMELEON_CLUSTERING": "off"}, "on": {}, "marked": {},
         "auto": {"CHAMELEON_MARKERS": "auto", "CHAMELEON_CALL_FREQUENCY": "1"}}
FAMILIES = {"mpich": {one.__name__: one for one in (*shared.OF_BOTH, *mpich_programs.OF_MPICH)},
            "openmpi": {one.__name__: one
                        for one in (*shared.OF_BOTH, *openmpi_programs.OF_OPENMPI)}}


def run(tools, program, folder, mode=None):
    """Traced in this mode, or without the tracer: outcome, seconds, and what it shows."""
    work = folder / (mode or "plain")
    for old in (work, folder / f"raw-{mode}"):
        shutil.rmtree(old, ignore_errors=True)
    (folder / f"{mode}.cham").unlink(missing_ok=True)
    work.mkdir()
    for name, text in program.files.items():
        (work / name).write_text(text)
    if program.prepare:
        program.prepare(work)
    begin = time.monotonic()
    try:
        if mode:
            (folder / f"raw-{mode}").mkdir()
            libraries = [tools.marks] * (mode == "marked") + [tools.library]
            outcome = tools.job(program.ranks, program.command, preload=libraries, cwd=work,
                                timeout=program.patience, **MODES[mode],
                                CHAMELEON_OUTPUT=folder / f"{mode}.cham",
                                CHAMELEON_RAW=folder / f"raw-{mode}")
        else:
            outcome = tools.job(program.ranks, program.command, cwd=work,
                                timeout=program.patience)
    except harness.Failure as failure:
        expect("not done after" in str(failure), str(failure))
        outcome = harness.Outcome(HANGS, b"", b"")
    seconds = time.monotonic() - begin
    return outcome, seconds, shown(program, outcome, work)


def shown(program, outcome, work):
    """What is to be the same: lines, and digests of files."""
    text = outcome.stdout
    if program.report and (work / program.report).exists():
        text = (work / program.report).read_bytes()
    # UCX warns, with addresses, of messages that were not received.
    lines = [line for line in text.splitlines() if re.search(program.lines, line)
             and b" UCX " not in line]
    found = sorted(lines) if program.exact else run_real.masked(b"\n".join(lines))
    for path in sorted(work.glob(program.results)) if program.results else ():
        if path.is_file():
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            found.append(f"{path.relative_to(work)} {digest}".encode())
    return found


def aborts(outcome):
    said = outcome.stdout + outcome.stderr
    return b"called MPI_Abort" in said or b"chameleon: MPI_Abort on rank" in said


def finds(tools, program, trace):
    """What `check` says: nothing, or what is known of the program. With another library's wrappers
    before the tracer's, as in `marked`, the trace declares what they may hide."""
    outcome = tools.chameleon("check", trace, "--json", timeout=900)
    if outcome.status == 0:
        return "consistent"
    report = json.loads(outcome.stdout)
    kinds = {problem["kind"] for problem in report["problems"] + report["declared"]}
    expect(program.finding and kinds and kinds <= set(program.kind.split()), f"{trace.name}: check", outcome)
    return program.finding


def replayed(tools, program, trace, folder):
    """The trace, replayed and made a report of."""
    report = folder / "report.html"
    outcome = tools.chameleon("report", trace, "-o", report, timeout=900)
    expect(outcome.status == 0 and report.stat().st_size > 10_000, f"{trace.name}: report", outcome)
    if not program.replays:
        return "no"
    scratch = tools.fresh("scratch")
    outcome = tools.replay(program.ranks, trace, "--json", f"--scratch={scratch}", timeout=900)
    expect(outcome.status == 0, f"{trace.name}: replay", outcome)
    left_out = json.loads(outcome.stdout)["left_out"]
    return "whole" if not left_out else "without " + ", ".join(sorted(left_out))


def check_trace(tools, program, mode, folder):
    """Of a program that ended well: events, states, what `check` finds, how it replays."""
    trace = folder / f"{mode}.cham"
    report = tools.verify(trace, folder / f"raw-{mode}", timeout=900)
    expect(report["trace_events"] == report["raw_events"], "events are missing")
    row = {"events": report["trace_events"], "states": "", "replay": "",
           "check": finds(tools, program, trace), "bytes": trace.stat().st_size}
    if mode == "on":
        row["replay"] = replayed(tools, program, trace, folder)
    if mode != "off":
        facts = json.loads(tools.chameleon("info", "--json", trace, timeout=900).stdout)
        states = [facts[f"count_{state}"] for state in ("at", "c", "l")]
        expect(sum(states) == facts["acted"],
               f"{facts['acted']} markers acted on, states {states}")
        row["states"] = "/".join(map(str, states))
        if mode == "auto":
            row["states"] += f" {facts['facts']['run'].get('marker_source', 'none')}"
    return row


def difference(program, plain_run, traced_run):
    """What a user would see change; empty: nothing."""
    (plain, _, before), (traced, _, after) = plain_run, traced_run
    if program.varies:
        return ""
    if plain.status != traced.status:
        return "exit status changes"
    # Some abort with status 0, or end a rank by a signal.
    if plain.status != 0 or not program.ends:
        return ""
    if aborts(plain) != aborts(traced):
        return "aborts, or no more"
    if aborts(plain) or before == after:
        return ""
    gone = [line for line in before if line not in set(after)][:3]
    come = [line for line in after if line not in set(before)][:3]
    return f"output changes: {gone} became {come}"


def both(tools, program, folder, mode, plain):
    """Outcome and seconds untraced and traced. Some vary by themselves, in which of the failing
    ranks is seen first or in races of their own: they run until both have shown the same."""
    traced = run(tools, program, folder, mode)
    for _ in range(TRIES):
        if plain and not difference(program, plain, traced):
            break
        if plain and 0 != plain[0].status != traced[0].status != 0:
            traced = run(tools, program, folder, mode)
        before, plain = plain, run(tools, program, folder)
        changed = difference(program, before, plain) if before else ""
        if changed:
            print(f"{program.name}: untraced, {changed}")
    return plain, traced


def compare(tools, program, modes):
    """Rows of the table."""
    folder = tools.fresh("program")
    untraced, rows = None, []
    for mode in modes:
        where = f"{program.name}, {mode}"
        untraced, traced_run = both(tools, program, folder, mode, untraced)
        changed = difference(program, untraced, traced_run)
        (plain, seconds, _), (traced, traced_seconds, _) = untraced, traced_run
        expect(not changed, f"{where}: {changed}", plain, traced)
        row = {"program": program.name, "ranks": program.ranks, "mode": mode,
               "status": plain.status, "traced": traced.status}
        rows.append(row)
        if HANGS in (plain.status, traced.status):
            continue
        row.update({"s": f"{seconds:.1f}", "s traced": f"{traced_seconds:.1f}"})
        # No whole trace can be asked of those that abort.
        if traced.status == 0 and program.ends and not aborts(plain) and not aborts(traced):
            expect((folder / f"{mode}.cham").exists(), f"{where}: no trace", traced)
            try:
                row.update(check_trace(tools, program, mode, folder), verified="100 %")
            except harness.Failure as failure:
                raise harness.Failure(f"{where}: {failure}") from None
    return rows


COLUMNS = ("program", "ranks", "mode", "status", "traced", "s", "s traced", "events", "states",
           "bytes", "verified", "check", "replay")


def table(rows):
    cells = [[str(row.get(name, "")) for name in COLUMNS] for row in rows]
    return "\n".join("| " + " | ".join(row) + " |"
                     for row in [COLUMNS, ["---"] * len(COLUMNS), *cells]) + "\n"


def summary(mpi, family, rows):
    """A family without failures in one row, as in docs/reference/real-programs.md."""
    programs = {row["program"] for row in rows}
    verified = [row for row in rows if "verified" in row]
    found = sorted({row["check"] for row in verified} - {"consistent"})
    replays = [row["replay"] for row in verified if row["replay"] not in ("", "no")]
    whole = sum(replay == "whole" for replay in replays)
    ranks = sorted({row["ranks"] for row in rows})
    sizes = [row["bytes"] for row in verified] or [0]
    events = [row["events"] for row in verified] or [0]
    return (f"| {family} | {mpi} | {len(programs)} | {', '.join(map(str, ranks))} | {len(rows)} | 0 "
            f"| {len(verified)} of {len(verified)} | {'; '.join(found) or 'consistent'} "
            f"| {whole} of {len(replays)} | {max(events):,} | {max(sizes):,} |")


def run_families(tools, options):
    """Rows of each family, failures with their families, and how many programs were run."""
    rows, failed, count = {}, [], 0
    for family in options.families:
        expect(family in FAMILIES[tools.mpi],
               f"no family {family} of {tools.mpi}, but {', '.join(FAMILIES[tools.mpi])}")
        try:
            programs = FAMILIES[tools.mpi][family](tools)
        except shared.Missing as package:
            print(f"{family}: skipped: not installed: {package}")
            continue
        for program in programs:
            if options.only and not any(word in program.name for word in options.only):
                continue
            count += 1
            try:
                done = compare(tools, program, options.modes)
                rows.setdefault(family, []).extend(done)
                print(table(done).split("\n", 2)[2], end="")
            except harness.Failure as failure:
                failed.append((family, str(failure)))
                print(f"{program.name}: FAILED: {failure}")
            sys.stdout.flush()
    return rows, failed, count


def main():
    arguments = harness.parser(__doc__)
    arguments.add_argument("--modes", nargs="+", choices=list(MODES), default=list(MODES))
    arguments.add_argument("--only", nargs="*", help="words: programs whose names have one")
    arguments.add_argument("--table", type=pathlib.Path, help="write the table here")
    arguments.add_argument("--summary", type=pathlib.Path, help="add a line a family to this")
    arguments.add_argument("families", nargs="+")
    options = arguments.parse_args()

    def body(tools):
        rows, failed, count = run_families(tools, options)
        if options.table:
            options.table.write_text(table(sum(rows.values(), [])))
        if options.summary:
            with open(options.summary, "a", encoding="utf-8") as out:
                out.writelines(summary(tools.mpi, *one) + "\n" for one in rows.items()
                               if one[0] not in {family for family, _ in failed})
        expect(not failed, f"{len(failed)} of {count} programs:\n"
               + "\n".join(failure for _, failure in failed))

    harness.main("matrix", options, body)


if __name__ == "__main__":
    main()
