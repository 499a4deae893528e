"""What the axes of an NPY are: guessed and said, or told by --axes. Arrays are numpy's."""
import json
import os
import unittest

import numpy as np
from PIL import Image
from program import ProgramTest
from tiff_writer import page, tiff

KINDS = ("uint8", "uint16", "int8", "int16", "int32", "uint32", "int64", "uint64", "float16", "float32",
         "float64", "bool")
TELLS = "an NPY does not name its axes, --axes does\n"


def values(kind, shape, seed=2):
    rng = np.random.default_rng(seed)
    if kind == "bool":
        return rng.random(shape) < 0.5
    return rng.integers(0, 100, shape).astype(kind)


class Axes(ProgramTest):
    def save(self, array, name="in.npy"):
        np.save(self.make_parent(name), array)
        return array

    def run_on(self, pipeline, *arguments, name="in.npy", out="out.npy", err=""):
        run = self.impipe(pipeline, name, "-o", out, *arguments)
        self.assertEqual(run.err, err)
        return self.pixels(out) if out.endswith(".npy") else None

    def same(self, got, expected):
        self.assertEqual((got.dtype, got.shape), (expected.dtype, expected.shape))
        np.testing.assert_array_equal(got, expected)

    def guess(self, shape, text):
        shape = "(" + ", ".join(map(str, shape)) + ")"
        return f"impipe: in.npy: {shape} is read as {text}; {TELLS}"


class Guesses(Axes):
    # Of each shape what is said, and which of its axes flipud and fliplr turn over.
    SHAPES = [((9,), "", (), 0), ((7, 9), "", 0, 1), ((7, 9, 1), "", 0, 1), ((7, 9, 3), "", 0, 1),
              ((7, 9, 2), "YXC, 2 channels, none of them an alpha (YXA)", 0, 1),
              ((7, 9, 4), "YXC, 4 channels, none of them an alpha (YXA)", 0, 1),
              ((5, 7, 9), "ZYX, 5 pages of 9x7", 1, 2), ((1, 7, 9), "ZYX, 1 page of 9x7", 1, 2),
              ((5, 7, 9, 3), "ZYXC, 5 pages of 9x7 x 3", 1, 2),
              ((5, 7, 9, 1), "ZYXC, 5 pages of 9x7", 1, 2)]

    def test_each_shape_is_said(self):
        for shape, text, _, _ in self.SHAPES:
            array = self.save(values("uint8", shape))
            with self.subTest(shape=shape):
                self.same(self.run_on("rot90 0", err=self.guess(shape, text) if text else ""), array)

    def test_every_class_shape_and_order(self):
        expected = {}
        for kind in KINDS:
            for i, (shape, _, up, across) in enumerate(self.SHAPES):
                for order in "CF":
                    for byte_order in "<>":
                        array = np.asarray(values(kind, shape), order=order)
                        name = f"{kind}-{i}-{order}-{'le' if byte_order == '<' else 'be'}.npy"
                        self.save(array.astype(array.dtype.newbyteorder(byte_order)), f"in/{name}")
                        array = array.astype(np.float32) if kind == "float16" else array
                        expected[name] = {"rot90 0": array, "fliplr": np.flip(array, across),
                                          "flipud": np.flip(array, up)}
        for pipeline in ("rot90 0", "fliplr", "flipud"):
            self.impipe(pipeline, "in", "-o", "out")
            for name, of in expected.items():
                with self.subTest(name, pipeline=pipeline):
                    self.same(self.pixels(f"out/{name}"), of[pipeline])

    def test_no_channel_is_an_alpha(self):
        for channels in (2, 4):
            array = self.save(values("uint8", (20, 30, channels)))
            said = self.guess(array.shape, f"YXC, {channels} channels, none of them an alpha (YXA)")
            got = self.run_on("imgaussfilt 2", err=said)
            for c in range(channels):
                self.save(array[:, :, c], "one.npy")
                self.same(got[:, :, c], self.run_on("imgaussfilt 2", name="one.npy", out="1.npy"))

    def test_samples_of_a_tiff_mean_the_same_in_npy(self):
        array = values("uint8", (20, 30, 2))
        self.write("in.tif", tiff(page(array, extra=(0,))))
        self.run_on("rot90 0", name="in.tif")
        self.impipe("imgaussfilt 2", "in.tif", "-o", "a.npy")
        self.impipe("imgaussfilt 2", "out.npy", "-o", "b.npy")
        self.same(self.pixels("a.npy"), self.pixels("b.npy"))

    def test_is_said_once_a_kind(self):
        for i in range(3):
            self.save(values("uint8", (5, 7, 9)), f"in/z{i}.npy")
        self.save(values("uint8", (7, 9, 4)), "in/a.npy")
        self.save(values("uint8", (7, 9, 3)), "in/b.npy")
        run = self.impipe("imadd 0", "in", "-o", "out")
        self.assertEqual(run.err,
                         "impipe: in/a.npy: (7, 9, 4) is read as YXC, 4 channels, none of them an "
                         "alpha (YXA); " + TELLS +
                         "impipe: in/z0.npy: (5, 7, 9) is read as ZYX, 5 pages of 9x7, and 2 more "
                         "alike; " + TELLS)
        run = self.impipe("imlincomb 1 1 :b", "in/b.npy", "--with", "b=in/b.npy", "-o", "c.npy")
        self.assertEqual(run.err, "")
        run = self.impipe("immultiply :b", "in/a.npy", "--with", "b=in/a.npy", "-o", "c.npy")
        self.assertIn("(7, 9, 4) is read as YXC", run.err)
        self.assertEqual(self.impipe("imadd 0", "in", "-o", "out", "-q").err, "")

    def test_what_is_no_guess(self):
        for shape in [(2, 3, 7, 9), (2, 3, 4, 7, 9), (2, 3, 4, 7, 3)]:
            self.save(values("uint8", shape))
            run = self.impipe("rot90 0", "in.npy", "-o", "out.npy", code=1)
            text = ", ".join(map(str, shape))
            self.assertEqual(run.err, f"impipe: in.npy: decode: NPY of shape ({text}) does not say "
                             "what its axes are; give --axes, a letter for each, as TZCYX\n")


