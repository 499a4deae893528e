"""Outlines and shapes of objects, as their definitions in NumPy say."""
import csv
import json
import math
import os
import tempfile
import unittest

import numpy as np
from program import ROOT, ProgramTest  # isort: before the project's scripts, which it finds
import run_cases

CASES = os.path.join(ROOT, "tests", "data", "outlines", "cases.tsv")


def mask_of(seed, shape=(23, 31), part=0.5):
    return (np.random.default_rng(seed).random(shape) < part).astype(bool)


def rings_of(geometry):
    """(exterior, holes) of each polygon."""
    polygons = geometry["coordinates"]
    if geometry["type"] == "Polygon":
        polygons = [polygons]
    return [(rings[0], rings[1:]) for rings in polygons]


def doubled_area(ring):
    return sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(ring, ring[1:]))


def normal_form(geojson):
    """Polygons of each object, as sets: the order of rings and their starts are free."""
    out = {}
    for feature in geojson["features"]:
        polygons = set()
        for exterior, holes in rings_of(feature["geometry"]):
            rings = [frozenset(zip(map(tuple, r), map(tuple, r[1:]))) for r in (exterior, *holes)]
            polygons.add((rings[0], frozenset(rings[1:])))
        out[feature["properties"]["Object"]] = polygons
    return out


class Outlines(ProgramTest):
    def run_on(self, pipeline, image, name, *options):
        np.save(self.path("in.npy"), image)
        self.impipe(pipeline, "in.npy", "-o", name, *options)
        if name.endswith("json"):
            with open(self.path(name), encoding="utf-8") as file:
                return json.load(file)
        return np.load(self.path(name))


