#!/usr/bin/env python3
"""Runs impipe while things go wrong around it, and looks whether what it promises still holds.

    scripts/campaign/failures.py [--seed N] [--only NAME ...] [--impipe PATH] [--device ID]
                                 [--opencl ID] [--kills N] [--files N] [--no-root] [--place DIR]

Scenes: kills (kill -9 at random moments, resumed with -u), disk (no room, no inodes), readonly
(output folders and file systems), inputs (that vanish or are replaced meanwhile), broken (10,000
files, a fifth of them broken), memory (capped), cache (compiled kernels damaged, forged, or of
somebody else). Each prints one line of what it found; exit 1 when a promise breaks. All but what
depends on time follows from the seed. Small file systems, foreign owners and control groups want
root: without it the scenes that need them fail, unless --no-root leaves these parts out and says
so. Linux, Python's library only.
"""
import argparse
import hashlib
import json
import os
import random
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.path.join(ROOT, "build", "ci", "src", "cli", "impipe")
FORMATS = ["png", "jpg", "tif", "bmp", "webp", "pgm", "tga", "qoi", "npy", "exr"]
FOLDERS = ["", "one/", "one/two/", "three/"]
PIPELINE = "imadjust | im2single | save 'saved/{stem}.pfm' | medfilt2 7 | im2uint8"
LIMIT = 300  # seconds; of one run
NOBODY = 65534


class Broken(Exception):
    """A promise that does not hold."""


def check(holds, text):
    if not holds:
        raise Broken(text)


