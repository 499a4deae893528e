"""Zarr and OME-Zarr. Version 2 is written and read by Debian's zarr (2.13) here; files of version 3 are
zarr 3.1.6's, made by scripts/make_zarr_samples.py."""
import json
import os
import shutil
import unittest
import zipfile

import numcodecs
import numpy as np
import tifffile
import zarr
from program import ROOT, ProgramTest, colour, ramp

from fits_writer import card, hdu
from make_zarr_samples import SAMPLES, values

STORED = os.path.join(ROOT, "tests", "data", "zarr")
TYPES = ("uint8", "uint16", "int8", "int16", "int32", "uint32", "float16", "float32", "float64", "bool")
PACKINGS = (None, numcodecs.Zlib(4), numcodecs.GZip(3), numcodecs.Zstd(3),
            *(numcodecs.Blosc(cname, 5, shuffle) for cname in ("lz4", "zstd", "zlib", "blosclz", "lz4hc")
              for shuffle in (0, 1, 2)))


def content(path):
    with open(path, "rb") as file:
        return file.read()


class Zarrs(ProgramTest):
    def save(self, name, array, chunks, **options):
        shutil.rmtree(self.path(name), ignore_errors=True)
        made = zarr.open_array(self.path(name), mode="w", shape=array.shape, chunks=chunks,
                               dtype=array.dtype, **options)
        made[...] = array

    def read(self, name, *options, err=""):
        run = self.impipe("rot90 0", name, "-o", "out.npy", *options)
        if err is not None:
            self.assertEqual(run.err, err)
        return np.load(self.path("out.npy"))

    def fails(self, name, reason):
        run = self.impipe("rot90 0", name, "-o", "out.npy", code=1)
        self.assertEqual(run.err, f"impipe: {name}: decode: {reason}\n")

    def same(self, got, expected):
        self.assertEqual((got.dtype, got.shape), (expected.dtype, expected.shape))
        np.testing.assert_array_equal(got, expected)

    def document(self, name, document):
        return self.write(name, json.dumps(document))


