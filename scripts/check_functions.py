#!/usr/bin/env python3
"""Checks that no function of src/ is longer than 60 lines, unless it writes out a table.

    check_functions.py [ROOT]         ROOT: the repository; by default the one this script is in
    check_functions.py --self-test    long functions of a text of its own are found, others are not

A function is what clang-format leaves of one: a head that ends in `{`, and its lines up to the `}`
that stands under the head's first word. A table is written out where two thirds of the lines are
rows in braces, calls of one function, or cases that return at once. Exit 1 when one is too long.
"""
import os
import re
import sys

LONGEST = 60
# What is longer still, since it writes out more than a table. None joins it.
KNOWN = {
    ("src/cli/run_command.cpp", "add_flags"),  # a call a flag
}
# A head: an indentation, then anything but what opens something else.
HEAD = re.compile(r"^( *)(?!(?:if|for|while|switch|else|do|catch|try|namespace|struct|class|enum|"
                  r"union|return|public|private|protected|constexpr \w+ \w+\[|case|default)\b)"
                  r"[A-Za-z_~][^;=#]*\)(?: const| noexcept| override| final|"
                  r"\s*->\s*[\w:<>,&* ]+)*(?:\s*:\s.*)? \{$")
START = re.compile(r"^( *)[A-Za-z_~\[]")
ROW = re.compile(r"^\s*(?:\{.*\}[,;]?|\{[^}]*|[^{]*\}+\)?[,;]?|case [^:]+:(?: return\b.*)?"
                 r"|add\w*\(.*|return .*|\"[^\"]*\"[,)]?;?|\(.*\)[,;]?)$")


def heads(lines):
    """(first line, last line of the head, indentation) of each function with a body."""
    i = 0
    while i < len(lines):
        start = START.match(lines[i])
        if not start or lines[i].lstrip().startswith(("//", "#", "*")):
            i += 1
            continue
        # A head may take several lines, which are further in.
        end, text = i, lines[i]
        while (not text.endswith(("{", ";", "}", ":")) and end + 1 < len(lines) and
               end - i < 12 and lines[end + 1].startswith(start.group(1) + "  ")):
            end += 1
            text += " " + lines[end].strip()
        # The rest of a condition that begins above closes more brackets than it opens.
        is_head = HEAD.match(text) and text.count("(") == text.count(")")
        if is_head:
            yield i, end, start.group(1)
        i = end + 1 if is_head else i + 1


def functions(text):
    """(line, name, lines) of each function."""
    lines = text.split("\n")
    for first, last, indent in heads(lines):
        for end in range(last + 1, len(lines)):
            if lines[end].startswith(indent + "}"):
                break
        else:
            continue
        head = " ".join(line.strip() for line in lines[first:last + 1])
        name = re.search(r"([\w:~]+)\s*\(", head)
        yield first + 1, name.group(1) if name else head, lines[first:end + 1]


def is_table(lines):
    body = [line for line in lines[1:-1] if line.strip()]
    return 3 * sum(1 for line in body if ROW.match(line)) >= 2 * len(body)


def check(root):
    found, known = [], set()
    for folder, _, names in sorted(os.walk(os.path.join(root, "src"))):
        for name in sorted(names):
            if not name.endswith((".cpp", ".hpp", ".inc")):
                continue
            path = os.path.join(folder, name)
            with open(path, encoding="utf-8") as file:
                text = file.read()
            relative = os.path.relpath(path, root)
            for line, function, body in functions(text):
                if len(body) <= LONGEST or is_table(body):
                    continue
                if (relative, function) in KNOWN:
                    known.add((relative, function))
                else:
                    found.append(f"{relative}:{line}: {function} has {len(body)} lines")
    return found + [f"{path}: {function} is short now: take it off the list in {__file__}"
                    for path, function in sorted(KNOWN - known)]


def self_test():
    long_body = "".join(f"  step({i});\n  other = step({i}) + 1;\n" for i in range(30))
    rows = "".join(f'      {{"{i}", {i}}},\n' for i in range(70))
    cases = [
        ("void f(int a) {\n" + long_body + "}\n", ["f"]),
        ("class A {\n  void g(int a,\n         int b) const {\n" +
         long_body.replace("  ", "    ") + "  }\n};\n", ["g"]),
        ("int f() {\n" + long_body[:900] + "}\n", []),
        ("std::vector<Row> rows() {\n  return {\n" + rows + "  };\n}\n", []),
        ("namespace a {\n" + "int x = 0;\n" * 70 + "}\n", []),
        ("struct A {\n" + "  int x = 0;\n" * 70 + "};\n", []),
        ("A::A(int a)\n    : a_(a),\n      b_(a) {\n" + long_body + "}\n", ["A::A"]),
    ]
    wrong = 0
    for text, expected in cases:
        said = [name for _, name, body in functions(text)
                if len(body) > LONGEST and not is_table(body)]
        if said != expected:
            wrong += 1
            print(f"self-test: {text[:60]!r}: expected {expected}, found {said}")
    print(f"self-test: {len(cases) - wrong} of {len(cases)} texts as expected")
    return 1 if wrong else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    found = check(os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else root)
    print("\n".join(found) if found else f"check_functions: none has more than {LONGEST} lines")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
