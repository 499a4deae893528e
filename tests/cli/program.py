"""What the tests of the program share: a folder of their own, pictures in it, and runs of impipe.

The program is found through the variable IMPIPE; each test starts in an empty folder.
"""
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import zlib

import numpy as np
from PIL import Image

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "scripts"))

PROGRAM = os.path.abspath(os.environ.get("IMPIPE", os.path.join(ROOT, "build/ci/src/cli/impipe")))
BENCH = os.path.join(os.path.dirname(os.path.dirname(PROGRAM)), "bench", "impipe-bench")
LONG = bool(os.environ.get("IMPIPE_LONG_TESTS"))
SANITIZED = bool(os.environ.get("IMPIPE_SANITIZED"))
UNDER_OCLGRIND = "OCLGRIND_LOG" in os.environ
RUN_TIMEOUT = 600 if SANITIZED else 240  # seconds; sanitizer builds are slow
LONG_SHAPE = (60, 500) if SANITIZED else (500, 600)  # medfilt2 9 takes a while for these


END_LINE = r"^impipe: [\d,]+ (?:files?|frames?) in [\d.]+ s(?: -> .*|, in place)\n"


class Result:
    """What a finished run left behind."""

    def __init__(self, code, out, err, peak_kib):
        self.code, self.out, self.peak_kib = code, out, peak_kib
        # The line that ends a run over several files tells the time, and is apart.
        ends = re.findall(END_LINE, err, re.MULTILINE)
        self.end = ends[0] if ends else ""
        self.err = re.sub(END_LINE, "", err, flags=re.MULTILINE)

    def lines(self):
        return self.out.splitlines()

    def __str__(self):
        return f"exit {self.code}\nstdout: {self.out}\nstderr: {self.err}"


def ramp(height=40, width=60, seed=0):
    """An 8-bit gray picture with all codes: a ramp with noise."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:height, 0:width]
    values = 255 * (x / max(width - 1, 1) + y / max(height - 1, 1)) / 2
    return np.clip(values + rng.normal(0, 8, (height, width)), 0, 255).astype(np.uint8)


def colour(height=40, width=60, seed=0):
    return np.stack([ramp(height, width, seed + i) for i in range(3)], axis=-1)


def ocio_config(transform):
    """The text of an OpenColorIO configuration whose space `enc` is `lin` by the transform."""
    return f"""ocio_profile_version: 2
search_path: luts/$SHOT
roles: {{default: lin}}
file_rules:
  - !<Rule> {{name: Default, colorspace: lin}}
displays:
  D:
    - !<View> {{name: V, colorspace: enc}}
colorspaces:
  - !<ColorSpace>
    name: lin
  - !<ColorSpace>
    name: enc
    from_scene_reference: !<{transform}
"""


def png_chunk(name, data):
    body = name + data
    return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))


def png_bomb(width=100_000, height=100_000):
    """A well-formed PNG of a few hundred bytes whose header promises 10 gigapixels."""
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + png_chunk(b"IHDR", header)
            + png_chunk(b"IDAT", zlib.compress(b"\0" * 4096)) + png_chunk(b"IEND", b""))


def without_root_rights(command):
    """The command with root's right to ignore file modes taken away; as it is for other users."""
    if os.geteuid() != 0:
        return command
    return ["setpriv", "--bounding-set", "-dac_override,-dac_read_search", *command]


class ProgramTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="impipe-test-")
        self.addCleanup(self.remove_folder)

    def remove_folder(self):
        for root, folders, _ in os.walk(self.folder):
            for name in folders:
                os.chmod(os.path.join(root, name), 0o755)
        shutil.rmtree(self.folder)

    # Files.

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def make_parent(self, name):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return path

    def write(self, name, data):
        path = self.make_parent(name)
        with open(path, "wb") as out:
            out.write(data if isinstance(data, bytes) else data.encode())
        return path

    def picture(self, name, pixels=None, **options):
        """Saves pixels (an 8-bit ramp when there are none) in the format of the name."""
        path = self.make_parent(name)
        pixels = ramp() if pixels is None else pixels
        if name.endswith(".npy"):
            np.save(path, pixels)
        elif pixels.dtype == np.uint16 and name.endswith(".png"):
            from make_samples import write_png16
            write_png16(path, pixels)
        else:
            Image.fromarray(pixels).save(path, **options)
        return path

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def pixels(self, name):
        if name.endswith(".npy"):
            return np.load(self.path(name))
        with Image.open(self.path(name)) as picture:
            return np.asarray(picture)

    def tree(self, folder="."):
        """All files below a folder, hidden ones too, relative and sorted."""
        found = []
        for root, _, names in os.walk(self.path(folder)):
            found += [os.path.relpath(os.path.join(root, name), self.path(folder))
                      for name in names]
        return sorted(found)

    # Runs.

    def environment(self, extra=None):
        kept = {k: v for k, v in os.environ.items()
                if not k.startswith("IMPIPE_") or k == "IMPIPE_LONG_TESTS"
                or (UNDER_OCLGRIND and (
                    k == "IMPIPE_CACHE_DIR" or k.startswith("IMPIPE_TEST_")))}
        # PoCL would hide divisions of integers by zero, the program's own, too.
        return {"POCL_SIGFPE_HANDLER": "0", **kept, **(extra or {})}

    def start(self, *arguments, command=None, env=None, **options):
        options.setdefault("stdin", subprocess.DEVNULL)
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        return subprocess.Popen(command or [PROGRAM, *map(str, arguments)], cwd=self.folder,
                                env=self.environment(env), **options)

    def impipe_bench(self, *arguments, **options):
        """Runs the program of the suites, as impipe does the program."""
        return self.impipe(*arguments, program=BENCH, **options)

    def impipe(self, *arguments, code=0, stdin=None, binary=False, wrap=None, env=None,
               program=PROGRAM, **options):
        """Runs the program to its end and checks its exit code (None: whatever it is)."""
        command = [program, *map(str, arguments)]
        if wrap:
            command = wrap(command)
        if stdin is not None:
            options["stdin"] = subprocess.PIPE
        process = self.start(command=command, env=env, **options)
        try:
            out, err = process.communicate(stdin, timeout=RUN_TIMEOUT)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        out, err = out or b"", (err or b"").decode(errors="replace")
        result = Result(process.returncode, out if binary else out.decode(errors="replace"), err, 0)
        if code is not None:
            self.assertEqual(result.code, code, str(result))
        self.assertNotIn("Sanitizer", result.err)
        return result

    def peak_memory(self, *arguments, code=0):
        """KiB of resident memory at the highest."""
        # By way of a small process: a child's count begins with what the process that started it
        # has, which for this one with numpy is more than impipe ever takes.
        measure = ("import os, sys\n"
                   "pid = os.spawnv(os.P_NOWAIT, sys.argv[1], sys.argv[1:])\n"
                   "_, status, usage = os.wait4(pid, 0)\n"
                   "print(usage.ru_maxrss)\n"
                   "sys.exit(os.waitstatus_to_exitcode(status))")
        done = subprocess.run([sys.executable, "-S", "-E", "-c", measure, PROGRAM,
                               *map(str, arguments)], cwd=self.folder, capture_output=True)
        self.assertEqual(done.returncode, code, done.stderr)
        return int(done.stdout)

    def wait_for_results(self, run, count, folder="out"):
        """Waits until a run that goes on has written some results."""
        end = time.monotonic() + RUN_TIMEOUT
        while not (os.path.isdir(self.path(folder)) and len(self.tree(folder)) >= count):
            self.assertIsNone(run.poll(), "the run ended early")
            self.assertLess(time.monotonic(), end)
            time.sleep(0.002)


