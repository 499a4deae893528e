#!/usr/bin/env python3
"""Results are compressed as their inputs were: tags read by tifffile, pixels by Pillow."""
import itertools
import os
import shutil
import subprocess
import unittest

import numpy as np
import tifffile
from PIL import Image

from program import ProgramTest, colour, ramp

NONE, CCITT, GROUP3, GROUP4, LZW, DEFLATE, OLD_DEFLATE = 1, 2, 3, 4, 5, 8, 32946
PACKBITS, LZMA, ZSTD = 32773, 34925, 50000
# As Pillow's libtiff calls them.
WRITTEN = {NONE: "raw", CCITT: "tiff_ccitt", GROUP3: "group3", GROUP4: "group4", LZW: "tiff_lzw",
           DEFLATE: "tiff_adobe_deflate", OLD_DEFLATE: "tiff_adobe_deflate", PACKBITS: "packbits",
           LZMA: "lzma", ZSTD: "zstd"}
# With the predictors that they may have.
LOSSLESS = [(NONE, 1), (PACKBITS, 1), (LZW, 1), (LZW, 2), (DEFLATE, 1), (DEFLATE, 2),
            (OLD_DEFLATE, 2), (ZSTD, 1), (ZSTD, 2), (LZMA, 2)]
BITS = ramp(70, 53) > 127
GRAY, RGB = ramp(70, 53), colour(70, 53)
WIDE = (ramp(70, 53).astype(np.uint16) * 257 + 3).astype(np.uint16)
FLOATS = (ramp(70, 53) / 255).astype(np.float32)


def inverted(pixels):
    """What imcomplement is defined as."""
    if pixels.dtype == bool:
        return ~pixels
    white = 1 if pixels.dtype == np.float32 else np.iinfo(pixels.dtype).max
    return (white - pixels).astype(pixels.dtype)


