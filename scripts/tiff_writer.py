"""Writes small TIFF files tag by tag, the odd and the wrong ones too: for tests and campaigns.

    tiff(page(pixels, photometric=3, colour_map=..., extra=(2,)), page(...))
"""
import struct
import zlib

import numpy as np

LETTERS = {1: "B", 2: "B", 3: "H", 4: "I", 6: "b", 8: "h", 9: "i", 11: "f", 12: "d", 16: "Q"}
RATIONALS = {5: "I", 10: "i"}  # two numbers each


def packed(rows, bits, order):
    """Rows of samples as bytes: native words, or bits without gaps, each row padded to a byte."""
    if bits in (8, 16, 32, 64):
        return np.ascontiguousarray(rows.astype(rows.dtype.newbyteorder(order))).tobytes()
    out = []
    for row in rows.reshape(rows.shape[0], -1):
        shifts = np.arange(bits - 1, -1, -1)
        digits = (row.astype(np.int64)[:, None] >> shifts) & 1
        out.append(np.packbits(digits.astype(np.uint8).ravel()).tobytes())
    return b"".join(out)


def page(pixels, photometric=1, extra=(), bits=None, planar=1, tile=None, compression=1,
         colour_map=None, subfile=None, tags=(), order="<", pack=None):
    """One directory: a list of (tag, type, values) and its strips or tiles.

    `pixels` is an array of H x W or H x W x samples; `tags` are added, or replace those of their
    number. `pack` makes the bytes of a strip or tile from its array, for other compressions.
    """
    pixels = np.asarray(pixels)
    pixels = pixels[:, :, None] if pixels.ndim == 2 else pixels
    height, width, samples = pixels.shape
    bits = bits or 8 * pixels.dtype.itemsize
    planes = [pixels] if planar == 1 else [pixels[:, :, [s]] for s in range(samples)]
    blocks = []
    for plane in planes:
        if tile is None:
            blocks.append(plane)
            continue
        for y in range(0, height, tile):
            for x in range(0, width, tile):
                part = plane[y:y + tile, x:x + tile]
                blocks.append(np.pad(part, ((0, tile - part.shape[0]), (0, tile - part.shape[1]),
                                            (0, 0))))
    data = [pack(block) if pack else packed(block, bits, order) for block in blocks]
    if compression == 8:
        data = [zlib.compress(block) for block in data]
    numbers = {"u": 1, "i": 2, "f": 3, "b": 1}[pixels.dtype.kind]
    all_tags = {256: (4, [width]), 257: (4, [height]), 258: (3, [bits] * samples),
                259: (3, [compression]), 262: (3, [photometric]), 277: (3, [samples]),
                284: (3, [planar]), 339: (3, [numbers] * samples)}
    if subfile is not None:
        all_tags[254] = (4, [subfile])
    if extra:
        all_tags[338] = (3, list(extra))
    if colour_map is not None:
        all_tags[320] = (3, [int(v) for v in np.asarray(colour_map).ravel()])
    if tile is None:
        all_tags[278] = (4, [height])
        places = (273, 279)
    else:
        all_tags[322] = all_tags[323] = (4, [tile])
        places = (324, 325)
    all_tags.update({tag: (kind, values) for tag, kind, values in tags})
    return {"tags": sorted((tag, *rest) for tag, rest in all_tags.items()), "data": data,
            "places": places, "order": order}


def tiff(*pages, big=False, twice=()):
    """A file of the pages. `twice` are entries (tag, type, values) put into the first once more."""
    order = pages[0]["order"]
    mark = b"II" if order == "<" else b"MM"
    word, head = ("Q", struct.pack(order + "HHHQ", 43, 8, 0, 0)) if big else (
        "I", struct.pack(order + "HI", 42, 0))
    out = bytearray(mark + head)
    link = len(out) - struct.calcsize("<" + word)
    for number, one in enumerate(pages):
        offsets = []
        for block in one["data"]:
            offsets.append(len(out))
            out += block + b"\0" * (len(block) % 2)
        at, counts = one["places"]
        entries = [entry for entry in one["tags"] if entry[0] not in (at, counts)]
        given = {entry[0]: entry for entry in one["tags"]}
        entries.append(given.get(at, (at, 4, offsets)))
        entries.append(given.get(counts, (counts, 4, [len(block) for block in one["data"]])))
        entries += list(twice) if number == 0 else []
        entries.sort(key=lambda entry: entry[0])
        rows = []
        for tag, kind, values in entries:
            letter = RATIONALS[kind] if kind in RATIONALS else LETTERS[kind]
            value = struct.pack(f"{order}{len(values)}{letter}", *values)
            count = len(values) // 2 if kind in RATIONALS else len(values)
            room = struct.calcsize("<" + word)
            if len(value) > room:
                where = len(out)
                out += value + b"\0" * (len(value) % 2)
                value = struct.pack(order + word, where)
            rows.append(struct.pack(f"{order}HH{word}", tag, kind, count)
                        + value.ljust(room, b"\0"))
        struct.pack_into(order + word, out, link, len(out))
        out += struct.pack(order + ("Q" if big else "H"), len(rows)) + b"".join(rows)
        link = len(out)
        out += b"\0" * struct.calcsize("<" + word)
    return bytes(out)
