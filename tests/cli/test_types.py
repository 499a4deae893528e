"""Types that are no class: what single cannot hold is told, and results have the input's type.

TIFFs are read here tag by tag, FITS and TIFFs are written so, NPYs are numpy's.
"""
import json
import struct
import unittest
import zlib

import numpy as np
from program import ProgramTest

from fits_writer import hdu
from tiff_writer import page, tiff

TYPES = ("int8", "int16", "int32", "int64", "uint32", "uint64", "float64")
WIDENED = ("impipe: {count} result{s} of class single, since {type}, the type of the input{s2}, does "
           "not hold each value; `map 'round(x)'` makes whole numbers\n")


def widened(name, count=1):
    return WIDENED.format(count=count, type=name, s=" is" if count == 1 else "s are",
                          s2="" if count == 1 else "s")


def read_tiff(data):
    """The pages of a little-endian TIFF of strips, deflated or not packed, as arrays of the type it
    says."""
    pages, at = [], struct.unpack_from("<I", data, 4)[0]
    while at:
        count = struct.unpack_from("<H", data, at)[0]
        tags = {}
        for i in range(count):
            tag, kind, n = struct.unpack_from("<HHI", data, at + 2 + 12 * i)
            letter = {1: "B", 3: "H", 4: "I"}.get(kind)
            if letter is None:
                continue
            size = n * struct.calcsize(letter)
            where = at + 10 + 12 * i
            where = where if size <= 4 else struct.unpack_from("<I", data, where)[0]
            tags[tag] = struct.unpack_from(f"<{n}{letter}", data, where)
        shape = (tags[257][0], tags[256][0], tags[277][0])
        kind = {1: "u", 2: "i", 3: "f"}[tags[339][0]]
        dtype = np.dtype(f"<{kind}{tags[258][0] // 8}")
        unpack = {1: bytes, 8: zlib.decompress}[tags[259][0]]
        rows = b"".join(unpack(data[o:o + n]) for o, n in zip(tags[273], tags[279]))
        pixels = np.frombuffer(rows, dtype).reshape(shape)
        if tags.get(317, (1,))[0] == 2:
            pixels = np.add.accumulate(pixels, axis=1, dtype=dtype)
        pages.append(pixels.squeeze(axis=2) if shape[2] == 1 else pixels)
        at = struct.unpack_from("<I", data, at + 2 + 12 * count)[0]
    return pages


def values(kind, channels=1, seed=1):
    """Both ends of what the type and single have, and others."""
    rng = np.random.default_rng(seed)
    shape = (14, 23) if channels == 1 else (14, 23, channels)
    if kind == "float64":
        return rng.normal(0, 1000, shape).astype(np.float32).astype(np.float64)
    info = np.iinfo(kind)
    low, high = max(info.min, -2**24), min(info.max, 2**24)
    out = rng.integers(low, high, shape, endpoint=True).astype(kind)
    out.flat[:3] = info.min, low, high
    return out


class Types(ProgramTest):
    def tiffs(self, name):
        with open(self.path(name), "rb") as file:
            return read_tiff(file.read())

    def same(self, got, expected):
        self.assertEqual((got.dtype, got.shape), (expected.dtype, expected.shape))
        np.testing.assert_array_equal(got, expected)


