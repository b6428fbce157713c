# SPDX-License-Identifier: BSD-3-Clause
"""How much there is to do before it is begun: a few kilobytes can say that a call was made 2^60
times. What visits calls one by one asks here first."""

MOST_EVENTS = 20_000_000
OF_RANK = 1000  # calls that take as long as a rank does before its first call


def too_many(trace, ranks, most=None):
    """Why the calls of these ranks are not visited one by one, or None. Takes seconds at most."""
    most = trace.most_events if most is None else most
    visits = 0
    for stream in ranks:
        visits += OF_RANK + trace.event_count(stream)
        if visits > most:
            return (f"{trace.path}: this visits more than {most} calls one by one, which takes minutes "
                    "or more: give fewer ranks, or set most_events")
    return None


def allow(trace, ranks, most=None):
    """ValueError if there are more than `most` calls, by default Trace.most_events."""
    why = too_many(trace, ranks, most)
    if why:
        raise ValueError(why)