class Version2(Zarrs):
    def test_types_and_byte_orders(self):
        for kind in TYPES:
            array = values((13, 17), kind)
            for order in "<>":
                with self.subTest(kind, order=order):
                    self.save("a.zarr", array.astype(array.dtype.newbyteorder(order)), (5, 6))
                    self.same(self.read("a.zarr"), array.astype("f4") if kind == "float16" else array)

    def test_packings_separators_and_orders(self):
        array = values((30, 41), "uint16")
        for i, packing in enumerate(PACKINGS):
            with self.subTest(packing):
                self.save("a.zarr", array, (16, 9), compressor=packing, order="CF"[i % 2],
                          dimension_separator="./"[i % 2])
                self.same(self.read("a.zarr"), array)

    def test_chunks_that_are_not_there(self):
        for fill in (0, 7, None):
            self.save("a.zarr", np.full((20, 30), 0 if fill is None else fill, np.uint8), (10, 10),
                      fill_value=fill)
            for name in os.listdir(self.path("a.zarr")):
                if name != ".zarray":
                    os.remove(self.path("a.zarr", name))
            self.same(self.read("a.zarr"), np.full((20, 30), fill or 0, np.uint8))
        made = zarr.open_array(self.path("b.zarr"), mode="w", shape=(20, 30), chunks=(10, 10), dtype="f4",
                               fill_value=np.nan)
        made[3:5, 3:25] = 2.5
        self.same(self.read("b.zarr"), made[...])

    def test_volumes_and_chunks_of_several_planes(self):
        array = values((7, 12, 19), "uint16")
        for chunks in ((1, 12, 19), (3, 5, 6), (7, 12, 19)):
            self.save("a.zarr", array, chunks)
            said = ("impipe: a.zarr: (7, 12, 19) is read as ZYX; an array does not name its axes, "
                    "--axes does\n")
            self.same(self.read("a.zarr", err=said), array)
            self.same(self.read("a.zarr", "--pages", "2,6", err=said), array[[1, 5]])
        made = zarr.open_array(self.path("a.zarr"))
        made.attrs["_ARRAY_DIMENSIONS"] = ["time", "y", "x"]
        self.assertIn("7 pages (t 7)", self.impipe("info", "a.zarr").out)
        self.save("c.zarr", values((6, 8, 3), "uint8"), (4, 4, 2))
        self.same(self.read("c.zarr", err=None), values((6, 8, 3), "uint8"))
        self.save("d.zarr", values((2, 3, 4, 5, 6), "uint8"), (1, 1, 2, 5, 6))
        self.fails("d.zarr", "Zarr of shape (2, 3, 4, 5, 6) does not say what its axes are; give --axes, a "
                             "letter for each, as TZCYX")
        self.impipe("project max axis=z", "d.zarr", "-o", "out.tif", "--axes", "TZPYX")

    def test_is_one_input_wherever_it_lies(self):
        array = values((20, 30), "uint8")
        self.save("in/a.zarr", array, (10, 10))
        self.save("in/deep/b.zarr", array, (10, 10))
        self.picture("in/c.png")
        self.assertEqual([line.split("\t")[0] for line in self.impipe("mean2", "in", "-r").lines()[1:]],
                         ["in/a.zarr", "in/c.png", "in/deep/b.zarr"])
        with zipfile.ZipFile(self.path("a.ozx"), "w") as out:
            for name in sorted(os.listdir(self.path("in/a.zarr"))):
                out.write(self.path("in/a.zarr", name), name)
        self.same(self.read("a.ozx"), array)
        self.same(self.read("in/a.zarr/"), array)
        # As shutil and zip -r pack a folder: its folders have entries, of which one is the first.
        self.impipe("imadd 0", "in/a.zarr", "-o", "p.zarr", "--ngff", "0.5")
        shutil.make_archive(self.path("p"), "zip", self.path("p.zarr"))
        with zipfile.ZipFile(self.path("p.zip")) as packed, zipfile.ZipFile(self.path("q.zarr.zip"), "w") as out:
            names = sorted(packed.namelist(), key=lambda name: (not name.endswith("/"), name))
            self.assertTrue(names[0].endswith("/"))
            for name in names:
                out.writestr(name, packed.read(name))
        self.same(self.read("q.zarr.zip"), array)
        with zipfile.ZipFile(self.path("none.zip"), "w") as out:
            out.writestr("words/", b"")
            out.writestr("words/a.txt", b"a")
        self.assertIn("not an image", self.impipe("mean2", "none.zip", code=1).err)
        # A second input, by itself and as a partner in a folder.
        for partner in ("in/a.zarr", "in"):
            run = self.impipe("imsubtract :m | max", "in/a.zarr", "--with", f"m={partner}")
            self.assertEqual(run.lines()[1], "in/a.zarr\t0")
        run = self.impipe("imadd 1", "in/a.zarr", "--in-place", code=1)
        self.assertIn("--in-place cannot replace it: it is a folder of chunks", run.err)


