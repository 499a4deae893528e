"""project, stack and temporal: many images become one, as the definition in NumPy says."""
import csv
import json
import os
import re
import signal
import unittest

import numpy as np
import tifffile
from PIL import Image
from program import PROGRAM, ROOT, ProgramTest, colour, ramp

from fits_writer import card, hdu

CASES = os.path.join(ROOT, "tests", "data", "stacks")


def cast(values, dtype):
    """Rounded half away from zero and saturated; what is no number is 0."""
    if dtype == np.float32:
        return values.astype(np.float32)
    top = np.iinfo(dtype).max
    rounded = np.floor(np.abs(values) + 0.5) * np.sign(values)
    return np.clip(np.nan_to_num(rounded, nan=0.0), 0, top).astype(dtype)


def clipped_mean(images, kappa=3.0, rounds=5, centre=np.median):
    """The definition, pixel by pixel."""
    out = np.empty(images.shape[1:])
    for at in np.ndindex(*images.shape[1:]):
        values = images[(slice(None), *at)].astype(float)
        values = values[np.isfinite(values)]
        for _ in range(rounds):
            if values.size == 0:
                break
            c, s = centre(values), values.std()
            kept = values[(c - kappa * s <= values) & (values <= c + kappa * s)]
            if kept.size == values.size:
                break
            values = kept
        out[at] = values.mean() if values.size else np.nan
    return out


def exposures(count=9, shape=(21, 34), dtype=np.uint16, seed=3):
    """Frames of one thing with noise and, here and there, a far too bright pixel."""
    rng = np.random.default_rng(seed)
    frames = rng.normal(900, 12, (count, *shape))
    frames[rng.random(frames.shape) < 0.03] += 20000
    return frames.astype(dtype) if dtype == np.float32 else np.rint(frames).astype(dtype)


class Stacking(ProgramTest):
    def frames(self, images, kind="npy", folder="in"):
        """Writes each image; returns their names."""
        names = []
        for i, image in enumerate(images):
            name = f"{folder}/f{i:04d}.{kind}"
            if kind == "fits":
                self.write(name, hdu(image))
            else:
                self.picture(name, image)
            names.append(name)
        return names

    def stack_of_pages(self, pages, name="stack.tif"):
        images = [Image.fromarray(page) for page in pages]
        images[0].save(self.path(name), save_all=True, append_images=images[1:])
        return name

    def pages(self, name):
        with Image.open(self.path(name)) as picture:
            out = []
            for page in range(picture.n_frames):
                picture.seek(page)
                out.append(np.asarray(picture).copy())
            return np.stack(out)


class Definition(Stacking):
    def test_cases_of_the_oracle(self):
        with open(os.path.join(CASES, "cases.tsv"), encoding="utf-8") as table:
            rows = list(csv.DictReader(table, delimiter="\t"))
        self.assertGreater(len(rows), 20)
        for row in rows:
            with self.subTest(row["id"]):
                words = row["params"].split(";")
                inputs = [os.path.join(CASES, name) for name in row["inputs"].split(",")]
                pipeline = words[0][len("pipeline="):] if words[0].startswith("pipeline=") \
                    else " ".join([row["op"], *words])
                several = "p" in row["shape"]
                out = "out.tif" if several else "out.npy"
                self.impipe(pipeline, *inputs, "-o", out)
                got = self.pages(out) if several else self.pixels(out)
                expected = np.load(os.path.join(CASES, row["expected"]))
                tolerance = float(row["tol_f32" if row["class"] == "single" else "tol"])
                self.assertEqual(got.shape, expected.shape)
                np.testing.assert_allclose(got.astype(float), expected.astype(float), rtol=0,
                                           atol=tolerance)

    def test_clip_of_every_class(self):
        for dtype in (np.uint8, np.uint16, np.float32):
            frames = exposures(dtype=np.float32) / (8 if dtype == np.uint8 else 1)
            frames = np.clip(np.rint(frames), 0, 255 if dtype == np.uint8 else 65535).astype(dtype)
            names = self.frames(frames)
            for kappa, rounds, centre in ((3, 5, "median"), (1.5, 2, "median"), (2, 5, "mean")):
                with self.subTest(str(dtype), kappa=kappa):
                    self.impipe(f"stack clip kappa={kappa} n={rounds} centre={centre}", *names,
                                "-o", "out.npy")
                    wanted = clipped_mean(frames, kappa, rounds,
                                          np.median if centre == "median" else np.mean)
                    np.testing.assert_allclose(self.pixels("out.npy").astype(float),
                                               cast(wanted, dtype).astype(float), rtol=1e-6)

    def test_what_is_no_number(self):
        frames = exposures(7, (5, 40), np.float32)
        frames[0, 1] = frames[:, 2] = np.nan
        frames[3, 3, 4:9] = np.inf
        frames[:4, 4] = np.nan
        names = self.frames(frames)
        last = np.sort(frames, axis=0)  # NaN last
        wanted = {"clip": clipped_mean(frames), "median": last[3], "max": last[-1], "min": last[0],
                  "mean": frames.astype(float).mean(axis=0), "sum": frames.astype(float).sum(axis=0)}
        for operation, values in wanted.items():
            with self.subTest(operation):
                self.impipe(f"stack {operation}", *names, "-o", "out.npy")
                np.testing.assert_allclose(self.pixels("out.npy"), values.astype(np.float32),
                                           rtol=1e-6)

    def test_any_number_of_files(self):
        for count in (1, 2, 3, 4, 5, 31, 33, 64, 100):
            frames = exposures(count, (3, 70), seed=count)
            names = self.frames(frames, folder=f"in{count}")
            self.impipe("stack median", *names, "-o", "median.npy")
            np.testing.assert_array_equal(self.pixels("median.npy"),
                                          cast(np.median(frames, axis=0), np.uint16), str(count))
            self.impipe("stack clip", *names, "-o", "clip.npy")
            np.testing.assert_array_equal(self.pixels("clip.npy"),
                                          cast(clipped_mean(frames), np.uint16), str(count))
            self.impipe("stack std", *names, "-o", "std.npy")
            deviation = frames.std(axis=0, ddof=1) if count > 1 else np.zeros((3, 70))
            np.testing.assert_allclose(self.pixels("std.npy"), deviation, rtol=1e-6)

    def test_a_file_that_is_named_twice_counts_twice(self):
        a, b = (ramp(seed=seed) for seed in (1, 2))
        self.picture("a.npy", a)
        self.picture("b.npy", b)
        self.impipe("stack sum", "a.npy", "b.npy", "./a.npy", "-o", "out.npy")
        np.testing.assert_array_equal(self.pixels("out.npy"), 2.0 * a + b)
        self.write("list.txt", b"a.npy\na.npy\n")
        self.impipe("stack sum", "b.npy", "--files-from", "list.txt", "-o", "out.npy")
        np.testing.assert_array_equal(self.pixels("out.npy"), 2.0 * a + b)
        self.impipe("stack sum", "a.npy", "[ab].npy", "-o", "out.npy")
        np.testing.assert_array_equal(self.pixels("out.npy"), 1.0 * a + b)

    def test_colour_and_alpha(self):
        rng = np.random.default_rng(5)
        frames = rng.integers(0, 256, (5, 20, 30, 4), dtype=np.uint8)
        names = self.frames(frames, "png")
        self.impipe("stack median", *names, "-o", "out.png")
        got = self.pixels("out.png")
        np.testing.assert_array_equal(got[..., :3],
                                      cast(np.median(frames[..., :3], axis=0), np.uint8))
        np.testing.assert_array_equal(got[..., 3], cast(frames[..., 3].mean(axis=0), np.uint8))


