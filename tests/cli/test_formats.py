"""Pictures of every layout are read right, or refused in words that are true of the file.

Values are known by construction: files are written tag by tag here (scripts/tiff_writer.py).
"""
import io
import os
import struct
import unittest
import zlib

import numpy as np
from PIL import Image
from program import ProgramTest, png_bomb, png_chunk
from tiff_writer import page, tiff

W, H = 11, 6
IDENTITY = "rot90 0"


def numbers(channels, top, dtype):
    """Values over the whole range 0 … top, both ends among them."""
    count = H * W * channels
    values = np.linspace(0, top, count).round().astype(np.int64)[np.argsort(
        [(i * 97) % count for i in range(count)])]
    return values.reshape(H, W, channels).astype(dtype).squeeze()


def rounded(values, top, full):
    return (2 * values.astype(np.int64) * full + top) // (2 * top)


class Formats(ProgramTest):
    def read(self, data, pipeline=IDENTITY, name="in.tif", without=""):
        self.write(name, data)
        result = self.impipe(pipeline, name, "-o", "out.npy")
        self.assertEqual(result.err,
                         without and f"impipe: {name}: the result is without {without}\n")
        return np.load(self.path("out.npy"))

    def refuses(self, data, reason, name="in.tif", *flags):
        self.write(name, data)
        if os.path.exists(self.path("out.npy")):
            os.remove(self.path("out.npy"))
        result = self.impipe(IDENTITY, name, "-o", "out.npy", *flags, code=1)
        self.assertEqual(result.err, f"impipe: {name}: decode: {reason}\n")
        self.assertFalse(os.path.exists(self.path("out.npy")))

    def equal(self, got, expected):
        expected = np.asarray(expected)
        self.assertEqual((got.dtype, got.shape), (expected.dtype, expected.shape))
        np.testing.assert_array_equal(got, expected)


