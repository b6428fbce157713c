# SPDX-License-Identifier: BSD-3-Clause
"""How well, and how evenly, replays of leads' traces keep the program's time, for bench/clusters
--accuracy. ACC_app compares them with the untraced program, ACC_cluster with the replay of the trace
without clustering: 1 - |a - b| / b, of medians. Tables 4.5 and 4.7 are standard deviations, which
exceed the times of clustering beside which they stand, and so must be of replays."""

import json
import statistics

from jobs import Failure, application_seconds, launch

LEADS = {"ALGORITHM": "acurdion", "FIDELITY": "lead"}
TRACES = {"unclustered": {"CLUSTERING": "off"},
          "k-farthest": {**LEADS, "CLUSTERING": "k-farthest"},
          "k-medoid": {**LEADS, "CLUSTERING": "k-medoid"}}
# Percent, of strong scaling: the least of all programs, and what the text gives.
PUBLISHED = {"CG": (98.93, 98.73), "S3D": (97.96, 97.91)}
# Standard deviations in seconds at 16, 64, 256 and 1,024 ranks: K-Medoid, K-Farthest.
TABLE_4_5 = ((.68, .42, .45, .12), (.45, .22, .34, .43))  # CG
TABLE_4_7 = ((4.84, 2.49, 7.01, 17.15), (3.59, 3.42, 8.85, 16.16))  # S3D


def replayed(options, trace):
    output = launch(options, [options.replay, "--json", "--compute=spin", trace])
    return json.loads(output)["seconds"]


def spaced(numbers):
    return " ".join(map(str, numbers))


def accuracy(found, expected):
    return 1 - abs(found - expected) / expected


def measure(options, name, folder, trace_of):
    """Seconds of as many runs of the program, and of replays, each of a trace of its own; None of leads' traces that would not
    run to their end, since what a lead sends to its partner is not what others of its cluster do."""
    words = ("--time", "--compute", options.compute)
    seconds = {"untraced": [application_seconds(launch(
        options, [options.build / "examples" / name, "--iterations", options.steps, *words]))
        for _ in range(options.runs)]}
    for kind, variables in TRACES.items():
        if kind != "unclustered":
            variables = {**variables, "K": str(options.k)}
        try:
            seconds[kind] = [replayed(options, trace_of(options, name, folder, *words, "--iterations",
                                                        options.steps, **variables))
                             for _ in range(options.runs)]
        except Failure:
            seconds[kind] = None
    found = {"seconds": seconds}
    median = {kind: statistics.median(each) for kind, each in seconds.items() if each}
    found["acc_app"] = {kind: accuracy(median[kind], median["untraced"])
                        for kind in TRACES if kind in median}
    found["acc_cluster"] = {kind: accuracy(median[kind], median["unclustered"])
                            for kind in TRACES if kind in median and kind != "unclustered"}
    found["deviation"] = {kind: statistics.stdev(each) for kind, each in seconds.items() if each}
    return found


def print_table(table, options, stands_for, results):
    kinds = list(TRACES)

    def percent(found, kind):
        return f"{100 * found[kind]:.2f}" if kind in found else "-"

    def milliseconds(found, kind):
        return f"{1e3 * found[kind]:.1f}" if kind in found else "-"

    rows = []
    for name, found in results.items():
        program = stands_for.get(name, "-")
        published = PUBLISHED.get(program)
        rows.append([name, program,
                     f"{statistics.median(found['seconds']['untraced']):.3f}",
                     *[percent(found["acc_app"], kind) for kind in kinds],
                     *[percent(found["acc_cluster"], kind) for kind in kinds[1:]],
                     spaced(published) if published else "-"])
    table(f"Accuracy of replays: percent of the program's time, and of the unclustered replay's, "
          f"{options.runs} runs each", ["example", "for", "seconds", *kinds,
                                        *[f"ACC_cluster {kind}" for kind in kinds[1:]],
                                        "published"], rows)
    rows = [[name, stands_for.get(name, "-"),
             *[milliseconds(found["deviation"], kind) for kind in ("untraced", *kinds)]]
            for name, found in results.items()]
    table("Tables 4.5, 4.7: standard deviation, ms (published, in seconds at 16 to 1,024 ranks: "
          f"CG K-Medoid {spaced(TABLE_4_5[0])}, K-Farthest {spaced(TABLE_4_5[1])}; S3D K-Medoid "
          f"{spaced(TABLE_4_7[0])}, K-Farthest {spaced(TABLE_4_7[1])})",
          ["example", "for", "untraced", *kinds], rows)