class Pipelines(Stacking):
    def setUp(self):
        super().setUp()
        rng = np.random.default_rng(9)
        self.volume = rng.integers(0, 256, (7, 24, 36), dtype=np.uint8)
        self.stack_of_pages(self.volume)

    def test_stages_before_and_after(self):
        self.impipe("imcomplement | project max | imadd 3", "stack.tif", "-o", "out.png")
        wanted = np.minimum((255 - self.volume).max(axis=0).astype(int) + 3, 255)
        np.testing.assert_array_equal(self.pixels("out.png"), wanted)
        # As page by page, and the pages by hand.
        self.impipe("imgaussfilt 2", "stack.tif", "-o", "blurred.tif")
        self.impipe("imgaussfilt 2 | project median | imadjust", "stack.tif", "-o", "out.png")
        self.picture("median.png", cast(np.median(self.pages("blurred.tif"), axis=0), np.uint8))
        self.impipe("imadjust", "median.png", "-o", "wanted.png")
        np.testing.assert_array_equal(self.pixels("out.png"), self.pixels("wanted.png"))

    def test_one_after_the_other(self):
        self.impipe("temporal median n=3 | project mean", "stack.tif", "-o", "out.png")
        padded = np.concatenate([self.volume[:1], self.volume, self.volume[-1:]])
        windows = np.stack([np.median(padded[z:z + 3], axis=0) for z in range(7)])
        np.testing.assert_array_equal(self.pixels("out.png"), cast(windows.mean(axis=0), np.uint8))

    def test_projections_of_several_files_are_stacked(self):
        other = 255 - self.volume
        self.stack_of_pages(other, "b.tif")
        self.impipe("project max | stack mean class=single", "stack.tif", "b.tif", "-o", "out.npy")
        wanted = (self.volume.max(axis=0).astype(float) + other.max(axis=0)) / 2
        np.testing.assert_array_equal(self.pixels("out.npy"), wanted.astype(np.float32))

    def test_files_of_pages_are_stacked_page_by_page(self):
        other = self.volume[::-1].copy()
        self.stack_of_pages(other, "b.tif")
        for operation, wanted in (("max", np.maximum(self.volume, other)),
                                  ("median", cast((self.volume.astype(float) + other) / 2,
                                                  np.uint8))):
            self.impipe(f"stack {operation}", "stack.tif", "b.tif", "-o", "out.tif")
            np.testing.assert_array_equal(self.pages("out.tif"), wanted)
        self.impipe("stack max | project min", "stack.tif", "b.tif", "-o", "out.png")
        np.testing.assert_array_equal(self.pixels("out.png"),
                                      np.maximum(self.volume, other).min(axis=0))

    def test_stages_of_each_file_and_of_the_result(self):
        frames = exposures(6)
        dark = np.full(frames.shape[1:], 700, np.uint16)
        names = self.frames(frames)
        self.picture("dark.npy", dark)
        for operation, wanted in (("clip", clipped_mean(frames - dark)),
                                  ("mean", (frames - dark).mean(axis=0))):
            self.impipe(f"imsubtract :dark | stack {operation} | imadd 5", *names, "--with",
                        "dark=dark.npy", "-o", "out.npy")
            np.testing.assert_array_equal(self.pixels("out.npy"), cast(wanted, np.uint16) + 5)

    def test_measurements_are_of_what_they_stand_behind(self):
        run = self.impipe("mean2 | project max | mean2", "stack.tif")
        lines = [line.split("\t") for line in run.out.splitlines()]
        self.assertEqual(lines[0], ["file", "page", "mean2"])
        np.testing.assert_allclose([float(line[2]) for line in lines[1:8]],
                                   self.volume.mean(axis=(1, 2)))
        self.assertEqual(lines[8][:2], ["stack.tif", ""])
        self.assertAlmostEqual(float(lines[8][2]), self.volume.max(axis=0).mean())
        frames = exposures(4)
        run = self.impipe("stack max | mean2", *self.frames(frames))
        self.assertEqual(run.out.splitlines()[1].split("\t")[0], "4 files")
        self.assertAlmostEqual(float(run.out.splitlines()[1].split("\t")[1]),
                               frames.max(axis=0).mean(), 9)

    def test_saves_of_pages_and_of_the_projection(self):
        self.impipe("save steps/{stem}_{page}.png | project min | save min.png | imcomplement",
                    "stack.tif", "-o", "out.png")
        self.assertEqual(self.tree("steps"), [f"stack_{page}.png" for page in range(1, 8)])
        np.testing.assert_array_equal(self.pixels("steps/stack_3.png"), self.volume[2])
        np.testing.assert_array_equal(self.pixels("min.png"), self.volume.min(axis=0))
        np.testing.assert_array_equal(self.pixels("out.png"), 255 - self.volume.min(axis=0))

    def test_along_an_axis(self):
        volume = np.random.default_rng(4).integers(0, 65536, (2, 3, 4, 5, 7), np.uint16)  # T Z C Y X
        tifffile.imwrite(self.path("a.tif"), volume, imagej=True, metadata={"axes": "TZCYX"})
        tifffile.imwrite(self.path("b.ome.tif"), volume, metadata={"axes": "TZCYX"}, ome=True,
                         photometric="minisblack")
        for name in ("a.tif", "b.ome.tif"):
            for at, axis in enumerate("tzc"):
                for operation, wanted in (("max", volume.max(axis=at)),
                                          ("median", cast(np.median(volume, axis=at), np.uint16))):
                    with self.subTest(name=name, axis=axis, operation=operation):
                        self.impipe(f"project {operation} axis={axis}", name, "-o", "out.npy")
                        got = self.pixels("out.npy")
                        np.testing.assert_array_equal(got.reshape(wanted.shape), wanted)
                window = np.moveaxis(volume, at, 0)
                padded = np.concatenate([window[:1], window, window[-1:]])
                wanted = np.stack([padded[i:i + 3].max(axis=0) for i in range(len(window))])
                self.impipe(f"temporal max n=3 axis={axis}", name, "-o", "out.tif")
                np.testing.assert_array_equal(self.pages("out.tif").reshape(volume.shape),
                                              np.moveaxis(wanted, 0, at))
                if axis == "t":  # without axis= along t
                    self.impipe("temporal max n=3", name, "-o", "out.tif")
                    np.testing.assert_array_equal(self.pages("out.tif").reshape(volume.shape), wanted)
            # One after the other, and their names.
            self.impipe("project max z | save s/{t}_{c}.png | project min t", name, "-o", "o/{c}.png")
            for c in range(4):
                np.testing.assert_array_equal(self.pixels(f"o/{c + 1}.png"),
                                              volume[:, :, c].max(axis=1).min(axis=0))
                np.testing.assert_array_equal(self.pixels(f"s/2_{c + 1}.png"),
                                              volume[1, :, c].max(axis=0))
        # An NPY's C are the channels of a pixel.
        np.save(self.path("c.npy"), volume)
        for at, axis in enumerate("tz"):
            self.impipe(f"project min axis={axis}", "c.npy", "-o", "out.npy", "--axes", "TZCYX")
            got = self.pixels("out.npy")
            self.assertEqual(got.shape, volume.min(axis=at).shape)
            np.testing.assert_array_equal(got, volume.min(axis=at))
        # Some pages: what is left along the axis.
        self.impipe("project sum z", "a.tif", "-o", "out.npy", "--pages", "1-9")
        wanted = [volume[0, :3 if c == 0 else 2, c].sum(axis=0, dtype=float) for c in range(4)]
        np.testing.assert_array_equal(self.pixels("out.npy"), np.float32(wanted))
        run = self.impipe("project max c | mean2", "a.tif")
        self.assertEqual([line.split("\t")[:2] for line in run.out.splitlines()[1:]],
                         [["a.tif", str(page)] for page in range(1, 7)])
        self.impipe("project max z", "a.tif", "-o", "out.tif")
        with tifffile.TiffFile(self.path("out.tif")) as made:
            np.testing.assert_array_equal(made.asarray().reshape(2, 4, 5, 7), volume.max(axis=1))
        self.picture("one.png")
        self.impipe("project max axis=t", "one.png", "-o", "out.png")
        np.testing.assert_array_equal(self.pixels("out.png"), ramp())

    def test_no_description_of_other_pages_stays(self):
        """tifffile sees all pages of files that are joined, and of a stack that has new planes."""
        volume = np.arange(2 * 4 * 5 * 6, dtype=np.uint8).reshape(2, 4, 5, 6)
        tifffile.imwrite(self.path("i.tif"), volume, imagej=True, metadata={"axes": "TZYX"})
        tifffile.imwrite(self.path("o.ome.tif"), volume, metadata={"axes": "TZYX"})
        for names in (("i.tif", "o.ome.tif"), ("o.ome.tif", "i.tif")):
            said = self.impipe("medfilt2 1", *names, "-o", "j.tif").err
            self.assertIn("is written without", said)
            self.assertEqual(tifffile.imread(self.path("j.tif")).shape, (16, 5, 6))
        said = self.impipe("imresize3 1,1,2 nearest", "i.tif", "-o", "n.tif").err
        self.assertIn("without ImageJ's description", said)
        self.assertTrue(np.array_equal(tifffile.imread(self.path("n.tif")), np.repeat(volume, 2, axis=1)))

    def test_frames_are_pages(self):
        frames = np.random.default_rng(5).integers(16, 236, (9, 20, 30), np.uint8)
        head = b"YUV4MPEG2 W30 H20 F25:1 Ip A1:1 Cmono\n"
        data = head + b"".join(b"FRAME\n" + frame.tobytes() for frame in frames)
        self.write("a.y4m", data)
        self.impipe("imadd 0", "a.y4m", "-o", "f/{page}.npy")
        frames = np.stack([self.pixels(f"f/{page}.npy") for page in range(1, 10)])
        for name in ("a.y4m", "-"):
            self.impipe("project median", name, "-o", "out.npy", stdin=data if name == "-" else None)
            np.testing.assert_array_equal(self.pixels("out.npy"), np.median(frames, axis=0))
        self.impipe("temporal max n=3", "a.y4m", "-o", "out.y4m")
        self.impipe("imadd 0", "out.y4m", "-o", "g/{page}.npy")
        padded = np.concatenate([frames[:1], frames, frames[-1:]])
        for page in range(9):
            np.testing.assert_array_equal(self.pixels(f"g/{page + 1}.npy"),
                                          padded[page:page + 3].max(axis=0))
        self.impipe("stack mean class=single", "a.y4m", "out.y4m", "-o", "out.npy")
        self.assertEqual(self.pixels("out.npy").shape, (9, 20, 30))
        run = self.impipe("project max", "a.y4m", "-o", "out.png", "--pages", "2-4")
        np.testing.assert_array_equal(self.pixels("out.png"), frames[1:4].max(axis=0))

    def test_measurements_across_pages(self):
        volume = self.volume
        run = self.impipe("mean2 across=pages | std2 across=file | min across=pages | max across=pages "
                          "| sum across=pages | graythresh across=pages", "stack.tif")
        lines = [line.split("\t") for line in run.out.splitlines()]
        self.assertEqual(lines[0], ["file", "mean2", "std2", "min", "max", "sum", "graythresh"])
        self.assertEqual(len(lines), 2)
        row = json.loads(self.impipe("mean2 across=pages", "stack.tif", "--json").out)
        self.assertEqual(list(row), ["file", "mean2"])
        # Otsu's threshold of all pixels, from its definition.
        h = np.bincount(volume.ravel(), minlength=256).astype(float)
        spread = [0.0]
        for t in range(1, 256):
            b, w = h[:t].sum(), h[t:].sum()
            apart = (np.arange(t) @ h[:t] / b - np.arange(t, 256) @ h[t:] / w) if b and w else 0
            spread.append(b * w * apart**2)
        best = np.flatnonzero(np.isclose(spread, max(spread), rtol=1e-12)) - 1
        np.testing.assert_allclose([float(number) for number in lines[1][1:]],
                                   [volume.mean(), volume.std(ddof=1), volume.min(), volume.max(),
                                    volume.sum(), best.mean() / 255])
        self.picture("tall.png", np.concatenate(list(volume)))
        for measurement in ("stretchlim", "multithresh 2", "entropy", "imhist 16"):
            run = self.impipe(f"imcomplement | {measurement} across=pages", "stack.tif")
            tall = self.impipe(f"imcomplement | {measurement}", "tall.png")
            self.assertEqual(run.out.replace("stack.tif", "tall.png"), tall.out)
        # A file of one page is a stack of one; devices and files do not matter.
        self.assertEqual(self.impipe("mean2 across=pages", "tall.png").out,
                         self.impipe("mean2", "tall.png").out)
        self.assertEqual(self.impipe("std2 across=pages", "stack.tif", "--backend", "opencl").out,
                         self.impipe("std2 across=pages", "stack.tif").out)
        run = self.impipe("mean2 across=pages | imadd 1", "stack.tif", "-o", "o.png", code=2)
        self.assertIn("mean2 across=pages is of all pages as one image, which nothing follows but other "
                      "measurements across=pages", run.err)
        run = self.impipe("phantom | mean2 across=pages", code=2)
        self.assertIn("mean2: the pipeline makes its own image, and there are no others", run.err)

    def test_axes_that_are_not_there(self):
        run = self.impipe("project max axis=z", "stack.tif", "-o", "out.png", code=1)
        self.assertIn("axis=z: its 7 pages have no axes, but for an NPY --axes names them; without "
                      "axis= all become one", run.err)
        volume = np.random.default_rng(1).integers(0, 256, (2, 3, 4, 5), np.uint8)
        tifffile.imwrite(self.path("a.tif"), volume, imagej=True, metadata={"axes": "TZYX"})
        run = self.impipe("project max axis=c", "a.tif", "-o", "out.tif", code=1)
        self.assertIn("axis=c: its 6 pages lie along t 2, z 3", run.err)
        tifffile.imwrite(self.path("z.tif"), volume[0], imagej=True, metadata={"axes": "ZYX"})
        self.impipe("temporal max n=3", "z.tif", "-o", "out.tif")  # the only axis
        padded = np.concatenate([volume[0, :1], volume[0], volume[0, -1:]])
        np.testing.assert_array_equal(self.pages("out.tif"), [padded[i:i + 3].max(axis=0) for i in range(3)])
        tifffile.imwrite(self.path("cz.ome.tif"), volume, metadata={"axes": "CZYX"}, photometric="minisblack")
        run = self.impipe("temporal max n=3", "cz.ome.tif", "-o", "out.tif", code=1)
        self.assertIn("its 6 pages lie along c 2, z 3, and a window goes along t; axis=c makes it go along "
                      "that", run.err)
        self.picture("c.png", colour())
        run = self.impipe("project max axis=c", "c.png", "-o", "out.png", code=1)
        self.assertIn("axis=c: its 3 channels lie in each pixel, and not in pages; `map 'max(r,g)'` and "
                      "imapplymatrix join such", run.err)
        # The results of several files follow each other in one.
        tifffile.imwrite(self.path("b.tif"), volume + 1, imagej=True, metadata={"axes": "TZYX"})
        self.impipe("project max axis=z", "a.tif", "b.tif", "-o", "out.tif")
        np.testing.assert_array_equal(self.pages("out.tif"),
                                      np.concatenate([volume.max(axis=1), (volume + 1).max(axis=1)]))
        run = self.impipe("project max axis=z", "a.tif", "-o", "out.png", code=1)
        self.assertIn("its 6 pages become 2, which one PNG does not hold; TIFF, NPY, FITS and Zarr do, and so "
                      "do names with {page}", run.err)

    def test_axes_of_ome(self):
        volume = np.zeros((2, 3, 4, 5), np.uint8)
        tifffile.imwrite(self.path("a.ome.tif"), volume, metadata={"axes": "TZYX"}, ome=True,
                         photometric="minisblack")
        with tifffile.TiffFile(self.path("a.ome.tif")) as file:
            text = file.pages[0].description
        self.assertIn(", 6 pages (t 2, z 3)", self.impipe("info", "a.ome.tif").out)
        self.assertIn('"axes":{"t":2,"z":3}', self.impipe("info", "--json", "a.ome.tif").out)
        planes = "".join(f'<TiffData IFD="{i}" FirstZ="{i % 3}" FirstT="{i // 3}" PlaneCount="1"/>'
                         for i in range(6))
        odd = "".join(f'<TiffData IFD="{5 - i}" FirstZ="{i % 3}" FirstT="{i // 3}"/>' for i in range(6))
        begin, end = text.index("<TiffData"), text.index("</Pixels>")
        for data, known in ((planes, True), (odd, False), ("", True)):
            changed = text[:begin] + data + text[end:]
            tifffile.imwrite(self.path("b.tif"), volume, description=changed.encode(), metadata=None,
                             photometric="minisblack")
            said = "6 pages (t 2, z 3)" if known else "6 pages\n"
            self.assertIn(said, self.impipe("info", "b.tif").out)

    def test_a_file_of_one_page(self):
        self.picture("one.png")
        self.impipe("project median", "one.png", "-o", "out.png")
        np.testing.assert_array_equal(self.pixels("out.png"), ramp())

    def test_files_of_one_page_each(self):
        """Who wants one image of them is told of `stack`, and of the volume that they could be."""
        for name in ("in/a.png", "in/b.png"):
            self.picture(name)
        for pipeline, end in (("project max", "`stack` takes files"),
                              ("imgaussfilt3 1", "impipe '' FILES -o pages.tif makes one file of them"),
                              ("imtile", "impipe '' FILES -o pages.tif makes one file of them"),
                              ("stack max", None), ("imgaussfilt 1", None)):
            name = pipeline.split()[0]
            said = f"impipe: {name} takes the pages of a file, and each of these 2 has one; {end}\n" if end else ""
            self.assertEqual(self.impipe(pipeline, "in", "-o", "out.tif").err, said)

    def test_hashes_are_those_of_the_one_image(self):
        self.impipe("project max", "stack.tif", "-o", "max.png")
        single = self.impipe("rot90 0", "max.png", "-n", "--hash").out.split()
        run = self.impipe("project max", "stack.tif", "-n", "--hash").out.split()
        self.assertEqual(run[-1], single[-1])
        self.assertFalse(os.path.exists(self.path("out.png")))

    def test_without_fusion_and_on_one_thread(self):
        for more in (["--no-fuse"], ["-j", 1], ["-j", 7]):
            run = self.impipe("imgaussfilt 1.5 | temporal mean n=4 | imcomplement | project std",
                              "stack.tif", "-n", "--hash", *more)
            hashes = {run.out.split()[-1]}
            self.assertEqual(len(hashes), 1)
        frames = exposures(11, dtype=np.float32)
        names = self.frames(frames)
        hashes = {self.impipe("imgaussfilt 1 | stack mean", *names, "-n", "--hash", "-j", threads)
                  .out.split()[-1] for threads in (1, 2, 5)}
        self.assertEqual(len(hashes), 1)


