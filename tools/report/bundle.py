#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes one page of the parts in a folder, as C++ source with strings: what comes before and after
the data, and the script of live pages. No package manager is needed: modules are joined in the order of their imports,
with the `import` and `export` words taken away, so their top-level names must differ.

    bundle.py --page FOLDER --output FILE.cpp [--html FILE]

--html also writes the page with the data {} for a look at it."""

import argparse
import pathlib
import re
import sys

IMPORT = re.compile(r'^import\s+\{[^}]*\}\s+from\s+"\./([\w.-]+)";\n', re.M)
TOP_LEVEL = re.compile(r"^(?:export )?(?:async )?(?:function|const|let|class)\s+(\w+)", re.M)
DATA, POLICY = "@DATA@", "@POLICY@"


def modules(folder, name, done, texts, names):
    """Appends the text of `name` after those of all it imports."""
    if name in done:
        return
    done.add(name)
    text = (folder / name).read_text(encoding="utf-8")
    for imported in IMPORT.findall(text):
        modules(folder, imported, done, texts, names)
    text = IMPORT.sub("", text)
    if re.search(r"^import\b", text, re.M):
        sys.exit(f"{folder / name}: an import that is not of the form this script knows")
    for top in TOP_LEVEL.findall(text):
        if top in names:
            sys.exit(f"{folder / name}: {top} is also in {names[top]}")
        names[top] = name
    texts.append(re.sub(r"^export ", "", text, flags=re.M))


def cpp_string(text):
    lines = []
    for line in text.splitlines(keepends=True):
        for at in range(0, len(line), 4000):
            part = line[at:at + 4000]
            escaped = part.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
            escaped = escaped.replace("?", "\\?").replace("\t", "\\t").replace("\r", "\\r")
            lines.append(f'    "{escaped}"')
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--page", type=pathlib.Path, required=True)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--html", type=pathlib.Path)
    options = parser.parse_args()
    folder = options.page

    texts = []
    modules(folder, "main.js", set(), texts, {})
    uplot = folder / "uplot"
    parts = {
        "@STYLE@": (uplot / "uPlot.min.css").read_text() + (folder / "page.css").read_text(),
        "@UPLOT@": (uplot / "uPlot.iife.min.js").read_text(encoding="utf-8"),
        "@LICENSE@": (uplot / "LICENSE").read_text().strip(),
        "@SCRIPT@": "".join(texts),
    }
    page = (folder / "page.html").read_text(encoding="utf-8")
    for mark, text in parts.items():
        if page.count(mark) != 1:
            sys.exit(f"page.html: {mark} must stand there once")
        if mark != "@STYLE@" and "</script" in text.lower():
            sys.exit(f"the text for {mark} would end its script")
        page = page.replace(mark, text)
    for mark in (POLICY, DATA):
        if page.count(mark) != 1:
            sys.exit(f"page.html: {mark} must stand there once")
    head, rest = page.split(POLICY)
    middle, tail = rest.split(DATA)
    strings = {"page_head": head, "page_middle": middle, "page_tail": tail,
               "page_live": (folder / "live.js").read_text(encoding="utf-8")}
    options.output.write_text(
        '// Written by bundle.py.\n#include "tools/report/page_text.h"\n\n'
        "namespace chameleon::tools::report {\n\n" +
        "".join(f"std::string_view {name}() {{\n  return\n{cpp_string(text)};\n}}\n\n"
                for name, text in strings.items()) +
        "}  // namespace chameleon::tools::report\n", encoding="utf-8")
    if options.html:
        options.html.write_text(head + middle + "{}" + tail, encoding="utf-8")


if __name__ == "__main__":
    main()
