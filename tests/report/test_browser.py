#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every view of the report in headless Chromium: `wavefront` at 16 and 64 ranks, `stencil2d`,
`multigrid`, `faulty` with load over time, and a simulated job of 1,024 ranks. Screenshots of all views stay in the output folder.

    test_browser.py --tools TOOLS.json --wavefront P --stencil P --faulty P
                    --multigrid P --output FOLDER

Needs what scripts/packages-all names, and takes `playwright-core` from the npm registry."""

import json
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "mpi"))
import harness  # noqa: E402
from harness import expect  # noqa: E402

PLAYWRIGHT = "playwright-core@1.65.1"
SLOWEST_OPEN = 1000  # ms, on an idle machine of 2 cores; test machines are not idle
TRIES = 3


def need(program, package):
    found = shutil.which(program)
    expect(found, f"this test needs Debian's package {package} (scripts/packages-all)")
    return found


def playwright(folder):
    """A folder with node_modules/playwright-core."""
    if not (folder / "node_modules" / "playwright-core").exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text(json.dumps({"private": True}))
        done = subprocess.run([need("npm", "npm"), "install", "--no-audit", "--no-fund",
                               PLAYWRIGHT], cwd=folder, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False)
        expect(done.returncode == 0, f"npm install {PLAYWRIGHT}: {done.stderr[-300:]}")
    return folder


def main():
    arguments = harness.parser(__doc__)
    arguments.add_argument("--wavefront", required=True)
    arguments.add_argument("--stencil", required=True)
    arguments.add_argument("--faulty", required=True)
    arguments.add_argument("--multigrid", required=True)
    arguments.add_argument("--output", required=True, type=pathlib.Path)
    options = arguments.parse_args()

    def body(tools):
        node, chromium = need("node", "nodejs"), need("chromium", "chromium")
        output = options.output.resolve()
        modules = playwright(output / "npm")
        shutil.rmtree(output / "screenshots", ignore_errors=True)
        (output / "screenshots").mkdir(parents=True)
        pages = []

        def page(trace):
            outcome = tools.chameleon("report", trace, "-o", output / f"{trace.stem}.html")
            expect(outcome.status == 0, f"{trace}: report fails", outcome)
            pages.append(output / f"{trace.stem}.html")

        for program, ranks, clustering in (
                (options.wavefront, 16, "k-farthest"), (options.wavefront, 64, "k-farthest"),
                (options.stencil, 16, "k-farthest"), (options.stencil, 4, "off"),
                (options.multigrid, 16, "k-farthest")):
            trace = tools.folder / f"{pathlib.Path(program).name}-{ranks}.cham"
            iterations = "5" if program == options.multigrid else "30"
            outcome = tools.traced(ranks, [program, "--iterations", iterations], trace, timeout=300,
                                   CHAMELEON_CLUSTERING=clustering)
            expect(trace.exists(), f"{trace}: no trace", outcome)
            page(trace)
        trace = tools.folder / "faulty-8.cham"
        outcome = tools.traced(8, [options.faulty, "--iterations", "64", "--fault",
                                   "moving:0-64:2000"], trace, CHAMELEON_EFFORT="compute",
                               CHAMELEON_EFFORT_STEPS=16)
        expect(outcome.status == 0, f"{trace}: no trace", outcome)
        page(trace)
        trace = tools.folder / "wavefront-1024.cham"
        outcome = tools.chameleon("simulate", "wavefront", "--from", "1024", "--to", "1024",
                                  "-o", trace)
        expect(outcome.status == 0, "simulate fails", outcome)
        page(trace)

        for attempt in range(TRIES):
            outcome = tools.run([node, HERE / "browser.mjs", modules, output / "screenshots",
                                 chromium, *pages], timeout=600)
            expect(outcome.status == 0, "the browser", outcome)
            print(outcome.stdout.decode())
            opened = [int(line.split()[3]) for line in outcome.stdout.decode().splitlines()]
            if opened[-1] < SLOWEST_OPEN:
                break
        expect(len(opened) == len(pages) and opened[-1] < SLOWEST_OPEN,
               f"1,024 ranks open in {opened[-1]} ms", outcome)

    harness.main("report_browser", options, body)


if __name__ == "__main__":
    main()
