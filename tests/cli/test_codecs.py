"""Formats with a library of their own, and QOI, TGA and Radiance HDR, against other programs.

Every file is made, and every result judged, by a program that shares no code of ours.
"""
import json
import os
import re
import shutil
import struct
import subprocess
import unittest

import numpy as np
from PIL import Image, ImageCms, ImageSequence
from program import ProgramTest

IDENTITY = "rot90 0"
H, W = 37, 53
Y, X = np.mgrid[0:H, 0:W]
GRAY = ((4 * X + 3 * Y) % 256).astype(np.uint8)
COLOUR = np.stack([GRAY, (7 * Y) % 256, (X * Y) % 256], 2).astype(np.uint8)
CLEAR = np.dstack([COLOUR, (X * 5 + Y) % 256]).astype(np.uint8)
DEEP = (X * 1200 + Y * 7 + 3).astype(np.uint16)
PICTURES = {"gray": GRAY, "colour": COLOUR, "clear": CLEAR, "deep": DEEP}


def tool(*command):
    if shutil.which(command[0]) is None:
        raise unittest.SkipTest(f"there is no {command[0]}")
    subprocess.run(command, check=True, capture_output=True)


class Codecs(ProgramTest):
    def read(self, name):
        run = self.impipe(IDENTITY, name, "-o", "read.npy")
        self.assertEqual(run.err, "")
        return np.load(self.path("read.npy"))

    def equal(self, got, expected):
        self.assertEqual((got.dtype, got.shape), (expected.dtype, expected.shape))
        np.testing.assert_array_equal(got, expected)

    def png(self, name):
        return np.asarray(Image.open(self.path(name)))

    def goes_both_ways(self, extension, names, encode, decode):
        for name in names:
            with self.subTest(extension, picture=name):
                Image.fromarray(PICTURES[name]).save(self.path("in.png"))
                their = f"{name}.their.{extension}"
                tool(*encode(self.path("in.png"), self.path(their)))
                self.equal(self.read(their), PICTURES[name])
                our = f"{name}.our.{extension}"
                self.impipe(IDENTITY, "in.png", "-o", our)
                tool(*decode(self.path(our), self.path("out.png")))
                self.equal(self.png("out.png").astype(PICTURES[name].dtype), PICTURES[name])

    def test_jpeg_xl(self):
        self.goes_both_ways("jxl", PICTURES, lambda a, b: ("cjxl", "-q", "100", a, b),
                            lambda a, b: ("djxl", a, b))

    def test_jpeg_2000(self):
        self.goes_both_ways("jp2", PICTURES, lambda a, b: ("opj_compress", "-i", a, "-o", b),
                            lambda a, b: ("opj_decompress", "-i", a, "-o", b))

    def test_avif(self):
        self.goes_both_ways("avif", ["colour", "clear"],
                            lambda a, b: ("avifenc", "--lossless", a, b),
                            lambda a, b: ("avifdec", a, b))

    def test_avif_of_writers_that_say_less(self):
        # Libheif before 1.12 left out how many bits a channel has.
        Image.fromarray(CLEAR).save(self.path("in.png"))
        self.impipe(IDENTITY, "in.png", "-o", "a.avif")
        with open(self.path("a.avif"), "rb") as file:
            data = file.read()
        self.assertIn(b"pixi", data)
        self.write("b.avif", data.replace(b"pixi", b"free"))
        self.equal(self.read("b.avif"), CLEAR)

    def test_qoi(self):
        convert = lambda a, b: ("ffmpeg", "-v", "error", "-y", "-i", a, b)
        self.goes_both_ways("qoi", ["colour", "clear"], convert, convert)

    def test_losses_are_those_of_the_formats_own_tool(self):
        Image.fromarray(COLOUR).save(self.path("in.png"))
        for encode, decode, depth in (
                (("cjxl", "-q", "80", "in.png", "a.jxl"), ("djxl", "a.jxl", "out.png"), np.uint8),
                (("avifenc", "-y", "420", "--min", "20", "--max", "30", "in.png", "a.avif"),
                 ("avifdec", "a.avif", "out.png"), np.uint8),
                (("avifenc", "-d", "10", "in.png", "a.avif"),
                 ("avifdec", "-d", "16", "a.avif", "out.png"), np.uint16)):
            with self.subTest(encode):
                where = lambda words: [self.path(w) if "." in w else w for w in words]
                tool(*where(encode))
                tool(*where(decode))
                ours = self.read(encode[-1])
                # Pillow has no 16-bit colours.
                self.impipe(IDENTITY, "out.png", "-o", "out.npy", "--strip")
                self.equal(ours, np.load(self.path("out.npy")))
                self.assertEqual(ours.dtype, depth)

    def test_heif(self):
        exif = Image.Exif()
        exif[0x010E] = "a lighthouse"
        for name in ("colour", "clear"):
            with self.subTest(name):
                Image.fromarray(PICTURES[name]).save(self.path("in.png"))
                tool("heif-enc", "-q", "70", self.path("in.png"), "-o", self.path("a.heic"))
                tool("heif-convert", self.path("a.heic"), self.path("out.png"))
                self.equal(self.read("a.heic"), self.png("out.png"))
        np.save(self.path("in.npy"), np.dstack([DEEP, DEEP[::-1], DEEP[:, ::-1]]))
        self.impipe(IDENTITY, "in.npy", "-o", "in.png")
        tool("heif-enc", "-b", "10", self.path("in.png"), "-o", self.path("a.heic"))
        tool("heif-convert", self.path("a.heic"), self.path("out.png"))
        self.impipe(IDENTITY, "out.png", "-o", "out.npy", "--strip")
        # heif-convert has the ten bits on top of six zeros; ours go up to white.
        codes = np.load(self.path("out.npy")).astype(np.int64) >> 6
        self.equal(self.read("a.heic"), ((2 * codes * 65535 + 1023) // 2046).astype(np.uint16))
        Image.fromarray(COLOUR).save(self.path("in.jpg"), exif=exif)
        tool("heif-enc", self.path("in.jpg"), "-o", self.path("a.heic"))
        self.impipe(IDENTITY, "a.heic", "-o", "a.png")
        self.assertEqual(Image.open(self.path("a.png")).getexif().get(0x010E), "a lighthouse")
        with open(self.path("a.heic"), "rb") as file:
            data = file.read()
        self.write("cut.heic", data[:len(data) * 2 // 3])
        run = self.impipe(IDENTITY, "cut.heic", "-o", "cut.npy", code=1)
        self.assertRegex(run.err, "^impipe: cut.heic: decode: truncated HEIF: it ends at byte ")
        self.assertNotIn("cut.npy", self.tree())

    def test_heif_is_written(self):
        smooth = np.stack([Y * 2, X * 2, X + Y], 2).astype(np.uint8)
        for name, pixels in {**PICTURES, "smooth": smooth}.items():
            with self.subTest(name):
                np.save(self.path("in.npy"), pixels)
                alpha = pixels.ndim == 3 and pixels.shape[2] == 4
                if alpha:
                    Image.fromarray(pixels).save(self.path("in.png"))
                source = "in.png" if alpha else "in.npy"
                if name == "deep":
                    continue
                self.impipe(IDENTITY, source, "-o", "a.heic", "--lossless")
                tool("heif-convert", self.path("a.heic"), self.path("out.png"))
                made = self.png("out.png")
                self.equal(made if pixels.ndim == 3 else made[..., 0], pixels)
                self.equal(self.read("a.heic"), pixels)
        np.save(self.path("in.npy"), DEEP)
        run = self.impipe(IDENTITY, "in.npy", "-o", "a.heic", "--lossless", code=1)
        self.assertIn("HEIF of 12 bits cannot hold these 16-bit pixels without loss", run.err)
        twelve = (DEEP.astype(np.int64) * 4095 * 2 + 65535) // (2 * 65535)
        np.save(self.path("in.npy"), ((twelve * 65535 * 2 + 4095) // (2 * 4095)).astype(np.uint16))
        self.impipe(IDENTITY, "in.npy", "-o", "a.heic", "--lossless")
        self.equal(self.read("a.heic"), self.pixels("in.npy"))

    def test_heif_with_loss(self):
        y, x = np.mgrid[0:150, 0:201]  # of odd sides
        smooth = np.stack([y, x, (x + y) // 2], 2).astype(np.uint8)
        Image.fromarray(smooth).save(self.path("in.png"))
        sizes = {}
        for quality in (30, 90):
            self.impipe(IDENTITY, "in.png", "-o", "a.heic", "--quality", str(quality))
            tool("heif-convert", self.path("a.heic"), self.path("out.png"))
            made, got = self.png("out.png").astype(int), self.read("a.heic").astype(int)
            np.testing.assert_array_equal(made, got)
            self.assertLess(np.abs(got - smooth).mean(), 3)
            sizes[quality] = os.path.getsize(self.path("a.heic"))
        self.assertLess(sizes[30], sizes[90])
        for kind in ("420", "422", "444"):
            self.impipe(IDENTITY, "in.png", "-o", "a.heic", "--subsampling", kind)
            self.assertLess(np.abs(self.read("a.heic").astype(int) - smooth).mean(), 3)
        exif = Image.Exif()
        exif[0x010E], exif[0x0112] = "a lighthouse", 6
        profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
        Image.fromarray(smooth).save(self.path("in.jpg"), exif=exif, icc_profile=profile)
        self.impipe(IDENTITY, "in.jpg", "-o", "a.heic")
        self.assertEqual(self.read_size("a.heic"), (150, 201))
        self.impipe(IDENTITY, "a.heic", "-o", "back.png")
        with Image.open(self.path("back.png")) as back:
            self.assertEqual(back.getexif().get(0x010E), "a lighthouse")
            self.assertEqual(back.getexif().get(0x0112, 1), 1)
            self.assertEqual(back.info["icc_profile"], profile)

    def read_size(self, name):
        """Width and height."""
        return self.pixels_of(name).shape[1::-1]

    def pixels_of(self, name):
        self.impipe(IDENTITY, name, "-o", "size.npy", "--strip")
        return self.pixels("size.npy")

    def test_quality_and_lossless(self):
        Image.fromarray(COLOUR).save(self.path("in.png"))
        for ext in ("webp", "avif", "jxl"):
            with self.subTest(ext):
                self.impipe(IDENTITY, "in.png", "-o", f"poor.{ext}", "--quality", "30")
                self.impipe(IDENTITY, "in.png", "-o", f"good.{ext}", "--quality", "30",
                            "--lossless")
                self.equal(self.read(f"good.{ext}"), COLOUR)
                poor = self.read(f"poor.{ext}").astype(int)
                self.assertGreater(np.abs(poor - COLOUR).max(), 0)
                self.assertLess(np.abs(poor - COLOUR).mean(), 40)
        run = self.impipe(IDENTITY, "in.png", "-o", "a.jpg", "--lossless", code=1)
        self.assertEqual(run.err, "impipe: in.png: encode: JPEG is always written with loss; "
                                  "--lossless needs another\n")

    def test_tga(self):
        for name in ("gray", "colour", "clear"):
            for packed in (None, "tga_rle"):
                with self.subTest(name, compression=packed):
                    Image.fromarray(PICTURES[name]).save(self.path("in.tga"), compression=packed)
                    self.equal(self.read("in.tga"), PICTURES[name])
                    self.impipe(IDENTITY, "in.tga", "-o", "out.tga")
                    self.equal(self.png("out.tga"), PICTURES[name])
    def test_a_fourth_byte_of_a_tga_that_its_header_does_not_tell_of(self):
        area = bytes(494) + b"\0"
        for packed in (None, "tga_rle"):
            with self.subTest(compression=packed):
                for fill, expected in ((None, CLEAR), (0, COLOUR), (255, COLOUR)):
                    picture = CLEAR.copy()
                    if fill is not None:
                        picture[..., 3] = fill
                    Image.fromarray(picture).save(self.path("in.tga"), compression=packed)
                    with open(self.path("in.tga"), "rb") as file:
                        data = file.read()[:-26]
                    data = data[:17] + bytes([data[17] & 0xf0]) + data[18:]
                    self.write("in.tga", data)
                    self.equal(self.read("in.tga"), expected)
                Image.fromarray(CLEAR).save(self.path("in.tga"), compression=packed)
                with open(self.path("in.tga"), "rb") as file:
                    data = file.read()[:-26]
                self.write("in.tga", data + area + struct.pack("<II", len(data), 0)
                           + b"TRUEVISION-XFILE.\0")
                run = self.impipe(IDENTITY, "in.tga", "-o", "out.png")
                self.assertEqual(run.err, "impipe: in.tga: the result is without a fourth byte a "
                                          "pixel that it says is no alpha\n")
                self.equal(self.png("out.png"), COLOUR)

    def test_tga_palettes(self):
        palette = Image.fromarray(COLOUR).quantize(40)
        palette.save(self.path("in.tga"))
        self.equal(self.read("in.tga"), np.asarray(palette.convert("RGB")))

    def test_radiance(self):
        values = (1 + COLOUR / 37.0 + X[..., None] * 1e-3).astype(np.float32)
        np.save(self.path("in.npy"), values)
        self.impipe(IDENTITY, "in.npy", "-o", "in.exr")
        tool("oiiotool", self.path("in.exr"), "-o", self.path("their.hdr"))
        tool("oiiotool", self.path("their.hdr"), "-o", self.path("their.exr"))
        self.equal(self.read("their.hdr"), self.pixels_of_exr("their.exr"))
        self.impipe(IDENTITY, "in.npy", "-o", "our.hdr")
        tool("oiiotool", self.path("our.hdr"), "-o", self.path("our.exr"))
        self.equal(self.pixels_of_exr("our.exr"), self.pixels_of_exr("their.exr"))
        # Eight bits of the largest channel.
        self.assertLess((np.abs(self.pixels_of_exr("our.exr") - values).max(2) /
                         values.max(2)).max(), 1 / 127)

    def test_what_radiance_does_not_hold_is_counted(self):
        rows = [[np.nan, np.inf, -np.inf, -2.5, 2e38], [0, -0.0, 1, 1.6e38, 1e-40]]
        for channels in (1, 3):
            np.save(self.path("in.npy"), np.stack([np.float32(rows)] * channels, axis=-1))
            run = self.impipe(IDENTITY, "in.npy", "-o", "a.hdr", "-v")
            self.assertIn(f"impipe: a.hdr: {5 * channels} values were clipped\n", run.err)
        np.save(self.path("in.npy"), np.float32(rows[1:]))
        run = self.impipe(IDENTITY, "in.npy", "-o", "a.hdr", "-v")
        self.assertNotIn("clipped", run.err)

    def test_libraries_of_damaged_files_are_silent(self):
        Image.fromarray(COLOUR).save(self.path("in.png"))
        self.impipe(IDENTITY, "in.png", "-o", "a.avif")
        with open(self.path("a.avif"), "rb") as file:
            data = bytearray(file.read())
        data[data.index(b"mdat") + 6] ^= 255
        self.write("cut.avif", bytes(data))
        run = self.impipe("mean2", "cut.avif", code=1)
        self.assertEqual(run.err, "impipe: cut.avif: decode: damaged AVIF: Decoding of color planes "
                                  "failed\n")

    def test_a_gray_heif_is_gray(self):
        both = np.dstack([GRAY, GRAY[::-1]])
        for pixels, kind in ((GRAY, "uint8 x1, "), (both, "uint8 x1 + alpha, ")):
            Image.fromarray(pixels).save(self.path("in.png"))
            self.impipe(IDENTITY, "in.png", "-o", "a.heic", "--lossless")
            self.assertIn(kind, self.impipe("info", "a.heic").out)
            self.impipe(IDENTITY, "a.heic", "-o", "out.png")
            self.equal(self.png("out.png"), pixels)
        with open(self.path("a.heic"), "rb") as file:
            data = file.read()
        self.write("cut.heic", data.replace(b"hvc1", b"grid"))
        run = self.impipe("mean2", "cut.heic", code=1)
        self.assertEqual(run.err, "impipe: cut.heic: decode: damaged HEIF, or one of a coding that "
                                  "libheif does not know: its samples have no number of bits\n")

    def pixels_of_exr(self, name):
        self.impipe(IDENTITY, name, "-o", "exr.npy", "--strip")
        return np.load(self.path("exr.npy"))

    def test_frames_of_a_gif_are_pages(self):
        # All have clear pixels: what is cleared behind an opaque frame is a matter of opinion.
        holes = np.dstack([COLOUR, 255 * ((X // 8 + Y // 8) % 2)]).astype(np.uint8)
        frames = [Image.fromarray(holes).rotate(40 * i) for i in range(4)]
        for disposal in (1, 2, 3):
            with self.subTest(disposal=disposal):
                frames[0].save(self.path("in.gif"), save_all=True, append_images=frames[1:],
                               disposal=disposal)
                self.impipe(IDENTITY, "in.gif", "-o", "{page}.png")
                for i, frame in enumerate(ImageSequence.Iterator(Image.open(self.path("in.gif")))):
                    expected = np.array(frame.convert("RGBA"))
                    got = np.array(Image.open(self.path(f"{i + 1}.png")).convert("RGBA"))
                    np.testing.assert_array_equal(got[..., 3], expected[..., 3])
                    seen = expected[..., 3] > 0
                    np.testing.assert_array_equal(got[seen], expected[seen])
        Image.fromarray(COLOUR).quantize(40).save(self.path("one.gif"))
        self.equal(self.read("one.gif"), np.asarray(Image.open(self.path("one.gif"))
                                                    .convert("RGB")))
        run = self.impipe(IDENTITY, "one.gif", "-o", "x.gif", code=2)
        self.assertIn("nothing here writes .gif", run.err)
        self.impipe(IDENTITY, "one.gif", "-o", "folder/")
        self.assertIn("folder/one.png", self.tree())

    def test_blocks_of_a_gif_that_end_twice(self):
        frames = [Image.fromarray(COLOUR).quantize(40), Image.fromarray(255 - COLOUR).quantize(40)]
        frames[0].save(self.path("in.gif"), save_all=True, append_images=frames[1:],
                       duration=50)
        self.impipe(IDENTITY, "in.gif", "-o", "whole-{page}.png")
        with open(self.path("in.gif"), "rb") as file:
            data = file.read()
        self.assertEqual(data.count(b"\x21\xf9\4"), 2)
        self.write("in.gif", data.replace(b"\x21\xf9\4", b"\0\0\x21\xf9\4"))
        self.impipe(IDENTITY, "in.gif", "-o", "{page}.png")
        for page in (1, 2):
            self.equal(self.png(f"{page}.png"), self.png(f"whole-{page}.png"))

    def test_metadata(self):
        profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
        exif = Image.Exif()
        exif[0x010E] = "a lighthouse"
        Image.fromarray(COLOUR).save(self.path("in.png"), icc_profile=profile, exif=exif)
        for ext in ("jxl", "avif", "jp2"):
            with self.subTest(ext):
                run = self.impipe(IDENTITY, "in.png", "-o", f"a.{ext}")
                self.assertEqual(run.err, "")
                self.impipe(IDENTITY, f"a.{ext}", "-o", "back.png")
                back = Image.open(self.path("back.png"))
                self.assertEqual(back.info.get("icc_profile"), profile)
                self.assertEqual(back.getexif().get(0x010E), "a lighthouse")
        run = self.impipe(IDENTITY, "in.png", "-o", "a.tga")
        self.assertEqual(run.err, "impipe: in.png: the result is without EXIF, ICC profile\n")

    def test_files_cut_short(self):
        Image.fromarray(CLEAR).save(self.path("in.png"))
        for ext in ("jxl", "jp2", "avif", "qoi", "tga"):
            self.impipe(IDENTITY, "in.png", "-o", f"a.{ext}")
        Image.fromarray(GRAY).save(self.path("a.gif"), save_all=True,
                                   append_images=[Image.fromarray(GRAY[::-1])])
        self.impipe(IDENTITY, "in.png", "-o", "a.hdr", "--format", "hdr", "-d", "single")
        for ext in ("jxl", "jp2", "avif", "gif", "qoi", "tga", "hdr"):
            with open(self.path(f"a.{ext}"), "rb") as file:
                data = file.read()
            for part in (0.15, 0.5, 0.9):
                with self.subTest(ext, part=part):
                    self.write(f"cut.{ext}", data[:int(part * len(data))])
                    run = self.impipe(IDENTITY, f"cut.{ext}", "-o", "cut_{page}.npy", code=1)
                    # libjxl would have lines of its own to say about a broken file.
                    self.assertRegex(run.err, rf"\Aimpipe: cut.{ext}: \w+: (page \d: )?"
                                              "(truncated|damaged) .*\n\Z")
                    self.assertFalse([n for n in self.tree() if n.startswith("cut_")])

    def test_a_claim_of_many_pixels(self):
        self.write("a.qoi", b"qoif" + (2000).to_bytes(4, "big") * 2 + b"\4\0" + bytes(99))
        run = self.impipe(IDENTITY, "a.qoi", "-o", "out.npy", code=1)
        self.assertEqual(run.err, "impipe: a.qoi: decode: truncated QOI: 2000x2000 needs at least "
                                  "64530 bytes (QOI has at least a byte for 62 pixels), and the "
                                  "file has 113\n")
        for ext in ("jxl", "jp2", "avif", "qoi", "tga", "hdr"):
            with self.subTest(ext):
                Image.fromarray(COLOUR).save(self.path("in.png"))
                self.impipe(IDENTITY, "in.png", "-o", f"a.{ext}")
                run = self.impipe(IDENTITY, f"a.{ext}", "-o", "out.npy", "--max-pixels", "1000",
                                  code=1)
                self.assertEqual(run.err, f"impipe: a.{ext}: decode: too many pixels: {W}x{H} is "
                                          "more than the limit of 1000 (--max-pixels)\n")

    def test_streams_larger_than_their_pictures(self):
        """Decoders take memory for what the stream says, whatever the header says before it."""
        large = np.zeros((2600, 3800, 3), np.uint8)
        Image.fromarray(large).save(self.path("in.png"))
        tool("heif-enc", "-q", "1", self.path("in.png"), "-o", self.path("a.heic"))
        with open(self.path("a.heic"), "rb") as file:
            data = bytearray(file.read())
        sizes = [m.start() for m in re.finditer(b"ispe", data)]
        for at in sizes:
            data[at + 8:at + 16] = struct.pack(">II", 64, 48)
        self.write("small.heic", bytes(data))
        run = self.impipe(IDENTITY, "small.heic", "-o", "out.npy", code=1)
        self.assertRegex(run.err, "^impipe: small.heic: decode: damaged HEIF: a stream of "
                                  r"38\d\dx26\d\d for a picture of 64x48\n$")
        # A JPEG 2000 that announces a tile for each pixel.
        Image.fromarray(COLOUR).save(self.path("a.jp2"))
        with open(self.path("a.jp2"), "rb") as file:
            data = bytearray(file.read())
        at = data.index(b"\xff\x4f\xff\x51")
        data[at + 24:at + 32] = struct.pack(">II", 1, 1)
        self.write("tiles.jp2", bytes(data))
        run = self.impipe(IDENTITY, "tiles.jp2", "-o", "out.npy", code=1)
        self.assertEqual(run.err, "impipe: tiles.jp2: decode: truncated JPEG 2000: its header "
                                  f"announces {W * H} tiles, and the file has {len(data)} bytes\n")

    def test_a_picture_made_of_itself(self):
        """A grid whose tile is the grid: libheif starts one thread after the other."""
        Image.fromarray(np.dstack([COLOUR, GRAY])).save(self.path("in.png"))
        tool("heif-enc", self.path("in.png"), "-o", self.path("a.heic"))
        with open(self.path("a.heic"), "rb") as file:
            data = bytearray(file.read())
        at = data.index(b"auxl")
        alpha, count, picture = struct.unpack(">HHH", data[at + 4:at + 10])
        self.assertEqual(count, 1)
        loop = b"dimg" + struct.pack(">HHH", alpha, 1, alpha)
        self.write("loop.heic", bytes(data[:at] + loop + data[at + 10:]))
        # An alpha made of the picture that it belongs to: one box more, in two that hold it.
        made_of = struct.pack(">I", 14) + b"dimg" + struct.pack(">HHH", alpha, 1, picture)
        for box in (b"iref", b"meta"):
            size = data.index(box) - 4
            length, = struct.unpack(">I", data[size:size + 4])
            data[size:size + 4] = struct.pack(">I", length + len(made_of))
        self.write("alpha.heic", bytes(data[:at - 4] + made_of + data[at - 4:]))
        for name in ("loop.heic", "alpha.heic"):
            run = self.impipe(IDENTITY, name, "-o", "out{page}.npy", code=1)
            self.assertEqual(run.err, f"impipe: {name}: decode: damaged HEIF: a picture is made of "
                                      "itself\n")

    def test_a_missing_module_is_named(self):
        Image.fromarray(GRAY).save(self.path("a.png"))
        run = self.impipe(IDENTITY, "a.png", "-o", "a.jxl", env={"IMPIPE_CODEC": self.path("no")},
                          code=1)
        self.assertRegex(run.err, "the codec module impipe_codec(_jxl)?.so was not found in ")

    def test_a_missing_module_is_named_with_its_package(self):
        np.save(self.path("a.npy"), GRAY)
        for extension in ("jxl", "exr"):
            run = self.impipe(IDENTITY, "a.npy", "-o", f"a.{extension}", code=1,
                              env={"IMPIPE_CODEC": self.path("no")})
            self.assertIn(f"the codec module impipe_codec_{extension}.so was not found in "
                          f"{self.path('no')}; install it (Debian: the package impipe-codec-"
                          f"{extension}), or set IMPIPE_CODEC to its folder", run.err)

    def test_the_list(self):
        formats = {f["name"]: f for f in json.loads(self.impipe("formats", "--json").out)}
        self.assertEqual(formats["JPEG XL"]["classes"], ["uint8", "uint16", "single"])
        self.assertFalse(formats["GIF"]["writes"])
        self.assertTrue(formats["GIF"]["reads_pages"])
        text = self.impipe("formats").out
        for name, format_ in formats.items():
            self.assertIn(name, text)
            self.assertIn(" ".join(format_["extensions"]), text)


if __name__ == "__main__":
    unittest.main()
