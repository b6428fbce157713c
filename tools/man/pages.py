#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes manual pages: chameleon.1 and a page a verb from what the command itself says, with the
examples of its reference, and chameleon-environment.7 from the reference of the environment.

    pages.py --command PATH --version V --reference FOLDER --output FOLDER"""

import argparse
import pathlib
import re
import subprocess
import sys

COLUMN = 30  # where explanations begin; those of longer terms stand on the next line
STATUSES = """.SH EXIT STATUS
0: done; 1: a mismatch or a difference; 2: usage; 3: the input cannot be read; 4: refused.
"""
FILES = """.SH ENVIRONMENT
Variables of the traced program begin with CHAMELEON_: see
.BR chameleon\\-environment (7).
NO_COLOR: no colours on terminals.
"""


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    text = "".join(c if ord(c) < 128 else f"\\[u{ord(c):04X}]" for c in text)
    return f"\\&{text}" if text.startswith(".") else text


def help_of(command, *verb):
    done = subprocess.run([command, *verb, "--help"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"chameleon {' '.join(verb)} --help: status {done.returncode}")
    return done.stdout


def parse(text):
    """(description, usage, {section: [(term, explanation)]})"""
    description, usage, sections, current = [], "", {}, None
    for line in text.splitlines():
        if line.startswith("Usage: "):
            usage = line[len("Usage: "):]
        elif re.fullmatch(r"[A-Z]\w+:", line):
            current = sections.setdefault(line[:-1], [])
        elif current is not None and line.startswith("   ") and current:
            current[-1][1] += " " + line.strip()  # a long term has its text on the next line
        elif current is not None and line.startswith("  "):
            split = COLUMN if line[COLUMN - 1:COLUMN] == " " else len(line)
            current.append([line[:split].strip(), line[split:].strip()])
        elif line.strip() and not usage:
            description.append(line.strip())
    return " ".join(description), usage, sections


def page(name, text, version, more=""):
    description, usage, sections = parse(text)
    lines = [f'.TH {name.upper()} 1 "" "Chameleon {version}" "Chameleon"', ".SH NAME",
             f"{roff(name)} \\- {roff(description.rstrip('.'))}", ".SH SYNOPSIS",
             f".B {roff(usage)}"]
    for section, entries in sections.items():
        lines.append(f".SH {'VERBS' if section == 'Subcommands' else section.upper()}")
        for term, explanation in entries:
            lines += [".TP", f".B {roff(term)}", roff(explanation.strip()) or "\\&"]
    return "\n".join(lines) + "\n" + more + STATUSES + FILES


def examples(reference, verb):
    """The commands that the reference of a verb begins with, as a section."""
    found = re.search(rf"^## {verb}\n\n((?:    .*\n)+)", reference, re.M)
    if not found:
        sys.exit(f"the reference has no example of {verb}")
    lines = [roff(line.strip()) for line in found[1].splitlines()]
    return "\n".join([".SH EXAMPLES", ".nf", *lines, ".fi", ""])


def plain(markdown):
    """A cell of a table without what only a page of HTML can show."""
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", markdown).replace("`", "").strip()


def environment_page(reference, version):
    lines = [f'.TH CHAMELEON\\-ENVIRONMENT 7 "" "Chameleon {version}" "Chameleon"', ".SH NAME",
             "chameleon\\-environment \\- variables of a traced program", ".SH DESCRIPTION"]
    rows = 0
    for line in reference.splitlines():
        cells = [plain(cell) for cell in line.strip().strip("|").split(" | ")]
        if line.startswith("| `CHAMELEON_") and len(cells) == 3:
            rows += 1
            lines += [".TP", f".B {roff(cells[0])}", roff(f"Values: {cells[1]}.") + "\n.br",
                      roff(cells[2])]
        elif line and not line.startswith(("|", "#", "<", "-", "    ", "```")):
            lines += [".PP", roff(plain(line))]
    if rows < 20:
        sys.exit(f"the reference of the environment has {rows} variables")
    return "\n".join([*lines, ".SH SEE ALSO", ".BR chameleon (1)", ""])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--command", required=True)
    parser.add_argument("--version", required=True)
    parser.add_argument("--reference", type=pathlib.Path, required=True)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    reference = (options.reference / "command.md").read_text(encoding="utf-8")
    text = help_of(options.command)
    verbs = [term for term, _ in parse(text)[2]["Subcommands"]]
    others = ",\n".join(f".BR chameleon\\-{verb} (1)" for verb in verbs)
    (options.output / "chameleon.1").write_text(
        page("chameleon", text, options.version, f".SH SEE ALSO\n{others}\n".replace(",\n", " ,\n")))
    for verb in verbs:
        (options.output / f"chameleon-{verb}.1").write_text(
            page(f"chameleon-{verb}", help_of(options.command, verb), options.version,
                 examples(reference, verb) + ".SH SEE ALSO\n.BR chameleon (1)\n"))
    (options.output / "chameleon-environment.7").write_text(environment_page(
        (options.reference / "environment.md").read_text(encoding="utf-8"), options.version))


if __name__ == "__main__":
    main()
