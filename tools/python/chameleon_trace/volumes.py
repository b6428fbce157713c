# SPDX-License-Identifier: BSD-3-Clause
"""What a rank sends and receives in a collective: the data movement of MPI 4.0, chapter 6, as the
MPI table describes it for each call. A rank's own block counts, in place or not; a broadcast's root
only sends. What is not known counts nothing.
"""

from collections import namedtuple

from .nodes import SpecialRank
from .payload import ARRAY

# root: world rank or None; moves: False for what moves no data
Collective = namedtuple("Collective", "kind sent received root moves")
Role = namedtuple("Role", "takes_part is_root root")

IN_PLACE = 1


class _Blocks:
    """The blocks of one side: a count and a type, or some for each partner."""

    def __init__(self, event, names, amount):
        self.amount = amount
        self.in_place = event.get(names[0]) == IN_PLACE
        self.counts = event.get(names[1], 0)
        self.types = event.get(names[2], 0)
        stored = {field.name for field in event.call.fields if field.stored == ARRAY}
        self.many = names[1] in stored
        self.many_types = names[2] in stored
        if self.many:
            self.counts = self.counts or ()
        if self.many_types:
            self.types = self.types or ()

    def bytes(self, i):
        if self.many and i >= len(self.counts) or self.many_types and i >= len(self.types):
            return 0
        return self.amount(self.counts[i] if self.many else self.counts,
                           self.types[i] if self.many_types else self.types)

    def sum(self, n):
        return sum(map(self.bytes, range(n))) if self.many else n * self.bytes(0)


def role_of(event, comm, rank):
    """The part that a rank takes in a rooted collective."""
    if "root" not in event:
        return Role(True, False, None)
    root = event["root"]
    if root == SpecialRank.ROOT:
        return Role(True, True, rank)
    if root is None or root < 0:
        return Role(False, False, None)
    return Role(True, not comm.is_inter and root == comm.rank,
                comm.peers[root] if root < len(comm.peers) else None)


def _sent(info, comm, role, send, receive):
    source, to, part = info.moves
    if source == "root" and not role.is_root:
        return 0
    if to == "root" and comm.is_inter and role.is_root:
        return 0  # it is not one of those who send to it
    if "reduction" in info.attributes:
        return send.sum(comm.size) if part == "block" else send.bytes(0)
    if part == "whole":
        return receive.bytes(comm.rank) if send.in_place else send.bytes(0)
    return (receive if send.in_place else send).sum(len(comm.peers))


def _received(info, comm, role, send, receive):
    source, to, part = info.moves
    if to == "root" and not role.is_root:
        return 0
    if source == "root":
        if role.is_root and (part == "whole" or comm.is_inter):
            return 0
        return send.bytes(comm.rank) if receive.in_place else receive.bytes(0)
    return receive.bytes(comm.rank) if "reduction" in info.attributes else receive.sum(len(comm.peers))


def collective(event, comm, rank, info, amount):
    """The collective of an event; `amount(count, type)` gives bytes."""
    role = role_of(event, comm, rank)
    if not role.takes_part:
        return Collective("begin", 0, 0, None, True)
    send = _Blocks(event, info.sent, amount)
    receive = _Blocks(event, info.received, amount)
    return Collective("begin", _sent(info, comm, role, send, receive),
                      _received(info, comm, role, send, receive), role.root, True)
