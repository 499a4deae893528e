"""EXR files of several parts: which are pictures, and that the others stay as they are."""
import os
import shutil
import struct
import subprocess
import unittest

import numpy as np
from PIL import Image

from exr_writer import (FLOAT, HALF, UINT, attribute, box, deep_part, exr, part, parts, pixels_of,
                        take_apart, text)
from program import ProgramTest, colour, ramp

RAMP = ramp(5, 7) / np.float32(256)
DEPTH = (RAMP + np.float32(1 / 3)) * np.float32(1e6)
IDS = np.arange(35, dtype=np.uint32).reshape(5, 7) + np.uint32(4294967000)
SAMPLES = [[[x + y / 8] * ((x + y) % 3) for x in range(7)] for y in range(5)]


def rgb(seed=0):
    pixels = colour(5, 7, seed) / np.float32(256)
    return {name: (HALF, pixels[..., i]) for i, name in enumerate("RGB")}


def beauty(**more):
    return part("beauty", {**rgb(), "Z": (FLOAT, DEPTH)}, **more)


def render():
    """What a renderer writes: a picture with a depth, lights, depths, names of objects, deep data."""
    matte = {**rgb(5), "A": (FLOAT, RAMP)}
    name = text("cryptomatte/1234567/name", "crypto_object")
    return parts(part("depth", {"Z": (FLOAT, DEPTH)}), beauty(extra=text("view", "left")),
                 part("crypto_object00", matte, extra=name), part("ids", {"id": (UINT, IDS)}),
                 part("diffuse", {f"diffuse.{n}": c for n, c in rgb(9).items()}),
                 part("N", {f"N.{n}": (HALF, RAMP) for n in "XYZ"}), deep_part("deep", SAMPLES))


PICTURES = {"beauty": "RGB", "diffuse": ["diffuse.R", "diffuse.G", "diffuse.B"]}


