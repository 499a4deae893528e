"""Whole-slide images: Leica's SCN and Aperio's SVS as tifffile writes them, their pixels as they were given to it."""
import os
import subprocess
import unittest

import numpy as np
import tifffile
from PIL import Image

from program import PROGRAM, RUN_TIMEOUT, ProgramTest, colour, ramp

NM = 250  # of a pixel


def levels_of(image, count=3):
    """Smaller by picking pixels, so that each level is told from the others."""
    return [image[::2 ** k, ::2 ** k] for k in range(count)]


def scn_view(name, levels, first, x, y, width, height):
    dimensions = "".join(f'<dimension sizeX="{level.shape[1]}" sizeY="{level.shape[0]}" r="{k}" ifd="{first + k}"/>'
                         for k, level in enumerate(levels))
    return (f'<image name="{name}"><device model="SCN400" version="1"/>'
            f'<pixels sizeX="{levels[0].shape[1]}" sizeY="{levels[0].shape[0]}">{dimensions}</pixels>'
            f'<view sizeX="{width * NM}" sizeY="{height * NM}" offsetX="{x * NM}" offsetY="{y * NM}"/>'
            '<scanSettings><objectiveSettings><objective>20</objective></objectiveSettings><illuminationSettings>'
            '<numericalAperture>0.5</numericalAperture><illuminationSource>brightfield</illuminationSource>'
            '</illuminationSettings></scanSettings></image>')


def write_scn(path, macro, regions, size):
    """regions: (x, y, levels) within a slide of `size`, (width, height), of which `macro` shows all."""
    views, pages = [scn_view("macro", [macro], 0, 0, 0, *size)], [macro]
    for number, (x, y, levels) in enumerate(regions):
        height, width = levels[0].shape[:2]
        views.append(scn_view(f"i{number}", levels, len(pages), x, y, width, height))
        pages += levels
    text = ('<?xml version="1.0"?><scn xmlns="http://www.leica-microsystems.com/scn/2010/10/01"><collection name="c" '
            f'sizeX="{size[0] * NM}" sizeY="{size[1] * NM}"><barcode>MQ==</barcode>{"".join(views)}</collection></scn>')
    with tifffile.TiffWriter(path, bigtiff=True) as file:
        for number, page in enumerate(pages):
            file.write(page, tile=(32, 32), photometric="rgb", metadata=None, software=False,
                       resolution=(1e7 / NM, 1e7 / NM), resolutionunit="CENTIMETER",
                       description=text if number == 0 else None)


