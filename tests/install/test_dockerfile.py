#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The image that docs/how-to/containers.md describes: its packages are those that scripts/packages
names to build Chameleon, and its commands are README's.

    test_dockerfile.py --source SOURCE

No image is built: what the commands do is tested by the installation on this system."""

import argparse
import pathlib
import re
import sys


def block(path, language):
    """The one block of this language, its continued lines joined."""
    found = re.findall(rf"^```{language}\n(.*?)^```$", path.read_text(), re.M | re.S)
    if len(found) != 1:
        sys.exit(f"{path}: {len(found)} blocks of {language}, not one")
    return found[0].replace("\\\n", " ").splitlines()


def commands(lines):
    """Single commands of shell lines, without the values that each place has for itself."""
    found = []
    for line in lines:
        for command in line.split("&&"):
            words = [word for word in command.split() if not word.startswith("-DCHAMELEON_FORTRAN")]
            if "--prefix" in words:
                del words[words.index("--prefix") + 1]
            found.append(" ".join(words))
    return found


def install_block(readme):
    """The block of README's section Install."""
    section = readme.read_text().split("\n## Install\n")[1]
    return re.search(r"^```sh\n(.*?)^```$", section, re.M | re.S).group(1).splitlines()


def to_build(packages):
    """The packages of the section that begins with "To build it"."""
    section = packages.read_text().split("\n# To build it")[1].split("\n\n")[0]
    return [line.split("#")[0].strip() for line in section.splitlines()[1:]]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", type=pathlib.Path, required=True)
    source = parser.parse_args().source
    lines = block(source / "docs/how-to/containers.md", "dockerfile")
    runs = [line.removeprefix("RUN ") for line in lines if line.startswith("RUN ")]
    update, install = commands(runs[:1])
    words = install.split()
    if [update, *words[:4]] != ["apt-get update", "apt-get", "install", "-y",
                                "--no-install-recommends"]:
        sys.exit(f"packages are installed by {update} && {install}")
    wanted = to_build(source / "scripts/packages")
    if sorted(words[4:]) != sorted(wanted):
        sys.exit(f"packages differ: {set(words[4:]) ^ set(wanted)}")
    readme = commands(install_block(source / "README.md"))
    if commands(runs[1:]) != readme:
        sys.exit(f"README has {readme}, the image {commands(runs[1:])}")
    print(f"{len(wanted)} packages, {len(readme)} commands; no image is built by this test")


if __name__ == "__main__":
    main()
