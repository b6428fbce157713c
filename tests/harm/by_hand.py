# SPDX-License-Identifier: BSD-3-Clause
"""Checks of libchameleon.so preloaded by hand, for test_harmless.py."""

import pathlib
import re

from harness import expect

RANKS = 2
LOADER = "/lib64/ld-linux-x86-64.so.2"


def by_hand(harm, name, program, words, events):
    """libchameleon.so preloaded by hand, without `chameleon run`, into a program of another MPI; and
    into `words`, which says its name and its arguments."""
    folder = harm.tools.fresh(name)
    (folder / "raw").mkdir()
    traced = harm.tools.job(RANKS, [program], preload=[harm.tools.first_library], cwd=folder,
                            CHAMELEON_OUTPUT=folder / "x.cham", CHAMELEON_RAW=folder / "raw")
    expect(traced.status == 5, f"{name}: fails", traced)
    expect((folder / "x.cham").exists(), f"{name}: no trace", traced)
    expect(harm.events(folder) == events, f"{name}: events are missing", traced)
    libraries = {"LD_PRELOAD": harm.tools.preload(harm.tools.first_library, harm.tools.test_yield)}
    for line in ([words, "a b", ""], ["sh", "-c", '"$0" "$1" "$2"', words, "a b", ""]):
        said = harm.tools.run(line, cwd=folder, **libraries)
        expect((said.status, said.stdout) == (0, b"words|a b||\n"), f"{name}: arguments", said)
    # Not the loader as a program: it has changed the arguments, and the program runs untraced.
    said = harm.tools.run([LOADER, words, "a b", ""], cwd=folder, **libraries)
    expect(said.status == 0 and said.stdout.endswith(b"|a b||\n"), f"{name}: the loader", said)
    starts_again(harm, name, words)


def starts_again(harm, name, words):
    """Which processes start again with another preload: programs of the other MPI alone. Other
    preloads stay. Not under Valgrind, not with tracing switched off, not without /proc."""
    def preload(*command, **variables):
        said = harm.tools.run(command, **variables)
        expect(said.status == 0, f"{name}: {command[0]}", said)
        return said.stdout.decode().strip()

    given = harm.tools.preload(harm.tools.first_library, harm.tools.test_yield)
    before, after = given.split(harm.tools.first_library)
    other = re.escape(str(pathlib.Path(harm.tools.first_library).parent)) + r"/libchameleon-[^:]*"
    changed = preload(words, "--preload", LD_PRELOAD=given)
    expect(re.fullmatch(f"{re.escape(before)}{other}(:/[^:]*/libmpi.so[^:]*)?{re.escape(after)}",
                        changed), f"{name}: LD_PRELOAD is {changed}")
    expect(preload("sh", "-c", "echo $LD_PRELOAD", LD_PRELOAD=given) == given, f"{name}: sh")
    valgrind = f"{given}:/nowhere/vgpreload_core.so"
    expect(preload(words, "--preload", LD_PRELOAD=valgrind) == valgrind, f"{name}: Valgrind")
    off = preload(words, "--preload", LD_PRELOAD=given, CHAMELEON_ENABLE=0)
    expect(off == given, f"{name}: switched off, LD_PRELOAD is {off}")
    without = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"]
    if harm.tools.run([*without, "true"]).status == 0:
        # No $ORIGIN either, and UCX of an MPI may complain.
        kept = preload(*without, "env", f"LD_PRELOAD={given}", words, "--preload",
                       LD_LIBRARY_PATH=pathlib.Path(words).parent)
        expect(kept.split("\n")[-1] == given, f"{name}: without /proc, LD_PRELOAD is {kept}")
