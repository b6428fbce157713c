# SPDX-License-Identifier: BSD-3-Clause
"""Figures 4.6 and 4.7 of bench/clusters as a number: how much of the heat map of messages the traces
of leads keep. Both maps are normalized; 1 - sum |p - q| / 2 is 1 if they are alike, 0 if they have
no cell in common."""

import csv
import io
import json
import subprocess

# Programs whose leads filter what they send, at 16 ranks (Table 3.2).
FILTERED = ("CG", "FT", "POP")


def asked(options, *words):
    return subprocess.run([str(word) for word in (options.chameleon, *words)], text=True,
                          capture_output=True, check=True, timeout=options.timeout).stdout


def info(options, trace):
    return json.loads(asked(options, "info", "--json", trace))


def cells(options, trace):
    """The share of each pair of ranks in all messages."""
    messages = {(row["source"], row["dest"]): int(row["messages"]) for row in
                csv.DictReader(io.StringIO(asked(options, "matrix", "--csv", trace)))}
    total = sum(messages.values())
    return {pair: count / total for pair, count in messages.items()}


def likeness(a, b):
    return 1 - sum(abs(a.get(pair, 0) - b.get(pair, 0)) for pair in a.keys() | b.keys()) / 2


def measure(options, name, folder, trace_of):
    """Of a run with `exact` and one with `lead`, both with K leads."""
    found, maps = {}, {}
    for fidelity in ("exact", "lead"):
        trace = trace_of(options, name, folder, ALGORITHM="dynamic", K=str(options.k),
                         FIDELITY=fidelity)
        maps[fidelity] = cells(options, trace)
        facts = info(options, trace)
        found[fidelity] = {key: facts[key] for key in
                           ("filter", "merge_bytes", "merging_seconds", "clustering_bytes",
                            "clustering_seconds")}
    found["likeness"] = likeness(maps["exact"], maps["lead"])
    return found


def print_table(table, options, stands_for, maps):
    def program(name):
        return stands_for.get(name, "-")

    def pair(found, key, factor=1.0):
        return [f"{found[fidelity][key] / factor:.2f}" for fidelity in ("exact", "lead")]

    table(f"Figures 4.6, 4.7: percent of the heat map that leads' traces keep, K = {options.k}; and "
          f"what an on-line run sent",
          ["example", "for", "heat map", "clustering KiB", "lead", "merging KiB", "lead"],
          [[name, program(name), f"{100 * found['likeness']:.1f}",
            *pair(found, "clustering_bytes", 1024), *pair(found, "merge_bytes", 1024)]
           for name, found in maps.items()])
    table("Table 3.2: whether leads filter what they send (published: at 16 ranks)",
          ["example", "for", "published", "here"],
          [[name, program(name),
            "-" if program(name) in ("-", "LULESH")
            else "on" if program(name) in FILTERED else "off", found["exact"]["filter"]]
           for name, found in maps.items()])
