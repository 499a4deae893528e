"""PNG files as they are written: what Pillow and ffmpeg read of them, and how small they are."""
import io
import os
import shutil
import subprocess
import unittest

import numpy as np
from PIL import Image

from program import ProgramTest


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
