"""Makers of cases of colour, moved images, tone, local statistics and comparisons; expected results by
definitions_colour.py and definitions_places.py.
"""
import math

import numpy as np

import definitions as d
import definitions_colour as c
import definitions_noise as noise
import definitions_places as places
from case_table import BORDERS, maker, matrix_text, text
from strange_cases import SIZES

NUMBERS = ("uint8", "uint16", "single")
CLASSES = ("logical", *NUMBERS)


def size_of(case, most=130):
    return case.pick(case.size(), case.pick(*[s for s in SIZES if max(s) <= most]))


def colour_of(case, *classes):
    a = case.image(case.pick(*classes), size_of(case), channels=3)
    if case.pick(True, False, False):  # grays, and pixels of few colours
        a = a[..., :1].repeat(3, axis=2).copy()
    return a


def image_of(case, *classes, channels=(1, 1, 3), most=130):
    return case.image(case.pick(*classes), size_of(case, most), channels=case.pick(*channels))


def tolerance(a, of_single, of_integers="round"):
    return of_single if a.dtype == np.float32 else of_integers


# --- colour

@maker("rgb2hsv", "rgb2xyz", "rgb2lab")
def into_space(case, op):
    a = colour_of(case, *NUMBERS)
    result = {"rgb2hsv": c.rgb2hsv, "rgb2xyz": c.rgb2xyz, "rgb2lab": c.rgb2lab}[op](a)
    case.emit("", [a], result.astype(np.float32), "single", 1e-6, least_scale=1)


@maker("hsv2rgb", "xyz2rgb", "lab2rgb")
def out_of_space(case, op):
    a = colour_of(case, *NUMBERS) if op == "hsv2rgb" else colour_of(case, "single")
    if op == "lab2rgb":
        a = (a * np.float32(1)) @ np.diag([100, 160, 160]) - [0, 80, 80]
        a = a.astype(np.float32)
    elif a.dtype == np.float32:
        a = (a * np.float32(1.4) - np.float32(0.2)).astype(np.float32)
    result = {"hsv2rgb": c.hsv2rgb, "xyz2rgb": c.xyz2rgb, "lab2rgb": c.lab2rgb}[op](a)
    case.emit("", [a], result.astype(np.float32), "single", 1e-5 if op == "lab2rgb" else 2e-6,
              least_scale=1)


@maker("rgb2ycbcr", "ycbcr2rgb")
def differences(case, op):
    a, standard = colour_of(case, *NUMBERS), case.pick(601, 709, 2020)
    result = (c.rgb2ycbcr if op == "rgb2ycbcr" else c.ycbcr2rgb)(a, standard) * d.WHITE[d.class_of(a)]
    case.emit(f"standard={standard}", [a], d.cast(result, d.class_of(a)), d.class_of(a),
              tolerance(a, 1e-6))


@maker("rgb2lin", "lin2rgb")
def lights(case, op):
    a = image_of(case, *NUMBERS)
    if a.dtype == np.float32:
        a = (a * np.float32(3) - np.float32(1)).astype(np.float32)
    result = (c.to_light if op == "rgb2lin" else c.from_light)(d.unit(a)) * d.WHITE[d.class_of(a)]
    case.emit("", [a], d.cast(result, d.class_of(a)), d.class_of(a), tolerance(a, 1e-6, "exact"))


@maker("imapplymatrix")
def multiplied(case, op):
    a, rows = colour_of(case, *NUMBERS), case.pick(1, 3)
    matrix = case.rng.integers(-8, 13, (rows, 3)) / 8
    add = case.pick(None, [case.pick(0, 10, -5.5)], [float(v) for v in range(-rows, rows, 2)][:rows])
    shift = np.zeros(rows) if add is None else np.resize(add, rows)
    result = d.cast(a.astype(np.float64) @ matrix.T + shift, d.class_of(a))
    params = f"matrix={matrix_text(matrix)}" + ("" if add is None else f";add={text(add)}")
    case.emit(params, [a], result if rows == 3 else result[..., 0], d.class_of(a),
              tolerance(a, 1e-6, "exact"))


