#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Which functions of Open MPI the tracer stands before, in C and in Fortran.

    test_bindings.py --tools TOOLS.json --page MPI-COVERAGE.md --slots LIBRARY --binding LIBRARY
                     --program PROGRAM... --predefined PROGRAM PROGRAM --mpich TOOLS.json

The page names those that the library has, and all are wrapped. Open MPI's Fortran libraries call
PMPI_* for all three interfaces: every function that they import is wrapped, but conversions of
handles; in a traced program every such import leads into the tracer, as an independent look at the
loader's tables says; and the Fortran functions that call no PMPI_* are those known here. PROGRAMS
are one for each interface. What every program has (datatypes, operations) has the same ids in traces
of both MPIs, but for what came with MPI 4."""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "mpi"))
sys.dont_write_bytecode = True
import harness  # noqa: E402  (the path has to be set first)
from harness import expect  # noqa: E402

CONVERSIONS = {f"MPI_{kind}_{way}" for way in ("c2f", "f2c")
               for kind in ("Comm", "Errhandler", "Group", "Info", "Message", "Op", "Request", "Type",
                            "Win")}
# Attributes, and what is made of the program's functions: Open MPI keeps a language with them.
WITHIN = {"attr_get", "attr_put", "comm_create_errhandler", "comm_create_keyval", "comm_get_attr",
          "comm_set_attr", "errhandler_create", "file_create_errhandler", "keyval_create",
          "type_create_keyval", "type_get_attr", "type_set_attr", "win_create_errhandler",
          "win_create_keyval", "win_get_attr", "win_set_attr"}
# No communication and no object, or another name of a function.
NEITHER = {"aint_add", "aint_diff", "f_sync_reg", "type_match_size", "alloc_mem_cptr",
           "win_allocate_cptr", "win_allocate_shared_cptr", "win_shared_query_cptr"}


def symbols(tools, library, kind):
    lines = tools.run(["nm", "-D", f"--{kind}-only", library]).stdout.decode().splitlines()
    return {line.split()[-1].split("@")[0] for line in lines}


def check_coverage(tools, page, mpi):
    rows = re.findall(r"^\| `(MPI_\w+)` \|.*\| (yes)?\s*\| [^|]*\|$", page.read_text(), re.M)
    expect(len(rows) > 600, f"{page.name}: {len(rows)} rows")
    claimed = {name for name, there in rows if there}
    has = symbols(tools, mpi, "defined") & {name for name, _ in rows}
    expect(claimed == has, f"{page.name}: Open MPI has {sorted(has - claimed)} too, and not "
           f"{sorted(claimed - has)}")
    wrapped = symbols(tools, tools.library, "defined")
    expect(has <= wrapped, f"not wrapped: {sorted(has - wrapped)}")
    return wrapped


def check_imports(tools, binding, wrapped):
    imports = {name[1:] for name in symbols(tools, binding, "undefined")
               if name.startswith("PMPI_")}
    expect(len(imports) > 350, f"{binding}: {len(imports)} imports")
    escaped = imports - wrapped - CONVERSIONS
    expect(not escaped, f"{binding} calls what is not wrapped: {sorted(escaped)}")
    own = {name[4:-1] for name in symbols(tools, binding, "defined")
           if re.fullmatch(r"mpi_\w*[a-z]_", name) and not name.endswith("__")}
    inside = own - {name[4:].lower() for name in imports}
    inside = {name for name in inside if not name.startswith("sizeof_")} - NEITHER
    expect(inside == WITHIN, f"without a PMPI_ function: {sorted(inside ^ WITHIN)}")
    return imports


def check_slots(tools, options, program, imports):
    folder = tools.fresh(pathlib.Path(program).name)
    outcome = tools.job(2, [program, "--iterations", 3], preload=[tools.library, options.slots],
                        cwd=folder, CHAMELEON_OUTPUT=folder / "x.cham")
    expect(outcome.status == 0 and (folder / "x.cham").exists(), f"{program}: traced", outcome)
    slots = re.findall(r"^slot (\S+) P(\S+) (\S+)$", outcome.stderr.decode(), re.M)
    seen = {name for library, name, _ in slots if "mpifh" in library}
    expect(seen == imports, f"{program}: the witness sees {len(seen)} of {len(imports)} imports")
    own = pathlib.Path(tools.library).resolve()
    astray = [slot for slot in slots
              if slot[1] not in CONVERSIONS and pathlib.Path(slot[2]).resolve() != own]
    expect(not astray, f"{program}: {len(astray)} imports lead elsewhere: {astray[:3]}")


def check_predefined(tools, options):
    ids = []
    for with_tools, program in zip((harness.Tools(options.mpich, tools.folder), tools),
                                   options.predefined):
        outcome = with_tools.job(1, [program])
        expect(outcome.status == 0, program, outcome)
        ids.append({tuple(line.split()[:2]): line.split()[2]
                    for line in outcome.stdout.decode().splitlines()})
    both = ids[0].keys() & ids[1].keys()
    alone = {name for _, name in ids[0].keys() ^ ids[1].keys()}
    expect(len(both) > 90 and alone <= {"MPI_ERRORS_ABORT", "MPI_SESSION_NULL"},
           f"{len(both)} objects of both, and {sorted(alone)}")
    other = [name for name in both if ids[0][name] != ids[1][name]]
    expect(not other, f"other ids: {other}")


def main():
    arguments = harness.parser(__doc__)
    arguments.add_argument("--page", required=True, type=pathlib.Path)
    arguments.add_argument("--slots", required=True, help="binding_slots.so")
    arguments.add_argument("--binding", required=True, help="libmpi_mpifh.so")
    arguments.add_argument("--program", required=True, nargs="+")
    arguments.add_argument("--predefined", required=True, nargs=2)
    arguments.add_argument("--mpich", required=True, help="tools.json for MPICH")
    options = arguments.parse_args()

    def body(tools):
        check_predefined(tools, options)
        wrapped = check_coverage(tools, options.page, tools.mpi_library)
        imports = check_imports(tools, options.binding, wrapped)
        for program in options.program:
            check_slots(tools, options, program, imports)

    harness.main("test_bindings", options, body)


if __name__ == "__main__":
    main()
