#!/usr/bin/env python3
"""Times a card's deflate and inflate, impipe's and nvCOMP's, over the same chunks.

usage: scripts/gpu_codecs.py IMPIPE NVCOMP [DEVICE]
NVCOMP: scripts/peers/nvcomp.cu, compiled; its library in LD_LIBRARY_PATH. Makes pictures in /dev/shm:
EXRs of halves in ZIP, TIFFs of uint16 in deflate with predictor 2, PNGs of one filter, as Pillow
writes photographs, and of drawings, and one of 6000x4000 in colour. impipe's times are those of its
profile: from packed bytes on the card to pixels there, and back; nvCOMP's of deflate alone. With
ncu, each kernel alone: its part of the time, its speed, and how busy the card was.
"""
import csv
import io
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

import numpy as np
from PIL import Image


def field(height, width, seed):
    """Smooth surfaces of four scales with grain, about 0 to 255."""
    rng = np.random.default_rng(seed)
    out = np.zeros((height, width), np.float32)
    for cells in (8, 32, 128, 512):
        nodes = rng.standard_normal((cells, cells)).astype(np.float32)
        y, x = (np.linspace(0, cells - 1.001, n) for n in (height, width))
        j, i = y.astype(int), x.astype(int)
        v, u = (y - j)[:, None].astype(np.float32), (x - i)[None].astype(np.float32)
        low = nodes[j][:, i] * (1 - u) + nodes[j][:, i + 1] * u
        high = nodes[j + 1][:, i] * (1 - u) + nodes[j + 1][:, i + 1] * u
        out += (low * (1 - v) + high * v) * (8 / np.sqrt(cells))
    return out * 20 + 118 + rng.normal(0, 2, (height, width)).astype(np.float32)


def bytes_of(pixels):
    return np.clip(pixels, 0, 255).astype(np.uint8)


def drawing(seed):
    rng = np.random.default_rng(seed)
    out = np.full((2048, 2048), 255, np.uint8)
    for _ in range(300):
        y, x = rng.integers(0, 2000, 2)
        height, width = rng.integers(4, 200, 2)
        out[y:y + height, x:x + width] = rng.integers(0, 16) * 16
    return out


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_of_up(pixels):
    """A PNG whose rows all have the filter Up, by zlib's level 6."""
    rows = np.pad(np.diff(pixels.astype(np.int16), axis=0, prepend=0).astype(np.uint8),
                  ((0, 0), (1, 0)), constant_values=2)
    height, width = pixels.shape
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head)
            + chunk(b"IDAT", zlib.compress(rows.tobytes(), 6)) + chunk(b"IEND", b""))


def exr(planes, names=("B", "G", "R")):
    """Channels of halves, in the order of their names, in ZIP of zlib's level 4."""
    height, width = planes.shape[1:]
    def attribute(name, kind, value):
        return name + b"\0" + kind + b"\0" + struct.pack("<I", len(value)) + value
    channels = b"".join(name.encode() + b"\0" + struct.pack("<4I", 1, 0, 1, 1) for name in names)
    window = struct.pack("<4i", 0, 0, width - 1, height - 1)
    head = (struct.pack("<II", 20000630, 2) + attribute(b"channels", b"chlist", channels + b"\0")
            + attribute(b"compression", b"compression", b"\3")
            + attribute(b"dataWindow", b"box2i", window)
            + attribute(b"displayWindow", b"box2i", window)
            + attribute(b"lineOrder", b"lineOrder", b"\0")
            + attribute(b"pixelAspectRatio", b"float", struct.pack("<f", 1))
            + attribute(b"screenWindowCenter", b"v2f", bytes(8))
            + attribute(b"screenWindowWidth", b"float", struct.pack("<f", 1)) + b"\0")
    rows = planes.astype("<f2").transpose(1, 0, 2)  # rows, channels, columns
    blocks = []
    for y in range(0, height, 16):
        data = np.frombuffer(rows[y:y + 16].tobytes(), np.uint8)
        data = np.concatenate([data[0::2], data[1::2]])
        data = np.concatenate([data[:1], data[1:] - data[:-1] + np.uint8(128)])
        packed = zlib.compress(data.tobytes(), 4)
        blocks.append(struct.pack("<iI", y, len(packed)) + packed)
    places = np.cumsum([len(head) + 8 * len(blocks)] + [len(b) for b in blocks[:-1]])
    return head + places.astype("<u8").tobytes() + b"".join(blocks)