@maker("gray2rgb", "channel", "im2gray")
def channels_of(case, op):
    a = image_of(case, *CLASSES) if op != "im2gray" else image_of(case, *NUMBERS)
    if op == "gray2rgb":
        case.emit("", [a], a if a.ndim == 3 else np.stack([a] * 3, axis=2), d.class_of(a), "exact")
    elif op == "im2gray":
        case.emit("", [a], d.rgb2gray(a) if a.ndim == 3 else a, d.class_of(a), tolerance(a, 1e-6))
    else:
        k = 1 if a.ndim == 2 else case.pick(1, 2, 3)
        word = case.pick(str(k), "rgb"[k - 1])
        case.emit(f"k={word}", [a], a if a.ndim == 2 else a[..., k - 1], d.class_of(a), "exact")


@maker("cat")
def joined(case, op):
    cls, size = case.pick(*CLASSES), size_of(case)
    images = [case.image(cls, size) for _ in range(3)]
    case.emit("images=input2,input3", images, np.stack(images, axis=2), cls, "exact")


@maker("ind2rgb")
def indexed(case, op):
    rows = case.pick(1, 2, 8, 256, 300)
    a = case.rng.integers(0, rows + 3, size_of(case)).astype(case.pick(np.uint8, np.uint16, np.float32))
    table = np.round(case.rng.random((rows, 3)), 3)
    case.emit(f"map={matrix_text(table)}", [a], c.ind2rgb(a, table).astype(np.float32), "single", 1e-7)


@maker("imblend")
def blended(case, op):
    cls, size, alpha = case.pick(*NUMBERS), size_of(case), case.pick(0, 1, 0.5, case.real(0, 1))
    a, b = [case.image(cls, size, case.pick(1, 3)) for _ in range(2)]
    params, inputs, w = f"alpha={alpha};over=input2", [a, b], alpha
    x, y = a.astype(np.float64), b.astype(np.float64)
    if case.pick(True, False):
        mask = case.image(case.pick(*CLASSES), size)
        params, inputs, w = params + ";mask=input3", [a, b, mask], alpha * d.unit(mask)
    if 3 in (x.ndim, y.ndim):
        x, y = [v[..., None] if v.ndim == 2 else v for v in (x, y)]
        w = w[..., None] if np.ndim(w) == 2 else w
    case.emit(params, inputs, d.cast(x + w * (y - x), cls), cls, tolerance(a, 1e-6))


# --- places

@maker("imrotate")
@maker("imrotate")
def rotated(case, op):
    a = image_of(case, *CLASSES)
    angle = case.pick(0, 90, -90, 180, 450, 45, 30, case.real(-360, 360), case.real(-1, 1, 4), 100000.5)
    method, bbox = case.pick("nearest", "bilinear", "bicubic"), case.pick("loose", "crop")
    fill = case.pick(0, 1, 40)
    value = float(d.cast(np.array(float(fill)), d.class_of(a)))
    result = d.each_plane(lambda p: places.imrotate(p, angle, method, bbox == "loose", value), a)
    result = result >= 0.5 if a.dtype == bool else d.cast(result, d.class_of(a))
    case.emit(f"angle={angle!r};method={method};bbox={bbox};fill={fill}", [a], result, d.class_of(a),
              "exact" if method == "nearest" else "frag" if a.dtype == bool else tolerance(a, 1e-5))


@maker("imtranslate")
def translated(case, op):
    a = image_of(case, *CLASSES)
    x, y = [case.pick(0, 3, -7, 200, 0.5, -2.25, case.real(-9, 9)) for _ in range(2)]
    method, view = case.pick("nearest", "bilinear", "bicubic"), case.pick("same", "full")
    fill = case.pick(0, 1, 40)
    value = float(d.cast(np.array(float(fill)), d.class_of(a)))
    result = d.each_plane(lambda p: places.imtranslate(p, x, y, method, view == "full", value), a)
    result = result >= 0.5 if a.dtype == bool else d.cast(result, d.class_of(a))
    case.emit(f"translate={x!r},{y!r};method={method};view={view};fill={fill}", [a], result,
              d.class_of(a), "frag" if a.dtype == bool else tolerance(a, 1e-5))


@maker("circshift")
def shifted_round(case, op):
    a = image_of(case, *CLASSES)
    by = case.pick((0, 0), (5, -9), (-1, 1), (1000000, -999999), (3,))
    case.emit(f"by={text(by) if max(map(abs, by)) < 1e5 else ','.join(map(str, by))}", [a],
              np.roll(a, by, (0, 1)[:len(by)]), d.class_of(a), "exact")


