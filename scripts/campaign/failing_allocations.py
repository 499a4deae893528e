#!/usr/bin/env python3
"""Lets allocations of impipe fail, one by one, and looks at what becomes of the run.

    scripts/campaign/failing_allocations.py SEED [--points N] [--only WORD] [--limits N]

Every command of the table runs once undisturbed. Then, for a seeded sample of its allocations, it
runs with that one failing, or with that one and all after it. Each such run must end by itself:
with exit 0 and just what the undisturbed run wrote, or with exit 1 and "out of memory" on stderr,
every file that is there whole, and no temporary left. Once the pipeline is read, and the files are
looked at, the message names what was not done. --limits repeats that under so many steps of
`ulimit -v`. The library that lets allocations fail is built from tests/support/failing_alloc.c.
"""
import argparse
import collections
import concurrent.futures
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DATA = os.path.join(ROOT, "tests", "data", "io")
TIMEOUT = 60  # seconds
# Of a library's own data for each thread, which the C library makes at first use: it ends the process
# when there is no memory for it, and no program can say otherwise.
LOADER = "cannot allocate memory for thread-local data: ABORT"
# Libraries of an OpenCL driver: when the allocation that failed was theirs, how it ends is theirs
# too (LLVM ends the process, PoCL goes on without looking, hwloc tries again for ever).
DRIVER = re.compile(r"lib(pocl|LLVM|clang|OpenCL|hwloc)[^/]*\.so")
OUT_OF_MEMORY = re.compile("out of memory|CL_OUT_OF_HOST_MEMORY")  # the latter: such a driver's word

# Name, the pictures of tests/data/io that it reads, its arguments.
COMMANDS = [
    ("png", ["gray8.png"], "imcomplement gray8.png -o out"),
    ("png_alpha", ["gray_alpha16.png"], "imcomplement gray_alpha16.png -o out"),
    ("png_palette", ["palette.png"], "imcomplement palette.png -o out"),
    ("png_interlaced", ["interlaced_alpha.png"], "imcomplement interlaced_alpha.png -o out"),
    ("png_exif", ["orient6.png"], "imcomplement orient6.png -o out"),
    ("jpeg", ["gray.jpg"], "imcomplement gray.jpg -o out"),
    ("jpeg_metadata", ["metadata.jpg"], "imcomplement metadata.jpg -o out"),
    ("jpeg_cmyk", ["cmyk.jpg"], "imcomplement cmyk.jpg -o out"),
    ("jpeg_large", [], "phantom 300 | imgaussfilt 1 -o p.jpg"),
    ("tiff", ["rgb8.tif"], "imcomplement rgb8.tif -o out"),
    ("tiff_float", ["float.tif"], "imcomplement float.tif -o out"),
    ("tiff_tiled", ["tiled.tif"], "imcomplement tiled.tif -o out"),
    ("tiff_cmyk", ["cmyk.tif"], "imcomplement cmyk.tif -o out"),
    ("tiff_exif", ["orient6.tif"], "imcomplement orient6.tif -o out"),
    ("webp", ["lossy.webp"], "imcomplement lossy.webp -o out"),
    ("webp_exif", ["orient6.webp"], "imcomplement orient6.webp -o out"),
    ("bmp", ["gray8.bmp"], "imcomplement gray8.bmp -o out"),
    ("exr", ["gray.exr"], "imcomplement gray.exr -o out"),
    ("npy", ["gray8.npy"], "imcomplement gray8.npy -o out"),
    ("pnm", ["raw.ppm"], "imcomplement raw.ppm -o out"),
    ("pfm", ["little.pfm"], "imcomplement little.pfm -o out"),
    ("stdout", ["gray8.png"], "imcomplement gray8.png -o -"),
    ("measure", ["gray8.png", "rgb8.tif"], "mean2 | std2 gray8.png rgb8.tif"),
    ("measure_npy", ["gray8.png"], "imhist gray8.png -o h.npy"),
    ("folder", ["gray8.png", "gray.jpg", "rgb8.tif", "lossy.webp", "gray8.npy"],
     "imgaussfilt 1 | imadjust . -o out -j 4"),
    ("folder_xmp", ["gray8.png", "metadata.jpg", "rgb8.tif", "lossy.webp", "gray8.npy"],
     "imgaussfilt 1 | imadjust . -o out -j 4"),
    ("hash_progress", ["gray8.png", "gray.jpg"],
     "medfilt2 gray8.png gray.jpg --hash --progress json -o out"),
    ("profile", ["gray8.png"], "imgaussfilt 1 | imadjust gray8.png -o out --profile"),
    ("save", ["gray8.png"], "edge prewitt | save e.png | imdilate disk,2 gray8.png -o out"),
    ("operand", ["gray8.png", "gray8.npy"],
     "imlincomb 0.5 0.5 :b gray8.png --with b=gray8.npy -o out"),
    ("categories", ["gray8.png"], "bwdist | radon 0:30:179 gray8.png -o r.npy"),
    ("source", [], "phantom 64 | imcomplement -o p.png"),
    ("errors_file", ["broken_half.png", "gray8.png"],
     "imcomplement broken_half.png gray8.png -o out --errors e.json"),
    ("opencl", ["gray8.png"], "imgaussfilt 1 gray8.png -o out --backend opencl"),
    ("plan", ["gray8.png"], "plan medfilt2 | imadjust gray8.png"),
    ("info", ["metadata.jpg"], "info metadata.jpg"),
    ("diff", ["gray8.png", "gray8.bmp"], "diff gray8.png gray8.bmp"),
    ("ops", [], "ops imadjust"),
]