class Parts(ProgramTest):
    def written(self, name="out/a.exr"):
        with open(self.path(name), "rb") as file:
            found = take_apart(file.read())
        return {one["header"].get("name", b"").decode(): one for one in found}

    def judge(self, *command):
        """oiiotool and OpenEXR's own tools, which have to read what is written."""
        if shutil.which(command[0]) is None:
            self.fail(f"no {command[0]}: scripts/setup.sh test")
        return subprocess.run(command, cwd=self.folder, check=True, capture_output=True,
                              text=True).stdout

    def check_same(self, before, after, name):
        drop = ("chunkCount",)
        for key, value in before[name]["header"].items():
            if key not in drop:
                self.assertEqual(after[name]["header"][key], value, (name, key))
        self.assertEqual(before[name]["chunks"], after[name]["chunks"], name)

    def check_scaled(self, before, after, name, factor, channels):
        for channel in before[name]["channels"]:
            scale = np.float32(factor if channel in channels else 1)
            old, new = pixels_of(before[name], channel), pixels_of(after[name], channel)
            self.assertEqual(old.dtype, new.dtype)
            wanted = old if scale == 1 else (old.astype(np.float32) * scale).astype(old.dtype)
            np.testing.assert_array_equal(new, wanted, err_msg=f"{name} {channel}")

    def test_pictures_are_processed_and_all_else_stays(self):
        self.write("a.exr", render())
        run = self.impipe("imlincomb 0.5", "a.exr", "-o", "out/")
        self.assertEqual(run.err, "")
        before, after = self.written("a.exr"), self.written()
        self.assertEqual(list(after), list(before))
        for name in before:
            if name not in PICTURES:
                self.check_same(before, after, name)
        for name, channels in PICTURES.items():
            self.check_scaled(before, after, name, 0.5, channels)
        self.assertEqual(after["beauty"]["header"]["view"], b"left")
        said = self.judge("exrheader", "out/a.exr")
        self.assertIn('"deepscanline"', said)
        self.assertIn("flags 0x1c00", said)  # parts, deep data, long names

    def test_all_of_them_read_by_another_program(self):
        """oiiotool makes parts of every packing, and compares."""
        def noise(name, channels, kind, more):
            self.judge("oiiotool", "--pattern", f"noise:type=uniform:seed={len(name)}", "70x50",
                       str(len(channels)), "-d", kind, "--chnames", ",".join(channels), *more,
                       "--attrib", "oiio:subimagename", name, "-o", name + ".exr")
        noise("a", "RGBA", "half", ["--compression", "piz", "--tile", "32", "16"])
        noise("bb", "RGB", "float", ["--compression", "zip"])
        noise("ccc", ["Z"], "float", ["--compression", "rle"])
        noise("dddd", ["u.U", "u.V", "w", "m"], "half", ["--compression", "zips"])
        self.judge("exrmultipart", "-combine", "-i", "a.exr", "bb.exr", "ccc.exr", "dddd.exr", "-o",
                   "all.exr")
        self.impipe("imlincomb 1", "all.exr", "-o", "out/")
        self.judge("oiiotool", "-a", "--fail", "0", "--failpercent", "0", "--diff", "all.exr",
                   "out/all.exr")
        self.assertEqual(self.headers("out/all.exr"), self.headers("all.exr"))
        self.impipe("imlincomb 2", "all.exr", "-o", "out/")
        for number, scale in enumerate(("2,2,2,1", "2", "1", "1")):
            self.judge("oiiotool", "all.exr", "--subimage", str(number), "--mulc", scale,
                       "-o", "wanted.exr", "out/all.exr", "--subimage", str(number), "-o", "got.exr")
            self.judge("oiiotool", "--fail", "1e-3", "--hardfail", "2e-3", "--diff", "wanted.exr",
                       "got.exr")

    def headers(self, name):
        return sorted(line for line in self.judge("exrheader", name).splitlines()[3:] if line)

    def test_some_of_them(self):
        self.write("a.exr", render())
        self.impipe("imlincomb 0.5", "a.exr", "--parts", "diffuse", "-o", "out/")
        before, after = self.written("a.exr"), self.written()
        for name in set(before) - {"diffuse"}:
            self.check_same(before, after, name)
        self.check_scaled(before, after, "diffuse", 0.5, PICTURES["diffuse"])
        # Also those that are none by themselves.
        self.impipe("imlincomb 0.5", "a.exr", "--parts", "depth,crypto_object00", "-o", "out/")
        after = self.written()
        self.check_scaled(before, after, "depth", 0.5, "Z")
        self.assertNotEqual(before["crypto_object00"]["chunks"], after["crypto_object00"]["chunks"])
        self.check_same(before, after, "beauty")
        run = self.impipe("imlincomb 1", "a.exr", "--parts", "difuse", "-o", "b.exr", code=1)
        self.assertIn("a.exr: decode: --parts: it has no part difuse, but depth, beauty, "
                      "crypto_object00, ids, diffuse, N, deep; did you mean 'diffuse'?", run.err)
        self.picture("b.png")
        run = self.impipe("imlincomb 1", "b.png", "--parts", "diffuse", "-o", "b.exr", code=1)
        self.assertIn("b.png: decode: --parts: it has no parts", run.err)
        run = self.impipe("imlincomb 1", "a.exr", "--parts", "deep", "-o", "b.exr", code=1)
        self.assertIn("EXR with deep data (several samples a pixel) is not supported", run.err)
        self.assertFalse(os.path.exists(self.path("b.exr")))

    def test_named_channels(self):
        self.write("a.exr", render())
        before = self.written("a.exr")
        for named, changed in (("Z", {"depth": "Z", "beauty": "Z"}), ("depth.Z", {"depth": "Z"}),
                               ("depth", {"depth": "Z"}), ("beauty.Z,N.X", {"beauty": "Z", "N": ["N.X"]}),
                               ("N", {"N": ["N.X", "N.Y", "N.Z"]})):
            with self.subTest(named):
                self.impipe("imlincomb 0.5", "a.exr", "--channels", named, "-o", "out/")
                after = self.written()
                for name in before:
                    if name in changed:
                        self.check_scaled(before, after, name, 0.5, changed[name])
                    else:
                        self.check_same(before, after, name)
        run = self.impipe("imlincomb 1", "a.exr", "--channels", "Q", "-o", "b.exr", code=1)
        self.assertIn("a.exr: decode: EXR without a channel Q; it has Z, B, G, R, A, id, diffuse.B, "
                      "diffuse.G, diffuse.R, N.X, N.Y, N.Z", run.err)

    def test_pages_takes_some_alone(self):
        self.write("a.exr", render())
        self.impipe("imlincomb 0.5", "a.exr", "--pages", "5", "-o", "out/")
        after = self.written()
        self.assertEqual(list(after), ["diffuse"])
        self.check_scaled(self.written("a.exr"), after, "diffuse", 0.5, PICTURES["diffuse"])
        self.impipe("imlincomb 1", "a.exr", "--pages", "1", "-o", "z.npy")
        np.testing.assert_array_equal(self.pixels("z.npy"), DEPTH)
        self.impipe("imlincomb 0.5", "a.exr", "--pages", "1-2", "-o", "out/")
        self.assertEqual(list(self.written()), ["depth", "beauty"])
        run = self.impipe("imlincomb 1", "a.exr", "--pages", "7", "-o", "b.exr", code=1)
        self.assertIn("EXR with deep data (several samples a pixel) is not supported", run.err)

    def test_other_formats(self):
        self.write("a.exr", render())
        others = "parts (depth, crypto_object00, ids, N, deep)"
        run = self.impipe("imlincomb 1", "a.exr", "-o", "{stem}_{page}.npy")
        self.assertEqual(self.tree(), ["a.exr", "a_2.npy", "a_5.npy"])
        self.assertIn(f"a.exr: the result is without {others}", run.err)
        np.testing.assert_array_equal(self.pixels("a_5.npy"),
                                      np.stack([c[1] for c in rgb(9).values()], axis=-1))
        self.impipe("imlincomb 1", "a.exr", "-o", "c_{page}.exr")
        self.assertEqual(list(self.written("c_2.exr")), ["beauty"])
        run = self.impipe("imlincomb 1", "a.exr", "-o", "d_{page}.exr", "--strict", code=1)
        self.assertIn(others, run.err)
        run = self.impipe("imlincomb 1", "a.exr", "-o", "b.tif")
        self.assertIn(others, run.err)
        self.assertIn(", 2 pages\n", self.impipe("info", "b.tif").out)
        run = self.impipe("imlincomb 1", "a.exr", "-o", "b.png", code=1)
        self.assertIn("a.exr: plan: it has 7 pages, and PNG holds one", run.err)

    def test_measurements_have_a_row_a_part(self):
        self.write("a.exr", render())
        rows = [line.split("\t") for line in self.impipe("mean2", "a.exr").lines()]
        self.assertEqual([row[:2] for row in rows],
                         [["file", "page"], ["a.exr", "2"], ["a.exr", "5"]])
        for row, seed in zip(rows[1:], (0, 9)):
            wanted = np.mean([c[1] for c in rgb(seed).values()])
            np.testing.assert_allclose(float(row[2]), wanted, rtol=1e-6)

    def test_in_place(self):
        self.write("a.exr", render())
        before = self.written("a.exr")
        self.impipe("imlincomb 0.5", "a.exr", "--in-place")
        after = self.written("a.exr")
        for name in before:
            if name not in PICTURES:
                self.check_same(before, after, name)
        self.check_scaled(before, after, "beauty", 0.5, "RGB")
        run = self.impipe("imlincomb 0.5", "a.exr", "--in-place", "--pages", "2", code=1)
        self.assertIn("it has 7 pages, and --in-place would not keep all of them", run.err)

    def test_one_picture_among_others(self):
        self.write("a.exr", parts(beauty(), part("depth", {"Z": (FLOAT, DEPTH)})))
        self.impipe("imlincomb 0.5 | save half.exr | imlincomb 2", "a.exr", "-o", "out/")
        before, after = self.written("a.exr"), self.written()
        self.check_same(before, after, "depth")
        self.check_scaled(before, after, "beauty", 1, "")
        saved = self.written("half.exr")
        self.check_same(before, saved, "depth")
        self.check_scaled(before, saved, "beauty", 0.5, "RGB")
        self.assertRegex(self.impipe("info", "a.exr").out,
                         "part beauty, beside the part depth, 2 pages\n$")
        # It is the picture of a second input too.
        self.impipe("imlincomb 1 -1 :b", "a.exr", "--with", "b=a.exr", "-o", "zero.npy",
                    "--pages", "1")
        self.assertEqual(np.abs(self.pixels("zero.npy")).max(), 0)
        run = self.impipe("imlincomb 1", "a.exr", "-o", "b.png")
        self.assertIn("without channels (Z), parts (depth)", run.err)

    def test_depths_alone_are_pictures(self):
        self.write("a.exr", parts(part("left", {"Z": (FLOAT, DEPTH)}),
                                  part("right", {"Z": (FLOAT, DEPTH)})))
        self.impipe("imlincomb 0.5", "a.exr", "-o", "out/")
        for name in ("left", "right"):
            self.check_scaled(self.written("a.exr"), self.written(), name, 0.5, "Z")

    def test_cryptomattes_of_a_single_part(self):
        names = text("cryptomatte/1234567/name", "crypto_object")
        data = {**{f"beauty.{n}": c for n, c in rgb().items()},
                **{f"crypto_object00.{n}": (FLOAT, RAMP) for n in "RGBA"}}
        self.write("a.exr", exr(data, extra=names))
        self.impipe("imlincomb 0.5", "a.exr", "-o", "out/")
        self.check_scaled(self.written("a.exr"), self.written(), "", 0.5,
                          ["beauty.R", "beauty.G", "beauty.B"])

    def test_pixels_that_move(self):
        self.write("a.exr", render())
        for pipeline in ("fliplr", "imresize 2"):
            run = self.impipe(pipeline, "a.exr", "-o", "out/", code=1)
            self.assertIn("the pipeline moves pixels or changes the size, and the EXR's other "
                          "channels (Z) and parts (depth, crypto_object00, ids, N, deep) would stay "
                          "as they were; process them too (--channels all), take some parts alone "
                          "(--pages), or write another format, which is without them", run.err)
        # All are pictures: they move together, into one display.
        self.write("b.exr", parts(part("small", rgb(), window=(2, 3), display=(0, 0, 64, 48)),
                                  part("wide", {"Y": (HALF, np.tile(RAMP, (1, 2)))}, (14, 5),
                                       display=(0, 0, 64, 48))))
        self.impipe("imresize 2 nearest", "b.exr", "-o", "out/")
        after = self.written("out/b.exr")
        self.assertEqual(after["small"]["header"]["dataWindow"], box(4, 6, 14, 10))
        for name in after:
            self.assertEqual(after[name]["header"]["displayWindow"], box(0, 0, 128, 96))
        self.judge("oiiotool", "--info", "-v", "-a", "out/b.exr")
        self.impipe("imgaussfilt 1", "b.exr", "-o", "out/")
        after = self.written("out/b.exr")
        self.assertEqual(after["small"]["header"]["dataWindow"], box(2, 3, 7, 5))
        self.assertEqual(after["wide"]["header"]["displayWindow"], box(0, 0, 64, 48))

    def test_strip_leaves_attributes_of_all_parts_out(self):
        stamp = attribute("timeCode", "timecode", bytes(8)) + text("owner", "me")
        self.write("a.exr", parts(beauty(extra=stamp),
                                  part("depth", {"Z": (FLOAT, DEPTH)}, extra=stamp)))
        self.impipe("imlincomb 1", "a.exr", "-o", "out/")
        for one in self.written().values():
            self.assertEqual(one["header"]["owner"], b"me")
        self.impipe("imlincomb 1", "a.exr", "-o", "out/", "--strip")
        for one in self.written().values():
            self.assertFalse({"owner", "timeCode"} & set(one["header"]))
        self.judge("oiiotool", "--info", "-v", "-a", "out/a.exr")

    def test_pages_of_other_formats_become_parts(self):
        pages = [Image.fromarray(p) for p in (ramp(20, 30), ramp(11, 7), colour(9, 16))]
        pages[0].save(self.path("a.tif"), save_all=True, append_images=pages[1:])
        self.impipe("imlincomb 1", "a.tif", "-o", "a.exr")
        self.assertEqual(list(self.written("a.exr")), ["page 1", "page 2", "page 3"])
        self.judge("oiiotool", "--info", "-v", "-a", "a.exr")
        self.impipe("imlincomb 1", "a.exr", "-o", "{stem}_{page}.npy")
        for number, page in enumerate(pages, 1):
            np.testing.assert_allclose(self.pixels(f"a_{number}.npy"),
                                       np.asarray(page) / np.float32(255), atol=1e-7)

    def test_luminance_and_chroma_in_a_part(self):
        y = np.tile(np.arange(8, dtype=np.float32) / 8, (6, 1))
        none = np.zeros((3, 4))
        luma = {"Y": (HALF, y), "RY": (HALF, none, 2, 2), "BY": (HALF, none, 2, 2)}
        self.write("a.exr", parts(part("depth", {"Z": (FLOAT, y)}, (8, 6)), part("luma", luma, (8, 6))))
        self.impipe("imlincomb 1", "a.exr", "-o", "a.npy")
        np.testing.assert_allclose(self.pixels("a.npy"), np.stack([y] * 3, axis=-1), atol=1e-3)

    def test_the_order_of_lines_stays(self):
        """Of parts that stay, chunks lie as they lay."""
        head, chunks = part("depth", {"Z": (FLOAT, DEPTH)}, order=1)
        fixed = bytearray(parts(beauty(), (head, chunks[::-1])))
        # The table counts from the top whatever the order is.
        at = take_apart_tables(fixed, [5, 5])[1]
        struct.pack_into("<5Q", fixed, at, *reversed(struct.unpack_from("<5Q", fixed, at)))
        self.write("a.exr", bytes(fixed))
        self.impipe("imlincomb 0.5", "a.exr", "-o", "out/")
        after = self.written()["depth"]
        self.assertEqual(after["header"]["lineOrder"], b"\1")
        self.assertEqual(list(after["places"]), sorted(after["places"], reverse=True))
        self.check_same(self.written("a.exr"), self.written(), "depth")


