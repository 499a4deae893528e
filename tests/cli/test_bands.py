"""Pictures that would take more than --memory, of TIFF, Zarr and NPY, JPEG to JPEG, and large JPEGs on
the processor, in bands of rows, with the same bits.
"""
import glob
import io
import json
import os
import signal
import struct
import subprocess
import time
import unittest

import numcodecs
import numpy as np
import tifffile
import zarr
from PIL import Image, ImageCms, TiffImagePlugin

from program import PROGRAM, RUN_TIMEOUT, SANITIZED, ProgramTest, colour, ramp
from test_metadata import exif_block, segment, with_segments

# In bands, each with the size of its neighbourhoods' reach; together some pass a band's first rows.
LOCAL = ["imcomplement", "imgaussfilt 2", "imgaussfilt 9", "medfilt2 5", "ordfilt2 3 disk,4",
         "imdilate disk,6 | imerode square,3", "imfilter laplacian", "imboxfilt 31",
         "imadjust 0.2 0.8 | imgaussfilt 3 | medfilt2 3", "imsharpen", "fliplr",
         "stencil 'at(-1,-7) + at(2,5)' | imdilate square,3", "edge prewitt 0.1", "rgb2gray",
         "edge prewitt", "edge log", "imgaussfilt 2 | imbinarize | imdilate square,3", "mat2gray | imadjust 0.2 0.8",
         "rgb2gray | imadjust | edge sobel", "imbilatfilt", "imfilter gaussian,5 replicate | imfilter average,7 symmetric", "im2single",
         "map 'x * col / width'", "im2bw 0.5 | imdilate disk,3", "rgb2gray | entropyfilt disk,4 | map 'x > 4' class=logical"]
WHOLE = {"bwdist": "bwdist", "histeq": "histeq", "imresize 0.5": "imresize", "flipud": "flipud",
         "imfilter gaussian,5 circular": "imfilter", "map 'x * row / height'": "map",
         "imcrop 1 1 9 9": "imcrop", "imgaussfilt 2 | bwlabel": "bwlabel"}


def huge_tiff(side, tile=256, jpeg=None):
    """A gray TIFF of so many pixels a side, whose tiles are all one and the same; or of a JPEG of that size."""
    across = -(-side // tile)
    count = across * across
    y, x = np.mgrid[0:tile, 0:tile]
    pixels = jpeg or ((x * 3) ^ (y * 5)).astype(np.uint8).tobytes()
    at = 8 + len(pixels)
    tags = [(256, 4, 1, side), (257, 4, 1, side), (258, 3, 1, 8), (259, 3, 1, 7 if jpeg else 1),
            (262, 3, 1, 6 if jpeg else 1), (277, 3, 1, 3 if jpeg else 1), (322, 4, 1, tile), (323, 4, 1, tile), (324, 4, count, at),
            (325, 4, count, at + 4 * count)]
    directory = at + 8 * count
    return (struct.pack("<2sHI", b"II", 42, directory) + pixels + struct.pack("<I", 8) * count
            + struct.pack("<I", len(pixels)) * count + struct.pack("<H", len(tags))
            + b"".join(struct.pack("<HHII", *tag) for tag in tags) + bytes(4))


def exif_with_thumbnail(pixels):
    """An EXIF block whose thumbnail is a JPEG of these pixels."""
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "JPEG")
    jpeg = out.getvalue()
    # The first directory has an orientation, the second where the thumbnail is.
    second = 8 + 2 + 12 + 4
    at = second + 2 + 3 * 12 + 4
    entries = [struct.pack("<HHI4s", 0x0112, 3, 1, struct.pack("<HH", 1, 0)),
               struct.pack("<HHII", 0x0103, 3, 1, 6), struct.pack("<HHII", 0x0201, 4, 1, at),
               struct.pack("<HHII", 0x0202, 4, 1, len(jpeg))]
    return (b"Exif\0\0" + struct.pack("<2sHI", b"II", 42, 8) + struct.pack("<H", 1) + entries[0]
            + struct.pack("<I", second) + struct.pack("<H", 3) + b"".join(entries[1:])
            + struct.pack("<I", 0) + jpeg)


def is_tiled(path):
    with Image.open(path) as image:
        return 322 in image.tag_v2


def read(path):
    with open(path, "rb") as file:
        return file.read()


