#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the fixture traces of the goldens anew, into tests/golden/traces: small jobs of the example
programs under the tracer, as README.md lists them.

    make_fixtures.py --tools TOOLS.json --build FOLDER --host LIBRARY [NAME...]

The programs run from a folder that is removed afterwards, so that no machine finds them when it
reads the traces. `--host` names the preload that gives hosts their names."""

import gzip
import io
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "mpi"))
import harness  # noqa: E402
from harness import expect  # noqa: E402
from online_jobs import Job  # noqa: E402

TRACES = HERE / "traces"


class Fixture:
    """One job: a program below the build folder, its arguments, the number of ranks, and settings
    without `CHAMELEON_`. `raw` keeps the raw records, `ended` sends SIGTERM after two flushes,
    `name` is another name for the program."""

    def __init__(self, program, arguments, ranks, raw=False, ended=False, name=None, **settings):
        self.program, self.arguments, self.ranks = program, arguments.split(), ranks
        self.raw, self.ended = raw, ended
        self.name = name or pathlib.Path(program).name
        self.settings = {f"CHAMELEON_{name}": value for name, value in settings.items()}


FIXTURES = {
    "wavefront": Fixture("examples/wavefront", "--iterations 8", 9),
    "stencil2d": Fixture("examples/stencil2d", "--iterations 3", 6, raw=True, TIMING="full"),
    "taskfarm": Fixture("examples/taskfarm", "--iterations 3", 4, raw=True),
    "phases": Fixture("examples/phases", "--iterations 12 --pattern AAAABBBBAAAA", 4,
                      FLUSH_EVERY=3),
    "hydro": Fixture("examples/hydro", "--iterations 5", 8, FIDELITY="checked", K=2),
    "multigrid": Fixture("examples/multigrid", "--iterations 4 --size 16", 5, raw=True,
                         FIDELITY="lead", K=2),
    "bucketsort": Fixture("examples/bucketsort", "--iterations 6", 7, raw=True,
                          FIDELITY="checked"),
    "spectral": Fixture("examples/spectral", "--iterations 4", 6, CLUSTERING="off", EVENTS="all",
                        EXCLUDE="Wtime,Comm_size"),
    "untimed": Fixture("examples/transpose", "--iterations 4", 4, TIMING="none"),
    "killed": Fixture("tests/mpi/online_program", "loop 1000000 1", 4, raw=True, ended=True,
                      FLUSH_EVERY=20),
    "threads": Fixture("tests/mpi/threads_program", "2 2", 2, raw=True),
    "accounts": Fixture("examples/stencil2d", "--iterations 6", 4, raw=True, PAIRS="on", K=2),
    "single": Fixture("examples/stencil2d", "--iterations 3", 4, raw=True, TIMING="full"),
    "fortran": Fixture("examples/ring_mpi_f08", "", 4, raw=True),
    "collectives": Fixture("tests/export/export_program", "", 4, raw=True),
    # Beside `collectives`: the same program, in which two ranks compute longer.
    "slow": Fixture("tests/export/export_program_slow", "", 4, name="export_program"),
}


class Maker:
    def __init__(self, tools, options):
        self.tools, self.options = tools, options
        self.programs = tools.fresh("bin")
        self.binding = self.without_build_id()

    def without_build_id(self):
        """The MPI's Fortran binding is in call paths too. Of a copy without build-id no machine
        has the debug information."""
        linked = subprocess.run(["ldd", self.options.build / FIXTURES["fortran"].program],
                                check=True, capture_output=True, text=True).stdout
        found = re.search(r"(libmpi\S*fort\S*) => (\S+)", linked)
        expect(found, "ring_mpi_f08 is linked to no Fortran binding")
        folder = self.tools.fresh("lib")
        subprocess.run(["objcopy", "--remove-section=.note.gnu.build-id",
                        pathlib.Path(found[2]).resolve(), folder / found[1]], check=True)
        return folder

    def make(self, name, fixture):
        folder = self.tools.fresh(f"job.{name}")
        (folder / "raw").mkdir()
        program = self.programs / fixture.name
        shutil.copy(self.options.build / fixture.program, program)
        settings = {"LD_LIBRARY_PATH": self.binding, **fixture.settings}
        if fixture.raw:
            settings["CHAMELEON_RAW"] = folder / "raw"
        trace = folder / f"{name}.cham"
        command = [program, *fixture.arguments]
        if fixture.ended:
            self.end(fixture, command, trace, settings)
        else:
            outcome = self.tools.job(fixture.ranks, command,
                                     preload=[self.options.host, self.tools.library], cwd=folder,
                                     CHAMELEON_OUTPUT=trace, **settings)
            expect(outcome.status == 0, f"{name}: fails", outcome)
        for left in TRACES.glob(f"{name}.*"):
            left.unlink()
        for made in sorted(folder.glob(f"{name}.cham*")):
            shutil.copyfile(made, TRACES / made.name)
        if fixture.raw:
            pack(folder / "raw", TRACES / f"{name}.raw.tar.gz")

    def end(self, fixture, command, trace, settings):
        """Ends the job by SIGTERM, some markers after its second flush."""
        online = HostedJobs(self.tools, self.options.host)
        job = Job(online, fixture.ranks, command, trace, **settings)
        processes = job.processes()
        until = time.monotonic() + 60
        while time.monotonic() < until and online.markers(trace) < 40:
            time.sleep(0.002)
        job.send(15, job.process.pid)
        job.wait()
        expect(processes and not online.complete(trace), "the job was not ended", job.outcome())


class HostedJobs:
    """What online_jobs.Job asks of its test; with the preload for hosts."""

    def __init__(self, tools, host):
        self.tools = Preloading(tools, host)

    def facts(self, trace):
        outcome = self.tools.chameleon("info", "--json", trace)
        return json.loads(outcome.stdout) if outcome.status == 0 else {}

    def markers(self, trace):
        return self.facts(trace).get("acted", 0)

    def complete(self, trace):
        return self.facts(trace)["complete"]


class Preloading:
    def __init__(self, tools, host):
        self._tools, self._host = tools, host

    def __getattr__(self, name):
        return getattr(self._tools, name)

    def preload(self, *libraries):
        return self._tools.preload(self._host, *libraries)


def pack(folder, archive):
    """The files of a folder, in bytes that depend on them alone."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for path in sorted(folder.iterdir()):
            entry = tarfile.TarInfo(path.name)
            entry.size = path.stat().st_size
            tar.addfile(entry, io.BytesIO(path.read_bytes()))
    archive.write_bytes(gzip.compress(buffer.getvalue(), 9, mtime=0))


def main():
    parser = harness.parser(__doc__)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--host", required=True)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()

    def body(tools):
        TRACES.mkdir(exist_ok=True)
        maker = Maker(tools, options)
        for name in options.names or FIXTURES:
            maker.make(name, FIXTURES[name])
            print(name, sum(path.stat().st_size for path in TRACES.glob(f"{name}.*")), "bytes")

    harness.main("golden_traces", options, body)


if __name__ == "__main__":
    main()
