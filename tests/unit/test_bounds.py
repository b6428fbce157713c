#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What keeps the project readable stays small: no source file has more than 500 lines, and no class
of the traced process more than 20 public methods or 15 members. Constructors, destructors and
operators are not counted as methods; structs, which are plain data, may have any number of members.

    test_bounds.py ROOT"""

import pathlib
import re
import sys

FOLDERS = ("libchameleon", "statemachine", "markers", "analysis", "replay", "tools", "tests",
           "examples", "bench", "scripts", "cmake")
SUFFIXES = {".h", ".cpp", ".c", ".py", ".f90", ".F90", ".js", ".css", ".cmake"}
# A table, a line a call.
TABLES = ("tools/python/chameleon_trace/mpi_calls.py",)
TRACED_PROCESS = ("libchameleon/", "statemachine/", "markers/")
# Ranks in one process, of tests and of `simulate`.
VIRTUAL = ("libchameleon/world/virtual_world.h",)
MOST_LINES, MOST_METHODS, MOST_MEMBERS = 500, 20, 15

HEAD = re.compile(r"(?<!\benum )\b(class|struct)\s+(?:\[\[\w+\]\]\s*|alignas\(\w+\)\s*)?(\w+)"
                  r"(?:\s+final)?(?:\s*:[^;{]*)?\s*\{")
NO_DECLARATION = re.compile(r"(using|friend|static_assert|enum|class|struct|typedef|"
                            r"template\s*<[^>]*>\s*(using|class|struct|friend))\b")


def body_at(text, begin):
    """What is between the brace before `begin` and the one that closes it."""
    depth, end = 1, begin
    while depth != 0 and end < len(text):
        depth += {"{": 1, "}": -1}.get(text[end], 0)
        end += 1
    return text[begin:end - 1]


def statements(body):
    """The declarations of a class: what is in braces is left out, and ends a declaration where it
    is not an initial value."""
    depth, flat = 0, []
    for i, character in enumerate(body):
        if character == "{":
            depth += 1
        elif character == "}":
            depth -= 1
            if depth == 0 and not re.match(r"\s*[;,{]|\s+\w+_;", body[i + 1:]):
                flat.append(";")
        elif depth == 0:
            flat.append(character)
    return [" ".join(part.split()) for part in
            re.split(r";|\b(?=public:|private:|protected:)|(?<=public:|rivate:|tected:)",
                     "".join(flat))]


def count(kind, name, body):
    """Public methods and members of a class."""
    access, methods, members = "public" if kind == "struct" else "private", 0, 0
    for statement in statements(body):
        section = re.fullmatch(r"(public|private|protected) ?:", statement)
        if section:
            access = section[1]
            continue
        statement = re.sub(r"\[\[.*?\]\]|__attribute__\(\(.*?\)\)", "", statement).strip()
        if not statement or NO_DECLARATION.match(statement):
            continue
        before = statement.split("=")[0]
        called = re.search(r"(~?\w+)\s*\(", re.sub(r"<[^()]*\([^()]*\)>", "", before))
        if called:
            if "operator" not in statement and called[1].lstrip("~") != name:
                methods += access == "public"
        elif not re.match(r"(static|inline static|constexpr)\b", statement):
            members += 1 + before.count(",") * ("<" not in before)
    return methods, members


def classes(text):
    text = re.sub(r"//.*", "", text)
    for match in HEAD.finditer(text):
        yield (match[1], match[2], *count(match[1], match[2], body_at(text, match.end())))


def check_itself():
    sample = """class Sample final : public Base {
     public:
      Sample() = default;
      ~Sample() override;
      Sample& operator=(const Sample&) = delete;
      int one() const { return one_; }
      template <class F> void two(F f) { if (f()) { g(); } }
      virtual void three(std::uint32_t) = 0;
     private:
      void hidden();
      struct Part { int a = 0; } part_;
      std::function<void(int)> callback_;
      static constexpr int kConstant = 1;
      int one_{1}, other_ = 2;
    };"""
    found = [each for each in classes(sample) if each[1] == "Sample"]
    assert found == [("class", "Sample", 3, 4)], found


def main():
    check_itself()
    root = pathlib.Path(sys.argv[1])
    faults, seen = [], 0
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.suffix not in SUFFIXES or not path.is_file() or name in TABLES:
                continue
            text = path.read_text(errors="replace")
            lines = text.count("\n")
            if lines > MOST_LINES:
                faults.append(f"{name} has {lines} lines, more than {MOST_LINES}")
            if path.suffix != ".h" or not name.startswith(TRACED_PROCESS) or \
                    name in VIRTUAL:
                continue
            for kind, of, methods, members in classes(text):
                seen += 1
                if methods > MOST_METHODS:
                    faults.append(f"{name}: {of} has {methods} public methods, more than "
                                  f"{MOST_METHODS}")
                if kind == "class" and members > MOST_MEMBERS:
                    faults.append(f"{name}: {of} has {members} members, more than {MOST_MEMBERS}")
    if seen < 80:
        faults.append(f"only {seen} classes were found")
    print("\n".join(faults) or f"{seen} classes of the traced process")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
