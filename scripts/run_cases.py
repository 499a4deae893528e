#!/usr/bin/env python3
"""Runs a table of oracle cases through the program, files in and files out, and judges the results.

    run_cases.py TABLE [--backend B] [--match OP]... [--impipe PATH] [--keep DIR]

TABLE is tab separated with the columns
    id op params inputs expected class shape tol max_bad_frac tol_f32 max_bad_frac_f32 cap ...
and its files are relative to its folder. One line a case, a summary last; exit 1 if any failed.

Parameter names in the table are the operators' own, so `key=value;key=value` becomes arguments as
it stands. Only values that are no pipeline text are spelled again: `ones(3,5)`, `sqrt(2)`,
`input2`, `radon(double)`.
"""
import argparse
import concurrent.futures
import csv
import fnmatch
import math
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

from compare_arrays import accepted_classes, class_of, compare

# The plain columns of the table hold for these; everything else is float32 arithmetic here.
POINT = """intlut imadjust imlincomb im2bw imbinarize imcomplement rgb2gray im2uint8 im2uint16
    im2double im2single imabsdiff imadd imsubtract immultiply imdivide""".split()
PERMUTATION = "transpose fliplr flipud rot90 imcrop padarray".split()
MORPHOLOGY = """imdilate imerode imopen imclose imtophat imbothat imgradmorph imreconstruct imfill
    imregionalmax imregionalmin imextendedmax imextendedmin imhmax imhmin bwlabel bwmorph""".split()
ORDER = "ordfilt2 medfilt2".split()
MEASUREMENT = "mean2 std2 sum min max graythresh stretchlim imhist jointhist".split()
PLAIN = set(POINT + PERMUTATION + MORPHOLOGY + ORDER + MEASUREMENT)

RESPELLED_OPERATORS = {"im2double": "im2single"}
# Operators that Octave's cases feed with im2double(A) and that do not convert by themselves.
CONVERTED_FIRST = {"imgradient", "imgradientxy"}
# Parameters that take an input as numbers (@FILE); others take it as an image (:name).
MATRIX_PARAMETERS = {"kernel", "se", "domain"}
CASE_TIMEOUT = 120  # seconds; far beyond any case


class CaseError(Exception):
    """A row that cannot be run as written."""


def split_params(text):
    """`a=1;b=[1;2]` -> [("a", "1"), ("b", "[1;2]")]; a `;` inside brackets does not end a value."""
    if text in ("", "-"):
        return []
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "[(") - (c in "])")
        if c == ";" and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    parts.append(text[start:])
    pairs = []
    for part in parts:
        key, equals, value = part.partition("=")
        if not equals:
            raise CaseError(f"parameter without a value: {part!r}")
        pairs.append((key.strip(), value.strip()))
    return pairs


def filled_matrix(name, sizes):
    rows = int(sizes[0])
    columns = int(sizes[1]) if len(sizes) > 1 else rows
    make = {"ones": np.ones, "true": np.ones, "zeros": np.zeros, "eye": np.eye}[name]
    values = make((rows, columns)) if name != "eye" else np.eye(rows, columns)
    return "[" + ";".join(",".join(str(int(v)) for v in row) for row in values) + "]"


def number(text):
    """A number, sqrt(number), pi, or a quotient or product of those; None when it is none."""
    text = text.strip()
    for sign in "*/":
        left, found, right = text.rpartition(sign)
        if found:
            a, b = number(left), number(right)
            if a is None or b is None:
                return None
            return a * b if sign == "*" else a / b
    call = re.fullmatch(r"sqrt\((.*)\)", text)
    if call:
        inner = number(call[1])
        return None if inner is None else math.sqrt(inner)
    if text == "pi":
        return math.pi
    try:
        return float(text)
    except ValueError:
        return None


def respell_item(item):
    """A number that is written as a formula becomes its shortest exact decimal form."""
    if re.search(r"sqrt\(|\bpi\b|[0-9.]\s*[*/]\s*[0-9.]", item):
        value = number(item)
        if value is not None:
            return repr(value)
    return item


def respell_value(key, value):
    if value == "[]":  # Octave's "leave it out": the whole range for limits, else automatic
        return "0,1" if key in ("in", "out") else "auto"
    filled = re.fullmatch(r"(ones|zeros|true|eye)\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\)", value)
    if filled:
        return filled_matrix(filled[1], [n for n in filled.groups()[1:] if n])
    if value.startswith("["):
        return value
    return ",".join(respell_item(item) for item in value.split(","))


def quoted(path):
    return "'" + path.replace("'", "''") + "'"


def name_of(index):
    """What an input is called in the pipeline: the second one is b."""
    return "abcdefgh"[index]


def write_matrix(array, path):
    """A matrix as text, one row a line, for `kernel=@FILE`."""
    np.savetxt(path, np.atleast_2d(array), fmt="%.17g")