class Slides(ProgramTest):
    def setUp(self):
        super().setUp()
        self.image, self.macro = colour(256, 320), colour(60, 80, 7)
        self.levels = levels_of(self.image)
        write_scn(self.path("a.scn"), self.macro, [(64, 32, self.levels)], (640, 480))

    def read(self, name, *options):
        run = self.impipe("rot90 0", name, "-o", "out.npy", *options)
        return np.load(self.path("out.npy")), run.err

    def same(self, name, expected):
        np.testing.assert_array_equal(self.read(name)[0], expected)

    def test_levels_and_other_pictures(self):
        self.same("a.scn", self.image)
        for level, pixels in enumerate(self.levels):
            self.same(f"a.scn/{level}", pixels)
        self.same("a.scn/macro", self.macro)
        sizes = "320x256, 160x128, 80x64"
        self.assertEqual(self.impipe("info", "a.scn/1").out,
                         "a.scn/1: slide, 160x128, uint8 x3, white 255, 8-bit, leica, objective 20x, level 1 of "
                         f"{sizes}, further images macro, pixels of 0.5 x 0.5 µm\n")
        for name in ("3", "label", "-1", "1x"):
            run = self.impipe("rot90 0", f"a.scn/{name}", "-o", "out.npy", code=1)
            self.assertEqual(run.err, f"impipe: a.scn/{name}: decode: no '{name}' in the slide: it has levels 0 to 2 "
                                      f"({sizes}), and the images macro\n")

    def test_a_folder_of_slides(self):
        """No picture but the largest is read unless it is named: labels tell of patients."""
        os.makedirs(self.path("in"))
        os.rename(self.path("a.scn"), self.path("in", "a.scn"))
        self.picture("in/b.png", ramp())
        self.impipe("rgb2gray", "in", "-o", "out")
        self.assertEqual(self.tree("out"), ["a.png", "b.png"])
        self.impipe("rgb2gray", "in/a.scn/1", "in/a.scn/macro", "-o", "parts")
        self.assertEqual(self.tree("parts"), ["a.scn/1.png", "a.scn/macro.png"])

    def test_the_size_of_pixels(self):
        for part, size in (("a.scn", 0.25), ("a.scn/1", 0.5)):
            self.impipe("imadd 1", part, "-o", "out.ome.tif")
            with tifffile.TiffFile(self.path("out.ome.tif")) as file:
                pixels = tifffile.xml2dict(file.ome_metadata)["OME"]["Image"]["Pixels"]
            self.assertEqual([pixels[f"PhysicalSize{axis}{of}"] for axis in "XY" for of in ("", "Unit")],
                             [size, "µm"] * 2)

    def test_properties_are_named(self):
        self.assertRegex(self.read("a.scn")[1],
                         r"^impipe: a\.scn: the result is without [0-9]+ properties of the slide")

    def test_what_was_scanned_and_what_was_left_out(self):
        """Two pieces of tissue: the picture begins and ends with them, and what lies between them is white."""
        first, second = colour(64, 96, 1), colour(96, 64, 2)
        write_scn(self.path("two.scn"), self.macro, [(32, 64, [first]), (160, 128, [second])], (640, 480))
        expected = np.full((160, 192, 3), 255, np.uint8)
        expected[:64, :96], expected[64:, 128:] = first, second
        self.same("two.scn", expected)

    def test_in_bands(self):
        """Bands have the pixels of the whole; a level of 5/2 begins its blocks where the whole has them."""
        large = np.tile(colour(512, 512), (8, 4, 1))
        write_scn(self.path("l.scn"), self.macro, [(0, 0, [large, large[::5, ::5]])], (2048, 4200))
        for part in ("l.scn", "l.scn/1"):
            whole, bands = (self.impipe("imgaussfilt 2 | edge prewitt 0.1", part, "--hash", "--memory", memory, "-v")
                            for memory in ("2G", "20M"))
            self.assertEqual(whole.out, bands.out)
        self.assertLess(self.impipe("imgaussfilt 2", "l.scn", "-o", "out.tif", "--memory", "20M").peak_kib, 150_000)
        self.assertEqual(tifffile.imread(self.path("out.tif")).shape, large.shape)

    def test_openslide_says_the_same(self):
        part = ["a.scn", "64", "32", "1", "160", "128", "judge.png"]
        subprocess.run(["openslide-write-png", *part], cwd=self.folder, check=True, timeout=RUN_TIMEOUT)
        with Image.open(self.path("judge.png")) as judge:
            self.same("a.scn/1", np.asarray(judge)[..., :3])

    def test_aperio_by_name_and_as_a_tiff(self):
        """The picture is the TIFF's first; its levels and its label are OpenSlide's."""
        text = "Aperio Image Library v11.2.1\n320x256 [0,0 320x256] (32x32)%s|AppMag = 20|MPP = 0.4990"
        with tifffile.TiffWriter(self.path("a.svs")) as file:
            options = {"photometric": "rgb", "metadata": None, "software": False}
            for level, pixels in enumerate(self.levels):
                file.write(pixels, tile=(32, 32), description=text % (" -> " if level else ""), **options)
                if level == 0:
                    file.write(self.macro[::2], rowsperstrip=8, description=text % " thumbnail", **options)
            file.write(self.macro, rowsperstrip=8, subfiletype=1, description="Aperio\nlabel 80x60", **options)
        self.same("a.svs", self.image)
        self.assertIn("TIFF, 320x256", self.impipe("info", "a.svs").out)
        for part, pixels in (("1", self.levels[1]), ("2", self.levels[2]), ("label", self.macro)):
            self.same(f"a.svs/{part}", pixels)

    def test_what_is_not_read(self):
        self.write("a.ndpi", b"no slide" * 100)
        self.write("in/a.txt", b"no slide" * 100)
        for name in ("a.ndpi", "in/a.txt/0"):
            self.assertRegex(self.impipe("rot90 0", name, "-o", "out.npy", code=1).err,
                             rf"^impipe: {name}: decode: no slide that OpenSlide [0-9.]+ reads\n$")
        for name in ("b.ndpi", "no/b.scn/1"):
            self.assertEqual(self.impipe("rot90 0", name, "-o", "out.npy", code=1).err,
                             f"impipe: {name}: decode: no such file\n")

    def test_tiles_that_no_memory_holds(self):
        """OpenSlide ends the program where it can't allocate one tile; these would take 512 MiB."""
        with tifffile.TiffFile(self.path("a.scn"), mode="r+b") as file:
            for page in file.pages[1:]:  # not of the small image of all
                page.tags["TileLength"].overwrite(1 << 22)
        run = self.impipe("rot90 0", "a.scn", "-n", code=1)
        self.assertIn("a.scn: decode: damaged slide: tiles of 32x4194304 pixels", run.err)

    def test_damaged(self):
        with open(self.path("a.scn"), "rb") as file:
            data = bytearray(file.read())
        rng = np.random.default_rng(1)
        for number in range(40):
            bad = bytearray(data[:rng.integers(100, len(data))] if number % 3 == 0 else data)
            for at in rng.integers(0, 4000 if number % 2 else len(bad), 20):
                bad[min(at, len(bad) - 1)] = rng.integers(0, 256)
            self.write(f"bad/{number:02}.scn", bytes(bad))
        run = subprocess.run([PROGRAM, "imadd 1", "bad", "-o", "out", "--max-pixels", "10M"], cwd=self.folder,
                             capture_output=True, text=True, timeout=RUN_TIMEOUT, check=False)
        self.assertIn(run.returncode, (0, 1), run.stderr)
        for line in run.stderr.splitlines():
            self.assertRegex(line, r"^impipe: ")
        self.assertGreater(len(os.listdir(self.path("out"))), 3)


if __name__ == "__main__":
    unittest.main()
