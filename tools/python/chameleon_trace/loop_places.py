# SPDX-License-Identifier: BSD-3-Clause
"""Where loops are, as return addresses or lines of an interpreted program."""

from .sources import source_text

BINDINGS = ("libmpi", "libchameleon", "libhdf5", "libnetcdf", "libpnetcdf", "libadios2")
PACKAGES = ("/mpi4py/", "/h5py/", "/netCDF4/")


class _Paths:
    """Call paths whose `outer` outermost frames are the same. Those next to them lie from `first` to
    `last`, or, where a path ends or they are of several modules, both are None."""

    __slots__ = ("trace", "some", "outer", "first", "last")

    def __init__(self, trace, some, outer, first=None, last=None):
        self.trace = trace
        self.some = some  # one of them, outermost first
        self.outer = outer
        self.first, self.last = first, last

    def after(self, depth):
        if depth == self.outer:
            return self.first, self.last
        return self.some[depth], self.some[depth]

    def united(self, other):
        most = min(self.outer, other.outer)
        outer = next((i for i in range(most) if self.some[i] != other.some[i]), most)
        (first, last), (other_first, other_last) = self.after(outer), other.after(outer)
        code = _position(self.trace, first)[0]
        if not code or code != _position(self.trace, other_first)[0]:
            return _Paths(self.trace, self.some, outer)
        at = lambda frame: _position(self.trace, frame)[1]  # noqa: E731
        return _Paths(self.trace, self.some, outer, min(first, other_first, key=at),
                      max(last, other_last, key=at))


def _position(trace, frame):
    """What a frame is in, and how far: a module, or a function of a source. None: nothing."""
    if frame is None:
        return None, 0
    source = trace.sources.get(frame.offset)
    if frame.module == 0 and source is not None:
        return source[:3], (source.line, source.column)
    return frame.module or None, frame.offset


INTERPRETERS_END = "the interpreter's end"


def _is_source(trace, frame):
    return frame.module == 0 and frame.offset in trace.sources


def _file(trace, frame):
    if _is_source(trace, frame):
        return trace.sources[frame.offset].file
    module = trace.modules.get(frame.module)
    return module.path if module is not None else ""


def _is_binding(trace, frame):
    path = _file(trace, frame)
    return (any(package in path for package in PACKAGES) or
            frame.module != 0 and path.rpartition("/")[2].startswith(BINDINGS))


def _is_interpreter(trace, frame):
    path = _file(trace, frame)
    if _is_source(trace, frame):
        return path.startswith("<frozen ") or (
            "/lib/python3." in path and "/site-packages/" not in path and
            "/dist-packages/" not in path)
    name = path.rpartition("/")[2]
    return name == "python" or name.startswith(("python3", "libpython3"))


def innermost(trace, frames):
    """The index of the innermost frame outside MPI's libraries, its bindings to other languages,
    libraries for files that call MPI for the program, the tracer, and an interpreter with its own
    library. If there is none: of the innermost source, or of the interpreter, or 0."""
    def first(begin, wanted):
        return next((i for i in range(begin, len(frames)) if wanted(frames[i])), len(frames))

    outside = first(0, lambda frame: not _is_binding(trace, frame))
    if outside < len(frames) and not _is_interpreter(trace, frames[outside]):
        return outside
    line = first(outside, lambda frame: _is_source(trace, frame) and
                 not _is_binding(trace, frame) and not _is_interpreter(trace, frame))
    if line < len(frames):
        return line
    source = first(0, lambda frame: _is_source(trace, frame))
    if source < len(frames):
        return source
    return outside if outside < len(frames) else 0


def is_interpreters_end(trace, frames):
    """Whether an interpreter makes the call outside all lines of its program."""
    return bool(frames) and not any(_is_source(trace, frame) for frame in frames) and \
        _is_interpreter(trace, frames[innermost(trace, frames)])


def _paths(trace, node):
    """_Paths of the calls in a node; None if the path of one is not known."""
    if not node.is_loop:
        frames = trace.paths.get(node.path, ())
        some = frames[innermost(trace, frames):][::-1]
        return _Paths(trace, some, len(some)) if some else None
    every = None
    for inner in node.body:
        paths = _paths(trace, inner)
        if paths is None:
            return None
        every = paths if every is None else every.united(paths)
    return every


def loop_place(trace, loop):
    """As Trace.loop_place. O(nodes x depth of the stack)."""
    paths = _paths(trace, loop)
    if paths is None:
        return ""
    first, last = paths.first, paths.last
    if first is None and paths.outer:
        first = last = paths.some[paths.outer - 1]
    source = trace.sources.get(first.offset) if first and not first.module else None
    if source is not None:
        return source_text(source, trace.sources[last.offset].line)
    if first is None or not first.module:
        return ""
    end = "" if first == last else f"-{last.offset:#x}"
    return trace.frame_text(first) + end
