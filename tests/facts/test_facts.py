#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A new fact is a row. Rows that only this test has (invented_facts.inc) go through writing,
reading, joining, `info --json` and both readers where these are made with them; and what is made
without carries them, and shows them by name.

    test_facts.py --command C --program P --print P --read R --read-with-rows R"""

import argparse
import importlib
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

PACKAGE = pathlib.Path(__file__).resolve().parents[2] / "tools/python/chameleon_trace"
RANKS = {0: {"shiver_ns": 207, "coldest": -3, "rack": "rack 0"},
         1: {"shiver_ns": 407, "coldest": -3, "rack": "rack 1"}}
OF_RANKS = {
    "shiver_ns": {"unit": "ns", "sum": 614, "least": 207, "most": 407, "most_rank": 1},
    "coldest": {"unit": "degrees", "least": -3, "most": -3, "most_rank": 0},
    "rack": {"unit": "", "values": {"rack 0": "0", "rack 1": "1"}}}
OF_RUN = {"power": 50, "weather": "snow"}


def expect(condition, what):
    if not condition:
        sys.exit(f"test_facts: {what}")


def output(*words):
    return subprocess.run([str(word) for word in words], check=True, stdout=subprocess.PIPE,
                          timeout=60).stdout.decode()


def check_json(facts, where):
    for name, wanted in OF_RANKS.items():
        expect(facts["ranks"].get(name) == wanted, f"{where}: {name}: {facts['ranks'].get(name)}")
    for name, wanted in OF_RUN.items():
        expect(facts["run"].get(name) == wanted, f"{where}: {name}: {facts['run'].get(name)}")
    expect(facts["ranks"]["events"]["sum"] == 4, f"{where}: events")


def check_library(lines, other, where):
    """What the C++ reader printed."""
    for name, value in OF_RUN.items():
        unit = " W" if other and name == "power" else ""
        expect(f"{other}{name} {value}{unit}" in lines, f"{where}: {name}: {lines}")
    for rank, facts in RANKS.items():
        for name, value in facts.items():
            unit = OF_RANKS[name]["unit"] if other else ""
            line = f"{rank} {other}{name} {value} {unit}".rstrip()
            expect(line in lines, f"{where}: no line '{line}' in {lines}")


def package(folder, approve=None):
    """The Python reader; with `approve`, a copy whose table that program writes."""
    for name in [name for name in sys.modules if name.startswith("chameleon_trace")]:
        del sys.modules[name]
    copy = folder / "chameleon_trace"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    if approve:
        output(approve, "--approve", "python", copy / "fact_table.py")
    sys.path.insert(0, str(folder))
    module = importlib.import_module("chameleon_trace")
    sys.path.pop(0)
    expect(pathlib.Path(module.__file__).is_relative_to(folder), "another one was imported")
    return module


def check_python(module, path, known, where):
    trace = module.read_trace(path)
    expect({name: trace.run_facts.get(name) for name in OF_RUN} == OF_RUN,
           f"{where}: of the run: {trace.run_facts}")
    for row in trace.facts():
        facts = row._asdict() if known else row.others
        mine = {name: facts.get(name) for name in RANKS[row.rank]}
        expect(mine == RANKS[row.rank], f"{where}: rank {row.rank}: {row}")
        expect(bool(row.others) != known, f"{where}: others are {row.others}")
    units = {name: fact.unit for name, fact in trace.other_facts.items()}
    expect(units == ({} if known else {name: fact["unit"] for name, fact in OF_RANKS.items()}),
           f"{where}: units {units}")


def main():
    parser = argparse.ArgumentParser()
    for name in ("command", "program", "print", "read", "read-with-rows"):
        parser.add_argument("--" + name, required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_json(json.loads(output(options.program, folder)), "with the rows")
        for package_of, approve in (("with", options.print), ("without", None)):
            (folder / package_of).mkdir()
            module = package(folder / package_of, approve)
            for file in ("whole", "growing"):
                check_python(module, folder / f"{file}.cham", approve is not None,
                             f"Python {package_of} the rows, {file}")
            old = next(module.read_trace(PACKAGE.parents[2] / "tests/fuzz/corpus/ring.cham").facts())
            expect(old.events > 0 and ("shiver_ns" in old._fields) == (approve is not None) and
                   getattr(old, "shiver_ns", 0) == 0, f"Python {package_of}: an older file: {old}")
        for file in ("whole", "growing"):
            path = folder / f"{file}.cham"
            check_library(output(options.read_with_rows, path).splitlines(), "",
                          f"C++ reader with the rows, {file}")
            check_library(output(options.read, path).splitlines(), "other ",
                          f"C++ reader without the rows, {file}")
            check_json(json.loads(output(options.command, "info", "--json", path))["facts"],
                       f"info --json, {file}")
        text = output(options.command, "info", folder / "whole.cham")
        for line in ("also says    shiver_ns: sum 614 ns, most 407 ns of rank 1",
                     "also says    coldest: most -3 degrees of rank 0",
                     "also says    rack: rack 0 (0), rack 1 (1)",
                     "also says    power: 50 W", "also says    weather: snow"):
            expect(line in text.splitlines(), f"info: no line '{line}' in\n{text}")


if __name__ == "__main__":
    main()
