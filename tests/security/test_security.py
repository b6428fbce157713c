#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Traces of strangers and folders that others can write to: nothing that a trace says is trusted,
and nothing of the user's is given away.

    test_security.py --chameleon COMMAND --craft PROGRAM --program PROGRAM --python FOLDER
                     --corpus FOLDER --golden FOLDER --dump PROGRAM [CASE...]
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import place as places
from place import Fault, Place, craft, expect

SECRET = "-----BEGIN PRIVATE KEY-----"
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


# Lines of files that a trace names.

def source_case(options, place, name, lines):
    """The page of a trace in `place` that wants lines of `name`; whether it has them."""
    traces = craft(options, place.folder / "traces", name)
    out = place.fine("report", traces / "sources.cham", "--json")
    expect((SECRET in out) == lines, f"{name}: lines {'are missing' if lines else 'are shown'}")


def check_sources(options, place):
    work, other = place.folder / "work", place.folder / "other"
    for folder in (work, work / "inner", work / ".ssh", other):
        folder.mkdir()
    text = f"first\n{SECRET}\nlast\n"
    for path in (work / "app.py", work / "id_rsa", work / ".ssh" / "key.py", other / "theirs.py"):
        path.write_text(text)
    (work / "link.py").symlink_to(other / "theirs.py")
    (work / "big.py").write_text(text + "x" * (4 << 20))
    os.mkfifo(work / "pipe.py")
    here = Place(options, work, None)
    for name, shown in ((work / "app.py", True), (work / "id_rsa", False), (work / "big.py", False),
                        (work / ".ssh" / "key.py", False), (work / "link.py", False),
                        (work / "pipe.py", False), ("/proc/self/environ", False),
                        ("/dev/zero", False), (work / "inner" / ".." / "app.py", True),
                        (other / "theirs.py", False), ("/proc/self/cwd/app.py", False)):
        source_case(options, here, str(name), shown)
    # The user's own current folder counts too, or one that was named.
    traces = craft(options, place.folder / "traces", str(work / "app.py"))
    elsewhere = Place(options, other, None)
    expect(SECRET not in elsewhere.fine("report", traces / "sources.cham", "--json"),
           "lines from outside of the current folder")
    for given, shown in ((work, True), (other, False)):
        out = elsewhere.fine("report", traces / "sources.cham", "--json", "--source", given)
        expect((SECRET in out) == shown, f"--source {given}")
    expect(SECRET not in here.fine("report", traces / "sources.cham", "--json", "--no-source"),
           "--no-source")


def check_modules(options, place):
    """What a trace says is its program, and is no program at all."""
    os.mkfifo(place.folder / "pipe")
    (place.folder / "text").write_text(SECRET)
    for name in (place.folder / "pipe", "/dev/zero", place.folder, place.folder / "text"):
        traces = craft(options, place.folder / "traces", str(name))
        for verb in (["stats", "--by", "path"], ["print", "--all", "--paths"],
                     ["report", "-q", "-o", "OUT.html"], ["export", "--csv", "OUT"]):
            place.fine(verb[0], traces / "modules.cham", *verb[1:], timeout=20)
        read = subprocess.run(
            [sys.executable, "-c", "import sys, chameleon_trace\n"
             "print(list(chameleon_trace.read_trace(sys.argv[1]).rows('sites')))",
             traces / "modules.cham"], env={**os.environ, "PYTHONPATH": str(options.python)},
            capture_output=True, text=True, check=False, timeout=20)
        expect(read.returncode == 0, f"{name}: {read.stderr[-300:]}")


# What is no regular file.

def check_pipes(options, place):
    small = place.traces / "small.cham"
    os.mkfifo(place.folder / "pipe")
    for verb in ("info", "print", "stats", "report", "recover", "serve", "watch", "redact", "check"):
        place.refused(verb, "pipe", says="pipe")
    for path in ("/dev/zero", ".", "pipe"):
        place.refused("info", path)
    place.refused("report", small, "-o", "pipe", says="pipe")
    place.refused("export", small, "--chrome", "pipe", says="pipe")
    place.refused("doctor", "pipe")
    os.mkfifo(place.folder / "rules")
    place.refused("cluster", small, "--rules", "rules", says="rules")
    shutil.copy(options.corpus / "incomplete.cham", place.folder / "killed.cham")
    os.mkfifo(place.folder / "killed.cham.rank0")
    done = place.run("recover", "killed.cham")
    expect(done.returncode in (1, 4) and b"killed.cham.rank0" in done.stderr, f"{done}")
    place.fine("report", small, "-o", "/dev/null")
    expect(stat_is_device("/dev/null"), "/dev/null was replaced")
    expect("<html" in place.fine("report", small, "-q", "-o", "/dev/stdout"), "/dev/stdout")


def stat_is_device(path):
    return (os.lstat(path).st_mode & 0o170000) == 0o020000


# Links that somebody put where output goes.

