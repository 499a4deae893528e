"""EXR files of many kinds, most made here byte for byte, so that each pixel is known."""
import itertools
import json
import os
import re
import shutil
import struct
import subprocess
import unittest

import numpy as np
from PIL import Image
from exr_writer import (FLOAT, HALF, UINT, WORDS, ZIPS, attribute, box, exr, read_header)
from program import ROOT, SANITIZED, ProgramTest, colour, ramp

DATA = os.path.join(ROOT, "tests/data/io")
RAMP = ramp(5, 7) / np.float32(256)  # what a half holds exactly


def run_tool(command):
    if shutil.which(command[0]) is None:
        raise unittest.SkipTest(f"no {command[0]}")
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def rgb(seed=0):
    """Three channels of what a half holds exactly."""
    return colour(5, 7, seed) / np.float32(256)


def channels_of(pixels, names, kind=HALF):
    return {name: (kind, pixels[..., i]) for i, name in enumerate(names)}


class Reading(ProgramTest):
    def check(self, data, expected, atol=0):
        self.write("a.exr", data)
        self.impipe("flipud | flipud", "a.exr", "-o", "a.npy")
        np.testing.assert_allclose(self.pixels("a.npy"), expected, rtol=0, atol=atol)

    def refused(self, data, message):
        self.write("a.exr", data)
        run = self.impipe("flipud", "a.exr", "-o", "out", code=1)
        self.assertEqual(run.err.splitlines()[0], f"impipe: a.exr: decode: {message}")

    def test_one_channel_of_any_name_is_gray(self):
        for name in ["Y", "Z", "depth.Z", "mask", "A", "R", "view.left.Z"]:
            for kind in [HALF, FLOAT]:
                with self.subTest(name, kind=kind):
                    self.check(exr({name: (kind, RAMP)}), RAMP)

    def test_colours_of_one_layer(self):
        for layer in ["", "diffuse.", "View Layer.Combined."]:
            with self.subTest(layer):
                names = [layer + c for c in "RGB"]
                self.check(exr(channels_of(rgb(), names)), rgb())

    def test_types_may_differ(self):
        channels = channels_of(rgb(), "RGB", FLOAT)
        channels["G"] = (HALF, rgb()[..., 1])
        self.check(exr(channels), rgb())

    def test_alpha_becomes_straight(self):
        alpha = np.full((5, 7), 0.5, np.float32)
        alpha[0, :3] = 0, 1, 0.25
        stored = rgb() * alpha[..., None]
        stored[0, 0] = 0.75  # light that covers nothing: there is nothing to divide by
        expected = rgb()
        expected[0, 0] = 0.75
        channels = channels_of(stored, "RGB", FLOAT)
        channels["A"] = (FLOAT, alpha)
        self.check(exr(channels), np.concatenate([expected, alpha[..., None]], axis=-1))
        gray = {"Y": (FLOAT, stored[..., 0]), "A": (FLOAT, alpha)}
        self.check(exr(gray), np.stack([expected[..., 0], alpha], axis=-1))

    def test_whole_numbers(self):
        numbers = np.arange(35).reshape(5, 7)
        numbers[4, 6] = 1 << 24
        self.check(exr({"id": (UINT, numbers)}), numbers.astype(np.float32))
        numbers[3, 3] = (1 << 24) + 2
        self.check(exr({"id": (UINT, numbers)}), numbers.astype(np.float32))
        numbers[3, 3] = (1 << 24) + 1
        self.write("a.exr", exr({"id": (UINT, numbers)}))
        told = "single cannot hold 1 of its values (16777217 becomes 16777216)\n"
        self.assertEqual(self.impipe("flipud", "a.exr", "-o", "b.exr").err, f"impipe: a.exr: {told}")
        run = self.impipe("flipud", "a.exr", "-o", "b.exr", "--strict", code=1)
        self.assertEqual(run.err, f"impipe: a.exr: decode: --strict: {told}")

    def test_luminance_and_chroma(self):
        # Without chroma all colours are the luminance, whatever the weights.
        y = np.tile(np.arange(8, dtype=np.float32) / 8, (6, 1))
        none = np.zeros((3, 4))
        channels = {"Y": (HALF, y), "RY": (HALF, none, 2, 2), "BY": (HALF, none, 2, 2)}
        self.write("a.exr", exr(channels, (8, 6)))
        self.impipe("flipud", "a.exr", "-o", "a.npy")
        np.testing.assert_allclose(self.pixels("a.npy"), np.stack([y] * 3, axis=-1), atol=1e-3)
        # With it: R = (RY + 1) Y, B = (BY + 1) Y, and G from Rec. 709's weights.
        y[:] = 0.5
        chroma = np.full((3, 4), 0.5), np.full((3, 4), -0.25)
        channels = {"Y": (HALF, y), "RY": (HALF, chroma[0], 2, 2), "BY": (HALF, chroma[1], 2, 2)}
        self.write("a.exr", exr(channels, (8, 6)))
        self.impipe("flipud", "a.exr", "-o", "a.npy")
        red, blue = 0.75, 0.375
        green = (0.5 - 0.2126 * red - 0.0722 * blue) / 0.7152
        np.testing.assert_allclose(self.pixels("a.npy"), np.full((6, 8, 3), (red, green, blue)),
                                   atol=2e-3)

    def test_windows(self):
        # The image is what is stored, be it less or more than what is to be shown.
        for window, display in [((10, 20), (0, 0, 64, 48)), ((-3, -2), (0, 0, 2, 2))]:
            with self.subTest(window):
                self.check(exr({"Y": (HALF, RAMP)}, window=window, display=display), RAMP)
        run = self.impipe("info", "a.exr")
        self.assertEqual(run.out, "a.exr: EXR, 7x5, single x1, white 1, 16-bit float, "
                         "no compression, 7x5 at -3,-2 of a display of 2x2 at 0,0\n")

    def test_compression_by_zip(self):
        for kind in [HALF, FLOAT]:
            self.check(exr(channels_of(rgb(), "RGB", kind), compression=ZIPS), rgb())

    def test_other_programs_files(self):
        # Made by oiiotool from tests/data/io/rgb8.png; see make.py there.
        y, x, c = np.mgrid[0:5, 0:7, 0:3]
        picture = ((37 * x + 91 * y + 53 * c + 11) % 256).astype(np.float32) / np.float32(255)
        half = picture.astype(np.float16).astype(np.float32)
        kinds = {"piz_tiles": half, "rle": half, "pxr24": half, "mip": half, "piz_float": picture}
        for name, expected in kinds.items():
            with self.subTest(name):
                with open(os.path.join(DATA, f"exr_{name}.exr"), "rb") as file:
                    self.check(file.read(), expected, atol=1e-7 if "float" in name else 0)

    def test_what_an_image_cannot_hold_is_said(self):
        reads = ("is not supported: impipe reads R G B or Y, with or without A, or Y RY BY, that "
                 "have no layer or are of the only layer with them, or one channel of any name")
        layers = [f"{layer}.{c}" for layer in ("diffuse", "shine") for c in "BGR"]
        self.refused(exr({name: (HALF, RAMP) for name in layers}),
                     "EXR with 6 channels in 2 layers (diffuse.B diffuse.G diffuse.R; shine.B "
                     f"shine.G shine.R) {reads}")
        for names in ["RG", "ZA", "XYZ"]:
            channels = {name: (HALF, RAMP) for name in names}
            said = " ".join(sorted(names))
            self.refused(exr(channels), f"EXR with {len(names)} channels in 1 layer ({said}) "
                         + reads)
        self.refused(exr({"Y": (HALF, RAMP)}, flags=0x800),
                     "EXR with deep data (several samples a pixel) is not supported")
        self.refused(exr({"Y": (HALF, RAMP[::2, ::2], 2, 2)}, (8, 6), window=(0, 0)),
                     "EXR with channel Y of every 2x2 pixels is not supported")

    def test_damaged(self):
        whole = exr({"Y": (HALF, RAMP)})
        self.refused(whole[:-1], f"truncated EXR: {len(whole) - 1} bytes, at least {len(whole)} "
                     "needed")
        self.refused(whole[:100], "truncated EXR: the header ends at byte 100")
        zips = exr({"Y": (HALF, RAMP)}, compression=ZIPS)
        self.refused(zips[:-1], f"truncated EXR: it ends at byte {len(zips) - 1}")
        places = zips.index(struct.pack("<iI", 0, 14)) - 5 * 8
        self.refused(zips[:places] + bytes(40) + zips[places + 40:-22],
                     "truncated EXR: parts of its picture are missing")
        for kind, name in ((10, "10 (HTJ2K256)"), (11, "11 (HTJ2K32)"), (12, "12 (LJ2K)"),
                           (13, "13 (ZSTD)"), (14, "14"), (31, "31")):
            field = b"compression\0compression\0\x01\0\0\0"
            self.refused(whole.replace(field + b"\0", field + bytes([kind])),
                         f"EXR with compression {name} is not supported")
        huge = exr({"Y": (HALF, RAMP)}).replace(box(0, 0, 7, 5), box(0, 0, 20000, 20000))
        self.refused(huge, f"truncated EXR: {len(huge)} bytes, at least "
                     f"{len(whole) - 5 * 8 - 5 * 22 + 20000 * 16 + 20000 * 20000 * 2} needed")
        bomb = exr({"Y": (HALF, RAMP)}).replace(box(0, 0, 7, 5), box(0, 0, 200000, 200000))
        self.write("a.exr", bomb)
        run = self.impipe("info", "a.exr", code=1)
        self.assertIn("truncated EXR", run.err)


    def test_what_a_damaged_file_leaves_out_is_not_other_memory(self):
        # Tiles that claim to be lines, and a pyramid that claims to be uncompressed.
        with open(os.path.join(DATA, "exr_piz_tiles.exr"), "rb") as file:
            tiles = bytearray(file.read())
        tiles[5] = 0
        self.write("tiles.exr", bytes(tiles))
        with open(os.path.join(DATA, "exr_mip.exr"), "rb") as file:
            levels = bytearray(file.read())
        name = b"compression\0compression\0\1\0\0\0"
        levels[levels.index(name) + len(name)] = 0
        self.write("levels.exr", bytes(levels))
        for name in ("tiles", "levels"):
            read = []
            for fill in ("90", "165"):  # what the C library puts into new memory
                self.impipe("imcomplement", f"{name}.exr", "-o", f"{fill}.npy",
                            env={"MALLOC_PERTURB_": fill})
                read.append(self.pixels(f"{fill}.npy"))
                os.remove(self.path(f"{fill}.npy"))
            np.testing.assert_array_equal(*read)


