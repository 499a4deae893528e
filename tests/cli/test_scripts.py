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


def overlap(mask, other):
    return (mask & other).sum() / (mask | other).sum()


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
        """Lines between cells lie where the library has them, or beside."""
        labels, cells = self.result("Touching cells", "touching.png"), expected("touching_labels.npy")
        self.assertEqual(len(np.unique(labels)), len(np.unique(cells)))
        for label in range(1, cells.max() + 1):
            mine = np.bincount(labels[cells == label].astype(int)).argmax()
            self.assertGreater(mine, 0)
            self.assertGreater(overlap(labels == mine, cells == label), 0.95)

    def test_markers(self):
        labels = self.result("Markers", "markers.png", "--with",
                             "seeds=" + os.path.join(DATA, "markers_seeds.png"))
        regions = expected("markers_labels.npy")
        self.assertEqual(set(np.unique(labels)), {0, 1, 2, 3})  # lines are 0
        for label in (1, 2, 3):
            mine = np.bincount(labels[regions == label].astype(int), minlength=4)[1:].argmax() + 1
            self.assertGreater(overlap(labels == mine, regions == label), 0.9)

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
        np.testing.assert_allclose(self.rows(run), [NUMBERS["deskew"]], atol=0.1)
        ink = self.pixels("out.npy")[40:-40, 40:-40] < 128
        rows = (ink.sum(1) > 20).sum()
        self.assertLessEqual(abs(rows - NUMBERS["deskew_rows"][0]), 2)

    def test_lab_classes(self):
        classes = self.result("Lab classes", "classes.png")
        self.assertGreater((classes == expected("classes_labels.npy")).mean(), 0.999)

    def test_circles(self):
        """scikit-image's edges lie half a pixel from ours."""
        found = sorted(row[:3] for row in self.rows(self.run_script("Circles", "circles.png")))
        np.testing.assert_allclose(found, NUMBERS["circles"], atol=1)

    def test_document(self):
        """The window's mirror differs at the border. The page is a fax that Pillow reads."""
        paper = self.run_script("Document", "document.png", "-o", "page.tif", "--compression", "g4")
        self.assertEqual(paper.err, "")
        with tifffile.TiffFile(self.path("page.tif")) as file:
            self.assertEqual(int(file.pages[0].compression), 4)
        with Image.open(self.path("page.tif")) as page:
            self.assertEqual(page.mode, "1")
            pixels = np.asarray(page)
        inside = (slice(13, -13), slice(13, -13))
        np.testing.assert_array_equal(pixels[inside], expected("document_paper.npy")[inside])

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