def check_links(options, place):
    small = place.traces / "small.cham"
    victim = place.folder / "victim"
    outputs = {"report": (["report", small, "-o", "OUT"], "OUT"),
               "chrome": (["export", small, "--chrome", "OUT"], "OUT"),
               "csv": (["export", small, "--csv", "OUT"], "OUT/events.csv"),
               "paraver": (["export", small, "--paraver", "OUT"], "OUT.prv"),
               "otf2": (["export", small, "--otf2", "OUT"], "OUT/traces.otf2"),
               "matrix": (["matrix", small, "--png", "OUT"], "OUT"),
               "pairs": (["pairs", small, "--csv", "OUT"], "OUT")}
    tried = 0
    for name, (words, made) in outputs.items():
        victim.write_text("mine")
        target = place.folder / made.replace("OUT", name)
        target.parent.mkdir(exist_ok=True)
        target.symlink_to(victim)
        done = place.run(*(str(word).replace("OUT", name) for word in words))
        if done.returncode in (2, 4):  # a build without it, or an option of another name
            target.unlink()
            continue
        tried += 1
        expect(done.returncode == 0, f"{name}: {done.stderr!r}")
        expect(victim.read_text() == "mine", f"{name} was written through a link")
        expect(target.is_file() and not target.is_symlink(), f"{name}: the link is still there")
        expect(target.stat().st_mode & 0o7133 == 0, f"{name}: mode {target.stat().st_mode:o}")
    expect(tried >= 4, f"only {tried} outputs were tried")
    # A page that only its owner could read stays so; nothing is left beside it.
    page = place.folder / "own.html"
    page.write_text("")
    page.chmod(0o600)
    place.fine("report", small, "-q", "-o", page)
    expect(page.stat().st_mode & 0o777 == 0o600, "a page became readable for others")
    expect(not list(place.folder.glob("*.new*")), f"left: {list(place.folder.glob('*.new*'))}")
    # What was there under the name of a temporary file is not removed.
    (place.folder / "own.html.new").write_text("mine")
    place.fine("report", small, "-q", "-o", page)
    expect((place.folder / "own.html.new").read_text() == "mine", "a file of others was removed")
    # By default output is here, and not where the trace is.
    theirs = place.folder / "theirs"
    theirs.mkdir()
    shutil.copy(small, theirs / "app.cham")
    place.fine("report", "theirs/app.cham", "-q")
    place.fine("redact", "theirs/app.cham", "-q")
    expect((place.folder / "app.html").exists() and (place.folder / "app.redacted.cham").exists()
           and len(list(theirs.iterdir())) == 1, "default output is beside the trace")
    # A trace is never written over.
    place.refused("redact", "theirs/app.cham", says="app.redacted.cham")


# Names.

def check_names(options, place):
    names = place.traces / "names.cham"
    verbs = [["info"], ["summary"], ["print"], ["print", "--rank", "0", "--expand"], ["stats"],
             ["series"], ["sample"], ["watch"], ["check"], ["matrix"], ["pairs"], ["patterns"],
             ["phases"], ["critical"], ["efficiency"], ["slow"], ["whatif"], ["cluster"],
             ["compare", names], ["verify", "--raw", "."], ["stats", "--waits", "--csv"],
             ["export", "--csv", "out"], ["info", "--json"], ["stats", "--json"]]
    shown = 0
    for verb in verbs:
        done = place.run(verb[0], names, *verb[1:])
        expect(done.returncode in (0, 1, 2, 3, 4), f"{verb}: {done.returncode}")
        for output in (done.stdout, done.stderr):
            text = output.decode()  # raises on what is no UTF-8
            found = OBEYED.search(text)
            expect(not found, f"{verb}: {found and text[max(0, found.start() - 40):found.end() + 9]!r}")
            # A line break in a name would make a line of its own.
            expect(not re.search(r"(?m)^zqd", text), f"{verb}: a line of a name")
            shown += "31m" in text
    expect(shown > 5, "the names are not there at all")


def check_cells(options, place):
    """Cells of CSV that a spreadsheet would run."""
    table = place.fine("stats", place.traces / "formulas.cham", "--waits", "--csv")
    expect(not re.search(r'(?m)(^|,)"?[=+@-](?![0-9.])', table), table)
    place.fine("export", place.traces / "formulas.cham", "--csv", "cells")
    calls = (place.folder / "cells" / "calls.csv").read_text()
    expect("'=cmd" in calls and not re.search(r'(?m)(^|,)"?=cmd', calls), calls)


# What a trace says of its author.

