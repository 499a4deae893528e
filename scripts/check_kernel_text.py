#!/usr/bin/env python3
"""Checks that no C++ of src/backends/jit writes kernel text by hand: braces and line ends.

    check_kernel_text.py [ROOT]        ROOT: the repository; by default the one this script is in
    check_kernel_text.py --self-test   broken lines of its own are found, others are not

Kernel text stands in kernel files (*.cl); what is as long as a mask or a list says is put together by the
words of text/emit.hpp, each of which closes what it opens. So a string literal with a brace or a line
end belongs in text/ alone. plan/ writes the plan's text, runtime/ files and export/ tables of C, which are no kernels.
Exit 1 when a line breaks this.
"""
import os
import re
import sys

LITERAL = re.compile(r'R"|"((?:[^"\\]|\\.)*)"')
WRITES = re.compile(r"[{}]|\\n")
ROOMS_WITH_TEXT = ("text", "plan", "runtime", "export")


def problems(lines):
    """(line, text) of each literal that writes kernel text."""
    for i, line in enumerate(lines, 1):
        code = line.strip()
        if code.startswith(("//", "#include", "static_assert")):
            continue
        for match in LITERAL.finditer(code):
            if match.group(1) is None or WRITES.search(match.group(1)):
                yield i, code
                break


def check(root):
    found, files = [], 0
    jit = os.path.join(root, "src", "backends", "jit")
    for folder, _, names in sorted(os.walk(jit)):
        room = os.path.relpath(folder, jit).split(os.sep)[0]
        if room in ROOMS_WITH_TEXT:
            continue
        for name in sorted(names):
            if not name.endswith((".cpp", ".hpp")):
                continue
            files += 1
            path = os.path.join(folder, name)
            with open(path, encoding="utf-8") as file:
                lines = file.read().split("\n")
            found += [f"{os.path.relpath(path, root)}:{line}: {code}" for line, code in
                      problems(lines)]
    if files == 0:
        found.append(f"{jit} has no files")
    return found


def self_test():
    rows = [
        ('text += "for (int k = 0; k < 4; ++k) {";', True),
        (r'text += "sum = 0;\n" + rest;', True),
        ('text += "}";', True),
        ('const char* text = R"(', True),
        ('text += braced(assigned("sum", "0"));', False),
        ('{{"unroll", to.unroll()}});', False),
        ('// a comment of "{"', False),
        ('return "const int x = x0 + i;";', False),
    ]
    wrong = 0
    for code, expected in rows:
        if bool(list(problems([code]))) != expected:
            wrong += 1
            print(f"self-test: {code!r}: expected {'a' if expected else 'no'} problem")
    print(f"self-test: {len(rows) - wrong} of {len(rows)} lines as expected")
    return 1 if wrong else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    found = check(os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else root)
    print("\n".join(found) if found else "check_kernel_text: kernel text stands in kernel files")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
