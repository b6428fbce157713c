#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every clustering of the papers on every example: nothing is lost, ranks find over MPI what one
process finds over virtual ranks, and `chameleon cluster` finds it again from the trace.

    test_presets.py --tools TOOLS.json --examples FOLDER [--only NAME] [--all]"""

import json

from harness import expect
from online_jobs import run_chosen

TESTS = []
EXAMPLES = ("stencil2d", "wavefront", "ring", "multipartition", "transpose", "spectral",
            "multigrid", "bucketsort", "hydro", "ocean", "taskfarm", "phases", "faulty",
            "sparse", "adaptive")
FEW = ("wavefront", "taskfarm", "transpose", "spectral", "multigrid")
ALGORITHMS = ("chameleon", "callpath+parameter", "reference", "acurdion", "dynamic")


def test(function):
    TESTS.append(function)
    return function


@test
def markers(online):
    """100 % in every column, at any number of ranks."""
    for ranks in (4, 9, 16, 64) if online.all else (4,):
        for name in EXAMPLES if online.all else FEW[:2]:
            program = online.example(name, "--iterations", 5)
            for algorithm in ALGORITHMS:
                what, path, facts, _ = online.trace(ranks, program, ALGORITHM=algorithm)
                expect(facts["algorithm"] == algorithm, f"{what}: {facts['algorithm']}")
                outcome = online.tools.chameleon("verify", "--strict", "--json", path, "--raw",
                                                 path.parent / "raw")
                expect(outcome.status == 0, f"{what}: verify", outcome)
                said = json.loads(outcome.stdout)
                for column, one in said["columns"].items():
                    expect(one["matched"] == one["total"], f"{what}: {column} {one}")
                expect((facts["count_c"] == 0) == ("clusters" not in said), f"{what}: not compared")
                expect(said.get("clusters", {"equal": True})["equal"], f"{what}: other clusters")


@test
def leads_by_capek(online):
    """Where leads are too few, samples of the ranks say which they are: at a marker and in
    MPI_Finalize, alone or beside other Call-Paths."""
    for ranks in (2, 4, 8, 16) if online.all else (2, 8):
        for name, variables in (("transpose", {"K": 2}), ("wavefront", {"K": 1, "STEPS": "single"}),
                                ("hydro", {"K": 9, "FORMAT": "callpath,sequence"}),
                                ("ocean", {"K": 3, "ALGORITHM": "callpath+parameter", "SEED": 5,
                                           "CALL_FREQUENCY": 1000})):
            what, path, facts, _ = online.trace(ranks, online.example(name, "--iterations", 5),
                                                CLUSTERING="capek", **variables)
            expect(facts["clustering"] == "capek", f"{what}: {facts['clustering']}")
            outcome = online.tools.chameleon("verify", "--strict", "--json", path, "--raw",
                                             path.parent / "raw")
            expect(outcome.status == 0, f"{what}: verify", outcome)
            said = json.loads(outcome.stdout)
            for column, one in said["columns"].items():
                expect(one["matched"] == one["total"], f"{what}: {column} {one}")
            if "CALL_FREQUENCY" in variables:
                outcome = online.tools.chameleon("cluster", "--json", path, "--algorithm",
                                                 "callpath+parameter", "-k", 3, "--clustering", "capek", "--seed", 5)
                found = json.loads(outcome.stdout)["algorithms"][0]["clusters"]
                expect([(one["lead"], one["ranks"]) for one in found] ==
                       [(one["lead"], one["ranks"]) for one in facts["clusters"]],
                       f"{what}: other clusters than of virtual ranks", outcome)
            else:
                expect(said["clusters"]["equal"], f"{what}: other clusters than of virtual ranks")
            paths = {one["call_path"] for one in facts["clusters"]}
            most = variables["K"] if "STEPS" in variables else max(variables["K"], len(paths))
            expect(len(facts["leads"]) <= most, f"{what}: leads {facts['leads']}")
            expect(name != "transpose" or len(facts["leads"]) == min(2, ranks // 2),
                   f"{what}: {facts['leads']}")


@test
def whole_runs(online):
    """Without markers they cluster in MPI_Finalize, and chameleon does not."""
    for name in EXAMPLES if online.all else FEW[:1]:
        program = online.example(name, "--iterations", 5)
        for algorithm in ALGORITHMS:
            variables = {"ALGORITHM": algorithm, "CALL_FREQUENCY": 1000}
            arguments = ["--algorithm", algorithm]
            if algorithm == "acurdion":  # a trace has times within an error
                variables["FORMAT"] = "adaptive:-comp,-comm"
                arguments = ["--format", variables["FORMAT"]]
            what, path, facts, _ = online.exact(9, program, **variables)
            expect(facts["acted"] == 0, f"{what}: {facts['acted']} markers acted on")
            if algorithm == "chameleon":
                expect(not facts["clusters"], f"{what}: {facts['clusters']}")
                continue
            outcome = online.tools.chameleon("cluster", "--json", path, *arguments)
            expect(outcome.status == 0, f"{what}: cluster", outcome)
            study = json.loads(outcome.stdout)["algorithms"][0]
            told, found = ([(one["call_path"], one["lead"], one["ranks"]) for one in of["clusters"]]
                           for of in (facts, study))
            expect(told == found, f"{what}: {told}, not {found}")
            expect(facts["signature_format"] == study["format"], f"{what}: {study['format']}")


@test
def space(online):
    """What clustering takes of each rank, by the formulas of Tables 4.8 and 3.7, and as sent."""
    ranks = 9
    for name in FEW if online.all else FEW[:3]:
        what, path, _, _ = online.trace(ranks, online.example(name, "--iterations", 5))
        outcome = online.tools.chameleon("cluster", "--json", path, "--compare")
        expect(outcome.status == 0, f"{what}: cluster", outcome)
        for study in json.loads(outcome.stdout)["algorithms"]:
            told, where = study["space"], f"{what}, {study['algorithm']}: {study['space']}"
            trace, leads = told["trace"], study["leads"]
            main, largest = study["main_clusters"], study["most_sub_clusters"]
            signature = told["signature"]
            if "sequence" not in study["format"]:
                expect(signature == 8 * len([one for one in study["format"].split(",") if one]),
                       f"{where}: bytes of signatures")
            by_leads = (trace * (leads - 1) + ranks * signature
                        + signature * leads * (ranks - 1)) / ranks
            by_main = (ranks * signature + trace * (main - 1)
                       + signature * (main + largest) * (ranks - 1)) / ranks
            expect(abs(told["table_4_8"] - by_leads) < 1e-6, f"{where}: {by_leads} by Table 4.8")
            expect(abs(told["table_3_7"] - by_main) < 1e-6, f"{where}: {by_main} by Table 3.7")
            expect(abs(told["unclustered"] - trace * (ranks - 1) / ranks) < 1e-6,
                   f"{where}: without clustering")
            expect(told["counted"] > 0, where)


@test
def leads_of_whole_runs(online):
    """With leads' traces only, what others did is declared."""
    for fidelity in ("checked", "lead"):
        what, path, facts, _ = online.trace(
            9, online.example("multipartition", "--iterations", 5), ALGORITHM="dynamic", K=2,
            STEPS="single", CALL_FREQUENCY=1000, FIDELITY=fidelity)
        expect(len(facts["clusters"]) == 2 and facts["inexact"], f"{what}: {facts}")
        outcome = online.tools.chameleon("verify", path, "--raw", path.parent / "raw")
        expect(outcome.status == 0, f"{what}: something inexact is not declared", outcome)


