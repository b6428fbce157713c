#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What is read from location tables is what Python reads from them; damaged ones do no harm.

    test_locations.py DUMP SEED

Run by the interpreter whose tables are read: each instruction of all functions of some modules of
its library, with and without columns. Tables with damaged bytes only have to be read to an end."""

import random
import subprocess
import sys
import types

MODULES = ("argparse", "asyncio.tasks", "contextlib", "dataclasses", "inspect", "typing", "turtle")
UNIT = 2


def functions(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from functions(constant)


def codes():
    for name in MODULES:
        path = sys.modules["importlib.util"].find_spec(name).origin
        with open(path, encoding="utf-8") as file:
            yield from functions(compile(file.read(), path, "exec"))
    long = "def f():\n" + " a(\n" + " b,\n" * 3000 + " )\n" + "\n" * 70000 + " " * 300 + "c()\n"
    yield from functions(compile(long.replace(" " * 300 + "c()", " c(" + " " * 300 + "d())"),
                                 "<long>", "exec"))


def expected(code):
    return [f"{line or 0}:{0 if column is None else column + 1}-{end_line or 0}:"
            f"{0 if end_column is None else end_column + 1}"
            for line, end_line, column, end_column in code.co_positions()]


def ask(program, tables):
    text = "".join(f"{first} {units} x{table.hex()}\n" for first, units, table in tables)
    done = subprocess.run([program], input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"status {done.returncode}: {done.stderr[:500]}")
    return [line.split() for line in done.stdout.splitlines()]


def main(program, seed):
    import importlib.util  # noqa: F401  (find_spec)
    every = list(codes())
    tables = [(code.co_firstlineno, len(code.co_code) // UNIT, code.co_linetable)
              for code in every]
    instructions = 0
    for code, found in zip(every, ask(program, tables), strict=True):
        said = expected(code)
        if found != said:
            at = next(i for i, pair in enumerate(zip(found, said)) if pair[0] != pair[1])
            sys.exit(f"{code.co_filename} {code.co_qualname}: instruction {at}: {found[at]}, "
                     f"Python says {said[at]}")
        instructions += len(said)
    if len(every) < 500 or instructions < 50000:
        sys.exit(f"only {len(every)} functions, {instructions} instructions")

    chance = random.Random(seed)
    print(f"seed {seed}")
    damaged = []
    for first, units, table in chance.sample(tables, 200):
        table = bytearray(table)
        for _ in range(chance.randrange(1, 5)):
            table[chance.randrange(len(table))] = chance.randrange(256)
        damaged.append((first, min(units, 100), bytes(table[:chance.randrange(len(table) + 1)])))
    if len(ask(program, damaged)) != len(damaged):
        sys.exit("damaged tables were not read to their end")
    print(f"{len(every)} functions, {instructions} instructions: ok")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