@maker("imresize")
def rescaled(case, op):
    a, method = image_of(case, *NUMBERS), case.pick("lanczos2", "lanczos3")
    size, smooth = [case.pick(1, 3, 17, 40, 90), case.pick(2, 9, 33, 70)], case.pick("on", "off")
    result = d.each_plane(lambda p: places.imresize(p, size, method, smooth == "on"), a)
    case.emit(f"size={text(size)};method={method};antialiasing={smooth}", [a],
              d.cast(result, d.class_of(a)), d.class_of(a), tolerance(a, 1e-5))


@maker("imwarp")
def in_perspective(case, op):
    a, method = image_of(case, *NUMBERS), case.pick("nearest", "bilinear", "bicubic")
    matrix = np.array([[1 + case.real(-0.3, 0.3), case.real(-0.2, 0.2), case.real(-9, 9)],
                       [case.real(-0.2, 0.2), 1 + case.real(-0.3, 0.3), case.real(-9, 9)],
                       [case.pick(0, 0.001), case.pick(0, -0.0005), 1]])
    size, fill = case.pick(a.shape[:2], (40, 33), (1, 70)), case.pick(0, 3)
    result = d.each_plane(lambda p: places.projected(p, matrix, method, size, float(fill)), a)
    case.emit(f"matrix={matrix_text(matrix)};method={method};fill={fill};size={text(size)}", [a],
              d.cast(result, d.class_of(a)), d.class_of(a),
              "frag" if method == "nearest" else tolerance(a, 1e-5))


# --- tone

@maker("adapthisteq")
@maker("adapthisteq")
def equalized(case, op):
    a = image_of(case, *CLASSES)
    tiles = case.pick((8, 8), (2, 2), (3, 5), (17, 2))
    clip, bins = case.pick(0, 0.01, 1, case.real(0, 0.2)), case.pick(2, 17, 256, 1000)
    result = d.each_plane(lambda p: c.adapthisteq(p, tiles, clip, bins), a)
    result = d.cast(result, d.class_of(a))
    case.emit(f"tiles={text(tiles)};clip={clip};bins={bins}", [a], result, d.class_of(a),
              tolerance(a, 1e-5))


@maker("imsharpen")
def crisp(case, op):
    a = image_of(case, *NUMBERS)
    radius, amount = case.pick(0.2, 1, 2.7, 6), case.pick(0, 0.8, 2.5)
    threshold = 0 if a.ndim == 3 else case.pick(0, 0, 0.3, 1)
    result = c.imsharpen(a, radius, amount, threshold)
    case.emit(f"radius={radius};amount={amount};threshold={threshold}", [a],
              d.cast(result, d.class_of(a)), d.class_of(a), tolerance(a, 2e-5), ties=0.05)


@maker("imhistmatch")
def matched(case, op):
    a, bins = image_of(case, *NUMBERS), case.pick(2, 16, 64, 256, 1000)
    b = case.image(case.pick(*NUMBERS), size_of(case), channels=a.shape[2] if a.ndim == 3 else 1)
    planes = [(a, b)] if a.ndim == 2 else [(a[..., k], b[..., k]) for k in range(3)]
    results = [c.imhistmatch(p, q, bins) for p, q in planes]
    result = results[0] if a.ndim == 2 else np.stack(results, axis=2)
    case.emit(f"reference=input2;bins={bins}", [a, b], d.cast(result, d.class_of(a)), d.class_of(a),
              tolerance(a, 1e-6, "exact"))


@maker("imquantize")
def quantized(case, op):
    a = image_of(case, *CLASSES)
    white = d.WHITE[d.class_of(a)]
    levels = np.sort(np.round(case.rng.random(case.pick(1, 3, 20)) * white * 64) / 64)
    at = (a.astype(np.float64)[..., None] > levels).sum(axis=-1)
    values = case.pick(None, np.round(case.rng.random(len(levels) + 1) * white * 8) / 8)
    params = "levels=" + ",".join(map(repr, levels.tolist()))
    result = at + 1.0 if values is None else values[at]
    case.emit(params + ("" if values is None else ";values=" + ",".join(map(repr, values.tolist()))), [a],
              result.astype(np.float32), "single", "exact")


@maker("multithresh")
def thresholds(case, op):
    a, n = case.image(case.pick(*NUMBERS), case.size(5)), case.pick(1, 2, 3, 6)
    if case.pick(True, False):
        a = case.image(d.class_of(a), a.shape, levels=case.pick(2, 6, 40))
    case.emit(f"n={n}", [a], c.multithresh(a, n)[None, :], "double", 1e-6)


