"""Judges of colours: Little CMS by its C interface, CIEDE2000, tables of colours by their formula."""
import ctypes

import numpy as np

LCMS = ctypes.CDLL("liblcms2.so.2")
for name in ("cmsOpenProfileFromMem", "cmsCreateTransform", "cmsCreateLab4Profile"):
    getattr(LCMS, name).restype = ctypes.c_void_p
POINTER, WORD = ctypes.c_void_p, ctypes.c_uint32
LCMS.cmsCreateTransform.argtypes = [POINTER, WORD, POINTER, WORD, WORD, WORD]
LCMS.cmsDoTransform.argtypes = [POINTER, POINTER, POINTER, WORD]
LCMS.cmsOpenProfileFromMem.argtypes = [ctypes.c_char_p, WORD]
LCMS.cmsCloseProfile.argtypes = LCMS.cmsDeleteTransform.argtypes = [POINTER]
INTENTS = ["perceptual", "relative", "saturation", "absolute"]
GRAY, RGB, LAB = 3 << 16 | 1 << 3, 4 << 16 | 3 << 3, 10 << 16 | 3 << 3
FLOAT = 1 << 22
NO_CACHE, NO_OPTIMIZATION, BLACK_POINT = 0x40, 0x100, 0x2000


def of_lcms(pixels, source, target, intent="relative", bpc=True, spaces=(RGB, RGB)):
    """pixels: rows of uint16 or float32; the same of the result. target None: Lab."""
    kind = FLOAT | 4 if pixels.dtype == np.float32 else 2
    first = LCMS.cmsOpenProfileFromMem(source, len(source))
    second = (LCMS.cmsOpenProfileFromMem(target, len(target)) if target
              else LCMS.cmsCreateLab4Profile(None))
    flags = NO_CACHE | NO_OPTIMIZATION | (BLACK_POINT if bpc else 0)
    made = LCMS.cmsCreateTransform(first, spaces[0] | kind, second,
                                   (spaces[1] if target else LAB) | kind, INTENTS.index(intent),
                                   flags)
    channels = 1 if target and spaces[1] == GRAY else 3
    pixels = np.ascontiguousarray(pixels)
    out = np.empty((len(pixels), channels), pixels.dtype)
    LCMS.cmsDoTransform(made, pixels.ctypes.data, out.ctypes.data, len(pixels))
    LCMS.cmsDeleteTransform(made)
    LCMS.cmsCloseProfile(first)
    LCMS.cmsCloseProfile(second)
    return out


def to_16(pixels):
    return pixels.astype(np.uint16) * 257


def to_8(pixels):
    """Little CMS' FROM_16_TO_8."""
    return ((pixels.astype(np.int64) * 65281 + 8388608) >> 24).astype(np.uint8)


def ciede2000(one, two):
    """Sharma, Wu, Dalal: The CIEDE2000 colour-difference formula (2005)."""
    l1, a1, b1 = np.moveaxis(np.asarray(one, float), -1, 0)
    l2, a2, b2 = np.moveaxis(np.asarray(two, float), -1, 0)
    mean = (np.hypot(a1, b1) + np.hypot(a2, b2)) / 2
    g = 0.5 * (1 - np.sqrt(mean ** 7 / (mean ** 7 + 25.0 ** 7)))
    a1, a2 = a1 * (1 + g), a2 * (1 + g)
    c1, c2 = np.hypot(a1, b1), np.hypot(a2, b2)
    h1, h2 = (np.degrees(np.arctan2(b, a)) % 360 for a, b in ((a1, b1), (a2, b2)))
    dh = (h2 - h1 + 180) % 360 - 180
    big = 2 * np.sqrt(c1 * c2) * np.sin(np.radians(dh) / 2)
    ml, mc = (l1 + l2) / 2, (c1 + c2) / 2
    mh = np.where(c1 * c2 == 0, h1 + h2, (h1 + dh / 2) % 360)
    t = (1 - 0.17 * np.cos(np.radians(mh - 30)) + 0.24 * np.cos(np.radians(2 * mh))
         + 0.32 * np.cos(np.radians(3 * mh + 6)) - 0.2 * np.cos(np.radians(4 * mh - 63)))
    sl = 1 + 0.015 * (ml - 50) ** 2 / np.sqrt(20 + (ml - 50) ** 2)
    sc, sh = 1 + 0.045 * mc, 1 + 0.015 * mc * t
    rt = (-2 * np.sqrt(mc ** 7 / (mc ** 7 + 25.0 ** 7))
          * np.sin(np.radians(60 * np.exp(-((mh - 275) / 25) ** 2))))
    dl, dc, dh = (l2 - l1) / sl, (c2 - c1) / sc, big / sh
    return np.sqrt(np.maximum(dl ** 2 + dc ** 2 + dh ** 2 + rt * dc * dh, 0))


def in_cube(values, cube, trilinear=False):
    """values: [n, 3] of 0 to 1; cube[r, g, b] a colour. The tetrahedron's corners are found by
    sorting the fractions."""
    side = cube.shape[0]
    place = np.clip(np.asarray(values, float), 0, 1) * (side - 1)
    cell = np.minimum(np.floor(place).astype(int), side - 2)
    part = place - cell
    out = np.zeros((len(place), cube.shape[-1]))
    if trilinear:
        for corner in np.ndindex(2, 2, 2):
            weight = np.prod(np.where(np.array(corner) == 1, part, 1 - part), axis=1)
            out += weight[:, None] * cube[tuple((cell + corner).T)]
        return out
    order = np.argsort(-part, axis=1, kind="stable")
    sizes = np.take_along_axis(part, order, 1)
    at, rows = cell.copy(), np.arange(len(place))
    weights = np.column_stack([1 - sizes[:, 0], sizes[:, 0] - sizes[:, 1],
                               sizes[:, 1] - sizes[:, 2], sizes[:, 2]])
    for step in range(4):
        out += weights[:, step, None] * cube[tuple(at.T)]
        if step < 3:
            at[rows, order[:, step]] += 1
    return out
