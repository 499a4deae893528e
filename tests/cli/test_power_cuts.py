"""What a power cut finds: the order of the calls that bring files to the disk. scripts/campaign/
power_cuts.py cuts the power of a file system."""
import json
import os
import subprocess
import tempfile
import unittest

import numpy as np
from program import ROOT, SANITIZED, ProgramTest, ramp


def build_logged_calls(folder):
    """The library that IMPIPE_LOGGED_CALLS names, or a new one in the folder."""
    if os.environ.get("IMPIPE_LOGGED_CALLS"):
        return os.environ["IMPIPE_LOGGED_CALLS"]
    library = os.path.join(folder, "logged_calls.so")
    subprocess.run([os.environ.get("CC", "cc"), "-std=gnu11", "-O1", "-shared", "-fPIC", "-o",
                    library, os.path.join(ROOT, "tests", "support", "logged_calls.c")], check=True)
    return library


@unittest.skipIf(SANITIZED, "a sanitizer has calls of its own")
class PowerCuts(ProgramTest):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="impipe-calls-")
        cls.addClassCleanup(folder.cleanup)
        cls.library = build_logged_calls(folder.name)

    def setUp(self):
        super().setUp()
        for name in "abc":
            self.picture(f"in/{name}.png", ramp(12, 10, ord(name)))

    def logged(self, env=None):
        return {"LD_PRELOAD": self.library, "LOGGED_CALLS": self.path("log"), **(env or {})}

    def take_log(self):
        """The calls so far: their names, and those on this test's files."""
        if not os.path.exists(self.path("log")):
            return []
        with open(self.path("log"), encoding="utf-8") as file:
            calls = [line.rstrip("\n").split("\t") for line in file]
        os.remove(self.path("log"))
        return [call for call in calls if "kernel" not in call[1]]

    def calls(self, *arguments, env=None, **more):
        self.impipe(*arguments, env=self.logged(env), **more)
        return self.take_log()

    def assert_new(self, calls, count):
        """Nothing is waited for but the whole batch, behind its last rename."""
        self.assertEqual([call[0] for call in calls], ["rename"] * count + ["syncfs"])

    def assert_replacing(self, calls, count):
        """Each file is on the disk before it takes a name that was another's."""
        self.assertEqual(calls[-1][0], "syncfs")
        on_disk, renamed = set(), 0
        for name, path, _ in calls[:-1]:
            path = os.path.join(self.path(), path)
            if name == "fdatasync":
                on_disk.add(path)
            else:
                self.assertEqual((name, path in on_disk), ("rename", True), calls)
                renamed += 1
        self.assertEqual((len(on_disk), renamed), (count, count))

    def test_new_results(self):
        self.assert_new(self.calls("imcomplement", "in", "-o", "out"), 3)
        saves = "imcomplement | save 'mid/{stem}.png' | fliplr"
        self.assert_new(self.calls(saves, "in/a.png", "-o", "o.png"), 2)
        self.assert_new(self.calls("imcomplement", "in", "-o", "o.y4m"), 1)
        self.assert_new(self.calls("stats", "in", "-o", "{stem}.npy"), 3)

    def test_results_that_replace_others(self):
        for target in (["--in-place"], ["-o", "out"], ["-o", "o.y4m"]):
            with self.subTest(target):
                if "-o" in target:
                    self.impipe("imcomplement", "in", *target)
                self.assert_replacing(self.calls("imcomplement", "in", *target),
                                      1 if "o.y4m" in target else 3)

    def test_bands(self):
        self.picture("large.tif", ramp(3000, 4000))
        arguments = ["imcomplement", "large.tif", "-o", "out.tif", "--memory", "8M", "-j", "1"]
        self.assert_new(self.calls(*arguments), 1)
        self.assert_replacing(self.calls(*arguments), 1)

    def test_no_sync(self):
        for flag, env in (["--no-sync"], {}), ([], {"IMPIPE_NO_SYNC": "1"}):
            for target in (["-o", "out"], ["--in-place"]):
                with self.subTest(flag, target=target):
                    calls = self.calls("imcomplement", "in", *target, *flag, env=env)
                    self.assertEqual({call[0] for call in calls}, {"rename"})

    def test_nothing_is_waited_for_where_nothing_was_written(self):
        self.assertEqual(self.calls("imcomplement", "in", "-o", "out", "-n"), [])
        self.assertEqual(self.calls("mean2", "in"), [])
        self.impipe("imcomplement", "in", "-o", "out")
        self.assertEqual(self.calls("imcomplement", "in", "-o", "out", "-u"), [])

    def test_a_disk_that_fails_in_the_end(self):
        for inputs in (["in"], ["--watch", "in"]):
            with self.subTest(inputs):
                run = self.impipe("imcomplement", *inputs, "-o", "out", "--summary", "s", code=1,
                                  env=self.logged({"FAILING_CALL": "syncfs"}))
                self.assertRegex(run.err, r"impipe: the disk of '.*\.png' fails, and results may "
                                          r"be lost: Input/output error\n$")
                with open(self.path("s"), encoding="utf-8") as file:
                    self.assertEqual(json.load(file)["exit"], 1)

    def test_an_original_stays_where_the_new_one_does_not_reach_the_disk(self):
        with open(self.path("in/a.png"), "rb") as file:
            before = file.read()
        run = self.impipe("imcomplement", "in/a.png", "--in-place", code=1,
                          env=self.logged({"FAILING_CALL": "fdatasync"}))
        self.assertIn("in/a.png: encode: cannot write", run.err)
        with open(self.path("in/a.png"), "rb") as file:
            self.assertEqual(file.read(), before)
        self.assertEqual(self.tree("in"), ["a.png", "b.png", "c.png"])

    def test_a_watch_waits_after_each_batch(self):
        run = self.start("imcomplement", "--watch", "in", "-o", "out", env=self.logged())
        self.wait_for_results(run, 3)
        self.picture("d.png", ramp(12, 10))
        os.rename(self.path("d.png"), self.path("in/d.png"))
        self.wait_for_results(run, 4)
        run.terminate()
        _, err = run.communicate()
        self.assertEqual(run.returncode, 143, err)
        calls = [(name, os.path.basename(to)) for name, _, to in self.take_log()]
        last = calls.index(("rename", "d.png"))
        self.assertIn(("syncfs", ""), calls[:last])
        self.assertEqual(calls[last + 1:], [("syncfs", "")])


