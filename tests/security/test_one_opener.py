#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What is named to the project is opened in one place, and so is what is made; traces are read
where names in them are made printable, and nowhere else in the command.

    test_one_opener.py SOURCE_FOLDER"""

import pathlib
import re
import sys

ROOMS = ("analysis", "replay", "tools", "libchameleon/record", "libchameleon/format",
         "libchameleon/model")
OPENS = re.compile(r"\b[io]?fstream\s+\w|\bO_(?:RDONLY|WRONLY|RDWR|CREAT)\b|\b(?:f|fre)open\(|"
                   r"(?<![\w.>])creat\(|\bpng_image_write_to_file\(")
# Files whose names nobody else chooses, and files for the ranks of a replay in a folder of its own.
ALLOWED = {
    "tools/live/live_trace.cpp": "of /proc",
    "tools/command_output.cpp": "/dev/null",
    "replay/coverage.cpp": "a program of the build",
    "replay/files.cpp": "in the scratch folder",
    "libchameleon/format/trace_writer.cpp": "the folder of the trace",
}
READS = re.compile(r"(?<![\w.>])read_trace\(")
READERS = {"tools/common.cpp"}
PYTHON = re.compile(r"(?<![\w.])open\(")
PYTHON_ALLOWED = {"tools/python/chameleon_trace/files.py"}


def code_of(path):
    """Without comments and texts."""
    text = re.sub(r'"(?:\\.|[^"\\])*"', '""', path.read_text())
    return re.sub(r"//.*", "", text)


def main():
    root = pathlib.Path(sys.argv[1])
    faults, seen = [], 0

    def search(path, pattern, allowed, what):
        nonlocal seen
        name = path.relative_to(root).as_posix()
        seen += 1
        if name in allowed:
            return
        for number, line in enumerate(code_of(path).splitlines(), 1):
            if pattern.search(line):
                faults.append(f"{name}:{number}: {what}: {line.strip()}")

    for room in ROOMS:
        for path in sorted((root / room).rglob("*")):
            if path.suffix in (".cpp", ".h"):
                search(path, OPENS, ALLOWED, "not by base/foreign_file.h or base/new_file.h")
    for path in sorted((root / "tools").rglob("*.cpp")):
        search(path, READS, READERS, "not by tools/common.h, read_bounded")
    for path in sorted((root / "tools/python/chameleon_trace").glob("*.py")):
        search(path, PYTHON, PYTHON_ALLOWED, "not by files.py")
    if seen < 200:
        faults.append(f"only {seen} files were found")
    if faults:
        sys.exit("\n".join(faults))


if __name__ == "__main__":
    main()
