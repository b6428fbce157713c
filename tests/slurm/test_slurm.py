#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Traced jobs under a real Slurm, of this machine alone (cluster.py).

    test_slurm.py --tools TOOLS.json [--openmpi TOOLS.json] --build BUILD --examples FOLDER
                  [--only NAME]

The commands of docs/how-to/slurm.md, time limit included, as they stand there; srun with MPICH over
pmi2 and Open MPI over pmix; the job's id in the name of the file; a requeued job; signals; nodes
whose clocks differ. Skipped (77) where Slurm is not installed or this is not root."""

import json
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "mpi"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import harness  # noqa: E402  (the path has to be set first)
from cluster import Cluster, missing  # noqa: E402
from harness import expect  # noqa: E402

SOURCE = pathlib.Path(__file__).resolve().parents[2]
TESTS = []


def test(function):
    TESTS.append(function)
    return function


class Slurm:
    def __init__(self, tools, options, cluster):
        self.tools = tools
        self.options = options
        self.cluster = cluster
        self.examples = pathlib.Path(options.examples)

    def run(self, *words, cwd, timeout=120, **variables):
        done = subprocess.run([str(word) for word in words], cwd=cwd, timeout=timeout,
                              env={**self.cluster.environment, **variables}, capture_output=True,
                              stdin=subprocess.DEVNULL)
        return harness.Outcome(done.returncode, done.stdout, done.stderr)

    def ranks(self, tools, mpi, nodes, ranks, program, cwd, preload=(), **variables):
        """srun of a traced program, a rank or more on each node. The nodes have one name, by which
        Open MPI would call their shared memory: by TCP."""
        libraries = tools.preload(*preload, tools.library, tools.test_yield)
        settings = [f"{name}={value}" for name, value in variables.items()]
        return self.run("srun", f"--mpi={mpi}", "-N", nodes, "-n", ranks, "--overcommit", "env",
                        f"LD_PRELOAD={libraries}", "OMPI_MCA_mpi_yield_when_idle=1",
                        "OMPI_MCA_pml=ob1", "OMPI_MCA_btl=tcp,self", *settings, *program, cwd=cwd)

    def batch(self, folder, name, text, *options):
        """Submits a script; the job's id."""
        script = folder / name
        script.write_text("#!/bin/bash\n" + text)
        outcome = self.run("sbatch", "--parsable", *options, script, cwd=folder)
        expect(outcome.status == 0, f"sbatch {name}", outcome)
        return outcome.stdout.decode().strip()

    def state(self, job):
        return self.run("scontrol", "-o", "show", "job", job, cwd="/").stdout.decode()

    def wait(self, job, word, seconds=120):
        """Until the job's state has this word."""
        for _ in range(int(seconds / 0.2)):
            if word in self.state(job):
                return
            time.sleep(0.2)
        expect(False, f"job {job} is not {word}: {self.state(job)}\n{self.cluster.logs()}")

    def first_trace(self, folder):
        """Of a job that has just been submitted."""
        until = time.monotonic() + 60
        while not list(folder.glob("*.cham")) and time.monotonic() < until:
            time.sleep(0.2)
        return one_trace(folder)

    def info(self, path):
        outcome = self.tools.chameleon("info", "--json", path)
        expect(outcome.status == 0, f"{path.name}: info", outcome)
        return json.loads(outcome.stdout)


def one_trace(folder):
    found = sorted(folder.glob("*.cham"))
    expect(len(found) == 1, f"traces: {[path.name for path in folder.iterdir()]}")
    return found[0]


@test
def documentation(slurm):
    """docs/how-to/slurm.md, with a time limit of a minute that is a minute."""
    docs = SOURCE / "tests" / "golden" / "test_docs.py"
    outcome = slurm.run(sys.executable, docs, "--build", slurm.options.build, "--preload",
                        slurm.tools.test_yield, "--prepare",
                        pathlib.Path(__file__).with_name("prepare.sh"),
                        SOURCE / "docs" / "how-to" / "slurm.md",
                        cwd=slurm.tools.fresh("docs"), timeout=400)
    expect(outcome.status == 0, "docs/how-to/slurm.md", outcome)
    expect(b"joined ranks 0-1 of 2" in outcome.stdout, "the time limit: recover", outcome)


@test
def launchers(slurm):
    """A step's ranks on three nodes; the file has the job's name; every value verifies."""
    kinds = [("pmi2", slurm.tools, slurm.examples)]
    if slurm.options.openmpi:
        other = harness.Tools(slurm.options.openmpi, slurm.tools.folder)
        kinds.append(("pmix", other, pathlib.Path(other.online_program).parent))
    for mpi, tools, examples in kinds:
        folder = slurm.tools.fresh(f"launch_{mpi}")
        (folder / "raw").mkdir()
        outcome = slurm.ranks(tools, mpi, 3, 6, [examples / "ring", "--iterations", 5], folder,
                              CHAMELEON_RAW=folder / "raw")
        expect(outcome.status == 0, f"srun --mpi={mpi}", outcome)
        trace = one_trace(folder)
        words = trace.name.split(".")
        expect(words[0] == "ring" and words[1].isdigit() and len(words) == 3,
               f"--mpi={mpi}: the file's name: {trace.name}")
        report = tools.verify(trace, folder / "raw")
        expect(report["ranks"] == 6, f"--mpi={mpi}: {report['ranks']} ranks")
        tools.check(trace)