class Refusals(Stacking):
    def test_pages_that_differ(self):
        first, second = Image.fromarray(ramp()), Image.fromarray(ramp(20, 30))
        first.save(self.path("a.tif"), save_all=True, append_images=[first, second])
        self.assertEqual(self.impipe("project max", "a.tif", "-o", "b.png", code=1).err,
                         "impipe: a.tif: compute: page 3: it is 30x20 uint8, and the pages before "
                         "it are 60x40 uint8\n")
        self.assertEqual(self.tree(), ["a.tif"])

    def test_files_that_differ(self):
        for kind in ("npy", "png"):
            names = self.frames([ramp(), ramp(), ramp(30, 20), ramp(10, 10)], kind, kind)
            run = self.impipe("stack max", *names, "-o", "out.png", code=1)
            self.assertEqual(run.err, f"impipe: stack: {kind}/f0002.{kind} is 20x30 uint8, and "
                             f"{kind}/f0000.{kind} is 60x40 uint8: files of a stack have one size, "
                             "class and number of channels and pages\n")
            self.impipe("imresize size=16,16 | stack max", *names, "-o", "out.png")

    def test_a_broken_file_leaves_no_result(self):
        names = self.frames(exposures(5), "png")
        with open(self.path(names[3]), "r+b") as file:
            file.truncate(600)
        run = self.impipe("stack clip", *names, "-o", "out.png", code=1)
        self.assertIn("impipe: in/f0003.png: decode: truncated PNG", run.err)
        self.assertIn("so there is no result", run.err)
        names = self.frames(exposures(5), "npy")
        with open(self.path(names[3]), "r+b") as file:
            file.truncate(600)
        run = self.impipe("stack clip", *names, "-o", "out.npy", code=1)
        self.assertIn("in/f0003.npy: truncated NPY", run.err)
        self.write("in/f0001.npy", b"none")
        run = self.impipe("stack clip", *names, "-o", "out.npy", code=1)
        self.assertIn("impipe: in/f0001.npy: decode: ", run.err)
        self.assertFalse(os.path.exists(self.path("out.npy")) or
                         os.path.exists(self.path("out.png")))

    def test_options_that_do_not_go_with_one_image(self):
        names = self.frames(exposures(3))
        for more, said in ((["--in-place"], "give -o FILE, not --in-place"),
                           (["-o", "o.npy", "--shard", "1/2"], "--shard would leave some out")):
            self.assertIn(said, self.impipe("stack max", *names, *more, code=2).err)
        self.assertIn("a watch has no last one", self.impipe(
            "stack max", "--watch", "in", "-o", "out/{stem}.npy", code=2).err)
        run = self.impipe("stack max", *names, "-o", names[1], code=2)
        self.assertIn("would replace 'in/f0001.npy' of the inputs", run.err)
        self.assertIn("nothing says where it goes", self.impipe("stack max", *names, code=2).err)
        self.assertEqual(self.impipe("stack max", "nothing/", "-o", "o.npy", code=None).out, "")

    def test_names_end_where_pages_become_one(self):
        self.picture("a.png")
        run = self.impipe("as a | project max | imsubtract :a", "a.png", "-o", "b.png", code=2)
        self.assertIn("imsubtract: 'a' is one of each image before project", run.err)
        run = self.impipe("mean2 as m | project max | map 'x - m'", "a.png", "-o", "b.png", code=2)
        self.assertIn("map: 'm' is one of each image before project", run.err)
        run = self.impipe("noise 64 | project max", "-o", "b.png", code=2)
        self.assertIn("project: the pipeline makes its own image", run.err)
        run = self.impipe("stack max | stack min", "a.png", "-o", "b.png", code=2)
        self.assertIn("there is one image left after the first stack", run.err)