def check_redact(options, place):
    secrets = place.traces / "secrets.cham"
    private = ("mallory", "secret-project", "input.dat", "4711")
    before = place.fine("info", secrets, "--json")
    expect("mallory" in before, "nothing to take out")
    place.fine("redact", secrets, "-o", "given.cham", "-q")
    for verb in (["info", "--json"], ["info"], ["print", "--rank", "0", "--expand"], ["summary"],
                 ["report", "--json"], ["stats", "--json"]):
        text = place.fine(verb[0], "given.cham", *verb[1:]).replace("given.cham", "")
        for word in private:
            expect(word not in text, f"{verb}: {word} is still there")
    sys.path.insert(0, str(options.python))
    import chameleon_trace

    trace = chameleon_trace.read_trace(place.folder / "given.cham")
    hosts = [facts.host for facts in trace.facts()]
    expect(len(set(hosts)) == 2 and not trace.command_line and not trace.directory, f"{hosts}")
    held = b"".join(bytes(part_text(trace)).splitlines())
    expect(b"mallory" not in held, "in the payload")
    one, other = (json.loads(place.fine("stats", name, "--json")) for name in
                  (secrets, "given.cham"))
    for document in (one, other):
        document.pop("trace", None)
    expect(one["events"] == other["events"] if "events" in one else True, "calls are missing")


def part_text(trace):
    return repr([vars(part) for part, _ in trace.parts]).encode()


def check_command(options, place):
    """A run keeps secrets to itself, and writes through no link."""
    raw, victim = place.folder / "raw", place.folder / "victim"
    raw.mkdir()
    victim.write_text("mine")
    (raw / "rank.0.raw").symlink_to(victim)
    (place.folder / "a.cham.new").write_text("mine")
    words = ["--password", "hunter2", "--api-token=hunter2", "https://me:hunter2@host/",
             "--site=mine", "--size=7"]
    for name, env in (("a", {"CHAMELEON_RAW": str(raw), "CHAMELEON_MASK": "site"}),
                      ("b", {"CHAMELEON_RECORD_COMMAND": "0"})):
        place.fine("run", "-n", "1", "-o", f"{name}.cham", "--", options.program, *words, env=env)
        info = json.loads(place.fine("info", f"{name}.cham", "--json"))
        expect("hunter2" not in json.dumps(info), f"{name}: a secret is in the trace")
        expect("--site=mine" not in json.dumps(info), f"{name}: what CHAMELEON_MASK names")
        held = "--size=7" in json.dumps(info)
        expect(held == (name == "a"), f"{name}: the command line: {info.get('command_line')}")
        expect((str(place.folder) in json.dumps(info)) == (name == "a"), f"{name}: the folder")
    expect(victim.read_text() == "mine", "raw records were written through a link")
    made = raw / "rank.0.raw"
    expect(not made.is_symlink() and made.stat().st_mode & 0o7133 == 0, "raw records")
    expect((place.folder / "a.cham.new").read_text() == "mine", "a file of others was removed")


# The rest.

def check_settings(options, place):
    for text in ("-Stouch made ;=x", "-i=x", "--help=x", "=x", "x", "1A=x"):
        for verb in ("run", "replay"):
            rest = ["--", "true"] if verb == "run" else []
            words = [verb, f"--env={text}", *([] if verb == "run" else
                                              [str(place.traces / "small.cham")]), *rest]
            place.refused(*words, statuses=(2,))
    expect(not (place.folder / "made").exists(), "a setting ran a program")


def check_redact_raw(options, place):
    raw = place.folder / "raw"
    raw.mkdir()
    place.fine("run", "-n", "2", "-o", "a.cham", "--", options.program,
               env={"CHAMELEON_RAW": str(raw)})
    word = ",".join(str(letter) for letter in b"confidential")
    expect(word in (raw / "rank.1.raw").read_text(), "the records have no text to take out")
    place.refused("redact", "a.cham", "-o", "none.cham", "--raw", ".", says="no raw records")
    place.fine("redact", "a.cham", "--raw", raw)
    for path in ("a.cham", "raw"):
        shutil.move(place.folder / path, place.folder / f"{path}.old")
    names = sorted(path.name for path in (place.folder / "a.redacted.raw").iterdir())
    expect(names == ["rank.0.raw", "rank.1.raw"], names)
    for name in names:
        text = (place.folder / "a.redacted.raw" / name).read_text()
        expect(word not in text and "116,101,120,116,49" in text, f"{name}: {text[-600:]}")
    place.fine("verify", "a.redacted.cham", "--raw", "a.redacted.raw")


def check_mask(options, place):
    place.refused("run", "-n", "1", "--env", "CHAMELEON_MASK=a,", "--", options.program,
                  statuses=(2,), says="CHAMELEON_MASK='a,' is malformed")


def check_recover(options, place):
    golden = options.golden
    for path in golden.glob("killed.cham*"):
        shutil.copy(path, place.folder)
    piece = place.folder / "killed.cham.rank1"
    data = bytearray(piece.read_bytes())
    piece.write_bytes(data + b"CMT1" + bytes(60))  # something that is no commit follows
    done = place.run("recover", "killed.cham", "--json")
    expect(b"killed.cham.rank1 is damaged" in done.stderr, f"{done.stderr!r}")
    joined = json.loads(done.stdout)["joined"]
    expect(joined == "0,2-3", f"joined {joined}")


if __name__ == "__main__":
    places.main(globals())
