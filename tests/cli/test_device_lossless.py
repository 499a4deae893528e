"""--codec device: lossless pictures that the device decodes and encodes have the pixels, the metadata
and the errors that the processor's codecs give.
"""
import json
import os
import re
import subprocess
import unittest

import numpy as np
from exr_writer import FLOAT, HALF, UINT, ZIPS, exr
from PIL import Image
from program import ProgramTest, colour, ramp
from tiff_writer import page, tiff

SIZES = [(1, 1), (3, 17), (120, 161), (333, 500)]


class DeviceLossless(ProgramTest):
    def setUp(self):
        super().setUp()
        said = json.loads(self.impipe("devices", "--json").out)
        usable = [d["id"] for d in said if d["usable"] and not d["id"].startswith("cpu")]
        if not usable:
            self.skipTest("no other device than the processor")
        self.device = usable[0]

    def run_on(self, codec, *arguments, code=0):
        return self.impipe(*arguments, "--device", self.device, "--codec", codec, "-v", code=code)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def numbers(self, said):
        line = [line for line in said.splitlines() if "--codec: " in line][0]
        return dict(zip(("decoded", "by_processor", "encoded"), map(int, re.findall(r"\d+", line))))

    def make_pngs(self):
        for i, (height, width) in enumerate(SIZES):
            self.picture(f"in/colour-{i}.png", colour(height, width, i))
            self.picture(f"in/gray-{i}.png", ramp(height, width, i))
            wide = ramp(height, width, i).astype(np.uint16) * 257 - i
            self.picture(f"in/wide-{i}.png", wide)
        return 12

    def make_tiffs(self):
        """As Pillow and libtiff write them: not packed, LZW, deflate, with and without predictor."""
        count = 0
        for i, (height, width) in enumerate(SIZES):
            for packing in (None, "tiff_lzw", "tiff_adobe_deflate", "packbits"):
                for name, pixels in (("gray", ramp(height, width, i)),
                                     ("colour", colour(height, width, i)),
                                     ("wide", ramp(height, width, i).astype(np.uint16) * 257)):
                    for predictor in (1, 2):
                        if predictor == 2 and packing not in ("tiff_lzw", "tiff_adobe_deflate"):
                            continue
                        # Pillow does not have libtiff predict 16 bits.
                        if predictor == 2 and name == "wide":
                            continue
                        os.makedirs(self.path("in"), exist_ok=True)
                        Image.fromarray(pixels).save(
                            self.path(f"in/{name}-{i}-{packing}-{predictor}.tif"),
                            compression=packing, tiffinfo={317: predictor} if packing else {})
                        count += 1
        return count

    def make_exrs(self):
        rng = np.random.default_rng(3)
        for i, (height, width) in enumerate(SIZES):
            os.makedirs(self.path("npy"), exist_ok=True)
            np.save(self.path(f"npy/{i}.npy"), rng.random((height, width, 3), np.float32))
            np.save(self.path(f"npy/{i + 4}.npy"),
                    np.round(rng.random((height, width), np.float32) * 20) / 20)
        for kind in ("half", "single"):
            for i in range(8):
                self.impipe("", f"npy/{i}.npy", "-o", f"in/{kind}-{i}.exr", "-d", kind)
                for packing in ("none", "rle", "zips"):
                    subprocess.run(["oiiotool", self.path(f"in/{kind}-{i}.exr"), "--compression",
                                    packing, "-o", self.path(f"in/{packing}-{kind}-{i}.exr")],
                                   check=True)
        return 64

    def check(self, count, encoded):
        host = self.run_on("cpu", "imgaussfilt 2 | imadjust", "in", "--hash")
        made = self.run_on("device", "imgaussfilt 2 | imadjust", "in", "--hash")
        self.assertEqual(made.out, host.out)
        self.assertEqual(self.numbers(made.err),
                         {"decoded": count, "by_processor": 0, "encoded": 0})
        said = self.run_on("device", "imgaussfilt 1", "in", "-o", "made").err
        self.assertEqual(self.numbers(said),
                         {"decoded": count, "by_processor": 0, "encoded": encoded})
        self.run_on("cpu", "imgaussfilt 1", "in", "-o", "host")
        # Both, as the processor's codecs read them.
        hashes = [self.impipe("", folder, "-n", "--hash", "--device", "cpu").out
                  for folder in ("made", "host")]
        self.assertEqual(hashes[0].replace("made/", ""), hashes[1].replace("host/", ""))

    def test_png(self):
        count = self.make_pngs()
        self.check(count, count)
        for name in os.listdir(self.path("host")):
            self.assertTrue(np.array_equal(self.pixels(f"made/{name}"),
                                           self.pixels(f"host/{name}")), name)

    def test_tiff(self):
        count = self.make_tiffs()
        # Results in PackBits are the processor's.
        kept = [name for name in os.listdir(self.path("in")) if "packbits" in name]
        self.check(count, count - len(kept))
        for name in os.listdir(self.path("host")):
            self.assertTrue(np.array_equal(self.pixels(f"made/{name}"),
                                           self.pixels(f"host/{name}")), name)

    def test_exr(self):
        count = self.make_exrs()
        # Results in RLE are the processor's.
        self.check(count, count - 16)

    def make_carried(self):
        """Pictures of halves and floats among other channels, of half, float and whole numbers."""
        rng = np.random.default_rng(7)
        count = 0
        for i, (height, width) in enumerate(SIZES):
            def pixels():
                return np.round(rng.random((height, width), np.float32) * 50) / 64
            for kind, types in (("half", (HALF, FLOAT, UINT, HALF)),
                                ("float", (FLOAT, UINT, FLOAT, FLOAT))):
                # A layer of its own lies behind channels that the others lie before.
                layer = "main." if kind == "float" else ""
                names = "RGBA" if kind == "half" else "RGB"
                channels = {layer + name: (types[0], pixels()) for name in names}
                channels |= {"Z": (types[1], pixels() * 1e6), "id": (types[2], pixels() * 99),
                             "AO": (types[3], pixels()), "D.x": (types[3], pixels())}
                if kind == "half":
                    # A signalling NaN goes through as it is.
                    channels["AO"][1].view(np.uint32)[0, 0] = 0x7f802000
                self.write(f"in/{kind}-{ZIPS}-{i}.exr",
                           exr(channels, size=(width, height), compression=ZIPS))
                count += 1
                for packing in ("zip", "rle"):
                    subprocess.run(["oiiotool", self.path(f"in/{kind}-{ZIPS}-{i}.exr"),
                                    "--compression", packing, "-o",
                                    self.path(f"in/{kind}-{packing}-{i}.exr")], check=True)
                    count += 1
        return count

    def carried(self, path):
        """The channels' types, and a hash of those that are not the picture's, by OpenImageIO."""
        self.oiio(path, "others.exr", "--ch", "AO,D.x,Z,id", "-d", "float")
        said = [subprocess.run(["oiiotool", "--info", "-v", "--hash", self.path(name)], check=True,
                               capture_output=True, text=True).stdout.splitlines()
                for name in (path, "others.exr")]
        return [line.strip() for lines, word in zip(said, ("channel list", "SHA-1"))
                for line in lines if word in line]

    def test_exr_with_other_channels(self):
        count = self.make_carried()
        self.check(count, count - 8)  # results in RLE are the processor's
        for name in os.listdir(self.path("in")):
            self.assertEqual(len(self.carried(f"in/{name}")), 2)
            self.assertEqual(self.carried(f"made/{name}"), self.carried(f"in/{name}"), name)
        said = self.run_on("device", "imcrop 1,1,5,5", f"in/half-{ZIPS}-3.exr", "-o", "crop", code=1)
        self.assertIn("would stay as they were", said.err)
    def oiio(self, name, out, *arguments):
        subprocess.run(["oiiotool", self.path(name), *arguments, "-o", self.path(out)], check=True)

    def make_alpha(self):
        """Squares of alpha 0 among them, under which colours are left in straight files."""
        os.makedirs(self.path("rgba"), exist_ok=True)
        rng = np.random.default_rng(8)
        for i, (height, width) in enumerate(SIZES):
            alpha = rng.integers(0, 256, (height, width), np.uint8)
            alpha[:height // 3, :width // 2] = 0
            rgba = np.dstack([colour(height, width, i), alpha])
            Image.fromarray(rgba).save(self.path(f"rgba/{i}.png"))
            yield i, rgba

    def test_png_with_alpha(self):
        os.makedirs(self.path("in"))
        for i, rgba in self.make_alpha():
            Image.fromarray(rgba).save(self.path(f"in/colour-{i}.png"))
            Image.fromarray(rgba[..., [0, 3]], "LA").save(self.path(f"in/gray-{i}.png"))
            for kind, channels in (("colour", "R,G,B,A"), ("gray", "R,A")):
                self.oiio(f"rgba/{i}.png", f"in/{kind}-16-{i}.png", "--mulc", "0.37", "--ch",
                          channels, "-d", "uint16")
        self.check(16, 16)
        for name in os.listdir(self.path("host")):
            made, host = (Image.open(self.path(f"{folder}/{name}")) for folder in ("made", "host"))
            self.assertEqual(made.mode, host.mode)
            self.assertTrue(np.array_equal(np.asarray(made), np.asarray(host)), name)

    def test_png_of_few_bits_and_palettes(self):
        os.makedirs(self.path("in"))
        rng = np.random.default_rng(9)
        for i, (height, width) in enumerate(SIZES):
            for bits in (1, 2, 4, 8):
                picture = Image.fromarray(rng.integers(0, 1 << bits, (height, width), np.uint8), "P")
                # Indices behind the end of a palette are black.
                entries = (1 << bits) - bits // 4
                picture.putpalette(rng.integers(0, 256, 3 * entries, np.uint8).tolist())
                picture.save(self.path(f"in/palette-{bits}-{i}.png"), bits=bits)
                picture.save(self.path(f"in/clear-{bits}-{i}.png"), bits=bits,
                             transparency=bytes(rng.integers(0, 256, entries // 2 + 1, np.uint8)))
        self.check(32, 32)
        info = json.loads(self.impipe("info", "--json", "in/clear-2-3.png").out)
        self.assertIn("palette", json.dumps(info))
        for name in os.listdir(self.path("host")):
            made, host = (Image.open(self.path(f"{folder}/{name}")) for folder in ("made", "host"))
            self.assertEqual(made.mode, "RGBA" if name.startswith("clear") else "RGB")
            self.assertTrue(np.array_equal(np.asarray(made), np.asarray(host)), name)

    def test_tiff_with_alpha(self):
        os.makedirs(self.path("in"))
        ways = {"associated": ["--compression", "zip"],
                "straight": ["--attrib", "oiio:UnassociatedAlpha", "1", "--compression", "lzw"],
                "tiles": ["--tile", "64", "32", "--compression", "none"],
                "planes": ["--planarconfig", "separate", "--compression", "zip"]}
        # Each is a kernel of its own to compile.
        kinds = [("uint8", "associated"), ("uint16", "straight"), ("half", "planes"),
                 ("float", "tiles")]
        for i, _ in self.make_alpha():
            for depth, way in kinds:
                self.oiio(f"rgba/{i}.png", f"in/{depth}-{way}-{i}.tif", "-d", depth, *ways[way])
        # Files of halves become files of floats.
        self.check(16, 16)

    def test_palette_tiff(self):
        os.makedirs(self.path("in"))
        for i, (height, width) in enumerate(SIZES):
            for packing in ("raw", "tiff_lzw", "tiff_adobe_deflate", "packbits"):
                Image.fromarray(colour(height, width, i)).quantize(200).save(
                    self.path(f"in/{packing}-{i}.tif"), compression=packing)
        # Results in PackBits are the processor's.
        self.check(16, 12)

    def test_tiff_of_integers(self):
        """Those that a picture of singles holds; one of 32 bits that it cannot hold is the
        processor's, which counts them."""
        rng = np.random.default_rng(5)
        os.makedirs(self.path("in"))
        differences = {"compression": 8, "tags": ((317, 3, [2]),)}
        expected = {}
        for kind, low, high in (("int8", -128, 128), ("int16", -2**15, 2**15),
                                ("int32", -2**24, 2**24), ("uint32", 0, 2**24)):
            for order in "<>":
                pixels = rng.integers(low, high, (37, 41)).astype(kind)
                pixels[0, :2] = low, high - 1
                for name, ways in (("none", {}), ("zip", differences)):
                    def pack(block, order=order, predicts=name == "zip"):
                        rows = np.diff(block[..., 0], axis=1, prepend=block.dtype.type(0)) \
                            if predicts else block
                        return rows.astype(rows.dtype.newbyteorder(order)).tobytes()
                    path = f"in/{kind}-{name}-{'be' if order == '>' else 'le'}.tif"
                    self.write(path, tiff(page(pixels, order=order, pack=pack, **ways)))
                    expected[path] = pixels
        said = self.run_on("device", "fliplr", "in", "-o", "out", "--format", "npy").err
        self.assertEqual(self.numbers(said), {"decoded": 16, "by_processor": 0, "encoded": 0})
        for path, pixels in expected.items():
            made = np.load(self.path(path.replace("in/", "out/").replace(".tif", ".npy")))
            self.assertTrue(np.array_equal(made, pixels[:, ::-1].astype(np.float32)), path)
        pixels = np.full((37, 41), 7, np.uint32)
        pixels[36, 40] = 2**24 + 1
        self.write("large.tif", tiff(page(pixels)))
        host = self.run_on("cpu", "fliplr", "large.tif", "--hash")
        made = self.run_on("device", "fliplr", "large.tif", "--hash")
        self.assertEqual(made.out, host.out)
        self.assertIn("single cannot hold 1 of its values", host.err)
        self.assertIn("single cannot hold 1 of its values", made.err)
        self.assertEqual(self.numbers(made.err),
                         {"decoded": 0, "by_processor": 1, "encoded": 0})

    def test_a_page_of_several(self):
        pages = [ramp(40, 50, i) for i in range(3)]
        first, *more = map(Image.fromarray, pages)
        first.save(self.path("in.tif"), save_all=True, append_images=more, compression="tiff_lzw")
        said = self.run_on("device", "fliplr", "in.tif", "--pages", "2", "-o", "a.tif").err
        self.assertEqual(self.numbers(said), {"decoded": 1, "by_processor": 0, "encoded": 1})
        self.assertTrue(np.array_equal(self.pixels("a.tif"), pages[1][:, ::-1]))

    def make_exr_alpha(self):
        """Every other one has light under an alpha of 0."""
        os.makedirs(self.path("in"))
        for i, rgba in self.make_alpha():
            source = f"rgba/{i}.png"
            if i % 2 == 1:
                self.oiio(source, f"rgba/{i}.exr", "--addc", "0.25,0.125,0,0", "-d", "float")
                source = f"rgba/{i}.exr"
            # What the processor packs costs no kernel that is compiled.
            for kind, packing in (("half", "zip"), ("half", "rle"), ("float", "rle"),
                                  ("half", "pxr24"), ("float", "pxr24")):
                if packing == "pxr24" and rgba.size == 4:
                    continue  # too small to be packed, which is the processor's
                self.oiio(source, f"in/{packing}-{kind}-{i}.exr", "-d", kind,
                          "--compression", packing)
            self.oiio(source, f"in/gray-float-{i}.exr", "--ch", "Y=R,A", "-d", "float",
                      "--compression", "zips")

    def test_exr_with_alpha(self):
        self.make_exr_alpha()
        # Results in RLE and PXR24 are the processor's.
        self.check(22, 8)

    def test_a_value_that_half_does_not_hold(self):
        """The file becomes one of 32 bits, as it does by the processor."""
        os.makedirs(self.path("npy"))
        np.save(self.path("npy/a.npy"), np.full((20, 30), 60000, np.float32))
        self.impipe("", "npy/a.npy", "-o", "in/a.exr", "-d", "half")
        for codec in ("cpu", "device"):
            self.run_on(codec, "imlincomb 2", "in", "-o", codec)
        info = [json.loads(self.impipe("info", "--json", f"{codec}/a.exr").out)
                for codec in ("cpu", "device")]
        for one in info:
            one.pop("path", None)
            one.pop("file", None)
        self.assertEqual(self.impipe("mean2", "cpu/a.exr").lines()[-1].split()[-1],
                         self.impipe("mean2", "device/a.exr").lines()[-1].split()[-1])

    def test_damaged_pictures_fail_alone_with_the_same_message(self):
        rng = np.random.default_rng(5)
        for i in range(30):
            self.picture(f"in/{i:02}.png", colour(80, 90, i))
            data = bytearray(self.read(f"in/{i:02}.png"))
            if i % 3 == 0:
                data = data[:len(data) - int(rng.integers(2, 900))]
            elif i % 3 == 1:
                for at in rng.integers(60, len(data) - 2, 3):
                    data[at] ^= 1 << int(rng.integers(8))
            self.write(f"in/{i:02}.png", bytes(data))
        host = self.run_on("cpu", "imgaussfilt 1", "in", "--hash", code=1)
        made = self.run_on("device", "imgaussfilt 1", "in", "--hash", code=1)
        self.assertEqual(made.out, host.out)
        told = [[line for line in one.err.splitlines() if ".png: " in line] for one in (made, host)]
        self.assertEqual(told[0], told[1])
        self.assertGreater(len(told[0]), 15)


if __name__ == "__main__":
    unittest.main()
