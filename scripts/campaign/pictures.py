#!/usr/bin/env python3
"""Damages small pictures of every format and reads them, many in one process.

    pictures.py SEED COUNT [--format EXT ...] [--build DIR] [--keep DIR] [--memory MIB]

COUNT pictures of each format, damaged as mutate_pictures.py does it, go through
tests/picture_campaign of a build (DIR, build/asan unless given; it is built when it is stale): all pages and the metadata are decoded, written and read again. Each gives a picture or
an error; no crash, no sanitizer report, no hang, no memory beyond the cap. Every one is read in two
processes that fill memory in different ways, and has to give the same bytes: what differs was never
written. What fails is kept as a file in --keep (build/campaign), and the exit status is 1 then.
The same SEED makes the same files.
"""
import argparse
import os
import random
import resource
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from mutate_pictures import FORMATS, ROOT, UNWRITTEN, all_pictures, mutated  # noqa: E402

SHARE = 2_000  # pictures of one process: what leaks shows
FILLS = (0x5a, 0xa5)


def build(folder):
    if not os.path.exists(os.path.join(folder, "build.ninja")):
        subprocess.run(["cmake", "--preset", "asan", "-B", folder], cwd=ROOT, check=True,
                       stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", folder, "--target", "picture_campaign"], check=True,
                   stdout=subprocess.DEVNULL)
    return os.path.join(folder, "tests", "picture_campaign")


class Campaign:
    def __init__(self, options):
        self.options = options
        self.harness = build(options.build)
        said = subprocess.run(["nm", "-D", self.harness], capture_output=True, check=False).stdout
        self.sanitized = b"__asan_init" in said
        self.failures = self.read = self.peak = 0

    def limit(self):
        if not self.sanitized:  # whose shadow takes terabytes of addresses
            resource.setrlimit(resource.RLIMIT_AS, (self.options.memory << 20,) * 2)

    def run(self, path, first, fill):
        """The lines of one process, its exit status and what it said."""
        settings = {**os.environ, "MALLOC_PERTURB_": str(fill), "IMPIPE_TEST_FILL": str(fill),
                    "IMPIPE_CODEC": os.path.abspath(os.path.join(self.options.build, "src", "io")),
                    "ASAN_OPTIONS": f"max_malloc_fill_size=1073741824:malloc_fill_byte={fill}:"
                                    f"hard_rss_limit_mb={self.options.memory}:detect_leaks=0:"
                                    "detect_container_overflow=0:allocator_may_return_null=1",
                    "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1"}
        done = subprocess.run([self.harness, path, str(first)], env=settings, capture_output=True,
                              check=False, preexec_fn=self.limit)
        lines = done.stdout.decode(errors="replace").split("\n")
        return lines, done.returncode, done.stderr.decode(errors="replace")

    def results(self, kind, path, pictures, fill):
        """What became of each picture; those that end the process are kept."""
        found = []
        while len(found) < len(pictures):
            lines, code, said = self.run(path, len(found), fill)
            for line in lines:
                number, _, rest = line.partition(" ")
                if number == str(len(found)):
                    found.append(rest)
                elif number == "peak":
                    self.peak = max(self.peak, int(rest))
            if len(found) < len(pictures):  # it stopped at the next one
                self.keep(kind, pictures[len(found)], f"exit {code}\n{said[-4000:]}")
                found.append("failed")
        return found

    def keep(self, kind, picture, why):
        self.failures += 1
        os.makedirs(self.options.keep, exist_ok=True)
        path = os.path.join(self.options.keep, f"{self.options.seed}-{self.failures:03}.{kind}")
        with open(path, "wb") as out:
            out.write(picture)
        with open(path + ".txt", "w", encoding="utf-8") as out:
            out.write(why)
        print(f"{path}: {why[:300]}", flush=True)

    def share(self, kind, sources, begin, end):
        pictures = [mutated(random.Random(f"{self.options.seed} {kind} {i}"), kind, sources)
                    for i in range(begin, end)]
        with tempfile.NamedTemporaryFile(prefix="pictures-") as file:
            for picture in pictures:
                file.write(struct.pack("<Q", len(picture)) + picture)
            file.flush()
            one, other = (self.results(kind, file.name, pictures, fill) for fill in FILLS)
        for picture, first, second in zip(pictures, one, other):
            if first != second and "failed" not in (first, second) and kind not in UNWRITTEN:
                self.keep(kind, picture, f"bytes that were never written: {first}, {second}")
        return sum(line.startswith("read ") for line in one)

    def format(self, kind, sources):
        start = time.monotonic()
        before, read = self.failures, 0
        count = self.options.count
        for begin in range(0, count, SHARE):
            read += self.share(kind, sources, begin, min(begin + SHARE, count))
        self.read += read
        seconds = time.monotonic() - start
        print(f"{kind}: {count} files from {len(sources)}, {read} read, "
              f"{self.failures - before} failures; {seconds:.0f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seed", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--format", action="append", choices=FORMATS, metavar="EXT",
                        help="only this format; may be given again (" + " ".join(FORMATS) + ")")
    parser.add_argument("--build", metavar="DIR", default=os.path.join(ROOT, "build", "asan"))
    parser.add_argument("--keep", metavar="DIR", default=os.path.join(ROOT, "build", "campaign"))
    parser.add_argument("--memory", type=int, metavar="MIB", default=1500,
                        help="most memory of a process: resident, or addresses without sanitizers (1500)")
    options = parser.parse_args()
    start = time.monotonic()
    campaign = Campaign(options)
    pictures = all_pictures(options.format)
    for kind, sources in pictures.items():
        campaign.format(kind, sources)
    sanitized = "with" if campaign.sanitized else "without"
    print(f"{options.count * len(pictures)} files of {len(pictures)} formats: {campaign.read} read, "
          f"{campaign.failures} failures; {time.monotonic() - start:.0f} s, peak {campaign.peak} MiB, "
          f"{sanitized} sanitizers")
    return 1 if campaign.failures else 0


if __name__ == "__main__":
    sys.exit(main())