def split_arguments(text):
    """The arguments of a command; its pipeline, which holds spaces, is the part before the first
    word that names a file or a flag."""
    words = text.split()
    first = ["plan"] if words[0] == "plan" else []
    if words[0] in ("info", "diff", "ops"):
        return words
    words = words[len(first):]
    end = next((i for i, w in enumerate(words)
                if w.startswith("-") or w == "." or (i and re.search(r"^[a-z0-9_]+\.[a-z]+$", w)
                                                     and words[i - 1] != "save")), len(words))
    return [*first, " ".join(words[:end]), *words[end:]]


def build_library(folder):
    """The one that IMPIPE_FAILING_ALLOC names, or a new one in the folder."""
    if os.environ.get("IMPIPE_FAILING_ALLOC"):
        return os.environ["IMPIPE_FAILING_ALLOC"]
    library = os.path.join(folder, "failing_alloc.so")
    subprocess.run([os.environ.get("CC", "cc"), "-std=gnu11", "-O1", "-shared", "-fPIC", "-o",
                    library, os.path.join(ROOT, "tests", "support", "failing_alloc.c")], check=True)
    return library


class Outcome:
    """What a run left: how it ended, what it said and the files that are there."""

    def __init__(self, code, out, err, files, extra=None):
        self.code, self.out, self.err, self.files = code, out, err, files
        self.extra = extra  # the variables of the library


class Command:
    def __init__(self, name, pictures, text, program, library):
        self.name, self.pictures, self.arguments = name, pictures, split_arguments(text)
        self.program, self.library = program, library

    def run(self, extra, limit=None, more=(), without_pictures=False):
        """Runs it in a folder of its own; `limit` is of the address space, in bytes; `more` are
        further arguments."""
        with tempfile.TemporaryDirectory(prefix="impipe-memory-") as folder:
            for picture in [] if without_pictures else self.pictures:
                shutil.copy(os.path.join(DATA, picture), folder)
            environment = {k: v for k, v in os.environ.items() if not k.startswith("IMPIPE_")}
            environment.update(extra, IMPIPE_CACHE=os.path.join(folder, ".cache"))
            if extra:
                environment["LD_PRELOAD"] = self.library
            before = None
            if limit:
                def before():
                    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
            try:
                done = subprocess.run([self.program, *self.arguments, *more], cwd=folder, env=environment,
                                      stdin=subprocess.DEVNULL, capture_output=True,
                                      timeout=TIMEOUT, preexec_fn=before)
            except subprocess.TimeoutExpired as error:
                return Outcome("hang", b"", (error.stderr or b"").decode(errors="replace"), {}, extra)
            files = {}
            for root, folders, names in os.walk(folder):
                folders[:] = [f for f in folders if f != ".cache"]
                for name in names:
                    path = os.path.join(root, name)
                    relative = os.path.relpath(path, folder)
                    if relative not in self.pictures:
                        with open(path, "rb") as file:
                            files[relative] = file.read()
            return Outcome(done.returncode, done.stdout, done.stderr.decode(errors="replace"),
                           files, extra)

    def count(self):
        """The undisturbed run and its number of allocations."""
        with tempfile.NamedTemporaryFile(prefix="impipe-count-") as counted:
            plain = self.run({"FAILING_ALLOC_COUNT": counted.name})
            return plain, int(counted.read() or 0)

    def known_from(self):
        """The allocation after which the pipeline is read and the files are looked at: a run that
        ends there, for another reason, has made so many."""
        with tempfile.NamedTemporaryFile(prefix="impipe-count-") as counted:
            extra = {"FAILING_ALLOC_COUNT": counted.name}
            if self.arguments[0] in ("ops", "info", "diff", "plan"):
                self.run(extra, without_pictures=True)
            else:
                self.run(extra, more=["--format", "none"])
            return int(counted.read() or 0) + 1

    def names(self, run, plain):
        """Whether an input is named that was not done, if there is one."""
        named = {*self.pictures, *self.arguments[1:], self.arguments[0].split()[0]}
        return (any(f"impipe: {folder}{name}: " in run.err for name in named
                    for folder in ("", "./"))
                or self.arguments[0] == "ops"
                or (run.files == plain.files and run.out == plain.out))

    def fault(self, plain, run, at=0, known_from=0):
        """Why the disturbed run is not as it must be; nothing when it is. `at` is the allocation
        that failed."""
        if run.code == "hang":
            return None if self.is_of_driver(run) else "it hangs"
        if run.code in (-signal.SIGABRT, 127) and LOADER in run.err:
            return None
        if run.code < 0 or run.code > 4:
            return None if self.is_of_driver(run) else f"exit {run.code}"
        for name, data in run.files.items():
            if ".impipe-" in name:
                return f"the temporary {name} is left"
            # Lines about failures differ, of course, and so do times.
            if name not in plain.files or (data != plain.files[name] and not name.endswith("json")):
                return f"{name} is not what the undisturbed run wrote"
        codes = (1, 2) if self.arguments[0] == "diff" else (1,)
        if run.code in codes and OUT_OF_MEMORY.search(run.err):
            if known_from and at >= known_from and not self.names(run, plain):
                return "no file is named"
            return None
        if run.code == plain.code:
            if run.files.keys() != plain.files.keys():
                return f"exit {run.code}, but {plain.files.keys() - run.files.keys()} is missing"
            if run.out != plain.out:
                return f"exit {run.code}, but stdout differs"
            return None
        if run.code == 4 and ("out of memory" in run.err or "opencl cannot be used" in run.err):
            return None
        return f"exit {run.code} and another message: {run.err.strip()}"

    def is_of_driver(self, run):
        """Whether the allocation that failed, and made the run end by a signal, was a driver's."""
        if "opencl" not in self.arguments or not run.extra:
            return False
        return "LLVM ERROR" in run.err or bool(DRIVER.search(self.run({**run.extra, "FAILING_ALLOC_TRACE": "1"}).err))

    def kind(self, plain, run):
        """In a word, for the table."""
        if run.code == plain.code and "out of memory" not in run.err:
            return "harmless"
        if run.code not in (0, 1, 2, 4):
            return "ended by a library"
        named = any(f"{p}: " in run.err and "out of memory" in run.err for p in self.pictures)
        return "named" if named else "whole run"


