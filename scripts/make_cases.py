#!/usr/bin/env python3
"""Makes a table of random cases for run_cases.py, expected results by scripts/definitions*.py.

    make_cases.py DIR [--seed S] [--count N] [--match OP]...

N cases a maker (strange sizes and values have makers of their own), in DIR/cases.tsv with their
files in DIR. The program has no part in them.
"""
import argparse
import fnmatch
import os
import sys

import numpy as np

import definitions as d
import definitions_projections as projections
from case_table import BORDERS, COLUMNS, MAKERS, Cases, maker, matrix_text, text


@maker("imadjust")
def adjust(case, op):
    a = case.image(case.pick("uint8", "uint16", "single"), channels=case.pick(1, 1, 3))
    limits = case.pick(None, (case.real(0, 0.4), case.real(0.5, 1)))
    out = case.pick((0.0, 1.0), (1.0, 0.0), (case.real(0, 0.3), case.real(0.6, 1)))
    gamma = case.pick(1, 1, case.real(0.3, 2.5))
    params = f"in={text(limits) if limits else 'stretchlim'};out={text(out)};gamma={gamma:g}"
    case.emit(params, [a], d.imadjust(a, limits, out, gamma), d.class_of(a),
              2e-6 if d.class_of(a) == "single" else "round")


@maker("stretchlim")
def limits_of(case, op):
    a = case.image(case.pick("uint8", "uint16", "single"))
    low, high = case.real(0, 0.3), case.real(0.7, 1)
    case.emit(f"tol={text((low, high))}", [a], np.array(d.stretchlim(a, low, high))[:, None], "double",
              1e-6)


@maker("imlincomb")
def combine(case, op):
    cls, size, channels = case.pick("uint8", "uint16", "single"), case.size(), case.pick(1, 3)
    images = [case.image(cls, size, channels) for _ in range(case.pick(1, 2, 3, 4))]
    weights = [case.real(-2, 2) for _ in images]
    constant = case.pick(0, case.real(-20, 20))
    total = np.zeros(images[0].shape)
    for weight, image in zip(weights, images):
        total = total + weight * image.astype(np.float64)
    case.emit(f"k={text(weights)};add={constant:g}", images, d.cast(total + constant, cls), cls,
              1e-6 if cls == "single" else "round")


@maker("imadd", "imsubtract", "imabsdiff")
def two_images(case, op):
    cls, size, channels = case.pick("uint8", "uint16", "single"), case.size(), case.pick(1, 3)
    a, b = case.image(cls, size, channels), case.image(cls, size, channels)
    x, y = a.astype(np.float64), b.astype(np.float64)
    result = {"imadd": x + y, "imsubtract": x - y, "imabsdiff": np.abs(x - y)}[op]
    case.emit("", [a, b], d.cast(result, cls), cls, 1e-6 if cls == "single" else "exact")


@maker("im2bw")
def binarize(case, op):
    a = case.image(case.pick("uint8", "uint16", "single"), channels=case.pick(1, 1, 3))
    gray = d.rgb2gray(a) if a.ndim == 3 else a
    level = case.pick(0.2, 0.4, 0.5, case.real(0, 1))
    result = (gray > np.float32(level) if d.class_of(a) == "single"
              else gray > np.floor(level * d.WHITE[d.class_of(a)]))
    case.emit(f"level={level:g}", [a], result, "logical", "frag" if a.ndim == 3 else "exact")


@maker("graythresh")
def otsu(case, op):
    a = case.image(case.pick("uint8", "uint16", "single"), case.size(3))
    case.emit("", [a], np.array([[d.graythresh(a)]]), "double", 1e-6)


@maker("imcomplement")
def complement(case, op):
    a = case.image(case.pick("uint8", "uint16", "single", "logical"), channels=case.pick(1, 3))
    cls = d.class_of(a)
    result = ~a if cls == "logical" else (d.WHITE[cls] - a.astype(np.float64))
    case.emit("", [a], d.cast(result, cls), cls, 1e-6 if cls == "single" else "exact")


@maker("rgb2gray")
def gray_of(case, op):
    a = case.image(case.pick("uint8", "uint16", "single"), channels=3)
    case.emit("", [a], d.rgb2gray(a), d.class_of(a), 1e-6 if a.dtype == np.float32 else "round")


