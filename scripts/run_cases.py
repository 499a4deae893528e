#!/usr/bin/env python3
"""Runs a table of oracle cases through the program, files in and files out, and judges the results.

    run_cases.py TABLE [--backend B] [--match OP]... [--impipe PATH] [--keep DIR] [--not-yet FILE]

TABLE is tab separated with the columns
    id op params inputs expected class shape tol max_bad_frac tol_f32 max_bad_frac_f32 cap ...
and its files are relative to its folder. One line a case, a summary last; exit 1 if any failed.

Parameter names in the table are the operators' own, so `key=value;key=value` becomes arguments as
it stands. Only values that are no pipeline text are spelled again: `ones(3,5)`, `sqrt(2)`,
`input2`, `input1>200` (a mask made from it), `radon(double)`. `pipeline=...` is all there is to run.

A result of several pages has a shape like `5p30x36`, and is written as TIFF; of class `text` it is
GeoJSON, compared parsed. Every input of a row of `stack` is an input of the run.

A file of --not-yet names operators and cases that the program lacks, one a line. Those cases must
fail, and a name that stands for no case is an error too, so that the list can only shrink.
"""
import argparse
import concurrent.futures
import csv
import fnmatch
import json
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
MEASUREMENT = """mean2 std2 sum min max graythresh otsuthresh stretchlim imhist jointhist bweuler
    immse psnr""".split()
# Measurements that are made of float32 images, and those that are where their image is single.
FLOAT_MEASUREMENT = "corr2 multithresh ssim".split()
FLOAT_OF_SINGLE = "immse psnr".split()
PLAIN = set(POINT + PERMUTATION + MORPHOLOGY + ORDER + MEASUREMENT)

RESPELLED_OPERATORS = {"im2double": "im2single"}
# Operators that Octave's cases feed with im2double(A) and that do not convert by themselves.
CONVERTED_FIRST = {"imgradient"}
# Parameters that take an input as numbers (@FILE); others take it as an image (:name).
MATRIX_PARAMETERS = {"kernel", "se", "domain", "lut", "map"}
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


REFERENCE = re.compile(r"input(\d+)")
MADE_MASK = re.compile(r"input(\d+)\s*(<=|>=|<|>)\s*([-+.\deE]+)")


def made_mask(match, images):
    """The logical image of `input1>200`."""
    image = np.load(images[int(match[1]) - 1])
    compared = {"<": np.less, ">": np.greater, "<=": np.less_equal, ">=": np.greater_equal}
    return compared[match[2]](image, float(match[3]))


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

        def named(reference):
            index = int(reference[1]) - 1
            if index >= len(self.inputs):
                raise CaseError(f"{reference[0]}: the row has {len(self.inputs)} inputs")
            if index not in used:
                used.add(index)
                partners.extend(["--with", f"{name_of(index)}={self.inputs[index]}"])
            return index

        for key, value in split_params(self.row.get("params") or ""):
            references = [REFERENCE.fullmatch(item) for item in value.split(",")]
            mask = MADE_MASK.fullmatch(value)
            if key == "pipeline":
                return self.finished(program, value, [], work)
            if all(references):
                if key in MATRIX_PARAMETERS and self.op != "intlut":
                    index = int(references[0][1]) - 1
                    used.add(index)
                    path = os.path.join(work, f"{self.id}.{key}.txt")
                    write_matrix(np.load(self.inputs[index]), path)
                    arguments.append(f"{key}=@{quoted(path)}")
                else:
                    names = [f":{name_of(named(reference))}" for reference in references]
                    arguments.append(f"{key}={','.join(names)}")
            elif mask:
                path = os.path.join(work, f"{self.id}.{key}.npy")
                np.save(path, made_mask(mask, self.inputs))
                arguments.append(f"{key}=:{key}")
                partners += ["--with", f"{key}={path}"]
            elif key == "input":
                made_by = value.partition("(")[0]
                angles = [p for p in split_params(self.row["params"]) if p[0] == "theta"]
                stages.append(" ".join([made_by, *(f"{k}={respell_value(k, v)}" for k, v in angles)]))
            else:
                arguments.append(f"{key}={respell_value(key, value)}")

        if self.op in CONVERTED_FIRST and self.input_class() not in ("single", "double"):
            stages.append("im2single")
        # Images beyond the first go in by name, in the table's order; `stack` takes them as files.
        operands = []
        for index in range(1, len(self.inputs)):
            if index not in used and self.op != "stack":
                operands.append(f":{name_of(index)}")
                partners += ["--with", f"{name_of(index)}={self.inputs[index]}"]
        stages.append(" ".join([RESPELLED_OPERATORS.get(self.op, self.op)] + operands + arguments))

        return self.finished(program, " | ".join(stages), partners, work)

    def finished(self, program, pipeline, partners, work):
        kind = "geojson" if self.row["class"] == "text" else "tif" if self.paged() else "npy"
        output = os.path.join(work, f"{self.id}.result.{kind}")
        inputs = self.inputs if self.op == "stack" else self.inputs[:1]
        return [*program, pipeline, *inputs, *partners, "-o", output], output

    def paged(self):
        return "p" in (self.row.get("shape") or "")

    def input_class(self):
        if not self.inputs:
            return ""
        if self.inputs[0].endswith(".npy"):
            return class_of(np.load(self.inputs[0], mmap_mode="r"))
        return class_of(read_pages(self.inputs[0]))

    def judge(self, output):
        if self.row["class"] == "text":
            return self.judge_geojson(output)
        actual = read_pages(output) if self.paged() else np.load(output, allow_pickle=False)
        expected = np.load(os.path.join(self.folder, self.row["expected"]), allow_pickle=False)
        measurement = self.op in MEASUREMENT or self.op in FLOAT_MEASUREMENT
        if self.op in MEASUREMENT:
            single = self.op in FLOAT_OF_SINGLE and self.input_class() == "single"
            plain = self.row["class"] != "single" and not single
        else:
            floating = {self.row["class"], self.input_class()} & {"single", "double"}
            plain = self.op in PLAIN and not floating
        suffix = "" if plain else "_f32"
        return compare(expected, actual, float(self.row["tol" + suffix]),
                       float(self.row["max_bad_frac" + suffix]), float(self.row["cap"]),
                       accepted_classes(self.row["class"], measurement))

    def judge_geojson(self, output):
        """Polygons are free to begin their rings anywhere; other features are equal one by one."""
        with open(os.path.join(self.folder, self.row["expected"]), encoding="utf-8") as file:
            expected = json.load(file)["features"]
        with open(output, encoding="utf-8") as file:
            actual = json.load(file)["features"]
        if self.op == "polygonize":
            expected, actual = map(polygons_of, (expected, actual))
        else:
            expected, actual = ([(f["properties"], f["geometry"]) for f in features]
                                for features in (expected, actual))
        same = expected == actual
        return same, f"{len(actual)} features, " + ("as expected" if same else "others are expected")


