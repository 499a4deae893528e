"""Each measurement of a pipeline is told, under a name of its own, whatever stands beside it."""
import csv
import io
import json
import os
import unittest

import numpy as np
from PIL import Image
from program import ProgramTest, colour, ramp

# Operators that measure with their arguments: of gray and colour pictures, and of logical ones.
# Several forms of one operator have other numbers of values.
OF_PICTURES = [
    "mean2", "mean2 each", "std2", "std2 each", "sum", "sum each", "min", "min each", "max",
    "max each", "stats", "stats each", "imhist 4", "imhist 2", "imhist 40", "imhist", "graythresh",
    "otsuthresh", "multithresh 1", "multithresh 2", "multithresh 18", "stretchlim", "immse :b",
    "psnr :b", "ssim :b", "corr2 :b", "jointhist :b 2", "jointhist :b 5", "reduce 'max(acc, x)'",
    "histogram 'x / 64' bins=4", "histogram 'x' bins=256", "entropy", "graycomatrix 4",
    "graycoprops 4", "fitgeotform2d moving=[0,0;9,0;0,9] fixed=[1,2;10,2;1,11]"]
OF_MASKS = ["bweuler", "regionprops", "mean2", "imhist", "stats", "bwboundaries", "polygonize",
            "convexhull", "houghpeaks", "houghlines", "imfindcircles 5", "deskewangle 2 1",
            "imregcorr :b", "normxcorr2 :b peak"]


def renumbered(name, operator, number):
    """The column's name, had its measurement this number: mean2_r, 2 -> mean2.2_r."""
    operator = operator.split()[0]
    heads = "min max sum mean2 std2".split() if operator == "stats" else [operator]
    head = next(head for head in heads if name == head or name.startswith(head + "_"))
    return f"{head}.{number}{name[len(head):]}"


class MeasurementTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.picture("gray.png", ramp())
        self.picture("colour.png", colour())
        self.picture("b.png", ramp(seed=9))
        self.picture("bc.png", colour(seed=9))
        mask = ramp() > 128
        mask[3:6, 3:9] = True
        Image.fromarray(mask).save(self.path("mask.png"))
        for name in ["gray", "colour", "mask"]:
            self.impipe("imcomplement", f"{name}.png", "-o", f"not_{name}.png")

    def told(self, pipeline, picture, *flags):
        """The rows of a report: names in their order, and texts of numbers."""
        second = "b=bc.png" if "colour" in picture else "b=b.png"
        said = self.impipe(pipeline, picture, "-q", *flags,
                           *(["--with", second] if ":b" in pipeline else []))
        self.assertEqual(said.err, "")
        if "--json" in flags:
            rows = [json.loads(line, object_pairs_hook=self.unlike) for line in said.lines()]
        else:
            table = csv.reader(io.StringIO(said.out, newline=""),
                               delimiter="," if "--csv" in flags else "\t")
            head = next(table)
            rows = [self.unlike(list(zip(head, row, strict=True))) for row in table]
        return [{k: v for k, v in row.items() if k != "file"} for row in rows]

    def unlike(self, pairs):
        self.assertEqual(len(dict(pairs)), len(pairs), [name for name, _ in pairs])
        return dict(pairs)


