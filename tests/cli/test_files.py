"""Which files are taken, where the results go, and what is left alone."""
import os
import shutil
import time
import unittest

import numpy as np
from program import ProgramTest, colour, ramp


class Inputs(ProgramTest):
    def test_a_folder_is_mirrored_and_other_files_are_counted(self):
        self.picture("in/a.png")
        self.picture("in/sub/b.png")
        self.write("in/notes.txt", "no picture")
        result = self.impipe("imcomplement", "in", "-o", "out", "-v")
        self.assertEqual(self.tree("out"), ["a.png"])
        self.assertIn("impipe: 1 file is no picture and was skipped\n", result.err)
        self.impipe("imcomplement", "in", "-r", "-o", "out")
        self.assertEqual(self.tree("out"), ["a.png", "sub/b.png"])

    def test_an_output_folder_inside_the_input_is_left_out(self):
        self.picture("in/a.png")
        for _ in range(2):
            self.impipe("imcomplement", "in", "-r", "-o", "in/out")
        self.assertEqual(self.tree("in"), ["a.png", "out/a.png"])

    def test_several_files_and_globs_that_the_shell_left_alone(self):
        for name in ["a1.png", "a2.png", "b1.png"]:
            self.picture("in/" + name)
        self.impipe("imcomplement", "in/a*.png", "in/b1.png", "-o", "out")
        self.assertEqual(self.tree("out"), ["a1.png", "a2.png", "b1.png"])

    def test_a_literal_name_wins_over_its_meaning_as_a_pattern(self):
        self.picture("in/a[1].png")
        self.picture("in/a1.png")
        self.impipe("imcomplement", "in/a[1].png", "-o", "out")
        self.assertEqual(self.tree("out"), ["a[1].png"])

    def test_frame_ranges(self):
        for frame in [1, 2, 3, 10]:
            self.picture(f"in/f.{frame:04}.png")
        self.impipe("imcomplement", "in/f.1-3x2#.png", "-o", "out")
        self.assertEqual(self.tree("out"), ["f.0001.png", "f.0003.png"])
        self.impipe("imcomplement", "in/f.9-10%04d.png", "-o", "more", "--missingfile", "skip")
        self.assertEqual(self.tree("more"), ["f.0010.png"])
        self.impipe("imcomplement", "in/f.9-10#.png", "-o", "err", code=1)
        self.assertEqual(self.tree("err"), ["f.0010.png"])

    def test_frames_as_other_programs_write_them(self):
        frames = {n: ramp(6, 8, n) for n in (1001, 1002, 1004)}
        for frame, pixels in frames.items():
            self.picture(f"in/over.{frame}.png", pixels)
        told = "impipe: '{}' has no frame 1003\n"
        for pattern in ("in/over.%04d.png", "in/over.####.png", "in/over.#.png",
                        "in/over.@@@@.png", "in/over.%d.png"):
            with self.subTest(pattern):
                run = self.impipe("imcomplement", pattern, "-o", "out/x.####.png")
                self.assertEqual(run.err, told.format(pattern))
                self.assertEqual(self.tree("out"), [f"x.{n}.png" for n in frames])
                for frame, pixels in frames.items():
                    np.testing.assert_array_equal(self.pixels(f"out/x.{frame}.png"), 255 - pixels)
                shutil.rmtree(self.path("out"))
        for arguments in (["in/over.1001-1002####.png"], ["in/over.1001,1002%04d.png"],
                          ["in/over.1001-1003@@@@.png", "--missingfile", "skip"],
                          ["in/over.%04d.png", "--frames", "1001-1002"]):
            with self.subTest(arguments):
                run = self.impipe("imcomplement", *arguments, "-o", "out/x%06d.tif")
                self.assertEqual((run.err, self.tree("out")),
                                 ("", ["x001001.tif", "x001002.tif"]))
                shutil.rmtree(self.path("out"))
        # Frames that are asked for and missing fail by name, and others are done.
        run = self.impipe("imcomplement", "in/over.####.png", "--frames", "1002-1004", "-o", "out",
                          code=1)
        self.assertEqual(run.err.splitlines()[0], "impipe: in/over.1003.png: decode: no such file")
        self.assertEqual(self.tree("out"), ["over.1002.png", "over.1004.png"])
        run = self.impipe("imcomplement", "in/over.####.png", "-o", "gap", "--missingfile", "black")
        self.assertEqual(self.pixels("gap/over.1003.png").min(), 255)
        run = self.impipe("imcomplement", "in/over.####.png", "-o", "gap", "--strict", code=3)
        self.assertEqual(run.err, "impipe: --strict: 'in/over.####.png' has no frame 1003\n")
        run = self.impipe("imcomplement", "in/none.%04d.png", "-o", "out", code=3)
        self.assertEqual(run.err.splitlines()[0], "impipe: no frame of 'in/none.%04d.png' exists, "
                                                  "nor a file of that name")
        self.impipe("imcomplement | save 'steps/s.####.png' | fliplr",
                    "in/over.1001-1002####.png", "-o", "flipped/f.@@@@.png")
        self.assertEqual(self.tree("steps"), ["s.1001.png", "s.1002.png"])
        self.assertEqual(self.tree("flipped"), ["f.1001.png", "f.1002.png"])

    def test_marks_of_frames_in_real_names(self):
        for name in ("a.####.png", "b%04d.png", "c@2x.png", "d#1.png"):
            self.picture(f"in/{name}", ramp(6, 8))
            self.impipe("imcomplement", f"in/{name}", "-o", f"out/{name}")
        self.assertEqual(self.tree("out"), self.tree("in"))
        self.impipe("imcomplement", "in/*#*.png", "-o", "glob")
        self.assertEqual(self.tree("glob"), ["a.####.png", "d#1.png"])

    def test_lists_of_files(self):
        names = ["in/a b.png", "in/c.png"]
        for name in names:
            self.picture(name)
        self.write("list", "\n".join(names) + "\n")
        self.impipe("imcomplement", "--files-from", "list", "-o", "lines")
        self.impipe("imcomplement", "--files-from", "-", "-0", "-o", "zeros",
                    stdin="\0".join(names).encode())
        self.assertEqual(self.tree("lines"), ["in/a b.png", "in/c.png"])
        self.assertEqual(self.tree("zeros"), self.tree("lines"))
        run = self.impipe("mean2", "--files-from", "-", stdin="\0".join(names).encode(), code=2)
        self.assertEqual(run.err, "impipe: --files-from -: a line has a NUL in it; -0 takes lists whose "
                                  "names end in NUL\n")

    def test_a_part_without_files(self):
        self.picture("a.png")
        run = self.impipe("imcomplement", "a.png", "-o", "out/", "--shard", "2/2", "-j", 2)
        self.assertEqual(run.err, "")

    def test_a_byte_order_mark_is_no_part_of_a_text(self):
        self.picture("in/a.npy", ramp().astype(np.float32))
        for name, text in (("list", "in/a.npy\n"), ("k.txt", "1 2 1; 2 4 2\n"), ("p", "imfilter @k.txt")):
            self.write(name, b"\xef\xbb\xbf" + text.encode())
        self.impipe("-f", "p", "--files-from", "list", "-o", "out")
        self.impipe("imfilter [1 2 1; 2 4 2]", "in/a.npy", "-o", "wanted.npy")
        np.testing.assert_array_equal(self.pixels("out/in/a.npy"), self.pixels("wanted.npy"))

    def test_shards_share_the_files(self):
        names = [f"{i:02}.png" for i in range(12)]
        for name in names:
            self.picture("in/" + name, ramp(8, 8))
        found = []
        for shard in range(1, 4):
            self.impipe("imcomplement", "in", "-o", f"out{shard}", "--shard", f"{shard}/3")
            found += self.tree(f"out{shard}")
        self.assertEqual(sorted(found), names)

    def test_stdin_to_stdout(self):
        path = self.picture("a.png")
        with open(path, "rb") as file:
            out = self.impipe("imcomplement", "-", "-o", "-", stdin=file.read(), binary=True).out
        self.write("b.png", out)
        np.testing.assert_array_equal(self.pixels("b.png"), 255 - self.pixels("a.png"))

    def test_second_inputs_pair_by_name(self):
        for i, name in enumerate(["x.png", "sub/y.png"]):
            self.picture("in/" + name, ramp(seed=i) // 2)
            self.picture("other/" + name.replace(".png", ".tif"), ramp(seed=i + 5) // 2)
        self.impipe("imlincomb 1 1 :b", "in", "-r", "--with", "b=other", "-o", "out")
        for name in ["x.png", "sub/y.png"]:
            partner = self.pixels("other/" + name.replace(".png", ".tif"))
            np.testing.assert_array_equal(self.pixels("out/" + name),
                                          self.pixels("in/" + name) + partner)

    def test_a_file_without_its_partner_fails_alone(self):
        for name in ["x.png", "y.png", "z.png"]:
            self.picture("in/" + name)
        self.picture("other/x.png")
        self.picture("other/z.png", ramp(7, 7))  # another size
        result = self.impipe("imlincomb 1 1 :b", "in", "--with", "b=other", "-o", "out", code=1)
        self.assertEqual(self.tree("out"), ["x.png"])
        self.assertIn("in/y.png", result.err)
        self.assertIn("in/z.png", result.err)


class Outputs(ProgramTest):
    def test_templates(self):
        self.picture("in/a.png")
        self.picture("in/sub/b.png")
        rows = {
            "t1/{stem}_edge.png": ["a_edge.png", "b_edge.png"],
            "t2/{dir}/{name}": ["in/a.png", "in/sub/b.png"],
            "t3/{index:05}.{ext}": ["00000.png", "00001.png"],
            "t4/{{{stem}}}.tif": ["{a}.tif", "{b}.tif"],
        }
        for template, expected in rows.items():
            with self.subTest(template):
                self.impipe("imcomplement", "in", "-r", "-o", template)
                folder = template.partition("/")[0]
                if folder == "t3":  # counted from 0 or 1, as `impipe --help` says
                    self.assertEqual([len(n) for n in self.tree(folder)], [9, 9])
                    self.assertRegex(self.tree(folder)[0], r"^0000[01]\.png$")
                else:
                    self.assertEqual(self.tree(folder), expected)

    def test_an_unknown_field_is_a_usage_error(self):
        self.picture("in/a.png")
        self.assertIn("{step}", self.impipe("imcomplement", "in", "-o", "{step}.png", code=2).err)

    def test_one_name_for_several_inputs(self):
        self.picture("in/a.png")
        self.picture("in/b.png")
        self.impipe("imcomplement", "in", "-o", "out.png", code=2)
        self.assertEqual(self.tree(), ["in/a.png", "in/b.png"])

    def test_two_inputs_with_one_output_end_before_any_work(self):
        self.picture("in/a.png")
        self.picture("in/a.jpg")
        result = self.impipe("imcomplement", "in", "-o", "out/{stem}.png", code=2)
        self.assertRegex(result.err, r"in/a\.(png|jpg)'.*in/a\.(png|jpg)'")
        self.assertEqual(self.tree(), ["in/a.jpg", "in/a.png"])

    def test_inputs_are_only_touched_in_place(self):
        path = self.picture("in/a.png")
        before = self.pixels("in/a.png")
        self.impipe("imcomplement", "in", "-o", "in", code=2)
        np.testing.assert_array_equal(self.pixels("in/a.png"), before)
        os.chmod(path, 0o640)
        self.impipe("imcomplement", "in", "--in-place")
        np.testing.assert_array_equal(self.pixels("in/a.png"), 255 - before)
        self.assertEqual(self.tree(), ["in/a.png"])

    def test_new_files_have_the_mode_that_umask_gives(self):
        self.picture("in/a.png")
        self.impipe("imcomplement", "in", "-o", "out", umask=0o027)
        self.assertEqual(os.stat(self.path("out/a.png")).st_mode & 0o777, 0o640)

    def test_dry_run_writes_nothing(self):
        self.picture("in/a.png")
        self.impipe("imcomplement", "in", "-o", "out", "-n")
        self.assertEqual(self.tree(), ["in/a.png"])
        self.assertEqual(os.listdir(self.folder), ["in"])

    def test_update_skips_what_is_newer(self):
        self.picture("in/a.png")
        self.picture("in/b.png")
        old = time.time() - 100
        os.utime(self.path("in/a.png"), (old - 50, old - 50))
        self.impipe("imcomplement", "in", "-o", "out")
        for name in ["a.png", "b.png"]:
            os.utime(self.path("out", name), (old, old))  # that of in/a.png is newer
        self.impipe("imcomplement", "in", "-o", "out", "-u")
        self.assertEqual(int(os.stat(self.path("out/a.png")).st_mtime), int(old))
        self.assertGreater(os.stat(self.path("out/b.png")).st_mtime, old + 50)

    def keeps_attributes(self):
        self.write("probe", "")
        try:
            os.setxattr(self.path("probe"), "user.impipe.probe", b"1")
        except OSError:
            return False
        return True

    def old_inputs(self):
        self.picture("in/a.png", colour())
        self.write("k.txt", "1 2 1\n")
        for name in ["in/a.png", "k.txt"]:
            os.utime(self.path(name), (1e9, 1e9))

    def updated(self, *command):
        """Whether -u makes out/a.png and mid/a.png, which are newer than their inputs, again."""
        before = {}
        for name in ["out/a.png", "mid/a.png"]:
            if os.path.exists(self.path(name)):
                os.utime(self.path(name), (2e9, 2e9))
                before[name] = os.stat(self.path(name)).st_mtime
        self.impipe(*command, "in", "-o", "out", "-u")
        return {name for name in before if os.stat(self.path(name)).st_mtime != before[name]}

    def test_update_looks_at_what_made_a_result(self):
        self.old_inputs()
        again = {"out/a.png"} if self.keeps_attributes() else set()
        self.impipe("imcomplement", "in", "-o", "out")
        self.assertEqual(self.updated("imcomplement"), set())
        self.assertEqual(self.updated("  imcomplement  "), set())
        for command in (["imcomplement | fliplr"], ["imlincomb 0.5"], ["imlincomb 0.25"],
                        ["imlincomb 0.25", "-d", "uint16"], ["imlincomb 0.25", "--strip"],
                        ["imcomplement"], ["imcomplement", "--pages", "1"],
                        ["conv2 @k.txt"]):
            with self.subTest(command):
                self.assertEqual(self.updated(*command), again)
                self.assertEqual(self.updated(*command), set())
                self.assertEqual(self.updated(*command, "--device", "cpu", "-j", 1), set())
        self.assertEqual(self.updated("fliplr | save 'mid/{stem}.png'"), again)
        self.assertEqual(self.updated("fliplr | save 'mid/{stem}.png'"), set())
        self.assertEqual(self.updated("flipud | save 'mid/{stem}.png'"),
                         again and {"out/a.png", "mid/a.png"})

    def test_update_looks_at_the_files_that_a_pipeline_reads(self):
        self.old_inputs()
        self.impipe("conv2 @k.txt", "in", "-o", "out")
        old = time.time() - 100
        os.utime(self.path("k.txt"), (old + 50, old + 50))
        os.utime(self.path("out/a.png"), (old, old))
        self.impipe("conv2 @k.txt", "in", "-o", "out", "-u")
        self.assertGreater(os.stat(self.path("out/a.png")).st_mtime, old + 50)

    def test_update_knows_what_the_sources_were(self):
        """An input that is replaced while its result is made is older than the result."""
        self.old_inputs()
        self.picture("b.png")
        os.utime(self.path("b.png"), (1e9, 1e9))
        command = ["conv2 @k.txt | imlincomb 0.5 0.5 :b", "--with", "b=b.png"]
        self.impipe(*command, "in", "-o", "out")
        again = {"out/a.png"} if self.keeps_attributes() else set()
        for name in ["in/a.png", "b.png", "k.txt"]:
            with self.subTest(name):
                self.assertEqual(self.updated(*command), set())
                os.utime(self.path(name), (1e9, 1e9 + 1e-3))  # another one, as old as the first
                self.assertEqual(self.updated(*command), again)
        with self.subTest("a longer one of the same time"):
            with open(self.path("in/a.png"), "ab") as out:
                out.write(b"\0")
            os.utime(self.path("in/a.png"), (1e9, 1e9 + 1e-3))
            self.assertEqual(self.updated(*command), again)
            self.assertEqual(self.updated(*command), set())

    def test_rows_of_what_is_skipped_are_said_to_be_missing(self):
        self.picture("in/a.png")
        self.picture("in/b.png")
        for command, what in ((["mean2 | imcomplement"], "mean2"), (["imcomplement", "--hash"], "hash")):
            run = self.impipe(*command, "in/a.png", "-o", "out/", "--no-header")
            self.assertEqual(len(run.lines()), 1)
            run = self.impipe(*command, "in", "-o", "out/", "-u")
            self.assertEqual([line.split("\t")[0] for line in run.lines()], ["file", "in/b.png"])
            self.assertEqual(run.err, "impipe: -u skipped a result, and its row is not printed\n")
            run = self.impipe(*command, "in", "-o", "out/", "--no-clobber")
            self.assertEqual((run.out, run.err), ("", "impipe: --no-clobber skipped 2 results, and "
                                                      "their rows are not printed\n"))
            self.impipe("fliplr", "in", "-o", "out/")
        self.assertEqual(self.impipe("imcomplement", "in", "-o", "out", "--no-clobber").err, "")
        self.impipe("mean2 | stack max", "in", "-o", "out.png")
        run = self.impipe("mean2 | stack max", "in", "-o", "out.png", "-u")
        self.assertEqual(run.err, "impipe: -u skipped a result, and its row is not printed\n")

    def test_a_file_that_nobody_marked_goes_by_time(self):
        self.picture("in/a.png")
        self.picture("out/a.png", ramp(3, 3))
        os.utime(self.path("in/a.png"), (1e9, 1e9))
        self.impipe("imcomplement", "in", "-o", "out", "-u")
        self.assertEqual(self.pixels("out/a.png").shape, (3, 3))

    def test_a_file_that_is_replaced_has_no_mark_of_what_made_it(self):
        self.picture("in/a.png")
        self.impipe("imcomplement", "in", "-o", "out")
        self.impipe("fliplr", "out", "--in-place")
        self.assertNotIn("user.impipe.made", os.listxattr(self.path("out/a.png")))

    def test_no_clobber_keeps_what_is_there(self):
        self.picture("in/a.png")
        self.picture("in/b.png")
        self.picture("out/a.png", ramp(3, 3))
        result = self.impipe("imcomplement", "in", "-o", "out", "--no-clobber", "-v")
        self.assertEqual(self.pixels("out/a.png").shape, (3, 3))
        self.assertEqual(self.tree("out"), ["a.png", "b.png"])
        self.assertIn("impipe: out/a.png is there already: skipped\n", result.err)

    def test_stale_temporaries_are_swept_and_others_are_not(self):
        self.picture("in/a.png")
        self.write("out/.keep", "mine")
        self.impipe("imcomplement", "in", "-o", "out")
        self.assertEqual(self.tree("out"), [".keep", "a.png"])

    def test_save_writes_an_intermediate(self):
        self.picture("in/a.png")
        self.impipe("imcomplement | save 'mid/{stem}.png' | fliplr", "in", "-o", "out")
        np.testing.assert_array_equal(self.pixels("mid/a.png"), 255 - self.pixels("in/a.png"))
        np.testing.assert_array_equal(self.pixels("out/a.png"), self.pixels("mid/a.png")[:, ::-1])

    def test_jobs_do_not_change_results(self):
        for i in range(6):
            self.picture(f"in/{i}.png", colour(90 + i, 70, i))
        for jobs in [1, 2, 5]:
            self.impipe("imadjust | conv2 k7 | edge prewitt", "in", "-o", f"out{jobs}", "-j", jobs)
        for name in self.tree("out1"):
            with open(self.path("out1", name), "rb") as file:
                expected = file.read()
            for jobs in [2, 5]:
                with open(self.path(f"out{jobs}", name), "rb") as file:
                    self.assertEqual(file.read(), expected, name)


class Measurements(ProgramTest):
    def test_rows_and_header(self):
        self.picture("in/a.png", np.array([[10, 20], [30, 40]], np.uint8))
        self.picture("in/b.png", np.array([[7, 7], [7, 7]], np.uint8))
        lines = self.impipe("mean2 | std2", "in").lines()
        self.assertEqual(len(lines), 3)
        self.assertEqual(lines[0].split("\t")[1:], ["mean2", "std2"])
        self.assertEqual([line.split("\t")[0] for line in lines[1:]], ["in/a.png", "in/b.png"])
        mean, deviation = map(float, lines[1].split("\t")[1:])
        self.assertEqual(mean, 25)
        self.assertAlmostEqual(deviation, np.std([10, 20, 30, 40], ddof=1), places=12)
        self.assertEqual(lines[2].split("\t")[1:], ["7", "0"])
        self.assertEqual(self.tree(), ["in/a.png", "in/b.png"])
        self.assertEqual(self.impipe("mean2 | std2", "in", "--no-header").lines(), lines[1:])

    def test_the_last_one_as_an_array(self):
        self.picture("in/a.png", ramp())
        self.impipe("mean2 | imhist", "in", "-o", "{stem}.npy")
        expected = np.bincount(ramp().ravel(), minlength=256)
        np.testing.assert_array_equal(np.load(self.path("a.npy")).ravel(), expected)

    def test_sources_need_no_input(self):
        self.impipe("checkerboard", "-o", "board.png")
        self.assertEqual(len(np.unique(self.pixels("board.png"))) > 1, True)


if __name__ == "__main__":
    unittest.main()
