"""What a file keeps on its way through: depth, alpha, metadata; and how classes are saved."""
import os
import unittest

import numpy as np
from PIL import Image, ImageCms
from program import ProgramTest, colour, ramp

ORIENTATION, MAKE = 0x0112, 0x010F


class Depth(ProgramTest):
    def test_sixteen_bits_stay(self):
        wide = (np.arange(60 * 40, dtype=np.uint32) * 27 % 65536).astype(np.uint16).reshape(40, 60)
        for name in ["a.png", "a.tif", "a.npy"]:
            with self.subTest(name):
                self.picture(name, wide)
                self.impipe("imcomplement", name, "-o", "out")
                np.testing.assert_array_equal(self.pixels("out/" + name), 65535 - wide)

    def test_sixteen_bits_of_colour_stay(self):
        wide = colour().astype(np.uint16) * 257 + 3
        self.picture("a.png", wide)
        self.impipe("imcomplement", "a.png", "-o", "a.npy")
        np.testing.assert_array_equal(self.pixels("a.npy"), 65535 - wide)

    def test_eight_bit_formats_keep_their_format(self):
        for name in ["a.png", "a.tif", "a.bmp", "a.pgm", "a.npy"]:
            with self.subTest(name):
                self.picture(name, ramp())
                self.impipe("imcomplement", name, "-o", "out")
                np.testing.assert_array_equal(self.pixels("out/" + name), 255 - ramp())

    def test_colour_stays_colour_in_its_order(self):
        for name in ["a.png", "a.tif", "a.bmp", "a.ppm", "a.npy"]:
            with self.subTest(name):
                self.picture(name, colour())
                self.impipe("imcomplement", name, "-o", "out")
                np.testing.assert_array_equal(self.pixels("out/" + name), 255 - colour())

    def test_lossy_formats_come_close(self):
        for name in ["a.jpg", "a.webp"]:
            with self.subTest(name):
                smooth = np.asarray(Image.fromarray(colour()).resize((240, 160), Image.BICUBIC))
                self.picture(name, smooth, quality=95)
                self.impipe("imcomplement", name, "-o", "out")
                off = np.abs(self.pixels("out/" + name).astype(int) - (255 - self.pixels(name)))
                self.assertLess(off.mean(), 3)

    def test_depth_and_format_can_be_asked_for(self):
        self.picture("in/a.png", ramp())
        self.impipe("imcomplement", "in", "-o", "wide", "-d", "uint16")
        np.testing.assert_array_equal(self.pixels("wide/a.png"), (255 - ramp()).astype(int) * 257)
        self.impipe("imcomplement", "in", "-o", "tif", "--format", "tif")
        self.assertEqual(self.tree("tif"), ["a.tif"])
        np.testing.assert_array_equal(self.pixels("tif/a.tif"), 255 - ramp())

    def test_logical_results_are_one_bit_or_black_and_white(self):
        expected = ramp() > 127
        self.picture("a.png", ramp())
        self.picture("b.tif", ramp())
        self.picture("c.npy", ramp())
        self.impipe("im2bw 0.5", "a.png", "b.tif", "c.npy", "-o", "out")
        with Image.open(self.path("out/a.png")) as picture:
            self.assertEqual(picture.mode, "1")
        for name in ["a.png", "b.tif"]:
            np.testing.assert_array_equal(self.pixels("out/" + name) != 0, expected)
        self.assertEqual(self.pixels("out/c.npy").dtype, np.bool_)
        np.testing.assert_array_equal(self.pixels("out/c.npy"), expected)

    def test_a_logical_result_of_a_lossy_format_is_a_png(self):
        self.picture("a.jpg", colour())
        self.impipe("im2bw 0.5", "a.jpg", "-o", "out")
        self.assertEqual(self.tree("out"), ["a.png"])

    def test_single_is_scaled_by_its_white_and_saturated(self):
        self.picture("a.png", np.full((9, 9), 100, np.uint8))
        # conv2 keeps white 255 and pads with zeros; the middle is 2.5 * 100 = 250, then 3 * 100.
        self.impipe("conv2 kernel=[2.5]", "a.png", "-o", "out")
        self.assertEqual(np.unique(self.pixels("out/a.png")).tolist(), [250])
        result = self.impipe("conv2 kernel=[3]", "a.png", "-o", "out")
        self.assertEqual(np.unique(self.pixels("out/a.png")).tolist(), [255])
        self.assertRegex(result.err, r"clip|saturat")
        self.impipe("conv2 kernel=[3]", "a.png", "-o", "a.npy")
        self.assertEqual(np.unique(self.pixels("a.npy")).tolist(), [300.0])

    def test_float_tiff_is_relative_to_white(self):
        self.picture("a.png", np.full((9, 9), 51, np.uint8))
        self.impipe("conv2 kernel=[1]", "a.png", "-o", "a.tif", "-d", "single")
        self.assertEqual(self.pixels("a.tif").dtype, np.float32)
        np.testing.assert_allclose(self.pixels("a.tif"), 0.2, rtol=1e-6)


