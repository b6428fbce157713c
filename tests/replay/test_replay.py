#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Options of chameleon-replay, and replays of traces that do not hang together by themselves
(make_traces.cpp): a cut one runs to its end, a declared or wrong one is refused and with
--best-effort runs to its end, sends that would wait in a circle among them; and a rank that stands
still ends by the watchdog."""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "mpi"))
import harness
from harness import expect

RANKS = 4


def replay(tools, trace, *options, timeout=60):
    return tools.job(RANKS, [tools.replayer, "--compute=none", "--json", *options, trace],
                     timeout=timeout)


def left_out(outcome):
    expect(outcome.status == 0 and outcome.stdout.count(b"\n") == 1, "the replay fails", outcome)
    results = json.loads(outcome.stdout)
    expect(results["schema"] == "chameleon.replay/1" and results["ranks"] == RANKS and
           results["events"] > 0 and results["seconds"] > 0, "the results", outcome)
    return results["left_out"]


def test_options(tools):
    """Of a trace that does not exist: status 3 and its name if the words are understood, else 2
    and what is wrong with them."""
    for words, status, said in (
            (["--json", "--best-effort", "--no-check", "none.cham"], 3, "none.cham"),
            (["--compute=spin", "--time-scale", "0.5", "--patience=7", "none.cham"], 3, "none.cham"),
            (["none.cham", "--compute", "none", "--compute=sleep", "--json", "--json"], 3,
             "none.cham"),
            (["--time-scale=1e6", "--scratch=.", "none.cham"], 3, "none.cham"),
            ([], 2, "TRACE"), (["none.cham", "other.cham"], 2, "other.cham"),
            (["--bogus", "none.cham"], 2, "--bogus"), (["--bogus=1", "none.cham"], 2, "--bogus=1"),
            (["none.cham", "--compute"], 2, "--compute"),
            (["--compute=fast", "none.cham"], 2, "fast"),
            (["--compute=0", "none.cham"], 2, "--compute"),
            (["--time-scale=-1", "none.cham"], 2, "-1"),
            (["--time-scale=nan", "none.cham"], 2, "nan"),
            (["--time-scale=1x", "none.cham"], 2, "1x"),
            (["--time-scale=", "none.cham"], 2, ""),
            (["--patience=1e7", "none.cham"], 2, "1e7"),
            (["none.cham", "--scratch", ""], 2, "--scratch")):
        outcome = tools.run([tools.replayer, *words])
        expect(outcome.status == status and outcome.stderr.count(b"\n") == 1 and
               not outcome.stdout and said.encode() in outcome.stderr, f"options {words}", outcome)
    outcome = tools.run([tools.replayer, "--help"])
    expect(outcome.status == 0 and not outcome.stderr and b"--patience" in outcome.stdout, "--help",
           outcome)
    outcome = tools.job(2, [tools.replayer, "--bogus", "none.cham"])
    expect(outcome.status == 2 and outcome.stderr.count(b"--bogus") == 1, "options on two ranks",
           outcome)


def test_cut(tools, trace):
    check = tools.chameleon("check", trace, "--json")
    report = json.loads(check.stdout)
    expect(check.status == 0 and report["ok"] and not report["complete"], "cut: check", check)
    expect(report["in_flight"] == {"sends": 2, "receives": 1, "collectives": 1,
                                   "open_requests": 5}, "cut: what is in flight", check)
    outcome = replay(tools, trace)
    expect(left_out(outcome) == {"Irecv": 1, "Ibarrier": 1, "Startall": 1, "Send": 1},
           "cut: what is left out", outcome)
    outcome = tools.chameleon("info", trace)
    expect(outcome.status == 0 and b"still running or was killed" in outcome.stdout, "cut: info",
           outcome)


def test_declared(tools, trace):
    check = tools.chameleon("check", trace)
    expect(check.status == 1 and b"left unmatched by declared parts" in check.stdout and
           b"is consistent but for what it declares" in check.stdout, "declared: check", check)
    for outcome in (replay(tools, trace),
                    tools.chameleon("replay", trace, LD_PRELOAD=tools.test_yield)):
        lines = outcome.stderr.decode().strip().splitlines()
        expect(outcome.status == 4 and len([line for line in lines if "refused" in line]) == 1 and
               b"of rank 3)" in outcome.stderr, "declared: not refused", outcome)
    outcome = replay(tools, trace, "--best-effort")
    expect(left_out(outcome).get("Sendrecv", 0) == 1, "declared: what is left out", outcome)


def test_wrong(tools, trace):
    outcome = tools.chameleon("check", trace)
    expect(outcome.status == 1, "wrong: check finds nothing", outcome)
    # Complete, and nothing is declared: only `chameleon replay` looks.
    outcome = tools.chameleon("replay", trace)
    expect(outcome.status == 4, "wrong: not refused", outcome)
    left_out(replay(tools, trace, "--best-effort"))


def test_circle(tools, trace):
    outcome = replay(tools, trace, "--best-effort", "--patience=2")
    expect(outcome.status == 0 and not left_out(outcome), "circle: sends are waited for", outcome)


def test_lost(tools, trace):
    """Requests that the program lost are its fault, and named; a replay loses them, too."""
    check = tools.chameleon("check", trace, "--json")
    report = json.loads(check.stdout)
    expect(check.status == 1 and report["problem_count"] == report["program_count"] == 102 and
           {"incomplete_request"} == {problem["kind"] for problem in report["problems"]},
           "lost: check", check)
    expect(b"the program is at fault" in tools.chameleon("check", trace).stdout, "lost: verdict",
           check)
    for options in ([], ["--guard"]):
        outcome = replay(tools, trace, *options)
        expect(not left_out(outcome), "lost: what is left out", outcome)
    outcome = tools.chameleon("replay", trace, LD_PRELOAD=tools.test_yield)
    expect(outcome.status == 0, "lost: refused", outcome)


def test_joined(tools, trace):
    """Who is not in the trace is not judged. What is on communicators with them is left out."""
    check = tools.chameleon("check", trace, "--json")
    report = json.loads(check.stdout)
    expect(check.status == 0 and report["ok"], "joined: check", check)
    announced = {}
    for entry in report["replay_leaves_out"]:
        announced[entry["call"]] = announced.get(entry["call"], 0) + entry["count"]
    expect(announced == {"Comm_join": 4, "Intercomm_merge": 4, "Allreduce": 4, "Isend": 1,
                         "Comm_free": 4}, "joined: what is announced", check)
    outcome = replay(tools, trace)
    expect(left_out(outcome) == announced, "joined: what is left out", outcome)
    outcome = tools.chameleon("replay", trace, LD_PRELOAD=tools.test_yield)
    expect(outcome.status == 0, "joined: refused", outcome)


def test_much(tools, trace):
    outcome = replay(tools, trace)
    refusals = [line for line in outcome.stderr.decode().splitlines() if "refused" in line]
    expect(outcome.status == 4 and refusals and "Bcast: a buffer of 65536.0 GiB on each of the 4 "
           "ranks of this host takes 262144.0 GiB" in refusals[0], "much: not refused", outcome)


def test_watchdog(tools, program):
    outcome = tools.run([program])
    expect(outcome.status == 1 and outcome.stdout == b"moved\n" and
           b"rank 3 gives up: no progress" in outcome.stderr, "no watchdog", outcome)


def main():
    parser = harness.parser(__doc__)
    parser.add_argument("--maker", required=True, help="the program made of make_traces.cpp")
    parser.add_argument("--stand-still", required=True, help="the program made of stand_still.cpp")
    options = parser.parse_args()

    def body(tools):
        outcome = tools.run([options.maker, tools.folder])
        expect(outcome.status == 0, "the traces were not made", outcome)
        test_options(tools)
        test_cut(tools, tools.folder / "cut.cham")
        test_declared(tools, tools.folder / "declared.cham")
        test_wrong(tools, tools.folder / "wrong.cham")
        test_circle(tools, tools.folder / "circle.cham")
        test_lost(tools, tools.folder / "lost.cham")
        test_joined(tools, tools.folder / "joined.cham")
        test_much(tools, tools.folder / "much.cham")
        test_watchdog(tools, options.stand_still)

    harness.main("replay_partial", options, body)


if __name__ == "__main__":
    main()
