"""The commands of docs/stacks.md, over data whose results are known."""
import csv
import os
import re
import subprocess
import unittest

import numpy as np
import tifffile
from PIL import Image
from program import PROGRAM, ROOT, ProgramTest
from fits_writer import hdu

MAP_TAGS = [(33550, "d", 3, (0.5, 0.5, 0.0)),
            (33922, "d", 6, (0.0, 0.0, 0.0, 500000.0, 4600000.0, 0.0)),
            (34735, "H", 8, (1, 1, 0, 1, 1025, 0, 1, 1))]


def read_fits(path):
    """The floats of a FITS of one image, the first row at the top."""
    with open(path, "rb") as file:
        data = file.read()
    cards = dict(re.findall(r"([A-Z0-9]+) *= +(-?\d+)", data[:2880].decode()))
    assert cards["BITPIX"] == "-32", cards
    height, width = int(cards["NAXIS2"]), int(cards["NAXIS1"])
    begin = data.index(b"END" + b" " * 77) // 2880 * 2880 + 2880
    values = np.frombuffer(data, ">f4", height * width, offset=begin)
    return values.reshape(height, width)[::-1]


class Examples(ProgramTest):
    def run_section(self, title):
        with open(os.path.join(ROOT, "docs/stacks.md"), encoding="utf-8") as file:
            sections = dict(part.split("\n", 1) for part in file.read().split("\n## ")[1:])
        commands = re.findall(r"^    (impipe .*)$", sections[title], re.M)
        self.assertTrue(commands)
        env = dict(self.environment(), PATH=os.path.dirname(PROGRAM) + ":" + os.environ["PATH"])
        for command in commands:
            done = subprocess.run(command, shell=True, cwd=self.path(), env=env, text=True,
                                  capture_output=True)
            self.assertEqual(done.returncode, 0, f"{command}\n{done.stderr}")

    def make_nuclei(self):
        """Twelve planes of 64x80 with three round objects; their centres, from 1."""
        volume = np.random.default_rng(3).normal(20, 3, (12, 64, 80))
        z, y, x = np.mgrid[0:12, 0:64, 0:80]
        centres = [(3, 15, 20), (4, 45, 30), (8, 30, 60)]
        for cz, cy, cx in centres:
            volume += 180 * np.exp(-((z - cz)**2 / 4 + (y - cy)**2 / 20 + (x - cx)**2 / 20))
        planes = volume.clip(0, 255).astype(np.uint8)
        tifffile.imwrite(self.path("nuclei.tif"), planes, imagej=True, metadata={"axes": "ZYX"})
        return planes, [(cx + 1, cy + 1, cz + 1) for cz, cy, cx in centres]

    def test_nuclei(self):
        _, centres = self.make_nuclei()
        self.run_section("Nuclei in a stack, to one table")
        with open(self.path("nuclei.tsv"), encoding="utf-8") as file:
            rows = list(csv.DictReader(file, delimiter="\t"))
        found = [tuple(float(row[f"Centroid_{axis}"]) for axis in "xyz") for row in rows]
        self.assertEqual(len(found), 3)
        for made, centre in zip(sorted(found), sorted(centres)):
            self.assertLess(max(abs(a - b) for a, b in zip(made, centre)), 0.5)

    def test_projection(self):
        planes, _ = self.make_nuclei()
        self.run_section("A projection")
        self.assertTrue(np.array_equal(np.asarray(Image.open(self.path("projection.png"))),
                                       planes.max(0)))

    def test_exposures(self):
        rng = np.random.default_rng(4)
        y, x = np.mgrid[0:30, 0:40]
        fall = 1 - 0.4 * ((y - 15)**2 + (x - 20)**2) / 625
        bias = rng.integers(90, 110, (30, 40))
        for i in range(50):
            dark = bias + rng.poisson(5, (30, 40))
            flat = dark + rng.poisson(20000 * fall)
            if i == 7:
                dark[3, 4] = 60000  # a cosmic ray
            self.write(f"dark/{i:02}.fit", hdu(dark.astype(np.uint16)))
            self.write(f"flat/{i:02}.fit", hdu(flat.astype(np.uint16)))
        sky = np.full((30, 40), 3000.0)
        sky[10, 12] = 20000
        for i in range(3):
            light = (bias + 5 + sky * fall).round()
            self.write(f"light/{i}.fit", hdu(light.astype(np.uint16)))
        self.run_section("Master dark and master flat of fifty exposures")
        for i in range(3):
            made = read_fits(self.path(f"calibrated/{i}.fit"))
            self.assertLess(np.abs(made / (sky / 20000) - 1).max(), 0.02)

    def test_map(self):
        rng = np.random.default_rng(5)
        pixels = rng.integers(60, 200, (40, 50), np.uint8)
        tifffile.imwrite(self.path("map.tif"), pixels, extratags=MAP_TAGS)
        self.run_section("A map, sharpened in place")
        with tifffile.TiffFile(self.path("map.tif")) as file:
            tags = file.pages[0].tags
            for code, _, _, values in MAP_TAGS:
                self.assertEqual(tuple(tags[code].value), values)
            self.assertGreater(file.asarray().std(), pixels.std())


if __name__ == "__main__":
    unittest.main()
