#!/usr/bin/env python3
"""Makes photograph-like sample pictures: gradients, shapes, texture, noise; always the same ones.

    make_samples.py DIR

Several sizes, gray and colour, 8 and 16 bit, PNG, JPEG and TIFF.
"""
import os
import struct
import sys
import zlib

import numpy as np
from PIL import Image


def resized(array, width, height):
    """Bicubic, for smooth noise."""
    picture = Image.fromarray(array.astype(np.float32), mode="F")
    return np.asarray(picture.resize((width, height), Image.BICUBIC))


def clouds(rng, width, height, finest=4, roughness=0.55):
    """Fractal noise in [0, 1]: octaves of random grids, each finer and weaker than the last."""
    total = np.zeros((height, width), np.float32)
    weight, cell = 1.0, max(width, height)
    while cell >= finest:
        grid = rng.random((height // cell + 3, width // cell + 3))
        total += weight * resized(grid, width, height)
        weight *= roughness
        cell //= 2
    total -= total.min()
    return total / total.max()


def grid(width, height):
    """x and y in [0, 1], [height, width] each."""
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    return x / max(width - 1, 1), y / max(height - 1, 1)


def blend(below, colour, mask):
    mask = np.clip(mask, 0, 1)[..., None]
    return below * (1 - mask) + np.asarray(colour, np.float32) * mask


def landscape(rng, width, height):
    """A sky with clouds and a low sun, three ranges of hills, the nearest with grass."""
    x, y = grid(width, height)
    scene = np.stack([0.35 + 0.5 * y, 0.5 + 0.3 * y, 0.8 - 0.15 * y], axis=-1)
    scene = blend(scene, (1, 0.97, 0.92), (clouds(rng, width, height) - 0.5) * 1.8 * (1 - y))
    aspect = width / height
    sun = np.hypot((x - 0.72) * aspect, y - 0.3)
    scene = blend(scene, (1, 0.9, 0.6), np.exp(-(sun / 0.12) ** 2))
    scene = blend(scene, (1, 0.98, 0.88), (0.055 - sun) * height / 2)
    for depth in range(3):
        ridge = clouds(rng, width, 2, finest=max(width // 64, 4))[0]
        top = 0.48 + 0.14 * depth - 0.16 * ridge
        tone = np.array([(0.42, 0.48, 0.6), (0.25, 0.37, 0.33), (0.17, 0.25, 0.1)][depth])
        texture = clouds(rng, width, height, finest=2, roughness=0.8)[..., None]
        mask = np.clip((y - top) * height / 1.5, 0, 1)[..., None]
        scene = scene * (1 - mask) + tone * (0.6 + 0.8 * texture) * mask
    return scene


def still_life(rng, width, height):
    """Shaded balls and a box on a wooden table in front of a wall."""
    x, y = grid(width, height)
    x = x * width / height
    wall = 0.75 - 0.35 * np.hypot(x - 0.2, y - 0.1)
    scene = np.stack([wall, wall * 0.96, wall * 0.9], axis=-1)
    grain = np.sin(90 * (y + 0.06 * clouds(rng, width, height))) * 0.06
    table = (0.5 + grain + 0.1 * clouds(rng, width, height, finest=2))[..., None]
    scene = np.where((y > 0.62)[..., None], table * np.array([1, 0.66, 0.4]), scene)
    box = (np.abs(x - 1.12) < 0.16) & (np.abs(y - 0.6) < 0.17)
    face = 0.35 + 0.3 * (((x * 16).astype(int) + (y * 16).astype(int)) % 2)
    scene = np.where(box[..., None], face[..., None] * np.array([0.4, 0.6, 0.9]), scene)
    balls = [(0.35, 0.6, 0.2, (0.85, 0.2, 0.15)), (0.72, 0.68, 0.13, (0.95, 0.75, 0.15)),
             (0.55, 0.78, 0.08, (0.2, 0.55, 0.3))]
    for cx, cy, radius, colour in balls:
        shadow = np.exp(-(((x - cx - 0.05) / (1.3 * radius)) ** 2
                          + ((y - cy - radius) / (0.3 * radius)) ** 2))
        scene = scene * (1 - 0.7 * shadow[..., None])
        dx, dy = (x - cx) / radius, (y - cy) / radius
        dz = np.sqrt(np.clip(1 - dx * dx - dy * dy, 0, 1))
        light = np.clip(0.18 + 0.75 * (-0.5 * dx - 0.6 * dy + 0.62 * dz), 0, 1)
        shine = np.clip(-0.45 * dx - 0.55 * dy + 0.7 * dz, 0, 1) ** 40
        lit = light[..., None] * np.array(colour) + shine[..., None] * 0.8
        edge = np.clip((1 - np.hypot(dx, dy)) * radius * height, 0, 1)[..., None]
        scene = scene * (1 - edge) + lit * edge
    return scene


def street(rng, width, height):
    """House fronts with windows under an evening sky, and a wet road."""
    x, y = grid(width, height)
    scene = np.stack([0.25 + 0.6 * y, 0.25 + 0.35 * y, 0.45 + 0.1 * y], axis=-1)
    left = 0.0
    while left < 1:
        wide = 0.08 + 0.12 * rng.random()
        top = 0.15 + 0.4 * rng.random()
        tone = 0.2 + 0.35 * rng.random() + 0.08 * rng.random(3)
        house = (x >= left) & (x < left + wide) & (y > top)
        scene = np.where(house[..., None], tone * (1.1 - 0.5 * y)[..., None], scene)
        u, v = (x - left) / wide * 5, (y - top) * 16
        pane = house & (u % 1 > 0.3) & (u % 1 < 0.75) & (v % 1 > 0.35) & (v % 1 < 0.8)
        lit = rng.random((64, 64))[v.astype(int) % 64, u.astype(int) % 64] > 0.6
        scene = np.where((pane & lit)[..., None], (0.98, 0.86, 0.5), scene)
        scene = np.where((pane & ~lit)[..., None], (0.08, 0.09, 0.14), scene)
        left += wide
    road = 0.16 + 0.25 * clouds(rng, width, height, finest=2, roughness=0.75)
    scene = np.where((y > 0.86)[..., None], road[..., None] * np.array([1, 0.95, 0.9]), scene)
    line = (np.abs(y - 0.93) < 0.008) & ((x * 9) % 1 < 0.55)
    return np.where(line[..., None], 0.9, scene)


def leaves(rng, width, height):
    """Overlapping leaves with veins, light from above."""
    scene = clouds(rng, width, height, finest=2)[..., None] * np.array([0.2, 0.25, 0.1])
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    size = min(width, height)
    for _ in range(36):
        cx, cy, turn = rng.random() * width, rng.random() * height, rng.random() * np.pi
        long = size * (0.1 + 0.12 * rng.random())
        u = ((x - cx) * np.cos(turn) + (y - cy) * np.sin(turn)) / long
        v = (-(x - cx) * np.sin(turn) + (y - cy) * np.cos(turn)) / (0.4 * long)
        inside = np.clip((1 - u * u - np.abs(v)) * long / 6, 0, 1)
        side_veins = np.exp(-(((u * 6 + np.abs(v) * 2) % 1 - 0.5) * 9) ** 2)
        veins = np.exp(-(v * 12) ** 2) + 0.5 * side_veins
        tone = np.array([0.25, 0.5, 0.15]) * (0.6 + 0.7 * rng.random()) + 0.1 * rng.random(3)
        leaf = tone * (1 + 0.35 * v + 0.35 * veins)[..., None]
        scene = scene * (1 - inside[..., None]) + leaf * inside[..., None]
    return scene


def chart(rng, width, height):
    """A test chart: rings, wedges, a gray ramp and small print, on paper."""
    x, y = grid(width, height)
    x = x * width / height
    paper = 0.86 + 0.06 * clouds(rng, width, height, finest=2)
    radius = np.hypot(x - 0.36, y - 0.4)
    rings = 0.5 + 0.5 * np.cos(400 * radius * radius)
    gray = np.where(radius < 0.3, rings, paper)
    spokes = np.sign(np.sin(18 * np.arctan2(y - 0.4, x - 0.98)))
    gray = np.where(np.hypot(x - 0.98, y - 0.4) < 0.26, 0.5 + 0.45 * spokes, gray)
    gray = np.where((y > 0.78) & (y < 0.86), np.floor(x * 14) / 18, gray)
    print_ = (y > 0.89) & (y < 0.97) & (rng.random((height, width)) > 0.5)
    gray = np.where(print_ & ((x * 40) % 1 > 0.3), 0.15, gray)
    return np.repeat(gray[..., None], 3, axis=-1)


def photograph(scene, seed, width, height, noise=0.01):
    """One exposure of a scene: float32 RGB in [0, 1], [height, width, 3], with sensor noise."""
    rng = np.random.default_rng(seed)
    linear = np.clip(scene(rng, width, height), 0, 1).astype(np.float32)
    grain = rng.standard_normal(linear.shape, np.float32) * noise * np.sqrt(0.1 + linear)
    # A photograph rarely uses the whole range: imadjust has something to do.
    return np.clip(0.06 + 0.8 * linear + grain, 0, 1)


def to_gray(picture):
    return picture @ np.array([0.298936, 0.587043, 0.114021], np.float32)


def to_integer(picture, white):
    kind = np.uint8 if white == 255 else np.uint16
    return np.floor(picture * white + 0.5).astype(kind)


def write_png16(path, pixels):
    """A 16-bit PNG, gray or RGB; Pillow writes no 16-bit colour."""
    height, width = pixels.shape[:2]
    colour = 2 if pixels.ndim == 3 else 0
    rows = pixels.astype(">u2").reshape(height, -1).view(np.uint8)
    raw = np.concatenate([np.zeros((height, 1), np.uint8), rows], axis=1).tobytes()

    def chunk(name, data):
        body = name + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    header = struct.pack(">IIBBBBB", width, height, 16, colour, 0, 0, 0)
    with open(path, "wb") as out:
        out.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header)
                  + chunk(b"IDAT", zlib.compress(raw, 4)) + chunk(b"IEND", b""))


def write(path, pixels):
    if path.endswith(".png") and pixels.dtype == np.uint16:
        write_png16(path, pixels)
    else:
        Image.fromarray(pixels).save(path, quality=92)


# name, scene, width, height, gray or colour, white
SAMPLES = [
    ("landscape.jpg", landscape, 1280, 853, "colour", 255),
    ("still-life.png", still_life, 1024, 768, "colour", 255),
    ("street.jpg", street, 960, 1280, "colour", 255),
    ("leaves.tif", leaves, 900, 600, "colour", 255),
    ("chart.png", chart, 1100, 800, "gray", 255),
    ("still-life-gray.jpg", still_life, 640, 480, "gray", 255),
    ("street16.png", street, 800, 600, "gray", 65535),
    ("landscape16.tif", landscape, 1024, 683, "gray", 65535),
    ("leaves16.png", leaves, 720, 540, "colour", 65535),
    ("chart-small.tif", chart, 321, 243, "gray", 255),
]


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    for seed, (name, scene, width, height, kind, white) in enumerate(SAMPLES):
        picture = photograph(scene, seed, width, height)
        pixels = to_integer(to_gray(picture) if kind == "gray" else picture, white)
        write(os.path.join(folder, name), pixels)
    print(f"{len(SAMPLES)} sample pictures in {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