class Told(Axes):
    def test_arrays_come_back_with_their_axes(self):
        for axes, shape in [("YXC", (7, 9, 5)), ("CYX", (3, 7, 9)), ("CYX", (6, 7, 9)),
                            ("ZYX", (5, 7, 4)), ("YXZ", (7, 9, 5)), ("XY", (9, 7)), ("YX", (7, 9)),
                            ("ZYXC", (2, 7, 9, 6)), ("TCYX", (4, 3, 7, 9)), ("TZYX", (2, 3, 7, 9)),
                            ("TCZYX", (2, 3, 4, 7, 9)), ("CZYXS", (2, 3, 7, 9, 3)),
                            ("YXA", (7, 9, 2)), ("AYX", (4, 7, 9)), ("TZYX", (1, 1, 7, 9)),
                            ("QYTXS", (2, 7, 3, 9, 3)), ("CYX", (1, 7, 9))]:
            for kind in ("uint8", "int16", "float64"):
                if "A" in axes and kind == "int16":
                    continue
                for order in "CF":
                    array = self.save(np.asarray(values(kind, shape), order=order))
                    with self.subTest(axes=axes, shape=shape, kind=kind, order=order):
                        self.same(self.run_on("rot90 0", "--axes", axes), array)
                        self.same(self.run_on("fliplr", "--axes", axes),
                                  np.flip(array, axes.index("X")))
                        self.assertEqual(self.impipe("flipud", "in.npy", "--in-place", "--axes",
                                                     axes).err, "")
                        self.same(self.pixels("in.npy"), np.flip(array, axes.index("Y")))

    def test_alpha_where_it_is_told(self):
        rng = np.random.default_rng(3)
        rgba = self.save(rng.integers(0, 256, (20, 30, 4), dtype=np.uint8))
        Image.fromarray(rgba).save(self.path("in.png"))
        self.impipe("imgaussfilt 2", "in.png", "-o", "png.npy")
        self.same(self.run_on("imgaussfilt 2", "--axes", "YXA"), self.pixels("png.npy"))
        self.run_on("rot90 0", "--axes", "YXA", out="back.png")
        self.same(self.pixels("back.png"), rgba)
        info = json.loads(self.impipe("info", "in.npy", "--axes", "YXA", "--json").out)
        self.assertEqual((info["channels"], info["alpha"]), (3, True))
        self.save(values("int16", (7, 9, 2)))
        run = self.impipe("rot90 0", "in.npy", "-o", "out.npy", "--axes", "YXA", code=1)
        self.assertEqual(run.err, "impipe: in.npy: decode: --axes YXA: numbers of type '<i2' have no "
                         "white, and so no alpha; say C for A\n")

    def test_channels_and_pages(self):
        array = self.save(values("uint8", (2, 3, 7, 9)))
        run = self.impipe("max each", "in.npy", "--axes", "TCYX", "--json")
        rows = [json.loads(line) for line in run.out.splitlines()]
        self.assertEqual([row["page"] for row in rows], [1, 2])
        for row, at in zip(rows, array):
            self.assertEqual([row[f"max_{c}"] for c in "rgb"], list(at.max(axis=(1, 2))))
        run = self.impipe("mean2", "in.npy", "--axes", "TZYX", "--json")
        got = [json.loads(line)["mean2"] for line in run.out.splitlines()]
        np.testing.assert_allclose(got, array.mean(axis=(2, 3)).ravel())
        self.same(self.run_on("rgb2gray", "--axes", "TCYX")[0],
                  self.gray(array[0].transpose(1, 2, 0)))

    def gray(self, rgb):
        Image.fromarray(np.ascontiguousarray(rgb)).save(self.path("rgb.png"))
        self.impipe("rgb2gray", "rgb.png", "-o", "gray.png")
        return self.pixels("gray.png")

    def test_wrong_letters(self):
        self.save(values("uint8", (7, 9, 3)))
        for axes, why in [("ZX", "it has no Y"), ("YC", "it has no X"), ("YXX", "it has X twice"),
                          ("yx", "an axis is a letter of A to Z: Y and X, C for channels, A for "
                                 "channels with an alpha, others for pages"),
                          ("YXAS", "A and S both are the channels of a pixel")]:
            for command in (("rot90 0", "in.npy", "-o", "out.npy"), ("info", "in.npy"),
                            ("plan", "rot90 0", "in.npy"), ("diff", "in.npy", "in.npy")):
                with self.subTest(axes, command=command):
                    run = self.impipe(*command, "--axes", axes, code=None)
                    self.assertNotEqual(run.code, 0)
                    self.assertIn(f"--axes {axes}: {why}\n", run.err)
        for axes, text in [("YX", "has 3 axes, and --axes YX names 2"),
                           ("TZYX", "has 3 axes, and --axes TZYX names 4")]:
            run = self.impipe("rot90 0", "in.npy", "-o", "out.npy", "--axes", axes, code=1)
            self.assertEqual(run.err, f"impipe: in.npy: decode: NPY of shape (7, 9, 3) {text}\n")
        self.save(values("uint8", (1001, 2, 2)))
        run = self.impipe("rot90 0", "in.npy", "-o", "out.npy", "--axes", "CYX", code=1)
        self.assertEqual(run.err, "impipe: in.npy: decode: NPY of shape (1001, 2, 2) has 1001 channels "
                         "by its axes CYX, and 1 to 1000 are read\n")

    def test_by_variable_and_in_other_commands(self):
        array = self.save(values("uint8", (3, 7, 9)))
        run = self.impipe("fliplr", "in.npy", "-o", "out.npy", env={"IMPIPE_AXES": "CYX"})
        self.assertEqual(run.err, "")
        self.same(self.pixels("out.npy"), array[:, :, ::-1])
        self.assertIn("uint8 x3, white 255, 8-bit, axes CYX\n",
                      self.impipe("info", "in.npy", "--axes", "CYX").out)
        self.assertIn("8-bit, axes ZYX (guessed), 3 pages (z 3)\n", self.impipe("info", "in.npy").out)
        plan = json.loads(self.impipe("plan", "fliplr", "in.npy", "--axes", "CYX", "--json").out)
        self.assertEqual(plan["input"]["channels"], 3)
        self.assertEqual(self.impipe("diff", "in.npy", "in.npy", "--axes", "CYX").code, 0)

    def test_other_formats_name_theirs(self):
        Image.fromarray(values("uint8", (7, 9))).save(self.path("a.png"))
        run = self.impipe("fliplr", "a.png", "-o", "out.png", "--axes", "YXA")
        self.assertEqual(run.err, "impipe: --axes names the axes of NPYs, which 'a.png' is not\n")


