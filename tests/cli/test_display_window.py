"""imcrop display: the picture of the display window of EXR and DPX files, made here byte for byte or by
oiiotool; what is expected follows from the windows."""
import json
import struct
import subprocess
import unittest

import numpy as np
from exr_writer import FLOAT, HALF, box, exr, part, parts, read_header, take_apart, pixels_of
from program import ProgramTest, colour, ramp

WIDTH, HEIGHT = 7, 5
# The data window's first pixel, and the display window.
PLACES = {"overscan": ((-2, -1), (0, 0, 4, 3)), "a part is stored": ((3, 4), (0, 0, 16, 12)),
          "both": ((-2, 3), (0, 0, 9, 6)), "a display that begins elsewhere": ((8, 20), (10, 18, 9, 4)),
          "the same size": ((1, -2), (0, 0, WIDTH, HEIGHT)), "apart": ((20, 30), (0, 0, 5, 4)),
          "the data window": ((4, 5), (4, 5, WIDTH, HEIGHT))}


def shown(pixels, window, display):
    """The pixels of the display window by definition; 0 where none is stored."""
    left, top, width, height = display
    out = np.zeros((height, width, *pixels.shape[2:]), pixels.dtype)
    for y in range(height):
        for x in range(width):
            row, column = y + top - window[1], x + left - window[0]
            if 0 <= row < pixels.shape[0] and 0 <= column < pixels.shape[1]:
                out[y, x] = pixels[row, column]
    return out


def channels_of(pixels, kind, names="RGBA"):
    return {name: (kind, pixels[..., i]) for i, name in enumerate(names[:pixels.shape[2]])}


def rgba(seed=0):
    """Colours that are multiplied by alphas of 1/2 or 1, all of which halves hold."""
    alpha = np.where(ramp(HEIGHT, WIDTH, seed) % 2 == 0, 1, 0.5).astype(np.float32)[..., None]
    return np.concatenate([colour(HEIGHT, WIDTH, seed) / np.float32(256) * alpha, alpha], axis=2)


def values_of(one):
    """Of a part, red first; colours are multiplied by alpha."""
    left, top, right, bottom = struct.unpack("<4i", one["header"]["dataWindow"])
    names = [n for n in "YRGBA" if n in one["channels"]]
    return np.stack([pixels_of(one, n, (right - left + 1, bottom - top + 1)) for n in names], axis=2)


