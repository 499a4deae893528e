"""Operators of documents, textures, blocks and spectra, as their definitions in NumPy say."""
import unittest

import numpy as np
from PIL import Image
from program import ProgramTest

CLASSES = (np.bool_, np.uint8, np.uint16, np.float32)
SHAPES = ((1, 1), (1, 17), (19, 1), (13, 37), (40, 33))


def white(image):
    return np.iinfo(image.dtype).max if image.dtype in (np.uint8, np.uint16) else 1


def noise(shape, dtype=np.uint8, seed=1):
    rng = np.random.default_rng(seed)
    if dtype == np.bool_:
        return rng.random(shape) < 0.4
    if dtype == np.float32:
        return rng.random(shape).astype(dtype)
    return rng.integers(0, np.iinfo(dtype).max + 1, shape, dtype=dtype)


IMAGES = [noise(shape, dtype) for dtype in CLASSES for shape in SHAPES]


class Pages(ProgramTest):
    def through(self, pipeline, image, *options):
        np.save(self.path("in.npy"), image)
        self.impipe(pipeline, "in.npy", "-o", "out.npy", "--no-sync", *options)
        return np.load(self.path("out.npy"))

    def each(self, pipeline, images=IMAGES):
        """Images with what the pipeline makes of them, by one run."""
        files = [f"{number}.npy" for number in range(len(images))]
        for file, image in zip(files, images):
            np.save(self.path(file), image)
        self.impipe(pipeline, *files, "-o", "out/{stem}.npy", "--no-sync")
        for file, image in zip(files, images):
            with self.subTest(stage=pipeline, shape=image.shape, dtype=image.dtype.name):
                yield image, np.load(self.path("out", file))

    def check_mistakes(self, *pairs):
        np.save(self.path("in.npy"), noise((9, 9)))
        for pipeline, message in pairs:
            with self.subTest(pipeline):
                run = self.impipe(pipeline, "in.npy", "-o", "out.npy", code=2)
                self.assertIn(message, run.err)


