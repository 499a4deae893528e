"""How EXR files are stored: tiles, levels, the order of lines, whole numbers, subsampled channels."""
import json
import os
import shutil
import struct
import subprocess
import unittest

import numpy as np

from exr_writer import (FLOAT, HALF, NONE, UINT, WORDS, exr, level_sizes, pixels_of, read_header,
                        take_apart, text, tiled)
from program import ProgramTest, ramp

RAMP = ramp(5, 7) / np.float32(256)


def noise(height, width, seed):
    return np.random.default_rng(seed).integers(0, 256, (height, width)).astype(np.float32) / 256


def mean(pixels, width, height):
    """Of the part that each of fewer pixels covers, by repeating pixels until all are whole."""
    rows, columns = pixels.shape
    wide = np.repeat(np.repeat(pixels.astype(np.float64), width, axis=1), height, axis=0)
    return wide.reshape(height, rows, width, columns).mean(axis=(1, 3))


def levels_of(pixels, levels, rounding, reduce=mean):
    """{(lx, ly): pixels} of a map, each level made of the one before."""
    height, width = pixels.shape
    sizes = level_sizes(width, height, levels, rounding)
    if levels < 2:
        out = {(0, 0): pixels}
        for i, (w, h) in enumerate(sizes[1:], 1):
            out[i, i] = reduce(out[i - 1, i - 1], w, h)
        return out
    across = len({w for w, h in sizes if h == sizes[0][1]})
    out, first = {}, pixels
    for i, (w, h) in enumerate(sizes):
        x, y = i % across, i // across
        if i == 0:
            out[0, 0] = pixels
        elif x == 0:
            first = out[0, y] = reduce(first, w, h)
        else:
            out[x, y] = reduce(out[x - 1, y], w, h)
    return out


