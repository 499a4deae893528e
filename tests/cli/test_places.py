"""Fields that describe the place, the size or the meaning of pixels: kept where they still hold,
adapted, or left out and named. What each operator changes is its definition.
"""
import io
import itertools
import json
import re
import shutil
import struct
import unittest

import numpy as np
import tifffile
from PIL import Image, TiffImagePlugin
from PIL.PngImagePlugin import PngInfo

from program import ProgramTest, colour, png_chunk, ramp
from test_metadata import segment, with_segments

from dicom_writer import dicom
from fits_writer import card, hdu
from nifti_writer import nifti

H, W = 40, 60
GRID = {"places", "size"}
BYTE, ASCII, SHORT, LONG, RATIONAL, UNDEFINED, DOUBLE = 1, 2, 3, 4, 5, 7, 12
GDAL = ('<GDALMetadata>\n<Item name="TIME">noon</Item>\n<Item name="STATISTICS_MAXIMUM" sample="0">'
        "9</Item>\n</GDALMetadata>")

# name in the warning: what it is bound to, and its tags. MIN_VALUES: of statistics alone.
FIELDS = {
    "Intergraph's matrix": (GRID, {33920: (DOUBLE, tuple(range(16)))}),
    "GDAL's value for no data": ({"numbers"}, {42113: (ASCII, "-9999")}),
    "a gray response curve": ({"samples", "channels"}, {290: (SHORT, 3),
                                                        291: (SHORT, tuple(range(256)))}),
    "BlackLevel": ({"samples", "channels"}, {50714: (SHORT, 16)}),
    "ActiveArea": (GRID, {50829: (SHORT, (1, 2, 30, 50))}),
    "DefaultCrop": (GRID, {50719: (SHORT, (1, 2)), 50720: (SHORT, (50, 30))}),
    "DefaultUserCrop": ({"frame"}, {51125: (RATIONAL, (0.25, 0.25, 0.75, 0.75))}),
    "Decode": ({"samples", "channels"}, {433: (DOUBLE, (0.0, 255.0))}),
    "XPosition and YPosition": (GRID, {286: (RATIONAL, 3), 287: (RATIONAL, 4)}),
    "the size of the full image": (GRID, {33300: (LONG, 400), 33301: (LONG, 300)}),
    "ImageJ's metadata": (GRID | {"samples", "channels"}, {50838: (LONG, (12,)),
                                                           50839: (BYTE, b"IJIJroi 1234")}),
    "Photoshop's layers": ({"values"}, {37724: (UNDEFINED, b"Adobe Photoshop")}),
    "Zeiss' scale": ({"scale"}, {34118: (ASCII, "AP_PIXEL_SIZE 5 nm")}),
}
DESCRIPTIONS = {
    "Aperio's description": (GRID | {"scale"}, "Aperio Image Library v10\n60x40 |MPP = 0.5"),
    "a poem": (set(), "The lake lay blue below the hill"),
}
# What they change of a gray picture of 60x40 bytes.
PIPELINES = {
    ("imcrop 4,3,20,16",): GRID | {"frame"},
    ("imresize 2",): GRID | {"scale"},
    ("imresize 0.5",): GRID | {"scale"},
    ("rot90",): GRID | {"frame"},
    ("rot90 2",): {"places", "frame"},
    ("fliplr",): {"places", "frame"},
    ("flipud",): {"places", "frame"},
    ("transpose",): GRID | {"frame"},
    ("imrotate 20",): GRID | {"frame", "scale"},
    ("imrotate 20 crop",): {"places", "frame", "scale"},
    ("imwarp [1 0.1 0; 0 1 3]",): {"places", "frame", "scale"},
    ("impad 3",): GRID | {"frame"},
    ("padarray 2",): GRID | {"frame"},
    ("circshift 2,3",): {"places", "frame", "scale"},
    ("imtranslate 2,3",): {"places", "frame"},
    ("imtranslate 0.5,0",): {"places", "frame", "scale"},
    ("conv2 average,3 full",): GRID | {"frame"},
    ("radon",): GRID | {"frame", "scale", "samples", "numbers"},
    ("im2uint16",): {"samples", "numbers"},
    ("im2single", "-d", "single"): {"samples", "numbers"},
    ("im2single",): set(),  # written in the input's type
    ("im2bw 0.5",): {"samples", "numbers"},
    ("imadd 1", "-d", "uint16"): {"samples", "numbers"},
    ("bwdist",): {"samples", "numbers"},
    ("gray2rgb",): {"channels"},
    ("imgaussfilt 2",): set(),
    ("rangefilt [1 1 0]",): set(),  # within a frame that it cuts off again
    ("imcrop 0,0,60,40",): set(),
    ("fliplr | fliplr",): set(),
}
SAME = ("rot90 0",)

# Where a TIFF's raster lies on a map, in each of the ways to say it (OGC GeoTIFF 1.1, 7.3).
KEYS = (1, 1, 0, 2, 1024, 0, 1, 1, 1025, 0, 1)  # and 1 or 2: the raster's places are of areas, or points
SCALE = {33550: (DOUBLE, (10.0, 12.5, 0.0)), 33922: (DOUBLE, (3.0, 4.0, 0.0, 4e5, 5e6, 0.0))}
GEO = {
    "scale": {**SCALE, 34735: (SHORT, (*KEYS, 1))},
    "scale of points": {**SCALE, 34735: (SHORT, (*KEYS, 2))},
    "matrix": {34264: (DOUBLE, (9.0, 2.0, 0.0, 4e5, 3.0, -11.0, 0.0, 5e6, 0, 0, 0, 0, 0, 0, 0, 1)),
               34735: (SHORT, (*KEYS, 1))},
    "tie points": {33922: (DOUBLE, (0.0, 0.0, 0.0, 4e5, 5e6, 0.0, 60.0, 0.0, 0.0, 4e5 + 540, 5e6 + 180, 0.0,
                                    0.0, 40.0, 0.0, 4e5 + 80, 5e6 - 440, 0.0)), 34735: (SHORT, (*KEYS, 1))},
}
# Where pixel (x, y) of the result lies in its input of w x h pixels, by the operators' definitions.
MOVES = {
    "imcrop 4,3,20,16": lambda x, y, w, h: (x + 4, y + 3),
    "imresize 2": lambda x, y, w, h: ((x + 0.5) / 2 - 0.5, (y + 0.5) / 2 - 0.5),
    "imresize 0.5": lambda x, y, w, h: (2 * x + 0.5, 2 * y + 0.5),
    "rot90": lambda x, y, w, h: (w - 1 - y, x),
    "fliplr": lambda x, y, w, h: (w - 1 - x, y),
    "flipud": lambda x, y, w, h: (x, h - 1 - y),
    "transpose": lambda x, y, w, h: (y, x),
    "impad 3": lambda x, y, w, h: (x - 3, y - 3),
    "imtranslate 2,3": lambda x, y, w, h: (x - 2, y - 3),
    "imwarp [1 0.1 0; 0 1 3]": lambda x, y, w, h: (x - 0.1 * (y - 3), y - 3),
}


