# SPDX-License-Identifier: BSD-3-Clause
"""Formats of timeline viewers: Paje and Paraver."""

import collections
import os
import re
import subprocess

from exported import by_rank
import harness
from harness import expect


def check_paje(job):
    dumped = subprocess.run(["pj_dump", job.path("paje")], capture_output=True, check=False)
    expect(dumped.returncode == 0, f"{job.name}: pj_dump",
           harness.Outcome(dumped.returncode, dumped.stdout, dumped.stderr))
    lines = [line.split(", ") for line in dumped.stdout.decode().splitlines()]
    job.same_calls(by_rank(job, ((int(w[1].split()[-1]), w[-1][4:]) for w in lines
                                 if w[0] == "State")), "paje")
    links = sum(1 for words in lines if words[0] == "Link")
    messages = len((job.path("csv") / "messages.csv").read_text().splitlines()) - 1
    expect(links == messages, f"{job.name}: paje: {links} links, {messages} messages")


def check_vite(job):
    """Drawn without a complaint: every message is an arrow, every call has a colour."""
    picture = job.folder / "paje.svg"
    drawn = subprocess.run(["vite", "-f", job.path("paje"), "-e", picture], capture_output=True,
                           cwd=job.folder, env=dict(os.environ, QT_QPA_PLATFORM="offscreen"),
                           check=False)
    outcome = harness.Outcome(drawn.returncode, drawn.stdout, drawn.stderr)
    expect(drawn.returncode == 0 and picture.exists() and
           b"0 errors and 0 warnings" in drawn.stdout + drawn.stderr, f"{job.name}: vite", outcome)
    text = picture.read_text()
    arrows = len(re.findall(r"<polygon ", text))
    messages = len((job.path("csv") / "messages.csv").read_text().splitlines()) - 1
    expect(arrows == messages, f"{job.name}: vite: {arrows} arrows, {messages} messages")
    expect(all(f">rank {rank}<" in text for rank in range(job.ranks)), f"{job.name}: vite: ranks")
    # Black is a state that has no colour.
    expect("<rect" in text and 'fill="rgb(0,0,0)"' not in text, f"{job.name}: vite: colours")


def check_paraver(job):
    """The grammar of Paraver's manual, and that every record is where its header says."""
    prv = job.path("paraver").read_text().splitlines()
    head = re.fullmatch(r"#Paraver \(\d\d/\d\d/\d\d at \d\d:\d\d\):(\d+)_ns:(\d+)\(([\d,]+)\):1:"
                        r"(\d+)\(((?:1:\d+,?)+)\)", prv[0])
    expect(head, f"{job.name}: paraver: {prv[0]}")
    end, tasks = int(head.group(1)), int(head.group(4))
    expect(tasks == job.ranks and sum(map(int, head.group(3).split(","))) == tasks,
           f"{job.name}: paraver: tasks")
    pcf = job.path("paraver").with_suffix(".pcf").read_text()
    names = dict(re.findall(r"^(\d+) +MPI_(\w+)$", pcf, re.M))
    row = job.path("paraver").with_suffix(".row").read_text()
    expect(f"LEVEL THREAD SIZE {tasks}\n" in row, f"{job.name}: paraver: .row")
    last, calls, sent = 0, [], collections.Counter()
    for line in prv[1:]:
        fields = line.split(":")
        expect(all(re.fullmatch(r"-?\d+", field) for field in fields), f"{job.name}: {line}")
        numbers = [int(field) for field in fields]
        kind, task = numbers[0], numbers[3]
        expect(1 <= task <= tasks and numbers[2] == numbers[4] == 1, f"{job.name}: {line}")
        time = numbers[5]
        expect(last <= time <= end, f"{job.name}: paraver: not in order: {line}")
        last = time
        if kind == 1:
            expect(len(numbers) == 8 and time < numbers[6] <= end, f"{job.name}: {line}")
        elif kind == 2:
            expect(len(numbers) == 10 and numbers[6] == 91000001, f"{job.name}: {line}")
            if numbers[7] != 0:
                calls.append((task - 1, names[str(numbers[7])]))
        else:
            expect(kind == 3 and len(numbers) == 15, f"{job.name}: {line}")
            expect(time < numbers[12], f"{job.name}: paraver: received early: {line}")
            sent[task - 1] += numbers[13]
    job.same_calls(by_rank(job, calls), "paraver")
    job.same_bytes(sent, "paraver")
