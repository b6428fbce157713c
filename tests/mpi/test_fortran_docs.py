#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fortran in the documentation compiles, with the modules of every MPI that is here.

    test_fortran_docs.py --module chameleon.f90 --compilers WRAPPER,... FILE..."""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```fortran\n(.*?)^```", re.M | re.S)
FRAME = """program snippet
{uses}
implicit none
integer :: step, steps = 2, ierror
call MPI_Init(ierror)
{body}
call MPI_Finalize(ierror)
contains
subroutine work(number)
integer, intent(in) :: number
print *, number
end subroutine
end program
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--module", required=True, type=pathlib.Path)
    parser.add_argument("--compilers", required=True)
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    failed, count = [], 0
    for compiler in options.compilers.split(","):
        with tempfile.TemporaryDirectory() as folder:
            def compile_(file, folder=folder, compiler=compiler):
                return subprocess.run([compiler, "-c", file], cwd=folder, text=True,
                                      capture_output=True, check=False)
            if compile_(options.module.resolve()).returncode != 0:
                sys.exit(f"{compiler}: {options.module} does not compile")
            for path in options.files:
                for text in BLOCK.findall(path.read_text()):
                    lines = text.splitlines()
                    uses = [line for line in lines if line.startswith("use ")]
                    body = [line for line in lines if not line.startswith("use ")]
                    for module in ("mpi", "mpi_f08"):
                        source = pathlib.Path(folder, "snippet.f90")
                        source.write_text(FRAME.format(uses="\n".join([f"use {module}", *uses]),
                                                       body="\n".join(body)))
                        done = compile_(source)
                        count += 1
                        if done.returncode != 0:
                            failed.append(f"{compiler}, use {module}, {path}:\n{text}{done.stderr}")
    print(f"{count} compiled")
    print("\n".join(failed))
    return bool(failed) or count < 6


if __name__ == "__main__":
    sys.exit(main())
