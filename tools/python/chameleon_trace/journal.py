# SPDX-License-Identifier: BSD-3-Clause
"""The journal of commits; docs/reference/format.md, "Commit"."""

import os
from collections import namedtuple

from . import codec
from .errors import TraceError
from .files import open_regular
from .payload import Part
from .wire import Budget

MAGIC = b"\x89CHAM\r\n\x1a"
HEADER = 16
FRAME = 40
MAJOR = 1
MOST_PLAIN = 1 << 34
MOST_EXPANSION = 1 << 12
MOST_REPEATS = 4096
MOST_REPEATED = 8 << 20

_Commit = namedtuple("_Commit", "offset mark flags stored plain")
File = namedtuple("File", "bytes major minor commits deltas ignored")


def _number(data, at, size):
    return int.from_bytes(data[at:at + size], "little")


def _commits(data, path):
    """The intact commits in order; TraceError where something stops them that is not the end."""
    at = HEADER
    while at < len(data):
        if len(data) - at < FRAME:
            raise TraceError("truncated", "truncated trace: it ends inside a commit", path, at)
        head = data[at:at + FRAME]
        if _number(head, 32, 8) != codec.xxh3_64(head[:32]):
            raise TraceError("corrupt", "corrupt trace: a commit's header is damaged", path, at)
        size = _number(head, 8, 8)
        if size > len(data) - at - FRAME:
            raise TraceError("truncated", "truncated trace: it ends inside a commit", path, at)
        stored = data[at + FRAME:at + FRAME + size]
        if _number(head, 24, 8) != codec.xxh3_64(stored):
            raise TraceError("corrupt", "corrupt trace: a commit's checksum differs", path, at)
        mark, flags = head[:4], _number(head, 4, 4)
        if flags > 1 or mark not in (b"CMT1", b"DLT1", b"RPT1"):
            raise TraceError("unsupported-version", "a commit of a kind that is not readable here: "
                             "use a newer chameleon_trace", path, at)
        yield _Commit(at, mark, flags, stored, _number(head, 16, 8))
        at += FRAME + size


def _scan(data, path):
    """([commit, times] from the last whole trace on, commits in all, where they end)."""
    journal, count, end = [], 0, HEADER
    try:
        for commit in _commits(data, path):
            if commit.mark == b"CMT1":
                journal = [[commit, 1]]
            elif commit.mark == b"DLT1" and journal:
                journal.append([commit, 1])
            elif commit.mark == b"DLT1" or len(journal) < 2:
                raise TraceError("corrupt", "corrupt trace: a delta without what it is appended to",
                                 path, commit.offset)
            elif (commit.stored or commit.flags or not 1 <= commit.plain <= MOST_REPEATS or
                  journal[-1][1] > MOST_REPEATS):
                raise TraceError("corrupt", "corrupt trace: a delta is repeated too often", path,
                                 commit.offset)
            else:
                journal[-1][1] += commit.plain
            count += 1
            end = commit.offset + FRAME + len(commit.stored)
    except TraceError as error:
        # Damage ends the journal; what is intact but not understood must not be left out.
        if not journal or error.kind == "unsupported-version":
            raise
    if not journal:
        raise TraceError("truncated", "truncated trace: it holds no commit", path, HEADER)
    return journal, count, end


def _plain(commit, path):
    def refuse(kind, what):
        return TraceError(kind, what, path, commit.offset)

    if not commit.flags:
        if commit.plain != len(commit.stored):
            raise refuse("corrupt", "corrupt trace: a commit has sizes that disagree")
        return commit.stored
    if commit.plain > MOST_PLAIN or commit.plain // MOST_EXPANSION > len(commit.stored):
        raise refuse("corrupt", "corrupt trace: a commit claims an impossible size")
    return codec.decompress(commit.stored, commit.plain)


def parse(data, path, most):
    """(parts with how many times each counts, File) of the bytes of a file."""
    if data[:8] != MAGIC:
        raise TraceError("not-a-trace", "not a Chameleon trace: give the .cham file that a traced "
                         "run wrote", path, 0)
    if len(data) < HEADER:
        raise TraceError("truncated", "truncated trace: it ends inside its header", path, len(data))
    major, minor = _number(data, 8, 2), _number(data, 10, 2)
    if major != MAJOR:
        raise TraceError("unsupported-version", f"format version {major}.{minor} is not readable "
                         f"here ({MAJOR}.x is): use the chameleon_trace of the version that wrote "
                         "it, or a newer one", path, 8)
    journal, commits, end = _scan(data, path)
    whole = len(data) + sum(min(commit.plain, MOST_PLAIN) for commit, _ in journal)
    if whole > most:
        raise TraceError("too-large", "too large: the file and what its commits are when "
                         f"decompressed are {whole} bytes, above the limit of {most}", path)
    budget = Budget(most - whole)
    repeats = repeated = deltas = 0
    parts = []
    for commit, times in journal:
        repeats += times - 1
        repeated += (times - 1) * commit.plain
        deltas += times
        if repeats > MOST_REPEATS or repeated > MOST_REPEATED:
            raise TraceError("corrupt", "corrupt trace: a delta is repeated too often", path,
                             commit.offset)
        try:
            part = Part(_plain(commit, path), budget)
            if parts:
                _compare(parts[0][0], part)
            _check_ranks(parts[0][0] if parts else part, part)
        except TraceError as error:
            if error.path:
                raise
            if error.kind == "too-large":
                raise TraceError(error.kind, f"{error.message} of {most} bytes", path) from None
            raise TraceError(error.kind, f"corrupt trace: {error.message}", path,
                             commit.offset) from None
        parts.append((part, times))
    return parts, File(len(data), major, minor, commits, deltas - 1, len(data) - end)


def _compare(first, part):
    """Raises if a delta cannot be of the same run. `first` learns its calls."""
    if part.world_size not in (0, first.world_size) and first.world_size != 0:
        raise TraceError("corrupt", "a delta is of another number of ranks")
    for number, call in part.calls.items():
        if first.calls.setdefault(number, call) != call:
            raise TraceError("corrupt", "a delta describes a call differently")


def _check_ranks(first, part):
    """Raises if it has events of ranks that the job does not have, or of threads of theirs."""
    world = max(first.world_size, part.world_size)
    if world and part.ranks.last >= world * max(first.threads, part.threads):
        raise TraceError("corrupt", "it has events of ranks that are not in the run")


def read(path, most):
    """As parse, of a file."""
    name = os.fspath(path)
    try:
        with open_regular(path) as file:
            size = os.fstat(file.fileno()).st_size
            if size > most:
                raise TraceError("too-large", f"the file is {size} bytes, above the limit of {most}",
                                 name)
            data = file.read(size)
    except OSError as error:
        raise TraceError("system", f"cannot be read: {error.strerror}", name) from None
    return parse(data, name, most)