@test
def too_few_leads(online):
    """Leads' traces alone have messages that match nothing: check says so, and a replay that may
    leave them out goes on to the end."""
    for name, variables in (("multipartition", {"K": 2}),
                            ("wavefront", {"K": 5, "STEPS": "single"})):
        program = online.example(name, "--iterations", 4)
        what, path, facts, _ = online.trace(16, program, ALGORITHM="dynamic", FIDELITY="lead",
                                            **variables)
        expect(len(facts["leads"]) == variables["K"], f"{what}: leads {facts['leads']}")
        said = online.tools.chameleon("check", path)
        expect(said.status == 1 and b"never ends: no message" in said.stdout, f"{what}: check", said)
        outcome = online.tools.replay(16, path)
        expect(outcome.status != 0, f"{what}: a replay that would hang is not refused", outcome)
        outcome = online.tools.replay(16, path, "--best-effort")
        expect(outcome.status == 0 and b"left out: " in outcome.stdout, f"{what}: replay", outcome)


@test
def leads_that_are_allowed(online):
    """Ranks that differ in what is not in the format have leads of their own, as far as K allows;
    a clustering that is named is as published."""
    program = online.example("bucketsort", "--iterations", 5)
    for fidelity in ("checked", "lead"):
        what, path, facts, _ = online.trace(8, program, FIDELITY=fidelity)
        expect(facts["leads"] == list(range(8)), f"{what}: {facts['leads']}")
        expect(facts["algorithm"] == "chameleon", f"{what}: {facts['algorithm']}")
        outcome = online.tools.chameleon("verify", "--strict", path, "--raw", path.parent / "raw")
        expect(outcome.status == 0, f"{what}: something is lost", outcome)
        expect(b"as computed again" in outcome.stdout, f"{what}: clusters not compared", outcome)
        published = {"ALGORITHM": "chameleon", "FIDELITY": fidelity}
        what, path, facts, _ = online.trace(8, program, **published)
        expect(len(facts["leads"]) < 8, f"{what}: {facts['leads']}")
        expect(facts["signature_format"] == "callpath,src,dest", f"{what}: {facts}")
        outcome = online.tools.chameleon("verify", "--strict", path, "--raw", path.parent / "raw")
        expect(outcome.status == 1, f"{what}: nothing is lost", outcome)


