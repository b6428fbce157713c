#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What `chameleon run` makes of a command: programs that do not start under any preload, commands
that start the program of MPI, and launchers of another MPI.

    test_starts.py --tools TOOLS.json --sources FOLDER [--only NAME]

FOLDER has plugin.c, built here in many ways. Where a program runs untraced and traced, exit status
and output agree, and every value of the trace verifies."""

import json
import pathlib
import shutil
import stat
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "mpi"))
sys.dont_write_bytecode = True
import harness  # noqa: E402
from harness import expect, unsanitized  # noqa: E402

TESTS = []
RANKS = 2
EVENTS = RANKS * (20 * 3 + 3)
LOADER = "/lib64/ld-linux-x86-64.so.2"
OTHER_RUNTIME = "the runtime that the tests preload is another one"

# A launcher of another MPI: programs that it starts find no job, and each is one by itself.
OTHER_LAUNCHER = """#!/bin/sh
if [ "$1" = --version ]; then echo "mpiexec ({name}) 4.1"; exit; fi
shift; count=$1; shift
while [ $count -gt 1 ]; do "$@" & count=$((count - 1)); sleep 0.2; done
"$@"; status=$?
wait
exit $status
"""


def test(function):
    TESTS.append(function)
    return function


def executable(path, text):
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


class Starts:
    def __init__(self, tools, sources):
        self.tools = tools
        self.sources = pathlib.Path(sources)
        self.folder = tools.fresh("built")
        self.program = self.build("app")

    def build(self, name, *options, compiler=None, **variables):
        output = self.folder / name
        outcome = self.tools.run([compiler or self.tools.mpicc, "-g", "-O1",
                                  self.sources / "plugin.c", "-o", output, *options], **variables)
        expect(outcome.status == 0, f"building {name}", outcome)
        return output

    def run(self, name, *command, options=(), ranks=RANKS, **variables):
        """Under `chameleon run`; the trace and the outcome."""
        folder = self.tools.fresh(name)
        (folder / "raw").mkdir()
        settings = ["--env", f"CHAMELEON_RAW={folder / 'raw'}",
                    "--env", f"LD_PRELOAD={self.tools.test_yield}"]
        outcome = self.tools.chameleon("run", "-n", ranks, *settings, *options, "-o",
                                       folder / "x.cham", "--", *command, **{
                                           "CHAMELEON_LIBRARY": self.tools.library, **variables})
        return folder / "x.cham", outcome

    def traced(self, name, *command, status=5, **variables):
        """The same, of a command that ends in plugin.c: whole, and verified."""
        trace, outcome = self.run(name, *command, **variables)
        expect(outcome.status == status and b"sum 58, value 0" in outcome.stdout, name, outcome)
        expect(trace.exists() and not list(trace.parent.glob("x.*.cham")), f"{name}: traces",
               outcome)
        report = self.tools.verify(trace, trace.parent / "raw")
        expect(report["raw_events"] == EVENTS, f"{name}: {report['raw_events']} events", outcome)
        return outcome

    def doctor(self, *command, **variables):
        outcome = self.tools.chameleon("doctor", "--json", "--", *command, **{
            "CHAMELEON_LIBRARY": self.tools.library, **variables})
        expect(outcome.status in (0, 1), f"doctor {command}", outcome)
        return json.loads(outcome.stdout)


@test
@unsanitized(OTHER_RUNTIME)
def sanitizers(starts):
    """Their runtimes have to come before every other library, and do; MPI itself leaks."""
    clang = shutil.which("clang-14")
    built = [("asan", ["-fsanitize=address"], None, "libasan.so"),
             ("lsan", ["-fsanitize=leak"], None, "liblsan.so"),
             ("ubsan", ["-fsanitize=undefined"], None, ""),
             ("tsan", ["-fsanitize=thread"], None, "libtsan.so")]
    if clang:  # its runtime is in the program, or beside it
        beside = starts.tools.run([clang, "-print-runtime-dir"]).stdout.decode().strip()
        built += [("clang_asan", ["-fsanitize=address"], clang, ""),
                  ("clang_asan_shared", ["-fsanitize=address", "-shared-libasan",
                                         f"-Wl,-rpath,{beside}"], clang, "libclang_rt.asan")]
    for name, options, compiler, first in built:
        variables = {"MPICH_CC": compiler} if compiler else {}
        program = starts.build(name, *options, **variables)
        quiet = {"ASAN_OPTIONS": "detect_leaks=0", "LSAN_OPTIONS": "detect_leaks=0",
                 "TSAN_OPTIONS": "ignore_noninstrumented_modules=1", "UCX_MEM_MMAP_HOOK_MODE": "none"}
        found = starts.doctor(program)
        preload = found["preload"].split(":")
        expect(found["traceable"] and (first in preload[0] if first else len(preload) == 1),
               f"{name}: doctor says {found}")
        plain = starts.tools.job(RANKS, [program], preload=preload[:-1], **quiet)
        if name == "tsan" and plain.status != 5:
            print(f"tsan: not run: untraced, it ends with {plain.status}")
            continue
        expect(plain.status == 5, f"{name}: untraced", plain)
        starts.traced(name, program, **quiet)
        if name == "asan":
            text = starts.tools.chameleon("doctor", program).stdout.decode()
            expect("by hand" in text and "LD_PRELOAD=/" in text, f"doctor says {text}")
            for order in ("before", "after"):  # whoever preloads it, among libraries of their own
                libraries = [preload[0], starts.tools.test_yield]
                chosen = ":".join(map(str, libraries if order == "before" else libraries[::-1]))
                starts.traced(f"asan_{order}", program, options=["--env", f"LD_PRELOAD={chosen}"],
                              **quiet)
            starts.traced("asan_wrapped", "timeout", "60", "sh", "-c", f"exec {program}", **quiet)


@test
@unsanitized(OTHER_RUNTIME)
def measured(starts):
    """gcov's and gprof's files are written as without the tracer."""
    program = starts.build("coverage", "--coverage", "-pg")
    folder = starts.tools.fresh("coverage_files")
    starts.traced("coverage", program, GMON_OUT_PREFIX=folder / "gmon", GCOV_PREFIX=folder)
    expect(len(list(folder.glob("gmon*"))) == RANKS and list(folder.rglob("*.gcda")),
           f"coverage: {list(folder.rglob('*'))}")


@test
def preloads(starts):
    """The user's libraries stay, in their order, after the tracer."""
    others = f"{starts.tools.test_yield}:/nowhere/libfirst.so:/nowhere/libsecond.so"
    _, outcome = starts.run("preloads", "sh", "-c", "echo $LD_PRELOAD", ranks=1,
                            options=["--env", f"LD_PRELOAD={others}"])
    line = outcome.stdout.decode().strip()
    expect(line.endswith(f"{starts.tools.library}:{others}"), f"LD_PRELOAD is {line}", outcome)


