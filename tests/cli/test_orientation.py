"""A picture is turned as its metadata say, once, wherever in the file they say it."""
import io
import struct
import unittest
import zlib

import numpy as np
from PIL import Image
from program import ProgramTest, colour, png_chunk

ORIENTATION = 0x0112
# How the stored rows and columns become what is seen; EXIF 2.3, table 6.
TURNED = {
    1: lambda p: p,
    2: lambda p: p[:, ::-1],
    3: lambda p: p[::-1, ::-1],
    4: lambda p: p[::-1],
    5: lambda p: p.swapaxes(0, 1),
    6: lambda p: p[::-1].swapaxes(0, 1),
    7: lambda p: p[::-1, ::-1].swapaxes(0, 1),
    8: lambda p: p[:, ::-1].swapaxes(0, 1),
}


def exif(orientation, big_endian=False):
    """A TIFF structure with the orientation and a maker: something that is to be kept."""
    order = ">" if big_endian else "<"
    maker = b"Pinhole\0"
    head = struct.pack(order + "2sHI", b"MM" if big_endian else b"II", 42, 8)
    entries = struct.pack(order + "HHHII", 2, 0x010F, 2, len(maker), 8 + 2 + 24 + 4)
    entries += struct.pack(order + "HHIHH", ORIENTATION, 3, 1, orientation, 0)
    return head + entries + struct.pack(order + "I", 0) + maker


def xmp(orientation, element=False):
    attribute = "" if element else f' tiff:Orientation="{orientation}"'
    inside = f"<tiff:Orientation>{orientation}</tiff:Orientation>" if element else ""
    return ('<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>'
            '<x:xmpmeta xmlns:x="adobe:ns:meta/">'
            '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
            '<rdf:Description rdf:about="" xmlns:tiff="http://ns.adobe.com/tiff/1.0/"'
            f' xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmp:Rating="4"{attribute}>{inside}'
            '</rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end="w"?>').encode()


def raw_profile(name, data):
    """As ImageMagick writes it: the name, the size, lines of 36 bytes in hexadecimal."""
    lines = [data[i:i + 36].hex() for i in range(0, len(data), 36)]
    return f"\n{name}\n{len(data):8}\n".encode() + "\n".join(lines).encode() + b"\n"


def text_chunk(keyword, text, packed=True):
    if packed:
        return png_chunk(b"zTXt", keyword + b"\0\0" + zlib.compress(text))
    return png_chunk(b"tEXt", keyword + b"\0" + text)


def xmp_chunk(packet, packed=False):
    text = zlib.compress(packet) if packed else packet
    return png_chunk(b"iTXt", b"XML:com.adobe.xmp\0" + bytes([packed, 0]) + b"\0\0" + text)


