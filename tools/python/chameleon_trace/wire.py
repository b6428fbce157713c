# SPDX-License-Identifier: BSD-3-Clause
"""Elements of the format, read from bytes; docs/reference/format.md, "Elements"."""

from .errors import TraceError, corrupt

ITEM, NUMBER = 200, 40  # bytes of memory of an object, and of a number in a list, about


class Budget:
    """Memory that reading a trace may take for what the trace says: known before it is taken."""

    __slots__ = ("left",)

    def __init__(self, left):
        self.left = left

    def take(self, items, size):
        self.left -= items * size
        if self.left < 0:
            raise TraceError("too-large", "too large: what it says takes more memory than the limit")


class Reader:
    """Reads forward from `at` to `end`; past that it raises."""

    __slots__ = ("data", "at", "end", "decoded", "budget")

    def __init__(self, data, at=0, end=None, budget=None):
        self.budget = budget
        self.data = data
        self.at = at
        self.end = len(data) if end is None else end
        self.decoded = 0  # steps of decoding coded values

    def left(self):
        return self.end - self.at

    def u8(self):
        if self.at >= self.end:
            raise corrupt("a section ends too early")
        self.at += 1
        return self.data[self.at - 1]

    def u64(self):
        return int.from_bytes(self.raw(8), "little")

    def raw(self, size):
        if size > self.end - self.at:
            raise corrupt("a section ends too early")
        self.at += size
        return self.data[self.at - size:self.at]

    def varint(self):
        data, at, end = self.data, self.at, self.end
        if at < end and data[at] < 0x80:  # most are
            self.at = at + 1
            return data[at]
        value = shift = 0
        while at < end:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                if value >> 64:
                    break
                self.at = at
                return value
            shift += 7
            if shift > 63:
                break
        raise corrupt("a number does not end")

    def svarint(self):
        value = self.varint()
        return (value >> 1) ^ -(value & 1)

    def count(self, least=1):
        """A number of items of at least `least` bytes each, so at most what is left."""
        value = self.varint()
        if value * least > self.end - self.at:
            raise corrupt("a count is larger than the data")
        self.take(value, ITEM)
        return value

    def take(self, items, size):
        if self.budget is not None:
            self.budget.take(items, size)

    def text(self):
        return bytes(self.raw(self.varint())).decode("utf-8", "replace")


def wrap(value):
    """The signed 64-bit number that is congruent."""
    return (value + (1 << 63) & (1 << 64) - 1) - (1 << 63)
