#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every source file is as clang-format 14 lays it out by .clang-format.

    test_format.py CLANG_FORMAT ROOT [--write]"""

import concurrent.futures
import pathlib
import shutil
import subprocess
import sys
import tempfile

FOLDERS = ("analysis", "bench", "examples", "libchameleon", "markers", "replay", "statemachine",
           "tests", "tools")
MANY = 100  # files at a time


def sources(root):
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".c", ".cpp", ".h") and "corpus" not in path.parts:
                yield path


def formatted(tool, root, files):
    """The files as they should be. Not by --dry-run, which complains of inline namespaces that it
    then leaves as they are; and many at a time, because each start of the tool takes as long as a
    file."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        shutil.copy(root / ".clang-format", folder)
        copies = [folder / path.relative_to(root) for path in files]
        for path, copy in zip(files, copies):
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
        subprocess.run([tool, "-i", *copies], check=True)
        return [copy.read_bytes() for copy in copies]


def main():
    tool, root, write = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:] == ["--write"]
    version = subprocess.run([tool, "--version"], check=True, stdout=subprocess.PIPE, text=True)
    if "version 14." not in version.stdout:
        sys.exit(f"{tool} is not of version 14, which others do not format like")
    files = list(sources(root))
    with concurrent.futures.ThreadPoolExecutor() as pool:
        parts = [files[i:i + MANY] for i in range(0, len(files), MANY)]
        texts = [text for part in pool.map(lambda part: formatted(tool, root, part), parts)
                 for text in part]
    wrong = [path for path, text in zip(files, texts) if path.read_bytes() != text]
    if write:
        for path, text in zip(files, texts):
            if path.read_bytes() != text:
                path.write_bytes(text)
    for path in wrong:
        print(f"{path.relative_to(root)}: not as clang-format has it")
    if len(files) < 300:
        sys.exit(f"only {len(files)} files were found")
    return bool(wrong) and not write


if __name__ == "__main__":
    sys.exit(main())
