#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a trace of a few kilobytes, or a client of `serve`, can make the tools do: never more memory,
time or connections than there is a bound on, in the command and in Python.

    test_limits.py, with the options of test_security.py
"""

import os
import pathlib
import re
import resource
import signal
import socket
import subprocess
import sys
import time

import place as places
from place import Fault, expect



def check_memory(options, place):
    unknown, known = place.traces / "unknown.cham", place.traces / "known.cham"
    expect(unknown.stat().st_size < 200_000, "the trace is not small")
    # What nobody reads takes no memory, though it is 200 MiB.
    place.fine("info", unknown, "--memory", "1G", memory=128 << 20)
    for path in (unknown, known):
        place.refused("info", path, "--memory", "64M", statuses=(4,), says="--memory",
                      memory=128 << 20)
    # What a few bytes stand for is known before it is there: of ranks with facts, and of arrays.
    for name in ("facts", "arrays"):
        path = place.traces / f"{name}.cham"
        expect(path.stat().st_size < 20_000, f"{name} is not small")
        for verb in ("info", "print", "redact", "watch", "recover"):
            place.refused(verb, path, statuses=(4,), says="--memory", memory=2 << 30)
        place.refused("info", path, "--memory", "200M", statuses=(4,), says="--memory",
                      memory=256 << 20)
        # The readers' library, which has no other bound.
        read = places.Place(options, place.folder, None)
        read.command = str(options.dump)
        read.refused(path, statuses=(1, 2, 3), says="too large", memory=2 << 30)
    place.refused("info", unknown, "--memory", "many", statuses=(2,))
    place.refused("info", place.traces / "two_frames.cham", statuses=(3,), says="one frame")
    # Where memory ends all the same, one line says in which file.
    line = place.refused("info", known, "--memory", "4G", statuses=(3, 4), memory=96 << 20)
    expect("chameleon info" in line and "known.cham" in line, line)


# Verbs that end at once, whatever the trace says; of all others a trace may say too much.
READ_LOOPS = (["info"], ["info", "--json"], ["redact", "-q", "-o", "OUT.cham"])
VISIT_RANKS = (["print"], ["summary"], ["stats"], ["stats", "--json"], ["compare", "TRACE"], ["series"],
               ["sample"], ["watch"], ["report", "-q", "-o", "OUT.html"])
VISIT_CALLS = (["check"], ["matrix"], ["pairs"], ["critical"], ["patterns"], ["phases"],
               ["efficiency"], ["slow"], ["whatif"], ["cluster"], ["replay"],
               ["print", "--rank", "0", "--expand"], ["stats", "--waits"],
               ["export", "--csv", "OUT"], ["export", "--chrome", "OUT.json"])
# What is refused of each of the expensive traces.
EXPENSIVE = {"barriers": VISIT_CALLS, "nested": VISIT_CALLS,
             "full_times": VISIT_RANKS + VISIT_CALLS,
             "ranks": VISIT_RANKS + tuple(verb for verb in VISIT_CALLS if verb[0] != "print")}


def check_work(options, place):
    """Verbs that would take long say so, and others do not, in little time and memory."""
    begin, tried = time.process_time(), 0
    for name, refused in EXPENSIVE.items():
        trace = place.traces / f"{name}.cham"
        expect(trace.stat().st_size < 20_000, f"{name} is not small")
        for verb in READ_LOOPS + VISIT_RANKS + VISIT_CALLS:
            for made in place.folder.glob("OUT*"):
                made.unlink()
            words = [verb[0], trace, *(word.replace("TRACE", str(trace)) for word in verb[1:])]
            how = {"memory": 256 << 20, "timeout": 20}
            tried += 1
            if verb in refused:
                line = place.refused(*words, statuses=(4,), says="--all", **how)
                expect(re.search(r"[0-9.e+]+ ranks one by one, which takes about [0-9.]+ m?s", line),
                       line)
                expect(not list(place.folder.glob("OUT*")), f"{verb} began")
            elif name != "ranks" or verb not in VISIT_CALLS:
                place.fine(*words, **how)
    expect(tried > 100, f"only {tried} were tried")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    expect(used.ru_utime < 120, f"all of them took {used.ru_utime} s since {begin}")
    line = place.refused("export", place.traces / "barriers.cham", "--csv", "OUT", statuses=(4,))
    expect(" B" in line or "GiB" in line or "TiB" in line, line)
    expect("--ranks" in line, line)
    # The verb's own --all, and the command's.
    for words in (["print", place.traces / "barriers.cham", "--rank", "0", "--expand", "--all",
                   "--limit", "3"],
                  ["--all", "print", place.traces / "barriers.cham", "--rank", "0", "--expand",
                   "--limit", "3"]):
        expect(len(place.fine(*words).splitlines()) == 4, f"{words}")
    place.refused("simulate", "capek", "--figure", "9", "--seeds", "1000", "--to", "4194304",
                  statuses=(4,), says="--all")
    place.refused("simulate", "ring", "--iterations", "4000000000", statuses=(4,), says="--all")


def spent(place, *words, **how):
    """How a verb ends, and the seconds of the processor that it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = place.run(*words, **how)
    return done, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def check_unmatched(options, place):
    """Nobody sends what 65,536 ranks wait for: who goes on regardless is not sought among all."""
    trace = place.traces / "unmatched.cham"
    expect(trace.stat().st_size < 20_000, "the trace is not small")
    for verb in VISIT_CALLS:
        if verb[0] in ("replay", "export", "print"):
            continue
        words = [verb[0], trace, *(word.replace("TRACE", str(trace)) for word in verb[1:])]
        done, seconds = spent(place, *words, memory=2 << 30)
        expect(done.returncode in (0, 1, 4), f"{verb}: {done.returncode}, {done.stderr[-200:]!r}")
        expect(seconds < 25, f"{verb} takes {seconds} s")


