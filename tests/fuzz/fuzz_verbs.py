#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Damages what is behind the checksums of traces, makes the checksums right again, and gives the
mutants to every verb and to both readers: each ends in time, within bounds on memory, with a status
and one line, and never by a signal.

    fuzz_verbs.py --server VERB_SERVER --python FOLDER --corpus FOLDER --mutants N [--seed S]
"""

import argparse
import contextlib
import itertools
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import mutants  # noqa: E402

SECONDS, MEMORY = 60, 3 << 30  # of the processor, of a verb
STATUSES = {0, 1, 2, 3, 4}
FORMATS = ("csv", "json", "folded", "speedscope", "chrome", "perfetto", "otf2", "simgrid", "paje",
           "paraver", "goal")
VERBS = [["info"], ["info", "--json"], ["summary"], ["print"], ["print", "--rank", "0", "--expand"],
         ["stats"], ["stats", "--json"], ["stats", "--waits"], ["series"], ["sample"], ["check"],
         ["matrix"], ["pairs"], ["patterns"], ["phases"], ["critical"], ["efficiency"], ["slow"],
         ["whatif"], ["cluster"], ["compare", "in.cham"], ["report", "-o", "OUT.html"],
         ["recover", "-o", "OUT.cham"], ["redact", "-o", "OUT.cham"], ["verify", "--raw", "."],
         *(["export", f"--{name}", "OUT." + name] for name in FORMATS)]


class Server:
    """Runs verbs in a folder, each in a child of one process that has started already."""

    def __init__(self, program, folder):
        self.folder = folder
        self.process = subprocess.Popen([program], cwd=folder, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.asked = []

    def ask(self, verb):
        """Starts a verb behind those asked before."""
        errors = f"errors{len(self.asked)}"
        words = [str(SECONDS), str(MEMORY), errors, verb[0], "in.cham", *verb[1:]]
        self.process.stdin.write("\t".join(words).encode() + b"\n")
        self.process.stdin.flush()
        self.asked.append((verb, errors))

    def answers(self):
        """(verb, its exit status or less than 0, its errors) of each that was asked."""
        for verb, errors in self.asked:
            line = self.process.stdout.readline()
            if not line:
                sys.exit("fuzz_verbs: the server of verbs ended")
            status = os.waitstatus_to_exitcode(int(line))
            yield " ".join(verb), status, (self.folder / errors).read_bytes()
        self.asked = []


class Late(Exception):
    pass


def read_in_python(reader, data):
    """All that the Python reader says of a mutant, as far as it goes."""
    def alarm(*_):
        raise Late

    signal.signal(signal.SIGVTALRM, alarm)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        trace = reader.parse_trace(data)
        trace.most_events = 2000
        few = list(itertools.islice(trace.ranks, 2))
        for rank in few:
            for _ in itertools.islice(trace.events(rank), 200):
                pass
        for table in ("calls", "messages", "clusters", "phases", "series", "loops", "sites"):
            with contextlib.suppress(ValueError):  # beyond most_events
                for _ in itertools.islice(trace.rows(table, few), 50):
                    pass
        if trace.threads == 1:
            with contextlib.suppress(ValueError):
                trace.timeline(few)._repr_html_()
        str(trace), trace._repr_html_()
    except (reader.TraceError, ValueError):
        pass
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def fault_of(verb, status, errors):
    """What is wrong with the way in which a verb ended; None: nothing."""
    if -status in (signal.SIGALRM, signal.SIGXCPU, signal.SIGKILL):
        return f"{verb} takes more than {SECONDS} s"
    if status not in STATUSES:
        return f"{verb}: status {status}: {errors[-200:]!r}"
    if status > 2 and len(errors.splitlines()) != 1 and not verb.startswith("recover"):
        return f"{verb}: not one line: {errors[-200:]!r}"
    return None


def main():
    parser = argparse.ArgumentParser()
    for option in ("--server", "--python", "--corpus"):
        parser.add_argument(option, required=True, type=lambda text: str(pathlib.Path(text).resolve()))
    parser.add_argument("--mutants", type=int, required=True)
    parser.add_argument("--seconds", type=float, help="end after so long, with the mutants till then")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    sys.path.insert(0, options.python)
    import chameleon_trace as reader
    from chameleon_trace import codec

    files = [path.read_bytes() for path in sorted(pathlib.Path(options.corpus).glob("*.cham"))]
    if len(files) < 10:
        sys.exit("fuzz_verbs: the corpus is not there")
    made = mutants.Mutants(options.seed, files, codec)
    verbs = itertools.cycle(VERBS)
    findings, accepted, runs, number = 0, 0, 0, 0
    end = time.monotonic() + (options.seconds or 1e9)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        server = Server(options.server, folder)

        def finding(what, data):
            nonlocal findings
            findings += 1
            kept = pathlib.Path(f"mutant-{options.seed}-{number}.cham")
            kept.write_bytes(data)
            print(f"fuzz_verbs: seed {options.seed}: {what}; kept as {kept.resolve()}", flush=True)

        def finish(data):
            """The status of the last verb that was asked."""
            nonlocal runs
            status = None
            for verb, status, errors in server.answers():
                runs += 1
                if fault := fault_of(verb, status, errors):
                    finding(fault, data)
            return status

        while number < options.mutants and time.monotonic() < end:
            number += 1
            data = made.file_of_sections()
            (folder / "in.cham").write_bytes(data)
            server.ask(["info"])
            readable = finish(data) == 0
            accepted += readable
            # Of what info does not read each verb says the same, so every fourth will do.
            for _ in range(2 if readable else number % 4 == 0):
                server.ask(next(verbs))
            try:
                read_in_python(reader, data)
            except Exception as error:  # whatever else it raises is a finding
                finding(f"the Python reader raises {error!r}", data)
            finish(data)
            for output in folder.glob("OUT*"):
                shutil.rmtree(output) if output.is_dir() else output.unlink()
            if number % 1000 == 0:
                print(f"{number} mutants, {accepted} readable, {runs} runs of verbs, "
                      f"{findings} findings", flush=True)
        server.process.stdin.close()
        server.process.wait()
    print(f"{number} mutants, {accepted} readable, {runs} runs of verbs, {findings} findings, "
          f"seed {options.seed}")
    if accepted == 0:
        sys.exit("fuzz_verbs: no mutant is readable, so little was tried")
    sys.exit(findings != 0)


if __name__ == "__main__":
    main()