class Definition(Outlines):
    def test_cases_of_the_oracle(self):
        cases = run_cases.read_table(CASES)
        self.assertGreaterEqual(len(cases), 46)
        for case in cases:
            with self.subTest(case.id), tempfile.TemporaryDirectory() as work:
                command, out = case.command([os.environ.get("IMPIPE", "impipe")], work)
                if case.row["class"] == "text":
                    out = command[command.index("-o") + 1] = out[:-4] + ".geojson"
                self.impipe(*command[1:])
                expected = os.path.join(case.folder, case.row["expected"])
                if case.row["class"] != "text":
                    self.check_numbers(case.row, np.load(expected), np.load(out))
                    continue
                with open(expected, encoding="utf-8") as a, open(out, encoding="utf-8") as b:
                    wanted, got = json.load(a), json.load(b)
                if case.op == "polygonize":
                    self.assertEqual(normal_form(got), normal_form(wanted))
                else:
                    pairs = [[(f["properties"], f["geometry"]) for f in of["features"]]
                             for of in (got, wanted)]
                    self.assertEqual(*pairs)

    def check_numbers(self, row, expected, got):
        single = row["class"] in ("single", "double")
        tolerance, share = (float(row[name + "_f32" if single else name])
                            for name in ("tol", "max_bad_frac"))
        same, why = run_cases.compare(
            expected, got, tolerance, share, float(row["cap"]),
            run_cases.accepted_classes(row["class"], row["class"] == "double"))
        self.assertTrue(same, why)

    def test_the_mask_of_a_polygon_is_even_odd(self):
        rng = np.random.default_rng(3)
        y, x = np.mgrid[0:20, 0:26].astype(float)
        for count in (1, 2, 3, 7, 40):
            vertices = np.round(rng.uniform(-6, 32, (count, 2)) * 2) / 2
            wanted = np.zeros(x.shape, bool)
            for (x1, y1), (x2, y2) in zip(vertices, np.roll(vertices, -1, axis=0)):
                if y1 != y2:
                    crossing = x1 + (y - y1) * (x2 - x1) / (y2 - y1)
                    wanted ^= ((y1 <= y) != (y2 <= y)) & (x < crossing)
            text = "[" + ";".join(f"{a},{b}" for a, b in vertices.tolist()) + "]"
            np.savetxt(self.path("vertices.txt"), vertices)
            with self.subTest(count=count):
                for pipeline in (f"poly2mask {text} size=20,26",
                                 "poly2mask @vertices.txt size=20,26"):
                    self.impipe(pipeline, "-o", "made.npy")
                    np.testing.assert_array_equal(np.load(self.path("made.npy")), wanted)
                got = self.run_on(f"roipoly {text}", np.zeros((20, 26, 3), np.uint8), "out.npy")
                np.testing.assert_array_equal(got, wanted)

    def test_feret_diameters_are_those_of_all_pairs_of_corners(self):
        for seed in range(4):
            image = mask_of(seed, (9, 11), 0.4)
            np.save(self.path("one.npy"), image.astype(np.uint8))  # one object: label 1
            table = self.run_on("regionprops MaxFeretDiameter,MaxFeretAngle,MinFeretDiameter,"
                                "MinFeretAngle", image.astype(np.uint8), "out.npy")
            rows, columns = np.nonzero(image)
            points = np.unique([(2 * c + i, 2 * r + j) for r, c in zip(rows, columns)
                                for i in (-1, 1) for j in (-1, 1)], axis=0)
            lines = (points[:, None] - points[None]).reshape(-1, 2)
            lines = lines[np.any(lines != 0, axis=1)]
            longest = (lines ** 2).sum(axis=1).max()
            widths = [np.ptp(points @ (-dy, dx)) / math.hypot(dx, dy) / 2 for dx, dy in lines]

            def angle(dx, dy):
                degrees = math.degrees(math.atan2(-dy, dx)) % 180
                return degrees - 180 if degrees > 90 else degrees
            farthest = min(angle(*d) for d in lines if (d ** 2).sum() == longest)
            # At right angles to the line along which the hull is narrowest.
            narrowest = min(angle(-dy, dx) for (dx, dy), w in zip(lines, widths)
                            if w < min(widths) + 1e-9)
            np.testing.assert_allclose(
                table, [[1, math.sqrt(longest) / 2, farthest, min(widths), narrowest]], atol=1e-9)

    def test_percentiles_are_numpys(self):
        labels = np.random.default_rng(2).integers(0, 4, (17, 23)).astype(np.uint8)
        percents = [0, 5, 33.25, 50, 97.5, 100]
        for dtype, offset in ((np.uint8, 0), (np.uint16, 0), (np.float32, 10), (np.float32, 1e5)):
            values = (np.random.default_rng(3).uniform(0, 200, labels.shape) + offset).astype(dtype)
            np.save(self.path("v.npy"), values)
            got = self.run_on("regionprops Area image=:v percentiles=" + ",".join(map(str, percents)), labels,
                              "out.npy", "--with", "v=v.npy")
            wanted = [[k, (labels == k).sum(), *np.percentile(values[labels == k].astype(float), percents)]
                      for k in (1, 2, 3)]
            np.testing.assert_allclose(got, wanted, rtol=1e-12)
        values[labels == 2] = np.nan
        values[3, np.flatnonzero(labels[3] == 1)[0]] = np.nan  # behind all numbers
        np.save(self.path("v.npy"), values)
        got = self.run_on("regionprops Area image=:v percentiles=0,100", labels, "out.npy", "--with", "v=v.npy")
        np.testing.assert_array_equal(got[:, 2:], [[np.nanmin(values[labels == 1]), np.nan], [np.nan] * 2,
                                                   [values[labels == 3].min(), values[labels == 3].max()]])

    def test_spacing_is_that_of_scaled_moments(self):
        labels = np.random.default_rng(4).integers(0, 3, (13, 19)).astype(np.uint8)
        down, across = 2.5, 0.75
        got = self.run_on("regionprops Area,Centroid,BoundingBox,EquivDiameter,MajorAxisLength,MinorAxisLength,"
                          f"FilledArea,MaxFeretDiameter spacing={down},{across} origin=0", labels, "out.npy")
        for row in got:
            y, x = np.nonzero(labels == row[0])
            area = len(x) * down * across
            moments = np.cov(np.stack([x * across, y * down]), bias=True)
            moments += np.diag([across ** 2, down ** 2]) / 12  # a pixel has an extent
            axes = 4 * np.sqrt(np.linalg.eigvalsh(moments)[::-1])
            corners = np.array([((a + i) * across, (b + j) * down) for a, b in zip(x, y)
                                for i in (-0.5, 0.5) for j in (-0.5, 0.5)])
            longest = np.sqrt(((corners[:, None] - corners[None]) ** 2).sum(-1)).max()
            np.testing.assert_allclose(
                [*row[1:4], *row[8:11], row[12]],
                [area, x.mean() * across, y.mean() * down, math.sqrt(4 * area / math.pi), *axes, longest], rtol=1e-9)
            np.testing.assert_array_equal(row[4:8], [x.min(), y.min(), np.ptp(x) + 1, np.ptp(y) + 1])
        doubled = self.run_on("regionprops Perimeter,Circularity,MinFeretDiameter,Orientation,ConvexArea spacing=2",
                              labels, "out.npy")
        plain = self.run_on("regionprops Perimeter,Circularity,MinFeretDiameter,Orientation,ConvexArea", labels,
                            "out.npy")
        np.testing.assert_allclose(doubled, plain * [1, 2, 1, 2, 1, 4], rtol=1e-12)
        for text, message in (("spacing=1,2", "Perimeter is not defined for unequal sides"),
                              ("Area,Circularity spacing=1,2", "Circularity is not defined"),
                              ("Area spacing=0", "spacing takes 1 to 2 numbers from 1e-12 to 1000000000000, not 0"),
                              ("percentiles=50", "they are those of a second image: give image=:name"),
                              ("image=:v percentiles=50,50", "50 is given twice"),
                              ("properties=Centroid,Centroid_y", "Centroid_y is given twice")):
            run = self.impipe("regionprops " + text, "in.npy", *(("--with", "v=in.npy") if ":v" in text else ()),
                              code=None)
            self.assertIn(run.code, (1, 2))
            self.assertIn(message, run.err)

    def test_circles_are_voted_for_by_their_pixels(self):
        edges = mask_of(5, (17, 21), 0.2)
        got = self.run_on("imfindcircles 2,4 n=7 threshold=0.3 distance=3 origin=0", edges,
                          "out.npy")
        candidates = []
        y, x = np.mgrid[0:17, 0:21]
        for r in (2, 3, 4):
            for cy in range(17):
                for cx in range(21):
                    on = np.floor(np.hypot(x - cx, y - cy) + 0.5) == r
                    around = np.mgrid[-5:6, -5:6]
                    count = (np.floor(np.hypot(*around) + 0.5) == r).sum()
                    score = (edges & on).sum() / count
                    if score >= 0.3:
                        candidates.append((-score, r, cx, cy))
        taken = []
        for score, r, cx, cy in sorted(candidates):
            if len(taken) < 7 and all(math.hypot(cx - a, cy - b) >= 3 for a, b, _, _ in taken):
                taken.append((cx, cy, r, -score))
        np.testing.assert_array_equal(got, taken)

    def test_regionfill_solves_laplaces_equation(self):
        rng = np.random.default_rng(7)
        for shape, part, level in (((9, 12), 0.5, 0), ((1, 30), 0.6, 0), ((30, 1), 0.6, 1e3),
                                   ((14, 14), 0.97, 0), ((14, 14), 0.97, 1e5)):
            mask = mask_of(11, shape, part)
            mask.flat[0] = False
            image = (rng.random((*shape, 3)) + level).astype(np.float32)
            np.save(self.path("mask.npy"), mask)
            got = self.run_on("regionfill :m", image, "out.npy", "--with", "m=mask.npy")
            number = np.arange(mask.size).reshape(shape)
            system = np.eye(mask.size)
            for (r, c) in zip(*np.nonzero(mask)):
                row = system[number[r, c]]
                row[number[r, c]] = 0
                for rr, cc in ((r - 1, c), (r + 1, c), (r, c - 1), (r, c + 1)):
                    if 0 <= rr < shape[0] and 0 <= cc < shape[1]:
                        row[number[rr, cc]] -= 1
                        row[number[r, c]] += 1
            known = np.where(mask[..., None], 0, image).reshape(-1, 3)
            wanted = np.linalg.solve(system, known).reshape(image.shape)
            np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-5 + 1e-7 * level)
            np.testing.assert_array_equal(got[~mask], image[~mask])


