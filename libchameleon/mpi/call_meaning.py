# SPDX-License-Identifier: BSD-3-Clause
"""Works out what each call of the table means, and writes it for C++ and for Python.

The words stand at the top of mpi_calls.txt. What they do not say follows from attributes and
parameters: which buffer is sent and which received, and which parameters tell how much is in it.
"""

import dataclasses
import pathlib
import re
from typing import Dict, List, Optional, Tuple

from call_table import Call, Param, TableError

FROM = {"root": "kRoot", "all": "kAll", "upto": "kUpTo", "below": "kBelow"}
TO = {"root": "kRoot", "all": "kAll"}
PARTS = {"whole": "kWhole", "block": "kBlock"}
FACTORS = {"": "kValue", "sum": "kSum", "product": "kProduct"}
MOST_FACTORS = 2
WORDS = {"as", "moves", "waits", "over", "size"}
FORM_ATTRIBUTES = {"nonblocking", "persistent", "largecount"}  # may differ between forms of a call
FORM_KINDS = {"request", "info", "status"}  # and so may parameters of these kinds


@dataclasses.dataclass
class Data:
    """Parameters that say what a call sends or receives, by place; None: there is none."""
    buffer: Optional[int] = None
    count: Optional[int] = None
    type: Optional[int] = None


@dataclasses.dataclass
class Size:
    """Of a datatype made: the product of the factors, each (rule, parameter), times the size of the
    parameter `type`; pairwise: the sum of counts times sizes of two arrays."""
    factors: List[Tuple[str, int]]
    type: int
    pairwise: bool = False


@dataclasses.dataclass
class Meaning:
    form_of: Call  # itself for a call that is no other's form
    basic: Call    # what it is a form of, through all forms
    moves: Optional[Tuple[str, str, str]]  # from, to, part
    waits: str     # enumerator of Waits
    over_result: bool
    sent: Data
    received: Data
    size: Optional[Size]


def place_of(call: Call, name: str) -> int:
    for place, param in enumerate(call.params):
        if param.name == name:
            return place
    raise TableError(f"{call.name}: no parameter '{name}'")


def data_at(call: Call, buffer: int) -> Data:
    """What follows a buffer, up to the next one, describes it; buffers side by side share."""
    data = Data(buffer)
    kinds = [param.kind for param in call.params]
    start = buffer + 1
    while start < len(kinds) and kinds[start] == "buffer":
        start += 1
    for place in range(start, len(kinds)):
        if kinds[place] == "buffer":
            break
        if kinds[place] == "count" and data.count is None:
            data.count = place
        if kinds[place] == "datatype" and data.type is None:
            data.type = place
    return data


def find_data(call: Call, directions: Tuple[str, str]) -> Data:
    for place, param in enumerate(call.params):
        if param.kind == "buffer" and param.direction in directions:
            return data_at(call, place)
    return Data()


def kinds_of(call: Call) -> List[str]:
    return [param.kind for param in call.params]


def parse_moves(call: Call, text: str) -> Tuple[str, str, str]:
    match = re.fullmatch(r"(\w+)>(\w+):(\w+)", text)
    if not match or not (match[1] in FROM and match[2] in TO and match[3] in PARTS):
        raise TableError(f"{call.name}: cannot read moves={text}")
    if "collective" not in call.attributes or "comm" not in kinds_of(call):
        raise TableError(f"{call.name}: moves data, but is no collective of a communicator")
    if ("root" in (match[1], match[2])) != ("root" in kinds_of(call)):
        raise TableError(f"{call.name}: moves={text} does not agree with its root")
    if match[2] == "root" and (match[1], match[3]) != ("all", "whole"):
        raise TableError(f"{call.name}: moves={text}: the root gets all's whole data")
    if match[1] in ("upto", "below") and "reduction" not in call.attributes:
        raise TableError(f"{call.name}: moves={text} is for reductions")
    for data in (find_data(call, ("in", "inout")), find_data(call, ("out", "inout"))):
        if data.buffer is None or data.count is None or data.type is None:
            raise TableError(f"{call.name}: moves data, but a buffer, count or datatype is missing")
    return match[1], match[2], match[3]


