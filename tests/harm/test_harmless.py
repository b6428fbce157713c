#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What programs do around MPI goes on as without the tracer, and is traced.

    test_harmless.py --tools TOOLS.json --programs FOLDER --sources FOLDER [--only NAME]

FOLDER has oddities.c, built; the other sources here are built in many ways by the test. Each case
runs untraced and traced: exit status, output and standard error must agree; where a trace appears
every value of it must verify, and its calls be those an independent library counts."""

import collections
import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "mpi"))
sys.dont_write_bytecode = True
import harness  # noqa: E402  (the path has to be set first)
from by_hand import by_hand  # noqa: E402
from harness import expect  # noqa: E402

TESTS = []
RANKS = 2
PLUGIN_EVENTS = 2 * (20 * 3 + 3)  # of plugin.c: Init, Barrier, Finalize and 20 times three


def test(function):
    TESTS.append(function)
    return function


def of_mpich(function):
    """A test of what MPICH alone has, or of libraries that are for it."""
    function.of_mpich = True
    return function


def own_lines(text, but=b"\n"):
    return sorted(line for line in text.splitlines() if not line.startswith(but))


class Harmless:
    def __init__(self, tools, programs, sources):
        self.tools = tools
        self.oddities = pathlib.Path(programs) / "oddities"
        self.sources = pathlib.Path(sources)
        self.compiler = tools.mpicc
        self.mpi = pathlib.Path(tools.mpi_library)
        self.folder = tools.fresh("built")
        self.built = {}

    def build(self, name, source, *options):
        """Compiles and links; the path of what came out."""
        output = self.folder / name
        outcome = self.tools.run([self.compiler, self.sources / source, "-o", output, *options])
        expect(outcome.status == 0, f"building {name}", outcome)
        return output

    def both(self, name, program, preload=(), raw=True, ranks=RANKS, **variables):
        """Untraced and traced; their results agree. The folder, and what the traced one said."""
        folder = self.tools.fresh(name)
        (folder / "raw").mkdir()
        plain = self.tools.job(ranks, program, preload=preload, cwd=folder)
        traced = self.tools.job(ranks, program, preload=[self.tools.library, *preload], cwd=folder,
                                CHAMELEON_OUTPUT=folder / "x.cham",
                                **({"CHAMELEON_RAW": folder / "raw"} if raw else {}), **variables)
        self.same(name, plain, traced)
        return folder, traced

    def same(self, name, plain, traced):
        expect(plain.status == traced.status, f"{name}: exit status changes", plain, traced)
        expect(own_lines(plain.stdout) == own_lines(traced.stdout), f"{name}: output", plain, traced)
        errors = [own_lines(outcome.stderr, b"chameleon") for outcome in (plain, traced)]
        expect(plain.status != 0 or errors[0] == errors[1], f"{name}: errors", plain, traced)

    def events(self, folder):
        """Verified; the number of events."""
        report = self.tools.verify(folder / "x.cham", folder / "raw")
        self.tools.check(folder / "x.cham")
        return report["trace_events"]

    def counted(self, name, program, folder, ranks=RANKS):
        """The recorded calls are those that the counting library sees."""
        counts = self.tools.fresh(name + "_counts")
        self.tools.job(ranks, program, preload=[self.tools.count_calls], COUNT_CALLS_DIR=counts)
        local = self.tools.local_calls()
        for rank in range(ranks):
            lines = (counts / f"rank.{rank}.txt").read_text().splitlines()
            witness = {call: int(count) for call, count in map(str.split, lines)
                       if call not in local}
            recorded = {call: count
                        for call, count in harness.raw_counts(folder / "raw", rank).items()
                        if call not in local}
            expect(witness == recorded and witness,
                   f"{name}, rank {rank}: counted {witness}, recorded {recorded}")

    def declarations(self, folder):
        outcome = self.tools.chameleon("info", "--json", folder / "x.cham")
        expect(outcome.status == 0, "info", outcome)
        return json.dumps(json.loads(outcome.stdout)["declarations"])


@test
def around_calls(harm):
    """longjmp out of calls, calls back, children, the end."""
    for mode in ("longjmp", "callbacks", "fork", "atexit"):
        program = [harm.oddities, mode]
        folder, traced = harm.both(mode, program)
        expect(traced.status == 0, f"{mode}: fails", traced)
        harm.events(folder)
        if mode != "longjmp":  # what a jump leaves is not recorded
            harm.counted(mode, program, folder)
    folder, traced = harm.both("finalize", [harm.oddities, "finalize"])
    expect(b"at finalize" in traced.stdout and traced.status == 0, "finalize", traced)
    harm.events(folder)


@test
def signals(harm):
    folder, traced = harm.both("signals", [harm.oddities, "signals"])
    expect(traced.status == 0, "signals: something is wrong", traced)
    harm.events(folder)


@test
@of_mpich
def sessions(harm):
    folder, traced = harm.both("sessions", [harm.oddities, "sessions"], raw=False)
    lines = traced.stderr.splitlines()
    expect(len(lines) == 1 and b"sessions" in lines[0], "sessions: not one line", traced)
    expect(not (folder / "x.cham").exists(), "sessions: a trace all the same")


@test
@harness.unsanitized("frames are larger, and 4 KiB no longer enough to call MPI")
def little_stack(harm):
    """With 4 KiB left calls are recorded elsewhere, with 32 KiB where they are made."""
    for room in (4096, 32768):
        program = [harm.oddities, "stack", room]
        folder, traced = harm.both(f"stack{room}", program, ranks=1)
        expect(traced.status == 0, f"{room} bytes of stack", traced)
        expect("stack left" not in harm.declarations(folder), f"{room} bytes of stack", traced)
        expect(harm.events(folder) > 400, f"{room} bytes of stack: events are missing")
    # A log that is full is folded elsewhere, too.
    folder, traced = harm.both("stack_full", [harm.oddities, "deep", 32768], ranks=1,
                               CHAMELEON_BUFFER="64K")
    expect(harm.events(folder) > 5000 * 3, "a full log on a small stack: events are missing")


@test
def flood(harm):
    """More distinct events than the buffer holds: slower, and complete."""
    folder, traced = harm.both("flood", [harm.oddities, "flood"], CHAMELEON_BUFFER="64K")
    expect(harm.events(folder) == 2 * (2 * 30000 + 10 + 10 + 2), "flood: events are missing")


@test
def limits(harm):
    """A limit on the size of files, which would end the program, costs the records."""
    folder, traced = harm.both("limit", [harm.oddities, "limit"])
    expect(traced.status == 0, "a limit of file size", traced)
    expect(b"File too large" in traced.stderr, "a limit of file size: not named", traced)
    size = max(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    expect(size <= 8192, f"a file of {size} bytes")


@test
def vanishing_folder(harm):
    folder = harm.tools.fresh("vanish")
    output = folder / "gone"
    output.mkdir()
    plain = harm.tools.job(RANKS, [harm.oddities, "vanish", output])
    output.mkdir()
    traced = harm.tools.traced(RANKS, [harm.oddities, "vanish", output], output / "x.cham")
    harm.same("a folder that vanishes", plain, traced)
    expect(traced.stderr.count(b"\n") == 1 and str(output).encode() in traced.stderr,
           "a folder that vanishes: not one line that names it", traced)
    expect(not output.exists(), "the folder is back")


@test
def ways_to_build(harm):
    """Levels of optimization, frame pointers, position-independent or not; and ranks that run
    different builds of a program."""
    ways = {"o0": ["-O0"], "o3": ["-O3", "-march=native", "-fomit-frame-pointer"],
            "fp": ["-O2", "-fno-omit-frame-pointer"], "nopie": ["-O2", "-fno-pie", "-no-pie"],
            "stripped": ["-O2", "-s", "-fno-asynchronous-unwind-tables", "-Wl,-z,now"]}
    built = [harm.build(f"plugin_{name}", "plugin.c", *options) for name, options in ways.items()]
    for program in built:
        folder, traced = harm.both(program.name, [program])
        expect(traced.status == 5, f"{program.name}: fails", traced)
        expect(harm.events(folder) == PLUGIN_EVENTS, f"{program.name}: events are missing")
    folder = harm.tools.fresh("mixed")
    (folder / "raw").mkdir()
    libraries = harm.tools.preload(harm.tools.library, harm.tools.test_yield)
    environment = ["env", f"LD_PRELOAD={libraries}",
                   f"CHAMELEON_OUTPUT={folder / 'x.cham'}", f"CHAMELEON_RAW={folder / 'raw'}"]
    line = [*harm.tools.mpiexec]
    for i, program in enumerate(built[:3]):
        line += [":"] * (i > 0) + ["-n", 1, *environment, program]
    outcome = harm.tools.run(line)
    expect(outcome.status == 5, "ranks of different builds", outcome)
    expect(harm.events(folder) == PLUGIN_EVENTS // 2 * 3, "different builds: events are missing")


@test
def loaded_later(harm):
    """MPI in a scope of its own, as interpreters load it."""
    plugin = harm.build("plugin.so", "plugin.c", "-DPLUGIN", "-shared", "-fPIC")
    loader = harm.folder / "loader"
    outcome = harm.tools.run(["cc", harm.sources / "loader.c", "-o", loader, "-ldl"])
    expect(outcome.status == 0, "building the loader", outcome)
    folder, traced = harm.both("plugin", [loader, "plugin", plugin])
    expect(traced.status == 5, "plug-in", traced)
    expect(harm.events(folder) == PLUGIN_EVENTS, "plug-in: events are missing")

    # The tracer comes in by dlopen, too, linked with the plug-in.
    library = pathlib.Path(harm.tools.library)
    linked = harm.build("linked.so", "plugin.c", "-DPLUGIN", "-shared", "-fPIC",
                        "-Wl,--no-as-needed", f"-L{library.parent}", f"-l:{library.name}",
                        f"-Wl,-rpath,{library.parent}")
    folder = harm.tools.fresh("linked_plugin")
    (folder / "raw").mkdir()
    outcome = harm.tools.job(RANKS, [loader, "plugin", linked], CHAMELEON_RAW=folder / "raw",
                             CHAMELEON_OUTPUT=folder / "x.cham")
    expect(outcome.status == 5, "a plug-in linked with the tracer", outcome)
    expect(harm.events(folder) == PLUGIN_EVENTS, "linked plug-in: events are missing")

    # Nothing comes before what is looked up in the MPI library itself, or by a plug-in that looks
    # there first: its names lead to the tracer. ASan refuses to load such a plug-in.
    ways = [("direct", harm.mpi, 0, 2 * RANKS), ("direct-deep", harm.mpi, 0, 2 * RANKS),
            ("plugin-deep", plugin, 5, PLUGIN_EVENTS)]
    for way, file, status, events in ways[:1] if harm.tools.sanitizer else ways:
        folder, traced = harm.both(way, [loader, way, file])
        expect(traced.status == status, way, traced)
        expect((folder / "x.cham").exists() and harm.events(folder) == events,
               f"{way}: events are missing", traced)


@test
def other_tools(harm):
    program = [harm.build("plugin_tools", "plugin.c")]
    pmpi = harm.build("tool_pmpi.so", "tool.c", "-shared", "-fPIC")
    following = harm.build("tool_next.so", "tool.c", "-DNEXT", "-shared", "-fPIC")
    for name, tool, missing in (("tool_pmpi", pmpi, RANKS * 21), ("tool_next", following, 0)):
        plain = harm.tools.job(RANKS, program, preload=[tool])
        for order in ("before", "after"):
            folder = harm.tools.fresh(f"{name}_{order}")
            (folder / "raw").mkdir()
            libraries = [tool, harm.tools.library]
            traced = harm.tools.job(RANKS, program,
                                    preload=libraries if order == "before" else libraries[::-1],
                                    CHAMELEON_OUTPUT=folder / "x.cham",
                                    CHAMELEON_RAW=folder / "raw")
            expect(traced.status == 5, f"{name} {order}: fails", traced)
            if order == "before":  # it sees what it saw
                harm.same(f"{name} {order}", plain, traced)
            found = harm.events(folder)
            lost = missing if order == "before" else 0
            expect(found == PLUGIN_EVENTS - lost, f"{name} {order}: {found} events", traced)
            said = [f"{name}.so" in text for text in (traced.stderr.decode(),
                                                      harm.declarations(folder))]
            expect(said == [order == "before"] * 2, f"{name} {order}: said {said}", traced)


@test
@of_mpich
def link_orders(harm):
    library = pathlib.Path(harm.tools.library)
    where = [f"-L{library.parent}", f"-Wl,-rpath,{library.parent}", "-Wl,--no-as-needed"]
    right = harm.build("linked_right", "plugin.c", *where, "-lchameleon", "-lmpich")
    wrong = harm.folder / "linked_wrong"
    outcome = harm.tools.run([harm.compiler, "-c", harm.sources / "plugin.c", "-o",
                              harm.folder / "plugin.o"])
    expect(outcome.status == 0, "compiling", outcome)
    outcome = harm.tools.run(["cc", harm.folder / "plugin.o", "-o", wrong, *where, "-lmpich",
                              "-lchameleon"])
    expect(outcome.status == 0, "linking in the wrong order", outcome)
    for program, status, word in ((right, 0, b"before the MPI library"),
                                  (wrong, 0, b"after the MPI library")):
        outcome = harm.tools.chameleon("doctor", program, CHAMELEON_LIBRARY=harm.tools.library)
        expect(outcome.status == status and word in outcome.stdout, f"doctor {program.name}",
               outcome)
        folder = harm.tools.fresh(program.name)
        outcome = harm.tools.job(RANKS, [program], CHAMELEON_OUTPUT=folder / "x.cham")
        expect(outcome.status == 5, f"{program.name}: fails", outcome)
        expect((folder / "x.cham").exists() == (program is right), f"{program.name}: trace?")
        outcome = harm.tools.chameleon("run", "-n", RANKS, "-o", folder / "run.cham", "--", program,
                                       CHAMELEON_LIBRARY=harm.tools.library)
        expect(outcome.status == 5 and (folder / "run.cham").exists(),
               f"run {program.name}: preloaded it is traced in any order", outcome)


@test
@of_mpich
def static_mpi(harm):
    archive = pathlib.Path("/usr/lib/x86_64-linux-gnu/libmpich.a")
    if not archive.exists():
        print("static_mpi: not tested: there is no libmpich.a")
        return
    # The program's own libraries as the shared MPI library names them.
    listing = harm.tools.run(["readelf", "-d", archive.with_suffix(".so")]).stdout.decode()
    needed = [f"-l:{name}" for name in re.findall(r"NEEDED.*\[(.+)\]", listing)
              if not name.startswith("ld-linux")]
    expect(needed, "readelf shows no libraries")
    include = [f"-I{harm.include}"] if hasattr(harm, "include") else []
    program = harm.folder / "static"
    outcome = harm.tools.run(["cc", *include, harm.folder / "plugin.o", "-o", program, archive,
                              *needed, "-lm", "-lpthread"])
    expect(outcome.status == 0, "linking MPI statically", outcome)
    folder, traced = harm.both("static", [program], raw=False)
    expect(traced.status == 5 and not (folder / "x.cham").exists(), "static MPI", traced)
    environment = {"CHAMELEON_LIBRARY": harm.tools.library}
    outcome = harm.tools.chameleon("doctor", program, **environment)
    expect(outcome.status == 1 and b"statically" in outcome.stdout, "doctor: static MPI", outcome)
    outcome = harm.tools.chameleon("run", "-n", RANKS, "--", program, **environment)
    expect(outcome.status == 5 and b"runs untraced" in outcome.stderr and b"statically"
           in outcome.stderr, "run: static MPI", outcome)


@test
@of_mpich
def other_mpi(harm):
    """A program of another MPI in which the tracer is preloaded: one line, then out of the way.
    The other one is small, has pointers as handles, and comes with the program or by dlopen."""
    header = harm.tools.fresh("other") / "mpi.h"
    folder = header.parent
    header.write_text(
        "#include <stddef.h>\ntypedef struct comm* MPI_Comm;\nextern struct comm other_world;\n"
        "#define MPI_COMM_WORLD (&other_world)\n"
        "int MPI_Init(int*, char***); int MPI_Comm_rank(MPI_Comm, int*); int MPI_Finalize(void);\n"
        "int MPI_Initialized(int*); int PMPI_Comm_rank(MPI_Comm, int*);\n")
    (folder / "mpi.c").write_text(
        '#include "mpi.h"\nstruct comm { long mark; int ready; } other_world = {12345, 0};\n'
        "int MPI_Init(int* c, char*** v) { (void)c; (void)v; other_world.ready = 1; return 0; }\n"
        "int PMPI_Comm_rank(MPI_Comm c, int* r) { *r = c->mark == 12345 ? 7 : -1; return 0; }\n"
        "int MPI_Comm_rank(MPI_Comm c, int* r) { return PMPI_Comm_rank(c, r); }\n"
        "int MPI_Initialized(int* f) { *f = other_world.ready; return 0; }\n"
        "int MPI_Finalize(void) { return other_world.ready ? 0 : 9; }\n")
    (folder / "use.c").write_text(
        '#include <stdio.h>\n#include "mpi.h"\n'
        "int run(void) { int rank = 0, flag = 0; MPI_Initialized(&flag);\n"
        "  if (!flag) MPI_Init(NULL, NULL);\n"
        "  MPI_Initialized(&flag); MPI_Comm_rank(MPI_COMM_WORLD, &rank); MPI_Finalize();\n"
        '  printf("rank %d, initialized %d\\n", rank, flag); return 5; }\n'
        "#ifndef PLUGIN\nint main(void) { return run(); }\n#endif\n")
    link = ["./libmpi.so.40", "-Wl,-rpath,$ORIGIN"]
    for line in (["-shared", "-fPIC", "-Wl,-soname,libmpi.so.40", "mpi.c", "-o", "libmpi.so.40"],
                 ["use.c", *link, "-o", "now"], ["use.c", *link, "-Wl,-z,now", "-o", "at_once"],
                 ["-DPLUGIN", "-shared", "-fPIC", "use.c", *link, "-o", "use.so"],
                 ["-DPLUGIN", "-shared", "-fPIC", "use.c", *link, "-o", "later.so"],
                 [harm.sources / "loader.c", "-ldl", "-o", "loader"]):
        outcome = harm.tools.run(["cc", *line], cwd=folder)
        expect(outcome.status == 0, "building the other MPI", outcome)
    # The last one loads what calls the other MPI after MPI_Init, too.
    for command in (["./now"], ["./at_once"], ["./loader", "plugin", "./use.so"],
                    ["./loader", "plugin", "./use.so", "./later.so"]):
        plain = harm.tools.run(command, cwd=folder)
        traced = harm.tools.run(command, cwd=folder,
                                LD_PRELOAD=harm.tools.preload(harm.tools.library))
        expect(plain.status == 5 and b"rank 7, initialized 1" in plain.stdout, "other MPI", plain)
        harm.same(f"other MPI: {command[0]}", plain, traced)
        lines = traced.stderr.splitlines()
        expect(len(lines) == 1 and b"libmpi.so.40" in lines[0], "other MPI: not one line", traced)
        expect(not list(folder.glob("*.cham")), "other MPI: a trace")


@test
@of_mpich
def mpich_abi(harm):
    """A library of MPICH's ABI under another soname, where the loader finds it by the program's
    RUNPATH alone: a copy of Debian's."""
    folder = harm.tools.fresh("abi")
    listing = harm.tools.run(["ldd", harm.oddities]).stdout.decode()
    path = re.search(r"libmpich\.so\.12 => (\S+)", listing).group(1)
    renamed = pathlib.Path(path).read_bytes().replace(b"\0libmpich.so.12\0",
                                                      b"\0libmpi.so.12\0\0\0")
    (folder / "libmpi.so.12").write_bytes(renamed)
    program = folder / "program"
    for line in ([harm.compiler, "-c", harm.sources / "plugin.c", "-o", "plugin.o"],
                 [harm.compiler, "-c", harm.sources / "words.c", "-o", "words.o"],
                 ["cc", "words.o", "./libmpi.so.12", "-Wl,-rpath,$ORIGIN", "-o", "words"],
                 ["cc", "plugin.o", "./libmpi.so.12", "-Wl,-rpath,$ORIGIN", "-o", program]):
        outcome = harm.tools.run(line, cwd=folder)
        expect(outcome.status == 0, "building for another soname", outcome)
    environment = {"CHAMELEON_LIBRARY": harm.tools.library}
    runtime = pathlib.Path(harm.tools.library).parent / "libchameleon-mpich-abi.so"

    outcome = harm.tools.chameleon("doctor", "--json", program, **environment)
    expect(outcome.status == 0, "doctor: MPICH's ABI", outcome)
    found = json.loads(outcome.stdout)
    expect(found["mpi_library"] == "libmpi.so.12" and "MPICH ABI" in found["mpi"]
           and pathlib.Path(found["chameleon_library"]) == runtime, f"doctor says {found}")

    preload = harm.tools.preload(runtime, folder / "libmpi.so.12")
    outcome = harm.tools.run(["ldd", program], LD_PRELOAD=preload)
    expect(b"libmpich.so" not in outcome.stdout and b"libmpi.so.12" in outcome.stdout,
           "two MPI libraries are loaded", outcome)
    outcome = harm.tools.run(["cat", "/proc/self/maps"], LD_PRELOAD=preload)
    expect(outcome.status == 0 and str(runtime.resolve()) in outcome.stdout.decode(),
           "a program without MPI does not start", outcome)

    plain = harm.tools.job(RANKS, [program], cwd=folder)
    (folder / "raw").mkdir()
    traced = harm.tools.chameleon("run", "-n", RANKS, "-o", folder / "x.cham", "--env",
                                  f"CHAMELEON_RAW={folder / 'raw'}", "--", program, **environment)
    expect(plain.status == 5, "MPICH's ABI, untraced", plain)
    harm.same("MPICH's ABI", plain, traced)
    expect(harm.events(folder) == PLUGIN_EVENTS, "MPICH's ABI: events are missing", traced)

    # Preloaded by hand, libchameleon.so brings in the library for the program's MPI.
    by_hand(harm, "abi_by_hand", program, folder / "words", PLUGIN_EVENTS)

    # Libraries of an older standard lack what came with MPI 4; the tracer loads all the same.
    lines = harm.tools.run(["nm", "-D", runtime]).stdout.decode()
    strong = re.findall(r" U PMPI_(\w+_c|Session_\w+|Psend_\w+)$", lines, re.M)
    weak = re.findall(r" w PMPI_(\w+_c|Session_\w+|Psend_\w+)$", lines, re.M)
    expect(weak and not strong, f"needed although not every library has it: {strong[:5]}")


