#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""C++ in a page that begins with `// FILE` stands in that file of the source, line by line; so
what the page shows compiles and is tested.

    test_quotes.py SOURCE PAGE...
"""

import pathlib
import re
import sys


def main():
    source = pathlib.Path(sys.argv[1])
    checked, failed = 0, False
    for page in map(pathlib.Path, sys.argv[2:]):
        for block in re.findall(r"```cpp\n(.*?)```", page.read_text(), re.S):
            name, _, quoted = block.partition("\n")
            text = (source / name.removeprefix("// ")).read_text()
            checked += 1
            if quoted.strip() not in text:
                failed = True
                print(f"{page}: what it quotes of {name} does not stand there:\n{quoted}")
    if checked == 0:
        sys.exit("nothing is quoted")
    print(f"{checked} quotations")
    return failed


if __name__ == "__main__":
    sys.exit(main())
