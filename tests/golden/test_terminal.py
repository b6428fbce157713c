#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""No verb lets a name in a trace speak to the terminal, colours are for terminals that have them, and
what could not be printed is an error.

    test_terminal.py COMMAND TRACE

The names in TRACE hold control characters, an escape among them. What the verbs print holds none
but line breaks and tabs."""

import os

import pathlib
import pty
import subprocess
import sys
import tempfile


def main():
    command, trace = sys.argv[1:]
    work = pathlib.Path(tempfile.mkdtemp(prefix="terminal-"))
    everything = b""
    for words in (["info"], ["summary"], ["print"], ["print", "--rank", "0", "--expand"], ["print", "--paths"],
                  ["stats"], ["stats", "--by", "path"], ["check"], ["matrix"], ["compare", trace],
                  ["replay"], ["report", "--output", work / "page.html"],
                  ["export", "--csv", work / "csv"], ["export", "--chrome", work / "chrome"],
                  ["export", "--paraver", work / "paraver"], ["export", "--goal", work / "goal"],
                  ["verify", "--raw", work]):
        done = subprocess.run([command, words[0], trace, *map(str, words[1:])],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        found = {byte for byte in done.stdout if byte == 127 or byte < 32 and byte not in b"\t\n"}
        assert not found, f"{words}: control characters {found} in {done.stdout!r}"
        everything += done.stdout
    assert everything.count(b'a"b') > 5, "the names are shown"
    full = subprocess.run([command, "info", trace], stdout=open("/dev/full", "wb"),
                          stderr=subprocess.PIPE, check=False)
    assert full.returncode == 3 and b"cannot be written to" in full.stderr, full
    assert b"\x1b[" in on_terminal(command, trace, "xterm"), "no colours"
    for kind in ("dumb", None):
        assert b"\x1b[" not in on_terminal(command, trace, kind), f"colours on {kind}"
    return 0


def on_terminal(command, trace, kind):
    """What `print` says on a terminal of this kind."""
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("TERM", "NO_COLOR")} | ({"TERM": kind} if kind else {})
    outer, inner = pty.openpty()
    with subprocess.Popen([command, "print", trace], stdout=inner, env=environment) as process:
        os.close(inner)
        said = b""
        try:
            while part := os.read(outer, 65536):
                said += part
        except OSError:  # the end
            pass
        assert process.wait() == 0, said
    os.close(outer)
    return said


if __name__ == "__main__":
    sys.exit(main())
