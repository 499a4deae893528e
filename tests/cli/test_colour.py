"""Colour spaces: conversions by ICC profiles, by .cube files, and what results say of their colours."""
import importlib.util
import os
import re
import shutil
import struct
import subprocess
import unittest
import zlib

import numpy as np
import tifffile
from PIL import Image

from colour_judges import GRAY, INTENTS, RGB, ciede2000, in_cube, of_lcms, to_16, to_8
from icc_writer import ADOBE, PROPHOTO, colour_table, gamma, parametric, profile, table
from program import LONG, PROGRAM, ROOT, ProgramTest, colour, ocio_config, png_chunk

TARGETS = ["srgb", "display-p3", "adobe-rgb"]
SRGB_CURVE = parametric(3, 2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045)
SOURCES = {"adobe": profile(gamma(563 / 256), ADOBE), "prophoto": profile(gamma(1.8), PROPHOTO),
           "sampled": profile(table(lambda x: x ** 2.4 * 0.9 + x * 0.1), ADOBE),
           "parametric": profile(SRGB_CURVE, PROPHOTO, version=0x04300000)}
NO_PROFILE = "icc: there is no ICC profile, colours are taken for sRGB"


def colours(count, seed=0):
    """All grays, then random colours: [1, 256 + count, 3] of uint8."""
    rng = np.random.default_rng(seed)
    grays = np.repeat(np.arange(256, dtype=np.uint8)[:, None], 3, 1)
    return np.concatenate([grays, rng.integers(0, 256, (count, 3), dtype=np.uint8)])[None]


def lab_table():
    """A device whose colours lie in Lab, at the corners of a cube."""
    return profile(a2b0=colour_table(lambda r, g, b: (
        20 + 30 * r + 35 * g + 10 * b, 60 * r - 55 * g + 20 * b, 40 * r + 30 * g - 70 * b)))


class ColourTest(ProgramTest):
    def png(self, name, pixels, icc=None, pieces=()):
        """With chunks of its own before its pixels."""
        if pixels.dtype == np.uint16:
            self.picture(name, pixels)
        else:
            Image.fromarray(pixels).save(self.path(name))
        if icc:
            pieces = [png_chunk(b"iCCP", b"icc\0\0" + zlib.compress(icc)), *pieces]
        with open(self.path(name), "rb") as file:
            data = file.read()
        self.write(name, data[:33] + b"".join(pieces) + data[33:])

    def tool(self, *command):
        if shutil.which(command[0]) is None:
            self.skipTest(f"there is no {command[0]}")
        subprocess.run(command, cwd=self.folder, check=True, capture_output=True)

    def icc_of(self, name):
        with Image.open(self.path(name)) as picture:
            return picture.info.get("icc_profile")

    def warned(self, run, text):
        self.assertIn(text, run.err)


class MatrixProfiles(ColourTest):
    def test_bytes_are_those_of_little_cms(self):
        pixels = colours(100_000)
        for source, icc in SOURCES.items():
            self.png(f"{source}.png", pixels, icc)
            for target in TARGETS:
                with self.subTest(source=source, target=target):
                    self.impipe(f"icc {target}", f"{source}.png", "-o", "out.png")
                    made = self.icc_of("out.png")
                    wanted = to_8(of_lcms(to_16(pixels[0]), icc, made))
                    got = self.pixels("out.png")[0]
                    apart = np.abs(got.astype(int) - wanted).max(1)
                    self.assertEqual(apart[:256].max(), 0)
                    self.assertLessEqual(apart.max(), 1)
                    self.assertLess((apart > 0).mean(), 1e-3)

    def test_intents(self):
        pixels, icc = colours(2000), profile(gamma(1.8), PROPHOTO)
        self.png("in.png", pixels, icc)
        self.write("to.icc", SOURCES["sampled"])
        for intent in INTENTS:
            for bpc in ("on", "off"):
                self.impipe(f"icc @to.icc {intent} bpc={bpc}", "in.png", "-o", "out.png")
                self.assertEqual(self.icc_of("out.png"), SOURCES["sampled"])
                wanted = to_8(of_lcms(to_16(pixels[0]), icc, SOURCES["sampled"], intent, bpc == "on"))
                self.assertLessEqual(np.abs(self.pixels("out.png")[0].astype(int) - wanted).max(), 1)

    def test_black_points_of_curves(self):
        pixels = colours(2000)
        dim = profile(table(lambda x: 0.03 + 0.97 * x ** 2.2), ADOBE)
        dimmer = profile(parametric(4, 2.4, 0.95, 0.05, 0.1, 0.2, 0.02, 0.02), PROPHOTO, version=0x04300000)
        self.write("dim.icc", dim)
        for source, text, bpc in ((dim, "srgb", True), (dim, "srgb bpc=off", False), (dimmer, "srgb", True),
                                  (SOURCES["adobe"], "@dim.icc", True), (dimmer, "@dim.icc", True)):
            self.png("in.png", pixels, source)
            self.impipe(f"icc {text}", "in.png", "-o", "out.png")
            wanted = to_8(of_lcms(to_16(pixels[0]), source, self.icc_of("out.png"), bpc=bpc))
            apart = np.abs(self.pixels("out.png")[0].astype(int) - wanted).max(1)
            # Light below that of the target's value 0 becomes the value of its dark end, 2.
            self.assertLessEqual(apart.max(), 2 if "@" in text else 1, text)
            if "@" not in text:
                self.assertLess((apart > 0).mean(), 0.01, text)

    def test_16_bits_and_floats(self):
        rng = np.random.default_rng(5)
        pixels = rng.integers(0, 65536, (37, 41, 3)).astype(np.uint16)
        pixels[0, :3] = [[0, 0, 0], [65535, 65535, 65535], [65535, 0, 1]]
        self.png("in.png", pixels, SOURCES["adobe"])
        for target in TARGETS:
            self.impipe(f"icc {target} | save out.png | im2single", "in.png", "-o", "out.npy")
            made = self.icc_of("out.png")
            wanted = of_lcms(pixels.reshape(-1, 3), SOURCES["adobe"], made).reshape(pixels.shape)
            got = np.load(self.path("out.npy")) * 65535.0
            self.assertLess(np.abs(got - wanted).max(), 2.01)
        floats = (pixels / np.float32(65535)).astype(np.float32)
        for scale in (1, 10, 1e3):
            np.save(self.path("in.npy"), floats * np.float32(scale))
            self.impipe(f"map 'x / {scale}' | icc adobe-rgb", "in.npy", "-o", "out.npy")
            self.impipe("icc srgb", self.picture("s.png", colours(1)), "-o", "srgb.png")
            self.impipe("icc adobe-rgb", "s.png", "-o", "adobe.png")
            wanted = of_lcms(floats.reshape(-1, 3), self.icc_of("srgb.png"), self.icc_of("adobe.png"))
            got = np.load(self.path("out.npy")).reshape(-1, 3)
            self.assertLess(np.abs(got - np.clip(wanted, 0, 1)).max(), 3e-5)

    def test_numbers_that_are_no_colours(self):
        pixels = np.full((1, 6, 3), 0.5, np.float32)
        pixels[0, 1, 0], pixels[0, 2, 1], pixels[0, 3, 2] = np.nan, np.inf, -np.inf
        pixels[0, 4], pixels[0, 5] = 1e5, 1
        np.save(self.path("in.npy"), pixels)
        self.impipe("icc display-p3", "in.npy", "-o", "out.npy")
        got = np.load(self.path("out.npy"))[0]
        self.assertTrue(np.isnan(got[1]).all())
        self.assertTrue(np.isfinite(np.delete(got, 1, 0)).all())
        pixels[0, 4] = 65504
        np.save(self.path("in.npy"), pixels)
        self.impipe("icc display-p3", "in.npy", "-o", "most.npy")
        self.assertTrue(np.array_equal(got[4], np.load(self.path("most.npy"))[0, 4]))

    def test_floats_beyond_white(self):
        rng = np.random.default_rng(6)
        icc = profile(gamma(1), ADOBE)
        light = np.exp2(rng.uniform(-14, 11.5, (4000, 1))) * rng.uniform(0.7, 1, (4000, 3))
        light[:100] = rng.uniform(-0.1, 0.1, (100, 3))
        light[100:102] = [[0] * 3, [1] * 3]
        light = light.astype(np.float32)
        tifffile.imwrite(self.path("in.tif"), light[None], photometric="rgb",
                         extratags=[(34675, "B", len(icc), icc, True)])
        for target in TARGETS:
            self.impipe(f"icc {target}", "in.tif", "-o", "out.tif")
            with tifffile.TiffFile(self.path("out.tif")) as file:
                got, made = file.asarray()[0], bytes(file.pages[0].tags[34675].value)
            wanted = of_lcms(light, icc, made)
            self.assertLess((np.abs(got - wanted) / (0.1 + np.abs(wanted))).max(), 3e-4)

