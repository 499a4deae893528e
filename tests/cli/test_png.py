"""PNG files as they are written: what Pillow and ffmpeg read of them, and how small they are."""
import io
import os
import shutil
import struct
import subprocess
import unittest
import zlib

import numpy as np
from PIL import Image

from program import ProgramTest, png_chunk


def photograph(height, width, channels, seed=0):
    """Smooth shapes with noise, as photographs have it: rows that do not repeat themselves."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:height, 0:width] / 100.0
    planes = [120 + 60 * np.sin(x * (1 + c) + y) + 40 * np.cos(y * 2 - x) + rng.normal(
        0, 3, (height, width)) for c in range(channels)]
    return np.clip(np.stack(planes, axis=-1), 0, 255).astype(np.uint8)


def runs(height, width, seed):
    """Runs of equal pixels of every length, between noise."""
    rng = np.random.default_rng(seed)
    flat = np.zeros(height * width, np.uint8)
    at = 0
    for length in rng.permutation(np.tile(np.arange(1, 700), 4)):
        at += int(length) + int(rng.integers(1, 9))
        flat[at:at + 8] = rng.integers(0, 256, len(flat[at:at + 8]))
        if at > len(flat):
            break
    return flat.reshape(height, width)


def filtered(row, above, kind, pixel):
    """A row of bytes under a filter, by the definition."""
    left = np.concatenate([np.zeros(pixel, int), row[:-pixel]]) if len(row) > pixel else row * 0
    corner = np.concatenate([np.zeros(pixel, int), above[:-pixel]]) if len(row) > pixel else row * 0
    guess = left + above - corner
    far = [np.abs(guess - other) for other in (left, above, corner)]
    paeth = np.where((far[0] <= far[1]) & (far[0] <= far[2]), left,
                     np.where(far[1] <= far[2], above, corner))
    expected = [0 * row, left, above, (left + above) // 2, paeth][kind]
    return ((row - expected) % 256).astype(np.uint8).tobytes()


def png_of(pixels, kinds):
    """A PNG of [height, width, channels], row y under the filter kinds[y]."""
    height, width, channels = pixels.shape
    big = pixels.astype(pixels.dtype.newbyteorder(">"))
    rows = np.frombuffer(big.tobytes(), np.uint8).reshape(height, -1).astype(int)
    pixel, above, data = channels * pixels.itemsize, rows[0] * 0, b""
    for row, kind in zip(rows, kinds):
        data += bytes([kind]) + filtered(row, above, kind, pixel)
        above = row
    header = struct.pack(">IIBBBBB", width, height, 8 * pixels.itemsize,
                         {1: 0, 2: 4, 3: 2, 4: 6}[channels], 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + png_chunk(b"IHDR", header)
            + png_chunk(b"IDAT", zlib.compress(data, 1)) + png_chunk(b"IEND", b""))


class ReadPng(ProgramTest):
    def test_every_filter_of_every_kind_of_pixel(self):
        rng = np.random.default_rng(7)
        for dtype in (np.uint8, np.uint16):
            for channels in (1, 2, 3, 4):
                for height, width in ((1, 1), (16, 37), (17, 48), (40, 100), (35, 61), (48, 300),
                                      (33, 131), (64, 5)):
                    noise = rng.integers(0, np.iinfo(dtype).max + 1, (height, width, channels))
                    smooth = np.cumsum(noise % 7 - 3, axis=1) + 120
                    for pixels in (noise, smooth):
                        pixels = pixels.astype(dtype)
                        for kinds in ([4] * height, [3] * height, rng.integers(0, 5, height),
                                      rng.choice([1, 2, 4], height), [1] * height):
                            with self.subTest(dtype=dtype, shape=pixels.shape, kinds=kinds):
                                self.write("a.png", png_of(pixels, kinds))
                                self.impipe("rot90 0", "a.png", "-o", "a.npy")
                                np.testing.assert_array_equal(
                                    self.pixels("a.npy").reshape(pixels.shape), pixels)

    def test_a_filter_that_there_is_not(self):
        data = png_of(photograph(40, 90, 1), [4] * 40)
        at = data.index(b"IDAT") + 4
        length = struct.unpack(">I", data[at - 8:at - 4])[0]
        rows = bytearray(zlib.decompress(data[at:at + length]))
        rows[20 * 91] = 5
        self.write("a.png", data[:at - 8] + png_chunk(b"IDAT", zlib.compress(bytes(rows)))
                   + png_chunk(b"IEND", b""))
        run = self.impipe("rot90 0", "a.png", "-o", "a.npy", code=1)
        self.assertRegex(run.err, "^impipe: a.png: decode: damaged PNG: bad adaptive filter value")


class WrittenPng(ProgramTest):
    def setUp(self):
        super().setUp()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, "/")

    def written(self, pixels, name="a.png", source="a.tif"):
        """The pixels through impipe and back through Pillow."""
        Image.fromarray(pixels).save(source)
        self.impipe("imlincomb 1", source, "-o", name)
        with Image.open(name) as read:
            read.load()
            return np.asarray(read)

    def test_what_photographs_become(self):
        for shape in [(700, 500, 1), (700, 500, 3), (700, 500, 4), (401, 333, 3), (999, 7, 3),
                      (3, 9000, 3), (600, 800, 2)]:
            with self.subTest(shape=shape):
                pixels = photograph(*shape)
                pixels = pixels[:, :, 0] if shape[2] == 1 else pixels
                if shape[2] == 2:
                    Image.fromarray(pixels, "LA").save("in.png")
                    self.impipe("imlincomb 1", "in.png", "-o", "la.png")
                    back = np.asarray(Image.open("la.png"))
                else:
                    back = self.written(pixels)
                np.testing.assert_array_equal(back, pixels)

    def test_sixteen_bits(self):
        gray = photograph(600, 500, 1)[:, :, 0].astype(np.uint16) * 211 + 17
        Image.fromarray(gray).save("g.tif")
        self.impipe("imlincomb 1", "g.tif", "-o", "g.png")
        np.testing.assert_array_equal(np.asarray(Image.open("g.png")).astype(np.uint16), gray)
        if shutil.which("ffmpeg") is None:
            self.fail("ffmpeg is missing: scripts/setup.sh test")
        colour = photograph(600, 500, 3).astype(np.uint16) * 251 + 3
        np.save("c.npy", colour)
        self.impipe("imlincomb 1", "c.npy", "-o", "c.png")
        raw = subprocess.run(["ffmpeg", "-v", "error", "-i", "c.png", "-f", "rawvideo", "-pix_fmt",
                              "rgb48le", "-"], check=True, capture_output=True).stdout
        np.testing.assert_array_equal(np.frombuffer(raw, "<u2").reshape(colour.shape), colour)

    def test_quick_files_have_the_same_pixels(self):
        # Peaks of every width, so that codes of bytes between, and of those at both ends, have
        # every length; runs of zeros; noise; constants; sizes around those of vectors.
        rng = np.random.default_rng(3)
        made = [rng.normal(0, width, (97, 1301)) for width in (0.1, 0.4, 1, 2, 5, 12, 30, 80)]
        made.append(rng.integers(-16, 16, (97, 1301)))  # none of the bytes between
        pictures = [np.cumsum(np.round(p), axis=1).astype(np.int64) for p in made]
        pictures += [p[:height, :width] for p in (pictures[1], pictures[5])
                     for height, width in ((1, 1), (1, 15), (2, 16), (3, 17), (5, 33), (97, 64))]
        pictures += [rng.integers(0, 1 << 20, (70, 333)), np.full((90, 500), 77),
                     runs(90, 901, 4).astype(np.int64)]
        for dtype in (np.uint8, np.uint16):
            for channels in (1, 2, 3, 4):
                for i, picture in enumerate(pictures):
                    with self.subTest(dtype=dtype, channels=channels, i=i):
                        pixels = np.stack([(picture * (k + 1) + k * 7) for k in range(channels)],
                                          axis=-1).astype(dtype)
                        np.save("in.npy", pixels)
                        axes = ("--axes", "YXA") if channels % 2 == 0 else ()
                        for how in ("fast", "small") if i % 4 == 0 else ("fast",):
                            self.impipe("rot90 0", "in.npy", "-o", "a.png", "--compression", how,
                                        *axes)
                            self.assert_inflates("a.png", pixels)
                            self.impipe("rot90 0", "a.png", "-o", "a.npy")
                            np.testing.assert_array_equal(
                                self.pixels("a.npy").reshape(pixels.shape), pixels)

    def assert_inflates(self, name, pixels):
        """zlib reads the rows of a file, of as many bytes as there are, and Pillow all of it."""
        with open(name, "rb") as file:
            data = file.read()
        at, packed = 8, b""
        while at < len(data):
            length = struct.unpack(">I", data[at:at + 4])[0]
            if data[at + 4:at + 8] == b"IDAT":
                packed += data[at + 8:at + 8 + length]
            at += length + 12
        height, width, channels = pixels.shape
        self.assertEqual(len(zlib.decompress(packed)),
                         height * (1 + width * channels * pixels.itemsize))
        with Image.open(name) as read:
            read.load()
            if pixels.dtype == np.uint8:
                np.testing.assert_array_equal(np.asarray(read).reshape(pixels.shape), pixels)

    def test_quick_files_are_hardly_larger(self):
        pixels = photograph(700, 900, 3)
        rng = np.random.default_rng(5)
        wide = pixels.astype(np.uint16) * 257 + rng.integers(0, 600, pixels.shape).astype(np.uint16)
        widened = pixels.astype(np.uint16) * 257
        # Of 12 bits in 16 half of each word's bytes have one lower half: see `wasteful`.
        for name, picture in (("8", pixels), ("16", wide), ("12", wide & 0xfff0),
                              ("8 in 16", widened)):
            with self.subTest(bits=name):
                np.save("in.npy", picture)
                sizes = {}
                for how in ("fast", "default", "small"):
                    self.impipe("rot90 0", "in.npy", "-o", how + ".png", "--compression", how)
                    sizes[how] = os.path.getsize(how + ".png")
                self.assertLess(sizes["fast"], 1.1 * sizes["default"])
                self.assertLessEqual(sizes["small"], sizes["default"])

    def test_codes_of_every_length(self):
        # Frequencies that halve: without a limit some codes would have twenty bits.
        rng = np.random.default_rng(1)
        pixels = np.minimum(rng.geometric(0.5, (1200, 700)) - 1, 255).astype(np.uint8)
        order = rng.permutation(256).astype(np.uint8)
        np.testing.assert_array_equal(self.written(order[pixels]), order[pixels])

    def test_runs_of_every_length(self):
        for seed in range(3):
            pixels = runs(1300, 901, seed)
            # Noise around them, so that no matches are looked for.
            pixels[::3] = photograph(1300, 901, 1, seed)[::3, :, 0]
            np.testing.assert_array_equal(self.written(pixels), pixels)

    def test_as_small_as_zlib_makes_them(self):
        # Pillow's filter and zlib's fastest level, which looks for matches as well.
        for channels in (1, 3):
            pixels = photograph(900, 800, channels)
            pixels = pixels[:, :, 0] if channels == 1 else pixels
            self.written(pixels, "p.png", "p.tif")
            other = io.BytesIO()
            Image.fromarray(pixels).save(other, "PNG", compress_level=1)
            with open("p.png", "rb") as file:
                self.assertLess(len(file.read()), 1.02 * len(other.getvalue()))

    def test_compression(self):
        """The same pixels; less time or fewer bytes."""
        for name, pixels in (("photo", photograph(700, 600, 3)), ("gray", photograph(500, 500, 1)[:, :, 0]),
                             ("letters", np.tile(photograph(20, 900, 3), (60, 1, 1))),
                             ("one", np.zeros((1, 1), np.uint8)),
                             ("bits", photograph(300, 301, 1)[:, :, 0] > 128)):
            sizes = {}
            for kind in ("fast", "default", "small"):
                Image.fromarray(pixels).save("a.tif")
                self.impipe("rot90 0", "a.tif", "-o", "a.png", "--compression", kind)
                with Image.open("a.png") as read:
                    read.load()
                    np.testing.assert_array_equal(np.asarray(read), pixels)
                sizes[kind] = os.path.getsize("a.png")
            with self.subTest(name, sizes=sizes):
                self.assertLessEqual(sizes["small"], sizes["default"])
                if name == "letters":
                    self.assertLess(sizes["small"], sizes["default"])
                if name in ("photo", "gray"):
                    self.assertLess(sizes["fast"], 1.1 * sizes["default"])

    def test_compression_of_other_formats(self):
        pixels = (photograph(200, 300, 3) // 8 * 8).repeat(2, axis=1)
        Image.fromarray(pixels).save("a.png")
        for extension in ("tif", "webp", "jxl", "exr", "jpg"):
            sizes, read = {}, {}
            for kind in ("fast", "default", "small"):
                name = f"a.{extension}"
                self.impipe("rot90 0", "a.png", "-o", name, "--compression", kind)
                self.impipe("rot90 0", name, "-o", "back.npy")
                sizes[kind], read[kind] = os.path.getsize(name), np.load("back.npy")
            with self.subTest(extension, sizes=sizes):
                for kind in ("fast", "small"):
                    np.testing.assert_array_equal(read[kind], read["default"])
                if extension != "exr":  # OpenEXR's own level is its smallest
                    self.assertLess(sizes["small"], sizes["default"])
                self.assertLessEqual(sizes["default"], sizes["fast"])
        self.impipe("rot90 0", "a.png", "-o", "again.png", "--compression", "small", "-u", "-v")
        said = self.impipe("rot90 0", "a.png", "-o", "again.png", "--compression", "small", "-u", "-v").err
        self.assertIn("is there already: skipped", said)
        said = self.impipe("rot90 0", "a.png", "-o", "again.png", "-u", "-v").err
        self.assertNotIn("skipped", said)
        self.assertIn("--compression: 'tiny' is none of fast, default, small", self.impipe(
            "rot90 0", "a.png", "-o", "b.png", "--compression", "tiny", code=2).err)

    def test_what_repeats_itself_stays_small(self):
        # A page of letters: one row of boxes, again and again.
        row = photograph(20, 900, 3)
        pixels = np.tile(row, (60, 1, 1))
        self.written(pixels, "t.png", "t.tif")
        other = io.BytesIO()
        Image.fromarray(pixels).save(other, "PNG", compress_level=1)
        with open("t.png", "rb") as file:
            self.assertLess(len(file.read()), 1.1 * len(other.getvalue()))


if __name__ == "__main__":
    unittest.main()
