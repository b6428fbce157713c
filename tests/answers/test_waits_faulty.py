#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What `stats --waits` says of each kind of waiting is within 5 % of what a preload says that stamps
every rank's arrival at every call on the node's clock, and matches messages and collectives itself.
A trace is without the tool's own time, which the arrivals have: where a busy machine makes that more
than a twentieth of the run, three times, nothing is decided, and the status is 77.

    test_waits_faulty.py --tools TOOLS.json --program FAULTY --arrivals LIBRARY [--ranks N,N]
                         [--seed N]"""

import collections
import json
import pathlib
import random
import sys
import time

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS / "mpi"))
import harness  # noqa: E402
from harness import expect  # noqa: E402

STEPS = 40
MOST_TOOL = 0.05  # of the run
UNDECIDED = 77
COMPUTE = 200  # us: ranks share processors
NEAR = 0.05
LEAST = 2e-3  # of the run and a rank: below, a kind of waiting is noise
COLLECTIVES = {"Barrier": "barrier", "Allreduce": "all_to_all"}
Call = collections.namedtuple("Call", "name begin end peer tag")


def faults(chance, ranks):
    """Some ranks are slow, some send late, and all are in turn."""
    steps = chance.sample(range(2, STEPS - 2), 8)
    words = []
    for step in steps[:3]:
        words += ["--fault", f"slow:{chance.randrange(ranks)}:{step}:60000"]
    for step in steps[3:5]:
        words += ["--fault", f"late:{chance.randrange(ranks)}:{step}:60000"]
    words += ["--fault", f"slow:{chance.randrange(ranks)}:{steps[5]}:60000:add_up"]
    first = min(steps[6], STEPS - 6)
    words += ["--fault", f"serial:{first}-{first + 1}:20000",
              "--fault", f"moving:{first + 2}-{first + 5}:30000"]
    return words


def calls_of(folder, rank):
    calls = []
    for line in (folder / f"rank.{rank}.txt").read_text().splitlines():
        name, *numbers = line.split()
        calls.append(Call(name, *map(int, numbers)))
    return calls


def merged(waits):
    """Seconds of each kind of an event that waits for several at once: those for receivers count
    after those for senders only."""
    begin = min(begin for _, begin, _ in waits)
    sums = collections.Counter()
    for kind in ("late_sender", "late_receiver"):
        until = max([end for one, _, end in waits if one == kind], default=begin)
        sums[kind] += max(until - begin, 0)
        begin = max(begin, until)
    return sums


def message_waits(all_calls):
    """Seconds by kind: each message's true lateness."""
    sends, posts = collections.defaultdict(list), collections.defaultdict(list)
    done = {}  # (rank, position of the post or the send) -> the call that completes it
    for rank, calls in enumerate(all_calls):
        open_requests = []
        for at, call in enumerate(calls):
            if call.name in ("Send", "Isend") and call.peer >= 0:
                sends[rank, call.peer, call.tag].append((rank, at))
            if call.name in ("Recv", "Irecv") and call.peer >= 0:
                posts[call.peer, rank, call.tag].append((rank, at))
            if call.name in ("Isend", "Irecv"):
                open_requests.append(at)
            if call.name == "Waitall":
                for request in open_requests:
                    done[rank, request] = at
                open_requests = []
    events = collections.defaultdict(list)
    for channel, sent in sends.items():
        expect(len(sent) == len(posts[channel]), f"channel {channel} does not match")
        for (sender, send_at), (receiver, post_at) in zip(sent, posts[channel]):
            send, post = all_calls[sender][send_at], all_calls[receiver][post_at]
            completes = done.get((receiver, post_at), post_at)
            waiting = all_calls[receiver][completes]
            late = min(send.begin, waiting.end)
            if late > waiting.begin:
                events[receiver, completes].append(("late_sender", waiting.begin, late))
            ends = done.get((sender, send_at), send_at)
            sending = all_calls[sender][ends]
            if sending.begin < post.begin < sending.end:
                events[sender, ends].append(("late_receiver", sending.begin, post.begin))
    sums = collections.Counter()
    for waits in events.values():
        sums.update(merged(waits))
    return sums


def collective_waits(all_calls):
    names = set(COLLECTIVES) | {"Reduce"}
    sums = collections.Counter()
    rounds = list(zip(*([call for call in calls if call.name in names] for calls in all_calls)))
    for calls in rounds:
        expect(len({call.name for call in calls}) == 1, f"collectives do not match: {calls}")
        last = max(call.begin for call in calls)
        for rank, call in enumerate(calls):
            if call.name == "Reduce" and rank != call.peer:
                continue
            kind = COLLECTIVES.get(call.name, "early_root")
            sums[kind] += max(min(last, call.end) - call.begin, 0)
    return sums


def traced(tools, options, ranks, seed, folder):
    """A trace in which the tool took little time, or None."""
    trace = folder / "t.cham"
    for _ in range(3):
        outcome = tools.job(ranks, [options.program, "--iterations", STEPS, "--compute", COMPUTE,
                                    *faults(random.Random(seed), ranks)],
                            preload=[options.arrivals, tools.library], CHAMELEON_OUTPUT=trace,
                            CHAMELEON_TIMING="full", ARRIVALS_DIR=folder)
        expect(outcome.status == 0, "no trace", outcome)
        info = json.loads(tools.chameleon("info", "--json", trace).stdout)
        if info["tool_share"] <= MOST_TOOL:
            return trace
        print(f"the tool took {info['tool_share']:.1%} of the run: again", flush=True)
        trace.unlink()
    return None


def check(tools, options, ranks, seed):
    print(f"{ranks} ranks, seed {seed}", flush=True)
    folder = tools.fresh(f"waits-{ranks}")
    trace = traced(tools, options, ranks, seed, folder)
    if trace is None:
        return False
    all_calls = [calls_of(folder, rank) for rank in range(ranks)]
    known = message_waits(all_calls)
    known.update(collective_waits(all_calls))
    outcome = tools.chameleon("stats", "--waits", "--json", trace)
    expect(outcome.status == 0, "stats --waits", outcome)
    document = json.loads(outcome.stdout)
    expect(document["unmatched"] == 0, "something is unmatched", outcome)
    least = LEAST * document["run_seconds"] * ranks
    checked = 0
    for kind in ("late_sender", "late_receiver", "all_to_all", "barrier", "early_root"):
        found, true = document["waits"][f"{kind}_seconds"], known[kind] * 1e-9
        print(f"{kind}: {found:.4f} s, by arrivals {true:.4f} s", flush=True)
        checked += true > least
        expect(abs(found - true) <= NEAR * true + least, f"{kind}: {found} s instead of {true} s")
    expect(checked >= 2, f"too little waiting to compare: {known}")
    whole = document["waits"]
    parts = whole["waiting_seconds"] + whole["transfer_seconds"] + whole["excess_seconds"]
    expect(abs(parts - whole["call_seconds"]) <= 0.01 * whole["call_seconds"],
           f"parts of the time in calls do not add up: {whole}")
    return True


def main():
    arguments = harness.parser(__doc__)
    arguments.add_argument("--program", required=True)
    arguments.add_argument("--arrivals", required=True)
    arguments.add_argument("--ranks", default="4,8")
    arguments.add_argument("--seed", type=int, default=int(time.time()))
    options = arguments.parse_args()

    def body(tools):
        for ranks in map(int, options.ranks.split(",")):
            if not harness.tried(check, tools, options, ranks, options.seed):
                print("undecided: the machine is too busy")
                sys.exit(UNDECIDED)

    harness.main("waits_faulty", options, body)


if __name__ == "__main__":
    main()
