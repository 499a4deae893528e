"""Operators on volumes, whose planes are the pages of a file, as their definitions in NumPy say."""
import csv
import json
import os
import re
import unittest

import numpy as np
import tifffile
from PIL import Image
from program import ROOT, ProgramTest

DATA = os.path.join(ROOT, "tests", "data")
CASES = os.path.join(DATA, "volumes")


def input_named(name):
    """Some inputs are those of the stacks."""
    here = os.path.join(CASES, "inputs", name)
    return here if os.path.exists(here) else os.path.join(DATA, "stacks", "inputs", name)


def windows(volume, size, mode):
    """The values of each voxel's window, along a last axis; size: (rows, columns, planes)."""
    rows, columns, planes = size
    shape = (planes, rows, columns)
    margins = [((k - 1) // 2, k - 1 - (k - 1) // 2) for k in shape]
    padded = np.pad(volume, margins, mode=mode)
    view = np.lib.stride_tricks.sliding_window_view(padded, shape)
    return view.reshape(*volume.shape, -1)


def rounded(values, dtype):
    if dtype == np.float32:
        return values.astype(dtype)
    return np.floor(values.astype(float) + 0.5).astype(dtype)


def sphere(radius):
    at = np.arange(-radius, radius + 1)
    z, y, x = np.meshgrid(at, at, at, indexing="ij")
    return x * x + y * y + z * z <= radius * radius


def extremum(volume, element, largest):
    """The definition; element: of odd sides and its own reflection."""
    out = np.full(volume.shape, -np.inf if largest else np.inf)
    at = np.argwhere(element) - np.array(element.shape) // 2
    for dz, dy, dx in at:
        source = [slice(max(0, d), n + min(0, d)) for d, n in zip((dz, dy, dx), volume.shape)]
        target = [slice(max(0, -d), n + min(0, -d)) for d, n in zip((dz, dy, dx), volume.shape)]
        if any(s.start >= s.stop for s in source):
            continue
        to, values = out[tuple(target)], volume[tuple(source)]
        out[tuple(target)] = (np.fmax if largest else np.fmin)(to, values)
    return out.astype(volume.dtype)


def noise(shape=(6, 13, 37), dtype=np.uint8, seed=1):
    rng = np.random.default_rng(seed)
    if dtype == np.float32:
        return rng.normal(0, 3, shape).astype(dtype)
    return rng.integers(0, np.iinfo(dtype).max + 1, shape, dtype=dtype)


class Volumes(ProgramTest):
    def pages(self, name):
        with Image.open(self.path(name)) as picture:
            out = []
            for page in range(picture.n_frames):
                picture.seek(page)
                out.append(np.asarray(picture).copy())
            return np.stack(out)

    def through(self, pipeline, volume, *options):
        np.save(self.path("in.npy"), volume)
        self.impipe(pipeline, "in.npy", "--axes", "ZYX", "-o", "out.npy", *options)
        got = np.load(self.path("out.npy"))
        return got if got.ndim == 3 else got[None]


class Definition(Volumes):
    def test_cases_of_the_oracle(self):
        with open(os.path.join(CASES, "cases.tsv"), encoding="utf-8") as table:
            rows = list(csv.DictReader(table, delimiter="\t"))
        self.assertGreaterEqual(len(rows), 21)
        for row in rows:
            with self.subTest(row["id"]):
                words = [word for word in row["params"].split(";") if word != "-"]
                expected = np.load(os.path.join(CASES, "expected", row["expected"]))
                table = row["class"] == "double"
                out = "out.npy" if table else "out.tif"
                self.impipe(" ".join([row["op"], *words]), input_named(row["inputs"]), "-o", out)
                got = self.pixels(out) if table else self.pages(out)
                plain = row["class"] != "single" and row["kind"] == "exact"
                tolerance = float(row["tol" if plain else "tol_f32"])
                if row["kind"] == "round":
                    tolerance = 1
                    beyond = np.mean(got.astype(float) != expected.astype(float))
                    self.assertLessEqual(beyond, float(row["max_bad_frac_f32"]))
                self.assertEqual(got.shape, expected.shape)
                np.testing.assert_allclose(got.astype(float), expected.astype(float), rtol=0,
                                           atol=tolerance)

    def test_means_and_medians_of_every_class_and_size(self):
        sizes = ((3, 3, 3), (1, 1, 1), (2, 3, 4), (1, 5, 2), (3, 3, 9), (4, 1, 1), (1, 1, 15))
        for dtype in (np.uint8, np.uint16, np.float32):
            for shape in ((6, 13, 37), (1, 1, 1), (2, 1, 70), (3, 9, 1)):
                volume = noise(shape, dtype)
                for size in sizes:
                    with self.subTest(dtype=dtype.__name__, shape=shape, size=size):
                        text = ",".join(map(str, size))
                        wanted = windows(volume, size, "edge").mean(axis=-1, dtype=float)
                        np.testing.assert_allclose(
                            self.through(f"imboxfilt3 {text}", volume), rounded(wanted, dtype),
                            rtol=0, atol=2e-6 if dtype == np.float32 else 0)
                        ordered = np.sort(windows(volume, size, "symmetric"), axis=-1).astype(float)
                        n = ordered.shape[-1]
                        wanted = (ordered[..., (n - 1) // 2] + ordered[..., n // 2]) / 2
                        np.testing.assert_array_equal(self.through(f"medfilt3 {text}", volume),
                                                      rounded(wanted, dtype))

    def test_gaussian_is_three_gaussians_of_one_axis(self):
        for dtype in (np.uint8, np.uint16, np.float32):
            volume = noise((7, 11, 40), dtype, 3)
            for sigma in ((1, 1, 1), (0.5, 2, 1.3), (3, 0.01, 4)):
                wanted = volume.astype(float)
                for axis, s in zip((1, 2, 0), sigma):
                    reach = int(np.ceil(2 * s))
                    at = np.arange(-reach, reach + 1)
                    weights = np.exp(-at ** 2 / (2 * s * s))
                    margins = [(reach, reach) if a == axis else (0, 0) for a in range(3)]
                    padded = np.pad(wanted, margins, mode="edge")
                    view = np.lib.stride_tricks.sliding_window_view(padded, len(at), axis=axis)
                    wanted = view @ (weights / weights.sum())
                got = self.through("imgaussfilt3 " + ",".join(map(str, sigma)), volume)
                with self.subTest(dtype=dtype.__name__, sigma=sigma):
                    if dtype == np.float32:
                        np.testing.assert_allclose(got, wanted, rtol=0, atol=4e-6)
                    else:
                        off = np.abs(got - wanted)
                        self.assertLessEqual(off.max(), 0.5 + 1e-5 * np.iinfo(dtype).max)

    def test_morphology_of_every_class(self):
        for dtype in (np.uint8, np.uint16, np.float32):
            for shape in ((6, 13, 37), (1, 1, 1), (2, 1, 70)):
                volume = noise(shape, dtype)
                for se, element in (("sphere,2", sphere(2)), ("ball,0", sphere(0)),
                                    ("sphere,5", sphere(5)), ("box,3", np.ones((3, 3, 3))),
                                    ("cuboid,1,7,3", np.ones((3, 1, 7)))):
                    with self.subTest(dtype=dtype.__name__, shape=shape, se=se):
                        dilated = extremum(volume, element, True)
                        eroded = extremum(volume, element, False)
                        for name, wanted in (("imdilate3", dilated), ("imerode3", eroded),
                                             ("imopen3", extremum(eroded, element, True)),
                                             ("imclose3", extremum(dilated, element, False))):
                            np.testing.assert_array_equal(self.through(f"{name} {se}", volume),
                                                          wanted, name)

    def test_what_is_no_number(self):
        volume = noise((4, 6, 9), np.float32)
        volume[1, 2, 3] = np.nan
        volume[3, 5, 8] = np.inf
        near = np.isnan(windows(volume, (3, 3, 3), "edge")).any(axis=-1)
        with np.errstate(invalid="ignore"):
            for pipeline in ("imgaussfilt3 0.5", "imboxfilt3 3"):
                got = self.through(pipeline, volume)
                np.testing.assert_array_equal(np.isnan(got), near, pipeline)
        np.testing.assert_array_equal(self.through("imdilate3 cuboid,3", volume),
                                      extremum(volume, np.ones((3, 3, 3)), True))
        wanted = np.sort(windows(volume, (3, 3, 3), "symmetric"), axis=-1)[..., 13]
        np.testing.assert_array_equal(self.through("medfilt3 3", volume), wanted)

    def test_axes_are_alike(self):
        """A transposed volume and a window transposed with it give the transposed result."""
        volume = noise((9, 12, 14), np.uint16, 7)
        for name, sizes in (("imboxfilt3", "{},{},{}"), ("medfilt3", "{},{},{}"),
                            ("imdilate3", "cuboid,{},{},{}"), ("imerode3", "cuboid,{},{},{}")):
            first = self.through(f"{name} {sizes.format(5, 2, 3)}", volume)
            turned = self.through(f"{name} {sizes.format(3, 5, 2)}", volume.transpose(2, 0, 1))
            np.testing.assert_array_equal(turned, first.transpose(2, 0, 1), name)

    def test_equal_planes_are_filtered_as_one(self):
        page = noise((1, 20, 31), np.uint8)
        volume = np.repeat(page, 5, axis=0)
        for three, two in (("imboxfilt3 3", "imboxfilt 3"), ("imdilate3 cuboid,3,5,9",
                                                            "imdilate rectangle,3,5")):
            got = self.through(three, volume)
            np.save(self.path("page.npy"), page[0])
            self.impipe(two, "page.npy", "-o", "one.npy")
            np.testing.assert_array_equal(got, np.repeat(self.pixels("one.npy")[None], 5, axis=0))


class OnDevices(Volumes):
    PIPELINES = ["imgaussfilt3 0.5,2,1.3", "imboxfilt3 2,3,4", "medfilt3 3", "imopen3 sphere,1",
                 "imdilate3 cuboid,1,7,4"]

    def setUp(self):
        super().setUp()
        devices = json.loads(self.impipe("devices", "--json").out)
        if not any(d["usable"] and d["id"].startswith("opencl") for d in devices):
            self.skipTest("no OpenCL device")

    def save_volumes(self):
        """Into a folder for each order of axes."""
        strange = noise((6, 13, 37), np.float32)
        strange[strange < -1] = -0.0
        strange[2, 3, 4], strange[3, 3, 30], strange[5, 12, 20:22] = np.nan, np.inf, (-np.inf, np.inf)
        ties = np.zeros((3, 4, 40), np.float32)
        ties[:2], ties[1, 1] = 0.49999997, -0.0
        volumes = {"ZYX/strange": strange, "ZYX/ties": ties, "ZYX/single": noise((2, 1, 70), np.float32),
                   "ZYX/16": noise(dtype=np.uint16), "ZYX/8": noise(), "ZYX/one": noise((1, 1, 1)),
                   "ZYX/logical": noise() > 99, "ZYXC/colour": noise((4, 9, 33, 3)),
                   "ZYXA/alpha": noise((4, 9, 8, 2))}
        # Of more planes than are filtered together.
        volumes["ZYX/high"] = noise((40, 256, 300))
        for offset in (10, 1e3, 1e5):
            volumes[f"ZYX/{offset}"] = (noise((5, 8, 9), np.float32) + offset).astype(np.float32)
        for name, volume in volumes.items():
            os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
            np.save(self.path(name + ".npy"), volume)
        return sorted(volumes)

    def test_kernels_make_the_bits_of_the_cpu(self):
        names = self.save_volumes()
        for pipeline in self.PIPELINES:
            for axes in ("ZYX", "ZYXA", "ZYXC"):
                for backend in ("cpu", "opencl"):
                    self.impipe(pipeline, axes, "--axes", axes, "--backend", backend, "-o",
                                f"{backend}/{axes}/")
            for name in names:
                with self.subTest(pipeline, name=name):
                    bits = []
                    for backend in ("cpu", "opencl"):
                        with open(self.path(f"{backend}/{name}.npy"), "rb") as file:
                            bits.append(file.read())
                    self.assertEqual(bits[0], bits[1])

    def test_auto_counts_planes(self):
        """What the device is chosen by grows with a volume's planes and its window."""
        milliseconds = []
        for planes, pipeline in ((1, "imgaussfilt3 1"), (9, "imgaussfilt3 1"), (9, "imgaussfilt3 1,1,9")):
            np.save(self.path("in.npy"), noise((planes, 200, 300)))
            run = self.impipe("-v", pipeline, "in.npy", "--axes", "ZYX", "-o", "out.npy", "--backend", "auto")
            milliseconds.append(float(re.search(r"about ([0-9.e+-]+) ms of work", run.err)[1]))
        self.assertGreater(milliseconds[1], 4 * milliseconds[0])
        self.assertGreater(milliseconds[2], 3 * milliseconds[1])

    def test_without_memory_for_a_window_the_host_filters(self):
        volume = noise((9, 200, 300), np.float32)
        wanted = self.through("imgaussfilt3 2", volume)
        np.save(self.path("in.npy"), volume)
        run = self.impipe("imgaussfilt3 2", "in.npy", "--axes", "ZYX", "-o", "out.npy", "--backend", "opencl",
                          "--gpu-mem", "1M", env={"IMPIPE_REQUIRE_BACKEND": ""})
        self.assertRegex(run.err, r"opencl:\d+: no memory for 1 MiB; \d MiB are in use; such images are computed on "
                                  r"the CPU\n")
        np.testing.assert_array_equal(np.load(self.path("out.npy")), wanted)


NEIGHBOURS = {6: 1, 18: 2, 26: 3}  # along how many axes they may differ


def labels(volume, conn):
    """By flooding from each voxel, rows fastest, then columns, then planes."""
    offsets = [d for d in np.ndindex(3, 3, 3) if 0 < np.abs(np.array(d) - 1).sum()
               <= NEIGHBOURS[conn]]
    out = np.zeros(volume.shape, np.float32)
    count = 0
    for z, x, y in np.ndindex(volume.shape[0], volume.shape[2], volume.shape[1]):
        if volume[z, y, x] == 0 or out[z, y, x]:
            continue
        count += 1
        out[z, y, x] = count
        waiting = [(z, y, x)]
        while waiting:
            at = waiting.pop()
            for offset in offsets:
                near = tuple(a + d - 1 for a, d in zip(at, offset))
                if all(0 <= n < k for n, k in zip(near, volume.shape)) and volume[near] != 0 \
                        and not out[near]:
                    out[near] = count
                    waiting.append(near)
    return out


class Objects(Volumes):
    def test_labels(self):
        rng = np.random.default_rng(11)
        for shape in ((5, 9, 14), (1, 1, 1), (3, 1, 20), (4, 17, 1)):
            for density in (0.1, 0.3, 0.6, 1):
                for dtype in (np.uint8, np.uint16, np.float32):
                    volume = (rng.random(shape) < density).astype(dtype) * 7
                    for conn in (6, 18, 26):
                        with self.subTest(shape=shape, density=density, conn=conn):
                            got = self.through(f"bwlabeln conn={conn}", volume)
                            np.testing.assert_array_equal(got, labels(volume, conn))

    def test_distances(self):
        rng = np.random.default_rng(12)
        for shape, spacing in (((5, 9, 14), (1, 1, 1)), ((1, 1, 1), (1, 1, 1)),
                               ((6, 1, 20), (0.5, 2, 3.7)), ((4, 17, 3), (1, 0.1, 10))):
            for density in (0, 0.01, 0.2):
                volume = (rng.random(shape) < density).astype(np.uint8)
                rows, columns, planes = spacing
                at = np.argwhere(volume) * (planes, rows, columns)
                wanted = np.full(shape, np.inf)
                for voxel in np.ndindex(*shape):
                    apart = at - np.array(voxel) * (planes, rows, columns)
                    if len(at):
                        wanted[voxel] = np.sqrt((apart ** 2).sum(axis=1).min())
                got = self.through("bwdist3 spacing=" + ",".join(map(str, spacing)), volume)
                with self.subTest(shape=shape, density=density):
                    np.testing.assert_allclose(got, wanted.astype(np.float32), rtol=1e-6)

    def table(self, pipeline, volume, *options):
        np.save(self.path("in.npy"), volume)
        run = self.impipe(pipeline, "in.npy", "--axes", "ZYX", *options)
        lines = [line.split("\t") for line in run.out.strip().split("\n")]
        return lines[0], np.array([[float(value) for value in line[1:]] for line in lines[1:]])

    def test_table_of_objects_and_their_intensities(self):
        gray = noise((5, 9, 14), np.uint16, 13)
        for origin in (0, 1):
            head, got = self.table(
                f"as g | map 'x > 40000' class=logical | regionprops3 image=:g conn=6 "
                f"origin={origin}", gray)
            found = labels(gray > 40000, 6)
            wanted = []
            for label in range(1, int(found.max()) + 1):
                z, y, x = np.nonzero(found == label)
                values = gray[found == label].astype(float)
                box = [n.min() + (0.5 if origin else 0) for n in (x, y, z)]
                wanted.append([label, len(x), *(n.mean() + origin for n in (x, y, z)), *box,
                               *(np.ptp(n) + 1 for n in (x, y, z)),
                               (6 * len(x) / np.pi) ** (1 / 3),
                               values.mean(), values.min(), values.max()])
            np.testing.assert_allclose(got, wanted, rtol=1e-9)
            np.save(self.path("gray.npy"), gray)
            _, of_two_files = self.table(f"regionprops3 image=:g conn=6 origin={origin}",
                                         gray > 40000, "--with", "g=gray.npy")
            np.testing.assert_array_equal(of_two_files, got)
            self.assertEqual(head[1:], (
                "Label Volume Centroid_x Centroid_y Centroid_z BoundingBox_x BoundingBox_y "
                "BoundingBox_z BoundingBox_w BoundingBox_h BoundingBox_d EquivDiameter "
                "MeanIntensity MinIntensity MaxIntensity").split())

    def test_table_of_labels(self):
        """Labels that are given keep their numbers, and components have those of bwlabeln."""
        found = labels(noise((4, 9, 14), np.uint8, 3) > 200, 26)
        _, of_labels = self.table("regionprops3", found * 5)
        _, of_components = self.table("map 'x > 0' class=logical | regionprops3", found)
        np.testing.assert_array_equal(of_labels[:, 0], of_components[:, 0] * 5)
        np.testing.assert_array_equal(of_labels[:, 1:], of_components[:, 1:])
        run = self.impipe("map 'x > 1e9' class=logical | regionprops3", "in.npy", "--axes", "ZYX",
                          "-o", "none.npy")
        self.assertEqual(np.load(self.path("none.npy")).shape, (0, 12), str(run))

    def test_table_in_files(self):
        volume = noise((4, 9, 14), np.uint8, 3)
        pages = [Image.fromarray(page) for page in volume]
        pages[0].save(self.path("in.tif"), save_all=True, append_images=pages[1:])
        pipeline = "map 'x > 200' class=logical | regionprops3"
        _, wanted = self.table(pipeline, volume)
        self.impipe(pipeline, "in.tif", "-o", "{stem}.npy")
        np.testing.assert_allclose(np.load(self.path("in.npy")), wanted, rtol=1e-9)
        self.impipe(pipeline, "in.tif", "-o", "{stem}.csv")
        with open(self.path("in.csv"), encoding="utf-8") as table:
            rows = list(csv.reader(table))
        np.testing.assert_allclose([[float(v) for v in row] for row in rows[1:]], wanted,
                                   rtol=1e-9)


class Components(Volumes):
    def test_bwconncomp_takes_the_neighbours_of_voxels(self):
        volume = noise((4, 9, 11), np.uint8, 5) > 180
        np.save(self.path("in.npy"), volume)
        for conn in (6, 18, 26):
            np.testing.assert_array_equal(self.through(f"bwconncomp conn={conn}", volume),
                                          self.through(f"bwlabeln conn={conn}", volume))
        flat = self.through("bwconncomp", volume)
        np.testing.assert_array_equal(flat, self.through("bwlabel", volume))
        self.assertIn("conn is 4 or 8", self.impipe("bwconncomp conn=9", "in.npy", "-o", "out.npy",
                                                    "--axes", "ZYX", code=2).err)


class Resized(Volumes):
    def test_spacing_and_units_follow(self):
        """tifffile reads what is written of ImageJ's and OME's stacks, and of those of Zarr."""
        volume = noise((2, 6, 8, 10))
        tifffile.imwrite(self.path("a.tif"), volume, imagej=True, resolution=(4, 2),
                         metadata={"axes": "TZYX", "spacing": 0.5, "unit": "um", "finterval": 3})
        tifffile.imwrite(self.path("b.ome.tif"), volume, ome=True, photometric="minisblack",
                         metadata={"axes": "TZYX", "PhysicalSizeX": 0.25, "PhysicalSizeY": 500,
                                   "PhysicalSizeYUnit": "nm", "PhysicalSizeZ": 0.5, "TimeIncrement": 3})
        for name in ("a.tif", "b.ome.tif"):
            self.assertIn("pixels of 0.25", self.impipe("info", name).out)
            self.assertIn("12 pages (t 2 by 3 s, z 6 by 0.5 µm)", self.impipe("info", name).out)
            self.impipe("imresize3 1,1,0.5", name, "-o", "out.tif")
            with tifffile.TiffFile(self.path("out.tif")) as made:
                self.assertEqual((made.series[0].axes, made.series[0].shape), ("TZYX", (2, 3, 8, 10)))
            self.assertIn("z 3 by 1 µm", self.impipe("info", "out.tif").out)
            self.impipe("imresize3 1,1,0.5", name, "-o", "out.zarr")
            line = self.impipe("info", "out.zarr").out
            self.assertIn("(t 2 by 3 s, z 3 by 1 µm)", line)
            # The middle of the first two planes, half of one behind the first.
            facts = json.loads(self.impipe("info", "--json", "out.zarr").out)
            self.assertEqual(facts["measured"]["z"], {"scale": 1, "unit": "micrometer", "first": 0.25})

    def test_sizes(self):
        volume = noise((5, 12, 17), np.uint16, 4)
        for text, shape in (("size=6,7,8", (8, 6, 7)), ("2", (10, 24, 34)), ("scale=0.5", (3, 6, 9)),
                            ("scale=1,1,0.2", (1, 12, 17)), ("[3 4 40]", (40, 3, 4))):
            with self.subTest(text):
                self.assertEqual(self.through(f"imresize3 {text}", volume).shape, shape)

    def test_each_axis_is_resized_as_imresize_does(self):
        """By ratios at which imresize's weights add up to 1."""
        volume = noise((9, 12, 15), np.float32, 4)
        flat = self.through("imresize3 size=6,20,9", volume)
        np.save(self.path("page.npy"), volume[3])
        self.impipe("imresize size=6,20 method=bilinear", "page.npy", "-o", "one.npy")
        np.testing.assert_allclose(flat[3], self.pixels("one.npy"), atol=1e-5)
        deep = self.through("imresize3 size=12,15,3", volume)
        np.save(self.path("page.npy"), volume[:, 5])
        self.impipe("imresize size=3,15 method=bilinear", "page.npy", "-o", "one.npy")
        np.testing.assert_allclose(deep[:, 5], self.pixels("one.npy"), atol=1e-5)

    def test_one_page_becomes_several_and_several_one(self):
        page = noise((1, 8, 9))
        Image.fromarray(page[0]).save(self.path("one.tif"))
        self.impipe("imresize3 size=8,9,3", "one.tif", "-o", "out.tif")
        np.testing.assert_array_equal(self.pages("out.tif"), np.repeat(page, 3, axis=0))
        self.impipe("imresize3 size=8,9,1", "out.tif", "-o", "back.tif")
        np.testing.assert_array_equal(self.pages("back.tif"), page)
        run = self.impipe("imresize3 size=8,9,3", "one.tif", "-o", "out.png", code=1)
        self.assertIn("one.tif: plan: its 1 pages become 3, which one PNG does not hold; TIFF, NPY, FITS "
                      "and Zarr do, and so do names with {page}", run.err)
        run = self.impipe("imresize3 size=8,9,3", "one.tif", "-o", "{stem}_{page}.tif", code=1)
        self.assertIn("its 1 pages become 3", run.err)

    def test_pages_of_another_number_have_names(self):
        """In the output and in a `save`, whose pages are those that there are then."""
        volume = noise((4, 8, 9), np.uint8, 3)
        tifffile.imwrite(self.path("in.tif"), volume, metadata=None, photometric="minisblack")
        self.impipe("save 'a{page}.png' | imresize3 size=8,9,7 | save b.tif | save 'c{page}.png' | "
                    "imresize3 size=8,9,2", "in.tif", "-o", "d{page}.png")
        expected = self.through("imresize3 size=8,9,7", volume)
        np.testing.assert_array_equal(self.pages("b.tif"), expected)
        for i in range(4):
            np.testing.assert_array_equal(self.pixels(f"a{i + 1}.png"), volume[i])
        for i in range(7):
            np.testing.assert_array_equal(self.pixels(f"c{i + 1}.png"), expected[i])
        last = self.through("imresize3 size=8,9,2", expected)
        self.assertFalse(os.path.exists(self.path("d3.png")))
        for i in range(2):
            np.testing.assert_array_equal(self.pixels(f"d{i + 1}.png"), last[i])
        # Of one page.
        Image.fromarray(volume[0]).save(self.path("one.tif"))
        self.impipe("imresize3 size=8,9,3 | save s.tif | project max", "one.tif", "-o", "out.tif")
        np.testing.assert_array_equal(self.pages("s.tif"), np.repeat(volume[:1], 3, axis=0))

    def test_a_scale_beyond_what_is_of_use_is_an_error(self):
        tifffile.imwrite(self.path("in.tif"), noise((2, 8, 9)), metadata=None, photometric="minisblack")
        run = self.impipe("imresize3 101", "in.tif", "-o", "out.tif", code=2)
        self.assertIn("imresize3: scale takes 1 to 3 numbers from 1e-04 to 100, not 101", run.err)

    def test_nan_is_read_by_weights_that_are_not_0(self):
        volume = np.zeros((4, 4, 4), np.float32)
        volume[2, 1, 3] = np.nan
        got = self.through("imresize3 size=4,4,8", volume)
        self.assertEqual(np.argwhere(np.isnan(got)).tolist(),
                         [[z, 1, 3] for z in (3, 4, 5, 6)])


class Use(Volumes):
    def test_planes_lie_along_z_alone(self):
        """What is done with a file of several volumes is done with each of them."""
        volume = noise((2, 4, 3, 9, 11), np.uint16)  # T Z C Y X
        for kind in ("imagej", "ome"):
            tifffile.imwrite(self.path("a.tif"), volume, metadata={"axes": "TZCYX"}, **{kind: True},
                             photometric="minisblack")
            for text in ("imgaussfilt3 1", "medfilt3 3", "imdilate3 sphere,1", "imresize3 2,1,1.5",
                         "imbinarize | bwlabeln", "imbinarize | bwdist3"):
                with self.subTest(text, kind=kind):
                    self.impipe(text, "a.tif", "-o", "out.npy")
                    got = self.pixels("out.npy")
                    for t in range(2):
                        for c in range(3):
                            np.save(self.path("one.npy"), volume[t, :, c])
                            self.impipe(text, "one.npy", "-o", "one_out.npy")
                            np.testing.assert_array_equal(got[t, :, c], self.pixels("one_out.npy"))
        run = self.impipe("imbinarize | regionprops3", "a.tif")
        rows = [line.split("\t") for line in run.out.splitlines()]
        for page, (t, c) in enumerate(np.ndindex(2, 3)):
            np.save(self.path("one.npy"), volume[t, :, c])
            one = self.impipe("imbinarize | regionprops3", "one.npy").out.splitlines()[1:]
            self.assertEqual([row[2:] for row in rows if row[1] == str(page + 1)],
                             [line.split("\t")[1:] for line in one])
        # Windows of one plane, whose results have the names of their pages.
        self.impipe("imboxfilt3 3,3,1", "a.tif", "-o", "o/{page:02}.npy")
        self.impipe("imboxfilt3 3,3,1", "a.tif", "-o", "out.npy")
        for page, plane in enumerate(self.pixels("out.npy").reshape(24, 9, 11)):
            np.testing.assert_array_equal(self.pixels(f"o/{page + 1:02}.npy"), plane)
        # Along another axis where it is asked for, and not by mistake.
        self.impipe("imboxfilt3 3 axis=t", "a.tif", "-o", "out.npy")
        np.save(self.path("one.npy"), volume[:, 2, 1])
        self.impipe("imboxfilt3 3", "one.npy", "-o", "one_out.npy")
        np.testing.assert_array_equal(self.pixels("out.npy")[:, 2, 1], self.pixels("one_out.npy"))
        tifffile.imwrite(self.path("t.tif"), volume[:, 0, 0], imagej=True, metadata={"axes": "TYX"})
        run = self.impipe("imboxfilt3 3", "t.tif", "-o", "out.npy", code=1)
        self.assertIn("its 2 pages lie along t 2, and planes of a volume along z; axis=t makes volumes "
                      "along that", run.err)
        # Some of the planes.
        self.impipe("imresize3 1,1,2", "a.tif", "-o", "out.npy", "--pages", "1-12")
        self.assertEqual(self.pixels("out.npy").shape, (8, 3, 9, 11))

    def test_stages_before_and_after_and_colour(self):
        rng = np.random.default_rng(5)
        pages = [rng.integers(0, 256, (9, 15, 3), dtype=np.uint8) for _ in range(5)]
        images = [Image.fromarray(page) for page in pages]
        images[0].save(self.path("in.tif"), save_all=True, append_images=images[1:])
        self.impipe("imcomplement | imdilate3 cuboid,3 | medfilt3 1,1,3 | imcomplement", "in.tif",
                    "-o", "out.tif")
        got = self.pages("out.tif")
        for c in range(3):
            volume = 255 - np.stack(pages)[..., c]
            dilated = extremum(volume, np.ones((3, 3, 3)), True)
            wanted = np.median(windows(dilated, (1, 1, 3), "symmetric"), axis=-1)
            np.testing.assert_array_equal(got[..., c], 255 - wanted)

    def test_after_project_there_is_one_plane(self):
        volume = noise((5, 8, 8))
        got = self.through("project max | imboxfilt3 1,1,3", volume)
        np.testing.assert_array_equal(got, volume.max(axis=0, keepdims=True))
        got = self.through("temporal max n=3 | imdilate3 cuboid,1,1,3 | project min", volume)
        wide = extremum(volume, np.ones((5, 1, 1)), True).min(axis=0, keepdims=True)
        np.testing.assert_array_equal(got, wide)

    def test_pages_of_another_kind(self):
        first, second = Image.fromarray(noise((8, 8))), Image.fromarray(noise((8, 9)))
        first.save(self.path("in.tif"), save_all=True, append_images=[second])
        run = self.impipe("medfilt3", "in.tif", "-o", "out.tif", code=1)
        self.assertIn("in.tif: compute: page 2: it is 9x8 uint8, and the pages before it are 8x8 uint8",
                      run.err)
        self.assertFalse(os.path.exists(self.path("out.tif")))

    def test_mistakes(self):
        np.save(self.path("in.npy"), noise())
        for pipeline, message in (
                ("medfilt3 3,3", "medfilt3: it takes one number, or three: "
                                 "rows,columns,planes"),
                ("medfilt3 255", "medfilt3: a window has at most 65535 voxels"),
                ("imdilate3 disk,3", "imdilate3: elements of volumes are sphere,radius and "
                                     "cuboid,rows,columns,planes"),
                ("imdilate3 cuboid,3,0,1", "imdilate3: cuboid,rows,columns,planes takes whole "
                                           "numbers from 1 to 255, not 0"),
                ("imerode3 sphere,1,2", "imerode3: a sphere is written sphere,radius, with a "
                                        "radius from 0 to 127"),
                ("imdilate3 [1 1]", "imdilate3: elements of volumes are sphere,radius and "
                                    "cuboid,rows,columns,planes")):
            with self.subTest(pipeline):
                run = self.impipe(pipeline, "in.npy", "--axes", "ZYX", "-o", "out.npy", code=2)
                self.assertIn(message, run.err)

    def test_plan_says_what_is_held(self):
        run = self.impipe("plan", "imcomplement | imclose3 sphere,2")
        self.assertIn("then stage 2: the pages are the planes of a volume, of which 10 planes are "
                      "held\n", run.out)


if __name__ == "__main__":
    unittest.main()
