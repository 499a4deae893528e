#!/usr/bin/env python3
"""Damages small pictures of every format and looks whether impipe copes with each.

    mutate_pictures.py SEED COUNT [--format EXT ...] [--impipe PATH] [--memory MIB] [--out DIR]

Every damaged file must give a picture or one line that names it: no crash, no sanitizer report, no
hang, no memory beyond the cap, no partial or temporary output. Each batch runs twice, with memory
filled in two ways, and must give the same bytes: what differs was never written. Offenders go to
--out with what the program said; exit 1 when there are any. The same SEED makes the same files.
"""
import argparse
import collections
import io
import os
import random
import re
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import zlib

import numcodecs
import numpy as np
import pydicom
import tifffile
import zarr
from PIL import Image
from pydicom.data import get_testdata_file

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "scripts"))
from dicom_writer import dicom  # noqa: E402
from dng_writer import dng, mosaic  # noqa: E402
from fits_writer import card, hdu  # noqa: E402
from nifti_writer import gzipped, nifti  # noqa: E402
from tiff_writer import page, tiff  # noqa: E402

FORMATS = ["png", "jpg", "tif", "bmp", "webp", "exr", "pnm", "pfm", "npy", "jxl", "avif", "heic",
           "jp2", "gif", "qoi", "tga", "hdr", "fits", "dng", "dpx", "y4m", "pam",
           "nii", "gz", "dcm", "ozx"]
PAGED = ["webp", "gif", "heic", "avif", "jxl", "fits", "nii", "gz", "dcm", "ozx"]
# libde265 says nothing of a slice that ends early, and leaves the rest of its picture unwritten.
# LibRaw's parser of TIFF tags looks at variables that a damaged tag leaves unset.
UNWRITTEN = ["heic", "dng"]
MAX_PIXELS = 2_000_000  # most of the sizes that a header may claim are above it
ODD_NUMBERS = [0, 1, 2, 3, 4, 7, 8, 9, 16, 255, 256, 1000, 32767, 32768, 65535, 65536, 1 << 20,
               0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff]


# Valid pictures.


def saved(picture, kind, **options):
    out = io.BytesIO()
    picture.save(out, kind, **options)
    return out.getvalue()


def png_chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def run_length_bmp(pixels):
    """An 8-bit BMP with runs, a copy, a jump and its end before the last row."""
    height, width = pixels.shape
    rows = b"".join(bytes([width, int(row[0]), 0, 0]) for row in pixels[:-2])
    data = rows + bytes([0, 3, 1, 2, 3, 0, 0, 2, 1, 1, 2, 9, 0, 1])
    palette = b"".join(bytes([i, i, i, 0]) for i in range(256))
    start = 14 + 40 + len(palette)
    return (b"BM" + struct.pack("<IHHI", start + len(data), 0, 0, start)
            + struct.pack("<IiiHHIIiiII", 40, width, height, 1, 8, 1, len(data), 0, 0, 256, 0)
            + palette + data)


