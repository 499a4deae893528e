"""Signals, a full disk, a read-only folder and a closed stdout: a clear message, the right code,
and no partial file."""
import os
import resource
import signal
import subprocess
import time
import unittest

from PIL import Image
from program import (LONG_SHAPE, PROGRAM, RUN_TIMEOUT, ProgramTest, colour, ramp,
                     without_root_rights)


class Interrupted(ProgramTest):
    def check_results_are_whole(self):
        names = self.tree("out")
        for name in names:
            self.assertRegex(name, r"^\d\d\.png$")
            with Image.open(self.path("out", name)) as picture:
                picture.load()
        return names

    def interrupt(self, number, code):
        for i in range(60):
            self.picture(f"in/{i:02}.png", ramp(*LONG_SHAPE, i % 3))
        run = self.start("medfilt2 9", "in", "-o", "out", "-j", "2")
        self.wait_for_results(run, 2)
        run.send_signal(number)
        _, err = run.communicate(timeout=RUN_TIMEOUT)
        self.assertEqual(run.returncode, code, err)
        done = len(self.check_results_are_whole())
        self.assertIn(done, range(1, 60))
        self.assertEqual(err.decode(), f"impipe: stopped by {signal.Signals(number).name}: "
                                       f"{done} of 60 files are done\n")

    def test_sigint(self):
        self.interrupt(signal.SIGINT, 130)

    def test_sigterm(self):
        self.interrupt(signal.SIGTERM, 143)

    def test_long_work_of_one_picture(self):
        """The host's own work and filters of a CPU end between the parts of their loops."""
        for pipeline in ("noise 3000 | imbinarize | hough 0.01", "noise 3000 | deconvlucy disk,5 n=10000",
                         "noise 3000 | radon 0:0.01:179"):
            run = self.start(pipeline, "-o", "out.npy", "-j", "2", "--backend", "cpu")
            time.sleep(2)
            run.send_signal(signal.SIGINT)
            begin = time.monotonic()
            _, err = run.communicate(timeout=RUN_TIMEOUT)
            self.assertLess(time.monotonic() - begin, 10, pipeline)
            self.assertEqual(run.returncode, 130, err)
            self.assertEqual(err.decode(), "impipe: stopped by SIGINT: 0 of 1 files are done\n")
            self.assertEqual(os.listdir(self.path()), [])

    def test_a_killed_run_leaves_no_result_that_is_not_whole(self):
        for i in range(40):
            self.picture(f"in/{i:02}.png", ramp(*LONG_SHAPE, i % 3))
        run = self.start("medfilt2 9", "in", "-o", "out", "-j", "2")
        self.wait_for_results(run, 2)
        run.kill()
        run.communicate()
        for name in [n for n in os.listdir(self.path("out")) if not n.startswith(".")]:
            with Image.open(self.path("out", name)) as picture:
                picture.load()
        self.impipe("imcomplement", "in", "-o", "out")
        self.assertEqual(len(self.check_results_are_whole()), 40)  # and the stale ones are swept


class NoRoom(ProgramTest):
    def limited(self):
        # As `ulimit -f` does. Python ignores the signal itself; what it starts has to have it.
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    def test_a_file_that_cannot_be_written_whole_is_not_there(self):
        self.picture("in/a.png", ramp(20, 20))
        self.picture("in/big.png", ramp(300, 300))
        result = self.impipe("imcomplement", "in", "-o", "out", code=1, preexec_fn=self.limited)
        self.assertRegex(result.err, r"in/big\.png'?: encode: .*(too large|No space)")
        self.assertEqual(self.tree("out"), ["a.png"])

    def test_full_disk(self):
        os.mkdir(self.path("out"))
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs",
                                  self.path("out")], capture_output=True).returncode == 0
        self.picture("in/a.png", ramp(20, 20))
        self.picture("in/big.png", ramp(500, 500))
        try:
            result = self.impipe("imcomplement", "in", "-o", "out", code=1,
                                 preexec_fn=None if mounted else self.limited)
            self.assertRegex(result.err, r"in/big\.png'?: encode: .*(No space|too large)")
            self.assertEqual(self.tree("out"), ["a.png"])
        finally:
            if mounted:
                subprocess.run(["umount", self.path("out")], check=True)

    def test_read_only_output(self):
        self.picture("in/a.png")
        os.mkdir(self.path("out"), 0o555)
        result = self.impipe("imcomplement", "in", "-o", "out", code=2, wrap=without_root_rights)
        self.assertRegex(result.err, r"out.*ermission")
        self.assertEqual(self.tree("out"), [])

    def test_a_full_device_behind_stdout(self):
        for arguments in [["mean2", "in"], ["imcomplement", "in/a.png", "-o", "-"]]:
            with self.subTest(arguments), open("/dev/full", "w", encoding="ascii") as full:
                self.picture("in/a.png")
                run = self.start(*arguments, stdout=full)
                _, err = run.communicate(timeout=RUN_TIMEOUT)
                self.assertEqual(run.returncode, 1, err)
                self.assertIn(b"stdout", err)
                self.assertIn(b"No space left on device", err)

    def test_closed_stdout(self):
        for i in range(20):
            self.picture(f"in/{i}.png", colour(30, 30, i))
        for arguments in [["mean2", "in"], ["imcomplement", "in/1.png", "-o", "-"], ["ops"]]:
            with self.subTest(arguments):
                reader, writer = os.pipe()
                os.close(reader)
                run = self.start(*arguments, stdout=writer)
                os.close(writer)
                _, err = run.communicate(timeout=RUN_TIMEOUT)
                self.assertEqual(run.returncode, 1, err)
                self.assertIn(b"stdout", err)
                self.assertIn(b"Broken pipe", err)

    def test_no_stdout_at_all(self):
        self.picture("in/a.png")
        command = f"exec {PROGRAM} imcomplement in -o out >&-"
        subprocess.run(["sh", "-c", command], cwd=self.folder, check=True)
        self.assertEqual(self.tree("out"), ["a.png"])


if __name__ == "__main__":
    unittest.main()
