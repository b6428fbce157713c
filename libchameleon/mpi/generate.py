#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Turns the table of MPI calls into C++: ids, constexpr tables, wrappers and the replay list; and
into the Python reader's table.

    generate.py --table mpi_calls.txt --header /usr/include/.../mpi.h --output-dir DIR
                [--only FILES] [--shards N]
    generate.py --table mpi_calls.txt --python FILE

The table says what calls mean, the header says what their C types are; this script joins the two
and stops with one line where they disagree. A function that the table lacks is named, and programs
call it untraced: MPI goes on. What a line of the table looks like stands at the top
of mpi_calls.txt; call_table.py reads it, call_meaning.py works out who moves what. The kinds and
attributes allowed in it stand in kinds.h, next to this script. A call of the table that the header lacks keeps its id and its row but gets no wrapper. With --only, the
header is that of an MPI beside the one the table is held against: what it alone has is passed
over, and only the functions that the files name (sources of programs) get wrappers.
"""

import argparse
import dataclasses
import pathlib
import re
import sys
from typing import Dict, List

sys.dont_write_bytecode = True  # beside the sources
from call_meaning import emit_meanings, emit_python, find_meanings  # noqa: E402
from call_table import (Call, TableError, Vocabulary, length_of, read_table,  # noqa: E402
                        read_vocabulary)

DIRECTIONS = {"in": "kIn", "out": "kOut", "inout": "kInOut"}
NOT_REPLAYED = {"local", "irregular", "init", "finalize", "abort"}


@dataclasses.dataclass
class Prototype:
    returns: str
    declarations: List[str]  # as written: "const int recvcounts[]"

    @property
    def names(self) -> List[str]:
        return [re.findall(r"\w+", d.split("[")[0])[-1] for d in self.declarations]


def header_text(path: pathlib.Path, seen: set) -> str:
    """The header and those it includes from its own folder (not the C++ bindings), in one."""
    if path in seen:
        return ""
    seen.add(path)
    text = path.read_text(errors="replace")
    for name in re.findall(r'^\s*#\s*include\s+["<]([\w.]+)[">]', text, re.M):
        included = path.parent / name
        if included.is_file() and "cxx" not in name:
            text += "\n" + header_text(included, seen)
    return text


def read_prototypes(path: pathlib.Path) -> Dict[str, Prototype]:
    """Every MPI_* function declared, by name without MPI_."""
    text = header_text(path, set())
    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S)
    text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", "", text, flags=re.M)
    text = re.sub(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)", " ", text)
    text = re.sub(r"\b[A-Z]+_(?:DECLSPEC|API_PUBLIC|ATTR_\w+\s*\([^()]*\))", " ", text)
    prototypes = {}
    for statement in re.split(r"[;{}]", text):
        words = " ".join(statement.split())
        match = re.match(r"(?:extern )?((?:\w+ )+\**) ?MPI_(\w+) ?\(([^()]*)\)", words)
        if not match or re.match(r"(typedef|static)\b", words):
            continue
        returns, name, params = match.groups()
        declarations = [p.strip() for p in params.split(",")]
        if declarations in (["void"], [""]):
            declarations = []
        # The first one counts: mpio.h repeats some for MPI libraries without them.
        prototypes.setdefault(name, Prototype(returns.strip(), declarations))
    return prototypes


def select(prototypes: Dict[str, Prototype], calls: List[Call],
           files: List[pathlib.Path]) -> Dict[str, Prototype]:
    """Of the prototypes, those of the table's calls that the files name (MPI_Send, ...)."""
    wanted = {call.name for call in calls}
    wanted &= set(re.findall(r"\bMPI_(\w+)", " ".join(file.read_text() for file in files)))
    lacking = sorted(wanted - set(prototypes))
    if lacking:
        raise TableError("named but not in the header: " + ", ".join(lacking))
    return {name: prototypes[name] for name in prototypes if name in wanted}


def check_agreement(calls: List[Call], excluded: Dict[str, str],
                    prototypes: Dict[str, Prototype]) -> None:
    if not prototypes:
        raise TableError("no MPI functions found in the header")
    known = {call.name for call in calls}
    both = sorted(known & set(excluded))
    if both:
        raise TableError("both in the table and excluded: " + ", ".join(both))
    for call in calls:
        prototype = prototypes.get(call.name)
        if prototype is None:
            continue
        count = len([d for d in prototype.declarations if d != "..."])
        if count != len(call.params):
            raise TableError(f"{call.name}: {len(call.params)} parameters in the table, "
                             f"{count} in the header")
        if "..." in prototype.declarations and "irregular" not in call.attributes:
            raise TableError(f"{call.name}: has variable arguments and must be irregular")


def emit_ids(calls: List[Call]) -> str:
    rows = "".join(f"  {call.enumerator} = {call.id},\n" for call in calls)
    return ("#pragma once\n\n#include <cstdint>\n\n"
            "namespace chameleon::mpi {\n\n"
            "/// The calls of the MPI table; the numbers stand in trace files.\n"
            f"enum class CallId : std::uint16_t {{\n{rows}}};\n\n"
            f"inline constexpr std::uint16_t kCallIdEnd = {calls[-1].id + 1};\n\n"
            "}  // namespace chameleon::mpi\n")


