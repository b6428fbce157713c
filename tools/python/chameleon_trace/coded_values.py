# SPDX-License-Identifier: BSD-3-Clause
"""Values whose order is chance: docs/reference/format.md, "Coded values"."""

from .errors import corrupt
from .wire import NUMBER

MOST = 1 << 16
MOST_DISTINCT = 64
MOST_WORK = 1 << 22  # in a section
ONE, LEAST, SLOWEST, NARROW = 1 << 16, 64, 30, 1 << 24


class _Bits:
    """A range decoder with adaptive probabilities, each a list [of a 1, bits seen]."""

    def __init__(self, data):
        self._data = data
        self._at = 4
        self._code = int.from_bytes(data[:4].ljust(4, b"\0"), "big")
        self._range = 0xFFFFFFFF

    def next(self, model):
        one, seen = model
        bound = (self._range >> 16) * one
        bit = self._code < bound
        if bit:
            self._range = bound
            one += 2 * (ONE - one) // (2 * seen + 3)
        else:
            self._code -= bound
            self._range -= bound
            one -= 2 * one // (2 * seen + 3)
        model[0] = min(max(one, LEAST), ONE - LEAST)
        if seen < SLOWEST:
            model[1] = seen + 1
        while self._range < NARROW:
            byte = self._data[self._at] if self._at < len(self._data) else 0
            self._at += 1
            self._code = (self._code << 8 | byte) & 0xFFFFFFFF
            self._range = self._range << 8 & 0xFFFFFFFF
        return bit


def decode_coded(reader, value):
    """The values; `value()` reads one of the different ones."""
    count = reader.varint()
    distinct = reader.count()
    if not 2 <= distinct <= MOST_DISTINCT:
        raise corrupt("coded values have an impossible number of different ones")
    recent = [value() for _ in range(distinct)]
    period = reader.varint()
    data = bytes(reader.raw(reader.varint()))
    if not 2 <= count <= min(MOST, 64 + 16 * len(data)) or period > MOST_DISTINCT:
        raise corrupt("coded values are more than they can be")
    reader.decoded += count * distinct
    if reader.decoded > MOST_WORK:
        raise corrupt("a section has too many coded values")
    reader.take(count, NUMBER)
    bits = _Bits(data)
    models = [[[ONE // 2, 0] for _ in range(distinct)] for _ in range(period or distinct)]
    values, place = [], 0
    for position in range(count):
        context = models[position % period if period else place]
        place = 0
        while place < distinct - 1 and bits.next(context[place]):
            place += 1
        recent.insert(0, recent.pop(place))
        values.append(recent[0])
    return values