class Case:
    """One row: the pipeline it stands for, and how its result is judged."""

    def __init__(self, row, folder):
        self.id, self.op = row["id"], row["op"]
        self.row = row
        self.folder = folder
        names = [name for name in (row.get("inputs") or "").split(",") if name not in ("", "-")]
        self.inputs = [os.path.join(folder, name) for name in names]

    def command(self, program, work):
        """Arguments of the program, and the file it will write. `work` is a folder for our own."""
        stages, arguments, partners, used = [], [], [], set()
        for key, value in split_params(self.row.get("params") or ""):
            reference = re.fullmatch(r"input(\d+)", value)
            if reference:
                index = int(reference[1]) - 1
                if index >= len(self.inputs):
                    raise CaseError(f"{value}: the row has {len(self.inputs)} inputs")
                used.add(index)
                if key in MATRIX_PARAMETERS:
                    path = os.path.join(work, f"{self.id}.{key}.txt")
                    write_matrix(np.load(self.inputs[index]), path)
                    arguments.append(f"{key}=@{quoted(path)}")
                else:
                    arguments.append(f"{key}=:{name_of(index)}")
                    partners += ["--with", f"{name_of(index)}={self.inputs[index]}"]
            elif key == "input":
                made_by = value.partition("(")[0]
                angles = [p for p in split_params(self.row["params"]) if p[0] == "theta"]
                stages.append(" ".join([made_by, *(f"{k}={respell_value(k, v)}" for k, v in angles)]))
            else:
                arguments.append(f"{key}={respell_value(key, value)}")

        if self.op in CONVERTED_FIRST and self.input_class() not in ("single", "double"):
            stages.append("im2single")
        # Images beyond the first go in by name, in the table's order.
        operands = []
        for index in range(1, len(self.inputs)):
            if index not in used:
                operands.append(f":{name_of(index)}")
                partners += ["--with", f"{name_of(index)}={self.inputs[index]}"]
        stages.append(" ".join([RESPELLED_OPERATORS.get(self.op, self.op)] + operands + arguments))

        output = os.path.join(work, f"{self.id}.npy")
        return [*program, " | ".join(stages), *self.inputs[:1], *partners, "-o", output], output

    def input_class(self):
        return class_of(np.load(self.inputs[0], mmap_mode="r")) if self.inputs else ""

    def judge(self, actual):
        expected = np.load(os.path.join(self.folder, self.row["expected"]), allow_pickle=False)
        measurement = self.op in MEASUREMENT
        if measurement:
            plain = self.row["class"] != "single"
        else:
            floating = {self.row["class"], self.input_class()} & {"single", "double"}
            plain = self.op in PLAIN and not floating
        suffix = "" if plain else "_f32"
        return compare(expected, actual, float(self.row["tol" + suffix]),
                       float(self.row["max_bad_frac" + suffix]), float(self.row["cap"]),
                       accepted_classes(self.row["class"], measurement))


def run_case(case, program, work):
    """(passed, message)"""
    try:
        command, output = case.command(program, work)
        if os.path.exists(output):
            os.remove(output)
        done = subprocess.run(command, capture_output=True, text=True, timeout=CASE_TIMEOUT)
    except (CaseError, OSError, ValueError, subprocess.TimeoutExpired) as error:
        return False, str(error)
    if done.returncode != 0:
        said = " / ".join(line.strip() for line in done.stderr.strip().splitlines())
        return False, f"exit {done.returncode}: {said}"
    try:
        actual = np.load(output, allow_pickle=False)
    except (OSError, ValueError) as error:
        return False, f"no result: {error}"
    return case.judge(actual)


def read_table(path):
    with open(path, encoding="utf-8", newline="") as table:
        rows = list(csv.DictReader(table, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [Case(row, os.path.dirname(os.path.abspath(path))) for row in rows if row.get("id")]


def default_program():
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    built = [os.path.join(root, "build", preset, "src/cli/impipe")
             for preset in ("release", "ci", "dev")]
    built = [path for path in built if os.path.exists(path)]
    return max(built, key=os.path.getmtime) if built else "impipe"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table")
    parser.add_argument("--backend", help="passed on to the program")
    parser.add_argument("--match", action="append", default=[], metavar="OP",
                        help="only these operators or case ids; a list or a pattern; repeats")
    parser.add_argument("--impipe", default=default_program(), metavar="PATH")
    parser.add_argument("--keep", metavar="DIR", help="leave the results here")
    options = parser.parse_args()

    try:
        cases = read_table(options.table)
    except OSError as error:
        print(f"run_cases: {error}", file=sys.stderr)
        return 2
    patterns = [p for text in options.match for p in re.split(r"[,;\s]+", text) if p]
    if patterns:
        cases = [case for case in cases
                 if any(fnmatch.fnmatchcase(name, p) for p in patterns
                        for name in (case.op, case.id))]
    if not cases:
        print("run_cases: no case matches", file=sys.stderr)
        return 2
    program = [options.impipe] + (["--backend", options.backend] if options.backend else [])

    failed = 0
    with tempfile.TemporaryDirectory(prefix="impipe-cases-") as own:
        work = os.path.abspath(options.keep) if options.keep else own
        os.makedirs(work, exist_ok=True)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            results = pool.map(lambda case: run_case(case, program, work), cases)
            for case, (passed, message) in zip(cases, results):
                failed += not passed
                print(f"{'ok    ' if passed else 'FAILED'} {case.id:<30} {message}", flush=True)
    print(f"{len(cases) - failed} of {len(cases)} cases passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
