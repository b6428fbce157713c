# SPDX-License-Identifier: BSD-3-Clause
"""A job that runs beside a test, and `chameleon serve` of its trace."""

import contextlib
import http.client
import json
import os
import signal
import subprocess
import time
import urllib.parse

from harness import expect

PATIENCE = 60  # s


def wait_for(what, condition, patience=PATIENCE):
    """What `condition` gives once that is true."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.05)
    return expect(False, f"not within {patience} s: {what}")


@contextlib.contextmanager
def job(tools, program, trace, steps=100_000):
    """Four ranks of `faulty`, whose rank 2 takes 1.5 s longer in its 16th time step than the others,
    flushed ten times a second. They end with the block."""
    libraries = tools.preload(tools.library, tools.test_yield)
    command = [*tools.mpiexec, "-n", 4, "env", f"LD_PRELOAD={libraries}",
               f"CHAMELEON_OUTPUT={trace}", "CHAMELEON_FLUSH_SECONDS=0.1", program,
               "--iterations", steps, "--compute", "1000", "--fault", "slow:2:15:1500000"]
    process = subprocess.Popen([str(word) for word in command], cwd=trace.parent,
                               env=tools.environment(**tools.sanitizer_options()),
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        wait_for("a trace", trace.exists)
        yield process
    finally:
        kill(process)


def kill(process):
    """All ranks of a job; none can do anything about it. The launcher ends them with itself."""
    if process.poll() is None:
        ranks = descendants(process.pid)
        for one in [*ranks, process.pid]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(one, signal.SIGKILL)
    process.wait()


def descendants(process):
    """The processes that this one started, and theirs."""
    found = []
    try:
        with open(f"/proc/{process}/task/{process}/children", encoding="ascii") as children:
            of_it = [int(word) for word in children.read().split()]
    except OSError:
        return found
    for child in of_it:
        found += [child, *descendants(child)]
    return found


class Served:
    """`chameleon serve` and one reader of it."""

    def __init__(self, tools, trace, *words):
        command, options = tools.adapted([str(tools.command), "serve", str(trace), *words])
        self.process = subprocess.Popen(command, env=tools.environment(**options),
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        self.url = self.process.stdout.readline().decode().strip()
        expect(self.url, f"serve says nothing: {self.process.poll()}")
        parts = urllib.parse.urlsplit(self.url)
        self.host, self.port, self.path = parts.hostname, parts.port, parts.path

    def ask(self, path, method="GET", **headers):
        """Status, headers and body."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=PATIENCE)
        connection.request(method, path, headers={k.title(): v for k, v in headers.items()})
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, answer.headers, body

    def state(self):
        status, _, body = self.ask(self.path + "state")
        expect(status == 200, f"state: {status}")
        return json.loads(body)

    def end(self):
        self.process.send_signal(signal.SIGINT)
        _, errors = self.process.communicate(timeout=PATIENCE)
        expect(self.process.returncode == 0, f"serve ends with {self.process.returncode}: {errors}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()
