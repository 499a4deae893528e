"""DPX: files of oiiotool and ffmpeg are read right, theirs read ours, and headers are carried."""
import itertools
import struct
import subprocess
import unittest

import numpy as np
from program import ProgramTest

IDENTITY = "rot90 0"
H, W = 7, 13


def wide(codes, bits):
    """Codes of fewer bits, over the full range of 16."""
    top = 2 ** bits - 1
    return ((2 * codes.astype(np.int64) * 65535 + top) // (2 * top)).astype(np.uint16)


class Dpx(ProgramTest):
    def setUp(self):
        super().setUp()
        self.rng = np.random.default_rng(3)

    def tool(self, *arguments):
        done = subprocess.run(arguments, cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        return done.stdout

    def codes(self, bits, channels):
        return self.rng.integers(0, 2 ** bits, (H, W, channels))

    def by_oiiotool(self, codes, bits, name="a.dpx", packing="Packed", endian="big"):
        """A DPX of these codes."""
        channels = codes.shape[2]
        kind = np.uint8 if bits == 8 else np.uint16
        pixels = codes.astype(kind) if bits in (8, 16) else wide(codes, bits)
        self.assertIn(channels, (1, 3, 4))
        np.save(self.path("in.npy"), pixels)
        self.impipe(IDENTITY, "in.npy", "-o", "in.tif")
        self.tool("oiiotool", "--iconfig", "oiio:UnassociatedAlpha", "1", "in.tif", "-d",
                  f"uint{bits}", "--attrib:type=int", "oiio:BitsPerSample", str(bits), "--attrib",
                  "dpx:Packing", packing, "--attrib", "oiio:Endian", endian, "-o", name)

    def read(self, name):
        self.impipe(IDENTITY, name, "-o", "out.npy", "--strip")
        return np.load(self.path("out.npy")).reshape(H, W, -1)

    def test_files_of_oiiotool(self):
        cases = [(8, "Packed"), (16, "Packed"), (10, "Filled, method A"), (10, "Filled, method B"),
                 (12, "Packed"), (12, "Filled, method A"), (12, "Filled, method B")]
        for (bits, packing), endian, channels in itertools.product(cases, ("big", "little"),
                                                                   (1, 3, 4)):
            with self.subTest(bits=bits, packing=packing, endian=endian, channels=channels):
                codes = self.codes(bits, channels)
                self.by_oiiotool(codes, bits, packing=packing, endian=endian)
                expected = codes.astype(np.uint8) if bits == 8 else wide(codes, bits)
                np.testing.assert_array_equal(self.read("a.dpx"), expected)

    def test_ours_are_the_same_bytes(self):
        for bits, packing in ((8, "Packed"), (10, "Filled, method A"), (10, "Filled, method B"),
                              (12, "Filled, method A"), (16, "Packed")):
            for endian in ("big", "little"):
                with self.subTest(bits=bits, packing=packing, endian=endian):
                    self.by_oiiotool(self.codes(bits, 3), bits, packing=packing, endian=endian)
                    run = self.impipe(IDENTITY, "a.dpx", "-o", "b.dpx")
                    self.assertEqual(run.err, "")
                    self.tool("oiiotool", "-a", "--diff", "a.dpx", "b.dpx")
                    with open(self.path("a.dpx"), "rb") as first, open(self.path("b.dpx"),
                                                                       "rb") as second:
                        a, b = first.read(), second.read()
                    start = struct.unpack(">I" if endian == "big" else "<I", a[4:8])[0]
                    self.assertEqual((b[36:664], b[1408:2048]), (a[36:664], a[1408:2048]))
                    if bits == 10:  # oiiotool fills up no rows of others
                        self.assertEqual(b[start:], a[start:])

    def test_files_of_ffmpeg(self):
        for pixels, bits, channels in (("gray", 8, 1), ("rgb24", 8, 3), ("rgba", 8, 4),
                                       ("gbrp10be", 10, 3), ("gbrp10le", 10, 3),
                                       ("gbrp12be", 12, 3), ("rgb48be", 16, 3),
                                       ("rgba64le", 16, 4)):
            with self.subTest(pixels):
                kind = np.uint8 if bits == 8 else np.dtype(">u2" if pixels.endswith("be") else "<u2")
                codes = self.codes(bits, channels)
                planes = codes.transpose(2, 0, 1)[[1, 2, 0]] if pixels.startswith("gbr") else codes
                self.write("in.raw", planes.astype(kind).tobytes())
                self.tool("ffmpeg", "-v", "error", "-y", "-f", "rawvideo", "-pixel_format", pixels,
                          "-video_size", f"{W}x{H}", "-i", "in.raw", "a.dpx")
                expected = codes.astype(np.uint8) if bits == 8 else wide(codes, bits)
                np.testing.assert_array_equal(self.read("a.dpx"), expected)

    def gray_by_ffmpeg(self, name, width):
        """The integer pixels of a gray DPX of 10 bits, as ffmpeg reads it."""
        self.tool("ffmpeg", "-v", "error", "-y", "-i", name, "-f", "rawvideo", "-pix_fmt",
                  "gray10le", "gray.raw")
        return np.fromfile(self.path("gray.raw"), "<u2").reshape(H, width, 1)

    def test_gray_of_10_bits_begins_with_the_lowest(self):
        # oiiotool writes such pictures packed alone: its header is changed. Of the last word of a
        # row it reads only a full one.
        for endian, method, width in itertools.product(("big", "little"), (1, 2), (1, 5, 6)):
            with self.subTest(endian=endian, method=method, width=width):
                order = ">" if endian == "big" else "<"
                codes = self.rng.integers(0, 1024, (H, width, 1))
                self.by_oiiotool(codes, 10, endian=endian)
                triples = np.zeros((H, (width + 2) // 3 * 3), np.uint32)
                triples[:, :width] = codes[..., 0]
                words = (triples.reshape(H, -1, 3) << np.array([0, 10, 20], np.uint32)).sum(
                    axis=2, dtype=np.uint32) << (2 if method == 1 else 0)
                with open(self.path("a.dpx"), "rb") as file:
                    data = self.fields(file.read(), _804=(order + "H", method))
                start = struct.unpack(order + "I", data[4:8])[0]
                pixels = words.astype(order + "u4").tobytes()
                self.write("a.dpx", data[:start] + pixels)
                np.testing.assert_array_equal(self.gray_by_ffmpeg("a.dpx", width), codes)
                if width % 3 == 0:
                    self.tool("oiiotool", "--fail", "1e-4", "--warn", "1e-4", "a.dpx", "in.tif",
                              "--diff")
                self.impipe(IDENTITY, "a.dpx", "-o", "out.npy", "--strip")
                np.testing.assert_array_equal(np.load(self.path("out.npy")), wide(codes, 10)[..., 0])
                self.impipe("imcomplement", "a.dpx", "-o", "b.dpx")
                np.testing.assert_array_equal(self.gray_by_ffmpeg("b.dpx", width), 1023 - codes)
                self.impipe("imcomplement", "b.dpx", "-o", "c.dpx")
                with open(self.path("c.dpx"), "rb") as file:
                    self.assertEqual(file.read()[start:], pixels)

    def test_what_is_made_of_others(self):
        for kind, word in ((np.uint8, "uint8"), (np.uint16, "uint16")):
            for channels in (1, 3, 4):
                with self.subTest(word, channels=channels):
                    codes = self.codes(8 if kind == np.uint8 else 16, channels).astype(kind)
                    np.save(self.path("a.npy"), codes)
                    axes = ("--axes", "YXA") if channels == 4 else ()
                    self.impipe(IDENTITY, "a.npy", "-o", "a.dpx", *axes)
                    self.tool("oiiotool", "--iconfig", "oiio:UnassociatedAlpha", "1", "a.dpx", "-o",
                              "back.tif")
                    shown = self.tool("oiiotool", "--info", "-v", "a.dpx")
                    self.assertIn(f"{W} x    {H}, {channels} channel, {word} dpx", shown)
                    self.assertEqual(self.tool("oiiotool", "a.dpx", "back.tif", "--diff").count(
                        "PASS"), 1)
                    np.testing.assert_array_equal(self.read("a.dpx"), codes)

    def fields(self, data, **values):
        """A file with fields of its header set: place=(format, value)."""
        out = bytearray(data)
        for at, (form, value) in values.items():
            struct.pack_into(form, out, int(at[1:]), value)
        return bytes(out)

    def test_headers_are_carried_or_named(self):
        self.by_oiiotool(self.codes(10, 3), 10, packing="Filled, method A")
        with open(self.path("a.dpx"), "rb") as file:
            data = self.fields(file.read(), _160=("10s", b"A creator\0"), _260=("9s", b"A project"),
                               _460=("2s", b"C\0"), _1408=(">I", 17), _1920=(">I", 0x01020304))
        self.write("a.dpx", data)
        self.impipe("imcomplement", "a.dpx", "-o", "b.dpx")
        shown = self.tool("oiiotool", "--info", "-v", "b.dpx")
        for text in ("A creator", "A project", "01:02:03:04"):
            self.assertIn(text, shown)
        run = self.impipe("imrotate 5", "a.dpx", "-o", "c.dpx")
        self.assertEqual(run.err, "impipe: a.dpx: the result is without its place in the original "
                                  "picture\n")
        self.assertIn("A creator", self.tool("oiiotool", "--info", "-v", "c.dpx"))
        run = self.impipe(IDENTITY, "a.dpx", "-o", "a.png")
        self.assertIn("the result is without its creator, its project, its copyright", run.err)
        self.assertIn("its time code", run.err)
        self.impipe(IDENTITY, "a.dpx", "-o", "a.png", "--strict", code=1)

    def test_the_place_in_the_original_picture_follows(self):
        codes = self.codes(8, 3)
        height, width = codes.shape[:2]
        self.by_oiiotool(codes, 8)
        with open(self.path("a.dpx"), "rb") as file:
            data = self.fields(file.read(), _1408=(">I", 12), _1412=(">I", 8), _1424=(">I", 100),
                               _1428=(">I", 60))
        self.write("a.dpx", data)
        right, below = 100 - 12 - width, 60 - 8 - height
        for pipeline, place in (("imcrop rect=3,2,4,3", (15, 10, 100, 60)),
                                ("impad 1,2", (10, 7, 100, 60)),
                                ("fliplr", (right, 8, 100, 60)), ("flipud", (12, below, 100, 60)),
                                ("transpose", (8, 12, 60, 100)), ("imresize 2", (24, 16, 200, 120))):
            with self.subTest(pipeline):
                self.assertEqual(self.impipe(pipeline, "a.dpx", "-o", "b.dpx").err, "")
                with open(self.path("b.dpx"), "rb") as file:
                    header = file.read(2048)
                self.assertEqual((*struct.unpack(">2I", header[1408:1416]),
                                  *struct.unpack(">2I", header[1424:1432])), place)
        for pipeline in ("imtranslate 2,1", "impad 20", "imrotate 5"):
            self.assertEqual(self.impipe(pipeline, "a.dpx", "-o", "b.dpx").err,
                             "impipe: a.dpx: the result is without its place in the original "
                             "picture\n")

    def test_rows_from_below(self):
        codes = self.codes(8, 3)
        self.by_oiiotool(codes, 8)
        with open(self.path("a.dpx"), "rb") as file:
            data = file.read()
        for orientation, view in ((1, codes[::-1]), (2, codes[:, ::-1]), (3, codes[::-1, ::-1])):
            self.write("b.dpx", self.fields(data, _768=(">H", orientation)))
            np.testing.assert_array_equal(self.read("b.dpx"), view)

    def test_what_cannot_be_read(self):
        self.by_oiiotool(self.codes(8, 3), 8)
        with open(self.path("a.dpx"), "rb") as file:
            data = file.read()
        for change, reason in (
                ({"_768": (">H", 5)}, "DPX that is stored column by column (orientation 5)"),
                ({"_770": (">H", 2)}, "DPX of 2 elements; one is read"),
                ({"_772": (">I", 0x80000000)},
                 "too large: a side of 2147483648x7 exceeds 16777215 pixels"),
                ({"_772": (">I", 0)}, "DPX without pixels (0x7)"),
                ({"_776": (">I", 70000)}, None),
                ({"_780": (">I", 1)}, "DPX of numbers with a sign"),
                ({"_800": (">B", 100)},
                 "DPX of elements of kind 100, which is not gray, RGB, RGBA or ABGR"),
                ({"_803": (">B", 32)}, "DPX of 32 bits a sample"),
                ({"_804": (">H", 9)}, "DPX with packing 9"),
                ({"_806": (">H", 1)}, "DPX in run lengths"),
                ({"_808": (">I", 5)}, "damaged DPX: its pixels begin within its header"),
                ({"_808": (">I", 0xfffffff0)}, None)):
            with self.subTest(change):
                self.write("b.dpx", self.fields(data, **change))
                run = self.impipe(IDENTITY, "b.dpx", "-o", "out.npy", code=1)
                if reason:
                    self.assertEqual(run.err, f"impipe: b.dpx: decode: {reason}\n")
                else:
                    self.assertRegex(run.err, "^impipe: b.dpx: decode: truncated DPX: .* needs at "
                                              "least \\d+ bytes, and the file has \\d+\n$")
        for cut in (4, 100, 900, 1700, 2048, len(data) - 1):
            self.write("b.dpx", data[:cut])
            run = self.impipe(IDENTITY, "b.dpx", "-o", "out.npy", code=1)
            self.assertIn("truncated DPX: ", run.err)


if __name__ == "__main__":
    unittest.main()