# --- local statistics

def domain_of(case):
    if case.pick(True, False):
        shape = case.pick((3, 3), (9, 9), (1, 5), (4, 2), (1, 1), (21, 21), (2, 131))
        return matrix_text(np.ones(shape)) if shape[0] * shape[1] < 500 else f"rectangle,{text(shape)}", \
            np.ones(shape, int)
    domain = (case.rng.random(case.pick((3, 3), (5, 4), (9, 2), (19, 17))) < 0.6).astype(int)
    domain[-1, 0] = 1
    return matrix_text(domain), domain


@maker("stdfilt", "rangefilt", "entropyfilt")
def local_statistics(case, op):
    a = image_of(case, *CLASSES, channels=(1, 1, 1, 3), most=70)
    spelled, domain = domain_of(case)
    if domain.size > 100:
        a = a[:40, :40]
    result = d.each_plane(lambda p: {"stdfilt": c.stdfilt, "rangefilt": c.rangefilt,
                                     "entropyfilt": c.entropyfilt}[op](p, domain), a)
    if op == "rangefilt":
        case.emit(f"domain={spelled}", [a], d.cast(result, d.class_of(a)), d.class_of(a),
                  tolerance(a, 1e-7, "exact"))
    else:
        case.emit(f"domain={spelled}", [a], result.astype(np.float32), "single",
                  1e-4 if op == "stdfilt" else 1e-5)


@maker("imboxfilt")
def boxes(case, op):
    a, size = image_of(case, *NUMBERS), case.pick((3, 3), (1, 1), (5, 9), (31, 3), (255, 255))
    result = d.each_plane(lambda p: c.box_mean(p.astype(np.float64), size, "replicate"), a[:40, :40])
    case.emit(f"size={text(size)}", [a[:40, :40]], d.cast(result, d.class_of(a)), d.class_of(a),
              tolerance(a, 1e-5), ties=0.1)


@maker("imbilatfilt")
def alike(case, op):
    a, sigma = image_of(case, *NUMBERS), case.pick(0.3, 1, 2.5)
    white = d.WHITE[d.class_of(a)]
    smoothing, size = case.pick(None, 0.0001, 0.3), case.pick(None, 1, 3, 9)
    params = f"sigma={sigma}" + (f";smoothing={smoothing * white ** 2!r}" if smoothing else "")
    side = size or 2 * math.ceil(2 * sigma) + 1
    result = d.each_plane(lambda p: c.imbilatfilt(p, (smoothing or 0.01) * white ** 2, sigma, side), a)
    case.emit(params + (f";size={size}" if size else ""), [a], d.cast(result, d.class_of(a)),
              d.class_of(a), tolerance(a, 1e-5))


@maker("imguidedfilter")
def guided(case, op):
    a = image_of(case, *NUMBERS)
    size = case.pick((5, 5), (1, 1), (7, 3), (15, 15), (4, 6))
    smoothing, inputs, guide, params = case.pick(0.01, 0.0001, 1), [a], a, f"size={text(size)}"
    if case.pick(True, False):
        guide = case.image(case.pick(d.class_of(a), *NUMBERS), a.shape[:2], case.pick(
            1, a.shape[2] if a.ndim == 3 else 1))
        inputs, params = [a, guide], params + ";guide=input2"
    smoothing *= d.WHITE[d.class_of(guide)] ** 2
    planes = [a] if a.ndim == 2 else [a[..., k] for k in range(3)]
    guides = [guide] * 3 if guide.ndim == 2 else [guide[..., k] for k in range(3)]
    results = [c.imguidedfilter(p, g, size, smoothing) for p, g in zip(planes, guides)]
    result = results[0] if a.ndim == 2 else np.stack(results, axis=2)
    case.emit(f"{params};smoothing={smoothing!r}", inputs, d.cast(result, d.class_of(a)), d.class_of(a),
              tolerance(a, 1e-4))


@maker("wiener2")
def denoised(case, op):
    a = image_of(case, *NUMBERS)
    size, noise = case.pick((3, 3), (1, 1), (5, 4), (15, 3)), case.pick(None, None, 0, 0.001, 0.2)
    result = d.each_plane(lambda p: c.wiener2(p, size, noise), a)
    case.emit(f"size={text(size)};noise={'auto' if noise is None else noise}", [a],
              d.cast(result, d.class_of(a)), d.class_of(a), tolerance(a, 1e-4), ties=0.05)


