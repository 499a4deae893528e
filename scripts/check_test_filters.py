#!/usr/bin/env python3
"""Checks that every name which the scripts and CMake choose unit tests by chooses some.

    check_test_filters.py UNIT_TESTS [ROOT]   ROOT: the repository; by default the one of this script
    check_test_filters.py --self-test         names that choose nothing are found, others are not

GoogleTest runs no test and passes where a filter matches nothing, so a renamed test would go unseen.
A filter is what has a star: `OpenClKernels.*`, `Bwdist*`. Exit 1 when one of them matches no test.
"""
import fnmatch
import os
import re
import subprocess
import sys

FILES = ("tests/CMakeLists.txt", "scripts/gpu.sh", "scripts/random_pipelines.sh", "scripts/test.sh")
FILTER = re.compile(r"(?<![\w./])[A-Z][A-Za-z0-9]+(?:\.[A-Z][A-Za-z0-9]*|\.)?\*")


def filters_in(text):
    """All filters of a text but those in its comments."""
    lines = (line for line in text.split("\n") if not line.lstrip().startswith("#"))
    return sorted({found for line in lines for found in FILTER.findall(line)})


def tests_of(listed):
    """Full names, from what --gtest_list_tests prints."""
    names, suite = [], ""
    for line in listed.split("\n"):
        name = line.split("#")[0].strip()
        if line.startswith("  "):
            names.append(suite + name)
        elif name.endswith("."):
            suite = name
    return names


def without_tests(filters, names):
    return [f for f in filters if not any(fnmatch.fnmatchcase(name, f) for name in names)]


def self_test():
    text = "# Old.*\n--gtest_filter=One.*:Tw*\n  'Two.Has*:Gone.*' \"$build/*\" Two.Never*"
    names = tests_of("One.\n  IsHere\nTwo.\n  HasThat/0  # GetParam() = 1\n")
    expected = ["Gone.*", "Two.Never*"]
    found = without_tests(filters_in(text), names)
    print(f"self-test: {'as expected' if found == expected else found}")
    return 0 if found == expected else 1


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    root = sys.argv[2] if len(sys.argv) > 2 else os.path.join(os.path.dirname(__file__), "..")
    listed = subprocess.run([sys.argv[1], "--gtest_list_tests"], capture_output=True, text=True,
                            check=True).stdout
    names, checked, bad = tests_of(listed), 0, 0
    for path in FILES:
        with open(os.path.join(root, path), encoding="utf-8") as file:
            filters = filters_in(file.read())
        checked += len(filters)
        for missing in without_tests(filters, names):
            print(f"{path}: '{missing}' chooses no test")
            bad += 1
    if checked == 0:
        print("no filter was found: this check reads them wrongly")
        return 1
    if bad == 0:
        print(f"check_test_filters: each of {checked} filters chooses some of {len(names)} tests")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
