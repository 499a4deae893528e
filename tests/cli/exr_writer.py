"""Makes EXR files byte for byte, of one part or several, so that each pixel is known, and takes them
apart."""
import struct
import zlib

import numpy as np

UINT, HALF, FLOAT = 0, 1, 2
WORDS = {UINT: "<u4", HALF: "<f2", FLOAT: "<f4"}
NONE, ZIPS = 0, 2


def attribute(name, kind, value):
    return name.encode() + b"\0" + kind.encode() + b"\0" + struct.pack("<I", len(value)) + value


def box(left, top, width, height):
    return struct.pack("<4i", left, top, left + width - 1, top + height - 1)


def zipped(data):
    """EXR's ZIP: bytes of even places before those of odd ones, differences, deflate."""
    ordered = np.frombuffer(data[::2] + data[1::2], np.uint8).astype(np.int64)
    ordered[1:] = (ordered[1:] - ordered[:-1] + 128) % 256
    packed = zlib.compress(ordered.astype(np.uint8).tobytes())
    return packed if len(packed) < len(data) else data


def header_of(channels, size, window=None, display=None, compression=NONE, aspect=1.0, extra=b"",
              order=0):
    """channels: {name: (type, pixels)}, or with the steps of a subsampled one after them."""
    left, top = window or (0, 0)
    lines = b"".join(name.encode() + b"\0" + struct.pack("<IIII", c[0], 0, *(c[2:] or (1, 1)))
                     for name, c in sorted(channels.items())) + b"\0"
    return (attribute("channels", "chlist", lines)
            + attribute("compression", "compression", bytes([compression]))
            + attribute("dataWindow", "box2i", box(left, top, *size))
            + attribute("displayWindow", "box2i", box(*(display or (left, top, *size))))
            + attribute("lineOrder", "lineOrder", bytes([order]))
            + attribute("pixelAspectRatio", "float", struct.pack("<f", aspect))
            + attribute("screenWindowCenter", "v2f", bytes(8))
            + attribute("screenWindowWidth", "float", struct.pack("<f", 1)) + extra + b"\0")


