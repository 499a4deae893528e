"""JPEGs that are not as the book has them are read where libjpeg reads them."""
import io
import struct
import unittest

import numpy as np
from PIL import Image
from program import ProgramTest, colour


def segments(data):
    """The parts of a JPEG: the start, each segment before the scan, the rest."""
    parts, at = [data[:2]], 2
    while data[at + 1] != 0xDA:
        length = struct.unpack(">H", data[at + 2:at + 4])[0]
        parts.append(data[at:at + 2 + length])
        at += 2 + length
    return [*parts, data[at:]]


class Jpeg(ProgramTest):
    def setUp(self):
        super().setUp()
        out = io.BytesIO()
        Image.fromarray(colour(40, 56)).save(out, "JPEG", quality=90)
        self.data = out.getvalue()
        self.plain = np.asarray(Image.open(out))

    def reads(self, data):
        """As the picture without the disturbance, by libjpeg, which Pillow has."""
        self.write("a.jpg", data)
        self.impipe("fliplr | fliplr", "a.jpg", "-o", "a.npy")
        np.testing.assert_array_equal(self.pixels("a.npy"), self.plain)

    def test_bytes_between_segments(self):
        start, *middle, rest = segments(self.data)
        for name, extra in {"fill": b"\xff" * 5, "zeros": b"\0" * 7, "text": b"no marker here",
                            "stuffed": b"\xff\0\xff\0", "many": b"x" * 10_000,
                            "TEM": b"\xff\x01", "RST": b"\xff\xd0"}.items():
            for place in range(1, len(middle) + 1):
                with self.subTest(name, place=place):
                    self.reads(start + b"".join(middle[:place]) + extra
                               + b"".join(middle[place:]) + rest)

    def test_bytes_before_and_after_the_end(self):
        self.assertEqual(self.data[-2:], b"\xff\xd9")
        self.reads(self.data[:-2] + b"\xff" * 4 + self.data[-2:])
        self.reads(self.data + b"more" * 100)

    def test_a_frame_with_metadata_behind_it(self):
        start, *middle, rest = segments(self.data)
        exif = Image.Exif()
        exif[0x0112] = 6
        body = exif.tobytes()
        self.write("a.jpg", start + b"".join(middle)
                   + b"\xff\xe1" + struct.pack(">H", len(body) + 2) + body + rest)
        self.impipe("fliplr | fliplr", "a.jpg", "-o", "a.npy")
        self.assertEqual(self.pixels("a.npy").shape, (56, 40, 3))

    def test_what_has_no_end_or_no_frame_is_refused(self):
        start, *middle, rest = segments(self.data)
        self.write("a.jpg", self.data[:-2])
        self.assertEqual(self.impipe("mean2", "a.jpg", code=1).err,
                         "impipe: a.jpg: decode: truncated JPEG: Premature end of JPEG file\n")
        frameless = [s for s in middle if not 0xC0 <= s[1] <= 0xC3]
        self.write("a.jpg", start + b"".join(frameless) + rest)
        self.assertEqual(self.impipe("mean2", "a.jpg", code=1).err,
                         "impipe: a.jpg: decode: damaged JPEG: no frame header\n")
        self.write("a.jpg", self.data[:30])
        self.assertEqual(self.impipe("mean2", "a.jpg", code=1).err,
                         "impipe: a.jpg: decode: truncated JPEG: the header ends at byte 30\n")


if __name__ == "__main__":
    unittest.main()
