#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""One place turns end-points into ranks (analysis/partner.h), one layer walks a trace for all
tools (analysis/follow.h), and one place reads the times of nodes (analysis/stream_times.h): who does
so besides is named here with the reason.

    test_one_resolver.py SOURCE_FOLDER"""

import pathlib
import re
import sys

FOLDERS = ("analysis", "replay", "tools")
RULES = {
    # EndPoint::rank, which takes the place in the communicator.
    r"\.rank\((?=[^();]*,)": {"analysis/partner.h"},
    r"\bpacked_(relative|absolute)\b": {
        "analysis/partner.h",
        "tools/value_text.cpp",         # the text of progressions
    },
    r"\b(Communicators|Datatypes|Requests) \w+[;({]": {"analysis/follow.h"},
    r"\bTimeEntry\b|\b(?:node|from|leaf)\)?(?:\.|->)times\b(?!\()": {"analysis/stream_times.cpp"},
    r"\bRankView::make\b": {
        "analysis/arrivals.cpp",        # what comes before an event, where loops have idle visits
        "analysis/place_times.cpp",     # sums of each event's own times
        "analysis/rank_streams.cpp",    # the events below the layer
        "analysis/object_life.cpp",     # what threads hand over, found before they are followed
    },
    r"\bRankStreams::make": {"analysis/follow.cpp", "analysis/rank_streams.cpp"},
    # Another place to count from than the communicator of the event.
    r"\bCommPlace\b": {
        "analysis/partner.h",
        "analysis/verify_seen.h",       # the trace's, kept while what is behind is read
        "analysis/verify_model.h",      # the records', where the trace has none
        "analysis/verify_model.cpp",
        "analysis/verify_events.h",
        "analysis/verify_events.cpp",
        "analysis/verify_text.h",
        "analysis/verify_text.cpp",
    },
}


def main():
    root = pathlib.Path(sys.argv[1])
    faults, seen = [], {pattern: set() for pattern in RULES}
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in (".cpp", ".h"):
                continue
            name = str(path.relative_to(root))
            code = re.sub(r"//.*", "", path.read_text(encoding="utf-8"))
            for pattern, allowed in RULES.items():
                for match in re.finditer(pattern, code):
                    seen[pattern].add(name)
                    if name not in allowed:
                        line = code.count("\n", 0, match.start()) + 1
                        faults.append(f"{name}:{line}: {match.group(0)}: see docs/design/follow.md")
    for pattern, allowed in RULES.items():
        faults += [f"{name} no longer has {pattern}: take it off the list"
                   for name in sorted(allowed - seen[pattern])]
    print("\n".join(faults) or "one resolver")
    sys.exit(1 if faults else 0)


main()
