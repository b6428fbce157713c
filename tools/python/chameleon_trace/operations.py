# SPDX-License-Identifier: BSD-3-Clause
"""What a rank's events do to others: messages sent and received, data moved by collectives.

The two ends of a message find each other by their place in a channel: messages of a channel match
receives in the order these were posted (MPI 4.0, section 3.5).
"""

from collections import namedtuple

from .nodes import SpecialRank

# kind: send, post, receive, done (a send's or collective's request), cancelled, begin, end
Operation = namedtuple("Operation", "kind partner tag bytes context sequence record")
Collective = namedtuple("Collective", "kind sent received root moves")
# (context, source, dest, tag) of a message, all but the context world ranks
Channel = namedtuple("Channel", "context source dest tag")

IN_PLACE = 1
MOST_BYTES = 1 << 40
DONE = Operation("done", None, None, None, None, None, None)
CANCELLED = DONE._replace(kind="cancelled")

SENDS = {"Send", "Bsend", "Ssend", "Rsend"}
ISENDS = {"Isend", "Ibsend", "Issend", "Irsend"}
SEND_INITS = {"Send_init", "Bsend_init", "Ssend_init", "Rsend_init"}
BOTH = {"Sendrecv", "Sendrecv_replace", "Isendrecv", "Isendrecv_replace"}
COMPLETE = {"Wait", "Test"}
COMPLETE_ALL = {"Waitall", "Testall"}
COMPLETE_ANY = {"Waitany", "Testany"}
COMPLETE_SOME = {"Waitsome", "Testsome"}
# name: how bytes follow from counts, and how the root takes part
MOVES = {
    "Bcast": ("same", "from"), "Scatter": ("from root", None),
    "Scatterv": ("pairs from root", None),
    "Gather": ("to root", None), "Gatherv": ("pairs to root", None), "Reduce": ("same", "to"),
    "Allreduce": ("same", None), "Scan": ("same", None), "Exscan": ("same", None),
    "Reduce_scatter_block": ("same", None), "Reduce_scatter": ("array", None),
    "Allgather": ("equal", None), "Alltoall": ("equal", None), "Allgatherv": ("array", None),
    "Alltoallv": ("pairs", None), "Alltoallw": ("pairs", None),
}


def base_name(name):
    """Without the suffix of large counts."""
    return name[:-2] if name.endswith("_c") else name


def movement(name):
    """"Bcast" of Ibcast and Bcast_init, or None for a call that moves no data in a group."""
    name = name[:-5] if name.endswith("_init") else name
    if name not in MOVES and name.startswith("I"):
        name = name[1:2].upper() + name[2:]
    return name if name in MOVES else None


class _Request:
    __slots__ = ("kind", "persistent", "active", "cancelled", "operation", "comm", "any_source",
                 "any_tag", "record")

    def __init__(self, kind, persistent=False, operation=None, comm=None):
        self.kind = kind
        self.persistent = persistent
        self.active = not persistent
        self.cancelled = False
        self.operation = operation
        self.comm = comm
        self.any_source = self.any_tag = False
        self.record = None


class Receive:
    """A receive in the order of posting; `channel` is None until it is known."""

    __slots__ = ("channel", "bytes", "event", "end_ns", "wild")

    def __init__(self, channel, size, wild):
        self.channel = channel
        self.bytes = size
        self.event = self.end_ns = None
        self.wild = wild


