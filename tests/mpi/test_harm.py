#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What goes wrong around a trace costs one line, and never the application's result.

    test_harm.py --tools TOOLS.json --examples FOLDER [--only NAME]"""

import json
import pathlib
import shutil
import subprocess
import sys

import harness
from harness import expect

HEADER = 16  # bytes of a trace file before its first commit
COMMIT = 40  # bytes of a commit before its payload
VERBS = (["info"], ["print"], ["stats"], ["check"], ["replay"])
TESTS = []


def test(function):
    TESTS.append(function)
    return function


class Harm:
    def __init__(self, tools, examples):
        self.tools = tools
        self.examples = pathlib.Path(examples)
        self.multigrid = [self.examples / "multigrid", "--iterations", "2"]
        folder = tools.fresh("good")
        self.good = folder / "good.cham"
        self.raw = folder / "raw"
        self.raw.mkdir()
        outcome = tools.traced(2, self.multigrid, self.good, raw=self.raw)
        expect(outcome.status == 0, "the good trace", outcome)
        self.bytes = self.good.read_bytes()
        self.plain = tools.job(2, self.multigrid)

    def file(self, name, content):
        path = self.tools.folder / f"{name}.cham"
        path.write_bytes(content)
        return path

    def same_result(self, what, outcome, lines):
        expect((outcome.status, outcome.stdout) == (self.plain.status, self.plain.stdout),
               f"{what}: the program's result changes", self.plain, outcome)
        found = outcome.stderr.count(b"\n")
        expect(found == lines, f"{what}: {found} lines on stderr, not {lines}", outcome)

    def one_line(self, what, outcome, status, *words):
        expect(outcome.status == status, f"{what}: exit status is not {status}", outcome)
        expect(outcome.stderr.count(b"\n") == 1, f"{what}: not one line on stderr", outcome)
        for word in words:
            expect(word.encode() in outcome.stderr, f"{what}: no '{word}' in the line", outcome)

    def refused(self, what, path, *words):
        """Every verb refuses the file with status 3 and one line that says why."""
        for verb in (*VERBS, ["verify", "--raw", self.raw]):
            outcome = self.tools.chameleon(*verb, path)
            self.one_line(f"{what}: {verb[0]}", outcome, 3, str(path), *words)
            expect(not outcome.stdout, f"{what}: {verb[0]} prints to stdout too", outcome)
        outcome = self.tools.replay(2, path)
        self.one_line(f"{what}: chameleon-replay", outcome, 3, *words)

    def info(self, path):
        outcome = self.tools.chameleon("info", "--json", path)
        expect(outcome.status == 0, f"{path.name}: info", outcome)
        return json.loads(outcome.stdout)


@test
def truncated(harm):
    size = len(harm.bytes)
    for length in (9, HEADER - 1, HEADER, HEADER + 5, HEADER + COMMIT, size // 2, size - 1):
        harm.refused(f"cut to {length} bytes", harm.file("cut", harm.bytes[:length]), "truncated")


@test
def corrupt(harm):
    size = len(harm.bytes)
    for place in (HEADER, HEADER + 9, HEADER + 33, HEADER + COMMIT, size // 2, size - 1):
        damaged = bytearray(harm.bytes)
        damaged[place] ^= 0x10
        harm.refused(f"bit flipped in byte {place}", harm.file("flip", damaged), "corrupt")


@test
def foreign(harm):
    for name, content in (("empty", b""), ("text", b"hello\n" * 99), ("cut magic", harm.bytes[:5]),
                          ("program", pathlib.Path(sys.executable).read_bytes()[:9999])):
        harm.refused(name, harm.file("foreign", content), "not a Chameleon trace")
    harm.refused("a folder", harm.raw, "not a regular file")


@test
def versions(harm):
    newer = bytearray(harm.bytes)
    newer[8] += 1
    harm.refused("newer major version", harm.file("newer", newer), "version", "chameleon that")
    minor = bytearray(harm.bytes)
    minor[10] += 1
    expect(harm.info(harm.file("minor", minor))["complete"], "a newer minor version is refused")


@test
def missing(harm):
    harm.refused("no such file", harm.tools.folder / "no-such-file.cham", "No such file")


@test
def cut_commit(harm):
    again = bytearray(harm.bytes[HEADER:])
    flipped = bytearray(again)
    flipped[-1] ^= 1
    for what, tail in (("cut", again[:len(again) // 2]), ("flipped", flipped), ("junk", b"junk")):
        facts = harm.info(harm.file("second", harm.bytes + tail))
        expect((facts["commits"], facts["ignored_bytes"]) == (1, len(tail)),
               f"a {what} second commit: {facts['commits']}, {facts['ignored_bytes']}")
    facts = harm.info(harm.file("two", harm.bytes + again))
    expect((facts["commits"], facts["ignored_bytes"]) == (2, 0), "a whole second commit")
    harm.tools.verify(harm.file("second", harm.bytes + again[:99]), harm.raw)


@test
def malformed_variables(harm):
    folder = harm.tools.fresh("variables")
    for name, value in (("TIMING", "foo"), ("EVENTS", "some"), ("ENABLE", "yes"),
                        ("BUFFER", "12"), ("BUFFER", "-1"), ("VERBOSE", "9"), ("EXCLUDE", ",")):
        path = folder / f"{name}.cham"
        outcome = harm.tools.traced(2, harm.multigrid, path, **{f"CHAMELEON_{name}": value})
        harm.same_result(f"CHAMELEON_{name}={value}", outcome, 1)
        expect(f"CHAMELEON_{name}".encode() in outcome.stderr, "which variable?", outcome)
        expect(not path.exists(), f"CHAMELEON_{name}={value}: a trace all the same", outcome)
    path = folder / "unknown.cham"
    outcome = harm.tools.traced(2, harm.multigrid, path, CHAMELEON_FOO="1")
    harm.same_result("an unknown variable", outcome, 2)
    expect(b"CHAMELEON_FOO" in outcome.stderr and path.exists(), "an unknown variable", outcome)


@test
def switched_off(harm):
    folder = harm.tools.fresh("off")
    (folder / "raw").mkdir()
    outcome = harm.tools.traced(2, harm.multigrid, folder / "off.cham", raw=folder / "raw",
                                cwd=folder, CHAMELEON_ENABLE="0")
    harm.same_result("CHAMELEON_ENABLE=0", outcome, 0)
    left = [path.name for path in folder.rglob("*") if path.is_file()]
    expect(not left, f"CHAMELEON_ENABLE=0 leaves {left}", outcome)


@test
def unwritable_output(harm):
    for path in ("/no-such-folder/x.cham", "/dev/null/x.cham", "/proc/x.cham"):
        outcome = harm.tools.traced(2, harm.multigrid, path)
        harm.same_result(f"output {path}", outcome, 1)
        expect(path.encode() in outcome.stderr, f"output {path}: not named", outcome)


@test
def unwritable_raw(harm):
    folder = harm.tools.fresh("noraw")
    path = folder / "a.cham"
    outcome = harm.tools.traced(1, harm.multigrid, path, raw="/no-such-folder")
    expect(b"/no-such-folder" in outcome.stderr, "raw folder missing: not named", outcome)
    expect(outcome.status == 0 and harm.info(path)["complete"], "raw folder missing", outcome)
    (folder / "rank.0.raw").symlink_to("/dev/full")
    path = folder / "b.cham"
    outcome = harm.tools.traced(1, harm.multigrid, path, raw=folder)
    expect(outcome.status == 0 and harm.info(path)["complete"], "raw disk full", outcome)


@test
def full_disk(harm):
    # A file system of two pages, in a namespace of its own: no privileges are needed where users
    # may make namespaces. What is left on it is copied out.
    folder = harm.tools.fresh("full")
    small, left = folder / "small", folder / "left"
    small.mkdir()
    mount = ["unshare", "-rm", "sh", "-c", f"mount -t tmpfs -o size=8k tmpfs {small} && exec \"$@\"",
             "sh"]
    if not shutil.which("unshare") or harm.tools.run([*mount, "true"]).status != 0:
        print("full_disk: not tested: no file system can be mounted here")
        return
    path = small / "full.cham"
    script = f"\"$@\"; status=$?; cp -r {small} {left}; exit $status"
    outcome = harm.tools.run(
        [*mount, "sh", "-c", script, "sh", *harm.tools.mpiexec, "-n", 4, "env",
         f"LD_PRELOAD={harm.tools.preload(harm.tools.library, harm.tools.test_yield)}",
         f"CHAMELEON_OUTPUT={path}",
         *harm.multigrid])
    harm.same_result("full disk", outcome, 1)
    expect(str(path).encode() in outcome.stderr and b"No space" in outcome.stderr,
           "full disk: the reason is not named", outcome)
    facts = harm.info(left / "full.cham")
    expect(not facts["complete"] and facts["events"] == 0, f"full disk: {facts}")
    names = sorted(entry.name for entry in left.iterdir())
    expect(names == ["full.cham"], f"full disk: left {names}")


@test
def existing_output(harm):
    path = harm.tools.fresh("existing") / "out.cham"
    path.write_text("precious")
    for number in (1, 2):
        outcome = harm.tools.traced(2, harm.multigrid, path)
        harm.same_result("existing output", outcome, 1)
        made = path.with_name(f"out.{number}.cham")
        expect(made.exists() and harm.info(made)["complete"], f"no {made.name}", outcome)
    expect(path.read_text() == "precious", "an existing output was overwritten")


@test
def replay_ranks(harm):
    harm.one_line("replay on 3 ranks", harm.tools.replay(3, harm.good), 4)
    harm.one_line("chameleon replay -n 3", harm.tools.chameleon("replay", "-n", 3, harm.good), 4)


def own_lines(outcome):
    """What the program printed: the launcher's report, with process ids, also goes to stdout,
    and ranks that it ends may or may not have printed theirs."""
    return set(outcome.stdout.partition(b"\n\n====")[0].splitlines())


def harmful(harm, mode, ranks=2, **variables):
    """The program in this mode, untraced and traced; results must agree."""
    program = [harm.tools.harm_program, mode]
    path = harm.tools.fresh(mode) / "x.cham"
    plain = harm.tools.job(ranks, program)
    traced = harm.tools.traced(ranks, program, path, **variables)
    expect(plain.status == traced.status, f"{mode}: exit status changes", plain, traced)
    if mode not in ("abort", "crash"):
        expect(own_lines(plain) == own_lines(traced), f"{mode}: stdout changes", plain, traced)
    return path, traced


@test
def exit_status(harm):
    path, outcome = harmful(harm, "status")
    expect(outcome.status == 3 and harm.info(path)["complete"], "exit status 3", outcome)
    output = path.with_name("run.cham")
    outcome = harm.tools.chameleon("run", "-n", 2, "-o", output, "--", harm.tools.harm_program,
                                   "status", CHAMELEON_LIBRARY=harm.tools.library)
    expect(outcome.status == 3 and output.exists(), "exit status 3 under chameleon run", outcome)
    said = outcome.stderr.decode().splitlines()
    expect(said[-1] == f"chameleon: next: chameleon report {output}" and
           any("what stands out" in line for line in said), "the last lines of run", outcome)
    run = harm.info(output)["facts"]["run"]
    expect(run["command_line"] == f"{harm.tools.harm_program} status" and
           run["directory"] == str(harm.tools.folder), f"what ran: {run}")


@test
def exceptions(harm):
    path, outcome = harmful(harm, "throw")
    expect(b"caught: from a function" in outcome.stdout, "throw", outcome)
    expect(harm.info(path)["events"] == 2 * 14, f"throw: {harm.info(path)['events']} events")
    path, outcome = harmful(harm, "handler")
    expect(b"caught: from the error handler" in outcome.stdout, "handler", outcome)
    # What comes after the exception is recorded as what came before it.
    rows = json.loads(harm.tools.chameleon("stats", "--json", path).stdout)["rows"]
    barriers = sum(row["count"] for row in rows if row["call"] == "Barrier")
    expect(barriers == 2 * 11, f"handler: {barriers} barriers recorded, not 22", outcome)


@test
def aborts(harm):
    path, outcome = harmful(harm, "abort")
    expect(outcome.status == 7, "MPI_Abort: exit status", outcome)
    left = path.with_name("x.cham.rank1")
    expect(left.exists(), "MPI_Abort: no trace of the rank", outcome)
    facts = harm.info(left)
    expect(not facts["complete"] and facts["events"] >= 2, f"MPI_Abort: {facts}")
    expect(not harm.info(path)["complete"], "MPI_Abort: the job's trace claims to be complete")


@test
def crashes(harm):
    path, _ = harmful(harm, "crash")
    expect(not harm.info(path)["complete"], "crash: the trace claims to be complete")


@test
def no_finalize(harm):
    # Where a rank ends without MPI_Finalize the launcher makes up a status, and kills the others:
    # which it reports depends on who is first. The program's own status is that of one process.
    program = [harm.tools.harm_program, "nofinalize"]
    plain = harm.tools.run(program)
    folder = harm.tools.fresh("nofinalize")
    path = folder / "x.cham"
    traced = harm.tools.run(program, LD_PRELOAD=harm.tools.preload(harm.tools.library),
                            CHAMELEON_OUTPUT=path)
    expect((plain.status, own_lines(plain)) == (0, {b"done"}) == (traced.status, own_lines(traced)),
           "nofinalize: status or output", plain, traced)
    expect(not harm.info(path)["complete"], "nofinalize: the trace claims to be complete")
    path = folder / "two.cham"
    harm.tools.traced(2, program, path)
    expect(not harm.info(path)["complete"], "nofinalize, 2 ranks: the trace claims to be complete")


@test
def other_mpi(harm):
    folder = harm.tools.fresh("other")
    (folder / "mpi.c").write_text("int MPI_Init(int* c, char*** v) { return c == 0 || v == 0; }\n")
    (folder / "main.c").write_text(
        "#include <stdio.h>\nint MPI_Init(int*, char***);\n"
        "int main(int c, char** v) { MPI_Init(&c, &v); puts(\"other\"); return 5; }\n")
    compiler = shutil.which("cc") or "gcc"
    for command in (["-shared", "-fPIC", "-Wl,-soname,libmpi.so.20", "-o", "libmpi.so.20", "mpi.c"],
                    ["main.c", "-o", "app", "./libmpi.so.20", "-Wl,-rpath,$ORIGIN"]):
        subprocess.run([compiler, *command], cwd=folder, check=True)
    environment = {"CHAMELEON_LIBRARY": harm.tools.library}
    outcome = harm.tools.chameleon("doctor", folder / "app", **environment)
    expect(outcome.status == 1 and b"cannot be traced" in outcome.stdout
           and b"Open MPI" in outcome.stdout, "doctor on another MPI", outcome)
    outcome = harm.tools.run([harm.tools.command, "run", "--launcher", harm.tools.launcher(), "-n", 1,
                              "--", folder / "app"], cwd=folder, **environment)
    lines = outcome.stderr.splitlines()
    expect(outcome.status == 5 and len(lines) == 2 and b"untraced" in lines[0]
           and b"each process will be a job of one rank" in lines[1], "run with another MPI", outcome)
    expect(outcome.stdout == b"other\n", "run with another MPI", outcome)
    expect(not list(folder.glob("*.cham")), "run with another MPI leaves a trace")


@test
def no_mpi(harm):
    folder = harm.tools.fresh("noinit")
    outcome = harm.tools.run([harm.tools.command, "run", "-n", 1, "--", harm.tools.harm_program,
                              "noinit"], cwd=folder, CHAMELEON_LIBRARY=harm.tools.library)
    harm.one_line("a program that calls no MPI", outcome, 0, "no trace appeared")


@test
def rendezvous(harm):
    """Votes that MPI does not buffer: a rank that goes on does not wait until others take them."""
    program = [harm.examples / "stencil2d", "--iterations", 60, "--compute", 200]
    for vote in ("deferred", "blocking"):
        path = harm.tools.fresh("rendezvous") / "t.cham"
        outcome = harm.tools.traced(4, program, path, UCX_RNDV_THRESH=0, CHAMELEON_VOTE=vote,
                                    CHAMELEON_MARKER_TIMEOUT=5)
        expect(outcome.status == 0, f"rendezvous, {vote}: fails", outcome)
        acted = harm.info(path)["acted"]
        expect(acted == 60, f"rendezvous, {vote}: {acted} markers acted on", outcome)


def main():
    arguments = harness.parser(__doc__)
    arguments.add_argument("--examples", required=True, help="folder of the example programs")
    arguments.add_argument("--only", help="one test, by name")
    options = arguments.parse_args()

    def body(tools):
        harm = Harm(tools, options.examples)
        tests = [test for test in TESTS if not harness.is_left_out(tools, test)]
        harness.run_each(tests, options.only, lambda test: test(harm))

    harness.main("test_harm", options, body)


if __name__ == "__main__":
    main()
