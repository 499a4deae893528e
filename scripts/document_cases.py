"""Makers of cases of documents, backgrounds, blocks, palettes, mosaics and maps of points."""
import math

import numpy as np

import definitions as d
import definitions_documents as o
from case_table import BORDERS, maker, text
from frequency_cases import rounded_or
from strange_cases import CLASSES, image_of


@maker("sauvola", "niblack", "wolf")
def paper(case, op):
    """Images with no pixel so near the threshold that rounding decides; equal integers are exact."""
    window = case.pick((15, 15), (1, 1), (3, 3), (4, 2), (1, 5), (33, 33), (81, 5))
    k, full = case.pick(None, 0.2, -0.2, 0.5, 0, -3), case.pick(0.5, 0.1, 2)
    params = f"window={text(window)}" + ("" if k is None else f";k={k}")
    params += f";R={full}" if op == "sauvola" else ""
    k = {"sauvola": 0.2, "niblack": -0.2, "wolf": 0.5}[op] if k is None else k
    while True:
        a = case.image(case.pick(*CLASSES), levels=case.pick(None, 3))
        limit = o.document_threshold(op, a, window, k, full)
        near = abs(a.astype(np.float64) - limit) <= 2e-6 * d.WHITE[d.class_of(a)]
        exact = limit == a if a.dtype != np.float32 else False
        if not (near & ~exact).any():
            break
    if case.pick(True, False):
        case.emit(params, [a], a > limit, "logical", "exact")
    else:
        case.emit(params + ";out=threshold", [a], limit, "single", 1e-5, least_scale=d.WHITE[d.class_of(a)])


def page_of(case):
    """Lines of ink that rise or fall, or an image of any kind."""
    a = case.image(case.pick(*CLASSES), case.pick((1, 1), (1, 7), (24, 30), (60, 41), (37, 90)))
    if min(a.shape) > 20 and case.pick(True, True, False):
        y, x = np.mgrid[:a.shape[0], :a.shape[1]]
        slope = math.radians(case.real(-12, 12))
        ink = (y * math.cos(slope) + x * math.sin(slope)) % 7 < 2
        a = ~ink if a.dtype == bool else d.cast((0.9 - 0.8 * ink) * d.WHITE[d.class_of(a)], d.class_of(a))
    return a


@maker("deskewangle", "deskew")
def levelled(case, op):
    a, reach, step = page_of(case), case.pick(15, 5, 0, 10, 3.3, 90), case.pick(0.5, 1, 0.25, 7, 90)
    ink = case.pick("dark", "bright")
    angle = o.deskewangle(a, reach, step, ink)
    params = f"range={reach};step={step};ink={ink}"
    if op == "deskewangle":
        case.emit(params, [a], [[angle]], "double", 1e-9, least_scale=1)
        return
    method, bbox = case.pick("nearest", "bilinear", "bicubic"), case.pick("loose", "crop")
    fill = case.pick("white", 0, 1)
    raw = o.levelled(a, angle, method, bbox == "loose", d.WHITE[d.class_of(a)] if fill == "white" else fill)
    expected = raw >= 0.5 if a.dtype == bool else d.cast(raw, d.class_of(a))
    cls, kind, ties = rounded_or(a, raw, 1e-5)
    kind = "exact" if method == "nearest" else "frag" if cls == "logical" else kind
    case.emit(f"{params};method={method};bbox={bbox};fill={fill}", [a], expected, cls, kind, ties)


@maker("rollingball")
def ball(case, op):
    a = image_of(case, "uint8", "uint16", "single", wild=True)
    radius, out = case.pick(0, 0.5, 1, 2, 5, 7.3, 12), case.pick("background", "subtracted")
    result = d.each_plane(lambda p: o.rollingball(p, radius), a)
    with np.errstate(invalid="ignore"):
        result = a - result if out == "subtracted" else result
    case.emit(f"radius={radius};out={out}", [a], d.cast(result, d.class_of(a)), d.class_of(a),
              "exact" if a.dtype != np.float32 else 1e-6, least_scale=max(1, radius))


