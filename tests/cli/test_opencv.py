"""The module on OpenCV: Sun raster that other programs wrote, and --codec opencv as a second opinion
on the pixels of the project's test pictures."""
import glob
import os
import shutil
import struct
import subprocess
import unittest
from pathlib import Path

import numpy as np
from PIL import Image
from program import PROGRAM, ROOT, ProgramTest, colour, ramp

DATA = os.path.join(ROOT, "tests/data/io")


def sun(pixels, bits, kind=1, color_map=b"", size=None):
    """A Sun raster file: `pixels` as rows of bytes, each padded to 2 bytes."""
    height, width = size or pixels.shape[:2]
    rows = pixels.reshape(height, -1)
    data = np.pad(rows, ((0, 0), (0, rows.shape[1] % 2))).tobytes()
    return struct.pack(">8I", 0x59a66a95, width, height, bits, len(data), kind, bool(color_map),
                       len(color_map)) + color_map + data


class SunRaster(ProgramTest):
    def read(self, name, err=""):
        run = self.impipe("rot90 0", name, "-o", "out.npy")
        self.assertEqual(run.err, err)
        return self.pixels("out.npy")

    def test_files_of_other_programs(self):
        rgb = colour(23, 37)
        rgb[5:9] = 128  # runs, of the byte that marks runs
        pictures = {"rgb": Image.fromarray(rgb), "gray": Image.fromarray(rgb[..., 0]),
                    "bit": Image.fromarray(rgb[..., 0] > 99),
                    "palette": Image.fromarray(rgb).quantize(16)}
        for name, picture in pictures.items():
            picture.save(self.path("in.png"))
            wanted = np.asarray(picture.convert("RGB") if name == "palette" else picture)
            for program in ("pngtopnm in.png | pnmtorast -standard > a.ras",
                            "pngtopnm in.png | pnmtorast -rle > a.ras",
                            "ffmpeg -y -v error -i in.png a.sun && mv a.sun a.ras"):
                with self.subTest(program, picture=name):
                    subprocess.run(program, shell=True, cwd=self.folder, check=True,
                                   stderr=subprocess.DEVNULL)
                    np.testing.assert_array_equal(self.read("a.ras"), wanted)

    def test_forms_that_pillow_reads(self):
        rgb = colour(20, 31)
        padded = np.dstack([np.zeros((20, 31), np.uint8), rgb[..., ::-1]])
        forms = {"bgr": sun(rgb[..., ::-1].copy(), 24), "old": sun(rgb[..., ::-1].copy(), 24, 0),
                 "rgb": sun(rgb, 24, 3), "xbgr": sun(padded, 32),
                 "xrgb": sun(np.dstack([padded[..., 0], rgb]), 32, 3),
                 "gray without a map": sun(ramp(20, 31), 8),
                 "gray map": sun(ramp(20, 31), 8, 1, bytes(range(255, -1, -1)) * 3),
                 "few colours": sun(ramp(20, 31) % 4, 8, 1, bytes(range(10, 130, 10))),
                 "bits": sun(np.packbits(ramp(20, 31) > 99, axis=1), 1, size=(20, 31))}
        for name, data in forms.items():
            with self.subTest(name):
                path = self.write("a.ras", data)
                got = self.read("a.ras")
                with Image.open(path) as picture:
                    wanted = np.asarray(picture.convert("RGB") if got.ndim == 3 else
                                        picture if got.dtype == bool else picture.convert("L"))
                # Pillow takes the last byte of 32 bits for padding, netpbm and others the first.
                np.testing.assert_array_equal(got, rgb if name.startswith("x") else wanted)

    def test_fourth_bytes_are_named(self):
        padded = np.dstack([ramp(20, 31), colour(20, 31)])
        self.write("a.ras", sun(padded, 32))
        self.read("a.ras", "impipe: a.ras: the result is without a fourth byte a pixel, which is no "
                           "alpha\n")

    def test_what_is_refused(self):
        gray, rgb = ramp(20, 31), colour(20, 31)
        cases = {
            "Sun raster of 4 bits a pixel; 1, 8, 24 and 32 are read": sun(gray, 4),
            "Sun raster of type 4; types 0 to 3 are read": sun(rgb, 24, 4),
            "Sun raster with a colour map of type 1 and 7 bytes; maps of red, green and blue are read":
                sun(gray, 8, 1, b"1234567"),
            "truncated Sun raster: 31x20 needs at least 1912 bytes, and the file has 1911":
                sun(rgb, 24)[:-1],
            "truncated Sun raster: it ends at byte 48":
                sun(gray, 8, 2)[:48],
            "truncated Sun raster: the header ends at byte 31": sun(gray, 8)[:31],
            "too many pixels: 100000x100000 is more than the limit of 1073741824 (--max-pixels)":
                sun(gray, 8)[:4] + struct.pack(">2I", 100000, 100000) + sun(gray, 8)[12:],
            "OpenCV reads at most 2^20 pixels a side, 2^30 pixels and files of 1 GiB":
                sun(np.zeros((1, 1 << 21), np.uint8), 8),
        }
        for reason, data in cases.items():
            with self.subTest(reason):
                self.write("a.ras", data)
                run = self.impipe("mean2", "a.ras", code=1)
                self.assertIn(reason + "\n", run.err)
                self.assertEqual(run.err.count("\n"), 1, run.err)
        self.impipe("rot90 0", self.picture("a.png"), "-o", "b.ras", code=2)

    def test_a_missing_module_is_named(self):
        self.write("a.ras", sun(ramp(), 8))
        self.picture("a.png")
        os.mkdir(self.path("modules"))
        folder = os.path.join(os.path.dirname(os.path.dirname(PROGRAM)), "io")
        shutil.copy(os.path.join(folder, "impipe_codec.so"), self.path("modules"))
        for words in (["a.ras"], ["a.png", "--codec", "opencv"]):
            run = self.impipe("mean2", *words, code=1, env={"IMPIPE_CODEC": self.path("modules")})
            self.assertIn("install it (Debian: the package impipe-codec-opencv)", run.err)
        self.impipe("mean2", "a.png", env={"IMPIPE_CODEC": self.path("modules")})


