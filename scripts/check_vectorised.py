#!/usr/bin/env python3
"""Checks that every word of the body vocabulary is vectorised in the x86-64-v3 and v4 rows.

Compiles tests/support/word_bodies.cpp with the given compiler and options and disassembles it: a
body named word_… must do its arithmetic in 256-bit (v3) or 512-bit (v4) registers and call nothing.

    check_vectorised.py COMPILER [OPTION...]
"""
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE = ROOT / "tests/support/word_bodies.cpp"

# What each body must compute with: packed instructions, any precision ("ps" or "pd" follows).
OPERATION = {
    "min": "min", "max": "max", "clamp": r"cmp\w+", "abs": "and", "floor": "round|rndscale",
    "ceil": "round|rndscale", "trunc": "round|rndscale", "sqrt": "sqrt", "fma": r"fmadd\d+",
    "round_away": "round|rndscale", "to_code": "round|rndscale", "divide": "div", "quotient": "div",
    "root": "sqrt",
    "multiply_add": "mul", "choose": r"cmp\w+", "at": r"fmadd\d+",
    "weighted_mean": r"fn?madd\d+", "exp": r"fn?madd\d+",
    "exp2_below_0": r"fn?madd\d+", "small_sin": r"fn?madd\d+", "small_cos": r"fn?madd\d+",
    "small_tan": r"fn?madd\d+", "log": r"fn?madd\d+", "pow": r"cmp\w+",
    "power": r"cmp\w+", "cube_root": r"fn?madd\d+", "atan2": r"fn?madd\d+",
}
STENCILS = {"at", "weighted_mean"}
REGISTER = {"v3": "%ymm", "v4": "%zmm"}


def functions(object_file):
    """Yields (name, instructions) of each function in the object."""
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", "-C", object_file],
                          check=True, capture_output=True, text=True).stdout
    for match in re.finditer(r"<([^>]*)>:\n((?:.+\n)+)", text):
        yield match[1].split("::")[-1].split("(")[0], match[2]


def fault(word, real, level, code):
    """Says what is wrong with the code of one body, or nothing."""
    suffix = "pd" if real == "double" else "ps"
    wide = rf"\tv(?:{OPERATION[word]}){suffix}\s.*{REGISTER[level]}"
    if not re.search(wide, code):
        return f"no packed {OPERATION[word]}{suffix} in {REGISTER[level][1:]} registers"
    call = re.search(r"\tcall\s+\S+\s*(.*)", code)
    return f"calls {call[1]}" if call else ""


def main(compiler, options):
    with tempfile.TemporaryDirectory() as folder:
        object_file = f"{folder}/words.o"
        subprocess.run([compiler, "-std=c++20", "-O3", *options, f"-I{ROOT}/src", "-c", SOURCE,
                        "-o", object_file], check=True)
        code = dict(functions(object_file))
    faults, checked = [], 0
    words = re.findall(r"_BODY\(word_(\w+)", SOURCE.read_text())
    for word in words:
        for level in REGISTER:
            reals = [""] if word in STENCILS else ["float", "double"]
            for real in reals:
                name = "_".join(filter(None, ["word", word, real, level]))
                wrong = fault(word, real, level, code[name]) if name in code else "not found"
                if wrong:
                    faults.append(f"{name}: {wrong}")
                checked += 1
    for line in faults:
        print(line)
    print(f"{checked - len(faults)} of {checked} rows of {len(words)} words are vectorised")
    return 1 if faults else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], [o for o in sys.argv[2:] if not o.startswith("-fsanitize")]))
