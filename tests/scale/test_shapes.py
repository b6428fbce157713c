#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What each clustering makes of the example programs: main clusters, leads, formats, and the share
of values that leads' traces keep, at 16 ranks and more.

    test_shapes.py --tools TOOLS.json --smpirun S --programs DIR [--without PART,...]

The numbers were worked out from the programs' sources before any run; docs/design/clustering.md
has them beside those of the papers, and the reasons where they differ."""

import json
import math

import simulated_job
from simulated_job import expect, harness

STEADY = 8  # time steps: leads are elected by one that is like those before
TRANSPOSE_STEPS = 4

# (program, ranks, arguments) -> (main clusters, leads) where every behaviour has a lead.
BEHAVIOURS = {
    ("wavefront", 16): (9, 9),
    ("multipartition", 16): (1, 3),
    ("bucketsort", 16): (3, 3),
    ("transpose", 16): (1, 16),
    ("transpose", 64): (1, 64),
    ("spectral", 16): (1, 1),
    ("multigrid", 16): (7, 7),
    ("ocean", 16): (1, 9),
    ("hydro", 16): (12, 12),
    ("taskfarm", 16, "--size", 15): (2, 2),
    ("stencil2d", 16): (1, 9),
    ("ring", 16): (1, 1),
    ("phases", 16): (1, 1),
}
# Ranks of transpose -> leads where partners are also read by XOR: sides of the grid. Without rules
# or that there is one for each rank.
BY_XOR = {16: 4, 64: 8}
# The same where a rule gives the partner. Rows whose length is no power of two add up around a ring:
# its first, its last and the others differ. A grid of 32 ranks is no square.
BY_RULES = {16: 4, 36: 3, 64: 8}
SIMULATED_RULES = {32: 32, 256: 16, 1024: 32}
# KEY and COLOR of its two MPI_Comm_split tell the ranks of a whole run of spectral apart: leads
# without and with a rule for each.
WHOLE_RUN_RULES = ("Comm_split.color = site == 0 ? me / isqrt(np) : me % isqrt(np); "
                   "Comm_split.key = me")
WHOLE_RUN = {16: (16, 1), 64: (64, 1)}
# Whether leads send only those values in which they differ: those of structures that several leads
# have are more than half of the ranks.
FILTERED = {
    ("transpose", 16): "on",
    ("taskfarm", 16): "on",
    ("ocean", 16): "on",
    ("stencil2d", 16): "on",
    ("ocean", 64): "off",
    ("stencil2d", 64): "off",
    ("multipartition", 16): "off",
    ("wavefront", 16): "off",
    ("multigrid", 16): "off",
    ("ring", 16): "off",
}
# Main clusters and leads of Call-path + Parameter, at these numbers of virtual ranks.
SIZES = (16, 64, 256, 1024)
GROWTH = {
    "wavefront": ((9, 9),) * 4,
    "multipartition": ((1, 3),) * 4,
    "bucketsort": ((3, 3),) * 4,
    "transpose": tuple((1, ranks) for ranks in SIZES),
    "spectral": ((1, 1),) * 4,
    "multigrid": ((7, 7), (11, 11), (15, 15), (19, 19)),  # 2 log2 P - 1
    "ocean": ((1, 9),) * 4,
    "hydro": ((12, 12), (27, 27), (27, 27), (27, 27)),
    "taskfarm": ((2, 16), (2, 64), (2, 256), (2, 1024)),  # a worker is told apart by its tasks
    "stencil2d": ((1, 9),) * 4,
    "ring": ((1, 1),) * 4,
}
# Ranks on the diagonal of the grid exchange with themselves this often in a time step. SMPI's
# MPI_Sendrecv then returns a status whose source is the rank after; the trace has the right one.
TRANSPOSITIONS = 25
# Leads with COUNT in the format, and with COUNTs within 5 % alike.
COUNTS = {10: (12, 12), 30: (12, 12), 90: (12, 9), 250: (12, 9)}
# The signatures in which ranks differ, times and loops aside.
FORMATS = {
    ("ring",): "",
    ("stencil2d",): "src,dest",
    ("multipartition",): "src,dest",
    ("transpose",): "src,dest",
    ("ocean",): "src,dest",
    ("stencil2d", "--size", 90): "src,dest,count",
    ("wavefront",): "callpath,src,dest,tag",
    ("multigrid",): "callpath,src,dest,count",
    ("bucketsort",): "callpath,src,dest,count",
    # Its tags differ, but average 13 on all ranks: of opposite directions they add up to 26.
    ("hydro",): "callpath,src,dest,count",
}
# (program, ranks, K) -> percent of SRC and of DEST that the leads' traces keep.
KEPT = {
    ("transpose", 16, 9): 69.7,
    # Rank 0 is its own partner. That is taken for a root, and another rank that is its own partner
    # loses 25 of 253 values.
    ("transpose", 64, 9): 55.2,
    ("transpose", 64, 27): 64.7,
    ("transpose", 64, 81): 100,
    ("transpose", 256, 9): 48.8,
    # As many Call-Paths as leads. Rank 1, whose left neighbour is rank 0 at every level, leads ranks
    # that are at other distances: 94.4 if rank 0 were not taken for a root.
    ("multigrid", 27, 9): 84.2,
    ("multipartition", 16, 3): 100,
    ("multipartition", 16, 2): 83.3,
    ("multipartition", 16, 1): 66.7,
    ("ocean", 16, 9): 100,
    ("wavefront", 16, 9): 100,
}
# Leads' traces alone, too few: (program, settings) -> leads, and percent of DEST that is right.
# Where calls are missing too, messages match nothing.
LOSSES = {
    ("multipartition", ("K", 2)): (2, 83.3),
    ("multipartition", ("K", 1)): (1, 66.6),
    ("wavefront", ("K", 5), ("STEPS", "single")): (5, None),
}


class Shapes:
    def __init__(self, tools, options):
        self.tools, self.options = tools, options
        self.folders = {}
        self.faults = []

    def job(self, program, ranks, *arguments, **variables):
        """The folder of a job, which runs once for each set of settings."""
        key = (program, ranks, arguments, tuple(sorted(variables.items())))
        if key not in self.folders:
            folder = self.tools.fresh(f"job{len(self.folders)}")
            steps = variables.pop("iterations",
                                  TRANSPOSE_STEPS if program == "transpose" else STEADY)
            simulated_job.run(self.tools, self.options, program, ranks, folder, "--iterations",
                              steps, *arguments,
                              **{f"CHAMELEON_{name}": text for name, text in variables.items()})
            self.folders[key] = folder
        return self.folders[key]

    def document(self, verb, folder, *arguments, status=0):
        outcome = self.tools.chameleon(verb, folder / "trace.cham", "--json", *arguments)
        expect(outcome.status == status, f"{verb} fails", outcome)
        return json.loads(outcome.stdout)

    def elected(self, folder):
        """(Call-Paths, leads) of the last election."""
        info = self.document("info", folder)
        return len({one["call_path"] for one in info["clusters"]}), len(info["clusters"])

    def check(self, what, found, expected):
        print(f"{what}: {found}", flush=True)
        if found != expected:
            self.faults.append(f"{what}: {found}, not {expected}")


def behaviours(shapes):
    for (program, ranks, *arguments), expected in BEHAVIOURS.items():
        folder = shapes.job(program, ranks, *arguments, ALGORITHM="dynamic")
        what = f"dynamic: {' '.join(map(str, (program, *arguments)))}, {ranks} ranks"
        shapes.check(what, shapes.elected(folder), expected)


def by_xor(shapes):
    for ranks, expected in BY_XOR.items():
        folder = shapes.job("transpose", ranks, ALGORITHM="dynamic", EQUALITY="xor")
        shapes.check(f"by XOR: transpose, {ranks} ranks", shapes.elected(folder), (1, expected))
        study = shapes.document("cluster", folder, "--algorithm", "dynamic", "--equality",
                                "xor")["algorithms"][0]
        for column in ("src", "dest"):
            shapes.check(f"by XOR: transpose, {ranks} ranks, {column} kept",
                         study["kept"][column]["share"], 1)
        leads = shapes.job("transpose", ranks, ALGORITHM="dynamic", EQUALITY="xor",
                           FIDELITY="lead")
        columns = shapes.document("verify", leads, "--raw", leads / "raw", status=1)["columns"]
        for column in ("dest", "count", "tag", "events"):
            shapes.check(f"by XOR: transpose, {ranks} ranks, leads' {column}",
                         columns[column]["share"], 1)
        from_oneself = math.isqrt(ranks) * TRANSPOSITIONS * TRANSPOSE_STEPS
        shapes.check(f"by XOR: transpose, {ranks} ranks, leads' src wrong",
                     columns["src"]["total"] - columns["src"]["matched"], from_oneself)


def by_rules(shapes):
    """As by XOR, at any side of the grid; without leads' partners being moved by it."""
    rules = "\n".join(f"Sendrecv.{value} = me % r * r + me / r" for value in ("dest", "source"))
    rules = "let r = isqrt(np)\n" + rules
    for ranks, expected in BY_RULES.items():
        folder = shapes.job("transpose", ranks, ALGORITHM="dynamic", RULES=rules)
        shapes.check(f"by rules: transpose, {ranks} ranks", shapes.elected(folder), (1, expected))
        study = shapes.document("cluster", folder, "--algorithm", "dynamic")["algorithms"][0]
        shapes.check(f"by rules: transpose, {ranks} ranks, clustered again",
                     len(study["clusters"]), expected)
        for column in ("src", "dest"):
            shapes.check(f"by rules: transpose, {ranks} ranks, {column} kept",
                         study["kept"][column]["share"], 1)
    for ranks, expected in SIMULATED_RULES.items():
        outcome = shapes.tools.chameleon("simulate", "transpose", "--algorithm", "dynamic", "--rules",
                                         rules, "--from", ranks, "--to", ranks, "--json")
        expect(outcome.status == 0, "simulate fails", outcome)
        shapes.check(f"by rules: transpose, {ranks} virtual ranks",
                     json.loads(outcome.stdout)["rows"][0]["leads"], expected)