@test
def loaded_by_hand(harm):
    """libchameleon.so is for the first MPI of the build; the program is of another one."""
    if harm.tools.first_library != harm.tools.library:
        by_hand(harm, "by_hand", harm.build("plugin_by_hand", "plugin.c"),
                harm.build("words", "words.c", "-Wl,--no-as-needed"), PLUGIN_EVENTS)


@test
def exports(harm):
    """Nothing but MPI, Fortran's names and ours is visible; nothing of an unwinder is needed."""
    lines = harm.tools.run(["nm", "-D", "--defined-only", harm.tools.library]).stdout.decode()
    names = [line.split()[-1].split("@")[0] for line in lines.splitlines()]
    odd = [name for name in names if not re.match(r"(MPI_[A-Z]|mpi_|chameleon_)", name)]
    expect(len(names) > 350 and not odd, f"exported: {odd[:5]} of {len(names)}")
    kinds = collections.Counter(line.split()[1] for line in lines.splitlines())
    expect(set(kinds) <= {"T", "W"}, f"kinds of symbols exported: {dict(kinds)}")
    lines = harm.tools.run(["readelf", "-d", harm.tools.library]).stdout.decode()
    needed = re.findall(r"NEEDED.*\[(.+)\]", lines)
    foreign = [name for name in needed if re.match(r"lib(unwind|stdc\+\+|mpichfort)", name)]
    expect(needed and not foreign, f"needed: {foreign}")


