"""Files of several pages: each is processed, and all are written."""
import os
import resource
import unittest

import numpy as np
import tifffile
from PIL import Image, ImageSequence

from program import SANITIZED, ProgramTest, colour, ramp
from tiff_writer import page, tiff


def pages_of(path):
    with Image.open(path) as picture:
        return [np.array(frame) for frame in ImageSequence.Iterator(picture)]


class Pages(ProgramTest):
    def setUp(self):
        super().setUp()
        self.three = [ramp(20, 30, 1), ramp(11, 7, 2), colour(9, 16, 3)]

    def write_tiff(self, name="a.tif", **options):
        pictures = [Image.fromarray(p) for p in self.three]
        pictures[0].save(self.make_parent(name), save_all=True, append_images=pictures[1:],
                         **options)

    def test_names_of_places_along_axes(self):
        volume = np.arange(2 * 3 * 4 * 5 * 7, dtype=np.uint16).reshape(2, 3, 4, 5, 7)
        tifffile.imwrite(self.path("a.tif"), volume, imagej=True, metadata={"axes": "TZCYX"})
        self.impipe("imadd 0 | save s/{c}-{page:02}.png", "a.tif", "-o", "a/t{t}_z{z:02}_c{c}.png")
        for i, (t, z, c) in enumerate(np.ndindex(2, 3, 4)):
            for name in (f"a/t{t + 1}_z{z + 1:02}_c{c + 1}.png", f"s/{c + 1}-{i + 1:02}.png"):
                np.testing.assert_array_equal(self.pixels(name), volume[t, z, c])
        np.save(self.path("b.npy"), volume[:, :, 0].swapaxes(0, 1))
        self.impipe("imadd 0", "b.npy", "-o", "b/t{t}_z{z:02}_c{c}.png", "--axes", "ZTYX")
        for t, z in np.ndindex(2, 3):
            np.testing.assert_array_equal(self.pixels(f"b/t{t + 1}_z{z + 1:02}_c1.png"),
                                          volume[t, z, 0])
        tifffile.imwrite(self.path("c.tif"), volume[0, 0], metadata=None, photometric="minisblack")
        run = self.impipe("imadd 0", "c.tif", "-o", "{z}.png", code=2)
        self.assertIn("{z}: the pages of 'c.tif' have no axes, but for an NPY --axes names them; "
                      "{page} is their number", run.err)

    def check(self, name, expected):
        found = pages_of(self.path(name))
        self.assertEqual(len(found), len(expected))
        for got, wanted in zip(found, expected):
            np.testing.assert_array_equal(got, wanted)

    def test_all_are_written(self):
        for options in ({}, {"compression": "tiff_lzw"}, {"tiffinfo": {270: "a description"}}):
            self.write_tiff(**options)
            self.assertEqual(self.impipe("imcomplement", "a.tif", "-o", "out/").err, "")
            self.check("out/a.tif", [255 - p for p in self.three])
        with Image.open(self.path("out/a.tif")) as picture:
            for i in range(3):
                picture.seek(i)
                self.assertEqual(picture.tag_v2[297], (i, 3))
            self.assertEqual(picture.tag_v2.get(270), "a description")
        self.assertRegex(self.impipe("info", "out/a.tif").out, ", 3 pages\n$")

    def test_in_place_keeps_all(self):
        self.write_tiff()
        self.impipe("imcomplement", "a.tif", "--in-place")
        self.check("a.tif", [255 - p for p in self.three])
        run = self.impipe("imcomplement", "a.tif", "--in-place", "--pages", "2", code=1)
        self.assertEqual(run.err, "impipe: a.tif: plan: it has 3 pages, and --in-place would not "
                                  "keep all of them\n")
        self.check("a.tif", [255 - p for p in self.three])

    def test_of_every_layout(self):
        gray, words = ramp(20, 30), ramp(20, 30, 4).astype(np.uint16) * 257
        for big in (False, True):
            for order in "<>":
                with self.subTest(big=big, order=order):
                    self.write("a.tif", tiff(page(gray, order=order), page(words, order=order),
                                             page(gray, order=order), big=big))
                    self.impipe("imcomplement", "a.tif", "-o", "b.tif")
                    self.check("b.tif", [255 - gray, 65535 - words, 255 - gray])

    def test_some_pages(self):
        self.write_tiff()
        for text, chosen in (("1", [0]), ("2", [1]), ("3", [2]), ("1,3", [0, 2]), ("2-3", [1, 2]),
                             ("2-", [1, 2]), ("1-9", [0, 1, 2]), ("3,1-2", [2, 0, 1]), ("2,2,1", [1, 0])):
            with self.subTest(text):
                self.impipe("imcomplement", "a.tif", "--pages", text, "-o", "b.tif")
                self.check("b.tif", [255 - self.three[i] for i in chosen])
        run = self.impipe("imcomplement", "a.tif", "--pages", "4-5", "-o", "b.tif", code=1)
        self.assertEqual(run.err, "impipe: a.tif: decode: it has 3 pages, none of which --pages "
                                  "asks for\n")
        said = "it has 3 pages, and --pages asks for {} too\n"
        for text, more in (("1,9", "9"), ("2-9", "4-9"), ("4,1,6-", "4, 6-"), ("1-", None)):
            with self.subTest(text):
                run = self.impipe("imcomplement", "a.tif", "--pages", text, "-o", "b.tif")
                self.assertEqual(run.err, f"impipe: a.tif: {said.format(more)}" if more else "")
                run = self.impipe("imcomplement", "a.tif", "--pages", text, "-o", "b.tif", "--strict",
                                  code=1 if more else 0)
                self.assertEqual(run.err, f"impipe: a.tif: decode: --strict: {said.format(more)}"
                                 if more else "")
        run = self.impipe("imcomplement", "a.tif", "--pages", "2-3,1,3", "-o", "b.tif")
        self.assertEqual(run.err, "impipe: --pages names page 3 twice, and each is taken once\n")
        self.write_tiff("c.tif")
        self.picture("one.png", self.three[0])
        run = self.impipe("mean2", "one.png", "a.tif", "c.tif", "--pages", "1,5")
        self.assertEqual(run.err, "impipe: one.png: it has 1 page, and --pages asks for 5 too; "
                                  "2 other files lack pages, too\n")
        for text in ("0", "", "1,", "3-2", "a", "-1", "1-2-3", "99999999999"):
            if text:
                run = self.impipe("imcomplement", "a.tif", "--pages", text, "-o", "b.tif", code=2)
                self.assertEqual(run.err.splitlines()[0], f"impipe: --pages: '{text}' is no list "
                                                          "of pages, from 1, such as 1,3-5")

    def test_to_formats_of_one_page(self):
        self.write_tiff()
        run = self.impipe("imcomplement", "a.tif", "-o", "out.png", code=1)
        self.assertEqual(run.err, "impipe: a.tif: plan: it has 3 pages, and PNG holds one; "
                                  "-o '{stem}_{page}.png' names each, --pages takes some\n")
        self.assertEqual(self.tree(), ["a.tif"])
        self.impipe("imcomplement", "a.tif", "-o", "out/{stem}_{page:02}.png")
        self.assertEqual(self.tree("out"), ["a_01.png", "a_02.png", "a_03.png"])
        for i, pixels in enumerate(self.three):
            np.testing.assert_array_equal(self.pixels(f"out/a_0{i + 1}.png"), 255 - pixels)
        self.impipe("imcomplement", "a.tif", "--pages", "2", "-o", "one_{page}.png")
        np.testing.assert_array_equal(self.pixels("one_2.png"), 255 - self.three[1])
        self.picture("b.png", self.three[0])
        self.impipe("imcomplement", "b.png", "-o", "c{page}.png")
        self.assertIn("c1.png", self.tree())

    def test_save_writes_every_page(self):
        self.write_tiff()
        inverse = [255 - p for p in self.three]
        run = self.impipe("imcomplement | save steps/{stem}.tif | fliplr", "a.tif", "-o", "out/")
        self.assertEqual(run.err, "")
        self.check("steps/a.tif", inverse)
        self.check("out/a.tif", [p[:, ::-1] for p in inverse])
        # A file a page, of the result or of the intermediate image alone; and of some pages.
        self.impipe("imcomplement | save steps/{page:02}.png | fliplr", "a.tif", "-o", "b.tif")
        self.impipe("save c.tif | imcomplement", "a.tif", "-o", "c{page}.png", "--pages", "2-3")
        self.impipe("save d{page}.png | rgb2gray | mean2", "a.tif", "--pages", "2")
        self.check("b.tif", [p[:, ::-1] for p in inverse])
        self.check("c.tif", self.three[1:])
        for i in range(3):
            np.testing.assert_array_equal(self.pixels(f"steps/0{i + 1}.png"), inverse[i])
        np.testing.assert_array_equal(self.pixels("c3.png"), inverse[2])
        np.testing.assert_array_equal(self.pixels("d2.png"), self.three[1])
        self.assertEqual(self.tree(), ["a.tif", "b.tif", "c.tif", "c2.png", "c3.png", "d2.png",
                                       "out/a.tif", "steps/01.png", "steps/02.png",
                                       "steps/03.png", "steps/a.tif"])

    def test_save_of_pages_in_a_format_of_one(self):
        self.write_tiff()
        run = self.impipe("save s.png | imcomplement", "a.tif", "-o", "out.tif", code=1)
        self.assertEqual(run.err, "impipe: a.tif: plan: it has 3 pages, and 's.png' of `save` is "
                                  "one PNG; save '{stem}_{page}.png' names each\n")
        self.assertEqual(self.tree(), ["a.tif"])

    def test_saved_pages_that_exist_are_kept(self):
        self.write_tiff()
        command = ["imcomplement | save s{page}.png | fliplr", "a.tif", "-o", "out.tif"]
        self.impipe(*command)
        self.write("s2.png", b"mine")
        os.remove(self.path("s3.png"))
        self.impipe(*command, "--no-clobber")
        with open(self.path("s2.png"), "rb") as kept:
            self.assertEqual(kept.read(), b"mine")
        np.testing.assert_array_equal(self.pixels("s3.png"), 255 - self.three[2])

    def test_saved_pages_of_numbers_that_a_later_page_breaks(self):
        """All pages of a file have one type: floats where int16 does not hold one of them."""
        counts = np.stack([np.full((4, 5), 100, np.int16), np.full((4, 5), 30000, np.int16)])
        np.save(self.path("a.npy"), counts)
        self.impipe("immultiply 2 | save double.npy | immultiply 0.5", "a.npy", "-o", "b.npy",
                    "--axes", "ZYX")
        saved = np.load(self.path("double.npy"))
        np.testing.assert_array_equal(saved, counts.astype(np.float32) * 2)
        np.testing.assert_array_equal(np.load(self.path("b.npy")), counts)

    def test_two_files_in_one_name(self):
        self.write_tiff("x/a.tif")
        self.write_tiff("y/a.tif")
        run = self.impipe("imcomplement", "x/a.tif", "y/a.tif", "-o", "{stem}_{page}.png", code=2)
        self.assertIn("would be written to 'a_1.png'", run.err)

    def test_a_file_that_is_named_twice_is_twice_in_one_file(self):
        a, b = ramp(20, 30, 1), ramp(20, 30, 2)
        self.picture("a.png", a)
        self.picture("b.png", b)
        self.write("list", "a.png\nb.png\na.png\n")
        for inputs in (["a.png", "b.png", "a.png"], ["--files-from", "list"]):
            self.impipe("imcomplement", *inputs, "-o", "c.tif")
            self.check("c.tif", [255 - p for p in (a, b, a)])
            run = self.impipe("imcomplement", *inputs, "-o", "c.y4m")
            self.assertRegex(run.end, r"^impipe: 3 files in [\d.]+ s -> c.y4m\n$")
            self.assertIn(" 3 pages", self.impipe("info", "c.y4m").out)
            self.impipe("imcomplement", *inputs, "-o", "out/")
            self.assertEqual(self.tree("out"), ["a.png", "b.png"])
        self.impipe("imcomplement", "a.png", "*.png", "-o", "c.tif")  # a pattern names what is left
        self.check("c.tif", [255 - a, 255 - b])

    def test_measurements_have_a_row_a_page(self):
        self.write_tiff()
        self.picture("b.png", self.three[0])
        run = self.impipe("rgb2gray | max", "a.tif", "b.png")
        rows = [line.split("\t") for line in run.lines()]
        self.assertEqual(rows[0], ["file", "page", "max"])
        self.assertEqual([row[:2] for row in rows[1:4]], [["a.tif", str(i)] for i in (1, 2, 3)])
        self.assertEqual([float(row[2]) for row in rows[1:3]],
                         [float(p.max()) for p in self.three[:2]])
        self.assertEqual(rows[4], ["b.png", "", rows[1][2]])
        turned = self.impipe("rgb2gray | max", "b.png", "a.tif").lines()
        self.assertEqual(turned, run.lines()[:1] + run.lines()[4:] + run.lines()[1:4])
        run = self.impipe("imcomplement", "a.tif", "-n", "--hash")
        self.assertEqual(len({line.split("\t")[2] for line in run.lines()[1:]}), 3)

    def test_the_row_of_one_page_of_several_names_it(self):
        self.three = [ramp(20, 30, i) for i in range(3)]
        self.write_tiff()
        peak = str(int(self.three[1].max()))
        for text in ("max", "temporal max 1 | max"):
            run = self.impipe(text, "a.tif", "--pages", "2")
            self.assertEqual(run.out, f"file\tpage\tmax\na.tif\t2\t{peak}\n")
        run = self.impipe("project max | max", "a.tif", "--pages", "2")
        self.assertEqual(run.out, f"file\tmax\na.tif\t{peak}\n")
        run = self.impipe("stack max | max", "a.tif", "a.tif", "--pages", "2", "--no-header")
        self.assertEqual(run.out, f"2 files\t2\t{peak}\n")

    def test_a_damaged_page_fails_the_file(self):
        data = tiff(page(ramp(20, 30)), page(ramp(20, 30), photometric=8))
        self.write("a.tif", data)
        run = self.impipe("imcomplement", "a.tif", "-o", "b.tif", code=1)
        self.assertEqual(run.err, "impipe: a.tif: compute: page 2: TIFF of photometric "
                                  "interpretation 8 (CIELab) is not supported\n")
        self.assertEqual(self.tree(), ["a.tif"])
        self.impipe("imcomplement", "a.tif", "--pages", "1", "-o", "b.tif")
        self.check("b.tif", [255 - ramp(20, 30)])

    def test_exif_of_the_first_page_and_order_of_bytes(self):
        gray = ramp(20, 30)
        for order in "<>":
            self.write("a.tif", tiff(page(gray, tags=[(271, 1, b"Cam!")], order=order),
                                     page(gray, order=order),
                                     page(gray, tags=[(271, 1, b"Two!")], order=order)))
            self.impipe("imcomplement", "a.tif", "-o", "b.tif")
            self.check("b.tif", [255 - gray] * 3)
            with Image.open(self.path("b.tif")) as picture:
                makes = []
                for i in range(3):
                    picture.seek(i)
                    makes.append(picture.tag_v2.get(271))
            self.assertEqual(makes, [b"Cam!", None, b"Two!"])

    def test_operands_have_one_page(self):
        self.write_tiff()
        self.picture("b.png", self.three[0])
        run = self.impipe("imadd :b", "b.png", "--with", "b=a.tif", "-o", "c.png", code=None)
        self.assertEqual(run.code, 1, run)
        self.assertIn("it has 3 pages", run.err)

    def test_operands_of_as_many_pages_go_by_page(self):
        a, b = ([ramp(20, 30, seed + i) for i in range(3)] for seed in (0, 5))
        for name, pages in (("a.tif", a), ("b.tif", b), ("two.tif", b[:2])):
            self.three = pages
            self.write_tiff(name)
        self.picture("one.png", b[0])
        apart = [np.abs(x.astype(int) - y) for x, y in zip(a, b)]
        self.impipe("imabsdiff :b", "a.tif", "--with", "b=b.tif", "-o", "c.tif")
        np.testing.assert_array_equal(pages_of(self.path("c.tif")), apart)
        self.impipe("imabsdiff :b", "a.tif", "--with", "b=b.tif", "--pages", "3,1", "-o", "c.tif")
        np.testing.assert_array_equal(pages_of(self.path("c.tif")), [apart[2], apart[0]])
        for text in ("imabsdiff :b", "imabsdiff :b | project max"):
            self.impipe(text, "a.tif", "--with", "b=b.tif", "--pages", "2", "-o", "c.png")
            np.testing.assert_array_equal(self.pixels("c.png"), apart[1])
        for text in ("imabsdiff :b | stack max", "stack max | imabsdiff :b"):
            self.impipe(text, "a.tif", "a.tif", "--with", "b=b.tif", "-o", "c.tif")
            np.testing.assert_array_equal(pages_of(self.path("c.tif")), apart)
        self.impipe("imabsdiff :b | project max", "a.tif", "--with", "b=b.tif", "-o", "c.png")
        np.testing.assert_array_equal(self.pixels("c.png"), np.max(apart, axis=0))
        self.impipe("imabsdiff :b", "a.tif", "--with", "b=one.png", "-o", "c.tif")
        np.testing.assert_array_equal(pages_of(self.path("c.tif")),
                                      [np.abs(x.astype(int) - b[0]) for x in a])
        run = self.impipe("imabsdiff :b", "a.tif", "--with", "b=two.tif", "-o", "d.tif", code=1)
        self.assertIn("two.tif: it has 2 pages, and one is wanted here", run.err)
        run = self.impipe("project max | imabsdiff :b", "a.tif", "--with", "b=b.tif", "-o", "d.tif",
                          code=1)
        self.assertIn("b.tif: its 3 pages go with those of the input, which a stage before it joins",
                      run.err)
        self.assertNotIn("d.tif", self.tree())

    def test_update_knows_two_operands_that_go_by_page(self):
        self.three = [ramp(20, 30, i) for i in range(3)]
        for name in ("a.tif", "b.tif", "c.tif"):
            self.write_tiff(name)
        os.utime(self.path("b.tif"), (1e9, 1e9))
        for pages in (["--pages", "1"], ["--pages", "1-2"]):
            command = ["imlincomb 0.5 0.5 :b 0.5 :c", "a.tif", "--with", "b=b.tif", "--with",
                       "c=c.tif", *pages, "-o", "d.tif", "-u"]
            self.impipe(*command)
            made = os.stat(self.path("d.tif")).st_mtime_ns
            self.impipe(*command)
            self.assertEqual(os.stat(self.path("d.tif")).st_mtime_ns, made)

    def test_frames_of_an_animation(self):
        frames = [Image.fromarray(colour(24, 32, i) // (i + 1)) for i in range(4)]
        frames[0].save(self.path("a.webp"), save_all=True, append_images=frames[1:], lossless=True,
                       duration=40)
        run = self.impipe("imcomplement", "a.webp", "-o", "b.tif")
        self.assertEqual(run.err, "impipe: a.webp: the result is without the times of its frames\n")
        frames = pages_of(self.path("a.webp"))
        found = pages_of(self.path("b.tif"))
        self.assertEqual(len(found), 4)
        for got, wanted in zip(found, frames):
            np.testing.assert_array_equal(got[..., :3], 255 - wanted[..., :3])
            self.assertTrue((got[..., 3:] == 255).all())
        run = self.impipe("imcomplement", "a.webp", "--in-place", code=1)
        self.assertEqual(run.err, "impipe: a.webp: plan: it has 4 pages, and --in-place would not "
                                  "keep all of them\n")

    def user_seconds(self, *arguments):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        self.impipe(*arguments)
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before

    def test_frames_are_decoded_once(self):
        frames = [Image.fromarray(ramp(300, 400, i).astype(np.uint8)) for i in range(80)]
        for name, options in (("a.gif", {}), ("a.webp", {"lossless": True, "method": 0})):
            with self.subTest(name):
                frames[0].save(self.path(name), save_all=True, append_images=frames[1:],
                               duration=40, **options)

                def seconds(count):
                    return min(self.user_seconds("mean2", name, "--pages", f"1-{count}", "-j", 1)
                               for _ in range(2))
                one, few, many = seconds(2), seconds(20), seconds(80)
                # 4.3 times as long; if each began with the first frame, 15 times.
                self.assertLess(many - one, 9 * max(few - one, 0.02), (one, few, many))

    def test_the_directories_of_many_pages_are_read_once(self):
        one = page(ramp(8, 8), compression=1)

        def seconds(count):
            self.write("many.tif", tiff(*[one] * count))
            return min(self.user_seconds("mean2", "many.tif", "-j", 1) for _ in range(2))
        none, few, many = seconds(2), seconds(700), seconds(2800)
        # 4 times as long; if each page began with the first directory, 16 times.
        self.assertLess(many - none, 9 * max(few - none, 0.03), (none, few, many))

    def test_frames_in_any_order(self):
        frames = [Image.fromarray(colour(24, 32, i) // (i + 1)) for i in range(9)]
        for name in ("a.gif", "a.webp"):
            frames[0].save(self.path(name), save_all=True, append_images=frames[1:], duration=40)
            rows = [self.impipe("mean2", name, "--pages", i, "--no-header").out
                    for i in range(1, 10)]
            self.assertEqual(len(set(rows)), 9)
            for pages, chosen in (("1-9", range(9)), ("2,5-6,9", (1, 4, 5, 8)), ("3-", range(2, 9))):
                run = self.impipe("mean2", name, "--pages", pages, "--no-header")
                self.assertEqual([line.split("\t")[1:] for line in run.out.splitlines()],
                                 [[str(i + 1), rows[i].split("\t")[-1].strip()] for i in chosen])

    def test_many_pages_take_the_memory_of_one(self):
        one = page(np.zeros((1000, 1000), np.uint8), compression=1)
        self.write("one.tif", tiff(one))
        self.write("many.tif", tiff(*[one] * 30))
        few = self.peak_memory("imcomplement", "one.tif", "-n")
        many = self.peak_memory("imcomplement", "many.tif", "-n")
        file_kib = os.path.getsize(self.path("many.tif")) / 1024
        # A sanitizer keeps what is freed: at most half of what all pages at once would take.
        room = 15 * 1000 if SANITIZED else 0
        self.assertLess(many, few + file_kib + 8192 + room)


if __name__ == "__main__":
    unittest.main()
