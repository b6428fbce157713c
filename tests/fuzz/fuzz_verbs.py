#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Damages what is behind the checksums of traces, makes the checksums right again, and gives the
mutants to every verb and to both readers: each ends in time, within bounds on memory, with a status
and one line, and never by a signal.

    fuzz_verbs.py --chameleon COMMAND --python FOLDER --corpus FOLDER --mutants N [--seed S]
"""

import argparse
import itertools
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

SECONDS, MEMORY = 60, 3 << 30  # of a verb
STATUSES = {0, 1, 2, 3, 4}
HEADER, FRAME = 16, 40
FORMATS = ("csv", "json", "folded", "speedscope", "chrome", "perfetto", "otf2", "simgrid", "paje",
           "paraver", "goal")
VERBS = [["info"], ["info", "--json"], ["summary"], ["print"], ["print", "--rank", "0", "--expand"],
         ["stats"], ["stats", "--json"], ["stats", "--waits"], ["series"], ["sample"], ["check"],
         ["matrix"], ["pairs"], ["patterns"], ["phases"], ["critical"], ["efficiency"], ["slow"],
         ["whatif"], ["cluster"], ["compare", "TRACE"], ["report", "-o", "OUT.html"],
         ["recover", "-o", "OUT.cham"], ["redact", "-o", "OUT.cham"], ["verify", "--raw", "."],
         *(["export", f"--{name}", "OUT." + name] for name in FORMATS)]


def payload_of(data, codec):
    """The plain payload of the first commit."""
    stored = int.from_bytes(data[HEADER + 8:HEADER + 16], "little")
    plain = int.from_bytes(data[HEADER + 16:HEADER + 24], "little")
    body = data[HEADER + FRAME:HEADER + FRAME + stored]
    return codec.decompress(body, plain) if data[HEADER + 4] & 1 else bytes(body)


def file_of(head, payload, codec):
    """A trace of one commit with right checksums."""
    frame = b"CMT1" + bytes(4) + len(payload).to_bytes(8, "little") * 2
    frame += codec.xxh3_64(payload).to_bytes(8, "little")
    return head + frame + codec.xxh3_64(frame).to_bytes(8, "little") + payload


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def sections(payload):
    """[tag, body] of a sound payload."""
    found, at = [], 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = payload[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(payload):
        tag, size = number(), number()
        found.append([tag, payload[at:at + size]])
        at += size
    return found


def damage(random_, payload, other):
    """A mutant, of which the lengths of the sections mostly are right."""
    parts = sections(payload)
    for _ in range(random_.randint(1, 4)):
        part = random_.choice(parts)
        body = bytearray(part[1])
        at = random_.randrange(len(body) + 1)
        kind = random_.randrange(8)
        if kind == 0 and at < len(body):
            body[at] ^= 1 << random_.randrange(8)
        elif kind == 1 and at < len(body):
            body[at] = random_.choice((0, 1, 2, 0x7F, 0x80, 0xFE, 0xFF))
        elif kind == 2:
            body[at:at + 1] = varint(random_.getrandbits(64) >> random_.randrange(64))
        elif kind == 3:
            del body[at:at + random_.randint(1, 16)]
        elif kind == 4:
            body[at:at] = random_.randbytes(random_.randint(1, 4))
        elif kind == 5:
            begin = random_.randrange(max(len(other), 1))
            body[at:at] = other[begin:begin + random_.randint(1, 64)]
        elif kind == 6:
            body[at:at] = body[:random_.randint(0, 64)]
        else:
            parts.insert(random_.randrange(len(parts) + 1), list(random_.choice(parts)))
        part[1] = bytes(body)
    out = b"".join(varint(tag) + varint(len(body)) + body for tag, body in parts)
    return out if random_.randrange(8) else out[:random_.randrange(len(out) + 1)]


def limit():
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Late(Exception):
    pass


def read_in_python(reader, data):
    """All that the Python reader says of a mutant, as far as it goes."""
    def alarm(*_):
        raise Late

    signal.signal(signal.SIGALRM, alarm)
    signal.alarm(SECONDS)
    try:
        trace = reader.parse_trace(data)
        for rank in itertools.islice(trace.ranks, 2):
            for _ in itertools.islice(trace.events(rank), 200):
                pass
        for table in ("calls", "messages", "clusters", "phases", "series", "loops", "sites"):
            for _ in itertools.islice(trace.rows(table), 50):
                pass
        if trace.threads == 1:
            trace.timeline(list(itertools.islice(trace.ranks, 2)), most_events=2000)._repr_html_()
        str(trace), trace._repr_html_()
    except (reader.TraceError, ValueError):
        pass
    finally:
        signal.alarm(0)


def main():
    parser = argparse.ArgumentParser()
    for option in ("--chameleon", "--python", "--corpus"):
        parser.add_argument(option, required=True)
    parser.add_argument("--mutants", type=int, required=True)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    sys.path.insert(0, options.python)
    import chameleon_trace as reader
    from chameleon_trace import codec

    files = [path.read_bytes() for path in sorted(pathlib.Path(options.corpus).glob("*.cham"))]
    payloads = [payload_of(data, codec) for data in files]
    if len(payloads) < 10:
        sys.exit("fuzz_verbs: the corpus is not there")
    random_ = random.Random(options.seed)
    verbs = itertools.cycle(VERBS)
    findings, accepted = 0, 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)

        def finding(what, data):
            nonlocal findings
            findings += 1
            kept = pathlib.Path(f"mutant-{options.seed}-{findings}.cham")
            kept.write_bytes(data)
            print(f"fuzz_verbs: seed {options.seed}: {what}; kept as {kept.resolve()}", flush=True)

        def run(verb, data):
            """The status of a verb; None and a finding if it ends otherwise."""
            words = [options.chameleon, verb[0], "in.cham",
                     *(word.replace("TRACE", "in.cham") for word in verb[1:])]
            try:
                done = subprocess.run(words, cwd=folder, capture_output=True, timeout=SECONDS,
                                      preexec_fn=limit, check=False, stdin=subprocess.DEVNULL)
            except subprocess.TimeoutExpired:
                finding(f"{' '.join(verb)} takes more than {SECONDS} s", data)
                return None
            if done.returncode not in STATUSES:
                finding(f"{' '.join(verb)}: status {done.returncode}: {done.stderr[-200:]!r}", data)
                return None
            if done.returncode > 2 and len(done.stderr.splitlines()) != 1 and verb[0] != "recover":
                finding(f"{' '.join(verb)}: not one line: {done.stderr[-200:]!r}", data)
            return done.returncode

        for number in range(options.mutants):
            which = random_.randrange(len(payloads))
            mutant = damage(random_, payloads[which], random_.choice(payloads))
            data = file_of(files[which][:HEADER], mutant, codec)
            (folder / "in.cham").write_bytes(data)
            readable = run(["info"], data) == 0
            accepted += readable
            # Of what info does not read each verb says the same, so every fourth will do.
            for _ in range(2 if readable else number % 4 == 0):
                run(next(verbs), data)
            try:
                read_in_python(reader, data)
            except Exception as error:  # whatever else it raises is a finding
                finding(f"the Python reader raises {error!r}", data)
            for made in folder.glob("OUT*"):
                shutil.rmtree(made) if made.is_dir() else made.unlink()
    print(f"{options.mutants} mutants, {accepted} readable, {findings} findings, "
          f"seed {options.seed}")
    if accepted == 0:
        sys.exit("fuzz_verbs: no mutant is readable, so little was tried")
    sys.exit(findings != 0)


if __name__ == "__main__":
    main()