class OtherProfiles(ColourTest):
    def test_a_table_of_colours(self):
        pixels, icc = colours(20_000), lab_table()
        self.png("in.png", pixels, icc)
        for target in TARGETS:
            self.impipe(f"icc {target}", "in.png", "-o", "out.png")
            made = self.icc_of("out.png")
            unit = (pixels[0] / np.float32(255)).astype(np.float32)
            wanted = np.clip(of_lcms(unit, icc, made), 0, 1)
            apart = np.abs(self.pixels("out.png")[0] - np.floor(wanted * 255 + 0.5)).max(1)
            self.assertLessEqual(apart.max(), 1)
            self.assertLess((apart > 0).mean(), 0.02)
            self.impipe(f"im2single | icc {target}", "in.png", "-o", "out.npy")
            floats = np.clip(np.load(self.path("out.npy"))[0], 0, 1).astype(np.float32)
            apart = ciede2000(of_lcms(floats, made, None), of_lcms(wanted, made, None))
            self.assertLess(apart.max(), 1)
            self.assertLessEqual(np.quantile(apart, 0.99), 0.1)

    def test_gray_stays_gray(self):
        ramp = np.arange(256, dtype=np.uint8)[None]
        icc = profile(gamma(1.8))
        self.png("in.png", ramp, icc)
        for target in TARGETS:
            self.impipe(f"icc {target}", "in.png", "-o", "out.png")
            made = self.icc_of("out.png")
            wanted = to_8(of_lcms(to_16(ramp.T), icc, made, spaces=(GRAY, GRAY)))
            self.assertEqual(self.pixels("out.png").shape, ramp.shape)
            self.assertLessEqual(np.abs(self.pixels("out.png").astype(int) - wanted.T).max(), 1)
        self.write("to.icc", SOURCES["adobe"])
        self.impipe("icc @to.icc", "in.png", "-o", "rgb.png")
        wanted = to_8(of_lcms(to_16(ramp.T), icc, SOURCES["adobe"], spaces=(GRAY, RGB)))
        self.assertLessEqual(np.abs(self.pixels("rgb.png")[0].astype(int) - wanted).max(), 1)
        # Gray of a picture with a profile of RGB, and RGB that becomes gray.
        self.png("adobe.png", colours(100), SOURCES["adobe"])
        self.impipe("rgb2gray | icc srgb", "adobe.png", "-o", "gray.png")
        self.impipe("icc srgb", "adobe.png", "-o", "srgb.png")
        self.assertLessEqual(np.abs(self.pixels("gray.png")[0, :256].astype(int)
                                    - self.pixels("srgb.png")[0, :256, 0]).max(), 1)
        self.write("gray.icc", icc)
        self.impipe("icc @gray.icc", "adobe.png", "-o", "gray.png")
        wanted = to_8(of_lcms(to_16(colours(100)[0]), SOURCES["adobe"], icc, spaces=(RGB, GRAY)))
        self.assertLessEqual(np.abs(self.pixels("gray.png")[0].astype(int) - wanted.T).max(), 1)

    def test_what_has_no_conversion_says_why(self):
        pixels = colours(3)
        cmyk = SOURCES["adobe"][:16] + b"CMYK" + SOURCES["adobe"][20:]
        for name, icc, reason in (
                ("cmyk", cmyk, "its ICC profile 'own' is of CMYK, and the image has 3 channels"),
                ("gray", profile(gamma(2)), "is of gray, and the image has 3 channels"),
                ("cut", SOURCES["adobe"][:90], "its ICC profile is damaged")):
            self.png(f"{name}.png", pixels, icc)
            said = self.impipe("icc srgb", f"{name}.png", "-o", "out.png", code=1).err
            self.assertIn(reason, said)
            self.assertFalse(os.path.exists(self.path("out.png")))
        self.write("text.icc", "no profile")
        for path in ("text.icc", "missing.icc"):
            said = self.impipe(f"icc @{path}", "gray.png", "-o", "out.png", code=2).err
            self.assertIn(path, said)
            self.assertIn("^", said)
        self.write("cmyk.icc", cmyk)
        said = self.impipe("icc @cmyk.icc", self.picture("s.png", pixels), "-o", "o.png", code=2).err
        self.assertIn("of neither RGB nor gray", said)

    def test_damaged_profiles(self):
        rng = np.random.default_rng(9)
        count = 1000 if LONG else 150
        whole = [SOURCES["adobe"], SOURCES["sampled"], SOURCES["parametric"], lab_table()]
        for i in range(count):
            icc = bytearray(whole[i % len(whole)])
            for at in rng.integers(0, len(icc) if i % 3 else 200, rng.integers(1, 8)):
                icc[at] = rng.integers(256)
            if i % 5 == 0:
                icc = icc[:rng.integers(1, len(icc))]
            self.png(f"in{i}.png", colours(5, i), bytes(icc))
        os.mkdir(self.path("in"))
        for i in range(count):
            os.rename(self.path(f"in{i}.png"), self.path("in", f"{i}.png"))
        run = self.impipe("icc srgb", "in", "-o", "out", code=None)
        self.assertIn(run.code, (0, 1), run.err)
        failed = re.findall(r"in/(\d+)\.png: compute: icc: .*ICC profile", run.err)
        done = os.listdir(self.path("out"))
        self.assertEqual(len(set(failed)) + len(done), count, run.err)
        self.assertGreater(len(failed), count // 10)


CMYK = 6 << 16 | 4 << 3
PRESSES = "/usr/share/color/icc/ghostscript/"


def press(name):
    with open(PRESSES + name + "_cmyk.icc", "rb") as file:
        return file.read()


class Inks(ColourTest):
    def test_cmyk_by_its_profile(self):
        rng = np.random.default_rng(4)
        inks = np.concatenate([np.zeros((1, 4)), np.eye(4) * 255, rng.integers(0, 256, (9000, 4)),
                               rng.integers(0, 90, (9000, 4))]).astype(np.uint8)
        picture = Image.fromarray(inks[None], "CMYK")
        # One has a table of Lab behind curves, the other one of XYZ.
        for name in ("default", "ps"):
            icc = press(name)
            picture.save(self.path("in.tif"), icc_profile=icc)
            for intent in INTENTS:
                self.impipe(f"icc srgb {intent} | save out.png | im2single", "in.tif", "-o", "out.npy")
                self.impipe(f"im2single | icc srgb {intent}", "in.tif", "-o", "out.npy")
                made = self.icc_of("out.png")
                wanted = of_lcms((inks / np.float32(2.55)).astype(np.float32), icc, made, intent,
                                 spaces=(CMYK, RGB))
                got = np.clip(np.load(self.path("out.npy"))[0], 0, 1)
                apart = ciede2000(of_lcms(got, made, None),
                                  of_lcms(np.clip(wanted, 0, 1), made, None))
                self.assertLess(apart.max(), 1)
                self.assertLess(np.quantile(apart, 0.99), 0.1)
                self.assertLess(np.abs(self.pixels("out.png")[0] - got * 255).max(), 0.58)
        picture.save(self.path("plain.tif"))
        said = self.impipe("icc srgb", "plain.tif", "-o", "out.png", code=1).err
        self.assertIn("there is no ICC profile, and inks mean no colours without one", said)
        # A JPEG's inks are inverted.
        flat = np.tile(np.uint8([200, 30, 90, 10]), (16, 16, 1))
        for name, kind in (("a.tif", {}), ("a.jpg", {"quality": 100, "subsampling": 0})):
            Image.fromarray(flat, "CMYK").save(self.path(name), icc_profile=press("default"), **kind)
            self.impipe("icc srgb", name, "-o", f"{name}.png")
        self.assertLess(np.abs(self.pixels("a.tif.png").astype(int) - self.pixels("a.jpg.png")).max(), 4)


class Metadata(ColourTest):
    def test_what_a_png_says_of_its_colours_follows(self):
        pieces = [png_chunk(b"gAMA", struct.pack(">I", 45455)), png_chunk(b"cICP", bytes([12, 13, 0, 1]))]
        self.png("in.png", colours(9), SOURCES["adobe"], pieces)
        run = self.impipe("icc display-p3", "in.png", "-o", "out.png")
        self.warned(run, "colour space (cICP)")
        with open(self.path("out.png"), "rb") as file:
            data = file.read()
        self.assertIn(b"iCCP", data)
        for kind in (b"gAMA", b"cICP", b"sRGB", b"cHRM"):
            self.assertNotIn(kind, data)
        self.assertIn("Display P3".encode("utf-16-be"), self.icc_of("out.png"))
        self.impipe("imcomplement", "in.png", "-o", "same.png")
        self.assertEqual(self.icc_of("same.png"), SOURCES["adobe"])

    def test_what_a_png_says_without_a_profile(self):
        pixels = colours(3000)
        chunk = {"gAMA": lambda *n: png_chunk(b"gAMA", struct.pack(">I", *n)),
                 "cHRM": lambda *n: png_chunk(b"cHRM", struct.pack(">8I", *n)),
                 "sRGB": lambda n: png_chunk(b"sRGB", bytes([n])),
                 "cICP": lambda *n: png_chunk(b"cICP", bytes(n))}
        unit = pixels[0] / 255
        curve = np.where(unit > 0.04045, ((unit + 0.055) / 1.055) ** 2.4, unit / 12.92)
        # Primaries of Display P3 to those of sRGB, by IEC 61966-2-1 and SMPTE EG 432-1.
        p3 = np.array([[1.2249402, -0.2249402, 0], [-0.0420569, 1.0420569, 0],
                       [-0.0196376, -0.0786361, 1.0982735]])
        chroma = chunk["cHRM"](31270, 32900, 68000, 32000, 26500, 69000, 15000, 6000)
        adobe = png_chunk(b"iCCP", b"icc\0\0" + zlib.compress(SOURCES["adobe"]))
        for pieces, light in (([chunk["gAMA"](100000)], unit), ([chunk["sRGB"](0)], curve),
                              ([chunk["gAMA"](45455)], curve),
                              ([chunk["gAMA"](55556), chroma], unit ** 1.8 @ p3.T),
                              ([chunk["cICP"](12, 13, 0, 1)], curve @ p3.T),
                              ([adobe, chunk["cICP"](12, 8, 0, 1)], unit @ p3.T)):
            self.png("in.png", pixels, pieces=pieces)
            run = self.impipe("icc srgb", "in.png", "-o", "out.png")
            self.assertNotIn(NO_PROFILE, run.err)
            light = np.clip(light, 0, 1)
            wanted = np.where(light > 0.0031308, 1.055 * light ** (1 / 2.4) - 0.055, 12.92 * light)
            self.assertLess(np.abs(self.pixels("out.png")[0] - wanted * 255).max(), 0.6)
        self.warned(self.impipe("rgb2lab", "in.png", "-o", "out.npy"), "those of 'CICP 12/8'")
        self.png("in.png", pixels, pieces=[chunk["cICP"](9, 16, 0, 1)])
        said = self.impipe("icc srgb", "in.png", "-o", "new.png", code=1).err
        self.assertIn("its colours are those of CICP 9/16, which no ICC profile has", said)

    def test_formats_carry_the_new_profile(self):
        Image.fromarray(colours(9)).save(self.path("in.tif"), icc_profile=SOURCES["adobe"])
        for name in ("a.png", "a.jpg", "a.tif", "a.webp"):
            self.impipe("icc adobe-rgb", "in.tif", "-o", name)
            self.assertIn("Adobe RGB".encode("utf-16-be"), self.icc_of(name))
        self.impipe("noise 8 | gray2rgb | icc adobe-rgb", "-o", "made.png")
        self.assertIn("Adobe RGB".encode("utf-16-be"), self.icc_of("made.png"))

    def test_exif_says_which_colours(self):
        exif = Image.Exif()
        exif[0x8769] = {0xA001: 65535}
        Image.fromarray(colours(90)[:, :64].repeat(8, 0)).save(
            self.path("in.jpg"), icc_profile=SOURCES["adobe"], exif=exif)
        for target, space in (("srgb", 1), ("adobe-rgb", 65535)):
            self.impipe(f"icc {target}", "in.jpg", "-o", "out.jpg")
            with Image.open(self.path("out.jpg")) as picture:
                self.assertEqual(picture.getexif().get_ifd(0x8769)[0xA001], space)

    def test_exif_alone_says_which_colours(self):
        pixels = colours(1000)[:, :96].repeat(8, 0)
        as_file = {"quality": 100, "subsampling": 0}
        Image.fromarray(pixels).save(self.path("plain.jpg"), **as_file)
        self.impipe("icc srgb", "plain.jpg", "-o", "plain.png")
        srgb, as_decoded = self.icc_of("plain.png"), self.pixels("plain.png")
        adobe = to_8(of_lcms(to_16(as_decoded.reshape(-1, 3)), SOURCES["adobe"], srgb)).reshape(pixels.shape)
        for said, icc, wanted in (({0xA001: 65535, 0xA005: {1: "R03"}}, None, adobe),
                                  ({0xA001: 2}, None, adobe), ({0xA001: 1}, None, as_decoded),
                                  ({0xA001: 1}, SOURCES["adobe"], adobe),
                                  ({0xA001: 65535, 0xA005: {1: "R98"}}, None, None)):
            exif = Image.Exif()
            exif[0x8769] = said
            Image.fromarray(pixels).save(self.path("in.jpg"), exif=exif, icc_profile=icc, **as_file)
            run = self.impipe("icc srgb | save out.jpg", "in.jpg", "-o", "out.png")
            self.assertEqual(NO_PROFILE in run.err, wanted is None)
            wanted = as_decoded if wanted is None else wanted
            self.assertLessEqual(np.abs(self.pixels("out.png").astype(int) - wanted).max(), 1, said)
            with Image.open(self.path("out.jpg")) as picture:
                fields = picture.getexif()
                self.assertEqual(fields.get_ifd(0x8769)[0xA001], 1)
                if 0xA005 in said:
                    self.assertEqual(dict(fields.get_ifd(0xA005)), {})

    def test_which_of_several_counts(self):
        adobe = png_chunk(b"iCCP", b"icc\0\0" + zlib.compress(SOURCES["adobe"]))
        srgb, gamma_1 = png_chunk(b"sRGB", b"\0"), png_chunk(b"gAMA", struct.pack(">I", 100000))
        results = {}
        for name, pieces in (("adobe", [adobe]), ("all", [gamma_1, srgb, adobe]), ("srgb", [srgb]),
                             ("two", [gamma_1, srgb]), ("light", [gamma_1])):
            self.png("in.png", colours(500), pieces=pieces)
            self.impipe("icc srgb", "in.png", "-o", "out.png")
            results[name] = self.pixels("out.png")
        self.assertTrue(np.array_equal(results["adobe"], results["all"]))
        self.assertTrue(np.array_equal(results["srgb"], results["two"]))
        self.assertFalse(np.array_equal(results["light"], results["two"]))

    def test_code_points_of_avif_and_heif(self):
        flat = np.zeros((64, 96, 3), np.uint8)
        flat[:, :48], flat[:, 48:] = [200, 60, 40], [30, 180, 90]
        self.png("in.png", flat)
        self.write("adobe.icc", SOURCES["adobe"])
        self.impipe("icc srgb", "in.png", "-o", "s.png")
        self.impipe("icc display-p3", "in.png", "-o", "p3.png")
        p3, srgb = self.icc_of("p3.png"), self.icc_of("s.png")
        def of_profile(icc):
            return to_8(of_lcms(to_16(flat.reshape(-1, 3)), icc, srgb)).reshape(flat.shape)

        for options, wanted in (([], of_profile(p3)), (["--icc", self.path("adobe.icc")],
                                                       of_profile(SOURCES["adobe"]))):
            self.tool("avifenc", "--lossless", "--cicp", "12/13/0", *options, "in.png", "a.avif")
            self.impipe("icc srgb", "a.avif", "-o", "out.png")
            self.assertLessEqual(np.abs(self.pixels("out.png").astype(int) - wanted).max(), 2)
        # heif-enc writes no code points in HEIF: these stand in the place of its profile.
        self.png("profile.png", flat, SOURCES["adobe"])
        self.tool("heif-enc", "-q", "100", "-p", "chroma=444", "profile.png", "-o", "a.heic")
        with open(self.path("a.heic"), "rb") as file:
            data = file.read()
        at = data.index(b"colrprof")
        self.write("n.heic", data[:at] + b"colrnclx" + bytes([0, 12, 0, 13, 0, 6, 128]) + data[at + 15:])
        for name, wanted in (("a.heic", of_profile(SOURCES["adobe"])), ("n.heic", of_profile(p3))):
            self.impipe("icc srgb", name, "-o", "out.png")
            self.assertLessEqual(np.abs(self.pixels("out.png").astype(int) - wanted).max(), 3, name)

    def test_pages_and_bands(self):
        pages = [colour(20, 30, seed) for seed in range(3)]
        first, *others = [Image.fromarray(page) for page in pages]
        first.save(self.path("p.tif"), save_all=True, append_images=others,
                   icc_profile=SOURCES["adobe"])
        self.impipe("icc srgb", "p.tif", "-o", "out.tif")
        for i, page in enumerate(pages):
            self.png("one.png", page, SOURCES["adobe"])
            self.impipe("icc srgb", "one.png", "-o", "one_out.png")
            with Image.open(self.path("out.tif")) as made:
                made.seek(i)
                self.assertTrue(np.array_equal(np.asarray(made), self.pixels("one_out.png")))
        Image.fromarray(colour(700, 300)).save(self.path("b.tif"), icc_profile=SOURCES["adobe"])
        for name, memory in (("whole.tif", "1G"), ("bands.tif", "400K")):
            self.impipe("icc srgb", "b.tif", "-o", name, "--memory", memory)
        self.assertTrue(np.array_equal(self.pixels("whole.tif"), self.pixels("bands.tif")))
        self.assertEqual(self.icc_of("whole.tif"), self.icc_of("bands.tif"))
        self.assertFalse(np.array_equal(self.pixels("whole.tif"), self.pixels("b.tif")))

    def test_each_file_by_its_own_profile(self):
        for source, icc in [*SOURCES.items(), ("none", None)]:
            self.png(f"{source}.png", colours(50), icc)
            self.impipe("icc srgb", f"{source}.png", "-o", f"alone/{source}.png")
        run = self.impipe("icc srgb", *[f"{name}.png" for name in [*SOURCES, "none"]], "-o", "all")
        self.assertEqual(run.err.count(NO_PROFILE), 1)
        self.warned(run, f"none.png: {NO_PROFILE}")
        for name in [*SOURCES, "none"]:
            self.assertTrue(np.array_equal(self.pixels(f"all/{name}.png"),
                                           self.pixels(f"alone/{name}.png")))

    def test_stripped_colours_are_reported(self):
        self.png("in.png", colours(9), SOURCES["adobe"])
        run = self.impipe("imcomplement", "in.png", "-o", "out.png", "--strip")
        self.warned(run, "its colours are those of the ICC profile 'own', which --strip leaves out: "
                         "they will be shown as others; `icc to=srgb` converts them")
        self.assertIsNone(self.icc_of("out.png"))
        run = self.impipe("icc srgb", "in.png", "-o", "srgb.png", "--strip")
        self.assertEqual(run.err, "")
        self.assertIsNone(self.icc_of("srgb.png"))
        self.impipe("icc srgb", "in.png", "-o", "kept.png")
        self.assertTrue(np.array_equal(self.pixels("srgb.png"), self.pixels("kept.png")))
        for pipeline in ("rgb2gray | im2bw 0.5", "rgb2gray | imbinarize | bwlabel"):
            self.assertEqual(self.impipe(pipeline, "in.png", "-o", "out.tif", "--strip").err, "")

    def test_operators_of_srgb_report_other_colours(self):
        self.png("in.png", colours(9), SOURCES["adobe"])
        for name in ("rgb2lab", "rgb2xyz", "rgb2lin"):
            run = self.impipe(name, "in.png", "-o", "out.npy")
            self.warned(run, f"{name}: its formula is sRGB's, and the colours are those of 'own'; "
                             "`icc to=srgb` before it converts them")
            self.assertNotIn("formula", self.impipe(f"icc srgb | {name}", "in.png", "-o", "out.npy").err)
        self.png("plain.png", colours(9))
        self.assertNotIn("formula", self.impipe("rgb2lab", "plain.png", "-o", "out.npy").err)


class Cubes(ColourTest):
    def cube(self, name, values, head="", kind="LUT_3D_SIZE"):
        lines = [f"{kind} {round(len(values) ** (1 / 3)) if '3D' in kind else len(values)}"]
        lines += [" ".join(f"{v:.9g}" for v in row) for row in values]
        self.write(name, head + "\n".join(lines) + "\n")

    def look(self, side, seed=0):
        """cube[r, g, b], and its rows as files have them: red is the fastest."""
        rng = np.random.default_rng(seed)
        grid = np.stack(np.meshgrid(*[np.linspace(0, 1, side)] * 3, indexing="ij"), -1)
        values = (grid ** 1.2 + rng.normal(0, 0.03, grid.shape)).astype(np.float32)
        return values, values.transpose(2, 1, 0, 3).reshape(-1, 3)

    def test_a_table_of_colours(self):
        rng = np.random.default_rng(2)
        for side in (2, 5, 33):
            values, rows = self.look(side)
            self.cube("a.cube", rows, 'TITLE "a look"\n# comment\n')
            floats = rng.uniform(-0.1, 1.1, (7, 301, 3)).astype(np.float32)
            floats[0, :4] = [[0, 0, 0], [1, 1, 1], [0.5, 0.5, 0.25], [1, 0, 1]]
            np.save(self.path("in.npy"), floats)
            self.png("in.png", colours(500))
            for method in ("tetrahedral", "trilinear"):
                self.impipe(f"lut3d @a.cube {method}", "in.npy", "-o", "out.npy")
                wanted = in_cube(floats.reshape(-1, 3), values, method == "trilinear")
                got = np.load(self.path("out.npy")).reshape(-1, 3)
                self.assertLess(np.abs(got - wanted).max(), 1e-5)
                self.impipe(f"lut3d @a.cube {method}", "in.png", "-o", "out.png")
                wanted = 255 * in_cube(colours(500)[0] / 255, values, method == "trilinear")
                self.assertLess(np.abs(self.pixels("out.png")[0] - np.clip(wanted, 0, 255)).max(), 0.51)

    def test_curves_and_domains(self):
        rng = np.random.default_rng(3)
        rows = np.sort(rng.uniform(0, 1, (17, 3)), 0).astype(np.float32)
        low, high = np.array([-0.5, 0, 0.1]), np.array([1.5, 2, 0.9])
        self.cube("a.cube", rows, "DOMAIN_MIN -0.5 0 0.1\r\nDOMAIN_MAX 1.5 2 0.9\n", "LUT_1D_SIZE")
        floats = rng.uniform(-1, 3, (9, 31, 3)).astype(np.float32)
        np.save(self.path("in.npy"), floats)
        self.impipe("lut3d @a.cube", "in.npy", "-o", "out.npy")
        got = np.load(self.path("out.npy"))
        for c in range(3):
            wanted = np.interp(floats[..., c], np.linspace(low[c], high[c], 17), rows[:, c])
            self.assertLess(np.abs(got[..., c] - wanted).max(), 3e-6)
        values, rows = self.look(9)
        self.cube("b.cube", rows, "DOMAIN_MIN -0.5 0 0.1\nDOMAIN_MAX 1.5 2 0.9\n")
        self.impipe("lut3d @b.cube", "in.npy", "-o", "out.npy")
        wanted = in_cube((floats.reshape(-1, 3) - low) / (high - low), values)
        self.assertLess(np.abs(np.load(self.path("out.npy")).reshape(-1, 3) - wanted).max(), 1e-5)

    def test_damaged_files_show_the_line(self):
        self.png("in.png", colours(3))
        for text, reason in (
                ("LUT_3D_SIZE 2\n" + "0 0 0\n" * 7, "a.cube: it ends after 7 of 8 rows"),
                ("LUT_3D_SIZE 2\n" + "0 0 0\n" * 9, "a.cube, line 10: a row more than the size says"),
                ("LUT_3D_SIZE 2\n0 0\n", "a.cube, line 2: there are 2 numbers, not 3"),
                ("LUT_3D_SIZE 2\n0 x 0\n", "a.cube, line 2: 'x' is not a number"[:18]),
                ("LUT_3D_SIZE 1\n", "line 1: the size is a whole number from 2 to 256"),
                ("LUT_3D_SIZE 1e9\n", "line 1: the size is a whole number from 2 to 256"),
                ("0 0 0\n", "line 1: the size of the table has to stand before it"),
                ("LUT_1D_SIZE 2\nLUT_3D_SIZE 2\n", "line 2: a second size"),
                ("LUT_2D_SIZE 2\n", "line 1: 'LUT_2D_SIZE' is no keyword of .cube files"),
                ("DOMAIN_MIN 1 0 0\nLUT_1D_SIZE 2\n0 0 0\n1 1 1\n", "DOMAIN_MIN is not below"),
                ("", "neither LUT_1D_SIZE nor LUT_3D_SIZE")):
            self.write("a.cube", text)
            said = self.impipe("lut3d @a.cube", "in.png", "-o", "out.png", code=2).err
            self.assertIn(reason, said)
            self.assertIn("^", said)


CONFIG = os.path.join(ROOT, "tests/data/colour/config.ocio")


def lab_of_xyz(xyz):
    t = np.maximum(xyz, 0) / [0.9505, 1, 1.089]
    f = np.where(t > 216 / 24389, np.cbrt(t), t * 841 / 108 + 4 / 29)
    return np.stack([116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])], 1)


