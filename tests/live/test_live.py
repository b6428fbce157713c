#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`chameleon watch` and `chameleon serve` beside a job: they show what it flushes while it runs, go
on when its trace is renamed, and say how it ended. `serve` answers nothing but its own page, to
those who know its address.

    test_live.py --tools TOOLS.json --program FAULTY"""

import json
import os
import pathlib
import pty
import re
import select
import socket
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "mpi"))
import harness  # noqa: E402
from harness import expect  # noqa: E402
from live_jobs import Served, job, kill, wait_for  # noqa: E402

DATA = re.compile(rb'<script type="application/json" id="data">(.*?)</script>', re.S)


def watched(tools, trace, *words):
    command, options = tools.adapted([str(tools.command), "watch", str(trace), *words])
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, env=tools.environment(**options))


def lines_until(process, condition):
    """The objects that `watch --json` prints up to the first for which the condition holds."""
    found = []
    for line in process.stdout:
        found.append(json.loads(line))
        if condition(found[-1]):
            return found
    return expect(False, f"watch ended first: {process.wait()}, {found[-1:]}")


def check_running_job(tools, program):
    """Every line is of a later flush of the running job; its slow step is named before it ends."""
    trace = tools.fresh("running") / "t.cham"
    with job(tools, program, trace) as ranks:
        process = watched(tools, trace, "--json")
        lines = lines_until(process, lambda line: line["acted"] > 60 and len(line["findings"]) > 0)
        expect(ranks.poll() is None and lines[-1]["state"] == "running", f"{lines[-1]}")
        later = lines_until(process, lambda line: line["acted"] > lines[-1]["acted"])
        everything = lines + later
        for before, after in zip(everything, everything[1:]):
            expect(after["version"] > before["version"] and after["acted"] >= before["acted"] and
                   after["events"] >= before["events"], f"{before}, then {after}")
        last = everything[-1]
        # The interval that the flush ends is known to all ranks with the next vote.
        markers = sum(phase["markers"] for phase in last["phases"])
        expect(0 <= last["acted"] - markers <= 1, f"{markers} markers in phases of {last}")
        expect(last["slowest"]["marker"] == 16 and last["slowest"]["seconds"] > 1.5,
               f"slowest step {last['slowest']}")
        expect(0 < last["tool_share"] < 1, f"tool {last['tool_share']}")
        expect(any("rank 2" in finding for finding in last["findings"]), f"{last['findings']}")

        # The user takes the file away: what was read stays, and the tracer makes a new one there.
        trace.rename(trace.with_name("away.cham"))
        lines_until(process, lambda line: line["acted"] > last["acted"])
        kill(ranks)
        ended = lines_until(process, lambda line: line["state"] == "ended")[-1]
        expect(ended["acted"] >= last["acted"], "what was read is lost")
        expect(process.wait() == 1, f"status {process.returncode}")


def check_complete_job(tools, program):
    trace = tools.fresh("complete") / "t.cham"
    with job(tools, program, trace, steps=300) as ranks:
        process = watched(tools, trace)
        out, err = process.communicate(timeout=120)
        expect(process.returncode == 0 and not err, f"{process.returncode}: {err}")
        ranks.wait(timeout=60)
    shown = out.decode()
    expect("complete, 4 ranks" in shown and f"next: chameleon summary {trace}" in shown and
           "rank 2" in shown and "\x1b" not in shown, shown)
    once = tools.chameleon("watch", trace, "--once")
    expect(once.status == 0 and b"markers acted on: 300" in once.stdout, "--once", once)
    document = json.loads(tools.chameleon("watch", trace, "--json").stdout)
    info = json.loads(tools.chameleon("info", trace, "--json").stdout)
    expect(document["acted"] == info["acted"] and document["events"] == info["events"] and
           abs(document["tool_share"] - info["tool_share"]) < 1e-9, f"{document}")


def check_terminal(tools, program):
    """On a terminal the picture is drawn over itself, and ends with the job."""
    trace = tools.fresh("terminal") / "t.cham"
    with job(tools, program, trace) as ranks:
        main_end, its_end = pty.openpty()
        command, options = tools.adapted([str(tools.command), "watch", str(trace)])
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=its_end,
                                   stderr=its_end,
                                   env=tools.environment(**{**options, "TERM": "xterm"}))
        os.close(its_end)
        shown = b""

        def more():
            nonlocal shown
            ready, _, _ = select.select([main_end], [], [], 0.1)
            try:
                shown += os.read(main_end, 65536) if ready else b""
            except OSError:  # closed: the command has ended
                return True
            return False
        wait_for("three pictures", lambda: more() or shown.count(b"\x1b[H") >= 3)
        kill(ranks)
        wait_for("the end", more)
        expect(process.wait() == 1, f"status {process.returncode}")
        os.close(main_end)
    expect(shown.count(b"\x1b[2J") == 1 and b"ended without MPI_Finalize" in shown and
           b"chameleon recover" in shown, shown[-2000:].decode(errors="replace"))


def check_refusals(tools, program):
    for verb in ("watch", "serve"):
        outcome = tools.chameleon(verb, "no-such-file.cham")
        expect(outcome.status == 3 and outcome.stdout == b"" and outcome.stderr.count(b"\n") == 1,
               f"{verb} of nothing", outcome)
    del program


def check_served(tools, program):
    trace = tools.fresh("served") / "t.cham"
    with job(tools, program, trace) as ranks, Served(tools, trace) as server:
        status, headers, body = server.ask(server.path)
        expect(status == 200 and headers["Content-Type"].startswith("text/html") and
               headers["Cache-Control"] == "no-store" and
               headers["Referrer-Policy"] == "no-referrer", f"{status}: {headers}")
        expect(b"connect-src 'self'" in body and body.count(b"<script") == 5 ==
               body.count(b"</script"), "the page")
        first = server.state()
        expect(first["state"] == "running", f"{first}")
        fresh = wait_for("a later flush", lambda: server.state()["version"] > first["version"])
        expect(fresh, "no later flush")
        then = json.loads(DATA.findall(server.ask(server.path)[2])[0])
        expect(then["info"]["acted"] > json.loads(DATA.findall(body)[0])["info"]["acted"],
               "the page is not of a later flush")
        status, _, data = server.ask(server.path + "data")
        expect(status == 200 and json.loads(data)["schema"] == "chameleon.report/1", "data")
        check_closed(server)
        trace.rename(trace.with_name("away.cham"))
        expect(server.ask(server.path)[0] == 200, "the page went with the file")
        kill(ranks)
        wait_for("the job's end", lambda: server.state()["state"] == "ended")
        expect(server.ask(server.path)[0] == 200, "the page went with the job")
        server.end()


def check_closed(server):
    """Nothing but GET, nobody without the token, no other host's name, no file, no endless request."""
    token = server.path.strip("/")
    for path in ("/", f"/{token}", "/state", f"/{'0' * len(token)}/", f"/{token[:-1]}/",
                 f"/{token}x/state", f"//{token}/"):
        status, _, body = server.ask(path)
        expect(status == 403 and token.encode() not in body, f"{path}: {status} {body}")
    for name in ("../../../../etc/passwd", "%2e%2e/%2e%2e/etc/passwd", "/etc/passwd", "state/",
                 "state?x", "page.html", "t.cham"):
        expect(server.ask(server.path + name)[0] == 404, f"{name} is answered")
    for method in ("POST", "PUT", "DELETE", "HEAD", "OPTIONS"):
        expect(server.ask(server.path, method)[0] == 405, f"{method} is answered")
    expect(server.ask(server.path, "get")[0] == 400, "get is answered")
    for host in ("evil.example", "127.0.0.1.evil.example:80", "", "localhost:80@evil"):
        expect(server.ask(server.path, host=host)[0] == 403, f"host {host} is answered")
    expect(server.ask(server.path + "state", host="localhost:1234")[0] == 200, "a forwarded port")
    expect(server.ask(server.path, junk="x" * 9000)[0] == 400, "a long request")
    # Only this host's loopback is listened on.
    others = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    for address in others - {"127.0.0.1"}:
        with socket.socket() as one:
            one.settimeout(2)
            expect(one.connect_ex((address, server.port)) != 0, f"{address} is listened on")
    # Clients that say nothing hold nobody up, and are sent away.
    silent = [socket.create_connection((server.host, server.port)) for _ in range(20)]
    silent[0].sendall(b"GET ")
    begin = time.monotonic()
    expect(server.state() and time.monotonic() - begin < 4, "a silent client holds others up")
    for one in silent:
        one.settimeout(30)
        expect(one.recv(1) == b"", "a silent client is kept")
        one.close()


def main():
    arguments = harness.parser(__doc__)
    arguments.add_argument("--program", required=True)
    options = arguments.parse_args()

    def body(tools):
        for check in (check_refusals, check_running_job, check_complete_job, check_terminal,
                      check_served):
            check(tools, options.program)

    harness.main("live", options, body)


if __name__ == "__main__":
    main()
