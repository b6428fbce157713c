# SPDX-License-Identifier: BSD-3-Clause
"""Tables of bench/clusters for many ranks: `chameleon simulate` clusters the behaviours of the
examples on virtual ranks. Leads and bytes do not depend on the machine, times do."""

import itertools
import json
import subprocess

from jobs import Failure

RANKS = (16, 64, 256, 1024)
# At 256 ranks: clusters of Call-path + Parameter, and of the reference; without any there are 256.
TABLE_3_5 = {"BT": (3, 41), "CG": (16, 256), "FT": (1, 256), "IS": (3, 21), "LU": (9, 16),
             "MG": (64, 72)}
# Weak scaling, sub-clusters at 16, 64, 256 and 1024 ranks; of MG and POP main clusters.
TABLE_3_6 = {"BT": (3, 3, 3, 3), "FT": (1, 1, 1, 1), "LU": (9, 9, 9, 9), "MG": (2, 8, 16, 36),
             "POP": (1, 3, 2, 2)}
TRANSPOSED = "; ".join(f"Sendrecv.{partner} = me % isqrt(np) * isqrt(np) + me / isqrt(np)"
                       for partner in ("dest", "source"))
TABLE_3_4 = (4, 8, 16, 64)  # of CG, with a function for the transposed rank
SELECTIONS = ("k-medoid", "k-farthest", "k-random", "capek")  # of the first two there are figures
# Overhead in seconds of K-Medoid and K-Farthest: S3D by the wavefront that it shares with LU.
TABLE_4_4 = {"transpose": ("CG", (.41, .58, .86, 1.94), (.42, .60, .91, 1.99)),
             "wavefront": ("S3D", (.34, .40, .36, .75), (.23, .27, .29, .92))}


def simulated(options, name, ranks, *arguments):
    """What clustering `ranks` virtual ranks gave."""
    done = subprocess.run(
        [options.chameleon, "simulate", name, "--no-merge", "--from", str(ranks), "--to",
         str(ranks), "--json", *map(str, arguments)],
        text=True, capture_output=True, timeout=options.timeout)
    if done.returncode != 0:
        raise Failure((done.stderr or done.stdout).strip().splitlines()[0])
    return json.loads(done.stdout)["rows"][0]


def clusters_of(options, name, ranks):
    """Main clusters and leads of Call-path + Parameter."""
    rules = ("--rules", TRANSPOSED) if name == "transpose" else ()
    parameter = simulated(options, name, ranks, "--algorithm", "callpath+parameter", *rules)
    return {"main_clusters": parameter["call_paths"], "leads": parameter["leads"]}


def selections_of(options, name, ranks):
    """Seconds on the critical path and bytes of clustering, by how leads are selected."""
    return {way: {key: simulated(options, name, ranks, "--algorithm", "acurdion", "--clustering",
                                 way)["clustering"][key] for key in ("critical_seconds", "bytes")}
            for way in SELECTIONS}


def measure(options, names):
    return {"clusters": {name: {ranks: clusters_of(options, name, ranks) for ranks in RANKS}
                         for name in names},
            "selections": {name: {ranks: selections_of(options, name, ranks) for ranks in RANKS}
                           for name in TABLE_4_4 if name in names}}


def print_tables(table, stands_for, results):
    clusters = results["clusters"]

    def program(name):
        return stands_for.get(name, "-")

    def series(name, key):
        return " ".join(str(clusters[name][ranks][key]) for ranks in RANKS)

    def published(numbers):
        return " ".join(map(str, numbers)) if numbers else "-"

    print(f"\nBy simulation, {', '.join(map(str, RANKS))} virtual ranks:")
    table("Tables 3.4 and 3.6: leads of Call-path + Parameter, of transpose with a rule (published: of "
          "MG and POP main clusters)",
          ["example", "for", "published", "main clusters", "leads"],
          [[name, program(name),
            published(TABLE_3_4 if program(name) == "CG" else TABLE_3_6.get(program(name))),
            series(name, "main_clusters"), series(name, "leads")] for name in clusters])
    rows = []
    for name, by_ranks in results["selections"].items():
        paper, *overheads = TABLE_4_4[name]
        for way, overhead in itertools.zip_longest(SELECTIONS, overheads):
            here = [f"{1e3 * by_ranks[ranks][way]['critical_seconds']:.2f}" for ranks in RANKS]
            rows.append([name, paper, way, published(overhead), " ".join(here)])
    if rows:
        table("Tables 4.4 and 4.6: clustering by each selection of leads (published: seconds of "
              "overhead; here: ms of work on the critical path)",
              ["example", "for", "selection", "published", "here"], rows)
