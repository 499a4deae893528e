#!/usr/bin/env python3
"""Random lossless pictures have the pixels on a device that they have on the CPU.

    scripts/random_pictures.py [--seed N] [--device opencl:0] [--encode | --damaged] [COUNT]

Other programs write COUNT pictures (5,000) of the kinds that a device decodes, into a folder that
goes away where all is well: PNG by Pillow and netpbm, TIFF by tifffile and libtiff (OpenImageIO),
EXR by OpenImageIO. `impipe '' DIR -n --hash` with --codec cpu and with --codec device has to print
the same lines. --encode: the results, too, as files that the CPU reads. --damaged: some bytes of
each are changed, or it ends too early; what is said of it is compared. Exit 1 where lines differ.
Needs the Python packages numpy, pillow, tifffile, imagecodecs and OpenImageIO, and pnmtopng.
"""
import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import OpenImageIO as oiio
import tifffile
from PIL import Image

PROGRAM = os.environ.get("IMPIPE", "build/ci/src/cli/impipe")
SIDES = (1, 2, 3, 7, 8, 9, 15, 31, 33, 64, 65, 127, 130, 200, 333)


def samples(rng, height, width, channels, top):
    """Numbers from 0 to `top`: smooth, drawn, flat or random, which pack differently."""
    y, x, c = np.mgrid[0:height, 0:width, 0:channels]
    kind = rng.randrange(4)
    if kind == 0:
        values = (np.sin(x / 17 + c) + np.cos(y / 23) + 2) / 4 * top
        values = values + np.random.default_rng(rng.getrandbits(32)).normal(0, top / 90, x.shape)
    elif kind == 1:
        values = ((x // 9 + y // 7 + c) % 5) / 4 * top
    elif kind == 2:
        values = np.full(x.shape, rng.random() * top)
    else:
        values = np.random.default_rng(rng.getrandbits(32)).random(x.shape) * top
    values = np.clip(values, 0, top)
    if channels in (2, 4) and rng.random() < 0.7:  # nothing to be seen in a part
        values[:height // 2, :width // 3, -1] = 0
    return values


def png(rng, path, height, width):
    kind = rng.choice(("gray", "gray16", "few", "LA", "RGB", "RGBA", "wide", "P", "P"))
    options = {"compress_level": rng.randrange(10)}
    if kind == "few":
        bits = rng.choice((1, 2, 4))
        pixels = np.rint(samples(rng, height, width, 1, (1 << bits) - 1)).astype(np.uint8)
        pgm = b"P5 %d %d %d\n" % (width, height, (1 << bits) - 1) + pixels.tobytes()
        with open(path, "wb") as file:
            subprocess.run(["pnmtopng", "-quiet"], input=pgm, stdout=file, check=True)
    elif kind == "wide":
        channels = rng.choice((2, 3, 4))
        write_oiio(path, samples(rng, height, width, channels, 65535).astype(np.uint16), "uint16")
    elif kind == "P":
        bits = rng.choice((1, 2, 4, 8))
        entries = rng.randint(1, 1 << bits)
        pixels = np.rint(samples(rng, height, width, 1, entries - 1)).astype(np.uint8)
        picture = Image.fromarray(pixels[..., 0], "P")
        picture.putpalette(rng.randbytes(3 * entries))
        if rng.random() < 0.5:
            options["transparency"] = rng.randbytes(rng.randint(1, entries))
        picture.save(path, bits=bits, **options)
    else:
        channels = {"gray": 1, "gray16": 1, "LA": 2, "RGB": 3, "RGBA": 4}[kind]
        top, number = (65535, np.uint16) if kind == "gray16" else (255, np.uint8)
        pixels = samples(rng, height, width, channels, top).astype(number)
        Image.fromarray(pixels[..., 0] if channels == 1 else pixels).save(path, **options)


def write_oiio(path, pixels, kind, **attributes):
    height, width, channels = pixels.shape
    spec = oiio.ImageSpec(width, height, channels, kind)
    if channels in (2, 4):
        spec.channelnames = ("Y", "A") if channels == 2 else ("R", "G", "B", "A")
        spec.alpha_channel = channels - 1
    if channels == 7:  # of which some are not the picture's
        spec.channelnames = ("R", "G", "B", "A", "N.x", "N.y", "Z")
        spec.alpha_channel = 3
    tile = attributes.pop("tile", None)
    if tile:
        spec.tile_width, spec.tile_height = tile
    for name, value in attributes.items():
        spec.attribute(name.replace("__", ":"), value)
    out = oiio.ImageOutput.create(path)
    if not (out and out.open(path, spec) and out.write_image(pixels) and out.close()):
        sys.exit(f"{path}: {oiio.geterror() or out.geterror()}")


def tiff(rng, path, height, width):
    if rng.random() < 0.4:
        return tiff_by_libtiff(rng, path, height, width)
    bits = rng.choice((1, 8, 8, 16, 16, "half", "float", "palette", "int16", "uint32"))
    options = {"byteorder": rng.choice("<>"), "metadata": None,
               "compression": rng.choice((None, "packbits", "lzw", "deflate"))}
    if rng.random() < 0.4:
        options["tile"] = (16 * rng.randint(1, 5), 16 * rng.randint(1, 5))
    else:
        options["rowsperstrip"] = rng.randint(1, height)
    is_counted = bits in ("int16", "uint32")  # which have no white, and thus no alpha
    channels = rng.choice((1, 3) if is_counted else (1, 1, 2, 3, 4, 5))
    channels = 1 if bits in (1, "palette") else channels
    if channels > 1:
        options["planarconfig"] = rng.choice(("contig", "separate"))
        beside = channels - (3 if channels > 2 else 1)
        kinds = ["unspecified"] * beside
        if beside == 1:
            kinds[0] = rng.choice(("unspecified", "unassalpha", "assocalpha"))
        options["extrasamples"] = kinds
    if bits == "palette":
        options["photometric"] = "palette"
        options["colormap"] = np.frombuffer(rng.randbytes(1536), np.uint16).reshape(3, 256)
    else:
        both = bits in (1, 8, 16)
        gray = rng.choice(("minisblack", "miniswhite")) if both else "minisblack"
        options["photometric"] = "rgb" if channels > 2 else gray
    number = {1: bool, 8: np.uint8, 16: np.uint16, "half": np.float16, "float": np.float32,
              "palette": np.uint8, "int16": np.int16, "uint32": np.uint32}[bits]
    is_float = bits in ("half", "float")
    top = 1 if bits == 1 or is_float else min(np.iinfo(number).max, 1 << 24)
    if options["compression"] in ("lzw", "deflate") and bits not in (1, "palette"):
        options["predictor"] = rng.choice((1, 3)) if is_float else rng.choice((1, 2))
    pixels = samples(rng, height, width, channels, top)
    pixels = (np.rint(pixels) if bits == 1 else pixels).astype(number)
    if channels == 1:
        pixels = pixels[..., 0]
    elif options["planarconfig"] == "separate":
        pixels = np.moveaxis(pixels, -1, 0)
    tifffile.imwrite(path, pixels, **options)
    return None


def tiff_by_libtiff(rng, path, height, width):
    kind = rng.choice(("uint8", "uint16", "half", "float"))
    channels = rng.choice((1, 2, 3, 4))
    attributes = {"compression": rng.choice(("none", "packbits", "lzw", "zip")),
                  "planarconfig": rng.choice(("contig", "separate")),
                  "tiff__bigendian": rng.randrange(2), "oiio__UnassociatedAlpha": rng.randrange(2)}
    if rng.random() < 0.4:
        attributes["tile"] = (16 * rng.randint(1, 5), 16 * rng.randint(1, 5))
    pixels = samples(rng, height, width, channels, 1).astype(np.float32)
    write_oiio(path, pixels, kind, **attributes)


def exr(rng, path, height, width):
    channels = rng.choice((1, 2, 3, 4, 4, 7))
    pixels = samples(rng, height, width, channels, rng.choice((1, 1, 50))).astype(np.float32)
    if channels in (2, 4) and rng.random() < 0.6:  # no light where there is nothing
        pixels[pixels[..., -1] == 0] = 0
    write_oiio(path, pixels, rng.choice(("half", "float")),
               compression=rng.choice(("none", "rle", "zips", "zip", "pxr24")))


def damage(rng, path):
    """Other bytes at up to four places, every other time near the beginning, or an early end."""
    with open(path, "rb") as file:
        data = bytearray(file.read())
    if rng.random() < 0.15:
        del data[rng.randrange(len(data)):]
    for _ in range(rng.randint(1, 4) if data else 0):
        data[rng.randrange(rng.choice((len(data), min(len(data), 400))))] ^= 1 << rng.randrange(8)
    with open(path, "wb") as file:
        file.write(data)


def hashes_of(folder, *arguments):
    """Of each file its hash, or what is said of it."""
    run = subprocess.run([PROGRAM, "", folder, "-n", "--hash", *arguments], capture_output=True,
                         text=True)
    said = [line.split(": ", 2)[1:] for line in run.stderr.splitlines() if ": decode: " in line]
    lines = said + [line.rsplit("\t", 1) for line in run.stdout.splitlines()[1:]]
    return {os.path.basename(path): found for path, found in lines}, run.stderr


def differing(hosts, devices):
    """The number of files that are not the same, some of which are printed."""
    names = sorted(name for name in hosts | devices if hosts.get(name) != devices.get(name))
    for name in names[:20]:
        print(f"{name}: CPU {hosts.get(name)}, device {devices.get(name)}")
    return len(names)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("count", nargs="?", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--device", default="opencl:0")
    parser.add_argument("--encode", action="store_true")
    parser.add_argument("--damaged", action="store_true")
    given = parser.parse_args()
    print(f"seed {given.seed}, {given.count} pictures")
    rng = random.Random(given.seed)
    folder = tempfile.mkdtemp(prefix="random-pictures-")
    pictures = os.path.join(folder, "in")
    os.mkdir(pictures)
    for i in range(given.count):
        kind, ending = rng.choice(((png, "png"), (tiff, "tif"), (exr, "exr")))
        height, width = rng.choice(SIDES), rng.choice(SIDES)
        kind(rng, os.path.join(pictures, f"{i:05}.{ending}"), height, width)
        if given.damaged:
            damage(rng, os.path.join(pictures, f"{i:05}.{ending}"))
    on_device = ("--device", given.device, "--codec", "device", "-v")
    hosts, _ = hashes_of(pictures, "--device", "cpu")
    devices, said = hashes_of(pictures, *on_device)
    print("\n".join(re.findall("--codec: .*", said)))
    wrong = differing(hosts, devices)
    if given.encode:
        made = os.path.join(folder, "made")
        run = subprocess.run([PROGRAM, "", pictures, "-o", made, *on_device], capture_output=True,
                             text=True)
        print("\n".join(re.findall("--codec: .*", run.stderr)))
        wrong += differing(hosts, hashes_of(made, "--device", "cpu")[0])
    failures = sorted(found for found in hosts.values() if found.startswith("decode: "))
    print(f"{len(hosts)} pictures, {len(failures)} that the CPU does not read, {wrong} differ")
    if wrong or (not given.damaged and (failures or len(hosts) < given.count)):
        print("\n".join(failures[:20]))
        sys.exit(f"random_pictures.py: see {folder}")
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
