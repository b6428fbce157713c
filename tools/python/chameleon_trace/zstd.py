# SPDX-License-Identifier: BSD-3-Clause
"""Decompression of one Zstandard frame (RFC 8878), without dictionaries.

A few megabytes a second: enough for traces, which are small, where the module zstandard is not
installed; tests hold that module against this one. The frame's own checksum is not looked at,
because the commit around it has one. Hostile input raises TraceError; memory stays within the size
the caller gives.
"""

from .errors import corrupt

MAGIC = b"\x28\xb5\x2f\xfd"
MOST_BLOCK = 1 << 17
MOST_HUFFMAN_BITS = 11


def _extra(first, bits):
    """(base, extra bits) of codes whose ranges follow each other."""
    codes, base = [], first
    for count in bits:
        codes.append((base, count))
        base += 1 << count
    return codes


LITERAL_CODES = _extra(0, [0] * 16 + [1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14,
                                      15, 16])
MATCH_CODES = _extra(3, [0] * 32 + [1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14,
                                    15, 16])
OFFSET_CODES = [(1 << n, n) for n in range(32)]
LITERAL_DEFAULT = ([4, 3] + [2] * 11 + [1] * 3 + [2] * 9 + [3, 2] + [1] * 5 + [-1] * 4, 6)
MATCH_DEFAULT = ([1, 4, 3] + [2] * 6 + [1] * 37 + [-1] * 7, 6)
OFFSET_DEFAULT = ([1] * 6 + [2] * 3 + [1] * 15 + [-1] * 5, 5)


def _fse_table(weights, log):
    """For each state: its symbol, bits to read, base of the next state."""
    size = 1 << log
    symbols, following, high = [0] * size, list(weights), size
    for symbol, weight in enumerate(weights):
        if weight == -1:
            high -= 1
            symbols[high] = symbol
            following[symbol] = 1
    step, place = (size >> 1) + (size >> 3) + 3, 0
    for symbol, weight in enumerate(weights):
        for _ in range(weight):
            symbols[place] = symbol
            place = (place + step) & (size - 1)
            while place >= high:
                place = (place + step) & (size - 1)
    if place != 0:
        raise corrupt("zstd: a table of states does not fill")
    bits, bases = [], []
    for symbol in symbols:
        state = following[symbol]
        following[symbol] += 1
        count = log + 1 - state.bit_length()
        bits.append(count)
        bases.append((state << count) - size)
    return symbols, bits, bases, log


def _read_weights(data, at, end, most_log, most_symbols):
    """The normalized weights of a table and where they end."""
    number, used = int.from_bytes(data[at:min(end, at + 512)], "little"), 0

    def take(count):
        nonlocal used
        used += count
        return number >> (used - count) & ((1 << count) - 1)

    log = take(4) + 5
    if log > most_log:
        raise corrupt("zstd: a table of states is too large")
    weights, left = [], 1 << log
    while left > 0:
        if len(weights) >= most_symbols:
            raise corrupt("zstd: a table of states has too many symbols")
        count = (left + 1).bit_length()
        value = take(count)
        low = (1 << (count - 1)) - 1
        spare = (1 << count) - 2 - left
        if value & low < spare:
            used -= 1
            value &= low
        elif value > low:
            value -= spare
        weights.append(value - 1)
        left -= abs(value - 1)
        while value == 1:
            zeros = take(2)
            weights += [0] * zeros
            if zeros != 3:
                break
            if len(weights) > most_symbols:
                raise corrupt("zstd: a table of states has too many symbols")
    at += (used + 7) // 8
    if left < 0 or at > end or len(weights) > most_symbols:
        raise corrupt("zstd: a table of states is damaged")
    return weights, log, at


PAD = 16  # zero bytes before a stream, so that no read begins before it


def _backward(data, at, end):
    """A stream that is read from its end: bytes after PAD zeros, and the number of bits."""
    if end <= at or data[end - 1] == 0:
        raise corrupt("zstd: a stream has no end")
    return (bytes(PAD) + bytes(data[at:end]),
            8 * (PAD + end - at) - 9 + data[end - 1].bit_length())