def on_the_map(tags):
    """The place on the map of a pixel's middle, by the fields of a file."""
    half = 0.5 if tags[34735][-1] == 1 else 0.0
    if 34264 in tags:
        m = np.reshape(tags[34264], (4, 4))
    elif 33550 in tags:
        (sx, sy, _), (i, j, _, x, y, _) = tags[33550], tags[33922]
        m = np.array([[sx, 0, 0, x - i * sx], [0, -sy, 0, y + j * sy]])
    else:
        ties = np.reshape(tags[33922], (-1, 6))
        known = np.c_[ties[:, :2], np.zeros(len(ties)), np.ones(len(ties))]
        m = np.linalg.lstsq(known, ties[:, 3:5], rcond=None)[0].T
    return lambda x, y: tuple(m[:2] @ (x + half, y + half, 0, 1))


def tiffinfo(fields):
    info = TiffImagePlugin.ImageFileDirectory_v2()
    for tag, (kind, value) in fields.items():
        info.tagtype[tag] = kind
        info[tag] = value
    return info


def lost_of(run, name):
    """The names in the one warning of a file."""
    start = f"impipe: {name}: the result is without "
    if not run.err:
        return []
    assert run.err.startswith(start) and run.err.count("\n") == 1, run.err
    return run.err[len(start):-1].split(", ")


OME_ANEW = "OME-XML but for axes and sizes"