@test
def what_split_clusters_and_what_it_took(online):
    """info says what tells sub-clusters apart, and what clustering and merging took."""
    what, _, facts, _ = online.trace(16, online.example("transpose", "--iterations", 5))
    splits = [one["split_by"] for one in facts["clusters"]]
    expect(splits[0] == "" and set(splits[1:]) == {"src,dest"}, f"{what}: {splits}")
    # On each edge of the tree a vote is 152 bytes up and down for each interval that it is about;
    # the last is in MPI_Finalize, and one asks whether all are where ranks are clustered. Where
    # votes are about two, the last may be about one that there is not.
    ballots = [facts["acted"] + 2] + [facts["acted"] + 3] * ("doubled" in facts)
    expect(facts["vote_bytes"] in [one * 15 * 2 * 152 for one in ballots],
           f"{what}: votes {facts['vote_bytes']}")
    for name in ("clustering_bytes", "merge_bytes", "clustering_seconds", "merging_seconds"):
        expect(facts[name] > 0, f"{what}: {name} {facts[name]}")
    what, _, facts, _ = online.trace(4, online.example("ring", "--iterations", 5))
    expect(all("split_by" not in one for one in facts["clusters"]), f"{what}: {facts['clusters']}")


TRANSPOSED = "me % isqrt(np) * isqrt(np) + me / isqrt(np)"


