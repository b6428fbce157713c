# SPDX-License-Identifier: BSD-3-Clause
"""What a rank's events do to others: messages sent and received, data moved by collectives.

The two ends of a message find each other by their place in a channel: messages of a channel match
receives in the order these were posted (MPI 4.0, section 3.5).
"""

import math
from collections import namedtuple

from .errors import corrupt
from .mpi_calls import CALLS, ERRORS
from .nodes import SpecialRank
from .volumes import collective

# kind: send, post, receive, done (a send's or collective's request), cancelled, begin, end
Operation = namedtuple("Operation", "kind partner tag bytes context sequence record partitioned",
                       defaults=(False,))
# Of messages: partners are world ranks; partitioned ones match only each other.
Channel = namedtuple("Channel", "context source dest tag partitioned", defaults=(False,))

MOST_BYTES = 1 << 40
DONE = Operation("done", None, None, None, None, None, None)
CANCELLED = DONE._replace(kind="cancelled")


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


def _number(name):
    return next(i for i, (known, _) in enumerate(ERRORS) if known == name)


TRUNCATE, PENDING, IN_STATUS = map(_number, (
    "MPI_ERR_TRUNCATE", "MPI_ERR_PENDING", "MPI_ERR_IN_STATUS"))
IN_PROGRESS = -1  # of a call that had not returned when the trace of its rank ended


