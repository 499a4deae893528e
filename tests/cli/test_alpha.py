"""What alpha hides has no part in filtered, resized and moved colours."""
import unittest

import numpy as np
from program import ProgramTest

AVERAGES = ["imgaussfilt 2", "imboxfilt 5", "imfilter fspecial:average,3 128", "imresize 0.5",
            "imresize 0.37 bilinear", "imresize 1.7 lanczos3", "imrotate 30 bicubic",
            "imwarp rotate=20", "imtranslate 3.3,1.7 bicubic",
            "imfilter fspecial:average,4 size=full", "imgaussfilt 2 | fliplr | imresize 1.3"]
KEEPING_ALPHA = ["imfilter fspecial:unsharp", "imfilter fspecial:sobel", "imsharpen"]
# Of these an opaque picture has the colours that it has without alpha.
LIKE_OPAQUE = [p for p in AVERAGES if not p.startswith(("imwarp", "imtranslate")) and "full" not in p]


def disc(hidden, cls=np.uint8):
    """A disc of noise with a soft edge, on a hidden colour."""
    y, x = np.mgrid[0:61, 0:83]
    distance = np.hypot(x - 40.3, y - 30.1)
    out = np.random.default_rng(1).integers(0, 256, (61, 83, 4))
    out[..., 3] = np.clip((24 - distance) * 64, 0, 255)
    out[out[..., 3] == 0] = [*hidden, 0]
    return (out * (257 if cls == np.uint16 else 1)).astype(cls)


def window_sums(image, size):
    """Sums over windows of size x size, the edge repeated outside."""
    half = size // 2
    framed = np.pad(image, ((half, half), (half, half)) + ((0, 0),) * (image.ndim - 2), "edge")
    height, width = image.shape[:2]
    return sum(framed[i:i + height, j:j + width] for i in range(size) for j in range(size))


class Alpha(ProgramTest):
    def of(self, pipeline, pixels, *options):
        self.picture("a.npy", pixels)
        alpha = ("--axes", "YXA") if pixels.shape[2] in (2, 4) else ()
        self.impipe(pipeline, "a.npy", "-o", "b.npy", *alpha, *options)
        return self.pixels("b.npy")

    def test_hidden_colours_stay_hidden(self):
        for cls in [np.uint8, np.uint16]:
            for pipeline in AVERAGES + KEEPING_ALPHA:
                with self.subTest(pipeline, cls=cls):
                    one = self.of(pipeline, disc([0, 255, 0], cls))
                    other = self.of(pipeline, disc([3, 7, 250], cls))
                    np.testing.assert_array_equal(one[..., 3], other[..., 3])
                    shown = one[..., 3] > 0
                    self.assertTrue(shown.any() and not shown.all())
                    np.testing.assert_array_equal(one[shown], other[shown])

    def test_opaque_pictures_are_as_without_alpha(self):
        opaque = np.random.default_rng(2).integers(0, 256, (37, 53, 4)).astype(np.uint8)
        opaque[..., 3] = 255
        for pipeline in LIKE_OPAQUE + KEEPING_ALPHA:
            with self.subTest(pipeline):
                with_alpha = self.of(pipeline, opaque)
                np.testing.assert_array_equal(with_alpha[..., :3],
                                              self.of(pipeline, opaque[..., :3].copy()))
                if not pipeline.startswith("imrotate"):
                    self.assertEqual(with_alpha[..., 3].min(), 255)

    def test_colours_are_weighted_by_what_is_seen(self):
        picture = disc([0, 255, 0])
        seen = picture[..., 3:] / 255
        weight = window_sums(seen, 5)
        wanted = window_sums(picture[..., :3] * seen, 5) / np.maximum(weight, 1e-9)
        got = self.of("imboxfilt 5", picture)
        shown = weight[..., 0] > 0
        self.assertLessEqual(np.abs(got[..., :3] - wanted)[shown].max(), 0.5001)
        self.assertLessEqual(np.abs(got[..., 3] - 255 * weight[..., 0] / 25).max(), 0.5001)
        # Elsewhere the colours are those of the hidden ones.
        np.testing.assert_array_equal(got[~shown], np.broadcast_to([0, 255, 0, 0],
                                                                   got[~shown].shape))

    def test_gray_with_alpha(self):
        picture = disc([9, 9, 9])[..., 2:]
        seen = picture[..., 1] / 255
        weight = window_sums(seen, 3)
        wanted = window_sums(picture[..., 0] * seen, 3) / np.maximum(weight, 1e-9)
        got = self.of("imfilter fspecial:average,3 replicate", picture)
        self.assertLessEqual(np.abs(got[..., 0] - wanted)[weight > 0].max(), 0.5001)

    def test_devices_and_plans_agree(self):
        for pipeline in AVERAGES + KEEPING_ALPHA:
            with self.subTest(pipeline):
                picture = disc([0, 255, 0])
                results = [self.of(pipeline, picture, *options) for options in (
                    ["--device", "cpu"], ["--device", "opencl"], ["--device", "cpu", "--no-fuse"])]
                for other in results[1:]:
                    np.testing.assert_array_equal(results[0], other)

    def test_saved_on_the_way_and_moved(self):
        picture = disc([0, 255, 0])
        self.picture("a.npy", picture)
        self.impipe("imgaussfilt 1 | save early.npy | fliplr", "a.npy", "-o", "b.npy",
                    "--axes", "YXA")
        np.testing.assert_array_equal(self.pixels("early.npy")[:, ::-1], self.pixels("b.npy"))

    def test_a_stack_of_pictures(self):
        for k in range(5):
            self.picture(f"in/{k}.png", np.roll(disc([0, 255, 0]), k, 1))
        self.impipe("imgaussfilt 2", "in", "-o", "all", "--device", "opencl")
        for k in range(5):
            self.impipe("imgaussfilt 2", f"in/{k}.png", "-o", f"one{k}.png", "--device", "cpu")
            np.testing.assert_array_equal(self.pixels(f"all/{k}.png"), self.pixels(f"one{k}.png"))


if __name__ == "__main__":
    unittest.main()
