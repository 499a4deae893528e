"""Header fields that change what pixels mean: used, refused or named, format by format.

docs/formats.md has the tables that name these tests. Files are made by other programs or byte by
byte from the format's definition, and results are judged by other programs.
"""
import glob
import os
import re
import struct
import subprocess
import unittest
import zlib

import icc_writer
import jxl_writer
import numpy as np
import tifffile
from PIL import Image
from program import ROOT, ProgramTest, colour, png_chunk, ramp
from dicom_writer import dicom
import tiff_writer

IDENTITY = "rot90 0"


class Fields(ProgramTest):
    def tool(self, *command):
        done = subprocess.run([str(word) for word in command], cwd=self.folder, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def read(self, name, err="", *options):
        run = self.impipe(IDENTITY, name, "-o", "read.npy", *options)
        self.assertEqual(run.err, err)
        return np.load(self.path("read.npy"))

    def refused(self, name, reason):
        run = self.impipe(IDENTITY, name, "-o", "read.npy", code=1)
        self.assertEqual(run.err, f"impipe: {name}: decode: {reason}\n")

    def equal(self, got, expected):
        self.assertEqual((got.dtype, got.shape), (expected.dtype, expected.shape))
        np.testing.assert_array_equal(got, expected)


class JpegXl(Fields):
    CURVES = {
        "gamma": icc_writer.gamma(2.19921875),
        "table": icc_writer.table(lambda x: 0.3 * x + 0.7 * x ** 3),
        "L*": icc_writer.parametric(3, 3, 100 / 116, 16 / 116, 100 / 903.3, 0.08),
        "power": icc_writer.parametric(0, 1.7),
    }

    # 48 dark levels, then all.
    LEVELS = np.vstack([np.tile(np.repeat(np.arange(48), 4), (16, 1)),
                        np.tile(np.arange(192) * 255 // 191, (48, 1))]).astype(np.uint8)

    def made(self, pixels, icc, quality="95"):
        Image.fromarray(pixels).save(self.path("in.png"), icc_profile=icc)
        self.tool("cjxl", "-q", quality, "in.png", "in.jxl")

    def read_with_profile(self, err=""):
        run = self.impipe(IDENTITY, "in.jxl", "-o", "out.png")
        self.assertEqual(run.err, err)
        with Image.open(self.path("out.png")) as out:
            return np.asarray(out).astype(int), out.info.get("icc_profile")

    def test_loss_with_a_profile_of_its_own(self):
        for name, curve in self.CURVES.items():
            for colorants in (None, icc_writer.ADOBE, icc_writer.PROPHOTO):
                with self.subTest(curve=name, colorants=colorants):
                    icc = icc_writer.profile(curve, colorants)
                    pixels = self.LEVELS if colorants is None else np.dstack([self.LEVELS] * 3)
                    self.made(pixels, icc)
                    got, carried = self.read_with_profile()
                    self.assertEqual(carried, icc)
                    self.assertLess(np.abs(got - pixels).mean(), 1)
                    self.assertLessEqual(np.abs(got - pixels).max(), 8)
                    self.assertGreater(len(np.unique(got[:16])), 40)

    def test_loss_with_a_profile_colours_and_alpha(self):
        icc = icc_writer.profile(self.CURVES["table"], icc_writer.ADOBE)
        y, x = np.mgrid[0:64, 0:96]
        pixels = np.stack([40 + 2 * x, 60 + 2 * y, 200 - x - y, 255 - x], 2).astype(np.uint8)
        self.made(pixels, icc, "99")
        got, carried = self.read_with_profile()
        self.assertEqual(carried, icc)
        self.assertLessEqual(np.abs(got - pixels).max(), 6)
        self.assertLess(np.abs(got - pixels).mean(), 1)

    def test_loss_with_a_profile_in_16_bits(self):
        icc = icc_writer.profile(self.CURVES["gamma"], icc_writer.ADOBE)
        deep = np.repeat(np.linspace(0, 65535, 128).astype(np.uint16)[None], 64, 0)
        self.picture("in.npy", np.dstack([deep] * 3))
        self.impipe(IDENTITY, "in.npy", "-o", "plain.png")
        self.with_profile("plain.png", "in.png", icc)
        self.impipe(IDENTITY, "in.png", "-o", "in.jxl", "--quality", "99")
        got = self.read("in.jxl", "impipe: in.jxl: the result is without ICC profile\n")
        self.assertEqual(got.dtype, np.uint16)
        self.assertLess(np.abs(got.astype(int) - deep[..., None]).max(), 1000)

    def with_profile(self, source, target, icc):
        """Puts an iCCP chunk behind a PNG's header."""
        with open(self.path(source), "rb") as file:
            data = file.read()
        chunk = png_chunk(b"iCCP", b"own\0\0" + zlib.compress(icc))
        self.write(target, data[:33] + chunk + data[33:])

    def test_loss_with_a_table_of_colours(self):
        def lab(r, g, b):
            return 100 * (0.3 * r + 0.6 * g + 0.1 * b), 40 * (r - g), 40 * (g - b)
        icc = icc_writer.profile(a2b0=icc_writer.colour_table(lab))
        self.made(np.dstack([self.LEVELS] * 3), icc)
        got, carried = self.read_with_profile(
            "impipe: in.jxl: the result is without its ICC profile, a table of colours (pixels "
            "are of Rec. 2020 instead)\n")
        self.assertNotEqual(carried, icc)
        self.assertIn(b"acsp", carried)
        self.assertGreater(len(np.unique(got[:16])), 20)

    def test_loss_with_a_profile_of_floats(self):
        """They are light, whose profile says so, and lose no dark levels."""
        icc = icc_writer.profile(icc_writer.gamma(2.0), icc_writer.ADOBE)
        Image.fromarray(np.dstack([self.LEVELS] * 3)).save(self.path("in.png"), icc_profile=icc)
        self.impipe(IDENTITY, "in.png", "-o", "in.jxl", "-d", "single", "--quality", "99")
        got = self.read("in.jxl", "impipe: in.jxl: the result is without ICC profile\n")
        self.assertEqual(got.dtype, np.float32)
        light = (self.LEVELS[..., None] / 255.0) ** 2
        self.assertLess(np.abs(got - light).max(), 0.02)
        run = self.impipe(IDENTITY, "in.jxl", "-o", "again.jxl", "--strip")
        self.assertIn("_Lin', which --strip leaves out: they will be shown as others", run.err)

    def test_cmyk(self):
        self.write("in.jxl", jxl_writer.jxl(ramp(), extra=[("black", "K")]))
        self.refused("in.jxl", "JPEG XL of CMYK is not supported")

    def test_orientation(self):
        for orientation, turned in ((1, ramp()), (2, ramp()[:, ::-1]), (3, ramp()[::-1, ::-1]),
                                    (6, np.rot90(ramp(), -1)), (8, np.rot90(ramp()))):
            with self.subTest(orientation):
                self.write("in.jxl", jxl_writer.jxl(ramp(), orientation=orientation))
                self.equal(self.read("in.jxl"), turned)


class Png(Fields):
    def test_significant_bits_and_gamma_change_no_pixel(self):
        self.picture("plain.png", colour())
        with open(self.path("plain.png"), "rb") as file:
            data = file.read()
        more = png_chunk(b"gAMA", struct.pack(">I", 100000)) + png_chunk(b"sBIT", b"\5\6\5")
        self.write("a.png", data[:33] + more + data[33:])
        self.equal(self.read("a.png", "impipe: a.png: the result is without gamma\n"), colour())


class Avif(Fields):
    def test_turns_and_mirrors(self):
        self.picture("in.png", colour())
        for options, turned in ((["--irot", "1"], np.rot90(colour())),
                                (["--irot", "2"], colour()[::-1, ::-1]),
                                (["--imir", "1"], colour()[:, ::-1])):
            with self.subTest(options):
                self.tool("avifenc", "--lossless", *options, "in.png", "a.avif")
                self.equal(self.read("a.avif"), turned)


class Npy(Fields):
    def test_types_that_are_not_read(self):
        for values, kind in ((np.zeros((4, 5), np.complex64), "<c8"),
                             (np.zeros((4, 5), "U3"), "<U3"),
                             (np.zeros((4, 5), "datetime64[s]"), "<M8[s]")):
            with self.subTest(kind):
                np.save(self.path("a.npy"), values)
                run = self.impipe(IDENTITY, "a.npy", "-o", "b.npy", code=1)
                self.assertRegex(run.err, "^impipe: a.npy: decode: NPY of .* is not supported")
                self.assertIn(kind[1:3], run.err)


class Jpeg2000(Fields):
    def made(self, numbers, bits, sign, name="in.jp2"):
        count, (height, width) = numbers.shape[0], numbers.shape[1:]
        kind = ("i" if sign == "s" else "u") + ("1" if bits <= 8 else "2")
        self.write("in.raw", numbers.astype(">" + kind).tobytes())
        self.tool("opj_compress", "-i", "in.raw", "-o", name, "-F",
                  f"{width},{height},{count},{bits},{sign}", "-mct", int(count == 3))

    def test_signed_numbers(self):
        rng = np.random.default_rng(1)
        for bits, kind in ((8, np.int8), (12, np.int16), (16, np.int16)):
            for count in (1, 3):
                with self.subTest(bits=bits, count=count):
                    end = 1 << (bits - 1)
                    numbers = rng.integers(-end, end, (count, 37, 53)).astype(kind)
                    numbers[0, 0, :3] = -end, end - 1, 0
                    self.made(numbers, bits, "s")
                    self.equal(np.moveaxis(np.atleast_3d(self.read("in.jp2")), 2, 0), numbers)
                    self.impipe(IDENTITY, "in.jp2", "-o", "out.tif")
                    self.assertEqual(tifffile.imread(self.path("out.tif")).dtype, kind)
        self.assertIn("16-bit signed", self.impipe("info", "in.jp2").out)
        run = self.impipe(IDENTITY, "in.jp2", "-o", "out.png", code=1)
        self.assertIn("has no white", run.err)

    def box(self, kind, body):
        return struct.pack(">I", 8 + len(body)) + kind + body

    def with_box(self, data, box):
        """Puts a box at the end of the header's."""
        at = data.index(b"jp2h") - 4
        size = struct.unpack(">I", data[at:at + 4])[0]
        return (data[:at] + struct.pack(">I", size + len(box)) + data[at + 4:at + size] + box
                + data[at + size:])

    def test_colours_that_are_not_read(self):
        self.made(np.zeros((3, 37, 53), np.uint8), 8, "u")
        with open(self.path("in.jp2"), "rb") as file:
            data = file.read()
        colours = b"colr\1\0\0"
        at = data.index(colours) + len(colours)
        palette = self.box(b"pclr", b"\0\2\3\7\7\7" + bytes(6))
        channels = self.box(b"cdef", struct.pack(">10H", 3, 0, 0, 1, 1, 0, 2, 2, 2, 0))
        for name, changed in (
                ("of YCC colours", data[:at] + struct.pack(">I", 18) + data[at + 4:]),
                ("of CMYK", data[:at] + struct.pack(">I", 12) + data[at + 4:]),
                ("of the colour space 14", data[:at] + struct.pack(">I", 14) + data[at + 4:]),
                ("with a palette", self.with_box(data, palette)),
                ("with premultiplied alpha", self.with_box(data, channels))):
            with self.subTest(name):
                self.write("a.jp2", changed)
                self.refused("a.jp2", f"JPEG 2000 {name} is not supported")
        self.write("in.raw", bytes(64 * 64 * 3))
        self.tool("opj_compress", "-i", "in.raw", "-o", "a.j2k", "-F",
                  "64,64,3,8,u@1x1:2x2:2x2", "-mct", 0)
        self.refused("a.j2k", "JPEG 2000 with subsampled channels is not supported")

    def test_signed_numbers_that_are_no_picture(self):
        numbers = np.zeros((2, 37, 53), np.int16)
        self.made(numbers, 16, "s", "in.j2k")
        self.refused("in.j2k", "JPEG 2000 of signed numbers beside alpha is not supported")
        self.made(np.zeros((3, 37, 53), np.uint8), 8, "u", "in.j2k")
        with open(self.path("in.j2k"), "rb") as file:
            data = bytearray(file.read())
        siz = data.index(b"\xff\x51")
        data[siz + 2 + 38] |= 0x80  # the sign bit of the first of SIZ's components
        self.write("in.j2k", bytes(data))
        self.refused("in.j2k", "JPEG 2000 with signed channels beside unsigned ones is not "
                               "supported")


class Netpbm(Fields):
    def test_samples_above_the_largest_value(self):
        """As netpbm has it, which says that the file is damaged."""
        for head, body, value in (
                (b"P5\n2 2\n100\n", bytes([0, 100, 101, 3]), "101"),
                (b"P5\n2 2\n1023\n", struct.pack(">4H", 0, 1023, 65472, 3), "65472"),
                (b"P6\n1 1\n254\n", bytes([0, 255, 1]), "255"),
                (b"P2\n2 2\n7\n", b"0 7 8 1", "8")):
            with self.subTest(head):
                self.write("a.pnm", head + body)
                largest = head.split()[-1].decode()
                self.refused("a.pnm", f"damaged PNM: a sample is {value}, and its header says that "
                                      f"the largest is {largest}")
                done = subprocess.run(["pnmtopng", self.path("a.pnm")], capture_output=True)
                self.assertNotEqual(done.returncode, 0)
        self.write("a.pbm", b"P1\n2 1\n0 2\n")
        self.refused("a.pbm", "damaged PNM: a sample is 2, and its header says that the largest is "
                              "1")

    def test_the_scale_of_a_pfm(self):
        """Its sign tells the order of bytes, its size nothing; the lowest row comes first."""
        values = np.random.default_rng(1).random((7, 5)).astype(np.float32)
        for scale, order in (("-1.0", "<"), ("1.0", ">"), ("-0.25", "<"), ("17", ">")):
            with self.subTest(scale):
                self.write("a.pfm", f"Pf\n5 7\n{scale}\n".encode()
                           + values[::-1].astype(order + "f4").tobytes())
                self.equal(self.read("a.pfm"), values)

    def pam(self, values, tuple_type, largest, extra=""):
        height, width, depth = values.shape
        head = (f"P7\nWIDTH {width}\nHEIGHT {height}\nDEPTH {depth}\nMAXVAL {largest}\n"
                + (f"TUPLTYPE {tuple_type}\n" if tuple_type else "") + extra + "ENDHDR\n")
        return head.encode() + values.astype(">u2" if largest > 255 else np.uint8).tobytes()

    # ffmpeg's name, tuple type, channels
    KINDS = (("gray", "GRAYSCALE", 1), ("ya8", "GRAYSCALE_ALPHA", 2), ("rgb24", "RGB", 3),
             ("rgba", "RGB_ALPHA", 4), ("gray16be", "GRAYSCALE", 1),
             ("ya16be", "GRAYSCALE_ALPHA", 2), ("rgb48be", "RGB", 3), ("rgba64be", "RGB_ALPHA", 4))

    def samples(self, depth, kind=np.uint8):
        rng = np.random.default_rng(depth)
        return rng.integers(0, np.iinfo(kind).max + 1, (23, 31, depth)).astype(kind)

    def test_pam_of_ffmpeg_and_for_it(self):
        for kind, tuple_type, depth in self.KINDS:
            with self.subTest(kind):
                values = self.samples(depth, np.uint16 if kind.endswith("be") else np.uint8)
                height, width = values.shape[:2]
                self.write("in.raw", values.astype(values.dtype.newbyteorder(">")).tobytes())
                raw = ["-f", "rawvideo", "-pix_fmt", kind]
                self.tool("ffmpeg", "-v", "error", "-y", *raw, "-s", f"{width}x{height}", "-i",
                          "in.raw", "their.pam")
                self.equal(self.read("their.pam"), values.squeeze())
                self.impipe(IDENTITY, "their.pam", "-o", "our.pam")
                with open(self.path("our.pam"), "rb") as file:
                    self.assertIn(f"TUPLTYPE {tuple_type}\n".encode(), file.read(200))
                out = self.tool("ffmpeg", "-v", "error", "-i", "our.pam", *raw, "-")
                self.assertEqual(out, values.astype(values.dtype.newbyteorder(">")).tobytes())

    def test_pam_of_netpbm_and_for_it(self):
        rgba = self.samples(4)
        for name, values in (("rgba", rgba), ("ya", rgba[..., 2:]), ("rgb", rgba[..., :3]),
                             ("gray", rgba[..., 0])):
            with self.subTest(name):
                Image.fromarray(values).save(self.path("in.png"))
                option = ["-alphapam"] if name in ("rgba", "ya") else []
                self.write("their.pam", self.tool("pngtopam", *option, "in.png"))
                self.equal(self.read("their.pam"), values)
                self.impipe(IDENTITY, "in.png", "-o", "our.pam")
                self.write("out.png", self.tool("pamtopng", "our.pam"))
                self.equal(self.pixels("out.png"), values)

    def test_bits_of_a_pam(self):
        bits = self.samples(1)[..., 0] > 128
        for tuple_type in ("BLACKANDWHITE", "GRAYSCALE"):
            self.write("a.pam", self.pam(bits[..., None], tuple_type, 1))
            expected = bits if tuple_type == "BLACKANDWHITE" else bits.astype(np.uint8) * 255
            self.equal(self.read("a.pam"), expected)
        self.write("a.pam", self.pam(bits[..., None], "BLACKANDWHITE", 1))
        self.impipe(IDENTITY, "a.pam", "-o", "our.pam")
        self.write("out.pbm", self.tool("pamtopnm", "our.pam"))
        with Image.open(self.path("out.pbm")) as out:
            self.assertEqual(out.mode, "1")
            np.testing.assert_array_equal(np.asarray(out), bits)
        two = np.dstack([bits, ~bits])
        self.write("a.pam", self.pam(two, "BLACKANDWHITE_ALPHA", 1))
        self.equal(self.read("a.pam"), two.astype(np.uint8) * 255)

    def test_the_header_of_a_pam(self):
        for largest in (1, 100, 254, 256, 1023, 65535):
            with self.subTest(largest=largest):
                values = np.linspace(0, largest, 30).round().astype(int).reshape(5, 6, 1)
                white = 255 if largest < 256 else 65535
                self.write("a.pam", self.pam(values, "GRAYSCALE", largest, "# a comment\n\n"))
                expected = (values[..., 0] * 2 * white + largest) // (2 * largest)
                self.equal(self.read("a.pam"),
                           expected.astype(np.uint8 if white == 255 else np.uint16))
        rgba = self.samples(4)
        for depth in (1, 2, 3, 4):  # as ffmpeg and pamtopng take those that do not say
            values = rgba[..., :depth]
            self.write("a.pam", self.pam(values, "", 255))
            self.equal(self.read("a.pam"), values.squeeze())
        for data, reason in (
                (self.pam(rgba, "CMYK", 255), "PAM of the tuple type 'CMYK' is not supported"),
                (self.pam(rgba, "RGB", 255), "damaged PAM: RGB of 4 channels"),
                (self.pam(np.dstack([rgba, rgba]), "", 255), "PAM of 8 channels is not supported"),
                (self.pam(rgba, "RGB_ALPHA", 70000), "damaged PAM: the largest value is 70000"),
                (self.pam(rgba, "RGB_ALPHA", 254), "damaged PAM: a sample is 255, and its header "
                                                   "says that the largest is 254"),
                (self.pam(rgba, "RGB_ALPHA", 255)[:-1], "truncated PAM: 2851 bytes of pixels, 2852 "
                                                        "needed"),
                (b"P7\nWIDTH 3\nHEIGHT 2\n", "damaged PAM: its header has no ENDHDR"),
                (b"P7\nWIDTH three\nENDHDR\n", "damaged PAM: 'three' is no WIDTH")):
            with self.subTest(reason):
                self.write("a.pam", data)
                self.refused("a.pam", reason)


class RadianceHdr(Fields):
    def stored(self, pixels, order, form="32-bit_rle_rgbe"):
        """RGBE of three bytes with exponent 128 + 8, rows or columns one after the other."""
        height, width = pixels.shape[:2]
        slow, fast = order.split()
        lines = pixels if slow[1] == "Y" else pixels.transpose(1, 0, 2)
        down = {"+Y": -1, "-Y": 1, "+X": 1, "-X": -1}
        lines = lines[::down[slow], ::down[fast]]
        sizes = {"X": width, "Y": height}
        head = (f"#?RADIANCE\nFORMAT={form}\n\n{slow} {sizes[slow[1]]} {fast} {sizes[fast[1]]}\n")
        four = np.concatenate([lines, np.full(lines.shape[:2] + (1,), 136, np.uint8)], 2)
        return head.encode() + four.tobytes()

    def test_every_order_of_lines(self):
        pixels = colour(5, 6)  # fewer than 8 in a line: never packed
        for slow in ("-Y", "+Y", "+X", "-X"):
            for fast in ("+X", "-X") if slow[1] == "Y" else ("-Y", "+Y"):
                with self.subTest(slow=slow, fast=fast):
                    self.write("a.hdr", self.stored(pixels, f"{slow} {fast}"))
                    self.equal(self.read("a.hdr"), pixels.astype(np.float32))

    def test_packed_columns(self):
        """Columns as a writer of rows packs them: the turned picture with another size line."""
        pixels = colour(23, 31).astype(np.float32) / 255
        np.save(self.path("in.npy"), np.ascontiguousarray(pixels.transpose(1, 0, 2)))
        self.impipe(IDENTITY, "in.npy", "-o", "a.exr")
        self.tool("oiiotool", "a.exr", "-o", "rows.hdr")
        rows = self.read("rows.hdr")
        with open(self.path("rows.hdr"), "rb") as file:
            data = file.read()
        self.assertIn(b"-Y 31 +X 23\n", data)
        self.write("columns.hdr", data.replace(b"-Y 31 +X 23\n", b"+X 31 -Y 23\n"))
        self.equal(self.read("columns.hdr"), rows.transpose(1, 0, 2))

    def test_what_is_not_read(self):
        pixels = colour(5, 6)
        self.write("a.hdr", self.stored(pixels, "-Y +X", "32-bit_rle_xyze"))
        self.refused("a.hdr", "Radiance HDR of CIE XYZ (32-bit_rle_xyze) is not supported; ra_xyze "
                              "-r makes it RGB")
        self.write("a.hdr", self.stored(pixels, "-Y +X", "spectral"))
        self.refused("a.hdr", "Radiance HDR of 'spectral' is not supported")
        self.write("a.hdr", self.stored(pixels, "-Y +X").replace(b"+X 6", b"+Y 6"))
        self.refused("a.hdr", "damaged Radiance HDR: its size is '-Y 5 +Y 6'")


class Tiff(Fields):
    def test_floats_whose_white_is_zero(self):
        """As tifffile, OpenImageIO, Pillow and GraphicsMagick read them: as they are."""
        values = ramp(20, 30).astype(np.float32) / 100 - 0.5
        values[0, :3] = np.nan, np.inf, -1e30
        for kind in (np.float32, np.float16, np.float64):
            with self.subTest(kind):
                stored = np.clip(values, -60000, 60000) if kind == np.float16 else values
                tifffile.imwrite(self.path("a.tif"), stored.astype(kind), photometric="miniswhite",
                                 metadata=None, software=False)
                got = self.read("a.tif", "impipe: a.tif: the result is without WhiteIsZero (its "
                                         "floats are read as they are stored)\n")
                np.testing.assert_array_equal(got, stored.astype(kind).astype(got.dtype))

    def test_a_transfer_function(self):
        curve = (301, "H", 256, tuple(range(0, 65536, 257)), False)
        tifffile.imwrite(self.path("a.tif"), ramp(), metadata=None, software=False,
                         extratags=[curve])
        self.equal(self.read("a.tif", "impipe: a.tif: the result is without a transfer function\n"),
                   ramp())

    def test_compressions_that_are_decoded(self):
        """Written by Pillow's libtiff, with differences of neighbours and bits turned round."""
        for pixels, compression, more in (
                *((colour(), name, {}) for name in ("raw", "tiff_lzw", "tiff_adobe_deflate",
                                                    "packbits", "zstd", "lzma")),
                (colour(), "tiff_lzw", {317: 2}), (ramp(), "tiff_adobe_deflate", {317: 2}),
                *((ramp() > 127, name, {266: order}) for name in ("group3", "group4", "tiff_ccitt")
                  for order in (1, 2))):
            with self.subTest(compression, **{f"tag{tag}": value for tag, value in more.items()}):
                Image.fromarray(pixels).save(self.path("a.tif"), compression=compression,
                                             tiffinfo=more)
                self.equal(self.read("a.tif"), pixels)

    def packed(self, block, compression):
        """A strip or tile as a file of another format, by Pillow and cjxl."""
        pixels = Image.fromarray(block[:, :, 0] if block.shape[2] == 1 else block)
        name = {34933: "block.png", 34712: "block.j2k", 33005: "block.j2k"}.get(compression)
        pixels.save(self.path(name or "block.png"), **({"no_jp2": True} if name == "block.j2k"
                                                       else {}))
        if name is None:
            name = "block.jxl"
            self.tool("cjxl", "-q", "100", "block.png", name)
        with open(self.path(name), "rb") as file:
            return file.read()

    def blocks(self, pixels, compression, **more):
        self.write("a.tif", tiff_writer.tiff(tiff_writer.page(
            pixels, photometric=1 if pixels.ndim == 2 else 2, compression=compression,
            pack=lambda block: self.packed(block, compression), **more)))

    def test_compressions_of_other_formats(self):
        wide = (ramp(70, 50).astype(np.uint16) * 257 + 3).astype(np.uint16)
        for compression in (34712, 33005, 34933, 50002, 52546):
            for pixels, more in ((ramp(70, 50), {}), (ramp(70, 50), {"tile": 32}),
                                 (colour(70, 50), {"tile": 32}), (wide, {"tile": 32}),
                                 (colour(70, 50), {"tile": 32, "planar": 2})):
                with self.subTest(compression, dtype=pixels.dtype, shape=pixels.shape, **more):
                    self.blocks(pixels, compression, **more)
                    self.equal(self.read("a.tif"), pixels)
                    self.impipe("imcrop rect=3,5,40,30", "a.tif", "-o", "b.tif", "--memory", "1k")
                    self.equal(self.read("b.tif"), pixels[5:35, 3:43])

    def test_compressions_of_other_formats_that_are_damaged(self):
        self.blocks(ramp(70, 50), 34933, tile=32)
        with open(self.path("a.tif"), "rb") as file:
            sound = file.read()
        other = self.packed(colour(32, 32), 34933)
        at = sound.index(b"\x89PNG")
        for data, message in (
                (sound[:at] + other + sound[at + len(other):],
                 "damaged TIFF: its header says 32x32, uint8 x1, white 255 of 8 bits, a strip or "
                 "tile is a PNG of 32x32, uint8 x3, white 255, 8-bit"),
                (sound.replace(b"\x89PNG", b"\x89PNX", 1),
                 "damaged TIFF: a strip or tile is no PNG")):
            self.write("a.tif", data)
            self.refused("a.tif", message)

    def test_compressions_without_a_decoder_are_named(self):
        tifffile.imwrite(self.path("plain.tif"), ramp(20, 30), metadata=None)
        with open(self.path("plain.tif"), "rb") as file:
            data = file.read()
        field = struct.pack("<HHIHH", 259, 3, 1, 1, 0)
        self.assertIn(field, data)
        for number, name in ((22610, " (JPEG XR)"), (33003, " (JPEG 2000)"),
                             (34934, " (JPEG XR)"), (34715, " (JBIG2)"), (48124, " (Jetraw)"),
                             (12345, "")):
            with self.subTest(number):
                other = struct.pack("<HHIHH", 259, 3, 1, number, 0)
                self.write("a.tif", data.replace(field, other))
                self.refused("a.tif", f"TIFF of compression {number}{name} is not supported")
                run = self.impipe("imgaussfilt 2", "a.tif", "-o", "b.tif", "--memory", "1k", code=1)
                self.assertIn(f"TIFF of compression {number}{name} is not supported", run.err)


class Bmp(Fields):
    def made(self, colour_space, ends=b"", profile=b""):
        """Windows' fifth header, 24 bits a pixel."""
        pixels = bytes(range(4 * 12))
        head = struct.pack("<IiiHHIIIIII", 124, 4, 4, 1, 24, 0, len(pixels), 0, 0, 0, 0)
        head += struct.pack("<4I", 0, 0, 0, 0) + colour_space + ends.ljust(48, b"\0")
        head += struct.pack("<IIII", 4, 124 + len(pixels) if profile else 0, len(profile), 0)
        data = b"BM" + struct.pack("<IHHI", 138 + len(pixels) + len(profile), 0, 0, 138)
        self.write("a.bmp", data + head + pixels + profile)

    def test_colour_spaces(self):
        icc = icc_writer.profile(icc_writer.gamma(2.2), icc_writer.ADOBE)
        for space, more, without in (
                (b"BGRs", {}, ""), (b"\0\0\0\0", {}, ""),
                (b"\0\0\0\0", {"ends": b"\1" * 48}, "its calibrated colours"),
                (b"KNIL", {"profile": b"c:\\a.icc"}, "an ICC profile in another file"),
                (b"DEBM", {"profile": icc}, "")):
            with self.subTest(space, **more):
                self.made(space, **more)
                run = self.impipe(IDENTITY, "a.bmp", "-o", "out.png")
                self.assertEqual(
                    run.err, without and f"impipe: a.bmp: the result is without {without}\n")
                with Image.open(self.path("out.png")) as out:
                    self.assertEqual(out.info.get("icc_profile"), icc if space == b"DEBM" else None)
                    with Image.open(self.path("a.bmp")) as their:
                        np.testing.assert_array_equal(np.asarray(out), np.asarray(their))


class Tables(unittest.TestCase):
    """docs/formats.md names a test for each field; this one looks whether it exists."""

    def test_each_named_test_exists(self):
        with open(os.path.join(ROOT, "docs/formats.md")) as file:
            text = file.read()
        section = text.split("## Fields that change what pixels mean\n")[1].split("\n## ")[0]
        rows = re.findall(r"^\|.*\| `(\w+)\.(\w+)` \|$", section, re.MULTILINE)
        lines = [line for line in section.splitlines() if line.startswith("|")]
        tables = sum(line.startswith("|---") for line in lines)
        self.assertEqual(len(rows), len(lines) - 2 * tables, "rows without a test")
        unit = ""
        for path in glob.glob(os.path.join(ROOT, "tests/unit/*.cpp")):
            with open(path) as file:
                unit += file.read()
        for suite, name in rows:
            with self.subTest(f"{suite}.{name}"):
                path = os.path.join(ROOT, f"tests/cli/test_{suite}.py")
                if os.path.exists(path):
                    with open(path) as file:
                        self.assertIn(f"def test_{name}(", file.read())
                else:
                    self.assertIn(f"TEST({suite}, {name})", unit)


class Dicom(Fields):
    def test_by_its_mark_behind_any_preamble(self):
        dicom(self.path("plain.dcm"), ramp(20, 30))
        with open(self.path("plain.dcm"), "rb") as file:
            body = file.read()[128:]
        for preamble in (b"", b"II*\0\x08\0\0\0", b"MM\0*\0\0\0\x08", b"II*\0\0\0\1\0", b"P5\n",
                         b"text"):
            with self.subTest(preamble):
                self.write("a.dcm", preamble.ljust(128, b"\0") + body)
                self.equal(self.read("a.dcm", "impipe: a.dcm: the result is without 4 fields of the "
                                              "DICOM header\n"), ramp(20, 30))

    def test_a_tiff_that_is_also_a_dicom_is_a_tiff(self):
        """As scanners of slides write them: one directory beside the elements."""
        tifffile.imwrite(self.path("plain.tif"), ramp(20, 30), metadata=None, software=False)
        with open(self.path("plain.tif"), "rb") as file:
            data = file.read()
        moved = bytearray(b"II*\0" + struct.pack("<I", 132 + struct.unpack("<I", data[4:8])[0]))
        count = struct.unpack("<H", data[8:10])[0]
        body = bytearray(data)
        for i in range(count):
            tag, kind, number, value = struct.unpack("<HHII", data[10 + 12 * i:22 + 12 * i])
            size = number * {1: 1, 2: 1, 3: 2, 4: 4, 5: 8}[kind]
            if size > 4 or tag == 273:
                struct.pack_into("<I", body, 18 + 12 * i, value + 132)
        self.write("a.dcm", bytes(moved).ljust(128, b"\0") + b"DICM" + bytes(body))
        self.equal(self.read("a.dcm"), ramp(20, 30))


class Writers(Fields):
    """What is written without loss has the same pixels for readers that share no code of ours.

    Others: JPEG XL, JPEG 2000, AVIF, QOI, HEIF, HDR in test_codecs, DPX in test_dpx, Y4M and raw
    samples in test_streams, JPEG in test_metadata, PAM above.
    """

    RAW = {("u1", 1): "gray", ("u1", 2): "ya8", ("u1", 3): "rgb24", ("u1", 4): "rgba",
           ("u2", 1): "gray16le", ("u2", 2): "ya16le", ("u2", 3): "rgb48le",
           ("u2", 4): "rgba64le"}

    def by_ffmpeg(self, name, expected):
        depth = expected.shape[2]
        form = self.RAW[expected.dtype.str[1:], depth]
        out = self.tool("ffmpeg", "-v", "error", "-i", name, "-f", "rawvideo", "-pix_fmt", form,
                        "-")
        return np.frombuffer(out, expected.dtype).reshape(expected.shape)

    def by_netpbm(self, name, expected):
        """Of 16 bits: a float that is within one of them is taken for the same."""
        pam = self.tool("pfmtopam", "-maxval", "65535", name)
        stored = np.frombuffer(pam[-2 * expected.size:], ">u2").reshape(expected.shape)
        same = np.abs(stored - expected.astype(np.float64) * 65535) <= 1
        return np.where(same, expected, np.float32(np.nan))

    def by_pillow(self, name, _):
        return np.atleast_3d(self.pixels(name))

    def by_tifffile(self, name, _):
        return np.atleast_3d(tifffile.imread(self.path(name)))

    def by_oiiotool(self, name, _):
        self.tool("oiiotool", name, "-d", "float", "--compression", "none", "-o", "oiio.tif")
        return self.by_tifffile("oiio.tif", _)

    def test_pixels_for_other_readers(self):
        bits, bytes_, wide, floats = bool, np.uint8, np.uint16, np.float32
        pillow, ffmpeg, by_tifffile = self.by_pillow, self.by_ffmpeg, self.by_tifffile
        for ext, reader, kind, depths in (
                ("png", pillow, bits, (1,)), ("png", pillow, bytes_, (1, 2, 3, 4)),
                ("png", ffmpeg, wide, (1, 2, 3, 4)),
                ("tif", by_tifffile, bits, (1,)), ("tif", by_tifffile, bytes_, (1, 2, 3, 4)),
                ("tif", by_tifffile, wide, (1, 2, 3, 4)), ("tif", by_tifffile, floats, (1, 3, 4)),
                ("bmp", pillow, bits, (1,)), ("bmp", pillow, bytes_, (1, 3, 4)),
                ("webp", pillow, bytes_, (3, 4)), ("tga", pillow, bytes_, (1, 3, 4)),
                ("qoi", ffmpeg, bytes_, (3, 4)),
                ("pbm", pillow, bits, (1,)), ("pgm", pillow, bytes_, (1,)),
                ("ppm", pillow, bytes_, (3,)), ("pgm", ffmpeg, wide, (1,)),
                ("ppm", ffmpeg, wide, (3,)), ("pfm", self.by_netpbm, floats, (1, 3)),
                ("exr", self.by_oiiotool, floats, (1, 3))):
            for depth in depths:
                with self.subTest(ext, kind=kind, depth=depth):
                    rng = np.random.default_rng(depth)
                    values = rng.random((23, 31, depth)) if kind == floats else rng.integers(
                        0, 2 if kind == bits else np.iinfo(kind).max + 1, (23, 31, depth))
                    values = values.astype(kind)
                    np.save(self.path("in.npy"), values)
                    axes = "YXA" if depth in (2, 4) else "YXC"
                    self.impipe(IDENTITY, "in.npy", "--axes", axes, "-o", f"out.{ext}")
                    self.equal(reader(f"out.{ext}", values), values)


if __name__ == "__main__":
    unittest.main()
