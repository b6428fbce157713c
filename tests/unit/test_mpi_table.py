#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that table = mpi.h = what the MPI library exports, and that the generator uses it all.

    test_mpi_table.py --table mpi_calls.txt --header mpi.h --library libmpich.so --python mpi_calls.py

The Python reader's table is part of its package, which is installed without the build: it must be
what the generator writes. Exit status 0 if everything holds; otherwise every failure is printed, and the status is 1. The
checks that the generator makes itself (ids, kinds, attributes, lengths) are also made to fail
here, on damaged copies of the table: a check that cannot fail is none.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
GENERATOR = ROOT / "libchameleon" / "mpi" / "generate.py"
sys.path.insert(0, str(GENERATOR.parent))
sys.dont_write_bytecode = True
import generate  # noqa: E402  (the path has to be set first)

# Exported functions that are not in the table, each with a reason.
NOT_IN_TABLE = {}

# What a damaged table must be refused for: (name, pattern, replacement, expected in the message).
DAMAGE = [
    ("unknown kind", r"buf:buffer", "buf:bufer", "unknown kind 'bufer'"),
    ("unknown attribute", r" 1\.0 send :", " 1.0 sends :", "unknown attribute 'sends'"),
    ("unknown length", r"request\[count\]", "request[cuont]", "unknown length 'cuont'"),
    ("id used twice", r"(?m)^2 Recv", "1 Recv", "'1' is there twice"),
    ("name used twice", r"(?m)^2 Recv .*$", "2 Send 1.0 send :",
     "'Send' is there twice"),
    ("missing parameter", r"(?m)^(1 Send .*) comm:comm$", r"\1", "5 parameters in the table, 6"),
    ("broken line", r"(?m)^1 Send 1\.0", "1 Send", "cannot read line"),
    ("wrongly regular", r" irregular :", " - :", "must be irregular"),
    ("unknown word of meaning", r"(?m)^(57 Bcast .*) moves=", r"\1 mooves=", "unknown word 'mooves='"),
    ("word of meaning twice", r" moves=root>all:whole", r"\g<0>\g<0>", "is there twice"),
    ("unknown movement", r"root>all:whole", "root>some:whole", "cannot read moves=root>some:whole"),
    ("movement without root", r"moves=all>all:whole", "moves=root>all:whole",
     "does not agree with its root"),
    ("movement not told", r"(?m)^(57 Bcast .*) moves=\S+", r"\1", "without moves="),
    ("scan without op", r"(?m)^(62 Allgather .*moves=)all", r"\1upto", "is for reductions"),
    ("movement without count", r"(?m)^(62 Allgather .*sendcount:)count", r"\1int",
     "a buffer, count or datatype is missing"),
    ("form of nothing", r" as=Bcast ", " as=Bcost ", "as=Bcost: no such call"),
    ("form of itself", r" as=Bcast ", " as=Ibcast ", "as=Ibcast: no such call, or in a circle"),
    ("form of another call", r" as=Bcast ", " as=Gather ", "with other parameters"),
    ("form with attributes of its own", r"(?m)^(75 Ibcast \S+ \S+)", r"\1,reduction",
     "as Bcast, but not in reduction"),
    ("form that says more", r" as=Bcast ", " as=Bcast moves=root>all:whole ", "which says all else"),
    ("wait for somebody", r" waits=nobody :", " waits=somebody :", "cannot read waits=somebody"),
    ("over something else", r" over=result :", " over=world :", "cannot read over=world"),
    ("size of nothing made", r"(?m)^(192 Type_free \S+ \S+)", r"\1 size=datatype",
     "makes no datatype"),
    ("size by no parameter", r" size=count\*", " size=cuont*", "no parameter 'cuont'"),
    ("size without type", r" size=count\*oldtype", " size=count", "cannot read size=count"),
]

# They return a handle, and some MPI libraries export them.
CONVERSIONS = re.compile("_(c2f|f2c|toint|fromint|c2f08|f082c|f082f|f2f08)$")

# Calls named like a form of another call that are none.
NO_FORMS = {"Iprobe", "Improbe"}  # they may find nothing


def exported_functions(library):
    """Names without MPI_ of the functions that the library defines."""
    output = subprocess.run(["nm", "-D", "--defined-only", library], check=True,
                            stdout=subprocess.PIPE, universal_newlines=True).stdout
    return set(re.findall(r" [TWi] MPI_(\w+)(?:@.*)?$", output, re.M))


def run_generator(table, header, output):
    return subprocess.run([sys.executable, str(GENERATOR), "--table", str(table), "--header",
                           str(header), "--output-dir", str(output)],
                          stderr=subprocess.PIPE, universal_newlines=True)


def check_coverage(calls, excluded, prototypes, exported):
    names = {call.name for call in calls}
    wanted = {n for n in exported - set(NOT_IN_TABLE) if n in names or not CONVERSIONS.search(n)}
    print(f"{len(wanted & names)} of {len(exported)} exported functions in the table")
    yield from (f"{n}: exported, not in the table" for n in sorted(wanted - names))
    yield from (f"{n}: exported, not in the header" for n in sorted(wanted - set(prototypes)))
    yield from (f"{n}: excluded, yet exported" for n in sorted(set(excluded) & exported)
                if not CONVERSIONS.search(n))
    yield from (f"{n}: in NOT_IN_TABLE, yet in the table"
                for n in sorted(names & set(NOT_IN_TABLE)))
    yield from (f"{n}: in the header, not exported: its wrapper would not link"
                for n in sorted((names & set(prototypes)) - exported))


