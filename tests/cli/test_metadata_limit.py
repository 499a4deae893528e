"""One limit for all metadata of a file: what goes beyond it is left out and named, and small files
that unpack to a lot of it take little memory."""
import io
import struct
import subprocess
import unittest
import zlib

import numpy as np
from exr_writer import HALF, attribute, exr
from jxl_writer import jxl
from PIL import Image
from program import SANITIZED, ProgramTest, png_chunk, ramp
from tiff_writer import page, tiff

MIB = 1 << 20
TOO_MUCH = 65 * MIB  # the limit is 64
IDENTITY = "rot90 0"


def saved(kind, **options):
    out = io.BytesIO()
    Image.fromarray(ramp()).convert("RGB").save(out, kind, **options)
    return out.getvalue()


def png_with(*chunks):
    data = saved("PNG")
    return data[:33] + b"".join(png_chunk(*chunk) for chunk in chunks) + data[33:]


def packed_text(keyword, size, fill=b" "):
    return b"zTXt", keyword + b"\0\0" + zlib.compress(fill * size)


def texts_of(data):
    """Content by keyword of a PNG's chunks of text."""
    found, at = {}, 8
    while at < len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        body = data[at + 8:at + 8 + length]
        keyword, _, text = body.partition(b"\0")
        if kind in (b"tEXt", b"zTXt"):
            found[keyword] = text if kind == b"tEXt" else zlib.decompress(text[1:])
        at += 12 + length
    return found


def many_segments():
    data = saved("JPEG")
    body = b"notes\0" + bytes(65_000)
    segment = b"\xff\xe5" + struct.pack(">H", len(body) + 2) + body
    return data[:2] + segment * (TOO_MUCH // len(body) + 1) + data[2:]


def gif_with_comment():
    data = saved("GIF")
    return data[:-1] + b"!\xfe" + (b"\xff" + b"c" * 255) * (TOO_MUCH // 255 + 1) + b"\0;"


def jp2_with_box():
    xmp = b"\xbe\x7a\xcf\xcb\x97\xa9\x42\xe8\x9c\x71\x99\x94\x91\xe3\xaf\xac"
    return saved("JPEG2000") + struct.pack(">I4s", 24 + TOO_MUCH, b"uuid") + xmp + b" " * TOO_MUCH


class MetadataLimit(ProgramTest):
    def dpx_with_data(self):
        self.picture("in.png")
        self.impipe(IDENTITY, "in.png", "-o", "in.dpx")
        with open(self.path("in.dpx"), "rb") as file:
            data = bytearray(file.read())
        for at in (4, 780 + 28):  # where the pixels begin
            struct.pack_into(">I", data, at, 2048 + TOO_MUCH)
        return bytes(data[:2048]) + b"u" * TOO_MUCH + bytes(data[2048:])

    def avif_with_xmp(self):
        self.picture("in.png")
        self.write("xmp", b" " * TOO_MUCH)
        subprocess.run(["avifenc", "--xmp", "xmp", "in.png", "in.avif"], cwd=self.folder, check=True,
                       capture_output=True)
        with open(self.path("in.avif"), "rb") as file:
            return file.read()

    def test_every_format_names_what_is_beyond(self):
        gray = ramp().astype(np.float16)
        note = attribute("note", "string", b"n" * TOO_MUCH)
        files = {
            "png": (png_with((b"tEXt", b"Title\0" + b"t" * TOO_MUCH)), "text 'Title'"),
            "jpg": (many_segments(), "APP5 'notes'"),
            "webp": (saved("WEBP", xmp=b" " * TOO_MUCH), "chunk 'XMP '"),
            "gif": (gif_with_comment(), "a comment"),
            "jp2": (jp2_with_box(), "box 'uuid'"),
            "tif": (tiff(page(ramp(), tags=[(270, 2, b"d" * TOO_MUCH)])), "field 270"),
            "exr": (exr({"Y": (HALF, gray)}, size=gray.shape[::-1], extra=note),
                    "EXR attribute 'note'"),
            "dpx": (self.dpx_with_data(), "its user's data"),
        }
        files["avif"] = (self.avif_with_xmp(), "XMP")
        files["jxl"] = (jxl(ramp(), boxes=[("xml ", b" " * TOO_MUCH)], compressed=True),
                        "box 'xml ' and those behind it")
        for kind, (data, name) in files.items():
            with self.subTest(kind):
                self.write(f"a.{kind}", data)
                lost = f"{name} (beyond 64 MiB of metadata)"
                run = self.impipe(IDENTITY, f"a.{kind}", "-o", "out.tif")
                self.assertIn(lost, run.err)
                self.assertTrue(run.err.startswith(f"impipe: a.{kind}: the result is without "))
                run = self.impipe(IDENTITY, f"a.{kind}", "-o", "none.tif", "--strict", code=1)
                self.assertIn(lost, run.err)
                self.assertNotIn("none.tif", self.tree())

    def test_what_fits_is_there(self):
        self.write("a.png", png_with(packed_text(b"Comment", 50 * MIB), (b"tEXt", b"Title\0A lake"),
                                     packed_text(b"Comment", 20 * MIB)))
        run = self.impipe(IDENTITY, "a.png", "-o", "b.png")
        self.assertEqual(run.err, "impipe: a.png: the result is without text 'Comment' (beyond 64 "
                                  "MiB of metadata)\n")
        with open(self.path("b.png"), "rb") as file:
            texts = texts_of(file.read())
        self.assertEqual(texts, {b"Comment": b" " * (50 * MIB), b"Title": b"A lake"})

    def test_an_original_stays(self):
        data = png_with(*[packed_text(b"Comment", 60 * MIB)] * 2)
        self.write("a.png", data)
        run = self.impipe("imcomplement", "a.png", "--in-place", code=1)
        self.assertIn("text 'Comment' (beyond 64 MiB of metadata)", run.err)
        with open(self.path("a.png"), "rb") as file:
            self.assertEqual(file.read(), data)
        self.impipe(IDENTITY, "a.png", "-o", "b.png", "--strip", "--strict")

    @unittest.skipIf(SANITIZED, "a sanitizer takes memory of its own")
    def test_memory_of_metadata_that_unpack(self):
        texts = [packed_text(b"Comment", 60 * MIB) for _ in range(20)]
        self.write("a.png", png_with(*texts))
        peak = self.peak_memory(IDENTITY, "a.png", "-o", "b.png", "--memory", "200M")
        self.assertLess(peak, 800 * 1024)  # KiB; twenty texts as they are have 1,200 MiB
        # Several files: each counts its metadata in --memory, so that they go one after the other.
        for i in range(6):
            self.write(f"in/{i}.png", png_with(*texts))
        peak = self.peak_memory(IDENTITY, "in", "-o", "out", "--memory", "200M", "-j", 6)
        self.assertLess(peak, 800 * 1024)
        self.assertEqual(len(self.tree("out")), 6)

    @unittest.skipIf(SANITIZED, "a sanitizer takes memory of its own")
    def test_memory_of_boxes_that_unpack(self):
        boxes = [("xml ", b" " * (60 * MIB))] * 8
        self.write("a.jxl", jxl(ramp(), boxes=boxes, compressed=True))
        peak = self.peak_memory(IDENTITY, "a.jxl", "-o", "b.png")
        self.assertLess(peak, 900 * 1024)


if __name__ == "__main__":
    unittest.main()