class Fields(ProgramTest):
    def tags(self, name):
        with Image.open(self.path(name)) as image:
            return dict(image.tag_v2)

    def judge(self, options, changed, fields, lost, kept):
        """Whether each field is as it was, or out of the file and in the warning."""
        for name, (bound, tags) in fields.items():
            with self.subTest(options=options, field=name):
                if bound & changed:
                    self.assertIn(name, lost)
                    self.assertFalse(set(tags) & set(kept))
                else:
                    self.assertNotIn(name, lost)
                    for tag in tags:
                        self.assertEqual(kept.get(tag), self.before[tag])

    def test_fields_of_tiff_through_every_operator(self):
        everything = {tag: value for _, tags in FIELDS.values() for tag, value in tags.items()}
        self.picture("a.tif", ramp(H, W), tiffinfo=tiffinfo(everything))
        self.before = self.tags("a.tif")
        for options, changed in {**PIPELINES, SAME: set()}.items():
            run = self.impipe(*options, "a.tif", "-o", "out.tif")
            changed = changed | (set() if options == SAME else {"values"})
            self.judge(options, changed, FIELDS, lost_of(run, "a.tif"), self.tags("out.tif"))

    def test_georeference_follows_the_pixels(self):
        for name, fields in GEO.items():
            self.picture("a.tif", ramp(H, W), tiffinfo=tiffinfo(fields))
            before = on_the_map(self.tags("a.tif"))
            pairs = [(a,) for a in MOVES] + [(a, b) for a in MOVES for b in MOVES if name == "scale"]
            for pair in pairs:
                with self.subTest(fields=name, pair=pair):
                    run = self.impipe(" | ".join(pair), "a.tif", "-o", "out.tif")
                    self.assertEqual(run.err, "")
                    after = on_the_map(self.tags("out.tif"))
                    sizes = [(W, H)]
                    for i in range(1, len(pair)):
                        self.impipe(" | ".join(pair[:i]), "a.tif", "-o", "part.tif")
                        with Image.open(self.path("part.tif")) as image:
                            sizes.append(image.size)
                    for x, y in ((0, 0), (7, 2), (5, 11)):
                        at = x, y
                        for operator, size in zip(pair[::-1], sizes[::-1]):
                            at = MOVES[operator](*at, *size)
                        np.testing.assert_allclose(after(x, y), before(*at), rtol=0, atol=1e-6)

    def test_georeference_is_dropped_where_no_map_is_affine(self):
        for fields in GEO.values():
            self.picture("a.tif", ramp(H, W), tiffinfo=tiffinfo(fields))
            for operator in ("circshift 2,3", "radon"):
                run = self.impipe(operator, "a.tif", "-o", "out.tif")
                self.assertEqual(lost_of(run, "a.tif"), ["GeoTIFF"])
                self.assertFalse(set(fields) & set(self.tags("out.tif")))

    def test_strict_and_in_place(self):
        path = self.picture("a.tif", ramp(H, W), tiffinfo=tiffinfo(GEO["scale"]))
        with open(self.path("a.tif"), "rb") as file:
            before = file.read()
        run = self.impipe("circshift 2,3", "a.tif", "-o", "out.tif", "--strict", code=1)
        self.assertIn("--strict: the result would be without GeoTIFF", run.err)
        run = self.impipe("circshift 2,3", "a.tif", "--in-place", code=1)
        self.assertIn("--in-place would lose what the file has beside its picture: GeoTIFF", run.err)
        with open(self.path("a.tif"), "rb") as file:
            self.assertEqual(file.read(), before)
        self.assertEqual(self.tree(), ["a.tif"], path)

    def test_descriptions(self):
        for name, (bound, text) in DESCRIPTIONS.items():
            self.picture("a.tif", ramp(H, W), tiffinfo=tiffinfo({270: (ASCII, text)}))
            self.before = self.tags("a.tif")
            for options, changed in PIPELINES.items():
                run = self.impipe(*options, "a.tif", "-o", "out.tif")
                self.judge(options, changed, {name: (bound, {270})}, lost_of(run, "a.tif"),
                           self.tags("out.tif"))

    def test_imagej(self):
        text = "ImageJ=1.54f\nunit=micron\nmin=0.0\nmax=250.0\nxorigin=5\nloop=false\n"
        tags = {270: (ASCII, text), 282: (RATIONAL, 4.0), 283: (RATIONAL, 4.0), 296: (SHORT, 1)}
        self.picture("a.tif", ramp(H, W), tiffinfo=tiffinfo(tags))
        of_range, origin, scale = ("ImageJ's range and calibration of values", "ImageJ's origin",
                                   "ImageJ's scale")
        for options, lost, lines in (
                ("imgaussfilt 2", [], []), ("fliplr", [origin], ["xorigin=5"]),
                ("imresize 2", [origin], ["xorigin=5"]),
                ("rot90 | imresize 0.25", [origin], ["xorigin=5"]),
                ("imrotate 20", [origin], ["xorigin=5"]),
                ("imwarp [1 0.1 0; 0 1 3]", [origin, scale, "resolution"], ["xorigin=5", "unit=micron"]),
                ("im2uint16", [of_range], ["min=0.0", "max=250.0"]),
                ("gray2rgb", ["ImageJ's description"], text.split("\n"))):
            with self.subTest(options):
                run = self.impipe(options, "a.tif", "-o", "out.tif")
                self.assertEqual(sorted(lost_of(run, "a.tif")), sorted(lost))
                now = self.tags("out.tif")
                self.assertEqual([line for line in text.split("\n") if line not in lines],
                                 now.get(270, "").rstrip("\0").split("\n") if 270 in now else [])
                # Without ImageJ's unit, pixels a centimetre.
                grown = {"imresize 2": 8.0, "rot90 | imresize 0.25": 1.0, "gray2rgb": 4e4}.get(options, 4.0)
                self.assertEqual(now.get(282), None if scale in lost else grown)
                self.assertEqual(now.get(283), now.get(282))

    def test_tifffiles_shape_follows_the_pixels(self):
        gray, colours = np.stack([ramp(H, W, seed) for seed in range(3)]), np.stack([ramp(H, W)] * 3, -1)
        for pixels, kind in ((gray, "minisblack"), (gray[:1], "minisblack"), (colours, "rgb")):
            tifffile.imwrite(self.path("a.tif"), pixels, photometric=kind, metadata={"sample": 7})
            for pipeline in ("imresize 0.5", "rot90", "imcrop 4,3,20,16"):
                self.assertEqual(self.impipe(pipeline, "a.tif", "-o", "out.tif").err, "")
                with tifffile.TiffFile(self.path("out.tif")) as file:
                    self.assertEqual(len(file.series), 1)
                    lead = pixels.shape[:-2] if kind == "minisblack" else ()
                    self.assertEqual(file.series[0].shape, (*lead, *file.pages[0].shape))
                    self.assertEqual(file.shaped_metadata[0]["sample"], 7)
        tifffile.imwrite(self.path("a.tif"), gray, photometric="minisblack", metadata={"sample": 7})
        run = self.impipe("gray2rgb", "a.tif", "-o", "out.tif")
        self.assertIn("tifffile's description", run.err)

    def test_what_is_lost_of_a_tiff_is_named_by_what_it_is(self):
        gray = ramp(H, W)
        scale, tie = (33550, 12, 3, (10, 10, 0), True), (33922, 12, 6, (0, 0, 0, 1, 2, 0), True)
        artist, copyright_of = (315, 2, 0, "Ada", True), (33432, 2, 0, "Ada", True)
        for options, npy, fits in (
                ({"ome": True}, ["OME-XML"], ["OME-XML but for axes and sizes"]),
                ({"imagej": True}, ["ImageJ's description"], ["ImageJ's description but for axes and sizes"]),
                ({"metadata": None, "extratags": [scale, tie]}, ["GeoTIFF"], ["GeoTIFF"]),
                ({"metadata": None, "extratags": [artist]}, ["TIFF tag 315"], ["TIFF tag 315"]),
                ({"metadata": None, "extratags": [artist, copyright_of], "description": "a lake"},
                 ["ImageDescription", "TIFF tags 315 33432"],
                 ["ImageDescription", "TIFF tags 315 33432"]),
                ({"metadata": None, "resolution": (300, 300)}, ["resolution"], ["resolution"])):
            tifffile.imwrite(self.path("a.tif"), gray, software=False, **options)
            for target, expected in (("out.npy", npy), ("out.fits", fits)):
                with self.subTest(options=options, target=target):
                    lost = lost_of(self.impipe("imadd 1", "a.tif", "-o", target), "a.tif")
                    self.assertEqual([one for one in lost if one != "resolution" or npy == [one]], expected)

    def test_ome_follows_the_pixels(self):
        pixels = np.stack([ramp(H, W, seed) for seed in range(3)])
        tifffile.imwrite(self.path("a.ome.tif"), pixels, metadata={
            "axes": "CYX", "PhysicalSizeX": 0.25, "PhysicalSizeY": 0.5, "PhysicalSizeXUnit": "um",
            "PhysicalSizeYUnit": "um", "Channel": {"Name": ["a", "b", "c"]}}, photometric="minisblack")
        for pipeline, size in (("imcrop 4,3,20,16", (0.25, 0.5)), ("imresize 0.5", (0.5, 1)),
                               ("imresize 30", (0.25 / 30, 0.5 / 30)), ("rot90", (0.5, 0.25)),
                               ("fliplr | impad 500", (0.25, 0.5)), ("transpose", (0.5, 0.25)),
                               ("imresize 0.5 | rot90 | imresize 0.5", (2, 1))):
            with self.subTest(pipeline):
                run = self.impipe(pipeline, "a.ome.tif", "-o", "out.tif")
                self.assertEqual(run.err, "")
                with tifffile.TiffFile(self.path("out.tif")) as file:
                    self.assertEqual(len(file.series), 1)
                    self.assertEqual(file.series[0].axes, "CYX")
                    shape = file.pages[0].shape
                    self.assertEqual(file.series[0].shape, (3, *shape))
                    image = tifffile.xml2dict(file.ome_metadata)["OME"]["Image"]["Pixels"]
                self.assertEqual((image["SizeY"], image["SizeX"]), shape)
                np.testing.assert_allclose([image["PhysicalSizeX"], image["PhysicalSizeY"]], size,
                                           rtol=1e-12)
                self.assertEqual([channel["Name"] for channel in image["Channel"]], ["a", "b", "c"])
        for pipeline in ("imrotate 20", "circshift 2,3", "im2uint16", "imwarp [1 0.1 0; 0 1 3]"):
            run = self.impipe(pipeline, "a.ome.tif", "-o", "out.tif")
            self.assertIn(OME_ANEW, ", ".join(lost_of(run, "a.ome.tif")))

    def test_a_size_of_one_axis_of_ome_follows_it(self):
        for given, other in ("XY", "YX"):
            tifffile.imwrite(self.path("a.ome.tif"), ramp(H, W), metadata={
                "axes": "YX", f"PhysicalSize{given}": 0.25}, photometric="minisblack")
            for pipeline, expected in (("imadd 1", {given: 0.25}), ("imresize 0.5", {given: 0.5}),
                                       ("imcrop 4,3,20,16", {given: 0.25}), ("rot90", {other: 0.25}),
                                       ("transpose | imresize 0.5", {other: 0.5}), ("imrotate 20", {})):
                with self.subTest(given=given, pipeline=pipeline):
                    run = self.impipe(pipeline, "a.ome.tif", "-o", "out.ome.tif")
                    self.assertEqual("size of pixels" in run.err, not expected)
                    with tifffile.TiffFile(self.path("out.ome.tif")) as file:
                        image = tifffile.xml2dict(file.ome_metadata)["OME"]["Image"]["Pixels"]
                    self.assertEqual({axis: image[f"PhysicalSize{axis}"] for axis in "XY"
                                      if f"PhysicalSize{axis}" in image}, expected)

    def test_aperio_says_the_size_of_pixels(self):
        """Of the largest image, which is the file's only page."""
        pixels = colour(2 * H, 2 * W)
        text = "Aperio Image Library v11.2.1\r\n120x80 [0,0 120x80] (16x16)%s|AppMag = 20|MPP = 0.4990|Left = 25.7"
        with tifffile.TiffWriter(self.path("a.svs")) as file:
            for image, level in ((pixels, ""), (pixels[::2, ::2], " -> 60x40")):
                file.write(image, tile=(16, 16), description=text % level, metadata=None, photometric="rgb")
        sizes = {}
        for pipeline in ("fliplr", "imresize 0.5"):
            self.impipe(pipeline, "a.svs", "-o", "out.ome.tif")
            with tifffile.TiffFile(self.path("out.ome.tif")) as file:
                image = tifffile.xml2dict(file.ome_metadata)["OME"]["Image"]["Pixels"]
            sizes[pipeline] = [image.get(f"PhysicalSize{axis}{of}") for axis in "XY" for of in ("", "Unit")]
        self.assertEqual(sizes, {"fliplr": [0.499, "µm"] * 2, "imresize 0.5": [0.998, "µm"] * 2})
        self.assertEqual(self.impipe("imadd 1", "a.svs", "-o", "out.tif").err,
                         "impipe: a.svs: the result is without a reduced image or mask\n")
        self.assertEqual(self.tags("out.tif")[270], text % "")

    def test_pages(self):
        first = Image.fromarray(ramp(H, W))
        text = '<OME xmlns="o"><Pixels SizeX="60" SizeY="40" SizeZ="2"/></OME>'
        first.save(self.path("a.tif"), save_all=True, append_images=[Image.fromarray(ramp(H, W, 1))],
                   tiffinfo=tiffinfo({270: (ASCII, text)}))
        run = self.impipe("imadd 1", "a.tif", "-o", "both.tif")
        self.assertEqual(lost_of(run, "a.tif"), [])
        self.assertEqual(self.tags("both.tif")[270], text)
        run = self.impipe("imadd 1", "a.tif", "--pages", "1", "-o", "one.tif")
        self.assertEqual(lost_of(run, "a.tif"), ["OME-XML"])
        self.assertNotIn(270, self.tags("one.tif"))

    def test_statistics_of_values(self):
        self.picture("a.tif", ramp(H, W), tiffinfo=tiffinfo({42112: (ASCII, GDAL)}))
        self.assertEqual(self.impipe("rot90 0", "a.tif", "-o", "out.tif").err, "")
        self.assertEqual(self.tags("out.tif")[42112], GDAL)
        run = self.impipe("imadd 1", "a.tif", "-o", "out.tif")
        self.assertEqual(lost_of(run, "a.tif"), ["GDAL's statistics"])
        now = self.tags("out.tif")[42112]
        self.assertIn('<Item name="TIME">noon</Item>', now)
        self.assertNotIn("STATISTICS", now)
        run = self.impipe("fliplr", "a.tif", "-o", "out.tif")
        self.assertIn("GDAL metadata", lost_of(run, "a.tif"))
        self.assertNotIn(42112, self.tags("out.tif"))

    def test_samples_that_are_stored_otherwise(self):
        """The curve of a picture whose white is 0 is none of one whose black is."""
        data = ramp(H, W)
        fields = [(256, 3, 1, W), (257, 3, 1, H), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 0),
                  (273, 4, 1, 8), (277, 3, 1, 1), (278, 3, 1, H), (279, 4, 1, H * W),
                  (290, 3, 1, 3), (291, 3, 1, 7), (50714, 3, 1, 16), (50674, 4, 1, 4)]
        self.write("a.tif", struct.pack("<2sHI", b"II", 42, 8 + H * W) + data.tobytes()
                   + struct.pack("<H", len(fields))
                   + b"".join(struct.pack("<HHII", *field) for field in fields) + bytes(4))
        run = self.impipe("rot90 0", "a.tif", "-o", "out.tif")
        self.assertEqual(lost_of(run, "a.tif"), ["a gray response curve", "BlackLevel"])
        # How samples are packed is the result's own business.
        self.assertFalse({290, 291, 50714, 50674} & set(self.tags("out.tif")))

    def test_resolutions_that_differ(self):
        """A fax: 204 columns and 98 rows an inch."""
        tags = {282: (RATIONAL, 204.0), 283: (RATIONAL, 98.0), 296: (SHORT, 2)}
        self.picture("a.tif", ramp(H, W), tiffinfo=tiffinfo(tags))
        for options, expected in (("imadd 1", (204, 98)), ("rot90", (98, 204)),
                                  ("transpose", (98, 204)), ("flipud", (204, 98)),
                                  ("imresize 2", (204, 98)), ("imresize 80,60", (204, 196)),
                                  ("imrotate 20", None)):
            with self.subTest(options):
                for target in ("out.tif", "out.png", "out.bmp", "out.jpg"):
                    run = self.impipe(options, "a.tif", "-o", target)
                    with Image.open(self.path(target)) as image:
                        dpi = image.info.get("dpi")
                    if expected is None:
                        self.assertEqual(lost_of(run, "a.tif"), ["resolution"])
                        self.assertLess(max(dpi or (0, 0)), 73)  # what readers make of none
                    else:
                        np.testing.assert_allclose([float(d) for d in dpi], expected, atol=0.6)


