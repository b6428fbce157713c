#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A matrix of real programs from Debian packages: each runs without the tracer, and with it.

    matrix.py --tools TOOLS.json [--modes MODE...] [--only NAME...] [--table FILE] FAMILY...

Modes, all of them by default:
    off      CHAMELEON_CLUSTERING=off
    on       the default settings: no program here has a marker
    auto     markers are found (CHAMELEON_MARKERS=auto), each of which is acted on
    marked   the same, and markers after every few of the program's collectives (support/marks.c)

Families: scalapack, coarrays, nwchem, bagel, yorick, hdf5, examples, tachyon. Exit status and
output must agree (numbers with a decimal point masked, lines sorted, for some vary by themselves;
a program whose untraced result varies too is run until both have shown the same result).
A program that ends well untraced must leave a trace of which every value verifies against raw
records, none of its events missing, and whose sends and receives match, in every mode; in `marked`
with as many states of the graph as markers were acted on. A family whose package is
not installed is skipped with a line that names it. A table of what was run comes last."""

import dataclasses
import json
import pathlib
import re
import shutil
import sys
import time
from typing import Callable, Dict, List, Optional

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "mpi"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import harness  # noqa: E402  (the path has to be set first)
import run_real  # noqa: E402
from harness import expect  # noqa: E402

SOURCES = pathlib.Path(__file__).resolve().parent
LIBRARIES = pathlib.Path("/usr/lib/x86_64-linux-gnu")
COARRAYS = LIBRARIES / "open-coarrays/mpich/bin/OpenCoarrays-2.10.1-tests"
EXAMPLES = pathlib.Path("/usr/share/doc/mpich/examples")
SIZES = re.compile(r"^([3-9])(\s+number of (?:problems? sizes|N?B?RHS's|NB's|blocking sizes|"
                   r"process(?:or)? grids))", re.M | re.I)
HANGS = "hangs"
PATIENCE = 30  # seconds for a small program; some of the coarray tests never end
TRIES = 10     # runs of a program that varies by itself, until traced and untraced agree
MODES = {"off": {"CHAMELEON_CLUSTERING": "off"}, "on": {}, "marked": {},
         "auto": {"CHAMELEON_MARKERS": "auto", "CHAMELEON_CALL_FREQUENCY": "1"}}


class Missing(Exception):
    """The package that a family needs."""


@dataclasses.dataclass
class Program:
    name: str
    command: List[str]
    ranks: int = 2
    files: Dict[str, str] = dataclasses.field(default_factory=dict)
    prepare: Optional[Callable] = None  # of the work folder
    lines: bytes = b""                  # only lines of output with this word are compared
    patience: int = 300
    matches: bool = True                # every send has its receive
    ends: bool = True                   # every rank reaches MPI_Finalize


def need(path, package):
    found = shutil.which(str(path)) or (str(path) if pathlib.Path(path).exists() else None)
    if not found:
        raise Missing(package)
    return found


def compiled(tools, compiler, source, name, *options):
    output = tools.folder / "built" / name
    output.parent.mkdir(exist_ok=True)
    outcome = tools.run([compiler, "-w", "-O1", "-g", source, "-o", output, *options])
    expect(outcome.status == 0, f"{source}: does not compile", outcome)
    return str(output)


def scalapack(tools):
    folder = run_real.SCALAPACK
    need(folder / "xdlu", "scalapack-mpi-test")

    def copy_data(work):
        """At most two sizes, blockings and grids: as they come, the tests take minutes each."""
        for data in folder.glob("*.dat"):
            (work / data.name).write_text(SIZES.sub(r"2\2", data.read_text()))

    names = [prefix + rest for prefix in ("xs", "xd", "xc", "xz")
             for rest in ("lu", "llt", "qr", "brd", "trd", "hrd", "inv", "gblu", "dblu", "dtlu",
                          "pbllt", "ptllt")]
    # Not xdsyevr, which branches on variables that it never sets (valgrind): what was on its stack
    # before decides how many of its tests fail.
    names += ["xsls", "xdsvd", "xzevc", "xdhseqr", "xdnep"]
    return [Program(f"scalapack {name}", [str(folder / name)], 4, prepare=copy_data, patience=90)
            for name in names if (folder / name).exists()]


def coarrays(tools):
    need(COARRAYS / "co_sum_test", "libcoarrays-mpich-dev")
    # At the end ranks tell each other that they stop, by messages that nobody receives.
    # Images that fail, or all stop, end the job with MPI_Abort, also with status 0, which does not
    # always reach stderr.
    abort = ("image_fail", "issue-493")
    return [Program(f"coarrays {path.name}", [str(path)], 4, matches=False,
                    ends=not path.name.startswith(abort),
                    patience=300 if "burgers" in path.name else PATIENCE)
            for path in sorted(COARRAYS.iterdir()) if path.is_file()]


WATER = """start water
geometry units angstrom
 O 0 0 0.1173
 H 0 0.7572 -0.4692
 H 0 -0.7572 -0.4692
