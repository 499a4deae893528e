"""Makers of cases beside those of make_cases.py: strange sizes, colour, logical images, NaN and
infinities, large neighbourhoods, parameters that are seldom given.
"""
import math

import numpy as np

import definitions as d
from case_table import BORDERS, maker, matrix_text, text

# [rows, columns]: single pixels and lines, and sides just beside those of tiles.
SIZES = [(1, 1), (1, 2), (2, 1), (2, 3), (3, 2), (1, 33), (129, 1), (1, 300), (257, 2), (17, 129),
         (129, 17), (65, 33), (31, 97), (5, 513), (130, 66)]
CLASSES = ("uint8", "uint16", "single", "logical")


def size_of(case, least=1):
    return case.pick(*[size for size in SIZES if min(size) >= least])


def image_of(case, *classes, channels=(1, 1, 3), least=1, wild=False):
    """wild: singles beyond [0,1], some of them NaN or infinite, some as small as a half float's."""
    a = case.image(case.pick(*classes), size_of(case, least), channels=case.pick(*channels))
    if a.dtype != np.float32 or not wild:
        return a
    a = (a * 3 - 1).astype(np.float32)
    kind = case.pick("near", "specials", "wide")
    if kind == "specials":
        places = case.rng.random(a.shape) < 0.05
        a[places] = case.rng.choice(np.array([np.nan, np.inf, -np.inf], np.float32), places.sum())
    elif kind == "wide":
        a = (a * 2.0 ** case.rng.integers(-14, 15, a.shape)).astype(np.float32)
    return a


def exact_or(a, tolerance):
    return tolerance if d.class_of(a) == "single" else "exact"


# --- points

@maker("imadd", "imsubtract", "imabsdiff", "immultiply", "imdivide")
def arithmetic(case, op):
    a = image_of(case, "uint8", "uint16", "single")
    if case.pick(True, False):
        b = case.image(d.class_of(a), a.shape[:2], channels=a.shape[2] if a.ndim == 3 else 1)
        inputs, params = [a, b], ""
    else:
        b = case.pick(0.5, 2, 3, 1.75, case.real(0.1, 300), -case.real(0.1, 40))
        inputs, params = [a], f"with={b:g}"
    x, y = a.astype(np.float64), np.asarray(b, np.float64)
    if d.class_of(a) == "single":
        x, y = a, np.asarray(b, np.float32)
    with np.errstate(all="ignore"):
        result = {"imadd": lambda: x + y, "imsubtract": lambda: x - y, "immultiply": lambda: x * y,
                  "imabsdiff": lambda: np.abs(x - y), "imdivide": lambda: x / y}[op]()
    case.emit(params, inputs, d.cast(result, d.class_of(a)), d.class_of(a), exact_or(a, 1e-6))


@maker("imlincomb")
def combined(case, op):
    cls, to = case.pick("uint8", "uint16", "single"), case.pick("uint8", "uint16", "single")
    size, channels = size_of(case), case.pick(1, 3)
    images = [case.image(cls, size, channels) for _ in range(case.pick(1, 2, 3))]
    weights = [case.pick(0, 0.5, -1, 1.25) for _ in images]  # exact sums
    constant = case.pick(0, 0.5, 10, -3.25)
    total = np.zeros(images[0].shape)
    for weight, image in zip(weights, images):
        total = total + weight * image.astype(np.float64)
    case.emit(f"k={text(weights)};add={constant:g};class={to}", images,
              d.cast(total + constant, to), to, 1e-6 if "single" in (cls, to) else "exact")


@maker("im2bw", "imbinarize")
def thresholded(case, op):
    a = image_of(case, *CLASSES, channels=(1,), wild=True)
    level = case.pick("graythresh", 0, 1, case.real(0, 1))
    if d.class_of(a) == "logical":
        result = a
    elif level == "graythresh":
        n = 255 if d.class_of(a) == "single" else d.WHITE[d.class_of(a)]
        limit = d.graythresh(a) * n  # a code or a half
        result = a > (np.float32(limit / n) if n == 255 and a.dtype == np.float32 else limit)
    else:
        result = a > (np.float32(level) if a.dtype == np.float32 else level * d.WHITE[d.class_of(a)])
    case.emit(f"level={level}", [a], result, "logical", "exact")