class DisplayWindow(ProgramTest):
    def read(self, name):
        with open(self.path(name), "rb") as file:
            one, = take_apart(file.read())
        return values_of(one)

    def same_as_oiiotool(self, before, after):
        done = subprocess.run(["oiiotool", before, "--croptofull", after, "--fail", "0", "--diff"],
                              cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_exr(self):
        for (name, (window, display)), kind, channels in (
                (place, kind, channels) for place in PLACES.items() for kind in (HALF, FLOAT)
                for channels in (3, 4)):
            with self.subTest(name, kind=kind, channels=channels):
                pixels = rgba()[..., :channels]
                self.write("a.exr", exr(channels_of(pixels, kind), (WIDTH, HEIGHT), window=window,
                                        display=display))
                run = self.impipe("imcrop display", "a.exr", "-o", "b.exr")
                self.assertEqual(run.err, "")
                header = read_header(self.path("b.exr"))
                self.assertEqual(header["displayWindow"], box(*display))
                self.assertEqual(header["dataWindow"], box(*display))
                np.testing.assert_array_equal(self.read("b.exr"), shown(pixels, window, display))
                self.same_as_oiiotool("a.exr", "b.exr")

    def test_other_formats_lose_no_window(self):
        window, display = PLACES["both"]
        pixels = rgba()[..., :3]
        for aspect, lost in ((1.0, ""), (2.0, "impipe: a.exr: the result is without display window and "
                                              "pixel aspect ratio\n")):
            self.write("a.exr", exr(channels_of(pixels, HALF), (WIDTH, HEIGHT), window=window,
                                    display=display, aspect=aspect))
            self.assertEqual(self.impipe("imcrop display", "a.exr", "-o", "a.npy").err, lost)
            np.testing.assert_array_equal(np.load(self.path("a.npy")), shown(pixels, window, display))
        self.assertIn("without display window", self.impipe("imcrop display | imcrop size=2", "a.exr",
                                                            "-o", "b.npy").err)

    def test_filters_before_it_see_the_overscan(self):
        window, display = PLACES["both"]
        pixels = rgba()
        self.write("a.exr", exr(channels_of(pixels, FLOAT), (WIDTH, HEIGHT), window=window,
                                display=display))
        for filters in ("imgaussfilt 1", "medfilt2 3", "rangefilt", "im2single | imlincomb 2"):
            with self.subTest(filters):
                self.impipe(filters, "a.exr", "-o", "all.exr")
                for more in ([], ["--no-fuse"]):
                    self.impipe(filters + " | imcrop display", "a.exr", "-o", "b.exr", *more)
                    np.testing.assert_array_equal(self.read("b.exr"),
                                                  shown(self.read("all.exr"), window, display))

    def test_dpx(self):
        for bits, (name, (window, display)) in ((bits, place) for bits in (8, 10, 16)
                                                for place in PLACES.items()):
            if min(window) < 0 or display[:2] != (0, 0):
                continue  # a DPX says none of these
            with self.subTest(name, bits=bits):
                codes = np.random.default_rng(3).integers(0, 2 ** bits, (HEIGHT, WIDTH, 3))
                scaled = codes << (8 - bits if bits == 8 else 16 - bits)
                np.save(self.path("in.npy"), scaled.astype(np.uint8 if bits == 8 else np.uint16))
                self.impipe("rot90 0", "in.npy", "-o", "in.tif")
                subprocess.run(["oiiotool", "in.tif", "-d", f"uint{bits}", "--attrib",
                                "oiio:Endian", "big", "-o", "a.dpx"],
                               cwd=self.folder, check=True)
                with open(self.path("a.dpx"), "rb") as file:
                    data = bytearray(file.read())
                data[1408:1416] = struct.pack(">2I", *window)
                data[1424:1432] = struct.pack(">2I", *display[2:])
                self.write("a.dpx", bytes(data))
                self.impipe("rot90 0", "a.dpx", "-o", "all.npy", "--strip")
                self.assertEqual(self.impipe("imcrop display", "a.dpx", "-o", "b.dpx").err, "")
                self.impipe("rot90 0", "b.dpx", "-o", "b.npy", "--strip")
                np.testing.assert_array_equal(np.load(self.path("b.npy")),
                                              shown(np.load(self.path("all.npy")), window, display))
                with open(self.path("b.dpx"), "rb") as file:
                    header = file.read(2048)
                self.assertEqual(struct.unpack(">6I", header[1408:1432])[::5], (0, display[3]))
                self.assertEqual(struct.unpack(">I", header[1424:1428])[0], display[2])

    def test_files_without_windows_are_their_pictures(self):
        self.picture("a.png", colour())
        self.assertEqual(self.impipe("imcrop display", "a.png", "-o", "b.png").err, "")
        np.testing.assert_array_equal(self.pixels("b.png"), colour())
        self.impipe("imcrop display", "a.png", "-o", "c.exr")
        self.impipe("noise 4,3 seed=1 | imcrop display", "-o", "d.png")

    def frames(self):
        """A folder of frames whose data windows differ, as renderers write them."""
        out = {}
        for i, (window, display) in enumerate(PLACES.values()):
            pixels = rgba(i)[..., :3]
            self.write(f"in/{i}.exr", exr(channels_of(pixels, HALF), (WIDTH, HEIGHT), window=window,
                                          display=display))
            out[str(i)] = shown(pixels, window, display)
        self.picture("in/p.png", colour(5, 7))
        out["p"] = colour(5, 7)
        return out

    def test_each_file_has_a_window_of_its_own(self):
        expected = self.frames()
        for options in (["-j", "1"], ["-j", "3"], ["--no-fuse"]):
            self.impipe("imcrop display", "in", "-o", "out/{stem}.npy", *options)
            for name, pixels in expected.items():
                np.testing.assert_array_equal(np.load(self.path(f"out/{name}.npy")), pixels)

    def test_intermediate_results_are_the_display_window(self):
        window, display = PLACES["a part is stored"]
        pixels = rgba()[..., :3]
        self.write("a.exr", exr(channels_of(pixels, HALF), (WIDTH, HEIGHT), window=window,
                                display=display))
        self.impipe("save '{stem}-all.exr' | imcrop display | save '{stem}-shown.exr' | imlincomb 2",
                    "a.exr", "-o", "b.exr")
        wanted = shown(pixels, window, display)
        for name, values, data in (("a-all", pixels, box(*window, WIDTH, HEIGHT)),
                                   ("a-shown", wanted, box(*display)), ("b", 2 * wanted, box(*display))):
            np.testing.assert_array_equal(self.read(name + ".exr"), values)
            self.assertEqual(read_header(self.path(name + ".exr"))["dataWindow"], data)

    def test_parts(self):
        """Each part has a data window of its own; so has each chosen channel the part's."""
        display = (0, 0, 9, 6)
        windows = {"left": (-2, 3), "right": (1, 1)}
        made = {name: rgba(i)[..., :3] for i, name in enumerate(windows)}
        self.write("a.exr", parts(*(part(name, channels_of(made[name], HALF), (WIDTH, HEIGHT),
                                         window=window, display=display)
                                    for name, window in windows.items())))
        self.impipe("imcrop display", "a.exr", "-o", "b.exr")
        with open(self.path("b.exr"), "rb") as file:
            found = take_apart(file.read())
        self.assertEqual(len(found), 2)
        for one, (name, window) in zip(found, windows.items()):
            self.assertEqual(one["header"]["dataWindow"], box(*display))
            np.testing.assert_array_equal(values_of(one), shown(made[name], window, display))
        window = (-2, 3)
        self.write("z.exr", exr({**channels_of(made["left"], HALF), "Z": (FLOAT, ramp(5, 7))},
                                (WIDTH, HEIGHT), window=window, display=display))
        run = self.impipe("imcrop display", "z.exr", "-o", "y.exr", code=1)
        self.assertIn("process them too (--channels all)", run.err)
        self.impipe("imcrop display", "z.exr", "--channels", "all", "-o", "y.exr")
        self.same_as_oiiotool("z.exr", "y.exr")

    def test_the_plan_knows_it(self):
        self.write("a.exr", exr(channels_of(rgba()[..., :3], HALF), (WIDTH, HEIGHT), window=(-2, 3),
                                display=(0, 0, 9, 6)))
        steps = [json.loads(self.impipe("plan", "imcrop display", *file, "--json").out)["unfused_steps"]
                 for file in (["a.exr"], [])]
        self.assertEqual(steps, [1, 0])

    def test_refusals(self):
        self.write("a.exr", exr(channels_of(rgba()[..., :3], HALF), (WIDTH, HEIGHT), window=(-2, 3),
                                display=(0, 0, 2 ** 20, 2 ** 20)))
        run = self.impipe("imcrop display", "a.exr", "-o", "b.exr", code=2)
        self.assertIn("max-pixels", run.err)
        first = "crop to it before other operators move pixels or change the size"
        for before in ("imresize 0.5", "rot90", "imcrop rect=0,0,3,3", "imcrop display",
                       "imtranslate 0.5,0", "conv2 k3 full", "conv2 k3 valid", "radon"):
            with self.subTest(before):
                run = self.impipe(f"{before} | imcrop display", "a.exr", "-o", "b.exr", code=2)
                self.assertIn(first, run.err)
        for other in ("rect=0,0,3,3", "size=3", "at=north", "units=percent", "origin=1"):
            with self.subTest(other):
                run = self.impipe(f"imcrop display {other}", "a.exr", "-o", "b.exr", code=2)
                self.assertIn("the display window has its own place and size; leave this out", run.err)


if __name__ == "__main__":
    unittest.main()