def emit_table(calls: List[Call], vocabulary: Vocabulary) -> str:
    lines = []
    first = 0
    for call in calls:
        attributes = " | ".join("Attribute::" + vocabulary.attributes[a] for a in call.attributes)
        lines.append(f'CHAMELEON_CALL({call.id}, {call.name}, "{call.version}", '
                     f'bits({attributes or "Attribute::kNone"}), {first}, {len(call.params)})')
        for param in call.params:
            rule, index, constant, room = length_of(param, call)
            lines.append(f'  CHAMELEON_PARAM("{param.name}", Kind::{vocabulary.kinds[param.kind]}, '
                         f"Direction::{DIRECTIONS[param.direction]}, "
                         f"Length{{Length::Rule::{rule}, {index}, {constant}, {room}}}, "
                         f"{str(param.only_at_root).lower()})")
        first += len(call.params)
    return "\n".join(lines) + "\n"


def emit_wrappers(calls: List[Call], prototypes: Dict[str, Prototype], shards: int) -> str:
    """All wrappers, for as many compilations as there are shards: each takes every n-th, and has
    a function that sets their targets."""
    lines = [f"#define CHAMELEON_WRAPPER_SHARDS {shards}"]
    targets: List[List[str]] = [[] for _ in range(shards)]
    shard = 0
    for call in calls:
        prototype = prototypes.get(call.name)
        if prototype is None or "irregular" in call.attributes:
            continue
        lines.append(f"#if CHAMELEON_SHARD == {shard % shards}")
        lines.append(f"#pragma weak PMPI_{call.name}")  # a library of the same ABI may lack it
        targets[shard % shards].append(f"  set_dispatch<CallId::{call.enumerator}, PMPI_{call.name}>("
                                    f"PMPI_{call.name}, traced);\n")
        shard += 1
        lines.append(f'extern "C" CHAMELEON_EXPORT {prototype.returns} MPI_{call.name}('
                     f'{", ".join(prototype.declarations)}) {{\n'
                     f"  return traced<CallId::{call.enumerator}, PMPI_{call.name}>("
                     f'{", ".join(prototype.names)});\n}}\n#endif\n')
    for shard, calls_of_shard in enumerate(targets):
        lines.append(f"#if CHAMELEON_SHARD == {shard}\n"
                     f"template <>\nvoid chameleon::intercept::set_all_dispatch<{shard}>(bool traced) {{\n"
                     f"{''.join(calls_of_shard)}}}\n#endif\n")
    return "\n".join(lines)


def emit_replay(calls: List[Call], prototypes: Dict[str, Prototype]) -> str:
    return "".join(f"CHAMELEON_REPLAY(CallId::{call.enumerator}, MPI_{call.name}, "
                   f"{len(call.params)})\n" for call in calls
                   if call.name in prototypes and prototypes[call.name].returns == "int"
                   and not NOT_REPLAYED & set(call.attributes)) + (
               "#ifdef CHAMELEON_NO_CODE  // functions that return no error code\n" + "".join(
                   f"CHAMELEON_NO_CODE(CallId::{call.enumerator})\n" for call in calls
                   if call.name in prototypes and prototypes[call.name].returns != "int")
               + "#endif\n")


def write_sources(options: argparse.Namespace, vocabulary: Vocabulary, calls: List[Call],
                  excluded: Dict[str, str]) -> None:
    prototypes = read_prototypes(options.header)
    if options.only:
        prototypes = select(prototypes, calls, options.only)
    check_agreement(calls, excluded, prototypes)
    unknown = sorted(set(prototypes) - {call.name for call in calls} - set(excluded))
    if unknown:
        print(f"-- {len(unknown)} functions of {options.header} are newer than the table and will not "
              f"be traced: " + ", ".join("MPI_" + name for name in unknown))
    outputs = {
        "call_id.h": emit_ids(calls),
        "call_table.inc": emit_table(calls, vocabulary),
        "call_meaning.inc": emit_meanings(calls, find_meanings(calls)),
        "wrappers.inc": emit_wrappers(calls, prototypes, options.shards),
        "replay_calls.inc": emit_replay(calls, prototypes),
    }
    options.output_dir.mkdir(parents=True, exist_ok=True)
    note = ("// SPDX-License-Identifier: BSD-3-Clause\n"
            "// Generated by generate.py; not for editing.\n")
    for name, text in outputs.items():
        (options.output_dir / name).write_text(note + text)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--table", type=pathlib.Path, required=True)
    parser.add_argument("--header", type=pathlib.Path)
    parser.add_argument("--output-dir", type=pathlib.Path)
    parser.add_argument("--only", type=pathlib.Path, metavar="FILE", nargs="+")
    parser.add_argument("--shards", type=int, default=1,
                        help="of wrappers.inc, for as many compilations at once")
    parser.add_argument("--python", type=pathlib.Path, metavar="FILE",
                        help="write the Python reader's table")
    options = parser.parse_args()
    if not options.python and not (options.header and options.output_dir):
        parser.error("needs --header and --output-dir, or --python")
    try:
        vocabulary = read_vocabulary(pathlib.Path(__file__).resolve().parent / "kinds.h")
        calls, excluded = read_table(options.table, vocabulary)
        if options.output_dir:
            write_sources(options, vocabulary, calls, excluded)
        if options.python:
            options.python.write_text(emit_python(calls, find_meanings(calls)))
    except (TableError, OSError) as error:
        print(f"generate.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