def whole_run(shapes):
    for ranks, expected in WHOLE_RUN.items():
        settings = {"ALGORITHM": "callpath+parameter", "CALL_FREQUENCY": 1000}
        for given, leads in zip(({}, {"RULES": WHOLE_RUN_RULES}), expected):
            folder = shapes.job("spectral", ranks, **settings, **given)
            shapes.check(f"whole run: spectral, {ranks} ranks, {'with' if given else 'no'} rules",
                         shapes.elected(folder), (1, leads))


def filtered(shapes):
    for (program, ranks), expected in FILTERED.items():
        folder = shapes.job(program, ranks, ALGORITHM="dynamic")
        shapes.check(f"filter: {program}, {ranks} ranks",
                     shapes.document("info", folder)["filter"], expected)


def growth(shapes):
    """Clusters by what ranks did are no more than those by all they did, which are no more than
    ranks."""
    def simulated(program, ranks, algorithm):
        outcome = shapes.tools.chameleon("simulate", program, "--no-merge", "--json", "--algorithm",
                                         algorithm, "--from", ranks, "--to", ranks)
        expect(outcome.status == 0, "simulate fails", outcome)
        row = json.loads(outcome.stdout)["rows"][0]
        return row["call_paths"], row["leads"]

    for program, expected in GROWTH.items():
        found = tuple(simulated(program, ranks, "callpath+parameter") for ranks in SIZES)
        shapes.check(f"growth: {program}", found, expected)
        classes = simulated(program, 256, "reference")[1]
        shapes.check(f"growth: {program}, leads, classes and ranks in order",
                     found[2][1] <= classes <= 256, True)


