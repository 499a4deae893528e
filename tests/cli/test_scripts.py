#!/usr/bin/env python3
"""The scripts of docs/scripts.md, on made data, beside what scikit-image, SciPy and astropy made of it
(scripts/script_cases.py)."""
import glob
import json
import os
import re
import unittest

import numpy as np
import tifffile
from PIL import Image

from program import ROOT, ProgramTest

DATA = os.path.join(ROOT, "tests", "data", "scripts")
with open(os.path.join(ROOT, "docs", "scripts.md"), encoding="utf-8") as page:
    PIPELINES = dict(re.findall(r"^## (.+)\n(?:(?!## |```).*\n)+```\n(.+)\n```", page.read(), re.MULTILINE))
with open(os.path.join(DATA, "numbers.json"), encoding="utf-8") as numbers:
    NUMBERS = json.load(numbers)


def expected(name):
    return np.load(os.path.join(DATA, name))


def beside(mask):
    """The pixels of a mask and their neighbours."""
    framed = np.pad(mask, 1)
    rows, columns = mask.shape
    return np.any([framed[y:y + rows, x:x + columns] for y in range(3) for x in range(3)], axis=0)


def circles_of(edges, radii, count, threshold, distance):
    """imfindcircles by its definition: x, y from 0, radius and score."""
    height, width = edges.shape
    reach = max(radii) + 1
    framed = np.pad(edges, reach).astype(int)
    y, x = np.mgrid[-reach:reach + 1, -reach:reach + 1]
    found = []
    for radius in radii:
        circle = np.argwhere(np.floor(np.hypot(x, y) + 0.5) == radius)
        votes = sum(framed[dy:dy + height, dx:dx + width] for dy, dx in circle)
        found += [(-votes[at] / len(circle), radius, at[1], at[0])
                  for at in zip(*np.nonzero(votes / len(circle) >= threshold))]
    taken = []
    for score, radius, x, y in sorted(found):
        if len(taken) < count and all(np.hypot(x - a, y - b) >= distance for a, b, *_ in taken):
            taken.append((x, y, radius, -score))
    return taken


