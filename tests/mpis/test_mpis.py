#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A program of an MPI of PyPI, in C and in Python, traced by the library that `run` chooses for it:
the same output and status, a trace that agrees with the raw records, and one of a killed job.

    test_mpis.py --tools TOOLS.json --mpis FOLDER --mpi mpich|abi|impi|openmpi"""

import json
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "mpi"))
import harness  # noqa: E402
from harness import expect  # noqa: E402

# folder, compiler, library that `run` preloads, what the trace calls the MPI
MPIS = {"mpich": ("mpich", "mpicc", "libchameleon-mpich-abi.so", "MPICH Version: 5"),
        "abi": ("mpich", "mpicc_abi", "libchameleon-abi.so", "MPICH Version: 5"),
        "impi": ("impi-devel", "mpicc", "libchameleon-mpich-abi.so", "Intel(R) MPI"),
        "openmpi": ("openmpi", "mpicc", "libchameleon-openmpi.so", "Open MPI v5")}


def main():
    parser = harness.parser(__doc__)
    parser.add_argument("--mpis", type=pathlib.Path, required=True)
    parser.add_argument("--mpi", choices=MPIS, required=True)
    options = parser.parse_args()
    folder, compiler, library, name = MPIS[options.mpi]
    root = options.mpis.resolve() / folder
    launcher = [str(root / "bin" / "mpiexec")]
    settings = {"I_MPI_ROOT": root, "PATH": f"{root}/bin:/usr/bin:/bin"}
    if options.mpi == "openmpi":
        launcher += ["--map-by", ":OVERSUBSCRIBE"]
        settings.update(OPAL_PREFIX=root, OMPI_ALLOW_RUN_AS_ROOT=1, OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1)

    def body(tools):
        def chosen(*command):
            doctor = tools.chameleon("doctor", "--json", *command, **settings)
            found = json.loads(doctor.stdout)
            expect(found["traceable"] and pathlib.Path(found["chameleon_library"]).name == library, "doctor", doctor)

        def traced(ranks, command, path, raw, **more):
            return tools.chameleon("run", "--launcher", " ".join(launcher), "-n", ranks, "--env",
                                   f"CHAMELEON_RAW={raw}", "-o", path, "--", *command, **settings, **more)

        def check(what, ranks, command):
            work = tools.fresh(f"{what}{ranks}")
            (work / "raw").mkdir()
            plain = tools.run([*launcher, "-n", ranks, *command], **settings)
            outcome = traced(ranks, command, work / "t.cham", work / "raw")
            expect(outcome.status == plain.status == 0 and outcome.stdout == plain.stdout,
                   f"{what}, {ranks} ranks", plain, outcome)
            tools.verify(work / "t.cham", work / "raw")
            tools.check(work / "t.cham")
            info = tools.chameleon("info", work / "t.cham").stdout.decode()
            expect(name in info and "complete     yes" in info, info)
            return work / "t.cham"

        work = tools.fresh("build")
        program = work / "program"
        built = tools.run([root / "bin" / compiler, "-g", HERE / "program.c", f"-Wl,-rpath,{root}/lib", "-o",
                           program], **settings)
        expect(built.status == 0, "compile", built)
        chosen(program)
        for ranks in (1, 2, 3, 4):
            check("c", ranks, [program])
        if options.mpi != "abi":  # PyPI's mpi4py is not of the standard ABI
            python = root / "bin" / "python3"
            chosen(python, HERE / "program.py")
            path = check("python", 2, [python, HERE / "program.py"])
            text = tools.chameleon("print", path).stdout.decode()
            expect("step()" in text and "program.py:" in text, f"no Python frames: {text}")
        killed = tools.fresh("killed") / "t.cham"
        job = tools.chameleon("run", "--launcher", " ".join(["timeout", "-s", "TERM", "6", *launcher]), "-n", 2,
                              "-o", killed, "--", program, "endless", **settings)
        time.sleep(1)
        left = tools.chameleon("summary", killed)
        expect(left.status == 0 and b"with the last words of ranks 0-1" in left.stdout + left.stderr, "killed", job,
               left)

    harness.main(f"mpis_{options.mpi}", options, body)


if __name__ == "__main__":
    main()