class TiffSamples(Formats):
    """Depths, kinds of numbers, and where the samples lie."""

    def test_unsigned_depths_go_to_the_full_range(self):
        for bits in range(1, 17):
            top = 2 ** bits - 1
            wide = bits > 8
            stored = numbers(1, top, np.uint16 if wide else np.uint8)
            full = 65535 if wide else 1 if bits == 1 else 255
            expected = rounded(stored, top, full).astype(stored.dtype if bits > 1 else bool)
            for order in "<>":
                with self.subTest(bits=bits, order=order):
                    self.equal(self.read(tiff(page(stored, bits=bits, order=order))), expected)
            with self.subTest(bits=bits, white_is_zero=True):
                flipped = ~expected if bits == 1 else full - expected
                self.equal(self.read(tiff(page(stored, photometric=0, bits=bits))),
                           flipped.astype(expected.dtype))

    def test_colours_of_every_layout(self):
        for dtype, bits in [(np.uint8, 8), (np.uint16, 16), (np.uint8, 4), (np.uint16, 12)]:
            top = 2 ** bits - 1
            full = 65535 if bits > 8 else 255
            stored = numbers(4, top, dtype)
            expected = rounded(stored, top, full).astype(dtype)
            for planar in (1, 2):
                for tile in (None, 16):
                    with self.subTest(bits=bits, planar=planar, tile=tile):
                        options = {"photometric": 2, "bits": bits, "planar": planar, "tile": tile}
                        self.equal(self.read(tiff(page(stored[:, :, :3], **options))),
                                   expected[:, :, :3])
                        self.equal(self.read(tiff(page(stored, extra=(2,), **options), big=True)),
                                   expected)

    def test_numbers_without_a_class_are_single_without_a_white(self):
        for dtype, values in [
                (np.int8, [-128, -1, 0, 1, 127, 3]), (np.int16, [-32768, -1, 0, 1, 32767, 3]),
                (np.int32, [-2**31, -1, 0, 1, 2**24, 3]), (np.uint32, [0, 1, 2**31, 2**24, 7, 3]),
                (np.int64, [-2**63, -1, 0, 1, 2**40, 3]), (np.uint64, [0, 1, 2**63, 2**24, 7, 3])]:
            stored = np.array(values, dtype).reshape(2, 3)
            for order in "<>":
                with self.subTest(dtype.__name__, order=order):
                    self.equal(self.read(tiff(page(stored, order=order))), stored)
                    info = self.impipe("info", "in.tif").out
                    self.assertIn("single x1, no white", info)
            with self.subTest(dtype.__name__, npy=True):
                for order in "<>":
                    data = io.BytesIO()
                    np.save(data, stored.astype(stored.dtype.newbyteorder(order)))
                    self.equal(self.read(data.getvalue(), name="in.npy"), stored)
        colour = numbers(3, 30000, np.int16) - 15000
        self.equal(self.read(tiff(page(colour, photometric=2, planar=2))), colour)

    def test_numbers_without_a_white_are_written_where_that_can_be(self):
        stored = numbers(1, 30000, np.int16) - 15000
        self.write("in/a.tif", tiff(page(stored)))
        self.impipe(IDENTITY, "in", "-o", "out")
        with Image.open(self.path("out/a.tif")) as picture:
            self.assertEqual([picture.tag_v2[tag] for tag in (258, 339)], [(16,), (2,)])
            np.testing.assert_array_equal(np.asarray(picture), stored)
        result = self.impipe(IDENTITY, "in/a.tif", "-o", "out.png", code=1)
        self.assertEqual(result.err, "impipe: in/a.tif: encode: cannot write PNG of class uint16: "
                         "an image of distances, labels or spectra has no white; add `mat2gray`, give -d uint16 "
                         "if its values fit, or write .npy, .tif or .pfm\n")

    def test_floats_of_16_32_and_64_bits(self):
        values = np.array([[-1.5, 0, 0.25], [1, 1000, 6e-8]])
        for dtype in ("f2", "f4", "f8"):
            stored = values.astype(dtype)
            # Doubles are rounded to single, in which they are computed.
            expected = stored.astype("<f4").astype("<f8" if dtype == "f8" else "<f4")
            for order in "<>":
                with self.subTest(dtype, order=order):
                    self.equal(self.read(tiff(page(stored, order=order))), expected)
            data = io.BytesIO()
            np.save(data, stored)
            self.equal(self.read(data.getvalue(), name="in.npy"), expected)

    def test_runs_of_packbits_that_go_on_in_the_next_row(self):
        """As tifffile writes them of single bits, though TIFF 6.0 packs each row by itself."""
        pixels = np.repeat(np.array([10, 20, 30], np.uint8), (4, 9, 2)).reshape(5, 3)
        runs = bytes([257 - 4, 10, 257 - 9, 20, 257 - 2, 30])
        self.equal(self.read(tiff(page(pixels, compression=32773, pack=lambda _: runs))), pixels)
        np.testing.assert_array_equal(self.pixels("in.tif"), pixels)  # as Pillow reads it

    def test_numbers_that_are_not_read_are_refused(self):
        gray = numbers(1, 255, np.uint8)
        for data, reason in [
                (tiff(page(np.zeros((2, 2), np.float32), tags=[(258, 3, [24])])),
                 "TIFF of 24-bit float samples is not supported"),
                (tiff(page(np.zeros((2, 2), np.uint32), tags=[(258, 3, [24])])),
                 "TIFF of 24-bit samples is not supported"),
                (tiff(page(gray, tags=[(258, 3, [12]), (339, 3, [2])])),
                 "TIFF of 12-bit signed samples is not supported"),
                (tiff(page(np.zeros((2, 2), np.uint64), tags=[(339, 3, [6])])),
                 "TIFF of complex samples is not supported"),
                (tiff(page(gray.astype(np.int16), photometric=0)),
                 "TIFF of numbers without a white whose white is 0 is not supported"),
                (tiff(page(numbers(2, 99, np.int16), extra=(2,))),
                 "TIFF of numbers without a white beside alpha is not supported"),
                (tiff(page(numbers(3, 99, np.uint8), photometric=2,
                           tags=[(258, 3, [5, 6, 5])])),
                 "TIFF whose samples differ in bits (5, 6, 5) is not supported")]:
            with self.subTest(reason):
                self.refuses(data, reason)