class Scripts(ProgramTest):
    def run_script(self, title, picture, *options):
        pipeline = PIPELINES.pop(title)
        return self.impipe(pipeline, *sorted(glob.glob(os.path.join(DATA, picture))), *options)

    def result(self, title, picture, *options):
        self.run_script(title, picture, "-o", "out.npy", *options)
        return self.pixels("out.npy")

    def rows(self, run):
        """The numbers of each row behind the file's name."""
        return [[float(text) for text in line.split("\t")[1:]] for line in run.lines()[1:]]

    def check_rows(self, run, name):
        np.testing.assert_allclose(self.rows(run), NUMBERS[name], rtol=1e-9)

    @classmethod
    def tearDownClass(cls):
        assert not PIPELINES, f"scripts that no test runs: {sorted(PIPELINES)}"

    def test_coins(self):
        self.check_rows(self.run_script("Coins", "coins.png"), "coins")

    def test_touching_cells(self):
        """Lines between cells lie where the library has them, or next to these; all else is the same."""
        labels, cells = self.result("Touching cells", "touching.png"), expected("touching_labels.npy")
        self.check_regions(labels, cells)
        self.assertFalse((~beside(labels == 0) & (cells == 0)).any())
        self.assertFalse((~beside(cells == 0) & (labels == 0)).any())

    def check_regions(self, labels, regions):
        """Off the lines a label means one region, and a region one label."""
        inside = (labels > 0) & (regions > 0)
        pairs = set(zip(labels[inside].tolist(), regions[inside].tolist()))
        self.assertEqual(len(pairs), regions.max())
        self.assertEqual(len({label for label, _ in pairs}), len({region for _, region in pairs}))
        self.assertEqual(len(pairs), labels.max())

    def test_markers(self):
        labels = self.result("Markers", "markers.png", "--with",
                             "seeds=" + os.path.join(DATA, "markers_seeds.png"))
        regions = expected("markers_labels.npy")
        self.check_regions(labels, regions)
        # The library has no lines; ours lie where its regions meet.
        meeting = np.any([beside(regions == label) & (regions != label) for label in (1, 2, 3)], axis=0)
        self.assertFalse((~meeting & (labels == 0)).any())

    def test_retina(self):
        run = self.run_script("Retina", "retina.png", "-o", "out.npy")
        self.assertEqual(self.rows(run), [NUMBERS["retina"]])
        np.testing.assert_array_equal(self.pixels("out.npy"), expected("retina_mask.npy"))

    def test_granulometry(self):
        run = self.run_script("Granulometry", "granulometry.png")
        self.assertEqual(self.rows(run), [NUMBERS["granulometry"]])

    def test_plate(self):
        run = self.run_script("Plate", "plate.png")
        letters = [[float(text) for text in line.split("\t")[2:]] for line in run.lines()
                   if line.split("\t")[1] == "letters"]
        self.assertEqual(letters, NUMBERS["plate"])

    def test_skeleton(self):
        run = self.run_script("Skeleton", "skeleton.png", "-o", "out.npy")
        self.assertEqual(self.rows(run), [NUMBERS["skeleton"]])
        np.testing.assert_array_equal(self.pixels("out.npy"), expected("skeleton.npy"))

    def test_texture(self):
        np.testing.assert_allclose(self.rows(self.run_script("Texture", "texture.png")),
                                   [NUMBERS["texture"]], rtol=1e-9)

    def test_deskew(self):
        run = self.run_script("Deskew", "deskew.png", "-o", "out.npy")
        np.testing.assert_allclose(self.rows(run), [NUMBERS["deskew"]], rtol=1e-9)
        with Image.open(os.path.join(DATA, "deskew_level.png")) as level:
            apart = np.abs(self.pixels("out.npy").astype(int) - np.asarray(level))
        self.assertLessEqual(apart[12:-12, 12:-12].max(), 1)  # ties; the fill comes in from the border

    def test_lab_classes(self):
        classes = self.result("Lab classes", "classes.png")
        np.testing.assert_array_equal(classes, expected("classes_labels.npy"))

    def test_circles(self):
        """scikit-image's edges lie half a pixel from ours; circles of the same edges are the same."""
        edges = PIPELINES["Circles"].split(" | ")[0]
        found = self.rows(self.run_script("Circles", "circles.png"))
        np.testing.assert_allclose(sorted(row[:3] for row in found), NUMBERS["circles"], atol=1)
        self.impipe(edges, os.path.join(DATA, "circles.png"), "-o", "edges.npy")
        np.testing.assert_array_equal(found, circles_of(self.pixels("edges.npy"), range(10, 26), 4, 0.4, 10))

    def test_document(self):
        """The page is a fax that Pillow reads."""
        paper = self.run_script("Document", "document.png", "-o", "page.tif", "--compression", "g4")
        self.assertEqual(paper.err, "")
        with tifffile.TiffFile(self.path("page.tif")) as file:
            self.assertEqual(int(file.pages[0].compression), 4)
        with Image.open(self.path("page.tif")) as page:
            self.assertEqual(page.mode, "1")
            np.testing.assert_array_equal(np.asarray(page), expected("document_paper.npy"))

    def test_template_match(self):
        part = "part=" + os.path.join(DATA, "template_part.png")
        run = self.run_script("Template match", "template.png", "--with", part)
        np.testing.assert_allclose(self.rows(run), [NUMBERS["template"]], rtol=2e-5)

    def test_stack(self):
        run = self.run_script("Stack", "stack_*.png", "-o", "out.npy")
        np.testing.assert_array_equal(self.pixels("out.npy"), expected("stack_mean.npy"))
        np.testing.assert_allclose(self.rows(run), [NUMBERS["stack"]], rtol=1e-9)


if __name__ == "__main__":
    unittest.main()
