"""What files of the newer formats hold beside their picture: carried, or named in one warning.

Files come from the formats' own tools; a few bytes are changed where no tool makes such a file.
"""
import json
import os
import re
import shutil
import struct
import subprocess
import unittest

import numpy as np
from PIL import Image, ImageCms, PngImagePlugin
from jxl_writer import jxl, library
from program import ProgramTest, colour, ramp

IDENTITY = "rot90 0"
H, W = 40, 64
Y, X = np.mgrid[0:H, 0:W]
GRAY = ((4 * X + 3 * Y) % 256).astype(np.uint8)
COLOUR = np.dstack([GRAY, (7 * Y) % 256, (X * Y) % 256]).astype(np.uint8)
CLEAR = np.dstack([COLOUR, (X * 2 + Y) % 256]).astype(np.uint8)
HEVC_ALPHA, AV1_ALPHA = b"2015:auxid:1", b"urn:mpeg:mpegB:cicp:systems:auxiliary:alpha"


def box(kind, content):
    return struct.pack(">I", 8 + len(content)) + kind + content


class Losses(ProgramTest):
    def tool(self, *command):
        if shutil.which(command[0]) is None:
            raise unittest.SkipTest(f"there is no {command[0]}")
        where = [self.path(word) if re.search(r"\.\w+$", word) else word for word in command]
        subprocess.run(where, check=True, capture_output=True)

    def save(self, name, pixels, **options):
        Image.fromarray(pixels).save(self.path(name), **options)

    def bytes_of(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def loses(self, name, what, target="out.tif"):
        """All of the warning; with --strict it is the error, and there is no output."""
        if not what:
            self.assertEqual(self.impipe(IDENTITY, name, "-o", target).err, "")
            return
        run = self.impipe(IDENTITY, name, "-o", target)
        self.assertEqual(run.err, f"impipe: {name}: the result is without {what}\n")
        strict = "strict" + target[-4:]
        run = self.impipe(IDENTITY, name, "-o", strict, "--strict", code=1)
        self.assertIn(f"impipe: {name}: ", run.err)
        self.assertIn(what, run.err)
        self.assertNotIn(strict, self.tree())

    def test_auxiliary_images_of_heif_and_avif(self):
        self.save("in.png", CLEAR)
        self.tool("heif-enc", "in.png", "-o", "a.heic")
        self.tool("heif-enc", "-A", "in.png", "-o", "a.avif")
        heic, avif = self.bytes_of("a.heic"), self.bytes_of("a.avif")
        apple = b"urn:com:apple:photo:2020:aux:hdrgainmap"
        for name, data, what in (
                ("alpha.heic", heic, ""), ("alpha.avif", avif, ""),
                ("depth.heic", heic.replace(HEVC_ALPHA, b"2015:auxid:2"), "a depth map"),
                ("depth.avif", avif.replace(AV1_ALPHA, AV1_ALPHA.replace(b"alpha", b"depth")),
                 "a depth map"),
                ("gain.avif", avif.replace(AV1_ALPHA, apple.ljust(len(AV1_ALPHA), b"\0")),
                 "a gain map"),
                ("sky.avif", avif.replace(AV1_ALPHA, AV1_ALPHA.replace(b"alpha", b"skies")),
                 "auxiliary image 'skies'")):
            with self.subTest(name):
                self.write(name, data)
                self.loses(name, what)

    def test_further_pictures_and_thumbnails_of_heif_and_avif(self):
        self.save("in.png", COLOUR)
        self.save("other.png", COLOUR[::-1].copy())
        self.tool("heif-enc", "-t", "32", "in.png", "other.png", "-o", "two.heic")
        self.loses("two.heic", "a thumbnail")  # its pictures are pages
        with Image.open(self.path("out.tif")) as pages:
            self.assertEqual(pages.n_frames, 2)
        self.tool("heif-enc", "-A", "in.png", "other.png", "-o", "two.avif")
        self.loses("two.avif", "further pictures (1)")

    def test_colours_by_numbers(self):
        self.save("in.png", COLOUR)
        for numbers, what in (("9/16/9", "colours of BT.2020, PQ (CICP 9/16)"), ("1/13/1", ""),
                              ("12/13/6", "colours of P3 (CICP 12/13)")):
            with self.subTest(numbers):
                self.tool("avifenc", "--cicp", numbers, "in.png", "a.avif")
                self.loses("a.avif", what)

    def test_channels_and_boxes_of_jpeg_xl(self):
        if library() is None:
            self.skipTest("there is no libjxl")
        exif = b"\0\0\0\0II*\0\x08\0\0\0\0\0\0\0\0\0"
        for name, options, what in (
                ("plain", {}, ""), ("alpha", {"extra": [("alpha", "")]}, ""),
                ("depth", {"extra": [("depth", "Z")]}, "a depth map 'Z'"),
                ("three", {"extra": [("thermal", "heat"), ("alpha", ""), ("spot", "gold")]},
                 "a thermal image 'heat', a spot colour 'gold'"),
                ("layers", {"layers": 3}, "layers (3)"),
                ("boxes", {"boxes": [("Exif", exif), ("jumb", b"claim"), ("xml ", b"<x/>")]},
                 "box 'jumb'")):
            with self.subTest(name):
                self.write(f"{name}.jxl", jxl(GRAY, **options))
                self.loses(f"{name}.jxl", what)
                self.impipe(IDENTITY, f"{name}.jxl", "-o", "out.npy")
                got = np.load(self.path("out.npy"))
                np.testing.assert_array_equal(got if got.ndim == 2 else got[..., 0], GRAY)
                if got.ndim == 3:
                    np.testing.assert_array_equal(got[..., 1], GRAY[::-1])

    def test_extensions_of_gif(self):
        self.save("in.gif", GRAY, comment=b"by the lake")
        self.loses("in.gif", "a comment")
        self.assertEqual(self.impipe(IDENTITY, "in.gif", "-o", "out.png").err, "")
        with Image.open(self.path("out.png")) as ours:
            self.assertEqual(ours.text, {"Comment": "by the lake"})
        data = self.bytes_of("in.gif")
        at = data.index(b"\x21\xfe")
        for extension, what in (
                (b"\xff\x0bFRACTINT003\x02ab\0", "block of 'FRACTINT003'"),
                (b"\xff\x0bNETSCAPE2.0\x03\1\0\0\0", ""), (b"\x77\1a\0", "an extension of kind 119"),
                (b"\x01\x0c" + bytes(12) + b"\2hi\0", "a text drawn over its frames")):
            with self.subTest(extension):
                self.write("more.gif", data[:at] + b"\x21" + extension + data[at:])
                self.loses("more.gif", what, "out.png")
        many = b"".join(b"\x21" + bytes([code]) + b"\1a\0" for code in range(100, 200))
        self.write("more.gif", data[:at] + many + data[at:])
        run = self.impipe(IDENTITY, "more.gif", "-o", "out.png")
        self.assertRegex(run.err, r"kind 114, an extension of kind 115, more\n$")
        self.tool("exiftool", "-q", "-XMP:Title=lake", "-o", "xmp.gif", "in.gif")
        self.assertEqual(self.impipe(IDENTITY, "xmp.gif", "-o", "out.png").err, "")
        with Image.open(self.path("out.png")) as ours:
            self.assertIn("lake", ours.info["XML:com.adobe.xmp"])

    def test_what_tga_says(self):
        self.save("in.tga", COLOUR, id_section=b"by the lake")
        self.assertEqual(self.impipe(IDENTITY, "in.tga", "-o", "out.png").err, "")
        with Image.open(self.path("out.png")) as ours:
            self.assertEqual(ours.text, {"Comment": "by the lake"})
        self.save("in.tga", COLOUR)
        data = self.bytes_of("in.tga")[:-26]
        area = bytearray(495)
        struct.pack_into("<H", area, 0, 495)
        for at, field, what in (
                (2, b"Bo", "its author's name"), (43, b"calm", "a comment"),
                (379, b"holidays", "its job's name"), (367, b"\5\0\6\0\xd0\7", "its date"),
                (478, b"\x16\0\x0a\0", "its gamma"), (478, b"\x0a\0\x0a\0", ""),
                (474, b"\2\0\1\0", "resolution"), (486, b"\x12\0\0\0", "a thumbnail"),
                (426, b"a program", "")):
            with self.subTest(what, at=at):
                full = bytearray(area)
                full[at:at + len(field)] = field
                self.write("more.tga", data + bytes(full) + struct.pack("<II", len(data), 0)
                           + b"TRUEVISION-XFILE.\0")
                self.loses("more.tga", what, "out.qoi")
        self.write("more.tga", data + bytes(9) + struct.pack("<II", 0, len(data))
                   + b"TRUEVISION-XFILE.\0")
        self.loses("more.tga", "its developer's area")

    def test_what_radiance_hdr_and_qoi_say(self):
        self.save("in.png", COLOUR)
        self.impipe(IDENTITY, "in.png", "-o", "in.hdr", "-d", "single")
        head, rest = self.bytes_of("in.hdr").split(b"FORMAT=", 1)
        for more, what in ((b"", ""), (b"EXPOSURE=2.5\n", "EXPOSURE"),
                           (b"PRIMARIES=.7 .2 .2 .7 .1 .1 .3 .3\n", "PRIMARIES"),
                           (b"COLORCORR=1 2 1\n", "COLORCORR"), (b"SOFTWARE=x\n", ""),
                           (b"# calm\n", "a comment"), (b"rpict -vf a.vf\n", "its history"),
                           (b"PIXASPECT=2\n", "resolution"), (b"PIXASPECT=1\n", "")):
            with self.subTest(more):
                self.write("more.hdr", head + more + b"FORMAT=" + rest)
                self.loses("more.hdr", what, "out.pfm")
        self.impipe(IDENTITY, "in.png", "-o", "in.qoi")
        data = bytearray(self.bytes_of("in.qoi"))
        self.loses("in.qoi", "")
        data[13] = 1
        self.write("linear.qoi", bytes(data))
        self.loses("linear.qoi", "that its colours are linear")

    def test_metadata_of_jpeg_2000(self):
        self.save("in.jp2", COLOUR)
        self.loses("in.jp2", "")
        self.tool("exiftool", "-q", "-XMP:Title=lake", "-EXIF:Artist=Bo", "-IPTC:Keywords=calm",
                  "-o", "all.jp2", "in.jp2")
        self.assertEqual(self.impipe(IDENTITY, "all.jp2", "-o", "out.jpg").err, "")
        said = subprocess.run(["exiftool", "-s3", "-Title", "-Artist", "-Keywords",
                               self.path("out.jpg")], capture_output=True, text=True, check=True)
        self.assertEqual(said.stdout, "lake\nBo\ncalm\n")
        self.loses("all.jp2", "EXIF, XMP, IPTC, resolution", "out.tga")
        data = self.bytes_of("in.jp2")
        code = data.index(b"jp2c") - 4
        for more, what in ((box(b"xml ", b"<gml/>"), "a box of XML"),
                           (box(b"uuid", bytes(16)), "a box of a kind of its own (uuid)"),
                           (box(b"asoc", b""), "box 'asoc'"), (box(b"free", bytes(9)), "")):
            with self.subTest(more):
                self.write("more.jp2", data[:code] + more + data[code:])
                self.loses("more.jp2", what)
        self.write("more.jp2", data + box(b"jp2c", data[code + 8:]))
        self.loses("more.jp2", "further code streams (1)")

    def said(self, name, *tags):
        run = subprocess.run(["exiftool", "-s3", "-b", "-sep", "|", *tags, self.path(name)],
                             capture_output=True, check=True)
        return run.stdout

    def test_jpeg_2000_is_written_with_metadata(self):
        """Judged by exiftool, Pillow and OpenJPEG's and OpenImageIO's tools."""
        profiles = {"gray": GRAY, "colour": COLOUR, "alpha": CLEAR,
                    "deep": COLOUR.astype(np.uint16) * 257}
        profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
        for name, pixels in profiles.items():
            with self.subTest(name):
                if name == "deep":
                    self.picture("in.npy", pixels)
                    self.impipe(IDENTITY, "in.npy", "-o", "in.png")
                else:
                    self.save("in.png", pixels)
                if name != "gray":
                    self.write("srgb.icc", profile)
                    subprocess.run(["exiftool", "-q", "-overwrite_original", "-ICC_Profile<="
                                    + self.path("srgb.icc"), self.path("in.png")], check=True)
                self.tool("exiftool", "-q", "-overwrite_original", "-XMP:Title=lake",
                          "-EXIF:Artist=Bo", "-XMP:Rating=4", "-PNG:Comment=by the lake", "in.png")
                self.assertEqual(self.impipe(IDENTITY, "in.png", "-o", "out.jp2").err, "")
                for tag, wanted in (("-XMP:Title", b"lake"), ("-EXIF:Artist", b"Bo"),
                                    ("-Rating", b"4")):
                    self.assertEqual(self.said("out.jp2", tag), wanted)
                icc = b"" if name == "gray" else profile
                self.assertEqual(self.said("out.jp2", "-ICC_Profile"), icc)
                with Image.open(self.path("out.jp2")) as judge:
                    self.assertEqual(judge.size, (W, H))
                    if name != "deep":
                        np.testing.assert_array_equal(np.asarray(judge), pixels)
                self.impipe(IDENTITY, "out.jp2", "-o", "back.png")
                with Image.open(self.path("back.png")) as back:
                    self.assertEqual(back.text["Comment"], "by the lake")
                    self.assertEqual(back.info.get("icc_profile", b""), icc)
                self.impipe(IDENTITY, "out.jp2", "-o", "back.npy")
                np.testing.assert_array_equal(self.pixels("back.npy"), pixels)
                self.tool("opj_dump", "-i", "out.jp2")
                self.tool("opj_decompress", "-i", "out.jp2", "-o", "back.tif")
                self.tool("oiiotool", "--info", "-v", "out.jp2")

    def test_iptc_and_other_resources_in_jpeg_2000(self):
        self.save("in.jpg", COLOUR, quality=95)
        self.tool("exiftool", "-q", "-overwrite_original", "-IPTC:Keywords=calm",
                  "-IPTC:Keywords=blue", "in.jpg")
        for more in ([], ["-Photoshop:URL=lake"]):
            if more:
                self.tool("exiftool", "-q", "-overwrite_original", *more, "in.jpg")
            self.assertEqual(self.impipe(IDENTITY, "in.jpg", "-o", "out.jp2").err, "")
            self.assertEqual(self.said("out.jp2", "-IPTC:Keywords"), b"calm|blue")
            self.assertEqual(self.said("out.jp2", "-Photoshop:URL"),
                             b"lake" if more else b"")
            self.assertEqual(self.impipe(IDENTITY, "out.jp2", "-o", "back.jpg").err, "")
            self.assertEqual(self.said("back.jpg", "-IPTC:Keywords"), b"calm|blue")

    def test_resolution_in_jpeg_2000(self):
        for dpi in ((300, 300), (72, 150), (96.5, 1200), (2400, 1)):
            with self.subTest(dpi):
                self.save("in.tif", COLOUR, dpi=dpi)
                self.assertEqual(self.impipe(IDENTITY, "in.tif", "-o", "out.jp2").err, "")
                with Image.open(self.path("out.jp2")) as judge:
                    np.testing.assert_allclose(judge.info["dpi"], dpi, rtol=1e-6)
                for kind in ("Capture", "Display"):
                    said = []
                    for axis in "XY":  # a number of 1 to 10, and a power of ten
                        tag = f"-Jpeg2000:{kind}{axis}Resolution"
                        power = int(self.said("out.jp2", "-n", tag + "Unit"))
                        said.append(float(self.said("out.jp2", "-n", tag)) * 10.0 ** power)
                    np.testing.assert_allclose(said, np.array(dpi) / 0.0254, rtol=1e-6)
        self.save("in.jpg", COLOUR)
        self.assertEqual(self.impipe(IDENTITY, "in.jpg", "-o", "out.jp2").err, "")
        data = bytearray(self.bytes_of("in.jpg"))
        at = data.index(b"JFIF\0") + 7
        data[at:at + 5] = struct.pack(">BHH", 0, 2, 1)
        self.write("ratio.jpg", bytes(data))
        self.loses("ratio.jpg", "resolution", "out.jp2")

    def test_comments_in_jpeg_2000(self):
        self.save("in.jpg", COLOUR, comment=b"by the lake")
        self.assertEqual(self.impipe(IDENTITY, "in.jpg", "-o", "out.jp2").err, "")
        with Image.open(self.path("out.jp2")) as judge:
            np.testing.assert_array_equal(np.asarray(judge).shape, COLOUR.shape)
        self.assertIn(b"\xff\x64\x00\x0f\x00\x01by the lake", self.bytes_of("out.jp2"))
        self.impipe(IDENTITY, "out.jp2", "-o", "back.jpg")
        self.assertIn(b"by the lake", self.bytes_of("back.jpg"))
        info = PngImagePlugin.PngInfo()
        info.add_text("Comment", "long " * 20000)
        self.save("in.png", COLOUR, pnginfo=info)
        self.loses("in.png", "a comment of more than 65531 bytes", "out.jp2")

    def test_orientation_of_jpeg_2000(self):
        self.save("in.jp2", GRAY)
        self.tool("exiftool", "-q", "-n", "-EXIF:Orientation=6", "-o", "turned.jp2", "in.jp2")
        self.impipe(IDENTITY, "turned.jp2", "-o", "out.npy")
        np.testing.assert_array_equal(np.load(self.path("out.npy")), np.rot90(GRAY, -1))

    def test_resolution_of_jpeg_2000(self):
        self.save("in.jp2", GRAY)
        data = self.bytes_of("in.jp2")
        at = data.index(b"jp2h") - 4
        length = struct.unpack_from(">I", data, at)[0]
        # 300 pixels an inch across and 150 down, in pixels a metre; of the scan, and to be shown.
        numbers = struct.pack(">4H2b", 1181, 2, 1181, 10, 1, 2)
        for kind in (b"resc", b"resd"):
            head = box(b"jp2h", data[at + 8:at + length] + box(b"res ", box(kind, numbers)))
            self.write("res.jp2", data[:at] + head + data[at + length:])
            self.assertEqual(self.impipe(IDENTITY, "res.jp2", "-o", "out.png").err, "")
            with Image.open(self.path("res.jp2")) as judge, Image.open(self.path("out.png")) as ours:
                np.testing.assert_allclose(ours.info["dpi"], (300, 150), rtol=1e-3)
                if kind == b"resc":  # Pillow knows no other
                    np.testing.assert_allclose(ours.info["dpi"], judge.info["dpi"], rtol=1e-3)

    def test_comments_of_jpeg_2000(self):
        self.save("in.jp2", GRAY)
        self.tool("opj_decompress", "-i", "in.jp2", "-o", "in.pgm")
        self.tool("opj_compress", "-i", "in.pgm", "-o", "c.jp2", "-C", "by the lake")
        self.assertEqual(self.impipe(IDENTITY, "c.jp2", "-o", "out.png").err, "")
        with Image.open(self.path("out.png")) as ours:
            self.assertEqual(ours.text, {"Comment": "by the lake"})

    def test_ten_and_twelve_bits(self):
        """Codes of fewer bits than 16 go up to white, each to the nearest of the larger codes."""
        for bits in (10, 12):
            top = (1 << bits) - 1
            codes = (X * 61 + Y * 17) % (top + 1)
            codes[0, 0], codes[0, 1] = top, 0
            codes = np.dstack([codes, codes[::-1], codes[:, ::-1]])
            wide = np.rint(codes * (65535 / top)).astype(np.uint16)
            np.save(self.path("in.npy"), wide)
            self.impipe(IDENTITY, "in.npy", "-o", "in.png")
            for name, encode in (
                    ("a.avif", ("avifenc", "--lossless", "-d", str(bits), "in.png", "a.avif")),
                    ("a.heic", ("heif-enc", "-L", "-p", "chroma=444", "--matrix_coefficients=0",
                                "-b", str(bits), "in.png", "-o", "a.heic"))):
                with self.subTest(name, bits=bits):
                    self.tool(*encode)
                    self.assertEqual(self.impipe(IDENTITY, name, "-o", "out.npy").err, "")
                    got = np.load(self.path("out.npy"))
                    self.assertEqual(got.dtype, np.uint16)
                    # Debian's heif-enc is off by a code here and there.
                    off = np.abs(np.rint(got * (top / 65535)) - codes).max()
                    self.assertLessEqual(off, 0 if name == "a.avif" else 1)
                    grid = np.rint(np.rint(got * (top / 65535)) * (65535 / top))
                    np.testing.assert_array_equal(got, grid)
                    self.assertEqual((got.max(), got.min()), (65535, 0))
                    info = self.impipe("info", name).out
                    self.assertRegex(info, f"uint16 x3, white 65535, {bits}-bit")


    def test_avif_keeps_as_many_bits_as_it_can(self):
        for bits in (10, 12):
            top = (1 << bits) - 1
            codes = np.dstack([(X * 61 + Y * 17 + c) % (top + 1) for c in range(3)])
            np.save(self.path("in.npy"), np.rint(codes * (65535 / top)).astype(np.uint16))
            self.impipe(IDENTITY, "in.npy", "-o", "in.png")
            self.tool("avifenc", "--lossless", "-d", str(bits), "in.png", "their.avif")
            with self.subTest(bits=bits):
                self.assertEqual(self.impipe(IDENTITY, "their.avif", "-o", "our.avif").err, "")
                self.assertIn(f"{bits}-bit", self.impipe("info", "our.avif").out)
                self.tool("avifdec", "-d", "16", "our.avif", "out.png")
                self.impipe(IDENTITY, "out.png", "-o", "out.npy", "--strip")
                got = np.load(self.path("out.npy"))
                np.testing.assert_array_equal(np.rint(got * (top / 65535)), codes)
        # No AVIF has 16.
        np.save(self.path("in.npy"), (X * 1000 + Y).astype(np.uint16))
        self.impipe(IDENTITY, "in.npy", "-o", "in.png")
        self.assertEqual(self.impipe(IDENTITY, "in.png", "-o", "a.avif").err,
                         "impipe: in.png: the result is without the lowest 4 of 16 bits\n")
        run = self.impipe(IDENTITY, "in.png", "-o", "b.avif", "--lossless", code=1)
        self.assertEqual(run.err, "impipe: in.png: encode: AVIF of 12 bits cannot hold these 16-bit "
                                  "pixels without loss\n")
        self.assertNotIn("b.avif", self.tree())
        self.assertEqual(self.impipe(IDENTITY, "in.png", "-o", "a.avif", "-d", "uint8").err, "")

class Warnings(ProgramTest):
    def test_a_class_that_the_format_cannot_hold(self):
        self.picture("in.png", ramp())
        for name, cls, kind, held in (("jpg", "uint16", "JPEG", "uint8"),
                                      ("bmp", "single", "BMP", "uint8"),
                                      ("jp2", "single", "JPEG 2000", "uint16")):
            run = self.impipe(IDENTITY, "in.png", "-o", f"a.{name}", "-d", cls)
            self.assertEqual(run.err, f"impipe: in.png: the result is without the bits of -d {cls} "
                                      f"({kind} holds {held})\n")
        for name, cls in (("jpg", "logical"), ("png", "uint16"), ("tif", "single")):
            run = self.impipe(IDENTITY, "in.png", "-o", f"b.{name}", "-d", cls, "--strict")
            self.assertEqual(run.err, "")
        self.impipe("imgaussfilt", "in.png", "-o", "c.webp", "--lossless", "--strict")

    def test_many_files_of_one_kind_have_two_lines(self):
        exif = Image.Exif()
        exif[0x010e] = "a picture"
        for i in range(5):
            self.picture(f"in/{i}.jpg", colour(), exif=exif, dpi=(72, 72), comment=b"x" * (i // 4))
        run = self.impipe("imcomplement", "in", "-o", "out", "--format", "ppm", "--summary", "s.json")
        first, *others, last = run.err.splitlines()
        self.assertEqual(first, "impipe: in/0.jpg: the result is without EXIF, resolution")
        self.assertEqual(others, ["impipe: in/4.jpg: the result is without a comment"])
        self.assertEqual(last, "impipe: 5 files: the result is without EXIF, resolution "
                               "(-v names each)")
        with open(self.path("s.json"), encoding="utf-8") as summary:
            self.assertEqual(json.load(summary)["warnings"],
                             {"the result is without EXIF": 5,
                              "the result is without resolution": 5,
                              "the result is without a comment": 1})
        told = self.impipe("-v", "imcomplement", "in", "-o", "out", "--format", "ppm").err
        for i in range(5):
            self.assertIn(f"impipe: in/{i}.jpg: the result is without EXIF, resolution\n", told)


class Refused(ProgramTest):
    """What a format cannot hold is known from the header: none of these pixels can be decoded."""

    def cut(self, name, pixels):
        path = self.picture(name, pixels)
        os.truncate(path, 60)

    def check(self, pipeline, name, output, said, *options):
        told = f"impipe: {name}: encode: {said}\n"
        self.assertEqual(self.impipe(pipeline, name, "-o", output, *options, code=1).err, told)
        if not options:
            self.assertEqual(self.impipe("plan", pipeline, name, "-o", output, code=1).err, told)

    def test_before_any_pixel_is_read(self):
        self.cut("gray.png", ramp())
        self.cut("wide.png", ramp(2, 20000))
        self.cut("alpha.png", np.dstack([colour(), ramp()]))
        no_white = ("cannot write JPEG of class uint8: an image of distances, labels or spectra has no white; add "
                    "`mat2gray`, give -d uint16 if its values fit, or write .npy, .tif or .pfm")
        self.check("bwdist", "gray.png", "a.jpg", no_white)
        self.check("imcomplement", "wide.png", "a.webp",
                   "WebP cannot hold 20000x2 (at most 16383 pixels a side)")
        self.check("imcomplement", "gray.png", "a.jpg",
                   "JPEG is always written with loss; --lossless needs another", "--lossless")
        self.check("imcomplement", "alpha.png", "a.jpg",
                   "--strict: the result would be without alpha", "--strict")
        self.assertEqual(self.impipe("imcomplement", "gray.png", "-o", "a.jpg", code=1).err[:25],
                         "impipe: gray.png: decode:")
        self.cut("deep.png", ramp().astype(np.uint16) * 257)
        for name, kind in (("webp", "WebP"), ("bmp", "BMP"), ("qoi", "QOI"), ("tga", "TGA")):
            for pipeline in ("imcomplement", "imgaussfilt"):
                self.check(pipeline, "deep.png", f"a.{name}",
                           f"{kind} cannot hold uint16 pixels; --lossless needs another",
                           "--lossless")
        self.check("imcomplement", "gray.png", "a.png",
                   "PNG cannot hold single pixels; --lossless needs another", "--lossless", "-d",
                   "single")
        self.check("imcomplement", "gray.png", "a.jpg", "--strict: the result would be without the "
                   "bits of -d uint16 (JPEG holds uint8)", "--strict", "-d", "uint16")

    def test_more_than_memory_is_told_before_the_work(self):
        for name in ("a.png", "b.png", "c.png"):
            self.cut(name, ramp(1000, 2000))
        # Labels are of single, 4 bytes a pixel, twice: as pixels and as a file.
        run = self.impipe("bwlabel", "a.png", "b.png", "c.png", "-o", "out/{stem}.npy", "--memory",
                          "10M", code=1)
        self.assertRegex(run.err.splitlines()[0],
                         r"^impipe: a\.png: it takes at least \d+ MiB as a whole, and --memory "
                         r"allows 10 MiB: .*; so do 2 other files$")
        said = self.impipe("plan", "bwlabel", "a.png").out
        self.assertEqual(re.search(r"memory: at least (\d+) MiB as a whole; (.*)", said).groups(),
                         ("15", "bwlabel needs the whole image"))


if __name__ == "__main__":
    unittest.main()
