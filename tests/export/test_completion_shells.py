#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Completion of verbs, options and files in zsh and fish, where they are installed.

    test_completion_shells.py FOLDER CHAMELEON"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

# Says what `compadd` and `_describe` are asked to offer, without a terminal.
ZSH = r"""
compdef() { }
_describe() { local -a all; all=("${(@P)2}"); print -rl -- ${all%%:*} }
compadd() { shift; print -rl -- "$@" }
_files() { print -rl -- FILES }
words=("$@"); CURRENT=$#
source FILE
"""


def offers_of_zsh(folder, words, work):
    script = work / "offer.zsh"
    script.write_text(ZSH.replace("source FILE", f"source {folder / '_chameleon'} $words"))
    return subprocess.run(["zsh", "-f", script, *words], capture_output=True, text=True,
                          check=True).stdout.split("\n")


def offers_of_fish(folder, words, work):
    line = " ".join(words)
    done = subprocess.run(["fish", "--no-config", "-c",
                           f"source {folder / 'chameleon.fish'}; complete -C '{line}'"],
                          capture_output=True, text=True, check=True, cwd=work)
    return [offer.split("\t")[0] for offer in done.stdout.split("\n")]


def main():
    folder, command = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    os.environ["PATH"] = f"{command.parent}:{os.environ['PATH']}"
    tried = 0
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        (work / "trace.cham").touch()
        os.environ["HOME"] = os.environ["XDG_CONFIG_HOME"] = os.environ["XDG_DATA_HOME"] = name
        for shell, offers_of in (("zsh", offers_of_zsh), ("fish", offers_of_fish)):
            if not shutil.which(shell):
                print(f"{shell} is not installed: not tried")
                continue
            tried += 1
            verbs = offers_of(folder, ["chameleon", ""], work)
            for verb in ("run", "watch", "export", "compare"):
                assert verb in verbs, f"{shell}: {verb} is not offered: {verbs}"
            options = offers_of(folder, ["chameleon", "export", "--c"], work)
            assert "--chrome" in options, f"{shell}: --chrome is not offered: {options}"
            assert not any(verb in options for verb in verbs if verb), f"{shell}: {options}"
            files = offers_of(folder, ["chameleon", "info", "tr"], work)
            assert "trace.cham" in files or "FILES" in files, f"{shell}: no file: {files}"
    print(f"{tried} shells")


if __name__ == "__main__":
    main()