def take_apart_tables(data, counts):
    """Where the tables of chunks begin."""
    end = sum(counts) * 8
    first = min(struct.unpack_from("<Q", data, at)[0] for at in range(8, len(data) - 8)
                if struct.unpack_from("<Q", data, at)[0] == at + end)
    begin = first - end
    return [begin + 8 * sum(counts[:i]) for i in range(len(counts))]


class Deep(ProgramTest):
    def test_alone(self):
        head, chunks = deep_part("deep", SAMPLES)
        for data in (parts((head, chunks)), parts((head, chunks), deep_part("more", SAMPLES))):
            self.write("a.exr", data)
            run = self.impipe("imlincomb 1", "a.exr", "-o", "b.exr", code=1)
            self.assertRegex(run.err, "^impipe: a.exr: decode: EXR with ")
            self.assertIn("deep data", run.err)
            self.assertFalse(os.path.exists(self.path("b.exr")))
        self.assertIn("EXR with 2 parts, none of which is a picture (deep: deep data; more: deep "
                      "data), is not supported", run.err)

    def test_of_lines_and_tiles_by_another_writer(self):
        """OpenEXR's tools put deep files beside a picture; the deep parts come back whole."""
        for name in ("deep_lines", "deep_tiles"):
            with self.subTest(name):
                deep = os.path.join(os.path.dirname(__file__), "../data/io", f"exr_{name}.exr")
                self.write("flat.exr", exr({n: (HALF, np.resize(RAMP, (9, 12))) for n in "RGB"},
                                           (12, 9), extra=text("name", "flat")))
                subprocess.run(["exrmultipart", "-combine", "-i", self.path("flat.exr"), deep,
                                "-o", self.path("both.exr")], check=True, stdout=subprocess.DEVNULL)
                self.impipe("imlincomb 0.5", "both.exr", "-o", "out/")
                subprocess.run(["exrmultipart", "-separate", "-i", self.path("out/both.exr"), "-o",
                                self.path("apart")], check=True, stdout=subprocess.DEVNULL)
                with open(self.path("apart.2.exr"), "rb") as ours, open(deep, "rb") as theirs:
                    self.assertEqual(take_apart(ours.read())[0]["chunks"],
                                     take_apart(theirs.read())[0]["chunks"])