@unittest.skipUnless(importlib.util.find_spec("PyOpenColorIO"), "no python3-pyopencolorio")
class Spaces(ColourTest):
    def by_ocio(self, pixels, *spaces):
        import PyOpenColorIO as ocio
        config = ocio.Config.CreateFromFile(CONFIG)
        cpu = config.getProcessor(*spaces).getOptimizedCPUProcessor(ocio.OPTIMIZATION_LOSSLESS)
        out = np.array(pixels, np.float32).reshape(-1, 3)
        cpu.applyRGB(out)
        return out.reshape(pixels.shape)

    def test_curves_matrices_and_tables_of_files(self):
        rng = np.random.default_rng(8)
        light = np.exp2(rng.uniform(-12, 10, (1, 4000, 1))) * rng.uniform(0.8, 1, (1, 4000, 3))
        light[0, :3] = [[0] * 3, [1] * 3, [-0.05] * 3]
        light = light.astype(np.float32)
        np.save(self.path("in.npy"), light)
        logs = (rng.uniform(0, 1, (1, 4000, 1)) + rng.uniform(0, 0.02, (1, 4000, 3))).astype(np.float32)
        np.save(self.path("log.npy"), logs)
        for name, pixels, spaces in (("in", light, ("ACEScg", "sRGB - Display")),
                                     ("in", light, ("default", "log")),
                                     ("log", logs, ("default", "linear look")),
                                     ("log", logs, ("default", "two looks")),
                                     ("log", logs, ("log", "sRGB - Display")),
                                     ("log", logs, ("ACEScg", "look"))):
            self.impipe("ocio {!r} {!r} config=@{}".format(*spaces, CONFIG), f"{name}.npy", "-o", "out.npy")
            wanted, got = self.by_ocio(pixels, *spaces), np.load(self.path("out.npy"))
            self.assertLess((np.abs(got - wanted) / (0.1 + np.abs(wanted))).max(), 3e-4, spaces)

    def test_saturation_is_a_matrix(self):
        rng = np.random.default_rng(9)
        light = np.exp2(rng.uniform(-9, 10, (1, 20000, 1))) * rng.uniform(0.3, 1, (1, 20000, 3))
        light[0, :5000] = rng.uniform(-0.1, 1, (5000, 3))
        light = light.astype(np.float32)
        np.save(self.path("in.npy"), light)
        for name in ("graded", "soft"):
            self.impipe(f"ocio ACEScg {name} config=@{CONFIG}", "in.npy", "-o", "out.npy")
            got, wanted = np.load(self.path("out.npy")), self.by_ocio(light, "ACEScg", name)
            apart = np.abs(got - wanted) / (0.1 + np.abs(wanted))
            self.assertLess(np.quantile(apart, 0.999), 3e-4)
            self.assertLess(apart.max(), 4e-3)  # beside the corners of its curves
        self.impipe("ocio ACEScg screen view=film config=@" + CONFIG, "in.npy", "-o", "view.npy")
        self.impipe("ocio ACEScg graded config=@" + CONFIG, "in.npy", "-o", "out.npy")
        self.assertTrue(np.array_equal(np.load(self.path("out.npy")), np.load(self.path("view.npy"))))

    def test_output_transforms(self):
        rng = np.random.default_rng(9)
        light = np.exp2(rng.uniform(-9, 12, (1, 20000, 1))) * rng.uniform(0, 1, (1, 20000, 3))
        light[0, :5000] = rng.uniform(-0.1, 1, (5000, 3))
        light[0, 5000:7000] = rng.uniform(-1e-3, 1e-3, (2000, 3))
        pixels = light.astype(np.float32)
        np.save(self.path("in.npy"), pixels)
        self.impipe("icc srgb", self.picture("s.png", colours(1)), "-o", "srgb.png")
        for name in ("film", "bright film", "compressed"):
            self.impipe(f"ocio ACEScg {name!r} config=@{CONFIG}", "in.npy", "-o", "out.npy")
            got, wanted = np.load(self.path("out.npy")), self.by_ocio(pixels, "ACEScg", name)
            if name == "film":
                lab = [of_lcms(np.clip(a, 0, 1).reshape(-1, 3).astype(np.float32), self.icc_of("srgb.png"),
                               None) for a in (got, wanted)]
            else:
                lab = [lab_of_xyz(a[0].astype(float)) for a in (got, wanted)]
            self.assertLess(ciede2000(*lab).max(), 0.1, name)

    def test_fixed_functions(self):
        rng = np.random.default_rng(10)
        light = np.exp2(rng.uniform(-9, 9, (1, 20000, 1))) * rng.uniform(0, 1, (1, 20000, 3))
        light[0, :5000] = rng.uniform(-0.1, 1, (5000, 3))
        light[0, :3] = [[0, 0, 0], [1, 1, 1], [-0.1, -0.1, -0.1]]
        # A step's numbers are light again on the way back; where a sum is near 0 chromaticities are large.
        for name, least in (("compressed", -0.1), ("old film", 0), ("pale", -0.1), ("hues", -0.1), ("xyY", 0),
                            ("uvY", 0), ("LUV", 0)):
            pixels = np.maximum(light, least).astype(np.float32)
            for spaces in (("ACEScg", name), (name, "ACEScg")):
                np.save(self.path("in.npy"), pixels)
                self.impipe("ocio {!r} {!r} config=@{}".format(*spaces, CONFIG), "in.npy", "-o", "out.npy")
                wanted, got = self.by_ocio(pixels, *spaces), np.load(self.path("out.npy"))
                most = 3e-4 if spaces[0] == "ACEScg" else 2e-3  # the ways back are steep
                self.assertLess((np.abs(got - wanted) / (0.1 + np.abs(wanted))).max(), most, spaces)
                pixels = wanted

    def test_bytes_devices_and_profiles(self):
        pixels = colours(2000)
        self.png("in.png", pixels, SOURCES["adobe"])
        self.impipe("ocio 'sRGB - Display' ACEScg", "in.png", "-o", "out.png",
                    env={"OCIO": CONFIG})
        wanted = 255 * np.clip(self.by_ocio(pixels / np.float32(255), "sRGB - Display", "ACEScg"), 0, 1)
        self.assertLess(np.abs(self.pixels("out.png") - wanted).max(), 0.51)
        self.assertIsNone(self.icc_of("out.png"))
        for device in ["opencl:0"] if "opencl:0" in self.impipe("devices", "--json").out else []:
            for pipeline in ("ocio ACEScg graded", "im2single | ocio log 'sRGB - Display'",
                             "ocio ACEScg look", "ocio ACEScg compressed"):
                text = pipeline + " config=@" + CONFIG
                self.assertEqual(*[self.impipe(text, "in.png", "-n", "--hash", "--device", name).out
                                   for name in ("cpu", device)])

    def test_what_is_missing_is_named(self):
        self.png("in.png", colours(3))
        self.write("bad.ocio", "ocio_profile_version: 7\n")
        self.write("text.ocio", "[[[")
        for text, reason in (("ocio ACEScg log", "config=@config.ocio names one, or $OCIO"),
                             ("ocio ACEScg log config=@none.ocio", "none.ocio"),
                             ("ocio ACEScg log config=@bad.ocio", "bad.ocio"),
                             ("ocio ACEScg log config=@text.ocio", "text.ocio"),
                             ("ocio ACEScg noir config=@" + CONFIG, "noir"),
                             ("ocio ACEScg screen view=noir config=@" + CONFIG, "noir")):
            said = self.impipe(text, "in.png", "-o", "out.png", code=2, env={"OCIO": ""}).err
            self.assertIn(reason, said)
            self.assertIn("^", said)
            self.assertFalse(os.path.exists(self.path("out.png")))


