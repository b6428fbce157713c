#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The Python reader against damaged traces: never anything but TraceError, in one line, in bounded
memory and time. With its own decompression: test_codecs.py compares that with zstandard's.

    test_damage.py --corpus FOLDER [--seconds S] [--seed N]

A quarter of the inputs are damaged files, which checksums refuse; a quarter have a damaged
compressed payload behind a right checksum; the others a damaged payload, uncompressed, as a whole
trace, or as a delta and repeats of it. What is still accepted is read as a user would."""

import argparse
import itertools
import pathlib
import resource
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tools" / "python"), str(ROOT / "tests" / "support")]
import chameleon_trace  # noqa: E402
from chameleon_trace import TraceError, codec, zstd  # noqa: E402
from chameleon_trace.xxh3 import xxh3_64  # noqa: E402
from mutants import HEADER, Mutants  # noqa: E402

MEMORY = 1 << 30
SLOW = 20  # seconds of CPU of an input
MOST_EVENTS = 300


def use(trace):
    """Reads a little of everything; gives the number of events."""
    seen = 0
    repr(trace)
    few = list(itertools.islice(trace.ranks, 3))
    counts = []
    for rank in few:
        try:
            counts.append(trace.event_count(rank))
            for event in itertools.islice(trace.events(rank), MOST_EVENTS):
                repr(event)
                (event.compute_ns, event.call_ns, event.inexact, trace.site(event.path))
                seen += 1
        except TraceError as error:
            one_line(error)
    for _ in itertools.islice(trace.facts(), 100):
        pass
    small = sum(counts) < 10 * MOST_EVENTS
    for name in chameleon_trace.COLUMNS:
        if name not in ("clusters", "phases") and trace.threads > 1:
            continue  # refused, whatever is in the trace
        if small or name in ("events", "clusters", "phases"):
            try:
                for _ in itertools.islice(trace.rows(name, few), 3 * MOST_EVENTS):
                    pass
            except TraceError as error:
                one_line(error)
    return seen


def one_line(error):
    if "\n" in str(error) or not str(error).startswith("input: ") or not error.kind:
        sys.exit(f"an error that is not one line with the name of the file: {error!r}")


def foreign(made):
    """Files that are no traces, of other versions and cut: each its own kind of error."""
    sound, commit = made.files[0], made.commit
    newer = bytearray(sound)
    newer[8] = 2
    kinds = {"not-a-trace": [b"", b"\x89CHAM", b"hello", bytes(100)], "truncated":
             [sound[:12], sound[:16], sound[:40], sound[:-1]], "unsupported-version":
             [bytes(newer), sound + commit(b"NEW1", 0, b"x", 1),
              sound + commit(b"DLT1", 2, b"x", 1)],
             "corrupt": [sound[:-1] + b"\0", HEADER + commit(b"DLT1", 0, b"", 0),
                         HEADER + commit(b"CMT1", 0, b"abc", 4),
                         HEADER + commit(b"CMT1", 1, b"abc", 1 << 20)],
             "too-large": [HEADER + commit(b"CMT1", 1, bytes(10000), 1 << 25)]}
    for kind, inputs in kinds.items():
        for data in inputs:
            try:
                chameleon_trace.parse_trace(data, "input", most_bytes=1 << 24)
            except TraceError as error:
                one_line(error)
                if error.kind != kind:
                    sys.exit(f"{data[:60]}: {error.kind}, expected {kind}: {error}")
            else:
                sys.exit(f"{data[:60]}: accepted, expected {kind}")
    for path in ("/nonexistent.cham", "/"):
        try:
            chameleon_trace.read_trace(path)
            sys.exit(f"{path}: accepted")
        except TraceError as error:
            if error.kind != "system":
                sys.exit(f"{path}: {error}")
    # What follows the last intact commit is ignored, and told.
    whole = chameleon_trace.parse_trace(sound)
    cut = chameleon_trace.parse_trace(sound + sound[16:50])
    if cut.file.ignored != 34 or whole.file.ignored != 0 or cut.ranks != whole.ranks:
        sys.exit(f"a cut commit: {cut.file}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--corpus", required=True, type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=6, help="of CPU")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    codec.xxh3_64, codec.decompress = xxh3_64, zstd.decompress
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    corpus = [path.read_bytes() for path in sorted(options.corpus.glob("*.cham"))]
    made = Mutants(options.seed, corpus, codec)
    foreign(made)
    inputs = accepted = events = 0
    slowest, end = 0.0, time.process_time() + options.seconds
    while time.process_time() < end:
        data, begin = made.file_for_readers(), time.process_time()
        inputs += 1
        try:
            trace = chameleon_trace.parse_trace(data, "input")
            accepted += 1
            events += use(trace)
        except TraceError as error:
            one_line(error)
        except BaseException:
            pathlib.Path("damaged-input.cham").write_bytes(data)
            print(f"input {inputs} of seed {options.seed}, kept as damaged-input.cham:")
            raise
        slowest = max(slowest, time.process_time() - begin)
        if slowest > SLOW:
            pathlib.Path("damaged-input.cham").write_bytes(data)
            sys.exit(f"input {inputs} of seed {options.seed} takes {slowest:.1f} s")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{inputs} inputs, {accepted} accepted, {events} events; slowest {slowest:.2f} s, "
          f"most memory {memory} MiB")
    if accepted < inputs // 50:
        sys.exit("too few inputs were accepted for this to test anything")


if __name__ == "__main__":
    main()