class TiffColours(Formats):
    def test_palettes_of_every_depth_with_and_without_alpha(self):
        rng = np.random.default_rng(3)
        for bits in (1, 2, 4, 8):
            colours = rng.integers(0, 256, (3, 2 ** bits))
            index = numbers(1, 2 ** bits - 1, np.uint8)
            expected = colours.T[index].astype(np.uint8)
            alpha = numbers(1, 2 ** bits - 1, np.uint8)[::-1]
            both = np.stack([index, alpha], axis=2)
            opacity = alpha * (255 // (2 ** bits - 1))
            for planar in (1, 2):
                for tile in (None, 16):
                    options = {"photometric": 3, "bits": bits, "planar": planar, "tile": tile,
                               "colour_map": colours * 257}
                    with self.subTest(bits=bits, planar=planar, tile=tile):
                        self.equal(self.read(tiff(page(index, **options))), expected)
                        self.equal(self.read(tiff(page(both, extra=(2,), **options))),
                                   np.dstack([expected, opacity]))

    def test_a_map_of_8_bit_colours(self):
        colours = np.array([[10, 200], [20, 100], [30, 50]])
        index = numbers(1, 1, np.uint8)
        self.equal(self.read(tiff(page(index, photometric=3, bits=1, colour_map=colours))),
                   colours.T[index].astype(np.uint8))

    def test_cmyk_of_8_and_16_bits(self):
        for dtype, top in [(np.uint8, 255), (np.uint16, 65535)]:
            inks = numbers(5, top, dtype)
            light = top - inks[:, :, :4].astype(np.int64)
            expected = rounded(light[:, :, :3] * light[:, :, 3:], top, 1).astype(dtype)
            for planar in (1, 2):
                for tile in (None, 16):
                    options = {"photometric": 5, "planar": planar, "tile": tile}
                    with self.subTest(dtype.__name__, planar=planar, tile=tile):
                        self.equal(self.read(tiff(page(inks[:, :, :4], **options))), expected)
                        self.equal(self.read(tiff(page(inks, extra=(2,), **options))),
                                   np.dstack([expected, inks[:, :, 4]]))

    def test_ycbcr(self):
        """Against the formula of TIFF 6.0, section 21, with its default coefficients."""
        y, cb, cr = [numbers(1, 255, np.uint8)[::step] for step in (1, -1, 1)]
        cr = np.roll(cr, 3, axis=1)
        stored = np.dstack([y, cb, cr])
        red = y + 1.402 * (cr - 128.0)
        blue = y + 1.772 * (cb - 128.0)
        green = (y - 0.299 * red - 0.114 * blue) / 0.587
        expected = np.clip(np.dstack([red, green, blue]), 0, 255)
        got = self.read(tiff(page(stored, photometric=6, tags=[(530, 3, [1, 1])])))
        self.assertEqual(got.dtype, np.uint8)
        self.assertLessEqual(np.abs(got - expected).max(), 2)

    def test_ycbcr_in_jpeg(self):
        y, x = np.mgrid[0:40, 0:60]
        smooth = np.dstack([4 * x, 255 - 4 * x, 5 * y]).astype(np.uint8)
        for options in ({}, {"tiffinfo": {274: 6}}):
            self.picture("in.tif", smooth, compression="jpeg", quality=95, **options)
            with open(self.path("in.tif"), "rb") as file:
                got = self.read(file.read())
            upright = np.rot90(smooth, -1) if options else smooth
            self.assertEqual(got.shape, upright.shape)
            self.assertLessEqual(np.abs(got.astype(int) - upright).max(), 12)

    def test_samples_that_are_not_alpha_are_channels(self):
        for channels, photometric, extra, alpha in [
                (4, 2, (0,), None), (4, 2, (), None), (5, 2, (2, 0), 3), (5, 2, (0, 2), 4),
                (2, 1, (0,), None), (2, 1, (), None), (3, 1, (0, 0), None), (7, 1, (0,) * 6, None),
                (9, 1, (0,) * 7 + (2,), 8), (40, 1, (0,) * 39, None)]:
            for dtype, top in [(np.uint8, 255), (np.uint16, 65535), (np.float32, 1)]:
                for planar in (1, 2):
                    with self.subTest(channels=channels, extra=extra, dtype=dtype, planar=planar):
                        pixels = numbers(channels, top, dtype)
                        file = tiff(page(pixels, photometric=photometric, extra=extra,
                                         planar=planar))
                        expected = np.array(top, dtype) - pixels
                        if alpha is not None:  # comes last, and as it was
                            expected = np.dstack([np.delete(expected, alpha, axis=2),
                                                  pixels[:, :, alpha]])
                        got = self.read(file, "imcomplement")
                        self.assertEqual(got.dtype, dtype)
                        self.assertTrue((got == expected).all())

    def test_each_of_many_channels_is_processed_alone(self):
        for channels, dtype in [(7, np.uint8), (5, np.float32), (2, np.int32), (4, np.int16)]:
            pixels = numbers(channels, 255, dtype)
            np.save(self.path("in.npy"), pixels)
            expected = []
            for c in range(channels):
                np.save(self.path("one.npy"), pixels[:, :, c])
                self.impipe("imgaussfilt 1 | medfilt2 3", "one.npy", "-o", "one_out.npy")
                expected.append(np.load(self.path("one_out.npy")))
            for out in ("out.npy", "out.tif"):
                with self.subTest(channels=channels, dtype=dtype, out=out):
                    self.impipe("imgaussfilt 1 | medfilt2 3", "in.npy", "-o", out, "--axes", "YXC")
                    if out.endswith(".tif"):
                        self.impipe(IDENTITY, out, "-o", "out.npy")
                    got = np.load(self.path("out.npy"))
                    self.assertTrue((got == np.dstack(expected)).all())

    def test_many_channels_are_measured_each(self):
        pixels = numbers(4, 255, np.int32)
        np.save(self.path("in.npy"), pixels)
        result = self.impipe("max each", "in.npy")
        self.assertEqual(result.out.splitlines()[0], "file\tmax_c1\tmax_c2\tmax_c3\tmax_c4")
        most = "\t".join(str(pixels[:, :, c].max()) for c in range(4))
        self.assertEqual(result.out.splitlines()[1], "in.npy\t" + most)

    def test_what_many_channels_cannot_be(self):
        np.save(self.path("in.npy"), numbers(7, 255, np.uint8))
        for pipeline, out, code, reason in [
                ("imcomplement", "out.png", 1, "in.npy: encode: PNG cannot hold 7 channels; write .tif"
                                            " or .npy"),
                ("edge prewitt", "out.npy", 2, "edge: it is defined for one channel, and the image "
                                            "has 7"),
                ("rgb2gray", "out.npy", 2, "rgb2gray: it needs a colour image of 3 channels, and the "
                                        "image has 7 channels"),
                ("map 'r + 1'", "out.npy", 2, "map: it needs a colour image of 3 channels, and the "
                                           "image has 7 channels")]:
            with self.subTest(pipeline=pipeline):
                result = self.impipe(pipeline, "in.npy", "-o", out, "--axes", "YXC", code=code)
                self.assertIn(reason, result.err)
                self.assertFalse(os.path.exists(self.path(out)))

    def test_channels_beside_colour_and_gray_are_refused_in_true_words(self):
        ends = "; beside those impipe reads an alpha only"
        one = "1 that is not declared as alpha" + ends
        for channels, photometric, extra, reason in [
                (1001, 1, (), "TIFF of 1001 channels is not supported: impipe reads 1000 at most"),
                (5, 5, (0,), "TIFF of 5 channels: 4 of ink and " + one),
                (4, 6, (2,), "TIFF of 4 channels: 3 of colour and 1 more" + ends),
                (2, 2, (), "damaged TIFF: 2 channels, where 3 of colour are needed"),
                (3, 2, (2,), "damaged TIFF: more channels are declared than there are")]:
            with self.subTest(channels=channels, photometric=photometric, extra=extra):
                pixels = numbers(channels, 255, np.uint8)
                self.refuses(tiff(page(pixels, photometric=photometric, extra=extra)), reason)
        two = numbers(2, 3, np.uint8)
        self.refuses(tiff(page(two, photometric=3, extra=(0,), bits=2, colour_map=np.zeros(12))),
                     "TIFF of 2 channels: 1 of a palette and " + one)

    def test_colours_that_are_not_read_are_refused(self):
        for pixels, options, reason in [
                (numbers(1, 9, np.uint16), {"photometric": 3, "colour_map": np.zeros(3 * 65536)},
                 "with a palette of more than 256 colours"),
                (numbers(2, 9, np.uint8), {"photometric": 3, "extra": (1,),
                                           "colour_map": np.zeros(768)},
                 "with a palette and associated alpha"),
                (numbers(4, 9, np.uint8), {"photometric": 5, "tags": [(332, 3, [2])]},
                 "of inks other than CMYK"),
                (numbers(4, 9, np.uint8), {"photometric": 5, "bits": 4},
                 "of CMYK, other than of 8 or 16 bits,"),
                (numbers(5, 9, np.uint8), {"photometric": 5, "extra": (1,)},
                 "of CMYK with associated alpha"),
                (numbers(3, 9, np.uint16), {"photometric": 6}, "of YCbCr, other than of 8 bits,"),
                (numbers(3, 9, np.uint8), {"photometric": 8},
                 "of photometric interpretation 8 (CIELab)")]:
            with self.subTest(reason):
                self.refuses(tiff(page(pixels, **options)), f"TIFF {reason} is not supported")


class OneHeaderTwoReaders(Formats):
    """A header that can be read in two ways is an error, not one of two pictures."""

    def test_a_tag_twice(self):
        gray = page(numbers(1, 255, np.uint8))
        for tag, kind, values in [(258, 3, [1]), (256, 4, [3]), (257, 4, [3]), (262, 3, [0]),
                                  (277, 3, [3]), (339, 3, [2]), (274, 3, [6]), (338, 3, [2])]:
            with self.subTest(tag):
                add = [(274, 3, [1])] if tag == 274 else [(338, 3, [0])] if tag == 338 else []
                one = page(numbers(1, 255, np.uint8), tags=add) if add else gray
                self.refuses(tiff(one, twice=[(tag, kind, values)]),
                             f"damaged TIFF: tag {tag} stands twice in its directory")
        self.equal(self.read(tiff(gray, twice=[(258, 3, [8])])), numbers(1, 255, np.uint8))

    def test_a_tag_that_libtiff_passes_over(self):
        data = tiff(page(numbers(1, 255, np.uint8)), twice=[(0, 4, [1])])
        entry = struct.pack("<HHI", 0, 4, 1)
        self.write("in.tif", data.replace(entry, bytes(8)))  # as some old scanners leave room
        self.impipe(IDENTITY, "in.tif", "-o", "out.npy")
        self.equal(np.load(self.path("out.npy")), numbers(1, 255, np.uint8))

    def test_a_webp_whose_canvas_is_not_its_picture(self):
        data = io.BytesIO()
        Image.fromarray(numbers(3, 255, np.uint8)).save(data, "WEBP", lossless=True)
        inner = data.getvalue()[12:]
        for width, height in [(40, 50), (3, 3)]:
            extended = b"VP8X" + struct.pack("<II", 10, 0) + struct.pack(
                "<I", width - 1)[:3] + struct.pack("<I", height - 1)[:3]
            for body in (extended + inner, inner + extended):
                self.write("in.webp", b"RIFF" + struct.pack("<I", 4 + len(body)) + b"WEBP" + body)
                result = self.impipe(IDENTITY, "in.webp", "-o", "out.npy", code=1)
                self.assertRegex(result.err, "^impipe: in.webp: decode: damaged WebP: "
                                 "(contradictory headers|decoder status 3)\n$")


class Pages(Formats):
    def has_pages(self, name, data, count):
        if name.endswith((".tif", ".webp")):
            self.write(name, data)
            run = self.impipe(IDENTITY, name, "-o", "out.png", code=1)
            self.assertEqual(run.err, f"impipe: {name}: plan: it has {count} pages, and PNG holds "
                             "one; -o '{stem}_{page}.png' names each, --pages takes some\n")
        else:
            kind = {"png": "PNG", "pgm": "PNM", "pfm": "PFM", "npy": "NPY"}[name[-3:]]
            self.refuses(data, f"it has {count} pictures, and a {kind} of one is read", name)
        if name.endswith(".npy"):
            return self.assertRegex(self.impipe("info", name).out, f", {count} arrays\n$")
        self.assertRegex(self.impipe("info", name).out, f", {count} pages\n$")
        self.assertIn(f'"pages":{count},', self.impipe("info", "--json", name).out)

    def test_tiff(self):
        gray = page(numbers(1, 255, np.uint8))
        other = page(numbers(3, 255, np.uint8)[:3], photometric=2)
        self.has_pages("in.tif", tiff(gray, other, gray), 3)
        self.has_pages("in.tif", tiff(gray, gray, big=True), 2)
        self.has_pages("in.tif", tiff(*[page(np.zeros((1, 1), np.uint8), subfile=2)] * 5), 5)

    def test_thumbnails_and_masks_of_a_tiff_are_no_pages(self):
        pixels = numbers(1, 255, np.uint8)
        small = page(pixels[:2, :3], subfile=1)
        mask = page((pixels > 99).astype(np.uint8), photometric=4, bits=1, subfile=4)
        old = page(pixels[:2, :3], tags=[(255, 3, [2])])
        one, two = "a reduced image or mask", "2 reduced images or masks"
        for without, pages in [(one, (page(pixels), small)), (two, (page(pixels), small, mask)),
                               (one, (page(pixels), old)), (one, (small, page(pixels))),
                               (two, (old, mask, page(pixels)))]:
            self.equal(self.read(tiff(*pages), without=without), pixels)
        self.equal(self.read(tiff(small)), pixels[:2, :3])
        self.has_pages("in.tif", tiff(page(pixels), small, page(pixels), small), 2)
        self.refuses(tiff(page(pixels[:2, :3], subfile=1, tags=[(330, 4, [8])])),
                     "TIFF with its picture in a sub-directory (a raw photo?) is not supported")

    def test_a_chain_of_directories_that_breaks(self):
        data = bytearray(tiff(page(numbers(1, 255, np.uint8))))
        struct.pack_into("<I", data, len(data) - 4, struct.unpack_from("<I", data, 4)[0])
        self.refuses(bytes(data), "damaged TIFF: its directories form a ring")
        struct.pack_into("<I", data, len(data) - 4, 99999)
        self.refuses(bytes(data), "damaged TIFF: directory 2: truncated: the header ends at byte "
                     f"{len(data)}")

    def test_animated_webp(self):
        frames = [Image.fromarray(numbers(3, 255, np.uint8) // (i + 1)) for i in range(4)]
        data = io.BytesIO()
        frames[0].save(data, "WEBP", save_all=True, append_images=frames[1:], lossless=True)
        self.has_pages("in.webp", data.getvalue(), 4)

    def apng(self, frames, picture_is_frame):
        pixels = numbers(1, 255, np.uint8)
        rows = zlib.compress(b"".join(b"\0" + row.tobytes() for row in pixels))
        out = [b"\x89PNG\r\n\x1a\n", png_chunk(b"IHDR", struct.pack(">IIBBBBB", W, H, 8, 0, 0, 0, 0)),
               png_chunk(b"acTL", struct.pack(">II", frames, 0))]
        number = 0
        for i in range(frames + (0 if picture_is_frame else 1)):
            if i > 0 or picture_is_frame:
                out.append(png_chunk(b"fcTL", struct.pack(">IIIIIHHBB", number, W, H, 0, 0, 1, 9,
                                                          0, 0)))
                number += 1
            out.append(png_chunk(b"IDAT", rows) if i == 0
                       else png_chunk(b"fdAT", struct.pack(">I", number) + rows))
            number += i > 0
        return b"".join(out) + png_chunk(b"IEND", b"")

    def test_animated_png(self):
        self.has_pages("in.png", self.apng(3, True), 3)
        self.has_pages("in.png", self.apng(1, False), 2)
        self.equal(self.read(self.apng(1, True), name="in.png"), numbers(1, 255, np.uint8))

    def test_pictures_one_after_another(self):
        def pnm(kind, pixels):
            height, width = pixels.shape[:2]
            return b"%s %d %d 255\n" % (kind, width, height) + pixels.tobytes()

        gray, colour = numbers(1, 255, np.uint8), numbers(3, 255, np.uint8)
        self.has_pages("in.pgm", pnm(b"P5", gray) + pnm(b"P6", colour) + pnm(b"P5", gray), 3)
        self.equal(self.read(pnm(b"P5", gray) + b"\n", name="in.pgm"), gray)
        height, width = gray.shape
        pfm = b"Pf\n%d %d\n-1\n" % (width, height) + gray.astype("<f4").tobytes()
        self.has_pages("in.pfm", pfm * 3, 3)
        data = io.BytesIO()
        Image.fromarray(gray).save(data, "PNG")
        png = data.getvalue()
        self.has_pages("in.png", png * 3, 3)
        run = self.impipe("mean2", "in.png", code=1)
        self.assertEqual(run.err, "impipe: in.png: decode: it has 3 pictures, and a PNG of one is "
                                  "read\n")
        self.has_pages("in.png", png + png[:40], 2)
        for kind in ("bmp", "dpx"):
            self.write("in.png", png)
            self.impipe(IDENTITY, "in.png", "-o", f"one.{kind}")
            with open(self.path(f"one.{kind}"), "rb") as file:
                one = file.read()
            for options in (["-o", "out.npy"], []):
                self.write(f"in.{kind}", one * 3)
                run = self.impipe("mean2", f"in.{kind}", *options, code=1)
                self.assertEqual(run.err, f"impipe: in.{kind}: decode: several pictures follow each "
                                          f"other, and a {kind.upper()} of one is read\n")
            self.equal(self.read(one + b"\n", name=f"in.{kind}"), gray)
        self.equal(self.read(png + b"\n", name="in.png"), gray)
        data = io.BytesIO()
        np.save(data, gray)
        np.save(data, colour)
        self.has_pages("in.npy", data.getvalue(), 2)


class Kinds(Formats):
    def test_jpegs_that_are_not_read_are_not_called_damaged(self):
        out = io.BytesIO()
        Image.fromarray(numbers(3, 255, np.uint8)).save(out, "JPEG")
        data = out.getvalue()
        frame = data.index(b"\xff\xc0")
        self.refuses(data[:frame + 4] + b"\x0c" + data[frame + 5:],
                     "JPEG of 12 bits is not supported", "in.jpg")
        for code, kind in [(0xc3, "lossless"), (0xcb, "lossless"), (0xc5, "hierarchical")]:
            self.refuses(data[:frame + 1] + bytes([code]) + data[frame + 2:],
                         f"{kind} JPEG is not supported", "in.jpg")

    def test_comments_right_behind_a_word(self):
        gray = numbers(1, 255, np.uint8)
        head = b"P5#made by hand\n%d# wide\n%d#high\n255#white\n" % (W, H)
        self.equal(self.read(head + gray.tobytes(), name="in.pgm"), gray)


class Claims(Formats):
    """What a header claims is compared with the file before memory is taken."""
    MOST = 120 * 1024  # KiB; the program itself with a codec module needs some 40 MiB

    def refuses_cheaply(self, data, reason, name="in.tif"):
        self.refuses(data, reason, name)
        if os.environ.get("IMPIPE_SANITIZED"):
            return
        self.assertLess(self.peak_memory(IDENTITY, name, "-o", "out.npy", code=1), self.MOST)

    def claim(self, compression=1, photometric=5, samples=4, side=32000, data=b"\0" * 8, tags=()):
        tiny = page(np.zeros((1, 1, samples), np.uint8), photometric=photometric,
                    tags=[(256, 4, [side]), (257, 4, [side]), (259, 3, [compression]), *tags])
        tiny["data"] = [data]
        return tiff(tiny)

    def test_tiff_of_every_compression(self):
        raw = 4 * 32000 ** 2
        for compression, least, why in [
                (1, raw, ""), (5, raw // 2560, "LZW packs at most 2560:1"),
                (8, -(-raw // 1032), "deflate packs at most 1032:1"),
                (32946, -(-raw // 1032), "deflate packs at most 1032:1"),
                (32773, raw // 64, "PackBits packs at most 64:1"),
                (7, 32000 ** 2 // 8192, "JPEG has at least a bit for 32x32 pixels"),
                (34925, raw // 8192, "LZMA packs at most 8192:1"),
                (50000, raw // 32768, "Zstandard packs at most 32768:1")]:
            with self.subTest(compression):
                data = self.claim(compression)
                self.refuses_cheaply(
                    data, f"truncated TIFF: 32000x32000 needs at least {least} bytes"
                    + (f" ({why})" if why else "") + f", and the file has {len(data)}")

    def test_tiff_of_fax_codes(self):
        for compression, least, why in [
                (2, 1001536, "CCITT packs at most 213:1"),
                (3, 4000, "CCITT has at least a bit for a row"),
                (4, 4000, "CCITT has at least a bit for a row")]:
            data = self.claim(compression, 1, 1, tags=[(258, 3, [1])])
            self.assertLess(len(data), 300)
            with self.subTest(compression):
                self.write("in.tif", data)
                said = self.impipe(IDENTITY, "in.tif", "-o", "out.npy", code=1).err
                self.assertRegex(said, rf"truncated TIFF: 32000x32000 needs at least \d+ bytes "
                                 rf"\({why}\), and the file has {len(data)}\n")

    def test_a_tile_larger_than_the_picture(self):
        data = tiff(page(np.zeros((4, 4), np.uint8), tile=16,
                         tags=[(322, 4, [30000]), (323, 4, [30000])]))
        self.refuses_cheaply(data, "truncated TIFF: a tile of 30000x30000 needs at least 900000000 "
                             f"bytes, and the file has {len(data)}")
        data = tiff(page(np.zeros((4, 4), np.uint8), tile=16, compression=8,
                         tags=[(322, 4, [60000]), (323, 4, [60000])]))
        self.refuses_cheaply(data, "too many pixels: a tile of 60000x60000 is more than the limit "
                             "of 1073741824 (--max-pixels)")

    def test_sides_beyond_any_file(self):
        pixels = np.zeros((4, 4), np.uint8)
        for side, what in [(1 << 24, f"4x{1 << 24}"), ((1 << 62) + 1, f"4x{(1 << 62) + 1}")]:
            self.refuses(tiff(page(pixels, tags=[(257, 16, [side])]), big=True),
                         f"too large: a side of {what} exceeds 16777215 pixels")
            self.refuses(tiff(page(pixels, tile=16, tags=[(323, 16, [side])]), big=True),
                         f"damaged TIFF: tiles of 16x{side}")

    def test_png(self):
        data = png_bomb(30000, 30000)
        self.refuses_cheaply(data, "truncated PNG: 30000x30000 needs at least 872094 bytes "
                             f"(deflate packs at most 1032:1), and the file has {len(data)}",
                             "in.png")

    def test_jpeg(self):
        for options, block in [({"subsampling": 2}, "16x16"), ({"subsampling": 0}, "8x8"),
                               ({"progressive": True, "subsampling": 1}, "16x8")]:
            out = io.BytesIO()
            Image.fromarray(numbers(3, 255, np.uint8)).save(out, "JPEG", **options)
            data = bytearray(out.getvalue())
            frame = max(data.find(b"\xff\xc0"), data.find(b"\xff\xc2"))
            struct.pack_into(">HH", data, frame + 5, 30000, 30000)
            across, down = map(int, block.split("x"))
            least = -(-30000 ** 2 // (across * down * 8))
            self.refuses_cheaply(bytes(data), f"truncated JPEG: 30000x30000 needs at least {least} "
                                 f"bytes (JPEG has at least a bit for {block} pixels), and the "
                                 f"file has {len(data)}", "in.jpg")

    def test_formats_without_compression(self):
        out = io.BytesIO()
        Image.fromarray(numbers(3, 255, np.uint8)).save(out, "BMP")
        data = bytearray(out.getvalue())
        struct.pack_into("<ii", data, 18, 30000, 30000)
        self.refuses_cheaply(bytes(data), f"truncated BMP: {len(data)} bytes, 2700000054 needed",
                             "in.bmp")
        for head, needs, has in [(b"P6 30000 30000 255\n", 2700000000, 3),
                                 (b"P5 30000 30000 65535\n", 1800000000, 3),
                                 (b"P4 30000 30000\n", 112500000, 3),
                                 (b"P3 30000 30000 255\n", 5399999999, 3),
                                 (b"P1 30000 30000\n", 900000000, 3)]:
            self.refuses_cheaply(head + b"1 1", f"truncated PNM: {has} bytes of pixels, {needs} "
                                 "needed", "in.pnm")
        self.refuses_cheaply(b"PF 30000 30000 -1.0\n1 1", "truncated PFM: 3 bytes of pixels, "
                             "10800000000 needed", "in.pfm")

    def test_a_format_without_a_bound_keeps_to_the_limit_of_pixels(self):
        out = io.BytesIO()
        Image.new("RGB", (8000, 8000), (1, 2, 3)).save(out, "WEBP", lossless=True)
        self.assertLess(len(out.getvalue()), 10000)
        self.write("in.webp", out.getvalue())
        self.refuses(out.getvalue(), "too many pixels: 8000x8000 is more than the limit of 1000000 "
                     "(--max-pixels)", "in.webp", "--max-pixels", "1000000")


if __name__ == "__main__":
    unittest.main()