class Devices(ColourTest):
    def test_the_same_bits(self):
        devices = self.impipe("devices", "--json").out
        if "opencl:0" not in devices:
            self.skipTest("no OpenCL here")
        _, rows = Cubes.look(self, 5)
        Cubes.cube(self, "a.cube", rows)
        self.png("in.png", colour(40, 50), SOURCES["adobe"])
        self.png("table.png", colour(40, 50), lab_table())
        self.png("deep.png", colour(40, 50).astype(np.uint16) * 250 + 7, SOURCES["prophoto"])
        for name in ("in.png", "table.png", "deep.png"):
            for pipeline in ("icc srgb", "icc display-p3 | imgaussfilt 1", "im2single | icc adobe-rgb",
                             "lut3d @a.cube", "im2single | lut3d @a.cube trilinear"):
                hashes = {self.impipe(pipeline, name, "-n", "--hash", "--device", device, *more).out
                          for device, more in (("cpu", ()), ("cpu", ("--no-fuse",)), ("opencl:0", ()))}
                self.assertEqual(len(hashes), 1, (name, pipeline))
        self.impipe("bench", "lut3d @a.cube", "--size", "64", "--device", "cpu", "--channels", "3")

    def test_large_pictures_in_parts(self):
        devices = self.impipe("devices", "--json").out
        _, rows = Cubes.look(self, 5)
        Cubes.cube(self, "a.cube", rows)
        self.png("in.png", np.tile(colour(395, 395), (6, 6, 1)))  # 17 MB
        hashes = {self.impipe("lut3d @a.cube", "in.png", "-n", "--hash", "--device", device).out
                  for device in ("cpu", "opencl:0") if device == "cpu" or device in devices}
        self.assertEqual(len(hashes), 1)