class Laws(Outlines):
    def check_polygons(self, feature, pixels):
        area = 0
        for exterior, holes in rings_of(feature["geometry"]):
            self.assertGreater(doubled_area(exterior), 0)
            for hole in holes:
                self.assertLess(doubled_area(hole), 0)
            for ring in (exterior, *holes):
                area += doubled_area(ring)
                self.assertEqual(ring[0], ring[-1])
                self.assertEqual(len({tuple(p) for p in ring}), len(ring) - 1)  # simple
                for a, b, c in zip(ring, ring[1:], ring[2:] + [ring[1]]):  # every vertex a corner
                    self.assertEqual((b[0] - a[0]) * (c[0] - b[0]) + (b[1] - a[1]) * (c[1] - b[1]),
                                     0)
        self.assertEqual(area, 2 * pixels)

    def test_polygons_hold_their_pixels_and_give_the_mask_back(self):
        corners = np.array([[0, 1, 1, 1], [1, 0, 1, 1], [1, 1, 0, 1], [1, 1, 1, 0]], bool)
        images = [corners, np.ones((1, 1), bool), np.zeros((3, 2), bool), mask_of(1, (1, 40)),
                  *(mask_of(seed, (40, 33), part) for seed, part in ((2, 0.5), (3, 0.7), (4, 0.3))),
                  np.random.default_rng(9).integers(0, 4, (19, 22)).astype(np.uint8)]
        for number, image in enumerate(images):
            for arguments in ("", "conn=4", "origin=1"):
                with self.subTest(image=number, arguments=arguments):
                    geojson = self.run_on(f"polygonize {arguments}", image, "out.geojson")
                    labels = image
                    if image.dtype == bool:
                        conn = arguments if "conn" in arguments else ""
                        labels = self.run_on(f"bwlabel {conn}", image, "labels.npy")
                    self.assertEqual([f["properties"]["Object"] for f in geojson["features"]],
                                     [n for n in np.unique(labels) if n > 0])
                    for feature in geojson["features"]:
                        pixels = np.count_nonzero(labels == feature["properties"]["Object"])
                        self.check_polygons(feature, pixels)
                    origin = "origin=1" if "origin" in arguments else ""
                    size = f"size={image.shape[0]},{image.shape[1]}"
                    self.impipe(f"poly2mask @out.geojson {size} {origin}", "-o", "back.npy")
                    np.testing.assert_array_equal(np.load(self.path("back.npy")), image != 0)

    def test_boundaries_are_closed_walks_around_their_objects(self):
        for seed in range(3):
            image = mask_of(seed, (30, 41), 0.6)
            table = self.run_on("bwboundaries origin=0", image, "out.npy")
            labels = self.run_on("bwlabel", image, "labels.npy")
            np.testing.assert_array_equal(np.unique(table[:, 0]), np.arange(table[-1, 0]) + 1)
            for number in np.unique(table[:, 0]):
                rows = table[table[:, 0] == number]
                x, y = rows[:, 4].astype(int), rows[:, 5].astype(int)
                np.testing.assert_array_equal(rows[0, 4:], rows[-1, 4:])
                steps = np.maximum(np.abs(np.diff(x)), np.abs(np.diff(y)))
                self.assertTrue(len(rows) == 2 or (steps == 1).all())
                if rows[0, 2] == 0:
                    self.assertTrue((labels[y, x] == rows[0, 1]).all())
                else:
                    self.assertFalse(image[y, x].any())
                    self.assertEqual(labels[y[0], x[0] - 1], rows[0, 1])
            without = self.run_on("bwboundaries holes=off origin=0", image, "out.npy")
            np.testing.assert_array_equal(without, table[table[:, 2] == 0])

    def test_hulls_are_filled_where_their_vertices_say(self):
        image = mask_of(6, (25, 30), 0.02)
        vertices = self.run_on("convexhull conn=8", image.astype(np.uint8), "hull.npy")[:, 2:] - 1
        filled = self.run_on("bwconvhull", image, "out.npy")
        y, x = np.mgrid[0:25, 0:30]
        inside = np.ones(image.shape, bool)
        for (x1, y1), (x2, y2) in zip(vertices, vertices[1:]):  # clockwise on the screen
            inside &= (x2 - x1) * (y - y1) - (y2 - y1) * (x - x1) >= 0
        np.testing.assert_array_equal(filled, inside)

    def test_what_a_harmonic_image_lost_comes_back(self):
        y, x = np.mgrid[0:300, 0:400].astype(np.float32)
        image = 3 * x - 2 * y + 7
        mask = np.zeros(image.shape, bool)
        mask[10:290, 5:395] = True
        mask[100:120, 50:300] = False
        np.save(self.path("mask.npy"), mask)
        got = self.run_on("regionfill :m", image, "out.npy", "--with", "m=mask.npy")
        np.testing.assert_allclose(got, image, atol=2e-3)  # 1e-6 of 1200
        for value in (0, 77, 65535):
            flat = np.full(mask.shape, value, np.uint16)
            holed = np.where(mask, 1234, flat).astype(np.uint16)
            got = self.run_on("roifill :m", holed, "out.npy", "--with", "m=mask.npy")
            np.testing.assert_array_equal(got, flat)

    def test_nan_around_a_hole_fills_this_hole_alone(self):
        image = np.ones((9, 20), np.float32)
        image[4, 2] = np.nan
        mask = np.zeros(image.shape, bool)
        mask[3:6, 3:6] = mask[3:6, 12:15] = True
        np.save(self.path("mask.npy"), mask)
        got = self.run_on("regionfill :m", image, "out.npy", "--with", "m=mask.npy")
        wanted = np.where(mask & (np.arange(20) < 8), np.nan, image)
        np.testing.assert_array_equal(got, wanted)

    def test_a_mask_of_everything_or_nothing_changes_nothing(self):
        image = np.random.default_rng(1).integers(0, 256, (7, 9), dtype=np.uint8)
        for mask in (np.ones(image.shape, bool), np.zeros(image.shape, bool)):
            np.save(self.path("mask.npy"), mask)
            got = self.run_on("regionfill :m", image, "out.npy", "--with", "m=mask.npy")
            np.testing.assert_array_equal(got, image)

    def test_lines_that_were_drawn_are_found(self):
        image = np.zeros((80, 100), bool)
        image[20, 10:91] = True
        image[5:76, 60] = True
        table = self.run_on("houghlines n=2 fillgap=5 minlength=30 origin=0", image, "out.npy")
        np.testing.assert_array_equal(table, [[10, 20, 90, 20, -20, -90], [60, 5, 60, 75, 60, 0]])