class Operations:
    """Follows the events of one rank; call `of` with each in order."""

    def __init__(self, trace, rank):
        self.trace = trace
        self.rank = rank
        self.requests = {}
        self.messages = {}
        self.type_sizes = {}
        self.sent = {}
        self.receives = []  # Receive, in the order of posting
        self.names = {}

    def of(self, event):
        """The operations of an event."""
        name = event.name
        if name not in self.names:
            self.names[name] = self._action(base_name(name))
        act = self.names[name]
        return act(event) if act is not None else []

    def _action(self, name):
        if name in SENDS or name in ISENDS or name in SEND_INITS:
            return lambda event: self._send(event, name in SEND_INITS)
        if name in BOTH:
            return self._send_receive
        if name in ("Recv", "Irecv", "Recv_init"):
            return lambda event: self._receive(event, name == "Recv_init")
        if name in COMPLETE | COMPLETE_ALL | COMPLETE_ANY | COMPLETE_SOME:
            return lambda event: self._complete_many(event, name)
        if name in ("Start", "Startall"):
            return self._start
        if name in ("Request_free", "Cancel"):
            return lambda event: self._drop(event, name == "Cancel")
        if name in ("Mprobe", "Improbe"):
            return self._matched_probe
        if name in ("Mrecv", "Imrecv"):
            return self._matched_receive
        if movement(name):
            return lambda event: self._collective(event, name)
        if name.startswith("Type_"):
            return lambda event: self._datatype(event, name)
        return None

    # -- sizes

    def type_size(self, value):
        if value <= -2:
            types = self.trace.predefined.get("datatype", ())
            return types[-2 - value].size if -2 - value < len(types) else None
        return self.type_sizes.get(value)

    def amount(self, count, datatype):
        size = self.type_size(datatype)
        if not size or count <= 0 or count * size > MOST_BYTES:
            return 0
        return count * size

    def _datatype(self, event, name):
        if "newtype" in event and event["newtype"] >= 0:
            self.type_sizes[event["newtype"]] = self._constructed(event, name)
        return []

    def _constructed(self, event, name):
        old = self.type_size(event["oldtype"]) if "oldtype" in event else None
        if name in ("Type_create_struct", "Type_struct"):
            lengths = event["array_of_blocklengths"] or ()
            sizes = [self.type_size(t) for t in event["array_of_types"] or ()]
            if len(lengths) != len(sizes) or None in sizes or min(lengths, default=0) < 0:
                return None
            return sum(n * size for n, size in zip(lengths, sizes))
        if old is None:
            return None
        if name in ("Type_dup", "Type_create_resized"):
            return old
        if name == "Type_contiguous":
            count = event["count"]
        elif name in ("Type_vector", "Type_create_hvector", "Type_hvector",
                      "Type_create_indexed_block", "Type_create_hindexed_block"):
            count = event["count"] * event["blocklength"]
        elif name in ("Type_indexed", "Type_create_hindexed", "Type_hindexed"):
            count = sum(event["array_of_blocklengths"] or ())
        elif name == "Type_create_subarray":
            count = 1
            for length in event["array_of_subsizes"] or ():
                count *= length
        else:  # Type_create_darray: depends on constants of the implementation
            return None
        return count * old if count >= 0 else None

    @staticmethod
    def _first(event, *names):
        for name in names:
            if name in event:
                return event[name]
        return None

    # -- messages

    def _send(self, event, persistent):
        comm = event.communicator
        if comm is None or event["return"] != 0:
            return []
        return self._sent(event, comm, "request" in event, persistent)

    def _sent(self, event, comm, with_request, persistent):
        to = event.world("dest")
        operation = None
        if to is not None:
            tag = self._first(event, "sendtag", "tag")
            size = self.amount(self._first(event, "sendcount", "count"),
                               self._first(event, "sendtype", "datatype"))
            operation = Operation("send", to, tag, size, comm.context, None, None)
        if with_request:
            slot = event["request"]
            if slot < 0:
                return []
            self.requests[slot] = _Request("send" if operation else "other", persistent, operation)
            if persistent:
                return []
        return [self._numbered(operation)] if operation else []

    def _numbered(self, operation):
        channel = Channel(operation.context, self.rank, operation.partner, operation.tag)
        sequence = self.sent.get(channel, 0)
        self.sent[channel] = sequence + 1
        return operation._replace(sequence=sequence)

    def _posted(self, event, comm):
        """(channel or None, bytes, any source, any tag), or None of a receive from nobody."""
        source = event["source"]
        tag = self._first(event, "recvtag", "tag")
        size = self.amount(self._first(event, "recvcount", "count") or 0,
                           self._first(event, "recvtype", "datatype") or 0)
        any_source = source == SpecialRank.ANY_SOURCE
        world = event.world("source")
        if not any_source and world is None:
            return None
        return Channel(comm.context, world, self.rank, tag), size, any_source, tag < 0

    @staticmethod
    def _status(event, at, comm, posted, any_source, any_tag):
        """The channel and bytes after a status told what the posted receive does not, or None."""
        (channel, size), prefix = posted, "status" if at < 0 else "array_of_statuses"

        def told(name):
            value = event.get(f"{prefix}.{name}")
            if at < 0 or value is None:
                return value
            return value[at] if at < len(value) else None

        if any_source:
            source = told("source")
            if source is None or not 0 <= source < len(comm.peers):
                return None
            channel = channel._replace(source=comm.peers[source])
        if any_tag:
            tag = told("tag")
            if tag is None or tag < 0:
                return None
            channel = channel._replace(tag=tag)
        count = told("bytes")
        return channel, count if count is not None and count >= 0 else size

    def _arrived(self, record, event):
        record.event = event.number
        channel = record.channel
        return Operation("receive", channel.source, channel.tag, record.bytes, channel.context,
                         None, record)

    def _receive(self, event, persistent):
        comm = event.communicator
        if comm is None:
            return []
        posted = self._posted(event, comm)
        if "request" in event:
            slot = event["request"]
            if slot < 0:
                return []
            request = _Request("receive" if posted else "other", persistent, posted, comm)
            self.requests[slot] = request
            return self._begin(request) if posted and not persistent else []
        return self._received_at_once(event, comm, posted)

    def _received_at_once(self, event, comm, posted):
        if posted is None:
            return []
        found = self._status(event, -1, comm, posted[:2], *posted[2:])
        if found is None:
            return []
        record = Receive(*found, False)
        self.receives.append(record)
        return [self._arrived(record, event)]

    def _send_receive(self, event):
        comm = event.communicator
        if comm is None:
            return []
        return self._sent(event, comm, False, False) + self._received_at_once(
            event, comm, self._posted(event, comm))

    def _begin(self, request):
        channel, size, request.any_source, request.any_tag = request.operation
        request.record = Receive(channel, size, request.any_source or request.any_tag)
        self.receives.append(request.record)
        return [DONE._replace(kind="post")]

    def _finish(self, event, request, at):
        if request.kind == "other":
            return []
        if request.kind != "receive":
            return [DONE]
        record = request.record
        found = None if record is None else self._status(
            event, at, request.comm, (record.channel, record.bytes), request.any_source,
            request.any_tag)
        if request.cancelled or found is None:
            if record is not None:
                record.channel = None  # it takes no place in a channel
            return [CANCELLED]
        record.channel, record.bytes = found
        record.wild = False
        return [self._arrived(record, event)]

    def _complete(self, event, slot, at):
        request = self.requests.get(slot)
        if request is None or not request.active:
            return []
        done = self._finish(event, request, at)
        if request.persistent:
            request.active = request.cancelled = False
        else:
            del self.requests[slot]
        return done

    def _complete_many(self, event, name):
        if event.get("flag", 1) == 0:
            return []
        if name in COMPLETE:
            return self._complete(event, event["request"], -1)
        slots = event["array_of_requests"] or ()

        def slot(i):
            return slots[i] if 0 <= i < len(slots) else -1

        if name in COMPLETE_ANY:
            return self._complete(event, slot(self._first(event, "indx", "index")), -1)
        done = []
        chosen = range(len(slots)) if name in COMPLETE_ALL else event["array_of_indices"] or ()
        for at, i in enumerate(chosen):
            done += self._complete(event, slot(i), at)
        return done

    def _start(self, event):
        slots = [event["request"]] if "request" in event else event["array_of_requests"] or ()
        started = []
        for slot in slots:
            request = self.requests.get(slot)
            if request is None:
                continue
            request.active, request.cancelled = True, False
            if request.kind == "receive":
                started += self._begin(request)
            elif request.kind == "send":
                started.append(self._numbered(request.operation))
            elif request.kind == "collective":
                started.append(request.operation)
        return started

    def _drop(self, event, cancel):
        slot = event["request"]
        request = self.requests.get(slot)
        if request is not None:
            if cancel:
                request.cancelled = request.active
            else:
                del self.requests[slot]
        return []

    def _matched_probe(self, event):
        comm = event.communicator
        if event.get("flag", 1) == 0 or comm is None or event["message"] < 0:
            return []
        posted = self._posted(event, comm)
        found = posted and self._status(event, -1, comm, posted[:2], *posted[2:])
        if found:
            record = Receive(*found, False)
            self.receives.append(record)
            self.messages[event["message"]] = record
        return []

    def _matched_receive(self, event):
        record = self.messages.pop(event["message"], None)
        if record is None:
            return []
        if "request" not in event:
            return [self._arrived(record, event)]
        if event["request"] >= 0:
            request = _Request("receive", comm=event.communicator)
            request.record = record
            self.requests[event["request"]] = request
        return [DONE._replace(kind="post")]

    # -- collectives

    def _collective(self, event, name):
        comm = event.communicator
        if comm is None or event["return"] != 0:
            return []
        begun = self._amounts(event, comm, movement(name))
        if "request" not in event:
            return [begun, begun._replace(kind="end")]
        slot = event["request"]
        if slot < 0:
            return []
        persistent = name.endswith("_init")
        self.requests[slot] = _Request("collective", persistent, begun)
        return [] if persistent else [begun]

    def _sum(self, event, prefix):
        return sum(self._elements(event, prefix))

    def _elements(self, event, prefix):
        counts = event.get(prefix + "counts") or ()
        if prefix + "types" in event:
            types = event[prefix + "types"] or ()
            return [self.amount(n, t) for n, t in zip(counts, types)]
        kind = self._first(event, prefix + "type", "datatype")
        return [self.amount(n, kind) for n in counts]

    def _amounts(self, event, comm, name):
        """What a rank contributes and gets: the data movement of MPI 4.0, chapter 6."""
        how, root_role = MOVES[name]
        peers = len(comm.peers)
        is_root, root = False, None
        if "root" in event:
            to = event["root"]
            if to == SpecialRank.ROOT:
                is_root, root = True, self.rank
            elif to is None or to < 0:
                return Collective("begin", 0, 0, None, True)
            else:
                root = comm.peers[to] if to < peers else None
                is_root = not comm.is_inter and to == comm.rank
        send = self._bytes(event, "send")
        recv = self._bytes(event, "recv")
        in_place = self._first(event, "sendbuf", "buffer", "buf") == IN_PLACE
        sent, received = self._moved(event, comm, name, how, root_role, is_root, send, recv,
                                     in_place)
        return Collective("begin", sent, received, root, True)

    def _bytes(self, event, prefix):
        other = "recv" if prefix == "send" else "send"
        count = self._first(event, prefix + "count", "count")
        if count is None and prefix == "send":
            count = self._first(event, other + "count")
        kind = self._first(event, prefix + "type", "datatype")
        if count is None or kind is None or isinstance(count, tuple):
            return 0
        return self.amount(count, kind)

    def _moved(self, event, comm, name, how, root_role, is_root, send, recv, in_place):
        peers = len(comm.peers)
        if how == "same":
            if root_role == "from":
                return (recv, 0) if is_root else (0, recv)
            if name.startswith("Reduce_scatter"):
                return recv * peers, recv
            return recv, recv if root_role is None or is_root else 0
        if how == "to root":
            return recv if in_place else send, recv * peers if is_root else 0
        if how == "from root":
            return send * peers if is_root else 0, recv
        if how == "equal":
            copies = peers if name == "Alltoall" else 1
            return (recv if in_place else send) * copies, recv * peers
        if how == "pairs":
            received = self._sum(event, "recv")
            return received if in_place else self._sum(event, "send"), received
        if how == "pairs to root":
            return 0 if in_place else send, self._sum(event, "recv") if is_root else 0
        if how == "pairs from root":
            return self._sum(event, "send") if is_root else 0, recv
        each = self._elements(event, "recv")
        mine = each[comm.rank] if comm.rank < len(each) else 0
        if name == "Reduce_scatter":
            return sum(each), mine
        return mine if in_place else send, sum(each)