class Configurations(ColourTest):
    def setUp(self):
        super().setUp()
        self.png("in.png", np.full((4, 5, 3), 100, np.uint8))
        for name, scale in (("half", 0.5), ("double", 2)):
            self.write(name + ".ocio", ocio_config(
                "MatrixTransform> {matrix: [%g,0,0,0,0,%g,0,0,0,0,%g,0,0,0,0,1]}" % ((scale,) * 3)))
            self.table(scale, name)
        self.write("files.ocio", ocio_config("FileTransform> {src: x.cube}"))
        for name in ("half.ocio", "double.ocio"):  # times do not tell them apart
            os.utime(self.path(name), (10, 10))

    def table(self, scale, shot):
        self.write(f"luts/{shot}/x.cube", f"LUT_1D_SIZE 2\n0 0 0\n{scale} {scale} {scale}\n")

    def made(self, *more, **variables):
        """The result of a run with -u, and whether it was made anew."""
        before = os.stat(self.path("out.png")) if os.path.exists(self.path("out.png")) else None
        self.impipe("ocio lin enc" + "".join(more), "in.png", "-o", "out.png", "-u", env=variables)
        after = os.stat(self.path("out.png"))
        return self.pixels("out.png")[0, 0, 0], before is None or after.st_ino != before.st_ino

    def test_results_are_made_anew_with_another_configuration(self):
        for name, value in (("half", 50), ("double", 200), ("half", 50)):
            self.assertEqual(self.made(OCIO=name + ".ocio"), (value, True))
            self.assertEqual(self.made(OCIO=name + ".ocio"), (value, False))
        shutil.copy(self.path("double.ocio"), self.path("half.ocio"))
        self.assertEqual(self.made(OCIO="half.ocio"), (200, True))

    def test_results_are_made_anew_with_other_tables(self):
        for shot, value in (("half", 50), ("double", 200)):
            for variables in ({"SHOT": shot, "OCIO": "files.ocio"}, {"SHOT": shot}):
                given = () if "OCIO" in variables else (" config=@files.ocio",)
                self.assertEqual(self.made(*given, **variables), (value, True))
                self.assertEqual(self.made(*given, **variables), (value, False))
        self.table(0.25, "double")
        self.assertEqual(self.made(" config=@files.ocio", SHOT="double"), (25, True))

    def test_results_do_not_replace_what_they_are_made_of(self):
        self.png("half.png", colours(3))
        before = self.tree()
        for name in ("half.ocio", "luts/half/x.cube"):
            config = "half.ocio" if "ocio" in name else "files.ocio"
            said = self.impipe("ocio lin enc", "half.png", "-o", name.replace("half", "{stem}"),
                               "--format", "png", code=2, env={"OCIO": config, "SHOT": "half"}).err
            self.assertIn(f"{name}', which the pipeline reads", said)
        self.assertEqual(self.tree(), before)