MICRO, MILLI = 1e-6, 1e-3
METRES = {"µm": MICRO, "um": MICRO, "micrometer": MICRO, "mm": MILLI, "millimeter": MILLI, "s": 1, "second": 1}
T, Z = 2, 4  # pages of the stacks along their axes
# How many pages lie along each axis of a stack that is made here, and the metres, or seconds, of a step.
OME = {"t": (T, 3), "z": (Z, 2 * MICRO), "x": (1, MICRO / 2), "y": (1, MICRO / 4)}
STACKS = {
    "a.ome.tif": OME, "i.tif": OME, "f.fits": OME, "d.dcm": {a: (n, s * 1000) for a, (n, s) in OME.items() if a != "t"},
    "n.nii": {a: (n, s if a == "t" else s * 1000) for a, (n, s) in OME.items()},
    "j.zarr": OME, "p.ome.tif": {"z": (Z, None)},
}
# What becomes of the axes: factors of steps, None for an axis that is no more.
CHANGES = {
    "rot90 0": {}, "im2uint16 | fliplr": {}, "imresize 2": {"x": 0.5, "y": 0.5}, "imcrop 1,1,4,3": {},
    "im2bw 0.5": {}, "gray2rgb": {}, "rot90": {"x": 0.5, "y": 2}, "imresize3 1,1,0.5": {"z": 2},
    "imrotate 30": {"x": None, "y": None}, "project max axis=z": {"z": None}, "project max": {"z": None, "t": None},
    "project max axis=z | imresize 0.5": {"z": None, "x": 2, "y": 2},
}