class Files(Outlines):
    def test_pages_have_tables_of_their_own(self):
        pages = [mask_of(1), mask_of(2)]
        self.save_pages("pages.tif", pages)
        self.impipe("map 'x > 0' class=logical | polygonize", "pages.tif", "-o",
                    "{stem}_{page}.geojson")
        for number, page in enumerate(pages, 1):
            with open(self.path(f"pages_{number}.geojson"), encoding="utf-8") as file:
                got = json.load(file)
            self.assertEqual(got, self.run_on("polygonize", page, "one.geojson"))

    def save_pages(self, name, pages):
        from PIL import Image
        first, *others = [Image.fromarray(page.astype(np.uint8) * 255) for page in pages]
        first.save(self.path(name), save_all=True, append_images=others)

    def test_geojson_holds_outlines_alone(self):
        np.save(self.path("in.npy"), mask_of(1))
        run = self.impipe("regionprops", "in.npy", "-o", "out.geojson", code=2)
        self.assertIn("GeoJSON holds outlines, and the table of regionprops has none", run.err)
        for pipeline in ("bwboundaries", "polygonize", "convexhull"):
            empty = self.run_on(pipeline, np.zeros((3, 4), bool), "none.geojson")
            self.assertEqual(empty, {"type": "FeatureCollection", "features": []})

    def test_texts_of_a_table_are_its_numbers(self):
        image = mask_of(4)
        wanted = self.run_on("bwboundaries", image, "out.npy")
        self.impipe("bwboundaries", "in.npy", "-o", "out.csv")
        with open(self.path("out.csv"), newline="", encoding="utf-8") as file:
            header, *rows = csv.reader(file)
        self.assertEqual(header, ["Boundary", "Object", "Kind", "Index", "X", "Y"])
        np.testing.assert_array_equal(np.array(rows, float), wanted)
        lines = self.run_on("bwboundaries", image, "out.geojson")["features"]
        points = [point for line in lines for point in line["geometry"]["coordinates"]]
        np.testing.assert_array_equal(points, wanted[:, 4:])

    def test_wrong_vertices_are_named(self):
        for text, why in (("{", "line 1: no JSON: a '\"' is missing"),
                          ('{"type": "LineString", "coordinates": []}', "holds a 'LineString'"),
                          ('{"type": "Polygon"}', "'coordinates' is missing"),
                          ('{"type": "Polygon", "coordinates": [[["a", 1]]]}', "no two numbers"),
                          ("1 2\n3 x", "line 2: 'x' is not a number"),
                          ("1 2 3", "a row of two numbers")):
            with open(self.path("v.json"), "w", encoding="utf-8") as file:
                file.write(text)
            run = self.impipe("poly2mask @v.json size=9", "-o", "out.npy", code=None)
            self.assertNotEqual(run.code, 0)
            self.assertIn(why, run.err)

    def test_a_polygon_that_qgis_or_gdal_wrote_is_read(self):
        feature = {"type": "FeatureCollection", "name": "a \"b\" \\ c",
                   "crs": {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::3857"}},
                   "features": [{"type": "Feature", "properties": {"id": 1, "x": None},
                                 "geometry": {"type": "MultiPolygon", "coordinates": [
                                     [[[0, 0], [6, 0], [6, 6], [0, 6], [0, 0]],
                                      [[2, 2], [2, 4], [4, 4], [4, 2], [2, 2]]],
                                     [[[3, 3, 9.5], [9, 3, 9.5], [9, 9, 9.5], [3, 3, 9.5]]]]}},
                                {"type": "Feature", "properties": None, "geometry": None}]}
        with open(self.path("v.geojson"), "w", encoding="utf-8") as file:
            json.dump(feature, file, indent=1)
        self.impipe("poly2mask @v.geojson size=10", "-o", "out.npy")
        wanted = np.zeros((10, 10), bool)
        wanted[:6, :6] = True
        wanted[2:4, 2:4] = False
        y, x = np.mgrid[0:10, 0:10]
        wanted |= (y >= 3) & (x >= y) & (x < 9) & (y < 9)  # united, not turned over
        np.testing.assert_array_equal(np.load(self.path("out.npy")), wanted)

    def test_plan_says_what_the_host_does(self):
        run = self.impipe("plan", "imbinarize | bwconvhull | imcomplement", "--channels", "1")
        self.assertIn("on_host bwconvhull", run.out)
        for pipeline in ("hough", "imfindcircles 5", "regionprops FilledArea", "polygonize"):
            run = self.impipe("plan", pipeline, "--class", "logical", "--channels", "1")
            self.assertIn("on_host hough" if pipeline == "hough" else "are made on the host",
                          run.out)
        run = self.impipe("plan", "regionprops Area", "--class", "logical", "--channels", "1")
        self.assertNotIn("on the host", run.out)


if __name__ == "__main__":
    unittest.main()