class Compression(ProgramTest):
    def save(self, name, pixels, compression, predictor=1):
        Image.fromarray(pixels).save(self.path(name), compression=WRITTEN[compression],
                                     tiffinfo={317: predictor} if predictor > 1 else {})
        if compression == OLD_DEFLATE:
            with tifffile.TiffFile(self.path(name), mode="r+b") as file:
                file.pages[0].tags[259].overwrite(OLD_DEFLATE)
        self.assertEqual(self.packing(name), [(compression, predictor)])

    def packing(self, name):
        """(compression, predictor) of each page."""
        with tifffile.TiffFile(self.path(name)) as file:
            return [(int(page.compression), int(page.predictor)) for page in file.pages]

    def check(self, pixels, compression, predictor, *options):
        self.save("a.tif", pixels, compression, predictor)
        self.impipe("imcomplement", "a.tif", "-o", "b.tif", *options)
        np.testing.assert_array_equal(self.pixels("b.tif"), inverted(pixels))
        return self.packing("b.tif")

    def test_every_class(self):
        for (packing, predictor), (name, pixels) in itertools.product(
                LOSSLESS, {"gray": GRAY, "colour": RGB, "16 bits": WIDE}.items()):
            with self.subTest(WRITTEN[packing], predictor=predictor, pixels=name):
                self.assertEqual(self.check(pixels, packing, predictor), [(packing, predictor)])
        for packing, predictor in [(NONE, 1), (PACKBITS, 1), *itertools.product(
                (LZW, DEFLATE, ZSTD), (1, 3))]:
            with self.subTest(WRITTEN[packing], predictor=predictor, pixels="floats"):
                self.assertEqual(self.check(FLOATS, packing, predictor), [(packing, predictor)])
        for packing in (NONE, CCITT, GROUP3, GROUP4, LZW, DEFLATE, PACKBITS, ZSTD):
            with self.subTest(WRITTEN[packing], pixels="1 bit"):
                self.assertEqual(self.check(BITS, packing, 1), [(packing, 1)])

    def test_another_class(self):
        """Predictors are of a kind of samples, and fax codes of one bit."""
        self.save("wide.tif", WIDE, LZW, 2)
        self.save("floats.tif", FLOATS, ZSTD, 3)
        self.save("bits.tif", BITS, GROUP4)
        for pipeline, name, cls, expected in (
                ("im2single", "wide.tif", "single", (LZW, 3)),
                ("im2single", "floats.tif", "uint8", (ZSTD, 2)),
                ("imbinarize 0.5", "wide.tif", "logical", (LZW, 1)),
                ("im2uint8", "bits.tif", "uint8", (DEFLATE, 2)),
                ("im2single", "bits.tif", "single", (DEFLATE, 1))):
            with self.subTest(pipeline, name=name):
                self.impipe(pipeline, name, "-o", "b.tif", "-d", cls)
                self.assertEqual(self.packing("b.tif"), [expected])

    def test_fax_codes_where_they_are_asked_for(self):
        """Read by Pillow, by libtiff's tools where they are installed, and again by impipe."""
        for name, pixels in (("gray.png", GRAY), ("one.png", GRAY[:1, :1]), ("odd.png", ramp(33, 2049))):
            self.picture(name, pixels)
            self.impipe("imbinarize 0.4", name, "-o", "fax.tif", "--compression", "g4")
            self.assertEqual(self.packing("fax.tif"), [(GROUP4, 1)])
            np.testing.assert_array_equal(self.pixels("fax.tif"), pixels > 0.4 * 255)
            self.impipe("imcomplement", "fax.tif", "-o", "again.tif")
            self.assertEqual(self.packing("again.tif"), [(GROUP4, 1)])
            np.testing.assert_array_equal(self.pixels("again.tif"), pixels <= 0.4 * 255)
            if shutil.which("tiffcp"):
                subprocess.run(["tiffcp", "-c", "none", self.path("fax.tif"), self.path("plain.tif")], check=True)
                np.testing.assert_array_equal(self.pixels("plain.tif"), pixels > 0.4 * 255)
        Image.fromarray(BITS).save(self.path("p.tif"), save_all=True, append_images=[Image.fromarray(~BITS)])
        self.impipe("fliplr", "p.tif", "-o", "fax.tif", "--compression", "g4")
        self.assertEqual(self.packing("fax.tif"), [(GROUP4, 1)] * 2)

    def test_fax_codes_hold_one_channel_of_one_bit(self):
        self.picture("a.png", RGB)
        Image.fromarray(np.dstack([RGB, GRAY])).save(self.path("alpha.png"))
        for pipeline, name, out, kind in (
                ("imcomplement", "a.png", "b.tif", "uint8 of 3 channels as TIFF"),
                ("imcomplement", "alpha.png", "b.tif", "uint8 of 3 channels with alpha as TIFF"),
                ("map 'x > 100' class=logical", "a.png", "b.tif", "logical of 3 channels as TIFF"),
                ("imbinarize 0.5", "a.png", "b.png", "logical as PNG")):
            with self.subTest(pipeline, out=out):
                run = self.impipe(pipeline, name, "-o", out, "--compression", "g4", code=1)
                self.assertIn("--compression g4 writes logical images of one channel as .tif, and this is " + kind,
                              run.err)
                self.assertFalse(os.path.exists(self.path(out)))
        self.save("fax.tif", BITS, GROUP4)
        self.impipe("gray2rgb", "fax.tif", "-o", "b.tif")
        self.assertEqual(self.packing("b.tif")[0][0], DEFLATE)
        got = tifffile.imread(self.path("b.tif"))
        np.testing.assert_array_equal(got != 0, np.repeat(BITS[..., None], 3, axis=2))

    def test_what_was_lossy_or_no_tiff(self):
        self.picture("a.tif", RGB, compression="jpeg")
        self.picture("a.png", RGB)
        for name in ("a.tif", "a.png"):
            self.impipe("imcomplement", name, "-o", "b.tif")
            self.assertEqual(self.packing("b.tif"), [(DEFLATE, 2)], name)

    def test_the_option_overrides(self):
        for kind in ("fast", "default", "small"):
            for packing, predictor in ((NONE, 1), (LZW, 1), (ZSTD, 2)):
                with self.subTest(kind, packing=packing):
                    self.assertEqual(self.check(GRAY, packing, predictor, "--compression", kind),
                                     [(DEFLATE, 2)])

    def test_without_metadata_and_in_place(self):
        self.assertEqual(self.check(GRAY, LZW, 2, "--strip"), [(LZW, 2)])
        self.save("a.tif", WIDE, ZSTD, 2)
        self.impipe("imcomplement", "a.tif", "--in-place")
        self.assertEqual(self.packing("a.tif"), [(ZSTD, 2)])
        np.testing.assert_array_equal(self.pixels("a.tif"), inverted(WIDE))

    def test_in_bands(self):
        """Some rows at a time, in strips and in tiles."""
        pixels = colour(900, 300)
        for packing, predictor in ((NONE, 1), (LZW, 2), (ZSTD, 1)):
            for tiles in (False, True):
                with self.subTest(packing, tiles=tiles):
                    self.save("a.tif", pixels, packing, predictor)
                    if tiles:
                        subprocess.run(["oiiotool", "a.tif", "--tile", "64", "64", "-o", "t.tif"],
                                       cwd=self.folder, check=True, capture_output=True)
                        os.replace(self.path("t.tif"), self.path("a.tif"))
                    before = self.packing("a.tif")
                    for options in ((), ("--strip",)):
                        self.impipe("imcomplement", "a.tif", "-o", "b.tif", "--memory", "300K",
                                    *options)
                        self.assertEqual(self.packing("b.tif"), before)
                        np.testing.assert_array_equal(self.pixels("b.tif"), inverted(pixels))

    def test_each_page_as_it_was(self):
        with tifffile.TiffWriter(self.path("a.tif")) as file:
            for packing in (None, "zlib", None):
                file.write(GRAY, compression=packing, metadata=None)
        self.assertEqual(self.packing("a.tif"), [(NONE, 1), (DEFLATE, 1), (NONE, 1)])
        for options in (("-o", "b.tif"), ("--in-place",)):
            self.impipe("imcomplement", "a.tif", *options)
            self.assertEqual(self.packing(options[-1] if options[0] == "-o" else "a.tif"),
                             [(NONE, 1), (DEFLATE, 1), (NONE, 1)])
        with tifffile.TiffFile(self.path("b.tif")) as file:
            for page in file.pages:
                np.testing.assert_array_equal(page.asarray(), inverted(GRAY))

    def test_operands_do_not_decide(self):
        self.save("a.tif", GRAY, LZW, 2)
        self.save("b.tif", GRAY, NONE)
        self.impipe("imabsdiff :b", "a.tif", "--with", "b=b.tif", "-o", "c.tif")
        self.assertEqual(self.packing("c.tif"), [(LZW, 2)])

    def test_info_names_it(self):
        self.save("a.tif", GRAY, LZW, 2)
        self.assertEqual(self.impipe("info", "a.tif").out,
                         "a.tif: TIFF, 53x70, uint8 x1, white 255, 8-bit, LZW, predictor 2\n")

    def test_exr(self):
        """OpenEXR's own tool wrote them; what is not packed is, where the option says so."""
        field = b"compression\0compression\0\1\0\0\0"
        np.save(self.path("a.npy"), RGB.astype(np.float32) / 255)
        self.impipe("im2single", "a.npy", "-o", "a.exr")
        for name, number, overridden in (("none", 0, 3), ("rle", 1, 3), ("zips", 2, 2),
                                         ("zip", 3, 3), ("piz", 4, 4), ("dwaa", 8, 8)):
            with self.subTest(name):
                subprocess.run(["oiiotool", "a.exr", "--compression", name, "-o", "b.exr"],
                               cwd=self.folder, check=True, capture_output=True)
                for options, expected in (((), number),
                                          (("--compression", "default"), overridden)):
                    self.impipe("fliplr", "b.exr", "-o", "c.exr", *options)
                    with open(self.path("c.exr"), "rb") as file:
                        self.assertIn(field + bytes([expected]), file.read())


if __name__ == "__main__":
    unittest.main()
