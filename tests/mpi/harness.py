# SPDX-License-Identifier: BSD-3-Clause
"""What the multi-rank tests share: where the programs are, running a job, tracing it, and the
checks every trace must pass. A failed check raises Failure with what to look at; `main` prints it
in a few lines and exits 1."""

import argparse
import collections
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

TIMEOUT = 120
# Of sanitizers, unless the environment says otherwise. Their runtime is preloaded, maybe after the
# library; MPI itself leaks, and is not compiled with them. UCX stands before madvise, which threads
# call at their very end, when ThreadSanitizer knows them no more and crashes in UCX's lock.
SANITIZER_OPTIONS = {
    "ASAN_OPTIONS": "verify_asan_link_order=0:detect_leaks=0",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "TSAN_OPTIONS": "ignore_noninstrumented_modules=1:halt_on_error=1",
    "UCX_MEM_MMAP_HOOK_MODE": "none",
}
# What they say of signals may be right: some programs are to crash. Exit statuses tell.
FINDING = re.compile(rb"runtime error:|Sanitizer: (?!SEGV|ABRT|FPE|BUS|ILL)")


# Of Open MPI's launcher, whoever starts it: as root, more ranks than cores, which then yield, and
# nothing said about exit statuses.
LAUNCHER_OPTIONS = {
    "openmpi": {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
                "OMPI_MCA_orte_execute_quiet": "1"}}


class Failure(Exception):
    pass


Outcome = collections.namedtuple("Outcome", "status stdout stderr")


def expect(condition, what, *outcomes):
    """Raises Failure with `what` and what the programs said, unless `condition` holds."""
    if condition:
        return
    lines = [what]
    for outcome in outcomes:
        lines.append(f"  exit status {outcome.status}")
        for name, text in (("stdout", outcome.stdout), ("stderr", outcome.stderr)):
            said = text.splitlines()
            found = next((at for at, line in enumerate(said) if FINDING.search(line)), len(said))
            lines += [f"  {name}: {line[:300].decode(errors='replace')}"
                      for line in said[:40] + said[max(40, found):found + 60]]
    raise Failure("\n".join(lines))


def seed():
    """CHAMELEON_TEST_SEED, or chance; tests print it."""
    return int(os.environ.get("CHAMELEON_TEST_SEED", random.randrange(1 << 30)))


def tried(check, *arguments):
    """Calls a check of what one run did, three times at most: a busy machine takes cores away within
    what the check compares."""
    for left in (2, 1, 0):
        try:
            return check(*arguments)
        except Failure as failure:
            if left == 0:
                raise
            print(f"tried again: {failure}", flush=True)
    return None


class Tools:
    """The programs under test, from the JSON file that the build writes, and a work folder."""

    def __init__(self, path, folder):
        self.paths = json.loads(pathlib.Path(path).read_text())
        self.folder = pathlib.Path(folder)

    def __getattr__(self, name):
        try:
            return self.paths[name]
        except KeyError:
            raise AttributeError(name) from None

    def fresh(self, name):
        """An empty folder of this name under the work folder."""
        folder = self.folder / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder

    def preload(self, *libraries):
        """LD_PRELOAD for these. With sanitizers the library is no use in a program without them
        unless their runtime comes first."""
        return ":".join(str(library) for library in (self.sanitizer, *libraries) if library)

    def sanitizer_options(self):
        if not self.sanitizer:
            return {}
        return {name: os.environ.get(name, usual) for name, usual in SANITIZER_OPTIONS.items()}

    def environment(self, **variables):
        """Of a process. The tests must not depend on the settings of whoever runs them, nor on how
        fast the machine is: unless they say otherwise, every marker is acted on."""
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith("CHAMELEON_") and name != "LD_PRELOAD"}
        return {**kept, "CHAMELEON_CALL_FREQUENCY": "1", **self.sanitizer_options(),
                **LAUNCHER_OPTIONS.get(self.mpi, {}), **{name: str(value) for name, value in variables.items()}}

    def adapted(self, command):
        """With sanitizers: what `chameleon run` starts has their runtime too, and verbs that start
        no job look for leaks."""
        options = self.sanitizer_options()
        if not options:
            return command, options
        verb = command[1] if command[0] == self.command and len(command) > 1 else ""
        if verb == "run":
            command = [*command[:2], "--env", f"LD_PRELOAD={self.sanitizer}", *command[2:]]
        if verb not in ("", "run", "replay"):
            options["ASAN_OPTIONS"] += ":detect_leaks=1"
        return command, options

    def run(self, command, cwd=None, timeout=TIMEOUT, **variables):
        command, more = self.adapted(command)
        environment = self.environment(**{**more, **variables})
        timeout *= self.slower
        words = [str(word) for word in command]
        process = subprocess.Popen(words, cwd=cwd or self.folder, env=environment,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, start_new_session=True)
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 15)  # the launcher ends its ranks
            try:
                process.communicate(timeout=5)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
                process.communicate()
            raise Failure(f"not done after {timeout} s: {' '.join(words)}") from None
        outcome = Outcome(process.returncode, out, err)
        expect(not self.sanitizer or not FINDING.search(err), "a sanitizer found a fault", outcome)
        return outcome

    def launcher(self):
        """`mpiexec` and its options, as one word for --launcher."""
        return " ".join(self.mpiexec)

    def job(self, ranks, program, preload=(), cwd=None, timeout=TIMEOUT, **variables):
        """An MPI job; libraries are preloaded into the ranks only, the yielding one always."""
        libraries = self.preload(*preload, self.test_yield)
        settings = [f"{name}={value}" for name, value in variables.items()]
        return self.run([*self.mpiexec, "-n", ranks, "env", f"LD_PRELOAD={libraries}", *settings,
                         *program], cwd=cwd, timeout=timeout)

    def traced(self, ranks, program, output, raw=None, cwd=None, timeout=TIMEOUT, preload=(),
               **variables):
        variables["CHAMELEON_OUTPUT"] = output
        if raw:
            variables["CHAMELEON_RAW"] = raw
        return self.job(ranks, program, preload=[self.library, *preload], cwd=cwd,
                        timeout=timeout, **variables)

    def chameleon(self, *words, timeout=TIMEOUT, **variables):
        return self.run([self.command, *words], timeout=timeout, **variables)

    def replay(self, ranks, trace, *options, timeout=TIMEOUT):
        return self.job(ranks, [self.replayer, "--compute=none", *options, trace],
                        timeout=timeout)

    # -- what every trace must pass

    def verify(self, trace, raw, timeout=TIMEOUT):
        """Every value in the trace is the one the raw records hold."""
        outcome = self.chameleon("verify", trace, "--raw", raw, "--json", timeout=timeout)
        if outcome.status != 0:  # what differs stands at the end of the text
            outcome = self.chameleon("verify", trace, "--raw", raw, timeout=timeout)
        expect(outcome.status == 0, f"{trace.name}: verify fails", outcome)
        report = json.loads(outcome.stdout)
        expect(report["ok"] and report["raw_events"] > 0, f"{trace.name}: verify", outcome)
        for name, column in report["columns"].items():
            if name in ("compute", "communication"):  # as the trace states, or declares
                expect(column["undeclared"] == 0, f"{trace.name}: verify: {name}", outcome)
                continue
            expect(column["matched"] == column["total"],
                   f"{trace.name}: verify: {name} {column['matched']} of {column['total']}",
                   outcome)
        return report

    def check(self, trace, timeout=TIMEOUT):
        outcome = self.chameleon("check", trace, timeout=timeout)
        expect(outcome.status == 0, f"{trace.name}: check fails", outcome)

    def local_calls(self):
        """Names of the calls that are not recorded by default, from the MPI table."""
        line = re.compile(r"^\d+ (\w+) [\d.]+ (\S+) (?:\w+=\S+ )*:", re.M)
        found = line.findall(pathlib.Path(self.table).read_text())
        expect(len(found) > 300, f"{self.table} was not understood")
        return {f"MPI_{name}" for name, marks in found if "local" in marks.split(",")}


