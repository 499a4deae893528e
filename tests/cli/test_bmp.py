"""BMP files of every kind, made here byte for byte, so that each pixel is known."""
import struct
import unittest

import numpy as np
from program import ProgramTest, colour, ramp

RAMP = ramp(5, 7)  # all kinds are 7 wide: rows end in bytes that belong to no pixel
COLOURS = [(0, 0, 0), (255, 255, 255), (200, 30, 10), (9, 120, 250)]
INDICES = (np.add.outer(np.arange(5), np.arange(7)) % 4).astype(np.uint8)


def windows_header(width, height, bits, compression=0, used=0, size=40, masks=()):
    """Windows' third header, or a longer one that begins like it."""
    header = struct.pack("<IiiHHIIiiII", size, width, height, 1, bits, compression, 0, 0, 0, used, 0)
    header += struct.pack(f"<{len(masks)}I", *masks)
    return header + bytes(max(0, size - len(header)))


def os2_header(width, height, bits):
    return struct.pack("<IHHHH", 12, width, height, 1, bits)


def file_of(header, palette=b"", pixels=b"", gap=b"", offset=None):
    data = 14 + len(header) + len(palette) + len(gap)
    total = data + len(pixels)
    return (struct.pack("<2sIII", b"BM", total, 0, data if offset is None else offset)
            + header + palette + gap + pixels)


def palette_of(colours, entry=4):
    return b"".join(bytes((b, g, r)) + bytes(entry - 3) for r, g, b in colours)


def rows_of(rows, top_down=False):
    """Rows of bytes, each filled up to words of 4 bytes, the lowest first."""
    rows = [row + bytes(-len(row) % 4) for row in rows]
    return b"".join(rows if top_down else rows[::-1])


def packed(indices, bits):
    """Rows of indices, `bits` each, the first in the highest bits."""
    out = []
    for row in indices:
        text = "".join(f"{v:0{bits}b}" for v in row)
        text += "0" * (-len(text) % 8)
        out.append(bytes(int(text[i:i + 8], 2) for i in range(0, len(text), 8)))
    return out


