"""What a job does when files, disks or its farm misbehave: more tries, time limits."""
import errno
import json
import os
import subprocess
import tempfile
import time
import unittest

import numpy as np
from program import ROOT, SANITIZED, ProgramTest, ramp


def build_failing_files(folder):
    """The library that IMPIPE_FAILING_FILES names, or a new one in the folder."""
    if os.environ.get("IMPIPE_FAILING_FILES"):
        return os.environ["IMPIPE_FAILING_FILES"]
    library = os.path.join(folder, "failing_files.so")
    subprocess.run([os.environ.get("CC", "cc"), "-std=gnu11", "-O1", "-shared", "-fPIC", "-o",
                    library, os.path.join(ROOT, "tests", "support", "failing_files.c")], check=True)
    return library


class JobTest(ProgramTest):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="impipe-jobs-")
        cls.addClassCleanup(folder.cleanup)
        cls.library = build_failing_files(folder.name)

    def failing(self, file, call, error, times=None, after=0):
        """The environment in which calls on a file fail, or hang (error 0)."""
        env = {"LD_PRELOAD": self.library, "FAILING_FILE": file, "FAILING_CALL": call,
               "FAILING_ERRNO": str(error), "FAILING_AFTER": str(after)}
        return env if times is None else {**env, "FAILING_TIMES": str(times)}

    def lines_of(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return [json.loads(line) for line in file]


@unittest.skipIf(SANITIZED, "a sanitizer has calls of its own")
class Parts(JobTest):
    """A part reads its own files: the header of another would not come to an end here."""

    def setUp(self):
        super().setUp()
        for name in "abcd":
            self.picture(f"in/{name}.png", ramp(6, 5, ord(name)))

    def test_the_headers_of_others_are_not_read(self):
        for parts in (["--shard", "1/2"], ["--shard", "1/2", "--shard-by", "bytes"]):
            for target in (["-o", "out"], ["-o", "out", "--format", "tif"], []):
                with self.subTest(parts, target=target):
                    pipeline = "imcomplement" + " | mean2" * (not target)
                    run = self.impipe(pipeline, "in", *target, *parts, "--summary", "s",
                                      env=self.failing("in/d.png", "read", 0))
                    self.assertEqual(self.lines_of("s")[0]["files"], 2)
                    self.assertEqual(len(run.out.splitlines()), 0 if target else 3)
        for name in "abcd":
            os.rename(self.path(f"in/{name}.png"), self.path(f"in/{name}.{ord(name)}.png"))
        run = self.impipe("mean2", "in", "--frames", "97-99",
                          env=self.failing("in/d.100.png", "read", 0))
        self.assertEqual(len(run.lines()), 4)

    def test_where_two_results_could_have_one_name_all_are(self):
        """d.png beside d.bmp, in another part."""
        self.picture("in/d.bmp", ramp(6, 5, 1))
        self.picture("in/z.png", ramp(6, 5, 2))
        for part in (1, 2, 3):
            self.impipe("imcomplement", "in", "-o", "out", "--format", "png", "--shard", f"{part}/3")
        self.impipe("imcomplement", "in", "-o", "all", "--format", "png")
        self.assertEqual(self.tree("out"), self.tree("all"))
        self.assertEqual(len(self.tree("all")), 6)

    def test_a_part_of_one_file_that_the_pipeline_does_not_fit(self):
        self.picture("in/c.png", np.dstack([ramp(6, 5)] * 3))
        for part in (1, 2, 4):
            run = self.impipe("rgb2hsv", "in", "-o", "out", "--shard", f"{part}/4", code=1)
            self.assertRegex(run.err, "^impipe: in/[abd].png: plan: ")
        self.impipe("rgb2hsv", "in", "-o", "out", "--shard", "3/4")
        self.assertEqual(self.tree("out"), ["c.png"])


@unittest.skipIf(SANITIZED, "a sanitizer has calls of its own")
class Retries(JobTest):
    def setUp(self):
        super().setUp()
        for name in "abc":
            self.picture(f"in/{name}.png", ramp(6, 5, ord(name)))

    def run_failing(self, env, *arguments, code):
        run = self.impipe("imcomplement", "in", "-o", "out", "--summary", "s", "--errors", "e",
                          *arguments, code=code, env=env)
        return run, self.lines_of("s")[0], self.lines_of("e")

    def assert_all_done(self):
        self.assertEqual(self.tree("out"), ["a.png", "b.png", "c.png"])
        for name in "abc":
            self.assertTrue((self.pixels(f"out/{name}.png") == 255 - ramp(6, 5, ord(name))).all())

    def test_what_passes_is_done(self):
        for call, file, number in (("read", "in/b.png", errno.EIO), ("read", "in/b.png", errno.ESTALE),
                                   ("write", "out/.impipe", errno.ENOSPC)):
            with self.subTest(call, number=number):
                subprocess.run(["rm", "-rf", self.path("out")], check=True)
                begin = time.monotonic()
                run, summary, errors = self.run_failing(self.failing(file, call, number, 1),
                                                        "--retries", 2, "-v", "-j", 1, code=0)
                self.assertGreaterEqual(time.monotonic() - begin, 0.5)
                self.assert_all_done()
                self.assertEqual((summary["done"], summary["failed"], summary["retries"]), (3, 0, 1))
                self.assertEqual(errors, [])
                if call == "write":
                    self.assertRegex(run.err, r"impipe: in/.\.png: done at try 2\n")

    def test_a_read_that_fails_behind_the_header(self):
        tried_again = 0
        for after in range(0, 12):
            env = self.failing("in/b.png", "read", errno.EIO, 1, after)
            run, summary, _ = self.run_failing(env, "--retries", 1, "-v", code=0)
            self.assert_all_done()
            self.assertLessEqual(summary["retries"], 1)
            tried_again += "impipe: in/b.png: done at try 2\n" in run.err
            if summary["retries"] == 0:
                break
        self.assertGreater(after, 1)
        self.assertGreaterEqual(tried_again, 1)

    def test_what_stays_is_told_with_its_tries(self):
        env = self.failing("in/b.png", "read", errno.EIO)
        run, summary, errors = self.run_failing(env, "--retries", 1, code=1)
        self.assertIn("impipe: in/b.png: decode: Input/output error (tried 2 times)\n", run.err)
        self.assertEqual((summary["done"], summary["failed"], summary["retries"]), (2, 1, 1))
        self.assertEqual([(e["file"], e["message"], e["tries"]) for e in errors],
                         [("in/b.png", "Input/output error", 2)])
        self.assertEqual(errors[0]["output"], "out/b.png")
        env = self.failing("out/.impipe", "write", errno.EIO)
        run, summary, errors = self.run_failing(env, "--retries", 1, code=1)
        self.assertEqual([(e["file"], e["output"], e["stage"], e["tries"]) for e in errors],
                         [(f"in/{name}.png", f"out/{name}.png", "encode", 2) for name in "abc"])
        self.assertEqual(summary["retries"], 3)
        self.assertEqual(self.tree("out"), ["a.png", "c.png"])  # of the run before

    def test_without_it_one_try_is_all(self):
        env = self.failing("in/b.png", "read", errno.EIO, 1)
        run, summary, errors = self.run_failing(env, code=1)
        self.assertIn("impipe: in/b.png: decode: Input/output error\n", run.err)
        self.assertEqual((summary["retries"], errors[0]["tries"]), (0, 1))

    def test_what_does_not_pass_is_not_tried_again(self):
        self.write("in/b.png", b"\x89PNG\r\n\x1a\nnothing")
        begin = time.monotonic()
        _, summary, errors = self.run_failing({}, "missing.png", "--retries", 5, code=1)
        self.assertLess(time.monotonic() - begin, 10)  # five pauses take 15 s
        self.assertEqual((summary["failed"], summary["retries"]), (2, 0))
        self.assertEqual([e["tries"] for e in errors], [1, 1])

    def test_a_device_that_is_written_into_is_no_file_to_write_twice(self):
        run = self.impipe("imcomplement", "in/a.png", "-o", "/dev/full", "--format", "png",
                          "--retries", 3, code=1)
        self.assertEqual(run.err,
                         "impipe: in/a.png: encode: cannot write '/dev/full': "
                         "No space left on device\n")

    def test_wrong_numbers(self):
        for value in ("-1", "many", "1.5"):
            run = self.impipe("imcomplement", "in", "-o", "out", "--retries", value, code=2)
            self.assertIn("--retries", run.err)


@unittest.skipIf(SANITIZED, "a sanitizer has calls of its own")
class Timeout(JobTest):
    LATE = "it took longer than 0.5 s (--timeout)"

    def setUp(self):
        super().setUp()
        for name in "abcd":
            self.picture(f"in/{name}.png", ramp(6, 5, ord(name)))

    def run_hanging(self, env, *arguments, code=1):
        begin = time.monotonic()
        run = self.impipe("imcomplement", "in", "-o", "out", "--timeout", 0.5, "--summary", "s",
                          "--errors", "e", *arguments, code=code, env=env)
        self.assertLess(time.monotonic() - begin, 30)
        return run, self.lines_of("s")[0], self.lines_of("e")

    def test_a_file_that_hangs_fails_and_the_others_are_done(self):
        # In the header, in the pixels, in the result.
        for call, file, after, stage in (("read", "in/b.png", 0, "decode"),
                                         ("read", "in/b.png", 4, "decode"),
                                         ("write", "out/.impipe", 2, "encode")):
            for threads in (1, 4):
                with self.subTest(call, after=after, threads=threads):
                    subprocess.run(["rm", "-rf", self.path("out")], check=True)
                    env = self.failing(file, call, 0, 1, after)
                    run, summary, errors = self.run_hanging(env, "-j", threads, "--retries", 3)
                    self.assertEqual((summary["done"], summary["failed"], summary["exit"]),
                                     (3, 1, 1))
                    self.assertEqual([(e["stage"], e["message"], e["tries"]) for e in errors],
                                     [(stage, self.LATE, 1)])
                    name = os.path.basename(errors[0]["file"])
                    self.assertIn(f"impipe: in/{name}: {stage}: {self.LATE}\n", run.err)
                    left = [f"{n}.png" for n in "abcd" if f"{n}.png" != name]
                    self.assertEqual(self.tree("out"), left)  # nor a temporary file
                    for done in left:
                        self.assertTrue((self.pixels(f"out/{done}") ==
                                         255 - self.pixels(f"in/{done}")).all())

    def test_a_pipe_that_nobody_writes_to(self):
        os.mkfifo(self.path("pipe.png"))
        run, summary, errors = self.run_hanging({}, "pipe.png")
        self.assertEqual((summary["done"], summary["failed"]), (4, 1))
        self.assertEqual([e["file"] for e in errors], ["pipe.png"])

    def test_a_computation_ends_between_its_steps(self):
        self.picture("slow/a.png", ramp(1200, 1200))
        steps = " | ".join(["medfilt2 15"] * 200)
        begin = time.monotonic()
        run = self.impipe(steps, "slow", "-o", "out", "--no-fuse", "--timeout", 0.5,
                          "--backend", "cpu", code=1)
        self.assertEqual(run.err, f"impipe: slow/a.png: compute: {self.LATE}\n")
        self.assertLess(time.monotonic() - begin, 30)
        self.assertFalse(os.path.exists(self.path("out/a.png")))

    def test_a_signal_ends_a_run_whose_files_hang(self):
        run = self.start("imcomplement", "in", "-o", "out", "--timeout", 2,
                         env=self.failing("in/b.png", "read", 0, 1, 4))
        self.wait_for_results(run, 3)
        run.terminate()
        _, err = run.communicate(timeout=30)
        self.assertEqual(run.returncode, 143, err)
        self.assertIn(b"stopped by SIGTERM", err)

    def test_time_enough(self):
        run = self.impipe("imcomplement", "in", "-o", "out", "--timeout", 60)
        self.assertEqual((run.err, len(self.tree("out"))), ("", 4))

    def test_wrong_times(self):
        for value in ("0", "-1", "soon", "nan", "1e99"):
            run = self.impipe("imcomplement", "in", "-o", "out", "--timeout", value, code=2)
            self.assertIn("--timeout", run.err)


if __name__ == "__main__":
    unittest.main()
