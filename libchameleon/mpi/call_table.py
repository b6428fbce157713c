# SPDX-License-Identifier: BSD-3-Clause
"""Reads the table of MPI calls; what a line looks like stands at the top of mpi_calls.txt."""

import dataclasses
import pathlib
import re
from typing import Dict, List, Tuple

OBJECT_LENGTHS = {
    "comm.size": "kCommSize",
    "comm.local": "kCommLocal",
    "comm.indegree": "kInDegree",
    "comm.outdegree": "kOutDegree",
    "comm.ndims": "kCommDimensions",
    "comm.nodes": "kGraphNodes",
    "comm.edges": "kGraphEdges",
    "comm.neighbors": "kNeighbors",
    "comm.inweights": "kInWeights",
    "comm.outweights": "kOutWeights",
    "type.integers": "kTypeIntegers",
    "type.addresses": "kTypeAddresses",
    "type.counts": "kTypeCounts",
    "type.datatypes": "kTypeDatatypes",
}
PARAM_LENGTHS = [  # what a length that names a parameter looks like
    (r"3\*(\w+)", "kThreeTimesParam"),
    (r"sum\((\w+)\)", "kSumOfParam"),
    (r"last\((\w+)\)", "kLastOfParam"),
    (r"([A-Za-z_]\w*)", "kParam"),
]


class TableError(Exception):
    """One line that says where the table, or its agreement with the header, is wrong."""


@dataclasses.dataclass
class Param:
    name: str
    kind: str
    direction: str
    length: str  # the expression between the brackets, "" for a scalar
    only_at_root: bool


@dataclasses.dataclass
class Call:
    id: int
    name: str  # without MPI_
    version: str
    attributes: List[str]
    meaning: Dict[str, str]  # word -> what stands behind its "="
    params: List[Param]

    @property
    def enumerator(self) -> str:
        """Comm_dup -> kCommDup."""
        return "k" + "".join(word[0].upper() + word[1:] for word in self.name.split("_"))


@dataclasses.dataclass
class Vocabulary:
    kinds: Dict[str, str]  # word in the table -> enumerator
    attributes: Dict[str, str]


def read_vocabulary(path: pathlib.Path) -> Vocabulary:
    """The two lists of kinds.h."""
    text = path.read_text()
    kinds = re.findall(r"^  X\((\w+), (\w+)\)", text, re.M)
    attributes = re.findall(r"^  X\((\w+), (\w+), \d+\)", text, re.M)
    if not kinds or not attributes:
        raise TableError(f"{path}: no lists of kinds and attributes found")
    return Vocabulary({word: "k" + name for name, word in kinds},
                      {word: "k" + name for name, word in attributes})


def parse_param(text: str, vocabulary: Vocabulary) -> Param:
    match = re.fullmatch(r"(\w+):(?:(in|out|inout):)?(\w+)(?:\[([^\]]+)\])?(@root)?", text)
    if not match:
        raise TableError(f"cannot read parameter '{text}'")
    name, direction, kind, length, root = match.groups()
    if kind not in vocabulary.kinds:
        raise TableError(f"unknown kind '{kind}' of parameter '{name}'")
    return Param(name, kind, direction or "in", length or "", bool(root))


def parse_call(line: str, vocabulary: Vocabulary) -> Call:
    match = re.fullmatch(r"(\d+) (\w+) (\d\.\d) ([^\s=]+)((?: \w+=\S+)*) :(.*)", line)
    if not match:
        raise TableError("cannot read line, want "
                         "'ID NAME VERSION ATTRIBUTES [MEANING ...] : PARAMETERS'")
    number, name, version, attributes, meaning, params = match.groups()
    words = [] if attributes == "-" else attributes.split(",")
    for word in words:
        if word not in vocabulary.attributes:
            raise TableError(f"{name}: unknown attribute '{word}'")
    meanings = [word.split("=", 1) for word in meaning.split()]
    if len(dict(meanings)) != len(meanings):
        raise TableError(f"{name}: a word of its meaning is there twice")
    try:
        call = Call(int(number), name, version, words, dict(meanings),
                    [parse_param(p, vocabulary) for p in params.split()])
        for param in call.params:
            length_of(param, call)
    except TableError as error:
        raise TableError(f"{name}: {error}") from None
    if not 0 < call.id < 0xFFFF:
        raise TableError(f"{name}: id {call.id} is outside 1..65534")
    return call


def read_table(path: pathlib.Path, vocabulary: Vocabulary) -> Tuple[List[Call], Dict[str, str]]:
    """Calls by id, and excluded names with their reasons."""
    calls: List[Call] = []
    excluded: Dict[str, str] = {}
    seen = set()
    for number, line in enumerate(path.read_text().splitlines(), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        try:
            exclusion = re.fullmatch(r"exclude (\w+) : (.+)", line)
            if exclusion:
                excluded[exclusion.group(1)] = exclusion.group(2)
                continue
            call = parse_call(line, vocabulary)
            for key in (call.id, call.name, call.enumerator):
                if key in seen:
                    raise TableError(f"{call.name}: '{key}' is there twice")
                seen.add(key)
            calls.append(call)
        except TableError as error:
            raise TableError(f"{path}:{number}: {error}") from None
    if not calls:
        raise TableError(f"{path}: no calls")
    return sorted(calls, key=lambda call: call.id), excluded


def length_of(param: Param, call: Call) -> Tuple[str, int, int, str]:
    """(rule, index of the parameter named, constant, index of the one that limits it)."""
    text, _, limit = param.length.partition(",")
    names = [p.name for p in call.params]
    if limit and limit not in names:
        raise TableError(f"unknown length '{param.length}' of parameter '{param.name}'")
    room = str(names.index(limit)) if limit else "Length::kNoRoom"
    if not text:
        return "kScalar", 0, 0, room
    if text in OBJECT_LENGTHS:
        return OBJECT_LENGTHS[text], 0, 0, room
    if text.isdigit():
        return "kConstant", 0, int(text), room
    for pattern, rule in PARAM_LENGTHS:
        match = re.fullmatch(pattern, text)
        if match and match.group(1) in names:
            return rule, names.index(match.group(1)), 0, room
    raise TableError(f"unknown length '{text}' of parameter '{param.name}'")