# --- two images, other names

@maker("immse", "psnr", "ssim", "corr2")
def compared(case, op):
    cls, size = case.pick(*CLASSES), case.pick(case.size(2), (1, 1), (1, 40))
    channels = case.pick(1, 3)
    a, b = case.image(cls, size, channels), case.image(cls, size, channels)
    b = case.pick(b, b, a)
    radius = case.pick(0.5, 1.5, 4)
    if op == "ssim":
        planes = [(a, b)] if a.ndim == 2 else [(a[..., k], b[..., k]) for k in range(3)]
        value = np.mean([c.ssim(p, q, radius) for p, q in planes])
    else:
        value = {"immse": lambda: np.mean((a.astype(float) - b.astype(float)) ** 2),
                 "psnr": lambda: c.psnr(a, b), "corr2": lambda: c.corr2(a, b)}[op]()
    case.emit("reference=input2" + (f";radius={radius}" if op == "ssim" else ""), [a, b],
              np.array([[value]]), "double", 1e-4 if op == "ssim" else 1e-6, least_scale=1)


@maker("padarray")
def framed(case, op):
    a, by = image_of(case, *CLASSES), [case.pick(0, 1, 7, 80) for _ in range(case.pick(1, 2))]
    boundary, side = case.pick(*BORDERS, 0, 3, "reflect"), case.pick("both", "pre", "post")
    rows, columns = by[0], by[1] if len(by) == 2 else 0
    before, after = side != "post", side != "pre"
    r = np.arange(-rows * before, a.shape[0] + rows * after)
    q = np.arange(-columns * before, a.shape[1] + columns * after)
    if boundary == "reflect":
        def inside(index, n):
            m = index % max(2 * n - 2, 1)
            return np.where(m < n, m, 2 * n - 2 - m)
        r, q = inside(r, a.shape[0]), inside(q, a.shape[1])
    else:
        r, q = d.outside(r, a.shape[0], boundary), d.outside(q, a.shape[1], boundary)
    value = 0 if isinstance(boundary, str) else d.cast(np.array(float(boundary)), d.class_of(a))
    result = d.each_plane(lambda p: np.where((r < 0)[:, None] | (q < 0)[None, :], value,
                                             p[np.ix_(np.maximum(r, 0), np.maximum(q, 0))]), a)
    case.emit(f"by={text(by)};boundary={boundary};side={side}", [a], result.astype(a.dtype),
              d.class_of(a), "exact")


@maker("filter2", "imgradientxy")
def correlated(case, op):
    a = image_of(case, *CLASSES, channels=(1,))
    if op == "filter2":
        kernel = case.matrix(case.pick(1, 2, 3, 5), case.pick(1, 2, 3, 4))
        kernel[0, 0] = 1
        shape = case.pick("same", "full")
        case.emit(f"kernel={matrix_text(kernel)};shape={shape}", [a],
                  d.conv2(a, kernel[::-1, ::-1], shape).astype(np.float32), "single", 1e-5)
        return
    method, out = case.pick("sobel", "prewitt", "central", "intermediate"), case.pick("x", "y")
    k = {"central": np.array([[0.5], [0], [-0.5]]),
         "intermediate": np.array([[1.0], [-1]])}.get(method, d.GRADIENTS.get(method))
    case.emit(f"method={method};out={out}", [a],
              d.conv2(a, k.T if out == "x" else k, "same").astype(np.float32), "single", 1e-5)


@maker("imnoise")
@maker("imnoise")
def noisy(case, op):
    kind = case.pick("gaussian", "salt", "speckle", "poisson")
    a = image_of(case, *(CLASSES if kind == "salt" else NUMBERS))
    seed = case.pick(0, 1, 12345678901, 2 ** 53 - 1, 2 ** 32)
    mean, amount = case.pick(0, 0.3, -0.1), case.pick(0, 1, 0.05, 0.2)
    named = {"gaussian": f";mean={mean};variance={amount}", "salt": f";density={amount}",
             "speckle": f";variance={amount}", "poisson": ""}[kind]
    case.emit(f"kind={kind}{named};seed={seed}", [a], noise.imnoise(a, kind, amount, mean, seed),
              d.class_of(a), tolerance(a, 1e-6, "exact"))
