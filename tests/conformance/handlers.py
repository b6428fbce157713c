#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A conformance program behaves as untraced whatever handles its errors.

    handlers.py --tools TOOLS.json --program P --ranks 2 --kinds returns,success [--fatal 1,9-12]

`kinds`: functions in place of MPI_ERRORS_RETURN (conformance.h); those that are called, and for
which errors, are compared as well. `fatal`: each of these errors of a rank (`all`: every one) ends
the run instead, once by MPI_ERRORS_ARE_FATAL and once by MPI_ERRORS_ABORT. Status and output must be the untraced
run's. What is not the same in two untraced runs is counted, and says nothing."""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "mpi"))
import harness
from harness import expect


def count_errors(tools, program, ranks):
    folder = tools.fresh("count")
    outcome = tools.job(ranks, [program, folder], cwd=folder, CONFORMANCE_ERRORS="returns")
    found = re.search(rb": (\d+) calls fail, ", outcome.stdout)
    expect(found, "the program does not say how many calls fail", outcome)
    return int(found[1])


def wanted(tools, options, ranks):
    yield from filter(None, options.kinds.split(","))
    fatal = options.fatal
    if fatal == "all":
        fatal = f"1-{count_errors(tools, options.program, ranks)}"
    for part in filter(None, fatal.split(",")):
        first, _, last = part.partition("-")
        for number in range(int(first), int(last or first) + 1):
            yield f"fatal:{number}"
            yield f"abort:{number}"


def shown(outcome):
    """What ends a job may leave out what other ranks were about to print."""
    if outcome.status != 0:
        return outcome.status, None
    return 0, sorted(outcome.stdout.splitlines())


def check_ranks(tools, options, ranks):
    chance = ended = 0
    kinds = list(wanted(tools, options, ranks))
    for kind in kinds:
        where = f"{ranks} ranks, {kind}"
        folder = tools.fresh("handlers")
        def plain():
            own = folder / f"plain{len(list(folder.iterdir()))}"
            own.mkdir()
            return tools.job(ranks, [options.program, own], cwd=folder, CONFORMANCE_ERRORS=kind)
        untraced = plain()
        (folder / "traced").mkdir()
        traced = tools.traced(ranks, [options.program, folder / "traced"], folder / "trace.cham",
                              cwd=folder, CONFORMANCE_ERRORS=kind, **dict(
                                  one.split("=", 1) for one in options.set))
        ended += untraced.status != 0
        expect(untraced.status == 0 or ":" in kind, f"{where}: the program fails", untraced)
        if shown(untraced) == shown(traced):
            continue
        if any(shown(plain()) != shown(untraced) for _ in range(3)):
            chance += 1
            continue
        expect(False, f"{where}: the traced run behaves otherwise", untraced, traced)
    print(f"{ranks} ranks: {len(kinds)} ways, {ended} end the run, {chance} are left to chance")
    expect(chance * 4 <= len(kinds), f"{ranks} ranks: {chance} of {len(kinds)} say nothing")


def main():
    arguments = harness.parser_of_ranks(__doc__)
    arguments.add_argument("--kinds", default="")
    arguments.add_argument("--fatal", default="")
    arguments.add_argument("--set", action="append", default=[], help="a variable of the tracer")
    options = arguments.parse_args()
    harness.main_of_ranks("handlers", options, check_ranks)


main()
