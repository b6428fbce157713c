# SPDX-License-Identifier: BSD-3-Clause
"""One rank's communicators, followed through its events, and what its requests were posted on."""

from .mpi_calls import CALLS
from .nodes import combine
from .payload import PLAIN
from .values import TIMES

WORLD_CONTEXT, SELF_CONTEXT, NO_PARENT = 1, 2, 3


class Communicator:
    """A communicator as one rank knows it: its own `rank` in it, the world ranks of its group
    (`local`) and, of an intercommunicator, of the other group (`remote`), and `context`, a number
    that is the same on all members and different for each communicator."""

    __slots__ = ("context", "rank", "local", "remote")

    def __init__(self, context, rank, local, remote=None):
        self.context = context
        self.rank = rank
        self.local = local
        self.remote = remote

    @property
    def is_inter(self):
        return self.remote is not None

    @property
    def size(self):
        return len(self.local)

    @property
    def peers(self):
        """World ranks of those whom ranks given to calls name."""
        return self.local if self.remote is None else self.remote

    @property
    def place(self):
        return self.rank, len(self.peers)


def _hash(ranks):
    value = len(ranks)
    for rank in ranks:
        value = combine(value, rank)
    return value


class CallShape:
    """Where the fields are in a call that matter for following it."""

    def __init__(self, call):
        def place(*names):
            for name in names:
                for i, field in enumerate(call.fields):
                    if field.name == name:
                        return i
            return -1

        comms = [i for i, f in enumerate(call.fields) if f.kind == "comm" and f.stored == PLAIN]
        members = [i for i, f in enumerate(call.fields) if f.kind == "members"]
        self.comm = comms[0] if comms else -1
        self.new_comm = comms[-1] if comms else -1
        self.comms = len(comms)
        self.members = members[-1] if members else -1
        info = CALLS.get(call.name)
        self.frees = bool(comms) and info is not None and "frees" in info.attributes
        self.request = place("request")
        self.requests = place("array_of_requests")
        self.index = place("indx", "index")
        self.indices = place("array_of_indices")
        self.message = place("message")
        kinds = [field.kind for field in call.fields]
        # Made by a group: the tag tells it from others of the same members.
        self.tag = place("tag") if "group" in kinds and "members" in kinds else -1
        self.sources = place("array_of_statuses.source")
        names = [field.name for field in call.fields]
        self.places = {name: i for i, name in enumerate(names)}
        # The whole call path of an event whose node has a relaxed one.
        self.path = next((i for i, field in enumerate(call.fields) if field.kind == "path"), None)
        self.timed = len(names) >= 2 and call.fields[-1].kind in TIMES


class Followed:
    """Communicators alive, and the communicator of each request and matched message."""

    def __init__(self, rank, world_size, arrays):
        self.own = rank
        self.arrays = arrays
        self.alive = {
            0: Communicator(WORLD_CONTEXT, rank, range(max(world_size, rank + 1))),
            1: Communicator(combine(SELF_CONTEXT, rank), 0, range(rank, rank + 1)),
        }
        self.requests = {}
        self.messages = {}
        self._groups = {}
        self._created = {}

    def array(self, key):
        return self.arrays.get(key, ())

    def before(self, shape, values):
        """The communicator in which the end-points of an event are ranks, or None."""
        if shape.comm >= 0:
            return self.alive.get(values[shape.comm])
        if shape.message >= 0:
            return self.messages.get(values[shape.message])
        if shape.request >= 0:
            return self.requests.get(values[shape.request])
        if shape.requests >= 0 and shape.index >= 0:
            slots, at = self.array(values[shape.requests]), values[shape.index]
            return self.requests.get(slots[at]) if 0 <= at < len(slots) else None
        return None

    def slots(self, shape, values):
        """The requests that the elements of an event's statuses are of."""
        slots = self.array(values[shape.requests]) if shape.requests >= 0 else ()
        if shape.indices < 0:
            return slots
        return [slots[i] if 0 <= i < len(slots) else -1 for i in self.array(values[shape.indices])]

    def after(self, shape, values, comm):
        """Follows an event."""
        if shape.message >= 0 and shape.comm >= 0 and comm is not None:
            self.messages[values[shape.message]] = comm
        if shape.request >= 0 and comm is not None and values[shape.request] >= 0:
            self.requests[values[shape.request]] = comm
        if shape.frees:
            if values[shape.comm] >= 2 and values[0] == 0:
                self.alive.pop(values[shape.comm], None)
        elif shape.members >= 0:
            self._create(shape, values)

    def _group(self, key):
        if key not in self._groups:
            members = self.array(key)
            bar = members.index(-1) if -1 in members else -1
            local = members if bar < 0 else members[:bar]
            remote = None if bar < 0 else members[bar + 1:]
            hashes = sorted((_hash(local), _hash(remote) if remote is not None else 0))
            rank = local.index(self.own) if self.own in local else -1
            self._groups[key] = (rank, local, remote, combine(*hashes))
        return self._groups[key]

    def _create(self, shape, values):
        # The new communicator is the last one in every prototype, the parent the first.
        new = values[shape.new_comm] if shape.new_comm >= 0 else -1
        if new < 2:
            return
        rank, local, remote, identity = self._group(values[shape.members])
        if rank < 0:
            return
        parent = self.alive.get(values[shape.comm]) if shape.comms > 1 else None
        strangers = remote is not None and (parent is None or not parent.is_inter)
        above = NO_PARENT if parent is None or strangers else parent.context
        family = combine(above, identity)
        if shape.tag >= 0:
            family = combine(family, (values[shape.tag] + 1) & (1 << 64) - 1)
        nth = self._created.get(family, 0)
        self._created[family] = nth + 1
        self.alive[new] = Communicator(combine(family, nth), rank, local, remote)