class SecondOpinion(ProgramTest):
    # What OpenCV cannot tell, by file: the beginning of the message.
    refused = {
        "bit1.png": "OpenCV gives 1 channel of 8 bits where impipe reads 1 channel of 1 bit",
        "bit1.tif": "OpenCV gives 1 channel of 8 bits where impipe reads 1 channel of 1 bit",
        "cmyk.tif": "OpenCV gives 4 channels of 8 bits where impipe reads 3 channels of 8 bits",
        "gray_alpha16.png":
            "OpenCV gives 4 channels of 16 bits where impipe reads 2 channels of 16 bits",
        "gray_alpha8.png": "OpenCV gives 4 channels of 8 bits where impipe reads 2 channels of 8 bits",
        "gray_trns.png": "OpenCV gives 1 channel of 8 bits where impipe reads 2 channels of 8 bits",
    }
    tiffs = "OpenCV turns TIFFs and multiplies their colours by alpha itself"
    refused |= dict.fromkeys([*map("orient{}.tif".format, range(2, 9)), "associated.tif", "rgba8.tif"],
                             tiffs)

    def test_pixels_are_ours(self):
        paths = [path for path in sorted(glob.glob(os.path.join(DATA, "*")))
                 if path.endswith((".png", ".jpg", ".tif", ".webp"))]
        equal = 0
        for path in paths:
            name = os.path.basename(path)
            with self.subTest(name):
                ours = self.impipe("rot90 0", path, "-o", "ours.npy", code=None)
                theirs = self.impipe("rot90 0", path, "-o", "theirs.npy", "--codec", "opencv",
                                     code=None)
                if name == "broken_no_end.jpg":  # OpenCV does not notice
                    self.assertEqual((ours.code, theirs.code), (1, 0))
                elif name in self.refused:
                    self.assertEqual((ours.code, theirs.code), (0, 1))
                    self.assertIn(f"{self.refused[name]}; leave out --codec opencv\n", theirs.err)
                elif ours.code != 0:
                    self.assertEqual(theirs.code, ours.code)
                else:
                    self.assertEqual((theirs.code, theirs.err), (0, ours.err))
                    # OpenCV rounds products of CMYK another way.
                    np.testing.assert_allclose(self.pixels("theirs.npy").astype(float),
                                               self.pixels("ours.npy").astype(float),
                                               rtol=0, atol=1 if name == "cmyk.jpg" else 0)
                    equal += 1
        self.assertGreater(equal, 40)

    def test_other_formats_and_results_are_as_ever(self):
        self.picture("a.bmp", colour())
        self.picture("a.jpg", colour())
        for name in ("a.bmp", "a.jpg"):
            self.impipe("imgaussfilt 1", name, "-o", "ours-" + name)
            self.impipe("imgaussfilt 1", name, "-o", "theirs-" + name, "--codec", "opencv")
            files = [Path(self.path(by + name)).read_bytes() for by in ("ours-", "theirs-")]
            self.assertEqual(*files)

    def test_further_pages_are_refused(self):
        pages = [Image.fromarray(ramp(seed=i)) for i in range(2)]
        pages[0].save(self.path("a.tif"), save_all=True, append_images=pages[1:])
        run = self.impipe("mean2", "a.tif", "--codec", "opencv", code=1)
        self.assertIn("OpenCV reads the first picture of a file alone", run.err)
        self.impipe("mean2", "a.tif", "--pages", "1", "--codec", "opencv")

    def test_it_is_known_what_it_cannot_tell(self):
        said = self.impipe("formats").out
        self.assertRegex(said, r"(?m)^Sun raster +ras sun .*logical uint8 +only read$")
        for word in ("1-bit pixels", "gray with alpha", "TIFFs with alpha", "JPEG is cut short"):
            self.assertIn(word, said)


if __name__ == "__main__":
    unittest.main()
