#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Documentation, and what the command prints, is in plain technical English: none of the phrases below,
which readers had to read twice.

    test_prose.py ROOT
    test_prose.py --self

Code, quoted names and tables of formats are left out. A line that must have such a phrase stands in
EXCEPTIONS, with the reason. --self shows that each pattern finds its example."""

import pathlib
import re
import sys

# (what is wrong, what to write instead, pattern, an example that it finds)
PATTERNS = (
    ("told for shown", "shows, says, lists", r"\b(?:tells|told)\b(?![^.|;]{0,70}\bapart\b)",
     "Computing is told by the call it came before."),
    ("the begin", "the beginning, the start", r"\b(?:the|a|its) begins?\b(?! (?:of|at) each)",
     "from the begin of a send"),
    ("a sentence that begins with Of", "for, among, with", r"(?:^(?:\s*[-*\d.]+ )?|[.;|] )Of (?!course)",
     "Of threads there is none."),
    ("Else", "Otherwise", r"(?:^|[.;:] )Else\b", "It waits. Else it goes on."),
    ("hangs together", "is consistent", r"\bhangs? together\b", "the trace hangs together"),
    ("without their others", "unmatched", r"\bwithout (?:its|their) others?\b",
     "receives without their others"),
    ("so many times", "by this factor", r"\bso many times\b", "becomes so many times faster"),
    ("dear", "costly", r"\bdear(?:er|est)?\b", "dear events are summed"),
    ("give way", "yield, pause", r"\bgives? way\b", "ranks that wait do not give way"),
    ("goes round", "iterates", r"\b(?:go|goes|turned) round\b", "the loop goes round"),
    ("as then", "as before", r"\bas then\b", "it is taken to be as then"),
    ("a bare one", "name the thing", r"\bthere (?:is|are) (?:one|some)[.,;:]", "where there is one."),
    ("no end of a sentence", "two sentences", r"(?:[^\s.:;|]+[ ,]+){60,}", "word " * 61),
)

# (file, a part of the line, why it stands)
EXCEPTIONS = ()

# Decisions are of their time; the other two are generated.
SKIPPED = ("docs/decisions/", "docs/reference/mpi-coverage.md", "docs/reference/states.md")
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')


def of_markdown(path):
    """(line number, text) of its prose."""
    code = False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("```"):
            code = not code
        elif not code and not line.startswith(("    ", "<!--")):
            text = re.sub(r"`[^`]*`", "CODE", line)
            yield number, re.sub(r"\]\([^)]*\)", "]", text)


def of_source(path):
    """What a source of the command may print: its string literals."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.lstrip().startswith(("//", "#include")):
            for literal in LITERAL.findall(line):
                if " " in literal:
                    yield number, literal


def texts(root):
    for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        yield root / name, of_markdown
    for path in sorted((root / "docs").rglob("*.md")):
        if not str(path.relative_to(root)).startswith(SKIPPED):
            yield path, of_markdown
    for path in sorted((root / "tools").rglob("*.cpp")):
        yield path, of_source


def check(root):
    found, used, lines = [], set(), 0
    for path, prose_of in texts(root):
        name = str(path.relative_to(root))
        for number, text in prose_of(path):
            lines += 1
            for what, instead, pattern, _ in PATTERNS:
                for match in re.finditer(pattern, text):
                    excepted = [one for one in EXCEPTIONS if one[0] == name and one[1] in text]
                    used.update(excepted)
                    if not excepted:
                        around = text[max(0, match.start() - 40):match.end() + 40][:160]
                        found.append(f"{name}:{number}: {what} (write: {instead}): {around}")
    found += [f"no longer needed: {one}" for one in EXCEPTIONS if one not in used]
    if lines < 1000:
        sys.exit(f"only {lines} lines were read")
    if len(EXCEPTIONS) > 40:
        sys.exit("the exceptions are longer than a screen")
    sys.exit("\n".join(found) if found else 0)


def check_self():
    for what, _, pattern, example in PATTERNS:
        if not re.search(pattern, example):
            sys.exit(f"{what}: does not find {example!r}")
    for good in ("This tells two uses apart.", "Beginning with MPI_Init.", "the last of these"):
        for what, _, pattern, _ in PATTERNS:
            if re.search(pattern, good):
                sys.exit(f"{what}: finds {good!r}")


if __name__ == "__main__":
    check_self() if sys.argv[1] == "--self" else check(pathlib.Path(sys.argv[1]))