def tiff(pixels):
    """Strips of 16 rows of uint16, predictor 2, zlib's level 6."""
    height, width = pixels.shape
    strips = []
    for y in range(0, height, 16):
        rows = np.diff(pixels[y:y + 16], axis=1, prepend=np.uint16(0)).astype("<u2")
        strips.append(zlib.compress(rows.tobytes(), 6))
    sizes = [len(s) for s in strips]
    lists = 8 + sum(sizes)
    places = np.cumsum([8] + sizes[:-1])
    end = lists + 8 * len(strips)
    tags = [(256, 4, 1, width), (257, 4, 1, height), (258, 3, 1, 16), (259, 3, 1, 8),
            (262, 3, 1, 1), (273, 4, len(strips), lists), (277, 3, 1, 1), (278, 4, 1, 16),
            (279, 4, len(strips), lists + 4 * len(strips)), (317, 3, 1, 2)]
    directory = struct.pack("<H", len(tags)) + b"".join(struct.pack("<HHII", *t) for t in tags)
    return (struct.pack("<2sHI", b"II", 42, end) + b"".join(strips)
            + places.astype("<u4").tobytes() + np.array(sizes, "<u4").tobytes()
            + directory + bytes(4))


def streams_of(name, data):
    """The zlib streams of a file made here."""
    if name.endswith(".png"):
        at, stream = 8, b""
        while at < len(data):
            length, kind = struct.unpack(">I4s", data[at:at + 8])
            if kind == b"IDAT":
                stream += data[at + 8:at + 8 + length]
            at += 12 + length
        return [stream]
    if name.endswith(".exr"):
        count = (1080 + 15) // 16
        at = data.index(b"screenWindowWidth\0") + len(b"screenWindowWidth\0float\0") + 8 + 1
        out = []
        for place in struct.unpack_from(f"<{count}Q", data, at):
            length, = struct.unpack_from("<I", data, place + 4)
            out.append(data[place + 8:place + 8 + length])
        return out
    lists, = struct.unpack_from("<I", data, 4)
    count = 128
    places = struct.unpack_from(f"<{count}I", data, lists - 8 * count)
    sizes = struct.unpack_from(f"<{count}I", data, lists - 4 * count)
    return [data[a:a + n] for a, n in zip(places, sizes)]


def as_png(pixels):
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    return file.getvalue()


def make(work):
    """Folders of four different files each, and the chunks of all of them."""
    big = bytes_of(np.stack([field(4000, 6000, 7) + 0.12 * field(4000, 6000, 8 + c)
                             for c in range(3)], 2))
    sets = {"exr": (16, [exr(np.stack([field(1080, 1920, 3 * s + c) for c in range(3)]) / 255)
                         for s in range(4)]),
            "tif": (16, [tiff((np.clip(field(2048, 2048, s), 0, 255) * 200).astype(np.uint16))
                         for s in range(4)]),
            "png-up": (64, [png_of_up(bytes_of(field(2048, 2048, s))) for s in range(4)]),
            "png-pillow": (64, [as_png(bytes_of(field(2048, 2048, s))) for s in range(4)]),
            "png-drawn": (64, [as_png(drawing(s)) for s in range(4)]),
            "png-72-mb": (4, [as_png(big)])}
    for name, (count, files) in sets.items():
        kind = name[:3]
        os.mkdir(f"{work}/{name}")
        chunks = []
        for i in range(count):
            data = files[i % len(files)]
            with open(f"{work}/{name}/{i:02}.{kind}", "wb") as file:
                file.write(data)
            if i < (1 if name == "png-72-mb" else count):
                chunks += streams_of(f"x.{kind}", data)
        whole = [zlib.decompress(c) for c in chunks]
        with open(f"{work}/{name}.set", "wb") as file:
            file.write(struct.pack("<I", len(chunks)))
            file.write(np.array([[len(c) - 6, len(w)] for c, w in zip(chunks, whole)],
                                np.uint32).tobytes())
            for one in chunks:
                file.write(one[2:-4])  # raw deflate
            for one in whole:
                file.write(one)
        packed, unpacked = sum(map(len, chunks)), sum(map(len, whole))
        again = sum(len(zlib.compress(w, 6)) for w in whole[:68])
        best = sum(map(len, whole[:68])) / again
        four = sum(map(len, whole[:68])) / sum(len(zlib.compress(w, 4)) for w in whole[:68])
        print(f"{name}: {count} files, {len(chunks)} chunks, {unpacked / 1e6:.0f} MB; as they are "
              f"{unpacked / packed:.3f}, zlib 4 {four:.3f}, zlib 6 {best:.3f}", flush=True)
        yield name, unpacked / (1 if name == "png-72-mb" else count)