def _huffman_weights_fse(data, at, end):
    weights, log, at = _read_weights(data, at, end, 6, 256)
    symbols, bits, bases, _ = _fse_table(weights, log)
    stream, left = _backward(data, at, end)
    number = int.from_bytes(stream, "little")
    least = 8 * PAD

    def take(count):
        nonlocal left
        left -= count
        return number >> left & ((1 << count) - 1)

    result, states = [], [take(log), take(log)]
    if left < least:
        raise corrupt("zstd: the weights of a Huffman code are cut")
    while True:
        for turn in (0, 1):
            state = states[turn]
            result.append(symbols[state])
            if len(result) > 255:
                raise corrupt("zstd: a Huffman code has too many symbols")
            if left - bits[state] < least:
                result.append(symbols[states[1 - turn]])
                return result
            states[turn] = bases[state] + take(bits[state])


def _huffman_table(data, at, end):
    """(symbol of each code padded to the longest, its bits, the longest) and the end."""
    if at >= end:
        raise corrupt("zstd: a Huffman code is cut")
    head = data[at]
    at += 1
    if head < 128:
        stop = at + head
        if stop > end:
            raise corrupt("zstd: a Huffman code is cut")
        weights = _huffman_weights_fse(data, at, stop)
    else:
        count = head - 127
        stop = at + (count + 1) // 2
        if stop > end:
            raise corrupt("zstd: a Huffman code is cut")
        weights = [half for byte in data[at:stop] for half in (byte >> 4, byte & 15)][:count]
    if max(weights, default=0) > MOST_HUFFMAN_BITS:
        raise corrupt("zstd: a Huffman code is too long")
    total = sum(1 << weight >> 1 for weight in weights)
    if total == 0:
        raise corrupt("zstd: a Huffman code has no symbols")
    longest = total.bit_length()
    rest = (1 << longest) - total
    if longest > MOST_HUFFMAN_BITS or rest & (rest - 1):
        raise corrupt("zstd: a Huffman code is not complete")
    weights.append(rest.bit_length())
    symbols, bits = [], []
    for weight in range(1, longest + 1):
        for symbol, its in enumerate(weights):
            if its == weight:
                symbols += [symbol] * (1 << (weight - 1))
                bits += [longest + 1 - weight] * (1 << (weight - 1))
    if len(symbols) != 1 << longest:
        raise corrupt("zstd: a Huffman code is not complete")
    return (symbols, bits, longest), stop


def _huffman_stream(table, data, at, end, count, out):
    symbols, bits, longest = table
    stream, left = _backward(data, at, end)
    mask = (1 << longest) - 1
    append = out.append
    while count:
        byte = (left >> 3) - 7
        if byte < PAD - 8:
            raise corrupt("zstd: a stream of literals is cut")
        word = int.from_bytes(stream[byte:byte + 8], "little")
        have = left - 8 * byte
        while have >= longest and count:
            code = word >> (have - longest) & mask
            append(symbols[code])
            have -= bits[code]
            count -= 1
        left = 8 * byte + have
    if left != 8 * PAD:
        raise corrupt("zstd: a stream of literals has another length")


