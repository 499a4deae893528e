"""Measured numbers are arguments: `graythresh as t | imbinarize t` is what two runs are, the second of
which is given what the first one printed, for each picture its own.
"""
import json
import os
import unittest

import numpy as np
from PIL import Image
from program import ProgramTest, colour, ramp


def blobs():
    """Two objects, of which the second in the order of labels is the larger one."""
    mask = np.zeros((40, 50), bool)
    mask[3:6, 2:9] = True
    mask[10:31, 12:40] = True
    return mask


class MeasuredArguments(ProgramTest):
    def setUp(self):
        super().setUp()
        for i in range(3):
            self.picture(f"in/{i}.png", (ramp(40 + i, 50, i) // (i + 1)).astype(np.uint8))
        self.picture("colour.png", colour(40, 50, 1) // 2 + 20)
        Image.fromarray(blobs()).save(self.path("mask.png"))

    def made(self, pipeline, source="in/1.png", *arguments):
        self.impipe(pipeline, source, "-o", "out.png", *arguments)
        return self.pixels("out.png")

    def measured(self, pipeline, source="in/1.png", *arguments):
        """The numbers of the report's row."""
        row = json.loads(self.impipe(pipeline, source, "-q", "--json", *arguments).lines()[0])
        return [v for k, v in row.items() if k not in ("file", "page")]

    def test_each_picture_has_its_own(self):
        self.impipe("graythresh as t | imbinarize t", "in", "-o", "out")
        self.impipe("imgaussfilt 1 | mean2 as m | imsubtract m", "in", "-o", "less")
        thresholds = set()
        for i in range(3):
            threshold, = self.measured("graythresh", f"in/{i}.png")
            thresholds.add(threshold)
            pixels = self.pixels(f"in/{i}.png")
            self.assertTrue(np.array_equal(self.pixels(f"out/{i}.png"),
                                           pixels / 255 > threshold))
            self.impipe("imgaussfilt 1", f"in/{i}.png", "-o", "blurred.png")
            blurred = self.pixels("blurred.png").astype(float)
            mean, = self.measured("imgaussfilt 1 | mean2", f"in/{i}.png")
            self.assertTrue(np.array_equal(self.pixels(f"less/{i}.png"),
                                           np.floor(np.maximum(blurred - mean, 0) + 0.5)))
        self.assertEqual(len(thresholds), 3)

    def test_lists(self):
        levels = self.measured("multithresh 3")
        self.assertEqual(len(levels), 3)
        given = ",".join(repr(v) for v in levels)
        for stage in ("imquantize t values=0,85,170,255", "imquantize levels=t values=0,85,170,255"):
            self.assertTrue(np.array_equal(
                self.made("multithresh 3 as t | " + stage + " | im2uint8"),
                self.made(f"imquantize {given} values=0,85,170,255 | im2uint8")))
        # The limits that imadjust finds by itself.
        for source in ("in/2.png", "colour.png"):
            self.assertTrue(np.array_equal(self.made("stretchlim as l | imadjust l", source),
                                           self.made("imadjust", source)))
        # One of several, and one of a channel.
        self.assertTrue(np.array_equal(
            self.made("stats as s | imadd s.min"),
            self.made(f"imadd {self.measured('min')[0]}")))
        green = self.measured("mean2 each", "colour.png")[1]
        self.assertTrue(np.array_equal(
            self.made("mean2 each as m | imabsdiff m.g", "colour.png"),
            self.made(f"imabsdiff {green!r}", "colour.png")))
        mean, = self.measured("mean2")
        self.assertTrue(np.array_equal(self.made("mean2 as m | imtranslate m,2"),
                                       self.made(f"imtranslate {mean!r},2")))
        # Of a shape.
        self.assertTrue(np.array_equal(
            self.made("imadd 0 | imcomplement | imdivide 255 | max as rad | imcomplement | imdilate disk,rad"),
            self.made("imadd 0 | imcomplement | imdivide 255 | imcomplement | imdilate disk,1")))

    def test_in_order_with_written_numbers(self):
        """Numbers that must ascend are compared once they are measured, and not before."""
        level, = self.measured("graythresh")
        self.assertLess(level, 0.5)
        for stage in ("imadjust in={},0.95", "imadjust in=0.01,{}", "imadjust tol={}",
                      "freqfilt band cutoff={},0.9", "freqfilt band cutoff=0.01,{}",
                      "mat2gray limits={},0.9 | im2uint8", "edge canny {},0.6 | im2uint8"):
            self.assertTrue(np.array_equal(self.made("graythresh as t | " + stage.format("t")),
                                           self.made(stage.format(repr(level)))), stage)
        said = self.impipe("graythresh as t | imadjust in=t,0.01", "in/1.png", "-o", "no.png", code=1)
        self.assertIn("the first limit of in must not be above the second", said.err)

    def test_a_map_of_points(self):
        """A matrix that must have an inverse is not checked before it is measured."""
        for kind, points in (("affine", "moving=[0,0;9,0;0,9] fixed=[1,2;10,2;1,11]"),
                             ("projective", "moving=[0,0;9,0;0,9;9,9] fixed=[1,2;10,2;1,11;10,11]")):
            made = self.made(f"fitgeotform2d {points} type={kind} as T | imwarp T")
            expected = np.zeros_like(made)
            expected[2:, 1:] = self.pixels("in/1.png")[:-2, :-1]
            self.assertLessEqual(np.abs(made.astype(int) - expected)[3:, 2:].max(), 1)
        said = self.impipe("fitgeotform2d moving=[0,0;9,0;0,9] fixed=[0,0;1,1;2,2] as T | imwarp T",
                           "in/1.png", "-o", "no.png", code=None)
        self.assertNotEqual(said.code, 0)
        self.assertIn("no inverse", said.err)
        self.assertFalse(os.path.exists(self.path("no.png")))

    def test_the_largest_object(self):
        rows, columns = np.nonzero(blobs()[8:])
        box = blobs()[8 + rows.min():9 + rows.max(), columns.min():1 + columns.max()]
        for flags in ("", "origin=0"):
            made = self.made(f"regionprops {flags} as p | imcrop p.BoundingBox", "mask.png")
            self.assertTrue(np.array_equal(made, box))
        self.assertTrue(np.array_equal(
            self.made("regionprops as p | bwareaopen p.Area", "mask.png").sum(), box.sum()))

    def test_one_after_the_other_and_kept_images(self):
        pipeline = ("as first | graythresh as t | imgaussfilt 1 | save small-{stem}.png | "
                    "mean2 as m | imsubtract m | imadd :first | imbinarize t")
        threshold, = self.measured("graythresh")
        mean, = self.measured("imgaussfilt 1 | mean2")
        self.assertTrue(np.array_equal(
            self.made(pipeline),
            self.made(f"as first | imgaussfilt 1 | imsubtract {mean!r} | imadd :first | "
                      f"imbinarize {threshold!r}")))
        self.assertTrue(os.path.exists(self.path("small-1.png")))
        said = self.impipe(pipeline, "in/1.png", "-n", "-q")
        self.assertEqual(said.lines()[0].split("\t"), ["file", "t", "m"])
        self.assertEqual([float(v) for v in said.lines()[1].split("\t")[1:]], [threshold, mean])

    def test_each_page_and_what_project_makes(self):
        pages = [Image.fromarray((ramp(30, 40, i) // (i + 1)).astype(np.uint8)) for i in range(4)]
        pages[0].save(self.path("pages.tif"), save_all=True, append_images=pages[1:])
        self.impipe("graythresh as t | imbinarize t", "pages.tif", "-o", "out.tif")
        made = Image.open(self.path("out.tif"))
        for i, page in enumerate(pages):
            page.save(self.path("page.png"))
            threshold, = self.measured("graythresh", "page.png")
            made.seek(i)
            self.assertTrue(np.array_equal(np.asarray(made), np.asarray(page) / 255 > threshold))
        self.impipe("project max | graythresh as t | imbinarize t", "pages.tif", "-o", "one.png")
        self.impipe("project max", "pages.tif", "-o", "max.png")
        threshold, = self.measured("graythresh", "max.png")
        self.assertTrue(np.array_equal(self.pixels("one.png"),
                                       self.pixels("max.png") / 255 > threshold))
        said = self.impipe("graythresh as t | project max | imbinarize t", "pages.tif", "-n", code=2)
        self.assertIn("'t' is one of each image before project", said.err)

    def test_tables_of_each_page(self):
        """A file of pages stays one where a table is measured before its last image."""
        gray = ramp(30, 40, 1)
        masks = [np.zeros((30, 40), np.uint8) for _ in range(3)]
        for i, mask in enumerate(masks):
            mask[3 + i:12 + i, 2 * i:15 + 2 * i] = 255
            mask[28, 38] = 255
        lines = np.full((60, 80), 240, np.uint8)
        lines[10:50:8, 10:70] = 30
        skewed = [np.asarray(Image.fromarray(lines).rotate(-i, Image.Resampling.BICUBIC,
                                                           fillcolor=240)) for i in (0, 2, 4)]
        moved = [np.roll(gray, (i, 2 * i + 1), (0, 1)) for i in range(3)]
        self.picture("b.png", gray)
        for pipeline, arrays in (("deskew", skewed),
                                 ("regionprops as p | imcrop p.BoundingBox", masks),
                                 ("imregcorr :b as t | imtranslate t.dx,t.dy", moved)):
            pages = [Image.fromarray(array) for array in arrays]
            pages[0].save(self.path("pages.tif"), save_all=True, append_images=pages[1:])
            stages = ("imbinarize | " if arrays is masks else "") + pipeline
            others = ["--with", "b=b.png"] if arrays is moved else []
            said = self.impipe(stages, "pages.tif", "-o", "out.tif", "-q", *others).lines()
            self.assertEqual(list(dict.fromkeys(line.split("\t")[1] for line in said)),
                             ["page", "1", "2", "3"])
            made = Image.open(self.path("out.tif"))
            self.assertEqual(made.n_frames, 3)
            for i, page in enumerate(pages):
                page.save(self.path("page.png"))
                made.seek(i)
                self.assertTrue(np.array_equal(np.asarray(made),
                                               self.made(stages, "page.png", *others)), stages)
                if arrays is moved:  # back
                    self.assertTrue(np.array_equal(np.asarray(made)[:30 - i, :39 - 2 * i],
                                                   gray[:30 - i, :39 - 2 * i]))

    def test_devices_have_the_same_bits(self):
        usable = [d["id"] for d in json.loads(self.impipe("devices", "--json").out) if d["usable"]]
        for pipeline in ("graythresh as t | imbinarize t", "mean2 as m | imsubtract m",
                         "imgaussfilt 1 | stretchlim as l | imadjust l | imresize 0.5"):
            hashes = {self.impipe(pipeline, "in", "-n", "--hash", "-q", "--device", device).out
                      for device in usable}
            self.assertEqual(len(hashes), 1)

    def test_what_does_not_fit_is_said(self):
        cases = {
            "mean2 as m | imbinarize m": "level takes a number from 0 to 1, or graythresh or "
                                         "adaptive, and m is ",
            "regionprops as p | imcrop p.BoundingBox": "'p' has no object",
        }
        self.picture("empty.png", np.zeros((9, 9), np.uint8))
        for pipeline, message in cases.items():
            source = "empty.png" if "regionprops" in pipeline else "in/1.png"
            said = self.impipe(pipeline, source, "-o", "no.png", code=1)
            self.assertIn(message, said.err)
            self.assertIn(source, said.err)
            self.assertFalse(os.path.exists(self.path("no.png")))
        usage = {
            "multithresh 2 as t | imbinarize t": "level takes a number from 0 to 1, or graythresh "
                                                 "or adaptive, and t is 2 numbers",
            "stats as s | imadd s.mode": "there is no number 's.mode'",
            "regionprops as p | imcrop p.Box": "'p.Box' is no column of the table",
            "imhist as h | imadd h": "'h' has too many numbers",
            "imadd t | graythresh as t": "no parameter takes 't'",
        }
        for pipeline, message in usage.items():
            source = "mask.png" if "regionprops" in pipeline else "in/1.png"
            said = self.impipe(pipeline, source, "-o", "no.png", code=None)
            self.assertNotEqual(said.code, 0)
            self.assertIn(message, said.err)
        said = self.impipe("bench", "graythresh as t | imbinarize t", code=2)
        self.assertIn("is measured; write a number", said.err)

    def test_deskew_is_imrotate_by_the_measured_angle(self):
        page = np.full((160, 220), 240, np.uint8)
        page[20:140:12, 20:200] = 30
        Image.fromarray(page).rotate(-3.4, Image.Resampling.BICUBIC, fillcolor=240).save(
            self.path("page.png"))
        angle, = self.measured("deskewangle", "page.png")
        self.assertAlmostEqual(angle, 3.4, delta=0.3)
        for skew, stage in (("deskew", f"imrotate {angle!r} bilinear crop fill=255"),
                            ("deskewangle as a | imrotate a", f"imrotate {angle!r}"),
                            ("deskew 8 bbox=loose fill=9 nearest",
                             f"imrotate {angle!r} nearest loose fill=9"),
                            ("Deskew angle=2", "imrotate 2 bilinear crop fill=255")):
            self.assertTrue(np.array_equal(self.made(skew, "page.png"),
                                           self.made(stage, "page.png")), skew)

        # Each of its parameters may be measured; those of measuring do not go with an angle.
        least, = self.measured("min", "page.png")
        for skew, stage in (("deskewangle as a | deskew angle=a", "deskew"),
                            ("mean2 as m | min as f | deskew fill=f", f"deskew fill={least:.0f}"),
                            ("min as least | deskew range=least", f"deskew {least:.0f}")):
            self.assertTrue(np.array_equal(self.made(skew, "page.png"), self.made(stage, "page.png")), skew)
        for given in ("ink=dark", "range=3", "step=1", "3"):
            said = self.impipe(f"deskew angle=2 {given}", "page.png", "-o", "no.png", code=2)
            self.assertIn("of measuring the angle, which angle= gives", said.err)
            self.assertIn("^" * len(given.split("=")[-1]) + "\n", said.err)
        run = self.impipe("deskewangle as d", "page.png")
        self.assertEqual(run.out.splitlines()[0], "file\td")
        self.assertFalse(run.out.endswith("-0\n"))

    def test_tiles_and_tables(self):
        self.picture("q.png", np.full((5, 6), 9, np.uint8))
        least, = self.measured("imsubtract 250 | max")
        operand = ("--with", f"q={self.path('q.png')}")
        self.assertTrue(np.array_equal(
            self.made("as x | imsubtract 250 | max as most | imtile :q gap=most", "in/1.png", *operand),
            self.made(f"imsubtract 250 | imtile :q gap={least:.0f}", "in/1.png", *operand)))

    def test_tables_in_expressions(self):
        """Expressions take numbers of tables: of the largest object, else of the first row."""
        pixels = self.pixels("in/1.png")
        self.picture("b.png", np.roll(pixels, (3, 5), (0, 1)))
        shift = self.measured("imregcorr :b", "in/1.png", "--with", "b=b.png")
        self.assertEqual(shift[:2], [5, 3])
        made = self.made("imregcorr :b as d | map 'x/2 + d.dx + 10*d.dy'", "in/1.png", "--with", "b=b.png")
        self.assertTrue(np.array_equal(made, np.floor(pixels / 2 + 35 + 0.5)))
        angle, = self.measured("deskewangle")
        self.assertTrue(np.array_equal(self.made("deskewangle as d | map 'x*(d+2)'"),
                                       self.made(f"map 'x*({angle!r}+2)'")))
        # Area does not have to be a column.
        table = "regionprops properties=Label,BoundingBox as p | "
        rows, columns = np.nonzero(blobs()[8:])
        box = blobs()[8 + rows.min():9 + rows.max(), columns.min():1 + columns.max()]
        self.assertTrue(np.array_equal(self.made(table + "imcrop p.BoundingBox", "mask.png"), box))
        for stage, expected in (("map 'x*(p.BoundingBox_w + 100*p.Label)' class=uint8", blobs() * 228),
                                ("stencil 'at(0,0)*p.BoundingBox_h' class=uint8", blobs() * 21)):
            self.impipe(table + stage, "mask.png", "-o", "out.npy")
            np.testing.assert_array_equal(self.pixels("out.npy"), expected)
        self.impipe(table + "histogram 'x*p.Label' bins=3", "mask.png", "-o", "out.npy")
        self.assertEqual(self.pixels("out.npy").tolist(), [(~blobs()).sum(), 0, blobs().sum()])
        for stage, message, place in (
                ("imcrop p.Box", "imcrop: 'p.Box' is no column of the table", "p.Box"),
                ("map 'x - p'", "map: 'p' is no column of the table; write p.Label, for example", "'x - p'"),
                ("map 'x - p.Box'", "map: 'p.Box' is no column of the table", "'x - p.Box'"),
                ("map 'x - p.BoundingBox'", "map: there is no number 'p.BoundingBox'; there is p.Label, "
                 "p.BoundingBox_x", "'x - p.BoundingBox'")):
            said = self.impipe(table + stage, "mask.png", "-o", "no.png", code=2).err.splitlines()
            self.assertIn(message, said[0])
            self.assertEqual(said[1][said[2].index("^"):said[2].rindex("^") + 1], place)

    def test_words_stay_words(self):
        """A name that is a word of the operator is the word."""
        self.assertTrue(np.array_equal(self.made("max as adaptive | imbinarize adaptive window=9"),
                                       self.made("imbinarize adaptive window=9")))
        for stage in ("imdilate disk,3", "imdilate se=disk,3", "imfilter disk,3"):
            self.assertTrue(np.array_equal(self.made(f"mean2 as disk | {stage}"), self.made(stage)))
        self.assertTrue(np.array_equal(  # the second is a number of the disk
            self.made("mean2 | imsubtract 250 | sum as disk | imdilate disk,disk"),
            self.made(f"imsubtract 250 | imdilate disk,{self.measured('imsubtract 250 | sum')[0]}")))
        said = self.impipe("plan", "graythresh as t | imbinarize t").out
        self.assertIn("stage 2 waits on the host until t is measured", said)


if __name__ == "__main__":
    unittest.main()
