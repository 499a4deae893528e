"""Filters of frequencies, deconvolution, correlation and windows, as their definitions in NumPy
say."""
import unittest

import numpy as np
from numpy.fft import fft, fft2, fftfreq, ifft, ifft2, ifftshift
from PIL import Image
from test_page_operations import IMAGES, Pages, noise, white

NOT_LOGICAL = [image for image in IMAGES if image.dtype != np.bool_]
# Singles far from 0, both ends of uint16, larger primes.
FAR = [noise((31, 29), np.float32, 4) + np.float32(offset) for offset in (10, 1e3, 1e5)]
ENDS = [np.where(noise((17, 34), np.bool_, 5), high, low).astype(np.uint16)
        for low, high in ((0, 3), (65530, 65535), (0, 65535))]
PSF = np.array([[1, 2, 0, 3], [0, 4, 1, 0], [2, 1, 1, 1]]) / 16


def matrix(values):
    return "[" + ";".join(",".join(repr(float(v)) for v in row) for row in values) + "]"


def cast(values, like):
    if like.dtype == np.float32:
        return values.astype(np.float32)
    if like.dtype == np.bool_:
        return values >= 0.5
    return np.clip(np.floor(values + 0.5), 0, white(like)).astype(like.dtype)


def otf(psf, shape):
    padded = np.zeros(shape)
    padded[:psf.shape[0], :psf.shape[1]] = psf
    return fft2(np.roll(padded, [-(k // 2) for k in psf.shape], axis=(0, 1)))


class Frequencies(Pages):
    def near(self, got, wanted, image, part=1e-5):
        """wanted: before it is cast. Codes may differ by 1 where it is close to a half."""
        self.assertEqual((got.dtype, got.shape), (image.dtype, wanted.shape))
        if image.dtype == np.float32:
            np.testing.assert_allclose(got, wanted, rtol=0, atol=part * np.abs(wanted).max())
            return
        apart = got.astype(float) != cast(wanted, image)
        self.assertTrue((np.abs(wanted - np.floor(wanted) - 0.5)[apart] < 1e-6 * white(image)).all())

    def with_b(self, pipeline, image, other, *options, code=0):
        np.save(self.path("in.npy"), image)
        np.save(self.path("b.npy"), other)
        run = self.impipe(pipeline, "in.npy", "--with", "b=b.npy", "-o", "out.npy", *options,
                          code=code)
        return run if code else np.load(self.path("out.npy"))

    def check_failure(self, pipeline, image, other, message):
        run = self.with_b(pipeline, image, other, code=1)
        self.assertIn(message, run.err)


class Freqfilt(Frequencies):
    def test_definition_for_every_class_size_and_border(self):
        def low(d, f, shape):
            return {"gaussian": np.exp(-d ** 2 / (2 * f ** 2)), "ideal": (d <= f) * 1.0,
                    "butterworth": 1 / (1 + (d / f) ** 5)}[shape]
        for border, pad in (("circular", None), ("zeros", "constant"), ("symmetric", "symmetric")):
            for kind, shape in (("low", "gaussian"), ("high", "butterworth"), ("band", "ideal"),
                                ("stop", "gaussian")):
                cutoffs = "0.11,0.31" if kind in ("band", "stop") else "0.11"
                order = "order=2.5" if shape == "butterworth" else ""
                stage = f"freqfilt {kind} {shape} cutoff={cutoffs} {order} {border}"
                for image, got in self.each(stage, IMAGES + FAR + ENDS):
                    h, w = image.shape
                    a = image.astype(float)
                    if pad:
                        a = np.pad(a, ((0, h), (0, w)), pad)
                    d = np.hypot(fftfreq(a.shape[0])[:, None], fftfreq(a.shape[1]))
                    t = low(d, 0.11, shape)
                    if kind == "high":
                        t = 1 - t
                    elif kind != "low":
                        t = low(d, 0.31, shape) * (1 - t)
                        t = t if kind == "band" else 1 - t
                    self.near(got, ifft2(fft2(a) * t).real[:h, :w], image)

    def test_transfer_functions_of_one_channel_and_two(self):
        rng = np.random.default_rng(2)
        for image in IMAGES + [noise((12, 9, 3))]:
            shape = image.shape[:2]
            t = rng.normal(size=(*shape, 2)).astype(np.float32)
            spectrum = fft2(image.astype(float), axes=(0, 1))
            for h, factors in ((t, t[..., 0] + 1j * t[..., 1]), (t[..., 0], t[..., 0])):
                for shift in ("off", "on"):
                    wanted = ifftshift(factors) if shift == "on" else factors
                    if image.ndim == 3:
                        wanted = wanted[..., None]
                    got = self.with_b(f"freqfilt h=:b shift={shift}", image, h)
                    self.near(got, ifft2(spectrum * wanted, axes=(0, 1)).real, image)

    def test_the_spectrum_of_a_kernel_convolves(self):
        image = noise((20, 31), np.float32)
        self.impipe(f"psf2otf {matrix(PSF)} size=20,31", "-o", "b.npy")
        otf_there = np.load(self.path("b.npy"))
        got = self.with_b("freqfilt h=:b", image, otf_there)
        wanted = sum(PSF[i, j] * np.roll(image.astype(float), (i - 1, j - 2), (0, 1))
                     for i in range(3) for j in range(4))
        np.testing.assert_allclose(got, wanted, atol=1e-6)

    def test_alpha_stays(self):
        image = noise((9, 14, 4))
        Image.fromarray(image, "RGBA").save(self.path("in.png"))
        self.impipe("freqfilt cutoff=0.1", "in.png", "-o", "out.png")
        np.testing.assert_array_equal(self.pixels("out.png")[..., 3], image[..., 3])

    def test_nan_fills_a_channel(self):
        image = noise((9, 8, 3), np.float32)
        image[3, 4, 1] = np.nan
        image[5, 4, 2] = -np.inf
        for stage in ("freqfilt cutoff=0.2", "deconvwnr [1,2,1]/4 nsr=0.1", "deconvlucy [1,2,1]/4",
                      "edgetaper [1,2,1]/4"):
            got = self.through(stage, image)
            self.assertTrue(np.isnan(got[..., 1:]).all())
            self.assertFalse(np.isnan(got[..., 0]).any())
        h = np.full((9, 8), np.nan, np.float32)
        self.assertTrue(np.isnan(self.with_b("freqfilt h=:b", image, h)).all())
        self.assertFalse(self.with_b("freqfilt h=:b", noise((9, 8)), h).any())

    def test_mistakes(self):
        self.check_mistakes(
            ("freqfilt", "it takes a cut-off in cycles a pixel, or h=:image"),
            ("freqfilt cutoff=0", "cutoff"), ("freqfilt band cutoff=0.1", "band takes two cut-offs"),
            ("freqfilt cutoff=0.1,0.2", "low takes one cut-off"),
            ("freqfilt stop cutoff=0.3,0.2", "the lower cut-off comes first"),
            ("freqfilt cutoff=0.1 shift=on", "shift goes with h"),
            ("as a | freqfilt h=:a zeros", "boundary does not go with h"),
            ("as a | freqfilt h=:a cutoff=0.1", "cutoff does not go with h"))
        self.check_failure("freqfilt h=:b", noise((9, 8)), noise((8, 9)),
                           "freqfilt: the current image is 8x9, :b is 9x8")
        run = self.with_b("freqfilt h=:b", noise((9, 8)), noise((9, 8, 3)), code=2)
        self.assertIn("the image has 3 channels; it takes one, or real and imaginary part", run.err)


class Psf2otf(Frequencies):
    def test_definition_and_parts(self):
        for rows, columns in ((3, 4), (12, 15), (1, 4), (7, 11)):
            psf = PSF[:rows] if rows >= 3 else PSF[:1]
            stage = f"psf2otf {matrix(psf)} size={rows},{columns}"
            self.impipe(stage, "-o", "out.npy")
            got = np.load(self.path("out.npy"))
            wanted = otf(psf, (rows, columns))
            np.testing.assert_allclose(got[..., 0] + 1j * got[..., 1], wanted, atol=3e-7)
            self.impipe(stage + " magnitude shift=on", "-o", "out.npy")
            np.testing.assert_allclose(np.load(self.path("out.npy")),
                                       np.abs(np.fft.fftshift(wanted)), atol=3e-7)

    def test_mistakes(self):
        run = self.impipe("psf2otf [1,2,3] size=3,2", "-o", "out.npy", code=2)
        self.assertIn("psf2otf: the kernel is 3x1, larger than 2x3", run.err)


class Deconvolution(Frequencies):
    def test_wiener(self):
        for psf in (PSF, np.array([[1.0]]), np.array([[1, 2, 4, 1, 1.0]]) / 9):
            images = [i for i in NOT_LOGICAL + FAR + ENDS
                      if psf.shape[0] <= i.shape[0] and psf.shape[1] <= i.shape[1]]
            for image, got in self.each(f"deconvwnr {matrix(psf)} nsr=0.01", images):
                t = otf(psf, image.shape)
                wanted = ifft2(np.conj(t) * fft2(image.astype(float))
                               / np.maximum(np.abs(t) ** 2 + 0.01, 2.0 ** -26)).real
                self.near(got, wanted, image)

    def lucy(self, image, psf, n, damping, accelerate):
        """MATLAB's text, with FFTs."""
        u, t = image.astype(float) / white(image), otf(psf, image.shape)
        eps, s = 2.0 ** -52, ifft2(np.conj(t) * fft2(np.ones(image.shape))).real + 2.0 ** -26
        w, j, last = np.maximum(u, 0), u, np.zeros(u.shape)
        g1 = g2 = np.zeros(u.shape)
        for k in range(1, n + 1):
            step = 0.0
            if k > 2 and accelerate:
                step = min(max((g1 * g2).sum() / ((g2 ** 2).sum() + eps), 0), 1)
            y = np.maximum(j + step * (j - last), 0)
            b = ifft2(t * fft2(y)).real
            b[b == 0] = eps
            e = w / b + eps
            if damping > 0:
                g = np.minimum((w * np.log(e) + b - w) / (damping ** 2 / 2), 1)
                e = 1 + g ** 9 * (10 - 9 * g) * (e - 1)
            last, j = j, np.maximum(y * ifft2(np.conj(t) * fft2(e)).real / s, 0)
            g1, g2 = j - y, g1
        return j * white(image)

    def test_lucy(self):
        psf = np.array([[1, 2, 1], [2, 5, 2], [1, 2, 1]]) / 17
        images = [i for i in NOT_LOGICAL if min(i.shape) >= 3] + [noise((23, 31), np.uint16)]
        for n, damping, accelerate in ((1, 0, True), (7, 0, True), (6, 0, False), (5, 0.05, True)):
            stage = (f"deconvlucy {matrix(psf)} {n} damping={damping} "
                     f"accelerate={'on' if accelerate else 'off'}")
            for image, got in self.each(stage, images):
                wanted = self.lucy(image, psf, n, damping, accelerate)
                if image.dtype == np.float32:
                    np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-5 * wanted.max())
                else:
                    self.assertLessEqual(np.abs(got - cast(wanted, image).astype(float)).max(), 1)

    def test_a_blur_is_taken_back(self):
        y, x = np.mgrid[:48, :64]
        sharp = np.where((x // 8 + y // 8) % 2, 0.8, 0.2).astype(np.float32)
        psf = np.outer([1, 4, 6, 4, 1], [1, 4, 6, 4, 1]) / 256
        blurred = ifft2(otf(psf, sharp.shape) * fft2(sharp)).real.astype(np.float32)
        for stage in ("deconvwnr {} nsr=1e-4", "deconvlucy {} 40"):
            got = self.through(stage.format(matrix(psf)), blurred)
            self.assertLess(np.abs(got - sharp).mean(), 0.7 * np.abs(blurred - sharp).mean())
        black = np.zeros((7, 9), np.uint8)
        self.assertFalse(self.through("deconvlucy [1,2,1]/4 damping=0.1", black).any())

    def test_edgetaper(self):
        for psf in (PSF, np.ones((1, 6)), np.ones((5, 1))):
            images = [i for i in NOT_LOGICAL + FAR + ENDS
                      if all(2 * k <= n or k == 1 for k, n in zip(psf.shape, i.shape))]
            for image, got in self.each(f"edgetaper {matrix(psf)}", images):
                a, k = image.astype(float), psf / psf.sum()
                parts = []
                for axis, n in enumerate(a.shape):
                    beta = np.zeros(n)
                    if psf.shape[axis] > 1:
                        z = ifft(np.abs(fft(k.sum(axis=1 - axis), n - 1)) ** 2).real
                        beta = np.append(z, z[0]) / z.max()
                    parts.append(1 - beta)
                alpha = np.outer(*parts)
                blurred = ifft2(fft2(a) * otf(k, a.shape)).real
                self.near(got, np.clip(alpha * a + (1 - alpha) * blurred, a.min(), a.max()), image)

    def test_mistakes(self):
        self.check_mistakes(("edgetaper [1,-1]", "its values add up to 0"),
                            ("deconvlucy [1] 0", "n"), ("deconvwnr [1] nsr=-1", "nsr"),
                            ("bwdist | deconvlucy [1]", "deconvlucy: the image has no white"))
        image = noise((9, 5))
        for pipeline, message in (
                ("deconvwnr [1,1,1,1,1,1]", "deconvwnr: the psf is 6x1, the image only 5x9"),
                ("deconvlucy [1,1,1,1,1,1]", "deconvlucy: the psf is 6x1, the image only 5x9"),
                ("edgetaper [1,1,1]", "edgetaper: the psf is 3x1, more than half of the image, 5x9"),
                ("imbinarize | deconvwnr [1]", "it is not defined for a logical image")):
            run = self.impipe(pipeline, self.saved(image), "-o", "out.npy",
                              code=2 if "logical" in message else 1)
            self.assertIn(message, run.err)

    def saved(self, image):
        np.save(self.path("in.npy"), image)
        return "in.npy"


class Normxcorr2(Frequencies):
    def correlation(self, image, template):
        a, t = image.astype(float), template.astype(float)
        h, w = t.shape
        padded = np.pad(a, ((h - 1, h - 1), (w - 1, w - 1)))
        view = np.lib.stride_tricks.sliding_window_view(padded, (h, w))
        t = t - t.mean()
        deviations = view - view.mean(axis=(2, 3), keepdims=True)
        squares = (deviations ** 2).sum(axis=(2, 3))
        flat = 1e-10 * t.size * np.abs(a).max() ** 2 if image.dtype == np.float32 else 1e-9
        length = np.sqrt(squares * (t ** 2).sum())
        with np.errstate(invalid="ignore", divide="ignore"):
            c = (deviations * t).sum(axis=(2, 3)) / length
        return np.clip(np.where((squares <= flat) | (template.min() == template.max()), 0, c), -1, 1)

    def test_definition_for_every_class_and_size(self):
        nearly_flat = np.full((40, 50), 65535, np.uint16)
        nearly_flat[20, 30] = 65534
        for image in IMAGES + FAR + ENDS + [nearly_flat]:
            for shape in ((1, 1), (2, 2), (5, 8), (21, 3), (45, 60)):
                template = noise(shape, image.dtype, 9)
                with self.subTest(image=image.shape, dtype=image.dtype.name, template=shape):
                    got = self.with_b("normxcorr2 :b", image, template)
                    self.assertEqual(got.dtype, np.float32)
                    np.testing.assert_allclose(got, self.correlation(image, template), rtol=0,
                                               atol=2e-5)

    def test_tiles(self):
        image, template = noise((700, 1100), np.uint8), noise((40, 33), np.uint8, 3)
        got = self.with_b("normxcorr2 :b", image, template)
        spectra = fft2(image.astype(float), got.shape), fft2(template - template.mean(), got.shape)
        dot = ifft2(spectra[0] * np.conj(spectra[1])).real
        dot = np.roll(dot, (39, 32), (0, 1))[39:700, 32:1100]
        whole = np.cumsum(np.cumsum(np.pad(np.stack([image * 1.0, image * 1.0 * image]),
                                           ((0, 0), (1, 0), (1, 0))), axis=1), axis=2)
        sums = whole[:, 40:, 33:] - whole[:, :-40, 33:] - whole[:, 40:, :-33] + whole[:, :-40, :-33]
        length = np.sqrt((sums[1] - sums[0] ** 2 / template.size) * template.size) * template.std()
        np.testing.assert_allclose(got[39:700, 32:1100], dot / length, rtol=0, atol=2e-6)

    def test_peak(self):
        image = noise((60, 81, 3))
        gray = self.through("rgb2gray", image)
        for x, y in ((0, 0), (31, 17), (70, 50)):
            got = self.with_b("normxcorr2 :b peak", image, gray[y:y + 10, x:x + 11])
            self.assertEqual(got[0, :2].tolist(), [x, y])
            self.assertAlmostEqual(got[0, 2], 1, delta=1e-6)
        corner = self.with_b("normxcorr2 :b peak", gray, np.pad(gray[:8, :9], ((3, 0), (5, 0))))
        self.assertEqual(corner[0, :2].tolist(), [-5, -3])
        twice = np.tile(noise((6, 7)), (3, 3))
        self.assertEqual(self.with_b("normxcorr2 :b peak", twice, twice[6:12, 7:14])[0, :2].tolist(),
                         [0, 0])

    def test_the_place_is_an_argument(self):
        image = noise((40, 50))
        self.with_b("normxcorr2 :b out=peak as p | immultiply p.x", image.astype(np.float32),
                    image[7:15, 3:11])
        np.testing.assert_array_equal(np.load(self.path("out.npy")), image * 3.0)

    def test_nan_fills_all(self):
        image = noise((9, 8), np.float32)
        image[2, 2] = np.nan
        self.assertTrue(np.isnan(self.with_b("normxcorr2 :b", image, noise((3, 3)))).all())
        self.assertTrue(np.isnan(self.with_b("normxcorr2 :b peak", image, noise((3, 3)))).all())


class Imregcorr(Frequencies):
    def phases(self, a, b):
        c = np.conj(fft2(a)) * fft2(b)
        return c / np.maximum(np.abs(c), 1e-10 * np.abs(c).max())

    def test_cyclic_shifts(self):
        for image in (noise((40, 33)), noise((13, 37), np.uint16), noise((1, 17)),
                      noise((24, 24), np.float32) + 10, noise((20, 21), np.bool_)):
            for dy, dx in ((0, 0), (3, -5), (-6, 8)):
                moved = np.roll(image, (dy, dx), (0, 1))
                got = self.with_b("imregcorr :b", image, moved)
                h, w = image.shape
                wanted = [dx, dy if h > 1 else 0]
                self.assertEqual(got[0, :2].tolist(), wanted)
                self.assertAlmostEqual(got[0, 2], 1, delta=1e-4)

    def test_definition_with_windows_and_parts_of_pixels(self):
        rng = np.random.default_rng(6)
        a = rng.random((54, 61))
        turns = 2.3 * fftfreq(61) - 1.6 * fftfreq(54)[:, None]
        b = ifft2(fft2(a) * np.exp(-2j * np.pi * turns)).real.astype(np.float32)
        a = a.astype(np.float32)
        hann = np.outer(*[0.5 - 0.5 * np.cos(2 * np.pi * (np.arange(n) + 0.5) / n)
                          for n in a.shape])
        c = self.phases(a * hann, b * hann)
        p = ifft2(c).real
        row, column = np.unravel_index(p.argmax(), p.shape)
        whole = [column if column <= 30 else column - 61, row if row <= 27 else row - 54]
        got = self.with_b("imregcorr :b hann", a, b)
        np.testing.assert_allclose(got, [[*whole, p.max()]], atol=1e-4)
        for u in (2, 10, 33):
            r = -(-3 * u // 2)
            steps = np.arange(-(r // 2), r - r // 2) / u
            left = np.exp(2j * np.pi * np.outer(whole[1] + steps, fftfreq(54)))
            right = np.exp(2j * np.pi * np.outer(fftfreq(61), whole[0] + steps))
            q = np.abs(left @ c @ right) / c.size
            j, i = np.unravel_index(q.argmax(), q.shape)
            got = self.with_b(f"imregcorr :b hann subpixel={u}", a, b)
            np.testing.assert_allclose(got, [[whole[0] + steps[i], whole[1] + steps[j], q.max()]],
                                       atol=1e-4)
        self.assertLess(np.abs(got[0, :2] - (2.3, -1.6)).max(), 0.1)

    def test_constants_and_nan(self):
        for value in (0, 7, 65535):
            flat = np.full((15, 14), value, np.uint16)
            for stage in ("imregcorr :b", "imregcorr :b subpixel=10", "imregcorr :b hann subpixel=7"):
                self.assertEqual(self.with_b(stage, flat, flat)[0, :2].tolist(), [0, 0])
        # Along an axis of one pixel, or a constant one, nothing moves.
        row = noise((1, 20), np.float32)
        for rows in (1, 12):
            a = np.repeat(row, rows, 0)
            got = self.with_b("imregcorr :b subpixel=10", a, np.roll(a, 3, 1))
            self.assertEqual(got[0, :2].tolist(), [3, 0])
            got = self.with_b("imregcorr :b subpixel=10", a.T, np.roll(a.T, 3, 0))
            self.assertEqual(got[0, :2].tolist(), [0, 3])
        image = noise((9, 8), np.float32)
        image[2, 2] = np.nan
        self.assertTrue(np.isnan(self.with_b("imregcorr :b", noise((9, 8)), image)).all())

    def test_mistakes(self):
        self.check_mistakes(("as a | imregcorr :a subpixel=0", "subpixel"),
                            ("as a | imregcorr :a subpixel=1.5", "subpixel"))
        self.check_failure("imregcorr :b", noise((9, 8)), noise((8, 8)),
                           "imregcorr: the current image is 8x9, the other is 8x8")


class Windows(Frequencies):
    JOINS = {"acc + x": np.add, "max(acc, x)": np.maximum, "acc + (x > 100)": None}

    def test_definition_for_every_class_size_and_border(self):
        for expression, fold in self.JOINS.items():
            for (rows, columns), border, mode in (((3, 5), "0", {"constant_values": 0}),
                                                  ((4, 2), "7", {"constant_values": 7}),
                                                  ((1, 60), "replicate", {"mode": "edge"}),
                                                  ((4, 4), "symmetric", {"mode": "symmetric"}),
                                                  ((41, 3), "circular", {"mode": "wrap"})):
                stage = f"reduce '{expression}' window={rows},{columns} boundary={border}"
                for image, got in self.each(stage):
                    self.assertEqual(got.dtype, np.float32)
                    before = [((k - 1) // 2, k - 1 - (k - 1) // 2) for k in (rows, columns)]
                    values = image.astype(float)
                    padded = np.pad(values, before, **mode)
                    if border == "7" and image.dtype == np.bool_:  # 7 is 1 there
                        padded = np.minimum(padded, 1)
                    view = np.lib.stride_tricks.sliding_window_view(padded, (rows, columns))
                    if fold is None:
                        wanted = (view > 100).sum(axis=(2, 3))
                    else:
                        wanted = np.maximum(fold.reduce(view.reshape(*image.shape, -1), axis=-1),
                                            0 if fold is np.maximum else -np.inf)
                    np.testing.assert_allclose(got, wanted, rtol=1e-6)

    def test_colour_and_mistakes(self):
        image = noise((9, 14, 3))
        got = self.through("reduce 'acc + x' window=3", image)
        for channel in range(3):
            np.testing.assert_array_equal(
                got[..., channel], self.through("reduce 'acc + x' window=3", image[..., channel]))
        self.check_mistakes(("reduce 'acc + x' boundary=symmetric", "boundary goes with window"),
                            ("reduce 'acc + x' window=0", "window"),
                            ("mean2 as m | reduce 'acc + m' window=3", "m"))


if __name__ == "__main__":
    unittest.main()
