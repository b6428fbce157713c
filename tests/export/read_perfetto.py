# SPDX-License-Identifier: BSD-3-Clause
"""Reads a Perfetto trace with Google's protobuf, by a description built here; prints it as JSON.

    read_perfetto.py FILE

The description has the messages that a trace of track events needs, after Perfetto's published
.proto files; a field that is not in them is an error, and so is a number that names no text."""

import collections
import json
import sys

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

FIELD = descriptor_pb2.FieldDescriptorProto
# message: field: (number, type, repeated)
MESSAGES = {
    "Trace": {"packet": (1, "TracePacket", True)},
    "TracePacket": {
        "timestamp": (8, "uint64", False), "trusted_packet_sequence_id": (10, "uint32", False),
        "track_event": (11, "TrackEvent", False), "interned_data": (12, "InternedData", False),
        "sequence_flags": (13, "uint32", False),
        "track_descriptor": (60, "TrackDescriptor", False),
        "first_packet_on_sequence": (87, "bool", False)},
    "InternedData": {
        "event_categories": (1, "Name", True), "event_names": (2, "Name", True),
        "debug_annotation_names": (3, "Name", True),
        "debug_annotation_string_values": (29, "Name", True)},
    "Name": {"iid": (1, "uint64", False), "name": (2, "string", False)},
    "TrackDescriptor": {
        "uuid": (1, "uint64", False), "name": (2, "string", False),
        "parent_uuid": (5, "uint64", False), "child_ordering": (11, "int32", False),
        "sibling_order_rank": (12, "int32", False), "description": (14, "string", False)},
    "TrackEvent": {
        "category_iids": (3, "uint64", True), "debug_annotations": (4, "DebugAnnotation", True),
        "type": (9, "int32", False), "name_iid": (10, "uint64", False),
        "track_uuid": (11, "uint64", False), "flow_ids": (47, "fixed64", True),
        "terminating_flow_ids": (48, "fixed64", True)},
    "DebugAnnotation": {
        "name_iid": (1, "uint64", False), "int_value": (4, "int64", False),
        "string_value": (6, "string", False), "string_value_iid": (17, "uint64", False)},
}


def trace_class():
    file = descriptor_pb2.FileDescriptorProto(name="perfetto.proto", package="p", syntax="proto2")
    for name, fields in MESSAGES.items():
        message = file.message_type.add(name=name)
        for field, (number, kind, repeated) in fields.items():
            known = getattr(FIELD, f"TYPE_{kind.upper()}", None)
            message.field.add(
                name=field, number=number, type=known or FIELD.TYPE_MESSAGE,
                type_name=None if known else f".p.{kind}",
                label=FIELD.LABEL_REPEATED if repeated else FIELD.LABEL_OPTIONAL)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.MessageFactory(pool).GetPrototype(
        pool.FindMessageTypeByName("p.Trace"))


def main():
    trace = trace_class()()
    with open(sys.argv[1], "rb") as file:
        data = file.read()
    assert trace.ParseFromString(data) == len(data)
    size = trace.ByteSize()
    trace.DiscardUnknownFields()
    assert trace.ByteSize() == size, "fields that Perfetto does not have"
    tracks, names, open_slices, slices = {}, collections.defaultdict(dict), {}, []
    first = trace.packet[0]
    assert first.sequence_flags == 1 and first.first_packet_on_sequence
    for packet in trace.packet:
        assert packet.trusted_packet_sequence_id == first.trusted_packet_sequence_id != 0
        for field, entries in packet.interned_data.ListFields():
            for entry in entries:
                assert entry.iid != 0 and entry.iid not in names[field.name], entry
                names[field.name][entry.iid] = entry.name
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            assert track.uuid != 0 and track.uuid not in tracks
            assert track.parent_uuid == 0 or track.parent_uuid in tracks
            tracks[track.uuid] = track
            continue
        event = packet.track_event
        track = tracks[event.track_uuid].name
        if event.type == 1:
            assert packet.sequence_flags & 2, "names are used: the packet says so"
            assert track not in open_slices
            arguments = {}
            for argument in event.debug_annotations:
                name = names["debug_annotation_names"][argument.name_iid]
                arguments[name] = (
                    names["debug_annotation_string_values"][argument.string_value_iid]
                    if argument.string_value_iid else argument.string_value or argument.int_value)
            open_slices[track] = {
                "track": track, "name": names["event_names"][event.name_iid],
                "category": names["event_categories"][event.category_iids[0]],
                "begin": packet.timestamp, "arguments": arguments, "flows": list(event.flow_ids)}
        else:
            assert event.type == 2
            done = open_slices.pop(track)
            done["end"], done["ended"] = packet.timestamp, list(event.terminating_flow_ids)
            slices.append(done)
    assert not open_slices
    json.dump({"tracks": [t.name for t in tracks.values() if t.parent_uuid],
               "order": [t.sibling_order_rank for t in tracks.values() if t.parent_uuid],
               "description": next(iter(tracks.values())).description,
               "names": {kind: len(texts) for kind, texts in names.items()},
               "slices": slices}, sys.stdout)


if __name__ == "__main__":
    main()
