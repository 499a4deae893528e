"""Camera raw: DNGs that are written here tag by tag, judged by dcraw."""
import io
import shutil
import struct
import subprocess
import unittest

import numpy as np
from PIL import Image
from program import ProgramTest

from dng_writer import dng, mosaic
from tiff_writer import page, tiff


class CameraRaw(ProgramTest):
    def read(self, name):
        run = self.impipe("rot90 0", name, "-o", "out.npy", "--strip")
        self.assertEqual(run.err, "")
        return self.pixels("out.npy")

    def dcraw(self, name):
        if shutil.which("dcraw") is None:
            self.fail("dcraw is missing: scripts/setup.sh test")
        made = subprocess.run(["dcraw", "-c", "-w", "-W", "-6", "-q", "3", "-o", "1", "-g", "2.4",
                               "12.92", self.path(name)], check=True, capture_output=True).stdout
        head, size, top, data = made.split(b"\n", 3)
        width, height = map(int, size.split())
        self.assertEqual((head, top), (b"P6", b"65535"))
        return np.frombuffer(data, ">u2").reshape(height, width, 3).astype(np.uint16)

    def test_colours_are_dcraws(self):
        for order in "<>":
            for orientation in (1, 3, 6, 8):
                with self.subTest(order=order, orientation=orientation):
                    self.write("a.dng", dng(mosaic(120, 160), orientation, order))
                    ours, theirs = self.read("a.dng"), self.dcraw("a.dng")
                    self.assertEqual((ours.shape, ours.dtype), (theirs.shape, theirs.dtype))
                    far = np.abs(ours.astype(int) - theirs)
                    self.assertLess(np.median(far), 64)  # of 65535
                    self.assertLess(np.percentile(far, 99), 1024)

    def test_filters_that_are_no_mosaic(self):
        picture = dng(mosaic(60, 80))
        entry = struct.pack("<HHI", 33422, 1, 4)
        at = picture.index(entry) + len(entry)
        for colours in (b"\0\1\0\2", b"\2\1\0\0", b"\1\1\0\2"):
            with self.subTest(colours=colours):
                self.write("a.dng", picture[:at] + colours + picture[at + 4:])
                self.assertEqual(self.impipe("mean2", "a.dng", code=1).err,
                                 "impipe: a.dng: decode: camera raw with other filters than red, "
                                 "green and blue by twos\n")

    def test_pictures_are_told_from_tiffs(self):
        self.write("in/a.dng", dng(mosaic(60, 80)))
        self.write("in/b.tif", dng(mosaic(60, 80)))  # by content, never by name
        Image.fromarray(np.zeros((60, 80), np.uint8)).save(self.path("in/c.tif"))
        self.impipe("imcomplement", "in", "-o", "out")
        self.assertEqual(self.tree("out"), ["a.png", "b.png", "c.tif"])
        said = self.impipe("info", "in/a.dng").out
        for word in ("camera raw", "80x60", "Maker Camera 1"):
            self.assertIn(word, said)

    def test_exif_goes_with_the_picture(self):
        self.write("a.dng", dng(mosaic(60, 80), orientation=6))
        self.impipe("rot90 0", "a.dng", "-o", "a.jpg")
        with Image.open(self.path("a.jpg")) as picture:
            exif = picture.getexif()
            self.assertEqual(picture.size, (60, 80))
        self.assertEqual((exif[271], exif[272], exif[306]), ("Maker", "Camera 1", "2026:11:25 12:00:00"))
        self.assertEqual(exif.get(274, 1), 1)

    def test_pixels_that_are_not_in_the_file(self):
        # LibRaw makes black or noise of them without a word.
        whole = dng(mosaic(120, 160))
        offset = struct.pack("<HHI", 273, 4, 1)
        at = whole.index(offset) + len(offset)
        self.write("a.dng", whole[:at] + struct.pack("<I", len(whole) - 40) + whole[at + 4:])
        self.assertEqual(self.impipe("mean2", "a.dng", code=1).err,
                         "impipe: a.dng: decode: truncated camera raw: strip 1 of 1 is not in the "
                         "file\n")
        self.write("a.dng", dng(mosaic(120, 160), tags=[(322, 4, [16]), (323, 4, [16]),
                                                        (324, 4, [8]), (325, 4, [8])]))
        self.assertEqual(self.impipe("mean2", "a.dng", code=1).err,
                         "impipe: a.dng: decode: damaged camera raw: 1 tiles of 80\n")
        panasonic = [(1, 1, [*b"0330"]), (2, 3, [200]), (3, 3, [150]), (4, 3, [0]), (5, 3, [0]),
                     (6, 3, [150]), (7, 3, [200]), (8, 3, [1]), (9, 3, [4]), (10, 3, [12]),
                     (11, 3, [34316]), (13, 3, [1]), (23, 3, [80]), (36, 3, [570]), (37, 3, [263]), (38, 3, [438]),
                     (45, 3, [4]), (271, 2, [*b"Panasonic\0"]), (272, 2, [*b"DMC-LX3\0"]),
                     (273, 4, [0xffffffff]), (278, 4, [150]), (279, 4, [45000]), (280, 4, [600])]
        self.write("b.rw2", self.rw2(panasonic, b""))
        size = len(self.rw2(panasonic, b""))
        self.assertEqual(self.impipe("mean2", "b.rw2", code=1).err,
                         f"impipe: b.rw2: decode: truncated camera raw: it ends at byte {size}\n")
        self.write("b.rw2", self.rw2(panasonic, bytes(60000)))
        self.assertIn("200x150", self.impipe("info", "b.rw2").out)
        self.impipe("mean2", "b.rw2")

    def rw2(self, tags, data):
        picture = tiff({"tags": tags, "data": [], "places": (273, 279), "order": "<"})
        return b"IIU\0" + picture[4:] + bytes(max(0, 600 - len(picture))) + data

    def test_damaged_files(self):
        data = dng(mosaic(120, 160))
        for cut in (len(data) - 100, 20000, 300):
            self.write("a.dng", data[:cut])
            self.assertRegex(self.impipe("mean2", "a.dng", code=1).err, "^impipe: a.dng: decode: ")
        self.write("b.tif", tiff(page(mosaic(60, 80), photometric=32803)))
        self.assertEqual(self.impipe("mean2", "b.tif", code=1).err,
                         "impipe: b.tif: decode: damaged camera raw: Unsupported file format or "
                         "not RAW file\n")
        self.assertIn("no known format", self.impipe(
            "rot90 0", "a.dng", "-o", "x", "--format", "dng", code=2).err)


if __name__ == "__main__":
    unittest.main()
