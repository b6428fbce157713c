#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Executes a notebook of the documentation as Jupyter would, cell after cell in an empty folder, with
the built command and examples in PATH. Jupyter itself is not needed.

    test_notebook.py --build BUILD --python FOLDER --preload LIBRARY NOTEBOOK

What a cell ends with must have something to show; pictures must be well-formed."""

import argparse
import ast
import contextlib
import io
import json
import os
import pathlib
import sys
import tempfile
import xml.etree.ElementTree as xml


def execute(source, names, number):
    """The value of the last expression of a cell, or None."""
    tree = ast.parse(source, f"cell {number}")
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, f"cell {number}", "exec"), names)  # pylint: disable=exec-used
    if last is None:
        return None
    return eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), names)


def shown(value):
    """What a notebook would show of a value."""
    text = value._repr_html_() if hasattr(value, "_repr_html_") else repr(value)
    if hasattr(value, "_repr_html_"):
        xml.fromstring(f"<div>{text.replace('&#9632;', '')}</div>")  # raises on what is not closed
        assert "<svg" in text or "<table" in text, text
        if "<svg" in text:
            assert text.count("<rect") > 2, "an empty picture"
    return text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, type=lambda name: pathlib.Path(name).resolve())
    parser.add_argument("--python", required=True)
    parser.add_argument("--preload", required=True)
    parser.add_argument("notebook", type=lambda name: pathlib.Path(name).resolve())
    options = parser.parse_args()
    document = json.loads(options.notebook.read_text())
    for name in [name for name in os.environ if name.startswith("CHAMELEON_") and
                 name != "CHAMELEON_LIBRARY"]:
        del os.environ[name]
    os.environ["PATH"] = os.pathsep.join([str(options.build / "tools"),
                                          str(options.build / "examples"), os.environ["PATH"]])
    os.environ["LD_PRELOAD"] = options.preload
    sys.path.insert(0, options.python)
    cells = [cell for cell in document["cells"] if cell["cell_type"] == "code"]
    assert len(cells) > 5 and document["nbformat"] == 4, "not a notebook"
    assert not any(cell["outputs"] or cell["execution_count"] for cell in cells), \
        "the notebook is kept without its outputs"
    names, pictures = {}, 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for number, cell in enumerate(cells, 1):
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                value = execute("".join(cell["source"]), names, number)
            text = printed.getvalue() if value is None else shown(value)
            pictures += "<svg" in text
            print(f"cell {number}: {text[:200]!r}")
        os.chdir("/")
    assert pictures >= 2, f"{pictures} pictures"


if __name__ == "__main__":
    main()