@maker("im2uint8", "im2uint16", "im2single")
def converted(case, op):
    a = case.image(case.pick("uint8", "uint16", "single", "logical"), channels=case.pick(1, 3))
    cls = op[3:] if op != "im2single" else "single"
    if d.class_of(a) == "single":
        a = (a * 1.4 - 0.2).astype(np.float32)
    case.emit("", [a], d.convert(a, cls), cls, 1e-6 if cls == "single" else "exact")


@maker("transpose", "fliplr", "flipud", "rot90")
def moved(case, op):
    a = case.image(case.pick("uint8", "uint16", "single", "logical"), channels=case.pick(1, 3))
    if a.dtype == bool and a.ndim == 3:
        a = a[..., 0]
    k = case.pick(-3, -2, -1, 0, 1, 2, 3, 5)
    case.emit(f"k={k}" if op == "rot90" else "", [a], d.turned(a, op, k), d.class_of(a), "exact")


@maker("conv2")
def convolved(case, op):
    a = case.image(case.pick("uint8", "uint16", "single", "logical"))
    kernel = case.pick(case.matrix(case.pick(1, 2, 3, 4, 5, 7), case.pick(1, 2, 3, 5, 6, 7)),
                       np.outer(case.matrix(1, 5), case.matrix(1, 4)))
    shape = case.pick("same", "full", "valid")
    if shape == "valid" and (a.shape[0] < kernel.shape[0] or a.shape[1] < kernel.shape[1]):
        shape = "full"
    if not kernel.any():
        kernel[0, 0] = 1
    case.emit(f"shape={shape};kernel={matrix_text(kernel)}", [a], d.conv2(a, kernel, shape),
              "single" if a.dtype == np.float32 else "double", 1e-5)


@maker("imfilter")
def filtered(case, op):
    a = case.image(case.pick("uint8", "uint16", "single"), channels=case.pick(1, 1, 3))
    kernel = case.matrix(case.pick(1, 2, 3, 5, 7, 9), case.pick(1, 2, 3, 4, 5, 9))
    divisor = case.pick(1, 4, max(1, abs(kernel.sum())))
    border, flip = case.pick(*BORDERS, 0, 0.5), case.pick(False, True)
    params = (f"kernel={matrix_text(kernel, divisor)};boundary={border};"
              f"mode={'conv' if flip else 'corr'};size=same")
    exact = divisor == 1 and a.dtype != np.float32
    # The sums of codes are whole numbers: ties are known exactly.
    outside = border if isinstance(border, str) else float(d.cast(np.array(border), d.class_of(a)))
    sums = d.imfilter(a.astype(np.float64), kernel, outside, flip)
    ties = np.mean((2 * sums) % (2 * divisor) == divisor)
    case.emit(params, [a], d.imfilter(a, kernel / divisor, border, flip), d.class_of(a),
              1e-5 if a.dtype == np.float32 else "exact" if exact else "round", ties)


@maker("imgaussfilt")
def smoothed(case, op):
    a = case.image(case.pick("uint8", "uint16", "single"), channels=case.pick(1, 3))
    sigma = case.pick(0.5, case.real(0.3, 4))
    n = 2 * int(np.ceil(2 * sigma)) + 1
    case.emit(f"sigma={sigma:g}", [a], d.imfilter(a, d.gaussian(n, n, sigma), "replicate", False),
              d.class_of(a), 1e-5 if a.dtype == np.float32 else "round")


@maker("imgradient")
def gradient_of(case, op):
    a = case.image("single")
    method, x = case.pick("sobel", "prewitt", "central", "intermediate"), a.astype(np.float64)
    k = {"central": np.array([[0.5], [0], [-0.5]]),
         "intermediate": np.array([[1.0], [-1]])}.get(method, d.GRADIENTS.get(method))
    size = np.hypot(d.conv2(x, k.T, "same"), d.conv2(x, k, "same"))
    case.emit(f"method={method};out=magnitude", [a], size, "single", 1e-5)