@test
def wrappers(starts):
    """The program is found behind what starts it, by doctor and by run."""
    folder = starts.tools.fresh("wrappers_built")
    app = starts.program
    (folder / "link").symlink_to(app)
    around = executable(folder / "around.sh", '#!/bin/sh\nA=1 # sets something\nexec "$@"\n')
    beside = executable(folder / "beside.sh", '#!/bin/bash\nexec "$(dirname "$0")"/link\n')
    outer = executable(folder / "outer.sh", f'#!/usr/bin/env bash\nHERE={folder}\n"$HERE/beside.sh"\n')
    static = folder / "static"
    (folder / "static.c").write_text("#include <unistd.h>\n"
                                     "int main(int c, char** v) { execvp(v[1], v + c - 1); return 9; }\n")
    outcome = starts.tools.run(["cc", "-static", folder / "static.c", "-o", static])
    expect(outcome.status == 0, "building a static launcher", outcome)
    commands = [("env", "-u", "B", "A=1", "timeout", "60", app), ("nice", "-n", "1", app),
                ("taskset", "-c", "0", app), ("stdbuf", "-oL", "setarch", "-R", app),
                ("sh", "-c", f"A=1; exec {app} $A"), (around, app), (beside,), (outer,),
                ("bash", outer), (static, app), (LOADER, app)]
    for number, command in enumerate(commands):
        found = starts.doctor(*command)
        expect(found["traceable"] and pathlib.Path(found["starts"]).resolve() == app.resolve() and
               found["mpi_library"] == starts.doctor(app)["mpi_library"],
               f"doctor {command} says {found}")
        if number in (0, 4, 7, 9, 10):
            outcome = starts.traced(f"wrapper_{number}", *command)
            expect(b"chameleon run:" not in outcome.stderr, f"run {command}", outcome)
    # Nothing in it is of MPI: it runs, and may start what it likes.
    expect(not starts.doctor(static)["traceable"], "doctor: a static program")
    _, outcome = starts.run("static", static, "true", ranks=1)
    expect(outcome.status == 0 and b"untraced" not in outcome.stderr, "a static program", outcome)
    # A script that names itself, and no program.
    itself = executable(folder / "itself.sh", f"#!/bin/sh\nexit 0; {folder}/itself.sh\n")
    expect(starts.doctor(itself)["starts"] == "", "a script that names itself")


