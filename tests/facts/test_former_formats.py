#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Files of an earlier format read as they did then: `info --json`, `print` and the facts of the
Python reader say what the tools of that version said, which is kept in a .json beside each file.

    test_former_formats.py --command C --folder FOLDER

The files, by the tracer of format 1.3: `stencil2d` (4 ranks), `threads` (steady_threads, 2 ranks of
3 threads), `growing` (phases, 3 ranks, copied while it ran and cut), and `killed` with what its
ranks left on SIGTERM. --write keeps what the tools at hand say: for files of a next version."""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools/python"))
import chameleon_trace  # noqa: E402

# Of the file itself, which a newer version may write more shortly.
OF_FILE = ("format", "bytes", "facts")
NUMBERS = ("events", "run_ns", "tool_ns", "paused", "processor", "host", "tool_at_ns", "tool_c_ns",
           "tool_l_ns", "tool_f_ns", "clock_samples", "clock_begin_ns", "clock_drift_ppb",
           "clock_error_ns", "tool_bytes", "call_ns")


def output(*words):
    return subprocess.run([str(word) for word in words], check=True, stdout=subprocess.PIPE,
                          timeout=60).stdout.decode()


def printed(command, path):
    """Without the places of loops, which former versions did not know."""
    return [re.sub(r"^( *loop .*?)   \S.*?(?=  |$)", r"\1", line)
            for line in output(command, "print", "--all", path).splitlines()]


def said(command, path):
    info = json.loads(output(command, "info", "--json", path))
    trace = chameleon_trace.read_trace(path)
    online = trace.online._asdict()
    del online["clusters"], online["phases"]
    return {"info": {key: value for key, value in info.items() if key not in OF_FILE},
            "print": printed(command, path),
            "facts": [[fact.rank, *(getattr(fact, name) for name in NUMBERS)]
                      for fact in trace.facts()],
            "run": [trace.program, trace.tool_version, trace.mpi, trace.timing, trace.started],
            "online": online}


def of_those_in(wanted, mine):
    """A newer version may say more."""
    return {key: mine.get(key) for key in wanted} if isinstance(wanted, dict) else mine


def recovered(command, path, folder):
    """A copy of a killed job's trace, joined with what its ranks left."""
    for file in path.parent.glob(path.name + "*"):
        shutil.copy(file, folder)
    whole = folder / "whole.cham"
    output(command, "recover", folder / path.name, "-o", whole)
    return whole


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--command", required=True)
    parser.add_argument("--folder", required=True, type=pathlib.Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    files = sorted(options.folder.glob("*.cham"))
    with tempfile.TemporaryDirectory() as temporary:
        for path in files:
            mine = {"file": said(options.command, path)}
            if path.stem == "killed":
                whole = recovered(options.command, path, pathlib.Path(temporary))
                mine["recovered"] = said(options.command, whole)
            kept = path.with_suffix(".json")
            if options.write:
                kept.write_text(json.dumps(mine, indent=1) + "\n")
            theirs = json.loads(kept.read_text())
            for state, parts in theirs.items():
                for part, wanted in parts.items():
                    if of_those_in(wanted, mine[state][part]) != wanted:
                        sys.exit(f"{path.name}, {state}: {part}:\n{mine[state][part]}\n"
                                 f"in the version that wrote it:\n{wanted}")
    if len(files) < 4:
        sys.exit(f"{len(files)} files in {options.folder}")


if __name__ == "__main__":
    main()
