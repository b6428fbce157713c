# SPDX-License-Identifier: BSD-3-Clause
"""Reading what a user, or worse a trace, names, and how much of it."""

import errno
import os
import stat
import tempfile

MOST_READ = 1 << 30


def default_limit():
    """Bytes that reading a trace may take: a quarter of this machine's memory, at most 1 GiB."""
    try:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        memory = -1
    return min(MOST_READ, memory // 4) if memory > 0 else MOST_READ


def open_regular(path):
    """Opens a regular file to read its bytes. A pipe that nobody writes to, or a device, is an
    OSError, and nothing is waited for."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", str(path))
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def write_new(path, text):
    """Writes a text file. It takes the place of what has its name, and is not written through a
    link."""
    path = os.fspath(path)
    try:
        mode = os.lstat(path).st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISLNK(mode):
            raise OSError(errno.EINVAL, "it is not a regular file", path)
    except FileNotFoundError:
        pass
    descriptor, beside = tempfile.mkstemp(prefix=os.path.basename(path) + ".", suffix=".new",
                                          dir=os.path.dirname(path) or ".")
    try:
        umask = os.umask(0)
        os.umask(umask)
        os.fchmod(descriptor, 0o644 & ~umask)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        os.rename(beside, path)
    except BaseException:
        os.unlink(beside)
        raise
