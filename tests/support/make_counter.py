#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write the function list and the wrappers of count_calls.c from the installed MPI headers.

usage: make_counter.py INCLUDE_DIRECTORIES OUTPUT_DIRECTORY
INCLUDE_DIRECTORIES are separated by ';'; the first that has an mpi.h is read. Every function
returning int becomes a wrapper that counts and calls PMPI_*, except those count_calls.c writes by
hand and the MPI_T_ tool interface."""

import pathlib
import re
import sys

BY_HAND = ("MPI_Finalize", "MPI_Pcontrol")
PROTOTYPE = re.compile(r"^\s*(?:OMPI_DECLSPEC\s+)?int\s+(MPI_(?!T_)[A-Z][a-z]\w*)\s*"
                       r"\(([^;]*?)\)[^;]*;", re.M)


def headers(directories):
    for directory in map(pathlib.Path, directories.split(";")):
        if (directory / "mpi.h").exists():
            names = ("mpi.h", "mpi_proto.h", "mpio.h")
            return [directory / name for name in names if (directory / name).exists()]
    sys.exit(f"make_counter.py: no mpi.h in {directories}")


def prototypes(files):
    found = {}
    for file in files:
        text = re.sub(r"/\*.*?\*/", "", file.read_text(), flags=re.S)
        for name, parameters in PROTOTYPE.findall(text):
            found.setdefault(name, " ".join(parameters.split()))
    return found


def argument(parameter):
    return re.sub(r"\[[^\]]*\]", "", parameter).split()[-1].lstrip("*")


def wrapper(name, parameters):
    arguments = "" if parameters == "void" else ", ".join(
        argument(p) for p in parameters.split(","))
    return (f"int {name}({parameters})\n{{\n"
            f"    count_call(k_{name}, __builtin_return_address(0));\n"
            f"    return P{name}({arguments});\n}}\n\n")


def main():
    directories, output = sys.argv[1], pathlib.Path(sys.argv[2])
    found = prototypes(headers(directories))
    missing = [name for name in BY_HAND if name not in found]
    if missing or len(found) < 300:
        sys.exit(f"make_counter.py: headers not understood ({len(found)} functions, no {missing})")
    enumerators = ", ".join(f"k_{name}" for name in found)
    names = ", ".join(f'"{name}"' for name in found)
    (output / "count_calls_list.inc").write_text(
        f"enum {{ {enumerators}, kFunctions }};\n"
        f"static const char* const kNames[kFunctions] = {{ {names} }};\n")
    (output / "count_calls_wrappers.inc").write_text(
        "".join(wrapper(n, p) for n, p in found.items() if n not in BY_HAND))


if __name__ == "__main__":
    main()