def scaled(values, bits):
    """Channels of some bits on 0 ... 255, rounded half up."""
    top = 2 ** bits - 1
    return ((values.astype(np.int64) * 510 + top) // (2 * top)).astype(np.uint8)


class Reading(ProgramTest):
    def check(self, data, expected, name="a.bmp"):
        """What impipe reads, through a flip that is undone: alpha goes along."""
        self.write(name, data)
        self.impipe("flipud | flipud", name, "-o", "a.npy")
        np.testing.assert_array_equal(self.pixels("a.npy"), expected)

    def refused(self, data, message):
        self.write("a.bmp", data)
        run = self.impipe("flipud", "a.bmp", "-o", "out", code=1)
        self.assertEqual(run.err.splitlines()[0], f"impipe: a.bmp: decode: {message}")
        self.assertFalse(self.tree("out") if "out" in self.tree() else [])

    def test_palettes_of_every_depth(self):
        looked_up = np.array(COLOURS, np.uint8)[INDICES]
        for bits in [2, 4, 8]:
            with self.subTest(bits):
                data = file_of(windows_header(7, 5, bits, used=4), palette_of(COLOURS),
                               rows_of(packed(INDICES, bits)))
                self.check(data, looked_up)
        two = file_of(windows_header(7, 5, 1), palette_of(COLOURS[2:]),
                      rows_of(packed(INDICES % 2, 1)))
        self.check(two, np.array(COLOURS[2:], np.uint8)[INDICES % 2])

    def test_black_and_white_is_logical_whichever_comes_first(self):
        for first in [0, 1]:
            with self.subTest(first):
                colours = [COLOURS[first], COLOURS[1 - first]]
                data = file_of(windows_header(7, 5, 1), palette_of(colours),
                               rows_of(packed(INDICES % 2, 1)))
                self.check(data, INDICES % 2 != first)

    def test_os2_headers(self):
        looked_up = np.array(COLOURS, np.uint8)[INDICES]
        pixels = rows_of(packed(INDICES, 8))
        whole = COLOURS + [(0, 0, 0)] * 252
        self.check(file_of(os2_header(7, 5, 8), palette_of(whole, 3), pixels), looked_up)
        # A palette that is shorter than 8 bits can tell: the offset of the pixels says so.
        self.check(file_of(os2_header(7, 5, 8), palette_of(COLOURS, 3), pixels), looked_up)
        self.check(file_of(os2_header(7, 5, 24), b"", rows_of([c[:, ::-1].tobytes()
                                                               for c in looked_up])), looked_up)
        # The second header, whole and cut off after its first fields.
        for size in [64, 16, 42]:
            with self.subTest(size):
                header = windows_header(7, 5, 8, used=4, size=max(size, 40))[4:size]
                header = struct.pack("<I", size) + header
                palette = COLOURS if size > 16 else whole
                self.check(file_of(header, palette_of(palette), pixels), looked_up)

    def test_the_offset_of_the_pixels_counts_not_the_number_of_colours(self):
        looked_up = np.array(COLOURS, np.uint8)[INDICES]
        pixels = rows_of(packed(INDICES, 8))
        for used in [0, 4, 300, 4_000_000_000]:
            with self.subTest(used):
                self.check(file_of(windows_header(7, 5, 8, used=used), palette_of(COLOURS),
                                   pixels, gap=b"" if used != 4 else b"\xee" * 100), looked_up)
        many = COLOURS + [(1, 2, 3)] * 296
        self.check(file_of(windows_header(7, 5, 8, used=300), palette_of(many), pixels), looked_up)
        # A palette before true colours is only a hint, and no offset at all means no gap.
        true = rows_of([row[:, ::-1].tobytes() for row in looked_up])
        self.check(file_of(windows_header(7, 5, 24, used=300), palette_of(many), true), looked_up)
        self.check(file_of(windows_header(7, 5, 8, used=4), palette_of(COLOURS), pixels, offset=0),
                   looked_up)

    def test_channels_of_a_few_bits_reach_white(self):
        rng = np.random.default_rng(1)
        kinds = [("555", 16, None, (5, 5, 5)), ("565", 16, (0xf800, 0x7e0, 0x1f), (5, 6, 5)),
                 ("231", 16, (0x30, 0x0e, 0x01), (2, 3, 1)),
                 ("111110", 32, (0xffe00000, 0x1ffc00, 0x3ff), (11, 11, 10)),
                 ("888", 32, None, (8, 8, 8)), ("bgr", 32, (0xff, 0xff00, 0xff0000), (8, 8, 8))]
        for name, bits, masks, depths in kinds:
            with self.subTest(name):
                values = [rng.integers(0, 2 ** depth, (5, 7)) for depth in depths]
                for v, depth in zip(values, depths):
                    v[0, :2] = 0, 2 ** depth - 1
                shown = masks or ((0x7c00, 0x3e0, 0x1f) if bits == 16
                                  else (0xff0000, 0xff00, 0xff))
                word = sum(v << (mask & -mask).bit_length() - 1 for v, mask in zip(values, shown))
                pixels = rows_of([row.astype("<u2" if bits == 16 else "<u4").tobytes()
                                  for row in word])
                header = windows_header(7, 5, bits, 3 if masks else 0)
                after = struct.pack("<3I", *masks) if masks else b""
                expected = np.stack([scaled(v, d) for v, d in zip(values, depths)], axis=-1)
                self.assertEqual(expected[0, 1].tolist(), [255] * 3)
                self.check(file_of(header, after, pixels), expected)

    def test_alpha(self):
        rng = np.random.default_rng(2)
        masks = (0xff00, 0xff0000, 0xff000000, 0xff)
        values = rng.integers(0, 256, (5, 7, 4)).astype(np.uint8)
        word = sum(values[..., i].astype(np.uint32) << shift
                   for i, shift in enumerate([8, 16, 24, 0]))
        pixels = rows_of([row.astype("<u4").tobytes() for row in word])
        for size in [56, 108, 124]:
            with self.subTest(size):
                self.check(file_of(windows_header(7, 5, 32, 3, size=size, masks=masks), b"",
                                   pixels), values)
        with self.subTest("masks after the header"):
            self.check(file_of(windows_header(7, 5, 32, 6), struct.pack("<4I", *masks), pixels),
                       values)
        with self.subTest("bits that are no alpha"):
            plain = rows_of([row.tobytes() for row in values])
            self.check(file_of(windows_header(7, 5, 32), b"", plain), values[..., 2::-1])
        with self.subTest("4444"):
            four = values >> 4
            word = sum(four[..., i].astype(np.uint16) << s for i, s in enumerate([8, 4, 0, 12]))
            header = windows_header(7, 5, 16, 3, size=124, masks=(0xf00, 0xf0, 0xf, 0xf000))
            self.check(file_of(header, b"", rows_of([r.astype("<u2").tobytes() for r in word])),
                       four * 17)

    def test_top_down(self):
        self.check(file_of(windows_header(7, -5, 8, used=4), palette_of(COLOURS),
                           rows_of(packed(INDICES, 8), top_down=True)),
                   np.array(COLOURS, np.uint8)[INDICES])

    def test_run_lengths(self):
        palette = palette_of(COLOURS)
        codes = (b"\x07\x02\0\0"                        # the lowest row: seven of colour 2
                 b"\0\x03\x01\x02\x03\0\x04\x01\0\0"    # three as they are, a pad, four of colour 1
                 b"\0\x02\x03\x01"                      # a delta: 3 to the right, 1 up
                 b"\x02\x03\0\x01")                     # two of colour 3, and no more
        expected = np.zeros((5, 7), np.uint8)
        expected[4] = 2
        expected[3] = [1, 2, 3, 1, 1, 1, 1]
        expected[1, 3:5] = 3
        data = file_of(windows_header(7, 5, 8, 1, used=4), palette, codes)
        self.check(data, np.array(COLOURS, np.uint8)[expected])
        codes = (b"\x07\x23\0\0"                # 2 3 2 3 2 3 2
                 b"\0\x05\x12\x31\x20\0\x02\x10\0\0"  # 1 2 3 1 2, a pad, 1 0
                 b"\0\x01")
        expected = np.zeros((5, 7), np.uint8)
        expected[4] = [2, 3, 2, 3, 2, 3, 2]
        expected[3] = [1, 2, 3, 1, 2, 1, 0]
        data = file_of(windows_header(7, 5, 4, 2, used=4), palette, codes)
        self.check(data, np.array(COLOURS, np.uint8)[expected])
        header = struct.pack("<I", 64) + windows_header(7, 2, 24, 4, size=64)[4:]
        codes = b"\x07\x01\x02\x03\0\0\0\x03" + bytes(range(9)) + b"\0\x04\x09\x08\x07\0\x01"
        expected = np.zeros((2, 7, 3), np.uint8)
        expected[1] = 3, 2, 1
        expected[0] = [(2, 1, 0), (5, 4, 3), (8, 7, 6)] + [(7, 8, 9)] * 4
        self.check(file_of(header, b"", codes), expected)

    def test_what_is_damaged_or_unknown_is_said(self):
        palette, pixels = palette_of(COLOURS), rows_of(packed(INDICES, 8))

        def plain(**changes):
            fields = {"width": 7, "height": 5, "bits": 8, "used": 4, **changes}
            return file_of(windows_header(**fields), palette, pixels)

        self.refused(plain(size=66), "damaged BMP: no kind of BMP has a header of 66 bytes")
        self.refused(plain(width=-7), "damaged BMP: a width of -7")
        self.refused(plain(height=0), "BMP without pixels (7x0)")
        self.refused(plain(bits=64), "damaged BMP: 64 bits a pixel")
        self.refused(plain(compression=2), "damaged BMP: compression 2 of 8-bit pixels")
        self.refused(plain(compression=11), "BMP with compression 11 is not supported")
        self.refused(plain(compression=4), "BMP with a JPEG for its pixels is not supported")
        self.refused(plain(compression=5), "BMP with a PNG for its pixels is not supported")
        self.refused(plain(used=3)[:54] + palette[:12] + pixels,
                     "truncated BMP: 106 bytes, 109 needed")
        self.refused(file_of(windows_header(7, 5, 8, used=3), palette[:12], pixels),
                     "damaged BMP: a pixel has colour 3 of a palette of 3")
        self.refused(file_of(windows_header(7, 5, 8), palette, pixels, offset=20),
                     "damaged BMP: its pixels begin at byte 20, inside its header")
        self.refused(plain()[:26] + b"\x02" + plain()[27:],
                     "damaged BMP: 2 planes, where a BMP has one")
        masks = struct.pack("<3I", 0xf0f0, 0xf, 0xf00)
        self.refused(file_of(windows_header(7, 5, 16, 3), masks, pixels * 2),
                     "damaged BMP: the mask of red is 61680")
        self.refused(file_of(windows_header(7, 5, 16, 3), bytes(12), pixels * 2),
                     "damaged BMP: its masks have no colours")
        huffman = struct.pack("<I", 64) + windows_header(7, 5, 1, 3, size=64)[4:]
        self.refused(file_of(huffman, palette, pixels),
                     "BMP with Huffman codes is not supported")
        runs = {b"\x09\x01": "damaged BMP: a run goes past the end of row 0",
                b"\x07\x01\0\0" * 5 + b"\x01\x01": "damaged BMP: a run goes past the last row",
                b"\x07\x01\0\0": "truncated BMP: its runs end before the last pixel"}
        for codes, message in runs.items():
            self.refused(file_of(windows_header(7, 5, 8, 1, used=4), palette, codes), message)
        self.refused(file_of(windows_header(30000, 30000, 8, 1, used=4), palette, b"\0\x01"),
                     "truncated BMP: 2 bytes of runs for 900000000 pixels")


    def test_runs_that_fill_rows_up(self):
        # GraphicsMagick packs the bytes that make a row a multiple of four as well.
        palette = bytes(4) + b"\1\1\1\0"
        wide = b"\x08\x01\0\0" * 4 + b"\0\x08" + b"\x01" * 7 + b"\0" + b"\0\x01"
        ones = np.ones((5, 7), np.uint8)
        self.check(file_of(windows_header(7, 5, 8, 1, used=2), palette, wide), ones)
        narrow = b"\x08\x11\0\0" * 4 + b"\0\x08\x11\x11\x11\x10" + b"\0\x01"
        self.check(file_of(windows_header(7, 5, 4, 2, used=2), palette, narrow), ones)


class Writing(ProgramTest):
    def test_what_was_read_is_written(self):
        rgba = np.concatenate([colour(5, 7), ramp(5, 7)[..., None]], axis=-1)
        rgba[0, 0, 3] = 0
        kinds = {"gray": RAMP, "colour": colour(5, 7), "alpha": rgba}
        for name, pixels in kinds.items():
            with self.subTest(name):
                self.picture("a.png", pixels)
                self.impipe("flipud", "a.png", "-o", "a.bmp")
                np.testing.assert_array_equal(self.pixels("a.bmp"), pixels[::-1])  # Pillow reads it
                self.impipe("flipud", "a.bmp", "-o", "b.npy")
                np.testing.assert_array_equal(self.pixels("b.npy"), pixels)

    def test_logical_is_one_bit(self):
        self.picture("a.png", RAMP)
        self.impipe("im2bw 0.5", "a.png", "-o", "a.bmp")
        np.testing.assert_array_equal(self.pixels("a.bmp"), RAMP > 127)
        run = self.impipe("info", "a.bmp")
        self.assertEqual(run.out, "a.bmp: BMP, 7x5, logical x1, white 1, 1-bit palette\n")


if __name__ == "__main__":
    unittest.main()
