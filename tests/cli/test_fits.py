"""FITS is read as it was written, card by card, here."""
import os
import resource
import shutil
import subprocess
import unittest

import numpy as np
from program import ProgramTest, colour, ramp

from fits_writer import card, hdu


class Fits(ProgramTest):
    def setUp(self):
        super().setUp()
        said = self.impipe("formats").out
        self.assertIn("FITS", said)

    def read(self, data, err="", name="a.fits", **options):
        self.write(name, data)
        run = self.impipe("rot90 0", name, "-o", "out.npy", **options)
        self.assertEqual(run.err, err)
        return self.pixels("out.npy")

    def test_classes(self):
        rng = np.random.default_rng(1)
        noise = rng.integers(-30000, 30000, (37, 53))
        for kind in ("uint8", "uint16", "int16", "int32", "float32", "float64"):
            with self.subTest(kind):
                values = (noise / 7 if "float" in kind else noise).astype(kind)
                got = self.read(hdu(values))
                if kind in ("uint8", "uint16"):
                    np.testing.assert_array_equal(got, values)
                    self.assertEqual(str(got.dtype), kind)
                else:
                    np.testing.assert_array_equal(got, values.astype(np.float32).astype(kind))
                    self.assertEqual(str(got.dtype), kind)
        values = rng.random((20, 30)).astype(np.float32)
        values[3, 4:8] = np.nan, np.inf, -np.inf, 1e-40
        np.testing.assert_array_equal(self.read(hdu(values)), values)

    def test_what_white_is(self):
        values = np.linspace(0, 1, 20 * 30).reshape(20, 30).astype(np.float32)
        self.write("a.fits", hdu(values))
        self.impipe("rot90 0", "a.fits", "-o", "a.png", "-d", "uint8")
        np.testing.assert_array_equal(self.pixels("a.png"), np.floor(values * 255 + 0.5))
        self.write("a.fits", hdu((values * 900 - 400).astype(np.int16)))
        self.assertIn("has no white", self.impipe("rot90 0", "a.fits", "-o", "a.png", code=1).err)
        self.impipe("mat2gray", "a.fits", "-o", "a.png", "-d", "uint8")
        self.assertEqual((self.pixels("a.png").min(), self.pixels("a.png").max()), (0, 255))

    def test_numbers_scaled_by_their_header(self):
        values = np.arange(20 * 30, dtype=np.int16).reshape(20, 30)
        data = hdu(values, extra=[card("BSCALE", 0.5), card("BZERO", -3.0)])
        np.testing.assert_array_equal(self.read(data), values * 0.5 - 3)
        big = np.full((4, 5), 1 << 24, np.int32)
        np.testing.assert_array_equal(self.read(hdu(big)), big)

    def test_blanks_of_whole_numbers_are_no_numbers(self):
        for kind, offset in (("uint8", 0), ("uint16", 1 << 15), ("int16", 0), ("uint32", 1 << 31),
                             ("int32", 0)):
            for blank in (0, 7, 90):
                with self.subTest(kind, blank=blank):
                    values = np.arange(20 * 30).reshape(20, 30).astype(kind) % 100
                    self.write("a.fits", hdu(values, extra=[card("BLANK", blank - offset)]))
                    self.impipe("rot90 0", "a.fits", "-o", "out.npy")
                    # What astropy.io.fits gives with uint=False, rows from the top.
                    expected = np.where(values == blank, np.nan, values).astype(np.float32)
                    np.testing.assert_array_equal(self.pixels("out.npy"), expected)
        values = np.full((20, 30), 7, np.uint16)
        self.write("a.fits", hdu(values, extra=[card("BLANK", -32768)]))
        run = self.impipe("rot90 0", "a.fits", "-o", "a.png", code=1)
        self.assertIn("has no white", run.err)
        self.impipe("rot90 0", "a.fits", "-o", "a.png", "-d", "uint16")
        np.testing.assert_array_equal(self.pixels("a.png"), values)

    def test_blanks_of_floats_are_none(self):
        values = np.arange(20 * 30, dtype=np.float32).reshape(20, 30)
        np.testing.assert_array_equal(self.read(hdu(values, extra=[card("BLANK", 7)])), values)

    def test_colours_planes_and_extensions(self):
        planes = colour(25, 41).transpose(2, 0, 1)
        np.testing.assert_array_equal(self.read(hdu(planes)), colour(25, 41))
        cube = np.stack([ramp(25, 41, i) for i in range(5)])
        empty = "".join([card("SIMPLE", True), card("BITPIX", 8), card("NAXIS", 0),
                         card("EXTEND", True), "END".ljust(80)]).encode().ljust(2880)
        self.write("a.fits", empty + hdu(cube, True) + hdu(planes, True))
        self.impipe("rot90 0", "a.fits", "-o", "out/{page}.png")
        self.assertEqual(self.tree("out"), [f"{i}.png" for i in range(1, 7)])
        for i in range(5):
            np.testing.assert_array_equal(self.pixels(f"out/{i + 1}.png"), cube[i])
        np.testing.assert_array_equal(self.pixels("out/6.png"), colour(25, 41))
        self.impipe("rot90 0", "a.fits", "-o", "one.png", "--pages", "2")
        np.testing.assert_array_equal(self.pixels("one.png"), cube[1])

    def test_axes_that_cards_do_not_name_are_guessed(self):
        cube = np.stack([ramp(25, 41, i) for i in range(5)])
        for extra, options, expected in (([], [], ", axes ZYX (guessed), 5 pages (z 5)\n"),
                                         ([card("CTYPE3", "FREQ")], [], ", axes ZYX (guessed), 5 pages (z 5)\n"),
                                         ([card("CTYPE3", "TIME")], [], "16-bit, 5 pages (t 5)\n"),
                                         ([], ["--axes", "CYX"], "16-bit, 5 pages (c 5)\n")):
            with self.subTest(extra=extra, options=options):
                self.write("a.fits", hdu(cube.astype(np.uint16), extra=extra))
                self.assertIn(expected, self.impipe("info", "a.fits", *options).out)

    def test_a_cube_is_opened_once(self):
        def seconds(count):
            self.write("cube.fits", hdu(np.zeros((count, 256, 256), np.uint8)))
            used = []
            for _ in range(2):
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                self.impipe("mean2", "cube.fits", "-j", 1)
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                used.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
            return min(used)
        none, few, many = seconds(2), seconds(50), seconds(200)
        # 4 times as long; if it was copied for each plane, 16 times.
        self.assertLess(many - none, 9 * max(few - none, 0.03), (none, few, many))

    def test_what_the_header_tells_is_named(self):
        data = hdu(ramp(), extra=[card("OBJECT", "M 31"), card("EXPTIME", 30.5)])
        self.read(data, "impipe: a.fits: the result is without 2 cards of the FITS header\n")

    def test_tiles_that_are_compressed(self):
        if shutil.which("fpack") is None:
            self.skipTest("there is no fpack")
        values = ramp(100, 90).astype(np.int16)
        self.write("a.fits", hdu(values))
        subprocess.run(["fpack", "-r", self.path("a.fits")], check=True, capture_output=True)
        os.rename(self.path("a.fits.fz"), self.path("b.fits"))
        self.assertEqual(self.impipe("mean2", "b.fits", code=1).err,
                         "impipe: b.fits: decode: FITS with compressed tiles is not read; funpack "
                         "makes it plain\n")

    def test_damaged_files(self):
        data = hdu(ramp(200, 300))
        for cut in (2880, 2880 + 30000, 1000):
            self.write("a.fits", data[:cut])
            said = self.impipe("mean2", "a.fits", code=1).err
            self.assertRegex(said, "^impipe: a.fits: decode: (truncated|damaged) FITS: ")
        for bad in (b"NAXIS1  =                   -5", b"NAXIS1  =             99999999",
                    b"BITPIX  =                   13"):
            broken = data.replace({b"N": b"NAXIS1  =                  300",
                                   b"B": b"BITPIX  =                    8"}[bad[:1]], bad)
            self.assertNotEqual(broken, data)
            self.write("a.fits", broken)
            self.impipe("mean2", "a.fits", code=1)

    def test_in_a_folder(self):
        self.write("in/a.fits", hdu(ramp()))
        self.write("in/b.fit", hdu(ramp().astype(np.uint16)))
        self.impipe("imcomplement", "in", "-o", "out")
        self.assertEqual(self.tree("out"), ["a.fits", "b.fit"])
        np.testing.assert_array_equal(self.image("out/b.fit"), 65535 - ramp().astype(int))

    # Written.

    def header(self, name):
        """The cards of a file, and where its numbers begin."""
        with open(self.path(name), "rb") as file:
            data = file.read()
        cards = [data[at:at + 80].decode("latin-1") for at in range(0, len(data), 80)]
        end = cards.index("END".ljust(80))
        self.assertEqual(len(data) % 2880, 0)
        values = {}
        for one in cards[:end]:
            if one[8:10] == "= ":
                values[one[:8].strip()] = one[10:].split("/")[0].strip()
        return cards[:end], values, data[-(-(end + 1) * 80 // 2880) * 2880:]

    def image(self, name):
        """What the standard says the numbers mean, the last row of the file first."""
        _, said, data = self.header(name)
        kind = {"8": ">u1", "16": ">i2", "32": ">i4", "64": ">i8", "-32": ">f4", "-64": ">f8"}
        shape = [int(said[f"NAXIS{i}"]) for i in range(int(said["NAXIS"]), 0, -1)]
        values = np.frombuffer(data, kind[said["BITPIX"]], int(np.prod(shape))).reshape(shape)
        if "BZERO" in said:
            values = values.astype(object) + int(said["BZERO"])
        return values[..., ::-1, :]

    def test_classes_are_written_as_they_were_read(self):
        rng = np.random.default_rng(2)
        for kind in ("uint8", "uint16", "int16", "int32", "uint32", "int64", "float32", "float64"):
            with self.subTest(kind):
                values = rng.integers(0, 200, (37, 53)).astype(kind)
                if "float" in kind:
                    values[3, 4:7] = -0.125, np.nan, np.inf
                self.write("a.fits", hdu(values))
                self.impipe("rot90 0", "a.fits", "-o", "b.fits")
                got = self.image("b.fits").astype(float)
                np.testing.assert_array_equal(got, values)
                for key in ("BITPIX", "BZERO"):
                    self.assertEqual(self.header("b.fits")[1].get(key),
                                     self.header("a.fits")[1].get(key))
        colours = colour()
        self.picture("c.png", colours)
        self.impipe("rot90 0", "c.png", "-o", "c.fits")
        np.testing.assert_array_equal(self.image("c.fits"), np.moveaxis(colours, 2, 0))

    def test_arrays_of_four_and_five_axes_keep_them(self):
        values = np.arange(2 * 3 * 4 * 5 * 6).astype(np.int16).reshape(2, 3, 4, 5, 6)
        for text, said in (([card("CTYPE3", "FREQ"), card("CTYPE4", "STOKES"), card("CTYPE5", "TIME")],
                            "(t 2, c 3, z 4)"), ([], "(q 2, p 3, z 4)")):
            self.write("a.fits", hdu(values, extra=text))
            self.assertIn(said, self.impipe("info", "a.fits").out)
            self.impipe("rot90 0", "a.fits", "-o", "out.npy")
            np.testing.assert_array_equal(np.load(self.path("out.npy")), values)
            self.impipe("rot90 0", "a.fits", "-o", "out.fits")
            self.assertIn(said, self.impipe("info", "out.fits").out)
            self.impipe("rot90 0", "out.fits", "-o", "again.npy")
            np.testing.assert_array_equal(np.load(self.path("again.npy")), values)
        self.assertIn("(t 2, c 3, z 4)", self.impipe("info", "a.fits", "--axes", "TCZYX").out)
        self.impipe("project max axis=z", "a.fits", "--axes", "TCZYX", "-o", "out.npy")
        np.testing.assert_array_equal(np.load(self.path("out.npy")), values.max(axis=2))
        run = self.impipe("info", "a.fits", "--axes", "TCYX", code=1)
        self.assertIn("FITS of 5 axes, the last of which are YX, and --axes TCYX names other ones", run.err)

    def test_pages_become_a_cube(self):
        for pages in (2, 3, 5):
            with self.subTest(pages):
                volume = np.stack([ramp(25, 41, i) for i in range(pages)]).astype(np.uint16) * 257
                np.save(self.path("a.npy"), volume)
                self.impipe("rot90 0", "a.npy", "--axes", "ZYX", "-o", "a.fits")
                np.testing.assert_array_equal(self.image("a.fits").reshape(volume.shape), volume)
                self.impipe("rot90 0", "a.fits", "-o", "b.npy")
                np.testing.assert_array_equal(np.load(self.path("b.npy")), volume)
        self.write("a.fits", hdu(volume, extra=[card("OBJECT", "M 31")]))
        self.impipe("project max | save max.fits", "a.fits", "-o", "{stem}-max.fits")
        self.impipe("rot90 0", "a.fits", "-o", "b.fits")
        self.assertEqual(self.header("b.fits")[1]["OBJECT"].strip("' "), "M 31")
        self.assertEqual([self.header("b.fits")[1][f"NAXIS{i}"] for i in (1, 2, 3)],
                         ["41", "25", "5"])
        np.save(self.path("a.npy"), np.stack([colour(), colour()]))
        run = self.impipe("rot90 0", "a.npy", "--axes", "ZYXC", "-o", "a.fits", code=1)
        self.assertIn("a FITS of several pages in colour is not written; -o '{stem}_{page}.fits' "
                      "names each", run.err)

    def test_cards_are_carried(self):
        extra = [card("OBJECT", "M 31"), card("EXPTIME", 30.5), card("COMMENT", text="by night"),
                 card("DATAMAX", 255), card("CRPIX1", 7.5), card("CRPIX2", 3.25)]
        self.write("a.fits", hdu(ramp(), extra=extra))
        self.impipe("rot90 0", "a.fits", "-o", "b.fits")
        cards, said, _ = self.header("b.fits")
        for one in extra[:3] + extra[4:]:
            self.assertIn(one, cards)
        run = self.impipe("imadd 1", "a.fits", "-o", "b.fits", "--strip")
        self.assertNotIn("OBJECT", self.header("b.fits")[1])
        self.assertEqual(run.err, "")

    def test_places_on_the_sky_follow_the_pixels(self):
        # A pixel's coordinates by the standard: CD (p - CRPIX), p from 1, rows from the lowest.
        height, width = 40, 60
        cd = np.array([[-3e-4, 1e-4], [1.5e-4, 2e-4]])
        extra = [card("CTYPE1", "LINEAR"), card("CTYPE2", "LINEAR"), card("CRPIX1", 33.5),
                 card("CRPIX2", 20.25), *(card(f"CD{i + 1}_{j + 1}", cd[i, j])
                                          for i in (0, 1) for j in (0, 1))]
        y, x = np.mgrid[:height, :width]
        self.write("a.fits", hdu((1000 * y + x).astype(np.float32), extra=extra))

        def place(said, row, column, rows):
            number = {key: float(said[key]) for key in said if key.startswith(("CRPIX", "CD"))}
            p = np.array([column + 1 - number["CRPIX1"], rows - row - number["CRPIX2"]])
            return np.array([[number[f"CD{i}_{j}"] for j in (1, 2)] for i in (1, 2)]) @ p
        before = self.header("a.fits")[1]
        for pipeline in ("imcrop 10 5 40 30", "fliplr", "flipud", "rot90", "transpose",
                         "padarray 3,4 replicate", "imcrop 10 5 40 30 | rot90 | fliplr"):
            with self.subTest(pipeline):
                self.impipe(pipeline, "a.fits", "-o", "b.fits")
                said, values = self.header("b.fits")[1], self.image("b.fits")
                for row, column in ((8, 9), (11, 20), (20, 12)):
                    source = int(values[row, column])
                    np.testing.assert_allclose(
                        place(said, row, column, values.shape[0]),
                        place(before, source // 1000, source % 1000, height), atol=1e-12)
        run = self.impipe("imwarp [1 0 0;0 1 0;0.001 0 1]", "a.fits", "-o", "b.fits")
        self.assertIn("without world coordinates (WCS)", run.err)
        self.assertNotIn("CRPIX1", self.header("b.fits")[1])


if __name__ == "__main__":
    unittest.main()