@maker("imbinarize")
def thresholded_by_local_means(case, op):
    a = image_of(case, *CLASSES, channels=(1,))
    window = case.pick((1, 1), (3, 3), (1, 31), (15, 5), (31, 31), (101, 7))
    dark = case.pick(True, False)
    means = d.correlate(a, np.full(window, 1 / (window[0] * window[1])), "replicate", 0.0, False)
    while True:
        sensitivity = case.pick(0, 1, case.real(0, 1))
        limit = (0.4 + sensitivity if dark else 1.6 - sensitivity) * means
        tie = (abs(a - limit) <= 1e-5 * (1 + abs(limit))) & (limit != 0)  # which 0 > 0 is not
        if d.class_of(a) == "logical" or not tie.any():
            break
    result = a if d.class_of(a) == "logical" else a > limit
    case.emit(f"level=adaptive;window={window[0]},{window[1]};sensitivity={sensitivity};foreground="
              + ("dark" if dark else "bright"), [a], result, "logical", "exact")


@maker("gamma")
def powers(case, op):
    a = image_of(case, "uint8", "uint16", "single")
    g = case.pick(0, 1, 2, 0.5, 100, case.real(0.2, 4))
    case.emit(f"gamma={g:g}", [a], d.imadjust(a, (0.0, 1.0), (0.0, 1.0), g), d.class_of(a),
              2e-6 if d.class_of(a) == "single" else "round")


@maker("mat2gray")
def stretched(case, op):
    a = image_of(case, *CLASSES)
    x = a.astype(np.float64)
    limits = case.pick(None, (10, 100.5), (0.25, 0.75), (-3, 70000))
    low, high = limits or (x.min(), x.max())
    result = np.clip(x if low == high else (x - low) / (high - low), 0, 1)
    case.emit(f"limits={text(limits)}" if limits else "", [a], result.astype(np.float32), "single", 1e-6)


@maker("map")
def mapped(case, op):
    a = image_of(case, "uint8", "uint16", "single", channels=(1,))
    white = d.WHITE[d.class_of(a)]
    x = a.astype(np.float64 if d.class_of(a) != "single" else np.float32)
    row, col = np.indices(a.shape)
    expr, result = case.pick(
        ("x > white / 2 ? white : x / 2", np.where(x > white / 2, white, x / 2)),
        ("max(x, row) - min(col, 9)", np.maximum(x, row) - np.minimum(col, 9)),
        ("abs(x - white / 4) * 1.5", np.abs(x - white / 4) * 1.5),
        ("floor(x / 7) * 7 + (col < width / 2)", np.floor(x / 7) * 7 + (col < a.shape[1] / 2)),
        ("clamp(x * 2 - white / 2, 0, height)", np.clip(x * 2 - white / 2, 0, a.shape[0])))
    case.emit(f"expr='{expr}'", [a], d.cast(result, d.class_of(a)), d.class_of(a), exact_or(a, 1e-6))


@maker("imadjust")
def adjusted(case, op):
    a = image_of(case, "uint8", "uint16", "single", least=2)
    tol = case.pick((0, 1), (0.1, 0.6), (0.25, 0.75))
    low_high = [d.stretchlim(p, *tol) for p in (np.moveaxis(a, 2, 0) if a.ndim == 3 else [a])]
    planes = [d.imadjust(p, limits, (0.1, 0.75), 1) for p, limits in
              zip(np.moveaxis(a, 2, 0) if a.ndim == 3 else [a], low_high)]
    result = np.stack(planes, axis=-1) if a.ndim == 3 else planes[0]
    case.emit(f"tol={text(tol)};out=0.1,0.75", [a], result, d.class_of(a),
              2e-6 if d.class_of(a) == "single" else "round")