end
basis
 * library 6-31g
end
dft
 xc b3lyp
end
task dft
"""


def nwchem(tools):
    return [Program("nwchem water DFT", [need("nwchem.mpich", "nwchem-mpich"), "water.nw"],
                    files={"water.nw": WATER}, lines=b"nergy")]


def bagel(tools):
    program = need("BAGEL", "bagel")
    examples = pathlib.Path("/usr/share/doc/bagel/examples")
    names = ("hf_svp_hf", "hf_sto3g_fci_dist", "hhe_svp_ras_full", "oh_svp_uhf")
    return [Program(f"bagel {name}", [program, str(examples / f"{name}.json")], lines=b"nergy")
            for name in names]




def yorick(tools):
    program = need("mpy.mpich2", "yorick-mpy-mpich2")
    script = pathlib.Path("/usr/share/doc/yorick-mpy-common/examples/testmp.i.gz")

    def unpack(work):
        with open(work / "testmp.i", "wb") as out:
            out.write(tools.run(["zcat", script]).stdout)

    line = f"printf 'testmp\\nquit\\n' | {program} -j testmp.i"
    return [Program(f"yorick task pool, {ranks} ranks", ["sh", "-c", line], ranks, prepare=unpack)
            for ranks in (3, 4)]


def hdf5(tools):
    compiler = need("h5pcc.mpich", "libhdf5-mpich-dev")
    program = compiled(tools, compiler, SOURCES / "hdf5_program.c", "hdf5_program")
    return [Program(f"hdf5 {mode}", [program, mode], 4) for mode in ("collective", "independent")]


def examples(tools):
    need(EXAMPLES / "cpi.c", "mpich-doc, mpich")
    compiler = need("mpicc.mpich", "libmpich-dev")
    programs = []
    for name in ("cpi", "hellow", "srtest"):
        programs.append(Program(f"mpich {name}", [compiled(tools, compiler, EXAMPLES / f"{name}.c",
                                                           name, "-lm")], 3))
    for name in ("pmandel", "pmandel_fence"):
        program = compiled(tools, compiler, EXAMPLES / f"{name}.c", name, "-lm")
        # One picture, and the end: rank 0 reads what to draw.
        line = f"printf '%s\\n' '-1 -1 1 1 50' '0 0 0 0 0' | {program} -i -nosave " \
               "-xscale 40 -yscale 40"
        programs.append(Program(f"mpich {name}", ["sh", "-c", line], 4, lines=b"x0,y0"))
    fortran = need("mpifort.mpich", "libmpich-dev")
    for folder, source in (("f77", "fpi.f"), ("f90", "pi3f90.f90"), ("f77", "hellow.f")):
        path = EXAMPLES / folder / source
        if path.exists():
            program = compiled(tools, fortran, path, source + ".x", "-fallow-argument-mismatch")
            line = f"printf '%s\\n' 500 0 | {program}"
            programs.append(Program(f"mpich {source}", ["sh", "-c", line], 2))
    return programs


def tachyon(tools):
    need("/usr/include/tachyon.h", "libtachyon-mpich-0-dev")
    compiler = need("mpicc.mpich", "libmpich-dev")
    program = compiled(tools, compiler, SOURCES / "tachyon_program.c", "tachyon_program",
                       "-ltachyon-mpich", "-lm")
    return [Program("tachyon", [program], 3)]


FAMILIES = {one.__name__: one for one in (scalapack, coarrays, nwchem, bagel, yorick, hdf5,
                                          examples, tachyon)}


def run(tools, program, folder, mode=None):
    """Traced in this mode, or without the tracer: outcome and seconds."""
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
    return outcome, time.monotonic() - begin


def shown(program, outcome):
    # UCX warns, with addresses, of messages that were not received.
    text = b"\n".join(line for line in outcome.stdout.splitlines() if program.lines in line
                      and b" UCX " not in line)
    return run_real.masked(text)


def aborts(outcome):
    said = outcome.stdout + outcome.stderr
    return b"called MPI_Abort" in said or b"chameleon: MPI_Abort on rank" in said


def check_trace(tools, program, mode, trace, raw):
    """Of a program that ended well: events, and how it was verified."""
    report = tools.verify(trace, raw, timeout=900)
    expect(report["trace_events"] == report["raw_events"], "events are missing")
    if program.matches:
        tools.check(trace, timeout=900)
    if mode == "off":
        return report["trace_events"], ""
    facts = json.loads(tools.chameleon("info", "--json", trace, timeout=900).stdout)
    states = [facts[f"count_{state}"] for state in ("at", "c", "l")]
    expect(sum(states) == facts["acted"],
           f"{facts['acted']} markers acted on, states {states}")
    return report["trace_events"], "/".join(map(str, states)) + (
        f" {facts['facts']['run'].get('marker_source', 'none')}" if mode == "auto" else "")


def difference(program, plain, traced):
    """What a user would see change; empty: nothing."""
    if plain.status != traced.status:
        return "exit status changes"
    # Some abort with status 0, or end a rank by a signal.
    if plain.status != 0 or not program.ends:
        return ""
    if aborts(plain) != aborts(traced):
        return "aborts, or no more"
    before, after = shown(program, plain), shown(program, traced)
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
        if plain and not difference(program, plain[0], traced[0]):
            break
        if plain and 0 != plain[0].status != traced[0].status != 0:
            traced = run(tools, program, folder, mode)
        before, plain = plain, run(tools, program, folder)
        changed = difference(program, before[0], plain[0]) if before else ""
        if changed:
            print(f"{program.name}: untraced, {changed}")
    return plain, traced


def compare(tools, program, modes):
    """Rows of the table."""
    folder = tools.fresh("program")
    untraced, rows = None, []
    for mode in modes:
        where = f"{program.name}, {mode}"
        untraced, (traced, traced_seconds) = both(tools, program, folder, mode, untraced)
        plain, seconds = untraced
        changed = difference(program, plain, traced)
        expect(not changed, f"{where}: {changed}", plain, traced)
        row = [program.name, str(program.ranks), mode, str(plain.status), str(traced.status)]
        if plain.status == HANGS:
            rows.append(row + [""] * 6)
            continue
        events = states = verified = size = ""
        # No whole trace can be asked of those that abort.
        if plain.status == 0 and program.ends and not aborts(plain):
            trace = folder / f"{mode}.cham"
            expect(trace.exists(), f"{where}: no trace", traced)
            try:
                events, states = check_trace(tools, program, mode, trace, folder / f"raw-{mode}")
            except harness.Failure as failure:
                raise harness.Failure(f"{where}: {failure}") from None
            verified, size = "100 %", f"{trace.stat().st_size} bytes"
        rows.append(row + [f"{seconds:.1f}", f"{traced_seconds:.1f}", str(events), states, size,
                           verified])
    return rows


def main():
    arguments = harness.parser(__doc__)
    arguments.add_argument("--modes", nargs="+", choices=list(MODES), default=list(MODES))
    arguments.add_argument("--only", nargs="*", help="words: programs whose names have one")
    arguments.add_argument("--table", type=pathlib.Path, help="write the table here")
    arguments.add_argument("families", nargs="+", choices=sorted(FAMILIES))
    options = arguments.parse_args()

    def body(tools):
        rows, failed, count = [], [], 0
        for family in options.families:
            try:
                programs = FAMILIES[family](tools)
            except Missing as package:
                print(f"{family}: skipped: not installed: {package}")
                continue
            for program in programs:
                if options.only and not any(word in program.name for word in options.only):
                    continue
                count += 1
                try:
                    done = compare(tools, program, options.modes)
                    rows += done
                    print("\n".join(" | ".join(row) for row in done))
                except harness.Failure as failure:
                    failed.append(str(failure))
                    print(f"{program.name}: FAILED")
                sys.stdout.flush()
        head = ["program", "ranks", "mode", "status", "traced", "s", "s traced", "events",
                "AT/C/L", "trace", "verified"]
        table = "\n".join("| " + " | ".join(row) + " |" for row in
                          [head, ["---"] * len(head), *rows])
        if options.table:
            options.table.write_text(table + "\n")
        expect(not failed, f"{len(failed)} of {count} programs:\n" +
               "\n".join(failed))

    harness.main("matrix", options, body)


if __name__ == "__main__":
    main()