@test
def python(starts):
    """Python with an mpi4py, however it is started."""
    folder = starts.tools.fresh("python")
    (folder / "mpi4py").mkdir()
    (folder / "mpi4py" / "__init__.py").write_text("")
    (folder / "empty.c").write_text("")
    outcome = starts.tools.run([starts.tools.mpicc, "-shared", "-fPIC", "-Wl,--no-as-needed",
                                folder / "empty.c", "-o", folder / "mpi4py" / "MPI.so"])
    expect(outcome.status == 0, "building a module", outcome)
    program = folder / "x.py"
    program.write_text("#!/usr/bin/env python3\n")
    script = executable(folder / "started.py", "#!/usr/bin/env python3\n")
    shims = folder / "shims"
    shims.mkdir()
    shim = executable(shims / "python3", f"#!/bin/sh\nexec {shutil.which('python3')} \"$@\"\n")
    text = executable(folder / "run.sh", f"#!/bin/sh\npython3 {program}\n")
    for command in ([program], ["python3", program], [script], [shim, program],
                    ["timeout", "20", "python3", program], ["/usr/bin/env", "python3", program],
                    ["sh", "-c", f"python3 {program}"], [text]):
        found = starts.doctor(*command, PYTHONPATH=folder)
        expect(found["traceable"] and "mpi4py" in found["reason"], f"doctor {command}: {found}")
    found = starts.doctor("env", f"PYTHONPATH={folder}", "python3", program)
    expect(found["traceable"], f"doctor env PYTHONPATH: {found}")
    found = starts.doctor(program, PYTHONPATH=folder)
    expect(found["advice"].endswith(f"-- python3 {program}"), f"doctor x.py: {found['advice']}")


@test
def wrong_launchers(starts):
    """Jobs of one rank where more were asked for: said before and after, and status 1."""
    folder = starts.tools.fresh("launchers")
    mine, other = (("HYDRA", "OpenRTE") if starts.tools.mpi == "mpich" else ("OpenRTE", "HYDRA"))
    launchers = {}
    for name in (mine, other):
        (folder / name).mkdir()
        launchers[name] = executable(folder / name / "mpiexec", OTHER_LAUNCHER.format(name=name))
    ends = starts.folder / "ends"
    (folder / "ends.c").write_text("#include <mpi.h>\nint main(void) { MPI_Init(0, 0); "
                                   "return MPI_Finalize(); }\n")
    outcome = starts.tools.run([starts.tools.mpicc, folder / "ends.c", "-o", ends])
    expect(outcome.status == 0, "building a program", outcome)
    hidden = executable(folder / "hidden.sh", '#!/bin/sh\nexec "$(printenv PROGRAM)"\n')
    known = b"each process will be a job of one rank; use --launcher mpiexec"
    for name, program, before, status in ((other, ends, True, 1), (other, hidden, False, 1),
                                          (mine, ends, False, 1), (other, starts.program, True, 5)):
        _, outcome = starts.run("lone", program, options=["--launcher", launchers[name]],
                                PROGRAM=ends)
        expect(outcome.status == status and b"this was no job of 2 ranks" in outcome.stderr,
               f"{program.name} by {name}", outcome)
        lines = outcome.stderr.splitlines()
        expect((known in lines[0]) == before, f"{program.name} by {name}: said first", outcome)
        expect(name == mine or b"use --mpi" in outcome.stderr, f"{program.name}: advice", outcome)
    # One rank was asked for, and one came.
    _, outcome = starts.run("one", ends, ranks=1, options=["--launcher", launchers[mine]])
    expect(outcome.status == 0 and b"no job" not in outcome.stderr, "one rank", outcome)


def main():
    arguments = harness.parser(__doc__)
    arguments.add_argument("--sources", required=True, help="folder of plugin.c")
    arguments.add_argument("--only", help="one test, by name")
    options = arguments.parse_args()

    def body(tools):
        starts = Starts(tools, options.sources)
        tests = [test for test in TESTS if not harness.is_left_out(tools, test)]
        harness.run_each(tests, options.only, lambda test: test(starts))

    harness.main("test_starts", options, body)


if __name__ == "__main__":
    main()
