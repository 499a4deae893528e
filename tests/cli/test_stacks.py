"""TIFFs with more planes than directories: ImageJ's and tifffile's stacks in one piece, MetaMorph's,
volumes with an ImageDepth. Each plane is a page.
"""
import json
import logging
import unittest

import numpy as np
import tifffile
from PIL import Image, ImageSequence

from program import ProgramTest
from tiff_writer import page, tiff

logging.getLogger("tifffile").setLevel(logging.CRITICAL)  # of dates that our MetaMorph files lack
LONG, RATIONAL = 4, 5
DESCRIPTION, STRIP_BYTES, IMAGE_DEPTH, UIC1, UIC2, UIC3, UIC4 = 270, 279, 32997, *range(33628, 33632)


def numbers(*shape, dtype=np.uint8, seed=0):
    values = np.random.default_rng(seed).integers(0, 256, shape)
    return (values / 255).astype(dtype) if np.dtype(dtype).kind == "f" else values.astype(dtype)


def inverted(pixels):
    white = 1 if pixels.dtype.kind == "f" else np.iinfo(pixels.dtype).max
    return (white - pixels).astype(pixels.dtype)


def in_one_piece(planes, description="", order="<", tags=()):
    """A TIFF of one directory, with all planes behind each other."""
    text = [(DESCRIPTION, 2, description.encode() + b"\0")] if description else []
    one = page(planes[0], order=order, photometric=2 if planes[0].ndim == 3 else 1,
               tags=[(STRIP_BYTES, LONG, [planes[0].nbytes]), *text, *tags])
    one["data"] = [b"".join(plane.astype(plane.dtype.newbyteorder(order)).tobytes()
                            for plane in planes)]
    return tiff(one)


def metamorph(planes, order="<"):
    count = len(planes)
    return in_one_piece(planes, order=order, tags=[
        (UIC1, LONG, [0, 1]), (UIC2, RATIONAL, [0, 1] * count),
        (UIC3, RATIONAL, [500, 1] * count), (UIC4, LONG, [0])])


