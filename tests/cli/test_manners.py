"""How the program behaves in a shell: what it refuses before any work, and the lines it leaves."""
import io
import os
import pty
import unittest

import numpy as np

from program import PROGRAM, ProgramTest, ramp


class Outputs(ProgramTest):
    def test_extensions_that_nothing_writes(self):
        self.picture("a.png")
        self.picture("in/b.png")
        for name, extension in (("x.sun", ".sun"), ("out/{stem}.dng", ".dng"),
                                ("{stem}.pngg", ".pngg"), ("x.GIF", ".GIF"), ("x.svg", ".svg"),
                                ("x.xyz", ".xyz"), ("new/x.jpgg", ".jpgg")):
            with self.subTest(name):
                run = self.impipe("imcomplement", "a.png", "-o", name, code=2)
                self.assertEqual(
                    run.err, f"impipe: -o '{name}': nothing here writes {extension}; there are png, "
                    "jpg, tif, bmp, webp, exr, pgm, pfm, npy, jxl, avif, jp2, qoi, tga, hdr, heic, "
                    "y4m, raw, dpx, fits, zarr, pam, and --format EXT for files of any name" +
                    ("" if "{" in name else f"; a folder is '{name}/'") + "\n")
                self.assertEqual(self.tree(), ["a.png", "in/b.png"])
        for name in ("x.csv", "{stem}.tsv", "x.json", "x.geojson"):
            self.assertIn(f"-o '{name}' names a table of measurements, and the result is an image",
                          self.impipe("max | imcomplement", "a.png", "-o", name, code=2).err)
        self.assertEqual(self.tree(), ["a.png", "in/b.png"])
        self.assertIn("nothing here writes .xyz",
                      self.impipe("phantom 16", "-o", "x.xyz", code=2).err)
        self.assertIn("ends in mean2, a measurement",
                      self.impipe("mean2", "a.png", "-o", "x.txt", code=2).err)
        os.mkdir(self.path("there.heic"))
        for name, more, written in (("results.v2", [], "results.v2/a.png"),
                                    ("renders.old/", [], "renders.old/a.png"),
                                    ("2026.11", [], "2026.11/a.png"),
                                    ("both.xyz", ["in"], "both.xyz/b.png"),
                                    ("there.heic", [], "there.heic/a.png"),
                                    ("{stem}.dat", ["--format", "png"], "a.dat"),
                                    ("b.{ext}", [], "b.png"),
                                    ("x.xyz", ["--format", "png"], "x.xyz"),
                                    ("new/k.txt", ["--format", "png"], "new/k.txt"),
                                    ("folder.xyz/", ["--format", "png"], "folder.xyz/a.png"),
                                    ("there.heic", ["--format", "bmp"], "there.heic/a.bmp"),
                                    ("2026.12", ["--format", "png"], "2026.12/a.png"),
                                    ("all.xyz", ["in", "--format", "png"], "all.xyz/b.png")):
            with self.subTest(name):
                self.impipe("imcomplement", "a.png", "-o", name, *more)
                self.assertIn(written, self.tree())

    def test_each_second_input_has_its_own_option(self):
        for name in ("a.png", "b.png", "c.png"):
            self.picture(name)
        run = self.impipe("imlincomb 1 1 1 :b :c", "a.png", "--with", "b=b.png", "c=c.png", "-o",
                          "out/", code=2)
        self.assertEqual(run.err, "impipe: 'c=c.png' is no file; each second input has a --with of "
                                  "its own: --with c=c.png\n")
        self.picture("c=c.png")
        self.impipe("imlincomb 1 1 :b", "a.png", "--with", "b=b.png", "c=c.png", "-o", "out/")
        self.assertEqual(self.tree("out"), ["a.png", "c=c.png"])

    def test_several_pictures_for_one_stdout(self):
        first, second = ramp(seed=1), ramp(20, 30, seed=2)
        self.picture("a.png", first)
        self.picture("b.png", second)
        run = self.impipe("imcomplement", "a.png", "b.png", "-o", "-", code=2)
        self.assertEqual(run.err, "impipe: -o -: 2 pictures, and stdout is one PNG; --format y4m, "
                                  "raw, npy and ppm hold several, -o FOLDER takes each\n")
        self.assertEqual(run.out, "")
        stream = io.BytesIO(self.impipe("imcomplement", "a.png", "b.png", "--format", "npy", "-o",
                                        "-", binary=True).out)
        for pixels in (first, second):
            np.testing.assert_array_equal(np.load(stream), 255 - pixels)
        self.impipe("imcomplement", "a.png", "-o", "-", binary=True)

    def test_a_terminal_shows_no_pictures(self):
        self.picture("a.png")
        terminal, side = pty.openpty()
        run = self.start("imcomplement", "a.png", "-o", "-", stdout=side)
        _, err = run.communicate()
        os.close(side)
        os.close(terminal)
        self.assertEqual((run.returncode, err.decode()),
                         (2, "impipe: -o -: stdout is a terminal, which shows no pictures; give "
                             "-o FILE or a pipe\n"))