def commands(program, library, only=""):
    return [Command(name, pictures, text, program, library) for name, pictures, text in COMMANDS
            if re.search(only, name)]


def sample(count, points, rng):
    """Half of them in the last third: before it the command line and the pipeline are read, which
    is the same for all commands."""
    work = range(2 * count // 3, count + 1)
    some = min(points // 2, len(work))
    return sorted({*rng.sample(work, some), *rng.sample(range(1, count + 1),
                                                        min(points - some, count))})


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seed", type=int)
    parser.add_argument("--points", type=int, default=100, help="of each command and mode")
    parser.add_argument("--only", default="", help="a regular expression of command names")
    parser.add_argument("--limits", type=int, default=0, help="steps of ulimit -v, 60 MB to 2 GB")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--impipe", default=os.environ.get(
        "IMPIPE", os.path.join(ROOT, "build/ci/src/cli/impipe")))
    options = parser.parse_args()
    rng = random.Random(options.seed)
    runs = faults = 0
    with tempfile.TemporaryDirectory(prefix="impipe-memory-") as folder:
        library = build_library(folder)
        for command in commands(os.path.abspath(options.impipe), library, options.only):
            plain, count = command.count()
            known_from = command.known_from()
            jobs = []
            for mode in ("once", "on"):
                for at in sample(count, options.points, rng):
                    extra = {"FAILING_ALLOC_AT": str(at)}
                    if mode == "on":
                        extra["FAILING_ALLOC_ON"] = "1"
                    jobs.append((f"{mode} {at}", extra, None, at))
            for step in range(options.limits):
                limit = int(60e6 * (2e9 / 60e6) ** (step / max(options.limits - 1, 1)))
                jobs.append((f"ulimit {limit >> 20} MiB", {}, limit, 0))
            kinds = collections.Counter()
            with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
                for (what, _, _, at), run in zip(jobs, pool.map(lambda j: command.run(j[1], j[2]),
                                                            jobs)):
                    fault = command.fault(plain, run, at, known_from)
                    kinds["FAULT" if fault else command.kind(plain, run)] += 1
                    if fault:
                        print(f"  {command.name} {what}: {fault}"
                              f"\n    {run.err.strip()[-2000:]}", flush=True)
            runs += len(jobs)
            faults += kinds["FAULT"]
            print(f"{command.name}: exit {plain.code}, {count} allocations, {len(jobs)} runs: "
                  + ", ".join(f"{n} {k}" for k, n in sorted(kinds.items())), flush=True)
    print(f"{runs} runs, {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