def parse_size(call: Call, text: str) -> Size:
    outs = [p for p in call.params if p.kind == "datatype" and p.direction == "out"]
    if len(outs) != 1 or outs[0].length:
        raise TableError(f"{call.name}: has a size, but makes no datatype")
    pair = re.fullmatch(r"sum\((\w+)\*(\w+)\)", text)
    if pair:
        return Size([("", place_of(call, pair[1]))], place_of(call, pair[2]), True)
    *factors, last = text.split("*")
    size = Size([], place_of(call, last))
    for factor in factors:
        match = re.fullmatch(r"(?:(sum|product)\((\w+)\)|(\w+))", factor)
        if not match:
            raise TableError(f"{call.name}: cannot read size={text}")
        size.factors.append((match[1] or "", place_of(call, match[2] or match[3])))
    if len(size.factors) > MOST_FACTORS or call.params[size.type].kind != "datatype":
        raise TableError(f"{call.name}: cannot read size={text}")
    return size


def same_param(one: Param, other: Param) -> bool:
    return (one.name, one.kind, one.length, one.only_at_root) == (
        other.name, other.kind, other.length, other.only_at_root)


def check_form(call: Call, other: Call) -> None:
    """A form does what the other call does: nothing but how it completes, and how large its
    numbers are, may differ."""
    if set(call.meaning) != {"as"}:
        raise TableError(f"{call.name}: as {other.name}, which says all else")
    differ = set(call.attributes) ^ set(other.attributes)
    wrong = sorted(differ - FORM_ATTRIBUTES)
    if wrong:
        raise TableError(f"{call.name}: as {other.name}, but not in " + ", ".join(wrong))
    here = [p for p in call.params if p.kind not in FORM_KINDS]
    there = [p for p in other.params if p.kind not in FORM_KINDS]
    if "largecount" in differ:  # may tell more
        here = [p for p in here if any(p.name == q.name for q in there)]
    if len(here) != len(there) or not all(map(same_param, here, there)):
        raise TableError(f"{call.name}: as {other.name}, but with other parameters")


def waits_of(call: Call, moves: Optional[Tuple[str, str, str]]) -> str:
    said = call.meaning.get("waits")
    if said is not None and (said != "nobody" or moves or "collective" not in call.attributes):
        raise TableError(f"{call.name}: cannot read waits={said}")
    if said or "neighbor" in call.attributes:
        return "kForNobody"
    if moves and moves[0] == "root":
        return "kForRoot"
    if moves and moves[0] in ("upto", "below"):
        return "kForLower"
    return "kRootForAll" if moves and moves[1] == "root" else "kForAll"


def basic_meaning(call: Call) -> Meaning:
    """Of a call that is no other's form, but for the places of its data."""
    unknown = sorted(set(call.meaning) - WORDS)
    if unknown:
        raise TableError(f"{call.name}: unknown word '{unknown[0]}='")
    moves = parse_moves(call, call.meaning["moves"]) if "moves" in call.meaning else None
    has = set(call.attributes)
    if not moves and "collective" in has and not has & {"io", "rma"} and "buffer" in kinds_of(call):
        raise TableError(f"{call.name}: a collective with buffers, but without moves=")
    over = call.meaning.get("over")
    if over is not None and (over != "result" or "creates" not in has or "collective" not in has):
        raise TableError(f"{call.name}: cannot read over={over}")
    return Meaning(call, call, moves, waits_of(call, moves), over is not None, Data(), Data(), None)


def find_meanings(calls: List[Call]) -> Dict[str, Meaning]:
    """By the name of the call."""
    by_name = {call.name: call for call in calls}
    meanings = {}
    for call in calls:
        chain = [call]
        while "as" in chain[-1].meaning:
            name = chain[-1].meaning["as"]
            if name not in by_name or by_name[name] in chain:
                raise TableError(f"{chain[-1].name}: as={name}: no such call, or in a circle")
            check_form(chain[-1], by_name[name])
            chain.append(by_name[name])
        basic = chain[-1]
        meaning = basic_meaning(basic)
        meaning.form_of = chain[1] if len(chain) > 1 else call
        meaning.sent = find_data(call, ("in", "inout"))
        meaning.received = find_data(call, ("out", "inout"))
        if "size" in basic.meaning:
            meaning.size = parse_size(call, basic.meaning["size"])
        meanings[call.name] = meaning
    return meanings


def data_constant(data: Data) -> str:
    places = (data.buffer, data.count, data.type)
    return "BufferParams{" + ", ".join(str(-1 if p is None else p) for p in places) + "}"