def check_ranks(options, place):
    """Events of ranks that the job does not have."""
    place.refused("info", place.traces / "strays.cham", statuses=(3,), says="not in the run")
    done = place.run("verify", place.traces / "nobody.cham", "--raw", place.traces)
    expect(done.returncode == 3 and b"of no rank" in done.stderr, f"nobody: {done}")


def check_locations(options, place):
    """OTF2 holds memory for each rank, and says by itself when that fails."""
    small, many = place.traces / "wide.cham", place.traces / "locations.cham"
    if place.run("export", place.traces / "small.cham", "--otf2", "small").returncode == 4:
        return  # built without
    place.refused("export", many, "--otf2", "OUT", says="of memory for the trace's ranks", statuses=(4,))
    expect(not (place.folder / "OUT").exists(), "OUT is made")
    place.refused("export", small, "--otf2", "OUT", statuses=(3,), says="OTF2 cannot write it",
                  memory=160 << 20)


def check_repeats(options, place):
    """What a delta and its repeats take: time by its groups."""
    for name in ("groups", "fewer_groups"):
        path = place.traces / f"{name}.cham"
        expect(path.stat().st_size < 2000, f"{name} is not small: {path.stat().st_size}")
        done, seconds = spent(place, "info", path, memory=1 << 30)
        expect(done.returncode in (3, 4) and b"too long to join" in done.stderr,
               f"{name}: {done.stderr!r}")
        expect(seconds < 20, f"{name} takes {seconds} s")