class Lines(ProgramTest):
    def test_a_folder_ends_in_one_line(self):
        for i in range(3):
            self.picture(f"in/{i}.png")
        for more in ([], ["--progress", "lines"]):
            run = self.impipe("imcomplement", "in", "-o", "out", *more)
            self.assertRegex(run.end, r"^impipe: 3 files in [0-9]+.[0-9] s -> out\n$")
        self.assertRegex(self.impipe("imcomplement", "in", "--in-place").end,
                         r"^impipe: 3 files in [0-9]+.[0-9] s, in place\n$")
        for arguments in (["imcomplement", "in", "-o", "out", "-q"], ["mean2", "in"],
                          ["imcomplement", "in/0.png", "-o", "out"]):
            self.assertEqual(self.impipe(*arguments).end, "")
        self.write("in/3.png", b"broken")
        run = self.impipe("imcomplement", "in", "-o", "out", code=1)
        self.assertIn("impipe: 3 files in ", run.end)
        self.assertIn("1 of 4 files failed", run.err)

    def test_pictures_left_unread_are_counted_by_kind(self):
        self.picture("in/a.png")
        for name in ("b.x3f", "c.X3F", "d.psd", "e.txt"):
            self.write("in/" + name, b"whatever it is")
        run = self.impipe("mean2", "in")
        self.assertEqual(run.err, "impipe: 3 pictures were left unread: 1 .psd, 2 .x3f\n")
        self.write("one/d.psd", b"8BPS")
        self.picture("one/a.png")
        self.assertEqual(self.impipe("mean2", "one").err,
                         "impipe: 1 picture was left unread: 1 .psd\n")

    def test_help_and_manual_know_templates_and_frames(self):
        for text in (self.impipe("run", "--help").out, self.impipe("man").out):
            for word in ("{stem}", "{page:03}", "{frame:04}", "%04d"):
                self.assertIn(word, text)


class Counts(ProgramTest):
    def test_labels_and_distances_as_integers_where_they_fit(self):
        pixels = np.zeros((30, 40), np.uint8)
        pixels[2:5, 2:9] = pixels[10:20, 30:33] = 255
        self.picture("a.png", pixels)
        self.impipe("imbinarize 0.5 | bwlabel", "a.png", "-d", "uint16", "-o", "l.png")
        self.impipe("imbinarize 0.5 | bwlabel", "a.png", "-o", "l.npy")
        np.testing.assert_array_equal(self.pixels("l.png"), self.pixels("l.npy"))
        self.assertEqual(int(self.pixels("l.png").max()), 2)
        self.impipe("imbinarize 0.5 | bwdist", "a.png", "-d", "uint8", "-o", "d.png")
        self.impipe("imbinarize 0.5 | bwdist", "a.png", "-o", "d.npy")
        np.testing.assert_array_equal(self.pixels("d.png"),
                                      np.floor(self.pixels("d.npy") + 0.5).astype(np.uint8))
        self.picture("wide.png", np.pad(pixels, ((0, 0), (0, 400))))
        run = self.impipe("imbinarize 0.5 | bwdist", "wide.png", "-d", "uint8", "-o", "w.png",
                          code=1)
        self.assertRegex(run.err, "^impipe: wide.png: encode: [0-9]+ values of an image without "
                                  r"white \(distances, labels, other numbers\) do not fit uint8; "
                                  "add `mat2gray`, or write .npy, .tif or .pfm\n$")


if __name__ == "__main__":
    unittest.main()