class Axes(ProgramTest):
    """Axes of pages and sizes of pixels through operators into files, as other programs' readers see them: right, or
    named in the warning."""

    def make_stacks(self):
        values = np.arange(T * Z * 6 * 8).astype(np.uint8).reshape(T, Z, 6, 8)
        sizes = {f"PhysicalSize{a.upper()}{of}": value for a in "xyz"
                 for of, value in (("", OME[a][1] / MICRO), ("Unit", "µm"))}
        tifffile.imwrite(self.path("a.ome.tif"), values, photometric="minisblack", metadata={
            "axes": "TZYX", **sizes, "TimeIncrement": 3, "TimeIncrementUnit": "s"})
        tifffile.imwrite(self.path("p.ome.tif"), values[0], photometric="minisblack", metadata={"axes": "ZYX"})
        tifffile.imwrite(self.path("i.tif"), values, imagej=True, resolution=(2, 4), resolutionunit=None, metadata={
            "axes": "TZYX", "spacing": 2.0, "unit": "um", "finterval": 3.0})
        dicom(self.path("d.dcm"), values[0], PixelSpacing=[0.25, 0.5], SpacingBetweenSlices=2)
        self.write("n.nii", nifti(values, pixdim=(0.5, 0.25, 2, 3), units=2 + 8))
        cards = [card(f"{key}{i}", value) for i, (kind, unit, step) in enumerate(
            (("X", "um", 0.5), ("Y", "um", 0.25), ("Z", "um", 2.0), ("TIME", "s", 3.0)), 1)
            for key, value in (("CTYPE", kind), ("CUNIT", unit), ("CDELT", step), ("CRPIX", 1.0), ("CRVAL", 0.0))]
        self.write("f.fits", hdu(values, extra=cards))
        self.impipe("rot90 0", "a.ome.tif", "-o", "j.zarr")
        return values

    def of_tiff(self, name):
        with tifffile.TiffFile(self.path(name)) as file:
            self.assertEqual(len(file.series), 1)
            series, page = file.series[0], file.pages[0]
            found = {a: [n, None] for a, n in zip(series.axes.lower(), series.shape)}
            self.assertEqual(series.asarray().shape, series.shape)
            # Resolution is a fraction of pixels in centimetres, or in ImageJ's unit.
            unit = MILLI * 10 if page.tags.get(296) and page.tags[296].value == 3 else None
            if file.is_imagej:
                unit = METRES.get(file.imagej_metadata.get("unit"))
            for a, tag in (("x", 282), ("y", 283)):
                if unit and tag in page.tags:
                    found[a][1] = unit * page.tags[tag].value[1] / page.tags[tag].value[0]
            if file.is_imagej:
                for a, key in (("z", "spacing"), ("t", "finterval")):
                    if a in found and key in file.imagej_metadata and (unit or a == "t"):
                        found[a][1] = file.imagej_metadata[key] * (unit if a == "z" else 1)
            if file.is_ome:
                said = tifffile.xml2dict(file.ome_metadata)["OME"]["Image"]["Pixels"]
                self.assertEqual((said["SizeX"], said["SizeY"]), (page.imagewidth, page.imagelength))
                self.assertEqual(said["Type"].replace("bit", "bool"), str(page.dtype))
                for a, key in (*((a, f"PhysicalSize{a.upper()}") for a in "xyz"), ("t", "TimeIncrement")):
                    if key in said:
                        found.setdefault(a, [1, None])[1] = said[key] * METRES[said.get(key + "Unit", "µm")]
            return found, file.is_ome

    def of_zarr(self, name):
        with open(self.path(name, ".zattrs"), encoding="utf-8") as file:
            pyramid = json.load(file)["multiscales"][0]
        with open(self.path(name, "0", ".zarray"), encoding="utf-8") as file:
            shape = json.load(file)["shape"]
        scale = pyramid["datasets"][0]["coordinateTransformations"][0]["scale"]
        return {axis["name"]: [n, step * METRES[axis["unit"]] if "unit" in axis else None]
                for axis, n, step in zip(pyramid["axes"], shape, scale)}

    def of_fits(self, name):
        with open(self.path(name), "rb") as file:
            text = file.read(2880 * 4).decode("latin-1")
        cards = [text[i:i + 80] for i in range(0, text.index("END" + " " * 77), 80)]
        said = {c[:8].strip(): c[10:].split("/")[0].strip().strip("'").strip() for c in cards}
        found = {}
        for i in range(1, int(said["NAXIS"]) + 1):
            letter = {"TIME": "t"}.get(said.get(f"CTYPE{i}"), said.get(f"CTYPE{i}", "xyzpq"[i - 1]).lower())
            unit = said.get(f"CUNIT{i}")
            # The column of PC times CDELT; none where two of them are not at right angles.
            column = [float(said.get(f"PC{k}_{i}", k == i)) * float(said.get(f"CDELT{k}", 1)) for k in (1, 2)]
            step = np.hypot(*column) if i < 3 else abs(float(said.get(f"CDELT{i}", 1)))
            found[letter] = [int(said[f"NAXIS{i}"]), step * METRES[unit] if unit else None]
        if "PC1_2" in said and found["x"][1] and found["y"][1]:
            a, b = ([float(said[f"PC{k}_{i}"]) * float(said[f"CDELT{k}"]) for k in (1, 2)] for i in (1, 2))
            if abs(np.dot(a, b)) > 1e-9 * np.hypot(*a) * np.hypot(*b):
                found["x"][1] = found["y"][1] = None
        return found

    def of_png(self, name):
        with Image.open(self.path(name)) as image:
            dpi = image.info.get("dpi")
        return {a: [1, 0.0254 / d] for a, d in zip("xy", dpi)} if dpi else {}

    def judge(self, wanted, found, err, tolerance):
        """Each axis of pages, and each size, is in the file or in the warning."""
        for axis, (count, step) in wanted.items():
            has = found.get(axis, [1, None])
            if axis not in "xy" and count > 1 and has[0] != count:
                self.assertRegex(err, f"the axes of its pages .*{axis} {count}")
            if step is not None and (has[1] is None or abs(has[1] / step - 1) > tolerance):
                self.assertRegex(err, "resolution" if axis in "xy" else f"where pixels lie along {axis}|ImageJ's scale")
            if step is None and axis in "xy":
                self.assertIsNone(has[1], "a size of pixels that nobody knows")

    def test_into_every_format(self):
        self.make_stacks()
        formats = {"o.tif": lambda name: self.of_tiff(name)[0], "o.ome.tif": lambda name: self.of_tiff(name)[0],
                   "o.zarr": self.of_zarr, "o.fits": self.of_fits, "o_1.png": self.of_png}
        for (stack, axes), pipeline, output in itertools.product(STACKS.items(), CHANGES, formats):
            if pipeline == "gray2rgb" and output in ("o.zarr", "o.fits") or \
                    ("axis=z" in pipeline or "project" in pipeline) and "z" not in axes:
                continue
            with self.subTest(stack=stack, pipeline=pipeline, output=output):
                change = CHANGES[pipeline]
                is_page = output == "o_1.png"  # each page is a file
                wanted = {a: (1 if is_page else n, None if s is None or change.get(a, 1) is None else s * change.get(a, 1))
                          for a, (n, s) in axes.items() if a in "xy" or change.get(a, 1) is not None}
                if "imresize3" in pipeline and not is_page:
                    wanted["z"] = (Z // 2, wanted["z"][1])
                shutil.rmtree(self.path("o.zarr"), ignore_errors=True)
                is_one = pipeline.startswith("project max") and not set(wanted) - set("xy")
                name = output.replace("_1", "_{page}") if not is_one else output
                run = self.impipe(pipeline, stack, "-o", name)
                self.judge(wanted, formats[output](output), run.err, 1e-8 if output != "o_1.png" else 0.01)
                if output == "o.ome.tif":
                    self.assertTrue(self.of_tiff(output)[1])

    def test_some_pages(self):
        values = self.make_stacks()
        for stack in ("a.ome.tif", "i.tif", "f.fits", "n.nii", "j.zarr"):
            by = 1000 if stack == "n.nii" else 1
            for pages, counts in (("2-3", {"z": 2}), ("2,6", {"t": 2}), ("1-4", {"z": 4}), ("4-1", None), ("3", {})):
                with self.subTest(stack=stack, pages=pages):
                    if counts is None:
                        counts, pages = {"z": 4}, "4,3,2,1"
                    run = self.impipe("rot90 0", stack, "--pages", pages, "-o", "o.tif")
                    wanted = {"x": (1, MICRO / 2 * by), "y": (1, MICRO / 4 * by)}
                    for a, n in counts.items():
                        wanted[a] = (n, STACKS[stack][a][1])
                    self.judge(wanted, self.of_tiff("o.tif")[0], run.err, 1e-8)
                    numbers = [int(p) - 1 for part in pages.split(",") for p in
                               (range(int(part[0]), int(part[-1]) + 1))]
                    np.testing.assert_array_equal(tifffile.imread(self.path("o.tif")).reshape(-1, 6, 8),
                                                  values.reshape(-1, 6, 8)[numbers])

    def test_names_of_channels_and_other_text(self):
        values = np.stack([ramp(6, 8, i) for i in range(3)])
        names = ["DAPI & more", "GFP", "RFP"]
        tifffile.imwrite(self.path("a.ome.tif"), values, photometric="minisblack",
                         metadata={"axes": "CYX", "Channel": {"Name": names}})
        for options, kept in ((("im2uint16",), names), (("rot90 0", "--pages", "1,3"), names[::2]),
                              (("project max",), [])):
            self.impipe(*options, "a.ome.tif", "-o", "b.ome.tif")
            with tifffile.TiffFile(self.path("b.ome.tif")) as file:
                said = tifffile.xml2dict(file.ome_metadata)["OME"]["Image"]["Pixels"]["Channel"]
            said = said if isinstance(said, list) else [said]
            self.assertEqual([c["Name"] for c in said if "Name" in c], kept)
        self.picture("a.tif", ramp(6, 8), tiffinfo=tiffinfo({270: (ASCII, "a < b & c")}))
        self.assertEqual(self.impipe("rot90 0", "a.tif", "-o", "c.OME.TIFF").err, "")
        with tifffile.TiffFile(self.path("c.OME.TIFF")) as file:
            self.assertEqual(tifffile.xml2dict(file.ome_metadata)["OME"]["Image"]["Description"], "a < b & c")

    def test_joined_files(self):
        values = self.make_stacks()
        for i in range(3):
            tifffile.imwrite(self.path(f"s{i}.tif"), values[0, i])  # each with tifffile's shape
            tifffile.imwrite(self.path(f"m{i}.ome.tif"), values[0, i], metadata={
                "axes": "YX", "PhysicalSizeX": 0.5, "PhysicalSizeY": 0.25 + (i == 2)})
        self.impipe("rot90 0", "s0.tif", "s1.tif", "s2.tif", "-o", "o.tif")
        np.testing.assert_array_equal(tifffile.imread(self.path("o.tif")), values[0, :3])
        self.impipe("rot90 0", "m0.ome.tif", "m1.ome.tif", "-o", "o.zarr")
        self.judge({"x": (1, MICRO / 2), "y": (1, MICRO / 4), "z": (2, None)}, self.of_zarr("o.zarr"), "", 1e-9)
        run = self.impipe("rot90 0", "m0.ome.tif", "m1.ome.tif", "m2.ome.tif", "-o", "n.zarr", code=1)
        self.assertIn("its pixels have another size in the scene than those of the inputs before it", run.err)
        self.assertIn("'n.zarr' is not written", run.err)
        self.assertEqual(run.end, "")
        self.impipe("imcrop 1,1,3,3", "s0.tif", "-o", "small.tif")
        tifffile.imwrite(self.path("i1.tif"), values[0, :2], imagej=True)
        run = self.impipe("rot90 0", "i1.tif", "small.tif", "-o", "o.tif")
        self.assertIn("without ImageJ's description", run.err)
        run = self.impipe("rot90 0", "i1.tif", "small.tif", "-o", "o.ome.tif", code=None)
        self.assertIn("an OME-TIFF holds pages of one size and type", run.err)

def rational(number):
    return struct.pack("<II", int(number * 100), 100)


def exif(area, orientation=1):
    """SubjectArea and FocalPlaneXResolution, FocalPlaneYResolution."""
    count, size = len(area), 2 * len(area)
    at = 8 + 2 + 2 * 12 + 4 + 2 + 4 * 12 + 4
    place = struct.pack("<HH", *area) if count == 2 else struct.pack("<I", at)
    return (b"Exif\0\0II*\0" + struct.pack("<I", 8) + struct.pack("<H", 2)
            + struct.pack("<HHIHH", 274, 3, 1, orientation, 0)
            + struct.pack("<HHII", 34665, 4, 1, 38) + bytes(4) + struct.pack("<H", 4)
            + struct.pack("<HHI", 37396, 3, count) + place
            + struct.pack("<HHII", 41486, 5, 1, at + 8) + struct.pack("<HHII", 41487, 5, 1, at + 16)
            + struct.pack("<HHIHH", 41488, 3, 1, 2, 0) + bytes(4)
            + struct.pack(f"<{count}H", *area).ljust(8, b"\0")[:max(8, size)]
            + rational(3000) + rational(2000))


class Photographs(ProgramTest):
    def photograph(self, *segments):
        out = io.BytesIO()
        Image.fromarray(colour(H, W)).save(out, "JPEG", quality=95)
        self.write("a.jpg", with_segments(out.getvalue(), *segments))

    def details(self, name):
        with Image.open(self.path(name)) as image:
            return image.getexif().get_ifd(34665)

    def test_the_subject_follows_the_pixels(self):
        x, y, w, h = 20, 10, 8, 6
        for options, orientation, expected in (
                ("imadd 1", 1, (x, y, w, h)), ("imcrop 5,4,40,30", 1, (x - 5, y - 4, w, h)),
                ("fliplr", 1, (W - 1 - x, y, w, h)), ("flipud", 1, (x, H - 1 - y, w, h)),
                ("rot90", 1, (y, W - 1 - x, h, w)), ("transpose", 1, (y, x, h, w)),
                ("rot90 -1", 1, (H - 1 - y, x, h, w)), ("impad 3", 1, (x + 3, y + 3, w, h)),
                ("imresize 2", 1, (2 * x + 0.5, 2 * y + 0.5, 2 * w, 2 * h)),
                ("imadd 1", 6, (H - 1 - y, x, h, w)), ("imadd 1", 3, (W - 1 - x, H - 1 - y, w, h)),
                ("imcrop 30,0,20,20", 1, None), ("imrotate 20", 1, None), ("circshift 1,1", 1, None)):
            with self.subTest(options=options, orientation=orientation):
                self.photograph(segment(0xE1, exif((x, y, w, h), orientation)))
                for target in ("out.jpg", "out.png", "out.tif"):
                    run = self.impipe(options, "a.jpg", "-o", target)
                    lost, now = lost_of(run, "a.jpg"), self.details(target)
                    if expected is None:
                        self.assertIn("EXIF SubjectArea", lost)
                        self.assertNotIn(37396, now)
                    else:
                        self.assertEqual(lost, [])
                        np.testing.assert_allclose(now[37396], expected, atol=0.5)

    def test_points_and_circles(self):
        for area, options, expected in (((20, 10), "fliplr", (W - 21, 10)),
                                        ((20, 10, 6), "rot90", (10, W - 21, 6)),
                                        ((20, 10, 6), "imresize 80,60", None)):
            with self.subTest(area=area, options=options):
                self.photograph(segment(0xE1, exif(area)))
                run = self.impipe(options, "a.jpg", "-o", "out.jpg")
                self.assertEqual(self.details("out.jpg").get(37396), expected)
                self.assertEqual(lost_of(run, "a.jpg"),
                                 [] if expected else ["EXIF SubjectArea"])

    def test_the_sensors_resolution(self):
        self.photograph(segment(0xE1, exif((20, 10))))
        for options, expected in (("imadd 1", (3000, 2000)), ("imcrop 5,4,40,30", (3000, 2000)),
                                  ("imresize 2", (6000, 4000)), ("rot90", (2000, 3000)),
                                  ("imresize 20,60", (3000, 1000)), ("imrotate 20", None)):
            with self.subTest(options):
                run = self.impipe(options, "a.jpg", "-o", "out.jpg")
                now = self.details("out.jpg")
                if expected is None:
                    self.assertIn("EXIF FocalPlaneResolution", lost_of(run, "a.jpg"))
                    self.assertNotIn(41486, now)
                else:
                    self.assertEqual((now[41486], now[41487]), expected)

    def test_regions_and_panoramas(self):
        xmp = ('<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22'
               '-rdf-syntax-ns#"><rdf:Description xmlns:mwg-rs="r" xmlns:stDim="d" xmlns:GPano="g" '
               'GPano:ProjectionType="equirectangular" xmlns:xmp="p" xmp:Rating="4">'
               '<GPano:FullPanoWidthPixels>60</GPano:FullPanoWidthPixels>'
               '<mwg-rs:Regions rdf:parseType="Resource"><mwg-rs:AppliedToDimensions stDim:w="60" '
               'stDim:h="40" stDim:unit="pixel"/><mwg-rs:RegionList><rdf:Bag><rdf:li><rdf:Description '
               'mwg-rs:Name="Ada"/></rdf:li></rdf:Bag></mwg-rs:RegionList></mwg-rs:Regions>'
               '</rdf:Description></rdf:RDF></x:xmpmeta>')
        self.photograph(segment(0xE1, b"http://ns.adobe.com/xap/1.0/\0" + xmp.encode()))
        panorama, regions = "XMP panorama (GPano)", "XMP regions"
        for options, lost in (("imadd 1", []), ("imresize 2", [panorama]),
                              ("fliplr", [regions, panorama]), ("imcrop 1,1,9,9", [regions, panorama]),
                              ("imrotate 9", [regions, panorama])):
            for target in ("out.jpg", "out.png", "out.tif", "out.webp"):
                with self.subTest(options=options, target=target):
                    self.assertEqual(lost_of(self.impipe(options, "a.jpg", "-o", target), "a.jpg"),
                                     lost)
                    with open(self.path(target), "rb") as file:
                        data = file.read()
                    self.assertIn(b'xmp:Rating="4"', data)
                    self.assertEqual(b"Ada" in data, regions not in lost)
                    self.assertEqual(b"equirect" in data, panorama not in lost)
                    self.assertEqual(b"FullPano" in data, panorama not in lost)
                    self.assertEqual(b'stDim:w="120" stDim:h="80"' in data, options == "imresize 2")

    def test_regions_follow_their_pixels(self):
        """Two rectangles of XMP, one of attributes and one of elements, lie where the pixels under them do."""
        area = '<mwg-rs:Area stArea:x="{}" stArea:y="{}" stArea:w="{}" stArea:h="{}" stArea:unit="normalized"/>'
        elements = ('<mwg-rs:Area rdf:parseType="Resource"><stArea:unit>normalized</stArea:unit><stArea:h>{3}</stArea:h>'
                    '<stArea:x>{0}</stArea:x><stArea:y>{1}</stArea:y><stArea:w>{2}</stArea:w></mwg-rs:Area>')
        boxes = [(8, 6, 10, 12), (30, 20, 15, 8)]  # x, y, width, height
        pixels = np.zeros((40, 60, 3), np.uint8)
        regions = ""
        for k, (form, (x, y, w, h)) in enumerate(zip((area, elements), boxes)):
            pixels[y:y + h, x:x + w, k] = 255
            regions += ("<rdf:li rdf:parseType='Resource'>"
                        + form.format((x + w / 2) / 60, (y + h / 2) / 40, w / 60, h / 40) + "</rdf:li>")
        info = PngInfo()
        info.add_itxt("XML:com.adobe.xmp", "<rdf:RDF><mwg-rs:Regions><mwg-rs:RegionList><rdf:Bag>" + regions
                      + "</rdf:Bag></mwg-rs:RegionList></mwg-rs:Regions></rdf:RDF>")
        self.picture("a.png", pixels, pnginfo=info)
        for pipeline in ("fliplr", "flipud", "transpose", "rot90", "rot90 3", "imcrop 5,4,50,30", "impad 3",
                         "imresize 2 nearest", "imresize 120,60 nearest", "imcrop 5,4,50,30 | rot90 | impad 2"):
            with self.subTest(pipeline):
                self.assertEqual(self.impipe(pipeline, "a.png", "-o", "out.png").err, "")
                with Image.open(self.path("out.png")) as file:
                    text, result = file.text["XML:com.adobe.xmp"], np.asarray(file)
                found = [[float(n) for n in re.findall(rf'(?<!/)stArea:{key}(?:="|>)([^"<]*)', text)] for key in "xywh"]
                for k, (x, y, w, h) in enumerate(zip(*found)):
                    rows, columns = np.nonzero(result[..., k])
                    box = [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]
                    sides = np.array(result.shape[1::-1] * 2)
                    np.testing.assert_allclose(np.array([x - w / 2, y - h / 2, x + w / 2, y + h / 2]) * sides, box, atol=1e-4)
        for pipeline in ("imcrop 1,1,20,30", "imrotate 9", "circshift 2,3"):
            self.assertIn("XMP regions", self.impipe(pipeline, "a.png", "-o", "out.png").err)

    def test_photoshops_paths_and_guides(self):
        def resource(number, data):
            return b"8BIM" + struct.pack(">HHI", number, 0, len(data)) + data
        self.photograph(segment(0xED, b"Photoshop 3.0\0" + resource(2000, b"path")
                                + resource(1032, b"guides") + resource(1060, b"more")))
        for options, lost in (("imadd 1", []), ("imresize 2", ["Photoshop's guides"]),
                              ("fliplr", ["Photoshop's paths", "Photoshop's guides"])):
            with self.subTest(options):
                run = self.impipe(options, "a.jpg", "-o", "out.jpg")
                self.assertEqual(lost_of(run, "a.jpg"), lost)
                with open(self.path("out.jpg"), "rb") as file:
                    data = file.read()
                self.assertEqual(b"8BIM\x07\xd0" in data, "Photoshop's paths" not in lost)
                self.assertEqual(b"8BIM\x04\x08" in data, "Photoshop's guides" not in lost)
                self.assertIn(b"8BIM\x04\x24", data)

    def test_chunks_of_png(self):
        out = io.BytesIO()
        Image.fromarray(ramp(H, W)).save(out, "PNG")
        data = out.getvalue()
        chunks = {b"oFFs": struct.pack(">iiB", 5, 6, 0), b"sCAL": b"\x01" + b"2.5\0" + b"2.5",
                  b"pCAL": b"mm\0" + struct.pack(">iiBB", 0, 255, 0, 2) + b"mm\0" + b"0\0" + b"1"}
        self.write("a.png", data[:33] + b"".join(png_chunk(*chunk) for chunk in chunks.items())
                   + data[33:])
        for options, lost in (("imadd 1", []), ("fliplr", [b"oFFs"]), ("imresize 2", [b"oFFs", b"sCAL"]),
                              ("im2uint16", [b"pCAL"])):
            with self.subTest(options):
                run = self.impipe(options, "a.png", "-o", "out.png")
                self.assertEqual(sorted(lost_of(run, "a.png")),
                                 sorted(f"calibration ({kind.decode()})" for kind in lost))
                with open(self.path("out.png"), "rb") as file:
                    data = file.read()
                for kind in chunks:
                    self.assertEqual(kind in data, kind not in lost)


if __name__ == "__main__":
    unittest.main()
