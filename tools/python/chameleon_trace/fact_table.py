# SPDX-License-Identifier: BSD-3-Clause
"""The facts of a trace that this version knows, as libchameleon/include/chameleon/facts.inc lists
them: the target `approve` writes them here. The order is that of the sections before format 1.4."""

from collections import namedtuple

Fact = namedtuple("Fact", "name unit join since is_text meaning")

# generated
RANK_FACTS = (
    Fact("events", "events", "sum", "1.0", False,
         "MPI calls recorded"),
    Fact("run_ns", "ns", "sum", "1.0", False,
         "from the end of MPI_Init to the start of MPI_Finalize"),
    Fact("tool_ns", "ns", "sum", "1.0", False,
         "of the run time, spent in the tracer"),
    Fact("paused", "calls", "sum", "1.0", False,
         "calls not recorded because tracing was switched off"),
    Fact("processor", "", "host", "1.0", False,
         "processor on which the rank called MPI_Init"),
    Fact("host", "", "host", "1.0", True,
         "name of the node"),
    Fact("tool_at_ns", "ns", "sum", "1.1", False,
         "in the tracer at markers that led to the state AT"),
    Fact("tool_c_ns", "ns", "sum", "1.1", False,
         "in the tracer at markers that led to the state C"),
    Fact("tool_l_ns", "ns", "sum", "1.1", False,
         "in the tracer at markers that led to the state L"),
    Fact("tool_f_ns", "ns", "sum", "1.1", False,
         "in the tracer at the end of the run"),
    Fact("clock_samples", "comparisons", "clock", "1.2", False,
         "how often the rank's clock was compared with rank 0's; 0: never, and the other facts of the clock say nothing"),
    Fact("clock_begin_ns", "ns", "clock", "1.2", False,
         "what rank 0's clock showed when this rank's showed 0, at its start; within 2^60 of 0"),
    Fact("clock_drift_ppb", "ppb", "clock", "1.2", False,
         "where this rank's clock shows t, rank 0's shows begin + t + t * drift / 10^9; within 5 * 10^8 of 0"),
    Fact("clock_error_ns", "ns", "clock", "1.2", False,
         "by how much that may be wrong"),
    Fact("tool_bytes", "bytes", "most", "1.2", False,
         "most memory that the tracer had allocated; 0: not known"),
    Fact("call_ns", "ns", "sum", "1.2", False,
         "of the run time, inside recorded MPI calls; 0: not known"),
)
RUN_FACTS = (
    Fact("program", "", "first", "1.0", True,
         "file name of the program"),
    Fact("tool_version", "", "first", "1.0", True,
         "version of the tracer"),
    Fact("mpi", "", "first", "1.0", True,
         "MPI library, as it names itself"),
    Fact("timing", "", "first", "1.0", True,
         "how times are kept: none, histogram, full"),
    Fact("started_unix", "s", "first", "1.0", False,
         "start, since 1970"),
)
ONLINE_FACTS = (
    Fact("clustering", "", "last", "1.1", True,
         "off, k-farthest, ...; empty: not known"),
    Fact("fidelity", "", "last", "1.1", True,
         "what ranks other than leads keep: exact, checked, lead"),
    Fact("call_frequency", "markers", "last", "1.1", False,
         "every how many markers one is acted on"),
    Fact("k", "leads", "last", "1.1", False,
         "most leads that were wanted"),
    Fact("markers", "markers", "last", "1.1", False,
         "seen by rank 0"),
    Fact("acted", "markers", "last", "1.1", False,
         "acted on"),
    Fact("count_at", "markers", "last", "1.1", False,
         "acted on that led to the state AT"),
    Fact("count_c", "markers", "last", "1.1", False,
         "acted on that led to the state C"),
    Fact("count_l", "markers", "last", "1.1", False,
         "acted on that led to the state L"),
    Fact("count_f", "ends", "last", "1.1", False,
         "how often the run ended: 1 or 0"),
    Fact("flushes", "flushes", "last", "1.1", False,
         "how often partial traces were merged into the online trace"),
    Fact("clusterings", "elections", "last", "1.1", False,
         "how often leads were elected"),
    Fact("merge_bytes", "bytes", "last", "1.1", False,
         "sent between ranks for merging, by all of them"),
)
# end of generated