def ring_of(ring):
    """Of a closed ring, the same one whatever its start."""
    open_ring = [tuple(float(v) for v in p) for p in ring[:-1]]
    at = open_ring.index(min(open_ring))
    return open_ring[at:] + open_ring[:at]


def polygons_of(features):
    """Polygons of a FeatureCollection by Object, in an order that does not depend on the file's."""
    result = {}
    for feature in features:
        geometry = feature["geometry"]
        polygons = geometry["coordinates"]
        if geometry["type"] == "Polygon":
            polygons = [polygons]
        if any(ring[0] != ring[-1] for polygon in polygons for ring in polygon):
            raise ValueError("a ring is open")
        result[feature["properties"]["Object"]] = sorted(
            [ring_of(polygon[0]), *sorted(map(ring_of, polygon[1:]))]
            for polygon in polygons)
    return result


def read_pages(path):
    """The pages of a TIFF as one array, pages first."""
    import tifffile
    with tifffile.TiffFile(path) as file:
        return np.stack([page.asarray() for page in file.pages])


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
        return case.judge(output)
    except (OSError, ValueError, KeyError) as error:
        return False, f"no result: {error}"


def read_table(path):
    with open(path, encoding="utf-8", newline="") as table:
        rows = list(csv.DictReader(table, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [Case(row, os.path.dirname(os.path.abspath(path))) for row in rows if row.get("id")]


def read_not_yet(path, cases):
    """The operators and case ids that are named, each of which stands for a case of the table."""
    with open(path, encoding="utf-8") as lines:
        names = {line.partition("#")[0].strip() for line in lines} - {""}
    unknown = names - {case.op for case in cases} - {case.id for case in cases}
    if unknown:
        raise OSError(f"{path} names what no case is of: {', '.join(sorted(unknown))}")
    return names


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
    parser.add_argument("--not-yet", metavar="FILE",
                        help="operators and cases that the program lacks, one a line")
    options = parser.parse_args()

    try:
        cases = read_table(options.table)
        not_yet = read_not_yet(options.not_yet, cases) if options.not_yet else set()
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
    lacking = []
    with tempfile.TemporaryDirectory(prefix="impipe-cases-") as own:
        work = os.path.abspath(options.keep) if options.keep else own
        os.makedirs(work, exist_ok=True)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            results = pool.map(lambda case: run_case(case, program, work), cases)
            for case, (passed, message) in zip(cases, results):
                if not_yet & {case.op, case.id}:
                    if not passed:
                        lacking.append(case)
                        continue
                    passed, message = False, f"passes, so it is not to stand in {options.not_yet}"
                failed += not passed
                print(f"{'ok    ' if passed else 'FAILED'} {case.id:<30} {message}", flush=True)
    if lacking:
        names = " ".join(sorted(not_yet & {n for case in lacking for n in (case.op, case.id)}))
        print(f"not there yet, {len(lacking)} cases: {names}")
    passed = len(cases) - failed - len(lacking)
    print(f"{passed} of {len(cases)} cases passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