class Version3(Zarrs):
    def setUp(self):
        super().setUp()
        for name in os.listdir(STORED):
            with zipfile.ZipFile(os.path.join(STORED, name)) as stored:
                stored.extractall(self.path(name.replace(".zip", ".zarr")))

    def test_arrays_of_zarr_3(self):
        for name, shape, kind, how in SAMPLES:
            with self.subTest(name):
                expected = values(shape, kind)
                if how.get("part"):
                    expected = np.full(shape, how["fill"], kind)
                    expected[:10, 10:20] = values(shape, kind)[:10, 10:20]
                got = self.read(name + ".zarr", err=None)
                self.same(got.reshape(expected.shape), expected)
                self.write("a.ozx", content(os.path.join(STORED, name + ".zip")))
                np.testing.assert_array_equal(self.read("a.ozx", err=None), got)
        self.assertIn("12 pages (t 4, c 3)", self.impipe("info", "named.zarr").out)

    def test_a_pyramid_of_ome_zarr(self):
        array = values((2, 3, 40, 50), "uint8")
        self.same(self.read("ome.zarr", err=None).reshape(array.shape), array)
        info = self.impipe("info", "ome.zarr").out
        self.assertIn("OME-Zarr 0.5, pixels of 0.5 x 0.5 µm, 6 pages (c 2, z 3 by 2.5 µm)", info)
        self.impipe("rot90 0", "ome.zarr", "-o", "{c}_{z}.png")
        np.testing.assert_array_equal(self.pixels("2_3.png"), array[1, 2])
        run = self.impipe("rot90 0", "ome.zarr", "-o", "out.png", "--pages", "1")
        self.assertIn("where pixels lie along z", run.err)
        # tifffile and the program read axes and sizes of pixels in TIFF's OME-XML.
        whole = json.loads(self.impipe("info", "--json", "ome.zarr").out)
        self.assertEqual(self.impipe("rot90 0", "ome.zarr", "-o", "out.tif").err, "")
        with tifffile.TiffFile(self.path("out.tif")) as made:
            self.assertEqual((made.is_ome, made.series[0].axes), (True, "CZYX"))
            self.same(made.asarray(), array)
        again = json.loads(self.impipe("info", "--json", "out.tif").out)
        self.assertEqual(again["axes"], {"c": 2, "z": 3})
        for axis in "xyz":
            for name in ("scale", "unit"):
                self.assertEqual(again["measured"][axis][name], whole["measured"][axis][name])
        run = self.impipe("rot90 0", "ome.zarr", "-o", "out.npy")
        self.assertIn("the axes of its pages (c 2, z 3), where pixels lie along z", run.err)
        self.same(np.load(self.path("out.npy")), array)
        # Another level by its folder, which the group says the axes of.
        for level in ("ome.zarr/s1", "ome.zarr/s1/"):
            self.assertIn("6 pages (c 2, z 3", self.impipe("info", level).out)
        inside = lambda command: ["sh", "-c", 'cd ome.zarr && exec "$@"', "sh", *command]
        self.assertIn("25x20", self.impipe("info", "s1", wrap=inside).out)
        level = json.loads(self.impipe("info", "--json", "ome.zarr/s1").out)["measured"]
        self.assertEqual(level["x"]["scale"], 2 * whole["measured"]["x"]["scale"])


