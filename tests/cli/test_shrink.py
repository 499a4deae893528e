"""--shrink-on-load: JPEGs that are read at 1/2, 1/4 or 1/8 for a reduction that begins the pipeline.

libjpeg's own smaller picture, which Pillow gives with `draft`, is the judge of the pixels; sizes and
places are those of the picture that is read whole.
"""
import json
import unittest

import numpy as np
from PIL import Image
from program import ProgramTest, colour, ramp

OPTION = "--shrink-on-load"


def smooth(height, width):
    """A colour picture without edges, in which a shift by a part of a pixel shows."""
    y, x = np.mgrid[0:height, 0:width].astype(float)
    planes = [127 + 120 * np.sin(x / width * 5 + y / height * k + k) for k in (1, 2, 3)]
    return np.stack(planes, axis=-1).round().astype(np.uint8)


class Shrink(ProgramTest):
    def both(self, pipeline, name, *flags):
        """What is made of a picture with the option and without, and how it was read."""
        self.impipe(pipeline, name, "-o", "whole.npy", *flags)
        said = self.impipe(pipeline, name, "-o", "shrunk.npy", OPTION, "-v", *flags).err
        how = [line for line in said.splitlines() if OPTION in line]
        self.assertEqual(len(how), 1, said)
        return self.pixels("shrunk.npy"), self.pixels("whole.npy"), how[0].split("read ")[1]

    def test_the_pixels_are_those_of_libjpegs_smaller_picture(self):
        for name, pixels, options in (("gray", ramp(192, 256), {}),
                                      ("444", colour(192, 256), {"subsampling": 0}),
                                      ("420", colour(192, 256), {"subsampling": 2}),
                                      ("progressive", colour(192, 256), {"progressive": True})):
            self.picture(f"{name}.jpg", pixels, quality=90, **options)
            for by, scales in ((2, ("0.25", "0.15")), (4, ("0.125", "0.1", "0.07")),
                               (8, ("0.0625", "0.03"))):
                with Image.open(self.path(f"{name}.jpg")) as picture:
                    picture.draft(None, (256 // by, 192 // by))
                    self.assertEqual(picture.size, (256 // by, 192 // by))
                    self.picture("less.png", np.asarray(picture))
                for scale in scales:
                    for how in ("", " bilinear", " lanczos3", " box"):
                        with self.subTest(name, by=by, scale=scale, how=how):
                            made, _, read = self.both(f"imresize {scale}{how}", f"{name}.jpg")
                            self.assertEqual(read, f"1 at 1/{by}")
                            rest = float(scale) * by
                            self.impipe(f"imresize {rest!r}{how}", "less.png", "-o", "less.npy")
                            wanted = self.pixels("less.npy")
                            if "lanczos" in how or "box" in how:
                                # Their scale is that of the rounded sizes.
                                wanted = wanted[:made.shape[0], :made.shape[1]]
                                far = np.abs(made.astype(int) - wanted)
                                self.assertLessEqual(far.max(), 3)
                            else:
                                np.testing.assert_array_equal(made, wanted)

    def test_sizes_and_places_are_those_of_the_whole_picture(self):
        for height, width in ((301, 403), (333, 517), (256, 1001), (999, 250)):
            self.picture("a.jpg", smooth(height, width), quality=98, subsampling=0)
            for text in ("0.1", "0.24 0.13", "fit=50,50", "size=21,33", "size=NaN,40", "size=20,0",
                         "0.1 lanczos3", "size=19,27 box", "0.25", "0.05 bilinear", "20 30"):
                with self.subTest(text, size=(height, width)):
                    made, whole, read = self.both(f"imresize {text}", "a.jpg")
                    self.assertNotEqual(read, "1 at full size")
                    self.assertEqual(made.shape, whole.shape)
                    far = np.abs(made.astype(int) - whole)
                    # What is left of a side, half a small pixel at most, shows at its end; weights of
                    # bilinear do not add up to 1, and a box is small beside small pixels.
                    coarse = "bilinear" in text or "box" in text
                    self.assertLessEqual(far[1:-1, 1:-1].max(), 8 if coarse else 3)
                    self.assertLessEqual(far.max(), 10)

    def test_turned_pictures_keep_their_places(self):
        for height, width in ((320, 480), (303, 480), (321, 477)):
            for orientation in range(1, 9):
                exif = Image.Exif()
                exif[0x0112] = orientation
                self.picture("a.jpg", smooth(height, width), quality=98, subsampling=0, exif=exif)
                with self.subTest(orientation=orientation, size=(height, width)):
                    made, whole, read = self.both("imresize fit=40,40", "a.jpg")
                    whole_sides = height % 4 == 0 and width % 4 == 0
                    if whole_sides or orientation == 1:
                        self.assertEqual(read, "1 at 1/4")
                    else:
                        self.assertEqual(read, "1 at full size")
                    self.assertEqual(made.shape, whole.shape)
                    self.assertLessEqual(np.abs(made.astype(int) - whole).max(), 3)

    def test_what_else_reads_the_picture_has_it_whole(self):
        self.picture("a.jpg", colour(200, 304))
        self.picture("a.png", colour(200, 304))
        self.picture("b.png", ramp(200, 304))
        for text in ("imresize 0.26", "imresize 2", "imresize 0.1 nearest", "imcrop 0 0 200 100 | imresize 0.1",
                     "imresize 0.1 antialiasing=off", "imresize 0.1 0.5", "rgb2gray | imresize 0.1",
                     "as a | imresize 0.1 | imresize size=200,304 | imlincomb 0.5 0.5 :a",
                     "imgaussfilt 2 | imresize 0.1", "imwarp scale=0.1"):
            with self.subTest(text):
                made, whole, read = self.both(text, "a.jpg")
                self.assertEqual(read, "1 at full size")
                np.testing.assert_array_equal(made, whole)
        made, whole, read = self.both("imresize 0.1", "a.png")
        self.assertEqual(read, "1 at full size")
        np.testing.assert_array_equal(made, whole)
        row = self.impipe("mean2 | imresize 0.1", "a.jpg", "-o", "b.npy").out
        self.assertEqual(row, self.impipe("mean2 | imresize 0.1", "a.jpg", "-o", "c.npy", OPTION).out)

    def test_all_that_follows_works_on_the_same_size(self):
        self.picture("a.jpg", smooth(400, 600), quality=98, subsampling=0)
        self.picture("b.png", smooth(50, 75))
        for text in ("imresize 0.125 | imlincomb 0.5 0.5 :b", "imresize 0.125 | imadjust | imgaussfilt 1",
                     "imresize 0.125 | save 'step.npy' | rgb2gray | imresize 0.5"):
            with self.subTest(text):
                made, whole, read = self.both(text, "a.jpg", *(["--with", "b=b.png"] if ":b" in text else []))
                self.assertEqual(read, "1 at 1/4")
                self.assertEqual(made.shape, whole.shape)
                self.assertLessEqual(np.abs(made.astype(int) - whole).max(), 6)

    def test_devices_threads_and_fusion_agree(self):
        for i, (height, width) in enumerate(((301, 403), (333, 517), (301, 403))):
            self.picture(f"in/{i}.jpg", colour(height, width, i))
        runs = [["-j1"], ["-j3"], ["--no-fuse"], ["--device", "cpu"]]
        devices = json.loads(self.impipe("devices", "--json").out)
        if any(d["id"].startswith("opencl") and d["usable"] for d in devices):
            runs.append(["--device", "opencl"])
        for text in ("imresize 0.1 | imadjust", "imresize 0.25 | imcomplement"):
            out = {self.impipe(text, "in", "-n", "--hash", OPTION, *flags).out for flags in runs}
            self.assertEqual(len(out), 1, text)

    def test_it_is_said_and_results_are_made_again(self):
        self.picture("in/a.jpg", colour(400, 600))
        self.picture("in/b.jpg", colour(100, 100))
        self.picture("in/c.png", colour(400, 600))
        run = self.impipe("imresize size=48,0", "in", "-o", "out", OPTION, "-v")
        self.assertIn("--shrink-on-load: pictures read 1 at full size, 1 at 1/2, 1 at 1/4",
                      run.err.replace("read 2 at full size, 1 at 1/4",
                                      "read 1 at full size, 1 at 1/2, 1 at 1/4"))
        again = self.impipe("imresize size=48,0", "in", "-o", "out", OPTION, "-u", "-v").err
        self.assertIn("0 files done, 3 skipped", again)
        again = self.impipe("imresize size=48,0", "in", "-o", "out", "-u", "-v").err
        self.assertIn("3 files done, 0 skipped", again)

    def test_plan_says_how_the_input_is_read(self):
        self.picture("a.jpg", colour(400, 600))

        def note(*arguments):
            lines = self.impipe("plan", *arguments, OPTION).out.splitlines()
            return [line for line in lines if OPTION in line]
        self.assertEqual(note("imresize 0.1", "a.jpg"),
                         ["note: --shrink-on-load: the input is read at 1/4, as 150x100"])
        self.assertEqual(note("imresize 0.4", "a.jpg"),
                         ["note: --shrink-on-load: the input is read as it is"])
        self.assertEqual(note("imresize 0.1"), ["note: --shrink-on-load: JPEGs may be read smaller"])
        for text in ("imgaussfilt 2", "phantom 64 | imresize 0.1"):
            self.assertEqual(note(text), ["note: --shrink-on-load: nothing changes: the pipeline "
                                          "does not begin with a reduction"])

    def test_cmyk_and_damaged_pictures(self):
        cmyk = Image.fromarray(smooth(320, 480)).convert("CMYK")
        cmyk.save(self.path("a.jpg"), quality=98)
        made, whole, read = self.both("imresize 0.1", "a.jpg")
        self.assertEqual(read, "1 at 1/4")
        self.assertLessEqual(np.abs(made.astype(int) - whole).max(), 6)
        with open(self.path("a.jpg"), "rb") as file:
            data = file.read()
        self.write("a.jpg", data[:len(data) // 2])
        self.assertEqual(self.impipe("imresize 0.1", "a.jpg", "-o", "x.npy", OPTION, code=1).err,
                         "impipe: a.jpg: decode: truncated JPEG: Premature end of JPEG file\n")


if __name__ == "__main__":
    unittest.main()