class Broken(ProgramTest):
    def fails(self, data, message):
        self.write("a.exr", data)
        run = self.impipe("imlincomb 1", "a.exr", "-o", "b.exr", code=1)
        self.assertIn("impipe: a.exr: ", run.err)
        self.assertIn(message, run.err)
        self.assertFalse(os.path.exists(self.path("b.exr")))

    def setUp(self):
        super().setUp()
        self.data = parts(beauty(), part("depth", {"Z": (FLOAT, DEPTH)}), deep_part("deep", SAMPLES))
        self.tables = take_apart_tables(self.data, [5, 5, 5])

    def changed(self, at, form, *values):
        data = bytearray(self.data)
        struct.pack_into(form, data, at, *values)
        return bytes(data)

    def test_whole(self):
        self.write("a.exr", self.data)
        self.impipe("imlincomb 1", "a.exr", "-o", "b.exr")

    def test_cut_anywhere(self):
        for size in range(4, len(self.data), 37):
            self.write("a.exr", self.data[:size])
            run = self.impipe("imlincomb 1", "a.exr", "-o", "b.exr", code=1)
            self.assertIn("truncated EXR", run.err)
            self.assertFalse(os.path.exists(self.path("b.exr")))
        self.fails(self.data[:-1], "truncated EXR: it ends at byte "
                   f"{len(self.data) - 1}, before part deep does")

    def test_tables(self):
        for number, name in enumerate(("beauty", "depth", "deep")):
            at = self.tables[number]
            places = struct.unpack_from("<5Q", self.data, at)
            self.fails(self.changed(at + 8, "<Q", 0),
                       f"truncated EXR: chunk 2 of part {name} is missing")
            self.fails(self.changed(at + 8, "<Q", 1 << 60), f"truncated EXR: it ends at byte "
                       f"{len(self.data)}, before part {name} does")
            for wrong in (places[2], places[1] + 1, self.tables[0] + 15 * 8):
                if wrong != places[1]:
                    self.fails(self.changed(at + 8, "<Q", wrong),
                               f"damaged EXR: where a chunk of part {name} should be, at byte {wrong},"
                               " is something else")

    def test_sizes(self):
        place, = struct.unpack_from("<Q", self.data, self.tables[1])
        self.fails(self.changed(place + 8, "<I", 0xffffffff), "before part depth does")
        # A chunk that reaches into the next one.
        self.fails(self.changed(place + 8, "<I", 100), "two chunks of part depth lie on each other")
        place, = struct.unpack_from("<Q", self.data, self.tables[2])
        for sizes in ((1 << 63, 1 << 63), (28, 1 << 62), ((1 << 64) - 1, 1)):
            self.fails(self.changed(place + 8, "<QQ", *sizes), "before part deep does")

    def test_headers(self):
        self.fails(parts(beauty(), beauty()), "damaged EXR: two of its parts are called beauty")
        count = b"chunkCount\0int\0\x04\0\0\0\x05\0\0\0"
        self.assertEqual(self.data.count(count), 3)
        self.fails(self.data.replace(count, count[:-4] + struct.pack("<i", 6), 1),
                   "damaged EXR: part beauty has 5 chunks, and its header says 6")
        self.fails(self.data.replace(count, count[:-4] + struct.pack("<i", -1), 1),
                   "damaged EXR: part beauty has 5 chunks, and its header says -1")
        self.fails(self.data.replace(b"deepscanline", b"deepscanlyne"),
                   "EXR with part 3 (deep) of the type 'deepscanlyne' is not supported")
        head, chunks = part("x", rgb())
        self.fails(parts(beauty(), (head.replace(b"name\0string", b"nome\0string"), chunks)),
                   "damaged EXR: part 2 has no name")
        self.fails(struct.pack("<II", 20000630, 0x1002) + b"\0", "damaged EXR: its header is empty")
        huge = parts(beauty(), part("depth", {"Z": (FLOAT, DEPTH)})).replace(
            box(0, 0, 7, 5), box(0, 0, 1 << 30, 1 << 30))
        self.write("a.exr", huge)
        self.impipe("imlincomb 1", "a.exr", "-o", "b.exr", code=1)


if __name__ == "__main__":
    unittest.main()
