#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The Python frames of every call path are those that Python itself gives.

    test_stacks.py --tools TOOLS.json --program PYTHON --module FOLDER --reader FOLDER --ranks 1,2

PYTHON runs stacks.py with the module minimpi of FOLDER; the reader's package reads the trace.
Compared are file, function and line of each frame of each call of each thread, in order. The ranks
have the same call paths, each iteration of a loop has the one of the first, two calls on a line
have one each, and `verify` finds them as the raw records have them. Without the frames of Python,
call paths have none."""

import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "mpi"))
sys.dont_write_bytecode = True
import harness  # noqa: E402
from harness import expect  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
MOST_FRAMES = 128
MOST_PERIOD = 8


def folded(frames):
    """Blocks repeated at once are there once."""
    kept = []
    for frame in frames:
        kept.append(frame)
        for period in range(1, min(MOST_PERIOD, len(kept) // 2) + 1):
            if kept[-period:] == kept[-2 * period:-period]:
                del kept[-period:]
                break
    return kept


def python_frames(trace, path):
    return [trace.sources[frame.offset][:2] + (trace.sources[frame.offset].line,)
            for frame in trace.paths[path] if frame.module == 0 and frame.offset in trace.sources]


def check_stream(trace, stream, noted):
    """The calls of a stream are those that were noted. Returns how many."""
    calls = list(trace.events(stream))
    if calls and calls[0].name == "Init_thread":  # said without Python's frames: before tracing
        calls = calls[1:]
    expect(len(calls) == len(noted), f"stream {stream}: {len(calls)} calls, {len(noted)} noted")
    for number, (event, stack) in enumerate(zip(calls, noted)):
        said = folded([tuple(frame) for frame in stack[:MOST_FRAMES]])
        found = folded([tuple(frame) for frame in python_frames(trace, event.path)])
        expect(found == said, f"stream {stream}, call {number}, {event.name}: frames {found[:12]}, "
               f"Python says {said[:12]}")
    return len(calls)


def interpreter_frames(trace):
    """Paths with frames of Python and of its interpreter."""
    own = {number for number, module in trace.modules.items()
           if pathlib.Path(module.path).name.startswith(("python3", "libpython3"))}
    return [path for path, frames in trace.paths.items()
            if any(frame.module in own for frame in frames)]


def check_paths(trace, where):
    by_function = {}
    for path in trace.paths:
        frames = python_frames(trace, path)
        if len(frames) > 1:
            by_function.setdefault(frames[1][1], set()).add(path)
            by_function.setdefault(frames[0][1], set()).add(path)
    expect(len(by_function["plain"]) == 1, f"{where}: a loop has paths {by_function['plain']}")
    expect(len(by_function["two_on_a_line"]) == 2,
           f"{where}: two calls on a line have {len(by_function['two_on_a_line'])} paths")
    found = interpreter_frames(trace)
    expect(not found, f"{where}: the interpreter's own frames: {[trace.frames(p) for p in found]}")


def run(tools, options, ranks, folder, *words, **variables):
    """A traced job of stacks.py, or of another program that is named first."""
    variables["PYTHONPATH"] = options.module
    words = words if words and str(words[0]).endswith(".py") else ("stacks.py", folder, *words)
    return tools.traced(ranks, [options.program, HERE / words[0], *words[1:]],
                        folder / "stacks.cham", raw=folder / "raw", cwd=folder, **variables)


def check_ranks(tools, options, ranks, threads=False):
    where = f"{ranks} ranks{' with threads' * threads}"
    folder = tools.fresh(f"n{ranks}{'t' * threads}")
    (folder / "raw").mkdir()
    traced = run(tools, options, ranks, folder, *["threads"] * threads)
    expect(traced.status == 0, f"{where}: traced", traced)
    expect(traced.stderr.count(b"\n") == 1, f"{where}: more than the summary on stderr", traced)
    trace = options.reader.read_trace(folder / "stacks.cham")
    calls = 0
    for rank in range(ranks):
        threads_noted = json.loads((folder / f"{rank}.json").read_text())
        expect(len(threads_noted) == (3 if threads else 1), f"{where}: {len(threads_noted)} threads")
        for thread, noted in enumerate(threads_noted):
            calls += check_stream(trace, rank + ranks * thread, noted)
    expect(calls > 500 * ranks, f"{where}: {calls} calls")
    check_paths(trace, where)
    report = tools.verify(folder / "stacks.cham", folder / "raw")
    expect(report["columns"]["path"]["total"] > 0, f"{where}: verify compares no call paths")
    expect(not trace.declarations, f"{where}: declared: {trace.declarations}")
    if not threads:
        every = {tuple(sorted({event.path for event in trace.events(rank)}))
                 for rank in range(ranks)}
        expect(len(every) == 1, f"{where}: ranks differ in their call paths")
    return trace


def check_without(tools, options):
    folder = tools.fresh("without")
    (folder / "raw").mkdir()
    traced = run(tools, options, 2, folder, CHAMELEON_PYTHON=0)
    expect(traced.status == 0, "without frames of Python", traced)
    trace = options.reader.read_trace(folder / "stacks.cham")
    expect(not trace.sources and interpreter_frames(trace), "CHAMELEON_PYTHON=0 has Python's frames")


def check_unknown(tools, options):
    """A version that is not known: one line, a declaration, and the interpreter's own frames."""
    folder = tools.fresh("unknown")
    (folder / "raw").mkdir()
    traced = run(tools, options, 2, folder)
    expect(traced.status == 0, "an unknown version", traced)
    expect(traced.stderr.count(b"Python's functions") == 1, "a line says so once", traced)
    trace = options.reader.read_trace(folder / "stacks.cham")
    expect(not trace.sources and interpreter_frames(trace), "an unknown version has frames")
    expect(any("Python" in declared.what for declared in trace.declarations), "nothing is declared")
    tools.verify(folder / "stacks.cham", folder / "raw")