class Writing(ProgramTest):
    def written(self, data, pipeline="imlincomb 1", *options):
        self.write("a.exr", data)
        run = self.impipe(pipeline, "a.exr", "-o", "out/", *options)
        return read_header(self.path("out/a.exr")), run

    def test_half_stays_half_and_float_float(self):
        for kind in [HALF, FLOAT]:
            header, _ = self.written(exr(channels_of(rgb(), "RGB", kind)))
            self.assertEqual(header["channels"], {"R": kind, "G": kind, "B": kind})

    def test_what_a_half_cannot_hold_is_float(self):
        data = exr({"Y": (HALF, RAMP)})
        for pipeline, options in [("imlincomb 1", ["-d", "single"]), ("im2uint16", []),
                                  ("imlincomb 1e6", []), ("im2bw 0.5 | bwdist", [])]:
            with self.subTest(pipeline):
                header, _ = self.written(data, pipeline, *options)
                self.assertEqual(header["channels"], {"Y": FLOAT})

    def test_half_where_it_is_asked_for(self):
        for data in [exr({"Y": (FLOAT, RAMP)}), exr({"Y": (HALF, RAMP)})]:
            header, _ = self.written(data, "imlincomb 1", "-d", "half")
            self.assertEqual(header["channels"], {"Y": HALF})
            self.impipe("imlincomb 1", "out/a.exr", "-o", "back.npy")
            np.testing.assert_array_equal(self.pixels("back.npy"), RAMP)
        self.picture("b.png", np.array([[0, 51, 255]], np.uint8))
        self.impipe("imlincomb 1", "b.png", "-d", "half", "-o", "b.exr")
        self.assertEqual(read_header(self.path("b.exr"))["channels"], {"Y": HALF})
        self.impipe("imlincomb 1", "b.exr", "-o", "b.npy")
        np.testing.assert_array_equal(self.pixels("b.npy"),
                                      np.float32(np.float16(np.array([[0, 51, 255]]) / 255)))

    def test_what_is_beyond_a_half_is_clipped_and_counted(self):
        data = exr({"Y": (FLOAT, np.float32([[-7e4, 65504, 65519, 1e6, np.inf, 0.5, -1]]))}, (7, 1))
        header, run = self.written(data, "imlincomb 1", "-d", "half", "-v")
        self.assertEqual(header["channels"], {"Y": HALF})
        self.assertIn("out/a.exr: 3 values were clipped\n", run.err)
        self.impipe("imlincomb 1", "out/a.exr", "-o", "back.npy")
        np.testing.assert_array_equal(self.pixels("back.npy"),
                                      np.float32([[-65504, 65504, 65504, 65504, np.inf, 0.5, -1]]))

    def test_half_is_for_exr_alone(self):
        self.write("a.exr", exr({"Y": (HALF, RAMP)}))
        for options in (["-o", "a.png"], ["--format", "tif", "-o", "out/"]):
            run = self.impipe("imlincomb 1", "a.exr", "-d", "half", *options, code=2)
            self.assertRegex(run.err, "^impipe: -d half: only EXR holds floats of 16 bits, and a.exr "
                                      "goes to (PNG|TIFF)\n$")
        run = self.impipe("im2bw 0.5 | bwdist", "a.exr", "-d", "half", "-o", "b.exr", code=1)
        self.assertIn("a distance or label image needs more bits; give -d single", run.err)
        self.assertEqual(self.impipe("imlincomb 1", "a.exr", "-d", "hal", "-o", "b.exr", code=2).err,
                         "impipe: -d: 'hal' is none of logical, uint8, uint16, single, half; "
                         "did you mean 'half'?\n")
        self.assertEqual(self.tree("."), ["a.exr"])

    def test_names_and_compression_stay(self):
        for names, pipeline, expected in [
                (["depth.Z"], "imlincomb 2", ["depth.Z"]),
                (["diffuse.R", "diffuse.G", "diffuse.B"], "imlincomb 2",
                 ["diffuse.B", "diffuse.G", "diffuse.R"]),
                (["diffuse.R", "diffuse.G", "diffuse.B"], "rgb2gray", ["diffuse.Y"])]:
            with self.subTest(names, pipeline=pipeline):
                header, _ = self.written(exr(channels_of(rgb(), names), compression=ZIPS), pipeline)
                self.assertEqual(sorted(header["channels"]), expected)
                self.assertEqual(header["compression"], bytes([ZIPS]))

    def others(self):
        """Channels beside a picture, of every type, and a layer; floats that no half holds."""
        floats = (RAMP + np.float32(1 / 3)) * np.float32(1e6)
        floats[0, :3] = np.nan, np.inf, -0.0
        numbers = np.arange(35, dtype=np.uint32).reshape(5, 7) + np.uint32(4294967000)
        return {"Z": (FLOAT, floats), "id": (UINT, numbers),
                **channels_of(rgb(3), ["spec.R", "spec.G", "spec.B"])}

    def words(self, data):
        """{channel: its bytes}, of a file without compression."""
        types = dict(sorted(read_header(self.write("one.exr", data))["channels"].items()))
        widths = [7 * np.dtype(WORDS[kind]).itemsize for kind in types.values()]
        rows = np.frombuffer(data[len(data) - 5 * (8 + sum(widths)):], np.uint8).reshape(5, -1)
        parts = np.split(rows[:, 8:], np.cumsum(widths)[:-1], axis=1)
        return {name: part.tobytes() for name, part in zip(types, parts)}

    def test_other_channels_stay_byte_for_byte(self):
        others = self.others()
        for picture in [channels_of(rgb(), "RGB"), {"Y": (HALF, RAMP), "A": (HALF, RAMP)}]:
            for window in [None, (-3, 4)]:
                with self.subTest(sorted(picture), window=window):
                    data = exr({**picture, **others}, window=window)
                    header, run = self.written(data, "imlincomb 0.5")
                    self.assertNotIn("without", run.err)
                    kinds = {name: c[0] for name, c in {**picture, **others}.items()}
                    self.assertEqual(header["channels"], kinds)
                    with open(self.path("out/a.exr"), "rb") as file:
                        after, before = self.words(file.read()), self.words(data)
                    for name in others:
                        self.assertEqual(after[name], before[name], name)
                    for name in set(picture) - {"A"}:
                        self.assertNotEqual(after[name], before[name], name)

    def test_the_only_layer_with_colours_is_the_picture(self):
        data = exr({**channels_of(rgb(), ["beauty.R", "beauty.G", "beauty.B"]),
                    "Z": (HALF, RAMP), "N.X": (HALF, RAMP), "N.Y": (HALF, RAMP)})
        self.written(data, "imlincomb 0.5")
        with open(self.path("out/a.exr"), "rb") as file:
            after, before = self.words(file.read()), self.words(data)
        self.assertEqual({name for name in before if before[name] != after[name]},
                         {"beauty.R", "beauty.G", "beauty.B"})

    def test_other_channels_of_other_programs_files(self):
        """oiiotool makes the file and compares."""
        tool = ["oiiotool", "--pattern", "noise:type=uniform:seed=1", "70x300", "4", "-d", "half"]
        for i in range(1, 15):
            names = ",".join(f"layer{i}.{c}" for c in "RGBA")
            tool += ["--pattern", f"noise:type=uniform:seed={i + 1}", "70x300", "4", "--chnames",
                     names, "--chappend"]
        run_tool([*tool, "-o", self.path("many.exr")])
        for name, options in [("zip", []), ("dwab", []), ("b44", []), ("piz", ["--tile", "32", "64"])]:
            with self.subTest(name):
                run_tool(["oiiotool", self.path("many.exr"), *options, "--compression", name,
                          "-o", self.path("a.exr")])
                self.impipe("imcomplement | imcomplement", "a.exr", "-o", "out/")
                self.assertEqual(len(read_header(self.path("out/a.exr"))["channels"]), 60)
                beside = ",".join(f"layer{i}.{c}" for i in range(1, 15) for c in "RGBA")
                run_tool(["oiiotool", self.path("a.exr"), "--ch", beside, self.path("out/a.exr"),
                          "--ch", beside, "--fail", "0", "--diff"])

    def test_other_channels_cannot_follow_pixels_that_move(self):
        self.write("a.exr", exr({**channels_of(rgb(), "RGB"), **self.others()}))
        for pipeline in ["fliplr", "imresize 2", "imcrop 1 1 3 3"]:
            with self.subTest(pipeline):
                run = self.impipe(pipeline, "a.exr", "-o", "out/", code=1)
                self.assertIn(
                    "a.exr: encode: the pipeline moves pixels or changes the size, and the EXR's "
                    "other channels (Z, id, spec.B, spec.G, spec.R) would stay as they were; "
                    "process them too (--channels all), or write another format, which is without "
                    "them",
                    run.err)
                self.assertEqual(self.tree("out") if os.path.isdir(self.path("out")) else [], [])

    def test_named_channels_are_processed(self):
        """Judged by oiiotool: doubled channels, in the types that they had, beside the others."""
        run_tool(["oiiotool", "--pattern", "noise:type=uniform:seed=1", "70x30", "6", "--chnames",
                  "R,G,B,A,Z,N.X", "-d", "half", "-d", "Z=float", "-o", self.path("a.exr")])
        kinds = read_header(self.path("a.exr"))["channels"]
        self.assertEqual(kinds, {"A": HALF, "B": HALF, "G": HALF, "R": HALF, "N.X": HALF, "Z": FLOAT})
        for names in (["all"], ["Z"], ["N.X", "Z"], ["Z", "A", "G"], ["B", "N.X", "Z", "R", "A", "G"]):
            with self.subTest(names):
                self.impipe("imlincomb 2", "a.exr", "--channels", ",".join(names), "-o", "out/")
                self.assertEqual(read_header(self.path("out/a.exr"))["channels"], kinds)
                doubled = set(kinds if names == ["all"] else names)
                factors = ",".join("2" if name in doubled else "1" for name in "R G B A Z N.X".split())
                run_tool(["oiiotool", self.path("a.exr"), "--mulc", factors, self.path("out/a.exr"),
                          "--ch", "R,G,B,A,Z,N.X", "--fail", "0", "--diff"])

    def test_named_channels_move_together(self):
        data = {**channels_of(rgb(), "RGB"), "A": (HALF, RAMP), "Z": (FLOAT, RAMP * 1000)}
        header, _ = self.written(exr(data), "fliplr", "--channels", "all")
        self.assertEqual(header["channels"], {name: kind for name, (kind, _) in data.items()})
        with open(self.path("out/a.exr"), "rb") as file:
            after = self.words(file.read())
        turned = self.words(exr({name: (kind, p[:, ::-1]) for name, (kind, p) in data.items()}))
        self.assertEqual(after, turned)

    def test_a_named_channel_that_needs_more_bits_has_them(self):
        data = exr({"a": (HALF, RAMP), "b": (HALF, RAMP * 60000), "c": (FLOAT, RAMP)})
        for options, kinds in (([], {"a": HALF, "b": FLOAT, "c": FLOAT}),
                               (["-d", "single"], {"a": FLOAT, "b": FLOAT, "c": FLOAT}),
                               (["-d", "half"], {"a": HALF, "b": HALF, "c": HALF})):
            header, _ = self.written(data, "imlincomb 3", "--channels", "all", *options)
            self.assertEqual(header["channels"], kinds)

    def test_a_result_of_fewer_channels_has_names_of_its_own(self):
        data = exr({**channels_of(rgb(), ["n.X", "n.Y", "n.Z"]), "Z": (HALF, RAMP)})
        header, _ = self.written(data, "rgb2gray", "--channels", "n.X,n.Y,n.Z")
        self.assertEqual(header["channels"], {"Y": HALF, "Z": HALF})

    def test_channels_that_are_not_there(self):
        self.write("a.exr", exr(channels_of(rgb(), "RGB")))
        self.picture("a.png", ramp(3, 3))
        for names, message in (("R,Q", "a.exr: decode: EXR without a channel Q; it has B, G, R"),
                               ("R,,G", "--channels: 'R,,G' has an empty name"),
                               ("R,R", "--channels: 'R,R' has R twice"),
                               ("", "--channels: it is empty")):
            code = 1 if "decode" in message else 2
            run = self.impipe("imlincomb 1", "a.exr", "--channels", names, "-o", "b.exr", code=code)
            self.assertIn(message, run.err)
        run = self.impipe("imlincomb 1", "a.png", "--channels", "all", "-o", "b.exr", code=1)
        self.assertIn("a.png: decode: --channels names channels of an EXR, and this is PNG", run.err)

    def test_zip_of_oiiotool_and_back(self):
        rng = np.random.default_rng(5)
        for width, height in ((61, 37), (1, 1), (5, 1100)):  # 512 lines are packed at once
            noise = (rng.random((height, width, 3)) * rng.integers(0, 2, (height, 1, 1)) + 0.25)
            np.save(self.path("in.npy"), noise.astype(np.float32))
            self.impipe("rot90 0", "in.npy", "-o", "in.tif")
            for compression, depth, order in itertools.product(
                    ("zip", "zips"), ("half", "float"), ("increasingY", "decreasingY")):
                with self.subTest(f"{width}x{height} {compression} {depth} {order}"):
                    subprocess.run(["oiiotool", "in.tif", "-d", depth, "--compression", compression,
                                    "--attrib", "openexr:lineOrder", order, "-o", "a.exr"],
                                   cwd=self.folder, check=True)
                    self.impipe("rot90 0", "a.exr", "-o", "b.exr")
                    for result in ("a.exr", "b.exr"):
                        subprocess.run(["oiiotool", result, "-o", "c.tif"], cwd=self.folder, check=True)
                        self.impipe("rot90 0", "c.tif", "-o", result + ".npy")
                    self.impipe("rot90 0", "a.exr", "-o", "ours.npy")
                    np.testing.assert_array_equal(self.pixels("ours.npy"), self.pixels("a.exr.npy"))
                    np.testing.assert_array_equal(self.pixels("ours.npy"), self.pixels("b.exr.npy"))
                    said = subprocess.run(["oiiotool", "--info", "-v", "b.exr"], cwd=self.folder,
                                          check=True, capture_output=True, text=True).stdout
                    self.assertIn(f'compression: "{compression}"', said)

    def test_other_formats_are_without_other_channels(self):
        self.write("a.exr", exr({**channels_of(rgb(), "RGB"), "Z": (HALF, RAMP), "id": (HALF, RAMP)}))
        run = self.impipe("fliplr", "a.exr", "-o", "a.tif")
        self.assertIn("a.exr: the result is without channels (Z, id)", run.err)
        self.impipe("fliplr", "a.exr", "-o", "b.tif", "--strict", code=1)
        self.assertFalse(os.path.exists(self.path("b.tif")))

    def test_the_table_of_formats_has_its_metadata(self):
        formats = {f["name"]: f for f in json.loads(self.impipe("formats", "--json").out)}
        self.assertTrue(formats["EXR"]["metadata"])

    def test_exif_is_still_lost_and_said(self):
        exif = Image.Exif()
        exif[0x010e] = "a description"
        Image.new("RGB", (7, 5)).save(self.path("a.jpg"), exif=exif)
        run = self.impipe("imlincomb 1", "a.jpg", "-o", "b.exr")
        self.assertIn("a.jpg: the result is without EXIF", run.err)

    def test_two_channels_of_one_name(self):
        self.write("a.exr", exr({**channels_of(rgb(), "RGB"), "Y": (HALF, RAMP)}))
        run = self.impipe("rgb2gray", "a.exr", "-o", "b.exr", code=1)
        self.assertIn("EXR would have two channels Y: that of the input and the result's", run.err)
        self.assertFalse(os.path.exists(self.path("b.exr")))

    def test_memory_of_other_channels_is_bounded(self):
        channels = {f"m{i:02}": (HALF, RAMP) for i in range(5)}
        self.write("a.exr", exr({**channels_of(rgb(), "RGB"), **channels}))
        run = self.impipe("imlincomb 1", "a.exr", "-o", "b.exr", "--max-pixels", "40", code=1)
        self.assertIn("too many pixels: 5 further channels of 7x5 are more than 4 times the limit "
                      "of 40 (--max-pixels)", run.err)
        self.impipe("imlincomb 1", "a.exr", "-o", "b.exr", "--max-pixels", "44")

    def test_damaged_other_channels(self):
        data = exr({**channels_of(rgb(), "RGB"), "Z": (HALF, RAMP)}, compression=ZIPS)
        self.write("a.exr", data[:-4] + b"\xff\xff\xff\xff")
        run = self.impipe("imlincomb 1", "a.exr", "-o", "b.exr", code=1)
        self.assertIn("impipe: a.exr: decode: damaged EXR", run.err)
        self.assertFalse(os.path.exists(self.path("b.exr")))

    def test_windows_and_aspect_stay_where_no_pixel_moves(self):
        data = exr({"Y": (HALF, RAMP)}, window=(-3, 4), display=(0, 0, 64, 48), aspect=2.0)
        header, run = self.written(data, "imgaussfilt 1")
        self.assertEqual(header["dataWindow"], box(-3, 4, 7, 5))
        self.assertEqual(header["displayWindow"], box(0, 0, 64, 48))
        self.assertEqual(header["pixelAspectRatio"], struct.pack("<f", 2))
        self.assertNotIn("without", run.err)
        lost = ": the result is without display window and pixel aspect ratio"
        for pipeline in ["imrotate 10", "imtranslate 2,1", "circshift 1", "imwarp scale=2"]:
            with self.subTest(pipeline):
                header, run = self.written(data, pipeline)
                self.assertEqual(header["dataWindow"], header["displayWindow"])
                self.assertEqual(header["dataWindow"][:8], bytes(8))
                self.assertEqual(header["pixelAspectRatio"], struct.pack("<f", 1))
                self.assertIn("a.exr" + lost, run.err)
        run = self.impipe("imgaussfilt 1", "a.exr", "-o", "a.png")
        self.assertIn("a.exr" + lost, run.err)

    def test_windows_follow_the_picture(self):
        """As oiiotool's: it flips about the display window, and scales both."""
        wide = np.arange(10 * 20, dtype=np.float16).reshape(10, 20) / 256
        data = exr({"Y": (HALF, wide)}, (20, 10), window=(-2, -1), display=(0, 0, 16, 8), aspect=2.0)
        rows = [("fliplr", ["--flop"]), ("flipud", ["--flip"]), ("transpose", ["--transpose"]),
                ("rot90 -1", ["--rotate90"]), ("rot90 1", ["--rotate270"]),
                ("rot90 2", ["--rotate180"]),
                ("imcrop rect=3,2,10,5", ["--crop", "10x5+1+1"]),
                ("impad 4,5", ["--crop", "30x18-7-5"]),
                ("imresize 2 nearest", ["--resize:filter=box", "200%"]),
                ("fliplr | imcrop rect=3,2,10,5 | rot90 -1",
                 ["--flop", "--crop", "10x5+1+1", "--rotate90"])]
        for pipeline, arguments in rows:
            with self.subTest(pipeline):
                header, run = self.written(data, pipeline)
                self.assertNotIn("without display window", run.err)
                run_tool(["oiiotool", self.path("a.exr"), *arguments, "-o", self.path("o.exr")])
                names = [self.path("o.exr"), self.path("out/a.exr")]
                told = [subprocess.run(["oiiotool", "--info", "-v", name], check=True, text=True,
                                       capture_output=True).stdout for name in names]
                places = [re.findall(r": +\d+ x +\d+,|origin: .*|full/display .*", one)
                          for one in told]
                self.assertEqual(places[0], places[1])
                run_tool(["oiiotool", names[0], "--croptofull", names[1], "--croptofull",
                          "--fail", "0", "--diff"])
                turned = "rot90 -1" in pipeline or pipeline in ("transpose", "rot90 1")
                self.assertEqual(header["pixelAspectRatio"],
                                 struct.pack("<f", 0.5 if turned else 2))

    ATTRIBUTES = {
        "capDate": ("string", b"2026:01:31 12:00:00"),
        "chromaticities": ("chromaticities", struct.pack("<8f", .7, .3, .2, .7, .1, .1, .3, .3)),
        "cameraTag": ("studioType", b"\x01\x00\xff of no known type"),
        "nameOfMoreThanThirtyOneCharacters": ("int", struct.pack("<i", -7)),
        "timeCode": ("timecode", bytes(range(8)))}
    PLACES = {"screenWindowWidth": ("float", struct.pack("<f", 2)),
              "worldToNDC": ("m44f", struct.pack("<16f", *range(16)))}

    def described(self, *groups, flags=0x400):
        """A file with these attributes, some of whose names are long."""
        extra = b"".join(attribute(name, *value) for group in groups
                         for name, value in group.items())
        return exr(channels_of(rgb(), "RGB"), flags=flags, extra=extra)

    def kept(self, header, group):
        return {name: header[name] for name in group if name in header}

    def test_attributes_stay(self):
        every = {**self.ATTRIBUTES, **self.PLACES}
        header, run = self.written(self.described(every), "imgaussfilt 1")
        self.assertEqual(self.kept(header, every), {n: v for n, (_, v) in every.items()})
        self.assertNotIn("without", run.err)
        header, _ = self.written(self.described(every), "imgaussfilt 1", "--strip")
        self.assertEqual(self.kept(header, self.ATTRIBUTES), {})
        self.assertNotIn("worldToNDC", header)

    def test_attributes_of_places_go_where_pixels_move(self):
        header, run = self.written(self.described(self.ATTRIBUTES, self.PLACES), "fliplr")
        self.assertEqual(self.kept(header, self.ATTRIBUTES),
                         {n: v for n, (_, v) in self.ATTRIBUTES.items()})
        self.assertNotIn("worldToNDC", header)
        self.assertEqual(header["screenWindowWidth"], struct.pack("<f", 1))
        self.assertIn("a.exr: the result is without EXR attributes (screenWindowWidth, worldToNDC)",
                      run.err)

    def test_attributes_that_tell_of_pixels_go(self):
        preview = {"preview": ("preview", struct.pack("<II", 1, 1) + b"abcd"),
                   "oiio:SHA-1": ("string", b"1234")}
        header, run = self.written(self.described(preview))
        self.assertEqual(self.kept(header, preview), {})
        lost = "a.exr: the result is without EXR attributes (preview, oiio:SHA-1)"
        self.assertIn(lost, run.err)
        run = self.impipe("imlincomb 1", "a.exr", "-o", "b.exr", "--strict", code=1)
        self.assertIn("EXR attributes (preview, oiio:SHA-1)", run.err)
        self.assertFalse(os.path.exists(self.path("b.exr")))

    def test_attributes_that_a_format_cannot_hold_are_named(self):
        self.write("a.exr", self.described({"timeCode": ("timecode", bytes(8)),
                                            "owner": ("string", b"me")}))
        run = self.impipe("imlincomb 1", "a.exr", "-o", "a.png")
        self.assertIn("a.exr: the result is without EXR attributes (timeCode, owner)", run.err)

    def test_damaged_attributes(self):
        for kind, value in [("preview", struct.pack("<II", 1 << 31, 1 << 31)), ("m44f", b"1234"),
                            ("stringvector", struct.pack("<i", -1)), ("timecode", b""),
                            ("stringvector", struct.pack("<i", 1 << 30)), ("chlist", b"R"),
                            ("int", b"123456789"), ("bytes", b"12")]:
            with self.subTest(kind, value=value):
                self.write("a.exr", self.described({"odd": (kind, value)}))
                run = self.impipe("imlincomb 1", "a.exr", "-o", "odd.exr", code=None)
                self.assertIn(run.code, [0, 1], run.err)
                self.assertEqual(run.code == 0, os.path.exists(self.path("odd.exr")))
                if run.code == 0:
                    self.assertEqual(read_header(self.path("odd.exr")).get("odd"), value)
                    os.remove(self.path("odd.exr"))
                else:
                    self.assertIn("impipe: a.exr: decode: ", run.err)

    def test_alpha_is_multiplied_in(self):
        alpha = np.full((5, 7), 0.5, np.float32)
        alpha[0, :2] = 0, 0.25
        stored = rgb() * alpha[..., None]
        channels = channels_of(stored, "RGB", FLOAT)
        channels["A"] = (FLOAT, alpha)
        self.written(exr(channels), "imcomplement")
        with open(self.path("out/a.exr"), "rb") as file:
            again = file.read()
        for i, name in enumerate("RGB"):
            # Nothing shows where nothing is, although the complement of black is white.
            np.testing.assert_allclose(self.channel(again, name), (1 - rgb()[..., i]) * alpha,
                                       atol=1e-6)

    def test_light_that_covers_nothing_stays(self):
        alpha = np.zeros((5, 7), np.float32)
        channels = channels_of(rgb(), "RGB", FLOAT)
        channels["A"] = (FLOAT, alpha)
        self.written(exr(channels))
        self.impipe("imlincomb 1", "out/a.exr", "-o", "a.npy")
        np.testing.assert_array_equal(self.pixels("a.npy")[..., :3], rgb())

    def channel(self, data, name):
        """A channel of a file of floats without compression, as stored: a chunk is a row."""
        names = sorted(read_header(self.write("one.exr", data))["channels"])
        rows = len(data) - 5 * (8 + 4 * 7 * len(names))
        words = np.frombuffer(data[rows:], "<f4").reshape(5, 2 + 7 * len(names))
        return words[:, 2:].reshape(5, len(names), 7)[:, names.index(name)]

    def test_a_mask_is_compressed_without_loss(self):
        with open(os.path.join(DATA, "exr_dwaa.exr"), "rb") as file:
            dwaa = file.read()
        header, _ = self.written(dwaa)
        self.assertEqual(header["compression"], b"\x08")
        header, _ = self.written(dwaa, "im2bw 0.5")
        self.assertEqual(header["compression"], b"\x03")

    def test_nothing_is_written_elsewhere(self):
        os.mkdir(self.path("temporary"))
        os.chmod(self.path("temporary"), 0o500)
        self.write("a.exr", exr(channels_of(rgb(), "RGB")))
        self.picture("b.bmp", colour(5, 7))
        self.picture("c.png", colour(5, 7))

        def watched(command):
            trace = ["strace", "-f", "-e", "trace=openat,open,creat,mkdir,rename,unlink",
                     "-o", self.path("trace")]
            # LeakSanitizer cannot run beside it.
            traced = os.access("/usr/bin/strace", os.X_OK) and not SANITIZED
            return [*trace, *command] if traced else command

        self.impipe("imlincomb 1", "a.exr", "b.bmp", "c.png", "-o", "out", "--format", "exr",
                    env={"TMPDIR": self.path("temporary")}, wrap=watched)
        self.assertEqual(self.tree("temporary"), [])
        if os.path.exists(self.path("trace")):
            with open(self.path("trace"), encoding="utf-8") as file:
                made = [line.split('"')[1] for line in file
                        if "O_CREAT" in line or " mkdir(" in line]
            for path in made:
                self.assertFalse(os.path.isabs(path) and not path.startswith(self.folder), path)


if __name__ == "__main__":
    unittest.main()
