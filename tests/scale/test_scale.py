#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Example programs at many ranks, traced online under SimGrid's SMPI in one process.

    test_scale.py --tools TOOLS.json --smpirun S --programs DIR --ranks N NAME[:VARIABLE=VALUE...]...

Each program must verify its own results, cluster as often and into as many Call-Paths as the
papers say, lead at 70 % of its markers at least, find the clusters that virtual ranks find, and
leave a trace that agrees with the raw records of every rank, or declares where it does not. Its
effort windows must be those that virtual ranks make of what the ranks computed. With --bytes, it
must send no more than one merge in MPI_Finalize, unless leads stand for others. Prints the columns of the dissertation's Table
5.2, and what the run cost."""

import json
import resource
import shutil

import simulated_job
from simulated_job import expect, harness

ITERATIONS = 24
# Distinct Call-Path signatures at any number of ranks here; others grow with it.
CALL_PATHS = {"wavefront": 9, "multipartition": 1, "bucketsort": 3, "transpose": 1, "spectral": 1,
              "ring": 1, "ocean": 1, "hydro": 27, "faulty": 1}
# Whose behaviour follows from what arrives when: every interval may be another.
UNSTEADY = {"taskfarm"}
# MiB of the process, and for each rank: a copy of the program with the tool, and its trace.
MOST_MEMORY = (128, 4)
# SMPI's MPI_Sendrecv with oneself gives a process id as the status's source.
SENDS_TO_ITSELF = {"transpose"}
HEAD = (f"{'program':<16}{'ranks':>6}{'#Iters':>8}{'#Freq':>7}{'#Calls':>8}{'#C':>4}{'#L':>5}"
        f"{'#AT':>5}{'#flush':>8}{'paths':>7}{'leads':>7}{'events':>10}{'bytes':>9}"
        f"{'run s':>8}{'MiB':>7}{'verify s':>10}")


def cost():
    """(Processor seconds, largest MiB) of the children so far."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def slow_ranks(ranks):
    """In every step another rank is slow, each by its own time; and a third of the ranks for some
    steps, in five kinds of ways."""
    faults = [f"moving:{step}:{500 + 40 * step * (step % 7)}" for step in range(ITERATIONS)]
    for rank in range(0, ranks, 3):
        first = rank % 5 * 4
        faults.append(f"slow:{rank}:{first}-{first + 8}:{1000 * (1 + rank % 5) + rank * 7919 % 101}")
    return [word for fault in faults for word in ("--fault", fault)]


def check_windows(where, report, outcome):
    """Windows of what ranks computed are those of virtual ranks."""
    efforts = report.get("efforts", {"windows": 0})
    expect(efforts["windows"] == 2 == efforts["equal"], f"{where}: effort windows", outcome)


def verify(tools, options, name, trace, raw, declares):
    outcome = tools.chameleon("verify", trace, "--raw", raw, "--json", timeout=options.timeout)
    report = json.loads(outcome.stdout or "{}")
    expect(report and report["ranks"] == options.ranks and report["raw_events"] > 0 and
           report["missing_events"] == 0 and report["extra_events"] == 0,
           f"{name}, {options.ranks} ranks: verify", outcome)
    expect(report["clusters"]["equal"], f"{name}: not the clusters of virtual ranks", outcome)
    if name == "faulty":
        check_windows(f"{name}, {options.ranks} ranks", report, outcome)
    for column, share in report["columns"].items():
        if column == "src" and name in SENDS_TO_ITSELF:
            continue
        known = share["matched"] + (share["declared"] if declares else 0)
        expect(known == share["total"],
               f"{name}: verify: {column} {share['matched']} of {share['total']}", outcome)


def bytes_sent(tools, options, name, **variables):
    """By a run without times: those of ranks are equal here, unless markers come between."""
    folder = tools.fresh(f"{name}-bytes")
    simulated_job.run(tools, options, name, options.ranks, folder, "--iterations", ITERATIONS,
                      CHAMELEON_TIMING="none", **variables)
    info = json.loads(tools.chameleon("info", folder / "trace.cham", "--json").stdout)
    shutil.rmtree(folder)
    return info["merge_bytes"] + info["clustering_bytes"]


