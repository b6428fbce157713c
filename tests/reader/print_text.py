# SPDX-License-Identifier: BSD-3-Clause
"""An event of chameleon_trace as `chameleon print --expand --all` writes it, so that the two
readers can be compared in every value."""

from chameleon_trace import Form, SpecialRank
from chameleon_trace.nodes import end_point, wrap32

NOT_RECORDED = -(1 << 31)
SPECIAL = {SpecialRank.NONE: "-", SpecialRank.PROC_NULL: "PROC_NULL", SpecialRank.ANY_SOURCE: "ANY",
           SpecialRank.ROOT: "ROOT", SpecialRank.UNDEFINED: "UNDEFINED"}
OBJECTS = {"comm", "datatype", "op", "group", "win", "file", "info", "errhandler", "request",
           "message", "session", "keyval"}
BUFFERS = ["ordinary", "MPI_IN_PLACE", "MPI_BOTTOM", "null"]


def status_part(field):
    return field.name.endswith((".source", ".tag", ".bytes"))


def object_text(trace, kind, value):
    if kind == "comm" and value in (0, 1):
        return ("WORLD", "SELF")[value]
    if value == -1:
        return "NULL"
    if kind == "request":
        return str(value)
    if kind == "group" and value == -2:
        return "EMPTY"
    if value <= -2:
        names = trace.predefined.get(kind, [])
        place = -2 - value
        return names[place].name if place < len(names) else f"predefined {kind} {place}"
    return f"{kind} {value}"


def unresolved(form, value, root):
    """An end-point without its communicator: +1, or a rank."""
    special = end_point(form, value, None)
    if special is not None and special < 0:
        return SPECIAL[SpecialRank(special)]
    if form == Form.BOTH:
        relative = wrap32(value)
        return str(special) if root else f"{relative:+d}"
    return f"{value:+d}" if form == Form.RELATIVE else str(value)


class PrintText:
    def __init__(self, trace):
        self.trace = trace

    def scalar(self, field, value):
        if value == NOT_RECORDED and status_part(field):
            return "-"
        if field.kind in OBJECTS:
            return object_text(self.trace, field.kind, value)
        if field.kind == "tag" and value < 0:
            return "ANY"
        if field.kind == "buffer" and 0 <= value < len(BUFFERS):
            return BUFFERS[value]
        return str(value)

    def silent(self, event, i, field):
        """What print leaves out: success, ordinary buffers, what the posted receive tells."""
        value = event.values[i]
        if field.stored == 2:
            elements = self.trace.arrays.get(value)
            if elements is None:
                return False
            nothing = NOT_RECORDED + 1 if field.name.endswith(".source") else NOT_RECORDED
            return not elements or (status_part(field) and all(e == nothing for e in elements))
        if field.stored == 1:
            return event[field.name] == SpecialRank.NONE
        if status_part(field):
            return value == NOT_RECORDED
        if field.name == "return" or field.kind in ("buffer", "pointer"):
            return value == 0
        return field.kind == "function"

    def value(self, event, i, field):
        value = event.values[i]
        if field.stored == 2:
            return self.array(event, field, value)
        if field.stored == 1:
            found = event[field.name]
            if found is None:
                return unresolved(event.form(field.name), value, field.kind == "root")
            return SPECIAL[found] if found < 0 else str(found)
        return self.scalar(field, value)

    def array(self, event, field, key):
        elements = self.trace.arrays.get(key)
        if elements is None:
            return "[?]"
        if field.kind == "string":
            return '"' + "".join(chr(c) if 32 <= c < 127 else "?" for c in elements) + '"'
        if field.name == "array_of_statuses.source":
            texts = []
            for element, found in zip(elements, event[field.name]):
                if found is None or found < 0:
                    texts.append(unresolved(Form.RELATIVE, element, False))
                else:
                    texts.append(str(found))
            return "[" + ",".join(texts) + "]"
        if field.name.endswith(".source"):
            return "[" + ",".join(unresolved(Form.RELATIVE, e, False) for e in elements) + "]"
        return "[" + ",".join(self.scalar(field, element) for element in elements) + "]"

    def line(self, event):
        """The line without number and place."""
        messages, communicator, count = [["", "", "", ""]], "", ""

        def add(part, words):
            row = messages[-1]
            row[part] += ("  " if row[part] and words else "") + words

        for i, field in enumerate(event.call.fields):
            if field.kind in ("ns", "time"):
                continue
            if field.kind == "buffer" and messages[-1][2]:
                messages.append(["", "", "", ""])
            if count and field.kind != "datatype":
                add(3, "count=" + count)
                count = ""
            if self.silent(event, i, field):
                continue
            if field.stored == 0 and event[field.name] == NOT_RECORDED and not status_part(field):
                continue  # it does not count in this call
            text, scalar = self.value(event, i, field), field.stored != 2
            if not text:
                continue
            if status_part(field):
                add(3, f"{field.name}={text}")
            elif scalar and field.kind in ("dest", "source"):
                arrow = "->" if field.kind == "dest" else "<-"
                add(0, arrow + (" " if text[0] == "-" else "") + text)
            elif scalar and field.kind in ("root", "rank"):
                add(0, f"{field.kind} {text}")
            elif scalar and field.kind == "tag":
                add(1, "tag " + text)
            elif scalar and field.kind == "count" and not count:
                count = text
            elif scalar and field.kind == "datatype" and count:
                add(2, f"{count} x {text}")
                count = ""
            elif scalar and field.kind == "op":
                add(2, text)
            elif field.name == "comm" and not communicator:
                communicator = "on " + text
            elif field.kind == "buffer" and text in ("MPI_IN_PLACE", "MPI_BOTTOM"):
                add(3, text)
            else:
                add(3, f"{field.name}={text}")
        if count:
            add(3, "count=" + count)
        parts = [part for row in messages for part in row] + [communicator]
        return event.name + "".join("  " + part for part in parts if part)