class Running(Stacking):
    def test_every_form_of_file_gives_the_same(self):
        frames = exposures(6)
        names = {"npy": self.frames(frames, "npy", "npy"), "fits": self.frames(frames, "fits", "fits"),
                 "png": self.frames(frames, "png", "png")}
        for folder in ("plain", "packed"):
            names[folder] = [f"{folder}/f{i}.tif" for i in range(6)]
            for name, frame in zip(names[folder], frames):
                self.make_parent(name)
                Image.fromarray(frame).save(
                    self.path(name), compression="raw" if folder == "plain" else "tiff_lzw")
        for operation, wanted in (("clip", clipped_mean(frames)), ("mean", frames.mean(axis=0)),
                                  ("min", frames.min(axis=0))):
            for kind, files in names.items():
                with self.subTest(operation, kind=kind):
                    self.impipe(f"stack {operation}", *files, "-o", "out.npy")
                    np.testing.assert_array_equal(self.pixels("out.npy"), cast(wanted, np.uint16))

    def test_decoded_files_wait_on_disk(self):
        frames = exposures(40, (200, 300))
        names = self.frames(frames, "png")
        os.mkdir(self.path("scratch"))
        run = self.impipe("stack median", *names, "-o", "out.npy", "--memory", "4M", "--scratch",
                          "scratch")
        self.assertIn("the decoded files wait in scratch, 5 MiB", run.err)
        self.assertEqual(run.err.count("wait in"), 1)
        np.testing.assert_array_equal(self.pixels("out.npy"),
                                      cast(np.median(frames, axis=0), np.uint16))
        self.assertEqual(self.tree("scratch"), [])
        run = self.impipe("stack median", *names, "-o", "out.npy", "--memory", "4M", "--scratch",
                          "none", code=1)
        self.assertIn("--scratch none: No such file or directory", run.err)

    def test_pages_wait_on_disk(self):
        pages = exposures(40, (200, 300), np.float32)
        np.save(self.path("a.npy"), pages)
        run = self.impipe("project median", "a.npy", "-o", "out.npy", "--memory", "8M", "--scratch",
                          self.folder, "--axes", "ZYX")
        self.assertIn("its pages waited in", run.err)
        said = self.impipe("project median", "a.npy", "-o", "out.npy", "--memory", "1", "--scratch",
                           self.folder, "--axes", "ZYX").err
        self.assertRegex(said, "^impipe: a.npy: it takes at least [0-9]+ MiB as a whole, and --memory "
                               "allows 1 byte: several images become one\n")
        run = self.impipe("project median", "a.npy", "-o", "out.npy", "--memory", "8M", "--axes",
                          "ZYX", env={"TMPDIR": self.path("none")}, code=1)
        self.assertEqual(run.err.splitlines()[1],
                         f"impipe: a.npy: compute: page 1: TMPDIR={self.path('none')}: No such file or "
                         "directory; --scratch names a folder for images that wait")
        np.testing.assert_allclose(self.pixels("out.npy"), np.median(pages, axis=0), rtol=1e-6)

    def test_memory_is_that_of_some_rows(self):
        frames = np.random.default_rng(1).integers(0, 65536, (60, 1000, 1000), dtype=np.uint16)
        names = self.frames(frames)
        few = self.peak_memory("stack clip", *names[:2], "-o", "out.npy", "--memory", "40M")
        many = self.peak_memory("stack clip", *names, "-o", "out.npy", "--memory", "40M")
        self.assertLess(many - few, 60 << 10)  # all of them are 117 MiB

    def test_more_files_than_may_be_open(self):
        frames = exposures(300, (4, 9))
        names = self.frames(frames)
        self.impipe("stack median", *names, "-o", "out.npy",
                    wrap=lambda command: ["sh", "-c", 'ulimit -n 64; exec "$@"', "sh", *command])
        np.testing.assert_array_equal(self.pixels("out.npy"),
                                      cast(np.median(frames, axis=0), np.uint16))

    def test_ends_early_without_a_result(self):
        names = self.frames(exposures(12, (600, 800)), "png")
        run = self.start("imgaussfilt 20 | imgaussfilt 20 | stack clip", *names, "-o", "out.npy",
                         "-j", 1, "--progress", "lines")
        run.stderr.readline()  # the first file is done
        run.send_signal(signal.SIGINT)
        _, err = run.communicate()
        self.assertEqual(run.returncode, 130, err)
        self.assertEqual([name for name in self.tree() if not name.startswith("in/")], [])

    def test_what_is_there_already(self):
        names = self.frames(exposures(3))
        self.impipe("stack max", *names, "-o", "out.npy", "-u")
        before = os.stat(self.path("out.npy")).st_mtime_ns
        self.impipe("stack max", *names, "-o", "out.npy", "-u")
        self.assertEqual(os.stat(self.path("out.npy")).st_mtime_ns, before)
        os.utime(self.path(names[2]))
        self.impipe("stack max", *names, "-o", "out.npy", "-u")
        self.assertGreater(os.stat(self.path("out.npy")).st_mtime_ns, before)
        self.impipe("stack min", *names, "-o", "out.npy", "--no-clobber")
        np.testing.assert_array_equal(self.pixels("out.npy"), exposures(3).max(axis=0))

    def test_counts_are_of_the_files(self):
        names = self.frames(exposures(3), "png")
        bands = self.frames(exposures(3), "npy")
        with open(self.path(names[0]), "rb") as whole:
            self.write("in/cut.png", whole.read(60))
        failed = {"failed": 1, "done": 0, "skipped": 0}
        for inputs, text, more, counts, last in (
                (names, "stack max", [], {"done": 3}, "3 files in T s -> out.png"),
                (names, "stack max", ["-u"], {"done": 0, "skipped": 3}, ""),
                (bands, "stack max", ["-d", "uint8"], {"done": 3}, "3 files in T s -> out.png"),
                (names, "stack sum", [], failed, None),
                ([*names, "in/cut.png"], "stack max", [], failed, "1 of 4 files failed")):
            with self.subTest(text=text, inputs=inputs, more=more):
                run = self.impipe(text, *inputs, "-o", "out.png", "--summary", "s.json", *more,
                                  code=1 if counts is failed else 0)
                with open(self.path("s.json"), encoding="utf-8") as file:
                    summary = json.load(file)
                self.assertEqual({"files": len(inputs), **counts}, {
                    name: summary[name] for name in ["files", *counts]})
                lines = re.sub(r" [\d.]+ s ", " T s ", run.err + run.end).splitlines()
                if text == "stack sum":
                    self.assertEqual(len(lines), 1)
                    self.assertTrue(lines[0].startswith("impipe: 3 files: encode: "), lines)
                else:
                    self.assertEqual(lines[-1] if lines else "", last and "impipe: " + last)

    def test_to_stdout(self):
        frames = exposures(3)
        run = self.impipe("stack max", *self.frames(frames), "-o", "-", "--format", "npy",
                          binary=True)
        self.assertTrue(run.out.startswith(b"\x93NUMPY"))
        np.testing.assert_array_equal(
            np.frombuffer(run.out[-frames[0].nbytes:], np.uint16).reshape(frames[0].shape),
            frames.max(axis=0))

    def test_plan_says_what_happens(self):
        said = self.impipe("plan", "imgaussfilt 2 | project median | imadjust").out
        self.assertIn("steps for each page:", said)
        self.assertIn("then stage 2: the pages of a file become one image, on the host; all of "
                      "them wait, in memory or in the --scratch folder\n", said)
        said = self.impipe("plan", "imcomplement | stack mean").out
        self.assertIn("steps for each file:", said)
        self.assertIn("then stage 2: all files become one image, on the host, as they come\n", said)

    def test_metadata_is_that_of_the_first_file(self):
        frames = exposures(3)
        for i, frame in enumerate(frames):
            self.write(f"in/{i}.fits", hdu(frame, extra=[card("OBJECT", f"M {i}")]))
        for pipeline in ("stack mean", "imadd 0 | stack mean"):
            self.impipe(pipeline, "in", "-o", "out.fits")
            with open(self.path("out.fits"), "rb") as file:
                header = file.read(2880)
            self.assertIn(card("OBJECT", "M 0").encode(), header)
            self.assertIn(b"BZERO   =                32768", header)