def took_place(event, info):
    """Whether the event did what its call is for, whatever it returned. Older traces hold an
    MPI's codes, which do not tell."""
    error, marks = event["return"], info.attributes
    if error == 0:
        return True
    if error == IN_PROGRESS:
        return False
    if event.call.fields[0].kind != "error":
        return "completes" in marks or ("recv" in marks and "nonblocking" not in marks)
    argument = error < len(ERRORS) and ERRORS[error][1]
    if "completes" in marks:
        return error == IN_STATUS if "array_of_statuses.source" in event else not argument
    if "nonblocking" in marks or "persistent" in marks:
        return False
    if "recv" in marks:
        return error == TRUNCATE
    return bool(info.moves) and not argument



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
        self.actions = {}

    def of(self, event):
        """The operations of an event."""
        name = event.name
        if name not in self.actions:
            self.actions[name] = self._action(event.call)
        act = self.actions[name]
        if act is None:
            return []
        try:
            return act(event)
        except (KeyError, IndexError) as error:
            raise corrupt(f"a call of {name} lacks {error}") from None

    def _action(self, call):
        """A function of events of the call, or None: what the MPI table says it does."""
        fields = {field.name for field in call.fields}
        info = CALLS.get(call.name)
        if info is None or info.size:
            return (lambda event: self._datatype(event, info)) if "newtype" in fields else None
        if info.moves:
            neighbor = "neighbor" in info.attributes  # partners are not followed
            return None if neighbor else lambda event: self._collective(event, info)
        for attribute, act in (("send", self._send), ("recv", self._receive),
                               ("completes", self._complete_many), ("starts", self._start),
                               ("cancels", self._drop), ("probe", self._matched_probe),
                               ("frees", self._drop)):
            if attribute in info.attributes:
                break
        else:
            return None
        if attribute == "send" and "recv" in info.attributes:
            act = self._send_receive
        if attribute == "recv" and "message" in fields:
            act = self._matched_receive
        if (attribute == "probe" and "message" not in fields) or (
                attribute == "frees" and "request" not in fields):
            return None
        return lambda event: act(event, info)

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

    def _datatype(self, event, info):
        if event["newtype"] >= 0:
            self.type_sizes[event["newtype"]] = None if info is None else self._constructed(
                event, info.size)
        return []

    def _constructed(self, event, size):
        factors, type_name, pairwise = size
        if pairwise:
            lengths = event[factors[0][1]] or ()
            sizes = [self.type_size(t) for t in event[type_name] or ()]
            if len(lengths) != len(sizes) or None in sizes or min(lengths, default=0) < 0:
                return None
            return sum(n * size for n, size in zip(lengths, sizes))
        bytes_of = self.type_size(event[type_name])
        for rule, name in factors:
            if bytes_of is None:
                return None
            values = event[name]
            if rule:
                values = values or ()
                count = sum(values) if rule == "sum" else math.prod(values)
            else:
                count = values
            bytes_of = count * bytes_of if count >= 0 else None
        return bytes_of

    @staticmethod
    def _first(event, *names):
        for name in names:
            if name in event:
                return event[name]
        return None

    # -- messages

    def _message_bytes(self, event, names, info):
        size = self.amount(event.get(names[1], 0), event.get(names[2], 0))
        return size * max(event[info.partitions], 0) if info.partitions else size

    def _send(self, event, info):
        comm = event.communicator
        if comm is None:
            return self._unknown(event)
        if not took_place(event, info):
            return []
        return self._sent(event, comm, info, "request" in event)

    def _sent(self, event, comm, info, with_request):
        to = event.world("dest")
        operation = None
        if to is not None:
            operation = Operation("send", to, self._first(event, "sendtag", "tag"),
                                  self._message_bytes(event, info.sent, info), comm.context, None,
                                  None, info.partitions is not None)
        if with_request:
            slot = event["request"]
            if slot < 0:
                return []
            persistent = "persistent" in info.attributes
            self.requests[slot] = _Request("send" if operation else "other", persistent, operation)
            if persistent:
                return []
        return [self._numbered(operation)] if operation else []

    def _numbered(self, operation):
        channel = Channel(operation.context, self.rank, operation.partner, operation.tag,
                          operation.partitioned)
        sequence = self.sent.get(channel, 0)
        self.sent[channel] = sequence + 1
        return operation._replace(sequence=sequence)

    def _posted(self, event, comm, info):
        """(channel or None, bytes, any source, any tag), or None of a receive from nobody."""
        source = event["source"]
        tag = self._first(event, "recvtag", "tag")
        size = self._message_bytes(event, info.received, info)
        any_source = source == SpecialRank.ANY_SOURCE
        world = event.world("source")
        if not any_source and world is None:
            return None
        channel = Channel(comm.context, world, self.rank, tag, info.partitions is not None)
        return channel, size, any_source, tag < 0

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

    def _unknown(self, event):
        """On a communicator that another thread made: its request is not the one that had its id
        before."""
        self.requests.pop(event.get("request"), None)
        return []

    def _receive(self, event, info):
        comm = event.communicator
        if comm is None:
            return self._unknown(event)
        if not took_place(event, info):
            return []
        persistent = "persistent" in info.attributes
        posted = self._posted(event, comm, info)
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

    def _send_receive(self, event, info):
        comm = event.communicator
        if comm is None or not took_place(event, info):
            return []
        return self._sent(event, comm, info, False) + self._received_at_once(
            event, comm, self._posted(event, comm, info))

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

    def _complete_many(self, event, info):
        if not took_place(event, info) or event.get("flag", 1) == 0:
            return []
        if "request" in event:
            return self._complete(event, event["request"], -1)
        slots = event["array_of_requests"] or ()

        def slot(i):
            return slots[i] if 0 <= i < len(slots) else -1

        index = self._first(event, "indx", "index")
        if index is not None:
            return self._complete(event, slot(index), -1)
        done = []
        some = "array_of_indices" in event
        chosen = event["array_of_indices"] or () if some else range(len(slots))
        errors = event.get("errors") or ()
        for at, i in enumerate(chosen):
            if at < len(errors) and errors[at] == PENDING:
                continue  # passed over for the error of another
            done += self._complete(event, slot(i), at)
        return done

    def _start(self, event, _):
        if event["return"] != 0:
            return []
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

    def _drop(self, event, info):
        slot = event["request"]
        request = self.requests.get(slot)
        if request is not None and event["return"] == 0:
            if "cancels" in info.attributes:
                request.cancelled = request.active
            else:
                del self.requests[slot]
        return []

    def _matched_probe(self, event, info):
        comm = event.communicator
        if event.get("flag", 1) == 0 or comm is None or event["message"] < 0:
            return []
        posted = self._posted(event, comm, info)
        found = posted and self._status(event, -1, comm, posted[:2], *posted[2:])
        if found:
            record = Receive(*found, False)
            self.receives.append(record)
            self.messages[event["message"]] = record
        return []

    def _matched_receive(self, event, info):
        if not took_place(event, info):
            return []
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

    def _collective(self, event, info):
        comm = event.communicator
        if comm is None or not took_place(event, info):
            return []
        begun = collective(event, comm, self.rank, info, self.amount)
        if "request" not in event:
            return [begun, begun._replace(kind="end")]
        slot = event["request"]
        if slot < 0:
            return []
        persistent = "persistent" in info.attributes
        self.requests[slot] = _Request("collective", persistent, begun)
        return [] if persistent else [begun]
