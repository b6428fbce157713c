#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The pictures of the documentation are those that scripts/pictures makes: each is there, light and
dark, some page shows both, and no page shows another one.

    test_pictures.py ROOT"""

import pathlib
import re
import runpy
import sys


def main():
    root = pathlib.Path(sys.argv[1])
    made = set(runpy.run_path(str(root / "scripts" / "pictures"))["files"]())
    there = {path.name for path in (root / "docs" / "images").iterdir()}
    shown, wrong = set(), []
    for page in [root / "README.md", *sorted((root / "docs").rglob("*.md"))]:
        for link in re.findall(r'(?:\]\(|src="|srcset=")([^)"\s]+\.png)', page.read_text()):
            name = pathlib.Path(link).name
            shown.add(name)
            if not (page.parent / link).resolve().is_file():
                wrong.append(f"{page.relative_to(root)}: {link} does not exist")
    for what, names in (("not made by scripts/pictures", there - made),
                        ("missing (run scripts/pictures)", made - there),
                        ("on no page", made - shown), ("shown, but not made", shown - made)):
        wrong += [f"docs/images/{name}: {what}" for name in sorted(names)]
    sys.exit("\n".join(wrong) if wrong else 0)


if __name__ == "__main__":
    main()