class Emptied(ProgramTest):
    """-u after a power cut without a sync: the name, times and attribute of a result, and less or
    nothing of its content."""

    def attributes(self):
        try:
            os.setxattr(self.write("probe", ""), "user.impipe.probe", b"1")
        except OSError:
            return False
        return True

    def test_what_is_empty_or_cut_is_made_again(self):
        self.picture("in/a.png", ramp(50, 60))
        cuts = [0, 100] if self.attributes() else [0]
        arguments = {"out/a.png": ["imcomplement", "in", "-o", "out"],
                     "a.npy": ["imhist", "in/a.png", "-o", "a.npy"],
                     "bands.tif": ["imcomplement", "large.tif", "-o", "bands.tif", "--memory", "8M",
                                   "-j", "1"]}
        self.picture("large.tif", ramp(3000, 4000))
        for result, command in arguments.items():
            self.impipe(*command)
            with open(self.path(result), "rb") as file:
                whole = file.read()
            for cut in cuts:
                with self.subTest(result, bytes=cut):
                    os.truncate(self.path(result), cut)
                    self.impipe(*command, "-u")
                    with open(self.path(result), "rb") as file:
                        self.assertEqual(file.read(), whole)
            made = os.stat(self.path(result)).st_mtime_ns
            self.impipe(*command, "-u")
            self.assertEqual(os.stat(self.path(result)).st_mtime_ns, made)


if __name__ == "__main__":
    unittest.main()