class Run:
    """How a run ended."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def __str__(self):
        return f"exit {self.code}; stderr: {self.err[-1500:]}"


class Place:
    """A folder with pictures, and impipe run in it."""

    def __init__(self, options, name):
        self.options, self.folder = options, tempfile.mkdtemp(prefix=f"impipe-{name}-",
                                                              dir=options.place)
        self.draw = random.Random(f"{options.seed} {name}")
        self.device = ["--device", options.device]
        self.left_out, self.mounted = [], []
        os.mkdir(self.path("cache"), 0o700)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def environment(self, extra):
        kept = {k: v for k, v in os.environ.items() if not k.startswith("IMPIPE_")}
        return {**kept, "IMPIPE_CACHE_DIR": self.path("cache"), **extra}

    def start(self, *arguments, wrap=(), env=None, **options):
        return subprocess.Popen([*wrap, self.options.impipe, *arguments], cwd=self.folder,
                                env=self.environment(env or {}), stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)

    def ended(self, process):
        try:
            out, err = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise Broken(f"a run took longer than {LIMIT} s") from None
        return Run(process.returncode, out.decode(errors="replace"), err.decode(errors="replace"))

    def run(self, *arguments, code=0, **options):
        run = self.ended(self.start(*arguments, **options))
        check(code is None or run.code == code, f"{' '.join(arguments)}: {run}, not {code}")
        return run

    def seconds(self, *arguments):
        """What a run takes."""
        begin = time.monotonic()
        self.run(*arguments)
        return time.monotonic() - begin

    def root(self, what):
        """Whether something that wants root can be done; a failure unless --no-root was given."""
        if os.geteuid() == 0:
            return True
        check(self.options.no_root, f"{what} wants root (or --no-root, to leave it out)")
        self.left_out.append(what)
        return False

    def mount(self, name, settings):
        os.makedirs(self.path(name), exist_ok=True)
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", settings, "tmpfs", self.path(name)],
                              capture_output=True)
        check(done.returncode == 0, f"no tmpfs could be mounted: {done.stderr.decode().strip()}")
        self.mounted.append(self.path(name))

    def remount(self, name, settings):
        return subprocess.run(["mount", "-o", "remount," + settings, self.path(name)],
                              capture_output=True).returncode == 0

    def close(self):
        for path in self.mounted:
            subprocess.run(["umount", path], check=True)
        for root, folders, _ in os.walk(self.folder):
            for name in folders:
                path = os.path.join(root, name)
                if not os.path.islink(path):
                    os.chmod(path, 0o755)
        shutil.rmtree(self.folder)

    def without_rights(self):
        """Root's right to ignore modes of files is taken away; as it is for other users."""
        return (["setpriv", "--bounding-set", "-dac_override,-dac_read_search"]
                if os.geteuid() == 0 else [])

    # Pictures.

    def gray(self, name, width, height):
        """A PGM: a ramp with noise."""
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        noise = self.draw.randbytes(width * height)
        step = self.draw.randint(1, 5)
        rows = bytes((i % width * step // 2 + i // width) % 192 + (noise[i] & 63)
                     for i in range(width * height))
        with open(self.path(name), "wb") as out:
            out.write(b"P5 %d %d 255\n" % (width, height) + rows)

    def pictures(self, count, width, height, folder="in", formats=FORMATS):
        """Makes that many in several formats and folders; returns their names below the folder."""
        names = []
        for index, ext in enumerate(formats):
            for i in range(index, count, len(formats)):
                self.gray(f"made/{FOLDERS[i % len(FOLDERS)]}p{i:05}.pgm", width, height)
            self.run("im2uint8", "made", "-r", "-o", folder, "--format", ext, "-q")
            names += [name[:-3] + ext for name in self.hashes("made")]
            shutil.rmtree(self.path("made"))
        return sorted(names)

    def hashes(self, *folders):
        """The SHA-256 of each file below the folders, hidden ones too, by its name."""
        found = {}
        for folder in folders:
            for root, _, names in os.walk(self.path(folder)):
                for name in names:
                    path = os.path.join(root, name)
                    with open(path, "rb") as file:
                        found[os.path.relpath(path, self.path(folders[0]))] = hashlib.sha256(
                            file.read()).hexdigest()
        return found

    def failures(self, name="errors"):
        with open(self.path(name), encoding="utf-8") as file:
            return [json.loads(line) for line in file]


def temporaries(found):
    return [name for name in found if os.path.basename(name).startswith(".impipe-")]


def check_whole(found, reference, when):
    """No file under its own final name differs from the reference's."""
    for name, content in found.items():
        if name not in temporaries(found):
            check(name in reference, f"{name} was made {when}, which the reference has not")
            check(content == reference[name], f"{name} is not whole {when}")


def check_same(found, reference, when):
    check_whole(found, reference, when)
    check(not temporaries(found), f"temporaries are left {when}: {temporaries(found)}")
    missing = sorted(set(reference) - set(found))
    check(not missing, f"{len(missing)} results are missing {when}: {missing[:5]}")


def check_named(place, run, wanted, words, when):
    """Every failure is told once, for a file of those, with the words; returns their names."""
    check(run.code == 1, f"{when}: {run}, not 1")
    rows = place.failures()
    names = [row["file"].removeprefix("in/") for row in rows]
    check(len(names) == len(set(names)), f"{when}: a file is named twice")
    check(set(names) <= set(wanted), f"{when}: others failed: {set(names) - set(wanted)}")
    for row in rows:
        check(re.search(words, row["message"]), f"{when}: {row['file']}: says {row['message']}")
    return set(names)


# The scenes.


def kills(place):
    place.pictures(60, 460, 340)
    command = [PIPELINE, "in", "-r", "-o", "out", "-j", "2", *place.device]
    place.run(*command)
    usual = place.seconds(*command)
    reference = place.hashes("out", "saved")
    check(len(reference) == 120, f"{len(reference)} results, not 120")
    killed = runs = left = early = partial = 0
    while killed < place.options.kills:
        shutil.rmtree(place.path("out"))
        shutil.rmtree(place.path("saved"))
        for _ in range(place.draw.randint(1, 4)):  # the last ones kill a run that resumes
            process = place.start(*command, "-u")
            time.sleep(place.draw.uniform(0, usual))
            hit = process.poll() is None
            process.kill()
            run = place.ended(process)
            check(run.code == (-9 if hit else 0) or run.code == 0, f"before a kill: {run}")
            if run.code == 0:
                break
            killed += 1
            found = place.hashes("out", "saved")
            check_whole(found, reference, f"after kill {killed}")
            left += len(temporaries(found)) > 0
            early += not found
            partial += 0 < len(found) < len(reference)
        place.run(*command, "-u")
        runs += 1
        check_same(place.hashes("out", "saved"), reference, f"after {killed} kills, resumed")
    return (f"{killed} kills in {runs} series of runs over 60 pictures (a run takes {usual:.2f} "
            f"s): {early} before the first result, {partial} between results, {left} left "
            "temporaries; no file was cut, each series ended with the 120 hashes and no temporary")


def disk(place):
    if not place.root("a small file system"):
        return "nothing was tried"
    names = place.pictures(60, 200, 150, formats=[f for f in FORMATS if f != "npy"])
    command = ["imadjust | save 'out/saved/{stem}.tif' | medfilt2 5", "in", "-r", "-o", "out",
               "--errors", "errors", *place.device]
    place.run(*command)
    reference = place.hashes("out")
    shutil.rmtree(place.path("out"))
    total = sum(os.path.getsize(place.path("in", name)) for name in names)
    tries = [(f"size={place.draw.randint(16, max(17, total // 1024))}k", "size=256m")
             for _ in range(8)]
    tries += [(f"nr_inodes={place.draw.randint(8, 100)}", "nr_inodes=10000") for _ in range(4)]
    failed = 0
    for small, large in tries:
        place.mount("out", small)
        run = place.run(*command, code=None)
        bad = check_named(place, run, names, "No space left on device", small)
        check(bad, f"{small}: no failure is told")
        found = place.hashes("out")
        check_whole(found, reference, "on " + small)
        check(not temporaries(found), f"{small}: temporaries are left")
        missing = {name for name in names if name not in found}
        check(missing <= bad, f"{small}: missing and not named: {missing - bad}")
        failed += len(bad)
        check(place.remount("out", large), "the file system could not be made larger")
        place.run(*command, "-u")
        check_same(place.hashes("out"), reference, f"on {small} with room again")
        subprocess.run(["umount", place.mounted.pop()], check=True)
    return (f"{len(tries)} runs over 60 pictures on file systems too small ("
            + ", ".join(small for small, _ in tries)
            + f"): {failed} failures, each named with 'No space left on device', exit 1, no "
            "partial file, no temporary; with room again -u gave the same hashes")


def turned_read_only(place, command, names, reference, usual):
    """The file system turns read-only while a run writes to it; returns the number of failures."""
    process = place.start(*command)
    time.sleep(place.draw.uniform(0.1, 0.7) * usual)
    end = time.monotonic() + 20
    while not place.remount("disk", "ro") and process.poll() is None and time.monotonic() < end:
        pass
    run = place.ended(process)
    found = place.hashes("disk/out")
    check_whole(found, reference, "when the file system turned read-only")
    if run.code != 0:
        bad = check_named(place, run, names, "Read-only file system", "turned read-only")
        check(set(names) - set(found) == bad, "turned read-only: missing and named files differ")
    check(place.remount("disk", "rw"), "the file system could not be made writable")
    place.run(*command, "-u")
    check_same(place.hashes("disk/out"), reference, "after it was read-only for a while")
    return len(reference) - len(found)


def readonly(place):
    names = place.pictures(60, 460, 340, formats=["png", "tif", "pgm", "bmp"])
    command = ["medfilt2 9", "in", "-r", "-o", "out", *place.device]
    usual = place.seconds(*command)
    reference = place.hashes("out")
    shutil.rmtree(place.path("out"))
    os.mkdir(place.path("out"), 0o555)
    run = place.run(*command, code=2, wrap=place.without_rights())
    check(re.search(r"out.*Permission denied", run.err), f"read-only folder: {run}")
    check(not place.hashes("out"), "something was written to a read-only folder")
    os.chmod(place.path("out"), 0o755)
    os.makedirs(place.path("out/one"))
    os.chmod(place.path("out/one"), 0o555)  # one of the folders below it
    run = place.run(*command, "--errors", "errors", code=1, wrap=place.without_rights())
    below = {name for name in names if name.startswith("one/")}
    bad = check_named(place, run, below, "Permission denied", "read-only folder below")
    check(bad == below, "not all files of the read-only folder below are named")
    os.chmod(place.path("out/one"), 0o755)
    place.run(*command, "-u")
    check_same(place.hashes("out"), reference, "after a read-only folder below")
    said = f"a read-only folder: exit 2; one below: {len(bad)} named; -u then completed"
    if not place.root("a read-only file system"):
        return said
    place.mount("disk", "size=64m")
    os.mkdir(place.path("disk/out"))
    check(place.remount("disk", "ro"), "the file system could not be made read-only")
    command[command.index("out")] = "disk/out"
    run = place.run(*command, code=2)
    check("Read-only file system" in run.err, f"read-only file system: {run}")
    check(place.remount("disk", "rw"), "the file system could not be made writable")
    missing = []
    for _ in range(6):
        shutil.rmtree(place.path("disk/out"))
        missing.append(turned_read_only(place, [*command, "--errors", "errors"], names, reference,
                                        usual))
    check(any(missing), "no run met a file system that turned read-only; take larger pictures")
    return (said + "; a read-only file system: exit 2; one that turned read-only in 6 runs: "
            f"{missing} of 60 failed, named, and -u completed to the same hashes")


def vanished(place, command, names, reference, usual):
    process = place.start(*command, "--errors", "errors")
    time.sleep(place.draw.uniform(0.1, 0.7) * usual)
    gone = place.draw.sample(names, 15)
    for name in gone:
        os.rename(place.path("in", name), place.path("kept", name))
    run = place.ended(process)
    for name in gone:
        os.rename(place.path("kept", name), place.path("in", name))
    bad = (check_named(place, run, gone, "no such file|No such file", "vanished")
           if run.code else set())
    found = place.hashes("out")
    check_whole(found, reference, "when inputs vanished")
    check(set(names) - set(found) == bad, "vanished: missing and named files differ")
    place.run(*command, "-u")
    check_same(place.hashes("out"), reference, "when inputs came back")
    return len(bad)


def replaced(place, command, names, old, new, usual):
    """Some inputs become others by a rename, some become text, some are cut to nothing and written
    anew, some are written over in place. A program that makes a pause in the midst of the last can
    be read half old and half new, where the format has no check sum: they are counted."""
    process = place.start(*command, "--errors", "errors")
    time.sleep(place.draw.uniform(0.1, 0.7) * usual)
    chosen = place.draw.sample(names, 24)
    for name in chosen[:12]:
        shutil.copy(place.path("other", name), place.path("next"))
        os.replace(place.path("next"), place.path("in", name))
    for name in chosen[12:18]:
        with open(place.path("in", name), "wb") as out:
            out.write(b"no picture any more\n")
    for name in chosen[18:]:
        with open(place.path("other", name), "rb") as file:
            data = file.read()
        with open(place.path("in", name), "wb" if name in chosen[18:21] else "r+b") as out:
            for begin in range(0, len(data), 4096):
                out.write(data[begin:begin + 4096])
                out.flush()
            out.truncate()
    run = place.ended(process)
    bad = check_named(place, run, chosen[12:], "", "replaced") if run.code else set()
    found = place.hashes("out")
    check(not temporaries(found), "temporaries are left when inputs were replaced")
    torn = set()
    for name in names:
        if name in bad:
            check(name not in found, f"{name} failed and has a result")
            continue
        wanted = {old[name]} | ({new[name]} if name in chosen else set())
        if name in chosen[21:] and name in found and found[name] not in wanted:
            torn.add(name)
            continue
        check(found.get(name) in wanted,
              f"{name}, replaced during the run: the result is of no picture that it ever was")
    for name in chosen[12:18]:
        shutil.copy(place.path("other", name), place.path("in", name))
    wanted = {**old, **{name: new[name] for name in chosen}}
    newer = sum(found.get(name) not in (None, wanted[name]) and is_newer(place, name)
                for name in chosen)
    place.run(*command, "-u")
    check_same(place.hashes("out"), wanted, "when inputs were replaced, after -u")
    for name in chosen:
        shutil.copy(place.path("first", name), place.path("in", name))
    place.run(*command, "-u")
    check_same(place.hashes("out"), old, "with the first inputs again")
    return len(bad), sum(found.get(name) == new[name] for name in chosen), len(torn), newer


def is_newer(place, name):
    """Whether a result is newer than its input, which was replaced while it was being made."""
    return (os.stat(place.path("out", name)).st_mtime_ns
            >= os.stat(place.path("in", name)).st_mtime_ns)


def inputs(place):
    # Those that take each other's place have the same size: only contents tell.
    names = place.pictures(80, 460, 340, formats=["png", "bmp", "qoi", "pgm"])
    os.rename(place.path("in"), place.path("first"))
    place.pictures(80, 460, 340, folder="other", formats=["png", "bmp", "qoi", "pgm"])
    command = ["medfilt2 9", "in", "-r", "-o", "out", *place.device]
    shutil.copytree(place.path("other"), place.path("in"))
    usual = place.seconds(*command)
    new = place.hashes("out")
    for folder in ("in", "out"):
        shutil.rmtree(place.path(folder))
    shutil.copytree(place.path("first"), place.path("in"))
    place.run(*command)
    old = place.hashes("out")
    for folder in FOLDERS:
        os.makedirs(place.path("kept", folder), exist_ok=True)
    missing, changed = [], []
    for _ in range(6):
        shutil.rmtree(place.path("out"))
        missing.append(vanished(place, command, names, old, usual))
    for _ in range(6):
        shutil.rmtree(place.path("out"))
        changed.append(replaced(place, command, names, old, new, usual))
    return (f"15 of 80 inputs taken away in each of 6 runs: {missing} failed, all named, the "
            f"others whole, -u completed; 24 of 80 replaced in each of 6 runs: failed and named, "
            "done as the new one, read half old and half new in a pause of the one that wrote over it, "
            f"newer than the new input but not of it: {changed}; -u then gave the results of the new "
            "inputs, of these too")


def broken(place):
    count = place.options.files
    names = place.pictures(count, 16, 12, formats=["png", "jpg", "tif", "bmp", "pgm", "webp", "qoi",
                                                   "npy"])
    bad = place.draw.sample(names, count // 5)
    kinds = dict.fromkeys(["truncated", "empty", "text", "other"], 0)
    for name in bad:
        kind = place.draw.choice(list(kinds))
        kinds[kind] += 1
        with open(place.path("in", name), "rb") as file:
            data = file.read()
        data = {"truncated": data[:int(len(data) * place.draw.uniform(0.05, 0.9))], "empty": b"",
                "text": b"a letter, no picture\n" * place.draw.randint(1, 50),
                "other": b"PK\3\4" + place.draw.randbytes(300)}[kind]
        with open(place.path("in", name), "wb") as out:
            out.write(data)
    good = sorted(set(names) - set(bad))
    for name in good:
        os.makedirs(os.path.dirname(place.path("good", name)), exist_ok=True)
        os.link(place.path("in", name), place.path("good", name))
    command = ["imadjust | medfilt2 3", "-r", *place.device]
    place.run(*command, "good", "-o", "reference")
    begin = time.monotonic()
    run = place.run(*command, "in", "-o", "out", "--errors", "errors", code=1)
    seconds = time.monotonic() - begin
    named = check_named(place, run, bad, r"\S", "broken files")
    check(named == set(bad), f"not named: {sorted(set(bad) - named)[:5]}")
    check(f"{len(bad)} of {count} files failed" in run.err.replace(",", ""), f"last line: {run}")
    check_same(place.hashes("out"), place.hashes("reference"), "beside broken files")
    kinds["archives with a picture's name"] = kinds.pop("other")
    return (f"{count} files of 8 formats, {len(bad)} broken ("
            + ", ".join(f"{n} {kind}" for kind, n in kinds.items())
            + f"): {len(named)} failures, each named once, {len(good)} results equal those of a "
            f"run over the good ones alone; {seconds:.1f} s")


class Group:
    """A control group with a limit of memory, of either version; no path where none can be made."""

    def __init__(self):
        self.path = self.limit = None
        with open("/proc/self/cgroup", encoding="ascii") as file:
            lines = [line.strip().split(":", 2) for line in file]
        for _, controllers, below in lines:
            at, limit = (("/sys/fs/cgroup", "memory.max") if controllers == "" else
                         ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"))
            if controllers not in ("", "memory"):
                continue
            for parent in (at + below, at):
                path = os.path.join(parent, f"impipe-{os.getpid()}")
                try:
                    os.mkdir(path)
                except OSError:
                    continue
                if os.path.exists(os.path.join(path, limit)):
                    self.path, self.limit = path, os.path.join(path, limit)
                    return
                os.rmdir(path)

    def set(self, size):
        with open(self.limit, "w", encoding="ascii") as out:
            out.write(str(size))

    def enter(self):
        with open(os.path.join(self.path, "cgroup.procs"), "w", encoding="ascii") as out:
            out.write(str(os.getpid()))


def capped(place, command, reference, names, limits, when):
    """One run with limits; returns done, failed or refused."""
    shutil.rmtree(place.path("out"), ignore_errors=True)
    if os.path.exists(place.path("errors")):
        os.remove(place.path("errors"))
    run = place.run(*command, "-o", "out", "--errors", "errors", code=None, preexec_fn=limits)
    check(run.code >= 0, f"{when}: {run}")
    found = place.hashes("out")
    check_whole(found, reference, when)
    check(not temporaries(found), f"{when}: temporaries are left")
    if run.code == 0:
        check_same(found, reference, when)
        return "done"
    check(run.err.strip(), f"{when}: exit {run.code} and nothing said")
    if run.code == 127 and "error while loading shared libraries" in run.err:
        return "not loaded"
    if run.code == 1 and os.path.exists(place.path("errors")) and place.failures():
        bad = check_named(place, run, names, r"\S", when)
        check(set(names) - set(found) == bad, f"{when}: missing and named files differ")
        return "failures named"
    check(run.code in (1, 2, 4), f"{when}: {run}")
    return "refused"


def memory(place):
    names = place.pictures(24, 900, 700, formats=["png", "tif", "jpg", "bmp"])
    command = ["im2single | imgaussfilt 3 | medfilt2 3 | im2uint8", "in", "-r", *place.device]
    place.run(*command, "-o", "reference")
    reference = place.hashes("reference")
    ends = {}
    for _ in range(40):
        size = int(place.draw.uniform(2, 10) ** 3 * 1e6)  # 8 MB to 1 GB
        flags = place.draw.choice([["--memory", "32M"], ["--memory", "1G"], []])

        def limits(size=size):
            resource.setrlimit(resource.RLIMIT_AS, (size, size))
        threads = str(place.draw.choice([1, 2, 16]))
        end = capped(place, [*command, *flags, "-j", threads], reference, names, limits,
                     f"{size >> 20} MiB of addresses, {flags}, -j {threads}")
        ends[end] = ends.get(end, 0) + 1
    said = f"40 runs with 8 to 950 MiB of addresses: {ends}"
    group = Group() if os.geteuid() == 0 else None
    if not group or not group.path:
        place.left_out.append("a control group, which could not be made")
        check(place.options.no_root, "no control group could be made (--no-root leaves it out)")
        return said
    ends = {}
    try:
        for size in (24, 32, 48, 64, 96, 128, 256):
            group.set(size << 20)
            threads = ["-j", "16" if size >= 64 else "2"]  # each wants 2 MiB of its own
            for flags in (threads, [*threads, "--memory", f"{size // 2}M"]):
                end = capped(place, command + flags, reference, names, group.enter,
                             f"{size} MiB in a control group, {flags}")
                ends[end] = ends.get(end, 0) + 1
    finally:
        os.rmdir(group.path)
    return said + (f"; 14 runs in a control group of 24 to 256 MiB, from 64 MiB on with -j 16: "
                   f"{ends}; no signal ended one")


# The cache of compiled kernels.


def sum_of(data):
    """The check sum of an entry (src/backends/jit/runtime/disk_cache.cpp)."""
    value, mask = 0xcbf29ce484222325, (1 << 64) - 1
    for byte in data:
        value = (value ^ byte) * 0x100000001b3 & mask
    value ^= value >> 32
    value = value * 0xd6e8feb86659fd93 & mask
    return value ^ value >> 32


def parts(entry):
    identity, title, contents = struct.unpack_from("<3Q", entry, 16)
    begin = 48 + identity + title
    check(len(entry) == begin + contents, "an entry of the cache is laid out in another way")
    return entry[48:48 + identity], entry[48 + identity:begin], entry[begin:]


def joined(magic, identity, title, contents):
    body = identity + title + contents
    return (magic + struct.pack("<4Q", len(identity), len(title), len(contents), sum_of(body))
            + body)


class Cache:
    """A folder of entries, and runs that use it."""

    def __init__(self, place):
        self.place, self.folder = place, place.path("cache")
        self.arguments = ["map 'x + 3'", "in.pgm", "-o", "out.pgm", "--device",
                          place.options.opencl]
        place.gray("in.pgm", 64, 48)
        self.fill("map 'x + 7'")
        other = self.entries()
        self.fill("map 'x + 3'")
        self.whole = self.entries()
        self.right = self.result()
        mine = set(self.whole) - set(other)
        theirs = set(other) - set(self.whole)
        check(len(mine) == 1 and len(theirs) == 1, "the two maps do not differ in one kernel")
        self.kernel = mine.pop()
        identity, title, _ = parts(self.whole[self.kernel])
        # What somebody would plant: whole, with the right key, and other code.
        self.forged = joined(self.whole[self.kernel][:16], identity, title,
                             parts(other[theirs.pop()])[2])

    def fill(self, text):
        shutil.rmtree(self.folder)
        os.mkdir(self.folder, 0o700)
        self.place.run(text, *self.arguments[1:])

    def entries(self):
        found = {}
        for name in os.listdir(self.folder):
            with open(os.path.join(self.folder, name), "rb") as file:
                found[name] = file.read()
        return found

    def result(self):
        with open(self.place.path("out.pgm"), "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()

    def put(self, entries):
        if os.path.isdir(self.folder):
            os.chmod(self.folder, 0o700)
            shutil.rmtree(self.folder)
        os.mkdir(self.folder, 0o700)
        for name, data in entries.items():
            with open(os.path.join(self.folder, name), "wb") as out:
                out.write(data)
            os.chmod(os.path.join(self.folder, name), 0o644)

    def forge(self):
        """Fills the folder with whole entries, one of them forged; returns that one's path."""
        self.put({**self.whole, self.kernel: self.forged})
        return os.path.join(self.folder, self.kernel)

    def right_result(self, when, says=None, **options):
        if os.path.exists(self.place.path("out.pgm")):
            os.remove(self.place.path("out.pgm"))
        run = self.place.run(*self.arguments, **options)
        check(self.result() == self.right, f"{when}: another result")
        if says:
            check(re.search(says, run.err), f"{when}: says '{run.err.strip()}', not '{says}'")
        else:
            check(not run.err, f"{when}: says '{run.err.strip()}'")


def damaged_entries(cache, draw):
    """Returns the number of caches that were tried."""
    def cut(data):
        return data[:draw.randrange(len(data))]

    def garbage(data):
        return draw.randbytes(len(data))

    def flipped(data):
        at = draw.randrange(len(data))
        return data[:at] + bytes([data[at] ^ 1 << draw.randrange(8)]) + data[at + 1:]

    def longer(data):
        return data + b"\0"

    def other_version(data):
        return data[:14] + b"2" + data[15:]
    count = 0
    for way in [cut, garbage, flipped, longer, other_version] * 3:
        cache.put({name: way(data) for name, data in cache.whole.items()})
        cache.right_result(way.__name__, "damaged file, which is made anew")
        cache.right_result(way.__name__ + ", made anew")
        count += 1
    names = list(cache.whole)
    cache.put({name: cache.whole[names[i - 1]] for i, name in enumerate(names)})
    cache.right_result("entries under one another's names", None)
    identity, title, contents = parts(cache.forged)
    cache.put({**cache.whole, cache.kernel: joined(
        cache.forged[:16], re.sub(rb"driver [^\n]*", b"driver 0.1", identity), title, contents)})
    cache.right_result("an entry of another driver")
    return count + 2


def foreign_code(place, cache):
    """Forged entries where they must not be used; returns what was tried."""
    untrusted = [("a folder that all can write", lambda path: os.chmod(cache.folder, 0o777),
                  r"not used: .*can be written by others \(mode 0777\)"),
                 ("a folder that its group can write", lambda path: os.chmod(cache.folder, 0o770),
                  r"not used: .*can be written by others \(mode 0770\)"),
                 ("a file that all can write", lambda path: os.chmod(path, 0o666),
                  r"not used: .*can be written by others \(mode 0666\)")]
    if place.root("a foreign owner"):
        untrusted += [("a folder of another user", lambda path: os.chown(cache.folder, NOBODY, 0),
                       rf"not used: .*belongs to another user \({NOBODY}\)"),
                      ("a file of another user", lambda path: os.chown(path, NOBODY, 0),
                       rf"not used: .*belongs to another user \({NOBODY}\)")]
    for name, change, says in untrusted:
        change(cache.forge())
        cache.right_result(name, says)
    path = cache.forge()
    os.rename(path, place.path("planted"))
    os.symlink(place.path("planted"), path)
    cache.right_result("a file that is a link", "can't be read")
    cache.forge()
    os.chmod(cache.folder, 0o777)
    os.symlink(cache.folder, place.path("link"))
    cache.right_result("a link to a folder that all can write", "can be written by others",
                       env={"IMPIPE_CACHE_DIR": place.path("link")})
    cache.forge()
    os.mkdir(place.path("open"))
    os.chmod(place.path("open"), 0o777)
    os.rename(cache.folder, place.path("open/cache"))
    cache.right_result("a folder below one that all can write", "which everybody can write to",
                       env={"IMPIPE_CACHE_DIR": place.path("open/cache")})
    cache.forge()
    cache.right_result("a relative folder", "not an absolute path",
                       env={"IMPIPE_CACHE_DIR": "cache"})
    return [name for name, _, _ in untrusted] + [
        "a file that is a link", "a link to a folder that all can write",
        "a folder below one that all can write", "a relative folder"]


def odd_places(place, cache):
    """What lies in the way; returns what was tried."""
    tried = []
    for name, make in [("a pipe", os.mkfifo), ("a folder", os.mkdir)]:
        cache.put(cache.whole)
        path = os.path.join(cache.folder, cache.kernel)
        os.remove(path)
        make(path)
        cache.right_result(name + " in an entry's place", "kernel")
        tried.append(name + " in an entry's place")
    for mode in (0o555, 0o000):
        cache.put({})
        os.chmod(cache.folder, mode)
        cache.right_result(f"a folder of mode {mode:03o}", "kernel", wrap=place.without_rights())
        tried.append(f"a folder of mode {mode:03o}")
    with open(place.path("file"), "wb"):
        pass
    cache.right_result("a file as the folder", "kernel",
                       env={"IMPIPE_CACHE_DIR": place.path("file")})
    cache.put(cache.whole)
    os.symlink(cache.folder, place.path("mine"))
    cache.right_result("a link to one's own folder", env={"IMPIPE_CACHE_DIR": place.path("mine")})
    tried += ["a file as the folder", "a link to one's own folder"]
    if place.root("a full file system"):
        place.mount("small", "size=64k,mode=0700")
        cache.right_result("a full file system", "No space left on device",
                           env={"IMPIPE_CACHE_DIR": place.path("small")})
        tried.append("a full file system")
    return tried


def cache(place):
    at = Cache(place)
    at.forge()
    place.run(*at.arguments)
    check(at.result() != at.right, "a forged entry of one's own changes nothing: no test of others")
    damaged = damaged_entries(at, place.draw)
    foreign = foreign_code(place, at)
    odd = odd_places(place, at)
    return (f"the right result from {damaged} caches with entries cut, garbled, flipped, longer, "
            f"of another version, driver or name; code planted in {len(foreign)} places was not "
            f"run and the place was named ({', '.join(foreign)}), though it is run in one's own; "
            f"{len(odd)} other places: " + ", ".join(odd))


SCENES = {scene.__name__: scene for scene in (kills, disk, readonly, inputs, broken, memory, cache)}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", metavar="NAME", nargs="+", choices=list(SCENES))
    parser.add_argument("--impipe", metavar="PATH", default=PROGRAM, type=os.path.abspath)
    parser.add_argument("--device", metavar="ID", default="cpu")
    parser.add_argument("--opencl", metavar="ID", default="opencl:0", help="of the scene cache")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--no-root", action="store_true")
    parser.add_argument("--place", metavar="DIR", help="where the folders of the scenes are made")
    options = parser.parse_args()
    failed = 0
    for name in options.only or SCENES:
        begin = time.monotonic()
        place = Place(options, name)
        try:
            text = SCENES[name](place)
        except Broken as promise:
            failed += 1
            text = f"BROKEN: {promise}"
        finally:
            place.close()
        for what in place.left_out:
            text += f"; LEFT OUT: {what}"
        print(f"{name}: {text} ({time.monotonic() - begin:.0f} s)", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main())
