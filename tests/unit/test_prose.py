#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Documentation, the command's output and comments in headers are in plain technical English: they have
none of the phrases below, which readers had to read twice.

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
    ("stands for is", "is, appears, names", r"\b(?:stands?|stood) (?:where|beside|behind|below|above|in|once|there|before|after)\b|\b[Bb]elow (?:\w+ )*stands?\b",
     "Below the table stand the slow steps."),
    ("nobody for a rank", "no rank, no thread", r"\b[Nn]obody\b", "nobody waits for it"),
    ("goes on", "continues", r"\b(?:go|goes|going|went) on\b(?! to)", "the program goes on."),
    ("Beside for in addition", "in addition to; also", r"(?:^|[.;] )Beside\b", "Beside the table there are totals."),
    ("come by", "reach", r"\bcomes? by\b", "where ranks come by equally often"),
    ("at hand", "current", r"\bat hand\b", "the event at hand"),
    ("there without a place", "exist, arrive", r"\b(?:is|are|was|were) there\b(?=[ ]?[.,;:)]|$)", "once all ranks are there."),
    ("looked at", "examined, considered", r"\b(?:is|are|be) looked at\b", "the end of the list is looked at"),
    ("says of", "says about; has", r"\b(?:says?|said|know|knows|known) of\b", "what the trace says of clusters"),
    ("a clause as a subject", "name the thing and put it first", r"(?:^(?:\s*[-*\d.]+ )?|[.;] )(?:What|Who) (?!if\b|to\b|stands out\b)[^?*.;]{3,200}[.;](?!\))", "What is not declared is wrong."),
    ("hear", "receive, learn", r"\bhears?\b", "all ranks hear the sum"),
    ("so many", "this many; N", r"\bso many\b(?! (?:that|as))", "at most so many rows"),
    ("taken to", "assumed to, counts as", r"\b(?:is|are) taken to\b", "ranks are taken to have begun"),
    ("lies", "is", r"\blies? (?:behind|beside|in|where|between)\b", "what lies between"),
    ("put together", "combined", r"\bput together\b", "ranks are put together"),
    ("own rank", "the calling rank", r"\bown rank\b|\bone's own\b", "counted from the own rank"),
    ("in whatever", "regardless of", r"\bin whatever\b", "in whatever order"),
    ("lack their others", "are unmatched", r"\black (?:its|their) others?\b", "receives that lack their others"),
    ("no end of a sentence", "two sentences", r"(?:[^\s.:;|]+[ ,]+){50,}", "word " * 51),
)

# (file, a part of the line, why it stands)
EXCEPTIONS = ()

# Rooms whose headers are read.
PLAIN_ROOMS = ("base", "model", "statistics", "compress", "format", "world", "signature", "cluster",
               "flush", "mpi", "process", "intercept", "include", "statemachine", "markers", "replay",
               "tools")

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


def of_header(path):
    """Its comments, a paragraph as one text: sentences go over lines."""
    paragraph, first = [], 0
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines() + [""], 1):
        whole = re.match(r"\s*//[/!]?\s?(.*)", line)
        if whole and "SPDX" not in line:
            first = first if paragraph else number
            paragraph.append(whole.group(1))
            continue
        if paragraph:
            yield first, " ".join(paragraph)
            paragraph = []
        if "///<" in line:
            yield number, line.split("///<", 1)[1].strip()


def texts(root):
    for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        yield root / name, of_markdown
    for path in sorted((root / "docs").rglob("*.md")):
        if not str(path.relative_to(root)).startswith(SKIPPED):
            yield path, of_markdown
    for path in sorted((root / "tools").rglob("*.cpp")):
        yield path, of_source
    for room in PLAIN_ROOMS:
        folder = root / room if (root / room).is_dir() else root / "libchameleon" / room
        for path in sorted(folder.rglob("*.h")):
            yield path, of_header


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
