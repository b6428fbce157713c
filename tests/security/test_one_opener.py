#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What is named to the project is opened in one place, and so is what is made; traces are read
where names in them are made printable, and nowhere else in the command. Files that open something
by themselves are listed, each with what that is; one that does not do so any more is not listed.

    test_one_opener.py SOURCE_FOLDER"""

import pathlib
import re
import sys

ROOMS = ("analysis", "libchameleon", "markers", "replay", "statemachine", "tools")
OPENS = re.compile(r"\b[io]?fstream\s+\w|\bO_(?:RDONLY|WRONLY|RDWR|CREAT|TMPFILE|PATH)\b|"
                   r"\b(?:f|fre|fd)open\(|(?<![\w.>])creat\(|\bopenat2?\(|\bSYS_open|"
                   r"\bpng_image_write_to_file\(|\bdlm?open\(|\bmk(?:d|s|os)temps?\(|\btmpfile\(|"
                   r"\b(?:shm|sem|mq)_open\(|\bmkfifo\(|\bmknod\(")
# Files whose names nobody else chooses, or that exist for opening what is named.
ALLOWED = {
    "libchameleon/base/foreign_file.cpp": "what is named",
    "libchameleon/base/new_file.cpp": "what is made",
    "libchameleon/base/own_descriptor.cpp": "/proc/self/status, /dev/null; a path for tests",
    "libchameleon/base/generated_part.h": "pages of the documentation, when the project is built",
    "libchameleon/callpath/engine.cpp": "libunwind, by its name, as the loader finds it",
    "libchameleon/callpath/stack_bounds.cpp": "/proc/self/maps",
    "libchameleon/intercept/ending_imports.cpp": "the process manager's library, which is loaded",
    "libchameleon/intercept/other_mpi.cpp": "/proc/self/environ; MPI's library, which is loaded",
    "libchameleon/intercept/own_wrappers.cpp": "the tracer's library, which is loaded",
    "libchameleon/intercept/unwinder_imports.cpp": "libunwind, by its name",
    "libchameleon/process/energy_meter.cpp": "counters in /sys",
    "libchameleon/process/host_ranks.cpp": "a page in /dev/shm, under a name of the job's own",
    "libchameleon/process/instruction_counter.cpp": "/proc/sys/kernel/perf_event_paranoid",
    "libchameleon/process/lifecycle.cpp": "/proc/self/cmdline",
    "libchameleon/process/process_copy.cpp": "/dev/null",
    "libchameleon/format/trace_writer.cpp": "the folder of the trace",
    "replay/coverage.cpp": "sources of the replayer, when the project is built",
    "replay/files.cpp": "in the scratch folder",
    "replay/main.cpp": "the scratch folder, under a name that was free",
    "tools/command_output.cpp": "/dev/null",
    "tools/export/sorted_lines.cpp": "a temporary file without a name",
    "tools/export/text_file.cpp": "a folder under a name that was free",
    "tools/live/live_trace.cpp": "of /proc",
    "tools/predict_command.cpp": "a folder under a name that was free",
}
READS = re.compile(r"(?<![\w.>])read_trace\(")
READERS = {"tools/common.cpp": "read_bounded"}
PYTHON = re.compile(r"(?<!def )\b(?:open|fdopen|read_text|read_bytes|write_text|write_bytes|mkstemp|"
                    r"mkdtemp|NamedTemporaryFile|TemporaryFile|CDLL|fromfile|memmap)\(|"
                    r"\bsubprocess\.\w+\(|\bos\.(?:system|popen|exec|spawn)|\bmmap\b")
PYTHON_ALLOWED = {
    "tools/python/chameleon_trace/files.py": "what is named, and what is made",
    "tools/python/chameleon_trace/sources.py":
        "addr2line, on a descriptor of a file that was looked at",
    "tools/python/chameleon_trace/markers.py": "the process itself",
    "tools/python/chameleon_trace/place_waits.py": "the command chameleon, on the user's trace",
}
# The page has all that it shows: it loads nothing, and makes nothing of text but text.
PAGE = re.compile(r"\bfetch\(|\bXMLHttpRequest\b|\bWebSocket\b|\bEventSource\b|\bimport\(|\beval\(|"
                  r"\bnew Function\b|\bWorker\(|\b(?:inner|outer)HTML\b|\binsertAdjacentHTML\b|"
                  r"\bdocument\.write|\bwindow\.open\b|\bsendBeacon\b|\blocalStorage\b|\.src\b|"
                  r"\bsetAttribute\(\s*[\"'](?:src|href|on)|\bhref\s*[:=]")
PAGE_ALLOWED = {
    "tools/report/page/live.js": "the state, of the server that the page is from",
    "tools/report/page/overview.js": "links to the page's own tabs",
}
LEAST = 900  # files


def code_of(path):
    """Without comments and texts."""
    text = path.read_text()
    if path.suffix == ".py":
        text = re.sub(r'(?s)""".*?"""', '""', text)
        return re.sub(r'#.*', "", re.sub(r'"(?:\\.|[^"\\\n])*"', '""', text))
    text = re.sub(r'"(?:\\.|[^"\\\n])*"', '""', text)
    if path.suffix == ".js":
        return re.sub(r"(?m)^\s*//.*|(?s:/\*.*?\*/)", "", text)
    return re.sub(r"//.*", "", text)


def main():
    root = pathlib.Path(sys.argv[1])
    faults, seen = [], 0

    def search(paths, pattern, allowed, what):
        nonlocal seen
        opening = set()
        for path in sorted(paths):
            name = path.relative_to(root).as_posix()
            seen += 1
            for number, line in enumerate(code_of(path).splitlines(), 1):
                if not pattern.search(line):
                    continue
                opening.add(name)
                if name not in allowed:
                    faults.append(f"{name}:{number}: {what}: {line.strip()}")
        faults.extend(f"{name}: is listed, and opens nothing" for name in allowed
                      if name not in opening)

    def files(room, *suffixes):
        return [path for path in (root / room).rglob("*") if path.suffix in suffixes]

    search([path for room in ROOMS for path in files(room, ".cpp", ".h", ".c")], OPENS, ALLOWED,
           "not by base/foreign_file.h or base/new_file.h")
    search(files("tools", ".cpp"), READS, READERS, "not by tools/common.h, read_bounded")
    search(files("tools/python/chameleon_trace", ".py"), PYTHON, PYTHON_ALLOWED, "not by files.py")
    search([path for path in files("tools/report/page", ".js") if path.parent.name == "page"], PAGE,
           PAGE_ALLOWED, "the page opens something")
    if seen < LEAST:
        faults.append(f"only {seen} files were found")
    if faults:
        sys.exit("\n".join(faults))


if __name__ == "__main__":
    main()
