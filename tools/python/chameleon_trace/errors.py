# SPDX-License-Identifier: BSD-3-Clause
"""The one exception of this package."""


class TraceError(Exception):
    """A file that cannot be read, in one line: what is wrong, and where.

    kind is ``not-a-trace``, ``truncated``, ``unsupported-version``, ``corrupt``, ``system`` (the
    operating system refused) or ``too-large`` (beyond what the caller allows). offset is the place
    in the file in bytes: of the header, or of the commit in which the damage is.
    """

    def __init__(self, kind, message, path="", offset=None):
        self.kind = kind
        self.message = message
        self.path = path
        self.offset = offset
        where = "" if offset is None else f" (at byte {offset})"
        super().__init__(f"{path}: {message}{where}" if path else f"{message}{where}")

    def __reduce__(self):
        return (TraceError, (self.kind, self.message, self.path, self.offset))

    def at(self, path, offset):
        """The same, of a place in a file."""
        return TraceError(self.kind, self.message, path, offset)


def corrupt(message):
    return TraceError("corrupt", message)
