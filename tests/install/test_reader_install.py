#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Installs what reads traces, alone, into a folder of its own, and uses it as a user would: the
examples in C++ by CMake and by pkg-config, the Python package from where it is installed and by
pip. What the example analysis and the example exporter say is what the Python package says.

    test_reader_install.py --build BUILD --source SOURCE [--cmake C] [--compiler C]"""

import argparse
import ast
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

USE = """
import sys, chameleon_trace
trace = chameleon_trace.read_trace(sys.argv[1])
for rank in trace.ranks:
    print(f"rank {rank}: {sum(1 for _ in trace.events(rank))} events")
print(chameleon_trace.__file__)
"""

# What examples/imbalance.cpp and examples/export_dot.cpp print, as another reader has it.
IMBALANCE = """
import collections, sys, chameleon_trace
trace = chameleon_trace.read_trace(sys.argv[1])
places = collections.defaultdict(collections.Counter)
for stream in trace.ranks:
    for event in trace.events(stream):
        if "comm" in event and "dest" not in event and "source" not in event:
            places[f"{event.name} at {trace.site(event.path)}"][event.rank] += event.call_ns
for place, times in sorted(places.items()):
    last = min(times, key=lambda rank: (times[rank], rank))
    print(f"{place}: {len(times)} ranks, mean {sum(times.values()) / len(times) / 1e6:.3f} ms, "
          f"rank {last} {times[last] / 1e6:.3f} ms")
"""
EXPORT_DOT = """
import collections, sys, chameleon_trace
trace = chameleon_trace.read_trace(sys.argv[1])
messages = collections.Counter()
for stream in trace.ranks:
    for event in trace.events(stream):
        if "dest" in event and event["comm"] == 0 and event.world("dest") is not None:
            messages[event.rank, event.world("dest")] += 1
print("digraph messages {")
for (sender, receiver), count in sorted(messages.items()):
    print(f"  {sender} -> {receiver} [label={count}];")
print("}")
"""


def run(words, fails=False, **settings):
    words = [str(word) for word in words]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(words, env={**environment, **settings}, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if (done.returncode != 0) != fails:
        sys.exit(f"{' '.join(words)}: exit status {done.returncode}\n{done.stdout}")
    return done.stdout


def events(output):
    """The numbers of events in the lines of ranks."""
    return [line.split(",")[0] for line in output.splitlines() if line.startswith("rank ")]


def check_program(program, trace, expected):
    output = run([program, trace])
    if events(output) != expected or "loop x" not in output:
        sys.exit(f"{program}: expected {expected}, it says\n{output}")
    error = run([program, "no-such-file.cham"], fails=True)
    if error.count("\n") != 1 or "no-such-file.cham" not in error:
        sys.exit(f"{program} says of a missing file:\n{error}")


def check_same(program, source, trace, modules, least):
    output, expected = run([program, trace]), run([sys.executable, "-c", source, trace],
                                                  PYTHONPATH=str(modules))
    if output != expected or output.count("\n") < least:
        sys.exit(f"{program.name} says\n{output}and the Python package\n{expected}")
    run([program, "no-such-file.cham"], fails=True)


def check_pip(package, folder, trace, expected):
    """pip install FOLDER, and the wheel that pip makes of it, without the network."""
    for python in (sys.executable, "/usr/bin/python3"):  # Debian's has Debian's modules
        probe = [python, "-c", "import setuptools, wheel, pip"]
        if subprocess.run(probe, stderr=subprocess.DEVNULL).returncode != 0:
            continue
        pip = [python, "-m", "pip", "--disable-pip-version-check"]
        quiet = ["--no-index", "--no-deps"]
        copy, site, wheels = folder / "package", folder / "site", folder / "wheels"
        shutil.rmtree(folder, ignore_errors=True)
        # Building leaves files in the folder.
        shutil.copytree(package, copy, ignore=shutil.ignore_patterns("__pycache__"))
        run([*pip, "wheel", *quiet, "--no-build-isolation", "--wheel-dir", wheels, copy])
        made = list(wheels.iterdir())
        if [path.name.split("-")[0::2] for path in made] != [["chameleon_trace", "py3", "any.whl"]]:
            sys.exit(f"pip wheel makes {made}")
        for number, what in enumerate((made[0], copy)):
            into = site / str(number)
            run([*pip, "install", *quiet, "--no-build-isolation", "--target", into, what])
            output = run([python, "-c", USE, trace], PYTHONPATH=str(into))
            if events(output) != expected or str(into) not in output:
                sys.exit(f"installed by pip, the package says\n{output}")
        return
    print("pip, setuptools and wheel are not there: `pip install` is not tried")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--source", required=True, type=pathlib.Path)
    parser.add_argument("--cmake", default="cmake")
    parser.add_argument("--compiler", default="c++")
    options = parser.parse_args()
    trace = options.source / "tests/fuzz/corpus/stencil2d.cham"
    ring = options.source / "tests/fuzz/corpus/ring.cham"
    examples = options.source / "examples"
    for path in (options.source / "tools/python/chameleon_trace").glob("*.py"):
        ast.parse(path.read_text(), str(path), feature_version=(3, 9))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        prefix = folder / "prefix"
        run([options.cmake, "--install", options.build, "--prefix", prefix, "--component",
             "trace_reader"])
        modules = prefix / "share/chameleon/python"
        output = run([sys.executable, "-c", USE, trace], PYTHONPATH=str(modules))
        expected = events(output)
        if len(expected) != 7 or str(modules) not in output:
            sys.exit(f"the installed package says\n{output}")
        tree = folder / "tree"
        run([options.cmake, "-G", "Ninja", "-S", pathlib.Path(__file__).parent / "reader", "-B",
             tree, f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_CXX_COMPILER={options.compiler}",
             f"-DEXAMPLES={examples}"])
        run([options.cmake, "--build", tree])
        check_program(tree / "read_trace", trace, expected)
        check_same(tree / "imbalance", IMBALANCE, trace, modules, 3)
        check_same(tree / "export_dot", EXPORT_DOT, ring, modules, 4)
        found = next(prefix.glob("lib*/**/pkgconfig/chameleon-trace-reader.pc")).parent
        flags = run(["pkg-config", "--cflags", "--libs", "chameleon-trace-reader"],
                    PKG_CONFIG_PATH=str(found)).split()
        run([options.compiler, "-std=c++17", examples / "read_trace.cpp", "-o", folder / "read_trace", *flags,
             f"-Wl,-rpath,{found.parent}"])
        check_program(folder / "read_trace", trace, expected)
        check_pip(options.source / "tools/python", folder / "pip", trace, expected)
        check_pip(modules, folder / "pip", trace, expected)


if __name__ == "__main__":
    main()