class Alpha(ProgramTest):
    def rgba(self):
        alpha = np.zeros((40, 60, 1), np.uint8)
        alpha[:, 20:40] = 128
        alpha[:, 40:] = 255
        return np.concatenate([colour(), alpha], axis=-1)

    def test_medians_and_point_operators_leave_it_alone(self):
        self.picture("a.png", self.rgba())
        self.impipe("imcomplement", "a.png", "-o", "out")
        self.impipe("medfilt2 3", "a.png", "-o", "median")
        done = self.pixels("out/a.png")
        np.testing.assert_array_equal(done[..., 3], self.rgba()[..., 3])
        # Straight alpha: colours under full transparency are colours too.
        np.testing.assert_array_equal(done[..., :3], 255 - self.rgba()[..., :3])
        np.testing.assert_array_equal(self.pixels("median/a.png")[..., 3], self.rgba()[..., 3])

    def test_geometry_moves_it(self):
        self.picture("a.png", self.rgba())
        self.impipe("fliplr", "a.png", "-o", "out")
        np.testing.assert_array_equal(self.pixels("out/a.png"), self.rgba()[:, ::-1])

    def test_one_channel_results_drop_it(self):
        self.picture("a.png", self.rgba())
        self.impipe("im2bw 0.5", "a.png", "-o", "out")
        with Image.open(self.path("out/a.png")) as picture:
            self.assertEqual(picture.mode, "1")

    def test_gray_with_alpha(self):
        pixels = np.stack([ramp(), self.rgba()[..., 3]], axis=-1)
        Image.fromarray(pixels, mode="LA").save(self.path("a.png"))
        self.impipe("imcomplement", "a.png", "-o", "out")
        done = self.pixels("out/a.png")
        np.testing.assert_array_equal(done[..., -1], pixels[..., 1])
        np.testing.assert_array_equal(done[..., 0], 255 - pixels[..., 0])


class Metadata(ProgramTest):
    def setUp(self):
        super().setUp()
        self.icc = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
        self.exif = Image.Exif()
        self.exif[MAKE] = "Impressive Cameras"
        self.exif[ORIENTATION] = 6  # the camera was turned: rotate 90 degrees clockwise to show

    def read(self, name):
        with Image.open(self.path(name)) as picture:
            picture.load()
            return picture.size, picture.getexif(), picture.info.get("icc_profile")

    def test_exif_and_icc_are_carried_and_the_orientation_is_applied(self):
        for name in ["a.jpg", "a.png", "a.webp", "a.tif"]:
            with self.subTest(name):
                self.picture(name, colour(40, 60), exif=self.exif, icc_profile=self.icc)
                self.impipe("imcomplement", name, "-o", "out")
                size, exif, icc = self.read("out/" + name)
                self.assertEqual(size, (40, 60))
                self.assertEqual(exif.get(MAKE), "Impressive Cameras")
                self.assertIn(exif.get(ORIENTATION), (None, 1))
                self.assertEqual(icc, self.icc)

    def test_all_orientations(self):
        turned = {1: lambda a: a, 2: np.fliplr, 3: lambda a: np.rot90(a, 2), 4: np.flipud,
                  5: lambda a: a.T, 6: lambda a: np.rot90(a, -1),
                  7: lambda a: np.rot90(a, 2).T, 8: lambda a: np.rot90(a, 1)}
        for orientation, turn in turned.items():
            with self.subTest(orientation):
                self.exif[ORIENTATION] = orientation
                self.picture("a.png", ramp(), exif=self.exif)
                self.impipe("imcomplement", "a.png", "-o", "out")
                np.testing.assert_array_equal(self.pixels("out/a.png"), 255 - turn(ramp()))

    def test_strip_leaves_them_behind(self):
        self.picture("a.jpg", colour(40, 60), exif=self.exif, icc_profile=self.icc)
        self.impipe("imcomplement", "a.jpg", "-o", "out", "--strip")
        size, exif, icc = self.read("out/a.jpg")
        self.assertEqual(size, (40, 60))  # the pixels stay turned
        self.assertEqual(dict(exif), {})
        self.assertIsNone(icc)


