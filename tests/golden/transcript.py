#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a verb of the command prints and writes for a group of fixture traces, against the text that
was approved.

    transcript.py --chameleon COMMAND --verb V --group G --work FOLDER [--approve]

The commands run in a fresh folder that holds the group's traces and raw records, and the files they
write become part of the text. Of a long output the text holds the first lines and a digest;
`whole.txt` in the folder holds all of it."""

import argparse
import difflib
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile

HERE = pathlib.Path(__file__).resolve().parent
TRACES = HERE / "traces"
EXPECTED = HERE / "expected" / "traces"
LINES = 24  # of a long output, before a digest stands for the rest
LETTERS = 300  # of a line

GROUPS = {
    # Markers, clusters and leads; everything exact.
    "clustered": ["wavefront", "phases", "stencil2d", "untimed"],
    # Traces that declare what they do not know.
    "declared": ["hydro", "multigrid", "bucketsort", "spectral"],
    # Wildcards, communicators, collectives of every kind, Fortran.
    "calls": ["taskfarm", "collectives", "fortran"],
    # A job that was ended, ranks with several threads, accounts of pairs, and single times.
    "special": ["killed", "threads", "accounts", "single"],
}

# `predict` needs SimGrid's launcher; this one prints a result.
SMPIRUN = "#!/bin/sh\necho \"Simulation time 1.25\"\n"


def each(*commands):
    """These commands for every trace of the group; {} is its name."""
    return lambda names: [command.replace("{}", name) for name in names for command in commands]


def verify(names):
    return each("verify --raw raw/{} {}.cham", "verify --raw raw/{} --strict {}.cham",
                "verify --raw raw/{} --json {}.cham")(
                    [name for name in names if (TRACES / f"{name}.raw.tar.gz").exists()])


def compare(names):
    others = {"collectives": "slow"}
    return [f"compare {option}{name}.cham {others.get(name, names[0])}.cham"
            for name in names
            for option in ("", "--json ", "--by families ", "--by phases ")] + [
                f"compare --by {by} --json {names[1]}.cham {names[0]}.cham"
                for by in ("families", "phases")]


def recover(names):
    commands = each("recover {}.cham", "recover --json -o {}.again.cham {}.cham")(names)
    if "killed" in names:
        commands += each("print {}", "check --json {}", "print --rank 2 --expand --all {}")(
            ["killed.recovered.cham"])
    return commands


def simulate(names):
    behaviours = {"wavefront", "stencil2d", "multigrid", "bucketsort", "spectral", "taskfarm"}
    return each("simulate --from 12 --to 24 --json {} -o {}.simulated.cham",
                "check {}.simulated.cham", "print {}.simulated.cham")(
                    [name for name in names if name in behaviours])


VERBS = {
    "info": each("info {}.cham", "info --json {}.cham"),
    "summary": each("summary {}.cham", "summary --json {}.cham"),
    "print": each("print {}.cham", "print --all --paths {}.cham",
                  "print --rank 1 --expand --all {}.cham"),
    "stats": each("stats {}.cham", "stats --by path {}.cham", "stats --json --by path {}.cham"),
    "waits": each("stats --waits {}.cham", "stats --waits --by path --rank 1 {}.cham",
                  "stats --waits --json {}.cham", "stats --waits --csv {}.cham"),
    "critical": each("critical {}.cham", "critical --by place --limit 5 {}.cham",
                     "critical --by rank {}.cham", "critical --by rank --csv {}.cham",
                     "critical --by call --json {}.cham"),
    "check": each("check {}.cham", "check --json {}.cham"),
    "cluster": each("cluster {}.cham", "cluster --compare {}.cham",
                    "cluster --algorithm acurdion --json {}.cham",
                    "cluster --steps single -k 2 --format all {}.cham"),
    "matrix": each("matrix {}.cham", "matrix --by messages --ranks 0-2 {}.cham",
                   "matrix --by time --csv {}.cham", "matrix --json {}.cham"),
    "patterns": each("patterns {}.cham", "patterns --pattern CP1 {}.cham",
                     "patterns --split wait --min-processes 3 --limit 4 {}.cham",
                     "patterns --json {}.cham"),
    "phases": lambda names: each(
        "phases {}.cham", "phases --criterion bic --depth 1 --curve {}.csv {}.cham",
        "phases --json --published {}.cham")(names) + [f"phases --by markers {names[0]}.cham"],
    "pairs": each("pairs {}.cham", "pairs --by transfer --linkage average {}.cham",
                  "pairs --by wait --clusters 2 --csv {}.csv {}.cham",
                  "pairs --by messages --json --svg {}.svg {}.cham",
                  "pairs --pair 1,0 --limit 3 {}.cham", "pairs --pair 1,0 --json {}.cham",
                  "pairs --pair 0,1 --csv {}.messages.csv --svg {}.plots.svg {}.cham"),
    "efficiency": lambda names: each("efficiency {}.cham")(names) + [
        f"efficiency --weak {names[0]}.cham {names[1]}.cham",
        f"efficiency --json {names[1]}.cham {names[0]}.cham"],
    "slow": lambda names: each("slow {}.cham")(names) + each(
        "slow --z 1 --least 0 --published {}.cham", "slow --json --limit 2 {}.cham")(
            [name for name in names if name == "stencil2d"]),
    "whatif": lambda names: each("whatif {}.cham",
                                 "whatif --json --balance 1 --network 2x {}.cham")(names) +
    each("whatif --balance all --network ideal --balance 1 {}.cham",
         "whatif --speed nothing=2 {}.cham", "whatif --network 0x {}.cham",
         "whatif --balance 99 {}.cham", "whatif --balance 1x {}.cham",
         "whatif --speed main {}.cham")(names[:1]),
    "report": each("report --json --no-source {}.cham"),
    "verify": verify,
    "compare": compare,
    "recover": recover,
    "replay": each("replay -n 3 {}.cham", "replay --launcher echo --compute=none {}.cham",
                   "replay --launcher echo --best-effort --json --time-scale 0.5 {}.cham"),
    "predict": each("predict --smpirun ./smpirun --platform smpirun {}.cham",
                    "predict --smpirun ./smpirun --platform smpirun --json {}.cham"),
    "simulate": simulate,
    "export_tables": each("export --csv {}.csv {}.cham", "export --json {}.json {}.cham"),
    "export_stacks": each("export --folded {}.folded {}.cham",
                          "export --speedscope {}.speedscope {}.cham"),
    "export_timelines": each("export --chrome {}.chrome {}.cham", "export --paje {}.paje {}.cham",
                             "export --paraver {}.prv {}.cham",
                             "export --chrome some.chrome --ranks 1 {}.cham"),
    "export_schedules": each("export --goal {}.goal {}.cham",
                             "export --simgrid {}.simgrid {}.cham"),
}

# What differs between machines or runs, and stands for itself.
MASKS = [(re.compile(r'("(?:critical_|simulation_took_)?seconds": )[0-9.e+-]+(?=,?\n)'), r"\1TIME"),
         # What a version of zstd makes of it.
         (re.compile(r'("file_bytes": )[0-9]+(?=,?\n)'), r"\1BYTES"),
         (re.compile(r'("(?:trace|rank_0)_bytes": )\d+'), r"\1SIZE")]
MASKED = {"simulate", "predict"}


def prepare(folder, names):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in [*names, "slow"]:
        for trace in sorted(TRACES.glob(f"{name}.cham*")):
            shutil.copyfile(trace, folder / trace.name)
        if (TRACES / f"{name}.raw.tar.gz").exists():
            with tarfile.open(TRACES / f"{name}.raw.tar.gz") as archive:
                archive.extraction_filter = getattr(tarfile, "data_filter", None)  # since Python 3.12
                archive.extractall(folder / "raw" / name)
    (folder / "smpirun").write_text(SMPIRUN)
    (folder / "smpirun").chmod(0o755)


def state(folder):
    """The files below a folder, with what tells whether one was written."""
    return {path: path.stat().st_mtime_ns for path in sorted(folder.rglob("*")) if path.is_file()}


def cut(text):
    """The text, with a digest for its end if it is long."""
    lines = text.splitlines(keepends=True)
    if len(lines) <= 2 * LINES and all(len(line) <= LETTERS for line in lines):
        return text if text.endswith("\n") or not text else text + "\n[no newline]\n"
    kept = "".join(line if len(line) <= LETTERS else line[:LETTERS].rstrip("\n") + " ...\n"
                   for line in lines[:LINES])
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    return f"{kept}[{len(lines)} lines, {digest}]\n"


def cut_report(text):
    """The parts of a report's data, each cut: so a change is seen in its part."""
    try:
        parts = json.loads(text).items()
    except ValueError:
        return cut(text)
    return "".join(f"[{name}]\n" + cut(json.dumps(part, indent=1) + "\n") for name, part in parts)