class Measurements(MeasurementTest):
    def test_every_operator_that_measures_is_here(self):
        """By what the operators say of themselves: the example ends in a measurement or not."""
        here = {text.split()[0] for text in OF_PICTURES + OF_MASKS}
        operators = json.loads(self.impipe("ops", "--json").out)
        for operator in operators:
            if operator["category"] == "statistics" and operator["name"] not in here:
                last = operator["example"].split("|")[-1].split()[0]
                self.assertEqual(last, operator["name"])
                plan = json.loads(self.impipe("plan", operator["example"], "--json").out)
                self.assertTrue(plan["writes_image"], operator["name"])

    def check_twice(self, one, picture):
        before = self.told(one, f"{picture}.png")[0]
        after = self.told(one, f"not_{picture}.png")[0]
        expected = {**before, **{renumbered(name, one, 2): value for name, value in after.items()}}
        pipeline = f"{one} | imcomplement | {one}"
        for form in [[], ["--csv"]]:
            for fuse in [[], ["--no-fuse"]]:
                self.assertEqual(self.told(pipeline, f"{picture}.png", *form, *fuse), [expected])
        for fuse in [[], ["--no-fuse"]]:
            before = self.told(one, f"{picture}.png", "--json")[0]
            after = self.told(one, f"not_{picture}.png", "--json")[0]
            expected = {**before, **{renumbered(k, one, 2): v for k, v in after.items()}}
            self.assertEqual(self.told(pipeline, f"{picture}.png", "--json", *fuse), [expected])

    def test_each_operator_twice(self):
        for picture in ["gray", "colour"]:
            for one in OF_PICTURES:
                with self.subTest(one, picture=picture):
                    self.check_twice(one, picture)
        self.check_twice("bweuler", "mask")

    def check_two(self, one, other, picture):
        before = self.told(one, f"{picture}.png")[0]
        after = self.told(other, f"not_{picture}.png")[0]
        expected = [[{**before, **after}]] + [
            [{**before, **{renumbered(name, other, n): value for name, value in after.items()}}]
            for n in range(2, 9)]
        for form in [[], ["--csv"], ["--no-fuse"]]:
            self.assertIn(self.told(f"{one} | imcomplement | {other}", f"{picture}.png", *form),
                          expected)

    def test_two_operators(self):
        """Beside one another, each with the next two of the list."""
        for i, one in enumerate(OF_PICTURES):
            for step in [1, 2]:
                other = OF_PICTURES[(i + step) % len(OF_PICTURES)]
                with self.subTest(one, other=other):
                    self.check_two(one, other, "gray" if step == 1 else "colour")

    def test_all_in_one_row(self):
        """The numbers of each stand in the row, in JSON and in a table."""
        pipeline = " | imcomplement | ".join(OF_PICTURES)
        row = self.told(pipeline, "gray.png", "--json")[0]
        table = self.told(pipeline, "gray.png")[0]
        columns = 0
        for i, one in enumerate(OF_PICTURES):
            alone = self.told(one, "not_gray.png" if i % 2 else "gray.png", "--json")[0]
            columns += sum(np.size(value) for value in alone.values())
            for name, value in alone.items():
                found = [row.get(name), *(row.get(renumbered(name, one, n)) for n in range(2, 9))]
                self.assertIn(value, found, name)
        self.assertEqual(sum(np.size(value) for value in row.values()), columns)
        self.assertEqual(len(table), columns)

    def test_of_two_pictures(self):
        mixed = self.told("stats | imgaussfilt 2 | mean2", "gray.png")[0]
        self.impipe("imgaussfilt 2", "gray.png", "-o", "soft.png")
        self.assertEqual(mixed, {**self.told("stats", "gray.png")[0],
                                 "mean2.2": self.told("mean2", "soft.png")[0]["mean2"]})
        # A stage's numbers are told apart from those of the picture before together.
        mixed = self.told("std2 | imgaussfilt 2 | stats", "gray.png")[0]
        self.assertEqual(list(mixed), ["std2", "min.2", "max.2", "sum.2", "mean2.2", "std2.2"])
        soft = self.told("stats", "soft.png")[0]
        self.assertEqual({name[:-2]: value for name, value in mixed.items() if name != "std2"},
                         soft)

    def test_two_second_inputs(self):
        self.picture("c.png", ramp(seed=4))
        told = json.loads(self.impipe("immse :b | immse :c", "gray.png", "--with", "b=b.png",
                                      "--with", "c=c.png", "--json").out)
        a = ramp().astype(float)
        for name, seed in [("immse", 9), ("immse.2", 4)]:
            self.assertAlmostEqual(told[name], np.mean((a - ramp(seed=seed)) ** 2), places=9)