class Thin(ProgramTest):
    """Tall images of few pixels a row have the bits of their parts, which have too few rows to be
    laid side by side."""
    PIPELINES = ["conv2 k5", "conv2 fspecial:motion,9,30", "imgaussfilt 2", "medfilt2 3",
                 "imfilter fspecial:average,5 boundary=symmetric",
                 "imfilter fspecial:average,5 boundary=7", "imdilate disk,5", "imerode line,9,45",
                 "ordfilt2 3 disk,2", "edge prewitt 0.1", "conv2 k3 | imdilate square,3"]
    TALL, PART, REACH = 1820, 120, 10

    def test_bits_do_not_depend_on_the_height(self):
        rng = np.random.default_rng(5)
        step = self.PART - 2 * self.REACH
        starts = list(range(0, self.TALL - self.PART + 1, step))
        for shape, kind in [((1,), np.uint8), ((7,), np.uint16), ((3,), np.float32),
                            ((2, 3), np.uint8)]:
            tall = (rng.random((self.TALL, *shape)) * 255).astype(kind)
            name = f"{kind.__name__}{len(shape)}"
            self.picture(f"{name}/tall.npy", tall)
            for start in starts:
                self.picture(f"{name}/{start}.npy", tall[start:start + self.PART])
        for pipeline in self.PIPELINES:
            self.impipe(pipeline, ".", "-r", "-o", "out", "--device", "cpu")
            for name in os.listdir(self.path("out")):
                with self.subTest(pipeline, name=name):
                    whole = self.pixels(f"out/{name}/tall.npy")
                    for start in starts:
                        part = self.pixels(f"out/{name}/{start}.npy")
                        top = 0 if start == 0 else self.REACH
                        end = self.PART if start == starts[-1] else self.PART - self.REACH
                        np.testing.assert_array_equal(whole[start + top:start + end],
                                                      part[top:end])


class OneNaN(ProgramTest):
    """Processors and compilers make other bits of the same NaN: results have 0x7fc00000 alone."""

    STRANGE = np.array([0xffc00000, 0x7f800001, 0x7fc12345, 0x3f800000], np.uint32)
    PIPELINES = ["fliplr", "imadd 1", "map '(x - x) / 0'", "map '-x * 0'", "imgaussfilt 1", "wiener2"]

    def levels(self):
        for level in ("baseline", "v3", "v4"):
            env = {"IMPIPE_CPU_LEVEL": level}
            if self.impipe("devices", code=None, env=env).code == 0:
                yield env

    def test_in_files_and_hashes(self):
        self.picture("a.npy", self.STRANGE.view(np.float32).reshape(1, 4))
        for pipeline in self.PIPELINES:
            hashes = set()
            for env in self.levels():
                lines = self.impipe(pipeline, "a.npy", "--hash", "-o", "out.npy", "--device", "cpu",
                                    env=env).lines()
                hashes.add(lines[-1].split("\t")[-1])
                made = self.pixels("out.npy").view(np.uint32)
                nan = np.isnan(made.view(np.float32))
                with self.subTest(pipeline, **env):
                    self.assertTrue(nan.any())
                    self.assertEqual(set(made[nan].tolist()), {0x7fc00000})
            self.assertEqual(len(hashes), 1, pipeline)

    def test_in_every_format_of_floats(self):
        self.picture("a.npy", self.STRANGE.view(np.float32).reshape(1, 4))
        for name, options, bits in [("a.tif", [], 0x7fc00000), ("a.pfm", [], 0x7fc00000),
                                    ("a.exr", [], 0x7fc00000), ("b.exr", ["--depth", "half"], 0x7e00)]:
            with self.subTest(name):
                self.impipe("imadd 0", "a.npy", "-o", name, *options)
                if name == "a.tif":  # whose pixels are packed; a few are not in EXR
                    with Image.open(self.path(name)) as picture:
                        data = np.asarray(picture).tobytes()
                else:
                    with open(self.path(name), "rb") as file:
                        data = file.read()
                self.assertIn(bits.to_bytes(2 if bits < 65536 else 4, "little") * 3, data)


if __name__ == "__main__":
    unittest.main()
