# SPDX-License-Identifier: BSD-3-Clause
"""Reads Chameleon's trace files; needs nothing but Python.

    import chameleon_trace
    trace = chameleon_trace.read_trace("run.cham")
    for event in trace.events(rank=0):
        print(event.name, event.params)
    trace.to_pandas("messages").groupby("source").bytes.sum()
"""

from .communicators import Communicator
from .efforts import EffortStep, EffortStratum, EffortWindow
from .errors import TraceError
from .events import NOT_RECORDED, Event
from .fact_table import ONLINE_FACTS, RANK_FACTS, RUN_FACTS, Fact
from .facts import RankFacts
from .markers import marker
from .nodes import CallNode, Form, Inexact, Loop, SpecialRank, TimeEntry
from .overview import Comparison, RankTimes
from .outliers import Outlier
from .pair_accounts import PairAccount
from .payload import Call, Cluster, Declaration, Field, Frame, Module, Online, Phase, Predefined, \
    SourceFrame
from .place_waits import PlaceWaits
from .rank_list import RankList
from .series import OverRanks, Span, Took
from .sources import Line
from .tables import COLUMNS
from .timeline import Bar, Timeline
from .times import PlaceTimes, StreamTimes, TimeClass, TimeTable
from .totals import Total
from .trace import Trace, compare, parse_trace, read_trace
from .values import Histogram, ValueSequence

__version__ = "0.1.0"

__all__ = ["Bar", "COLUMNS", "Call", "CallNode", "Cluster", "Communicator", "Comparison",
           "Declaration", "EffortStep", "EffortStratum", "EffortWindow", "Event", "Fact", "Field",
           "Form", "Frame", "Histogram", "Inexact", "Line", "Loop", "Module", "NOT_RECORDED",
           "ONLINE_FACTS", "Online", "Outlier", "OverRanks", "PairAccount", "Phase", "PlaceTimes",
           "PlaceWaits", "Predefined", "RANK_FACTS", "RUN_FACTS", "RankFacts", "RankList",
           "RankTimes", "SourceFrame", "Span", "SpecialRank", "StreamTimes", "TimeClass",
           "TimeEntry", "TimeTable", "Timeline", "Took", "Total", "Trace", "TraceError",
           "ValueSequence", "compare", "marker", "parse_trace", "read_trace"]
