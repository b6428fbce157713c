#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What `analysis/follow` resolves is what the Python reader does, which shares no code with it: the
communicator of every event, partners as world ranks, messages sent and received. Of a trace of each
example, of all kinds of calls, and of the fixtures.

    test_follow.py --tools TOOLS.json --examples FOLDER --corpus FOLDER... --dump dump_follow
        --program P"""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "tools" / "python"))
sys.path.insert(0, str(HERE.parent / "mpi"))
import chameleon_trace  # noqa: E402
import harness  # noqa: E402
from chameleon_trace import payload  # noqa: E402
from chameleon_trace.operations import Operations  # noqa: E402
from harness import expect  # noqa: E402

UNKNOWN_PLACE = -64
EXAMPLES = ("ring", "stencil2d", "wavefront", "multipartition", "transpose", "spectral",
            "multigrid", "bucketsort", "hydro", "ocean", "taskfarm", "phases", "faulty",
            "sparse")
totals = {"events": 0, "partners": 0, "sends": 0, "receives": 0}


def partner(event, name):
    value = event[name]
    if value is None:
        return UNKNOWN_PLACE
    if value < 0:
        return int(value)
    world = event.world(name)
    # Without a communicator an absolute rank is one of nobody knows whom.
    return "outside" if world is None else world


def lines(trace):
    for stream in trace.ranks:
        operations = Operations(trace, trace.rank_of(stream))
        for event in trace.events(stream):
            comm = event.communicator
            words = [event.stream, event.number, event.name, 0 if comm is None else comm.context]
            words += [partner(event, field.name) for field in event.call.fields
                      if field.stored == payload.END_POINT]
            totals["partners"] += len(words) - 4
            done = operations.of(event)
            sends = [f"{op.partner}:{op.tag}:{op.bytes}" for op in done if op.kind == "send"]
            receives = [f"{op.partner}:{op.tag}" for op in done if op.kind == "receive"]
            totals["events"] += 1
            totals["sends"] += len(sends)
            totals["receives"] += len(receives)
            yield " ".join(map(str, [*words, "|", *sends, "|", *receives]))


def compare(tools, path):
    outcome = tools.run([tools.dump_follow, path])
    expect(outcome.status == 0, f"{path.name}: dump_follow", outcome)
    theirs = outcome.stdout.decode().splitlines()
    mine = list(lines(chameleon_trace.read_trace(path)))
    wrong = next(((a, b) for a, b in zip(mine, theirs) if a != b), "")
    expect(mine == theirs,
           f"{path.name}: {len(mine)} events, follow {len(theirs)}\n  reader, follow: {wrong}")


def main():
    parser = harness.parser(__doc__)
    parser.add_argument("--examples", type=pathlib.Path, required=True)
    parser.add_argument("--corpus", type=pathlib.Path, nargs="+", required=True)
    parser.add_argument("--dump", required=True, help="dump_follow")
    parser.add_argument("--program", required=True, help="export_program: every kind of call")
    options = parser.parse_args()

    def body(tools):
        tools.paths["dump_follow"] = options.dump

        def job(name, program, ranks=4):
            folder = tools.fresh(name)
            path = folder / f"{name}.cham"
            outcome = tools.traced(ranks, program, path, cwd=folder)
            expect(path.exists(), f"{name}: no trace", outcome)
            compare(tools, path)

        for name in EXAMPLES:
            job(name, [options.examples / name, "--iterations", "4"])
        job("every-kind", [options.program], 3)
        for folder in options.corpus:
            for path in sorted(folder.resolve().glob("*.cham")):
                compare(tools, path)
        expect(all(count > 500 for count in totals.values()), f"too little compared: {totals}")
        print(", ".join(f"{count} {what}" for what, count in totals.items()))

    harness.main("follow", options, body)


if __name__ == "__main__":
    main()
