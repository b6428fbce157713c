# SPDX-License-Identifier: BSD-3-Clause
"""Programs that Debian has for MPICH alone."""

import pathlib

from programs import Program, compiled, need

EXAMPLES = pathlib.Path("/usr/share/doc/mpich/examples")


def bagel(tools):
    program = need("BAGEL", "bagel")
    examples = pathlib.Path("/usr/share/doc/bagel/examples")
    names = ("hf_svp_hf", "hf_sto3g_fci_dist", "hhe_svp_ras_full", "oh_svp_uhf")
    return [Program(f"bagel {name}, {ranks} ranks", [program, str(examples / f"{name}.json")],
                    ranks, lines=b"nergy")
            for ranks in (2, 4) for name in names]


def examples(tools):
    need(EXAMPLES / "cpi.c", "mpich-doc, mpich")
    compiler = need("mpicc.mpich", "libmpich-dev")
    programs = []
    for name in ("cpi", "hellow", "srtest"):
        programs.append(Program(f"mpich {name}", [compiled(tools, compiler, EXAMPLES / f"{name}.c",
                                                           name, "-lm")], 3))
    for name in ("pmandel", "pmandel_fence"):
        program = compiled(tools, compiler, EXAMPLES / f"{name}.c", name, "-lm")
        # One picture, and the end: rank 0 reads what to draw.
        line = f"printf '%s\\n' '-1 -1 1 1 50' '0 0 0 0 0' | {program} -i -nosave " \
               "-xscale 40 -yscale 40"
        programs.append(Program(f"mpich {name}", ["sh", "-c", line], 4, lines=b"x0,y0"))
    fortran = need("mpifort.mpich", "libmpich-dev")
    for folder, source in (("f77", "fpi.f"), ("f90", "pi3f90.f90"), ("f77", "hellow.f")):
        path = EXAMPLES / folder / source
        if path.exists():
            program = compiled(tools, fortran, path, source + ".x", "-fallow-argument-mismatch")
            line = f"printf '%s\\n' 500 0 | {program}"
            programs.append(Program(f"mpich {source}", ["sh", "-c", line], 2))
    return programs


OF_MPICH = (bagel, examples)
