#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Places of calls and loops say where in the program they are, not in what it wraps MPI.

    test_places.py --tools TOOLS.json --program WRAPPED_PROGRAM"""

import json
import pathlib
import re

import harness
from harness import expect

SOURCE = pathlib.Path(__file__).resolve().parent / "wrapped_program.c"


def line_of(text):
    """The number of the only line of the program that has this."""
    found = [number for number, line in enumerate(SOURCE.read_text().splitlines(), 1)
             if text in line]
    expect(len(found) == 1, f"{text} stands in {len(found)} lines")
    return found[0]


def printed(tools, trace):
    outcome = tools.chameleon("print", trace)
    expect(outcome.status == 0, "print fails", outcome)
    lines = outcome.stdout.decode().splitlines()
    where = lambda call, place: any(line.strip().startswith(call) and place in line
                                    for line in lines)
    for caller in ("exchange", "sum"):
        expect(where("Waitall", f" {caller}() through wait_all()"), f"Waitall in {caller}", outcome)
    expect(where("Isend", f"{SOURCE.name}:{line_of('MPI_Isend')} exchange()  "), "Isend", outcome)
    loops = [line.strip() for line in lines if line.strip().startswith("loop")]
    expect(len(loops) == 3, f"{len(loops)} loops", outcome)
    first, last = line_of("MPI_Irecv"), line_of("wait_all(2")
    for loop, place in zip(loops, (
            rf"loop 7 x   {SOURCE.name}:(\d+)-(\d+) main\(\)  ",
            rf"loop 3 x   {SOURCE.name}:{first}-{last} exchange\(\) called at "
            rf"{SOURCE.name}:\d+ lower\(\)  ",
            rf"loop 5 x   {SOURCE.name}:{first}-{last} exchange\(\) called at "
            rf"{SOURCE.name}:\d+ upper\(\)  ")):
        expect(re.match(place, loop), f"{loop} is not at {place}", outcome)
    main = re.match(r".*:(\d+)-(\d+) main", loops[0])
    expect(int(main[2]) - int(main[1]) == 2, f"the lines of {loops[0]}", outcome)


def reported(tools, trace):
    outcome = tools.chameleon("report", "--quiet", trace, "-o", trace.with_suffix(".html"))
    expect(outcome.status == 0, "report fails", outcome)
    page = trace.with_suffix(".html").read_text(encoding="utf-8")
    data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.S)[1])
    loops = [node for node in data["tree"]["nodes"] if "loop" in node]
    expect(len(loops) == 1 and " main()" in loops[0]["place"], f"the time loop: {loops}")
    inner = [node["place"] for node in loops[0]["body"] if "loop" in node]
    expect(["lower()" in place for place in inner] == [True, False], f"its loops: {inner}")
    sites = {data["frames"][site["site"]] for site in data["sites"]}
    expect(any(site.endswith("sum() through wait_all()") for site in sites), f"places: {sites}")


def summarized(tools, trace):
    """Calls of one function with two callers: two lines, which name the callers."""
    outcome = tools.chameleon("summary", "--json", trace)
    expect(outcome.status == 0, "summary fails", outcome)
    places = [f"{place['call']} {place['site']}" for place in json.loads(outcome.stdout)["places"]]
    expect(len(set(places)) == len(places), f"equal lines: {places}", outcome)
    callers = [place for place in places if " exchange()" in place and ", called at " in place]
    expect(len(callers) >= 2 and all("upper()" in place or "lower()" in place
                                     for place in callers), f"callers: {places}", outcome)


def main():
    arguments = harness.parser(__doc__)
    arguments.add_argument("--program", required=True)
    options = arguments.parse_args()

    def body(tools):
        trace = tools.fresh("places") / "t.cham"
        outcome = tools.traced(2, [options.program], trace)
        expect(outcome.status == 0, "the program fails", outcome)
        printed(tools, trace)
        reported(tools, trace)
        summarized(tools, trace)

    harness.main("places", options, body)


if __name__ == "__main__":
    main()