class Names(MeasurementTest):
    """What `as` says, and what it cannot."""

    def names(self, pipeline, picture="gray.png"):
        return list(self.told(pipeline, picture)[0])

    def test_as(self):
        for pipeline, names in {
            "mean2 as before | imcomplement | mean2 as after": ["before", "after"],
            "mean2 as a | imcomplement | mean2 | std2": ["a", "mean2", "std2"],
            "stats as s | mean2": ["s_min", "s_max", "s_sum", "s_mean2", "s_std2", "mean2"],
            "imhist 2 as h | imhist 2": ["h_1", "h_2", "imhist_1", "imhist_2"],
            "multithresh 2 as t | multithresh 1 as u": ["t_1", "t_2", "u"],
            # A name that the user gave is not another one's, and a report's own nobody's.
            "std2 | mean2 as std2 | std2": ["std2.2", "std2", "std2.3"],
            "mean2 as imhist_2 | imhist 2": ["imhist_2", "imhist.2_1", "imhist.2_2"],
            "mean2 as file | std2 as page | sum as hash | min as table":
                ["file.2", "page.2", "hash.2", "table.2"],
            "multithresh 2 | multithresh 1": ["multithresh_1", "multithresh_2", "multithresh"],
        }.items():
            self.assertEqual(self.names(pipeline), names, pipeline)
        self.assertEqual(self.names("mean2 each as m | mean2 each", "colour.png"),
                         ["m_r", "m_g", "m_b", "mean2_r", "mean2_g", "mean2_b"])
        row = self.told("imhist as h | imcomplement | imhist", "gray.png", "--json")[0]
        self.assertEqual(row["h"], row["imhist"][::-1])

    def test_measured_names_are_those_of_expressions(self):
        self.impipe("mean2 as m | map 'x - m + 128'", "gray.png", "-o", "out.png")
        said = self.impipe("imhist as h | map 'x - h'", "gray.png", "-o", "out.png", code=2).err
        self.assertIn("map: 'h' is a table; expressions take single numbers\n", said)

    def test_a_folder_of_gray_and_colour(self):
        """A column is of the same measurement in all rows, whatever the pictures' channels are."""
        os.mkdir(self.path("in"))
        stages = ["mean2", "mean2 each", "mean2"]
        for name in ["gray", "colour"]:
            os.rename(self.path(name + ".png"), self.path("in", name + ".png"))
        said = self.impipe(" | imcomplement | ".join(stages), "in", "--csv").out
        for row in csv.DictReader(io.StringIO(said, newline="")):
            of_gray = row["file"] == "in/gray.png"
            inverted = 255.0 - (ramp() if of_gray else colour())
            channels = [""] if of_gray else ["_r", "_g", "_b"]
            expected = {"mean2": 255 - inverted.mean(), "mean2.3": 255 - inverted.mean()}
            for i, channel in enumerate(channels):
                expected["mean2.2" + channel] = (
                    inverted if of_gray else inverted[..., i]).mean()
            told = {name: float(value) for name, value in row.items()
                    if name != "file" and value != ""}
            self.assertEqual(set(told), set(expected))
            for name, value in expected.items():
                self.assertAlmostEqual(told[name], value, places=9)

class Files(MeasurementTest):
    """-o has the last measurement, stdout the others."""

    def test_npy_has_the_last(self):
        said = self.impipe("imhist | imcomplement | imhist 300", "gray.png", "-o", "h.npy")
        head, row = [line.split("\t") for line in said.lines()]
        self.assertEqual(head[1:], [f"imhist_{i}" for i in range(1, 257)])
        self.assertEqual([int(n) for n in row[1:]],
                         list(np.bincount(ramp().ravel(), minlength=256)))
        saved = np.load(self.path("h.npy"))
        self.assertEqual((saved.shape, saved.sum()), ((300,), ramp().size))

    def test_npy_has_all_of_stats(self):
        for picture, each, shape in [("gray", "", (5,)), ("colour", "each", (5, 3))]:
            self.impipe(f"mean2 | stats {each}", f"{picture}.png", "-o", "s.npy")
            saved = np.load(self.path("s.npy"))
            self.assertEqual(saved.shape, shape)
            told = self.told(f"stats {each}", f"{picture}.png", "--json")[0]
            np.testing.assert_array_equal(saved.ravel(), list(told.values()))

    def test_an_image_leaves_the_numbers_to_stdout(self):
        said = self.impipe("imhist 20 | imcomplement", "gray.png", "-o", "out.png")
        self.assertEqual(len(said.lines()[1].split("\t")), 21)

    def test_bands_do_not_lose_a_histogram(self):
        """A picture that does not fit is computed in bands only where nothing is measured."""
        self.picture("large.tif", np.tile(ramp(400, 600), (4, 4)))
        told = self.told("imhist 20 | imcomplement", "large.tif", "-o", "out.tif",
                         "--memory", "12M")
        self.assertEqual(sum(int(n) for n in told[0].values()), 16 * 240000)

    def test_too_many_for_a_row(self):
        said = self.impipe("jointhist :b | mean2", "gray.png", "--with", "b=b.png")
        self.assertEqual(said.lines()[0], "file\tmean2")
        self.assertEqual(said.err, "impipe: jointhist: its 65,536 numbers a file are too many for "
                                   "a row: --json prints them\n")
        row = self.told("jointhist :b | mean2", "gray.png", "--json")[0]
        self.assertEqual(np.shape(row["jointhist"]), (256, 256))