def check_other_interpreter(tools, options):
    """Functions of a second interpreter are not shown, which is declared; those of the first are."""
    folder = tools.fresh("other")
    (folder / "raw").mkdir()
    traced = run(tools, options, 2, folder, "other_interpreter.py")
    expect(traced.status == 0, "another interpreter", traced)
    trace = options.reader.read_trace(folder / "stacks.cham")
    for rank in range(2):
        names = [[frame[1] for frame in python_frames(trace, event.path)]
                 for event in trace.events(rank) if event.name == "Barrier"]
        expect(names == [["outside", "<module>"], []] * 3 + [["outside", "<module>"]],
               f"rank {rank}: functions {names}")
    expect(interpreter_frames(trace), "another interpreter has no frames at all")
    expect([declared.what.startswith("some call paths show Python's interpreter")
            for declared in trace.declarations] == [True], f"declared: {trace.declarations}")
    tools.verify(folder / "stacks.cham", folder / "raw")


def main():
    arguments = harness.parser_of_ranks(__doc__)
    arguments.add_argument("--module", required=True, help="folder of minimpi")
    arguments.add_argument("--reader", required=True, help="folder of chameleon_trace")
    options = arguments.parse_args()
    sys.path.insert(0, options.reader)
    import chameleon_trace
    options.reader = chameleon_trace

    asked = subprocess.run([options.program, "-c", "import sys; print(sys.version_info[:2] >= (3, 11))"],
                           capture_output=True, check=True)

    def check(tools, options, ranks):
        if asked.stdout.strip() == b"False":
            check_unknown(tools, options)
            return
        check_ranks(tools, options, ranks)
        if ranks == 2:
            check_ranks(tools, options, ranks, threads=True)
            check_without(tools, options)
            check_other_interpreter(tools, options)

    harness.main_of_ranks("test_stacks", options, check)


if __name__ == "__main__":
    main()
