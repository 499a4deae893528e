#!/usr/bin/env python3
"""Cuts the power of a file system behind and during runs of impipe, and looks at what is left.

    scripts/campaign/power_cuts.py [--seed N] [--cuts N] [--files N] [--wait SECONDS]
                                   [--systems ext4 xfs] [--impipe PATH] [--place DIR]

The cut is the file system's own shutdown (FS_IOC_SHUTDOWN without a flush of the journal) on a loop
device: what has not reached the device is lost, as when the power goes. Each cut comes --wait
seconds after a run ended with 0 (results that are new, that replace others, --in-place), or in the
midst of a run --in-place. Then the file system is mounted again: after a run that ended every
result is there and whole; in its midst every original is the old picture or the new one; -u, or the
same command, makes the rest. With --no-sync the same cuts have to lose something, which shows that
they do cut; how much is printed. Exit 1 when a promise breaks. Root, mkfs.ext4, mkfs.xfs; Python's
library only.
"""
import argparse
import fcntl
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.path.join(ROOT, "build", "ci", "src", "cli", "impipe")
SHUTDOWN, WITHOUT_FLUSH = 0x8004587D, 2  # FS_IOC_SHUTDOWN of linux/fs.h
OLD, NEW = "imcomplement", "imgaussfilt 1"


class Broken(Exception):
    """A promise that does not hold."""


def check(holds, text):
    if not holds:
        raise Broken(text)


def make_inputs(folder, count, seed):
    """Gray pictures of 4 to 400 kB."""
    rng = random.Random(seed)
    os.makedirs(folder)
    for i in range(count):
        width, height = rng.randrange(60, 640), rng.randrange(60, 640)
        with open(os.path.join(folder, f"{i:03}.pgm"), "wb") as file:
            file.write(b"P5 %d %d 255\n" % (width, height) + rng.randbytes(width * height))


def contents(folder):
    found = {}
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        if not name.startswith("."):
            with open(os.path.join(folder, name), "rb") as file:
                found[name] = file.read()
    return found


class System:
    """A file system on a loop device."""

    def __init__(self, kind, place):
        self.image, self.folder = os.path.join(place, "image"), os.path.join(place, "mounted")
        os.makedirs(self.folder)
        with open(self.image, "wb") as file:
            file.truncate(400 << 20)
        force = {"ext4": "-F", "xfs": "-f"}[kind]
        subprocess.run([f"mkfs.{kind}", "-q", force, self.image], check=True)
        self.mount()

    def mount(self):
        subprocess.run(["mount", "-o", "loop", self.image, self.folder], check=True)

    def cut(self):
        """The power goes, and comes again."""
        top = os.open(self.folder, os.O_RDONLY)
        fcntl.ioctl(top, SHUTDOWN, struct.pack("I", WITHOUT_FLUSH))
        os.close(top)

    def come_back(self):
        subprocess.run(["umount", self.folder], check=True)
        self.mount()

    def remove(self):
        subprocess.run(["umount", self.folder], check=False)
        shutil.rmtree(os.path.dirname(self.folder))


class Cuts:
    def __init__(self, options):
        self.options = options
        self.place = tempfile.mkdtemp(prefix="impipe-cuts-", dir=options.place)
        self.inputs = os.path.join(self.place, "in")
        make_inputs(self.inputs, options.files, options.seed)
        self.before = contents(self.inputs)
        self.expected = {}
        for name, pipeline in (("old", OLD), ("new", NEW)):
            self.run(pipeline, self.inputs, "-o", os.path.join(self.place, name))
            self.expected[name] = contents(os.path.join(self.place, name))
        self.random = random.Random(options.seed)

    def run(self, *arguments):
        done = subprocess.run([self.options.impipe, *arguments], capture_output=True, text=True,
                              check=False)
        check(done.returncode == 0, f"{arguments}: exit {done.returncode}: {done.stderr}")

    def lost(self, found, *wanted):
        return [name for name in self.before
                if not any(found.get(name) == each[name] for each in wanted)]

    def cut(self, kind, scene, flags=()):
        """Returns the names of what is lost."""
        system = System(kind, tempfile.mkdtemp(dir=self.place))
        top = lambda *names: os.path.join(system.folder, *names)
        try:
            shutil.copytree(self.inputs, top("in"))
            if scene == "replaced":
                self.run(OLD, top("in"), "-o", top("out"))
            os.sync()
            target = ["--in-place"] if scene in ("in place", "midway") else ["-o", top("out")]
            result = top("in") if scene in ("in place", "midway") else top("out")
            command = [NEW, top("in"), *target, *flags]
            if scene == "midway":
                run = subprocess.Popen([self.options.impipe, *command], stderr=subprocess.DEVNULL)
                time.sleep(self.random.uniform(0.01, 0.3))
                system.cut()
                run.wait()
            else:
                self.run(*command)
                time.sleep(self.options.wait)
                system.cut()
            system.come_back()
            found = contents(result)
            if scene == "midway":
                return self.lost(found, self.before, self.expected["new"])
            lost = self.lost(found, self.expected["new"])
            if "-o" in target:
                # What -u takes for done is done. The originals were on the disk before.
                self.run(*command, "-u")
                check(contents(result) == self.expected["new"], "-u left what the cut had spoiled")
            return lost
        finally:
            system.remove()

    def close(self):
        shutil.rmtree(self.place)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cuts", type=int, default=10, help="of each system and mode")
    parser.add_argument("--files", type=int, default=40)
    parser.add_argument("--wait", type=float, default=9, metavar="SECONDS")
    parser.add_argument("--systems", nargs="+", choices=["ext4", "xfs"], default=["ext4", "xfs"])
    parser.add_argument("--impipe", metavar="PATH", default=PROGRAM, type=os.path.abspath)
    parser.add_argument("--place", metavar="DIR", help="where the images lie")
    options = parser.parse_args()
    cuts, failed = Cuts(options), False
    scenes = ["new", "replaced", "in place", "midway"]
    try:
        for kind in options.systems:
            for flags in ((), ("--no-sync",)):
                lost = {scene: [] for scene in scenes}
                for i in range(options.cuts):
                    scene = scenes[i % len(scenes)]
                    try:
                        lost[scene].append(len(cuts.cut(kind, scene, flags)))
                    except Broken as promise:
                        failed = True
                        print(f"BROKEN: {kind}, {scene} {' '.join(flags)}: {promise}", flush=True)
                every = sum(sum(each) for each in lost.values())
                wrong = every == 0 if flags else every > 0
                failed = failed or wrong
                print(f"{kind}{''.join(' ' + flag for flag in flags)}: {options.cuts} cuts, of "
                      f"{options.files} files lost " +
                      ", ".join(f"{scene}: {' '.join(map(str, each)) or '-'}"
                                for scene, each in lost.items()) +
                      (": BROKEN" if wrong else ""), flush=True)
    finally:
        cuts.close()
    return 1 if failed else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main())