class Results(Types):
    def test_have_the_type_of_their_input(self):
        for kind in TYPES:
            for channels in (1, 3):
                stored = values(kind, channels)
                self.write("in.tif", tiff(page(stored, photometric=2 if channels == 3 else 1)))
                np.save(self.path("in.npy"), stored)
                for source in ("in.tif", "in.npy"):
                    with self.subTest(kind, channels=channels, source=source):
                        for out in ("out.tif", "out.npy"):
                            run = self.impipe("fliplr", source, "-o", out)
                            self.assertEqual(run.err, "")
                        self.same(self.tiffs("out.tif")[0], stored[:, ::-1])
                        self.same(self.pixels("out.npy"), stored[:, ::-1])

    def test_of_fits(self):
        for kind in ("int16", "int32", "float64"):
            stored = values(kind)
            self.write("in.fits", hdu(stored))
            with self.subTest(kind):
                self.impipe("rot90 0", "in.fits", "-o", "out.tif", "--strip")
                self.same(self.tiffs("out.tif")[0], stored)

    def test_operators_that_make_whole_numbers(self):
        stored = values("int16").clip(-100, 100)
        np.save(self.path("in.npy"), stored)
        self.impipe("medfilt2 1 | imlincomb 1 1 :b", "in.npy", "--with", "b=in.npy", "-o", "out.npy")
        self.same(self.pixels("out.npy"), 2 * stored)
        self.impipe("imgaussfilt 2 | map 'round(x)'", "in.npy", "-o", "out.npy")
        self.assertEqual(self.pixels("out.npy").dtype, np.int16)

    def test_are_floats_where_the_type_does_not_hold_them(self):
        stored = np.arange(12, dtype=np.int16).reshape(3, 4) * 3000
        np.save(self.make_parent("in/a.npy"), stored)
        for name, text, expected in [("a fraction", "map 'x + 0.5'", stored + np.float32(0.5)),
                                     ("too large", "map 'x * 2'", stored.astype(np.float32) * 2)]:
            for out in ("out.npy", "out.tif"):
                with self.subTest(name, out=out):
                    run = self.impipe(text, "in/a.npy", "-o", out)
                    self.assertEqual(run.err, widened("int16"))
                    got = self.tiffs(out)[0] if out == "out.tif" else self.pixels(out)
                    self.same(got, expected.astype(np.float32))
        np.save(self.path("in/b.npy"), stored.astype(np.int32))
        np.save(self.path("in/c.npy"), stored)
        run = self.impipe("map 'x + 0.5'", "in", "-o", "out")
        self.assertEqual(run.err, widened("int16", 2) + widened("int32"))

    def test_as_asked(self):
        for kind in TYPES:
            np.save(self.path("in.npy"), values(kind).clip(0, 100))
            run = self.impipe("rot90 0", "in.npy", "-o", "out.npy", "-d", "single")
            self.assertEqual((run.err, self.pixels("out.npy").dtype), ("", np.float32))
        np.save(self.path("in.npy"), values("int16"))
        run = self.impipe("mat2gray", "in.npy", "-o", "out.npy")
        self.assertEqual((run.err, self.pixels("out.npy").dtype), ("", np.float32))

    def test_numbers_of_a_class_that_an_operator_makes(self):
        self.picture("in.png", np.zeros((14, 23, 3), np.uint8))
        for kind in ("uint8", "uint16"):
            for name in ("out.tif", "out.png", "out.npy"):
                self.impipe(f"rgb2lab | map 'r + 7.4' class={kind}", "in.png", "-o", name)
                self.assertIn(f"23x14, {kind} x1, ", self.impipe("info", name).out)
                np.testing.assert_array_equal(self.pixels(name), np.full((14, 23), 7))

    def test_in_place(self):
        for kind in TYPES:
            stored = values(kind)
            np.save(self.path("a.npy"), stored)
            self.write("a.tif", tiff(page(stored)))
            self.assertEqual(self.impipe("imadd 0", "a.npy", "a.tif", "--in-place").err, "")
            self.same(self.pixels("a.npy"), stored)
            self.same(self.tiffs("a.tif")[0], stored)

    def test_pages_of_a_file_have_one_type(self):
        stored = [values("int16", seed=i).clip(-1000, 1000) for i in range(3)]
        self.write("in.tif", tiff(*map(page, stored)))
        self.assertEqual(self.impipe("fliplr", "in.tif", "-o", "out.tif").err, "")
        for got, page_in in zip(self.tiffs("out.tif"), stored):
            self.same(got, page_in[:, ::-1])
        # The last page alone has fractions.
        stored[2] += 2000
        self.write("in.tif", tiff(*map(page, stored)))
        for out in ("out.tif", "out.npy"):
            run = self.impipe("map 'x > 1500 ? x + 0.5 : x'", "in.tif", "-o", out)
            self.assertEqual(run.err, widened("int16"))
            got = np.stack(self.tiffs(out)) if out == "out.tif" else self.pixels(out)
            expected = np.stack(stored).astype(np.float32)
            self.same(got, np.where(expected > 1500, expected + np.float32(0.5), expected))
        # Of files of their own each has its own.
        self.impipe("map 'x > 1500 ? x + 0.5 : x'", "in.tif", "-o", "p{page}.npy")
        self.assertEqual([self.pixels(f"p{i}.npy").dtype for i in (1, 2, 3)],
                         [np.int16, np.int16, np.float32])

    def test_in_bands(self):
        rows, columns = 3000, 1500
        for kind in ("int16", "uint32", "float64"):
            y, x = np.mgrid[0:rows, 0:columns]
            stored = ((y * 7 + x * 3) % 3001).astype(kind)
            self.write("in.tif", tiff(page(stored, compression=8)))
            bands = ("--memory", "20M", "--backend", "cpu")
            with self.subTest(kind):
                self.assertEqual(self.impipe("fliplr", "in.tif", "-o", "out.tif", *bands).err, "")
                self.same(self.tiffs("out.tif")[0], stored[:, ::-1])
            if kind == "float64":
                continue
            with self.subTest(kind, rows="the last do not fit"):
                stored[-1, -1] = 4000
                self.write("in.tif", tiff(page(stored, compression=8)))
                run = self.impipe("map 'x > 3500 ? 0.5 : x'", "in.tif", "-o", "out.tif", *bands)
                self.assertEqual(run.err, widened(kind))
                expected = stored.astype(np.float32)
                expected[-1, -1] = 0.5
                self.same(self.tiffs("out.tif")[0], expected)


