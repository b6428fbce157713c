# SPDX-License-Identifier: BSD-3-Clause
"""Lines of the program's source, by addr2line of binutils, of files that still are the traced ones."""

import os
import shutil
import struct
import subprocess
from collections import namedtuple

from .files import open_regular

Line = namedtuple("Line", "function file line")
Line.__doc__ = "A function on a call path: its name, and the file and line at which it calls on."

NT_GNU_BUILD_ID, PT_NOTE = 3, 4


def build_id(path):
    """Of an ELF file of 64 bits, in hexadecimal; empty if there is none."""
    try:
        with open_regular(path) as file:
            return _build_id(file)
    except (OSError, ValueError):
        return ""


def _build_id(file):
    try:
        head = file.read(64)
        if head[:6] != b"\x7fELF\x02\x01" or len(head) < 64:
            return ""
        offset, size, count = (*struct.unpack_from("<Q", head, 32),
                               *struct.unpack_from("<HH", head, 54))
        file.seek(offset)
        segments = file.read(size * count)
        for at in range(0, len(segments) - 55, size):
            kind, _, begin = struct.unpack_from("<IIQ", segments, at)
            if kind == PT_NOTE:
                file.seek(begin)
                found = _note(file.read(min(struct.unpack_from("<Q", segments, at + 32)[0],
                                            1 << 16)))
                if found:
                    return found
    except (OSError, struct.error, ZeroDivisionError, ValueError, OverflowError):
        pass
    return ""


def _trusted(file):
    """Whether the file is the system's or the user's own, or in the current folder. Debug
    information names further files, and a stranger's could name any."""
    facts = os.fstat(file.fileno())
    if facts.st_uid in (0, os.geteuid()):
        return True
    here = os.path.realpath(".")
    return here != "/" and os.path.realpath(f"/proc/self/fd/{file.fileno()}").startswith(here + "/")


def _note(notes):
    at = 0
    while at + 12 <= len(notes):
        name, size, kind = struct.unpack_from("<III", notes, at)
        at += 12
        if kind == NT_GNU_BUILD_ID and notes[at:at + name] == b"GNU\0":
            begin = at + (name + 3) // 4 * 4
            return notes[begin:begin + size].hex()
        at += (name + 3) // 4 * 4 + (size + 3) // 4 * 4
    return ""


def source_text(source, last=0):
    """`solver.py:42 step()`, or `solver.py:42-58 step()` up to a last line, of a SourceFrame."""
    end = f"-{last}" if last > source.line else ""
    return f"{source.file.rpartition('/')[2]}:{source.line}{end} {source_function(source.function)}"


def source_function(name):
    """`step` as `step()`, but `<module>` as it is."""
    return name if name.endswith(">") else name + "()"


def short_function(name):
    """`std::vector<int> f<int>(int)` as `f()`; functions of Python as `source_function`."""
    if name.startswith("<") or ".<" in name:
        return source_function(name)
    name = name.replace("(anonymous namespace)::", "")
    if "operator" in name:
        return name
    kept, depth = "", 0
    for letter in name:
        if letter == "(" and depth == 0:
            break
        depth += letter == "<"
        if depth == 0:
            kept += letter
        depth -= letter == ">" and depth > 0
    return kept.rpartition(" ")[2] + "()"


class Sources:
    """The lines of the frames of a trace. A module is asked once for all of its frames."""

    def __init__(self, trace):
        self.trace = trace
        self.program = shutil.which("addr2line")
        self.known = {}  # by module: lines by offset

    def of(self, frame):
        """Lines of a frame, innermost first: more than one if functions were inlined in it. Empty
        if nothing is known."""
        source = self.trace.sources.get(frame.offset)
        if source is not None and frame.module == 0:
            return (Line(source.function, source.file, source.line),)
        if frame.module not in self.known:
            self.known[frame.module] = self._ask(frame.module)
        return self.known[frame.module].get(frame.offset, ())

    def _ask(self, number):
        module = self.trace.modules.get(number)
        if module is None or self.program is None or not module.build_id:
            return {}
        offsets = sorted({frame.offset for path in self.trace.paths.values() for frame in path
                          if frame.module == number and frame.offset > 0})
        # What is recorded are return addresses, which may be on the next line.
        asked = "".join(f"{offset - 1:#x}\n" for offset in offsets)
        # The file that was looked at, and not another one of its name, which may be more than a
        # name to addr2line.
        try:
            with open_regular(module.path) as file:
                if _build_id(file) != module.build_id or not _trusted(file):
                    return {}
                name = f"/proc/self/fd/{file.fileno()}"
                done = subprocess.run([self.program, "-a", "-f", "-i", "-C", "-e", name],
                                      input=asked, capture_output=True, text=True,
                                      errors="replace", check=False, pass_fds=[file.fileno()])
        except (OSError, ValueError):
            return {}
        return dict(zip(offsets, _answers(done.stdout))) if done.returncode == 0 else {}


def _answers(text):
    """The lines of each address that was asked for: an address, then pairs of function and place."""
    found, function = [], None
    for line in text.splitlines():
        if line.startswith("0x") and function is None:
            found.append([])
        elif function is None:
            function = line
        else:
            file, _, number = line.partition(" (")[0].rpartition(":")
            known = not file.startswith("??") and number.isdigit()
            file = os.path.normpath(file)
            if function != "??":
                found[-1].append(Line(function, file if known else "", int(number) if known else 0))
            function = None
    return [tuple(lines) for lines in found]