@maker("edge")
def edges_of(case, op):
    a = case.image(case.pick("uint8", "uint8", "uint16", "single"), case.size(5))
    x, method = d.unit(a), case.pick("sobel", "prewitt", "roberts", "log", "zerocross", "canny")
    thresh = case.pick(None, case.real(0.02, 0.3))
    params = f"method={method};thresh={'auto' if thresh is None else thresh}"
    if method in ("sobel", "prewitt", "roberts"):
        direction, thin = case.pick("both", "horizontal", "vertical"), case.pick(0, 1)
        if method != "roberts":
            params += f";direction={direction}"
        params += f";thinning={thin}"
        result = d.edge_gradient(x, method, thresh, direction, thin)
    elif method == "canny":
        sigma = case.pick(1, 1.5, case.real(0.5, 2.5))
        if thresh is not None:
            thresh = case.pick((thresh,), (thresh, thresh + 0.2))
            params = f"method=canny;thresh={text(thresh)}"
        params += f";sigma={sigma:g}"
        result = d.canny(x, thresh, sigma)
    else:
        sigma = case.real(0.6, 2.5)
        k = d.laplacian_of_gaussian(2 * int(np.ceil(3 * sigma)) + 1, sigma)
        if thresh is not None:
            thresh /= 10
            params = f"method={method};thresh={thresh}"
        if method == "log":
            params += f";sigma={sigma:g}"
        else:
            k = d.laplacian_of_gaussian(7, sigma)
            params += f";filter=fspecial:log,7,{sigma:g}"
        result = d.zero_crossings(x, k, thresh, 0.75 if method == "log" else 1.0)
    case.emit(params, [a], result, "logical", "frag")


def heights_for(case, a, mask):
    """Whole and broken numbers, some beyond what the class holds."""
    most, steps = {"uint16": (9000, 1), "single": (0.5, 64)}.get(d.class_of(a), (70, 4))
    most *= 1 if steps == 64 else case.pick(1, 1, 9)
    return np.round(case.rng.uniform(-most, most, mask.shape) * steps) / steps


@maker("ordfilt2")
def ranked(case, op):
    a = case.image(case.pick("uint8", "uint16", "single", "logical"))
    mask = (case.rng.random((case.pick(1, 2, 3, 4, 5, 9), case.pick(1, 3, 5, 6, 9))) < 0.6).astype(int)
    mask[0, 0] = 1
    nth, pad = int(case.rng.integers(1, mask.sum() + 1)), case.pick("zeros", *BORDERS)
    offsets, text = None, ""
    if case.pick(False, False, True):
        offsets = heights_for(case, a, mask)
        text = f";offsets={matrix_text(offsets)}"
    case.emit(f"nth={nth};domain={matrix_text(mask)};pad={pad}{text}", [a],
              d.ordfilt2(a, nth, mask, "constant" if pad == "zeros" else pad, 0.0, offsets),
              d.class_of(a), "exact" if offsets is None or a.dtype != np.float32 else 2e-7)