@test
def rules(online):
    """Ranks that follow a rule share a lead. In `lead` each has what the rule gives it; a rule that
    is wrong changes nothing."""
    program = online.example("transpose", "--iterations", 5)
    right = f"Sendrecv.dest = {TRANSPOSED}; Sendrecv.source = {TRANSPOSED}"
    _, _, without, _ = online.exact(9, program, ALGORITHM="dynamic")
    for given, leads in ((right, 3), ("Sendrecv.dest = np; Sendrecv.source = me / (me - me)", 9)):
        what, path, facts, _ = online.exact(9, program, ALGORITHM="dynamic", RULES=given)
        expect(len(facts["leads"]) == leads, f"{what}: leads {facts['leads']}")
        expect(leads != 9 or facts["clusters"] == without["clusters"], f"{what}: other clusters")
        told = facts["rules"]
        expect(told["text"] == given and told["values"] > 0 and
               (told["matched"] > 0) == (leads == 3), f"{what}: {told}")
        said = online.tools.chameleon("verify", "--strict", path, "--raw", path.parent / "raw")
        expect(said.status == 0 and b"as computed again" in said.stdout, f"{what}: verify", said)
    what, path, facts, _ = online.trace(9, program, ALGORITHM="dynamic", FIDELITY="lead",
                                        RULES=right)
    expect(len(facts["leads"]) == 3, f"{what}: leads {facts['leads']}")
    outcome = online.tools.chameleon("verify", "--json", path, "--raw", path.parent / "raw")
    for column, one in json.loads(outcome.stdout)["columns"].items():
        if column not in ("compute", "communication"):
            expect(one["matched"] == one["total"], f"{what}: {column} {one}", outcome)
    outcome = online.tools.replay(9, path)
    expect(outcome.status == 0, f"{what}: replay", outcome)


@test
def rules_by_site(online):
    """Calls with equal arguments are told apart by where they are made: spectral splits the world
    into rows, then into columns. In `lead` one rank gives all the colours."""
    program = online.example("spectral", "--iterations", 5)
    rules = ("let r = isqrt(np); Comm_split.key = me\n"
             "Comm_split.color where site == 0 = me / r; Comm_split.color where site == 1 = me % r")
    whole_run = {"ALGORITHM": "callpath+parameter", "CALL_FREQUENCY": 1000}
    for given, leads in (({}, 9), ({"RULES": rules}, 1)):
        what, path, facts, _ = online.exact(9, program, **whole_run, **given)
        expect(len(facts["leads"]) == leads, f"{what}: leads {facts['leads']}")
        outcome = online.tools.chameleon("cluster", "--json", path, "--algorithm",
                                         "callpath+parameter")
        study = json.loads(outcome.stdout)["algorithms"][0]
        expect(study["leads"] == leads, f"{what}: clustered again: {study['leads']} leads")
    what, path, facts, _ = online.trace(9, program, FIDELITY="lead", RULES=rules, **whole_run)
    expect(facts["leads"] == [0], f"{what}: leads {facts['leads']}")
    outcome = online.tools.chameleon("verify", "--json", path, "--raw", path.parent / "raw")
    for column, one in json.loads(outcome.stdout)["columns"].items():
        if column not in ("compute", "communication"):
            expect(one["matched"] == one["total"], f"{what}: {column} {one}", outcome)
    outcome = online.tools.replay(9, path)
    expect(outcome.status == 0, f"{what}: replay", outcome)


@test
def filtered_values(online):
    """Leads of one structure that differ in few kinds of values send these, and nothing is lost."""
    program = online.example("transpose", "--iterations", 5)
    sent = {}
    for given, told in (("off", "off"), ("on", "on"), ("auto", "on")):
        what, _, facts, _ = online.exact(9, program, FILTER=given, TIMING="none")
        expect(facts["filter"] == told, f"{what}: filter {facts['filter']}")
        sent[given] = facts["merge_bytes"]
    expect(sent["on"] < sent["off"], f"bytes sent: {sent}")
    what, _, facts, _ = online.exact(9, online.example("ring", "--iterations", 5))
    expect(facts["filter"] == "off", f"{what}: filter {facts['filter']}")


if __name__ == "__main__":
    run_chosen("test_presets", __doc__, TESTS)
