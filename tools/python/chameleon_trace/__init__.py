# SPDX-License-Identifier: BSD-3-Clause
"""Reads Chameleon's trace files; needs nothing but Python.

    import chameleon_trace
    trace = chameleon_trace.read_trace("run.cham")
    for event in trace.events(rank=0):
        print(event.name, event.params)
    trace.to_pandas("messages").groupby("source").bytes.sum()
"""

from .communicators import Communicator
from .errors import TraceError
from .events import NOT_RECORDED, Event
from .fact_table import ONLINE_FACTS, RANK_FACTS, RUN_FACTS, Fact
from .facts import RankFacts
from .nodes import CallNode, Form, Inexact, Loop, SpecialRank, TimeEntry
from .payload import Call, Cluster, Declaration, Field, Frame, Module, Online, Phase, Predefined
from .rank_list import RankList
from .series import OverRanks, Span, Took
from .tables import COLUMNS
from .times import PlaceTimes, StreamTimes, TimeClass, TimeTable
from .totals import Total
from .trace import Trace, parse_trace, read_trace
from .values import Histogram, ValueSequence

__version__ = "0.1.0"

__all__ = ["COLUMNS", "NOT_RECORDED", "ONLINE_FACTS", "RANK_FACTS", "RUN_FACTS", "Call", "CallNode",
           "Cluster", "Communicator", "Declaration", "Event", "Fact", "Field", "Form", "Frame", "Histogram", "Inexact", "Loop", "Module", "Online",
           "OverRanks", "Phase", "PlaceTimes", "Predefined", "RankFacts", "RankList", "Span", "SpecialRank", "StreamTimes",
           "TimeClass", "TimeEntry", "TimeTable", "Took", "Total", "Trace", "TraceError", "ValueSequence", "parse_trace", "read_trace"]