def check_sense(calls, prototypes):
    """What the attributes and kinds of a call must have to do with each other and with C."""
    handles = {"comm", "group", "datatype", "op", "win", "file", "info", "errhandler", "message",
               "session", "keyval"}
    for call in calls:
        has = set(call.attributes)
        outs = {p.kind for p in call.params if p.direction == "out"}
        inouts = {p.kind for p in call.params if p.direction == "inout"}
        if "creates" in has and not outs & handles:
            yield f"{call.name}: creates without an out handle"
        if "frees" in has and not inouts & (handles | {"request"}):
            yield f"{call.name}: frees without an inout handle"
        if has & {"nonblocking", "persistent"} and "request" not in outs:
            yield f"{call.name}: no out request"
        if has & {"starts", "completes", "cancels"} and "request" not in inouts:
            yield f"{call.name}: no inout request"
        if ("largecount" in has) != call.name.endswith("_c"):
            yield f"{call.name}: largecount and the name disagree"
        if "send" in has and "dest" not in {p.kind for p in call.params}:
            yield f"{call.name}: send without dest"
        for param in call.params:
            if param.direction == "out" and param.length.startswith("max"):
                yield f"{call.name}: {param.name} has room for {param.length}, which may be more"
        yield from check_types(call, prototypes.get(call.name))


def check_forms(calls):
    """Calls named like nonblocking, persistent and large-count forms of others say so."""
    names = {call.name for call in calls}
    for call in calls:
        like = [call.name[:-len(end)] for end in ("_init", "_c") if call.name.endswith(end)]
        if call.name[0] == "I":
            like.append(call.name[1:2].upper() + call.name[2:])
        like += [call.name.replace(i, i[:-1], 1) for i in ("File_i", "Comm_i") if
                 call.name.startswith(i)]
        if names & set(like) and "as" not in call.meaning and call.name not in NO_FORMS:
            yield f"{call.name}: named like a form of {like[0]}, but without as="


HANDLE_TYPES = {"MPI_Comm": "comm", "MPI_Group": "group", "MPI_Datatype": "datatype",
                "MPI_Request": "request", "MPIO_Request": "request", "MPI_Op": "op",
                "MPI_Win": "win", "MPI_File": "file", "MPI_Info": "info",
                "MPI_Errhandler": "errhandler", "MPI_Message": "message",
                "MPI_Session": "session", "MPI_Status": "status", "MPI_Offset": "offset"}


def check_types(call, prototype):
    declarations = prototype.declarations if prototype else []
    for param, declaration in zip(call.params, declarations):
        base = next(w for w in re.findall(r"\w+", declaration) if w != "const")
        indirect = "*" in declaration or "[" in declaration
        kind = HANDLE_TYPES.get(base)
        if kind != (param.kind if param.kind in HANDLE_TYPES.values() else None):
            yield f"{call.name}: {param.name} is {param.kind} but '{declaration}' in C"
        if not indirect and (param.direction != "in" or param.length):
            yield f"{call.name}: {param.name} is {param.direction} but '{declaration}' in C"
        if "const" in declaration and indirect and param.direction != "in":
            yield f"{call.name}: {param.name} is {param.direction} but '{declaration}' in C"
        unsized = ("argv", "string", "other")
        if "[" in declaration and not param.length and param.kind not in unsized:
            yield f"{call.name}: {param.name} has no length but '{declaration}' in C"


def check_wrappers(calls, prototypes, directory):
    wrappers = (directory / "wrappers.inc").read_text()
    replay = (directory / "replay_calls.inc").read_text()
    defined = re.findall(r" MPI_(\w+)\(", wrappers)
    if len(defined) != len(set(defined)):
        yield "wrappers.inc: a wrapper is there twice"
    regular = {c.name for c in calls if "irregular" not in c.attributes and c.name in prototypes}
    yield from (f"{n}: no wrapper" for n in sorted(regular - set(defined)))
    yield from (f"{n}: wrapper without a table line" for n in sorted(set(defined) - regular))
    expectations = {"Send": True, "Waitall": True, "Comm_rank": False, "Init": False}
    for name, expected in expectations.items():
        if (f", MPI_{name}," in replay) != expected:
            yield f"replay_calls.inc: {name} {'is missing' if expected else 'must not be there'}"


def check_damage(table, header, directory):
    text = table.read_text()
    for name, pattern, replacement, expected in DAMAGE:
        damaged = re.sub(pattern, replacement, text, count=1)
        if damaged == text:
            yield f"{name}: the damage did nothing"
            continue
        path = directory / "damaged.txt"
        path.write_text(damaged)
        result = run_generator(path, header, directory / "damaged")
        lines = result.stderr.splitlines()
        if result.returncode != 1 or len(lines) != 1 or expected not in lines[0]:
            yield f"{name}: status {result.returncode}, said '{result.stderr.strip()}'"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--table", type=pathlib.Path, required=True)
    parser.add_argument("--header", type=pathlib.Path, required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--python", type=pathlib.Path, required=True)
    options = parser.parse_args()

    vocabulary = generate.read_vocabulary(GENERATOR.parent / "kinds.h")
    calls, excluded = generate.read_table(options.table, vocabulary)
    prototypes = generate.read_prototypes(options.header)
    exported = exported_functions(options.library)
    failures = list(check_coverage(calls, excluded, prototypes, exported))
    failures += check_sense(calls, prototypes)
    failures += check_forms(calls)
    if options.python.read_text() != generate.emit_python(calls, generate.find_meanings(calls)):
        failures.append(f"{options.python} is not what the table says: build the target approve")
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        result = run_generator(options.table, options.header, directory)
        if result.returncode != 0:
            failures.append(result.stderr.strip())
        else:
            failures += check_wrappers(calls, prototypes, directory)
        failures += check_damage(options.table, options.header, directory)
    for failure in failures:
        print("FAILED", failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