class _Frame:
    def __init__(self, data, size):
        self.data = data
        self.size = size
        self.out = bytearray()
        self.huffman = None
        self.tables = [None, None, None]
        self.offsets = [1, 4, 8]

    def room(self, count):
        if count > self.size - len(self.out):
            raise corrupt("zstd: it becomes larger than it claims")

    def block(self, at, end):
        literals, at = self.literals(at, end)
        self.sequences(literals, at, end)

    def literals(self, at, end):
        data = self.data
        kind, form = data[at] & 3, data[at] >> 2 & 3
        if kind < 2:
            size = (1, 2, 1, 3)[form]
            count = int.from_bytes(data[at:at + size], "little") >> (3, 4, 3, 4)[form]
            at += size
            if count > MOST_BLOCK or at + (1 if kind else count) > end:
                raise corrupt("zstd: literals are cut")
            if kind == 1:
                return bytes(data[at:at + 1]) * count, at + 1
            return bytes(data[at:at + count]), at + count
        size, width = ((3, 10), (3, 10), (4, 14), (5, 18))[form]
        head = int.from_bytes(data[at:at + size], "little") >> 4
        count, stored = head & ((1 << width) - 1), head >> width & ((1 << width) - 1)
        at += size
        stop = at + stored
        if count > MOST_BLOCK or stop > end:
            raise corrupt("zstd: literals are cut")
        if kind == 2:
            self.huffman, at = _huffman_table(data, at, stop)
        if self.huffman is None:
            raise corrupt("zstd: literals refer to a Huffman code that is not there")
        out = []
        if form == 0:
            _huffman_stream(self.huffman, data, at, stop, count, out)
            return bytes(out), stop
        sizes = [int.from_bytes(data[at + i:at + i + 2], "little") for i in (0, 2, 4)]
        at += 6
        sizes.append(stop - at - sum(sizes))
        each = (count + 3) // 4
        if sizes[3] < 1 or 3 * each > count:
            raise corrupt("zstd: literals are cut")
        for size, part in zip(sizes, (each, each, each, count - 3 * each)):
            _huffman_stream(self.huffman, data, at, at + size, part, out)
            at += size
        return bytes(out), stop

    def table(self, which, mode, at, end, default, most_log, codes):
        if mode == 0:
            self.tables[which] = _fse_table(*default)
        elif mode == 1:
            if at >= end or self.data[at] >= codes:
                raise corrupt("zstd: a code is damaged")
            self.tables[which] = ([self.data[at]], [0], [0], 0)
            at += 1
        elif mode == 2:
            weights, log, at = _read_weights(self.data, at, end, most_log, codes)
            self.tables[which] = _fse_table(weights, log)
        elif self.tables[which] is None:
            raise corrupt("zstd: a table that is not there is repeated")
        return at

    def sequences(self, literals, at, end):
        data, out = self.data, self.out
        if at >= end:
            raise corrupt("zstd: a block is cut")
        count = data[at]
        at += 1
        if count == 0:
            if at != end:
                raise corrupt("zstd: a block does not end")
            self.room(len(literals))
            out += literals
            return
        if count >= 128:
            more = 2 if count == 255 else 1
            if at + more > end:
                raise corrupt("zstd: a block is cut")
            if count == 255:
                count = int.from_bytes(data[at:at + 2], "little") + 0x7F00
            else:
                count = (count - 128 << 8) + data[at]
            at += more
        if at >= end or data[at] & 3:
            raise corrupt("zstd: a block is damaged")
        modes = data[at]
        at += 1
        at = self.table(0, modes >> 6, at, end, LITERAL_DEFAULT, 9, len(LITERAL_CODES))
        at = self.table(1, modes >> 4 & 3, at, end, OFFSET_DEFAULT, 8, len(OFFSET_CODES))
        at = self.table(2, modes >> 2 & 3, at, end, MATCH_DEFAULT, 9, len(MATCH_CODES))
        self.copy(literals, count, _backward(data, at, end))

    def copy(self, literals, count, backward):
        """Carries out the sequences: literals, then a match in what is there already."""
        (l_symbols, l_bits, l_bases, l_log), (o_symbols, o_bits, o_bases, o_log), \
            (m_symbols, m_bits, m_bases, m_log) = self.tables
        stream, left = backward
        out, at = self.out, 0
        first, second, third = self.offsets
        start = max(len(stream) - 8, 0)
        number = int.from_bytes(stream[start:], "little")
        shift = left - 8 * start

        def take(bits):
            nonlocal shift
            shift -= bits
            return number >> shift & ((1 << bits) - 1)

        l_state, o_state, m_state = take(l_log), take(o_log), take(m_log)
        left -= l_log + o_log + m_log
        for turn in range(count, 0, -1):
            if left < 8 * PAD:
                raise corrupt("zstd: a stream of sequences is cut")
            # One piece of at least 96 bits holds all a sequence may take, 89.
            byte = (left >> 3) - 12
            number = int.from_bytes(stream[byte:byte + 13], "little")
            have = left - 8 * byte
            offset_code = o_symbols[o_state]
            have -= offset_code
            offset = (1 << offset_code) + (number >> have & ((1 << offset_code) - 1))
            base, bits = MATCH_CODES[m_symbols[m_state]]
            have -= bits
            match = base + (number >> have & ((1 << bits) - 1))
            base, bits = LITERAL_CODES[l_symbols[l_state]]
            have -= bits
            length = base + (number >> have & ((1 << bits) - 1))
            if turn > 1:
                bits = l_bits[l_state]
                have -= bits
                l_state = l_bases[l_state] + (number >> have & ((1 << bits) - 1))
                bits = m_bits[m_state]
                have -= bits
                m_state = m_bases[m_state] + (number >> have & ((1 << bits) - 1))
                bits = o_bits[o_state]
                have -= bits
                o_state = o_bases[o_state] + (number >> have & ((1 << bits) - 1))
            left = 8 * byte + have
            if offset > 3:
                first, second, third = offset - 3, first, second
            else:
                if length == 0:
                    offset += 1
                if offset == 2:
                    first, second = second, first
                elif offset == 3:
                    first, second, third = third, first, second
                elif offset == 4:
                    first, second, third = first - 1, first, second
            self.room(length + match)
            out += literals[at:at + length]
            at += length
            start = len(out) - first
            if start < 0 or first == 0 or at > len(literals):
                raise corrupt("zstd: a match begins before the data")
            if first >= match:
                out += out[start:start + match]
            else:
                out += (out[start:] * (match // first + 1))[:match]
        if left != 8 * PAD:
            raise corrupt("zstd: a stream of sequences has another length")
        self.room(len(literals) - at)
        out += literals[at:]
        self.offsets = [first, second, third]


def decompress(data, size):
    """The content of the one frame in `data`, which must be `size` bytes."""
    frame = _Frame(data, size)
    try:
        for kind, at, stored, count in _blocks(data, size):
            if kind == 2:
                frame.block(at, at + stored)
            else:
                frame.room(count)
                frame.out += bytes(data[at:at + 1]) * count if kind else data[at:at + count]
    except IndexError:  # reading past the end of the data
        raise corrupt("zstd: the data is cut") from None
    if len(frame.out) != size:
        raise corrupt("zstd: the frame has another size")
    return bytes(frame.out)


def check_frame(data, size):
    """Raises unless `data` is one whole frame that does not claim to be other than `size` bytes.
    What is in its blocks is not looked at."""
    try:
        for _ in _blocks(data, size):
            pass
    except IndexError:
        raise corrupt("zstd: the data is cut") from None


def _blocks(data, size):
    """(kind, place, bytes there, bytes it stands for unless compressed) of the frame's blocks."""
    if bytes(data[:4]) != MAGIC:
        raise corrupt("zstd: not a frame")
    head = data[4]
    single = head >> 5 & 1
    at = 5 if single else 6
    identity = (0, 1, 2, 4)[head & 3]
    if head & 8 or any(data[at:at + identity]):
        raise corrupt("zstd: a frame with a dictionary or from the future")
    at += identity
    width = (single, 2, 4, 8)[head >> 6]
    if width and int.from_bytes(data[at:at + width], "little") + 256 * (width == 2) != size:
        raise corrupt("zstd: the frame has another size")
    at += width
    last = 0
    while not last:
        if at + 3 > len(data):
            raise corrupt("zstd: the data is cut")
        block = int.from_bytes(data[at:at + 3], "little")
        last, kind, count = block & 1, block >> 1 & 3, block >> 3
        at += 3
        stored = 1 if kind == 1 else count
        if kind == 3 or at + stored > len(data) or count > MOST_BLOCK:
            raise corrupt("zstd: a block is damaged")
        yield kind, at, stored, count
        at += stored
    if head & 4:
        at += 4
    if at != len(data):
        raise corrupt("zstd: the frame has another size")