@test
@harness.unsanitized("sanitizers have constructors of their own")
def constructors(harm):
    """MPI may begin in a constructor that comes before those of the library. So it has only one of
    its own, which is not needed then; those of libstdc++ set up what works without."""
    known = {"frame_dummy", "at_load"}
    of_libstdcxx = {"cxx11_ios_failure", "cxx11_locale_inst", "cxx11_wlocale_inst", "eh_alloc",
                    "locale_inst", "memory_resource", "system_error", "wlocale_inst", "ios_init",
                    "globals_io", "compatibility_thread_c++0x", "future", "tzdb", "ios_errcat"}
    for library in sorted(pathlib.Path(harm.tools.library).parent.glob("libchameleon*.so")):
        sections = harm.tools.run(["readelf", "-SW", library]).stdout.decode()
        found = re.search(r" \.init_array +INIT_ARRAY +([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+)", sections)
        expect(found and ".ctors" not in sections, f"{library.name}: sections")
        begin, size = (int(text, 16) for text in found.groups())
        symbols = {}
        for line in harm.tools.run(["nm", library]).stdout.decode().splitlines():
            words = line.split()
            if len(words) == 3 and words[1] in "tT":
                symbols.setdefault(int(words[0], 16), set()).add(words[2])
        expect(symbols, f"{library.name}: has no symbols")
        functions = []
        for line in harm.tools.run(["readelf", "-rW", library]).stdout.decode().splitlines():
            words = line.split()
            if len(words) >= 4 and words[2] == "R_X86_64_RELATIVE":
                if begin <= int(words[0], 16) < begin + size:
                    functions.append(symbols.get(int(words[3], 16), {words[3]}))
        expect(len(functions) == size // 8, f"{library.name}: {len(functions)} of {size // 8}")
        for names in functions:
            ours = any(name in known or re.search(r"\d+at_loadE", name) for name in names)
            theirs = any(re.fullmatch(r"_GLOBAL__sub_I_(\S+)\.cc", name) and
                         name[len("_GLOBAL__sub_I_"):-3] in of_libstdcxx for name in names)
            expect(ours or theirs, f"{library.name}: a constructor: {names}")


def main():
    arguments = harness.parser(__doc__)
    arguments.add_argument("--programs", required=True, help="folder of oddities")
    arguments.add_argument("--sources", required=True, help="folder of the other sources")
    arguments.add_argument("--only", help="one test, by name")
    options = arguments.parse_args()

    def body(tools):
        harm = Harmless(tools, options.programs, options.sources)
        mpich = tools.mpi == "mpich"
        tests = [test for test in TESTS if not harness.is_left_out(tools, test) and
                 (mpich or not hasattr(test, "of_mpich"))]
        # Open MPI ends all ranks at the first exit status that is not 0, and may lose what others
        # have printed.
        harness.run_each(tests, options.only,
                         lambda test: test(harm) if mpich else harness.tried(test, harm))

    harness.main("test_harmless", options, body)


if __name__ == "__main__":
    main()
