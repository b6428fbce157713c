# SPDX-License-Identifier: BSD-3-Clause
"""XXH3, 64 bits, seed 0 (Collet, xxhash.com): checksums of commits, content hashes of arrays.

About 15 MB a second. Arithmetic is modulo 2^64; what may grow beyond that is cut where it matters.
"""

import struct

SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1c"
    "ded46de9839097db7240a4a4b7b3671f"
    "cb79e64eccc0e578825ad07dccff7221"
    "b8084674f743248ee03590e6813a264c"
    "3c2852bb91c300cb88d0658b1b532ea3"
    "71644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d"
    "8a51e04bcdb45931c89f7ec9d9787364"
    "eac5ac8334d3ebc3c581a0fffa1363eb"
    "170ddd51b7f0da49d316552629d4689e"
    "2b16be587d47a1fc8ff8b8d17ad031ce"
    "45cb3a8f95160428afd7fbcabb4b407e"
)

MASK = (1 << 64) - 1
P32_1, P32_2, P32_3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
P64_1, P64_2, P64_3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
P64_4, P64_5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5

STRIPE = 64
STRIPES_A_BLOCK = (len(SECRET) - STRIPE) // 8
_LANES = struct.Struct("<8Q")
_KEYS = [_LANES.unpack_from(SECRET, 8 * i) for i in range(STRIPES_A_BLOCK)]
_SCRAMBLE = _LANES.unpack_from(SECRET, len(SECRET) - STRIPE)
_LAST = _LANES.unpack_from(SECRET, len(SECRET) - STRIPE - 7)


def _u32(data, at):
    return int.from_bytes(data[at:at + 4], "little")


def _u64(data, at):
    return int.from_bytes(data[at:at + 8], "little")


def _swap(value, size):
    return int.from_bytes(value.to_bytes(size, "little"), "big")


def _rotate(value, by):
    return (value << by | value >> (64 - by)) & MASK


def _fold(a, b):
    product = a * b
    return (product & MASK) ^ (product >> 64)


def _avalanche(h):
    h ^= h >> 37
    h = h * 0x165667919E3779F9 & MASK
    return h ^ h >> 32


def _avalanche64(h):
    h ^= h >> 33
    h = h * P64_2 & MASK
    h ^= h >> 29
    h = h * P64_3 & MASK
    return h ^ h >> 32


def _mix16(data, at, key):
    return _fold(_u64(data, at) ^ _u64(SECRET, key), _u64(data, at + 8) ^ _u64(SECRET, key + 8))


def _short(data, size):
    """Up to 16 bytes."""
    if size > 8:
        low = _u64(data, 0) ^ _u64(SECRET, 24) ^ _u64(SECRET, 32)
        high = _u64(data, size - 8) ^ _u64(SECRET, 40) ^ _u64(SECRET, 48)
        return _avalanche((size + _swap(low, 8) + high + _fold(low, high)) & MASK)
    if size >= 4:
        h = (_u32(data, size - 4) + (_u32(data, 0) << 32)) ^ _u64(SECRET, 8) ^ _u64(SECRET, 16)
        h ^= _rotate(h, 49) ^ _rotate(h, 24)
        h = h * 0x9FB21C651E98DF25 & MASK
        h ^= (h >> 35) + size
        h = h * 0x9FB21C651E98DF25 & MASK
        return h ^ h >> 28
    if size:
        combined = data[0] << 16 | data[size >> 1] << 24 | data[size - 1] | size << 8
        return _avalanche64(combined ^ _u32(SECRET, 0) ^ _u32(SECRET, 4))
    return _avalanche64(_u64(SECRET, 56) ^ _u64(SECRET, 64))


def _middle(data, size):
    """17 to 240 bytes."""
    h = size * P64_1
    if size <= 128:
        for i in range((size - 1) // 32, -1, -1):
            h += _mix16(data, 16 * i, 32 * i) + _mix16(data, size - 16 * (i + 1), 32 * i + 16)
        return _avalanche(h & MASK)
    for i in range(8):
        h += _mix16(data, 16 * i, 16 * i)
    h = _avalanche(h & MASK)
    for i in range(8, size // 16):
        h += _mix16(data, 16 * i, 16 * (i - 8) + 3)
    return _avalanche(h + _mix16(data, size - 16, 136 - 17) & MASK)


def _accumulate(acc, lanes, key):
    a, b, c, d, e, f, g, h = lanes
    k0, k1, k2, k3, k4, k5, k6, k7 = key
    a0, a1, a2, a3, a4, a5, a6, a7 = acc
    k0 ^= a
    k1 ^= b
    k2 ^= c
    k3 ^= d
    k4 ^= e
    k5 ^= f
    k6 ^= g
    k7 ^= h
    low = 0xFFFFFFFF
    return (a0 + b + (k0 & low) * (k0 >> 32), a1 + a + (k1 & low) * (k1 >> 32),
            a2 + d + (k2 & low) * (k2 >> 32), a3 + c + (k3 & low) * (k3 >> 32),
            a4 + f + (k4 & low) * (k4 >> 32), a5 + e + (k5 & low) * (k5 >> 32),
            a6 + h + (k6 & low) * (k6 >> 32), a7 + g + (k7 & low) * (k7 >> 32))


def _long(data, size):
    acc = (P32_3, P64_1, P64_2, P64_3, P64_4, P32_2, P64_5, P32_1)
    stripes = (size - 1) // STRIPE
    place = 0
    for lanes in _LANES.iter_unpack(memoryview(data)[:stripes * STRIPE]):
        acc = _accumulate(acc, lanes, _KEYS[place])
        place += 1
        if place == STRIPES_A_BLOCK:
            place = 0
            acc = [a & MASK for a in acc]
            acc = tuple((a ^ a >> 47 ^ key) * P32_1 & MASK for a, key in zip(acc, _SCRAMBLE))
    acc = [a & MASK for a in _accumulate(acc, _LANES.unpack_from(data, size - STRIPE), _LAST)]
    h = size * P64_1
    for i in range(4):
        h += _fold(acc[2 * i] ^ _u64(SECRET, 11 + 16 * i),
                   acc[2 * i + 1] ^ _u64(SECRET, 19 + 16 * i))
    return _avalanche(h & MASK)


def xxh3_64(data):
    """The hash of some bytes, as an unsigned number."""
    size = len(data)
    if size <= 16:
        return _short(data, size)
    if size <= 240:
        return _middle(data, size)
    return _long(data, size)