def exr(channels, size=(7, 5), flags=0, **fields):
    """A file of scan lines, one a chunk."""
    head = struct.pack("<II", 20000630, 2 | flags) + header_of(channels, size, **fields)
    top = (fields.get("window") or (0, 0))[1]
    chunks = []
    for y in range(size[1]):
        row = b""
        for _, (kind, pixels, *steps) in sorted(channels.items()):
            if y % (steps or (1, 1))[1] == 0:
                row += np.asarray(pixels)[y // (steps or (1, 1))[1]].astype(WORDS[kind]).tobytes()
        if fields.get("compression") == ZIPS:
            row = zipped(row)
        chunks.append(struct.pack("<iI", top + y, len(row)) + row)
    places = np.cumsum([len(head) + 8 * len(chunks)] + [len(c) for c in chunks[:-1]])
    return head + places.astype("<u8").tobytes() + b"".join(chunks)


def read_header(path):
    """{attribute: value}, the channels as {name: type}."""
    with open(path, "rb") as file:
        data = file.read()
    at, found = 8, {}
    while data[at]:
        name, kind = (data[at:].split(b"\0", 2)[i].decode() for i in range(2))
        at += len(name) + len(kind) + 2
        count, = struct.unpack_from("<I", data, at)
        value = data[at + 4:at + 4 + count]
        at += 4 + count
        if kind == "chlist":
            channels = {}
            while value[0]:
                channel, value = value.split(b"\0", 1)
                channels[channel.decode()], = struct.unpack_from("<I", value)
                value = value[16:]
            value = channels
        found[name] = value
    return found



PARTS, DEEP, LONG_NAMES = 0x1000, 0x800, 0x400


def parts(*made):
    """A file of several parts, each (header with name and type, chunks without a part's number)."""
    flags = PARTS | LONG_NAMES | (DEEP if any(b"deepscanline" in head for head, _ in made) else 0)
    heads = b"".join(head[:-1] + attribute("chunkCount", "int", struct.pack("<i", len(chunks))) + b"\0"
                     for head, chunks in made)
    out = struct.pack("<II", 20000630, 2 | flags) + heads + b"\0"
    at = len(out) + 8 * sum(len(chunks) for _, chunks in made)
    places, bodies = [], []
    for number, (_, chunks) in enumerate(made):
        for chunk in chunks:
            places.append(at)
            bodies.append(struct.pack("<i", number) + chunk)
            at += len(bodies[-1])
    return out + struct.pack(f"<{len(places)}Q", *places) + b"".join(bodies)


def text(name, value):
    return attribute(name, "string", value.encode())


def part(name, channels, size=(7, 5), extra=b"", **fields):
    """A part of scan lines without compression, for `parts`."""
    single = exr(channels, size, extra=extra + text("name", name) + text("type", "scanlineimage"),
                 **fields)
    head = header_of(channels, size, extra=extra + text("name", name) + text("type", "scanlineimage"),
                     **fields)
    places = struct.unpack_from(f"<{size[1]}Q", single, 8 + len(head))
    return head, [single[a:b] for a, b in zip(places, (*places[1:], len(single)))]


def deep_part(name, samples, size=(7, 5), extra=b""):
    """A part of deep scan lines with a channel Z; samples: the floats of each pixel."""
    channels = {"Z": (FLOAT, None)}
    head = header_of(channels, size, extra=extra + text("name", name) + text("type", "deepscanline")
                     + attribute("version", "int", struct.pack("<i", 1)))
    chunks = []
    for y in range(size[1]):
        counts = np.cumsum([len(s) for s in samples[y]]).astype("<i4").tobytes()
        data = b"".join(np.asarray(s, "<f4").tobytes() for s in samples[y])
        chunks.append(struct.pack("<iQQQ", y, len(counts), len(data), len(data)) + counts + data)
    return head, chunks


def tiled(channels, size, tile, levels=0, rounding=0, order=0, extra=b"", flags=0x200):
    """A file of tiles, without compression. channels: {name: (type, {(lx, ly): pixels})}."""
    kind = attribute("tiles", "tiledesc", struct.pack("<IIB", *tile, levels | rounding << 4))
    head = header_of({n: c[:1] + (None,) for n, c in channels.items()}, size, order=order,
                     extra=extra + kind)
    names = sorted(channels)
    places = sorted(channels[names[0]][1], key=lambda l: (l[1], l[0]))
    chunks = []
    for lx, ly in places:
        height, width = channels[names[0]][1][lx, ly].shape
        for y in range(0, height, tile[1]):
            for x in range(0, width, tile[0]):
                rows = b"".join(
                    channels[n][1][lx, ly][row, x:x + tile[0]].astype(WORDS[channels[n][0]]).tobytes()
                    for row in range(y, min(y + tile[1], height)) for n in names)
                chunks.append(struct.pack("<iiiiI", x // tile[0], y // tile[1], lx, ly, len(rows)) + rows)
    out = struct.pack("<II", 20000630, 2 | flags) + head
    at = len(out) + 8 * len(chunks)
    offsets = np.cumsum([at] + [len(c) for c in chunks[:-1]]).astype("<u8").tobytes()
    return out + offsets + b"".join(chunks)


def take_apart(data):
    """Of a file of parts [{"header": {name: value}, "chunks": [bytes], "channels": {name: type}}];
    of a file of one part the same, of one."""
    flags, = struct.unpack_from("<I", data, 4)
    at, out = 8, []
    while True:
        if (flags & PARTS and data[at] == 0) or (not flags & PARTS and out):
            break
        found = {}
        while data[at]:
            name, kind = (data[at:].split(b"\0", 2)[i].decode() for i in range(2))
            at += len(name) + len(kind) + 2
            count, = struct.unpack_from("<I", data, at)
            found[name] = data[at + 4:at + 4 + count]
            at += 4 + count
        at += 1
        channels, value = {}, found["channels"]
        while value[0]:
            channel, value = value.split(b"\0", 1)
            channels[channel.decode()], = struct.unpack_from("<I", value)
            value = value[16:]
        out.append({"header": found, "channels": channels, "chunks": []})
    at += 1 if flags & PARTS else 0
    for number, one in enumerate(out):
        one["places"] = struct.unpack_from(f"<{chunk_count(one)}Q", data, at)
        at += 8 * len(one["places"])
        for place in one["places"]:
            if flags & PARTS:
                assert struct.unpack_from("<i", data, place) == (number,)
                place += 4
            kind = one["header"].get("type", b"")
            head = 16 if "tiles" in one["header"] else 4
            if kind.startswith(b"deep"):
                sizes = struct.unpack_from("<QQ", data, place + head)
                length = head + 24 + sum(sizes)
            else:
                length = head + 4 + struct.unpack_from("<I", data, place + head)[0]
            one["chunks"].append(data[place:place + length])
    return out


def chunk_count(one):
    header = one["header"]
    if "chunkCount" in header:
        return struct.unpack("<i", header["chunkCount"])[0]
    left, top, right, bottom = struct.unpack("<4i", header["dataWindow"])
    if "tiles" not in header:
        rows = {NONE: 1, ZIPS: 1, 3: 16, 4: 32}[header["compression"][0]]
        return -(-(bottom - top + 1) // rows)
    width, height, kind = struct.unpack("<IIB", header["tiles"])
    return sum(-(-w // width) * -(-h // height)
               for w, h in level_sizes(right - left + 1, bottom - top + 1, kind & 15, kind >> 4))


def level_sizes(width, height, levels, rounding):
    """The sizes of all levels, in the order of the file."""
    def halve(side):
        return max(1, (side + rounding) // 2)

    def sides(side):
        out = [side]
        while out[-1] > 1:
            out.append(halve(out[-1]))
        return out
    if levels == 0:
        return [(width, height)]
    across, down = sides(width), sides(height)
    if levels == 2:
        return [(w, h) for h in down for w in across]
    count = max(len(across), len(down))
    across += [1] * (count - len(across))
    down += [1] * (count - len(down))
    return list(zip(across, down))


def pixels_of(one, channel, size=(7, 5)):
    """The pixels of a channel of a part of lines without compression, in its own type."""
    names = sorted(one["channels"])
    rows = []
    for chunk in one["chunks"]:
        at = 8
        for name in names:
            width = size[0] * np.dtype(WORDS[one["channels"][name]]).itemsize
            if name == channel:
                rows.append(np.frombuffer(chunk[at:at + width], WORDS[one["channels"][name]]))
            at += width
    return np.stack(rows)
