# SPDX-License-Identifier: BSD-3-Clause
"""Programs that Debian builds with Open MPI, each with a small input of its own and on several
numbers of ranks."""

import pathlib
import re
import shutil

from harness import expect
from programs import LIBRARIES, SOURCES, Missing, Program, compiled, need

PYTHON = "/usr/bin/python3"  # Debian's, the one that its modules are for
INPUTS = SOURCES / "inputs"
# A thread a rank, or ranks would make each other wait.
ENV = ["env", "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1"]


def given(*names):
    return {name: (INPUTS / name).read_text() for name in names}


def lammps(tools):
    program = need("lmp", "lammps")
    return [Program(f"lammps melt, {ranks} ranks", [*ENV, program, "-in", "in.melt"], ranks,
                    files=given("in.melt"), lines=rb"^ +\d+ +[-\d.]+ +[-\d.]+ ", exact=True)
            for ranks in (2, 4, 8)]


def espresso(tools):
    program, atom = need("pw.x", "quantum-espresso"), need("ld1.x", "quantum-espresso")

    def make_pseudopotential(work):
        made = tools.run(["sh", "-c", f"{atom} < si.ld1"], cwd=work)
        expect((work / "Si.UPF").exists(), "ld1.x", made)

    return [Program(f"quantum espresso silicon, {ranks} ranks",
                    [*ENV, program, "-in", "si.in", "-nk", str(pools)], ranks,
                    files=given("si.in", "si.ld1"), prepare=make_pseudopotential,
                    lines=rb"^!|convergence has|JOB DONE", exact=True)
            for ranks, pools in ((2, 1), (4, 2), (8, 2))]


def cp2k(tools):
    program = need("cp2k.psmp", "cp2k")
    return [Program(f"cp2k water, {ranks} ranks",
                    [*ENV, "CP2K_DATA_DIR=/usr/share/cp2k", program, "-i", "h2o.inp"], ranks,
                    files=given("h2o.inp"), lines=rb"Total FORCE_EVAL|warnings for this run",
                    finding="its BLACS asks once whether the last send is over, and not again",
                    kind="incomplete_request")
            for ranks in (2, 4, 8)]


def has_module(tools, module, package, **variables):
    if tools.run([PYTHON, "-c", f"import {module}"], **variables).status != 0:
        raise Missing(package)


def gpaw(tools):
    has_module(tools, "gpaw", "gpaw")
    return [Program(f"gpaw water, {ranks} ranks", [*ENV, PYTHON, "water.py"], ranks,
                    files=given("water.py"), lines=b"energy")
            for ranks in (2, 4)]


def petsc(tools):
    folders = sorted(pathlib.Path("/usr/lib/petscdir").glob("petsc*/*-real"))
    if not folders:
        raise Missing("python3-petsc4py")
    has_module(tools, "petsc4py.PETSc", "python3-petsc4py", PETSC_DIR=folders[-1])
    return [Program(f"petsc {solver}, {ranks} ranks",
                    [*ENV, f"PETSC_DIR={folders[-1]}", PYTHON, "ksp.py", "-ksp_type", solver], ranks,
                    files=given("ksp.py"), lines=b"iterations", exact=True)
            for ranks in (2, 4, 8) for solver in ("cg", "gmres")]


def h5py(tools):
    has_module(tools, "h5py._debian_h5py_mpi", "python3-h5py-mpi")
    return [Program(f"h5py, {ranks} ranks", [*ENV, PYTHON, "parallel_h5.py"], ranks,
                    files=given("parallel_h5.py"), lines=b"sum", exact=True, results="data.h5")
            for ranks in (2, 4, 8)]


def netcdf(tools):
    compiler = need("mpicc.openmpi", "libopenmpi-dev")
    need(LIBRARIES / "libnetcdf_mpi.so", "libnetcdf-mpi-dev")
    need(LIBRARIES / "libpnetcdf.so", "libpnetcdf-dev")
    programs = []
    for kind, options in (("netcdf4", ["-I/usr/lib/x86_64-linux-gnu/netcdf/mpi/include",
                                       "-lnetcdf_mpi"]),
                          ("pnetcdf", ["-DPNETCDF", "-lpnetcdf"])):
        program = compiled(tools, compiler, SOURCES / "netcdf_program.c", kind, *options)
        programs += [Program(f"{kind}, {ranks} ranks", [program], ranks, results="data.nc")
                     for ranks in (2, 4, 8)]
    return programs


def hpcc(tools):
    program = need("hpcc", "hpcc")
    source = pathlib.Path("/usr/share/doc/hpcc/examples/_hpccinf.txt")

    def write_input(grid):
        def write(work):
            text = source.read_text().replace("1000         Ns", "64 Ns")
            text = text.replace("80           NBs", "16 NBs")
            rows, columns = grid
            text = re.sub(r"2(\s+)Ps", rf"{rows}\1Ps", text)
            (work / "hpccinf.txt").write_text(re.sub(r"2(\s+)Qs", rf"{columns}\1Qs", text))
        return write

    return [Program(f"hpcc, {grid[0] * grid[1]} ranks", [*ENV, program], grid[0] * grid[1],
                    prepare=write_input(grid), report="hpccoutf.txt",
                    lines=rb"^End of|Success=|PASSED|FAILED", exact=False)
            for grid in ((1, 2), (2, 2), (2, 4))]


def mumps(tools):
    folder = pathlib.Path("/usr/lib/mumps")
    need(folder / "dsimpletest", "mumps-test")
    return [Program(f"mumps {kind}simpletest, {ranks} ranks",
                    ["sh", "-c", f"{folder}/{kind}simpletest < {folder}/input_simpletest_"
                     f"{'cmplx' if kind in 'cz' else 'real'}"], ranks, lines=b"Solution is")
            for kind in "sdcz" for ranks in (2, 4)]


def openfoam(tools):
    program, mesh = need("icoFoam", "openfoam"), need("blockMesh", "openfoam")
    decompose = need("decomposePar", "openfoam")
    case = pathlib.Path("/usr/share/doc/openfoam-examples/examples/incompressible/icoFoam/cavity/"
                        "cavity")
    need(case / "system" / "controlDict", "openfoam-examples")
    home = "/usr/share/openfoam"

    def prepare(ranks):
        def make(work):
            shutil.copytree(case, work, dirs_exist_ok=True)
            control = work / "system" / "controlDict"
            control.write_text(control.read_text().replace("endTime         0.5", "endTime 0.1"))
            (work / "system" / "decomposeParDict").write_text(
                "FoamFile { version 2.0; format ascii; class dictionary;"
                " object decomposeParDict; }\n"
                f"numberOfSubdomains {ranks};\nmethod simple;\n"
                f"simpleCoeffs {{ n ({ranks // 2} 2 1); delta 0.001; }}\n")
            for step in (mesh, decompose):
                outcome = tools.run([step], cwd=work, WM_PROJECT_DIR=home)
                expect(outcome.status == 0, step, outcome)
        return make

    return [Program(f"openfoam cavity, {ranks} ranks",
                    ["env", f"WM_PROJECT_DIR={home}", program, "-parallel"], ranks,
                    prepare=prepare(ranks), lines=b"residual", exact=True,
                    results="processor*/0.1/*")
            for ranks in (2, 4, 8)]


OF_OPENMPI = (lammps, espresso, cp2k, gpaw, petsc, h5py, netcdf, hpcc, mumps, openfoam)