def size_constant(size: Optional[Size]) -> str:
    if size is None:
        return "TypeSize{}"
    factors = ", ".join(f"{{TypeSize::Factor::Rule::{FACTORS[rule]}, {place}}}"
                        for rule, place in size.factors)
    return (f"TypeSize{{{size.type}, {str(size.pairwise).lower()}, {len(size.factors)}, "
            f"{{{{{factors}}}}}}}")


def emit_meanings(calls: List[Call], meanings: Dict[str, Meaning]) -> str:
    lines = []
    for call in calls:
        meaning = meanings[call.name]
        source, to, part = meaning.moves or ("", "", "")
        movement = (f"Movement{{Movement::From::{FROM.get(source, 'kNobody')}, "
                    f"Movement::To::{TO.get(to, 'kNobody')}, "
                    f"Movement::Part::{PARTS.get(part, 'kWhole')}}}")
        lines.append(
            f"CHAMELEON_MEANING({meaning.form_of.id}, {meaning.basic.id}, {movement}, "
            f"Waits::{meaning.waits}, {str(meaning.over_result).lower()}, "
            f"{data_constant(meaning.sent)}, {data_constant(meaning.received)}, "
            f"{size_constant(meaning.size)})")
    return "\n".join(lines) + "\n"


# What a reader follows: messages, requests, data of collectives, datatypes, communicators.
FOLLOWED = {"send", "recv", "probe", "starts", "completes", "cancels"}


def is_followed(call: Call, meaning: Meaning) -> bool:
    if "local" in call.attributes or "mpit" in call.attributes:
        return False
    freed = {p.kind for p in call.params if p.direction == "inout"} & {"request", "comm"}
    return bool(FOLLOWED & set(call.attributes) or meaning.moves or meaning.size or
                ("frees" in call.attributes and freed))


def python_row(call: Call, meaning: Meaning) -> str:
    def names(data: Data) -> Tuple[str, ...]:
        places = (data.buffer, data.count, data.type)
        return tuple("" if p is None else call.params[p].name for p in places)

    words = {"attributes": tuple(call.attributes)}
    if meaning.moves:
        words["moves"] = meaning.moves
    for name, data in (("sent", meaning.sent), ("received", meaning.received)):
        if data.buffer is not None:
            words[name] = names(data)
    if "partitioned" in call.attributes and "persistent" in call.attributes:
        words["partitions"] = next(p.name for p in call.params if p.kind == "int")
    if meaning.size:
        factors = tuple((rule, call.params[p].name) for rule, p in meaning.size.factors)
        words["size"] = (factors, call.params[meaning.size.type].name, meaning.size.pairwise)
    text = ", ".join(f"{word}={value!r}" for word, value in words.items())
    return f"    {call.name!r}: Call({text}),\n".replace("'", '"')


def python_errors() -> str:
    """Error classes by the numbers that events hold, and whether each names an argument."""
    text = (pathlib.Path(__file__).resolve().parent / "error_classes.inc").read_text()
    found = re.findall(r"^CHAMELEON_ERROR\((\w+), (\w+)\)$", text, re.M)
    rows = "".join(f'    ("{name}", {argument == "true"}),\n' for name, argument in found)
    return ('\n# Error classes by their numbers in events, from 0, and whether one says that an argument\n'
            '# was wrong.\nERRORS = (\n    ("MPI_SUCCESS", False),\n' + rows + ')\n')


def emit_python(calls: List[Call], meanings: Dict[str, Meaning]) -> str:
    rows = "".join(python_row(call, meanings[call.name]) for call in calls
                   if is_followed(call, meanings[call.name]))
    return ('# SPDX-License-Identifier: BSD-3-Clause\n'
            '# Generated by generate.py from mpi_calls.txt; not for editing: the target `approve`\n'
            '# writes it.\n'
            '"""What the calls mean whose events are followed, by name."""\n\n'
            'from collections import namedtuple\n\n'
            '# attributes: words of the table. moves: from whom, to whom, which part. sent, received:\n'
            '# names of buffer, count and datatype. partitions: name of their number. size of the\n'
            '# datatype made: factors (how an array is summed up, name), the name of a datatype whose\n'
            '# size they are multiplied with, and whether two arrays are multiplied pair by pair.\n'
            'Call = namedtuple("Call", "attributes moves sent received partitions size",\n'
            '                  defaults=(None, ("", "", ""), ("", "", ""), None, None))\n\n'
            'CALLS = {\n' + rows + '}\n' + python_errors())