@maker("im2uint8", "im2uint16", "im2single")
def cast_to(case, op):
    a = image_of(case, *CLASSES, wild=True)
    case.emit("", [a], d.convert(a, op[3:] if op != "im2single" else "single"),
              op[3:] if op != "im2single" else "single", 1e-6 if op == "im2single" else "exact")


# --- geometry

@maker("transpose", "fliplr", "flipud", "rot90")
def turned(case, op):
    a = image_of(case, *CLASSES, wild=True)
    k = case.pick(-7, -1, 2, 3, 999999)
    case.emit(f"k={k}" if op == "rot90" else "", [a], d.turned(a, op, k), d.class_of(a), "exact")


@maker("impad")
def framed(case, op):
    a = image_of(case, *CLASSES)
    border = case.pick(*BORDERS, 0, 7, 0.5, -3, 1e6)
    by = [case.pick(0, 1, 2, 5, 33, 70) for _ in range(case.pick(1, 2, 4))]
    top, bottom, left, right = {1: by * 4, 2: [by[0]] * 2 + [by[-1]] * 2, 4: by}[len(by)]
    rows, columns = a.shape[:2]
    r = d.outside(np.arange(-top, rows + bottom), rows, border)
    c = d.outside(np.arange(-left, columns + right), columns, border)
    value = d.cast(np.array(0.0 if isinstance(border, str) else float(border)), d.class_of(a))

    def plane(p):
        inside = (r >= 0)[:, None] & (c >= 0)[None, :]
        return np.where(inside, p[np.ix_(np.maximum(r, 0), np.maximum(c, 0))], value)
    result = d.each_plane(plane, a).astype(a.dtype)
    case.emit(f"by={text(by)};boundary={border}", [a], result, d.class_of(a), "exact")


