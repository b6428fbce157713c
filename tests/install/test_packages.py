#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`cpack` makes a .deb and a .tar.gz. The .deb, installed into an empty root by
dpkg, runs the tutorial's commands; only the examples that it traces come from the build. Removing it
leaves nothing.

    test_packages.py --build BUILD --source SOURCE --cpack CPACK --preload LIBRARY"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

NAME = "chameleon-mpi"
FILES = ["bin/chameleon", "bin/chameleon-replay", "include/chameleon/chameleon.h",
         "include/chameleon/trace_reader.h", "share/chameleon/python/pyproject.toml",
         "share/chameleon/python/chameleon_trace/__init__.py", "share/man/man1/chameleon-watch.1",
         "share/man/man7/chameleon-environment.7", "share/bash-completion/completions/chameleon",
         "share/zsh/site-functions/_chameleon", "share/fish/vendor_completions.d/chameleon.fish"]


def run(words, **settings):
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("CHAMELEON_") and name != "PYTHONPATH"}
    done = subprocess.run([str(word) for word in words], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, env={**environment, **settings})
    if done.returncode != 0:
        sys.exit(f"{words}: exit status {done.returncode}\n{done.stdout}")
    return done.stdout


def packages(options, folder):
    """The package of each kind."""
    run([options.cpack, "--config", options.build / "CPackConfig.cmake", "-B", folder])
    made = {path.name.rpartition(".")[2]: path for path in folder.iterdir() if path.is_file()}
    if "gz" not in made:
        sys.exit(f"cpack makes {sorted(made)}")
    return made


def check_files(names, where):
    for name in FILES:
        if not any(found.endswith("/" + name) for found in names):
            sys.exit(f"{where} does not have {name}")
    if not any(name.endswith("/libchameleon.so") for name in names):
        sys.exit(f"{where} does not have the library")
    absolute = [name for name in names if "/build/" in name or "/tests/" in name]
    if absolute:
        sys.exit(f"{where} has {absolute[:3]}")


def run_dpkg(root, *words):
    """The package's scripts run outside the root, which has no shell, and do not change this
    machine: their ldconfig is /bin/true."""
    commands = root.parent / "commands"
    commands.mkdir(exist_ok=True)
    if not (commands / "ldconfig").exists():
        (commands / "ldconfig").symlink_to("/bin/true")
    return run(["dpkg", f"--root={root}", "--force-not-root", "--force-bad-path",
                "--force-script-chrootless", "--log=/dev/null", *words],
               PATH=f"{commands}:{os.environ['PATH']}")


def installed_root(package, folder):
    """The package as dpkg installs it into an empty root, whose database dpkg keeps there. What it
    depends on is not there: the programs take it from this machine."""
    root = folder / "root"
    for name in ("info", "updates"):
        (root / "var/lib/dpkg" / name).mkdir(parents=True)
    for name in ("status", "available"):
        (root / "var/lib/dpkg" / name).touch()
    run_dpkg(root, "--force-depends", "-i", package)
    listed = run_dpkg(root, "-s", NAME)
    if "Status: install ok installed" not in listed:
        sys.exit(f"dpkg --root says {listed}")
    wrong = run_dpkg(root, "-V", NAME)
    if wrong.strip():
        sys.exit(f"installed files differ from the package:\n{wrong}")
    return root


def check_removal(root):
    """Nothing of it stays but what dpkg itself keeps."""
    run_dpkg(root, "-P", NAME)
    left = [path for path in root.rglob("*")
            if path.is_file() and "var/lib/dpkg" not in str(path.relative_to(root))]
    if left:
        sys.exit(f"dpkg -P leaves {left[:5]}")


def check_deb(package, options, folder):
    for field, wanted in (("Package", NAME), ("Version", "0.1.0"), ("Depends", "mpich")):
        found = run(["dpkg-deb", "-f", package, field])
        if wanted not in found:
            sys.exit(f"{package.name}: {field} is {found!r}")
    root = installed_root(package, folder)
    check_files([str(path) for path in root.rglob("*")], package.name)
    said = run([root / "usr/bin/chameleon", "--version"])
    if not said.startswith("chameleon 0.1.0\ntrace format: 1.") or \
            not re.search("^MPI: MPICH [0-9]", said, re.M):
        sys.exit(f"--version says {said!r}")
    # The command must not find what was built.
    place = folder / "place"
    place.mkdir()
    (place / "tools").symlink_to(root / "usr/bin")
    (place / "examples").symlink_to(options.build / "examples")
    print(run([sys.executable, options.source / "tests/golden/test_docs.py", "--build", place,
               "--preload", options.preload, options.source / "docs/tutorial.md"])[-1000:])
    check_removal(root)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=lambda name: pathlib.Path(name).resolve(), required=True)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--cpack", required=True)
    parser.add_argument("--preload", required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name).resolve()
        made = packages(options, folder / "packages")
        with tarfile.open(made["gz"]) as archive:
            check_files(archive.getnames(), made["gz"].name)
        if shutil.which("dpkg-deb") and shutil.which("dpkg"):
            check_deb(made["deb"], options, folder)
        else:
            print("no dpkg-deb: the .deb is neither made nor tried")


if __name__ == "__main__":
    main()