class InBands(ProgramTest):
    def setUp(self):
        super().setUp()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, "/")

    def tiled(self, name, pixels, depth="uint8", tile=64):
        np.save("in.npy", pixels)
        self.impipe("imlincomb 1", "in.npy", "-o", "strips.tif")
        subprocess.run(["oiiotool", "strips.tif", "-d", depth, "--tile", str(tile), str(tile), "-o",
                        name], check=True, capture_output=True)

    def both(self, pipeline, name):
        """The hash whole and in bands; the files are whole.tif and bands.tif."""
        whole = self.impipe(pipeline, name, "-o", "whole.tif", "--hash", "--no-header")
        bands = self.impipe(pipeline, name, "-o", "bands.tif", "--hash", "--no-header", "--memory",
                            "300K")
        return whole.out, bands.out

    def expect_same(self, pipeline, name):
        whole, bands = self.both(pipeline, name)
        self.assertEqual(whole.split(), bands.split())
        self.assertTrue(is_tiled("bands.tif"))
        self.assertFalse(is_tiled("whole.tif"))
        difference = subprocess.run(["oiiotool", "--fail", "0", "--diff", "whole.tif", "bands.tif"],
                                    capture_output=True, text=True, check=False)
        self.assertIn("PASS", difference.stdout)

    def test_same_bits_as_whole(self):
        self.tiled("c.tif", colour(901, 333))
        for pipeline in LOCAL:
            with self.subTest(pipeline=pipeline):
                self.expect_same(pipeline, "c.tif")

    def test_same_bits_of_other_classes(self):
        self.tiled("u16.tif", ramp(700, 400).astype(np.uint16) * 251, "uint16")
        self.tiled("f32.tif", ramp(700, 400).astype(np.float32) / 200, "float")
        for name in ("u16.tif", "f32.tif"):
            for pipeline in ("imgaussfilt 4", "medfilt2 7", "imerode disk,5", "mat2gray", "edge sobel"):
                with self.subTest(name=name, pipeline=pipeline):
                    self.expect_same(pipeline, name)
        self.expect_same("imadjust", "u16.tif")

    def test_local_thresholds_of_singles(self):
        """Sums in windows, of floats around the image's mean: those of the whole."""
        for offset in (0, 1e5):
            pixels = (np.random.default_rng(6).normal(0, 1, (701, 333)) + offset).astype(np.float32)
            pixels[100, 200], pixels[500:505, 33] = np.nan, np.inf
            self.tiled("f.tif", pixels, "float")
            for pipeline in ("sauvola 15 out=threshold", "niblack 16,7 out=threshold", "niblack 31"):
                with self.subTest(offset=offset, pipeline=pipeline):
                    whole, bands = self.both(pipeline, "f.tif")
                    self.assertEqual(whole.split(), bands.split())
                    self.assertTrue(is_tiled("bands.tif"))

    def test_measurements_of_bands(self):
        """The numbers of the whole; bands end inside the cells of 32x32 that floats are added up in."""
        rng = np.random.default_rng(4)
        noise = rng.normal(0.5, 0.2, (901, 333)).astype(np.float32)
        strange = noise.copy()
        strange[500, 7], strange[8, 9], strange[8, 10] = np.nan, np.inf, -np.inf
        # Sums that are nothing but what was rounded off on the way.
        half = (rng.normal(0, 1, (901, 166)) * 10.0 ** rng.uniform(-6, 6, (901, 166))).astype(np.float32)
        roundings = np.concatenate([half, -half[::-1]], axis=1)
        of_codes = ("graythresh", "imhist", "entropy", "stretchlim", "multithresh")
        of_all = ("std2", "stats", "imgaussfilt 2 | mean2")
        for name, pixels, pipelines in (
                ("u8", ramp(901, 333), of_all + of_codes), ("c", colour(901, 333), of_all + of_codes[1:4]),
                ("u16", rng.integers(0, 65536, (901, 333)).astype(np.uint16), of_all + of_codes),
                ("bits", ramp(901, 333) > 90, of_all[:2]), ("f", noise, of_all), ("f1e3", noise + 1000, of_all),
                ("f1e5", noise + np.float32(1e5), of_all), ("strange", strange, of_all),
                ("roundings", roundings, of_all)):
            np.save(name + ".npy", np.ascontiguousarray(pixels))
            for pipeline in pipelines:
                with self.subTest(name=name, pipeline=pipeline):
                    run = self.impipe(pipeline, name + ".npy", "--memory", "200K")
                    self.assertEqual((run.out, run.err), (self.impipe(pipeline, name + ".npy").out, ""))
        got = [float(self.impipe(p, "u16.npy", "--memory", "200K", "--no-header").out.split()[1])
               for p in ("mean2", "std2")]
        pixels = np.load("u16.npy").astype(np.float64)
        np.testing.assert_allclose(got, [pixels.mean(), pixels.std(ddof=1)], rtol=1e-13)

    def test_alpha(self):
        alpha = np.dstack([colour(800, 300), ramp(800, 300, 7)])
        Image.fromarray(alpha, "RGBA").save("a.png")
        subprocess.run(["oiiotool", "a.png", "--tile", "64", "64", "-o", "a.tif"], check=True)
        self.impipe("imgaussfilt 3", "a.tif", "-o", "whole.tif")
        self.impipe("imgaussfilt 3", "a.tif", "-o", "bands.tif", "--memory", "300K")
        self.assertTrue(is_tiled("bands.tif"))
        np.testing.assert_array_equal(self.pixels("bands.tif"), self.pixels("whole.tif"))

    def test_jpeg_in_ycbcr(self):
        """As microscopes write it: the colours are those that Pillow makes of the same JPEG."""
        out = io.BytesIO()
        Image.fromarray(colour(256, 256)).save(out, "JPEG", quality=90)
        self.write("a.tif", huge_tiff(4096, jpeg=out.getvalue()))
        self.assertIn("YCbCr", self.impipe("info", "a.tif").out)
        hashes = {self.impipe("imgaussfilt 2", "a.tif", "--hash", "--memory", memory).out for memory in ("16M", "1G")}
        self.assertEqual(len(hashes), 1)
        run = self.impipe("rot90 0", "a.tif", "-o", "out.npy", "--memory", "16M")
        if not SANITIZED:
            self.assertLess(run.peak_kib, 60_000)
        with Image.open(out) as judge:
            np.testing.assert_array_equal(np.load(self.path("out.npy")), np.tile(np.asarray(judge), (16, 16, 1)))

    def test_strips(self):
        Image.fromarray(colour(900, 300)).save("s.tif", compression="tiff_lzw")
        self.impipe("imgaussfilt 3", "s.tif", "-o", "whole.tif", "--memory", "1G")
        self.impipe("imgaussfilt 3", "s.tif", "-o", "bands.tif", "--memory", "300K")
        self.assertFalse(is_tiled("bands.tif"))
        np.testing.assert_array_equal(self.pixels("bands.tif"), self.pixels("whole.tif"))

    def expect_same_files(self, name, pipeline, ending):
        """The files whole.ENDING and bands.ENDING have the same bytes."""
        whole, bands = (f"{made}.{ending}" for made in ("whole", "bands"))
        runs = [self.impipe(pipeline, name, "-o", made, "--hash", "--no-header", "--memory", allowed)
                for made, allowed in ((whole, "1G"), (bands, "300K"))]
        # A picture that is not done in bands says that it takes more than --memory.
        self.assertEqual((runs[1].err, runs[1].out.split()), (runs[0].err, runs[0].out.split()))
        if ending != "zarr":
            return self.assertEqual(read(bands), read(whole))
        found = [{os.path.relpath(os.path.join(folder, file), made): read(os.path.join(folder, file))
                  for folder, _, files in os.walk(made) for file in files} for made in (whole, bands)]
        return self.assertEqual(found[1], found[0])

    def test_zarrs_and_npys(self):
        """All ways between the formats; chunks of another shape than what is read and written."""
        gray16 = ramp(1001, 400).astype(np.uint16) * 251
        pictures = {"gray": gray16, "colours": np.ascontiguousarray(colour(999, 333)),
                    "numbers": gray16.astype(np.float32) / 7 - 900, "counts": gray16.astype(np.int32) * 9}
        pictures["numbers"][3, 5], pictures["numbers"][700, 9] = np.nan, np.inf
        for name, pixels in pictures.items():
            np.save(f"{name}.npy", pixels)
            axes = ["y", "x", "c"][:pixels.ndim]
            made = zarr.open_array(f"{name}.zarr", mode="w", shape=pixels.shape,
                                   chunks=(70, 90, 3)[:pixels.ndim], dtype=pixels.dtype,
                                   compressor=numcodecs.Zlib(1))
            made.attrs["_ARRAY_DIMENSIONS"] = axes
            made[...] = pixels
        for name in pictures:
            for source in ("npy", "zarr"):
                for ending in ("npy", "zarr"):
                    with self.subTest(name=name, source=source, ending=ending):
                        self.expect_same_files(f"{name}.{source}", "imgaussfilt 2 | medfilt2 3", ending)
                self.impipe("fliplr", f"{name}.{source}", "-o", "bands.tif", "--memory", "300K")
                np.testing.assert_array_equal(self.pixels("bands.tif").astype(pictures[name].dtype),
                                              pictures[name][:, ::-1])
        self.tiled("t.tif", colour(901, 333))
        self.expect_same_files("t.tif", "imdilate square,5", "zarr")
        self.expect_same_files("t.tif", "im2single", "npy")

    def test_a_pyramid_of_bands(self):
        """Levels by NumPy, of an odd size, chunk by chunk, in Zarr 2 and 3."""
        pixels = (ramp(1501, 700, 3).astype(np.uint16) * 77) ^ 1234
        np.save("p.npy", pixels)
        for ngff in ("0.4", "0.5"):
            self.expect_same_files("p.npy", "rot90 0 | imlincomb 1", "zarr")
            self.impipe("imlincomb 1", "p.npy", "-o", "p.zarr", "--memory", "300K", "--chunk",
                        "128", "--ngff", ngff)
            for level in range(4):
                side = 2 ** level
                means = [[np.floor(pixels[y:y + side, x:x + side].mean() + 0.5)
                          for x in range(0, 700, side)] for y in range(0, 1501, side)]
                self.impipe("rot90 0", f"p.zarr/{level}", "-o", "level.npy")
                np.testing.assert_array_equal(np.load("level.npy"), means)

    def part(self, index, name="big.npy", *flags):
        return ("imgaussfilt 9 | medfilt2 31", name, "-o", "parts.zarr", "--chunk", "64", "--memory", "300K",
                "--shard", f"{index}/3", "--shard-by", "chunks", *flags)

    def chunks_of(self, name):
        found = glob.glob(f"{name}/0/**/*", recursive=True)
        return {os.path.relpath(path, name): read(path) for path in found if os.path.isfile(path)}

    def test_processes_write_one_zarr(self):
        """Three at a time; one is killed and goes on where it was."""
        np.save("big.npy", (ramp(3001, 1100, 9).astype(np.uint16) * 201) ^ 999)
        self.impipe("imgaussfilt 9 | medfilt2 31", "big.npy", "-o", "whole.zarr", "--chunk", "64")
        whole = self.chunks_of("whole.zarr")
        killed = self.start(command=[PROGRAM, *self.part(2)])
        rows = range(47 // 3, 2 * 47 // 3)
        for _ in range(6000):
            if os.path.exists(f"parts.zarr/0/{rows[2]}/17"):
                break
            time.sleep(0.01)
        killed.send_signal(signal.SIGKILL)
        killed.communicate()
        done = {path: (data, os.stat(f"parts.zarr/{path}").st_mtime_ns)
                for path, data in self.chunks_of("parts.zarr").items()}
        self.assertTrue(2 * 18 <= len(done) < len(rows) * 18, len(done))
        for path, (data, _) in done.items():  # whatever has its name is whole
            self.assertEqual((path, data), (path, whole[path]))
        runs = [self.start(command=[PROGRAM, *self.part(index, "big.npy", "-u")]) for index in (1, 2, 3)]
        for run in runs:
            self.assertEqual((run.communicate(timeout=RUN_TIMEOUT), run.returncode), ((b"", b""), 0))
        self.assertEqual(self.chunks_of("parts.zarr"), whole)
        for path in list(done)[:36]:
            if int(path.split("/")[1]) < rows[2]:
                self.assertEqual(os.stat(f"parts.zarr/{path}").st_mtime_ns, done[path][1], path)
        self.impipe("rot90 0", "parts.zarr", "-o", "all.npy")
        self.impipe("rot90 0", "whole.zarr", "-o", "whole.npy")
        self.assertEqual(read("all.npy"), read("whole.npy"))

    def test_parts_of_colours_and_what_is_no_part(self):
        np.save("c.npy", np.ascontiguousarray(colour(333, 200)))
        for index in (3, 1, 2):
            self.impipe(*self.part(index, "c.npy", "--ngff", "0.5"))
        self.impipe("imgaussfilt 9 | medfilt2 31", "c.npy", "-o", "whole.zarr", "--chunk", "64", "--ngff", "0.5")
        self.assertEqual({path: data for path, data in self.chunks_of("parts.zarr").items() if "/c/" in path},
                         {path: data for path, data in self.chunks_of("whole.zarr").items() if "/c/" in path})
        self.made_again_where_something_else_made_it()
        np.save("g.npy", ramp(300, 200))
        for arguments, reason in (
                (self.part(1, "g.npy"), "cannot write 'parts.zarr': what is there is another Zarr, or one that "
                                        "was not made in parts"),
                (self.part(1, "c.npy", "--hash"), "--shard-by chunks: --hash is of a whole picture"),
                (("fliplr", "g.npy", "-o", "g.tif", "--shard", "1/2", "--shard-by", "chunks"),
                 "--shard-by chunks: the result is no folder of a Zarr"),
                (("flipud", "g.npy", "-o", "g.zarr", "--shard", "1/2", "--shard-by", "chunks"),
                 "--shard-by chunks: flipud needs the whole image")):
            run = self.impipe(*arguments, code=1)
            self.assertIn(reason + "\n", run.err)

    def made_again_where_something_else_made_it(self):
        """Another pipeline, number of parts or input: a note of the one leaves no chunk of the other."""
        def run(pipeline, parts):
            for index in parts:
                self.impipe(pipeline, "d.npy", "-o", "d.zarr", "--chunk", "64", "--shard", index, "--shard-by",
                            "chunks", "-u")
            return zarr.open_array("d.zarr/0", mode="r")[:]

        pixels = ramp(333, 200)
        np.save("d.npy", pixels)
        halves, thirds = ("1/2", "2/2"), ("2/3", "3/3", "1/3")
        np.testing.assert_array_equal(run("fliplr", halves), pixels[:, ::-1])
        np.testing.assert_array_equal(run("imcomplement", halves), 255 - pixels)
        np.testing.assert_array_equal(run("fliplr", thirds), pixels[:, ::-1])
        np.testing.assert_array_equal(run("imcomplement", halves), 255 - pixels)
        made = os.stat("d.zarr/0/5/3").st_mtime_ns
        np.testing.assert_array_equal(run("imcomplement", halves), 255 - pixels)
        self.assertEqual(os.stat("d.zarr/0/5/3").st_mtime_ns, made)
        pixels = ramp(333, 200, 1)
        np.save("d.npy", pixels)
        np.testing.assert_array_equal(run("imcomplement", halves), 255 - pixels)

    def test_a_zarr_that_fails_leaves_nothing(self):
        np.save("z.npy", ramp(1001, 400))
        self.impipe("rot90 0", "z.npy", "-o", "z.zarr", "--chunk", "64")
        self.write("z.zarr/0/12/3", b"no chunk")
        run = self.impipe("imgaussfilt 2", "z.zarr", "-o", "out.zarr", "--memory", "300K", code=1)
        self.assertEqual(run.err, "impipe: z.zarr: decode: damaged Zarr: chunk 0/12/3: it is no Blosc data "
                                  "of 4096 bytes\n")
        os.remove("z.zarr/0/12/3")
        os.symlink("../../../z.npy", "z.zarr/0/12/3")
        run = self.impipe("imgaussfilt 2", "z.zarr", "-o", "out.zarr", "--memory", "300K", code=1)
        self.assertEqual(run.err, "impipe: z.zarr: decode: '0/12/3' is a link, and none is followed\n")
        self.assertEqual([name for name in os.listdir(".") if "out" in name or ".tmp" in name], [])

    def test_what_needs_the_whole_image(self):
        self.write("huge.tif", huge_tiff(400_000, 16384))
        for pipeline, operator in WHOLE.items():
            with self.subTest(pipeline=pipeline):
                run = self.impipe(pipeline, "huge.tif", "-o", "out.tif", "--max-pixels", "1T",
                                  code=1)
                self.assertRegex(run.err, r"huge\.tif: decode: out of memory: its images take [0-9.]+ GiB, "
                                          rf"and there are [0-9.]+; {operator} needs the whole "
                                          r"image\n")
        run = self.impipe("imgaussfilt 2", "huge.tif", "-o", "out.png", "--max-pixels", "1T",
                          code=1)
        self.assertIn("; only files of TIFF, NPY and folders of Zarr are written some rows at a time, "
                      "and JPEGs of JPEGs\n", run.err)
        self.assertFalse(os.path.exists("out.tif"))

    def test_files_that_are_read_whole_go_beyond_the_limit(self):
        pixels = np.stack([ramp(1500, 1201, seed) for seed in range(3)])
        tifffile.imwrite("planes.tif", pixels, photometric="rgb", planarconfig="separate")
        with zarr.ZipStore("z.zarr.zip", mode="w") as store:
            zarr.array(pixels[0], chunks=(256, 256), store=store)
        for name, why in (("planes.tif", "its samples lie in planes apart, or in YCbCr, and are "
                                         "read whole"),
                          ("z.zarr.zip", "a ZIP of a Zarr is read whole, its folder is not")):
            run = self.impipe("imcomplement", name, "-o", "out.tif", "--memory", "3M")
            self.assertRegex(run.err, f"^impipe: {name}: it takes at least \\d+ MiB as a whole, and "
                                      f"--memory allows 3 MiB: {why}\n")
            out = tifffile.imread("out.tif")
            wanted = 255 - (np.moveaxis(pixels, 0, 2) if out.ndim == 3 else pixels[0])
            np.testing.assert_array_equal(out, wanted)

    def test_memory_stays_below_the_limit(self):
        # 144 million pixels: as a whole 144 MB a plane.
        self.write("large.tif", huge_tiff(12_000))
        peak = self.peak_memory("imgaussfilt 2", "large.tif", "-o", "out.tif", "--memory", "64M",
                                "-j", "2")
        if not SANITIZED:  # whose allocator keeps what is freed
            self.assertLess(peak, 160 << 10)  # KiB; the program itself takes some 40 MiB
        with Image.open("out.tif") as made:
            self.assertEqual(made.size, (12_000, 12_000))

    def test_metadata(self):
        """What the file made in one piece has, and the same words for what it has not."""
        fields = TiffImagePlugin.ImageFileDirectory_v2()
        for tag, kind, value in ((270, 2, "ImageJ=1.54f\nunit=micron\nmin=0.0\n"), (305, 2, "a program"),
                                 (33550, 12, (10.0, 10.0, 0.0)), (34735, 3, (1, 1, 0, 0)),
                                 (50829, 4, (0, 0, 9, 9)), (290, 3, 3), (65000, 7, b"unknown")):
            fields.tagtype[tag] = kind
            fields[tag] = value
        profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
        Image.fromarray(colour(900, 300)).save("m.tif", dpi=(300, 150), icc_profile=profile,
                                               tiffinfo=fields)
        subprocess.run(["exiftool", "-q", "-overwrite_original", "-XMP:Title=lake", "-IPTC:City=Rome",
                        "-GPSLatitude=47", "-GPSLatitudeRef=N", "-ISO=200", "m.tif"], check=True)
        for pipeline, kept in (("imgaussfilt 3", True), ("fliplr", False), ("im2uint16", True),
                               ("rgb2gray", False)):
            with self.subTest(pipeline):
                runs = [self.impipe(pipeline, "m.tif", "-o", name, "--memory", memory)
                        for name, memory in (("whole.tif", "1G"), ("bands.tif", "300K"))]
                self.assertEqual(runs[0].err, runs[1].err)
                whole, bands = (self.fields(name) for name in ("whole.tif", "bands.tif"))
                self.assertEqual(whole, bands)
                self.assertIn(34735 if kept else 305, bands)
        self.assertNotEqual(runs[0].err, "")
        run = self.impipe("fliplr", "m.tif", "-o", "o2.tif", "--memory", "300K", "--strict", code=1)
        self.assertIn("--strict: the result would be without GeoTIFF", run.err)
        self.assertEqual([name for name in os.listdir(".") if "o2" in name or ".tmp" in name], [])

    def fields(self, name):
        """All but where the samples are."""
        layout = {273, 278, 279, 322, 323, 324, 325}
        with Image.open(name) as image:
            exif = image.getexif()
            out = {tag: value for tag, value in image.tag_v2.items() if tag not in layout}
            for tag in (34665, 34853):
                out[tag] = dict(exif.get_ifd(tag))
        return out

    def test_maker_notes_lie_where_one_piece_has_them(self):
        for order in "<>":
            with self.subTest(order):
                Image.fromarray(colour(900, 300)).save("n.jpg")
                self.write("n.jpg", with_segments(read("n.jpg"), segment(
                    0xE1, b"Exif\0\0" + exif_block(order))))
                self.impipe("rot90 0", "n.jpg", "-o", "n.tif")
                self.impipe("imgaussfilt 3", "n.tif", "-o", "whole.tif")
                self.impipe("imgaussfilt 3", "n.tif", "-o", "bands.tif", "--memory", "300K")
                self.assertEqual(self.fields("whole.tif"), self.fields("bands.tif"))
                note = read("whole.tif").index(b"NOTE")
                self.assertEqual(note, read("bands.tif").index(b"NOTE"))
                self.assertEqual(self.fields("bands.tif")[34665][37500], read("n.tif")[
                    read("n.tif").index(b"NOTE"):][:16])

    def expect_same_jpeg(self, name, pipeline, *flags):
        """Files of the same bytes, whole and in bands; the file made whole is whole.jpg."""
        for made, memory in (("whole.jpg", "4G"), ("bands.jpg", "300K")):
            self.impipe(pipeline, name, "-o", made, "--memory", memory, "--device", "cpu", *flags)
        self.assertEqual(read("bands.jpg"), read("whole.jpg"), (name, pipeline, flags))

    def test_jpegs_have_the_same_bytes(self):
        for pipeline in LOCAL:
            with self.subTest(pipeline=pipeline):
                if pipeline == LOCAL[0]:
                    self.picture("c.jpg", colour(901, 333), quality=90)
                self.expect_same_jpeg("c.jpg", pipeline)

    def test_jpegs_of_other_kinds(self):
        exif = exif_with_thumbnail(colour(60, 80))
        self.picture("444.jpg", colour(700, 334), quality=90, subsampling=0, exif=exif, dpi=(90, 90))
        self.picture("gray.jpg", ramp(701, 400), comment="a comment", icc_profile=b"a profile")
        Image.fromarray(np.dstack([colour(650, 400), ramp(650, 400)]), "CMYK").save("cmyk.jpg")
        for name in ("444.jpg", "gray.jpg", "cmyk.jpg"):
            for flags in ((), ("--subsampling", "422"), ("--quality", "60", "--strip")):
                self.expect_same_jpeg(name, "imgaussfilt 2", *flags)
        with Image.open("whole.jpg") as made:
            self.assertEqual(made.size, (400, 650))

    def test_a_thumbnail_follows_the_bands(self):
        self.picture("t.jpg", colour(900, 333), exif=exif_with_thumbnail(colour(60, 80)))
        self.expect_same_jpeg("t.jpg", "imcomplement")
        self.assertEqual(read("bands.jpg").count(b"\xff\xd8\xff"), 2)

    def test_a_jpeg_whose_end_is_missing(self):
        self.picture("d.jpg", colour(900, 333), quality=95)
        data = read("d.jpg")
        self.write("d.jpg", data[:len(data) * 2 // 3])
        said = [self.impipe("imgaussfilt 2", "d.jpg", "-o", "out.jpg", "--memory", memory,
                            "--device", "cpu", code=1).err for memory in ("4G", "300K")]
        self.assertEqual(said[0], said[1])
        self.assertIn("d.jpg: decode: truncated JPEG", said[0])
        self.assertEqual([name for name in os.listdir(".") if "out" in name or ".tmp" in name], [])

    def test_a_large_jpeg_takes_little_memory(self):
        Image.fromarray(np.tile(colour(500, 600), (8, 10, 1))).save("large.jpg", quality=85)
        self.picture("small.jpg", colour(50, 60))
        flags = ("-o", "out.jpg", "-j", "2", "--device", "cpu")
        least = self.peak_memory("imgaussfilt 2", "small.jpg", *flags)
        most = self.peak_memory("imgaussfilt 2", "large.jpg", *flags)
        # As a whole it would take 72 MB twice.
        self.assertLess(most - least, (200 if SANITIZED else 60) << 10)
        told = self.impipe("imgaussfilt 2", "large.jpg", *flags, "--profile=json").err
        told = json.loads(told[told.index("{"):])
        # Decoding and encoding are told apart from what is computed between them.
        for part in ("decode", "encode"):
            self.assertGreater(told["thread_seconds"][part], 0.01)

    def test_large_jpegs_beside_each_other(self):
        """Each is read to its end, whatever the others do with memory that is free again."""
        os.mkdir("in")
        rng = np.random.default_rng(1)
        for i in range(10):  # of one size, so that they would get each other's memory
            blocks = rng.integers(0, 256, (500, 750, 3), np.uint8)
            Image.fromarray(blocks.repeat(8, 0).repeat(8, 1)).save(f"in/{i}.jpg", subsampling=0)
        flags = ("in", "--hash", "--no-header", "-o", "out", "--device", "cpu")
        alone = self.impipe("imcomplement", *flags, "-j", 1).out
        self.assertEqual(len(alone.splitlines()), 10)
        self.assertEqual(self.impipe("imcomplement", *flags, "-j", 8).out, alone)

    def test_a_damaged_tile_fails_the_file(self):
        self.tiled("d.tif", colour(900, 300))
        with open("d.tif", "r+b") as file:
            file.seek(os.path.getsize("d.tif") // 2)
            file.write(b"\xff" * 4000)
        run = self.impipe("imgaussfilt 3", "d.tif", "-o", "out.tif", "--memory", "300K", code=1)
        self.assertRegex(run.err, r"d\.tif: decode: (damaged|truncated) TIFF: ")
        self.assertEqual([name for name in os.listdir(".") if "out" in name or ".tmp" in name], [])


def level_of(pixels, level):
    """Means of squares of the pixels, rounded half up."""
    side = 2 ** level
    rows, columns = (np.arange(0, count, side) for count in pixels.shape[:2])
    sums = np.add.reduceat(np.add.reduceat(pixels.astype(float), rows, 0), columns, 1)
    counts = np.outer(*(np.minimum(side, count - np.arange(0, count, side)) for count in pixels.shape[:2]))
    means = sums / counts.reshape(counts.shape + (1,) * (pixels.ndim - 2))
    return means if pixels.dtype.kind == "f" else np.floor(means + 0.5).astype(pixels.dtype)


class TiledTiffs(ProgramTest):
    """--tiff, as a whole and in bands, by tifffile and by the rules of GDAL's validator of COGs."""

    def setUp(self):
        super().setUp()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, "/")

    def make(self, name, layout, *flags, pipeline="imlincomb 1", chunk=64):
        """The file out.tif; in bands it has the same bytes."""
        flags = ("--tiff", layout, "--chunk", str(chunk), *flags)
        whole = self.impipe(pipeline, name, "-o", "out.tif", *flags)
        bands = self.impipe(pipeline, name, "-o", "bands.tif", "--memory", "300K", *flags)
        self.assertEqual(whole.err, bands.err)
        self.assertEqual(read("out.tif"), read("bands.tif"))
        return tifffile.TiffFile("out.tif")

    def test_pixels_of_all_levels(self):
        gray = (ramp(601, 437, 5).astype(np.uint16) * 211) ^ 77
        pictures = {"gray": gray, "colours": np.ascontiguousarray(colour(601, 437)),
                    "numbers": gray.astype(np.float32) / 9}
        for name, pixels in pictures.items():
            np.save(f"{name}.npy", pixels)
            for layout in ("tiles", "pyramid", "cog"):
                with self.subTest(name=name, layout=layout), self.make(f"{name}.npy", layout) as made:
                    pages = list(made.pages)
                    if layout == "pyramid":
                        self.assertEqual(len(pages), 1)
                        pages += list(pages[0].pages)
                    self.assertEqual(len(pages), 1 if layout == "tiles" else 5)
                    for level, page in enumerate(pages):
                        self.assertEqual((page.is_tiled, page.tile[:2], int(page.subfiletype)),
                                         (True, (64, 64), int(level > 0)))
                        expected = level_of(pixels, level)
                        if pixels.dtype.kind == "f":
                            np.testing.assert_allclose(page.asarray(), expected, rtol=1e-6)
                        else:
                            np.testing.assert_array_equal(page.asarray(), expected)

    def test_the_order_of_a_cog(self):
        np.save("c.npy", np.ascontiguousarray(colour(400, 700)))
        with self.make("c.npy", "cog") as made:
            data = read("out.tif")
            head = b"GDAL_STRUCTURAL_METADATA_SIZE=000140 bytes\nLAYOUT=IFDS_BEFORE_DATA\n"
            self.assertTrue(data[8:].startswith(head), data[:100])
            directories = [page.offset for page in made.pages]
            # Behind the header and GDAL's 43 + 140 bytes, which are made even.
            self.assertEqual(directories[0], 8 + 43 + 140 + 1)
            self.assertEqual(directories, sorted(directories))
            first = [page.dataoffsets[0] for page in made.pages]
            self.assertEqual(first, sorted(first, reverse=True))
            self.assertLess(max(directories), min(first))
            for page in made.pages:
                self.assertEqual(list(page.dataoffsets), sorted(page.dataoffsets))
                for at, size in zip(page.dataoffsets, page.databytecounts):
                    self.assertEqual(data[at - 4:at], struct.pack("<I", size))
                    self.assertEqual(data[at + size:at + size + 4], data[at + size - 4:at + size])

    def test_fields_and_pixels_that_are_none(self):
        pixels = ramp(300, 200).astype(np.uint8)
        scale = (33550, 12, 3, (10.0, 10.0, 0.0), True)
        tie = (33922, 12, 6, (0.0, 0.0, 0.0, 500000.0, 4000000.0, 0.0), True)
        keys = (34735, 3, 4, (1, 1, 0, 0), True)
        told = (42112, 2, 0, "<GDALMetadata><Item name='a'>b</Item></GDALMetadata>", True)
        none = (42113, 2, 0, "0", True)
        tifffile.imwrite("g.tif", pixels, extratags=[scale, tie, keys, told, none], metadata=None)
        with self.make("g.tif", "cog") as made:
            tags = made.pages[0].tags
            self.assertEqual((tags[33550].value, tags[42112].value), (scale[3], told[3]))
            for level, page in enumerate(made.pages):
                np.testing.assert_array_equal(page.asarray(), pixels[::2 ** level, ::2 ** level])
                self.assertEqual(33550 in page.tags, level == 0)

    def test_big_endian_and_labels(self):
        tifffile.imwrite("b.tif", ramp(150, 210).astype(np.uint16), byteorder=">", metadata=None)
        with self.make("b.tif", "pyramid", chunk=32) as made:
            self.assertEqual(made.byteorder, ">")
            np.testing.assert_array_equal(made.pages[0].pages[0].asarray(), level_of(ramp(150, 210)
                                                                                     .astype(np.uint16), 1))
        self.impipe("imbinarize 0.001 | bwlabel", "b.tif", "-o", "l.tif", "--tiff", "cog", "--chunk", "32")
        with tifffile.TiffFile("l.tif") as made:
            np.testing.assert_array_equal(made.pages[1].asarray(), made.pages[0].asarray()[::2, ::2])

    def test_pages_and_what_is_wrong(self):
        tifffile.imwrite("p.tif", np.stack([ramp(90, 80), ramp(90, 80, 9)]), metadata=None)
        self.impipe("fliplr", "p.tif", "-o", "tiles.tif", "--tiff", "tiles", "--chunk", "32")
        with tifffile.TiffFile("tiles.tif") as made:
            self.assertEqual([page.is_tiled for page in made.pages], [True, True])
            np.testing.assert_array_equal(made.pages[1].asarray(), ramp(90, 80, 9)[:, ::-1])
        run = self.impipe("fliplr", "p.tif", "-o", "o.tif", "--tiff", "cog", code=1)
        self.assertEqual(run.err, "impipe: p.tif: encode: --tiff pyramid and cog make a file of one picture, "
                                  "and this has 2 pages; -o '{stem}_{page}.tif' names each\n")
        run = self.impipe("fliplr", "p.tif", "-o", "o.tif", "--tiff", "tiles", "--chunk", "100", code=2)
        self.assertIn("--chunk 100: the sides of a TIFF's tiles are multiples of 16", run.err)
        self.assertFalse(os.path.exists("o.tif"))


if __name__ == "__main__":
    unittest.main()