class Session:
    """Commands in one folder, and what they said and wrote."""

    def __init__(self, chameleon, verb, folder):
        self.chameleon, self.verb, self.folder = chameleon.resolve(), verb, folder.resolve()
        self.masks = [(re.compile(re.escape(str(self.folder))), "FOLDER"),
                      (re.compile(r"/\S*/chameleon-replay\b"), "REPLAYER"),
                      *(MASKS if verb in MASKED else [])]
        self.environment = {**os.environ, "NO_COLOR": "1", "LC_ALL": "C",
                            "CHAMELEON_CALL_FREQUENCY": "1"}  # whatever the machine does
        self.text = self.whole = ""

    def add(self, text):
        self.text += text
        self.whole += text

    def show(self, data):
        text = data.decode(errors="backslashreplace")
        for pattern, by in self.masks:
            text = pattern.sub(by, text)
        self.text += cut_report(text) if self.verb == "report" else cut(text)
        self.whole += text

    def run(self, command):
        before = state(self.folder)
        job = subprocess.run([self.chameleon, *command.split()], cwd=self.folder,
                             env=self.environment, stdin=subprocess.DEVNULL, capture_output=True,
                             timeout=60)
        self.add(f"$ chameleon {command}\n")
        self.show(job.stdout)
        self.show(job.stderr)
        if job.returncode != 0:
            self.add(f"[exit status {job.returncode}]\n")
        for path, changed in state(self.folder).items():
            if before.get(path) != changed and path.suffix != ".cham":
                self.add(f"[file {path.relative_to(self.folder)}]\n")
                self.show(path.read_bytes())
        self.add("\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chameleon", required=True, type=pathlib.Path)
    parser.add_argument("--verb", required=True, choices=VERBS)
    parser.add_argument("--group", required=True, choices=GROUPS)
    parser.add_argument("--work", required=True, type=pathlib.Path, help="a folder is made in it")
    parser.add_argument("--approve", action="store_true", help="take what is printed as right")
    options = parser.parse_args()
    names = GROUPS[options.group]
    work = options.work / f"{options.verb}_{options.group}"
    prepare(work, names)
    session = Session(options.chameleon, options.verb, work)
    commands = VERBS[options.verb](names)
    for command in commands:
        session.run(command)
    (work / "whole.txt").write_text(session.whole)
    approved = EXPECTED / f"{options.verb}_{options.group}.txt"
    if options.approve:
        EXPECTED.mkdir(exist_ok=True)
        approved.write_text(session.text)
        return 0
    expected = approved.read_text() if approved.exists() else ""
    if commands and session.text == expected:
        return 0
    sys.stdout.writelines(list(difflib.unified_diff(
        expected.splitlines(True), session.text.splitlines(True), str(approved), "now"))[:200])
    print(f"All of it is in {work}/whole.txt. If it is right, build the target approve.")
    return 1


if __name__ == "__main__":
    sys.exit(main())
