#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The page of `chameleon serve` in headless Chromium, beside a job that runs and is then killed.

    test_live_browser.py --tools TOOLS.json --program FAULTY --output FOLDER

Needs what scripts/packages-all names, and takes `playwright-core` from the npm registry."""

import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE.parent / "mpi"), str(HERE.parent / "report")]
import harness  # noqa: E402
from harness import expect  # noqa: E402
from live_jobs import PATIENCE, Served, job, kill  # noqa: E402
from test_browser import need, playwright  # noqa: E402


def main():
    arguments = harness.parser(__doc__)
    arguments.add_argument("--program", required=True)
    arguments.add_argument("--output", required=True, type=pathlib.Path)
    options = arguments.parse_args()

    def body(tools):
        node, chromium = need("node", "nodejs"), need("chromium", "chromium")
        output = options.output.resolve()
        modules = playwright(output / "npm")
        trace = tools.fresh("browser") / "t.cham"
        with job(tools, options.program, trace) as ranks, Served(tools, trace) as server:
            browser = subprocess.Popen([node, str(HERE / "live.mjs"), str(modules), str(output),
                                        chromium, server.url],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, text=True)
            said = browser.stdout.readline()  # it has seen the job run
            if said.strip() == "running":
                kill(ranks)
                said = browser.stdout.readline()
            if said.strip() == "ended":
                server.end()
            _, errors = browser.communicate(timeout=2 * PATIENCE)
            expect(browser.returncode == 0, f"the browser, after {said!r}: {errors[-2000:]}")

    harness.main("live_browser", options, body)


if __name__ == "__main__":
    main()
