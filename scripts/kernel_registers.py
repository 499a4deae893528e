#!/usr/bin/env python3
"""Which kernels spill registers or compute in double? Told without a GPU.

  scripts/kernel_registers.py KERNEL_SOURCES [--kinds uint8x1,...] [--pairs FILE] [--match TEXT]
                              [--spilled 24] [--doubles 64] [--keep DIR]

KERNEL_SOURCES is the test program of that name (`ninja -C build/ci kernel_sources`); ptxas comes with CUDA.
The pipelines are those of --pairs, one a line, or the pairs of compare_fusion.py with --match in
them. Prints the kernels that load at least --spilled bytes of spilled registers, or have at least
--doubles instructions of doubles: kind, pipeline, step, kernel, registers, bytes, instructions.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

import compare_fusion


def kernels_of(ptx):
    """(name, registers, bytes of spilled registers loaded, instructions of doubles) of a file."""
    said = subprocess.run(["ptxas", "-v", "-arch=sm_90", ptx, "-o", os.devnull],
                          capture_output=True, text=True, check=True).stderr
    with open(ptx) as file:
        bodies = [part.split("\n.func")[0] for part in file.read().split(".entry ")[1:]]
    doubles = {re.match(r"\w+", body)[0]: len(re.findall(r"\.f64\b", body)) for body in bodies}
    for part in said.split("Compiling entry function '")[1:]:
        name = part.split("'")[0]
        loads = int(re.search(r"(\d+) bytes spill loads", part)[1])
        yield name, int(re.search(r"Used (\d+) registers", part)[1]), loads, doubles.get(name, 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernel_sources")
    parser.add_argument("--kinds", default="uint8x1")
    parser.add_argument("--pairs")
    parser.add_argument("--match", default="")
    parser.add_argument("--spilled", type=int, default=24)
    parser.add_argument("--doubles", type=int, default=64)
    parser.add_argument("--keep", help="where the kernels' text and PTX stay")
    arguments = parser.parse_args()
    for kind in arguments.kinds.split(","):
        cls, channels = kind.split("x")
        pipelines = compare_fusion.pipelines_of(kind, arguments.match, arguments.pairs)
        with tempfile.TemporaryDirectory() as temporary:
            folder = os.path.join(arguments.keep or temporary, kind)
            os.makedirs(folder, exist_ok=True)
            subprocess.run([arguments.kernel_sources, folder, cls, channels, "nvidia"], text=True, check=True,
                           input="\n".join(pipelines), stderr=subprocess.DEVNULL)
            found = []
            for name in os.listdir(folder):
                match = re.fullmatch(r"(\d+)\.(\d+)\.ptx", name)
                if not match:
                    continue
                for kernel, registers, loads, doubles in kernels_of(os.path.join(folder, name)):
                    if loads >= arguments.spilled or doubles >= arguments.doubles:
                        found.append((pipelines[int(match[1])], match[2], kernel, registers, loads,
                                      doubles))
        for row in sorted(found):
            print(kind, *row, sep="\t", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
