#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fortran by its three interfaces: the tracer changes nothing and misses nothing.

    test_fortran.py --tools TOOLS.json --programs FOLDER [--witness TOOLS.json --witness-of FOLDER]

fortran_calls.F90, compiled for each, checks what it gets back; traced, its output and exit status
stay. The raw records of all three hold the same calls, and those of mpif.h are what an
independent counting library counts, under the MPI of the witness; every value verifies; the call
sites are the program's. Open MPI's Fortran library calls PMPI_* itself, which nobody can count."""

import collections
import json
import pathlib

import harness
from harness import expect

RANKS = 3
INTERFACES = ("mpif", "use_mpi", "use_mpi_f08")
POLLED = {"MPI_Test", "MPI_Waitsome"}  # their numbers vary from run to run
# What Open MPI's Fortran does without its C functions.
WITHIN = {"MPI_Comm_create_keyval", "MPI_Comm_set_attr"}


def own_lines(outcome):
    return sorted(outcome.stdout.splitlines())


class Program:
    def __init__(self, tools, programs, name, linked=False):
        self.tools = tools
        self.name = name
        self.program = programs / f"fortran_calls_{name}"
        self.preload = () if linked else (tools.library,)

    def traced(self, word, output, raw):
        return self.tools.job(RANKS, [self.program, word], preload=self.preload,
                              CHAMELEON_OUTPUT=output, CHAMELEON_RAW=raw)

    def run(self, word):
        """Untraced and traced; the folder of the trace x.cham and of raw records."""
        folder = self.tools.fresh(f"{self.name}_{word}")
        (folder / "raw").mkdir()
        plain = self.tools.job(RANKS, [self.program, word], CHAMELEON_ENABLE="0")
        traced = self.traced(word, folder / "x.cham", folder / "raw")
        expect(plain.status == 3, f"{self.name} {word}: fails untraced", plain)
        expect(traced.status == 3, f"{self.name} {word}: exit status changes", traced)
        expect(own_lines(plain) == own_lines(traced), f"{self.name} {word}: output changes",
               plain, traced)
        expect((folder / "x.cham").exists(), f"{self.name} {word}: no trace", traced)
        self.tools.verify(folder / "x.cham", folder / "raw")
        self.tools.check(folder / "x.cham")
        return folder

    def counts(self, folder, local):
        counts = [harness.raw_counts(folder / "raw", rank) for rank in range(RANKS)]
        return [{name: count for name, count in one.items() if name not in POLLED | local}
                for one in counts]


def witness(tools, program, local):
    folder = tools.fresh("counted")
    outcome = tools.job(RANKS, [program, "-"], preload=[tools.count_calls], COUNT_CALLS_DIR=folder)
    expect(outcome.status == 3, "the counting run", outcome)
    counts = []
    for rank in range(RANKS):
        lines = (folder / f"rank.{rank}.txt").read_text().splitlines()
        counted = {name: int(count) for name, count in map(str.split, lines)}
        counts.append({name: count for name, count in counted.items()
                       if name not in POLLED | local})
    return counts


def check_sites(tools, trace):
    rows = json.loads(tools.chameleon("stats", "--by", "path", "--json", trace).stdout)["rows"]
    places = collections.Counter("fortran_calls.F90:" in json.dumps(row) for row in rows)
    expect(places[True] > 20 and not places[False], f"{trace.parent.name}: {places[False]} of "
           f"{sum(places.values())} places are not lines of the program: "
           f"{[row for row in rows if 'fortran_calls.F90:' not in json.dumps(row)][:2]}")


def main():
    arguments = harness.parser(__doc__)
    arguments.add_argument("--programs", required=True, type=pathlib.Path)
    arguments.add_argument("--witness", help="tools.json of an MPI whose calls can be counted")
    arguments.add_argument("--witness-of", type=pathlib.Path, help="programs built with that")
    options = arguments.parse_args()

    def body(tools):
        local, linked = tools.local_calls(), ("linked",)
        counting, of = tools, options.programs
        if options.witness:
            counting, of, linked = harness.Tools(options.witness, tools.folder), options.witness_of, ()
            local |= WITHIN
        expected = witness(counting, of / "fortran_calls_mpif", local)
        expect(all(len(counts) > 25 for counts in expected), "the witness saw little")
        for name in (*INTERFACES, *linked):
            program = Program(tools, options.programs, name, linked=name == "linked")
            folder = program.run("-")
            found = program.counts(folder, local)
            for rank in range(RANKS):
                expect(found[rank] == expected[rank],
                       f"{name}, rank {rank}: recorded {found[rank]}, expected {expected[rank]}")
            check_sites(tools, folder / "x.cham")
            print(f"{name}: ok")
        for name in INTERFACES:
            Program(tools, options.programs, name).run("tests")
        folder = Program(tools, options.programs, "use_mpi_f08").run("sections")
        kinds = harness.raw_counts(folder / "raw", 0)
        expect(tools.mpi != "mpich" or kinds["MPI_Type_commit"] == kinds["MPI_Type_free"] > 0,
               f"sections: the types that the library makes for them: {dict(kinds)}")

    harness.main("test_fortran", options, body)


if __name__ == "__main__":
    main()