@maker("imcrop")
def cut(case, op):
    a = image_of(case, *CLASSES)
    rows, columns = a.shape[:2]
    left, top = case.pick(0, columns - 1, columns // 2, -3), case.pick(0, rows - 1, rows // 3, -2)
    width, height = case.pick(4, columns, 1000), case.pick(3, rows, 5000)
    width, height = max(width, 1 - left), max(height, 1 - top)  # a pixel at least
    result = a[max(top, 0):top + height, max(left, 0):left + width]
    case.emit(f"rect={text((left, top, width, height))}", [a], result, d.class_of(a), "exact")


@maker("imwarp")
def warped(case, op):
    a = image_of(case, *CLASSES)
    # Maps with an exact inverse: places are exact.
    m = case.pick([[1, 0, 2.5], [0, 1, -1.25]], [[2, 0, 0], [0, 0.5, 3]], [[0, 1, 0], [-1, 0, 20]],
                  [[1, 1, 0], [0, 1, 0]], [[-1, 0, 30], [0.25, 1, 0]])
    method, fill = case.pick("nearest", "bilinear"), case.pick(0, 3, 1)
    size = case.pick(a.shape[:2], (40, 33), (1, 70))
    inverse = np.linalg.inv(np.vstack([m, [0, 0, 1]]))
    y, x = np.mgrid[:size[0], :size[1]]
    u = np.round((inverse[0, 0] * x + inverse[0, 1] * y + inverse[0, 2]) * 64) / 64
    v = np.round((inverse[1, 0] * x + inverse[1, 1] * y + inverse[1, 2]) * 64) / 64
    value = float(d.cast(np.array(float(fill)), d.class_of(a)))

    def at(p, r, c):
        inside = (r >= 0) & (r < p.shape[0]) & (c >= 0) & (c < p.shape[1])
        found = p[np.clip(r, 0, p.shape[0] - 1), np.clip(c, 0, p.shape[1] - 1)]
        return np.where(inside, found.astype(np.float64), value)

    def plane(p):
        if method == "nearest":
            return at(p, np.floor(v + 0.5).astype(int), np.floor(u + 0.5).astype(int))
        r, c = np.floor(v).astype(int), np.floor(u).astype(int)
        fr, fc = v - r, u - c
        return ((1 - fr) * ((1 - fc) * at(p, r, c) + fc * at(p, r, c + 1)) +
                fr * ((1 - fc) * at(p, r + 1, c) + fc * at(p, r + 1, c + 1)))
    exact = d.each_plane(plane, a)
    result = exact >= 0.5 if a.dtype == bool else d.cast(exact, d.class_of(a))
    case.emit(f"matrix={matrix_text(np.array(m, float))};method={method};fill={fill};size={text(size)}",
              [a], result, d.class_of(a), exact_or(a, 1e-6))


@maker("imresize")
def rescaled(case, op):
    a = image_of(case, "uint8", "uint16", "single")
    method = case.pick("nearest", "bilinear", "bicubic")
    rows, columns = a.shape[:2]
    scales = case.pick((0.1, 0.1), (0.5, 2), (3, 0.4), (4, 4), (1, 0.25), (0.77, 1.9))
    size = [int(math.ceil(s * n)) for s, n in zip(scales, (rows, columns))]
    case.emit(f"scale={text(scales)};method={method}", [a], d.imresize(a, size, scales, method),
              d.class_of(a), "exact" if method == "nearest" else
              1e-5 if a.dtype == np.float32 else "round")


# --- neighbourhoods

@maker("conv2")
def convolved(case, op):
    a = image_of(case, *CLASSES, wild=True)
    kernel = case.matrix(case.pick(1, 2, 9, 12, 31), case.pick(1, 4, 11, 13, 33))
    kernel[0, 0] = 1
    shape = case.pick("same", "full")
    with np.errstate(all="ignore"):
        result = d.each_plane(lambda p: d.conv2(p, kernel, shape), a)
    case.emit(f"shape={shape};kernel={matrix_text(kernel)}", [a], result.astype(np.float32), "single",
              1e-5)


@maker("imfilter")
def filtered(case, op):
    a = image_of(case, *CLASSES, wild=True)
    kernel = case.matrix(case.pick(1, 2, 4, 11, 21), case.pick(1, 3, 6, 13, 24))
    kernel[-1, -1] = 2
    border, flip = case.pick(*BORDERS, 0, 3), case.pick(False, True)
    cls = d.class_of(a)
    value = 0.0 if isinstance(border, str) else float(d.cast(np.array(float(border)), cls))
    rule = border if isinstance(border, str) else "constant"
    with np.errstate(all="ignore"):
        sums = d.each_plane(lambda p: d.correlate(p, kernel, rule, value, flip), a)
    case.emit(f"kernel={matrix_text(kernel)};boundary={border};mode={'conv' if flip else 'corr'}", [a],
              d.cast(sums, cls), cls, exact_or(a, 1e-5))


@maker("imgaussfilt")
def smoothed(case, op):
    a = image_of(case, "uint8", "uint16", "single", channels=(1,))
    sigma = case.pick(0.05, 0.25, 5.5, 9, 13)
    n = 2 * int(np.ceil(2 * sigma)) + 1
    case.emit(f"sigma={sigma:g}", [a], d.imfilter(a, d.gaussian(n, n, sigma), "replicate", False),
              d.class_of(a), 1e-5 if a.dtype == np.float32 else "round")


@maker("imgradient")
def slope(case, op):
    a = image_of(case, *CLASSES, channels=(1,))
    method, x = case.pick("sobel", "prewitt", "central", "intermediate", "roberts"), d.unit(a)
    k = {"central": np.array([[0.5], [0], [-0.5]]),
         "intermediate": np.array([[1.0], [-1]])}.get(method, d.GRADIENTS.get(method))
    pair = (k.T, k) if method != "roberts" else (np.array([[1.0, 0], [0, -1]]), np.array([[0, 1.0], [-1, 0]]))
    case.emit(f"method={method}", [a], np.hypot(*[d.conv2(x, q, "same") for q in pair]), "single", 1e-5)


@maker("edge")
def edges(case, op):
    a = image_of(case, "uint8", "uint16", "single", channels=(1,))
    x, method = d.unit(a), case.pick("sobel", "prewitt", "roberts", "canny", "log")
    thresh = case.real(0.02, 0.3)
    if method == "canny":
        result = d.canny(x, (thresh,), 1.2)
        params = f"method=canny;thresh={thresh};sigma=1.2"
    elif method == "log":
        result = d.zero_crossings(x, d.laplacian_of_gaussian(13, 2), thresh / 20, 0.75)
        params = f"method=log;thresh={thresh / 20:g};sigma=2"
    else:
        thin = case.pick(0, 1)
        result = d.edge_gradient(x, method, thresh, "both", thin)
        params = f"method={method};thresh={thresh};thinning={thin}"
    case.emit(params, [a], result, "logical", "frag")


@maker("ordfilt2")
def ranked(case, op):
    a = image_of(case, *CLASSES)
    mask = (case.rng.random((case.pick(1, 2, 7, 12, 19), case.pick(1, 4, 11, 16))) < 0.7).astype(int)
    mask[-1, -1] = 1
    nth = case.pick(1, 2, int(mask.sum()), int(mask.sum() + 5), (int(mask.sum()) + 1) // 2)
    pad = case.pick("zeros", *BORDERS, 7, 0.5)
    value = 0.0 if isinstance(pad, str) else float(d.cast(np.array(float(pad)), d.class_of(a)))
    rule = pad if pad in BORDERS else "constant"
    case.emit(f"nth={nth};domain={matrix_text(mask)};pad={pad}", [a],
              d.each_plane(lambda p: d.ordfilt2(p, nth, mask, rule, value), a), d.class_of(a), "exact")


@maker("medfilt2")
def median(case, op):
    a = image_of(case, "uint8", "uint16", "single")
    m, n = case.pick(1, 2, 4, 6, 11, 31), case.pick(1, 2, 3, 8, 17)
    pad = case.pick("zeros", *BORDERS)
    rule = pad if pad in BORDERS else "constant"

    def plane(p):
        low, high = [d.ordfilt2(p, nth, np.ones((m, n)), rule).astype(np.float64)
                     for nth in ((m * n + 1) // 2, m * n // 2 + 1)]
        return d.cast((low + high) / 2, d.class_of(a))
    case.emit(f"size={m},{n};pad={pad}", [a], d.each_plane(plane, a), d.class_of(a), exact_or(a, 2e-7))


def large_element(case):
    """Its text and its cells."""
    kind, r = case.pick("square", "rectangle", "disk", "diamond", "octagon", "pair", "periodicline",
                        "matrix"), case.pick(6, 9, 15)
    if kind == "matrix":
        mask = (case.rng.random((case.pick(1, 6, 13, 20), case.pick(2, 9, 17))) < 0.4).astype(int)
        mask[0, -1] = 1
        return matrix_text(mask), mask
    if kind in ("square", "rectangle"):
        sizes = [case.pick(1, 2, 12, 25, 64) for _ in range(1 if kind == "square" else 2)]
        return f"{kind},{text(sizes)}", d.element(kind, *sizes)
    if kind in ("disk", "diamond"):
        return f"{kind},{r}" + (",0" if kind == "disk" else ""), d.element(kind, r)
    if kind == "octagon":
        y, x = abs(np.mgrid[-r:r + 1, -r:r + 1])
        return f"octagon,{r}", (x + y <= r + r // 3).astype(int)
    down, right, n = case.pick(-7, 0, 2, 5), case.pick(-3, 1, 9), 1
    places = [(0, 0), (down, right)]
    if kind == "periodicline":
        n = case.pick(1, 2, 3)
        places = [(i * down, i * right) for i in range(-n, n + 1)]
    ry, rx = [max(abs(p[axis]) for p in places) for axis in (0, 1)]
    mask = np.zeros((2 * ry + 1, 2 * rx + 1), int)
    for y, x in places:
        mask[ry + y, rx + x] = 1
    return f"{kind}," + (f"{n}," if kind == "periodicline" else "") + f"{down},{right}", mask


@maker("imdilate", "imerode", "imopen", "imclose", "imtophat", "imbothat", "imgradmorph")
def morphed(case, op):
    a = image_of(case, *CLASSES, wild=op in ("imdilate", "imerode"))
    spelled, mask = large_element(case)
    if a.dtype == bool and op == "imgradmorph":
        a = a.astype(np.uint8) * 255
    case.emit(f"se={spelled}", [a], d.each_plane(lambda p: d.morphology(op, p, mask), a), d.class_of(a),
              2e-6 if a.dtype == np.float32 else "exact")


# --- sets of pixels

@maker("imregionalmax", "imregionalmin")
def extrema(case, op):
    a = image_of(case, *CLASSES, channels=(1,))
    if a.dtype == np.float32 and case.pick(True, False):
        a[case.rng.random(a.shape) < 0.05] = case.pick(np.inf, -np.inf)
    conn, rule = case.pick(4, 8), case.pick("plateaus", "strict")
    x = a.astype(np.float64) * (1 if op == "imregionalmax" else -1)
    if a.dtype == bool and rule == "plateaus":
        result = a if op == "imregionalmax" else ~a
    elif rule == "plateaus":
        result = d.regional_maxima(x, conn)
    else:
        result = np.ones(a.shape, bool)
        for dy, dx in d.neighbours(conn):
            inside = d.shifted(np.ones(a.shape), dy, dx, "constant", 0) > 0
            result &= ~inside | (x > d.shifted(x, dy, dx, "replicate"))
    case.emit(f"conn={conn};rule={rule}", [a], result, "logical", "exact")


@maker("bwlabel", "bwareaopen")
def components(case, op):
    rows, columns = size_of(case)
    y, x = np.mgrid[:rows, :columns]
    a = case.pick((x + y) % 2 == 0, y % 2 == 0, (y % 2 == 0) | ((x == columns - 1) & (y % 4 == 1)) |
                  ((x == 0) & (y % 4 == 3)), np.maximum(abs(x - columns // 2), abs(y - rows // 2)) % 2 == 0,
                  case.rng.random((rows, columns)) < 0.6, np.ones((rows, columns), bool))
    a = case.pick(a, a.astype(np.uint8) * 3, a.astype(np.float32) * np.float32(-0.25))
    conn, least = case.pick(4, 8), case.pick(0, 3, 100)
    if op == "bwlabel":
        case.emit(f"conn={conn}", [a], d.bwlabel(a != 0, conn), "double", 1e-9)
    else:
        case.emit(f"least={least};conn={conn}", [a], d.bwareaopen(a != 0, least, conn), "logical",
                  "exact")


@maker("imreconstruct", "imfill")
def reached(case, op):
    mask, conn = image_of(case, *CLASSES, channels=(1,)), case.pick(4, 8)
    cls = d.class_of(mask)
    if op == "imfill":
        high = mask.astype(np.float64).max()
        inner = high - mask.astype(np.float64)
        marker = np.full(mask.shape, -np.inf)
        marker[[0, -1], :] = inner[[0, -1], :]
        marker[:, [0, -1]] = inner[:, [0, -1]]
        x = marker
        while True:
            grown = x
            for dy, dx in d.neighbours(conn):
                grown = np.maximum(grown, d.shifted(x, dy, dx, "constant", -np.inf))
            grown = np.minimum(grown, inner)
            if np.array_equal(grown, x):
                break
            x = grown
        case.emit(f"conn={conn}", [mask], d.cast(high - x, cls), cls, exact_or(mask, 1e-6))
        return
    marker = case.image(cls, mask.shape)  # above the mask here and there
    case.emit(f"conn={conn};mask=input2", [marker, mask], d.imreconstruct(marker, mask, conn), cls,
              "exact")


@maker("bwdist")
def distances(case, op):
    rows, columns = size_of(case)
    a = case.rng.random((rows, columns)) < case.pick(0.0, 0.01, 0.1)
    a[case.rng.integers(rows), case.rng.integers(columns)] |= case.pick(True, False)
    if case.pick(True, False):
        metric = case.pick("euclidean", "cityblock", "chessboard", "quasi-euclidean")
        a = case.pick(a, a.astype(np.uint16) * 77, a.astype(np.float32) * np.float32(-1e-7))
        case.emit(f"metric={metric}", [a], d.bwdist(a != 0, metric), "single",
                  "exact" if metric in ("cityblock", "chessboard") else 1e-6)
        return
    y, x = np.mgrid[:rows, :columns]
    index, best = np.zeros(a.shape), np.full(a.shape, np.inf)
    # The leftmost column first; there the nearest row, the upper of two.
    for c, r in sorted((c, r) for r, c in np.argwhere(a)):
        far = (y - r) ** 2 + (x - c) ** 2
        index[far < best] = c * rows + r + 1
        best = np.minimum(best, far)
    case.emit("out=index", [a], index.astype(np.float32), "single", "exact")


# --- measurements

@maker("mean2", "std2", "sum", "min", "max")
def measured(case, op):
    a = image_of(case, *CLASSES)
    if a.dtype == np.float32 and op in ("min", "max"):
        a[case.rng.random(a.shape) < 0.1] = np.nan
    x, columns = a.astype(np.float64), case.pick("image", "each")
    planes = [x] if columns == "image" or a.ndim == 2 else [x[..., c] for c in range(3)]

    def one(p):
        if op in ("min", "max"):
            p = p[~np.isnan(p)]
            return {"min": np.min, "max": np.max}[op](p) if p.size else np.nan
        return {"mean2": p.mean, "std2": lambda: p.std(ddof=1) if p.size > 1 else 0.0, "sum": p.sum}[op]()
    values = np.array([one(p) for p in planes])
    case.emit(f"columns={columns}", [a], values[None, :],
              "single" if a.dtype == np.float32 else "double", 1e-6)


@maker("stretchlim")
def limits(case, op):
    a = image_of(case, "uint8", "uint16", "single")
    tol = case.pick((0, 1), (0.25, 0.5), (0.1, 0.9))
    planes = np.moveaxis(a, 2, 0) if a.ndim == 3 else [a]
    case.emit(f"tol={text(tol)}", [a], np.array([d.stretchlim(p, *tol) for p in planes]).T, "double", 1e-6)


@maker("imhist")
def counted(case, op):
    a = image_of(case, *CLASSES, channels=(1,), wild=True)
    bins = case.pick(1, 3, 1000, 65536)
    if a.dtype == bool:
        case.emit("", [a], d.imhist(a, 2)[:, None], "double", "exact")
    else:
        case.emit(f"bins={bins}", [a], d.imhist(a, bins)[:, None], "double",
                  "exact" if a.dtype != np.float32 else "round")


@maker("jointhist")
def joint(case, op):
    cls, size, bins = case.pick("uint8", "uint16"), size_of(case), case.pick(1, 3, 33, 500)
    a, b = case.image(cls, size), case.image(cls, size)
    case.emit(f"bins={bins}", [a, b], d.jointhist(a, b, bins), "double", "exact")


@maker("graythresh")
def otsu(case, op):
    a = image_of(case, "uint8", "uint16", "single", channels=(1,), wild=True)
    if case.pick(True, False):
        a = np.full_like(a, a.flat[0])
    case.emit("", [a], np.array([[d.graythresh(a)]]), "double", 1e-6)


# --- transforms

@maker("radon")
def projected(case, op):
    a = image_of(case, *CLASSES, channels=(1,))
    angles = case.pick([0], [90, 45, -45], [0, 0, 180], [360.5, 1000, -723.25], list(range(0, 180, 9)))
    case.emit(f"theta={','.join(map(repr, angles))}", [a], d.radon(a, angles), "double", 1e-5)


@maker("dither")
def dithered(case, op):
    a = image_of(case, "uint8", "uint16", "single", channels=(1,))
    if a.dtype == np.float32:
        a = (a * 3 - 1).astype(np.float32)
    case.emit("", [a], d.dither(a), "logical", "exact")