COUNTERS = {"us": "gpu__time_duration.sum",
            "warps": "sm__warps_active.avg.pct_of_peak_sustained_active",
            "issue": "smsp__issue_active.avg.pct_of_peak_sustained_active",
            "alu": "sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active",
            "lsu": "sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active",
            "dram": "dram__throughput.avg.pct_of_peak_sustained_elapsed",
            "long": "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio",
            "short": "smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio",
            "barrier": "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio"}


def kernels_alone(command, unpacked):
    """Of a run of `unpacked` bytes, a line a kernel; counters are means over its time."""
    said = subprocess.run(
        ["ncu", "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none",
         "--metrics", ",".join(COUNTERS.values())] + command, capture_output=True, text=True)
    lines = [line for line in said.stdout.splitlines() if line.startswith('"')]
    kernels = {}
    for row in list(csv.DictReader(lines))[1:]:
        one = {key: float(row[metric].replace(",", "")) for key, metric in COUNTERS.items()}
        kernels.setdefault(row["Kernel Name"], []).append(one)
    for name, launches in sorted(kernels.items()):
        ns = sum(one["us"] for one in launches)
        means = " ".join(f"{key} {sum(one[key] * one['us'] for one in launches) / ns:.1f}"
                         for key in COUNTERS if key != "us")
        print(f"  {name:22} {len(launches):3} launches {ns / 1e3:9.1f} us "
              f"{unpacked / ns:7.1f} GB/s  {means}", flush=True)
    if not kernels:
        print(said.stdout[-300:], said.stderr[-300:])


def main():
    program, nvcomp = sys.argv[1:3]
    device = sys.argv[3] if len(sys.argv) > 3 else "cuda:0"
    with tempfile.TemporaryDirectory(dir="/dev/shm") as work:
        each = dict(make(work))
        os.environ["XDG_CACHE_HOME"] = f"{work}/cache"
        for name, unpacked in each.items():
            best = {}
            for _ in range(4):
                said = subprocess.run(
                    [program, "", f"{work}/{name}", "-o", f"{work}/out", "--device",
                     device, "--codec", "device", "--profile"], capture_output=True, text=True)
                if said.returncode != 0:
                    print(said.stderr[-500:])
                for us, what in re.findall(r"^ *([\d.]+) .* (decode|encode)  \[codec\]", said.stderr,
                                           re.M):
                    best[what] = min(best.get(what, 1e12), float(us))
                sizes = sum(os.path.getsize(os.path.join(work, "out", f))
                            for f in os.listdir(f"{work}/out"))
                files = len(os.listdir(f"{work}/out"))
                subprocess.run(["rm", "-rf", f"{work}/out"])
            print(f"{name}: impipe decodes a file in {best['decode']:.0f} us, "
                  f"{unpacked / best['decode'] / 1e3:.2f} GB/s, encodes in {best['encode']:.0f} us, "
                  f"{unpacked / best['encode'] / 1e3:.2f} GB/s, ratio "
                  f"{files * unpacked / sizes:.3f}", flush=True)
            if shutil.which("ncu"):
                kernels_alone([program, "", f"{work}/{name}", "-o", f"{work}/out", "--device",
                               device, "--codec", "device"], files * unpacked)
                subprocess.run(["rm", "-rf", f"{work}/out"])
        if os.path.exists(nvcomp):
            subprocess.run([nvcomp] + [f"{name}.set" for name in each], cwd=work)


if __name__ == "__main__":
    main()
