#!/usr/bin/env python3
"""Tries random pipeline texts: each gives an error that shows its place, or a pipeline whose printed
script parses to itself and whose plan keeps within the limits; never a crash, a hang or much memory.

  scripts/campaign/texts.py SEED COUNT [--impipe PATH] [--build DIR] [--keep DIR]

The texts are made and tried in one process, tests/text_campaign of a build with sanitizers (DIR,
build/asan unless given; it is built when it is stale). Texts of a seed are always the same. With
--impipe one text in a thousand, at least 100, is also planned and run by that program on a small
picture, within 20 seconds and 4 GB. What fails is kept as a file in --keep (build/campaign).
"""
import argparse
import os
import random
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SHARE = 20_000  # texts of one process: what leaks shows, and a failure is near its seed
RSS_LIMIT = 1024  # MiB


def build(folder):
    if not os.path.exists(os.path.join(folder, "build.ninja")):
        subprocess.run(["cmake", "--preset", "asan", "-B", folder], cwd=ROOT, check=True,
                       stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", folder, "--target", "text_campaign"], check=True,
                   stdout=subprocess.DEVNULL)
    return os.path.join(folder, "tests", "text_campaign")


def keep(folder, name, text):
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, name)
    with open(path, "wb") as out:
        out.write(text)
    return path


def try_in_process(harness, seed, count, folder):
    """Returns the number of failures."""
    failures = 0
    # The limit is the program's: freed memory that the sanitizer keeps would count as well.
    options = f"hard_rss_limit_mb={RSS_LIMIT}:quarantine_size_mb=64:detect_leaks=0"
    environment = {**os.environ, "ASAN_OPTIONS": options,
                   "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1"}
    for begin in range(0, count, SHARE):
        part_seed = seed * 1_000_000 + begin // SHARE
        with tempfile.NamedTemporaryFile() as last:
            done = subprocess.run([harness, str(part_seed), str(min(SHARE, count - begin)), last.name],
                                  env=environment, capture_output=True)
            print(f"seed {part_seed}: {done.stdout.decode(errors='replace').strip()}", flush=True)
            if done.returncode == 0:
                continue
            failures += 1
            with open(last.name, "rb") as text:
                path = keep(folder, f"seed{part_seed}.txt", text.read().rstrip(b"\0"))
            print(f"exit {done.returncode}; the text is in {path}\n"
                  + done.stderr.decode(errors="replace")[-3000:], flush=True)
    return failures


def sampled_texts(seed, count):
    """Texts of stages with the catalogue's names, mutated; apart from the harness's generator."""
    stages = ["imadjust", "conv2 k7", "edge prewitt", "medfilt2 3", "radon 0:0.001:180", "phantom 64",
              "imresize 10000", "impad 1e6", "as a", "imlincomb 1 1 :a", "conv2 @/dev/zero", "conv2 @.",
              "imdilate disk,500", "map 'x + 1'", "noise 65536", "imhist 65536", "iradon size=1e6",
              "save x.png", "conv2 [1 2 1]/4", "imgaussfilt 60", "im2single", "histeq 64"]
    draw = random.Random(seed)
    for _ in range(count):
        text = " | ".join(draw.choice(stages) for _ in range(draw.randint(1, 4))).encode()
        for _ in range(draw.choice((0, 0, 1, 3))):
            at = draw.randint(0, len(text))
            text = text[:at] + bytes([draw.randint(1, 255)]) + text[at + draw.randint(0, 2):]
        yield text


def try_program(program, seed, count, folder):
    import resource

    def limits():
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    failures = 0
    with tempfile.TemporaryDirectory() as place:
        with open(os.path.join(place, "a.pgm"), "wb") as out:
            out.write(b"P5 16 9 255\n" + bytes(range(144)))
        for index, text in enumerate(sampled_texts(seed, count)):
            for command in (["plan", text, "a.pgm"], ["run", text, "a.pgm", "-o", "out", "--sandbox"]):
                try:
                    done = subprocess.run([program, *command], cwd=place, capture_output=True,
                                          timeout=20, preexec_fn=limits, stdin=subprocess.DEVNULL)
                    reason = "" if done.returncode in (0, 1, 2) else f"exit {done.returncode}"
                    if done.returncode == 2 and not done.stderr:
                        reason = "no message"
                except subprocess.TimeoutExpired:
                    reason = "longer than 20 s"
                if reason:
                    failures += 1
                    path = keep(folder, f"program{seed}_{index}.txt", text)
                    print(f"{command[0]}: {reason}; the text is in {path}", flush=True)
    print(f"{count} texts planned and run by {program}")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seed", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--impipe", metavar="PATH")
    parser.add_argument("--build", metavar="DIR", default=os.path.join(ROOT, "build", "asan"))
    parser.add_argument("--keep", metavar="DIR", default=os.path.join(ROOT, "build", "campaign"))
    options = parser.parse_args()
    failures = try_in_process(build(options.build), options.seed, options.count, options.keep)
    if options.impipe:
        failures += try_program(os.path.abspath(options.impipe), options.seed,
                                max(100, options.count // 1000), options.keep)
    print(f"{options.count} texts: {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