def unsanitized(why):
    """Marks one test of many as left out of builds with sanitizers, for a reason."""
    def mark(function):
        function.unsanitized = why
        return function
    return mark


def is_left_out(tools, function):
    why = tools.sanitizer and getattr(function, "unsanitized", "")
    if why:
        print(f"{function.__name__}: not with sanitizers: {why}")
    return bool(why)


def raw_counts(folder, rank):
    counts = collections.Counter()
    with open(folder / f"rank.{rank}.raw", encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if not line.startswith("#"):
                words = line.split(" ", 2)  # with threads, "@NUMBER" first
                counts["MPI_" + words[words[0].startswith("@")].rstrip("\n")] += 1
    return counts


def parser(text):
    arguments = argparse.ArgumentParser(description=text,
                                        formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--tools", required=True, help="tools.json of the build")
    arguments.add_argument("--keep", help="work folder, kept (default: a temporary one)")
    return arguments


def parser_of_ranks(text):
    """Of a test that runs a program on several numbers of ranks: for `main_of_ranks`."""
    arguments = parser(text)
    arguments.add_argument("--program", required=True)
    arguments.add_argument("--ranks", required=True, help="numbers of ranks, by commas")
    return arguments


def main_of_ranks(name, options, check):
    """Calls check(tools, options, ranks) for each number of ranks, in one work folder."""
    def body(tools):
        for ranks in map(int, options.ranks.split(",")):
            check(tools, options, ranks)
            print(f"{ranks} ranks: ok")
            sys.stdout.flush()

    main(name, options, body)


def run_each(tests, only, run):
    """Calls run(test) for each of the functions, or for the one whose name is `only`, and prints how
    long each took. Failure: those that failed, after all have run."""
    chosen = [test for test in tests if only in (None, test.__name__)]
    failed = [] if chosen else [f"no test is called {only}"]
    for test in chosen:
        begin = time.monotonic()
        try:
            run(test)
            print(f"{test.__name__}: ok, {time.monotonic() - begin:.1f} s", flush=True)
        except (Failure, subprocess.TimeoutExpired) as failure:
            failed.append(f"{test.__name__}: {failure}")
            print(failed[-1], flush=True)
    expect(not failed, "\n".join(failed))


def main(name, options, body):
    """Calls body(tools) in a work folder; exits 0 if it returns."""
    folder = options.keep or tempfile.mkdtemp(prefix=f"chameleon-{name}-")
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    try:
        body(Tools(options.tools, pathlib.Path(folder).resolve()))
    except Failure as failure:
        print(f"{name}: FAILED: {failure}", file=sys.stderr)
        sys.exit(1)
    finally:
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)
    print(f"{name}: passed")