def counts(shapes):
    for size, expected in COUNTS.items():
        leads = [shapes.elected(shapes.job("stencil2d", 16, "--size", size,
                                           ALGORITHM="callpath+parameter",
                                           COUNT_TOLERANCE=tolerance))[1]
                 for tolerance in ("0", "5%")]
        shapes.check(f"COUNT: stencil2d --size {size}", tuple(leads), expected)


def formats(shapes):
    for (program, *arguments), expected in FORMATS.items():
        folder = shapes.job(program, 64, *arguments, ALGORITHM="acurdion",
                            FORMAT="adaptive:-comp,-comm,-loop")
        what = f"adaptive: {' '.join(map(str, (program, *arguments)))}"
        shapes.check(what, shapes.document("info", folder)["signature_format"], expected)


def kept(shapes):
    for (program, ranks, k), expected in KEPT.items():
        folder = shapes.job(program, ranks, ALGORITHM="dynamic")
        study = shapes.document("cluster", folder, "-k", k)["algorithms"][0]
        shares = [round(100 * study["kept"][column]["share"], 1) for column in ("src", "dest")]
        shapes.check(f"kept: {program}, {ranks} ranks, K = {k}", tuple(shares), (expected,) * 2)


def losses(shapes):
    for (program, *settings), (leads, share) in LOSSES.items():
        # Four steps: two before leads are elected, one after, and one more that leads trace.
        folder = shapes.job(program, 16, ALGORITHM="dynamic", FIDELITY="lead", iterations=4,
                            **dict(settings))
        what = f"lead: {program} {dict(settings)}"
        shapes.check(f"{what}, leads", shapes.elected(folder)[1], leads)
        columns = shapes.document("verify", folder, "--raw", folder / "raw")["columns"]
        shapes.check(f"{what}, undeclared", sum(one["undeclared"] for one in columns.values()), 0)
        shapes.check(f"{what}, events missing", columns["events"]["share"] < 1, share is None)
        if share is not None:
            shapes.check(f"{what}, DEST", math.floor(1000 * columns["dest"]["share"]) / 10,
                         share)
        said = shapes.tools.chameleon("check", folder / "trace.cham")
        unmatched = b"never ends: no message from world rank" in said.stdout
        shapes.check(f"{what}, unmatched messages", (said.status, unmatched), (1, True))


PARTS = (behaviours, by_xor, by_rules, whole_run, filtered, growth, counts, formats, kept, losses)


def main():
    arguments = simulated_job.parser(__doc__)
    arguments.add_argument("--without", default="",
                           help=f"some of {', '.join(part.__name__ for part in PARTS)}")
    options = arguments.parse_args()
    simulated_job.raise_limits()

    def body(tools):
        shapes = Shapes(tools, options)
        for part in PARTS:
            if part.__name__ not in options.without.split(","):
                part(shapes)
        expect(not shapes.faults, "\n".join(shapes.faults))

    harness.main("test_shapes", options, body)


if __name__ == "__main__":
    main()