def run(tools, options, job):
    name, *settings = job.split(":")
    variables = {f"CHAMELEON_{setting.split('=')[0]}": setting.split("=")[1] for setting in settings}
    where = f"{job}, {options.ranks} ranks"
    every = int(variables.get("CHAMELEON_CALL_FREQUENCY", 1))
    folder = tools.fresh(name)
    trace, raw = folder / "trace.cham", folder / "raw"
    before, _ = cost()
    simulated_job.run(tools, options, name, options.ranks, folder, "--iterations", ITERATIONS,
                      *(slow_ranks(options.ranks) if name == "faulty" else []), **variables)
    seconds, mebibytes = cost()

    said = tools.chameleon("info", trace, "--json", timeout=options.timeout)
    expect(said.status == 0, f"{where}: info fails", said)
    info = json.loads(said.stdout)
    if "CHAMELEON_CLUSTERING" in variables:
        expect(info["clustering"] == variables["CHAMELEON_CLUSTERING"], f"{where}: clustering", said)
    expect(info["complete"] and info["ranks"] == options.ranks, f"{where}: not whole", said)
    checked = cost()[0]
    verify(tools, options, name, trace, raw, variables.get("CHAMELEON_FIDELITY", "exact") != "exact")
    checked = cost()[0] - checked

    paths = {cluster["call_path"] for cluster in info["clusters"]}
    expect(mebibytes <= MOST_MEMORY[0] + MOST_MEMORY[1] * options.ranks,
           f"{where}: {mebibytes:.0f} MiB")
    print(f"{name:<16}{options.ranks:>6}{info['markers']:>8}{info['call_frequency']:>7}"
          f"{info['acted']:>8}{info['count_c']:>4}{info['count_l']:>5}{info['count_at']:>5}"
          f"{info['count_flush']:>8}{len(paths):>7}{len(info['leads']):>7}{info['events']:>10}"
          f"{info['bytes']:>9}{seconds - before:>8.1f}{mebibytes:>7.0f}"
          f"{checked:>10.1f}", flush=True)
    expect(info["markers"] == ITERATIONS, f"{where}: {info['markers']} markers")
    expect(info["acted"] == ITERATIONS // every, f"{where}: {info['acted']} acted on")
    if options.bytes:
        sent = bytes_sent(tools, options, name, **variables)
        once = bytes_sent(tools, options, name, CHAMELEON_CLUSTERING="off")
        print(f"{name:<16}{options.ranks:>6} ranks: {sent} bytes sent, {once} in one merge", flush=True)
        expect(sent <= once or "CHAMELEON_FIDELITY" in variables,
               f"{where}: {sent} bytes sent, {once} in one merge")
    if name in UNSTEADY:
        return shutil.rmtree(folder)
    expect(len(paths) == CALL_PATHS.get(name, len(paths)) and len(paths) <= options.ranks // 4,
           f"{where}: {len(paths)} Call-Paths")
    expect(len(info["leads"]) <= max(info["k"], len(paths)),
           f"{where}: {len(info['leads'])} leads")
    expect(info["count_c"] == 1 and info["count_l"] >= min(0.7 * info["acted"], info["acted"] - 3),
           f"{where}: #C {info['count_c']}, #L {info['count_l']} of {info['acted']}")
    shutil.rmtree(folder)


def main():
    arguments = simulated_job.parser(__doc__)
    arguments.add_argument("--ranks", required=True, type=int)
    arguments.add_argument("--bytes", action="store_true", help="compare with one merge")
    arguments.add_argument("names", nargs="+", metavar="NAME[:VARIABLE=VALUE...]")
    options = arguments.parse_args()
    simulated_job.raise_limits()

    def body(tools):
        print(HEAD)
        for job in options.names:
            run(tools, options, job)

    harness.main("test_scale", options, body)


if __name__ == "__main__":
    main()