def tiles_of(one, size, channel):
    """{(lx, ly): pixels} of an uncompressed file of tiles."""
    width, height, kind = struct.unpack("<IIB", one["header"]["tiles"])
    names = sorted(one["channels"])
    sizes = level_sizes(*size, kind & 15, kind >> 4)
    across = len({w for w, h in sizes if h == sizes[0][1]}) if kind & 15 == 2 else 1
    out = {}
    for i, (w, h) in enumerate(sizes):
        place = (i % across, i // across) if kind & 15 == 2 else (i, i)
        out[place] = np.zeros((h, w), np.dtype(WORDS[one["channels"][channel]]))
    for chunk in one["chunks"]:
        x, y, lx, ly, _ = struct.unpack_from("<iiiiI", chunk)
        level, at = out[lx, ly], 20
        left, top = x * width, y * height
        right, bottom = min(level.shape[1], left + width), min(level.shape[0], top + height)
        for row in range(top, bottom):
            for name in names:
                word = np.dtype(WORDS[one["channels"][name]])
                if name == channel:
                    level[row, left:right] = np.frombuffer(chunk, word, right - left, at)
                at += (right - left) * word.itemsize
        assert at == len(chunk)
    return out


class Storage(ProgramTest):
    def run_on(self, data, pipeline="imlincomb 0.5", *options):
        self.write("a.exr", data)
        run = self.impipe(pipeline, "a.exr", "-o", "out/", *options)
        with open(self.path("out/a.exr"), "rb") as file:
            one, = take_apart(file.read())
        return one, run

    def judge(self, *command):
        if shutil.which(command[0]) is None:
            self.fail(f"no {command[0]}: scripts/setup.sh test")
        return subprocess.run(command, cwd=self.folder, check=True, capture_output=True,
                              text=True).stdout


class Tiles(Storage):
    def test_tiles_stay(self):
        for tile in ((16, 16), (8, 32), (64, 1), (100, 100)):
            with self.subTest(tile):
                pixels = noise(40, 30, 1)
                data = tiled({"Y": (HALF, {(0, 0): pixels})}, (30, 40), tile)
                one, run = self.run_on(data)
                self.assertEqual(run.err, "")
                self.assertEqual(one["header"]["tiles"], struct.pack("<IIB", *tile, 0))
                np.testing.assert_array_equal(tiles_of(one, (30, 40), "Y")[0, 0], pixels / 2)
                one, _ = self.run_on(data, "imresize [50 20] nearest")
                self.assertEqual(one["header"]["tiles"], struct.pack("<IIB", *tile, 0))
                self.assertEqual(tiles_of(one, (20, 50), "Y")[0, 0].shape, (50, 20))

    def test_other_channels_in_tiles(self):
        pixels, ids = noise(40, 30, 1), np.arange(1200, dtype=np.uint32).reshape(40, 30) + 4294960000
        data = tiled({"Y": (HALF, {(0, 0): pixels}), "id": (UINT, {(0, 0): ids})}, (30, 40), (16, 8))
        one, _ = self.run_on(data)
        np.testing.assert_array_equal(tiles_of(one, (30, 40), "Y")[0, 0], pixels / 2)
        np.testing.assert_array_equal(tiles_of(one, (30, 40), "id")[0, 0], ids)

    def test_levels_are_means(self):
        for levels in (1, 2):
            for rounding in (0, 1):
                for size in ((32, 16), (13, 7), (5, 40), (1, 1)):
                    with self.subTest(levels=levels, rounding=rounding, size=size):
                        pixels = noise(size[1], size[0], 3)
                        before = levels_of(pixels, levels, rounding)
                        data = tiled({"Y": (FLOAT, before)}, size, (8, 4), levels, rounding)
                        one, run = self.run_on(data)
                        self.assertEqual(run.err, "")
                        self.assertEqual(one["header"]["tiles"],
                                         struct.pack("<IIB", 8, 4, levels | rounding << 4))
                        after = tiles_of(one, size, "Y")
                        self.assertEqual(set(after), set(before))
                        for place, wanted in before.items():
                            np.testing.assert_allclose(after[place], wanted / 2, atol=1e-6)

    def test_levels_of_another_programs_file(self):
        """oiiotool counts them, and resizes by the same means."""
        self.judge("oiiotool", "--pattern", "noise:type=uniform:seed=1", "64x32", "3", "-d", "float",
                   "-o", "flat.exr")
        for kind in (["-m"], ["-r"]):
            self.judge("exrmaketiled", *kind, "-t", "16", "16", "flat.exr", "a.exr")
            self.impipe("imlincomb 1", "a.exr", "-o", "out/")
            header = read_header(self.path("out/a.exr"))
            self.assertEqual(header["tiles"], read_header(self.path("a.exr"))["tiles"])
            self.judge("oiiotool", "--fail", "0", "--diff", "a.exr", "out/a.exr")
        self.judge("exrmaketiled", "-m", "-t", "16", "16", "flat.exr", "a.exr")
        self.impipe("imlincomb 1", "a.exr", "-o", "out/")
        self.assertIn("MIP-map levels: 64x32 32x16 16x8 8x4 4x2 2x1 1x1",
                      self.judge("oiiotool", "--info", "-v", "out/a.exr"))
        self.judge("oiiotool", "flat.exr", "--resize:filter=box", "32x16", "-o", "half.exr")
        self.judge("oiiotool", "out/a.exr", "--selectmip", "1", "-o", "level.exr")
        self.judge("oiiotool", "--fail", "1e-5", "--diff", "half.exr", "level.exr")

    def test_levels_of_other_channels_stay(self):
        """Byte for byte, whatever they are of."""
        pixels = levels_of(noise(16, 32, 3), 1, 0)
        odd = {place: noise(*level.shape, sum(place) + 9) for place, level in pixels.items()}
        ids = {place: (level * 1e9).astype(np.uint32) for place, level in odd.items()}
        data = tiled({"Y": (HALF, pixels), "Z": (FLOAT, odd), "id": (UINT, ids)}, (32, 16), (8, 8), 1)
        one, _ = self.run_on(data)
        for name, wanted in (("Z", odd), ("id", ids)):
            for place, level in tiles_of(one, (32, 16), name).items():
                np.testing.assert_array_equal(level, wanted[place], err_msg=f"{name} {place}")

    def test_levels_of_names_and_labels_are_some_of_them(self):
        ids = np.kron(np.arange(8, dtype=np.uint32).reshape(2, 4) * 7, np.ones((8, 8), np.uint32))
        data = tiled({"id": (UINT, levels_of(ids, 1, 0, lambda p, w, h: p[:h, :w]))}, (32, 16),
                     (8, 8), 1)
        for options in ([], ["--channels", "id"]):
            one, _ = self.run_on(data, "imlincomb 3", *options)
            self.assertEqual(one["channels"], {"id": UINT})
            for level in tiles_of(one, (32, 16), "id").values():
                self.assertLessEqual(set(np.unique(level)), set(range(0, 168, 21)))
        half = tiled({"Y": (HALF, levels_of((ids > 20).astype(np.float32), 1, 0))}, (32, 16), (8, 8), 1)
        one, _ = self.run_on(half, "im2bw 0.5 | bwlabel")
        for level in tiles_of(one, (32, 16), "Y").values():
            np.testing.assert_array_equal(level, np.round(level))

    def test_tiles_to_other_programs(self):
        self.judge("oiiotool", "--pattern", "noise:type=uniform:seed=1", "70x50", "4", "-d", "half",
                   "--tile", "32", "16", "--compression", "piz", "-o", "a.exr")
        self.impipe("imlincomb 1", "a.exr", "-o", "out/")
        self.judge("oiiotool", "-a", "--fail", "1e-7", "--diff", "a.exr", "out/a.exr")
        self.assertIn("tile size: 32 x 16", self.judge("oiiotool", "--info", "-v", "out/a.exr"))
        self.judge("exrheader", "out/a.exr")

    def test_info_names_them(self):
        for levels, said in ((0, ""), (1, ", a mip map"), (2, ", a rip map")):
            self.write("a.exr", tiled({"Y": (HALF, levels_of(RAMP, levels, 0))}, (7, 5), (4, 4), levels))
            self.assertIn(f", tiles of 4x4{said}\n", self.impipe("info", "a.exr").out)

    def test_damaged(self):
        data = tiled({"Y": (HALF, levels_of(RAMP, 1, 0))}, (7, 5), (4, 4), 1)
        tiles = struct.pack("<IIB", 4, 4, 1)
        for wrong in (struct.pack("<IIB", 0, 4, 1), struct.pack("<IIB", 4, 4, 3),
                      struct.pack("<IIB", 4, 4, 2), struct.pack("<IIB", 1 << 30, 1 << 30, 1)):
            self.write("a.exr", data.replace(tiles, wrong))
            run = self.impipe("imlincomb 1", "a.exr", "-o", "b.exr", code=1)
            self.assertRegex(run.err, "^impipe: a.exr: decode: (damaged|truncated) EXR")


class Lines(Storage):
    def test_the_order_of_lines_stays(self):
        pixels = noise(100, 7, 1)
        for order in (0, 1):
            for compression in (NONE, 3, 4):  # of 1, 16 and 32 lines
                with self.subTest(order=order, compression=compression):
                    # oiiotool keeps the order of lines that it reads.
                    self.write("plain.exr", exr({"Y": (HALF, pixels), "Z": (FLOAT, pixels)}, (7, 100)))
                    name = {NONE: "none", 3: "zip", 4: "piz"}[compression]
                    self.judge("oiiotool", "plain.exr", "--compression", name, "--attrib",
                               "openexr:lineOrder", ["increasingY", "decreasingY"][order], "-o", "a.exr")
                    with open(self.path("a.exr"), "rb") as file:
                        one, _ = self.run_on(file.read())
                    self.assertEqual(one["header"]["lineOrder"], bytes([order]))
                    self.assertEqual(list(one["places"]), sorted(one["places"], reverse=order == 1))
                    self.impipe("imlincomb 1", "out/a.exr", "-o", "a.npy")
                    np.testing.assert_array_equal(self.pixels("a.npy"), pixels / 2)
                    self.impipe("imlincomb 1", "out/a.exr", "--channels", "Z", "-o", "z.npy")
                    np.testing.assert_array_equal(self.pixels("z.npy"), pixels)

    def test_upward_tiles(self):
        pixels = noise(40, 30, 1)
        data = tiled({"Y": (HALF, {(0, 0): pixels})}, (30, 40), (16, 16))
        for order in (1, 2):
            one, _ = self.run_on(data.replace(b"lineOrder\0\1\0\0\0\0", b"lineOrder\0\1\0\0\0" + bytes([order])))
            self.assertEqual(one["header"]["lineOrder"], bytes([order]))
            np.testing.assert_array_equal(tiles_of(one, (30, 40), "Y")[0, 0], pixels / 2)

    def test_name_and_type_stay(self):
        one, run = self.run_on(exr({"Y": (HALF, RAMP)}, extra=text("name", "left") +
                                   text("type", "scanlineimage")))
        self.assertEqual((one["header"]["name"], one["header"]["type"]), (b"left", b"scanlineimage"))
        self.assertEqual(run.err, "")
        one, _ = self.run_on(exr({"Y": (HALF, RAMP)}))
        self.assertFalse({"name", "type"} & set(one["header"]))


class WholeNumbers(Storage):
    IDS = np.arange(35, dtype=np.uint32).reshape(5, 7) * 479349

    def test_they_stay(self):
        data = exr({"id": (UINT, self.IDS), "Y": (HALF, RAMP)})
        one, _ = self.run_on(data, "imlincomb 2", "--channels", "id")
        self.assertEqual(one["channels"], {"Y": HALF, "id": UINT})
        np.testing.assert_array_equal(pixels_of(one, "id"), self.IDS * 2)
        one, _ = self.run_on(exr({"id": (UINT, self.IDS)}), "imdilate square,3")
        self.assertEqual(one["channels"], {"id": UINT})
        self.assertEqual(pixels_of(one, "id").max(), self.IDS.max())
        one, _ = self.run_on(exr({"id": (UINT, self.IDS)}), "im2bw 0.5")
        self.assertEqual(one["channels"], {"id": UINT})

    def test_what_they_cannot_hold_is_float(self):
        for pipeline in ("imlincomb 0.5", "imlincomb -1", "imlincomb 1000", "map 'x / (x - x)'"):
            one, _ = self.run_on(exr({"id": (UINT, self.IDS)}), pipeline)
            self.assertEqual(one["channels"], {"id": FLOAT}, pipeline)
        for cls, kind in (("single", FLOAT), ("half", HALF)):
            one, _ = self.run_on(exr({"id": (UINT, self.IDS)}), "imlincomb 1", "-d", cls)
            self.assertEqual(one["channels"], {"id": kind})


class Subsampled(Storage):
    def test_other_channels_stay(self):
        """Channels of every second or third pixel beside a picture, in windows that begin below 0."""
        pixels = noise(12, 18, 1)
        for window in (None, (-6, -12), (6, 18)):
            for compression in (NONE, 2):
                channels = {"Y": (HALF, pixels), "u": (HALF, noise(6, 9, 2), 2, 2),
                            "v": (FLOAT, noise(4, 18, 3), 1, 3), "w": (UINT, noise(12, 6, 4) * 1e9, 3, 1)}
                fields = {"window": window, "compression": compression}
                with self.subTest(**fields):
                    data = exr(channels, (18, 12), **fields)
                    one, run = self.run_on(data, "imlincomb 1")
                    self.assertEqual(run.err, "")
                    before, = take_apart(data)
                    self.assertEqual(one["header"]["channels"], before["header"]["channels"])
                    if compression == NONE:
                        self.assertEqual(one["chunks"], before["chunks"])
                    self.impipe("imlincomb 0.5", "a.exr", "-o", "half.exr")
                    self.impipe("imlincomb 2", "half.exr", "-o", "whole.exr")
                    with open(self.path("whole.exr"), "rb") as file:
                        again, = take_apart(file.read())
                    self.assertEqual(one["chunks"], again["chunks"])

    def test_not_to_be_processed(self):
        self.write("a.exr", exr({"Y": (HALF, noise(12, 18, 1)), "u": (HALF, noise(6, 9, 2), 2, 2)},
                                (18, 12)))
        run = self.impipe("imlincomb 1", "a.exr", "--channels", "u", "-o", "b.exr", code=1)
        self.assertIn("EXR with channel u of every 2x2 pixels is not supported", run.err)


class Memory(Storage):
    def test_what_is_carried_counts(self):
        """A profile tells what --memory counts: the file that has them, and the result with them."""
        def estimate(channels):
            path = self.write("a.exr", exr(channels, (64, 64)))
            run = self.impipe("imlincomb 1", "a.exr", "-o", "out/", "--profile=json")
            found = json.loads(run.err[run.err.index("{"):])
            return found["estimated_picture_bytes"], os.path.getsize(path)
        pixels = noise(64, 64, 1)
        plain, plain_file = estimate({"Y": (FLOAT, pixels)})
        beside, file = estimate({"Y": (FLOAT, pixels), **{f"z{i}": (FLOAT, pixels) for i in range(20)}})
        carried = 20 * 4 * 64 * 64
        self.assertGreaterEqual(file - plain_file, carried)
        self.assertGreaterEqual(beside - plain, 2 * carried)


if __name__ == "__main__":
    unittest.main()