@maker("medfilt2")
def median(case, op):
    a = case.image(case.pick("uint8", "uint16", "single", "logical"), channels=1)
    m, n, pad = case.pick(1, 3, 5, 7, 15), case.pick(1, 3, 5, 9, 21), case.pick("zeros", "symmetric")
    case.emit(f"size={m},{n};pad={pad}", [a],
              d.ordfilt2(a, (m * n + 1) // 2, np.ones((m, n)), "constant" if pad == "zeros" else pad),
              d.class_of(a), "exact")


@maker("imdilate", "imerode", "imopen", "imclose", "imtophat", "imbothat", "imgradmorph")
def morphed(case, op):
    a = case.image(case.pick("uint8", "uint16", "single", "logical"))
    kind = case.pick("square", "rectangle", "disk", "diamond", "matrix")
    if kind == "matrix":
        mask = (case.rng.random((case.pick(1, 2, 3, 4, 7), case.pick(1, 2, 3, 5, 8))) < 0.5).astype(int)
        mask[-1, 0] = 1
        spelled = matrix_text(mask)
    else:
        sizes = [case.pick(1, 2, 3, 4, 5, 9) for _ in range(2 if kind == "rectangle" else 1)]
        mask = d.element(kind, *sizes)
        spelled = ",".join(map(str, [kind, *sizes] + ([0] if kind == "disk" else [])))
    if a.dtype == bool and op == "imgradmorph":
        a = a.astype(np.uint8) * 255
    heights = 0
    if a.dtype != bool and case.pick(False, False, True):
        heights = heights_for(case, a, mask)
        spelled += f";heights={matrix_text(heights)}"
    case.emit(f"se={spelled}", [a], d.morphology(op, a, mask, heights), d.class_of(a),
              2e-6 if a.dtype == np.float32 else "exact", least_scale=1)


@maker("imregionalmax", "imregionalmin")
def extrema(case, op):
    a = case.image(case.pick("uint8", "uint16", "single"), levels=case.pick(None, 5, 12))
    connectivity = case.pick(4, 8)
    x = a.astype(np.float64) if op == "imregionalmax" else -a.astype(np.float64)
    case.emit(f"conn={connectivity}", [a], d.regional_maxima(x.astype(np.float32), connectivity),
              "logical", "exact")


@maker("bwlabel", "bwareaopen")
def components(case, op):
    a = case.pick(case.image("logical"), case.rng.random(case.size()) < case.pick(0.2, 0.45, 0.7))
    conn, least = case.pick(4, 8), case.pick(1, 2, 5, 40)
    if op == "bwlabel":
        case.emit(f"conn={conn}", [a], d.bwlabel(a, conn), "double", 1e-9)
    else:
        case.emit(f"least={least};conn={conn}", [a], d.bwareaopen(a, least, conn), "logical", "exact")


@maker("imreconstruct", "imfill")
def reached(case, op):
    cls, size, conn = case.pick("uint8", "uint16", "logical"), case.size(), case.pick(4, 8)
    mask = case.image(cls, size)
    if op == "imfill":
        case.emit(f"conn={conn}", [mask], d.imfill_holes(mask, conn), cls, "exact")
        return
    marker = np.where(case.rng.random(size) < 0.05, mask, 0).astype(mask.dtype)
    case.emit(f"conn={conn};mask=input2", [marker, mask], d.imreconstruct(marker, mask, conn), cls,
              "exact")


@maker("mean2", "std2", "sum", "min", "max")
def measured(case, op):
    a = case.image(case.pick("uint8", "uint16", "single", "logical"), case.size(2))
    x = a.astype(np.float64)
    value = {"mean2": x.mean, "std2": lambda: x.std(ddof=1), "sum": x.sum, "min": x.min,
             "max": x.max}[op]()
    case.emit("", [a], np.array([[value]]), "single" if a.dtype == np.float32 else "double", 1e-6)


@maker("imhist")
def counted(case, op):
    a = case.image(case.pick("uint8", "uint16", "single"))
    bins = case.pick(2, 7, 16, 64, 256, 300)
    case.emit(f"bins={bins}", [a], d.imhist(a, bins)[:, None], "double",
              "exact" if a.dtype != np.float32 else "round")


@maker("histeq")
def equalized(case, op):
    a = case.image(case.pick("uint8", "uint16", "single"), case.size(15))
    n = case.pick(16, 64, 256)
    case.emit(f"n={n}", [a], d.histeq(a, n), "double", 0.02)


@maker("jointhist")
def joint(case, op):
    cls, size, bins = case.pick("uint8", "uint16"), case.size(), case.pick(2, 10, 32, 256)
    a, b = case.image(cls, size), case.image(cls, size)
    case.emit(f"bins={bins}", [a, b], d.jointhist(a, b, bins), "double", "exact")


@maker("bwdist")
def distances(case, op):
    size = case.size()
    a = case.rng.random(size) < case.pick(0.002, 0.02, 0.3)
    metric = case.pick("euclidean", "cityblock", "chessboard", "quasi-euclidean")
    case.emit(f"metric={metric}", [a], d.bwdist(a, metric), "single",
              "exact" if metric in ("cityblock", "chessboard") else 1e-6)


@maker("radon")
def projected(case, op):
    a = case.image(case.pick("uint8", "single"))
    first, step, count = case.real(-90, 90), case.pick(1, 7.5, 30), case.pick(1, 5, 12)
    angles = [first + step * i for i in range(count)]
    case.emit(f"theta={','.join(repr(v) for v in angles)}", [a], d.radon(a, angles), "double", 1e-5)


@maker("iradon")
def back_projected(case, op):
    count = case.pick(1, 2, 7, 12)
    sums = case.image("single", (case.pick(3, 5, 16, 47, 64, 91), count))
    angles = [case.real(-90, 270) for _ in range(count)]
    interp = case.pick("linear", "nearest")
    window = case.pick("ram-lak", "shepp-logan", "cosine", "hamming", "hann", "none")
    size = case.pick(None, None, 5, 40, 100)
    params = f"theta={','.join(map(repr, angles))};interp={interp};filter={window}"
    steps = [0.0] if count == 1 else angles  # one number is a step: 0, d, 2 d, ...
    case.emit(params + (f";size={size}" if size else ""), [sums],
              projections.iradon(sums, steps, interp, window, size), "double", 1e-5)


@maker("fspecial")
def kernel_of(case, op):
    kind = case.pick("average", "gaussian", "log", "disk", "motion", "laplacian", "unsharp", "sobel",
                     "prewitt")
    values = {"size": (case.pick(1, 2, 3, 6, 9, 15), case.pick(1, 2, 3, 4, 7)),
              "sigma": case.real(0.4, 4), "radius": case.pick(0, 1, 2, 3, 7, 12),
              "length": case.pick(1, 2, 5, 9, 14, 21), "theta": case.pick(0, 90, 180, case.real(-180, 360)),
              "alpha": case.real(0, 1)}
    used = {"average": ["size"], "gaussian": ["size", "sigma"], "log": ["size", "sigma"],
            "disk": ["radius"], "motion": ["length", "theta"], "laplacian": ["alpha"],
            "unsharp": ["alpha"]}.get(kind, [])
    given = {name: values[name] for name in used}
    params = "".join(f";{name.replace('length', 'len')}="
                     f"{text(v) if isinstance(v, tuple) else v}" for name, v in given.items())
    case.emit(f"type={kind}{params}", [], projections.fspecial(kind, **given), "double", 1e-6)


@maker("intlut")
def looked_up(case, op):
    cls = case.pick("uint8", "uint16")
    a = case.image(cls, channels=case.pick(1, 3))
    table = case.rng.integers(0, d.WHITE[cls] + 1, (1, d.WHITE[cls] + 1)).astype(cls)
    case.emit("lut=input2", [a, table], table[0][a], cls, "exact")


@maker("imresize")
def resized(case, op):
    a = case.image(case.pick("uint8", "uint16", "single"), channels=case.pick(1, 1, 3))
    method = case.pick("nearest", "bilinear", "bicubic")
    if case.pick(True, False):
        scale = case.pick(0.25, 0.5, 1.7, 2, 3, case.real(0.3, 2.5))
        size = [int(np.ceil(scale * n)) for n in a.shape[:2]]
        params, scales = f"scale={scale:g}", (scale, scale)
    else:
        size = [case.pick(1, 3, 17, 40, 90), case.pick(2, 9, 33, 70)]
        params, scales = f"size={text(size)}", (size[0] / a.shape[0], size[1] / a.shape[1])
    case.emit(params + f";method={method}", [a], d.imresize(a, size, scales, method), d.class_of(a),
              "exact" if method == "nearest" else 1e-5 if a.dtype == np.float32 else "round")


@maker("dither")
def dithered(case, op):
    a = case.image(case.pick("uint8", "uint16", "single"))
    case.emit("method=floyd-steinberg", [a], d.dither(a), "logical", "exact")


import strange_cases  # noqa: E402,F401  its makers come second
import object_cases  # noqa: E402,F401
import colour_cases  # noqa: E402,F401
import frequency_cases  # noqa: E402,F401
import document_cases  # noqa: E402,F401
import outline_cases  # noqa: E402,F401
import volume_cases  # noqa: E402,F401


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=10, help="cases an operator")
    parser.add_argument("--match", action="append", default=[], help="only these operators")
    options = parser.parse_args()
    for name in ("inputs", "expected"):
        os.makedirs(os.path.join(options.folder, name), exist_ok=True)
    cases = Cases(options.folder, options.seed)
    for op, makers in MAKERS.items():
        if options.match and not any(fnmatch.fnmatchcase(op, p) for p in options.match):
            continue
        for which, make in enumerate(makers):
            for number in range(options.count):
                cases.begin(op, number, which)
                make(cases, op)
    with open(os.path.join(options.folder, "cases.tsv"), "w", encoding="utf-8") as table:
        for row in [COLUMNS, *cases.rows]:
            table.write("\t".join(map(str, row)) + "\n")
    print(f"{len(cases.rows)} cases in {options.folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