class Orientation(ProgramTest):
    def setUp(self):
        super().setUp()
        self.stored = colour(24, 40)

    def png(self, *chunks):
        """A PNG with chunks of its own before the pixels."""
        out = io.BytesIO()
        Image.fromarray(self.stored).save(out, "PNG")
        data = out.getvalue()
        self.write("a.png", data[:33] + b"".join(chunks) + data[33:])

    def check(self, orientation, name="a.png", exact=True):
        """The result is turned, and nothing in it says that it should be turned again."""
        self.impipe("imcomplement | imcomplement", name, "-o", "out")
        expected = TURNED[orientation](self.stored)
        with Image.open(self.path("out", name)) as after:
            self.assertEqual(after.getexif().get(ORIENTATION, 1), 1)
            pixels = np.asarray(after.convert("RGB"))
        self.assertEqual(pixels.shape, expected.shape)
        if exact:
            np.testing.assert_array_equal(pixels, expected)
        else:
            # The noise in the colours is lost; turned another way it would be about 80.
            self.assertLess(np.abs(pixels.astype(int) - expected).mean(), 8)
        with open(self.path("out", name), "rb") as file:
            data = file.read()
        self.assertNotRegex(data, b"tiff:Orientation(=\"|>)[2-9]")
        self.assertNotIn(b"Raw profile", data)
        return data

    def test_raw_profiles_of_a_png(self):
        for orientation in TURNED:
            for kind in [b"exif", b"APP1"]:
                for packed in [True, False]:
                    with self.subTest(orientation, kind=kind, packed=packed):
                        text = raw_profile(kind.decode(), b"Exif\0\0" + exif(orientation))
                        self.png(text_chunk(b"Raw profile type " + kind, text, packed))
                        self.assertIn(b"Pinhole", self.check(orientation))

    def test_xmp_of_a_png(self):
        for orientation in TURNED:
            chunks = {"element": xmp_chunk(xmp(orientation, element=True)),
                      "packed": xmp_chunk(xmp(orientation), packed=True),
                      "raw": text_chunk(b"Raw profile type xmp",
                                        raw_profile("xmp", xmp(orientation)))}
            for name, chunk in chunks.items():
                with self.subTest(orientation, name=name):
                    self.png(chunk)
                    self.check(orientation)

    def test_xmp_of_the_other_formats(self):
        pixels = Image.fromarray(self.stored)
        for orientation in TURNED:
            packet = xmp(orientation)
            with self.subTest(orientation, format="jpg"):
                out = io.BytesIO()
                pixels.save(out, "JPEG", quality=100, subsampling=0)
                body = b"http://ns.adobe.com/xap/1.0/\0" + packet
                data = out.getvalue()
                self.write("a.jpg", data[:2] + b"\xff\xe1" + struct.pack(">H", len(body) + 2)
                           + body + data[2:])
                self.assertIn(b"Rating", self.check(orientation, "a.jpg", exact=False))
            with self.subTest(orientation, format="webp"):
                pixels.save(self.path("a.webp"), lossless=True, xmp=packet)
                self.assertIn(b"Rating", self.check(orientation, "a.webp"))
            with self.subTest(orientation, format="tif"):
                pixels.save(self.path("a.tif"), tiffinfo={700: packet})
                self.assertIn(b"Rating", self.check(orientation, "a.tif"))

    def test_exif_counts_before_a_raw_profile_and_that_before_xmp(self):
        raw = text_chunk(b"Raw profile type exif", raw_profile("exif", b"Exif\0\0" + exif(6)))
        chunk = png_chunk(b"eXIf", exif(3, big_endian=True))
        packet = xmp_chunk(xmp(8))
        self.png(packet, raw, chunk)
        self.check(3)
        self.png(packet, raw)
        self.check(6)
        self.png(packet, png_chunk(b"eXIf", exif(1)))  # upright is said, too
        self.check(1)
        out = io.BytesIO()
        Image.fromarray(self.stored).save(out, "WEBP", lossless=True, exif=exif(6), xmp=xmp(8))
        self.write("a.webp", out.getvalue())
        self.check(6, "a.webp")
        Image.fromarray(self.stored).save(self.path("a.tif"), tiffinfo={ORIENTATION: 6,
                                                                        700: xmp(8)})
        self.check(6, "a.tif")

    def test_damaged_metadata_turn_nothing(self):
        for name, chunk in {
                "no lines": text_chunk(b"Raw profile type exif", b"exif", packed=False),
                "no text": text_chunk(b"Raw profile type exif", b"", packed=False),
                "no digits": text_chunk(b"Raw profile type APP1", b"\nexif\n  8\nzz\n"),
                "no zlib": png_chunk(b"zTXt", b"Raw profile type exif\0\0nothing"),
                "cut": png_chunk(b"iTXt", b"XML:com.adobe.xmp\0"),
                "no number": xmp_chunk(xmp("left")),
                "out of range": xmp_chunk(xmp(9))}.items():
            with self.subTest(name):
                self.png(chunk)
                self.impipe("imcomplement | imcomplement", "a.png", "-o", "out")
                np.testing.assert_array_equal(self.pixels("out/a.png"), self.stored)


if __name__ == "__main__":
    unittest.main()
