"""Filters of frequencies and deconvolution, as their definitions in NumPy say."""
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
                stage = f"freqfilt {kind} {shape} cutoff={cutoffs} order=2.5 {border}"
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


if __name__ == "__main__":
    unittest.main()