@test
def time_limit(slurm):
    """What ranks leave on SIGTERM, which Slurm sends before it kills; by scancel, which is at once.
    That a time limit does the same is in `documentation`."""
    folder = slurm.tools.fresh("limit")
    program = [slurm.tools.online_program, "loop", 1000000, 1]
    words = " ".join(map(str, program))
    job = slurm.batch(folder, "long.sh", f"""#SBATCH --ntasks=4 --nodes=2 --overcommit
srun --mpi=pmi2 --overcommit env LD_PRELOAD={slurm.tools.preload(slurm.tools.library,
                                                                slurm.tools.test_yield)} {words}
""")
    trace = slurm.first_trace(folder)
    time.sleep(2)
    outcome = slurm.run("scancel", job, cwd=folder)
    expect(outcome.status == 0, "scancel", outcome)
    slurm.wait(job, "JobState=CANCELLED")
    expect(f".{job}." in trace.name, f"the file's name: {trace.name}, job {job}")
    for _ in range(100):
        if all((folder / f"{trace.name}.rank{rank}").exists() for rank in range(4)):
            break
        time.sleep(0.1)
    outcome = slurm.tools.chameleon("recover", trace, "-o", folder / "whole.cham")
    expect(outcome.status == 0 and b"joined ranks 0-3 of 4" in outcome.stdout, "recover", outcome)
    facts = slurm.info(folder / "whole.cham")
    expect(facts["events"] > 100 and facts["ranks"] == 4, f"recover: {facts['events']} events")
    slurm.tools.check(folder / "whole.cham")


@test
def requeue(slurm):
    """A requeued job has the id that it had; its trace stands beside the first."""
    folder = slurm.tools.fresh("requeue")
    libraries = slurm.tools.preload(slurm.tools.library, slurm.tools.test_yield)
    # The first time it would run for long, the second time not.
    job = slurm.batch(folder, "again.sh", f"""#SBATCH --ntasks=2 --requeue
steps=1000000
[ "${{SLURM_RESTART_COUNT:-0}}" = 0 ] || steps=20
srun --mpi=pmi2 env LD_PRELOAD={libraries} {slurm.tools.online_program} loop $steps 1
""")
    first = slurm.first_trace(folder)
    time.sleep(1)
    outcome = slurm.run("scontrol", "requeue", job, cwd=folder)
    expect(outcome.status == 0, "scontrol requeue", outcome)
    slurm.wait(job, "Restarts=1")
    # Slurm waits two minutes before it starts a requeued job, unless it is told to now.
    slurm.run("scontrol", "update", f"job={job}", "StartTime=now", cwd=folder)
    slurm.wait(job, "JobState=COMPLETED", 240)
    second = folder / first.name.replace(".cham", ".1.cham")
    expect(second.exists(), f"the second trace: {[path.name for path in folder.iterdir()]}")
    expect(not slurm.info(first)["complete"] and slurm.info(second)["complete"], "complete?")
    expect(f".{job}." in first.name, f"the file's name: {first.name}, job {job}")


@test
def signals(slurm):
    """scancel --signal reaches a program's own handler as it does without the tracer."""
    folder = slurm.tools.fresh("signals")
    libraries = slurm.tools.preload(slurm.tools.library, slurm.tools.test_yield)
    job = slurm.batch(folder, "usr1.sh", f"""#SBATCH --ntasks=2
srun --mpi=pmi2 env LD_PRELOAD={libraries} sh -c 'trap "echo caught" USR1; {
    slurm.examples / "ring"} --iterations 3; i=0; while [ $i -lt 100 ]; do sleep 0.1; i=$((i+1))
    done'
""", "--output=said")
    trace = slurm.first_trace(folder)
    until = time.monotonic() + 60
    while not slurm.info(trace)["complete"] and time.monotonic() < until:
        time.sleep(0.2)
    time.sleep(1)
    slurm.run("scancel", "--signal=USR1", job, cwd=folder)
    slurm.wait(job, "JobState=COMPLETED")
    said = (folder / "said").read_text()
    expect(said.count("caught") == 2, f"SIGUSR1: {said}")


@test
def clocks(slurm):
    """Nodes whose clocks are seconds apart and drift: found to within what is claimed."""
    folder = slurm.tools.fresh("clocks")
    drift_ppm = 2000
    outcome = slurm.ranks(slurm.tools, "pmi2", 2, 2, [slurm.tools.online_program, "loop", 40, 50],
                          folder, preload=[slurm.tools.skewed_clock], CHAMELEON_FLUSH_EVERY=10,
                          CHAMELEON_CLOCK="monotonic", SKEW_OFFSET_NS=5_000_000_000,
                          SKEW_DRIFT_PPM=drift_ppm)
    expect(outcome.status == 0, "skewed clocks", outcome)
    trace = one_trace(folder)
    found = {one["rank"]: one for one in slurm.info(trace)["clocks"]["ranks"]}
    # One's own t is (1 + d) true ns, so the first node's is t / (1 + d).
    drift = -drift_ppm * 1e-6 / (1 + drift_ppm * 1e-6) * 1e9
    slack = 1e9 * 2 * found[1]["error_ns"] / 1.5e9 + 20_000
    expect(abs(found[1]["drift_ppb"] - drift) <= slack, f"drift {drift:.0f} ppb: {found}")
    expect(found[1]["error_ns"] < 20_000_000, f"clocks: {found}")
    slurm.tools.check(trace)


def main():
    arguments = harness.parser(__doc__)
    arguments.add_argument("--openmpi", help="tools.json for Open MPI")
    arguments.add_argument("--build", required=True)
    arguments.add_argument("--examples", required=True)
    arguments.add_argument("--only")
    options = arguments.parse_args()
    why = missing()
    if why:
        print(f"skipped: {why}")
        sys.exit(77)

    def body(tools):
        with Cluster(tools.fresh("cluster")) as cluster:
            slurm = Slurm(tools, options, cluster)
            harness.run_each(TESTS, options.only, lambda test: test(slurm))

    harness.main("test_slurm", options, body)


if __name__ == "__main__":
    main()
