"""ICC profiles of three primaries or gray with a tone curve, written from ISO 15076-1."""
import struct

import numpy as np

# Colorants relative to D50.
ADOBE = [(0.60974, 0.31111, 0.01947), (0.20528, 0.62567, 0.06087), (0.14919, 0.06322, 0.74457)]
PROPHOTO = [(0.79767, 0.28804, 0), (0.13519, 0.71188, 0), (0.03134, 0.00009, 0.82491)]
D50 = (0.9642, 1, 0.8249)


def s15(*numbers):
    return b"".join(struct.pack(">i", round(n * 65536)) for n in numbers)


def gamma(exponent):
    return b"curv\0\0\0\0" + struct.pack(">IH", 1, round(exponent * 256))


def table(curve, count=1024):
    values = np.round(curve(np.arange(count) / (count - 1)) * 65535).astype(">u2")
    return b"curv\0\0\0\0" + struct.pack(">I", count) + values.tobytes()


def parametric(kind, *numbers):
    return b"para\0\0\0\0" + struct.pack(">HH", kind, 0) + s15(*numbers)


def colour_table(lab):
    """A2B0 of type mft2 with two nodes along each of R, G and B; lab(r, g, b) of 0 or 1."""
    nodes = [lab(r, g, b) for r in (0, 1) for g in (0, 1) for b in (0, 1)]
    ramp = struct.pack(">2H", 0, 65535) * 3
    lut = b"".join(struct.pack(">3H", round(n[0] * 652.8), round((n[1] + 128) * 256),
                               round((n[2] + 128) * 256)) for n in nodes)
    return (b"mft2\0\0\0\0" + bytes([3, 3, 2, 0]) + s15(1, 0, 0, 0, 1, 0, 0, 0, 1)
            + struct.pack(">2H", 2, 2) + ramp + lut + ramp)


def profile(curve=b"", colorants=None, a2b0=b"", version=0x02400000):
    """A display profile: of gray without colorants, of a table of colours with one."""
    name = b"own"
    tags = [(b"desc", b"desc\0\0\0\0" + struct.pack(">I", len(name) + 1) + name + bytes(79)),
            (b"wtpt", b"XYZ \0\0\0\0" + s15(*D50)), (b"cprt", b"text\0\0\0\0CC0\0")]
    space, pcs = b"RGB ", b"XYZ "
    if a2b0:
        tags += [(b"A2B0", a2b0)]
        pcs = b"Lab "
    elif colorants is None:
        tags += [(b"kTRC", curve)]
        space = b"GRAY"
    else:
        for letter, colorant in zip(b"rgb", colorants):
            tags += [(bytes([letter]) + b"XYZ", b"XYZ \0\0\0\0" + s15(*colorant)),
                     (bytes([letter]) + b"TRC", curve)]
    at = 128 + 4 + 12 * len(tags)
    directory, data = struct.pack(">I", len(tags)), b""
    for name, content in tags:
        content += bytes(-len(content) % 4)
        directory += name + struct.pack(">II", at + len(data), len(content))
        data += content
    head = struct.pack(">I4sI4s4s4s6H4s", at + len(data), b"", version, b"mntr", space, pcs,
                       2026, 1, 1, 0, 0, 0, b"acsp")
    head = head.ljust(68, b"\0") + s15(*D50)
    return head.ljust(128, b"\0") + directory + data
