#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every source file is as clang-format 14 lays it out by .clang-format.

    test_format.py CLANG_FORMAT ROOT [--write]"""

import concurrent.futures
import pathlib
import subprocess
import sys

FOLDERS = ("analysis", "bench", "examples", "libchameleon", "markers", "replay", "statemachine",
           "tests", "tools")


def sources(root):
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".c", ".cpp", ".h") and "corpus" not in path.parts:
                yield path


# Not by --dry-run, which complains of inline namespaces that it then leaves as they are.
def differs(tool, path, write):
    text = path.read_bytes()
    formatted = subprocess.run([tool, path], check=True, stdout=subprocess.PIPE).stdout
    if write and formatted != text:
        path.write_bytes(formatted)
    return formatted != text


def main():
    tool, root, write = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:] == ["--write"]
    version = subprocess.run([tool, "--version"], check=True, stdout=subprocess.PIPE, text=True)
    if "version 14." not in version.stdout:
        sys.exit(f"{tool} is not of version 14, which others do not format like")
    files = list(sources(root))
    with concurrent.futures.ThreadPoolExecutor() as pool:
        found = list(pool.map(lambda path: differs(tool, path, write), files))
    wrong = [path for path, differs_ in zip(files, found) if differs_]
    for path in wrong:
        print(f"{path.relative_to(root)}: not as clang-format has it")
    if len(files) < 300:
        sys.exit(f"only {len(files)} files were found")
    return bool(wrong) and not write


if __name__ == "__main__":
    sys.exit(main())
