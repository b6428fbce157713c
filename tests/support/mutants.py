# SPDX-License-Identifier: BSD-3-Clause
"""Damaged traces whose checksums are right, for the fuzzers of readers and verbs."""

import random

EDGES = (0, 1, 2, 3, 0x7F, 0x80, 0xFE, 0xFF)
MAGIC = b"\x89CHAM\r\n\x1a"
HEADER = MAGIC + bytes([1, 0, 1, 0, 0, 0, 0, 0])
FRAME = 40


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


class Mutants:
    """Makes them of `corpus`, the bytes of sound files. `codec` is that of the Python reader."""

    def __init__(self, seed, corpus, codec):
        self.random = random.Random(seed)
        self.codec = codec
        self.files = corpus
        self.payloads = []  # of each commit: as it is in the file, and decompressed
        self.wholes = []  # of each file
        for data in corpus:
            first = len(self.payloads)
            for mark, packed, stored, plain in self._commits(data):
                if mark != b"RPT1":
                    self.payloads.append(
                        (stored, self.codec.decompress(stored, plain) if packed else stored))
            self.wholes.append(self.payloads[first][1])

    @staticmethod
    def _commits(data):
        at = len(HEADER)
        while at + FRAME <= len(data):
            size = int.from_bytes(data[at + 8:at + 16], "little")
            yield (data[at:at + 4], data[at + 4] & 1, data[at + FRAME:at + FRAME + size],
                   int.from_bytes(data[at + 16:at + 24], "little"))
            at += FRAME + size

    def commit(self, mark, flags, stored, plain):
        head = (mark + flags.to_bytes(4, "little") + len(stored).to_bytes(8, "little") +
                plain.to_bytes(8, "little") + self.codec.xxh3_64(stored).to_bytes(8, "little"))
        return head + self.codec.xxh3_64(head).to_bytes(8, "little") + stored

    def whole(self, payload):
        """A file of one commit."""
        return HEADER + self.commit(b"CMT1", 0, payload, len(payload))

    def joined(self, payload, delta, repeats):
        """A file of a whole trace, a delta, and so many repeats of it."""
        data = self.whole(payload) + self.commit(b"DLT1", 0, delta, len(delta))
        return data + (self.commit(b"RPT1", 0, b"", repeats) if repeats else b"")

    def once(self, data, other):
        """Damages a bytearray at one place."""
        pick = self.random
        at = pick.randrange(len(data)) if data else 0
        kind = pick.randrange(10)
        if not data:
            data += b"\0"
        elif kind == 0:
            data[at] ^= 1 << pick.randrange(8)
        elif kind == 1:
            data[at] = pick.randrange(256)
        elif kind == 2:
            data[at] = pick.choice(EDGES)
        elif kind == 3:
            data[at:at] = pick.randbytes(pick.randint(1, 4))
        elif kind == 4:
            del data[at:at + pick.randrange(1, 17)]
        elif kind in (5, 6):  # a large number where a small one was
            data[at:at + 1] = varint(pick.getrandbits(64) >> pick.randrange(64))
        elif kind == 7 and other:  # a piece of another trace
            start = pick.randrange(len(other))
            data[at:at] = other[start:start + pick.randrange(1, 65)]
        elif kind == 8:  # a piece of this one once more
            start = pick.randrange(len(data))
            data[at:at] = data[start:start + pick.randrange(1, 65)]
        elif pick.randrange(8) == 0:
            del data[at:]
        else:
            to = pick.randrange(len(data))
            data[at], data[to] = data[to], data[at]

    def damaged(self, data, other, most=8):
        data = bytearray(data)
        for _ in range(self.random.randint(1, most)):
            self.once(data, other)
        return bytes(data)

    def in_sections(self, payload, other):
        """Damages a payload inside of its sections, so that most are found all the same."""
        parts = sections(payload)
        for _ in range(min(self.random.randint(1, 4), self.random.randint(1, 4))):
            part = self.random.choice(parts)
            if self.random.randrange(8) == 0:
                parts.insert(self.random.randrange(len(parts) + 1), list(part))
            else:
                part[1] = self.damaged(part[1], other, 1)
        out = b"".join(varint(tag) + varint(len(body)) + body for tag, body in parts)
        return out if self.random.randrange(16) else out[:self.random.randrange(len(out) + 1)]

    def repeats(self):
        return self.random.choice((0, 0, 0, self.random.randrange(1, 50)))

    def file_of_sections(self):
        """A file for verbs: nearly always a damaged whole trace, else a sound one with a damaged
        delta."""
        whole = self.random.choice(self.wholes)
        other = self.random.choice(self.payloads)[1]
        if self.random.randrange(8):
            return self.whole(self.in_sections(whole, other))
        delta = self.random.choice(self.payloads)[1] if self.random.randrange(4) == 0 else whole
        return self.joined(whole, self.in_sections(delta, other), self.repeats())

    def file_for_readers(self):
        """A quarter are damaged files, which checksums refuse; a quarter have a damaged compressed
        payload; the others a damaged payload as a whole trace, or as a delta and repeats of it."""
        pick = self.random
        kind = pick.randrange(8)
        if kind < 2:
            return self.damaged(pick.choice(self.files), pick.choice(self.files))
        stored, plain = pick.choice(self.payloads)
        other = pick.choice(self.payloads)
        if kind < 4:
            bad = self.damaged(stored, other[0])
            return HEADER + self.commit(b"CMT1", 1, bad, len(plain))
        bad = self.damaged(plain, other[1])
        return self.whole(bad) if kind < 7 else self.joined(plain, bad, pick.randrange(1, 5000))