class Tables(MeasurementTest):
    """A row an object, of one table or another."""

    def test_two_tables(self):
        one, other = self.told("regionprops", "mask.png"), self.told("regionprops", "not_mask.png")
        self.assertGreater(len(one), 0)
        self.assertNotEqual(one, other)
        expected = ([{"table": "regionprops", **row} for row in one]
                    + [{"table": "regionprops.2", **row} for row in other])
        for flags in [[], ["--csv"], ["--no-fuse"]]:
            self.assertEqual(
                self.told("regionprops | imcomplement | regionprops", "mask.png", *flags), expected)
        told = self.told("regionprops as p | imcomplement | regionprops as q", "mask.png", "--json")
        self.assertEqual([row["table"] for row in told], ["p"] * len(one) + ["q"] * len(other))
        self.assertEqual([row["Area"] for row in told], [float(row["Area"]) for row in one + other])

    def test_of_other_columns(self):
        """With and without intensities; what else is measured stands in each row."""
        rows = self.told("mean2 | regionprops | regionprops image=:b", "mask.png")
        plain = [row for row in rows if row["table"] == "regionprops"]
        measured = [row for row in rows if row["table"] == "regionprops.2"]
        self.assertEqual(len(plain), len(measured))
        for one, other in zip(plain, measured):
            self.assertEqual((one["MeanIntensity"], one["Area"]), ("", other["Area"]))
            self.assertNotEqual(other["MeanIntensity"], "")
        self.assertEqual({row["mean2"] for row in rows},
                         {self.told("mean2", "mask.png")[0]["mean2"]})

    def test_columns_of_a_table_are_taken(self):
        mean = self.told("mean2", "mask.png")[0]["mean2"]
        for table, column in [("convexhull", "X"), ("regionprops Area", "Area"), ("deskewangle", "deskewangle")]:
            for row in self.told(f"mean2 as {column} | {table}", "mask.png"):
                self.assertEqual(row[f"{column}.2"], mean)
                self.assertNotEqual(row[column], mean)

    def test_without_objects(self):
        Image.fromarray(np.zeros((9, 9), bool)).save(self.path("none.png"))
        self.assertEqual(self.told("regionprops", "none.png"), [])
        for tables in ["regionprops", "regionprops | regionprops"]:
            rows = self.told(f"mean2 | {tables}", "none.png")
            self.assertEqual([(row["mean2"], row["Area"]) for row in rows], [("0", "")])
            self.assertEqual(self.told(f"mean2 | {tables}", "none.png", "--json"), [{"mean2": 0}])
        rows = self.told("regionprops | imcomplement | regionprops", "none.png")
        self.assertEqual([(row["table"], row["Area"]) for row in rows], [("regionprops.2", "81")])

    def test_a_histogram_beside_objects(self):
        rows = self.told("imhist 20 | regionprops", "mask.png", "--json")
        self.assertEqual([("imhist" in row) for row in rows], [True] + [False] * (len(rows) - 1))
        self.assertEqual(sum(rows[0]["imhist"]), ramp().size)

    def test_files(self):
        """.npy has the last measurement, a table's file the last table."""
        self.impipe("regionprops | imcomplement | regionprops", "mask.png", "-o", "t.csv")
        other = self.told("regionprops", "not_mask.png")
        with open(self.path("t.csv"), newline="") as file:
            self.assertEqual(list(csv.DictReader(file)), other)
        self.impipe("regionprops | mean2", "mask.png", "-o", "m.npy")
        self.assertEqual(np.load(self.path("m.npy")).shape, (1,))
        self.impipe("regionprops | mean2", "mask.png", "-o", "t.json")
        with open(self.path("t.json")) as file:
            self.assertEqual([str(row["Area"]) for row in json.load(file)],
                             [row["Area"] for row in self.told("regionprops", "mask.png")])

    def test_pages(self):
        """Each page has its rows, and its file."""
        pages = [Image.open(self.path(name)) for name in ["mask.png", "not_mask.png"]]
        pages[0].save(self.path("pages.tif"), save_all=True, append_images=pages[1:])
        rows = self.told("mean2 | regionprops", "pages.tif", "-o", "{stem}_{page}.csv")
        for page, name in enumerate(["mask", "not_mask"], 1):
            alone = self.told("mean2 | regionprops", f"{name}.png")
            self.assertEqual([row for row in rows if row["page"] == str(page)],
                             [{"page": str(page), **row} for row in alone])
            with open(self.path(f"pages_{page}.csv"), newline="") as file:
                self.assertEqual(list(csv.DictReader(file)),
                                 self.told("regionprops", f"{name}.png"))


if __name__ == "__main__":
    unittest.main()