# What single has for each is IEEE 754's nearest.
UNHELD = [("int32", 2**24 + 1, "16777217 becomes 16777216"),
          ("int32", 2**31 - 1, "2147483647 becomes 2147483648"),
          ("uint32", 2**32 - 1, "4294967295 becomes 4294967296"),
          ("int64", -2**53 + 1, "-9007199254740991 becomes -9007199254740992"),
          ("uint64", 2**64 - 1, "18446744073709551615 becomes 18446744073709551616"),
          ("float64", 1e300, "1e+300 becomes inf"),
          ("float64", -1e39, "-1e+39 becomes -inf"),
          ("float64", 1e-300, "1e-300 becomes 0"),
          ("float64", 2**24 + 1, "16777217 becomes 16777216")]
HELD = [("int32", -2**31), ("uint32", 2**31), ("int64", -2**63), ("uint64", 2**63),
        ("float64", 0.1), ("float64", np.inf), ("float64", np.nan), ("float64", 1e30),
        ("float64", 3.4e38), ("float64", 1.2e-38), ("float64", 2**24 + 0.3)]


class Inputs(Types):
    def files(self, kind, value):
        stored = np.array([[1, value, value]], kind)
        np.save(self.path("a.npy"), stored)
        self.write("a.tif", tiff(page(stored)))
        names = ["a.npy", "a.tif"]
        if kind in ("int32", "float64"):
            self.write("a.fits", hdu(stored))
            names.append("a.fits")
        return stored, names

    def test_what_single_cannot_hold_is_told(self):
        for kind, value, text in UNHELD:
            stored, names = self.files(kind, value)
            for name in names:
                told = f"single cannot hold 2 of its values ({text})"
                with self.subTest(kind, value=value, name=name):
                    run = self.impipe("rot90 0", name, "-o", "out.npy", "--strip")
                    self.assertTrue(run.err.startswith(f"impipe: {name}: {told}\n"), run.err)
                    with np.errstate(over="ignore"):
                        expected = stored.astype(np.float32)
                    np.testing.assert_array_equal(self.pixels("out.npy").astype(np.float32),
                                                  expected)
                    # Where there is no picture to write, too.
                    self.assertIn(told, self.impipe("mean2", name).err)
                    for pipeline, flags in [("rot90 0", ("-o", "out.npy")), ("mean2", ())]:
                        run = self.impipe(pipeline, name, *flags, "--strict", code=1)
                        self.assertEqual(run.err, f"impipe: {name}: decode: --strict: {told}\n")
                    if name == "a.fits":
                        continue
                    with open(self.path(name), "rb") as file:
                        before = file.read()
                    run = self.impipe("imadd 0", name, "--in-place", code=1)
                    self.assertEqual(run.err,
                                     f"impipe: {name}: decode: --in-place: {told}; give -o\n")
                    with open(self.path(name), "rb") as file:
                        self.assertEqual(file.read(), before)
                    self.assertIn(told, self.impipe("diff", name, name, code=2).err)

    def test_what_single_holds_is_not(self):
        for kind, value in HELD:
            stored, names = self.files(kind, value)
            for name in names:
                with self.subTest(kind, value=value, name=name):
                    run = self.impipe("rot90 0", name, "-o", "out.npy", "--strict", "--strip")
                    self.assertEqual(run.err, "")
                    self.same(self.pixels("out.npy"), stored.astype(np.float32).astype(kind))

    def test_second_inputs_pages_and_reports(self):
        np.save(self.path("a.npy"), np.zeros((1, 3)))
        np.save(self.path("b.npy"), np.array([[1e300, 0, 0]]))
        pipeline = ("imlincomb 1 1 :b", "a.npy", "--with", "b=b.npy", "-o", "out.npy")
        told = "--with b: b.npy: single cannot hold 1 of its values (1e+300 becomes inf)\n"
        self.assertEqual(self.impipe(*pipeline).err, "impipe: a.npy: " + told)
        self.assertEqual(self.impipe(*pipeline, "--strict", code=1).err,
                         "impipe: a.npy: decode: --strict: " + told)
        pages = [np.array([[2**24 + 1 + 2 * i, 5]], np.int32) for i in range(3)]
        self.write("p.tif", tiff(*map(page, pages)))
        run = self.impipe("mean2", "p.tif", "--progress", "json")
        told = "single cannot hold 3 of its values (16777217 becomes 16777216)"
        lines = run.err.splitlines()
        self.assertIn(f"impipe: p.tif: {told}", lines)
        events = [json.loads(line) for line in lines if line.startswith("{")]
        self.assertEqual([e["notes"] for e in events if e["event"] == "file"], [[told]])

    def test_in_bands(self):
        stored = np.zeros((3000, 1500), np.int32)
        stored[2990, 7] = 2**24 + 1
        self.write("in.tif", tiff(page(stored, compression=8)))
        flags = ("in.tif", "-o", "out.tif", "--memory", "20M", "--backend", "cpu")
        told = "single cannot hold 1 of its values (16777217 becomes 16777216)\n"
        self.assertEqual(self.impipe("fliplr", *flags).err, "impipe: in.tif: " + told)
        run = self.impipe("fliplr", *flags, "--strict", code=1)
        self.assertEqual(run.err, "impipe: in.tif: decode: --strict: " + told)


if __name__ == "__main__":
    unittest.main()
