#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The Python reader with the modules xxhash and zstandard, and with its own checksums and
decompression in their place: the same of every trace, whole or damaged.

    test_codecs.py --corpus FOLDER... [--inputs N] [--seed N]

One difference is allowed: of a damaged frame behind a right checksum zstandard does not notice all
that is wrong. Whatever the package itself decompresses, zstandard makes the same bytes of."""

import argparse
import collections
import pathlib
import random
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = HERE.parent.parent / "tools" / "python"
sys.path[:0] = [str(PACKAGE), str(HERE.parent / "support")]
import chameleon_trace  # noqa: E402
from chameleon_trace import TraceError, codec, xxh3, zstd  # noqa: E402
from mutants import Mutants  # noqa: E402

MODULES = codec.library_xxh3_64, codec.library_decompress
OWN = xxh3.xxh3_64, zstd.decompress
WITHOUT = """
import sys
sys.modules["xxhash"] = sys.modules["zstandard"] = None
import chameleon_trace
from chameleon_trace import codec, xxh3, zstd
assert codec.xxh3_64 is xxh3.xxh3_64 and codec.decompress is zstd.decompress
print(len(list(chameleon_trace.read_trace(sys.argv[1]).events(0))))
"""


def expect(condition, what):
    if not condition:
        sys.exit(f"codecs: {what}")


def checksums(pick):
    for size in [*range(1100), *(1 << power for power in range(11, 18))]:
        data = pick.randbytes(size)
        expect(xxh3.xxh3_64(data) == MODULES[0](data), f"the checksums of {size} bytes differ")


def outcome(function, *arguments):
    """What it gives, or the error."""
    try:
        return function(*arguments)
    except TraceError as error:
        return error


def is_error(result):
    return isinstance(result, TraceError)


def content(data):
    """All that a trace says, as text; or the error."""
    def words():
        trace = chameleon_trace.parse_trace(data, "input")
        yield from (trace.program, trace.file, trace.online, trace.declarations)
        yield from trace.facts()
        for rank in trace.ranks:
            yield from (repr(event) for event in trace.events(rank))
    return outcome(lambda: "\n".join(map(str, words())))


def by_both(function, *arguments):
    """What a function of the package gives with its own code, and with the modules."""
    results = []
    for codec.xxh3_64, codec.decompress in (OWN, MODULES):
        results.append(function(*arguments))
    return results


def whole(paths):
    for path in paths:
        own, modules = by_both(content, path.read_bytes())
        expect(isinstance(own, str) and own == modules, f"{path.name}: the contents differ")


def frames(damage, inputs, seen):
    """Damaged frames, as they are and as a commit of a trace."""
    for number in range(inputs):
        stored, plain = damage.random.choice(damage.payloads)
        bad = damage.damaged(stored, damage.random.choice(damage.payloads)[0])
        own, module = (outcome(codecs[1], bad, len(plain)) for codecs in (OWN, MODULES))
        what = f"frame {number}: {own!r:.80}, zstandard: {module!r:.80}"
        expect(own == module or is_error(own), what)
        expect(not is_error(module) or "\n" not in str(module), what)
        seen["refused by both" if is_error(module) else
             "not noticed by zstandard" if is_error(own) else "accepted"] += 1


def files(damage, inputs, seen):
    for number in range(inputs):
        data = damage.file_for_readers()
        own, modules = by_both(content, data)
        if is_error(own) and is_error(modules):
            same = own.kind == modules.kind or "zstd" in own.message
        else:
            same = own == modules or (is_error(own) and "zstd" in own.message)
        expect(same, f"input {number}: {own!r:.80}, with modules {modules!r:.80}")
        seen["files refused" if is_error(own) else "files accepted"] += 1


def claims(corpus):
    """Frames that are whole but not alone, empty, or of another size."""
    sizes = [found for found in corpus.payloads if len(found[0]) > 20][:5]
    for stored, plain in sizes:
        for data, size in ((stored + b"\0", len(plain)), (stored + stored, 2 * len(plain)),
                           (stored[:-1], len(plain)), (stored, len(plain) - 1),
                           (stored, len(plain) + 1), (stored, 0), (b"", 0), (b"", 5),
                           (b"\x50\x2a\x4d\x18\0\0\0\0" + stored, len(plain))):
            for codecs in (OWN, MODULES):
                expect(is_error(outcome(codecs[1], data, size)), f"{data[:20]} as {size} bytes")
    empty = b"\x28\xb5\x2f\xfd\x20\x00\x01\x00\x00"
    expect(OWN[1](empty, 0) == MODULES[1](empty, 0) == b"", "an empty frame")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--corpus", required=True, nargs="+", type=pathlib.Path)
    parser.add_argument("--inputs", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    expect(codec.xxhash and codec.zstandard, "this Python has not both modules")
    expect((codec.xxh3_64, codec.decompress) == MODULES, "the modules are not used")
    paths = sorted(path for folder in options.corpus for path in folder.glob("*.cham*"))
    damage = Mutants(options.seed, [path.read_bytes() for path in paths], codec)
    damage.payloads = [(stored, plain) for stored, plain in damage.payloads if stored != plain]
    checksums(random.Random(options.seed))
    whole(paths)
    claims(damage)
    seen = collections.Counter()
    frames(damage, options.inputs, seen)
    files(damage, options.inputs // 4, seen)
    expect(min(seen[key] for key in ("refused by both", "accepted", "files refused",
                                     "files accepted")) > 10, f"too little is tested: {seen}")
    subprocess.run([sys.executable, "-c", WITHOUT, paths[0]], check=True,
                   env={"PYTHONPATH": str(PACKAGE)}, stdout=subprocess.DEVNULL)
    print(f"{len(paths)} traces; {dict(seen)}")


if __name__ == "__main__":
    main()