class ManyToOne(Stacking):
    def test_files_become_the_pages_of_one(self):
        frames = exposures(5)
        for kind in ("npy", "fits"):
            names = self.frames(frames, kind, kind)
            self.impipe("imadd 7", *names, "-o", "stack.tif", "-j", 3)
            np.testing.assert_array_equal(self.pages("stack.tif"), frames + 7)
            self.impipe("imadd 7", *names, "-o", "stack.npy")
            np.testing.assert_array_equal(self.pixels("stack.npy"), frames + 7)
        # And back: one to many.
        self.impipe("imsubtract 7", "stack.tif", "-o", "out/{page:02}.npy")
        for i, frame in enumerate(frames):
            np.testing.assert_array_equal(self.pixels(f"out/{i + 1:02}.npy"), frame)

    def test_pages_of_several_files_follow_each_other_in_one(self):
        frames = exposures(7)
        for i, (begin, end) in enumerate(((0, 3), (3, 4), (4, 7))):
            tifffile.imwrite(self.path(f"{i}.tif"), frames[begin:end], metadata=None, photometric="minisblack")
        self.impipe("imadd 7", "0.tif", "1.tif", "2.tif", "-o", "stack.tif", "-j", 3)
        np.testing.assert_array_equal(self.pages("stack.tif"), frames + 7)
        self.impipe("imadd 7", "0.tif", "1.tif", "2.tif", "-o", "stack.npy")
        np.testing.assert_array_equal(self.pixels("stack.npy"), frames + 7)

    def test_what_cannot_be_one_file(self):
        names = self.frames(exposures(3))
        self.assertIn("is one file, but there are 3 inputs",
                      self.impipe("imadd 0", *names, "-o", "stack.png", code=2).err)
        np.save(self.path("two.npy"), exposures(2))
        run = self.impipe("imadd 0", names[0], "two.npy", "-o", "-", "--format", "npy", "--axes",
                          "ZYX", code=1)
        self.assertIn("stdout takes one of each of several inputs", run.err)
        self.write(names[1], b"none")
        for name in ("stack.tif", "stack.npy", "stack.zarr"):
            run = self.impipe("imadd 0", *names, "-o", name, code=1)
            self.assertIn(f"'{name}' is not written: of its pages some are missing, since inputs failed",
                          run.err)
            self.assertFalse(os.path.exists(self.path(name)))


if __name__ == "__main__":
    unittest.main()
