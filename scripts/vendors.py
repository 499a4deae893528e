#!/usr/bin/env python3
"""What compilers of AMD's and Intel's GPUs make of our kernels; scripts/vendors.sh has the words.

  scripts/vendors.py FOLDER_OF_TEST_PROGRAMS [--quick | --table | --search] [--update] [--only NAME,...]

The compilers: clang-19 for amdgcn with the bitcode of rocm-device-libs, which prints registers,
local memory (LDS) and waves a SIMD of every kernel (-Rpass-analysis=kernel-resource-usage); Intel's
ocloc, which warns of kernels that spill.
"""
import argparse
import concurrent.futures
import itertools
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "tests/golden/vendors.tsv"
PIPELINES = ROOT / "tests/golden/vendors_pipelines.txt"
BITCODE = Path("/usr/lib/x86_64-linux-gnu/amdgcn/bitcode")
OPTIONS = ["-cl-std=CL1.2", "-cl-fp32-correctly-rounded-divide-sqrt", "-w"]
# The architecture, the version of it that the device library knows, whether its waves have 64
# work-items, and how many of them a SIMD holds at most.
AMD = {"gfx90a": ("90a", True, 8), "gfx942": ("940", True, 8), "gfx1100": ("1036", False, 16),
       "gfx1201": ("1036", False, 16)}
INTEL = {"gen9": "skl", "gen12lp": "tgllp", "dg2": "dg2", "pvc": "pvc"}
WITHOUT_DOUBLES = ("gen12lp", "dg2")  # text/without_doubles.hpp: their text is in files *.integers
# What backends/opencl/device.cpp adds where 16 is the least sub-group.
MORE_OPTIONS = {"pvc": ["-DREQUIRED_SUB_GROUP=16"]}
COLUMNS = ("device", "class", "channels", "pipeline", "kernel", "VGPRs", "SGPRs", "spills", "LDS",
           "waves")


def compile_amd(device, source):
    """[(kernel, VGPRs, SGPRs, spilled VGPRs, bytes of LDS, waves)] of an OpenCL file.

    SGPRs spill to lanes of VGPRs, without memory, so they don't count.
    """
    isa, wave64, _ = AMD[device]
    switches = ["opencl", "ocml", "ockl", "oclc_daz_opt_off", "oclc_finite_only_off",
                "oclc_unsafe_math_off", "oclc_correctly_rounded_sqrt_on", "oclc_abi_version_400",
                f"oclc_isa_version_{isa}", f"oclc_wavefrontsize64_{'on' if wave64 else 'off'}"]
    linked = [word for name in switches for word in
              ("-Xclang", "-mlink-builtin-bitcode", "-Xclang", str(BITCODE / f"{name}.bc"))]
    run = subprocess.run(
        ["clang-19", "-x", "cl", *OPTIONS, "-target", "amdgcn-amd-amdhsa", f"-mcpu={device}", "-O3",
         "-nogpulib", "-mcode-object-version=4", "-Rpass-analysis=kernel-resource-usage", *linked,
         "-c", str(source), "-o", os.devnull], capture_output=True, text=True)
    if run.returncode != 0:
        raise RuntimeError(run.stderr.strip().splitlines()[0])
    rows = []
    for part in run.stderr.split("Function Name: ")[1:]:
        number = {name: int(value) for name, value in re.findall(r"remark: +(.+?): (\d+)", part)}
        rows.append((part.split()[0], number["VGPRs"], number["SGPRs"],
                     number["VGPRs Spill"], number["LDS Size [bytes/block]"],
                     number["Occupancy [waves/SIMD]"]))
    return rows


def compile_intel(device, source):
    """The same of Intel's compiler, which tells of spills alone."""
    text = source.with_suffix(".integers") if device in WITHOUT_DOUBLES else source
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run(["ocloc", "compile", "-device", INTEL[device], "-file", str(text),
                              "-options", " ".join(OPTIONS + MORE_OPTIONS.get(device, [])),
                              "-out_dir", folder], capture_output=True, text=True)
    said = run.stdout + run.stderr
    if "Build succeeded" not in said:
        raise RuntimeError(next((line for line in said.splitlines() if "error" in line), said))
    spills = dict(re.findall(r"kernel (\w+) +compiled SIMD\d+ .*? spilled around (\d+)", said))
    names = re.findall(r"^KERNEL\w*\([^)]*\) void (\w+)\(", source.read_text(), re.M)
    return [(name, "", "", int(spills.get(name, 0)), "", "") for name in names]


def compiled(device, source):
    return (compile_amd if device in AMD else compile_intel)(device, source)


def sources_of(programs, folder, vendor, numbers=()):
    """(class, channels, pipeline, file) of each step's kernels."""
    lines = [line.split("\t") for line in PIPELINES.read_text().splitlines() if line[:1] != "#"]
    for (cls, channels), group in itertools.groupby(sorted(lines), key=lambda line: line[:2]):
        texts = [line[2] for line in group]
        here = folder / f"{vendor}-{cls}-{channels}"
        here.mkdir()
        run = subprocess.run([programs / "kernel_sources", here, cls, channels, vendor, *numbers],
                             input="\n".join(texts), text=True, capture_output=True)
        if run.returncode or run.stderr:
            sys.exit(f"vendors.py: {run.stderr.strip()}")
        for file in sorted(here.glob("*.cl")):
            yield cls, channels, texts[int(file.name.split(".")[0])], file