def check_serve(options, place):
    """Idle connections do not hold up a reader, and SIGTERM ends the server all the same."""
    for idle in (0, 40):
        server = subprocess.Popen([place.command, "serve", str(place.traces / "small.cham")],
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        try:
            url = server.stdout.readline().decode().strip()
            port = int(re.search(r":(\d+)/", url)[1])
            held = [socket.create_connection(("127.0.0.1", port), 5) for _ in range(idle)]
            for one in held[::2]:
                one.sendall(b"GET / HTTP/1.1\r\nX: ")
            begin = time.monotonic()
            with socket.create_connection(("127.0.0.1", port), 5) as one:
                one.settimeout(10)
                path = url[url.index("/", 8):]
                one.sendall(f"GET {path}state HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
                answer = one.recv(4096)
            expect(b" 200 " in answer.splitlines()[0], f"{answer!r}")
            expect(time.monotonic() - begin < 10, "idle connections hold it up")
            server.send_signal(signal.SIGTERM)
            expect(server.wait(10) == 0, "SIGTERM")
            for one in held:
                one.close()
        finally:
            server.kill()
            server.wait()


def check_slow_request(options, place):
    """Who sends a byte now and then has no connection for good, and no page is read by nobody."""
    server = subprocess.Popen([place.command, "serve", str(place.traces / "small.cham")],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        url = server.stdout.readline().decode().strip()
        port = int(re.search(r":(\d+)/", url)[1])
        begin = time.monotonic()
        with socket.create_connection(("127.0.0.1", port), 5) as slow:
            slow.sendall(b"GET / HTTP/1.1\r\nX: ")
            try:
                while time.monotonic() - begin < 15:
                    time.sleep(0.3)
                    slow.sendall(b"a")
                raise Fault("a request of a byte now and then has no end")
            except (BrokenPipeError, ConnectionResetError):
                pass
        with socket.create_connection(("127.0.0.1", port), 5) as long:
            long.settimeout(10)
            long.sendall(b"GET / HTTP/1.1\r\n")
            try:
                for number in range(100_000):
                    long.sendall(f"X-{number}: {'a' * 80}\r\n".encode())
                raise Fault("a request has any number of lines")
            except (BrokenPipeError, ConnectionResetError):
                pass
    finally:
        server.kill()
        server.wait()


def check_python(options, place):
    sys.path.insert(0, str(options.python))
    import chameleon_trace

    def kind(*words, **how):
        begin = time.monotonic()
        try:
            chameleon_trace.read_trace(*words, **how)
        except chameleon_trace.TraceError as error:
            expect(time.monotonic() - begin < 20, f"{words} takes long")
            expect("\n" not in str(error), str(error))
            return error.kind
        return None

    os.mkfifo(place.folder / "pipe")
    expect(kind(place.folder / "pipe") == "system", "a pipe")
    expect(kind("/dev/zero") == "system", "a device")
    for name in ("unknown", "known"):
        path = place.traces / f"{name}.cham"
        expect(kind(path, most_bytes=64 << 20) == "too-large", name)
    for name in ("arrays",):
        expect(kind(place.traces / f"{name}.cham") == "too-large", name)
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    expect(held < 600 << 10, f"reading took {held} KiB")
    expect(kind(place.traces / "two_frames.cham") == "corrupt", "two frames")
    expect(kind(place.traces / "strays.cham") == "corrupt", "ranks that the job does not have")
    limit = chameleon_trace.trace.default_limit()
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    expect(limit == min(1 << 30, memory // 4), f"a limit of {limit}")
    for name in EXPENSIVE:
        trace = chameleon_trace.read_trace(place.traces / f"{name}.cham")
        begin = time.process_time()
        visiting = {"rank_times": trace.rank_times, "call_tree": trace.call_tree,
                    "compare": lambda trace=trace: chameleon_trace.compare([trace]),
                    "calls": lambda trace=trace: next(trace.rows("calls")),
                    "messages": lambda trace=trace: next(trace.rows("messages")),
                    "loops": lambda trace=trace: next(trace.rows("loops"))}
        if name != "ranks":  # of which a timeline shows the first 64
            visiting["timeline"] = trace.timeline
        for what, visit in visiting.items():
            try:
                visit()
                raise Fault(f"{name}: {what} of everything")
            except ValueError as error:
                expect("most_events" in str(error), str(error))
        expect("not summed" in trace._repr_html_(), f"{name}: what a notebook shows")
        expect(time.process_time() - begin < 20, f"{name}: asking takes long")
    # A call of a known name without the values it has.
    trace = chameleon_trace.read_trace(place.traces / "fields.cham")
    try:
        trace.timeline()
        raise Fault("a call without its values is taken")
    except chameleon_trace.TraceError as error:
        expect(error.kind == "corrupt" and "fields.cham" in str(error), str(error))
    victim = place.folder / "victim"
    victim.write_text("mine")
    (place.folder / "picture.svg").symlink_to(victim)
    chameleon_trace.read_trace(place.traces / "small.cham").timeline().save(
        place.folder / "picture.svg")
    expect(victim.read_text() == "mine", "a picture is written through a link")


if __name__ == "__main__":
    places.main(globals())
