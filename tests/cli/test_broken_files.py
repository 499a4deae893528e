"""One broken file among good ones is named with its stage, the others are done, and exit is 1."""
import json
import os
import unittest

import numpy as np
from program import (LONG_SHAPE, RUN_TIMEOUT, SANITIZED, ProgramTest, colour, png_bomb, ramp,
                     without_root_rights)

GOOD = ["a.png", "m.jpg", "z.tif"]


class BrokenFiles(ProgramTest):
    def setUp(self):
        super().setUp()
        for name in GOOD:
            self.picture("in/" + name, colour())

    def fails(self, name, *arguments, says="", part="decode", done=None, **options):
        """Runs over the folder; `name` alone must fail, in `part`."""
        result = self.impipe("imcomplement", *(arguments or ["in"]), "-o", "out", code=1, **options)
        lines = [line for line in result.err.splitlines() if name in line]
        self.assertEqual(len(lines), 1, result)
        self.assertRegex(lines[0], rf"{name}'?: {part}: \S")
        self.assertIn(says, lines[0])
        self.assertEqual(self.tree("out"), GOOD if done is None else done)

    def truncated(self, name, keep):
        path = self.picture("whole/" + name, colour(200, 300))
        with open(path, "rb") as file:
            data = file.read()
        self.write("in/" + name, data[:int(len(data) * keep)])

    def test_truncated(self):
        for name in ["bad.png", "bad.jpg", "bad.tif", "bad.bmp", "bad.webp", "bad.ppm", "bad.npy"]:
            for keep in [0.02, 0.6]:
                with self.subTest(name, keep=keep):
                    self.truncated(name, keep)
                    self.fails("in/" + name)
            os.remove(self.path("in", name))

    def test_wrong_format(self):
        self.write("in/bad.png", "this is a letter, not a picture\n" * 20)
        self.fails("in/bad.png")

    def test_a_picture_of_another_format_than_its_name_is_read(self):
        self.picture("in/x.jpg", ramp())
        os.rename(self.path("in/x.jpg"), self.path("in/x.png"))
        self.impipe("imcomplement", "in/x.png", "-o", "out")
        self.assertEqual(len(self.tree("out")), 1)

    def test_empty(self):
        self.write("in/bad.png", b"")
        self.fails("in/bad.png", says="empty")

    def test_a_folder_in_a_list_of_files(self):
        os.mkdir(self.path("in/sub"))
        self.write("list", "".join(f"in/{name}\n" for name in GOOD + ["sub"]))
        self.fails("in/sub", "--files-from", "list", done=["in/" + name for name in GOOD])

    def test_a_folder_that_is_called_like_a_picture_is_no_file(self):
        os.mkdir(self.path("in/sub.png"))
        self.impipe("imcomplement", "in", "-o", "out")
        self.assertEqual(self.tree("out"), GOOD)

    def test_no_permission(self):
        os.chmod(self.picture("in/bad.png"), 0)
        self.fails("in/bad.png", says="ermission", wrap=without_root_rights)

    def test_vanished(self):
        last = self.path("in/zz.png")
        count = 12 if SANITIZED else 60
        for i in range(count):
            self.picture(f"in/p{i:02}.png", ramp(*LONG_SHAPE, i % 3))
        self.picture("in/zz.png")
        run = self.start("medfilt2 9", "in", "-o", "out", "-j", "1")
        self.wait_for_results(run, 1)
        os.remove(last)
        _, err = run.communicate(timeout=RUN_TIMEOUT)
        self.assertEqual(run.returncode, 1, err)
        self.assertIn(b"in/zz.png", err)
        self.assertEqual(len(self.tree("out")), count + len(GOOD))

    def test_a_decompression_bomb(self):
        self.write("in/bad.png", png_bomb())
        self.fails("in/bad.png", says="100000")

    def test_more_pixels_than_allowed(self):
        self.picture("in/big.png", ramp(100, 100))
        self.fails("in/big.png", "in", "--max-pixels", "5000", says="100")

    def test_a_broken_pixel_format(self):
        np.save(self.path("in/bad.npy"), np.zeros((4, 4), np.complex128))
        self.fails("in/bad.npy")

    def test_a_pipe_in_a_folder_is_no_picture(self):
        os.mkfifo(self.path("in/bad.png"))
        self.impipe("imcomplement", "in", "-o", "out")
        self.assertEqual(self.tree("out"), GOOD)

    def test_a_result_that_cannot_be_made_fails_in_compute(self):
        self.picture("in/other.png", ramp(7, 7))
        self.picture("b.png", colour())
        result = self.impipe("imlincomb 1 1 :b", "in", "--with", "b=b.png", "-o", "out", code=1)
        self.assertIn("in/other.png", result.err)
        self.assertEqual(self.tree("out"), GOOD)

    def test_fail_fast_starts_nothing_more(self):
        self.write("in/0.png", "broken")
        for i in range(40):
            self.picture(f"in/p{i}.png", ramp(300, 300, i % 3))
        self.impipe("imcomplement", "in", "-o", "out", "--fail-fast", "-j", "1", code=1)
        self.assertLess(len(self.tree("out")), 20)

    def test_errors_are_listed_for_machines(self):
        self.write("in/0.png", "broken")
        self.write("in/n.png", b"")
        self.impipe("imcomplement", "in", "-o", "out", "--errors", "errors.json", code=1)
        with open(self.path("errors.json"), encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
        self.assertEqual([(row["file"], row["stage"]) for row in rows],
                         [("in/0.png", "decode"), ("in/n.png", "decode")])
        for row in rows:
            self.assertNotEqual(row["message"], "")

    def test_a_missing_codec_module_is_a_line_a_file(self):
        np.save(self.path("in/n.npy"), ramp())
        run = self.impipe("imcomplement", "in", "-o", "out", code=1,
                          env={"IMPIPE_CODEC": "/no/where"})
        told = ("the codec module impipe_codec.so was not found in /no/where; install it (Debian: "
                "the package impipe), or set IMPIPE_CODEC to its folder")
        self.assertEqual(run.err.splitlines()[:-1],
                         [f"impipe: in/{name}: decode: {told}" for name in GOOD])
        self.assertEqual(self.tree("out"), ["n.npy"])


if __name__ == "__main__":
    unittest.main()