class Example(ColourTest):
    def test_the_page(self):
        with open(os.path.join(ROOT, "docs/colour.md"), encoding="utf-8") as file:
            commands = re.findall(r"^    (impipe .*)$", file.read(), re.M)
        self.assertGreater(len(commands), 3)
        os.mkdir(self.path("photos"))
        Image.fromarray(colour(1200, 1800)).save(self.path("photos", "a.jpg"), quality=95,
                                                 icc_profile=SOURCES["adobe"])
        self.write("printer.icc", SOURCES["sampled"])
        self.impipe("phantom 32 | gray2rgb", "-o", "frames/a.exr")
        shutil.copy(CONFIG, self.path("config.ocio"))
        _, rows = Cubes.look(self, 5)
        Cubes.cube(self, "look.cube", rows)
        env = dict(self.environment(), PATH=os.path.dirname(PROGRAM) + ":" + os.environ["PATH"])
        for command in commands:
            done = subprocess.run(command, shell=True, cwd=self.path(), env=env, text=True,
                                  capture_output=True)
            self.assertEqual(done.returncode, 0, f"{command}\n{done.stderr}")
        with Image.open(self.path("web", "a.jpg")) as picture:
            self.assertEqual(max(picture.size), 1024)
            self.assertIn("sRGB".encode("utf-16-be"), picture.info["icc_profile"])


if __name__ == "__main__":
    unittest.main()