class Written(Zarrs):
    def check(self, name, expected):
        group = zarr.open_group(self.path(name), mode="r")
        pyramid = group.attrs["multiscales"][0]
        array = group[pyramid["datasets"][0]["path"]]
        self.same(array[...], expected)
        self.assertEqual(len(pyramid["axes"]), expected.ndim)
        self.assertEqual(array.attrs["_ARRAY_DIMENSIONS"], [axis["name"] for axis in pyramid["axes"]])
        return group, pyramid

    def test_types_and_shapes(self):
        for kind in TYPES:
            for shape in ((1, 1), (13, 700), (512, 512), (513, 40)):
                array = values(shape, kind)
                np.save(self.path("a.npy"), array)
                self.impipe("rot90 0", "a.npy", "-o", "a.zarr", "--format", "zarr")
                with self.subTest(kind, shape=shape):
                    self.check("a.zarr", array.astype("f4") if kind == "float16" else array)
                    self.impipe("rot90 0", "a.zarr", "-o", "b.npy")
                    np.testing.assert_array_equal(np.load(self.path("b.npy")), array)

    def test_colours_and_pages(self):
        self.picture("a.png", colour())
        self.impipe("rot90 0", "a.png", "-o", "a.zarr")
        self.check("a.zarr", np.moveaxis(colour(), 2, 0))
        self.impipe("rot90 0", "a.zarr", "-o", "b.png")
        np.testing.assert_array_equal(self.pixels("b.png"), colour())
        volume = values((3, 4, 20, 30), "uint16")
        np.save(self.path("v.npy"), volume)
        for version in ("0.4", "0.5"):
            self.impipe("rot90 0", "v.npy", "-o", "v.zarr", "--axes", "TZYX", "--chunk", "16", "--ngff",
                        version)
            self.assertIn(f"OME-Zarr {version}, 12 pages (t 3, z 4)", self.impipe("info", "v.zarr").out)
            self.same(self.read("v.zarr", err=None).reshape(volume.shape), volume)
        self.impipe("project max axis=t", "v.zarr", "-o", "p.zarr", "--ngff", "0.4")
        self.check("p.zarr", volume.max(axis=0))
        self.picture("in/1.png")
        self.picture("in/2.png", 255 - ramp())
        self.impipe("imadd 0", "in", "-o", "both.zarr")
        self.check("both.zarr", np.stack([ramp(), 255 - ramp()]))

    def test_pyramids(self):
        for kind, array in (("uint8", values((75, 101), "uint8")), ("logical", values((70, 40), "bool")),
                            ("single", values((64, 33), "float32"))):
            np.save(self.path("a.npy"), array)
            self.impipe("rot90 0", "a.npy", "-o", "a.zarr", "--chunk", "16")
            group, pyramid = self.check("a.zarr", array)
            self.assertGreater(len(pyramid["datasets"]), 2)
            for level, dataset in enumerate(pyramid["datasets"]):
                by = 2**level
                rows, columns = -(-array.shape[0] // by), -(-array.shape[1] // by)
                means = np.array([[array[y * by:y * by + by, x * by:x * by + by].mean(dtype=float)
                                   for x in range(columns)] for y in range(rows)])
                got = group[dataset["path"]][...]
                if kind == "single":
                    np.testing.assert_allclose(got, means, rtol=1e-6)
                else:
                    np.testing.assert_array_equal(got, np.floor(means + 0.5).astype(array.dtype))
                scale, translation = dataset["coordinateTransformations"]
                self.assertEqual(scale["scale"], [by, by])
                self.assertEqual(translation["translation"], [(by - 1) / 2] * 2)
        # Of labels some, no means.
        labels = np.repeat(np.repeat(np.arange(15), 9).reshape(1, -1), 40, axis=0).astype(np.int32)
        np.save(self.path("a.npy"), labels)
        self.impipe("rot90 0", "a.npy", "-o", "a.zarr", "--chunk", "16")
        group, pyramid = self.check("a.zarr", labels)
        self.same(group["1"][...], labels[::2, ::2])

    def test_the_size_of_pixels(self):
        scale = {"type": "scale", "scale": [2.0, 0.25, 0.5]}
        self.save("a.zarr/0", values((3, 20, 30), "uint8"), (1, 10, 10), dimension_separator="/")
        self.document("a.zarr/.zgroup", {"zarr_format": 2})
        axes = [{"name": n, "type": "space", "unit": "micrometer"} for n in "zyx"]
        self.document("a.zarr/.zattrs", {"multiscales": [{
            "version": "0.4", "axes": axes,
            "datasets": [{"path": "0", "coordinateTransformations": [
                scale, {"type": "translation", "translation": [10.0, 20.0, 30.0]}]}]}]})
        self.impipe("imcrop 4,2,10,8 | imresize 2", "a.zarr", "-o", "b.zarr")
        group = zarr.open_group(self.path("b.zarr"), mode="r")
        pyramid = group.attrs["multiscales"][0]
        self.assertEqual(pyramid["axes"], axes)
        scale, translation = pyramid["datasets"][0]["coordinateTransformations"]
        self.assertEqual(scale["scale"], [2.0, 0.125, 0.25])
        # Half a pixel of the original, and a quarter: the middle of the first of two.
        np.testing.assert_allclose(translation["translation"],
                                   [10, 20 + 0.25 * (2 - 0.25), 30 + 0.5 * (4 - 0.25)])
        # Some of the pages, and planes between them.
        for text, options, step, first in (("rot90 0", ["--pages", "2,3"], 2, 12),
                                           ("rot90 0", ["--pages", "1,3"], 4, 10),
                                           ("imresize3 1,1,2", [], 1, 9.5)):
            run = self.impipe(text, "a.zarr", "-o", "c.zarr", *options)
            self.assertEqual(run.err, "")
            pyramid = zarr.open_group(self.path("c.zarr"), mode="r").attrs["multiscales"][0]
            self.assertEqual(pyramid["axes"], axes)
            scale, translation = pyramid["datasets"][0]["coordinateTransformations"]
            self.assertEqual(scale["scale"], [step, 0.25, 0.5])
            self.assertEqual(translation["translation"], [first, 20, 30])
        self.impipe("project max", "a.zarr", "-o", "a.png", "--strip")
        self.impipe("project max", "a.zarr", "-o", "b.png")
        self.assertNotEqual(content(self.path("a.png")), content(self.path("b.png")))  # pHYs

    def test_axes_in_another_order_and_of_other_names(self):
        array = values((4, 5, 6), "uint8")
        self.document("a.zarr/.zgroup", {"zarr_format": 2})
        def said(*names, **more):
            axes = [{"name": n, **more} for n in names]
            scales = [{"type": "scale", "scale": [0.5, 0.25, 2.0]}]
            self.document("a.zarr/.zattrs", {"multiscales": [{"version": "0.4", "axes": axes, "datasets": [
                {"path": "0", "coordinateTransformations": scales}]}]})
        self.save("a.zarr/0", array, (4, 5, 6), dimension_separator="/")
        said("x", "y", "z", type="space", unit="micrometer")
        self.impipe("rot90 0", "a.zarr", "-o", "b.zarr")
        group = zarr.open_group(self.path("b.zarr"), mode="r")
        self.same(group["0"][...], array.transpose(2, 1, 0))
        pyramid = group.attrs["multiscales"][0]
        self.assertEqual([axis["name"] for axis in pyramid["axes"]], ["z", "y", "x"])
        self.assertEqual(pyramid["datasets"][0]["coordinateTransformations"][0]["scale"], [2, 0.25, 0.5])
        said("angle", "y", "x", unit="degree")
        self.same(self.read("a.zarr", err=None), array)
        run = self.impipe("rot90 0", "a.zarr", "-o", "c.zarr", code=1)
        self.assertIn("a Zarr has pages along t, c and z, and its lie along p", run.err)
        said("y", "x", "x")
        self.assertIn("two of its axes are named", self.impipe("info", "a.zarr", code=1).err)
        self.save("a.zarr/0", values((2, 3, 5, 6), "uint8"), (1, 1, 5, 6), dimension_separator="/")
        said("angle", "phase", "y", "x")
        self.document("a.zarr/.zattrs", {"multiscales": [{"version": "0.4", "axes": [
            {"name": n} for n in ("angle", "phase", "y", "x")], "datasets": [{"path": "0"}]}]})
        self.assertIn("Zarr whose axes (angle, phase, y, x) are not told apart; give --axes",
                      self.impipe("info", "a.zarr", code=1).err)
        self.assertIn("6 pages (t 2, z 3)", self.impipe("info", "a.zarr", "--axes", "TZYX").out)

    def test_units_that_ome_zarr_does_not_have(self):
        cards = [card("CUNIT1", "deg"), card("CDELT1", 0.5), card("CUNIT2", "deg"), card("CDELT2", 0.25)]
        self.write("a.fits", hdu(ramp(), extra=cards))
        run = self.impipe("rot90 0", "a.fits", "-o", "b.zarr")
        self.assertIn("the unit of x (deg), the unit of y (deg)", run.err)
        self.assertNotIn(b"deg", content(self.path("b.zarr", ".zattrs")))

    def test_names_of_folders_and_zips(self):
        array = ramp()
        self.picture("a.png")
        self.impipe("imadd 0", "a.png", "-o", "a.zarr/")
        self.check("a.zarr", array)
        for inside in ("a.zarr/0", "n.zarr/0/", "a.zarr/b.png"):  # nothing is put into a Zarr
            said = self.impipe("imadd 0", "a.png", "-o", inside, code=2)
            self.assertIn("is a Zarr, which is written as a whole", said.err)
        self.check("a.zarr", array)
        self.assertFalse(os.path.exists(self.path("n.zarr")))
        self.assertEqual(self.impipe("imadd 0", "a.png", "-o", "b.zarr.zip").err, "")
        self.assertTrue(os.path.isfile(self.path("b.zarr.zip")))
        self.same(self.read("b.zarr.zip"), array)
        self.same(zarr.open(zarr.ZipStore(self.path("b.zarr.zip"), mode="r"), mode="r")["0"][...], array)

    def test_what_is_there_is_replaced(self):
        self.picture("a.png")
        self.impipe("imadd 0", "a.png", "-o", "a.zarr")
        self.write("a.zarr/old", "x")
        self.impipe("imadd 1", "a.png", "-o", "a.zarr")
        self.assertNotIn("old", self.tree("a.zarr"))
        self.check("a.zarr", np.minimum(ramp().astype(int) + 1, 255).astype(np.uint8))
        self.write("mine.zarr/letter.txt", "x")
        run = self.impipe("imadd 1", "a.png", "-o", "mine.zarr", code=1)
        self.assertIn("cannot write 'mine.zarr': what is there is no Zarr", run.err)
        self.assertEqual(self.tree("mine.zarr"), ["letter.txt"])
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith(".impipe")], [])
        self.impipe("save {stem}_step.zarr | imadd 1", "a.png", "-o", "a.ozx")
        self.check("a_step.zarr", ramp())
        np.testing.assert_array_equal(self.read("a.ozx"), np.minimum(ramp().astype(int) + 1, 255))


    def test_what_a_killed_run_left_is_swept(self):
        left = ".impipe-0000000000000001-0000000000000001.tmp"
        self.write(left + "/0/0.0", "x")
        os.utime(self.path(left), (0, 0))
        self.picture("a.png")
        self.impipe("imadd 0", "a.png", "-o", "a.zarr")
        self.assertFalse(os.path.exists(self.path(left)))