@maker("imflatfield")
def flat_field(case, op):
    a = image_of(case, "uint8", "uint16", "single")
    sigma = case.pick(0.05, 0.5, 1, 3.3, 10)
    raw = o.imflatfield(a, sigma)
    case.emit(f"sigma={sigma}", [a], d.cast(raw, d.class_of(a)), *rounded_or(a, raw, 1e-5))


@maker("block")
def blocks(case, op):
    a = image_of(case, *CLASSES, wild=True)
    operation, size = case.pick("mean", "max", "min", "median", "std", "sum"), [
        case.pick(1, 2, 3, 5, 8, 100), case.pick(1, 2, 4, 7, 1000)]
    result = d.each_plane(lambda p: o.block(p, operation, *size), a)
    cls = "single" if operation in ("std", "sum") else d.class_of(a)
    exact = a.dtype != np.float32 and cls != "single"
    result = result >= 0.5 if cls == "logical" else d.cast(result, cls)
    case.emit(f"operation={operation};size={text(size)}", [a], result, cls, "exact" if exact else 1e-5)


@maker("reduce")
def joined(case, op):
    a = case.image(case.pick(*CLASSES), (case.pick(1, 2, 5, 17), case.pick(1, 3, 24)),
                   channels=case.pick(1, 3))
    window, border = (case.pick(1, 2, 3, 4, 9), case.pick(1, 2, 5, 40)), case.pick(*BORDERS, 0, 1)
    rule, value = (border, 0.0) if border in BORDERS else ("constant", float(border))
    expression, join = case.pick(("acc + x", np.add), ("max(acc, x)", np.maximum),
                                 ("min(acc, x)", np.minimum), ("acc + x * x", lambda p, x: p + x * x))
    start = case.pick(0, 1, 100, -3.5)
    case.emit(f"expr='{expression}';init={start};window={text(window)};boundary={border}", [a],
              d.each_plane(lambda p: o.reduced(p, join, start, window, rule, value), a), "single", 1e-5)


@maker("rgb2ind")
def palettes(case, op):
    a = image_of(case, "uint8", "uint16", "single", channels=(3,), wild=True)
    n, out = case.pick(1, 2, 3, 8, 16, 256, 257, 65536), case.pick("index", "map", "image")
    index, palette = o.median_cut(a, n)
    cls = {"map": "double", "image": "uint8"}.get(out, "uint8" if n <= 256 else "uint16")
    result = {"map": palette / 255, "index": index, "image": palette[index]}[out]
    case.emit(f"n={n};out={out}", [a], result.astype(np.float64 if out == "map" else cls), cls,
              1e-9 if out == "map" else "exact")


@maker("imtile")
def mosaic(case, op):
    cls, n = case.pick(*CLASSES), case.pick(2, 3, 4, 5, 7)
    images = [case.image(cls, channels=case.pick(1, 1, 3) if cls != "logical" else 1) for _ in range(n)]
    grid, gap = case.pick(None, (1, 2), (2, 2), (3, 1), (4, 5)), case.pick(0, 1, 7)
    background = case.pick(0, 1) if cls == "logical" else case.pick(0, 0.5, 128, -3, 300)
    params = (f"grid={text(grid)};" if grid else "") + f"gap={gap};background={background}"
    case.emit(params, images, o.imtile(images, grid, gap, background), cls, "exact")


@maker("fitgeotform2d")
def maps_of_points(case, op):
    kind = case.pick("translation", "rigid", "similarity", "affine", "projective")
    least = {"translation": 1, "affine": 3, "projective": 4}.get(kind, 2)
    n, size = least + case.pick(0, 0, 1, 5), case.pick(1, 100, 1e4)
    moving = np.round(case.rng.random((n, 2)) * size, 3)
    fixed = np.round(moving @ case.rng.normal(size=(2, 2)) + case.rng.random((n, 2)) * size, 3)

    def points(p):
        return "[" + ";".join(f"{float(x)!r},{float(y)!r}" for x, y in p) + "]"
    case.emit(f"moving={points(moving)};fixed={points(fixed)};type={kind}", [case.image("uint8", (4, 5))],
              o.fitgeotform2d(moving, fixed, kind), "double", 1e-7 if kind == "projective" else 1e-9)
