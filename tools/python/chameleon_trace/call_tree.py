# SPDX-License-Identifier: BSD-3-Clause
"""The functions of a trace as a tree, with what was spent in each: for Hatchet, or as it is."""

from .sources import short_function
from .visits import allow


class _Node:
    __slots__ = ("children", "compute_ns", "call_ns", "calls")

    def __init__(self):
        self.children, self.compute_ns, self.call_ns, self.calls = {}, 0.0, 0.0, 0

    def literal(self, name):
        children = [child.literal(one) for one, child in sorted(self.children.items())]
        own = self.compute_ns + self.call_ns
        inside = sum(child["metrics"]["time (inc)"] for child in children)
        return {"frame": {"name": name, "type": "function"},
                "metrics": {"time": own * 1e-9, "time (inc)": own * 1e-9 + inside,
                            "calls": self.calls},
                "children": children}


def call_tree(trace, ranks=None):
    """The tree as nested dicts, in the form that `hatchet.GraphFrame.from_literal` takes: time in
    seconds of all of these ranks together. The time in an MPI call belongs to its node, and the time
    before it to the function that made the call."""
    root = _Node()
    names = {}
    ranks = trace.ranks if ranks is None else list(ranks)
    allow(trace, ranks)
    for stream in ranks:
        for event in trace.events(stream):
            if event.path not in names:
                names[event.path] = [short_function(line.function) if line.file else line.function
                                     for line in reversed(trace.lines(event.path))]
            node = root
            for name in names[event.path]:
                node = node.children.setdefault(name, _Node())
            compute, call = event.mean_ns
            node.compute_ns += compute
            leaf = node.children.setdefault(f"MPI_{event.name}", _Node())
            leaf.call_ns += call
            leaf.calls += 1
    return [child.literal(name) for name, child in sorted(root.children.items())]


def to_hatchet(trace, ranks=None):
    """The tree as a hatchet.GraphFrame."""
    import hatchet  # only here: reading needs nothing but Python

    return hatchet.GraphFrame.from_literal(call_tree(trace, ranks))
