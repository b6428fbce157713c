# SPDX-License-Identifier: BSD-3-Clause
"""What the programs of matrix.py have in common: a description, packages, and those that Debian has
for both MPIs."""

import dataclasses
import pathlib
import re
import shutil
from typing import Callable, Dict, List, Optional

from harness import expect

SOURCES = pathlib.Path(__file__).resolve().parent
LIBRARIES = pathlib.Path("/usr/lib/x86_64-linux-gnu")
SIZES = re.compile(r"^([3-9])(\s+number of (?:problems? sizes|N?B?RHS's|NB's|blocking sizes|"
                   r"process(?:or)? grids))", re.M | re.I)
PATIENCE = 30  # seconds for a small program; some of the coarray tests never end


class Missing(Exception):
    """The package that a family needs."""


@dataclasses.dataclass
class Program:
    name: str
    command: List[str]
    ranks: int = 2
    files: Dict[str, str] = dataclasses.field(default_factory=dict)
    prepare: Optional[Callable] = None  # of the work folder
    lines: bytes = b""                  # only lines of output that this is found in are compared
    exact: bool = False                 # those lines are the same each time, also their numbers
    results: str = ""                   # files that it writes the same each time, a glob
    report: str = ""                    # a file whose lines are compared, not its output
    patience: int = 300
    finding: str = ""                   # why `check` finds something in it,
    kind: str = ""                      # all of which is of these kinds
    replays: bool = True
    ends: bool = True                   # every rank reaches MPI_Finalize
    varies: bool = False                # each run of it shows something else, or hangs


def need(path, package):
    found = shutil.which(str(path)) or (str(path) if pathlib.Path(path).exists() else None)
    if not found:
        raise Missing(package)
    return found


def compiled(tools, compiler, source, name, *options):
    output = tools.folder / "built" / f"{name}.{tools.mpi}"
    output.parent.mkdir(exist_ok=True)
    outcome = tools.run([compiler, "-w", "-O1", "-g", source, "-o", output, *options])
    expect(outcome.status == 0, f"{source}: does not compile", outcome)
    return str(output)


def scalapack(tools):
    folder = LIBRARIES / "scalapack" / f"{tools.mpi}-tests"
    need(folder / "xdlu", "scalapack-mpi-test")

    def copy_data(work):
        """At most two sizes, blockings and grids: as they come, the tests take minutes each."""
        for data in folder.glob("*.dat"):
            (work / data.name).write_text(SIZES.sub(r"2\2", data.read_text()))

    names = [prefix + rest for prefix in ("xs", "xd", "xc", "xz")
             for rest in ("lu", "qr", "brd", "trd", "hrd", "inv", "gblu", "dblu", "dtlu",
                          "pbllt", "ptllt")]
    # Not xdsyevr, which branches on variables that it never sets (valgrind): what was on its stack
    # before decides how many of its tests fail. Nor x?llt, which mostly never ends: in p?lacon, which
    # estimates errors, some ranks of the grid look for a maximum while others sum.
    names += ["xsls", "xdsvd", "xzevc", "xdhseqr", "xdnep"]
    return [Program(f"scalapack {name}", [str(folder / name)], 4, prepare=copy_data, patience=90)
            for name in names if (folder / name).exists()]


def coarrays(tools):
    folder = LIBRARIES / f"open-coarrays/{tools.mpi}/bin/OpenCoarrays-2.10.1-tests"
    need(folder / "co_sum_test", f"libcoarrays-{tools.mpi}-dev")
    # Images that fail, or all stop, end the job with MPI_Abort, also with status 0, which does not
    # always reach stderr.
    abort = ("image_fail", "issue-493")
    # Races: neighbours read what is being written, or memory is read that nobody has set. The last
    # hangs, mostly. All of it untraced.
    varies = ("coarray_burgers_pde", "get_convert_char_array", "increment_my_neighbor",
              "alloc_comp_multidim_shape")
    # A receive of an image that stops meanwhile may stay open.
    kinds = {"syncimages_status": "unreceived incomplete_request"}
    return [Program(f"coarrays {path.name}", [str(path)], 4,
                    finding="at the end ranks send that they stop, and nobody receives it",
                    kind=kinds.get(path.name, "unreceived"),
                    replays=False, ends=not path.name.startswith(abort),
                    varies=path.name in varies,
                    patience=300 if "burgers" in path.name else PATIENCE)
            for path in sorted(folder.iterdir()) if path.is_file()]


WATER = """start water
geometry units angstrom
 O 0 0 0.1173
 H 0 0.7572 -0.4692
 H 0 -0.7572 -0.4692
end
basis
 * library 6-31g
end
dft
 xc b3lyp
end
task dft
"""


def nwchem(tools):
    # With four ranks it goes wrong untraced: it finds no orbitals, or an energy above zero.
    return [Program("nwchem water DFT", [need(f"nwchem.{tools.mpi}", f"nwchem-{tools.mpi}"),
                                         "water.nw"],
                    files={"water.nw": WATER}, lines=b"nergy")]


def yorick(tools):
    suffix = "mpich2" if tools.mpi == "mpich" else tools.mpi
    program = need(f"mpy.{suffix}", f"yorick-mpy-{suffix}")
    script = pathlib.Path("/usr/share/doc/yorick-mpy-common/examples/testmp.i.gz")

    def unpack(work):
        with open(work / "testmp.i", "wb") as out:
            out.write(tools.run(["zcat", script]).stdout)

    line = f"printf 'testmp\\nquit\\n' | {program} -j testmp.i"
    # Under Open MPI, with more than two ranks, all of them wait in MPI_Probe for ever, untraced.
    return [Program(f"yorick task pool, {ranks} ranks", ["sh", "-c", line], ranks, prepare=unpack)
            for ranks in ((2, 3, 4) if tools.mpi == "mpich" else (2,))]


def hdf5(tools):
    compiler = need(f"h5pcc.{tools.mpi}", f"libhdf5-{tools.mpi}-dev")
    program = compiled(tools, compiler, SOURCES / "hdf5_program.c", "hdf5_program")
    return [Program(f"hdf5 {mode}", [program, mode], 4) for mode in ("collective", "independent")]


def tachyon(tools):
    need("/usr/include/tachyon.h", f"libtachyon-{tools.mpi}-0-dev")
    compiler = need(f"mpicc.{tools.mpi}", f"lib{tools.mpi}-dev")
    program = compiled(tools, compiler, SOURCES / "tachyon_program.c", "tachyon_program",
                       f"-ltachyon-{tools.mpi}", "-lm")
    return [Program("tachyon", [program], 3)]


OF_BOTH = (scalapack, coarrays, nwchem, yorick, hdf5, tachyon)
