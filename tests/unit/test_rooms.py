#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The arrows between rooms, as base/rooms.h draws them, hold for every include; they have no cycle;
and only the rooms that docs/design/rooms.md says so include mpi.h.

    test_rooms.py ROOT"""

import pathlib
import re
import sys

VOCABULARY = {"base", "model"}
KNOWS_MPI = {"mpi", "record", "process", "intercept", "replay"}
KNOWS_MPI_FILES = ("world/mpi_", "markers/")
# A file that stands for another room than its folder's, with the reason.
STANDS_FOR = {"analysis/reader": "reader"}  # what others read traces with, not part of the analyses


def arrows(text):
    """Rooms in order, each with those that it uses."""
    inside = text.split("namespace chameleon {", 1)[1]
    return {name: re.findall(r"using namespace (\w+);", body)
            for name, body in re.findall(r"namespace (\w+) \{(.*?)\}", inside, re.S)}


def room_of(path):
    """Of a file by its path in the checkout."""
    for folder, room in STANDS_FOR.items():
        if path.startswith(folder + "/"):
            return room
    parts = path.split("/")
    return parts[1] if parts[0] == "libchameleon" else parts[0]


def sources(root):
    for folder in ("libchameleon", "statemachine", "markers", "analysis", "replay", "tools"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".h", ".cpp") and "include" not in path.parts:
                yield path.relative_to(root).as_posix(), path.read_text()


def main():
    root = pathlib.Path(sys.argv[1])
    uses = arrows((root / "libchameleon/base/rooms.h").read_text())
    faults = []
    known = set()
    for room, others in uses.items():
        faults += [f"{room} uses {other}, which comes after it" for other in others
                   if other not in known]
        known.add(room)
    count = 0
    for path, text in sources(root):
        room = room_of(path)
        if room not in uses:
            faults.append(f"{path} is in no room of base/rooms.h")
            continue
        for include in re.findall(r'^#include "([^"]+)"', text, re.M):
            folder = include.split("/")[0]
            if "/" not in include or (folder not in uses and folder != "analysis"):
                continue  # beside the file, generated, or public
            of = room_of("libchameleon/" + include if (root / "libchameleon" / include).exists()
                         else include)
            count += 1
            if of != room and of not in VOCABULARY and of not in uses[room]:
                faults.append(f"{path} includes {include}: {room} does not use {of}")
        if re.search(r"^#include <mpi.h>", text, re.M) and room not in KNOWS_MPI and not any(
                part in path for part in KNOWS_MPI_FILES):
            faults.append(f"{path} includes mpi.h")
    if count < 500:
        faults.append(f"only {count} includes were found")
    print("\n".join(faults) or f"{count} includes of {len(uses)} rooms")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