def windows(image, rows, columns):
    """Mean and deviation of each pixel's window, in double; the mirror has the edge pixel."""
    before = [((k - 1) // 2, k - 1 - (k - 1) // 2) for k in (rows, columns)]
    padded = np.pad(image.astype(float), before, mode="symmetric")
    view = np.lib.stride_tricks.sliding_window_view(padded, (rows, columns))
    return view.mean(axis=(2, 3)), view.std(axis=(2, 3))


class Documents(Pages):
    def threshold(self, op, image, rows, columns):
        m, s = windows(image, rows, columns)
        if op == "sauvola":
            return m * (1 + 0.34 * (s / (0.4 * white(image)) - 1))
        if op == "niblack":
            return m + 0.34 * s
        part = s / s.max() if s.max() > 0 else s
        return m - 0.34 * (1 - part) * (m - float(image.min()))

    def test_definition_for_every_class_size_and_window(self):
        for op in ("sauvola", "niblack", "wolf"):
            for rows, columns in ((3, 3), (4, 2), (1, 5), (15, 15), (60, 41)):
                stage = f"{op} window={rows},{columns} k=0.34" + " R=0.4" * (op == "sauvola")
                wanted = [self.threshold(op, image, rows, columns) for image in IMAGES]
                found = self.each(stage + " out=threshold")
                for (image, got), threshold in zip(found, wanted):
                    self.assertEqual(got.dtype, np.float32)
                    np.testing.assert_allclose(got, threshold, rtol=0, atol=1e-5 * white(image))
                for (image, got), threshold in zip(self.each(stage), wanted):
                    clear = np.abs(image - threshold) > 2e-6 * white(image)
                    np.testing.assert_array_equal(got[clear], (image > threshold)[clear])

    def test_singles_far_from_0(self):
        """Deviations have their digits there, too: Sauvola's threshold is the mean times them."""
        for level in (10, 1e3, 1e5):
            image = noise((17, 23), np.float32) + np.float32(level)
            for op in ("sauvola", "niblack", "wolf"):
                stage = f"{op} 5 k=0.34 out=threshold" + " R=0.4" * (op == "sauvola")
                wanted = self.threshold(op, image, 5, 5)
                np.testing.assert_allclose(self.through(stage, image), wanted, rtol=0,
                                           atol=5e-7 * np.abs(wanted).max())

    def test_flat_windows(self):
        flat = np.full((9, 11), 77, np.uint8)
        self.assertEqual(self.through("niblack k=3 out=threshold", flat).tolist(),
                         np.full(flat.shape, 77.0).tolist())
        self.assertFalse(self.through("niblack", flat).any())
        self.assertTrue(self.through("sauvola", flat).all())
        self.assertFalse(self.through("wolf", flat).any())

    def test_nan_is_below_every_threshold(self):
        image = noise((12, 15), np.float32) + 1
        image[5, 6] = np.nan
        for op in ("sauvola", "niblack", "wolf"):
            got = self.through(f"{op} 3", image)
            self.assertFalse(got[4:7, 5:8].any())
            other = image.copy()
            other[5, 6] = np.nanmean(image)
            same = np.ones(image.shape, bool)
            same[4:7, 5:8] = False
            if op != "wolf":  # whose largest deviation is the image's
                np.testing.assert_array_equal(got[same], self.through(f"{op} 3", other)[same])

    def test_colour_is_rgb2gray_first_and_alpha_goes(self):
        colour = noise((9, 14, 4))
        Image.fromarray(colour, "RGBA").save(self.path("in.png"))
        self.impipe("sauvola 5", "in.png", "-o", "a.npy")
        self.impipe("rgb2gray | sauvola 5", "in.png", "-o", "b.npy")
        np.testing.assert_array_equal(np.load(self.path("a.npy")), np.load(self.path("b.npy")))

    def test_mistakes(self):
        self.check_mistakes(
            ("sauvola window=0", "window"), ("sauvola R=0", "R"), ("niblack R=1", "R"),
            ("wolf out=both", "both"),
            ("bwdist | sauvola", "sauvola: "))


class Backgrounds(Pages):
    def test_imflatfield(self):
        """MATLAB's definition: the image times the mean of its blurred self, over that self."""
        y, x = np.mgrid[0:70, 0:90]
        shaded = (0.25 + 0.5 * x / 90) * (0.8 + 0.2 * ((x // 16 + y // 16) % 2))
        taps = np.arange(-24, 25)
        weights = np.exp(-(taps / 12) ** 2 / 2)
        weights /= weights.sum()
        smooth = np.pad(shaded, 24, mode="symmetric")
        for axis in (0, 1):
            smooth = np.apply_along_axis(np.convolve, axis, smooth, weights, mode="valid")
        factor = smooth.mean() / smooth
        for white, dtype, apart in ((255, np.uint8, 0.01), (65535, np.uint16, 1e-4),
                                    (1, np.float32, 1e-5)):
            image = (shaded * white + 0.5 * (white > 1)).astype(dtype)
            got = self.through("imflatfield 12", image) / white
            self.assertLess(np.abs(got - np.minimum(shaded * factor, 1)).max(), apart)
            # The largest of three colours decides, and hue and saturation stay.
            colour = np.stack([image, image // 2 if white > 1 else image / 2, image], axis=-1)
            got = self.through("imflatfield 12", colour)
            np.testing.assert_allclose(got[..., 0] / white, np.minimum(shaded * factor, 1),
                                       atol=apart)
            np.testing.assert_allclose(got[..., 1] / white, np.minimum(shaded * factor, 2) / 2,
                                       atol=apart)

    def test_rollingball(self):
        for radius in (0, 1, 2.5, 5):
            for image, got in self.each(f"rollingball {radius}",
                                        [i for i in IMAGES if i.dtype != np.bool_]):
                wanted = np.full(image.shape, np.inf)
                reach = int(np.ceil(radius))
                padded = np.pad(image.astype(float), reach, constant_values=np.inf)
                for (r, c), _ in np.ndenumerate(np.empty((2 * reach + 1, 2 * reach + 1))):
                    rest = radius ** 2 - (r - reach) ** 2 - (c - reach) ** 2
                    if rest >= 0:
                        part = padded[r:r + image.shape[0], c:c + image.shape[1]]
                        wanted = np.minimum(wanted, part + radius - np.sqrt(rest))
                if image.dtype != np.float32:
                    wanted = np.floor(wanted)
                np.testing.assert_allclose(got, wanted, rtol=0,
                                           atol=0 if image.dtype != np.float32 else 1e-6)
        image = noise((20, 30))
        background = self.through("rollingball 4", image)
        np.testing.assert_array_equal(self.through("rollingball 4 subtracted", image),
                                      image - background)

    def test_flat_and_dark_frames(self):
        rng = np.random.default_rng(3)
        scene, flat = rng.integers(0, 1000, (9, 12)), rng.integers(500, 1000, (9, 12))
        dark = rng.integers(20, 40, (9, 12))
        raw = dark + scene * flat // 1000
        for name, image in (("in.npy", raw), ("d.npy", dark), ("f.npy", flat)):
            np.save(self.path(name), image.astype(np.uint16))
        self.impipe("imsubtract :d class=single | imdivide :f", "in.npy", "--with", "d=d.npy",
                    "--with", "f=f.npy", "-o", "out.npy")
        np.testing.assert_allclose(np.load(self.path("out.npy")), (raw - dark) / flat, rtol=1e-6)


class Skew(Pages):
    def page(self, degrees, shape=(420, 640)):
        """Lines of text as long bars, turned counter-clockwise."""
        y, x = np.mgrid[:shape[0], :shape[1]]
        y, x = y - (shape[0] - 1) / 2, x - (shape[1] - 1) / 2
        t = np.radians(degrees)
        across, down = x * np.cos(t) - y * np.sin(t), y * np.cos(t) + x * np.sin(t)
        ink = (np.mod(down, 20) < 8) & (np.abs(across) < 280) & (np.abs(down) < 180)
        return np.where(ink, 30, 220).astype(np.uint8)

    def test_angle_is_the_one_that_imrotate_takes_back(self):
        for degrees in (-7.3, -2, 0.5, 3.1, 11):
            image = self.page(degrees)
            got = self.through("deskewangle", image)
            self.assertAlmostEqual(got.item(), -degrees, delta=0.3)
            for other in (255 - image, image < 100):
                same = self.through("deskewangle ink=bright", other)
                self.assertEqual(same.item(), got.item())

    def test_without_ink_and_of_every_kind(self):
        self.assertEqual(self.through("deskewangle", np.full((9, 9), 0, np.uint8) + 200).item(), 0)
        self.assertEqual(self.through("deskewangle ink=bright", np.zeros((9, 9), bool)).item(), 0)
        for image, got in self.each("deskewangle range=3 step=0.5"):
            self.assertLessEqual(abs(got.item()), 3)

    def test_each_page_has_a_row(self):
        images = [Image.fromarray(self.page(a)) for a in (2, -3)]
        images[0].save(self.path("in.tif"), save_all=True, append_images=images[1:])
        run = self.impipe("deskewangle step=0.5", "in.tif")
        angles = [float(line.split("\t")[-1]) for line in run.lines()[1:]]
        self.assertEqual(len(angles), 2)
        np.testing.assert_allclose(angles, [-2, 3], atol=0.5)

    def test_mistakes(self):
        self.check_mistakes(("deskewangle range=91", "range"), ("deskewangle step=0", "step"))


class Maps(Pages):
    def fit(self, moving, fixed, kind):
        text = " ".join(f"{name}=[" + ";".join(f"{x!r},{y!r}" for x, y in points.tolist()) + "]"
                        for name, points in (("moving", moving), ("fixed", fixed)))
        return self.through(f"fitgeotform2d {text} type={kind}", noise((5, 6)))

    def test_exact_maps_are_found(self):
        moving = np.random.default_rng(4).uniform(0, 500, (6, 2))
        ones = np.column_stack([moving, np.ones(6)])
        c, s = np.cos(0.4), np.sin(0.4)
        for kind, matrix in (("translation", [[1, 0, 7], [0, 1, -3.5], [0, 0, 1]]),
                             ("rigid", [[c, -s, 40], [s, c, -9], [0, 0, 1]]),
                             ("similarity", [[3 * c, -3 * s, 40], [3 * s, 3 * c, -9], [0, 0, 1]]),
                             ("affine", [[1.2, 0.1, 3], [-0.3, 0.8, 20], [0, 0, 1]]),
                             ("projective", [[1.2, 0.1, 3], [-0.3, 0.8, 20], [1e-4, 2e-4, 1]])):
            mapped = ones @ np.array(matrix).T
            got = self.fit(moving, mapped[:, :2] / mapped[:, 2:], kind)
            np.testing.assert_allclose(got, matrix, rtol=1e-8, atol=1e-9)

    def test_least_squares(self):
        rng = np.random.default_rng(5)
        moving, fixed = rng.uniform(0, 90, (9, 2)), rng.uniform(0, 90, (9, 2))
        x, y = moving.T
        nought, one = np.zeros(9), np.ones(9)
        equations = np.concatenate([np.column_stack([x, -y, one, nought]),
                                    np.column_stack([y, x, nought, one])])
        a, b, c, d = np.linalg.lstsq(equations, fixed.T.ravel(), rcond=None)[0]
        np.testing.assert_allclose(self.fit(moving, fixed, "similarity"),
                                   [[a, -b, c], [b, a, d], [0, 0, 1]], atol=1e-9)
        linear = np.linalg.lstsq(np.column_stack([moving, one]), fixed, rcond=None)[0]
        np.testing.assert_allclose(self.fit(moving, fixed, "affine")[:2], linear.T, atol=1e-9)

    def test_mistakes(self):
        self.check_mistakes(
            ("fitgeotform2d moving=[0,0;1,1] fixed=[0,0;1,1]",
             "fitgeotform2d: affine needs at least 3 points"),
            ("fitgeotform2d moving=[0,0;1,1;2,2] fixed=[0,0;1,1;5,2]", "lie on one line"),
            ("fitgeotform2d moving=[3,3;3,3] fixed=[0,0;1,1] type=rigid", "they coincide"),
            ("fitgeotform2d moving=[0,0;1,0;2,0;0,5] fixed=[0,0;1,0;2,0;0,5] type=projective",
             "lie on one line"),
            ("fitgeotform2d moving=[0,0] fixed=[0,0;1,1] type=translation",
             "there are 2 points, and 1 that move"),
            ("fitgeotform2d moving=[0,0,1] fixed=[0,0,1]", "points are written [x,y;x,y;...]"))


class Textures(Pages):
    def test_pairs(self):
        for levels, (down, across), symmetric in ((8, (0, 1), False), (5, (-2, 1), True),
                                                  (3, (50, 0), False), (2, (1, -1), False)):
            for image, got in self.each(f"graycomatrix levels={levels} offset={down},{across} "
                                        f"symmetric={'on' if symmetric else 'off'}"):
                q = np.clip(np.floor(levels * image.astype(float) / white(image)), 0, levels - 1)
                wanted = np.zeros((levels, levels))
                for (r, c), level in np.ndenumerate(q.astype(int)):
                    if 0 <= r + down < q.shape[0] and 0 <= c + across < q.shape[1]:
                        wanted[level, int(q[r + down, c + across])] += 1
                np.testing.assert_array_equal(got, wanted + wanted.T if symmetric else wanted)

    def test_nan_and_inf(self):
        image = np.array([[0, np.nan, 0.9, np.inf, -np.inf]], np.float32)
        np.testing.assert_array_equal(self.through("graycomatrix 2", image), [[0, 0], [1, 1]])
        props = self.through("graycoprops 2 offset=5,5", image)
        self.assertTrue(np.isnan(props).all())

    def test_equal_limits_are_one_level(self):
        got = self.through("graycomatrix 3 limits=7,7", noise((6, 5)))
        self.assertEqual(got.tolist(), [[24, 0, 0], [0, 0, 0], [0, 0, 0]])
        image = np.array([[np.inf, 1, np.nan, -np.inf, np.inf]], np.float32)
        self.assertEqual(self.through("graycomatrix 2 limits=7,7", image).tolist(), [[2, 0], [0, 0]])

    def test_properties_by_name(self):
        image = noise((20, 20))
        contrast = self.through("graycoprops", image)[0, 0]
        got = self.through("graycoprops as t | map 't.Contrast' class=single", image)
        np.testing.assert_allclose(got, contrast, rtol=1e-6)

    def test_entropy(self):
        for image, got in self.each("entropy"):
            codes = np.clip(np.floor(image.astype(float) / white(image) * 255 + 0.5), 0, 255)
            counts = np.unique(codes, return_counts=True)[1]
            p = counts / counts.sum()
            np.testing.assert_allclose(got.item(), -(p * np.log2(p)).sum(), rtol=0, atol=1e-9)
        even = np.repeat(np.arange(256, dtype=np.uint8), 2).reshape(16, 32)
        self.assertEqual(self.through("entropy", even).item(), 8)

    def test_mistakes(self):
        self.check_mistakes(
            ("graycomatrix limits=9,3", "graycomatrix: the lower limit comes first"),
            ("graycomatrix 0", "levels"), ("graycoprops offset=1", "offset"),
            ("bwdist | graycomatrix", "graycomatrix: "))


def order(values):
    """The middle of values of which NaN is the last."""
    values = np.sort(values.astype(float).ravel())
    return (values[(values.size - 1) // 2] + values[values.size // 2]) / 2


BLOCKS = {"mean": np.mean, "max": np.max, "min": np.fmin.reduce, "median": order, "sum": np.sum,
          "std": lambda v: np.std(v, ddof=1) if v.size > 1 else 0.0}


def blocks(image, rows, columns, operation):
    values = [[BLOCKS[operation](image[r:r + rows, c:c + columns].astype(float).ravel())
               for c in range(0, image.shape[1], columns)]
              for r in range(0, image.shape[0], rows)]
    out = np.array(values)
    if operation in ("sum", "std") or image.dtype == np.float32:
        return out.astype(np.float32)
    return out >= 0.5 if image.dtype == np.bool_ else np.floor(out + 0.5).astype(image.dtype)


class Blocks(Pages):
    def test_definition_for_every_class_size_and_operation(self):
        for operation in BLOCKS:
            for rows, columns in ((1, 1), (2, 3), (4, 1), (7, 50)):
                for image, got in self.each(f"block {operation} {rows},{columns}"):
                    wanted = blocks(image, rows, columns, operation)
                    self.assertEqual((got.dtype, got.shape), (wanted.dtype, wanted.shape))
                    np.testing.assert_allclose(got, wanted, rtol=2e-7)

    def test_nan_is_the_last(self):
        image = np.array([[1, np.nan, 3, 4, np.nan, np.nan]], np.float32)
        for operation, wanted in (("max", [np.nan, np.nan]), ("min", [1, 4]),
                                  ("median", [3, np.nan]), ("mean", [np.nan, np.nan])):
            np.testing.assert_array_equal(self.through(f"block {operation} 1,3", image), [wanted])

    def test_colour_alpha_and_pages(self):
        pages = [noise((7, 10, 4), seed=s) for s in (1, 2)]
        images = [Image.fromarray(page, "RGBA") for page in pages]
        images[0].save(self.path("in.tif"), save_all=True, append_images=images[1:])
        self.impipe("block max 3 | imcomplement", "in.tif", "-o", "out.tif")
        with Image.open(self.path("out.tif")) as got:
            for number, page in enumerate(pages):
                got.seek(number)
                out = np.asarray(got)
                for c in range(3):
                    np.testing.assert_array_equal(out[..., c],
                                                  255 - blocks(page[..., c], 3, 3, "max"))
                np.testing.assert_array_equal(out[..., 3], blocks(page[..., 3], 3, 3, "mean"))

    def test_each_page_has_its_own_size_and_numbers(self):
        pages = [noise((7, 10)), noise((13, 4), seed=3)]
        images = [Image.fromarray(page) for page in pages]
        images[0].save(self.path("in.tif"), save_all=True, append_images=images[1:])
        self.impipe("max as m | min as k | block mean 3 | imsubtract k | imadd m", "in.tif", "-o", "out.tif")
        with Image.open(self.path("out.tif")) as got:
            for number, page in enumerate(pages):
                got.seek(number)
                wanted = blocks(page, 3, 3, "mean").astype(int) - page.min() + page.max()
                np.testing.assert_array_equal(np.asarray(got), np.minimum(wanted, 255))

    def test_measured_sides_and_kept_images(self):
        image = np.minimum(noise((9, 11)), 4)
        np.testing.assert_array_equal(self.through("max as m | block max m,2", image),
                                      blocks(image, 4, 2, "max"))
        self.assertFalse(self.through("as a | block median 1 | imabsdiff :a", image).any())

    def test_mistakes(self):
        self.check_mistakes(("block 3", "operation"), ("block mean", "size"),
                            ("block mode 3", "mode"), ("block mean 0", "size"))


def median_cut(pixels, n):
    """Boxes of pixels (rows r, g, b), each with all pixels of its colours."""
    boxes = [pixels.astype(int)]
    while len(boxes) < n:
        able = [i for i, box in enumerate(boxes) if (box != box[0]).any()]
        if not able:
            break
        i = max(able, key=lambda i: (len(boxes[i]), -i))
        widths = np.ptp(boxes[i], axis=0)
        values = boxes[i][:, widths.argmax()]
        last = np.sort(values)[(len(values) + 1) // 2 - 1]
        if last == values.max():
            last = values[values < last].max()
        boxes.append(boxes[i][values > last])
        boxes[i] = boxes[i][values <= last]
    return boxes


class Palettes(Pages):
    def test_definition(self):
        rng = np.random.default_rng(8)
        for shape, levels in (((1, 1), 256), ((7, 9), 3), ((20, 31), 256), ((40, 40), 6)):
            image = rng.integers(0, levels, (*shape, 3)).astype(np.uint8)
            for n in (1, 2, 7, 300):
                boxes = median_cut(image.reshape(-1, 3), n)
                colours = np.array([np.floor(b.mean(axis=0) + 0.5) for b in boxes])
                place = {tuple(c): i for i, box in enumerate(boxes) for c in box}
                wanted = np.array([place[tuple(c)] for c in image.reshape(-1, 3).astype(int)])
                index = self.through(f"rgb2ind {n}", image)
                self.assertEqual(index.dtype, np.uint16 if n > 256 else np.uint8)
                np.testing.assert_array_equal(index, wanted.reshape(shape))
                np.testing.assert_array_equal(self.through(f"rgb2ind {n} image", image),
                                              colours[wanted].reshape(image.shape))
                table = self.through(f"rgb2ind {n} map", image).reshape(-1, 3)
                np.testing.assert_array_equal(table, colours / 255)

    def test_classes_alpha_and_ind2rgb(self):
        image = noise((9, 14, 3))
        for other in (image.astype(np.uint16) * 257, (image / 255).astype(np.float32)):
            np.testing.assert_array_equal(self.through("rgb2ind 9", other),
                                          self.through("rgb2ind 9", image))
        np.savetxt(self.path("map.txt"), self.through("rgb2ind 9 map", image))
        got = self.through("rgb2ind 9 | ind2rgb map=@map.txt | im2uint8", image)
        np.testing.assert_array_equal(got, self.through("rgb2ind 9 image", image))
        with_alpha = noise((9, 14, 4))
        Image.fromarray(with_alpha, "RGBA").save(self.path("in.png"))
        self.impipe("rgb2ind 4 image", "in.png", "-o", "out.png")
        np.testing.assert_array_equal(self.pixels("out.png")[..., 3], with_alpha[..., 3])

    def test_pages_measured_numbers_and_what_follows_the_map(self):
        pages = [noise((9, 14, 3)), noise((5, 3, 3), seed=4) // 60]
        images = [Image.fromarray(page) for page in pages]
        images[0].save(self.path("in.tif"), save_all=True, append_images=images[1:])
        self.impipe("rgb2ind 5 image", "in.tif", "-o", "out.tif")
        with Image.open(self.path("out.tif")) as got:
            for number, page in enumerate(pages):
                got.seek(number)
                np.testing.assert_array_equal(np.asarray(got), self.through("rgb2ind 5 image", page))
        few = np.minimum(pages[0], 6)
        np.testing.assert_array_equal(self.through("max as n | rgb2ind n", few), self.through("rgb2ind 6", few))
        np.testing.assert_array_equal(self.through("rgb2ind 2 map as p | imsubtract 1", few),
                                      np.maximum(few, 1) - 1)

    def test_mistakes(self):
        self.check_mistakes(("rgb2ind 9", "rgb2ind: "), ("rgb2ind n=0", "n"))


def sheet(images, grid=None, gap=0, background=0):
    """Cells of the largest image's size, row by row."""
    columns = int(np.ceil(np.sqrt(len(images))))
    rows, columns = grid or (-(-len(images) // columns), columns)
    height, width = (max(image.shape[axis] for image in images) for axis in (0, 1))
    colours = max(image.ndim for image in images) > 2
    out = np.full((rows * (height + gap) - gap, columns * (width + gap) - gap) + (3,) * colours, background,
                  images[0].dtype)
    for k, image in enumerate(images[:rows * columns]):
        top, left = k // columns * (height + gap), k % columns * (width + gap)
        cell = image[..., None] if colours and image.ndim == 2 else image
        out[top:top + image.shape[0], left:left + image.shape[1]] = cell
    return out


class Sheets(Pages):
    def of_operands(self, pipeline, images, *options):
        names = "bcdefg"[:len(images) - 1]
        for name, image in zip(names, images[1:]):
            np.save(self.path(name + ".npy"), image)
        return self.through(pipeline, images[0], *[x for n in names for x in ("--with", f"{n}={n}.npy")],
                            *options)

    def test_images_of_every_class_and_size(self):
        for dtype, background in zip(CLASSES, (1, 128, 40000, -0.5)):
            images = [noise(shape, dtype, seed) for seed, shape in enumerate(SHAPES)]
            for device in ("cpu", "opencl"):
                got = self.of_operands(f"imtile :b :c :d :e gap=3 background={background}", images,
                                       "--backend", device)
                self.assertEqual(got.dtype, np.dtype(dtype))
                np.testing.assert_array_equal(got, sheet(images, None, 3, background))
        images = [np.full((2, 3), 1e5, np.float32), np.full((4, 1), np.nan, np.float32)]
        np.testing.assert_array_equal(self.of_operands("montage :b grid=1,3", images), sheet(images, (1, 3)))
        images = [noise((7, 5)), noise((4, 9, 3))]
        np.testing.assert_array_equal(self.of_operands("imtile :b grid=2,1", images), sheet(images, (2, 1)))

    def test_what_has_no_cell_is_told(self):
        images = [noise((5, 4), seed=seed) for seed in range(3)]
        np.testing.assert_array_equal(self.of_operands("imtile :b :c grid=1,2", images), sheet(images, (1, 2)))
        run = self.impipe("imtile :b :c grid=1,2", "in.npy", "--with", "b=b.npy", "--with", "c=c.npy", "-o", "o.png")
        self.assertIn("imtile: the grid has 2 cells for 3 images; the rest is left out", run.err)
        Image.fromarray(images[0]).save(self.path("p.tif"), save_all=True,
                                        append_images=[Image.fromarray(i) for i in images[1:]])
        run = self.impipe("montage grid=1,2", "p.tif", "-o", "o.png")
        self.assertIn("montage: the grid has 2 cells for 3 images; the rest is left out", run.err)
        np.testing.assert_array_equal(self.pixels("o.png"), sheet(images, (1, 2)))

    def test_pages_of_a_file(self):
        for count in (1, 2, 5):
            pages = [noise((6, 7, 3), seed=seed) for seed in range(count)]
            Image.fromarray(pages[0]).save(self.path("in.tif"), save_all=True,
                                           append_images=[Image.fromarray(page) for page in pages[1:]])
            self.impipe("imcomplement | imtile gap=2 background=9 | fliplr", "in.tif", "-o", "out.png")
            np.testing.assert_array_equal(self.pixels("out.png"),
                                          sheet([255 - page for page in pages], None, 2, 9)[:, ::-1])
        self.impipe("imtile", "in.tif", "-o", "out.tif", "--pages", "2-4")
        np.testing.assert_array_equal(self.pixels("out.tif"), sheet(pages[1:4]))
        run = self.impipe("imtile grid=10000,10000", "in.tif", "-o", "out.png", code=2)
        self.assertIn("imtile: the image would have 70000x60000 pixels; --max-pixels allows", run.err)

    def test_alpha_goes_along(self):
        seen, opaque = noise((5, 6, 4)), noise((8, 3, 3))
        Image.fromarray(seen, "RGBA").save(self.path("seen.png"))
        Image.fromarray(opaque).save(self.path("opaque.png"))
        alphas = [seen[..., 3], np.full((8, 3), 255, np.uint8)]
        for names, order in ((("seen", "opaque"), 1), (("opaque", "seen"), -1)):
            self.impipe("imtile :b", names[0] + ".png", "--with", f"b={names[1]}.png", "-o", "out.png")
            out = self.pixels("out.png")
            np.testing.assert_array_equal(out[..., 3], sheet(alphas[::order], None, 0, 255))
            np.testing.assert_array_equal(out[..., :3], sheet([seen[..., :3], opaque][::order]))

    def test_mistakes(self):
        np.save(self.path("b.npy"), noise((9, 9), np.uint16))
        np.save(self.path("in.npy"), noise((9, 9)))
        run = self.impipe("imtile :b", "in.npy", "--with", "b=b.npy", "-o", "out.npy", code=2)
        self.assertIn("imtile: the current image is uint8 with white 255, :b is uint16 with white 65535", run.err)
        self.check_mistakes(("imtile grid=0,1", "grid takes 2 whole numbers from 1 to 10000"),
                            ("imtile :b", "give --with b=PATH"))


class Watermarks(Pages):
    def laid(self, image, mark, x, y, opacity=1.0):
        """Porter and Duff's over, where the image is opaque."""
        out = image.astype(float)
        for row in range(max(y, 0), min(y + mark.shape[0], image.shape[0])):
            for column in range(max(x, 0), min(x + mark.shape[1], image.shape[1])):
                *colour, alpha = mark[row - y, column - x].astype(float)
                weight = opacity * alpha / 255
                out[row, column] += weight * (np.array(colour) - out[row, column])
        return np.floor(out + 0.5).astype(np.uint8)

    def test_a_picture_goes_to_its_place_by_its_alpha(self):
        image, mark = noise((20, 31, 3), seed=4), noise((6, 9, 4), seed=5)
        mark[2:4] = 0
        Image.fromarray(image).save(self.path("in.png"))
        Image.fromarray(mark, "RGBA").save(self.path("mark.png"))
        for text, x, y, opacity in (
                ("at=3,5", 3, 5, 1), ("at=-4,-2", -4, -2, 1), ("at=27,18 alpha=0.25", 27, 18, 0.25),
                ("place=southeast,2,3", 31 - 9 - 2, 20 - 6 - 3, 1), ("place=northwest", 0, 0, 1),
                ("place=center", 11, 7, 1), ("place=center,-3,1", 8, 8, 1), ("place=north,0,4", 11, 4, 1),
                ("place=west,5,0", 5, 7, 1), ("place=southwest,0,-3", 0, 17, 1), ("place=east", 22, 7, 1),
                ("place=south", 11, 14, 1), ("place=northeast", 22, 0, 1)):
            for device in ("cpu", "opencl"):
                with self.subTest(text, device=device):
                    self.impipe("imblend :m " + text, "in.png", "--with", "m=mark.png", "-o", "out.png",
                                "--backend", device)
                    np.testing.assert_array_equal(self.pixels("out.png"), self.laid(image, mark, x, y, opacity))

    def test_without_alpha_and_of_other_classes(self):
        for dtype in (np.uint8, np.uint16, np.float32):
            for offset in (0, 1e3, 1e5) if dtype == np.float32 else (0,):
                image = (noise((9, 8), dtype, 1) + offset).astype(dtype)
                mark = (noise((3, 4), dtype, 2) + offset).astype(dtype)
                np.save(self.path("m.npy"), mark)
                wanted = image.copy()
                wanted[6:9, 1:5] = mark
                np.testing.assert_array_equal(
                    self.through("imblend :m place=southwest,1,0", image, "--with", "m=m.npy"), wanted)
        image = np.full((4, 5), np.inf, np.float32)
        image[3] = np.nan
        np.save(self.path("m.npy"), np.float32([[1, 2], [np.nan, -np.inf]]))
        wanted = image.copy()
        wanted[1:3, 2:4] = [[1, 2], [np.nan, -np.inf]]
        for device in ("cpu", "opencl"):
            np.testing.assert_array_equal(
                self.through("imblend :m at=2,1", image, "--with", "m=m.npy", "--backend", device), wanted)
        gray, colour = noise((9, 8)), noise((2, 2, 3))
        np.save(self.path("m.npy"), colour)
        wanted = np.repeat(gray[..., None], 3, axis=2)
        wanted[:2, :2] = colour
        np.testing.assert_array_equal(self.through("imblend :m at=0,0", gray, "--with", "m=m.npy"), wanted)
        bits = np.zeros((4, 5), bool)
        np.save(self.path("m.npy"), np.ones((1, 2), bool))
        np.testing.assert_array_equal(np.argwhere(self.through("imblend :m at=4,3", bits, "--with", "m=m.npy")),
                                      [[3, 4]])

    def test_an_image_with_alpha(self):
        """Beside Pillow's alpha_composite, which rounds twice."""
        image, mark = noise((20, 31, 4), seed=4), noise((6, 9, 4), seed=5)
        for name, pixels in (("in", image), ("mark", mark)):
            Image.fromarray(pixels, "RGBA").save(self.path(name + ".png"))
        self.impipe("imblend :m at=4,2", "in.png", "--with", "m=mark.png", "-o", "out.png")
        wanted = Image.fromarray(image, "RGBA")
        wanted.alpha_composite(Image.fromarray(mark, "RGBA"), (4, 2))
        wanted, got = np.asarray(wanted).astype(int), self.pixels("out.png").astype(int)
        self.assertLessEqual(abs(got[..., 3] - wanted[..., 3]).max(), 1)
        seen = wanted[..., 3] > 30
        self.assertLessEqual(abs(got - wanted)[seen].max(), 2)
        outside = np.ones((20, 31), bool)
        outside[2:8, 4:13] = False
        np.testing.assert_array_equal(got[outside & (image[..., 3] > 0)], image[outside & (image[..., 3] > 0)])

    def test_mistakes(self):
        np.save(self.path("m.npy"), noise((3, 4)))
        np.save(self.path("in.npy"), noise((9, 8)))
        for text, message, code in (
                ("at=8,0", "imblend: the picture of 4x3 pixels lies at 8,0, outside the image of 8x9", 1),
                ("at=1,1 place=north", "imblend: at=X,Y says where, too; give one of them", 2),
                ("place=20,20", "imblend: it takes a side or corner and two numbers, as in southeast,20,20", 2),
                ("at=1,1 mask=:m", "imblend: a picture that is placed is weighed by its own alpha", 2),
                ("place=souteast", "did you mean 'southeast'?", 2)):
            with self.subTest(text):
                run = self.impipe("imblend :m " + text, "in.npy", "--with", "m=m.npy", "-o", "out.npy", code=code)
                self.assertIn(message, run.err)


class Spectra(Pages):
    def near(self, got, wanted):
        self.assertEqual(got.shape, wanted.shape)
        np.testing.assert_allclose(got, wanted, rtol=0, atol=3e-7 * np.abs(wanted).max())

    def test_transforms_of_every_class_and_size(self):
        for image, got in self.each("fft2"):
            spectrum = np.fft.fft2(image.astype(float))
            self.near(got, np.stack([spectrum.real, spectrum.imag], axis=-1))
        for image, got in self.each("fft2 magnitude shift=on"):
            self.near(got, np.abs(np.fft.fftshift(np.fft.fft2(image.astype(float)))))
        for there_and_back in ("fft2 | ifft2", "fft2 shift=on | ifft2 shift=on", "dct2 | idct2"):
            for image, got in self.each(there_and_back):
                self.near(got, image.astype(np.float32))

    def test_cosines(self):
        image = noise((13, 20))

        def matrix(n):
            k, j = np.mgrid[:n, :n]
            out = np.sqrt(2 / n) * np.cos(np.pi * k * (2 * j + 1) / (2 * n))
            out[0] /= np.sqrt(2)
            return out
        self.near(self.through("dct2", image), matrix(13) @ image @ matrix(20).T)

    def test_parts(self):
        image = noise((12, 10)).astype(np.float32) - 128
        got = self.through("fft2", image)
        spectrum = got[..., 0] + 1j * got[..., 1]
        self.near(self.through("fft2 power", image), np.abs(spectrum) ** 2)
        self.near(self.through("fft2 log", image), np.log1p(np.abs(spectrum)))
        for row, column in ((0, 0), (6, 0), (0, 5), (6, 5)):
            self.assertEqual(got[row, column, 1], 0)
            self.assertIn(self.through("fft2 phase", image)[row, column],
                          (0, np.float32(np.pi)))

    def test_shifts_of_every_class_and_size(self):
        for image, got in self.each("fftshift"):
            np.testing.assert_array_equal(got, np.fft.fftshift(image))
        for image, got in self.each("ifftshift"):
            np.testing.assert_array_equal(got, np.fft.ifftshift(image))

    def test_nan_fills_a_channel(self):
        image = noise((9, 8, 3), np.float32)
        image[3, 4, 1] = np.nan
        for op in ("fft2 magnitude", "dct2", "idct2"):
            got = self.through(op, image)
            self.assertTrue(np.isnan(got[..., 1]).all())
            self.assertFalse(np.isnan(got[..., [0, 2]]).any())
        self.assertTrue(np.isnan(self.through("fft2", image)[..., 2:4]).all())

    def test_mistakes(self):
        np.save(self.path("in.npy"), noise((9, 9, 3)))
        run = self.impipe("ifft2", "in.npy", "-o", "out.npy", code=2)
        self.assertIn("ifft2: the image has 3 channels; it takes pairs of real and imaginary "
                      "parts, or one channel", run.err)
        run = self.impipe("fft2", "in.npy", "-o", "out.png", code=1)
        self.assertIn("PNG cannot hold 6 channels; write .tif or .npy", run.err)


if __name__ == "__main__":
    unittest.main()