def made_pictures():
    """Pairs of extension and content, beside those of tests/data/io."""
    y, x = np.mgrid[0:13, 0:19]
    gray = (9 * x + 5 * y).astype(np.uint8)
    colour = np.dstack([gray, 255 - gray, gray // 2])
    clear = np.dstack([colour, gray[::-1]])
    out = [("bmp", run_length_bmp(gray)), ("bmp", saved(Image.fromarray(clear), "BMP")),
           ("bmp", saved(Image.fromarray(gray > 99), "BMP")),
           ("webp", saved(Image.fromarray(clear), "WEBP", quality=80)),
           ("webp", saved(Image.fromarray(colour), "WEBP", save_all=True, lossless=True,
                          append_images=[Image.fromarray(colour[::-1])])),
           ("jpg", saved(Image.fromarray(colour), "JPEG", progressive=True, subsampling=2)),
           ("jpg", saved(Image.fromarray(clear).convert("CMYK"), "JPEG"))]
    out += [("tif", data) for data in (
        tiff(page(np.dstack([gray // 16, gray // 17]), photometric=3, bits=4, extra=(2,),
                  colour_map=np.arange(48) * 1000)),
        tiff(page(clear, photometric=5), big=True), tiff(page(gray.astype(np.uint16), bits=12)),
        tiff(page(clear, photometric=2, extra=(2,), planar=2, tile=16, compression=8)),
        tiff(page(gray.astype(np.int16) - 99, order=">")), tiff(page(gray > 99, bits=1)),
        tiff(page(colour, photometric=6, tags=[(530, 3, [1, 1])])),
        tiff(page(colour.astype(np.float64), photometric=2)),
        tiff(page(gray), page(gray[:2, :3], subfile=1), page(gray)))]
    for kind in ({"ome": True, "metadata": {"axes": "TCZYX", "PhysicalSizeX": 0.5, "Channel": {
            "Name": ["red", "far red"]}}}, {"imagej": True, "resolution": (2, 4), "metadata": {
                "axes": "TZCYX", "unit": "um", "spacing": 3.0, "Labels": list("abcdefgh")}},
                 {"metadata": {"axes": "QZCYX"}}):
        data = io.BytesIO()
        tifffile.imwrite(data, np.stack([gray] * 8).reshape(2, 2, 2, *gray.shape), **kind)
        out.append(("tif", data.getvalue()))
    for name in ("tiff_lzw", "tiff_adobe_deflate", "packbits", "jpeg", "group3", "group4"):
        fax = name.startswith("group")
        picture = Image.fromarray(gray > 99) if fax else Image.fromarray(colour)
        out.append(("tif", saved(picture, "TIFF", compression=name)))
    for dtype in ("<i2", ">i4", "<u8", "<f2", "?", ">f8"):
        data = io.BytesIO()
        np.save(data, gray.astype(dtype))
        out.append(("npy", data.getvalue()))
    for options in ({}, {"interlace": True, "comment": b"by the lake"}):
        out.append(("gif", saved(Image.fromarray(colour), "GIF", **options)))
    frames = [Image.fromarray(clear).rotate(40 * i) for i in range(1, 4)]
    out.append(("gif", saved(Image.fromarray(clear), "GIF", save_all=True, append_images=frames,
                             disposal=2)))
    for pixels in (gray, colour, clear):
        for packed in (None, "tga_rle"):
            out.append(("tga", saved(Image.fromarray(pixels), "TGA", compression=packed)))
        out += [("jp2", saved(Image.fromarray(pixels), "JPEG2000", no_jp2=no_boxes))
                for no_boxes in (False, True)]
    out.append(("tga", saved(Image.fromarray(colour).quantize(40), "TGA")))
    for pixels, kind in ((gray, b"GRAYSCALE"), (colour, b"RGB"), (clear, b"RGB_ALPHA")):
        height, width = pixels.shape[:2]
        head = b"P7\nWIDTH %d\nHEIGHT %d\nDEPTH %d\nMAXVAL 255\nTUPLTYPE %s\nENDHDR\n"
        out.append(("pam", head % (width, height, pixels.size // (height * width), kind)
                    + pixels.tobytes()))
    note = [card("OBJECT", "lake"), card("HISTORY", text="bias taken away")]
    out += [("fits", hdu(values, extra=extra)) for values, extra in (
        (gray, ()), (gray.astype(np.float32) / 7, note), (gray.astype(np.uint16) * 200, ()),
        (gray, [card("BLANK", 7)]), (gray.astype(np.int64) - 50, note),
        (np.stack([gray, gray[::-1], gray]), ()))]
    out.append(("fits", hdu(gray) + hdu(gray.astype(np.float64), extension=True)))
    out += [("dng", dng(mosaic(26, 38), orientation, order)) for orientation, order in
            ((1, "<"), (6, "<"), (3, ">"))]
    for kind, planes in (("444", 3 * 13 * 19), ("444alpha", 4 * 13 * 19), ("420", 13 * 19 + 2 * 7 * 10), ("mono", 13 * 19)):
        frame = b"FRAME\n" + bytes(i * 7 % 251 for i in range(planes))
        out.append(("y4m", b"YUV4MPEG2 W19 H13 F25:1 Ip A1:1 C" + kind.encode() + b"\n" + 3 * frame))
    return out + zarrs(gray) + medical(gray, colour) + made_by_tools(gray, colour, clear)


def zarrs(gray):
    """ZIPs of Zarr 2 by Debian's zarr, and of Zarr 3 that are stored."""
    out = []
    for packing in (None, numcodecs.Zlib(), numcodecs.Zstd(), numcodecs.Blosc()):
        with tempfile.TemporaryDirectory(prefix="mutate-") as folder:
            name = os.path.join(folder, "a.zip")
            with zarr.ZipStore(name, mode="w") as store:
                made = zarr.create(gray.shape, chunks=(8, 9), dtype="<u2", compressor=packing, store=store)
                made[...] = gray
            with open(name, "rb") as file:
                out.append(("ozx", file.read()))
    stored = os.path.join(ROOT, "tests/data/zarr")
    for name in sorted(os.listdir(stored)):
        with open(os.path.join(stored, name), "rb") as file:
            out.append(("ozx", file.read()))
    return out


def medical(gray, colour):
    """NIfTIs, plain and in gzip files, and DICOMs, plain and packed."""
    volume = np.stack([gray, gray[::-1]]).astype(np.int16) * 100
    volumes = [nifti(volume, slope=2), nifti(volume, 2, ">"), nifti(colour, kind="rgb"),
               nifti(volume.astype(np.float32))]
    out = [("nii", data) for data in volumes] + [("gz", gzipped(data)) for data in volumes]
    window = {"WindowCenter": "40", "WindowWidth": "400", "RescaleIntercept": "-1024"}
    palette = {f"{name}PaletteColorLookupTable{field}": value
               for name in ("Red", "Green", "Blue")
               for field, value in (("Descriptor", [256, 0, 8]), ("Data", bytes(range(256))))}
    packed = [saved(Image.fromarray(gray), "JPEG2000", no_jp2=True) for _ in range(2)]
    jpegs = [saved(Image.fromarray(gray), "JPEG") for _ in range(2)]
    two = np.stack([gray, gray])
    made = [(gray, {}), (volume, {"stored": 12, **window}), (colour, {"photometric": "RGB"}),
            (gray, {"photometric": "PALETTE COLOR", **palette}),
            (volume, {"syntax": pydicom.uid.ExplicitVRBigEndian}),
            (volume, {"syntax": pydicom.uid.DeflatedExplicitVRLittleEndian}),
            (two, {"syntax": pydicom.uid.JPEG2000Lossless, "data": packed}),
            (two, {"syntax": pydicom.uid.JPEGBaseline8Bit, "data": jpegs})]
    for values, options in made:
        file = io.BytesIO()
        dicom(file, values, **options)
        out.append(("dcm", file.getvalue()))
    with open(get_testdata_file("MR_small_RLE.dcm"), "rb") as file:
        out.append(("dcm", file.read()))
    return out


def made_by_tools(gray, colour, clear):
    """Pictures of formats that Pillow does not write; without the tool that does, none."""
    out = []
    deep = gray.astype(np.uint16) * 251 + 3
    with tempfile.TemporaryDirectory(prefix="mutate-") as folder:
        path = lambda name: os.path.join(folder, name)
        for name, pixels in (("gray", gray), ("colour", colour), ("clear", clear), ("deep", deep)):
            Image.fromarray(pixels).save(path(f"{name}.png"))
        for kind, source, command in (
                ("jxl", "gray", "cjxl -q 100"), ("jxl", "clear", "cjxl -q 80 --container=1"),
                ("jxl", "deep", "cjxl -q 100"), ("avif", "gray", "avifenc -y 400"),
                ("avif", "clear", "avifenc --lossless"), ("avif", "colour", "avifenc -d 10"),
                ("heic", "gray", "heif-enc"), ("heic", "clear", "heif-enc -q 70"),
                ("heic", "colour", "heif-enc -t 16"), ("qoi", "colour", "ffmpeg -v error -i"),
                ("qoi", "clear", "ffmpeg -v error -i"), ("hdr", "colour", "oiiotool"),
                ("dpx", "colour", "oiiotool"), ("dpx", "clear", "oiiotool"),
                ("dpx", "deep", "oiiotool")):
            words, end = command.split(), f"{source}.{kind}"
            if shutil.which(words[0]) is None:
                continue
            done = subprocess.run([*words, path(f"{source}.png"),
                                   *(["-o"] if words[0] in ("heif-enc", "oiiotool") else []),
                                   path(end)], capture_output=True, check=False)
            if done.returncode == 0:
                with open(path(end), "rb") as file:
                    out.append((kind, file.read()))
    return out


def all_pictures(wanted):
    """Content by extension."""
    pictures = collections.defaultdict(list)
    folder = os.path.join(ROOT, "tests/data/io")
    for name in sorted(os.listdir(folder)):
        kind = {"pgm": "pnm", "ppm": "pnm", "pbm": "pnm"}.get(name.rsplit(".")[-1],
                                                               name.rsplit(".")[-1])
        path = os.path.join(folder, name)
        if kind in FORMATS and 0 < os.path.getsize(path) < 20_000:
            with open(path, "rb") as file:
                pictures[kind].append(file.read())
    for kind, data in made_pictures():
        pictures[kind].append(data)
    return {kind: pictures[kind] for kind in FORMATS
            if pictures[kind] and (not wanted or kind in wanted)}


# Damage without regard to the format.


def flip_bits(rng, data):
    for _ in range(rng.choice([1, 1, 2, 8, 30])):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return data


def set_bytes(rng, data):
    near = rng.choice([64, len(data)])
    for _ in range(rng.choice([1, 2, 4])):
        data[rng.randrange(min(near, len(data)))] = rng.choice([0, 1, 0x7f, 0x80, 0xfe, 0xff])
    return data


def set_number(rng, data):
    size, order = rng.choice([2, 4]), rng.choice("<>")
    if len(data) > size:
        at = rng.randrange(min(len(data) - size, rng.choice([64, 1 << 20])))
        value = rng.choice(ODD_NUMBERS) & ((1 << 8 * size) - 1)
        struct.pack_into(order + ("H" if size == 2 else "I"), data, at, value)
    return data


def truncate(rng, data):
    return data[:rng.randrange(len(data))]


def cut_out(rng, data):
    at = rng.randrange(len(data))
    return data[:at] + data[at + rng.choice([1, 2, 4, 16, 100]):]


def repeat(rng, data):
    at, count = rng.randrange(len(data)), rng.choice([1, 4, 12, 100])
    return data[:at + count] + data[at:]


# Damage by the format: parts left out, doubled, exchanged, and with other numbers in them.


def shuffle_parts(rng, parts):
    """Leaves out, doubles, moves or empties one of several parts."""
    if not parts:
        return parts
    i, how = rng.randrange(len(parts)), rng.randrange(4)
    if how == 0:
        return parts[:i] + parts[i + 1:]
    if how == 1:
        return parts[:i + 1] + parts[i:]
    parts[i], j = parts[rng.randrange(len(parts))], i
    return parts if how == 2 else parts[:j] + parts[j + 1:] + [parts[j]]


def damage_png(rng, data):
    """Chunks; their checksums are right afterwards, so that the damage is looked at."""
    chunks, at = [], 8
    while at + 12 <= len(data):
        length = struct.unpack_from(">I", data, at)[0]
        chunks.append([bytes(data[at + 4:at + 8]), bytearray(data[at + 8:at + 8 + length])])
        at += 12 + length
    if rng.random() < 0.5:
        chunks = shuffle_parts(rng, chunks)
    elif chunks:
        name, body = rng.choice(chunks)
        if name == b"IDAT" and rng.random() < 0.7:
            try:
                rows = bytearray(zlib.decompress(bytes(body)))
                body[:] = zlib.compress(bytes(rng.choice([flip_bits, truncate, repeat])(rng, rows)))
            except (zlib.error, ValueError):
                pass
        elif body:
            rng.choice([set_number, set_bytes, flip_bits])(rng, body)
    return data[:8] + b"".join(png_chunk(name, bytes(body)) for name, body in chunks)


def damage_jpg(rng, data):
    segments, at = [], 2
    while at + 4 <= len(data) and data[at] == 0xff and data[at + 1] != 0xda:
        length = struct.unpack_from(">H", data, at + 2)[0]
        segments.append(bytearray(data[at:at + 2 + length]))
        at += 2 + length
    rest = bytearray(data[at:])
    if rng.random() < 0.4:
        segments = shuffle_parts(rng, segments)
    else:
        part = rng.choice(segments + [rest])
        if part:
            rng.choice([set_number, set_bytes, flip_bits])(rng, part)
    return data[:2] + b"".join(segments) + rest


def damage_webp(rng, data):
    chunks, at = [], 12
    while at + 8 <= len(data):
        length = struct.unpack_from("<I", data, at + 4)[0]
        chunks.append(bytearray(data[at:at + 8 + length + length % 2]))
        at += 8 + length + length % 2
    if rng.random() < 0.4:
        chunks = shuffle_parts(rng, chunks)
    elif chunks:
        rng.choice([set_number, set_bytes, flip_bits])(rng, rng.choice(chunks))
    body = b"".join(chunks)
    return b"RIFF" + struct.pack("<I", 4 + len(body)) + b"WEBP" + body


def damage_tif(rng, data):
    """Entries of the first directory."""
    order = "<" if data[:2] == b"II" else ">"
    if len(data) < 16 or data[2:4] not in (b"*\0", b"\0*"):
        return set_number(rng, data)
    begin = struct.unpack_from(order + "I", data, 4)[0]
    if begin + 2 > len(data):
        return set_number(rng, data)
    count = struct.unpack_from(order + "H", data, begin)[0]
    end = begin + 2 + 12 * count
    entries = [bytearray(data[at:at + 12]) for at in range(begin + 2, end, 12)]
    if end + 4 > len(data) or not entries:
        return set_number(rng, data)
    for _ in range(rng.choice([1, 1, 2, 3])):
        if rng.random() < 0.3:
            entries = shuffle_parts(rng, [bytearray(entry) for entry in entries]) or entries
            continue
        entry, value = rng.choice(entries), rng.choice(ODD_NUMBERS)
        field = rng.randrange(4)
        if field == 0:
            struct.pack_into(order + "H", entry, 0, rng.choice(
                [254, 258, 259, 262, 266, 273, 277, 278, 279, 284, 317, 320, 322, 323, 324, 338,
                 339, 347, 530]))
        elif field == 1:
            struct.pack_into(order + "H", entry, 2, rng.randrange(19))
        elif field == 2:
            struct.pack_into(order + "I", entry, 4, value)
        elif rng.random() < 0.5:
            struct.pack_into(order + "I", entry, 8, value)
        else:
            struct.pack_into(order + "H", entry, 8, value & 0xffff)
    # A longer directory goes to the end, where there is room for it.
    directory = struct.pack(order + "H", len(entries)) + b"".join(entries) + data[end:end + 4]
    if len(entries) == count:
        return data[:begin] + directory + data[end + 4:]
    struct.pack_into(order + "I", data, 4, len(data))
    return data + directory


def boxes_of(data, begin, end):
    """Pairs of where a box of ISO's base media format begins and ends, those within others too."""
    out, at = [], begin
    while at + 8 <= end:
        length, kind = struct.unpack_from(">I4s", data, at)
        stop = at + length if 8 <= length <= end - at else end
        out.append((at, stop))
        inner = {b"meta": 12, b"iprp": 8, b"ipco": 8, b"iinf": 14, b"iref": 12, b"jp2h": 8,
                 b"res ": 8, b"moov": 8, b"trak": 8, b"mdia": 8}.get(kind)
        if inner:
            out += boxes_of(data, at + inner, stop)
        at = stop
    return out


def damage_boxes(rng, data):
    """A box is left out, doubled, renamed or has other numbers in it."""
    if data[4:8] not in (b"ftyp", b"jP  ", b"JXL "):
        return set_number(rng, data)
    begin, end = rng.choice(boxes_of(data, 0, len(data)))
    how = rng.randrange(5)
    if how == 0:
        return data[:begin] + data[end:]
    if how == 1:
        return data[:end] + data[begin:end] + data[end:]
    box = bytearray(data[begin:end])
    if how == 2:
        box[4:8] = rng.choice([b"free", b"uuid", b"auxl", b"dimg", b"thmb", b"irot", b"ispe", b"mdat",
                               b"xml ", b"jp2c", b"Exif", b"brob"])
    elif len(box) > 8:
        body = bytearray(box[8:])
        rng.choice([set_number, set_bytes, flip_bits])(rng, body)
        box[8:] = body
    return data[:begin] + box + data[end:]


def damage_text(rng, data):
    """A number of the header's text becomes another."""
    numbers = list(re.finditer(rb"\d+", bytes(data[:120])))
    if not numbers:
        return set_bytes(rng, data)
    found = rng.choice(numbers)
    return (data[:found.start()] + str(rng.choice(ODD_NUMBERS)).encode() + data[found.end():])


def damage_y4m(rng, data):
    """A word of the header is left out, doubled or moved, or there is another one."""
    end = bytes(data).find(b"\n")
    if end < 0 or rng.random() < 0.3:
        return damage_text(rng, data)
    words = bytes(data[:end]).split(b" ")
    if rng.random() < 0.3:
        words = words[:1] + shuffle_parts(rng, words[1:])
    else:
        more = rng.choice([b"Cmono", b"Cmono16", b"C444", b"C444alpha", b"C422p10", b"C420jpeg",
                           b"C411", b"W18", b"H12", b"Ib", b"A4:3", b"XCOLORRANGE=FULL"])
        words.insert(rng.randrange(1, len(words) + 1), more)
        if rng.random() < 0.5:
            words = [word for word in words if word is more or word[:1] != more[:1]]
    return b" ".join(words) + data[end:]


def damage_fits(rng, data):
    """The cards of the first header: one has another number, or they are shuffled."""
    end = bytes(data).find(b"END" + 77 * b" ")
    if end < 80 or rng.random() < 0.2:
        return damage_text(rng, data)
    cards = [bytes(data[at:at + 80]) for at in range(0, end, 80)]
    if rng.random() < 0.4:
        cards = shuffle_parts(rng, cards)
    else:
        i, value = rng.randrange(len(cards)), rng.choice([*ODD_NUMBERS, -1, -32, -64, "T", "1e300"])
        cards[i] = cards[i][:8] + f"= {value:>20}".ljust(72).encode()
    head = b"".join(cards) + b"END".ljust(80)
    return head.ljust(-(-len(head) // 2880) * 2880) + data[2880:]


BY_FORMAT = {"png": damage_png, "jpg": damage_jpg, "webp": damage_webp, "tif": damage_tif,
             "pnm": damage_text, "pfm": damage_text, "npy": damage_text, "hdr": damage_text,
             "avif": damage_boxes, "heic": damage_boxes, "jp2": damage_boxes,
             "jxl": damage_boxes, "fits": damage_fits, "dng": damage_tif, "y4m": damage_y4m}
ANYWHERE = [flip_bits, set_bytes, set_number, truncate, cut_out, repeat]


def mutated(rng, kind, pictures):
    data = bytearray(rng.choice(pictures))
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        if len(data) < 20:
            break
        damage = rng.choice([BY_FORMAT[kind]] * len(ANYWHERE) + ANYWHERE
                            if kind in BY_FORMAT else ANYWHERE)
        data = bytearray(damage(rng, data))
    return bytes(data)


# Runs.


def ending(path):
    """Of the output: one that holds all pages of such a file; of a stream each frame has a file."""
    kind = path.rsplit(".", 1)[-1]
    return "_{page}.npy" if kind == "y4m" else ".tif" if kind in PAGED else ".npy"


def check_output(path):
    if path.endswith(".npy"):
        np.load(path, allow_pickle=False)
        return
    with open(path, "rb") as file:
        data = file.read()
    order = "<" if data.startswith(b"II") else ">"
    at = struct.unpack_from(order + "I", data, 4)[0]
    while at:  # its directories
        count = struct.unpack_from(order + "H", data, at)[0]
        at = struct.unpack_from(order + "I", data, at + 2 + 12 * count)[0]


class Runner:
    def __init__(self, program, memory, timeout):
        self.program, self.timeout = os.path.abspath(program), timeout
        said = subprocess.run(["nm", "-D", self.program], capture_output=True, check=False).stdout
        self.sanitized = b"__asan_init" in said
        self.memory = (memory or (1500 if self.sanitized else 500)) << 20

    def limit(self):
        if not self.sanitized:  # whose shadow takes terabytes of addresses
            resource.setrlimit(resource.RLIMIT_AS, (4 * self.memory + (2 << 30),) * 2)

    def run(self, paths, out, fill):
        """The exit code (None: a hang), the most memory in KiB, and what was said."""
        settings = {**os.environ, "MALLOC_PERTURB_": str(fill), "IMPIPE_TEST_FILL": str(fill),
                    "ASAN_OPTIONS": f"max_malloc_fill_size=1073741824:malloc_fill_byte={fill}:"
                                    "detect_leaks=0:detect_container_overflow=0:"
                                    "allocator_may_return_null=1",
                    "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1"}
        command = [self.program, "rot90 0", *paths, "-o", os.path.join(out, "{stem}" + ending(paths[0])),
                   "--device", "cpu", "-j", "1", "--max-pixels", str(MAX_PIXELS)]
        with tempfile.TemporaryFile() as err:
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=err,
                                       env=settings, preexec_fn=self.limit)
            end = time.monotonic() + self.timeout
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            while pid == 0 and time.monotonic() < end:
                time.sleep(0.005)
                pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid == 0:
                process.kill()
                _, _, usage = os.wait4(process.pid, 0)
            code = process.returncode = os.waitstatus_to_exitcode(status) if pid else -1
            err.seek(0)
            said = err.read().decode(errors="replace")
            return code if pid else None, usage.ru_maxrss, said

    def complaints(self, paths, folder):
        """What is wrong with a run over these files; an empty list when nothing is."""
        results = []
        for fill in (0x5a, 0xa5):
            out = os.path.join(folder, f"out{fill}")
            shutil.rmtree(out, ignore_errors=True)
            os.mkdir(out)
            code, peak, said = self.run(paths, out, fill)
            wrong = self.check_run(paths, out, code, said)
            if peak << 10 > self.memory:
                wrong.append(f"memory: {peak >> 10} MiB")
            if wrong:
                return wrong, said
            results.append({name: self.content(out, name) for name in os.listdir(out)})
        if results[0] != results[1] and paths[0].rsplit(".", 1)[-1] not in UNWRITTEN:
            differ = [name for name in results[0] if results[0][name] != results[1].get(name)]
            return [f"bytes that were never written: {' '.join(differ)}"], said
        return [], said

    @staticmethod
    def content(out, name):
        with open(os.path.join(out, name), "rb") as file:
            return file.read()

    @staticmethod
    def check_run(paths, out, code, said):
        if code is None:
            return ["hang"]
        if "Sanitizer" in said or "runtime error" in said:
            return ["sanitizer report"]
        if code not in (0, 1):
            return [f"crash: exit {code}"]
        wrong = []
        failed = 0
        written = set(os.listdir(out))
        for path in paths:
            stem, kind = os.path.basename(path).rsplit(".", 1)
            names = sorted(name for name in written if re.split("[._]", name)[0] == stem)
            lines = [line for line in said.splitlines() if line.startswith(f"impipe: {path}: ")]
            errors = [line for line in lines if re.search(r": (read|decode|plan|compute|encode): \S", line)]
            failed += bool(errors)
            # Of a stream the frames before an error are there.
            if not errors and not names or len(errors) > 1 or errors and names and kind != "y4m":
                wrong.append(f"{os.path.basename(path)}: {len(errors)} errors, "
                             f"{len(names)} outputs")
            for name in names:
                try:
                    check_output(os.path.join(out, name))
                except (ValueError, OSError, EOFError, struct.error) as error:
                    wrong.append(f"partial output {name}: {error}")
                written.remove(name)
        wrong += [f"left behind: {name}" for name in sorted(written)]
        if code != (1 if failed else 0):
            wrong.append(f"exit {code} with {failed} errors")
        return wrong


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("seed", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--format", action="append", choices=FORMATS, metavar="EXT",
                        help="only this format; may be given again (" + " ".join(FORMATS) + ")")
    parser.add_argument("--impipe", default=os.path.join(ROOT, "build/ci/src/cli/impipe"))
    parser.add_argument("--memory", type=int, metavar="MIB",
                        help="most resident memory of a run (500; 1500 of a sanitizer build)")
    parser.add_argument("--timeout", type=float, default=120, help="seconds for a batch")
    parser.add_argument("--batch", type=int, default=50, help="files a process")
    parser.add_argument("--out", default="mutated-offenders", help="folder for offenders")
    return parser.parse_args()


def keep(out, number, path, wrong, said):
    os.makedirs(out, exist_ok=True)
    name = os.path.join(out, f"{number:03}-{os.path.basename(path)}")
    shutil.copy(path, name)
    with open(name + ".txt", "w", encoding="utf-8") as file:
        file.write("\n".join(wrong) + "\n" + said)
    print(f"{name}: {'; '.join(wrong)}")


def main():
    options = arguments()
    runner = Runner(options.impipe, options.memory, options.timeout)
    pictures = all_pictures(options.format)
    kinds = list(pictures)
    offenders = read = 0
    counts = collections.Counter()
    with tempfile.TemporaryDirectory(prefix="mutate-") as folder:
        for begin in range(0, options.count, options.batch):
            paths = []
            for i in range(begin, min(begin + options.batch, options.count)):
                rng = random.Random(f"{options.seed} {i}")
                # One format a batch: OpenCV's module takes long to load.
                kind = kinds[begin // options.batch % len(kinds)]
                counts[kind] += 1
                paths.append(os.path.join(folder, f"{i:06}.{kind}"))
                with open(paths[-1], "wb") as file:
                    file.write(mutated(rng, kind, pictures[kind]))
            wrong, said = runner.complaints(paths, folder)
            if wrong:
                found = 0
                for path in paths:
                    alone, said_alone = runner.complaints([path], folder)
                    if alone:
                        found += 1
                        keep(options.out, offenders + found, path, alone, said_alone)
                if found == 0:  # only together
                    found = 1
                    keep(options.out, offenders + found, paths[0], ["in a batch"] + wrong, said)
                offenders += found
            read += len(os.listdir(os.path.join(folder, "out165")) if os.path.isdir(
                os.path.join(folder, "out165")) else [])
            for path in paths:
                os.remove(path)
    by_kind = ", ".join(f"{kind} {counts[kind]}" for kind in kinds)
    print(f"{options.count} files ({by_kind}): {read} read, {offenders} offenders")
    return 1 if offenders else 0


if __name__ == "__main__":
    sys.exit(main())
