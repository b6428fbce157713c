# SPDX-License-Identifier: BSD-3-Clause
"""How long receivers waited for each sender; docs/reference/format.md, section 23."""

from collections import defaultdict, namedtuple

from .errors import corrupt
from .facts import packed, sequence
from .values import decode_ns

MOST, COLUMNS, SIZES = 1 << 13, 7, 64
MOST_NUMBER, MOST_STREAM, MOST_SUM = 1 << 48, (1 << 32) - 1, (1 << 64) - 1
MOST_CODE = 1024 + 1024 * (62 - 10)  # of 2^62 ns

PairAccount = namedtuple("PairAccount", "stream source size messages ns longest_ns longest_event")
PairAccount.__doc__ = """The time that a stream was in the calls that completed its receives from a
rank: `messages` of `size` bits of bytes, 2^(size - 1) to 2^size - 1 bytes. The longest receive
took `longest_ns` and was completed by event `longest_event`, a number in the stream."""
Others = namedtuple("Others", "messages ns")
Others.__doc__ = "Receives that have no account."
NO_OTHERS = Others(0, 0)


def read_pair_accounts(reader, world_size):
    """(accounts by stream, source and size; others)."""
    others = Others(reader.varint(), reader.varint())
    count = reader.varint()
    if count > MOST or (count and not world_size):
        raise corrupt("there are too many pair accounts")
    if not count and others == NO_OTHERS:
        raise corrupt("the table of pair accounts is empty")
    columns = []
    for _ in range(COLUMNS):
        how = reader.u8()
        if how > 1:
            raise corrupt("a column of pair accounts is of an unknown kind")
        columns.append(list((packed if how else sequence)(reader, count)))
        if any(not 0 <= number <= MOST_NUMBER for number in columns[-1]):
            raise corrupt("a number of a pair account is out of range")
    found, stream = [], 0
    for streams, distance, size, messages, ns, longer, event in zip(*columns):
        stream += streams
        if stream > MOST_STREAM or distance >= world_size or size >= SIZES or not messages or \
                ns > MOST_CODE or longer > ns or not event:
            raise corrupt("a number of a pair account is out of range")
        one = PairAccount(stream, (stream + distance) % world_size, size, messages,
                          decode_ns(ns, 10), decode_ns(ns - longer, 10), event)
        if found and one[:3] <= found[-1][:3]:
            raise corrupt("pair accounts are out of order")
        found.append(one)
    return found, others


def joined_pair_accounts(before, more):
    """Of two tables, of which either may be None; of a stream in both, the later accounts hold."""
    if before is None or more is None:
        return more if before is None else before
    streams = {one.stream for one in more[0]}
    found = [one for one in before[0] if one.stream not in streams] + more[0]
    others = [min(a + b, MOST_SUM) for a, b in zip(before[1], more[1])]
    if len(found) > MOST:
        found = _limited(found, others)
    return sorted(found), Others(*others)


def _limited(found, others):
    """Whole pairs, those that waited longest, up to the first that does not fit."""
    pairs = defaultdict(list)
    for one in sorted(found):
        pairs[one.stream, one.source].append(one)
    kept, full = [], False
    for accounts in sorted(pairs.values(), key=lambda accounts: -sum(one.ns for one in accounts)):
        full = full or len(kept) + len(accounts) > MOST
        if not full:
            kept += accounts
            continue
        for one in accounts:
            others[0] = min(others[0] + one.messages, MOST_SUM)
            others[1] = min(others[1] + one.ns, MOST_SUM)
    return kept