class Stacks(ProgramTest):
    def check(self, name, expected):
        """Every page is a directory, as tifffile and Pillow read it."""
        with tifffile.TiffFile(self.path(name)) as file:
            self.assertEqual(len(file.pages), len(expected))
            for found, wanted in zip(file.pages, expected):
                np.testing.assert_array_equal(found.asarray(), wanted)
        if expected.dtype.kind == "f" or (expected.ndim == 4 and expected.dtype != np.uint8):
            return  # Pillow has no such pixels, or reads them as other ones
        with Image.open(self.path(name)) as picture:
            frames = [np.asarray(frame) for frame in ImageSequence.Iterator(picture)]
        for found, wanted in zip(frames, expected, strict=True):
            np.testing.assert_array_equal(found, wanted)

    def check_stack(self, name, planes, err=""):
        """`planes` is an array of the pages, of which the file is."""
        self.assertRegex(self.impipe("info", name).out, rf", {len(planes)} pages(\n| \()")
        run = self.impipe("imcomplement", name, "-o", "out.tif")
        self.assertEqual(run.err, err)
        self.check("out.tif", inverted(planes))
        rows = self.impipe("mean2", name).lines() if planes.ndim == 3 else []
        for row, plane in zip(rows[1:], planes):
            number = float(row.split("\t")[2])
            self.assertAlmostEqual(number, plane.astype(np.float64).mean(), 4)
        self.impipe("imcomplement", name, "--pages", "2-3", "-o", "some.tif")
        self.check("some.tif", inverted(planes)[1:3])
        self.impipe("imcomplement", name, "--pages", "2", "-o", "one.tif")
        self.check("one.tif", inverted(planes)[1:2])
        # Bands of rows are for files of one page, however little memory there is.
        self.impipe("imcomplement", name, "-o", "little.tif", "--memory", "1M")
        self.check("little.tif", inverted(planes))

    def write_imagej(self, name, pixels, axes, order="<", **metadata):
        with tifffile.TiffWriter(self.path(name), imagej=True, byteorder=order) as file:
            file.write(pixels, metadata={"axes": axes, **metadata}, truncate=True)
        with tifffile.TiffFile(self.path(name)) as file:
            self.assertEqual(len(file.pages), 1)

    def test_imagej(self):
        for order in "<>":
            for pixels, axes in ((numbers(12, 40, 30), "ZYX"),
                                 (numbers(12, 40, 30, dtype=np.uint16), "TYX"),
                                 (numbers(2, 3, 2, 40, 30, dtype=np.uint16), "TZCYX"),
                                 (numbers(5, 40, 30, dtype=np.float32), "ZYX"),
                                 (numbers(2, 3, 40, 30, 3), "TZYXS")):
                with self.subTest(order=order, axes=axes, dtype=pixels.dtype):
                    self.write_imagej("a.tif", pixels, axes, order, spacing=0.5, unit="um")
                    image = 3 if axes.endswith("S") else 2
                    self.check_stack("a.tif", pixels.reshape(-1, *pixels.shape[-image:]))
                    # The stack keeps its dimensions, and what else is said of it.
                    with tifffile.TiffFile(self.path("out.tif")) as file:
                        self.assertEqual(file.series[0].shape, pixels.shape)
                        self.assertEqual(file.byteorder, order)
                        self.assertEqual(file.imagej_metadata["spacing"], 0.5)
                        self.assertEqual(file.pages[1].description, "")

    def test_in_place_keeps_all(self):
        pixels = numbers(12, 40, 30)
        self.write_imagej("a.tif", pixels, "ZYX", Labels=[f"slice {i}" for i in range(12)])
        self.assertEqual(self.impipe("imcomplement", "a.tif", "--in-place", "--strict").err, "")
        self.check("a.tif", 255 - pixels)
        with tifffile.TiffFile(self.path("a.tif")) as file:
            self.assertEqual(file.imagej_metadata["Labels"][11], "slice 11")

    def test_of_shape(self):
        first, second = numbers(5, 40, 30), numbers(2, 3, 20, 10, dtype=np.uint16, seed=1)
        for big in (False, True):
            for order in "<>":
                with self.subTest(big=big, order=order):
                    with tifffile.TiffWriter(self.path("a.tif"), bigtiff=big,
                                             byteorder=order) as file:
                        file.write(first, truncate=True, metadata={"axes": "ZYX", "note": "x"},
                                   photometric="minisblack")
                        file.write(second, truncate=True, photometric="minisblack")
                    self.assertIn(", 11 pages\n", self.impipe("info", "a.tif").out)
                    run = self.impipe("imcomplement", "a.tif", "--in-place", "--strict")
                    self.assertEqual(run.err, "")
                    with tifffile.TiffFile(self.path("a.tif")) as file:
                        self.assertEqual(len(file.pages), 11)
                        np.testing.assert_array_equal(file.series[0].asarray(), 255 - first)
                        np.testing.assert_array_equal(file.series[1].asarray(), 65535 - second)
                        self.assertEqual(json.loads(file.pages[0].description),
                                         {"shape": [5, 40, 30], "axes": "ZYX", "note": "x"})

    def test_metamorph(self):
        pixels = numbers(7, 40, 30, dtype=np.uint16)
        for order in "<>":
            self.write("a.stk", metamorph(pixels, order))
            if order == "<":  # MetaMorph's own, and all that tifffile reads
                with tifffile.TiffFile(self.path("a.stk")) as file:
                    self.assertEqual(file.series[0].kind, "stk")
                    np.testing.assert_array_equal(file.asarray(), pixels)
            # They would say that the planes of the result follow one directory.
            lost = "impipe: a.stk: the result is without MetaMorph's tags\n"
            self.check_stack("a.stk", pixels, lost)
        run = self.impipe("imcomplement", "a.stk", "--in-place", code=1)
        self.assertIn("--in-place would lose what the file has beside its picture: "
                      "MetaMorph's tags; give -o, or --strip", run.err)
        self.impipe("imcomplement", "a.stk", "--in-place", "--strip")
        self.check("a.stk", inverted(pixels))

    def test_volumes(self):
        gray, words = numbers(5, 40, 30), numbers(5, 40, 30, dtype=np.uint16)
        colours = numbers(5, 40, 30, 3)
        for order in "<>":
            for pixels, options in (
                    (gray, {"volumetric": True}), (words, {"volumetric": True, "rowsperstrip": 16}),
                    (gray, {"tile": (1, 16, 16), "volumetric": True}), (gray, {"tile": (2, 16, 16)}),
                    (words, {"tile": (2, 16, 16), "compression": "zlib"}),
                    (words, {"tile": (4, 16, 32), "compression": "zlib", "predictor": True}),
                    (numbers(5, 40, 30, dtype=np.float32), {"tile": (8, 16, 16)}),
                    (colours, {"tile": (2, 16, 16), "photometric": "rgb"}),
                    (colours, {"volumetric": True, "photometric": "rgb"}),
                    (np.moveaxis(colours, -1, 0), {"tile": (2, 16, 16), "photometric": "rgb",
                                                   "planarconfig": "separate"})):
                with self.subTest(order=order, **options):
                    tifffile.imwrite(self.path("a.tif"), pixels, byteorder=order,
                                     **{"photometric": "minisblack", **options})
                    with tifffile.TiffFile(self.path("a.tif")) as file:
                        self.assertEqual(len(file.pages), 1)
                    apart = "planarconfig" in options
                    self.check_stack("a.tif", colours if apart else pixels)
                    with Image.open(self.path("out.tif")) as picture:
                        self.assertNotIn(IMAGE_DEPTH, picture.tag_v2)

    def test_what_cannot_be_read(self):
        planes = numbers(5, 40, 30)
        cases = []
        tifffile.imwrite(self.path("a.tif"), planes, photometric="minisblack", volumetric=True,
                         compression="zlib")
        with open(self.path("a.tif"), "rb") as file:
            cases.append((file.read(), "TIFF of a volume in strips is not supported where they are "
                          "compressed or apart; write it uncompressed, in tiles or with a "
                          "directory for each plane"))
        stack = page(planes[0], compression=8, tags=[(UIC1, LONG, [0, 1]), (UIC2, RATIONAL, [0, 1] * 5)])
        cases.append((tiff(stack), "TIFF of 5 planes by MetaMorph is not supported where they are "
                      "compressed or apart; write it with a directory for each plane"))
        lacks = page(planes[0], tags=[(UIC1, LONG, [0, 1]), (UIC2, RATIONAL, [0, 1] * 5)])
        cases.append((tiff(lacks), "truncated TIFF: MetaMorph's tag says that there are 5 planes "
                      "of 30x40, and the file ends before"))
        for data, message in cases:
            self.write("a.tif", data)
            for command in (["info", "a.tif"], ["imcomplement", "a.tif", "-o", "b.tif"]):
                run = self.impipe(*command, code=1)
                self.assertIn(message, run.err)
            self.assertEqual(self.tree(), ["a.tif"])

    def test_planes_that_are_not_there(self):
        """A description that was carried too far, or lies, is no stack, and that is said."""
        one = numbers(40, 30)
        claims = (("ImageJ=1.53t\nimages=12\nslices=12\n", 12),
                  ("ImageJ=1.53t\nimages=2000000000\n", 2000000000),
                  ('{"shape": [3, 40, 30]}', 3), ('{"shape": [999999999, 40, 30]}', 999999999),
                  ("shape=(4, 40, 30)", 4))
        for text, count in claims:
            with self.subTest(text):
                self.write("a.tif", in_one_piece([one], text))
                self.assertNotIn("pages", self.impipe("info", "a.tif").out)
                run = self.impipe("imcomplement", "a.tif", "-o", "b.tif")
                message = f"{count - 1} of the {count} planes that its description claims"
                self.assertEqual(run.err, f"impipe: a.tif: the result is without {message}\n")
                self.check("b.tif", 255 - one[None])
                self.assertNotIn("pages", self.impipe("info", "b.tif").out)
                self.assertEqual(self.impipe("imcomplement", "b.tif", "-o", "c.tif").err, "")
                run = self.impipe("imcomplement", "a.tif", "--in-place", code=1)
                self.assertIn(message, run.err)
        for text in ("ImageJ=1.53t\nimages=-5\n", "ImageJ=\nimages=99999999999999999999\n",
                     '{"shape": [5, 40', '{"shape": []}', '{"shape": [0, 40, 30]}', "ImageJ="):
            with self.subTest(text):
                self.write("a.tif", in_one_piece([one], text))
                self.assertEqual(self.impipe("imcomplement", "a.tif", "-o", "b.tif").err, "")
                self.check("b.tif", 255 - one[None])

    def test_other_things_between_the_planes(self):
        """What lies where planes would be is no plane: a directory, or a value of one."""
        one = numbers(8, 8)
        self.write("a.tif", tiff(page(one, tags=[(DESCRIPTION, 2, b"ImageJ=1.53t\nimages=2\n\0"),
                                                (65000, 1, list(range(256)))])))
        run = self.impipe("imcomplement", "a.tif", "-o", "b.tif")
        self.assertEqual(run.err, "impipe: a.tif: the result is without 1 of the 2 planes that its "
                                  "description claims\n")
        self.check("b.tif", 255 - one[None])
        # Of a stack with all its directories, whose pixels follow each other, too.
        pixels = numbers(4, 40, 30)
        tifffile.imwrite(self.path("a.tif"), pixels, imagej=True, metadata={"axes": "ZYX"})
        self.assertEqual(self.impipe("imcomplement", "a.tif", "-o", "b.tif").err, "")
        self.check("b.tif", 255 - pixels)

    def test_descriptions_follow_the_pages(self):
        pixels = numbers(2, 3, 40, 30)
        said = 'impipe: a.tif: the result is without {}\n'
        for truncate in (False, True):
            with tifffile.TiffWriter(self.path("a.tif"), imagej=True) as file:
                file.write(pixels, metadata={"axes": "TZYX", "unit": "um"}, truncate=truncate)
            run = self.impipe("imcomplement", "a.tif", "--pages", "1-4", "-o", "b.tif")
            self.assertEqual(run.err, said.format("ImageJ's slices=3 frames=2, the axes of its "
                                                   "pages (t 2, z 3)"))
            with tifffile.TiffFile(self.path("b.tif")) as file:
                self.assertEqual(file.imagej_metadata["images"], 4)
                self.assertEqual(file.imagej_metadata["unit"], "um")
                np.testing.assert_array_equal(file.asarray(), 255 - pixels.reshape(-1, 40, 30)[:4])
            self.impipe("imcomplement", "a.tif", "--pages", "1-4", "-o", "b.tif", "--strict", code=1)
            run = self.impipe("imcomplement", "a.tif", "-o", "{page}.png")
            self.assertEqual(run.err, said.format("ImageJ's slices=3 frames=2"))
            with Image.open(self.path("1.png")) as picture:
                self.assertNotIn("images=", picture.getexif()[DESCRIPTION])
            with tifffile.TiffWriter(self.path("a.tif")) as file:
                file.write(pixels, metadata={"axes": "TZYX"}, truncate=truncate,
                           photometric="minisblack")
            run = self.impipe("imcomplement", "a.tif", "--pages", "1-4", "-o", "b.tif")
            self.assertEqual(run.err, said.format("tifffile's shape (2, 3, 40, 30)"))
            with tifffile.TiffFile(self.path("b.tif")) as file:
                self.assertEqual(json.loads(file.pages[0].description),
                                 {"shape": [4, 40, 30], "axes": "QYX"})
                np.testing.assert_array_equal(file.asarray(), 255 - pixels.reshape(-1, 40, 30)[:4])

    def test_the_shape_of_samples_that_lie_apart(self):
        one, pages = numbers(3, 40, 30), numbers(5, 3, 40, 30)
        for pixels, axes in ((one, "SYX"), (pages, "QSYX")):
            for said in ({}, {"axes": axes}):
                tifffile.imwrite(self.path("a.tif"), pixels, photometric="rgb",
                                 planarconfig="separate", metadata=said)
                self.assertEqual(self.impipe("imcomplement", "a.tif", "-o", "b.tif").err, "")
                np.testing.assert_array_equal(tifffile.imread(self.path("b.tif")),
                                              255 - np.moveaxis(pixels, -3, -1))

    def test_imagejs_description_goes_to_the_first_page(self):
        pixels = numbers(3, 4, 2, 40, 30)
        for pages, lost in (("3,1,24", "ImageJ's channels=2 slices=4 frames=3 spacing=2.0, the axes "
                                       "of its pages (t 3, z 4, c 2)"),
                            ("5,3,1", "where pixels lie along z")):
            tifffile.imwrite(self.path("a.tif"), pixels, imagej=True, resolution=(4, 4),
                             metadata={"axes": "TZCYX", "spacing": 2.0, "unit": "um"})
            run = self.impipe("imcomplement", "a.tif", "--pages", pages, "-o", "b.tif")
            self.assertEqual(run.err, f"impipe: a.tif: the result is without {lost}\n")
            self.assertIn("pixels of 0.25 x 0.25 µm", self.impipe("info", "b.tif").out)
            with tifffile.TiffFile(self.path("b.tif")) as file:
                said = file.imagej_metadata
                self.assertEqual((said["images"], said["unit"]), (3, "um"))
                self.assertNotIn("spacing", said)
                self.assertEqual(file.pages[0].tags[282].value, (4, 1))
                self.assertEqual([page.description[:7] for page in file.pages], ["ImageJ=", "", ""])

    def test_every_directory_has_imagejs_description(self):
        """As in ImageJ's own stacks."""
        pixels = numbers(4, 40, 30)
        text = (DESCRIPTION, 2, b"ImageJ=1.53t\nimages=4\nslices=4\nunit=um\n\0")
        self.write("a.tif", tiff(*[page(plane, tags=[text]) for plane in pixels]))
        for pages, chosen in (("1-4", slice(0, 4)), ("2-3", slice(1, 3)), ("4", slice(3, 4))):
            run = self.impipe("imcomplement", "a.tif", "-o", "b.tif", "--pages", pages, "--strict")
            self.assertEqual(run.err, "")
            with tifffile.TiffFile(self.path("b.tif")) as file:
                np.testing.assert_array_equal(file.asarray(), np.squeeze(255 - pixels[chosen]))
                self.assertEqual(file.imagej_metadata.get("images", 1), len(file.pages))

    def test_one_dimension_follows_without_a_word(self):
        pixels = numbers(6, 40, 30)
        self.write_imagej("a.tif", pixels, "ZYX", unit="um")
        run = self.impipe("imcomplement", "a.tif", "--pages", "2-4", "-o", "b.tif", "--strict")
        self.assertEqual(run.err, "")
        with tifffile.TiffFile(self.path("b.tif")) as file:
            said = file.imagej_metadata
            self.assertEqual((said["images"], said["slices"], said["unit"]), (3, 3, "um"))
            np.testing.assert_array_equal(file.asarray(), 255 - pixels[1:4])
        self.write_imagej("a.tif", pixels, "ZYX", Labels=list("abcdef"))
        run = self.impipe("imcomplement", "a.tif", "--pages", "2-4", "-o", "b.tif")
        self.assertEqual(run.err, "impipe: a.tif: the result is without ImageJ's labels and "
                                  "overlays\n")

    def test_ome_of_some_pages(self):
        pixels = numbers(4, 40, 30)
        tifffile.imwrite(self.path("a.ome.tif"), pixels, metadata={"axes": "ZYX"},
                         photometric="minisblack")
        self.assertEqual(self.impipe("imcomplement", "a.ome.tif", "-o", "b.tif", "--strict").err, "")
        np.testing.assert_array_equal(tifffile.imread(self.path("b.tif")), 255 - pixels)
        run = self.impipe("imcomplement", "a.ome.tif", "--pages", "1-3", "-o", "b.tif")
        self.assertEqual(run.err, "impipe: a.ome.tif: the result is without OME-XML but for axes "
                                  "and sizes\n")
        with tifffile.TiffFile(self.path("b.tif")) as file:
            self.assertEqual((file.is_ome, file.series[0].axes), (True, "ZYX"))
        np.testing.assert_array_equal(tifffile.imread(self.path("b.tif")), 255 - pixels[:3])


if __name__ == "__main__":
    unittest.main()