class Damaged(Zarrs):
    def test_metadata(self):
        good = {"zarr_format": 2, "shape": [20, 30], "chunks": [10, 10], "dtype": "|u1",
                "compressor": None, "fill_value": 0, "order": "C", "filters": None}
        for change, reason in (
                ({"shape": [20, -3]}, "damaged Zarr: shape has -3"),
                ({"shape": [0, 30]}, "Zarr without pixels (30x0)"),
                ({"shape": []}, "damaged Zarr: shape is no list of 1 to 16 numbers"),
                ({"chunks": [0, 10]}, "damaged Zarr: a chunk without items"),
                ({"chunks": [10]}, "damaged Zarr: chunks have 1 dimensions, and the array 2"),
                ({"chunks": [1 << 20, 1 << 20]}, "Zarr with chunks of more than 2 GiB"),
                ({"shape": [9000, 9000], "chunks": [1, 1]}, "Zarr with more than 4194304 chunks a page"),
                ({"dtype": "<c8"}, "Zarr of type <c8 is not supported (bool, integers of 8 to 64 bits and "
                                   "floats of 16 to 64 are)"),
                ({"dtype": [["a", "<u2"]]}, "Zarr of type a list or an object is not supported (bool, "
                                            "integers of 8 to 64 bits and floats of 16 to 64 are)"),
                ({"fill_value": "abc"}, 'damaged Zarr: fill_value "abc" is none of its numbers'),
                ({"fill_value": 256}, "damaged Zarr: fill_value 256 is none of its numbers"),
                ({"fill_value": -1}, "damaged Zarr: fill_value -1 is none of its numbers"),
                ({"dtype": "|i1", "fill_value": 128}, "damaged Zarr: fill_value 128 is none of its numbers"),
                ({"dtype": "|i1", "fill_value": -129}, "damaged Zarr: fill_value -129 is none of its numbers"),
                ({"dtype": "|b1", "fill_value": 2}, "damaged Zarr: fill_value 2 is none of its numbers"),
                ({"dtype": "<f4", "fill_value": "0xzzzzzzzz"},
                 'damaged Zarr: fill_value "0xzzzzzzzz" is none of its numbers'),
                ({"zarr_format": 7}, "damaged Zarr: .zarray has zarr_format 7, which is 2"),
                ({"order": "Q"}, 'damaged Zarr: an order of "Q"'),
                ({"dimension_separator": "-"}, 'damaged Zarr: a dimension_separator "-"'),
                ({"compressor": {"id": "lzma"}}, "Zarr packed by 'lzma' is not supported (zlib, gzip, zstd "
                                                 "and blosc are)"),
                ({"filters": [{"id": "delta"}]}, "Zarr packed by the filter 'delta' is not supported (zlib, "
                                                 "gzip, zstd and blosc are)")):
            self.document("a.zarr/.zarray", good | change)
            with self.subTest(reason):
                self.fails("a.zarr", reason)
        for kind, edge in (("|i1", -128), ("|i1", 127), ("<u2", 65535), ("<i8", -(1 << 63)), ("<u8", (1 << 64) - 1)):
            self.document("e.zarr/.zarray", good | {"dtype": kind, "fill_value": edge})
            self.impipe("mean2", "e.zarr")
        self.document("s.zarr/.zgroup", {"zarr_format": 2})
        self.document("s.zarr/0/.zarray", good)
        for kind, numbers, reason in (("scale", [1, 0], "a scale of 0"), ("scale", [-2.5, 1], "a scale of -2.5"),
                                      ("scale", [1, "a"], 'a scale of "a"'),
                                      ("scale", [1], "a scale that has not 2 numbers"),
                                      ("translation", [1, None], "a translation of null")):
            self.document("s.zarr/.zattrs", {"multiscales": [{"axes": ["y", "x"], "datasets": [
                {"path": "0", "coordinateTransformations": [{"type": kind, kind: numbers}]}]}]})
            self.fails("s.zarr", "damaged Zarr: " + reason)
        self.document("s.zarr/.zattrs", {"multiscales": [{"axes": ["y", "y"], "datasets": [{"path": "0"}]}]})
        self.fails("s.zarr", 'damaged Zarr: two of its axes are named "y"')
        self.write("a.zarr/.zarray", "[" * 100000)
        self.fails("a.zarr", "damaged Zarr: .zarray is no object of JSON")
        self.write("a.zarr/.zarray", '{"fill_value": ' + "[" * 200 + "]" * 200 + "}")
        self.fails("a.zarr", "damaged Zarr: .zarray is no object of JSON")

    def test_no_path_leads_out(self):
        self.save("secret", values((5, 5), "uint8"), (5, 5))
        self.document("a.zarr/.zgroup", {"zarr_format": 2})
        for path in ("../secret", "/" + self.folder + "/secret", "x/../../secret", "", ".", None, 3):
            self.document("a.zarr/.zattrs", {"multiscales": [{"axes": ["y", "x"],
                                                              "datasets": [{"path": path}]}]})
            self.fails("a.zarr", "damaged Zarr: the path of its array is " + json.dumps(path))
        self.save("b.zarr", values((20, 20), "uint8"), (10, 10))
        os.remove(self.path("b.zarr/0.0"))
        os.symlink(self.path("secret/0.0"), self.path("b.zarr/0.0"))
        run = self.impipe("rot90 0", "b.zarr", "-o", "out.npy", code=1)
        self.assertIn("'b.zarr/0.0' is a link, and none is followed", run.err)
        self.assertFalse(os.path.exists(self.path("out.npy")))

    def test_chunks(self):
        array = values((20, 30), "uint16")
        for packing in (None, numcodecs.Zlib(), numcodecs.Zstd(), numcodecs.Blosc()):
            self.save("a.zarr", array, (10, 10), compressor=packing)
            whole = content(self.path("a.zarr/1.2"))
            for data in (b"", whole[:-1], whole[:len(whole) // 2], b"\xff" * len(whole)):
                if packing is None and len(data) == len(whole):
                    continue
                self.write("a.zarr/1.2", data)
                run = self.impipe("rot90 0", "a.zarr", "-o", "out.npy", code=1)
                self.assertIn("damaged Zarr: chunk 1.2: ", run.err)
        # What unpacks to more than a chunk.
        self.save("a.zarr", array, (10, 10), compressor=numcodecs.Zstd())
        self.write("a.zarr/0.0", bytes(numcodecs.Zstd().encode(np.zeros(10**7, np.uint8))))
        run = self.impipe("rot90 0", "a.zarr", "-o", "out.npy", code=1)
        self.assertIn("damaged Zarr: chunk 0.0: zstd: Destination buffer is too small", run.err)

    def test_attributes_are_named(self):
        self.save("a.zarr", values((5, 6), "uint8"), (5, 6))
        zarr.open_array(self.path("a.zarr")).attrs.update({"sample": 3, "_ARRAY_DIMENSIONS": ["y", "x"]})
        run = self.impipe("rot90 0", "a.zarr", "-o", "a.png")
        self.assertIn("attribute 'sample'", run.err)

    def test_groups_without_a_picture(self):
        self.document("a.zarr/.zgroup", {"zarr_format": 2})
        self.fails("a.zarr", "a Zarr group without a picture (multiscales); name a folder in it, as "
                             "NAME.zarr/0")
        self.save("a.zarr/0", values((5, 6), "uint8"), (5, 6))
        self.same(self.read("a.zarr/0"), values((5, 6), "uint8"))


if __name__ == "__main__":
    unittest.main()