class Pages(Axes):
    def test_become_those_of_a_tiff_and_come_back(self):
        for kind in ("uint8", "uint16", "float32"):
            array = self.save(values(kind, (4, 7, 9)))
            self.run_on("rot90 0", "--axes", "ZYX", out="out.tif")
            with Image.open(self.path("out.tif")) as picture:
                self.assertEqual(picture.n_frames, 4)
                for i in range(4):
                    picture.seek(i)
                    np.testing.assert_array_equal(np.asarray(picture), array[i])
            # The OME-XML, which an NPY has no place for.
            self.same(self.run_on("rot90 0", name="out.tif", out="back.npy",
                                  err="impipe: out.tif: the result is without OME-XML\n"), array)

    def test_some_of_them(self):
        array = self.save(values("uint8", (2, 3, 7, 9)))
        self.same(self.run_on("rot90 0", "--axes", "TZYX", "--pages", "2,4-5", err="impipe: in.npy: "
                              "the result is without the axes of its pages (t 2, z 3)\n"),
                  array.reshape(6, 7, 9)[[1, 3, 4]])
        self.same(self.run_on("rot90 0", "--axes", "TZYX", "--pages", "6"), array[1, 2])
        self.impipe("rot90 0", "in.npy", "--axes", "TZYX", "-o", "p{page}.npy")
        for i in range(6):
            self.same(self.pixels(f"p{i + 1}.npy"), array.reshape(6, 7, 9)[i])
        run = self.impipe("rot90 0", "in.npy", "--axes", "TZYX", "--pages", "1", "--in-place", code=1)
        self.assertIn("--in-place would not keep all of them", run.err)

    def test_that_do_not_fit_into_one_array(self):
        self.write("in.tif", tiff(page(values("uint8", (7, 9))), page(values("uint8", (7, 8)))))
        run = self.impipe("rot90 0", "in.tif", "-o", "out.npy", code=1)
        self.assertEqual(run.err, "impipe: in.tif: encode: an NPY holds pages of one shape and type, "
                         "and the result of page 2 is (7, 8) of '|u1', those before it (7, 9) of '|u1'; "
                         "-o '{stem}_{page}.npy' names each\n")
        self.assertFalse(os.path.exists(self.path("out.npy")))

    def test_measurements_of_pages(self):
        array = self.save(values("uint8", (4, 7, 9)))
        got = self.run_on("imhist 256", "--axes", "ZYX")
        for row, plane in zip(got, array):
            np.testing.assert_array_equal(row, np.bincount(plane.ravel(), minlength=256))

    def test_damage(self):
        self.save(values("uint8", (4, 7, 9)))
        with open(self.path("in.npy"), "rb") as file:
            data = file.read()
        self.write("in.npy", data[:-1])
        run = self.impipe("rot90 0", "in.npy", "-o", "out.npy", code=1)
        self.assertEqual(run.err, "impipe: in.npy: decode: truncated NPY: 251 bytes of pixels, 252 "
                         "needed\n")
        huge = data.replace(b"(4, 7, 9)", b"(400000000000000, 9000000, 9)")
        self.write("in.npy", huge)
        self.assertIn("damaged NPY: its shape is", self.impipe("mean2", "in.npy", code=1).err)


if __name__ == "__main__":
    unittest.main()
