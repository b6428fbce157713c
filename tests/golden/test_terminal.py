#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""No verb lets a name in a trace speak to the terminal.

    test_terminal.py COMMAND TRACE

The names in TRACE hold control characters, an escape among them. What the verbs print holds none
but line breaks and tabs."""

import pathlib
import subprocess
import sys
import tempfile


def main():
    command, trace = sys.argv[1:]
    work = pathlib.Path(tempfile.mkdtemp(prefix="terminal-"))
    everything = b""
    for words in (["info"], ["print"], ["print", "--rank", "0", "--expand"], ["print", "--paths"],
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
    return 0


if __name__ == "__main__":
    sys.exit(main())