def rows_of(programs, devices, numbers=()):
    with (tempfile.TemporaryDirectory() as temporary,
          concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool):
        jobs = []
        for vendor, names in (("amd", AMD), ("intel", INTEL)):
            chosen = [name for name in names if name in devices]
            if not chosen:
                continue
            for cls, channels, pipeline, file in sources_of(programs, Path(temporary), vendor,
                                                            numbers):
                jobs += [(device, cls, channels, pipeline, pool.submit(compiled, device, file))
                         for device in chosen]
        rows = []
        for *key, job in jobs:
            try:
                rows += [(*key, *map(str, row)) for row in job.result()]
            except RuntimeError as error:
                rows.append((*key, str(error), "", "", "", "", ""))
        return sorted(rows)


def compare(rows, devices, update):
    """Whether the rows are the golden ones; those of other devices stay as they are."""
    known = [tuple(line.split("\t")) for line in GOLDEN.read_text().splitlines()[1:]
             ] if GOLDEN.exists() else []
    if update:
        merged = sorted([row for row in known if row[0] not in devices] + rows)
        GOLDEN.write_text("\n".join("\t".join(row) for row in [COLUMNS, *merged]) + "\n")
        return True
    expected = {row for row in known if row[0] in devices}
    for row in sorted(expected - set(rows)):
        print("gone: " + "\t".join(row))
    for row in sorted(set(rows) - expected):
        print("new:  " + "\t".join(row))
    return expected == set(rows)


def summarise(rows, devices):
    for device in devices:
        mine = [row for row in rows if row[0] == device]
        refused = [row for row in mine if not row[7]]
        spills = [row for row in mine if row[7] not in ("", "0")]
        text = f"{device}: {len(mine) - len(refused)} kernels, {len(spills)} spill"
        if device in AMD:
            few = [row for row in mine if row[9] and int(row[9]) < AMD[device][2] // 2]
            text += f", {len(few)} with fewer than {AMD[device][2] // 2} of {AMD[device][2]} waves"
        print(text + (f", {len(refused)} pipelines refused: {refused[0][4]}" if refused else ""))


def walk_table(programs, devices):
    """Compiles every program of the table of kernels; whether none spills or is refused."""
    good = True
    with (tempfile.TemporaryDirectory() as folder,
          concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool):
        for vendor, names in (("amd", AMD), ("intel", INTEL)):
            chosen = [name for name in names if name in devices]
            if not chosen:
                continue
            here = Path(folder) / vendor
            subprocess.run([programs / "kernel_texts", here, f"\topencl {vendor}\t"], check=True,
                           stdout=subprocess.DEVNULL)
            files = []
            for source in sorted(here.glob("*.source")):
                files.append(source.rename(source.with_suffix(".cl")))
            for device in chosen:
                results = pool.map(lambda file, device=device: spills_of(device, file), files)
                bad = [line for lines in results for line in lines]
                print(f"{device}: {len(files)} programs, {len(bad)} spill or are refused")
                print("".join(f"  {line}\n" for line in bad), end="", flush=True)
                good = good and not bad
    return good


def spills_of(device, file):
    try:
        return [f"{file.stem} {row[0]}: {row[3]} spilled" for row in compiled(device, file) if row[3]]
    except RuntimeError as error:
        return [f"{file.stem}: {error}"]


def search(programs):
    """How many kernels have 4 waves of 8 on CDNA, by numbers of AMD's row."""
    for group, local, load in itertools.product((64, 128, 256), (32768, 16384, 12288, 8192), (16, 8)):
        numbers = (f"group={group}", f"local_bytes={local}", f"load_bytes={load}")
        rows = [row for row in rows_of(programs, ["gfx90a"], numbers) if row[7]]
        few = [f"{row[3]}: {row[4]} {row[9]}" for row in rows if int(row[9]) < 4]
        waves = sum(int(row[9]) for row in rows)
        print(f"{' '.join(numbers)}: {len(rows)} kernels, {len(few)} below 4 waves, {waves} in sum, "
              f"{sum(row[7] != '0' for row in rows)} spill\t{'; '.join(few)}", flush=True)
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", type=Path)
    for name in ("quick", "table", "search", "update"):
        parser.add_argument(f"--{name}", action="store_true")
    parser.add_argument("--only")
    arguments = parser.parse_args()
    devices = [*AMD, *INTEL]
    if arguments.quick:
        devices = ["gfx90a"]
    if arguments.only:
        devices = arguments.only.split(",")
        for unknown in set(devices) - {*AMD, *INTEL}:
            sys.exit(f"vendors.py: '{unknown}' is none of {', '.join([*AMD, *INTEL])}")
    if arguments.search:
        sys.exit(not search(arguments.programs))
    if arguments.table:
        sys.exit(not walk_table(arguments.programs, devices))
    rows = rows_of(arguments.programs, devices)
    if not arguments.quick:
        print("\t".join(COLUMNS))
        print("\n".join("\t".join(row) for row in rows))
    summarise(rows, devices)
    sys.exit(not compare(rows, devices, arguments.update))


if __name__ == "__main__":
    main()
