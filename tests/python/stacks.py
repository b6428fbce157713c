# SPDX-License-Identifier: BSD-3-Clause
"""Calls MPI from Python in every way that a stack can come about, and writes down from where, as
Python itself says: a list of calls, each a list of (file, function, line), innermost first, in
RANK.json of the folder that is named; a list of these for each thread. The second argument
`threads` asks for several."""

import asyncio
import functools
import gc
import json
import pathlib
import sys
import threading

import minimpi

FOLDER = pathlib.Path(sys.argv[1])
THREADS = {}  # by thread: its calls
WARM = 200  # often enough for every way in which an interpreter makes code faster


def note(frame):
    stack = []
    while frame is not None:
        stack.append((frame.f_code.co_filename, getattr(frame.f_code, "co_qualname", ""),
                      frame.f_lineno))
        frame = frame.f_back
    THREADS.setdefault(threading.get_ident(), []).append(stack)


def barrier():
    note(sys._getframe()); minimpi.barrier()  # noqa: E702  (on one line, which is noted)


def plain():
    for _ in range(WARM):
        barrier()


def two_on_a_line():
    for _ in range(3):
        note(sys._getframe()); minimpi.barrier(); note(sys._getframe()); minimpi.barrier()  # noqa: E702


def with_lock():
    for _ in range(3):
        note(sys._getframe()); minimpi.barrier_with_lock()  # noqa: E702


def recursive(depth, leaf):
    if depth == 0:
        return leaf()
    return recursive(depth - 1, leaf)


def even(depth):
    return odd(depth - 1) if depth else barrier()


def odd(depth):
    return even(depth - 1) if depth else barrier()


def generator(count):
    for i in range(count):
        barrier()
        yield i
        barrier()


def delegating(count):
    yield from generator(count)


async def inner(future):
    barrier()
    await future
    barrier()


async def outer():
    loop = asyncio.get_running_loop()
    for _ in range(3):
        future = loop.create_future()
        loop.call_soon(future.set_result, None)
        await inner(future)
        await asyncio.sleep(0)
        barrier()
    await asyncio.gather(*(numbered(i) for i in range(3)))


async def numbered(i):
    for _ in range(i):
        await asyncio.sleep(0)
    barrier()


def by_c(depth):
    """Python, C, Python, C and so on."""
    if depth == 0:
        return barrier()
    return minimpi.call(functools.partial(by_c, depth - 1))


def builtins():
    sorted(range(3), key=lambda i: barrier() or i)
    list(map(lambda i: barrier(), range(3)))
    [barrier() for _ in range(3)]
    functools.reduce(lambda a, b: barrier() or b, range(3))
    {i: barrier() for i in range(2)}


def things():
    class Thing:
        class_made = barrier()

        def __init__(self):
            barrier()

        @property
        def value(self):
            barrier()
            return 1

        def __getitem__(self, index):
            barrier()
            return index

        def __del__(self):
            barrier()

        def __enter__(self):
            barrier()
            return self

        def __exit__(self, *_):
            barrier()

    for _ in range(WARM // 10):
        thing = Thing()
        thing.value, thing[0]
        with thing:
            barrier()
        del thing


def raising():
    for _ in range(3):
        try:
            try:
                raise ValueError
            except ValueError:
                barrier()
                raise KeyError
            finally:
                barrier()
        except KeyError:
            barrier()


def arguments(*positional, **named):
    barrier()


def calls_with_arguments():
    for _ in range(WARM // 10):
        arguments(*[1, 2], **{"a": 1})
        arguments(*[1, 2])
        arguments(1, a=2)


def made_at_run_time():
    """Code objects that die and give their memory to the next one: the same addresses, the same
    offsets, other names."""
    for i in range(60):
        source = f"def made_{i % 7}():\n" + "\n" * (i % 3) + "  barrier()\n" + f"made_{i % 7}()\n"
        exec(compile(source, f"<made {i % 5}>", "exec"), {"barrier": barrier})
        gc.collect()


def of_other_letters():
    for name in ("<größe>", "<γράφω>", "<𝒳>"):
        exec(compile("def größe():\n  barrier()\ngröße()\n", name, "exec"), {"barrier": barrier})


def long_function():
    """Its calls stand far behind its first line, and on lines that are one call."""
    source = "def long():\n" + "  a = 1\n" * 3000 + "  barrier(\n\n\n  )\n" + "long()\n"
    exec(compile(source, "<long>", "exec"), {"barrier": barrier})


def in_threads():
    """Two threads that take turns, so that the ranks' barriers are of the same one."""
    turns = [threading.Event(), threading.Event()]

    def work(i):
        for _ in range(10):
            turns[i].wait()
            turns[i].clear()
            (first if i == 0 else second)()
            turns[1 - i].set()

    def first():
        barrier_between()

    def second():
        barrier_between()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    turns[0].set()
    for thread in threads:
        thread.join()


def barrier_between():
    note(sys._getframe()); minimpi.barrier()  # noqa: E702


def everything():
    plain()
    two_on_a_line()
    with_lock()
    recursive(5, barrier)
    recursive(90, barrier)
    recursive(300, barrier)
    even(8)
    odd(3)
    for _ in range(WARM // 10):
        list(generator(2))
        list(delegating(2))
    asyncio.run(outer())
    by_c(0)
    by_c(4)
    builtins()
    things()
    raising()
    calls_with_arguments()
    made_at_run_time()
    of_other_letters()
    long_function()
    if "threads" in sys.argv:
        in_threads()


minimpi.init(3 if "threads" in sys.argv else 0)
rank = minimpi.rank()
everything()
note(sys._getframe()); minimpi.finalize()  # noqa: E702
(FOLDER / f"{rank}.json").write_text(json.dumps(list(THREADS.values())))
